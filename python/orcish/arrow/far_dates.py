"""Texts of dates and timestamps, in all the years that their types have. pyarrow has right texts of the years from
-32767 to 32767 only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.units import DIGITS

__all__ = [
    "date_text",
    "date_time_text",
    "dates_of_texts",
    "has_far_values",
    "has_odd_offsets",
    "iso_texts",
    "texts_of",
    "without_zeros",
]

_DAY_MS = 86_400_000
_MIN_DATE, _MAX_DATE = -12_687_428, 11_248_737
"""The days from the epoch of -32767-01-01 and 32767-12-31."""
_ERA, _ERA_DAYS = 400, 146_097
"""Years after which the calendar is the same, and their days."""
_DATE = re.compile(r"([+-]?)([0-9]{4,9})-([0-9]{2})-([0-9]{2})")


def has_far_values(array: pa.Array) -> bool:
    """Whether an array of dates or timestamps has values of which pyarrow has no text, or a wrong one."""
    low, high = _near(array.type)
    found = pc.min_max(_numbers(array)).as_py()
    return found["min"] is not None and not (low <= found["min"] and found["max"] < high)


def _texts_of_dates(array: pa.Array, kind: pa.DataType) -> pa.Array:
    per_day = _per_day(array.type)
    return _texts(array, kind, lambda number: date_text(number // per_day))


def _texts_of_timestamps(array: pa.Array, kind: pa.DataType) -> pa.Array:
    # Those of far instants are of UTC.
    digits, zone = DIGITS[array.type.unit], "" if array.type.tz is None else "Z"
    texts = _texts(array, kind, lambda number: f"{date_time_text(number, digits)}{zone}")
    if not has_odd_offsets(array):
        return texts
    return pc.if_else(_is_odd(array), _texts_of_timestamps(_in_utc(array), kind), texts)


def has_odd_offsets(array: pa.Array) -> bool:
    """Whether an array has instants whose texts of pyarrow are those of other instants. Texts have hours and minutes of
    an offset, and offsets of local mean time have seconds. Wall clocks beyond 64 bits are others, too.
    """
    kind = array.type
    return pa.types.is_timestamp(kind) and kind.tz not in (None, "UTC") and bool(pc.any(_is_odd(array)).as_py())


def _is_odd(array: pa.Array) -> pa.Array:
    near, minute = _without_far(array), 60 * 10 ** DIGITS[array.type.unit]
    clock, utc = (pc.cast(each, pa.int64()) for each in (pc.local_timestamp(near), near))
    offset = pc.subtract(clock, utc)
    has_seconds = pc.not_equal(pc.multiply(pc.divide(offset, minute), minute), offset)
    has_wrapped = pc.not_equal(pc.greater(offset, 0), pc.greater(clock, utc))
    return pc.fill_null(pc.or_(has_seconds, has_wrapped), False)


def _in_utc(array: pa.Array) -> pa.Array:
    return pc.cast(array, pa.timestamp(array.type.unit, "UTC"))


def texts_of(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Texts of values that are not nested, of a type of text. Those of timestamps are as those of pyarrow, with a blank
    between date and time. Those of instants whose offset has seconds are of UTC, and end in ``Z``.
    """
    if pa.types.is_date(array.type):
        return _texts_of_dates(array, kind)
    if pa.types.is_timestamp(array.type):
        return _texts_of_timestamps(array, kind)
    return array.cast(kind)


def iso_texts(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """ISO 8601 texts of dates, times and timestamps, of a type of text, without zeros at the end of fractions. Instants
    are of UTC, and end in ``Z``.
    """
    if not pa.types.is_timestamp(array.type):
        texts = texts_of(array, kind)
        return without_zeros(texts) if pa.types.is_time(array.type) else texts
    if array.type.tz is not None:
        array = _in_utc(array)
    try:
        # Most timestamps have no fractions.
        array = pc.cast(array, pa.timestamp("s", array.type.tz))
    except pa.ArrowInvalid:
        texts = without_zeros(texts_of(array, kind))
    else:
        texts = texts_of(array, kind)
    return pc.replace_substring(texts, " ", "T", max_replacements=1)


def without_zeros(texts: pa.Array) -> pa.Array:
    """Texts of times without zeros at the end of their fractions, before the letter of a zone."""
    shorter = pc.replace_substring_regex(texts, r"(\.[0-9]*?)0+(Z?)$", r"\1\2")
    return pc.replace_substring_regex(shorter, r"\.(Z?)$", r"\1")


def _per_day(kind: Any) -> int:
    """The numbers of a day."""
    if pa.types.is_timestamp(kind):
        return int(86_400 * 10 ** DIGITS[kind.unit])
    return 1 if pa.types.is_date32(kind) else _DAY_MS


def _near(kind: Any) -> tuple[int, int]:
    """The first number of which pyarrow has a text, and the first one after the last."""
    # In zones, the date may be another one.
    days = 1 if pa.types.is_timestamp(kind) and kind.tz is not None else 0
    return (_MIN_DATE + days) * _per_day(kind), (_MAX_DATE + 1 - days) * _per_day(kind)


def _numbers(array: pa.Array) -> pa.Array:
    kind = array.type
    if pa.types.is_date32(kind):
        return pc.cast(pc.cast(array, pa.int32()), pa.int64())
    return pc.cast(pc.cast(array, pa.timestamp(kind.unit)) if pa.types.is_timestamp(kind) else array, pa.int64())


def _texts(array: pa.Array, kind: pa.DataType, text_of: Callable[[int], str]) -> pa.Array:
    if not has_far_values(array):
        return pc.cast(array, kind)
    is_far = _is_far(array)
    # pyarrow raises an error for some years.
    near = pc.cast(_without_far(array), kind)
    far = pa.array(map(text_of, _numbers(array).filter(is_far).to_pylist()), kind)
    return pc.replace_with_mask(near, is_far, far)


def _is_far(array: pa.Array) -> pa.Array:
    low, high = _near(array.type)
    numbers = _numbers(array)
    return pc.fill_null(pc.or_(pc.less(numbers, low), pc.greater_equal(numbers, high)), False)


def _without_far(array: pa.Array) -> pa.Array:
    """The array with nulls in place of values of which pyarrow has no text."""
    return pc.if_else(_is_far(array), pa.scalar(None, array.type), array) if has_far_values(array) else array


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


def date_text(days: int) -> str:
    """The text of a number of days since 1970 in the proleptic Gregorian calendar.

    Years have four digits or more, and a sign before the year 0.

    >>> from orcish.arrow.far_dates import date_text
    >>> date_text(0), date_text(-719529), date_text(2932897)
    ('1970-01-01', '-0001-12-31', '10000-01-01')
    """
    import datetime

    eras, left = divmod(days, _ERA_DAYS)
    near = datetime.date(1970, 1, 1) + datetime.timedelta(left)
    year = near.year + eras * _ERA
    return f"{'-' if year < 0 else ''}{abs(year):04}{near:-%m-%d}"


def date_time_text(number: int, digits: int) -> str:
    """The text of a number of units since 1970, with a blank between date and time.

    Args:
        number: The number.
        digits: The digits of the fraction of a second that the unit has.
    """
    seconds, fraction = divmod(number, 10**digits)
    days, seconds = divmod(seconds, 86_400)
    time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{date_text(days)} {time}{f'.{fraction:0{digits}}' if digits else ''}"


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
