"""Paths within file systems, and their files."""

from __future__ import annotations

import glob
import os
import posixpath
import threading
from typing import Any

from orcish.errors import UnsupportedError
from orcish.io.paths import PATTERN, folder_above, path_text
from orcish.io.patterns import matches, segments
from orcish.io.systems import OpenFile, Output, System, system_of

__all__ = ["SystemFile", "SystemPath", "in_file_system", "table_folder"]

FOLDER_MARKER = "_$folder$"
"""The suffix of objects that Hadoop creates for empty folders."""


class SystemPath:
    """A path within a file system that the native core does not read."""

    def __init__(self, system: System, path: str, location: str | None = None) -> None:
        self._system = system
        self._path = path
        self.location = path if location is None else location
        """The path for people; a URL where the path is that of a URL."""

    def __repr__(self) -> str:
        return self.location

    @property
    def is_pattern(self) -> bool:
        """Whether the path is a pattern. A path that exists is none."""
        return any(sign in self._path for sign in PATTERN) and not self._exists()

    @property
    def is_folder(self) -> bool:
        """Whether there is a folder at the path."""
        return self._system.status(self._path).is_folder

    def file(self) -> SystemFile:
        """The file at the path. It is opened on first use."""
        return SystemFile(self._system, self._path, self.location)

    def files(self) -> list[SystemFile]:
        """The file at the path, those of a folder at any depth, or those that match a pattern.

        Raises:
            FileNotFoundError: There is nothing at the path, or nothing matches the pattern.
        """
        status = self._system.status(self._path)
        if status.is_file:
            return [SystemFile(self._system, self._path, self.location, status.size)]
        is_pattern = not status.is_folder and any(sign in self._path for sign in PATTERN)
        folder = folder_above(self._path) if is_pattern else self._path
        folder = "" if folder == "." else folder
        pattern = segments(self._path[len(folder) :]) if is_pattern else []
        start = len(folder.rstrip("/"))
        names = {path: size for path, size in self._system.find(folder) if not path.endswith(("/", FOLDER_MARKER))}
        chosen = sorted(path for path in names if matches(pattern, [each for each in path[start:].split("/") if each]))
        if not chosen and not status.is_folder:
            hint = ": nothing matches the pattern" if is_pattern else ""
            raise FileNotFoundError(f"no files: {self.location}{hint}")
        base = folder_above(self.location) if is_pattern else self.location
        base = "" if base == "." else base.rstrip("/")
        return [SystemFile(self._system, path, f"{base}{path[start:]}", names[path]) for path in chosen]

    def create(self) -> Output:
        """Creates a file at the path, which appears when it is closed.

        Raises:
            IsADirectoryError: There is a folder at the path.
            OSError: The file cannot be created.
            UnsupportedError: The file system cannot be written to, or cannot publish a file as a whole.
        """
        if self.is_folder:
            raise IsADirectoryError(f"{self.location} is a directory: a file has a name such as a.orc")
        return self._system.create(self._path)

    def _exists(self) -> bool:
        status = self._system.status(self._path)
        return status.is_file or status.is_folder


class SystemFile:
    """A file of a file system. It is opened on first use, in any process, and can be pickled if the file system can.

    Each thread has a position of its own, so that several readers of the file do not disturb each other.
    """

    def __init__(self, system: System, path: str, location: str, size: int | None = None) -> None:
        self._given = system, path, location, size
        self._file: OpenFile | None = None
        self._size = size
        self._at = threading.local()

    def __reduce__(self) -> tuple[Any, ...]:
        return SystemFile, self._given

    @property
    def name(self) -> str:
        """The path or URL."""
        return self._given[2]

    def read(self, size: int = -1, /) -> Any:
        """Reads at most ``size`` bytes."""
        at = self.tell()
        if size < 0:
            size = max(self._length() - at, 0)
        found = bytes(self._opened().read_at(size, at))
        self._at.offset = at + len(found)
        return found

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Moves to ``offset``."""
        base = {os.SEEK_SET: lambda: 0, os.SEEK_CUR: self.tell, os.SEEK_END: self._length}[whence]()
        self._at.offset = max(base + offset, 0)
        return self.tell()

    def tell(self) -> int:
        """The position."""
        return int(getattr(self._at, "offset", 0))

    def _length(self) -> int:
        if self._size is None:
            self._size = self._opened().size()
        return self._size

    def _opened(self) -> OpenFile:
        if self._file is None:
            system, path, *_ = self._given
            self._file = system.open(path)
        return self._file


def in_file_system(source: Any, filesystem: Any, storage_options: Any, *, is_target: bool = False) -> Any:
    """A source or target, with paths as those within a file system. Paths of the local disk stay paths.

    Args:
        source: A path, or a list of paths; without a file system, any source.
        filesystem: A file system of pyarrow or fsspec, or ``None``.
        storage_options: Options of the call, which are not for file systems.
        is_target: Whether the path is that of a target, which is no pattern.

    Raises:
        TypeError: ``filesystem`` is no file system.
        ValueError: The source is no path, the path is a URL of another file system, or there are ``storage_options``.
    """
    if filesystem is None:
        return source
    if storage_options is not None:
        raise ValueError("storage_options are for URLs: a file system has settings of its own")
    system = system_of(filesystem)
    if isinstance(source, list | tuple):
        return [_within(each, system, is_target) for each in source]
    return _within(source, system, is_target)


def table_folder(target: Any, filesystem: Any, storage_options: Any) -> Any:
    """The path or URL of a table that is written.

    Raises:
        UnsupportedError: The path is within a file system that is not the local one.
    """
    place = in_file_system(target, filesystem, storage_options, is_target=True)
    if isinstance(place, SystemPath):
        raise UnsupportedError(
            f"{place}: a commit of a table needs atomic renames or conditional writes, which file systems of pyarrow "
            "and fsspec do not have: give the URL of the table, such as s3://bucket/table, with storage_options in "
            "place of filesystem; write_table writes a single file"
        )
    return place


def _within(source: Any, system: System, is_target: bool) -> str | SystemPath:
    if not isinstance(source, str | os.PathLike):
        kind = type(source).__name__
        raise ValueError(f"filesystem is for paths, and not for a source of type {kind}: leave filesystem out")
    text = path_text(source)
    path = system.normalized(text)
    native = system.native_path(path)
    if native is None:
        return SystemPath(system, path)
    is_pattern = not is_target and any(sign in path for sign in PATTERN) and not os.path.exists(native)
    if is_pattern and native.endswith(path):
        # Special characters of the folder above the path do not belong to the pattern.
        native = f"{glob.escape(native.removesuffix(path))}{path}"
    # A slash at the end says that the path is that of a folder.
    return posixpath.join(native, "") if text.endswith("/") else native
