"""Conversion of Arrow tables to frames of polars, which lacks some types of Arrow, and of types that Arrow lacks."""

from __future__ import annotations

import functools
import sys
from typing import Any

import pyarrow as pa

from orcish.arrow.casting import cast_columns
from orcish.arrow.nested import map_fields, repeated_name

__all__ = ["check_polars_types", "polars_type", "to_polars", "with_arrow_integers", "with_polars_types"]

MAX_DIGITS = 38
"""Maximum digits of decimals in polars."""
MAX_TEXT = 500
"""Maximum characters of a type in a message."""


def check_polars_types(schema: pa.Schema) -> None:
    """Checks that polars has all types, or equivalents. It panics on others.

    Raises:
        TypeError: A type has no equivalent.
    """
    for field in schema:
        if (unknown := _unsupported_type(field.type)) is not None:
            shown = str(field.type)
            shown = shown if len(shown) < MAX_TEXT else f"{shown[:MAX_TEXT]}…"
            raise TypeError(f"column {field.name} of type {shown}: polars has no type for {unknown}")


def polars_type(kind: pa.DataType) -> pa.DataType:
    """The equivalent type that polars has: decimals of 128 bits for 256, scale 0 for negative scales, lists for list
    views and for lists of the fixed size 0, the values of run-end encoded arrays, UTC for zones such as ``+05:30``.
    """
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        # For unknown extension types polars takes the storage.
        storage = polars_type(kind.storage_type)
        return kind if storage == kind.storage_type else storage
    if types.is_run_end_encoded(kind):
        return polars_type(kind.value_type)
    if types.is_timestamp(kind) and kind.tz is not None and not _has_zone(kind.tz):
        return pa.timestamp(kind.unit, "UTC")
    if types.is_decimal(kind) and (types.is_decimal256(kind) or kind.scale < 0) and _decimal_digits(kind) <= MAX_DIGITS:
        return pa.decimal128(_decimal_digits(kind), max(kind.scale, 0))
    if types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, polars_type(kind.value_type), kind.ordered)
    if types.is_list_view(kind) or (types.is_fixed_size_list(kind) and kind.list_size == 0):
        return pa.list_(_field(kind.value_field))
    if types.is_large_list_view(kind):
        return pa.large_list(_field(kind.value_field))
    # polars does not have unions, so their children do not matter.
    return kind if types.is_union(kind) else map_fields(kind, _field)


def with_arrow_integers(data: Any) -> Any:
    """A frame or series of polars whose integers of 128 bits, which Arrow has not, are decimals; other data unchanged.

    Raises:
        ValueError: A value has more digits than these decimals.
    """
    # Where the module is not loaded, no data can be its.
    polars = sys.modules.get("polars")
    if polars is None or not isinstance(data, polars.DataFrame | polars.Series):
        return data
    if isinstance(data, polars.Series):
        return _with_decimals(data, polars)
    changed = [column for column in data.iter_columns() if _of_decimals(column.dtype, polars) != column.dtype]
    return data.with_columns([_with_decimals(column, polars) for column in changed]) if changed else data


def _with_decimals(column: Any, polars: Any) -> Any:
    kind = _of_decimals(column.dtype, polars)
    if kind == column.dtype:
        return column
    try:
        return column.cast(kind)
    except polars.exceptions.InvalidOperationError as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"column {column.name!r}: integers of 128 bits are written as decimals of {MAX_DIGITS} digits: {reason}"
        ) from error


def _of_decimals(kind: Any, polars: Any) -> Any:
    """A type of polars with decimals in place of integers of 128 bits. Versions have both, one or none of these."""
    if any(kind == getattr(polars, name, None) for name in ("Int128", "UInt128")):
        return polars.Decimal(MAX_DIGITS, 0)
    if isinstance(kind, polars.List):
        return polars.List(_of_decimals(kind.inner, polars))
    if isinstance(kind, polars.Array):
        return polars.Array(_of_decimals(kind.inner, polars), kind.size)
    if isinstance(kind, polars.Struct):
        return polars.Struct([polars.Field(field.name, _of_decimals(field.dtype, polars)) for field in kind.fields])
    return kind


def to_polars(data: pa.Table | pa.RecordBatch) -> Any:
    """The rows as a ``polars.DataFrame``, with the types of :func:`polars_type`.

    Raises:
        TypeError: As for :func:`check_polars_types`.
    """
    import polars

    # polars would lose the number of rows of a batch without columns.
    table = with_polars_types(data if isinstance(data, pa.Table) else pa.Table.from_batches([data]))
    check_polars_types(table.schema)
    return polars.from_arrow(table)


def with_polars_types(table: pa.Table) -> pa.Table:
    """The table with the types of :func:`polars_type`."""
    plain = pa.schema(map(_field, table.schema), table.schema.metadata)
    if plain == table.schema:
        return table
    return cast_columns(table, plain)


@functools.cache
def _has_zone(zone: str) -> bool:
    """Whether polars has a time zone."""
    import polars

    try:
        polars.from_arrow(pa.array([], pa.timestamp("us", zone)))
    except polars.exceptions.ComputeError:
        return False
    return True


def _decimal_digits(kind: Any) -> int:
    """Digits of a decimal type after its scale is raised to 0."""
    return int(kind.precision - min(kind.scale, 0))


def _field(field: pa.Field, _: str = "") -> pa.Field:
    return field.with_type(polars_type(field.type))


def _unsupported_type(kind: pa.DataType) -> pa.DataType | str | None:
    """The first type, itself or nested, without an equivalent in polars."""
    if isinstance(kind, pa.BaseExtensionType):
        return _unsupported_type(kind.storage_type)
    if pa.types.is_union(kind) or pa.types.is_interval(kind):
        return kind
    if pa.types.is_timestamp(kind) and kind.tz is not None and not _has_zone(kind.tz):
        return f"the time zone {kind.tz!r}"
    if pa.types.is_decimal(kind) and _decimal_digits(kind) > MAX_DIGITS:
        return kind
    if pa.types.is_run_end_encoded(kind) or pa.types.is_dictionary(kind):
        return _unsupported_type(kind.value_type)
    if pa.types.is_struct(kind) and (name := repeated_name(field.name for field in kind)) is not None:
        return f"a struct with two fields of the name {name!r}"
    return next(
        (found for at in range(kind.num_fields) if (found := _unsupported_type(kind.field(at).type)) is not None), None
    )
