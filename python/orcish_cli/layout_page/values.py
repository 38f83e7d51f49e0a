"""Values of statistics, as texts and as positions on an axis, and numbers in runs."""

from __future__ import annotations

import datetime
import decimal
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from orcish.terminal import printable

from orcish_cli.moments import Moment
from orcish_cli.terminal import shorten

__all__ = ["numbers_of", "positions", "runs", "shared_start", "shown"]

_MAX_TEXT = 60
"""Longest text of a value."""
_PREFIX = 8
"""Bytes of texts that decide on their position, after those that all of them begin with."""


def runs(count: int, most: int) -> list[range]:
    """The numbers below ``count`` in at most ``most`` runs of about the same length."""
    number = min(count, most)
    bounds = [count * at // number for at in range(number + 1)] if number else []
    return [range(start, end) for start, end in itertools.pairwise(bounds)]


def shown(value: Any) -> str:
    """The text of a value."""
    if isinstance(value, bytes):
        return shorten(value.hex(), _MAX_TEXT)
    if isinstance(value, decimal.Decimal):
        return shorten(format(value, "f"), _MAX_TEXT)
    if isinstance(value, Moment):
        return value.text.replace("T", " ").removesuffix("Z")
    # Longer texts are cut before their characters are looked at.
    return shorten(printable(str(value)[: 2 * _MAX_TEXT]), _MAX_TEXT)


def numbers_of(values: Sequence[Any]) -> list[Fraction] | None:
    """Numbers in the order of the values; ``None`` where there is no order, or where values have different types."""
    if all(isinstance(value, str) for value in values):
        # The order of code points is that of their bytes in UTF-8.
        values = [value.encode("utf-8", "surrogatepass") for value in values]
    if all(isinstance(value, bytes) for value in values):
        start = shared_start(values)
        texts = (value[start : start + _PREFIX].ljust(_PREFIX, b"\0") for value in values)
        return [Fraction(int.from_bytes(text, "big")) for text in texts]
    if len({value.kind if isinstance(value, Moment) else None for value in values}) > 1:
        return None
    try:
        return [_number(value) for value in values]
    except (TypeError, ValueError, OverflowError):
        return None


def _number(value: Any) -> Fraction:
    if isinstance(value, Moment):
        return Fraction(value.number)
    if isinstance(value, datetime.timedelta):
        return Fraction(value // datetime.timedelta(microseconds=1))
    if isinstance(value, bool | int | float | decimal.Decimal):
        # Infinities raise OverflowError, NaN a ValueError.
        return Fraction(value)
    raise TypeError(f"{type(value).__name__} has no order")


def shared_start(values: Sequence[str] | Sequence[bytes]) -> int:
    """The length of what all values begin with."""
    low, high = min(values, default=""), max(values, default="")
    pairs = zip(low, high, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(low), len(high)))


def positions(values: Sequence[Fraction]) -> list[float]:
    """Positions of numbers between the lowest (0) and the highest (1)."""
    low, high = min(values), max(values)
    if low == high:
        return [0.0] * len(values)
    found = [float((value - low) / (high - low)) for value in values]
    return [round(each, 5) if math.isfinite(each) else 0.0 for each in found]
