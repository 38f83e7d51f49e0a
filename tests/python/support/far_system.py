"""A file system of fsspec in memory, whose requests take time, are counted, and can fail."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

from fsspec.implementations.memory import MemoryFileSystem

__all__ = ["FarSystem"]


class FarSystem(MemoryFileSystem):  # type: ignore[misc]
    """Reads of ranges may happen at the same time, as in stores."""

    protocol = "far"
    async_impl = True
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]

    def __init__(self, latency: float = 0, **options: Any) -> None:
        super().__init__(**options)
        self.latency = latency
        self._lock = threading.Lock()
        self.reset()

    def reset(self, fails_at: int | None = None, error: Callable[[], Exception] = OSError) -> None:
        """Forgets the requests; the one of the given number fails, from 0, and all after it."""
        self.error = error
        self.fails_at, self.calls, self._in_flight, self.most_in_flight = fails_at, 0, 0, 0
        self.ranges: list[tuple[int, int]] = []

    def cat_file(self, path: str, start: int, end: int, **options: Any) -> bytes:
        """A request."""
        self._count()
        with self._lock:
            self.ranges.append((start, end))
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
        time.sleep(self.latency)
        with self._lock:
            self._in_flight -= 1
        found: bytes = super().cat_file(path, start, end, **options)
        return found

    def cat_ranges(
        self, paths: list[str], starts: list[int], ends: list[int], *, batch_size: int, on_error: str
    ) -> list[bytes]:
        """Requests, some at the same time."""
        assert on_error == "raise"
        with ThreadPoolExecutor(batch_size) as pool:
            return list(pool.map(self.cat_file, paths, starts, ends))

    def info(self, path: str, **options: Any) -> Any:
        """A request."""
        self._count()
        return super().info(path, **options)

    def find(self, path: str, *arguments: Any, **options: Any) -> Any:
        """A request."""
        self._count()
        return super().find(path, *arguments, **options)

    def mv(self, path1: str, path2: str, **options: Any) -> None:
        """A request."""
        self._count()
        self.store[self._strip_protocol(path2)] = self.store.pop(self._strip_protocol(path1))

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        self._count()
        return super()._open(path, mode, **options)

    def _count(self) -> None:
        with self._lock:
            at, self.calls = self.calls, self.calls + 1
        if self.fails_at is not None and at >= self.fails_at:
            raise self.error()
