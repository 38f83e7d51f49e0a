"""Arrow values as JSON values.

=====================  =============================================================================
boolean, integers      as they are, 64 bits included
float, double          numbers; ``"NaN"``, ``"Infinity"`` and ``"-Infinity"`` are strings
decimal                string, with all digits of its scale
date, timestamp, time  ISO 8601 string; an instant ends in ``Z``
intervals              ISO 8601 string: ``"PT1.5S"``, ``"P14M"``, ``"P1M2DT3S"``
string, char, varchar  string
binary, geometries     string of hexadecimal digits
list                   array
map                    object where the keys are strings, all different; otherwise an array of ``[key, value]``
struct                 object
union                  ``{"tag": 0, "value": …}``
=====================  =============================================================================
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.casting import cast_array
from orcish.cli.time_texts import time_texts
from orcish.terminal import json_float

__all__ = ["to_json"]

NANOSECONDS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
"""Nanoseconds of units."""


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


def _binaries(array: pa.Array) -> list[Any]:
    return [None if value is None else value.hex() for value in array.to_pylist()]


def _dates(array: pa.Array) -> list[Any]:
    # Python has no years before 1 and after 9999.
    return list(time_texts(array, pa.string()).to_pylist())


def _times(array: pa.Array) -> list[Any]:
    return [None if text is None else _short(text) for text in pc.cast(array, pa.string()).to_pylist()]


def _timestamps(array: pa.Array) -> list[Any]:
    if array.type.tz is not None:
        # In other zones, texts have offsets.
        array = pc.cast(array, pa.timestamp(array.type.unit, "UTC"))
    return [None if text is None else _timestamp(text) for text in time_texts(array, pa.string()).to_pylist()]


def _timestamp(text: str) -> str:
    """ISO 8601 for Arrow's ``2026-01-02 03:04:05.600000Z``, without trailing zeros."""
    zone = "Z" if text.endswith("Z") else ""
    date, _, time = text.removesuffix("Z").partition(" ")
    return f"{date}T{_short(time)}{zone}"


def _short(time: str) -> str:
    return time.rstrip("0").removesuffix(".") if "." in time else time


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
    return [
        None if value is None else f"P{value.months}M{value.days}DT{_seconds(value.nanoseconds)}"
        for value in array.to_pylist()
    ]


def _months(array: pa.Array) -> list[Any]:
    # pyarrow has the type, but cannot convert its values.
    numbers = pa.Array.from_buffers(pa.int32(), len(array), array.buffers(), offset=array.offset)
    return [None if value is None else f"P{value}M" for value in numbers.to_pylist()]


def _dictionaries(array: pa.Array) -> list[Any]:
    values = to_json(array.dictionary)
    return [None if index is None else values[index] for index in array.indices.to_pylist()]


def _structs(array: pa.Array) -> list[Any]:
    names = [field.name for field in array.type]
    children = [to_json(array.field(index)) for index in range(len(names))]
    valid = array.is_valid().to_pylist()
    return [
        {name: child[row] for name, child in zip(names, children, strict=True)} if valid[row] else None
        for row in range(len(array))
    ]


def _ranges(array: pa.Array) -> tuple[int, list[tuple[int, int] | None]]:
    """The first offset of a list array, and the ranges of its lists relative to that offset; ``None`` for null
    lists.
    """
    offsets = array.offsets.to_pylist()
    first, valid = offsets[0], array.is_valid().to_pylist()
    ranges = itertools.pairwise(offsets)
    return first, [(start - first, end - first) if ok else None for (start, end), ok in zip(ranges, valid, strict=True)]


def _part(values: pa.Array, first: int, ranges: list[tuple[int, int] | None]) -> list[Any]:
    """The values within the ranges; the array may have more."""
    return to_json(values.slice(first, max((span[1] for span in ranges if span), default=0)))


def _lists(array: pa.Array) -> list[Any]:
    first, ranges = _ranges(array)
    values = _part(array.values, first, ranges)
    return [None if span is None else values[span[0] : span[1]] for span in ranges]


def _maps(array: pa.Array) -> list[Any]:
    first, ranges = _ranges(array)
    keys, items = _part(array.keys, first, ranges), _part(array.items, first, ranges)
    pairs = list(zip(keys, items, strict=True))
    return [None if span is None else _map(pairs[span[0] : span[1]], array.type.key_type) for span in ranges]


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
    codes = _numbers(array, pa.int8(), 1)
    rows = _numbers(array, pa.int32(), 2) if array.type.mode == "dense" else range(len(array))
    return [{"tag": code, "value": children[code][row]} for code, row in zip(codes, rows, strict=True)]


def _numbers(array: pa.Array, kind: pa.DataType, buffer: int) -> list[int]:
    """A buffer of a union. pyarrow's ``type_codes`` and ``offsets`` ignore the offset of slices."""
    buffers = [None, array.buffers()[buffer]]
    return list(pa.Array.from_buffers(kind, len(array), buffers, offset=array.offset).to_pylist())


def _plain_lists(array: pa.Array) -> list[Any]:
    """Lists of other layouts."""
    return to_json(cast_array(array, pa.large_list(array.type.value_field)))


def _is_other_list(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_fixed_size_list(kind) or types.is_list_view(kind) or types.is_large_list_view(kind))


def _is_binary(kind: pa.DataType) -> bool:
    types = pa.types
    is_binary = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view)
    return any(found(kind) for found in is_binary)


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _is_months(kind: pa.DataType) -> bool:
    return str(kind) == "month_interval"


_CONVERTERS: list[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], list[Any]]]] = [
    (lambda kind: isinstance(kind, pa.BaseExtensionType), lambda array: to_json(array.storage)),
    (pa.types.is_run_end_encoded, lambda array: to_json(pc.run_end_decode(array))),
    (pa.types.is_floating, _floats),
    (pa.types.is_decimal, _decimals),
    (_is_binary, _binaries),
    (pa.types.is_date, _dates),
    (pa.types.is_time, _times),
    (pa.types.is_timestamp, _timestamps),
    (pa.types.is_duration, _durations),
    (_is_months, _months),
    (pa.types.is_interval, _intervals),
    (pa.types.is_dictionary, _dictionaries),
    (pa.types.is_struct, _structs),
    (pa.types.is_map, _maps),
    (_is_list, _lists),
    (_is_other_list, _plain_lists),
    (pa.types.is_union, _unions),
]
