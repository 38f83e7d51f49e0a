"""Rows that are compared by their position."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa

from orcish.comparing.rows import Found

__all__ = ["compare_by_position"]


def compare_by_position(
    found: Found,
    a: Iterator[pa.RecordBatch],
    b: Iterator[pa.RecordBatch],
    seen: Callable[[int], object],
    *,
    is_brief: bool,
) -> tuple[int, int]:
    """Compares rows in their order.

    Args:
        found: Takes the differences.
        a: Batches of one side.
        b: Batches of the other side, which may have other lengths.
        seen: Is called with the numbers of rows of both sides that are compared.
        is_brief: Whether the comparison ends at the first difference.

    Returns:
        The numbers of rows that were read.
    """
    left: pa.RecordBatch | None = None
    right: pa.RecordBatch | None = None
    at = 0
    while not (is_brief and found.is_any):
        left, right = _next(left, a), _next(right, b)
        if left is None or right is None:
            break
        count = min(left.num_rows, right.num_rows)
        found.compare(left.slice(0, count), right.slice(0, count), at, at)
        left, right = left.slice(count), right.slice(count)
        at += count
        seen(2 * count)
    counts = {"a": at, "b": at}
    for side, rest, batches in (("a", left, a), ("b", right, b)):
        while not (is_brief and found.is_any) and (rest := _next(rest, batches)) is not None:
            found.only("a" if side == "a" else "b", rest, counts[side])
            counts[side] += rest.num_rows
            seen(rest.num_rows)
            rest = None
    return counts["a"], counts["b"]


def _next(batch: pa.RecordBatch | None, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
    """The batch, or the next one where it has no rows left; ``None`` at the end."""
    while batch is None or not batch.num_rows:
        batch = next(batches, None)
        if batch is None:
            return None
    return batch
