"""Literals of predicates: tagged tuples, made of Python, numpy, pandas and pyarrow values."""

from __future__ import annotations

import datetime
import decimal
import math
import sys
from collections.abc import Iterable
from typing import Any, TypeAlias

import pyarrow as pa

from orcish.arrow.nested import NANOSECONDS

__all__ = ["Literal", "days_since_epoch", "literal", "literals", "quote", "to_sql"]

Literal: TypeAlias = "tuple[Any, ...]"
"""``("null",)``, or a kind and a value: bool, int, float, decimal (as text), string, binary, date (days since 1970),
timestamp (nanoseconds since 1970, and whether it is an instant rather than a wall clock time)."""

_DAY = 86_400 * 10**9
_EPOCH = datetime.date(1970, 1, 1).toordinal()
# ORC's decimals have 38 digits. Longer literals are possible, but an exponent must not make them arbitrarily long.
_MAX_DIGITS = 1_000

_NUMPY_NANOSECONDS = {**NANOSECONDS, "h": 3_600 * 10**9, "m": 60 * 10**9}
_NUMPY_FRACTIONS = {"ps": 10**3, "fs": 10**6, "as": 10**9}


def literal(value: object) -> Literal:
    """The literal of a Python, numpy, pandas or pyarrow value.

    Raises:
        TypeError: Values of this type cannot be literals.
        ValueError: This value cannot be a literal, such as a decimal that is NaN.
    """
    if isinstance(value, pa.Scalar):
        return _arrow(value)
    found = _numpy_or_pandas(value)
    return _python(value) if found is None else found


_TAGS: dict[type, str] = {bool: "bool", int: "int", float: "float", str: "string", bytes: "binary"}
"""Tags of the types whose values are literals without conversion."""


def literals(values: Iterable[object]) -> list[Literal]:
    """The literals of values, of which there may be a million.

    Raises:
        As :func:`literal`.
    """
    if isinstance(values, pa.Array | pa.ChunkedArray) and _is_plain(values.type):
        values = values.to_pylist()
    elif (numpy := sys.modules.get("numpy")) is not None and isinstance(values, numpy.ndarray):
        values = values.tolist() if values.dtype.kind in "biuf" and values.itemsize <= 8 else values
    return [(tag, value) if (tag := _TAGS.get(type(value))) else literal(value) for value in values]


def _python(value: object) -> Literal:
    # Instances of subclasses, such as enums, become plain values.
    if value is None:
        return ("null",)
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, int):
        return ("int", int(value))
    if isinstance(value, float):
        return ("float", float(value))
    if isinstance(value, decimal.Decimal):
        return ("decimal", _decimal(value))
    if isinstance(value, str):
        return ("string", str.__str__(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return ("binary", bytes(value))
    if isinstance(value, datetime.datetime):
        return _datetime(value)
    if isinstance(value, datetime.date):
        return ("date", value.toordinal() - _EPOCH)
    advice = ""
    if isinstance(value, datetime.time | datetime.timedelta):
        advice = ": columns of times and durations are compared after the read, with pyarrow.compute"
    raise TypeError(f"a predicate cannot compare with a value of type {_type_name(value)}{advice}")


def _type_name(value: object) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _decimal(value: decimal.Decimal) -> str:
    if not value.is_finite():
        raise ValueError(f"a predicate cannot compare with Decimal('{value}')")
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and abs(exponent) > _MAX_DIGITS:
        raise ValueError(f"a predicate cannot compare with a decimal of exponent {exponent}")
    shown = format(value, "f")
    return shown if value else shown.removeprefix("-")


def _datetime(value: datetime.datetime) -> Literal:
    offset = value.utcoffset()
    # In UTC, the value may be out of range for `datetime`.
    since = value.replace(tzinfo=None) - datetime.datetime(1970, 1, 1) - (offset or datetime.timedelta())
    return ("timestamp", since // datetime.timedelta(microseconds=1) * 1_000, offset is not None)


# numpy and pandas are not imported: where they are not loaded, no value can be theirs.


def _numpy_or_pandas(value: object) -> Literal | None:
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        if value is pandas.NaT or value is pandas.NA:
            return ("null",)
        if isinstance(value, pandas.Timestamp):
            return _numpy_datetime(value.asm8, instant=value.tzinfo is not None)
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.generic):
        return None
    if isinstance(value, numpy.datetime64):
        return _numpy_datetime(value, instant=False)
    if isinstance(value, numpy.bool_ | numpy.integer | numpy.str_ | numpy.bytes_):
        # numpy's timedelta64 is a subclass of its integers.
        return None if isinstance(value, numpy.timedelta64) else _python(value.item())
    if isinstance(value, numpy.floating) and value.itemsize <= 8:
        return ("float", float(value))
    return None


def _numpy_datetime(value: Any, *, instant: bool) -> Literal:
    numpy = sys.modules["numpy"]
    if numpy.isnat(value):
        return ("null",)
    unit, count = numpy.datetime_data(value.dtype)
    if unit in ("Y", "M", "W", "D"):
        return ("date", int(value.astype("datetime64[D]").astype("int64")))
    ticks = int(value.astype("int64")) * count
    if unit in _NUMPY_NANOSECONDS:
        return ("timestamp", ticks * _NUMPY_NANOSECONDS[unit], instant)
    nanoseconds, rest = divmod(ticks, _NUMPY_FRACTIONS[unit])
    if rest:
        raise ValueError(f"a predicate cannot compare with {value}, which is finer than a nanosecond")
    return ("timestamp", nanoseconds, instant)


def _arrow(value: Any) -> Literal:
    kind = value.type
    if not value.is_valid:
        return ("null",)
    if pa.types.is_dictionary(kind):
        return _arrow(value.dictionary[value.index.as_py()])
    if pa.types.is_timestamp(kind):
        return ("timestamp", value.value * NANOSECONDS[kind.unit], kind.tz is not None)
    if pa.types.is_date32(kind):
        return ("date", value.value)
    if pa.types.is_date64(kind):
        days, rest = divmod(value.value, 86_400_000)
        if rest:
            raise ValueError(f"a predicate cannot compare with a date64 that is no whole day: {value.value}")
        return ("date", days)
    if pa.types.is_float16(kind):
        return ("float", float(value.as_py()))
    if _is_plain(kind):
        return _python(value.as_py())
    raise TypeError(f"a predicate cannot compare with a value of Arrow type {kind}")


def _is_plain(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_binary_view(kind)
        or types.is_fixed_size_binary(kind)
    )


def to_sql(value: Literal) -> str:
    """The literal as SQL, on one line; :func:`orcish.filters.text.parse` reads it back.

    Numbers have the types of the SQL standard: floats have an exponent, decimals a point. Unprintable characters in
    strings are escaped as in Spark.
    """
    kind = value[0]
    if kind == "null":
        return "null"
    if kind == "bool":
        return "true" if value[1] else "false"
    if kind == "float":
        return _float(value[1])
    if kind == "decimal":
        return str(value[1]) if "." in value[1] else f"{value[1]}."
    if kind == "string":
        return quote(value[1], "'")
    if kind == "binary":
        return f"x'{value[1].hex()}'"
    if kind == "date":
        return f"date '{_day(value[1])}'"
    if kind == "timestamp":
        return f"timestamp '{_timestamp(value[1])}{'Z' if value[2] else ''}'"
    return str(value[1])


def quote(value: str, mark: str) -> str:
    """Quotes text: quotes are doubled, backslashes and unprintable characters are escaped as in Spark."""
    if not value.isprintable() or "\\" in value:
        value = "".join(map(_escaped, value))
    return mark + value.replace(mark, mark * 2) + mark


_ESCAPES = {"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"}


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def _float(value: float) -> str:
    if math.isfinite(value):
        shown = repr(value)
        return shown if "e" in shown else f"{shown}e0"
    return "double('NaN')" if math.isnan(value) else f"double('{'-' if value < 0 else ''}Infinity')"


# Python's dates have the years 1 to 9999. Other years are shifted by whole cycles of the calendar, of 400 years each.
_CYCLE = 146_097


def days_since_epoch(year: int, month: int, day: int) -> int:
    """Days since 1970 of a date in any year; year 0 is the year before 1.

    Raises:
        ValueError: The calendar does not have the day.
    """
    cycles, rest = divmod(year - 1, 400)
    return datetime.date(rest + 1, month, day).toordinal() - _EPOCH + cycles * _CYCLE


def _day(days: int) -> str:
    cycles, rest = divmod(days + _EPOCH - 1, _CYCLE)
    date = datetime.date.fromordinal(rest + 1)
    year = date.year + 400 * cycles
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04}-{date.month:02}-{date.day:02}"


def _timestamp(nanoseconds: int) -> str:
    days, rest = divmod(nanoseconds, _DAY)
    seconds, fraction = divmod(rest, 10**9)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{_day(days)} {clock}" + (f".{fraction:09}".rstrip("0") if fraction else "")
