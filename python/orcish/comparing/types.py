"""Types in which values are compared, and arrays in these types.

The own type of a type has the same values in layouts that functions of pyarrow take at any depth: no views, no unions,
no dictionaries, no runs and no months, and one type for each kind of lists, texts and bytes. A union is a struct of its
tag and of its children, of which one has a value. A map is a list of entries, whose keys may be null. The shared type
of two types holds the values of both.
"""

from __future__ import annotations

import functools
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.buffers import month_numbers, offsets_within, union_places, within
from orcish.arrow.casting import cast_array
from orcish.arrow.exported import common_type
from orcish.arrow.nested import NANOSECONDS, is_binary, is_list, is_months, is_text, numbered_names
from orcish.comparing.names import paired_names

__all__ = ["all_comparable", "comparable", "is_map_list", "is_union_struct", "own_array", "own_type", "shared_type"]
__all__ += ["typed"]

TAG = "\0tag"
"""The field of the tag of a union. Those of its children have a number, too."""
TAG_OR_NULL = "\0tag or null"
"""Likewise, where the struct is null if no child has a value."""
_ENTRIES = "\0entries"
_NANOSECONDS = pa.decimal128(38, 0)
"""Holds timestamps and durations of all units, as nanoseconds."""
_LEAST_BITS_OF_DECIMALS = 128
"""Functions of pyarrow do not take narrower decimals."""


def is_union_struct(kind: Any) -> bool:
    """Whether a type is that of the struct that a union has become."""
    return bool(pa.types.is_struct(kind) and kind.num_fields and kind.field(0).name == TAG)


def is_map_list(kind: Any) -> bool:
    """Whether a type is that of the list that a map has become."""
    return bool(pa.types.is_large_list(kind) and kind.value_field.name == _ENTRIES)


def own_type(kind: Any) -> Any:
    """The own type of a type, which is that of itself, too."""
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return own_type(kind.storage_type)
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return own_type(kind.value_type)
    if types.is_struct(kind):
        return pa.struct([pa.field(field.name, own_type(field.type)) for field in kind])
    if types.is_union(kind):
        children = [(f"{TAG} {at}", own_type(kind.field(at).type)) for at in range(kind.num_fields)]
        return pa.struct([(TAG, pa.int8()), *children])
    if types.is_map(kind):
        return _map_list(own_type(kind.key_type), own_type(kind.item_type))
    if is_map_list(kind):
        return kind
    if is_list(kind):
        return pa.large_list(own_type(kind.value_type))
    if is_text(kind):
        return pa.large_string()
    if is_binary(kind):
        return pa.large_binary()
    if is_months(kind):
        return pa.int32()
    if types.is_float16(kind):
        return pa.float32()
    if types.is_decimal(kind) and kind.bit_width < _LEAST_BITS_OF_DECIMALS:
        return pa.decimal128(kind.precision, kind.scale)
    if types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    return kind


def _map_list(key: Any, value: Any) -> Any:
    return pa.large_list(pa.field(_ENTRIES, pa.struct([("key", key), ("value", value)])))


def shared_type(a: Any, b: Any) -> Any:
    """The type in which values of two types are compared; ``None`` if there is none.

    Structs have the fields that both have. Fields that cannot be compared have no values in it.
    """
    a, b = own_type(a), own_type(b)
    types = pa.types
    if types.is_null(a) or types.is_null(b):
        return _of_nulls(b if types.is_null(a) else a)
    if types.is_struct(a) and types.is_struct(b):
        fields = [(a.field(at).name, shared_type(*kinds)) for at, kinds in _paired(a, b)]
        if (a.num_fields or b.num_fields) and all(kind is None for _, kind in fields):
            return None
        return pa.struct([(name, pa.null() if kind is None else kind) for name, kind in fields])
    if is_list(a) and is_list(b):
        if is_map_list(a) != is_map_list(b):
            return None
        if is_map_list(a):
            entry = [shared_type(x.type, y.type) for x, y in zip(a.value_type, b.value_type, strict=True)]
            return None if None in entry else _map_list(*entry)
        element = shared_type(a.value_type, b.value_type)
        return None if element is None else pa.large_list(element)
    return None if types.is_nested(a) or types.is_nested(b) else _of_leaves(a, b)


def _paired(a: Any, b: Any) -> list[tuple[int, tuple[Any, Any]]]:
    """Positions in ``a`` and types of the fields that two structs have."""
    names = ([field.name for field in kind] for kind in (a, b))
    return [(at, (a.field(at).type, b.field(other).type)) for at, other in paired_names(*names)]


def _of_nulls(kind: Any) -> Any:
    """The type in which values are compared with nulls. A union has the nulls of its children."""
    if pa.types.is_null(kind):
        return kind
    if is_union_struct(kind):
        children = [(kind.field(at).name, _of_nulls(kind.field(at).type)) for at in range(1, kind.num_fields)]
        return pa.struct([(TAG_OR_NULL, pa.int8()), *children])
    return shared_type(kind, kind)


def _of_leaves(a: Any, b: Any) -> Any:
    types = pa.types
    # Functions of pyarrow do not compare months, days and nanoseconds.
    a, b = (pa.large_binary() if types.is_interval(kind) else kind for kind in (a, b))
    if a == b:
        return a
    if types.is_duration(a) and types.is_duration(b):
        # The finer unit may not hold all values.
        return _NANOSECONDS
    if types.is_timestamp(a) and types.is_timestamp(b):
        # A wall clock is no instant.
        return _NANOSECONDS if (a.tz is None) == (b.tz is None) else None
    return common_type(a, b)


def comparable(a: Any, b: Any) -> bool:
    """Whether some values of two types can be compared."""
    return shared_type(a, b) is not None


def all_comparable(a: Any, b: Any) -> bool:
    """Whether all values of two types can be compared, those of the fields of structs included."""
    a, b = own_type(a), own_type(b)
    if pa.types.is_struct(a) and pa.types.is_struct(b):
        pairs = _paired(a, b)
        return a.num_fields == b.num_fields == len(pairs) and all(all_comparable(*kinds) for _, kinds in pairs)
    if is_list(a) and is_list(b) and is_map_list(a) == is_map_list(b):
        return all_comparable(a.value_type, b.value_type)
    return comparable(a, b)


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
    if types.is_dictionary(own) or types.is_run_end_encoded(own):
        return typed(cast_array(array, own.value_type), kind)
    if types.is_union(own):
        return typed(_union(array), kind)
    if types.is_struct(own):
        return _struct(array, kind)
    if types.is_map(own):
        fields = list(kind.value_type)
        parts = (within(array, array.keys), within(array, array.items))
        entries = [typed(part, field.type) for part, field in zip(parts, fields, strict=True)]
        return _lists(array, pa.StructArray.from_arrays(entries, fields=fields), kind)
    if is_list(own):
        lists = cast_array(array, pa.large_list(own.value_type))
        return _lists(lists, typed(within(lists, lists.values), kind.value_type), kind)
    if is_months(own):
        return month_numbers(array)
    if types.is_interval(own):
        array = array.view(pa.binary(16))
    elif types.is_decimal(kind) and (types.is_timestamp(own) or types.is_duration(own)):
        count = array.cast(pa.int64()).cast(pa.decimal128(19, 0))
        return pc.multiply(count, pa.scalar(Decimal(NANOSECONDS[own.unit]), pa.decimal128(10, 0))).cast(kind)
    return cast_array(array, kind)


def _lists(array: Any, elements: Any, kind: Any) -> Any:
    offsets = offsets_within(array).cast(pa.int64())
    return pa.LargeListArray.from_arrays(offsets, elements, type=kind, mask=array.is_null())


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
    tags, rows = union_places(array)
    children = [
        own_array(array.field(at)).take(pc.if_else(pc.equal(tags, at), rows, pa.scalar(None, pa.int32())))
        for at in range(array.type.num_fields)
    ]
    return pa.StructArray.from_arrays([tags.cast(pa.int8()), *children], fields=list(own_type(array.type)))
