"""Numbers that are the same for equal values, of any type: of the rows of two arrays, or of one alone as hashes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.buffers import list_lengths, offsets_of, parents
from orcish.arrow.nested import is_list
from orcish.comparing.leaves import plain, plain_type, same_type
from orcish.comparing.names import distinct_names, paired_names
from orcish.comparing.simple import map_entries

__all__ = ["codes", "combined_codes", "hashes", "mixed"]

_MIX = 0x9E3779B97F4A7C15 - (1 << 64)
"""An odd number by which hashes are multiplied, as a signed one of 64 bits."""
_NULL = -1
_WIDTH = 8
"""Bytes of a code."""


def _integer(value: int) -> Any:
    return pa.scalar(value, pa.int64())


def combined_codes(parts: Sequence[Any]) -> Any:
    """One number for each row of several arrays of codes, the same where all codes are."""
    total = parts[0]
    for other in parts[1:]:
        encoded = other.dictionary_encode()
        total = pc.add(pc.multiply(total, _integer(len(encoded.dictionary))), encoded.indices.cast(pa.int64()))
        total = total.dictionary_encode().indices.cast(pa.int64())
    return total


def codes(a: Any, b: Any) -> Any:
    """A number for each value of two arrays, those of ``a`` first, the same for equal values.

    Nulls are equal, NaNs are, zeros of both signs, and maps whatever the order of their entries.

    Raises:
        TypeError: Values of the types cannot be compared.
    """
    x, y = plain(a), plain(b)
    if pa.types.is_null(x.type):
        x = pa.nulls(len(x), y.type)
    elif pa.types.is_null(y.type):
        y = pa.nulls(len(y), x.type)
    kinds = (x.type, y.type)
    if all(map(pa.types.is_struct, kinds)):
        names = [[field.name for field in kind] for kind in kinds]
        fields = (x.flatten(), y.flatten())
        parts = [codes(fields[0][at], fields[1][other]) for at, other in paired_names(*names)]
        return combined_codes([_validity(x, y), *parts])
    if all(map(pa.types.is_map, kinds)):
        entries = map_entries(x), map_entries(y)
        elements = combined_codes([codes(one, other) for one, other in zip(*entries, strict=True)])
        return _of_lists(x, y, elements, is_ordered=False)
    if all(map(is_list, kinds)):
        return _of_lists(x, y, codes(x.flatten(), y.flatten()), is_ordered=True)
    found = same_type(x, y)
    if found is None:
        raise TypeError(f"values of {x.type} and {y.type} cannot be compared")
    both = pa.concat_arrays([_without_negative_zero(each) for each in found])
    return both.dictionary_encode(null_encoding="encode").indices.cast(pa.int64())


def _validity(*arrays: Any) -> Any:
    return pa.concat_arrays([array.is_valid() for array in arrays]).cast(pa.int64())


def _of_lists(x: Any, y: Any, elements: Any, *, is_ordered: bool) -> Any:
    """Codes of lists by those of their elements: a list is the bytes of the codes in it."""
    lengths = pa.concat_arrays([list_lengths(x), list_lengths(y)])
    starts = offsets_of(lengths)
    if not is_ordered:
        rows = pa.table([parents(starts), elements], ["list", "code"])
        order = pc.sort_indices(rows, [("list", "ascending"), ("code", "ascending")])
        elements = elements.take(order)
    # The buffer of a slice has the elements before it.
    elements = pa.concat_arrays([elements, pa.array([0], pa.int64())])
    offsets = pc.multiply(starts, _integer(_WIDTH))
    data = pa.Array.from_buffers(pa.large_binary(), len(lengths), [None, offsets.buffers()[1], elements.buffers()[1]])
    encoded = data.dictionary_encode().indices.cast(pa.int64())
    return combined_codes([_validity(x, y), encoded])


def mixed(total: Any, other: Any) -> Any:
    """The hash of two hashes, in their order."""
    return pc.bit_wise_xor(pc.multiply(total, _integer(_MIX)), other)


def hashes(array: Any, other: Any) -> Any:
    """Hashes of values, the same for equal values in this process; see :func:`codes`.

    Args:
        array: An array.
        other: The type of the values that they are compared with.

    Raises:
        TypeError: Values of the types cannot be compared.
    """
    values, kind = plain(array), plain_type(other)
    if pa.types.is_null(kind):
        kind = values.type
    elif pa.types.is_null(values.type):
        values = pa.nulls(len(values), kind)
    if pa.types.is_struct(values.type) and pa.types.is_struct(kind):
        names, others = ([field.name for field in each] for each in (values.type, kind))
        own, fields = distinct_names(names), values.flatten()
        total = _integer(0)
        # The fields of the other side may have another order.
        for _, at, place in sorted((own[at], at, place) for at, place in paired_names(names, others)):
            total = mixed(total, hashes(fields[at], kind.field(place).type))
        return _with_nulls(values, total)
    if pa.types.is_map(values.type) and pa.types.is_map(kind):
        keys, items = map_entries(values)
        return _sums(values, mixed(hashes(keys, kind.key_type), hashes(items, kind.item_type)))
    if is_list(values.type) and is_list(kind):
        return _sums(values, hashes(values.flatten(), kind.value_type))
    found = same_type(values, pa.nulls(0, kind))
    if found is None:
        raise TypeError(f"values of {array.type} and {other} cannot be compared")
    return _of_leaves(_without_negative_zero(found[0]))


def _with_nulls(array: Any, found: Any) -> Any:
    return pc.if_else(array.is_valid(), found, _integer(_NULL))


def _sums(array: Any, elements: Any) -> Any:
    """Hashes of lists in which the order of the elements does not matter. Sums wrap around."""
    lengths = list_lengths(array)
    starts = offsets_of(lengths)
    sums = offsets_of(pc.multiply(mixed(elements, _integer(1)), _integer(_MIX)))
    total = pc.subtract(sums.take(starts.slice(1)), sums.take(starts.slice(0, len(array))))
    return _with_nulls(array, mixed(total, lengths))


def _without_negative_zero(array: Any) -> Any:
    return pc.add(array, pa.scalar(0.0, array.type)) if pa.types.is_floating(array.type) else array


def _of_leaves(array: Any) -> Any:
    if pa.types.is_integer(array.type):
        return pc.fill_null(pc.cast(array, pa.int64(), safe=False), _NULL)
    encoded = array.dictionary_encode(null_encoding="encode")
    values = encoded.dictionary
    if pa.types.is_temporal(values.type):
        bits = 32 if values.type.bit_width == 32 else 64
        values = values.view(pa.int32() if bits == 32 else pa.int64())
    # NaN has another hash in each object.
    found = pa.array([0 if value != value else hash(value) for value in values.to_pylist()], pa.int64())
    return found.take(encoded.indices)
