"""Targets of files that the native core writes, and how a file appears under its name."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, get_args

from orcish import _native
from orcish._native import Location, Place, complete_storage
from orcish.errors import OptionError
from orcish.io.filesystem import in_file_system, is_there
from orcish.io.names import display_name, errors_with_name
from orcish.io.outputs import NewFolder, Output, target_appeared, target_exists
from orcish.io.system_path import SystemPath
from orcish.types import ExistingFile, FileSystem, StorageOptions

__all__ = [
    "FileTarget",
    "SystemTarget",
    "check_no_source",
    "file_target",
    "is_replaced",
    "name_of",
    "publish",
    "published_target",
]


class FileTarget:
    """A file that replaces an existing one. The native core publishes it.

    Args:
        native: The target in the form that the native core takes.
    """

    publish = True
    """Whether the native core publishes the file; otherwise it gives a token for :meth:`complete`."""
    staging: str | None = None
    """The folder of the file before it is published."""

    def __init__(self, native: Any) -> None:
        self.native = native

    def complete(self, token: bytes | None) -> None:
        """Publishes a file that the native core has finished."""

    def abort(self) -> None:
        """Removes what is not published."""


class SystemTarget(FileTarget):
    """A file in a file system of another library."""

    native: Output

    def complete(self, token: bytes | None) -> None:  # noqa: ARG002
        """See :class:`FileTarget`."""
        self.native.close()

    def abort(self) -> None:
        """See :class:`FileTarget`."""
        self.native.abort()


class NewLocalTarget(FileTarget):
    """A file of the local disk that appears only where none is.

    Args:
        path: The file.
        can_stage: Whether the native core can write a file without publishing it.
    """

    def __init__(self, path: str, *, can_stage: bool) -> None:
        super().__init__(path)
        location = Location(path)
        with errors_with_name(path):
            self._folder = NewFolder(location.path)
        if can_stage and location.is_unicode:
            self.publish, self.staging = False, self._folder.path
        else:
            # The file is published within the folder.
            self.native = os.path.join(self._folder.path, os.path.basename(location.path))
        self._path = path

    def complete(self, token: bytes | None) -> None:  # noqa: ARG002
        """See :class:`FileTarget`."""
        with errors_with_name(self._path):
            self._folder.publish()

    def abort(self) -> None:
        """See :class:`FileTarget`."""
        self._folder.remove()


class NewObjectTarget(FileTarget):
    """A file of a store, which is asked for an existing one before the new one appears."""

    def __init__(self, url: str, storage_options: StorageOptions | None, *, can_stage: bool) -> None:
        super().__init__(url)
        self.publish = not can_stage
        self._storage_options = storage_options or {}
        self._check(target_exists)

    def complete(self, token: bytes | None) -> None:
        """See :class:`FileTarget`."""
        if token is not None:
            options = complete_storage(self.native, self._storage_options)
            publish(self.native, token, options, lambda: self._check(target_appeared))

    def _check(self, error: Callable[[str], FileExistsError]) -> None:
        if is_there(self.native, self._storage_options):
            raise error(self.native)


def publish(location: str, token: bytes, options: dict[str, Any] | None, check: Callable[[], None]) -> None:
    """Publishes a file that the native core has finished. What is not published is removed.

    Args:
        location: The path or URL of the file.
        token: Its token; empty if it is published.
        options: Options of the store for the native core.
        check: Raises an error where the file may not appear.
    """
    try:
        check()
        if token:
            _native.complete_upload(location, token, options)
    except BaseException:
        if token:
            with contextlib.suppress(Exception):
                _native.abort_upload(location, token, options)
        raise


def file_target(
    target: Any,
    filesystem: FileSystem | None,
    storage_options: StorageOptions | None,
    existing_data: ExistingFile,
    *,
    can_stage: bool = True,
    is_published: bool = True,
) -> FileTarget:
    """The target of a function that writes a file.

    Args:
        target: A path, a URL or a file object.
        filesystem: The file system that the path is within.
        storage_options: Options of the store of a URL.
        existing_data: What to do where there is a file.
        can_stage: Whether the call of the native core takes ``publish`` and ``staging``.
        is_published: Whether the file appears at the end. Otherwise only a file that is there now is refused.

    Raises:
        TypeError: The target is none.
        IsADirectoryError: There is a folder.
        FileExistsError: The file is there, and not replaced.
        OSError: It cannot be created.
    """
    overwrite = is_replaced(existing_data)
    place = in_file_system(target, filesystem, storage_options, is_target=True)
    if isinstance(place, SystemPath):
        if os.fspath(target).endswith("/"):
            raise IsADirectoryError(f"{place} is a directory: a file has a name such as a.orc")
        return SystemTarget(place.create(overwrite=overwrite))
    native = _checked_target(place)
    # The native core names the fault of an empty path.
    if overwrite or not isinstance(native, str) or not native:
        return FileTarget(native)
    is_local = Location(native).is_local
    if not is_local and is_published:
        return NewObjectTarget(native, storage_options, can_stage=can_stage)
    if is_published:
        return NewLocalTarget(native, can_stage=can_stage)
    if os.path.lexists(Location(native).path) if is_local else is_there(native, storage_options or {}):
        raise target_exists(native)
    return FileTarget(native)


def is_replaced(existing_data: str) -> bool:
    """Whether a file that is there is replaced.

    Raises:
        OptionError: The word is of folders.
    """
    if existing_data not in get_args(ExistingFile):
        raise OptionError("existing_data", "is of folders: a file is refused ('error') or replaced", existing_data)
    return existing_data == "overwrite"


@contextlib.contextmanager
def published_target(
    target: Any,
    filesystem: FileSystem | None,
    storage_options: StorageOptions | None,
    existing_data: ExistingFile,
) -> Iterator[Any]:
    """A target in the form that the native core takes, for calls that publish files. The file appears at the end of the
    block, unless it raises.
    """
    found = file_target(target, filesystem, storage_options, existing_data, can_stage=False)
    try:
        with _named(found.native, target):
            yield found.native
        found.complete(None)
    except BaseException:
        found.abort()
        raise


def check_no_source(
    target: Any,
    sources: Iterable[Any],
    filesystem: FileSystem | None = None,
    storage_options: StorageOptions | None = None,
    target_storage_options: StorageOptions | None = None,
) -> None:
    """Checks that a target is none of the sources, by whatever spelling, name or link. Other objects than paths and
    URLs are passed over. Options of the store of the target are those of the sources by default.

    Raises:
        ValueError: It is one.
    """
    if not isinstance(target, str | os.PathLike):
        return
    options = storage_options if target_storage_options is None else target_storage_options
    own = _place(target, filesystem, options, storage_options)
    file = _identity(own)
    for source in sources:
        if not isinstance(source, str | os.PathLike):
            continue
        other = _place(source, filesystem, storage_options, options)
        if other.is_same(own) or (file is not None and file == _identity(other)):
            raise ValueError(f"{name_of(target)}: the target is one of the sources: choose another name")


def name_of(target: Any) -> str:
    """What is written, for people."""
    if not isinstance(target, str | os.PathLike):
        return f"<{type(target).__name__}>"
    return display_name(os.fspath(target))


@contextlib.contextmanager
def _named(native: Any, target: Any) -> Iterator[None]:
    """Errors about a file have the name of the target in place of that under which the native core writes it."""
    try:
        yield
    except Exception as error:
        if isinstance(native, str) and isinstance(target, str | os.PathLike):
            hidden = display_name(native)
            error.args = tuple(
                each.replace(hidden, name_of(target)) if isinstance(each, str) else each for each in error.args
            )
            if isinstance(error, OSError) and isinstance(error.strerror, str):
                error.strerror = error.strerror.replace(hidden, name_of(target))
        raise


def _place(path: str | os.PathLike[str], filesystem: FileSystem | None, *storage: Mapping[str, Any] | None) -> Place:
    """The place of a path or URL."""
    place = path if filesystem is None else in_file_system(path, filesystem, None, is_target=True)
    if isinstance(place, SystemPath):
        return Place.within_file_system(place.location)
    return Location(place).place(*storage)


def _identity(place: Place) -> tuple[int, int] | None:
    """What hard links of a file of the local disk have in common; ``None`` where there is no such file."""
    if not place.is_local:
        return None
    try:
        found = os.stat(place.path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _checked_target(target: Any) -> Any:
    found = os.fspath(target) if isinstance(target, os.PathLike) else target
    if isinstance(found, str):
        path = Location(found).path
        scheme, _, rest = path.rpartition("://")
        # The native core names the fault of a URL of a whole bucket.
        is_bucket = bool(scheme) and not rest.strip("/").partition("/")[2]
        if not is_bucket and (path.endswith("/") or (not scheme and os.path.isdir(path))):
            raise IsADirectoryError(
                f"{display_name(found)} is a directory: orcish.write_dataset writes a folder of files, and a "
                "file has a name such as a.orc"
            )
        return path
    if hasattr(found, "write"):
        return found
    raise TypeError(f"a file is written to a path, a URL or a file object, not to {type(target).__name__}")
