"""Parts of arrays, as they are in their buffers: elements of lists and maps, children of unions, and months. Those of
slices, too.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["list_lengths", "month_numbers", "offsets_of", "offsets_within", "parents", "union_places", "within"]


def within(array: Any, values: Any) -> Any:
    """The values of lists or maps, which are those of the array before it was sliced, as those of the slice."""
    first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
    return values[first:last]


def offsets_within(array: Any) -> pa.Array:
    """Offsets of the lists or maps of an array into the values of its slice; see :func:`within`."""
    return pc.subtract(array.offsets, array.offsets[0])


def list_lengths(array: Any) -> pa.Array:
    """Numbers of elements of lists of any layout, or of entries of maps; 0 of nulls."""
    if pa.types.is_map(array.type):
        lengths = pc.subtract(array.offsets[1:], array.offsets[:-1])
        return pc.if_else(array.is_valid(), lengths, pa.scalar(0, lengths.type)).cast(pa.int64())
    return pc.fill_null(pc.list_value_length(array), 0).cast(pa.int64())


def offsets_of(lengths: Any) -> pa.Array:
    """Offsets of lists, given their numbers of elements."""
    return pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(lengths)])


def parents(offsets: Any) -> pa.Array:
    """The position of the list of each element, given offsets that begin with 0."""
    elements = pa.nulls(offsets[-1].as_py(), pa.int8())
    return pc.list_parent_indices(pa.LargeListArray.from_arrays(offsets.cast(pa.int64()), elements))


def union_places(array: Any) -> tuple[pa.Array, pa.Array]:
    """For each value of a union, the position of its child among those of the type, and its position in that child.

    pyarrow's ``type_codes`` and ``offsets`` ignore the offset of slices. Codes of types are any numbers.
    """
    codes = _buffer(array, pa.int8(), 1)
    children = pc.index_in(codes, value_set=pa.array(array.type.type_codes, pa.int8()))
    if array.type.mode == "dense":
        return children, _buffer(array, pa.int32(), 2)
    return children, pa.array(range(len(array)), pa.int32())


def month_numbers(array: Any) -> pa.Array:
    """Intervals of months as integers. pyarrow has the type, and cannot convert its values."""
    return pa.Array.from_buffers(pa.int32(), len(array), array.buffers(), offset=array.offset)


def _buffer(array: Any, kind: Any, at: int) -> pa.Array:
    return pa.Array.from_buffers(kind, len(array), [None, array.buffers()[at]], offset=array.offset)
