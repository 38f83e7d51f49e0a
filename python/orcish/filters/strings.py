"""Values of lists of pyarrow: strings beside columns of other types are values of the type of the column, as in SQL,
and timestamps of pandas keep their nanoseconds.
"""

from __future__ import annotations

import datetime
import decimal
import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.nested import NANOSECONDS, value_type
from orcish.filters import literals
from orcish.filters.expression import tree_of
from orcish.filters.text import parse

__all__ = ["check_comparable", "typed_value", "typed_values"]

MAX_INTEGER = 2**63
"""The integer after the largest one of Arrow's signed integers."""
MAX_DIGITS = 76
"""Maximum number of digits of a decimal of Arrow."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?")


def typed_values(name: str, kind: pa.DataType, values: list[Any]) -> Any:
    """The values of a list, each as in :func:`typed_value`.

    Raises:
        ValueError: As there; or there are wall clocks and instants.
    """
    made = [typed_value(name, kind, value) for value in values]
    if pa.types.is_integer(value_type(kind)):
        # No row has numbers beyond the integers of Arrow.
        made = [value for value in made if not (isinstance(value, decimal.Decimal) and abs(value) > MAX_INTEGER)]
    if len(made) == len(values) and all(one is other for one, other in zip(made, values, strict=True)):
        return values
    moments = (datetime.datetime, datetime.timedelta)
    made = [pa.scalar(value) if isinstance(value, moments) else value for value in made]
    units = [value.type for value in made if isinstance(value, pa.Scalar)]
    if len({kind.tz is None for kind in units if pa.types.is_timestamp(kind)}) > 1:
        raise ValueError(f"filters: the values that column {name} is compared with are wall clocks and instants")
    is_alike = all(value is None or isinstance(value, pa.Scalar) for value in made)
    if is_alike and len({kind.id for kind in units}) == 1 and hasattr(units[0], "unit"):
        # Timestamps of the finest unit.
        finest = min(units, key=lambda kind: NANOSECONDS[kind.unit])
        numbers = [None if value is None else value.cast(finest).value for value in made]
        return pa.array(numbers, pa.int64()).cast(finest)
    return [value.as_py() if isinstance(value, pa.Scalar) else value for value in made]


def typed_value(name: str, kind: pa.DataType, value: Any) -> Any:
    """A value that is compared with a column: for a string, the value of the type of the column; for a timestamp or an
    interval of pandas, of which pyarrow makes microseconds, one with all digits.

    Args:
        name: The name of the column.
        kind: The type of the column.
        value: The value.

    Raises:
        ValueError: The string is no value of the type.
    """
    if isinstance(value, int) and not -MAX_INTEGER <= value < MAX_INTEGER:
        value = decimal.Decimal(value)
    if isinstance(value, decimal.Decimal):
        return _checked_decimal(name, value)
    if not isinstance(value, str):
        return _of_pandas(value)
    try:
        return _parsed(value_type(kind), value)
    except (ArithmeticError, ValueError):
        raise ValueError(
            f"filters: column {name} of type {kind} cannot be compared with the string {value!r}, which is no value "
            f"of the type"
        ) from None


def check_comparable(name: str, kind: pa.DataType, values: Any) -> None:
    """Checks that values may be compared with a column. pyarrow looks up values of a list after a cast, such as true as
    1, where it refuses to compare the two.

    Raises:
        ValueError: A value may not be compared.
    """
    if isinstance(values, pa.Array | pa.ChunkedArray):
        examples = [pa.scalar(None, values.type)]
    else:
        examples = [*{type(value): value for value in values if value is not None}.values()]
    rows = pa.table({"x": pa.array([], kind)})
    for value in examples:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if pa.scalar(value).type.id == kind.id or (is_number and pa.types.is_decimal(kind)):
            # Of timestamps of two zones, and of numbers with many digits, only pyarrow says that they differ.
            continue
        try:
            rows.filter(pc.field("x") == value)
        except (ValueError, TypeError, NotImplementedError):
            raise ValueError(f"filters: column {name} of type {kind} cannot be compared with {value!r}") from None


def _checked_decimal(name: str, value: decimal.Decimal) -> decimal.Decimal:
    """A decimal that pyarrow can have.

    Raises:
        ValueError: It is none.
    """
    if not value.is_finite() or abs(value) >= decimal.Decimal(10) ** MAX_DIGITS:
        shown = str(value) if len(str(value)) <= MAX_DIGITS else f"a number of more than {MAX_DIGITS} digits"
        raise ValueError(f"filters: column {name} cannot be compared with {shown}")
    return value


def _of_pandas(value: Any) -> Any:
    """A timestamp or an interval of pandas as a scalar; other values unchanged."""
    is_moment = isinstance(value, datetime.datetime | datetime.timedelta) and hasattr(value, "to_numpy")
    # NaT is a timestamp that is not equal to itself.
    if not is_moment or value != value:
        return value
    scalar = pa.scalar(value.to_numpy())
    is_instant = getattr(value, "tzinfo", None) is not None
    return scalar.cast(pa.timestamp(scalar.type.unit, "UTC")) if is_instant else scalar


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
