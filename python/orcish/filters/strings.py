"""Strings beside columns of other types, in lists of pyarrow: they are values of the type of the column, as in SQL."""

from __future__ import annotations

import datetime
import decimal
import re
from typing import Any

import pyarrow as pa

from orcish.arrow.nested import value_type
from orcish.arrow.units import NANOSECONDS
from orcish.filters import literals
from orcish.filters.expression import tree_of
from orcish.filters.text import parse

__all__ = ["typed_value", "typed_values"]

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?")


def typed_values(name: str, kind: pa.DataType, values: list[Any]) -> Any:
    """The values of a list, with strings as in :func:`typed_value`."""
    if not any(isinstance(value, str) for value in values):
        return values
    made = [typed_value(name, kind, value) for value in values]
    units = [value.type for value in made if isinstance(value, pa.Scalar)]
    if len(units) == len(made):
        # Timestamps of the finest unit.
        finest = min(units, key=lambda kind: NANOSECONDS[kind.unit])
        return pa.array([value.cast(finest).value for value in made], pa.int64()).cast(finest)
    return [value.as_py() if isinstance(value, pa.Scalar) else value for value in made]


def typed_value(name: str, kind: pa.DataType, value: Any) -> Any:
    """A value that is compared with a column: for a string, the value of the type of the column.

    Args:
        name: The name of the column.
        kind: The type of the column.
        value: The value.

    Raises:
        ValueError: The string is no value of the type.
    """
    if not isinstance(value, str):
        return value
    try:
        return _parsed(value_type(kind), value)
    except (ArithmeticError, ValueError):
        raise ValueError(
            f"filters: column {name} of type {kind} cannot be compared with the string {value!r}, which is no value "
            f"of the type"
        ) from None


def _parsed(kind: pa.DataType, given: str) -> Any:
    types, text = pa.types, given.strip()
    if types.is_boolean(kind):
        return {"true": True, "false": False}[text.lower()] if text.lower() in ("true", "false") else _refuse()
    if types.is_integer(kind) or types.is_decimal(kind):
        number = decimal.Decimal(text) if _NUMBER.fullmatch(text) else _refuse()
        is_whole = types.is_integer(kind) and number == number.to_integral_value()
        return int(number) if is_whole else number
    if types.is_floating(kind):
        # pyarrow looks up -0.0 as another value than 0.0.
        return float(text) + 0.0 if _NUMBER.fullmatch(text) or text.lower() == "nan" else _refuse()
    if types.is_date(kind):
        return _scalar(tree_of(parse(f"x = date {literals.quote(text, chr(39))}"))[3])
    if types.is_timestamp(kind):
        literal = tree_of(parse(f"x = timestamp {literals.quote(text, chr(39))}"))[3]
        return _scalar(literal) if literal[2] == (kind.tz is not None) else _refuse()
    if types.is_time(kind):
        return datetime.time.fromisoformat(text)
    return given


def _refuse() -> Any:
    raise ValueError


def _scalar(literal: literals.Literal) -> Any:
    """The value of a date or timestamp; a timestamp with the coarsest unit that keeps it."""
    if literal[0] == "date":
        return pa.scalar(literal[1], pa.int32()).cast(pa.date32()).as_py()
    unit, size = next((unit, size) for unit, size in NANOSECONDS.items() if literal[1] % size == 0)
    zone = "UTC" if literal[2] else None
    return pa.scalar(literal[1] // size, pa.timestamp(unit, zone))
