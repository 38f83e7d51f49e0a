"""Values of two arrays: which of them are different, numbers that are the same for equal ones, and objects of Python.

Nulls are equal, NaNs are, zeros of both signs, and maps whatever the order of their entries. Fields of structs are
compared by their names, those of one name by their order.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.buffers import list_lengths, offsets_of, parents
from orcish.arrow.casting import cast_array, iso_texts
from orcish.arrow.nested import is_text
from orcish.comparing.names import distinct_names
from orcish.comparing.types import is_map_list, is_union_struct, own_array, shared_type, typed
from orcish.errors import UnsupportedError

__all__ = ["arrow_text", "codes", "combined_codes", "counted", "different", "hashes", "is_any", "mixed", "python_value"]

_MIX = 0x9E3779B97F4A7C15 - (1 << 64)
"""An odd number by which hashes are multiplied, as a signed one of 64 bits."""
_NULL = -1
_WIDTH = 8
"""Bytes of a code."""


def _integer(value: int) -> Any:
    return pa.scalar(value, pa.int64())


def counted(start: int, count: int) -> Any:
    """Ascending integers."""
    return pc.add(pc.cumulative_sum(pa.repeat(_integer(1), count)), _integer(start - 1))


def is_any(mask: Any) -> bool:
    """Whether a mask is true anywhere."""
    return bool(pc.any(mask).as_py())


def different(a: Any, b: Any, tolerance: float) -> Any:
    """A mask of the positions at which two arrays of one length have different values. Fields of one side only, and
    values whose types cannot be compared, are not compared.

    Args:
        a: An array.
        b: The other array.
        tolerance: How far floating point values may be apart and equal.
    """
    kind = None if a.type == b.type and a.equals(b) else shared_type(a.type, b.type)
    return _none(len(a)) if kind is None else _different(typed(a, kind), typed(b, kind), tolerance)


def _none(length: int) -> Any:
    return pa.repeat(pa.scalar(False), length)


def _different(a: Any, b: Any, tolerance: float) -> Any:
    """As :func:`different`, of arrays of one type."""
    types = pa.types
    if types.is_null(a.type):
        return _none(len(a))
    found = pc.xor(a.is_null(), b.is_null())
    if types.is_struct(a.type):
        # The fields have the nulls of the struct. A field of a struct that is null on one side is different anyway.
        for x, y in zip(a.flatten(), b.flatten(), strict=True):
            found = pc.or_(found, _different(x, y, tolerance))
        return found
    if types.is_large_list(a.type):
        wrong = _different_lists(a, b, tolerance)
        return pc.or_(found, pc.is_in(counted(0, len(a)).cast(wrong.type), value_set=wrong)) if len(wrong) else found
    unequal = pc.not_equal(a, b)
    if types.is_floating(a.type):
        same = pc.and_(pc.is_nan(a), pc.is_nan(b))
        if tolerance:
            near = pc.less_equal(pc.abs(pc.subtract(a, b)), pa.scalar(tolerance, a.type))
            same = pc.or_(same, near)
        unequal = pc.and_(unequal, pc.invert(same))
    return pc.or_(pc.fill_null(unequal, False), found)


def _different_lists(a: Any, b: Any, tolerance: float) -> Any:
    """The positions of different lists, where both are there."""
    both = pc.and_(a.is_valid(), b.is_valid())
    rows, a, b = pc.indices_nonzero(both), a.filter(both), b.filter(both)
    is_as_long = pc.equal(pc.list_value_length(a), pc.list_value_length(b))
    wrong = rows.filter(pc.invert(is_as_long))
    rows, a, b = (each.filter(is_as_long) for each in (rows, a, b))
    at = _unequal_lists(a, a.flatten(), b.flatten(), tolerance)
    if len(at) and is_map_list(a.type):
        a, b, rows = a.take(at), b.take(at), rows.take(at)
        x, y = _sorted_entries(a, b)
        at = _unequal_lists(a, x, y, tolerance)
    return pa.concat_arrays([wrong, rows.take(at)])


def _unequal_lists(lists: Any, x: Any, y: Any, tolerance: float) -> Any:
    """The positions of lists that have a different element."""
    return pc.unique(pc.list_parent_indices(lists).filter(_different(x, y, tolerance)))


def _sorted_entries(a: Any, b: Any) -> list[Any]:
    """The entries of the maps of two arrays, in one order."""
    entries = [a.flatten(), b.flatten()]
    columns = [codes(pa.concat_arrays(parts)) for parts in zip(*(each.flatten() for each in entries), strict=True)]
    found = []
    for start, maps, each in ((0, a, entries[0]), (len(entries[0]), b, entries[1])):
        own = (column.slice(start, len(each)) for column in columns)
        rows = pa.table([pc.list_parent_indices(maps), *own], ["map", "key", "value"])
        found.append(each.take(pc.sort_indices(rows, [(name, "ascending") for name in rows.column_names])))
    return found


def combined_codes(parts: Sequence[Any]) -> Any:
    """One number for each row of several arrays of codes, the same where all codes are."""
    total = parts[0]
    for other in parts[1:]:
        encoded = other.dictionary_encode()
        total = pc.add(pc.multiply(total, _integer(len(encoded.dictionary))), encoded.indices.cast(pa.int64()))
        total = total.dictionary_encode().indices.cast(pa.int64())
    return total


def codes(array: Any) -> Any:
    """A number for each value of an array in its own type, the same for equal values."""
    types = pa.types
    if types.is_null(array.type):
        return pa.repeat(_integer(0), len(array))
    if types.is_struct(array.type):
        return combined_codes([array.is_valid().cast(pa.int64()), *map(codes, array.flatten())])
    if types.is_large_list(array.type):
        return combined_codes([array.is_valid().cast(pa.int64()), _codes_of_lists(array)])
    return _without_negative_zero(array).dictionary_encode(null_encoding="encode").indices.cast(pa.int64())


def _codes_of_lists(array: Any) -> Any:
    """Codes of lists by those of their elements: a list is the bytes of the codes in it."""
    elements = codes(array.flatten())
    starts = offsets_of(list_lengths(array))
    if is_map_list(array.type):
        rows = pa.table([parents(starts), elements], ["list", "code"])
        elements = elements.take(pc.sort_indices(rows, [("list", "ascending"), ("code", "ascending")]))
    # The buffer of a slice has the elements before it.
    elements = pa.concat_arrays([elements, pa.array([0], pa.int64())])
    offsets = pc.multiply(starts, _integer(_WIDTH))
    data = pa.Array.from_buffers(pa.large_binary(), len(array), [None, offsets.buffers()[1], elements.buffers()[1]])
    return data.dictionary_encode().indices.cast(pa.int64())


def mixed(total: Any, other: Any) -> Any:
    """The hash of two hashes, in their order."""
    return pc.bit_wise_xor(pc.multiply(total, _integer(_MIX)), other)


def hashes(array: Any) -> Any:
    """Hashes of values of an array in its own type, the same for equal values in every process."""
    types = pa.types
    if types.is_null(array.type):
        return pa.repeat(_integer(_NULL), len(array))
    if types.is_struct(array.type):
        total = pa.repeat(_integer(0), len(array))
        for child in array.flatten():
            total = mixed(total, hashes(child))
        return _with_nulls(array, total)
    if types.is_large_list(array.type):
        # The order of the elements does not matter. Sums wrap around.
        lengths = list_lengths(array)
        starts = offsets_of(lengths)
        sums = offsets_of(pc.multiply(mixed(hashes(array.flatten()), _integer(1)), _integer(_MIX)))
        total = pc.subtract(sums.take(starts.slice(1)), sums.take(starts.slice(0, len(array))))
        return _with_nulls(array, mixed(total, lengths))
    if types.is_integer(array.type):
        return pc.fill_null(pc.cast(array, pa.int64(), safe=False), _NULL)
    encoded = _without_negative_zero(array).dictionary_encode(null_encoding="encode")
    values = encoded.dictionary
    if types.is_temporal(values.type):
        values = values.view(pa.int32() if values.type.bit_width == 32 else pa.int64())
    found = map(_hash, (values.cast(pa.large_binary()) if is_text(values.type) else values).to_pylist())
    return pa.array(found, pa.int64()).take(encoded.indices)


def _hash(value: Any) -> int:
    """The hash of a number or of bytes. Those that Python has for ``None``, for NaN and for bytes are others in each
    process.
    """
    if value is None:
        return _NULL
    if isinstance(value, bytes):
        return zlib.crc32(value)
    return 0 if value != value else hash(value)


def _with_nulls(array: Any, found: Any) -> Any:
    return pc.if_else(array.is_valid(), found, _integer(_NULL))


def _without_negative_zero(array: Any) -> Any:
    return pc.add(array, pa.scalar(0.0, array.type)) if pa.types.is_floating(array.type) else array


def python_value(array: Any, at: int) -> Any:
    """A value as an object of Python, or as text where Python's types do not hold it.

    Fields of a struct that have one name are numbered, a union is a dictionary of its tag and its value, and a map is a
    list of pairs.
    """
    return _object(own_array(array.slice(at, 1)))


def _object(one: Any) -> Any:
    """The object of the value of an array of one value."""
    kind = one.type
    if not one.is_valid()[0].as_py():
        return None
    if pa.types.is_struct(kind):
        children = list(map(_object, one.flatten()))
        if is_union_struct(kind):
            return {"tag": children[0], "value": next((child for child in children[1:] if child is not None), None)}
        return dict(zip(distinct_names([field.name for field in kind]), children, strict=True))
    if pa.types.is_large_list(kind):
        elements = one.flatten()
        found = [_object(elements.slice(at, 1)) for at in range(len(elements))]
        return [(entry["key"], entry["value"]) for entry in found] if is_map_list(kind) else found
    try:
        return one[0].as_py()
    except (OverflowError, ValueError, pa.ArrowException):
        return arrow_text(one)


def arrow_text(one: Any) -> str:
    """The text of the one value of an array without values in its values, for types of which Python has no object."""
    if pa.types.is_date(one.type) or pa.types.is_timestamp(one.type):
        return str(iso_texts(one, pa.string())[0].as_py())
    try:
        return str(cast_array(one, pa.string())[0].as_py())
    except UnsupportedError:
        return str(one[0])
