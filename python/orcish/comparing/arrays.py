"""Arrays in the types in which they are compared, see :mod:`orcish.comparing.types`."""

from __future__ import annotations

import functools
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.buffers import month_numbers, offsets_within, union_places, within
from orcish.arrow.casting import cast_array
from orcish.arrow.nested import NANOSECONDS, is_list, is_list_view, is_months, map_fields
from orcish.comparing.names import numbered_names
from orcish.comparing.types import TAG, TAG_OR_NULL, own_type

__all__ = ["own_array", "typed"]


def own_array(array: Any) -> Any:
    """An array in its own type."""
    return typed(array, own_type(array.type))


def typed(array: Any, kind: Any) -> Any:
    """An array in a type that is its own one, or one that it shares with another type."""
    own, types = array.type, pa.types
    if own == kind:
        return array
    if types.is_null(own) or types.is_null(kind):
        return pa.nulls(len(array), kind)
    if isinstance(own, pa.BaseExtensionType):
        return typed(array.storage, kind)
    if types.is_dictionary(own):
        return typed(array.dictionary_decode(), kind)
    if types.is_run_end_encoded(own):
        return typed(pc.run_end_decode(array), kind)
    if types.is_union(own):
        return typed(_union(array), kind)
    if types.is_struct(own):
        return _struct(array, kind)
    if types.is_map(own):
        return _map(array, kind)
    if is_list(own):
        return _list(array, kind)
    return _leaf(array, kind)


def _struct(array: Any, kind: Any) -> Any:
    places = {each: at for at, each in enumerate(numbered_names([field.name for field in array.type]))}
    names = numbered_names([TAG if field.name == TAG_OR_NULL else field.name for field in kind])
    # Run-end encoded children cannot take the nulls of the struct.
    children = [typed(array.field(places[name]), field.type) for name, field in zip(names, kind, strict=True)]
    is_null = array.is_null()
    if kind.field(0).name == TAG_OR_NULL and len(children) > 1:
        is_null = pc.or_(is_null, functools.reduce(pc.and_, [child.is_null() for child in children[1:]]))
    return pa.StructArray.from_arrays(children, fields=list(kind), mask=is_null)


def _union(array: Any) -> Any:
    kind = own_type(array.type)
    tags, rows = union_places(array)
    children = [
        own_array(array.field(at)).take(pc.if_else(pc.equal(tags, at), rows, pa.scalar(None, pa.int32())))
        for at in range(array.type.num_fields)
    ]
    return pa.StructArray.from_arrays([tags.cast(pa.int8()), *children], fields=list(kind))


def _map(array: Any, kind: Any) -> Any:
    parts = (within(array, array.keys), within(array, array.items))
    fields = list(kind.value_type)
    entries = [typed(part, field.type) for part, field in zip(parts, fields, strict=True)]
    return _lists(array, pa.StructArray.from_arrays(entries, fields=fields), kind)


def _list(array: Any, kind: Any) -> Any:
    """Lists of other elements. Elements are changed before nulls are left out: runs cannot be copied."""
    own = array.type
    if pa.types.is_list(own) or pa.types.is_large_list(own):
        return _lists(array, typed(within(array, array.values), kind.value_type), kind)
    # Offsets of views are in any order.
    elements = typed(array.values, kind.value_type)
    buffers = array.buffers()[: 3 if is_list_view(own) else 1]
    changed = map_fields(own, lambda field, _: field.with_type(elements.type).with_nullable(True))
    lists = pa.Array.from_buffers(changed, len(array), buffers, offset=array.offset, children=[elements])
    return cast_array(lists, kind)


def _lists(array: Any, elements: Any, kind: Any) -> Any:
    offsets = offsets_within(array).cast(pa.int64())
    return pa.LargeListArray.from_arrays(offsets, elements, type=kind, mask=array.is_null())


def _leaf(array: Any, kind: Any) -> Any:
    own, types = array.type, pa.types
    if is_months(own):
        return month_numbers(array)
    if types.is_interval(own):
        array = array.view(pa.binary(16))
    elif types.is_timestamp(own) and types.is_timestamp(kind) and own.unit == kind.unit:
        return array.view(kind)
    elif types.is_decimal(kind) and (types.is_timestamp(own) or types.is_duration(own)):
        count = array.cast(pa.int64()).cast(pa.decimal128(19, 0))
        return pc.multiply(count, pa.scalar(Decimal(NANOSECONDS[own.unit]), pa.decimal128(10, 0))).cast(kind)
    try:
        return array.cast(kind)
    except pa.ArrowNotImplementedError:
        if not (types.is_string_view(own) or types.is_binary_view(own)):
            raise
        # Of pyarrow before 18.
        return pa.array(array.to_pylist(), kind)
