"""Reads of several ranges of a file, at the same time where the file system can."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["COALESCE_GAP", "CONCURRENCY", "FIRST_READ", "PART_SIZE", "Range", "read_parts"]

# The sizes are those by which the native core reads object stores.
COALESCE_GAP = 1 << 20
"""Bytes between two ranges up to which one request is cheaper than two."""
CONCURRENCY = 10
"""Requests at the same time."""
FIRST_READ = 64 << 10
"""Bytes of the first read at the end of a file."""
PART_SIZE = 8 << 20
"""Bytes of a request. Longer ranges are read in parts."""

Range = tuple[int, int]
"""Offsets of the first byte, and of the byte after the last."""


def read_parts(
    read_at: Callable[[int, int], Any], ranges: Sequence[Range], concurrency: int, part_size: int = PART_SIZE
) -> list[bytes]:
    """The bytes of ranges, in their order.

    Args:
        read_at: Reads at most so many bytes at an offset.
        ranges: The ranges.
        concurrency: Calls of ``read_at`` at the same time.
        part_size: Bytes of a call. With one call at a time, ranges are not divided.

    Raises:
        Exception: The first exception of ``read_at``, in the order of the ranges.
    """

    def read(part: Range) -> bytes:
        start, end = part
        return bytes(read_at(end - start, start))

    if concurrency < 2:
        return [read(each) for each in ranges]
    starts = [range(start, max(end, start + 1), part_size) for start, end in ranges]
    parts = [(at, min(at + part_size, end)) for places, (_, end) in zip(starts, ranges, strict=True) for at in places]
    found = iter(_concurrently(read, parts, min(concurrency, len(parts))))
    return [b"".join(next(found) for _ in places) if len(places) > 1 else next(found) for places in starts]


def _concurrently(read: Callable[[Range], bytes], parts: Sequence[Range], threads: int) -> list[bytes]:
    """The results of calls by some threads; this thread alone where there are none to be had."""
    if threads < 2:
        return [read(part) for part in parts]
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(threads, "orcish-ranges")
    try:
        # There are no new threads at the end of the process.
        futures: list[Future[bytes] | None] = []
        for part in parts:
            try:
                futures.append(pool.submit(read, part))
            except RuntimeError:
                futures.append(None)
        pairs = zip(futures, parts, strict=True)
        return [read(part) if future is None else future.result() for future, part in pairs]
    finally:
        # Calls that are under way after an error are not waited for.
        pool.shutdown(wait=False, cancel_futures=True)
