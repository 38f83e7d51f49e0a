"""Names of partition folders, as Spark gives them."""

from __future__ import annotations

import decimal
import struct
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812

from orcish.errors import UnsupportedError
from orcish.filters import literals
from orcish.spark.types.timezones import wall_clock

__all__ = ["check_partition_type", "is_named_as_text", "partition_names"]

_UNITS = (86_400, 3_600, 60, 1)
"""Seconds of a day, hour, minute and second."""
_WORDS = ("DAY", "HOUR", "MINUTE", "SECOND")
_NAMED = (
    T.FractionalType,
    T.DateType,
    T.TimestampType,
    T.TimestampNTZType,
    T.DayTimeIntervalType,
)


def check_partition_type(name: str, kind: T.DataType) -> None:
    """Raises UnsupportedError for types that cannot be partition columns."""
    if isinstance(kind, T.BinaryType):
        # Spark replaces invalid UTF-8, which would change values.
        raise UnsupportedError(f"partitionBy: column {name!r} is binary, and names are text: cast it to string")
    if isinstance(kind, T.StructType | T.ArrayType | T.MapType | T.NullType) or kind.typeName() == "variant":
        raise UnsupportedError(f"partitionBy: column {name!r} is {kind.simpleString()}, which names no folder")


def is_named_as_text(kind: T.DataType) -> bool:
    """Whether Spark formats values of a type in its own way."""
    return isinstance(kind, _NAMED) or type(kind).__name__ == "TimeType"


def partition_names(column: pa.Array, kind: T.DataType, zone: str) -> pa.Array:
    """Values as strings with the format of Spark's casts, which are the names of folders.

    Args:
        column: The values, in Spark's Arrow type.
        kind: Type of the column.
        zone: Time zone of the session, in which instants are formatted.
    """
    encoded = column.dictionary_encode()
    values: pa.Array = encoded.dictionary
    of: Callable[[Any], str]
    if isinstance(kind, T.DecimalType):
        texts = [f"{value:f}" for value in values.to_pylist()]
        return pa.array(texts, pa.string()).take(encoded.indices)
    if isinstance(kind, T.FractionalType):
        texts = [
            _number(value, pa.types.is_float32(values.type))
            for value in zip(values.cast(pa.string()).to_pylist(), values.cast(pa.float64()).to_pylist(), strict=True)
        ]
        return pa.array(texts, pa.string()).take(encoded.indices)
    if isinstance(kind, T.TimestampType):
        values = wall_clock(values, zone)
    if isinstance(kind, T.DateType):
        of, values = _date, values.view(pa.int32())
    elif isinstance(kind, T.TimestampType | T.TimestampNTZType):
        of, values = _clock, values.cast(pa.timestamp("us")).view(pa.int64())
    elif isinstance(kind, T.DayTimeIntervalType):
        of, values = _Interval(kind), values.cast(pa.duration("us")).view(pa.int64())
    else:
        of, values = _time, values.cast(pa.time64("ns")).view(pa.int64())
    return pa.array([of(value) for value in values.to_pylist()], pa.string()).take(encoded.indices)


def _date(days: int) -> str:
    return literals.to_sql(("date", days)).split("'")[1]


def _clock(microseconds: int) -> str:
    return literals.to_sql(("timestamp", microseconds * 1_000, False)).split("'")[1]


def _time(nanoseconds: int) -> str:
    return _clock(nanoseconds // 1_000).partition(" ")[2]


class _Interval:
    """Formats intervals: ``INTERVAL '1 02:03:04.5' DAY TO SECOND``."""

    def __init__(self, kind: T.DayTimeIntervalType) -> None:
        start, end = int(kind.startField), int(kind.endField)
        self._units = _UNITS[start : end + 1]
        self._first, self._last = start, end
        self._words = _WORDS[start] if start == end else f"{_WORDS[start]} TO {_WORDS[end]}"

    def __call__(self, microseconds: int) -> str:
        rest = abs(microseconds)
        text = ""
        for at, unit in enumerate(self._units):
            count, rest = divmod(rest, unit * 10**6)
            # The first unit is not padded if it is days.
            digits = str(count) if at == 0 and self._first == 0 else f"{count:02}"
            text += ("" if at == 0 else " " if at == 1 and self._first == 0 else ":") + digits
        if self._last == _WORDS.index("SECOND") and rest:
            text += f".{rest:06}".rstrip("0")
        return f"INTERVAL '{'-' if microseconds < 0 else ''}{text}' {self._words}"


def _number(value: tuple[str, float], is_single: bool) -> str:
    """Formats a float like Java: with at least two digits, which are the nearest ones."""
    text, exact = value
    if text in _NO_NUMBERS:
        return _NO_NUMBERS[text]
    number = decimal.Decimal(text)
    if len(number.normalize().as_tuple().digits) == 1 and exact:
        nearest = f"{exact:.1e}"
        same = struct.unpack("f", struct.pack("f", float(nearest)))[0] if is_single else float(nearest)
        if same == exact:
            number = decimal.Decimal(nearest).normalize()
    power = number.adjusted()
    if number == 0 or -3 <= power < 7:
        plain = f"{number:f}"
        return plain if "." in plain else f"{plain}.0"
    digits = "".join(map(str, number.as_tuple().digits)).rstrip("0")
    return f"{'-' if number < 0 else ''}{digits[0]}.{digits[1:] or '0'}E{power}"


_NO_NUMBERS = {"nan": "NaN", "-nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
