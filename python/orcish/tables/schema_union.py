"""Union of the schemas of several files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from orcish.errors import OrcishError

__all__ = ["merged_schema"]


def merged_schema(schemas: Iterable[tuple[str, pa.Schema]], case_sensitive: bool) -> pa.Schema:
    """The union of schemas. Each column has a common type of all files, and the name that it has in the first one.

    Args:
        schemas: Locations of files, and their schemas.
        case_sensitive: Whether names that differ only by case are different columns.

    Raises:
        OrcishError: There is no common type; the message names the file. Integers and decimals have no common type with
            floats.
    """
    merged: pa.Schema | None = None
    for location, schema in schemas:
        if merged is None:
            merged = schema
            continue
        try:
            renamed = pa.schema(_renamed(list(schema), list(merged), case_sensitive))
            merged, renamed = _with_instants(merged, renamed), _with_instants(renamed, merged)
            both = pa.unify_schemas([merged, renamed], promote_options="permissive")
            for name in renamed.names:
                if name in merged.names:
                    _check_numbers(name, merged.field(name).type, renamed.field(name).type)
        except (pa.ArrowException, ValueError) as error:
            raise OrcishError(f"{location}: its columns do not go with those of the files before: {error}") from error
        merged = both
    if merged is None:
        raise ValueError("no schemas to be merged")
    return merged


def _with_instants(fields: Any, like: Any) -> Any:
    """Fields with instants instead of wall clock times where ``like`` has instants."""
    there = {field.name: field for field in like}
    made = [field.with_type(_instant(field, there[field.name])) if field.name in there else field for field in fields]
    return pa.schema(made, fields.metadata) if isinstance(fields, pa.Schema) else pa.struct(made)


def _instant(field: pa.Field, like: pa.Field) -> pa.DataType:
    types, kind, other = pa.types, field.type, like.type
    if types.is_timestamp(kind) and types.is_timestamp(other):
        is_spark = (field.metadata or {}).get(b"spark.sql.catalyst.type") == b"timestamp_ntz"
        return pa.timestamp(kind.unit, other.tz) if kind.tz is None and other.tz is not None and not is_spark else kind
    if types.is_struct(kind) and types.is_struct(other):
        return _with_instants(kind, other)
    if types.is_map(kind) and types.is_map(other):
        key = kind.key_field.with_type(_instant(kind.key_field, other.key_field))
        return pa.map_(key, kind.item_field.with_type(_instant(kind.item_field, other.item_field)))
    if types.is_list(kind) and types.is_list(other):
        return pa.list_(kind.value_field.with_type(_instant(kind.value_field, other.value_field)))
    return kind


def _renamed(fields: list[pa.Field], like: list[pa.Field], case_sensitive: bool) -> list[pa.Field]:
    """Fields with the names of equal fields of ``like``."""
    if case_sensitive:
        return fields
    there = {field.name.lower(): field for field in reversed(like)}
    made = []
    for field in fields:
        found = there.get(field.name.lower())
        made.append(field if found is None else field.with_name(found.name).with_type(_like(field.type, found.type)))
    names = [field.name for field in made]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"several columns could be {twice!r}, as option `caseSensitive` is not set")
    return made


def _like(kind: Any, like: Any) -> pa.DataType:
    types = pa.types
    if types.is_struct(kind) and types.is_struct(like):
        return pa.struct(_renamed(list(kind), list(like), False))
    if types.is_map(kind) and types.is_map(like):
        key, item = kind.key_field, kind.item_field
        return pa.map_(key.with_type(_like(key.type, like.key_type)), item.with_type(_like(item.type, like.item_type)))
    if types.is_list(kind) and types.is_list(like):
        return pa.list_(kind.value_field.with_type(_like(kind.value_type, like.value_type)))
    return kind


def _check_numbers(name: str, one: Any, other: Any) -> None:
    types = pa.types
    if types.is_struct(one) and types.is_struct(other):
        for field in one:
            at = other.get_field_index(field.name)
            if at >= 0:
                _check_numbers(f"{name}.{field.name}", field.type, other.field(at).type)
    elif types.is_map(one) and types.is_map(other):
        _check_numbers(f"{name}.key", one.key_type, other.key_type)
        _check_numbers(f"{name}.value", one.item_type, other.item_type)
    elif types.is_list(one) and types.is_list(other):
        _check_numbers(f"{name}.element", one.value_type, other.value_type)
    else:
        for exact, real in ((one, other), (other, one)):
            if types.is_floating(real) and (types.is_integer(exact) or types.is_decimal(exact)):
                raise ValueError(
                    f"column {name} is {exact} and {real}, a floating point number, which does not hold it"
                )
