"""Paths within file systems of other libraries, and the files there."""

from __future__ import annotations

import collections
import itertools
import os
import threading
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from orcish._native import above_pattern, matches_pattern
from orcish.io.names import display_name, errors_with_name
from orcish.io.outputs import NamedOutput, Output, target_exists
from orcish.io.paths import PATTERN
from orcish.io.versions import FileChangedError, Version, check_unchanged
from orcish.terminal import printable

if TYPE_CHECKING:
    from pyarrow import fs

    from orcish.io.systems import Opened, Range, System

__all__ = ["SystemFile", "SystemPath"]

FOLDER_MARKER = "_$folder$"
"""The suffix of objects that Hadoop creates for empty folders."""
# The sizes are those by which the native core reads stores.
COALESCE_GAP = 1 << 20
"""Bytes before the end of a file up to which they are read, too."""
FIRST_READ = 64 << 10
"""Bytes of the first read at the end of a file."""
PART_SIZE = 8 << 20
"""Bytes of a request. Longer ranges are read in parts where the file system reads several at the same time."""
MAX_TAILS = 16
"""Files whose last bytes are in memory, or that are there as a whole."""


class SystemPath:
    """A path within a file system that the native core does not read."""

    def __init__(self, system: System, path: str, location: str | None = None) -> None:
        self._system = system
        self._path = path
        self.location = path if location is None else location
        """The path, or the URL where the path is that of a URL."""

    def __repr__(self) -> str:
        return printable(display_name(self.location))

    @property
    def is_pattern(self) -> bool:
        """Whether the path is a pattern. A path that exists is none."""
        return any(sign in self._path for sign in PATTERN) and not self._exists()

    @property
    def is_folder(self) -> bool:
        """Whether there is a folder at the path."""
        return _is_folder(self._status())

    def file(self) -> SystemFile:
        """The file at the path. It is opened on first use."""
        return SystemFile(self._system, self._path, self.location)

    def files(self) -> list[SystemFile]:
        """The file at the path, those of a folder at any depth, or those that match a pattern.

        Raises:
            FileNotFoundError: There is nothing at the path, or nothing matches the pattern.
            OSError: The file system lists a name outside of the folder.
        """
        status = self._status()
        if status.is_file:
            return [SystemFile(self._system, self._path, self.location, status.size)]
        is_folder = _is_folder(status)
        is_pattern = not is_folder and any(sign in self._path for sign in PATTERN)
        folder = above_pattern(self._path) if is_pattern else self._path
        folder = "" if folder == "." else folder
        pattern = self._path[len(folder) :] if is_pattern else ""
        start = len(folder.rstrip("/"))
        with errors_with_name(self.location):
            found = self._system.find(folder)
        for path, _ in found:
            _check_below(folder, path, self.location)
        names = {path: size for path, size in found if not path.endswith(("/", FOLDER_MARKER))}
        paths = sorted(names)
        is_match = matches_pattern(pattern, [path[start:] for path in paths])
        chosen = list(itertools.compress(paths, is_match))
        if not chosen and not is_folder:
            hint = ": nothing matches the pattern" if is_pattern else ""
            raise FileNotFoundError(f"no files: {self}{hint}")
        base = above_pattern(self.location) if is_pattern else self.location
        base = "" if base == "." else base.rstrip("/")
        return [SystemFile(self._system, path, f"{base}{path[start:]}", names[path]) for path in chosen]

    def version(self) -> Version:
        """The version of the file at the path now.

        Raises:
            OSError: There is no file.
        """
        with errors_with_name(self.location):
            return self._system.version(self._path)

    def check_target(self, *, overwrite: bool) -> None:
        """Checks that a file can be created at the path.

        Raises:
            IsADirectoryError: There is a folder at the path.
            FileExistsError: There is a file, without ``overwrite``.
        """
        if self.is_folder:
            raise IsADirectoryError(f"{self} is a directory: a file has a name such as a.orc")
        if not overwrite and self._exists():
            raise target_exists(self.location)

    def create(self, *, overwrite: bool = True) -> Output:
        """Creates a file at the path, which appears when it is closed. Without ``overwrite``, the file system is asked
        for an existing file now and before the new one appears.

        Raises:
            IsADirectoryError: There is a folder at the path.
            FileExistsError: There is a file, without ``overwrite``.
            OSError: The file cannot be created.
            UnsupportedError: The file system cannot be written to, or cannot publish a file as a whole.
        """
        self.check_target(overwrite=overwrite)
        with errors_with_name(self.location):
            output = self._system.create(self._path)
        return NamedOutput(output, self.location, None if overwrite else self._exists)

    def _status(self) -> fs.FileInfo:
        with errors_with_name(self.location):
            return self._system.status(self._path)

    def _exists(self) -> bool:
        status = self._status()
        return status.is_file or _is_folder(status)


class Tail:
    """The bytes of a file from an offset to its end."""

    def __init__(self, start: int, content: bytes) -> None:
        self.start, self.content = start, content


_tails: collections.deque[Tail] = collections.deque(maxlen=MAX_TAILS)
"""The last tails. They bound the memory of scans, which have the files of a table until their end."""


class SystemFile:
    """A file of a file system, as the native core reads it. It is opened on first use, in any process, and it can be
    pickled if the file system can.

    The end of the file is read with one request, and the whole of a small file with one more.
    """

    def __init__(self, system: System, path: str, location: str, size: int | None = None) -> None:
        self._given = system, path, location, size
        self._opened: Opened | None = None
        # Some listings say 0, or a negative number, where they do not know the size.
        self._size = size if size is not None and size > 0 else None
        self._batches = 0
        self._tail: weakref.ref[Tail] | None = None
        self._lock_of = os.getpid(), threading.RLock()

    def __reduce__(self) -> tuple[Any, ...]:
        return SystemFile, self._given

    @property
    def location(self) -> str:
        """The path or URL."""
        return self._given[2]

    @property
    def name(self) -> str:
        """The path or URL for people, without credentials."""
        return display_name(self.location)

    @property
    def concurrency(self) -> int:
        """Ranges that are read at the same time."""
        return self._given[0].concurrency

    def size(self) -> int:
        """The length of the file."""
        if self._size is None:
            with errors_with_name(self.location):
                self._size = self._open().size
        return self._size

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:  # noqa: ARG002
        """Gives the length of the file, for which the native core goes to its end."""
        return self.size()

    def read(self) -> bytes:
        """The whole file."""
        return self.read_ranges([(0, self.size())])[0]

    def version(self) -> Version:
        """The version that is read, as far as the file system states it. Later reads are compared with it."""
        with errors_with_name(self.location):
            self._batches = max(self._batches, 1)
            return self._open().version

    def read_ranges(self, ranges: Sequence[Range]) -> list[bytes]:
        """Reads ranges, at the same time where the file system can. Any thread may call this at any time.

        Args:
            ranges: Offsets of the first byte, and of the byte after the last. The results end at the end of the file.
        """
        with errors_with_name(self.location):
            length = self.size()
            within = [(min(start, length), min(end, length)) for start, end in ranges]
            with self._lock():
                tail = self._tail_for([part for part in within if part[0] < part[1]], length)
            kept = length if tail is None else tail.start
            found = iter(self._read([part for part in within if part[0] < min(part[1], kept)]))
            return [
                b""
                if start >= end
                else tail.content[start - kept : end - kept]
                if tail is not None and start >= kept
                else next(found)
                for start, end in within
            ]

    def _tail_for(self, ranges: Sequence[Range], length: int) -> Tail | None:
        """The tail in memory; for ranges that it has not, the last bytes of the file, or the whole of a small one."""
        tail = None if self._tail is None else self._tail()
        start = length if tail is None else tail.start
        if all(first >= start for first, _ in ranges):
            return tail
        if tail is None and all(first >= length - FIRST_READ and end == length for first, end in ranges):
            at = max(length - FIRST_READ, 0)
        elif start <= COALESCE_GAP:
            at = 0
        else:
            return tail
        (head,) = self._read([(at, start)])
        if len(head) < start - at:
            # The file has become shorter: the read of the ranges fails.
            return tail
        tail = Tail(at, head if tail is None else head + tail.content)
        _tails.append(tail)
        self._tail = weakref.ref(tail)
        return tail

    def _read(self, ranges: Sequence[Range]) -> list[bytes]:
        """The bytes of ranges, all of the version that was opened.

        The first request for a file has nothing to be compared with. After others, the file system is asked whether the
        file is the same one.
        """
        if not ranges:
            return []
        file, size = self._open(), PART_SIZE if self.concurrency > 1 else max(end for _, end in ranges)
        parts = [[(at, min(at + size, end)) for at in range(start, end, size)] for start, end in ranges]
        flat = [part for each in parts for part in each]
        self._batches += 1
        found = iter(file.read(flat))
        if file.pinned is not None and (self._batches > 1 or len(flat) > 1):
            check_unchanged(file.pinned, self._given[0].version(self._given[1]))
        return [b"".join(bytes(next(found)) for _ in each) for each in parts]

    def _open(self) -> Opened:
        if self._opened is None:
            # All threads read one version.
            with self._lock():
                if self._opened is None:
                    system, path, *_ = self._given
                    opened = system.open(path)
                    # A listing has the length of a file that was replaced since.
                    if self._size is not None and opened.size != self._size:
                        raise FileChangedError
                    self._opened = opened
        return self._opened

    def _lock(self) -> threading.RLock:
        """The lock of the file in this process. Threads of the parent of a fork may hold that of the parent."""
        if self._lock_of[0] != os.getpid():
            self._lock_of = os.getpid(), threading.RLock()
        return self._lock_of[1]


def _is_folder(status: fs.FileInfo) -> bool:
    return bool(status.type.name == "Directory")


def _check_below(folder: str, path: str, location: str) -> None:
    """Checks that a path that a file system lists is in the folder.

    Raises:
        OSError: It is not.
    """
    start = folder.rstrip("/")
    is_below = not folder or path == start or path.startswith(f"{start}/")
    if not is_below or ".." in path[len(start) :].split("/"):
        raise OSError(
            f"{display_name(location)}: cannot be listed: the file system lists {display_name(path)!r}, which is not "
            "in the folder"
        )
