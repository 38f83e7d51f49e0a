"""Arrays in layouts that functions of pyarrow take, at any depth.

``take``, ``filter`` and concatenation have no views, no unions and no months, and maps have no null keys. A union is a
struct of its tag and of its children, of which one has a value. A key of a map is a struct of the key.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.buffers import list_lengths, month_numbers, offsets_of, offsets_within, parents, union_places, within
from orcish.arrow.casting import list_with
from orcish.arrow.nested import is_list, is_list_view, is_months, map_fields

__all__ = [
    "has_map",
    "is_key_struct",
    "is_union_struct",
    "map_entries",
    "simple",
    "simple_type",
    "without_key_dictionaries",
]

_TAG = "\0tag"
_KEY = "\0key"


def is_union_struct(kind: Any) -> bool:
    """Whether a type is that of the struct that a union has become."""
    return bool(pa.types.is_struct(kind) and kind.num_fields and kind.field(0).name == _TAG)


def is_key_struct(kind: Any) -> bool:
    """Whether a type is that of the struct that a key of a map has become."""
    return bool(pa.types.is_struct(kind) and kind.num_fields == 1 and kind.field(0).name == _KEY)


def _without_dictionary(kind: Any) -> Any:
    """The type of the values of a dictionary; other types as they are."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def without_key_dictionaries(kind: Any) -> Any:
    """A type whose maps have no dictionaries as keys, as which null keys are read."""
    if pa.types.is_map(kind):
        kind = pa.map_(_without_dictionary(kind.key_type), kind.item_type)
    return map_fields(kind, lambda field, _: field.with_type(without_key_dictionaries(field.type)))


def has_map(kind: Any) -> bool:
    """Whether a type is, or has, one of maps."""
    if pa.types.is_map(kind):
        return True
    return any(has_map(kind.field(at).type) for at in range(kind.num_fields)) if pa.types.is_nested(kind) else False


def _is_simple(kind: Any) -> bool:
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _is_simple(kind.storage_type)
    if types.is_dictionary(kind):
        return _is_simple(kind.value_type)
    if types.is_struct(kind):
        return all(_is_simple(field.type) for field in kind)
    if types.is_map(kind):
        return is_key_struct(kind.key_type) and _is_simple(kind.key_type) and _is_simple(kind.item_type)
    if is_list(kind):
        return not is_list_view(kind) and _is_simple(kind.value_type)
    others = (types.is_string_view, types.is_binary_view, types.is_union, types.is_run_end_encoded, is_months)
    return not any(test(kind) for test in others)


def simple_type(kind: Any) -> Any:
    """The type that :func:`simple` gives."""
    types = pa.types
    if _is_simple(kind):
        return kind
    if isinstance(kind, pa.BaseExtensionType):
        return simple_type(kind.storage_type)
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return simple_type(kind.value_type)
    if types.is_struct(kind):
        return pa.struct([field.with_type(simple_type(field.type)) for field in kind])
    if types.is_map(kind):
        own = kind.key_type if is_key_struct(kind.key_type) else pa.struct([(_KEY, _without_dictionary(kind.key_type))])
        return pa.map_(simple_type(own), simple_type(kind.item_type))
    if types.is_union(kind):
        children = [(f"{_TAG} {at}", simple_type(kind.field(at).type)) for at in range(kind.num_fields)]
        return pa.struct([(_TAG, pa.int8()), *children])
    if is_list(kind):
        make = pa.list_ if types.is_list(kind) or types.is_fixed_size_list(kind) else pa.large_list
        return make(simple_type(kind.value_type))
    if types.is_string_view(kind):
        return pa.large_string()
    return pa.int32() if is_months(kind) else pa.large_binary()


def simple(array: Any) -> Any:
    """The array in a layout that functions of pyarrow take."""
    kind = array.type
    types = pa.types
    if _is_simple(kind):
        return array
    if isinstance(kind, pa.BaseExtensionType):
        return simple(array.storage)
    if types.is_dictionary(kind):
        return simple(array.dictionary_decode())
    if types.is_run_end_encoded(kind):
        return simple(pc.run_end_decode(array))
    if types.is_struct(kind):
        # Run-end encoded children cannot take the nulls of the struct.
        children = [simple(array.field(at)) for at in range(kind.num_fields)]
        return pa.StructArray.from_arrays(children, fields=list(simple_type(kind)), mask=array.is_null())
    if types.is_map(kind):
        return _map(array)
    if types.is_union(kind):
        return _union(array)
    if is_list(kind):
        return _list(array)
    if is_months(kind):
        return month_numbers(array)
    target = simple_type(kind)
    try:
        return array.cast(target)
    except pa.ArrowNotImplementedError:
        # Of pyarrow before 18.
        return pa.array(array.to_pylist(), target)


def _list(array: Any) -> Any:
    """Lists of simple elements. Elements become simple before nulls are left out: runs cannot be copied."""
    kind, target = array.type, simple_type(array.type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        elements = simple(within(array, array.values))
        return type(array).from_arrays(offsets_within(array), elements, type=target, mask=array.is_null())
    # Offsets of views are in any order.
    elements = simple(array.values)
    own = map_fields(kind, lambda field, _: field.with_type(elements.type))
    buffers = array.buffers()[: 3 if is_list_view(kind) else 1]
    lists = pa.Array.from_buffers(own, len(array), buffers, offset=array.offset, children=[elements])
    return list_with(lists, lists.flatten(), target)


def _map(array: Any) -> Any:
    valid = array.is_valid()
    offsets = offsets_of(list_lengths(array)).cast(pa.int32())
    # Null offsets are those of null maps.
    offsets = pc.if_else(pa.concat_arrays([valid, pa.array([True])]), offsets, pa.scalar(None, pa.int32()))
    keys, items = map_entries(array)
    if not is_key_struct(keys.type):
        keys = pa.StructArray.from_arrays([keys], [_KEY])
    return pa.MapArray.from_arrays(offsets, keys, items)


def map_entries(array: Any) -> list[Any]:
    """The keys and the items of the maps that are not null, in simple layouts."""
    keys = within(array, array.keys)
    # Null keys are read as dictionaries.
    plain = keys.dictionary_decode() if pa.types.is_dictionary(keys.type) else keys
    found = [simple(each) for each in (plain, within(array, array.items))]
    if not array.null_count:
        return found
    # Null maps may have entries.
    is_there = array.is_valid().take(parents(offsets_within(array)))
    return [each.filter(is_there) for each in found]


def _union(array: Any) -> Any:
    kind = array.type
    tags, rows = union_places(array)
    children = [
        simple(array.field(at)).take(pc.if_else(pc.equal(tags, at), rows, pa.scalar(None, pa.int32())))
        for at in range(kind.num_fields)
    ]
    return pa.StructArray.from_arrays([tags.cast(pa.int8()), *children], fields=list(simple_type(kind)))
