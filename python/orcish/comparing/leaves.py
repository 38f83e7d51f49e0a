"""Values without values in them, in types in which those of two columns can be compared."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.nested import is_list
from orcish.arrow.units import DIGITS
from orcish.comparing.names import paired_names
from orcish.comparing.simple import simple, simple_type

__all__ = ["all_comparable", "comparable", "counted", "plain", "plain_type", "same_type"]

_DECIMAL128_BITS = 128
_MAX_DECIMAL128 = 38
_MAX_DECIMAL256 = 76
_INTEGER_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}
"""Digits of integers by their bits."""
_EXACT_BITS = 32
"""The widest integers that a double holds exactly, of those there are."""


def counted(start: int, count: int) -> Any:
    """Ascending integers."""
    return pc.add(pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), count)), pa.scalar(start - 1, pa.int64()))


def plain_type(kind: Any) -> Any:
    """The type that :func:`plain` gives."""
    kind = simple_type(kind)
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if types.is_string(kind):
        return pa.large_string()
    if types.is_binary(kind) or types.is_fixed_size_binary(kind) or types.is_interval(kind):
        return pa.large_binary()
    if types.is_float16(kind):
        return pa.float32()
    if types.is_decimal(kind) and kind.bit_width < _DECIMAL128_BITS:
        # pyarrow has no hashes of narrower ones.
        return pa.decimal128(kind.precision, kind.scale)
    if types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    if is_list(kind):
        return pa.list_(kind.value_field)
    return kind


def plain(array: Any) -> Any:
    """An array that is simple, and without dictionaries and extension types at its top."""
    array = simple(array)
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return plain(array.storage)
    if pa.types.is_dictionary(kind):
        return plain(array.dictionary_decode())
    if pa.types.is_timestamp(kind):
        return array if kind.tz is None else array.view(plain_type(kind))
    if pa.types.is_interval(kind):
        # Months, days and nanoseconds: functions of pyarrow do not compare them.
        array = array.view(pa.binary(16))
    if is_list(kind) and not pa.types.is_fixed_size_list(kind):
        return array
    target = plain_type(array.type)
    return array if target == array.type else array.cast(target)


def comparable(a: Any, b: Any) -> bool:
    """Whether some values of two types can be compared."""
    a, b = plain_type(a), plain_type(b)
    types = pa.types
    if types.is_null(a) or types.is_null(b):
        return True
    if types.is_struct(a) and types.is_struct(b):
        found = [comparable(x, y) for x, y in _paired_types(a, b)]
        return any(found) or not (a.num_fields or b.num_fields)
    if types.is_map(a) and types.is_map(b):
        return comparable(a.key_type, b.key_type) and comparable(a.item_type, b.item_type)
    if is_list(a) and is_list(b):
        return comparable(a.value_type, b.value_type)
    return not _has_children(a) and not _has_children(b) and _common_type(a, b) is not None


def all_comparable(a: Any, b: Any) -> bool:
    """Whether all values of two types can be compared, those of the fields of structs included."""
    a, b = plain_type(a), plain_type(b)
    types = pa.types
    if types.is_struct(a) and types.is_struct(b):
        pairs = _paired_types(a, b)
        return a.num_fields == b.num_fields == len(pairs) and all(all_comparable(x, y) for x, y in pairs)
    if types.is_map(a) and types.is_map(b):
        return all_comparable(a.key_type, b.key_type) and all_comparable(a.item_type, b.item_type)
    if is_list(a) and is_list(b):
        return all_comparable(a.value_type, b.value_type)
    return comparable(a, b)


def _paired_types(a: Any, b: Any) -> list[tuple[Any, Any]]:
    """The types of the fields that two structs have."""
    names_a, names_b = ([field.name for field in kind] for kind in (a, b))
    return [(a.field(at).type, b.field(other).type) for at, other in paired_names(names_a, names_b)]


def _has_children(kind: Any) -> bool:
    return bool(pa.types.is_nested(kind))


def same_type(a: Any, b: Any) -> tuple[Any, Any] | None:
    """Two plain arrays of leaves in one type; ``None`` where their types cannot be compared."""
    kind = _common_type(a.type, b.type)
    if kind is None:
        return None
    if kind == "instants":
        return _instants(a, b)
    return (a if a.type == kind else a.cast(kind), b if b.type == kind else b.cast(kind))


def _common_type(a: Any, b: Any) -> Any:
    """The type that holds the values of two plain types; ``None`` if there is none, and ``"instants"`` for times of
    different units.
    """
    types = pa.types
    if a == b or types.is_null(b):
        return a
    if types.is_null(a):
        return b
    numbers = _common_number(a, b)
    if numbers is not None:
        return numbers
    texts = (types.is_large_string, types.is_large_binary)
    if any(test(a) for test in texts) and any(test(b) for test in texts):
        return pa.large_binary()
    if types.is_date(a) and types.is_date(b):
        return pa.date64()
    if types.is_time(a) and types.is_time(b):
        return pa.time64("ns")
    if types.is_duration(a) and types.is_duration(b):
        return "instants"
    if types.is_timestamp(a) and types.is_timestamp(b) and (a.tz is None) == (b.tz is None):
        return "instants"
    return None


def _common_number(a: Any, b: Any) -> Any:
    types = pa.types
    kinds = [a, b]
    if all(types.is_floating(kind) for kind in kinds):
        return pa.float64()
    if all(types.is_integer(kind) for kind in kinds):
        is_mixed = pa.uint64() in kinds and not all(types.is_unsigned_integer(kind) for kind in kinds)
        return pa.decimal128(20, 0) if is_mixed else pa.uint64() if pa.uint64() in kinds else pa.int64()
    if all(types.is_integer(kind) or types.is_decimal(kind) for kind in kinds):
        scale = max(kind.scale if types.is_decimal(kind) else 0 for kind in kinds)
        whole = max(
            kind.precision - kind.scale if types.is_decimal(kind) else _INTEGER_DIGITS[kind.bit_width] for kind in kinds
        )
        digits = whole + scale
        if digits > _MAX_DECIMAL256:
            return None
        return pa.decimal128(digits, scale) if digits <= _MAX_DECIMAL128 else pa.decimal256(digits, scale)
    if all(types.is_floating(kind) or types.is_integer(kind) for kind in kinds):
        whole = next(kind for kind in kinds if types.is_integer(kind))
        return pa.float64() if whole.bit_width <= _EXACT_BITS else None
    return None


def _instants(a: Any, b: Any) -> tuple[Any, Any]:
    """Timestamps or durations in the finer unit, or as decimals where it does not hold all values."""
    unit = max(a.type.unit, b.type.unit, key=DIGITS.__getitem__)
    make = pa.duration if pa.types.is_duration(a.type) else pa.timestamp
    try:
        return a.cast(make(unit)), b.cast(make(unit))
    except pa.ArrowInvalid:
        return _decimals(a, unit), _decimals(b, unit)


def _decimals(array: Any, unit: str) -> Any:
    from decimal import Decimal

    count = array.cast(pa.int64()).cast(pa.decimal128(19, 0))
    factor = Decimal(10 ** (DIGITS[unit] - DIGITS[array.type.unit]))
    return pc.multiply(count, pa.scalar(factor, pa.decimal128(10, 0)))
