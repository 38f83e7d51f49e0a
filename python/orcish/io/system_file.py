"""Files within file systems, for reading and writing."""

from __future__ import annotations

import collections
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from orcish.io.local_file import target_appeared
from orcish.io.names import display_name, errors_with_name
from orcish.io.ranges import COALESCE_GAP, FIRST_READ, PART_SIZE, Range, read_parts
from orcish.io.systems import OpenFile, Output, System
from orcish.io.versions import FileChangedError, Version

__all__ = ["NamedOutput", "SystemFile"]

MAX_WINDOWS = 16
"""Files whose last bytes are in memory, or that are there as a whole."""


class Window:
    """The bytes of a file from an offset to its end."""

    def __init__(self, start: int, content: bytes) -> None:
        self.start, self._content = start, content

    def bytes_of(self, part: Range) -> bytes | None:
        """The bytes of a range; ``None`` where it begins before the window."""
        start, end = part
        return self._content[start - self.start : end - self.start] if start >= self.start else None

    def with_head(self, head: bytes) -> Window:
        """The whole file, given the bytes before the window."""
        return Window(0, head + self._content)


def _known(window: Window | None, part: Range) -> bytes | None:
    return None if window is None else window.bytes_of(part)


_windows: collections.deque[Window] = collections.deque(maxlen=MAX_WINDOWS)
"""The last windows. They bound the memory of scans, which have the files of a table until their end."""


class Locks:
    """The locks of a file in one process. Threads of the parent of a fork may hold those of the parent."""

    def __init__(self, concurrency: int) -> None:
        self.process = os.getpid()
        self.requests = threading.Semaphore(concurrency)
        """The requests that all threads together make at the same time."""
        self.window = threading.Lock()
        """Held while a window is read."""
        self.opening = threading.Lock()
        """Held while the file is opened, so that all threads read one version."""


class SystemFile:
    """A file of a file system. It is opened on first use, in any process, and can be pickled if the file system can.

    Each thread has a position of its own, so that several readers of the file do not disturb each other. The end of the
    file is read with one request, and the whole of a small file with one more.
    """

    def __init__(self, system: System, path: str, location: str, size: int | None = None) -> None:
        self._given = system, path, location, size
        self._file: OpenFile | None = None
        # Some listings say 0, or a negative number, where they do not know the size.
        self._size = size if size is not None and size > 0 else None
        self._batches = 0
        self._at = threading.local()
        self._window: weakref.ref[Window] | None = None
        self._locks: Locks | None = None

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

    def read(self, size: int = -1, /) -> bytes:
        """Reads at most ``size`` bytes."""
        at, length = self.tell(), self._length()
        (found,) = self.read_ranges([(at, length if size < 0 else at + size)])
        self._at.offset = at + len(found)
        return found

    def read_ranges(self, ranges: Sequence[Range]) -> list[bytes]:
        """Reads ranges, at the same time where the file system can. Any thread may call this at any time.

        Args:
            ranges: Offsets of the first byte, and of the byte after the last. The results end at the end of the file.
        """
        with errors_with_name(self.location):
            length = self._length()
            within = [(min(start, length), min(end, length)) for start, end in ranges]
            with self._locks_of_process().window:
                window = self._window_of(within, length)
            known = [b"" if first >= end else _known(window, (first, end)) for first, end in within]
            missing = [part for part, found in zip(within, known, strict=True) if found is None]
            found = iter(self._read(missing) if missing else ())
            return [next(found) if each is None else each for each in known]

    def version(self) -> Version:
        """The version that is read, as far as the file system states it. Later reads are compared with it."""
        with errors_with_name(self.location):
            self._batches = max(self._batches, 1)
            return self._opened().version()

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Moves to ``offset``."""
        base = {os.SEEK_SET: lambda: 0, os.SEEK_CUR: self.tell, os.SEEK_END: self._length}[whence]()
        self._at.offset = max(base + offset, 0)
        return self.tell()

    def tell(self) -> int:
        """The position."""
        return int(getattr(self._at, "offset", 0))

    def _window_of(self, ranges: Sequence[Range], length: int) -> Window | None:
        """The window in memory; for ranges that it has not, the last bytes of the file, or the whole of a small one."""
        window = None if self._window is None else self._window()
        start = length if window is None else window.start
        if all(first >= start or first >= end for first, end in ranges):
            return window
        if window is None and all(first >= length - FIRST_READ and end == length for first, end in ranges):
            at = max(length - FIRST_READ, 0)
        elif start <= COALESCE_GAP:
            at = 0
        else:
            return window
        (head,) = self._read([(at, start)], concurrency=1)
        if len(head) < start - at:
            # The file has become shorter: the read of the ranges fails.
            return window
        window = Window(at, head) if window is None else window.with_head(head)
        _windows.append(window)
        self._window = weakref.ref(window)
        return window

    def _read(self, ranges: Sequence[Range], concurrency: int | None = None) -> list[bytes]:
        """The bytes of ranges, all of the version that was opened.

        The first request for a file has nothing to be compared with. After others, the file system is asked whether the
        file is the same one.
        """
        self._batches += 1
        found = read_parts(self._read_at, ranges, concurrency or self.concurrency)
        if self._batches > 1 or len(ranges) > 1 or ranges[0][1] - ranges[0][0] > PART_SIZE:
            self._opened().check()
        return found

    def _read_at(self, nbytes: int, offset: int) -> Any:
        """A request. All threads together make ``concurrency`` at the same time."""
        file = self._opened()
        if self.concurrency < 2:
            return file.read_at(nbytes, offset)
        with self._locks_of_process().requests:
            return file.read_at(nbytes, offset)

    def _locks_of_process(self) -> Locks:
        if self._locks is None or self._locks.process != os.getpid():
            self._locks = Locks(self.concurrency)
        return self._locks

    def _length(self) -> int:
        if self._size is None:
            with errors_with_name(self.location):
                self._size = self._opened().size()
        return self._size

    def _opened(self) -> OpenFile:
        if self._file is None:
            with self._locks_of_process().opening:
                if self._file is None:
                    system, path, *_ = self._given
                    file = system.open(path)
                    # A listing has the length of a file that was replaced since.
                    if self._size is not None and file.size() != self._size:
                        raise FileChangedError
                    self._file = file
        return self._file


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
        """See :class:`~orcish.io.systems.Output`."""
        with errors_with_name(self._location):
            return self._output.write(data)

    def close(self) -> None:
        """See :class:`~orcish.io.systems.Output`."""
        with errors_with_name(self._location):
            exists, self._exists = self._exists, None
            if exists is not None and exists():
                self._output.abort()
                raise target_appeared(self._location)
            self._output.close()

    def abort(self) -> None:
        """See :class:`~orcish.io.systems.Output`."""
        self._output.abort()
