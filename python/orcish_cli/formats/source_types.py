"""The types of columns that several sources have together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from orcish.arrow.exported import common_type
from orcish.arrow.nested import is_binary, is_list, is_text, numbered_names, value_type
from orcish.io.names import display_name

from orcish_cli.formats.schemas import has_open_units

__all__ = ["common_schema"]


def common_schema(schemas: list[pa.Schema], locations: list[str], form: str, columns: list[str] | None) -> pa.Schema:
    """The columns of the first source, with types that hold the values of all sources.

    Types are widened where that keeps all values. Inferred types of CSV that differ are texts. Inferred structs of JSON
    have the fields of all sources.

    Args:
        schemas: The columns of each source.
        locations: The sources.
        form: The format.
        columns: The columns that are read; all by default.

    Raises:
        ValueError: The columns of a source are others, or no type holds the values of all.
    """
    first = schemas[0]
    fields = dict(zip(numbered_names(first.names), first, strict=True))
    for schema, location in zip(schemas[1:], locations[1:], strict=True):
        names = [display_name(each) for each in (location, locations[0])]
        if sorted(schema.names) != sorted(first.names):
            raise ValueError(f"{names[0]} has other columns than {names[1]}: convert them one by one")
        for key, field in zip(numbered_names(schema.names), schema, strict=True):
            own = fields[key]
            # Types that are given differ in the units of timestamps only.
            join = _typed if has_open_units(own) else _JOINS.get(form, _typed)
            kind = join(own.type, field.type)
            if kind is None and (columns is None or field.name in columns):
                advice = "--schema gives one type" if form == "json" else "convert them one by one"
                raise ValueError(
                    f"{names[0]}: column {field.name!r} is {field.type}, and {own.type} in {names[1]}: {advice}"
                )
            if kind is not None:
                nullable = own.nullable or field.nullable
                fields[key] = own.with_type(kind).with_nullable(nullable)
    return pa.schema([*fields.values()], first.metadata)


def _typed(a: Any, b: Any) -> Any:
    """The type that holds all values of two types; ``None`` if there is none."""
    return _common(a, b, _typed)


def _csv(a: Any, b: Any) -> Any:
    """Texts are all that cells of two types have in common, numbers aside."""
    if a == b or pa.types.is_null(a) or pa.types.is_null(b):
        return b if pa.types.is_null(a) else a
    return _numbers(a, b) or pa.string()


def _json(a: Any, b: Any) -> Any:
    if pa.types.is_struct(a) and pa.types.is_struct(b):
        fields = {field.name: field for field in a}
        for field in b:
            own = fields.get(field.name)
            kind = field.type if own is None else _json(own.type, field.type)
            if kind is None:
                return None
            fields[field.name] = field.with_type(kind)
        return pa.struct([*fields.values()])
    return _numbers(a, b) or _common(a, b, _json)


def _numbers(a: Any, b: Any) -> Any:
    """Inferred integers and floating point numbers are both read as the latter, which is an error for other digits."""
    kinds = {a, b}
    return pa.float64() if kinds == {pa.int64(), pa.float64()} else None


_JOINS: dict[str, Callable[[Any, Any], Any]] = {"csv": _csv, "json": _json}


def _common(a: Any, b: Any, join: Callable[[Any, Any], Any]) -> Any:
    types = pa.types
    if a == b or types.is_null(b):
        return a
    if types.is_null(a):
        return b
    if isinstance(a, pa.BaseExtensionType) or isinstance(b, pa.BaseExtensionType):
        return None
    if value_type(a) != a or value_type(b) != b:
        return join(value_type(a), value_type(b))
    if types.is_struct(a) and types.is_struct(b):
        return _struct(a, b, join)
    if types.is_map(a) and types.is_map(b):
        key, item = join(a.key_type, b.key_type), join(a.item_type, b.item_type)
        return None if key is None or item is None else pa.map_(key, item)
    if is_list(a) and is_list(b):
        kind = join(a.value_type, b.value_type)
        return None if kind is None else pa.large_list(a.value_field.with_type(kind).with_nullable(True))
    return _leaf(a, b)


def _struct(a: Any, b: Any, join: Callable[[Any, Any], Any]) -> Any:
    names = [field.name for field in a]
    if sorted(names) != sorted(field.name for field in b) or len(set(names)) < len(names):
        return None
    kinds = [join(field.type, b.field(field.name).type) for field in a]
    if None in kinds:
        return None
    return pa.struct([field.with_type(kind).with_nullable(True) for field, kind in zip(a, kinds, strict=True)])


def _leaf(a: Any, b: Any) -> Any:
    types = pa.types
    if types.is_timestamp(a) and types.is_timestamp(b) and (a.tz is None) != (b.tz is None):
        # Wall clocks of these formats are no instants.
        return None
    kind = common_type(a, b)
    if kind is not None and is_text(kind):
        return pa.large_string()
    return pa.large_binary() if kind is not None and is_binary(kind) else kind
