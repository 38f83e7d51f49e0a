"""Texts of dates and timestamps of any year."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["time_texts"]

PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
DAY = 86_400
FAR_DAYS = 10_000_000
"""Days from 1970 within which years are those of Arrow's texts."""
FAR = FAR_DAYS * DAY
ERA_DAYS, ERA_YEARS = 146_097, 400
"""The Gregorian calendar repeats."""
BEFORE_1970 = 719_468
"""Days from 0000-03-01 to 1970-01-01."""


def time_texts(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Dates or timestamps as texts of a type, such as ``2026-01-02 03:04:05.600000Z``.

    Arrow has none, or that of another year, for years before -32767 and after 32767.
    """
    if pa.types.is_date64(array.type):
        return pc.cast(array, kind)
    numbers = array.view(pa.int32() if pa.types.is_date32(array.type) else pa.int64())
    bound = FAR * PER_SECOND[array.type.unit] if pa.types.is_timestamp(array.type) else FAR_DAYS
    found = pc.min_max(numbers)
    low, high = found["min"].as_py(), found["max"].as_py()
    texts = pc.cast(array, kind)
    if low is None or (low >= -bound and high <= bound):
        return texts
    return pa.array(
        [
            text if number is None or -bound <= number <= bound else _text(number, array.type)
            for text, number in zip(texts.to_pylist(), numbers.to_pylist(), strict=True)
        ],
        kind,
    )


def _text(number: int, kind: pa.DataType) -> str:
    if pa.types.is_date(kind):
        return _date(number)
    scale = PER_SECOND[kind.unit]
    seconds, fraction = divmod(number, scale)
    days, second = divmod(seconds, DAY)
    time = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
    digits = f".{fraction:0{len(str(scale)) - 1}}" if scale > 1 else ""
    return f"{_date(days)} {time}{digits}{'Z' if kind.tz else ''}"


def _date(days: int) -> str:
    """The date of a number of days since 1970, in the proleptic Gregorian calendar."""
    era, day = divmod(days + BEFORE_1970, ERA_DAYS)
    year = (day - day // 1_460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    # Years begin in March.
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5 - 1
    year += era * ERA_YEARS + (month >= 10)
    month = month + 3 if month < 10 else month - 9
    return f"{'-' if year < 0 else ''}{abs(year):04}-{month:02}-{day:02}"
