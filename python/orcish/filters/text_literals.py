"""Literals of SQL, parsed from text: the inverse of :func:`orcish.filters.literals.to_sql`."""

from __future__ import annotations

import decimal
import functools
import math
import re
from collections.abc import Callable

from orcish.filters.literals import Literal, days_since_epoch, literal
from orcish.filters.translation import round_to_single

__all__ = ["TYPES", "number", "pattern"]

_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_SUFFIXED = re.compile(rf"({_NUMBER})([a-zA-Z]*)")
_DATE = r"([+-]?[0-9]{4,18})-([0-9]{1,2})-([0-9]{1,2})"
_CLOCK = r"([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]+))?)?"
_TIMESTAMP = re.compile(rf"{_DATE}(?:[ T]{_CLOCK} ?(Z|UTC|GMT|[+-][0-9:]+)?)?", re.ASCII | re.IGNORECASE)
_OFFSET = re.compile(r"[+-](?:([0-9]{1,2})(?::([0-5][0-9]))?|([0-9]{2})([0-5][0-9]))")
_WILD = re.compile(r"\\(.?)|(%+\Z)|[%_]", re.DOTALL)
# The farthest offset in Java, in minutes.
_FARTHEST = 18 * 60


def number(text: str) -> Literal:
    """The literal of a number in the syntax of SQL and Spark.

    Numbers with an exponent or ``D`` are floats, with ``F`` floats of single precision. Other numbers with a point or
    ``BD`` are decimals. Others, also with ``L``, ``S`` or ``Y``, are integers.

    Raises:
        ValueError: The text is no number; the message continues a sentence that begins with the text.
    """
    found = _SUFFIXED.fullmatch(text)
    digits, suffix = (found[1], found[2].lower()) if found else ("", "")
    has_exponent = "e" in digits.lower()
    if suffix == "bd" or (not suffix and "." in digits and not has_exponent):
        return _decimal(digits)
    if suffix in ("d", "f") or (not suffix and has_exponent):
        return _float(digits, is_single=suffix == "f")
    if not digits or suffix not in ("", "l", "s", "y") or has_exponent or "." in digits:
        raise ValueError("is no number")
    try:
        return ("int", int(digits))
    except ValueError:
        # Python limits the number of digits, as the conversion takes quadratic time.
        raise ValueError("has too many digits") from None


def _decimal(digits: str) -> Literal:
    mantissa, _, exponent = digits.lower().partition("e")
    # Larger exponents are refused below anyway, and would make the decimal module slow.
    if len(exponent.lstrip("+-0")) > 6:
        raise ValueError("has too large an exponent")
    value = decimal.Decimal(f"{mantissa}e{exponent or 0}")
    try:
        return literal(value)
    except ValueError:
        raise ValueError("is too long a decimal") from None


def _float(digits: str, *, is_single: bool = False) -> Literal:
    value = float(digits)
    value = round_to_single(value) if is_single else value
    if math.isinf(value):
        raise ValueError("is beyond all floating point numbers")
    return ("float", value)


def _binary(text: str) -> Literal:
    if len(text) % 2 or not re.fullmatch(r"[0-9a-fA-F]*", text):
        raise ValueError("is no binary: it takes pairs of hexadecimal digits")
    return ("binary", bytes.fromhex(text))


def _double(text: str, *, is_single: bool = False) -> Literal:
    plain = text.strip()
    if not re.fullmatch(rf"{_NUMBER}|[+-]?(?:nan|inf|infinity)", plain, re.ASCII | re.IGNORECASE):
        raise ValueError("is no floating point number")
    return ("float", float(plain)) if plain[-1].isalpha() else _float(plain, is_single=is_single)


def _date(text: str) -> Literal:
    found = re.fullmatch(_DATE, text.strip())
    if not found:
        raise ValueError("is no date: they are written '2026-01-31'")
    return ("date", _day(*found.groups()))


def _day(year: str, month: str, day: str) -> int:
    try:
        return days_since_epoch(int(year), int(month), int(day))
    except ValueError:
        raise ValueError("is a day that no calendar has") from None


def _timestamp(text: str) -> Literal:
    """The literal of a wall clock time, or, with a zone, of an instant."""
    found = _TIMESTAMP.fullmatch(text.strip())
    if not found:
        raise ValueError(
            "is no timestamp: they are written '2026-01-31 12:00:00.5', with Z or an offset such as +01:00 behind "
            "where they are instants"
        )
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    clock = int(hour or 0), int(minute or 0), int(second or 0)
    if clock > (23, 59, 59) or max(clock) > 59:
        raise ValueError("is a time that no clock shows")
    fraction = (fraction or "").rstrip("0")
    if len(fraction) > 9:
        raise ValueError("is finer than a nanosecond")
    minutes = (_day(year, month, day) * 24 + clock[0]) * 60 + clock[1] - _offset(zone)
    return ("timestamp", (minutes * 60 + clock[2]) * 10**9 + int(fraction.ljust(9, "0")), zone is not None)


def _instant(text: str) -> Literal:
    return _with_zone(_timestamp(text), "is no instant: it has no time zone")


def _wall_clock(text: str) -> Literal:
    return _with_zone(_timestamp(text), "is no wall clock: it has a time zone", has_zone=False)


def _with_zone(found: Literal, otherwise: str, *, has_zone: bool = True) -> Literal:
    if found[2] is not has_zone:
        raise ValueError(otherwise)
    return found


def _offset(zone: str | None) -> int:
    """Minutes that a zone is ahead of UTC."""
    if not zone or zone[0] not in "+-":
        return 0
    found = _OFFSET.fullmatch(zone)
    ahead = int(found[1] or found[3]) * 60 + int(found[2] or found[4] or 0) if found else math.inf
    if ahead > _FARTHEST:
        raise ValueError("has an offset that no time zone has")
    return int(-ahead if zone[0] == "-" else ahead)


def pattern(text: str) -> tuple[str, bool]:
    """The text of a ``like`` pattern, and whether the pattern is a prefix.

    Raises:
        ValueError: The pattern is not supported; the message continues a sentence that begins with it.
    """
    is_prefix = False

    def plain(found: re.Match[str]) -> str:
        nonlocal is_prefix
        if found[2]:
            is_prefix = True
            return ""
        if found[0] in ("%", "_"):
            raise ValueError("is a pattern with more than a % at its end, which is not supported")
        if found[1] not in ("%", "_", "\\"):
            raise ValueError("is a pattern with a backslash that is before none of %, _ and another")
        return found[1]

    return _WILD.sub(plain, text), is_prefix


TYPES: dict[str, Callable[[str], Literal]] = {
    "date": _date,
    "double": _double,
    "float": functools.partial(_double, is_single=True),
    "timestamp": _timestamp,
    "timestamp_ltz": _instant,
    "timestamp_ntz": _wall_clock,
    "x": _binary,
}
"""Parsers of literals that have a type before the quoted text, by the type in lower case.

They raise ValueError; the message continues a sentence that begins with the literal.
"""
