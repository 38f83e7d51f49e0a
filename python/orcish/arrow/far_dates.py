"""Texts of dates and timestamps, in all the years that their types have. pyarrow has texts of the years from -32767 to
32767 only.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["dates_of_texts", "has_far_values", "texts_of_dates", "texts_of_timestamps"]

_OUT_OF_RANGE = "<value out of range: "
_DAY_MS = 86_400_000
_MIN_DATE, _MAX_DATE = -12_687_428, 11_248_737
"""The days from the epoch of -32767-01-01 and 32767-12-31."""
_ERA, _ERA_DAYS = 400, 146_097
"""Years after which the calendar is the same, and their days."""
_UNITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_DATE = re.compile(r"([+-]?)([0-9]{4,9})-([0-9]{2})-([0-9]{2})")


def has_far_values(array: pa.Array) -> bool:
    """Whether an array of dates or timestamps has values of which pyarrow has no text."""
    kind = array.type
    if pa.types.is_date32(kind):
        numbers, per_day = pc.cast(array, pa.int32()), 1
    elif pa.types.is_date64(kind):
        numbers, per_day = pc.cast(array, pa.int64()), _DAY_MS
    else:
        numbers, per_day = (
            pc.cast(pc.cast(array, pa.timestamp(kind.unit)), pa.int64()),
            86_400 * 10 ** _UNITS[kind.unit],
        )
        if per_day * _MAX_DATE > 2**63:
            return False
        numbers = pc.cast(pc.cast(array, pa.timestamp(kind.unit)), pa.int64())
    found = pc.min_max(numbers).as_py()
    return found["min"] is not None and not (
        _MIN_DATE * per_day <= found["min"] and found["max"] < (_MAX_DATE + 1) * per_day
    )


def texts_of_dates(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """ISO 8601 texts of dates, of a type of text."""
    texts = pc.cast(array, kind)
    if not has_far_values(array):
        return texts
    scale = 1 if pa.types.is_date32(array.type) else _DAY_MS
    return _replaced(texts, kind, lambda number: _date(number // scale))


def texts_of_timestamps(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Texts of timestamps as those of pyarrow, with a blank between date and time, of a type of text. Those of far
    instants are of UTC.
    """
    texts = pc.cast(array, kind)
    if not has_far_values(array):
        return texts
    unit, zone = array.type.unit, "" if array.type.tz is None else "Z"
    return _replaced(texts, kind, lambda number: f"{_timestamp(number, _UNITS[unit])}{zone}")


def dates_of_texts(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Dates of ISO 8601 texts.

    Raises:
        ArrowInvalid: A text is none.
    """
    try:
        return array.cast(kind)
    except pa.ArrowInvalid:
        # pyarrow parses years of four digits only.
        days = pa.array([None if text is None else _days(text) for text in array.to_pylist()], pa.int32())
        return days.cast(pa.date32()).cast(kind)


def _replaced(texts: pa.Array, kind: pa.DataType, text_of: Callable[[int], str]) -> pa.Array:
    found = [
        text_of(int(text[len(_OUT_OF_RANGE) : -1])) if text is not None and text.startswith(_OUT_OF_RANGE) else text
        for text in texts.to_pylist()
    ]
    return pa.array(found, kind)


def _date(days: int) -> str:
    """The date of a number of days from the epoch, in the proleptic Gregorian calendar."""
    import datetime

    eras, left = divmod(days, _ERA_DAYS)
    near = datetime.date(1970, 1, 1) + datetime.timedelta(left)
    year = near.year + eras * _ERA
    return f"{'-' if year < 0 else ''}{abs(year):04}{near:-%m-%d}"


def _timestamp(number: int, digits: int) -> str:
    seconds, fraction = divmod(number, 10**digits)
    days, seconds = divmod(seconds, 86_400)
    time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{_date(days)} {time}{f'.{fraction:0{digits}}' if digits else ''}"


def _days(text: str) -> int:
    import datetime

    found = _DATE.fullmatch(text)
    if found is not None:
        year = int(found[2]) * (-1 if found[1] == "-" else 1)
        eras, near = divmod(year - 1970, _ERA)
        try:
            day = datetime.date(1970 + near, int(found[3]), int(found[4]))
        except ValueError:
            found = None
        else:
            days = (day - datetime.date(1970, 1, 1)).days + eras * _ERA_DAYS
            if -(2**31) <= days < 2**31:
                return days
    raise pa.ArrowInvalid(f"{text[:40]!r} is no date, such as 2026-01-31")
