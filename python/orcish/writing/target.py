"""Targets of files that the native core writes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, get_args

from orcish import _native
from orcish._native import Location, Place, complete_storage
from orcish.errors import OptionError
from orcish.io.filesystem import foreign_path, in_file_system
from orcish.io.names import display_name
from orcish.io.outputs import Output
from orcish.io.system_path import SystemPath
from orcish.types import ExistingFile, FileSystem, StorageOptions

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "FileTarget",
    "check_no_source",
    "check_target",
    "file_target",
    "is_replaced",
    "name_of",
]


class FileTarget:
    """A file that a call of the native core writes. It appears as a whole, at the end of a block without an error.

    Args:
        native: The target in the form that the native core takes: a path, a URL or a file object.
        overwrite: Whether an existing file is replaced.
        output: The file, in a file system of another library.
    """

    def __init__(self, native: Any, *, overwrite: bool, output: Output | None = None) -> None:
        self.native = native if output is None else output
        self.overwrite = overwrite
        self._output = output

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.abort()
            return
        try:
            self.complete()
        except BaseException:
            self.abort()
            raise

    def complete(self) -> None:
        """Publishes a file that the native core has finished, unless it has published the file."""
        if self._output is not None:
            self._output.close()

    def abort(self) -> None:
        """Removes what is not published."""
        if self._output is not None:
            self._output.abort()


def file_target(
    target: Any, filesystem: FileSystem | None, storage_options: StorageOptions | None, existing_data: ExistingFile
) -> FileTarget:
    """The target of a function that writes a file. The native core checks it.

    Args:
        target: A path, a URL or a file object.
        filesystem: The file system that the path is within.
        storage_options: Options of the store of a URL.
        existing_data: What to do where there is a file.

    Raises:
        TypeError: The target is none.
        FileExistsError: The file is there in a file system of another library, and not replaced.
        OSError: It cannot be created there.
    """
    overwrite = is_replaced(existing_data)
    place = in_file_system(target, filesystem, storage_options, is_target=True)
    if isinstance(place, SystemPath):
        if os.fspath(target).endswith("/"):
            raise IsADirectoryError(f"{place} is a directory: a file has a name such as a.orc")
        return FileTarget(None, overwrite=overwrite, output=place.create(overwrite=overwrite))
    native = os.fspath(place) if isinstance(place, os.PathLike) else place
    if isinstance(native, str):
        return FileTarget(Location(native).path, overwrite=overwrite)
    if not hasattr(native, "write"):
        raise TypeError(f"a file is written to a path, a URL or a file object, not to {type(target).__name__}")
    return FileTarget(native, overwrite=overwrite)


def check_target(target: str, storage_options: StorageOptions | None, existing_data: str) -> None:
    """Checks that a file can be written, before its rows are read.

    Args:
        target: A path or URL.
        storage_options: Options of its store.
        existing_data: What to do where there is a file.

    Raises:
        FileExistsError: The file is there, and not replaced.
        IsADirectoryError: There is a folder.
        OSError: There is something that is no regular file, such as a pipe or a device.
        OptionError: ``existing_data`` is a word of folders.
    """
    overwrite = is_replaced(existing_data)
    location = Location(target)
    if location.is_foreign:
        foreign_path(target, storage_options).check_target(overwrite=overwrite)
    else:
        options = complete_storage(location.path, storage_options)
        _native.check_target(location.path, options, overwrite=overwrite)


def is_replaced(existing_data: str) -> bool:
    """Whether a file that is there is replaced.

    Raises:
        OptionError: The word is of folders.
    """
    if existing_data not in get_args(ExistingFile):
        raise OptionError(
            "existing_data",
            "is of folders: of a file, it is 'error' or 'overwrite'",
            existing_data,
        )
    return existing_data == "overwrite"


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
