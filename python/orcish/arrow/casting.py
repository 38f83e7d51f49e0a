"""Casts of arrays, for types that pyarrow has no cast of."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.buffers import list_lengths, offsets_of, offsets_within, within
from orcish.arrow.nested import is_list_view, is_read_union, value_type

__all__ = ["cast_array", "list_with"]

_LISTS: dict[type[pa.DataType], tuple[Any, pa.DataType, bool]] = {
    pa.ListType: (pa.ListArray, pa.int32(), False),
    pa.LargeListType: (pa.LargeListArray, pa.int64(), False),
    pa.ListViewType: (pa.ListViewArray, pa.int32(), True),
    pa.LargeListViewType: (pa.LargeListViewArray, pa.int64(), True),
}
"""Types of lists: their arrays, the type of their offsets, and whether they have sizes."""


def cast_array(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """The array with another type, nested types included. pyarrow casts what it can; run-end encoded arrays,
    dictionaries and list views that it cannot cast are decoded before. Structs as which unions are read become sparse
    unions.

    Raises:
        ArrowInvalid: A value is not one of the type.
        ArrowNotImplementedError: There is no such cast.
    """
    if array.type == kind:
        return array
    if pa.types.is_null(value_type(array.type)):
        # pyarrow does not cast nulls to all types.
        return pa.nulls(len(array), kind)
    if not _has_views(array.type):
        with contextlib.suppress(pa.ArrowNotImplementedError):
            return array.cast(kind)
    cast = _cast_of(array.type, kind)
    if cast is None:
        raise pa.ArrowNotImplementedError(f"there is no cast from {array.type} to {kind}")
    return cast(array, kind)


def _has_views(kind: Any) -> bool:
    """Whether a type is a list view or has some: casts of pyarrow read past the end of their offsets."""
    if is_list_view(kind):
        return True
    if pa.types.is_run_end_encoded(kind) or pa.types.is_dictionary(kind):
        return _has_views(kind.value_type)
    return any(_has_views(kind.field(at).type) for at in range(kind.num_fields))


def _cast_of(own: pa.DataType, kind: pa.DataType) -> Callable[[Any, Any], pa.Array] | None:
    """The cast between two types; ``None`` if there is none."""
    types = pa.types
    if types.is_run_end_encoded(own):
        return lambda array, kind: cast_array(_run_end_decoded(array), kind)
    if types.is_dictionary(own):
        return lambda array, kind: cast_array(array.dictionary_decode(), kind)
    if types.is_run_end_encoded(kind):
        return lambda array, kind: pc.run_end_encode(cast_array(array, kind.value_type), kind.run_end_type)
    if types.is_struct(own) and types.is_struct(kind) and [f.name for f in own] == [f.name for f in kind]:
        return _cast_struct
    if is_read_union(own) and types.is_union(kind) and own.num_fields == kind.num_fields + 1:
        return _cast_to_union
    if types.is_map(own) and types.is_map(kind):
        return _cast_map
    if types.is_fixed_size_list(own) and types.is_fixed_size_list(kind) and own.list_size == kind.list_size:
        return _cast_fixed
    if type(own) in _LISTS and type(kind) in _LISTS:
        return _cast_list
    return None


def _run_end_decoded(array: Any) -> pa.Array:
    """The values of the rows, of any type."""
    # run_ends and values are those of the array before it was sliced.
    numbers = pa.array(range(len(array.values)), pa.int64())
    runs = pa.RunEndEncodedArray.from_arrays(array.run_ends, numbers).slice(array.offset, len(array))
    return array.values.take(pc.run_end_decode(runs))


def _cast_struct(array: Any, kind: Any) -> pa.Array:
    children = [cast_array(array.field(at), field.type) for at, field in enumerate(kind)]
    return pa.StructArray.from_arrays(children, fields=list(kind), mask=array.is_null())


def _cast_to_union(array: Any, kind: Any) -> pa.Array:
    """Structs of a tag and the value of each variant as unions. A null is one of the first variant."""
    tags, *values = array.flatten()
    children = [cast_array(each, kind.field(at).type) for at, each in enumerate(values)]
    return pa.UnionArray.from_sparse(
        pc.fill_null(tags, 0).cast(pa.int8()), children, [kind.field(at).name for at in range(kind.num_fields)]
    )


def _cast_list(array: Any, kind: Any) -> pa.Array:
    return list_with(array, cast_array(array.flatten(), kind.value_type), kind)


def list_with(array: Any, values: Any, kind: Any) -> pa.Array:
    """Lists of a type of lists, other than those of a fixed size.

    Args:
        array: Lists of any layout that have the same nulls and the same numbers of elements.
        values: The elements, in the order of ``array.flatten()``.
        kind: The type.

    Raises:
        ArrowInvalid: There are more elements than the offsets of the type count.
    """
    made, width, has_sizes = _LISTS[type(kind)]
    offsets = offsets_of(list_lengths(array)).cast(width)
    if has_sizes:
        offsets, sizes = offsets[:-1], pc.subtract(offsets[1:], offsets[:-1])
        return made.from_arrays(offsets, sizes, values, type=kind, mask=array.is_null())
    return made.from_arrays(offsets, values, type=kind, mask=array.is_null())


def _cast_map(array: Any, kind: Any) -> pa.Array:
    keys = cast_array(within(array, array.keys), kind.key_type)
    items = cast_array(within(array, array.items), kind.item_type)
    return pa.MapArray.from_arrays(offsets_within(array), keys, items, type=kind, mask=array.is_null())


def _cast_fixed(array: Any, kind: Any) -> pa.Array:
    size = kind.list_size
    values = cast_array(array.values.slice(array.offset * size, len(array) * size), kind.value_type)
    return pa.FixedSizeListArray.from_arrays(values, type=kind, mask=array.is_null())
