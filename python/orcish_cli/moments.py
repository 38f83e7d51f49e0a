"""Bounds of statistics in the order of the values: dates and timestamps of any year."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any, Literal

from orcish import _native
from orcish.types import ColumnStatistics

__all__ = ["Moment", "bound"]

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
        """The text of ISO 8601, without zeros at the end of a fraction. An instant ends in ``Z``."""
        if self.kind == "date":
            return _native.date_text(self.number)
        text = _native.timestamp_text(*divmod(self.number, 10**9))
        return f"{text}{'Z' if self.kind == 'instant' else ''}"


def bound(found: ColumnStatistics, name: Literal["min", "max"], column_type: str = "") -> Any:
    """A bound of statistics in the order of the values, with all digits: a :class:`Moment` of dates and timestamps. Of
    columns of type ``float``, whose statistics are doubles, it has the digits of the values.
    """
    value = getattr(found, name)
    if column_type == "float" and isinstance(value, float):
        # Importing pyarrow takes time.
        import pyarrow as pa

        # 0.1, and not 0.10000000149011612.
        return float(pa.scalar(value, pa.float32()).cast(pa.string()).as_py())
    if value is None or found.kind not in ("date", "timestamp"):
        return value
    if found.kind == "date":
        return Moment("date", (value - _EPOCH).days if isinstance(value, datetime.date) else value)
    return Moment("instant" if found.is_instant else "timestamp", getattr(found, f"{name}_nanoseconds"))
