"""Batches in slices of few values: what becomes objects of Python is bounded, and Ctrl-C is seen between them."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

__all__ = ["slices"]

MAX_VALUES = 1 << 18
"""Values of a slice, nested ones included, unless a single row has more."""


def slices(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The rows of the batch, in their order."""
    if any(has_union(field.type) for field in batch.schema):
        # The values of dense unions are not cut with the batch, and would be gone through for each part.
        yield batch
        return
    todo = [batch]
    while todo:
        part = todo.pop()
        if part.num_rows < 2 or sum(map(value_count, part.columns)) <= MAX_VALUES:
            yield part
        else:
            half = part.num_rows // 2
            todo += [part.slice(half), part.slice(0, half)]


def value_count(array: pa.Array) -> int:
    """How many values an array has, those of lists, maps and structs included."""
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
    """Whether a type is a union, or has one in it."""
    return bool(pa.types.is_union(kind)) or any(has_union(kind.field(index).type) for index in range(kind.num_fields))
