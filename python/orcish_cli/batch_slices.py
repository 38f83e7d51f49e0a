"""Slices of batches: the first rows, and slices with few values, which bound the number of Python objects, and the time
until Ctrl-C is handled.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

__all__ = ["limited", "slices"]

MAX_VALUES = 1 << 18
"""Maximum values of a slice, nested ones included, and maximum rows; a slice has at least one row."""


def limited(batches: Iterator[pa.RecordBatch], limit: int | None) -> Iterator[pa.RecordBatch]:
    """The first rows of batches; all without a limit. Batches behind them are not asked for."""
    left = limit
    for batch in batches if left != 0 else ():
        yield batch if left is None else batch.slice(0, left)
        if left is not None and (left := left - len(batch)) <= 0:
            return


def slices(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Slices of a batch, in order."""
    if any(has_union(field.type) for field in batch.schema):
        # Slices of dense unions keep all their values, so that each slice would convert all of them.
        yield batch
        return
    todo = [batch]
    while todo:
        part = todo.pop()
        if part.num_rows < 2 or max(part.num_rows, sum(map(value_count, part.columns))) <= MAX_VALUES:
            yield part
        else:
            half = part.num_rows // 2
            todo += [part.slice(half), part.slice(0, half)]


def value_count(array: pa.Array) -> int:
    """Number of values of an array, nested ones included."""
    kind = array.type
    count = len(array)
    if pa.types.is_list(kind) or pa.types.is_map(kind):
        first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
        below = [array.keys, array.items] if pa.types.is_map(kind) else [array.values]
        return count + sum(value_count(child.slice(first, last - first)) for child in below)
    if pa.types.is_struct(kind):
        return count + sum(value_count(array.field(index)) for index in range(kind.num_fields))
    return count


def has_union(kind: pa.DataType) -> bool:
    """Whether a type is or contains a union."""
    return bool(pa.types.is_union(kind)) or any(has_union(kind.field(index).type) for index in range(kind.num_fields))
