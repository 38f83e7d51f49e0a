"""Files that are written under a hidden name, and appear when they are complete."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable
from typing import Any, Protocol

from orcish.errors import UnsupportedError
from orcish.io.names import display_name, errors_with_name

__all__ = [
    "Moved",
    "NamedOutput",
    "NewFolder",
    "Output",
    "Upload",
    "checked_place",
    "kind_of",
    "local_output",
    "target_appeared",
    "target_exists",
]

STREAMS = ("/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")
"""Paths of open files, which may be those of regular ones."""
NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV}
"""Errors of file systems without hard links."""

KINDS = (
    (stat.S_ISFIFO, "a pipe (FIFO)"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
"""What is at a path that is no file."""


class Output(Protocol):
    """A file that is being written. It appears when it is closed."""

    def write(self, data: bytes, /) -> object:
        """Writes all of ``data``."""

    def close(self) -> None:
        """Publishes the file."""

    def abort(self) -> None:
        """Removes what was written. A closed file stays."""


class Moved:
    """A file that is written under a hidden name in its folder, and moved to its name when it is closed."""

    def __init__(
        self,
        path: str,
        create: Callable[[str], Any],
        move: Callable[[str, str], object],
        delete: Callable[[str], object],
    ) -> None:
        self.name, self._hidden = path, hidden_name(path)
        self._move, self._delete = move, delete
        self._process = os.getpid()
        self._file: Any = None
        try:
            self._file = create(self._hidden)
        except NotImplementedError as error:
            raise UnsupportedError(f"{path}: the file system cannot be written to: {error}") from error
        except BaseException:
            # A signal handler may raise just after the file was made.
            with contextlib.suppress(Exception):
                delete(self._hidden)
            raise

    def write(self, data: bytes, /) -> object:
        """See :class:`Output`."""
        return self._file.write(data)

    def close(self) -> None:
        """See :class:`Output`."""
        if self._file is None:
            return
        self._file.close()
        try:
            self._move(self._hidden, self.name)
        except NotImplementedError as error:
            raise UnsupportedError(f"{self.name}: the file system cannot move a file to its name: {error}") from error
        self._file = None

    def abort(self) -> None:
        """See :class:`Output`. An error does not matter, as the file is hidden from readers."""
        file, self._file = self._file, None
        if file is None or self._process != os.getpid():
            return
        with contextlib.suppress(Exception):
            file.close()
        with contextlib.suppress(Exception):
            self._delete(self._hidden)

    def __del__(self) -> None:
        self.abort()


def hidden_name(path: str) -> str:
    """A path that is not there, in the folder of another one, which readers of the folder pass over."""
    folder, slash, name = path.rpartition("/")
    plain = re.sub(r"[*?\[\]]", "_", name[:40])
    return f"{folder}{slash}.{plain}.{os.urandom(8).hex()}.tmp"


class Upload:
    """A file that a store publishes as a whole when it is closed."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, data: bytes, /) -> object:
        """See :class:`Output`."""
        return self._file.write(data)

    def close(self) -> None:
        """See :class:`Output`."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def abort(self) -> None:
        """See :class:`Output`. An upload that is not completed is no file."""
        self._file = None


class NamedOutput:
    """A file that is being written, whose errors name its location.

    Args:
        output: The file.
        location: Its path or URL.
        exists: Whether a file of the name is there, which may not be replaced; ``None`` where it may.
    """

    def __init__(self, output: Output, location: str, exists: Callable[[], bool] | None = None) -> None:
        self._output, self._location, self._exists = output, location, exists

    @property
    def name(self) -> str:
        """The path or URL for people, without credentials."""
        return display_name(self._location)

    def write(self, data: bytes, /) -> object:
        """See :class:`Output`."""
        with errors_with_name(self._location):
            return self._output.write(data)

    def close(self) -> None:
        """See :class:`Output`."""
        with errors_with_name(self._location):
            exists, self._exists = self._exists, None
            if exists is not None and exists():
                self._output.abort()
                raise target_appeared(self._location)
            self._output.close()

    def abort(self) -> None:
        """See :class:`Output`."""
        self._output.abort()


def kind_of(path: str) -> str:
    """What is at a path, which is no file and no folder."""
    mode = os.stat(path).st_mode
    return next((text for is_kind, text in KINDS if is_kind(mode)), "no regular file")


def target_exists(location: str) -> FileExistsError:
    """The error for a target that is there, and may not be replaced."""
    return FileExistsError(
        f"{display_name(location)}: the target is there already: existing_data='overwrite' replaces it"
    )


def target_appeared(location: str) -> FileExistsError:
    """The error for a target that was not there before it was written."""
    return FileExistsError(
        f"{display_name(location)}: another process has written the target meanwhile, which stays as it is: choose "
        "another name"
    )


def checked_place(path: str, *, overwrite: bool) -> str:
    """The path of a file that can be written, with its links followed.

    Args:
        path: The path.
        overwrite: Whether the file may be replaced.

    Raises:
        IsADirectoryError: There is a folder.
        FileExistsError: The file is there, and may not be replaced.
        OSError: There is something that is no regular file, such as a pipe or a device.
    """
    if os.path.isdir(path) or path.endswith("/"):
        raise IsADirectoryError(f"{display_name(path)}: the target is a folder: give the name of a file")
    if os.path.abspath(path).startswith(STREAMS) or (os.path.exists(path) and not os.path.isfile(path)):
        raise OSError(f"{display_name(path)}: the target is no regular file: give the name of a file")
    if not overwrite and os.path.lexists(path):
        raise target_exists(path)
    target = os.path.realpath(path)
    if os.path.islink(target):
        raise OSError(f"{display_name(path)}: the links of the target go in circles: give the name of a file")
    return target


def local_output(path: str, *, overwrite: bool) -> Moved:
    """Creates a file that appears, with its bytes on disk, when it is closed. A link is kept, and the file that it
    leads to is replaced. Permissions of a file that is replaced stay.

    Raises:
        OSError: As of :func:`checked_place`, or the file cannot be created.
    """
    target = checked_place(path, overwrite=overwrite)

    def create(hidden: str) -> object:
        mode = _mode(target)
        # Nobody reads the rows who may not read the file that is replaced.
        return open(hidden, "xb", opener=lambda name, flags: os.open(name, flags, 0o666 if mode is None else mode))

    def move(hidden: str, _: str) -> None:
        descriptor = os.open(hidden, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        _publish(hidden, target, path, overwrite=overwrite)

    return Moved(target, create, move, os.unlink)


class NewFolder:
    """A hidden folder beside a file that does not exist yet. A file that was written into it becomes that file. The
    folder is removed with the object at the latest.

    Args:
        path: The file.

    Raises:
        OSError: As of :func:`checked_place`, or the folder cannot be created.
    """

    def __init__(self, path: str) -> None:
        self._path, self._target = path, checked_place(path, overwrite=False)
        # The folder of missing/../a.orc is missing, though that of the path without the dots is there.
        os.stat(os.path.dirname(path) or ".")
        self.path = hidden_name(self._target)
        self._process = os.getpid()
        os.mkdir(self.path)

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self.remove()

    def publish(self) -> None:
        """Publishes the one file of the folder, and removes the folder.

        Raises:
            FileExistsError: The file exists now.
            OSError: It cannot be published.
        """
        (name,) = os.listdir(self.path)
        _publish(os.path.join(self.path, name), self._target, self._path, overwrite=False)
        with contextlib.suppress(OSError):
            os.rmdir(self.path)

    def remove(self) -> None:
        """Removes the folder with what is in it. A child of a fork removes nothing."""
        if self._process != os.getpid():
            return
        with contextlib.suppress(OSError):
            for name in os.listdir(self.path):
                os.unlink(os.path.join(self.path, name))
            os.rmdir(self.path)


def _publish(hidden: str, target: str, path: str, *, overwrite: bool) -> None:
    """Gives a hidden file, whose bytes are on disk, its name. ``path`` is the name for people."""
    if overwrite:
        # A rename would replace a pipe that has appeared.
        checked_place(target, overwrite=True)
        mode = _mode(target)
        if mode is not None:
            os.chmod(hidden, mode)
        os.replace(hidden, target)
    else:
        try:
            os.link(hidden, target)
        except FileExistsError:
            raise target_appeared(path) from None
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            if os.path.lexists(target):
                raise target_appeared(path) from None
            os.rename(hidden, target)
        else:
            os.unlink(hidden)
    # The file is visible, and some systems cannot open folders.
    with contextlib.suppress(OSError):
        folder = os.open(os.path.dirname(target) or ".", os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _mode(path: str) -> int | None:
    """The permissions of a file; ``None`` where there is none."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except FileNotFoundError:
        return None
