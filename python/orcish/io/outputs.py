"""Files that are written under a hidden name, and appear when they are complete."""

from __future__ import annotations

import contextlib
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
    "Output",
    "Upload",
    "kind_of",
    "target_appeared",
    "target_exists",
]

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
