"""Rows by their positions."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.casting import select_rows

__all__ = ["taken"]


def taken(schema: pa.Schema, batches: Callable[[], Iterator[pa.RecordBatch]], indices: Any) -> pa.Table:
    """The rows at some positions, in their order; memory grows with these rows only.

    Args:
        schema: The schema of the rows.
        batches: Reads the rows. Those after the last position are not read.
        indices: The positions, in any order and also repeated.

    Raises:
        TypeError: The positions are no integers.
        ValueError: A position is null.
        IndexError: There is no such row.
    """
    positions = _positions(indices)
    order = pc.unique(positions).sort()
    sought = order.to_pylist()
    if sought and sought[0] < 0:
        raise IndexError(f"index {sought[0]}: there are no rows before the first")
    pieces: list[pa.RecordBatch] = []
    found = first = 0
    rows = batches() if sought else iter(())
    while found < len(sought):
        if (batch := next(rows, None)) is None:
            raise IndexError(f"index {sought[-1]}: the dataset has {first} rows")
        end = bisect.bisect_left(sought, first + len(batch), found)
        if end > found:
            pieces.append(_rows_at(batch, pa.array([position - first for position in sought[found:end]], pa.int64())))
        found, first = end, first + len(batch)
    if not schema.names:
        return pa.table({"row": positions}).select([])
    table = pa.Table.from_batches(pieces, schema)
    return table if positions.equals(order) else _rows_at(table, pc.index_in(positions, value_set=order))


def _rows_at(data: Any, positions: pa.Array) -> Any:
    # A batch without columns has no rows to take.
    return select_rows(data, lambda plain: plain.take(positions)) if data.schema.names else data


def _positions(indices: Any) -> pa.Array:
    array = indices
    if not isinstance(indices, pa.Array | pa.ChunkedArray):
        array = pa.array(indices)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if not len(array):
        return pa.array([], pa.int64())
    if not pa.types.is_integer(array.type):
        raise TypeError(f"indices: must be integers, not {array.type}")
    if array.null_count:
        raise ValueError("indices: must not be null")
    return array.cast(pa.int64())
