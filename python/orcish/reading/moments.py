"""Dates and timestamps of any year: their order, and their texts, as ISO 8601 has them."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any, Literal

import pyarrow as pa

from orcish import _native
from orcish.arrow.casting import cast_array, iso_texts
from orcish.errors import UnsupportedError
from orcish.types import ColumnStatistics

__all__ = ["Moment", "arrow_text", "bound", "timestamp_text"]

_EPOCH = datetime.date(1970, 1, 1)


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
            return _native.date_text(self.number)
        return timestamp_text(self.number, is_instant=self.kind == "instant")


def bound(found: ColumnStatistics, name: Literal["min", "max"], column_type: str = "") -> Any:
    """A bound of statistics in the order of the values, with all digits: a :class:`Moment` of dates and timestamps. Of
    columns of type ``float``, whose statistics are doubles, it has the digits of the values.
    """
    value = getattr(found, name)
    if column_type == "float" and isinstance(value, float):
        # 0.1, and not 0.10000000149011612.
        return float(pa.scalar(value, pa.float32()).cast(pa.string()).as_py())
    if value is None or found.kind not in ("date", "timestamp"):
        return value
    if found.kind == "date":
        return Moment("date", (value - _EPOCH).days if isinstance(value, datetime.date) else value)
    return Moment("instant" if found.is_instant else "timestamp", getattr(found, f"{name}_nanoseconds"))


def timestamp_text(nanoseconds: int, *, is_instant: bool) -> str:
    """The text of a number of nanoseconds since 1970, without zeros at the end of the fraction. An instant ends in
    ``Z``.

    >>> from orcish.reading.moments import timestamp_text
    >>> timestamp_text(1_500_000_000_000_000_120, is_instant=True)
    '2017-07-14T02:40:00.00000012Z'
    """
    text = _native.timestamp_text(*divmod(nanoseconds, 10**9))
    return f"{text}{'Z' if is_instant else ''}"


def arrow_text(one: Any) -> str:
    """The text of the one value of an array without values in its values, for types of which Python has no object."""
    if pa.types.is_date(one.type) or pa.types.is_timestamp(one.type):
        return str(iso_texts(one, pa.string())[0].as_py())
    try:
        return str(cast_array(one, pa.string())[0].as_py())
    except UnsupportedError:
        return str(one[0])
