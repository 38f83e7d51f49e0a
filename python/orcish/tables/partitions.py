"""Partition columns: inference of their types, and their values, with the rules of Spark."""

from __future__ import annotations

import decimal
import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from orcish.filters.literals import days_since_epoch
from orcish.io.files import TableFile

__all__ = ["parse_partition_values", "partition_schema", "partition_values", "scan_type"]

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,9})?")
# In the syntax of Java: with surrounding blanks, and a type suffix.
_REAL = re.compile(rf"\s*([+-]?(NaN|Infinity)|{_NUMBER.pattern}[dDfF]?)\s*")
# Years beyond 9999 have a sign.
_DATE = re.compile(r"([0-9]{4}|\+[0-9]{5,6}|-[0-9]{4,6})-([0-9]{2})-([0-9]{2})")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?")
_INTERVAL = re.compile(r"INTERVAL '([+-]?)([0-9. :]+)' (DAY|HOUR|MINUTE|SECOND)(?: TO (?:HOUR|MINUTE|SECOND))?")
_SECONDS = {"DAY": 86_400, "HOUR": 3_600, "MINUTE": 60, "SECOND": 1}
MAX_DIGITS = 38
"""Maximum digits of a decimal."""
DIGITS = {"int": 10, "long": 20}
"""Digits of the decimal type that integers are widened to."""


def partition_schema(files: Sequence[TableFile]) -> pa.Schema:
    """The partition columns, with the types that Spark infers from all values."""
    return pa.schema([(name, _type(found)) for name, found in partition_values(files).items()])


def partition_values(files: Sequence[TableFile]) -> dict[str, set[str]]:
    """The distinct values of each partition column, as strings."""
    values: dict[str, set[str]] = {}
    for file in files:
        for name, value in file.partition:
            values.setdefault(name, set()).update(() if value is None else (value,))
    return values


def _type(values: set[str]) -> pa.DataType:
    kinds = {_kind(value) for value in values}
    digits = max((_digits(value) for value in values if _kind(value) == "decimal"), default=0)
    if kinds == {"int"}:
        return pa.int32()
    if kinds and kinds <= {"int", "long"}:
        return pa.int64()
    if kinds and kinds <= {"int", "long", "decimal"}:
        return pa.decimal128(max(digits, *(DIGITS.get(kind, 0) for kind in kinds)), 0)
    if kinds and kinds <= {"int", "double"}:
        return pa.float64()
    if kinds == {"date"}:
        return pa.date32()
    if kinds and kinds <= {"date", "timestamp"}:
        return pa.timestamp("us", "UTC")
    return pa.string()


def _kind(value: str) -> str:
    if _INTEGER.fullmatch(value) and len(value) <= MAX_DIGITS:
        number = abs(int(value) + (int(value) < 0))
        if number < 1 << 63:
            return "int" if number < 1 << 31 else "long"
    if _digits(value) <= MAX_DIGITS:
        return "decimal"
    if _REAL.fullmatch(value):
        return "double"
    if _day(value) is not None:
        return "date"
    # Spark infers strings for more fractional digits.
    if _clock(value) is not None and len(value.partition(".")[2]) <= 1:
        return "timestamp"
    return "string"


def _digits(value: str) -> int:
    """Number of digits of an integer in any notation; more than the maximum for other numbers."""
    if _NUMBER.fullmatch(value):
        number = decimal.Decimal(value).as_tuple()
        if isinstance(number.exponent, int) and number.exponent >= 0:
            return len(number.digits) + number.exponent
    return MAX_DIGITS + 1


def _day(text: str) -> int | None:
    """Days since 1970."""
    found = _DATE.fullmatch(text)
    try:
        return None if found is None else days_since_epoch(*map(int, found.groups()))
    except ValueError:
        return None


def _time(text: str) -> int | None:
    """Nanoseconds since midnight."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    hour, minute, second = (int(part) for part in found.groups()[:3])
    if hour > 23 or minute > 59 or second > 59:
        return None
    return ((hour * 60 + minute) * 60 + second) * 10**9 + int((found[4] or "").ljust(9, "0"))


def _clock(text: str) -> int | None:
    """Microseconds since 1970 of a wall clock time."""
    date, sign, time = text.partition(" ")
    day, nanoseconds = _day(date), _time(time)
    return None if not sign or day is None or nanoseconds is None else day * 86_400_000_000 + nanoseconds // 1_000


def _interval(text: str) -> int | None:
    """Microseconds of an interval."""
    found = _INTERVAL.fullmatch(text)
    if found is None:
        return None
    unit, total = _SECONDS[found[3]], decimal.Decimal(0)
    try:
        for part in re.split("[ :]", found[2]):
            total += decimal.Decimal(part) * unit
            unit = unit // 24 if unit == _SECONDS["DAY"] else unit // 60
    except decimal.InvalidOperation:
        return None
    return int(total * 10**6) * (-1 if found[1] == "-" else 1)


def parse_partition_values(texts: pa.Array, to: pa.DataType) -> pa.Array:
    """Parses the values of a partition column as Spark does; timestamps are wall clock times.

    Raises:
        pa.ArrowInvalid: A string is no value of the type.
    """
    kind = pa.timestamp("us") if pa.types.is_timestamp(to) else to
    encoded = texts.dictionary_encode()
    return pa.array([_value(text, kind) for text in encoded.dictionary.to_pylist()], kind).take(encoded.indices)


def _value(text: str, kind: Any) -> Any:
    found: Any = None
    if pa.types.is_floating(kind):
        found = float(text.strip().rstrip("dDfF")) if _REAL.fullmatch(text) else None
        if found is None:
            raise pa.ArrowInvalid(f"{text!r} is no {kind}")
    elif pa.types.is_decimal(kind):
        # The decimal module parses exponents.
        found = decimal.Decimal(text.strip()) if _NUMBER.fullmatch(text.strip()) else None
        text = text if found is None else f"{found:f}"
    elif pa.types.is_timestamp(kind):
        found = _clock(text if " " in text else f"{text} 00:00:00")
    elif pa.types.is_time64(kind):
        found = _time(text)
    elif pa.types.is_duration(kind):
        found = _interval(text)
    if found is not None and not pa.types.is_decimal(kind):
        return found
    return pa.scalar(text).cast(kind)


def scan_type(kind: pa.DataType) -> pa.DataType:
    """The type of a partition column in the scan: integers, booleans and dates are parsed there, others are strings."""
    is_known = pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date32(kind)
    return kind if is_known else pa.string()
