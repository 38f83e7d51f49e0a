"""Paths within file systems, and their files."""

from __future__ import annotations

import os
import threading
from typing import Any

from orcish import _native
from orcish.io.paths import PATTERN, folder_above
from orcish.io.patterns import matches, segments
from orcish.io.systems import OpenFile, Output, System

__all__ = ["SystemFile", "SystemPath"]

FOLDER_MARKER = "_$folder$"
"""The suffix of objects that Hadoop creates for empty folders."""


class SystemPath:
    """A path within a file system that the native core does not read."""

    def __init__(self, system: System, path: str, location: str | None = None) -> None:
        self._system = system
        self._path = path
        self.location = path if location is None else location
        """The path, or the URL where the path is that of a URL."""

    def __repr__(self) -> str:
        return _native.display_name(self.location)

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
            raise FileNotFoundError(f"no files: {self}{hint}")
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
            raise IsADirectoryError(f"{self} is a directory: a file has a name such as a.orc")
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
    def location(self) -> str:
        """The path or URL."""
        return self._given[2]

    @property
    def name(self) -> str:
        """The path or URL for people, without credentials."""
        return _native.display_name(self.location)

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
