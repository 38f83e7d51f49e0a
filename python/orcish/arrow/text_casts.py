"""Casts of texts that keep all digits."""

from __future__ import annotations

import decimal
import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.far_dates import dates_of_texts, without_zeros
from orcish.arrow.units import DIGITS

__all__ = ["cast_texts"]

_DIGITS = {16: (3, 5), 32: (6, 9), 64: (15, 17)}
"""The decimal digits that floating point numbers of so many bits keep, and those that distinguish them all."""
_LEAST_NORMAL = {16: 2.0**-14, 32: 2.0**-126, 64: 2.0**-1022}
_ZERO = r"^[+-]?0*\.?0*([eE].*)?$"
_HEXADECIMAL = r"^[+-]?0[xX]"
_DURATION = re.compile(r"PT(-?)([0-9]+)(?:\.([0-9]{1,9}))?S")


def cast_texts(array: Any, kind: Any) -> pa.Array:
    """Texts as values of a type that is not nested.

    Raises:
        ArrowInvalid: A text is no value of the type, or has more digits.
        ArrowNotImplementedError: There is no such cast.
    """
    types = pa.types
    if not types.is_string(array.type) and not types.is_large_string(array.type):
        array = array.cast(pa.large_string())
    if types.is_boolean(kind):
        return _booleans(array)
    if types.is_integer(kind):
        _check(array, pc.invert(pc.match_substring_regex(array, _HEXADECIMAL)), kind)
        return array.cast(kind)
    if types.is_floating(kind):
        return _floats(array, kind)
    if types.is_date(kind):
        return dates_of_texts(array, kind)
    if types.is_timestamp(kind):
        return without_zeros(array).cast(kind)
    if types.is_time(kind):
        return _times(array, kind)
    if types.is_duration(kind):
        return _durations(array, kind)
    return array.cast(kind)


def _check(array: Any, is_right: Any, kind: Any) -> None:
    at = pc.index(pc.fill_null(is_right, True), False).as_py()
    if at >= 0:
        raise pa.ArrowInvalid(f"{array[at].as_py()[:40]!r} is not the text of a value of {kind}")


def _booleans(array: Any) -> pa.Array:
    lower = pc.utf8_lower(array)
    found = pc.equal(lower, "true")
    _check(array, pc.or_(found, pc.equal(lower, "false")), pa.bool_())
    return found


def _floats(array: Any, kind: Any) -> pa.Array:
    """Floating point numbers whose digits are those of the texts."""
    if pa.types.is_float16(kind):
        made = array.cast(pa.float32()).cast(kind)
        wide = made.cast(pa.float32())
    else:
        made = wide = array.cast(kind)
    sure, distinct = _DIGITS[kind.bit_width]
    is_normal = pc.greater_equal(pc.abs(wide), pa.scalar(_LEAST_NORMAL[kind.bit_width], wide.type))
    is_short = pc.less_equal(pc.utf8_length(array), sure)
    is_kept = pc.and_(is_short, pc.and_(pc.is_finite(wide), is_normal))
    is_kept = pc.or_(is_kept, pc.equal(array, wide.cast(array.type)))
    is_kept = pc.or_(is_kept, pc.match_substring_regex(array, _ZERO))
    left = pc.fill_null(pc.invert(is_kept), False)
    if pc.any(left).as_py():
        texts = array.filter(left).to_pylist()
        for text, value in zip(texts, wide.filter(left).to_pylist(), strict=True):
            if not _has_digits(text, value, distinct):
                raise pa.ArrowInvalid(f"{text[:60]!r} has more digits than values of {kind}, or is out of their range")
    return made


def _has_digits(text: str, value: float, most: int) -> bool:
    """Whether a number has the digits of a text, whose numbers have at most so many."""
    try:
        wanted = decimal.Decimal(text)
    except decimal.InvalidOperation:
        # Exponents beyond those of decimals.
        return False
    if wanted.is_nan():
        return True
    found = decimal.Decimal(value)
    if found == wanted or found.is_infinite():
        return found == wanted
    count = len("".join(map(str, wanted.as_tuple().digits)).strip("0"))
    return count <= most and decimal.Decimal(f"{value:.{max(count - 1, 0)}e}") == wanted


def _times(array: Any, kind: Any) -> pa.Array:
    # pyarrow parses timestamps only.
    text, nothing = pa.scalar("1970-01-01 ", array.type), pa.scalar("", array.type)
    # Zeros may be digits beyond the unit.
    whole = pc.binary_join_element_wise(text, without_zeros(array), nothing)
    try:
        return whole.cast(pa.timestamp("ns")).cast(pa.time64("ns")).cast(kind)
    except pa.ArrowInvalid as error:
        raise pa.ArrowInvalid(str(error).replace("1970-01-01 ", "").replace("timestamp[ns]", str(kind))) from None


def _durations(array: Any, kind: Any) -> pa.Array:
    counts = [None if text is None else _count(text, kind) for text in array.to_pylist()]
    try:
        return pa.array(counts, pa.int64()).cast(kind)
    except OverflowError as error:
        raise pa.ArrowInvalid(f"a text is out of the range of {kind}") from error


def _count(text: str, kind: Any) -> int:
    """The number of units of a duration, such as ``PT1.5S``."""
    digits = DIGITS[kind.unit]
    found = _DURATION.fullmatch(text)
    fraction = (found[3] or "").rstrip("0") if found else ""
    if found is None or len(fraction) > digits:
        raise pa.ArrowInvalid(f"{text[:40]!r} is no value of {kind}, such as PT1.5S")
    count = int(found[2] + fraction.ljust(digits, "0"))
    return -count if found[1] else count
