"""Families of Arrow types and their units, types inside of encoded and nested ones, and their replacement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa

__all__ = [
    "DIGITS",
    "NANOSECONDS",
    "fields_by_path",
    "is_binary",
    "is_list",
    "is_list_view",
    "is_months",
    "is_read_union",
    "is_text",
    "map_columns",
    "map_fields",
    "numbered_names",
    "repeated_name",
    "value_type",
]

DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
"""Digits of the fraction of a second that each unit has."""
NANOSECONDS = {unit: 10 ** (9 - digits) for unit, digits in DIGITS.items()}
"""Nanoseconds of each unit."""

_LISTS: list[tuple[Any, Any]] = [
    (pa.types.is_list, pa.list_),
    (pa.types.is_large_list, pa.large_list),
    (pa.types.is_list_view, pa.list_view),
    (pa.types.is_large_list_view, pa.large_list_view),
]


def value_type(kind: Any) -> Any:
    """The type of the values of dictionaries and run-end encoded arrays; other types unchanged."""
    while pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    return kind


def is_text(kind: Any) -> bool:
    """Whether values of a type are texts, encoded in any way."""
    kind, types = value_type(kind), pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_binary(kind: Any) -> bool:
    """Whether values of a type are bytes."""
    types = pa.types
    is_view = types.is_binary_view(kind)
    return bool(is_view or types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind))


def is_list_view(kind: Any) -> bool:
    """Whether a type is one of lists whose elements are in any order."""
    return bool(pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind))


def is_list(kind: Any) -> bool:
    """Whether a type is one of lists of any layout, and none of maps."""
    types = pa.types
    return bool(
        is_list_view(kind) or types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    )


def is_months(kind: Any) -> bool:
    """Whether a type is that of intervals of months, which pyarrow has no test of."""
    return str(kind) == "month_interval"


def numbered_names(names: Sequence[str]) -> list[tuple[str, int]]:
    """Each name with the number of times that it was there before, which tells columns of one name apart."""
    counts: Counter[str] = Counter()
    found = []
    for name in names:
        found.append((name, counts[name]))
        counts[name] += 1
    return found


def repeated_name(names: Iterable[str]) -> str | None:
    """The first name that is there twice; ``None`` if there is none."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


def map_fields(kind: Any, change: Callable[[pa.Field, str], pa.Field]) -> Any:
    """A type with other child fields; a type without children is unchanged.

    Args:
        kind: The type.
        change: Takes each field and its step in a dotted name: the name of a struct field, ``element``, ``key``,
            ``value``, or ``field`` and a number in a union. Gives the new field.
    """
    if pa.types.is_struct(kind):
        return pa.struct([change(child, child.name) for child in kind])
    if pa.types.is_map(kind):
        return pa.map_(change(kind.key_field, "key"), change(kind.item_field, "value"), kind.keys_sorted)
    if pa.types.is_union(kind):
        variants = [change(kind.field(at), f"field{at}") for at in range(kind.num_fields)]
        return pa.union(variants, kind.mode, kind.type_codes)
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(change(kind.value_field, "element"), kind.list_size)
    for is_made, made in _LISTS:
        if is_made(kind):
            return made(change(kind.value_field, "element"))
    return kind


def is_read_union(kind: pa.DataType) -> bool:
    """Whether a type is that of unions that are read as structs, or a struct with the same fields."""
    if not pa.types.is_struct(kind) or not kind.num_fields:
        return False
    names = [kind.field(index).name for index in range(kind.num_fields)]
    return names == ["tag", *(f"field{index}" for index in range(len(names) - 1))] and (
        pa.types.is_integer(kind.field(0).type)
    )


def map_columns(schema: pa.Schema, change: Callable[[pa.Field, str], pa.Field]) -> pa.Schema:
    """A schema with other fields at all levels.

    Args:
        schema: The schema.
        change: Takes each field, whose children have been changed before, and its dotted name, see :func:`map_fields`.
            Gives the new field.
    """

    def changed(field: pa.Field, path: str) -> pa.Field:
        kind = map_fields(field.type, lambda child, step: changed(child, f"{path}.{step}"))
        return change(field.with_type(kind), path)

    return pa.schema([changed(field, field.name) for field in schema], schema.metadata)


def fields_by_path(schema: pa.Schema) -> dict[str, pa.Field]:
    """The fields of a schema, nested ones included, by their dotted names, see :func:`map_fields`."""
    found = {}

    def seen(field: pa.Field, path: str) -> pa.Field:
        found[path] = field
        return field

    map_columns(schema, seen)
    return found
