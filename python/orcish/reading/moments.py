"""Dates and timestamps of any year: their order, and their texts, as ISO 8601 has them."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any, Literal

import pyarrow as pa

from orcish.types import ColumnStatistics

__all__ = ["Moment", "arrow_text", "bound", "date_text", "timestamp_text"]

_EPOCH = datetime.date(1970, 1, 1)
_SECOND = 1_000_000_000
_DAY = 86_400
_UNITS = {"s": _SECOND, "ms": 1_000_000, "us": 1_000, "ns": 1}
_CYCLE = 146_097
"""Days of 400 years."""
_MARCH = 719_468
"""Days from March 1 of the year 0 to 1970."""


@dataclasses.dataclass(frozen=True)
class Moment:
    """A date, a wall clock or an instant of any year. Those of one kind have an order."""

    kind: Literal["date", "timestamp", "instant"]
    number: int
    """Days, or nanoseconds, since 1970."""

    def __lt__(self, other: Moment) -> bool:
        if not isinstance(other, Moment) or self.kind != other.kind:
            return NotImplemented
        return self.number < other.number

    @property
    def text(self) -> str:
        """The text of ISO 8601."""
        if self.kind == "date":
            return date_text(self.number)
        return timestamp_text(self.number, is_instant=self.kind == "instant")


def bound(found: ColumnStatistics, name: Literal["min", "max"]) -> Any:
    """A bound of statistics in the order of the values, with all digits: a :class:`Moment` of dates and timestamps."""
    value = getattr(found, name)
    if value is None or found.kind not in ("date", "timestamp"):
        return value
    if found.kind == "date":
        return Moment("date", (value - _EPOCH).days if isinstance(value, datetime.date) else value)
    return Moment("instant" if found.is_instant else "timestamp", getattr(found, f"{name}_nanoseconds"))


def date_text(days: int) -> str:
    """The text of a number of days since 1970 in the proleptic Gregorian calendar.

    Years have four digits or more, and a sign before the year 0.

    >>> from orcish.reading.moments import date_text
    >>> date_text(0), date_text(-719529), date_text(2932897)
    ('1970-01-01', '-0001-12-31', '10000-01-01')
    """
    cycle, day = divmod(days + _MARCH, _CYCLE)
    year = (day - day // 1460 + day // 36_524 - day // (_CYCLE - 1)) // 365
    day -= 365 * year + year // 4 - year // 100
    # Years begin in March here.
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5
    month += 3
    year += 400 * cycle
    if month > 12:
        year, month = year + 1, month - 12
    return f"{'-' if year < 0 else ''}{abs(year):04}-{month:02}-{day + 1:02}"


def timestamp_text(nanoseconds: int, *, is_instant: bool) -> str:
    """The text of a number of nanoseconds since 1970, without zeros at the end of the fraction. An instant ends in
    ``Z``.

    >>> from orcish.reading.moments import timestamp_text
    >>> timestamp_text(1_500_000_000_000_000_120, is_instant=True)
    '2017-07-14T02:40:00.00000012Z'
    """
    seconds, fraction = divmod(nanoseconds, _SECOND)
    days, second = divmod(seconds, _DAY)
    digits = f".{fraction:09}".rstrip("0").removesuffix(".")
    time = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}{digits}"
    return f"{date_text(days)}T{time}{'Z' if is_instant else ''}"


def arrow_text(one: Any) -> str:
    """The text of the one value of an array without values in its values, for types of which Python has no object."""
    kind = one.type
    if pa.types.is_date32(kind):
        return date_text(one.view(pa.int32())[0].as_py())
    if pa.types.is_date64(kind):
        return date_text(one.view(pa.int64())[0].as_py() // (1000 * _DAY))
    if pa.types.is_timestamp(kind):
        ticks = one.view(pa.int64())[0].as_py()
        return timestamp_text(ticks * _UNITS[kind.unit], is_instant=kind.tz is not None)
    try:
        return str(one.cast(pa.string())[0].as_py())
    except pa.ArrowException:
        return str(one[0])
