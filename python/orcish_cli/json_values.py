"""Arrow values as JSON values.

=====================  =============================================================================
boolean, integers      as they are, 64 bits included; a string with all digits beyond them
float, double          numbers; ``"NaN"``, ``"Infinity"`` and ``"-Infinity"`` are strings
decimal                string, with all digits of its scale
date, timestamp, time  ISO 8601 string; an instant ends in ``Z``
intervals              ISO 8601 string: ``"PT1.5S"``, ``"P14M"``, ``"P1M2DT3S"``
string, char, varchar  string
binary, geometries     string of hexadecimal digits
list                   array
map                    object where the keys are strings, all different; otherwise an array of ``[key, value]``
struct                 object; of several fields of one name, later ones are ``a_1``, ``a_2`` and so on
union                  ``{"tag": 0, "value": …}``, with the position of the variant as its tag
=====================  =============================================================================
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from orcish.arrow.buffers import month_numbers, offsets_within, union_places, within
from orcish.arrow.casting import cast_array, iso_texts
from orcish.arrow.nested import NANOSECONDS, is_binary, is_list, is_list_view, is_months

from orcish_cli.terminal import json_float

__all__ = ["WideInteger", "to_json", "unique_names"]


class WideInteger(pa.ExtensionType):  # type: ignore[misc]
    """Integers of 128 bits, which Arrow only has as decimals.

    Args:
        is_signed: Whether there are negative ones. Otherwise those of 128 bits are negative in the storage.
    """

    def __init__(self, *, is_signed: bool) -> None:
        self.is_signed = is_signed
        super().__init__(pa.decimal128(38, 0), "orcish.wide_integer")

    def __arrow_ext_serialize__(self) -> bytes:
        return bytes([self.is_signed])

    @classmethod
    def __arrow_ext_deserialize__(cls, _: pa.DataType, serialized: bytes) -> WideInteger:
        return cls(is_signed=bool(serialized[0]))


def to_json(array: pa.Array) -> list[Any]:
    """The values of an array as JSON values."""
    for applies, convert in _CONVERTERS:
        if applies(array.type):
            return convert(array)
    return list(array.to_pylist())


def _floats(array: pa.Array) -> list[Any]:
    if pa.types.is_float64(array.type):
        return [None if value is None else json_float(value) for value in array.to_pylist()]
    # Formatted as text first, so that 0.1 does not become 0.10000000149011612.
    return [None if text is None else json_float(float(text)) for text in array.cast(pa.string()).to_pylist()]


def _decimals(array: pa.Array) -> list[Any]:
    return [None if value is None else format(value, "f") for value in array.to_pylist()]


def _wide_integers(array: Any) -> list[Any]:
    values = (None if value is None else int(value) for value in array.storage.to_pylist())
    if not array.type.is_signed:
        values = (None if value is None else value % 2**128 for value in values)
    return [value if value is None or -(2**63) <= value < 2**63 else str(value) for value in values]


def _binaries(array: pa.Array) -> list[Any]:
    return [None if value is None else value.hex() for value in array.to_pylist()]


def _moments(array: pa.Array) -> list[Any]:
    return list(iso_texts(array, pa.string()).to_pylist())


def _durations(array: pa.Array) -> list[Any]:
    scale = NANOSECONDS[array.type.unit]
    values = pc.cast(array, pa.int64()).to_pylist()
    return [None if value is None else f"PT{_seconds(value * scale)}" for value in values]


def _seconds(nanoseconds: int) -> str:
    seconds, fraction = divmod(abs(nanoseconds), 1_000_000_000)
    sign = "-" if nanoseconds < 0 else ""
    digits = f".{fraction:09}".rstrip("0").removesuffix(".")
    return f"{sign}{seconds}{digits}S"


def _intervals(array: pa.Array) -> list[Any]:
    return [None if value is None else _interval(*value) for value in array.to_pylist()]


def _interval(months: int, days: int, nanoseconds: int) -> str:
    """The text of an interval. One of only a time, or of only months, has that of a duration, or of months."""
    if not months and not days:
        return f"PT{_seconds(nanoseconds)}"
    if not days and not nanoseconds:
        return f"P{months}M"
    return f"P{months}M{days}DT{_seconds(nanoseconds)}"


def _months(array: pa.Array) -> list[Any]:
    return [None if value is None else f"P{value}M" for value in month_numbers(array).to_pylist()]


def _dictionaries(array: pa.Array) -> list[Any]:
    values = to_json(array.dictionary)
    return [None if index is None else values[index] for index in array.indices.to_pylist()]


def _structs(array: pa.Array) -> list[Any]:
    names = unique_names([field.name for field in array.type])
    children = [to_json(array.field(index)) for index in range(len(names))]
    valid = array.is_valid().to_pylist()
    return [
        dict(zip(names, (child[row] for child in children), strict=True)) if valid[row] else None
        for row in range(len(array))
    ]


def unique_names(names: Sequence[str]) -> list[str]:
    """The names of an object of JSON, of those of columns or fields: of several that are the same, later ones get the
    first of the endings ``_1``, ``_2`` and so on with which there is no other name.
    """
    if len(set(names)) == len(names):
        return list(names)
    used, found = set(names), set[str]()
    unique = []
    for name in names:
        own = name
        if name in found:
            own = next(each for at in itertools.count(1) if (each := f"{name}_{at}") not in used)
            used.add(own)
        found.add(name)
        unique.append(own)
    return unique


def _lists(array: pa.Array) -> list[Any]:
    return _split(array, to_json(within(array, array.values)))


def _split(array: pa.Array, values: list[Any]) -> list[Any]:
    """The values of each list or map, of those of all; ``None`` for nulls."""
    ranges = itertools.pairwise(offsets_within(array).to_pylist())
    valid = array.is_valid().to_pylist()
    return [values[start:end] if ok else None for (start, end), ok in zip(ranges, valid, strict=True)]


def _maps(array: pa.Array) -> list[Any]:
    keys, items = (to_json(within(array, each)) for each in (array.keys, array.items))
    maps = _split(array, list(zip(keys, items, strict=True)))
    return [None if pairs is None else _map(pairs, array.type.key_type) for pairs in maps]


def _map(pairs: list[tuple[Any, Any]], key_type: pa.DataType) -> dict[str, Any] | list[list[Any]]:
    if pa.types.is_dictionary(key_type):
        key_type = key_type.value_type
    if pa.types.is_string(key_type) or pa.types.is_large_string(key_type):
        found = {key: value for key, value in pairs if key is not None}
        if len(found) == len(pairs):
            return found
    return [list(pair) for pair in pairs]


def _unions(array: pa.Array) -> list[Any]:
    children = [to_json(array.field(index)) for index in range(array.type.num_fields)]
    places = zip(*(numbers.to_pylist() for numbers in union_places(array)), strict=True)
    return [{"tag": tag, "value": children[tag][row]} for tag, row in places]


def _plain_lists(array: pa.Array) -> list[Any]:
    """Lists of other layouts."""
    return to_json(cast_array(array, pa.large_list(array.type.value_field)))


_CONVERTERS: list[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], list[Any]]]] = [
    (lambda kind: isinstance(kind, WideInteger), _wide_integers),
    (lambda kind: isinstance(kind, pa.BaseExtensionType), lambda array: to_json(array.storage)),
    (pa.types.is_run_end_encoded, lambda array: to_json(pc.run_end_decode(array))),
    (pa.types.is_floating, _floats),
    (pa.types.is_decimal, _decimals),
    (is_binary, _binaries),
    (pa.types.is_date, _moments),
    (pa.types.is_time, _moments),
    (pa.types.is_timestamp, _moments),
    (pa.types.is_duration, _durations),
    (is_months, _months),
    (pa.types.is_interval, _intervals),
    (pa.types.is_dictionary, _dictionaries),
    (pa.types.is_struct, _structs),
    (pa.types.is_map, _maps),
    (is_list_view, _plain_lists),
    (pa.types.is_fixed_size_list, _plain_lists),
    (is_list, _lists),
    (pa.types.is_union, _unions),
]
