"""Complex columns taken apart: the pages of the parents as bytes, and the values of the children."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from support.carbon import columns as c
from support.carbon.pages import LIST_PARENT, STRUCT_PARENT


@dataclass
class Part:
    """What a column of the tree has in one page: bytes of a parent (``place`` says of what kind) or values."""

    column: c.Column
    rows: int
    place: int | None = None
    data: bytes = b""
    array: pa.Array | None = None


def parts_of(column: c.Column, array: pa.Array) -> Iterator[Part]:
    """The column and its descendants, depth first."""
    if column.kind not in c.COMPLEX:
        yield Part(column, len(array), array=array)
        return
    array = array.take(pa.array(np.arange(len(array))))
    if column.kind == c.STRUCT:
        count = np.full(len(array), len(column.children), ">i2")
        yield Part(column, len(array), STRUCT_PARENT, count.tobytes())
        for child, values in zip(column.children, array.flatten(), strict=True):
            yield from parts_of(child, values)
        return
    counts, rows, values = elements(array)
    starts = np.cumsum(counts) - counts
    pairs = np.column_stack([counts, np.where(counts == 0, 0, starts)])
    yield Part(column, len(array), LIST_PARENT, pairs.astype(">i4").tobytes())
    yield from parts_of(column.children[0], values.take(rows))


def elements(array: pa.Array) -> tuple[np.ndarray, pa.Array, pa.Array]:
    """How many elements each list or map has, where they are, and all there are; null has one that is null."""
    if pa.types.is_map(array.type):
        values = pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"])
    else:
        values = array.values
    offsets = np.asarray(array.offsets).astype(np.int64)
    nulls = np.asarray(array.is_null())
    counts = np.where(nulls, 1, np.diff(offsets))
    starts = np.cumsum(counts) - counts
    rows = np.arange(counts.sum()) + np.repeat(offsets[:-1] - starts, counts)
    absent = np.repeat(nulls, counts)
    return counts, pa.array(np.where(absent, 0, rows), mask=absent), values
