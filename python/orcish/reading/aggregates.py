"""Minimum, maximum and sum of a column, as values of Python."""

from __future__ import annotations

from typing import Any, Literal

import pyarrow as pa

from orcish.arrow.casting import cast_array
from orcish.filters.names import ColumnName, dotted
from orcish.reading.scan_reader import ScanReader

__all__ = ["Function", "aggregate", "python_value"]

Function = Literal["min", "max", "sum"]


def aggregate(reader: ScanReader, name: ColumnName, function: Function) -> Any:
    """The minimum, maximum or sum of a column; ``None`` where there are no values.

    Raises:
        TypeError: The type has no order, or no sum.
        OverflowError: The result is a date, a time or a duration out of range for Python's types, or a time with digits
            below microseconds.
    """
    part, column = reader.only_column(name), dotted(name)
    given = _innermost_field(part.selected_schema.field(0), column).type
    kind = _value_type(given, column, function)
    found = part.aggregate(function)
    try:
        value = python_value(found)
    except OverflowError as error:
        raise OverflowError(f"column {column}: {error}") from None
    if value is None:
        return None
    if function == "sum" and pa.types.is_integer(kind):
        return int(value)
    if isinstance(given, pa.BaseExtensionType):
        return pa.ExtensionScalar.from_storage(given, pa.scalar(value, given.storage_type)).as_py()
    return value


def _value_type(kind: Any, column: str, function: Function) -> pa.DataType:
    """The type of the values of a column. Extension types are ordered like their storage, and have no sum."""
    if function != "sum":
        kind = _storage(kind)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    if function == "sum":
        types = pa.types
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind)):
            raise TypeError(f"column {column} of type {kind} has no sum")
    elif pa.types.is_nested(kind) or pa.types.is_interval(kind):
        raise TypeError(f"column {column} of type {kind} has no least or greatest value: its values have no order")
    return kind


def _innermost_field(field: pa.Field, column: str) -> pa.Field:
    """The field of a dotted name, in a struct that has only this field at each level."""
    while column != field.name and pa.types.is_struct(kind := _storage(field.type)) and kind.num_fields == 1:
        column = column.removeprefix(f"{field.name}.")
        field = kind.field(0)
    return field


def _storage(kind: Any) -> Any:
    """The storage type of an extension type; other types are unchanged."""
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def python_value(found: pa.Scalar) -> Any:
    """The value as an object of Python.

    Raises:
        OverflowError: The value is out of range for Python's types, or has more digits than they hold.
    """
    if pa.types.is_time64(found.type) and found.type.unit == "ns" and found.is_valid and found.value % 1000:
        # pyarrow cuts the digits off.
        shown = cast_array(pa.array([found], found.type), pa.string())[0].as_py()
        raise OverflowError(
            f"{shown} of type {found.type} has digits below microseconds, which datetime.time does not hold: "
            "pyarrow.compute.min_max of the column in to_table() gives it as pyarrow has it"
        )
    try:
        value = found.as_py()
    except OverflowError:
        shown = cast_array(pa.array([found], found.type), pa.string())[0].as_py()
        raise OverflowError(
            f"{shown} of type {found.type} is beyond what Python's own types hold, whose years are 1 to 9999: "
            "pyarrow.compute.min_max of the column in to_table() gives it as pyarrow has it, a filter passes over it"
        ) from None
    return float(value) if value is not None and pa.types.is_float16(found.type) else value
