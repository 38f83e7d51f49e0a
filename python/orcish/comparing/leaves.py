"""Values without values in them, in types in which those of two columns can be compared."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["all_comparable", "comparable", "counted", "is_list", "plain", "plain_type", "same_type", "without_views"]

_UNITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_MAX_DECIMAL128 = 38
_MAX_DECIMAL256 = 76
_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}
"""Digits of integers by their bits."""
_EXACT_BITS = 32
"""The widest integers that a double holds exactly, of those there are."""


def counted(start: int, count: int) -> Any:
    """Ascending integers."""
    return pc.add(pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), count)), pa.scalar(start - 1, pa.int64()))


def plain_type(kind: Any) -> Any:
    """The type that :func:`plain` gives."""
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind):
        return pa.large_binary()
    if types.is_fixed_size_binary(kind):
        return pa.large_binary()
    if types.is_interval(kind):
        return pa.int32()
    if types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    if is_list(kind):
        return pa.list_(kind.value_field)
    return kind


def is_list(kind: Any) -> bool:
    """Whether a type is one of lists, other than a map."""
    types = pa.types
    is_view = types.is_list_view(kind) or types.is_large_list_view(kind)
    return bool(is_view or types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def without_views(array: Any) -> Any:
    """An array without views of strings, binaries and lists, at any depth: many functions of pyarrow have none."""
    kind = array.type
    types = pa.types
    if not _has_views(kind):
        return array
    if types.is_string_view(kind) or types.is_binary_view(kind):
        target = pa.large_string() if types.is_string_view(kind) else pa.large_binary()
        try:
            return array.cast(target)
        except pa.ArrowNotImplementedError:
            # Of pyarrow before 18.
            return pa.array(array.to_pylist(), target)
    if types.is_struct(kind):
        children = list(map(without_views, array.flatten()))
        fields = [field.with_type(child.type) for field, child in zip(kind, children, strict=True)]
        return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null())
    # Offsets of lists begin with 0, and those of views are in any order.
    lengths = pc.cast(pc.fill_null(pc.list_value_length(array), 0), pa.int64())
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(lengths)])
    return pa.LargeListArray.from_arrays(offsets, without_views(array.flatten()), mask=array.is_null())


def _has_views(kind: Any) -> bool:
    """Whether a type has views. Those of maps and unions are left as they are."""
    types = pa.types
    if types.is_struct(kind):
        return any(_has_views(field.type) for field in kind)
    if is_list(kind):
        return types.is_list_view(kind) or types.is_large_list_view(kind) or _has_views(kind.value_type)
    return bool(types.is_string_view(kind) or types.is_binary_view(kind))


def plain(array: Any) -> Any:
    """An array without dictionaries, runs, views and extension types at its top."""
    array = without_views(array)
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return plain(array.storage)
    if pa.types.is_dictionary(kind):
        return plain(array.dictionary_decode())
    if pa.types.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(array))
    if pa.types.is_interval(kind):
        # pyarrow has the type of months, but no values.
        return pa.Array.from_buffers(pa.int32(), len(array), array.buffers(), offset=array.offset)
    if pa.types.is_timestamp(kind):
        return array if kind.tz is None else array.view(plain_type(kind))
    if is_list(kind) and not pa.types.is_fixed_size_list(kind):
        return array
    target = plain_type(kind)
    return array if target == kind else array.cast(target)


def comparable(a: Any, b: Any) -> bool:
    """Whether some values of two types can be compared."""
    a, b = plain_type(a), plain_type(b)
    types = pa.types
    if types.is_null(a) or types.is_null(b):
        return True
    if types.is_struct(a) and types.is_struct(b):
        counts = Counter(field.name for field in b)
        found = [comparable(field.type, b.field(field.name).type) for field in a if counts[field.name] == 1]
        return any(found) or not (a.num_fields or b.num_fields)
    if types.is_map(a) and types.is_map(b):
        return comparable(a.key_type, b.key_type) and comparable(a.item_type, b.item_type)
    if is_list(a) and is_list(b):
        return comparable(a.value_type, b.value_type)
    if types.is_union(a) and types.is_union(b):
        return True
    return not _has_children(a) and not _has_children(b) and _common_type(a, b) is not None


def all_comparable(a: Any, b: Any) -> bool:
    """Whether all values of two types can be compared, those of the fields of structs included."""
    a, b = plain_type(a), plain_type(b)
    types = pa.types
    if types.is_struct(a) and types.is_struct(b):
        names_a, names_b = ([field.name for field in kind] for kind in (a, b))
        if names_a == names_b:
            return all(all_comparable(x.type, y.type) for x, y in zip(a, b, strict=True))
        is_unique = len(set(names_a)) == len(names_a)
        same = is_unique and sorted(names_a) == sorted(names_b)
        return same and all(all_comparable(field.type, b.field(field.name).type) for field in a)
    if types.is_map(a) and types.is_map(b):
        return all_comparable(a.key_type, b.key_type) and all_comparable(a.item_type, b.item_type)
    if is_list(a) and is_list(b):
        return all_comparable(a.value_type, b.value_type)
    return comparable(a, b)


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
            kind.precision - kind.scale if types.is_decimal(kind) else _DIGITS[kind.bit_width] for kind in kinds
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
    unit = max(a.type.unit, b.type.unit, key=_UNITS.__getitem__)
    make = pa.duration if pa.types.is_duration(a.type) else pa.timestamp
    try:
        return a.cast(make(unit)), b.cast(make(unit))
    except pa.ArrowInvalid:
        return _decimals(a, unit), _decimals(b, unit)


def _decimals(array: Any, unit: str) -> Any:
    from decimal import Decimal

    count = array.cast(pa.int64()).cast(pa.decimal128(19, 0))
    factor = Decimal(10 ** (_UNITS[unit] - _UNITS[array.type.unit]))
    return pc.multiply(count, pa.scalar(factor, pa.decimal128(10, 0)))
