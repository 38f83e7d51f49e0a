"""Columns that are the names of folders, such as ``dt=2026-01-01``, with the types that Spark gives them."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812

from orcish.sources import TableFile

__all__ = ["folder_texts", "is_text_in_folders", "partition_types", "scanned_as"]

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,9})?")
# As Java reads it: with blanks around it, and the letter of a type.
_REAL = re.compile(rf"\s*([+-]?(NaN|Infinity)|{_NUMBER.pattern}[dDfF]?)\s*")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9])?")
MAX_DIGITS = 38
"""Of a decimal."""
DIGITS = {"int": 10, "long": 20}
"""Digits of the decimals that whole numbers become beside larger ones."""


def partition_types(files: Sequence[TableFile]) -> dict[str, T.DataType]:
    """The type of each partition column by all its values, in their order: as Spark infers them."""
    values: dict[str, set[str]] = {}
    for file in files:
        for name, value in file.partition:
            values.setdefault(name, set()).update(() if value is None else (value,))
    return {name: _type(found) for name, found in values.items()}


def _type(values: set[str]) -> T.DataType:
    kinds = {_kind(value) for value in values}
    digits = max((_digits(value) for value in values if _kind(value) == "decimal"), default=0)
    if kinds == {"int"}:
        return T.IntegerType()
    if kinds and kinds <= {"int", "long"}:
        return T.LongType()
    if kinds and kinds <= {"int", "long", "decimal"}:
        return T.DecimalType(max(digits, *(DIGITS.get(kind, 0) for kind in kinds)), 0)
    if kinds and kinds <= {"int", "double"}:
        return T.DoubleType()
    if kinds == {"date"}:
        return T.DateType()
    if kinds and kinds <= {"date", "timestamp"}:
        return T.TimestampType()
    return T.StringType()


def _kind(value: str) -> str:
    if _INTEGER.fullmatch(value) and len(value) <= MAX_DIGITS:
        number = abs(int(value) + (int(value) < 0))
        if number < 1 << 63:
            return "int" if number < 1 << 31 else "long"
    if _digits(value) <= MAX_DIGITS:
        return "decimal"
    if _REAL.fullmatch(value):
        return "double"
    if _DATE.fullmatch(value) and _is_time(value):
        return "date"
    if _TIMESTAMP.fullmatch(value) and _is_time(value[:19]):
        return "timestamp"
    return "string"


def _digits(value: str) -> int:
    """Digits of a whole number, however it is written; more than any decimal has of others."""
    if _NUMBER.fullmatch(value):
        number = decimal.Decimal(value).as_tuple()
        if isinstance(number.exponent, int) and number.exponent >= 0:
            return len(number.digits) + number.exponent
    return MAX_DIGITS + 1


def _is_time(value: str) -> bool:
    try:
        datetime.datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def scanned_as(kind: pa.DataType) -> pa.DataType:
    """The type with which a scan knows a partition column: a whole number, boolean or date, and text for all others."""
    is_known = pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date32(kind)
    return kind if is_known else pa.string()


def is_text_in_folders(kind: pa.DataType) -> bool:
    """Whether values of a type are named by Spark in a way of its own."""
    return bool(pa.types.is_floating(kind) or pa.types.is_timestamp(kind))


def folder_texts(column: pa.Array) -> pa.Array:
    """Floating point numbers and wall clocks as Spark has them in the names of folders."""
    encoded = column.dictionary_encode()
    of = _clock if pa.types.is_timestamp(column.type) else _number
    texts = [of(text) for text in encoded.dictionary.cast(pa.string()).to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)


def _clock(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _number(text: str) -> str:
    """As Java writes it."""
    if text in _NO_NUMBERS:
        return _NO_NUMBERS[text]
    number = decimal.Decimal(text)
    power = number.adjusted()
    if number == 0 or -3 <= power < 7:
        plain = f"{number:f}"
        return plain if "." in plain else f"{plain}.0"
    digits = "".join(map(str, number.as_tuple().digits)).rstrip("0")
    return f"{'-' if number < 0 else ''}{digits[0]}.{digits[1:] or '0'}E{power}"


_NO_NUMBERS = {"nan": "NaN", "-nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
