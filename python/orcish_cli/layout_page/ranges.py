"""Ranges of values in the parts of a table, its stripes or row groups, which show how far rows are sorted."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from orcish_cli.layout_page.bounds import MAX_PARTS, runs
from orcish_cli.layout_page.values import keys, positions, shown

__all__ = ["Part", "describe_ranges", "mean_depth", "order_of"]

_CLUSTERED = 0.25
"""Share of the parts that a value is in, at most, where the parts are called clustered."""
_UNORDERED = 0.75
_PLACES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
"""Places within the range of a part where values are looked for."""


class Part(NamedTuple):
    """A stripe or row group, and the bounds of a column in it."""

    label: str
    low: Any
    """Minimum; ``None`` where it is not known, or where all values are null."""
    high: Any


def describe_ranges(parts: Sequence[Part], level: str) -> dict[str, Any] | None:
    """The ranges of a column as JSON values; ``None`` where no part has bounds.

    Args:
        parts: The parts, in the order of their rows.
        level: What a part is, such as ``stripe``.
    """
    known = [part for part in parts if part.low is not None and part.high is not None]
    found = keys([bound for part in known for bound in (part.low, part.high)])
    if not known or found is None:
        return None
    lows, highs = found[::2], found[1::2]
    depth = mean_depth(lows, highs)
    merged = [
        (min(lows[run.start : run.stop]), max(highs[run.start : run.stop]), run) for run in runs(len(known), MAX_PARTS)
    ]
    places = positions([bound for low, high, _ in merged for bound in (low, high)])
    lowest, highest = lows.index(min(lows)), highs.index(max(highs))
    return {
        "level": level,
        "parts": len(known),
        "unknown": len(parts) - len(known),
        "together": -(-len(known) // len(merged)),
        "low": shown(known[lowest].low),
        "high": shown(known[highest].high),
        "depth": round(depth, 2),
        "order": order_of(lows, highs, depth),
        "bars": [
            [_label(known, run), places[2 * at], places[2 * at + 1], *_bounds(known, run, lows, highs)]
            for at, (_, _, run) in enumerate(merged)
        ],
    }


def _label(parts: Sequence[Part], run: range) -> str:
    first = parts[run.start].label
    return first if len(run) == 1 else f"{first} to {parts[run.stop - 1].label}"


def _bounds(parts: Sequence[Part], run: range, lows: Sequence[Fraction], highs: Sequence[Fraction]) -> tuple[str, str]:
    low, high = min(run, key=lambda at: lows[at]), max(run, key=lambda at: highs[at])
    return shown(parts[low].low), shown(parts[high].high)


def mean_depth(lows: Sequence[Fraction], highs: Sequence[Fraction]) -> float:
    """The number of parts whose range has a value, as a mean over values in the range of each part."""
    starts, ends = sorted(lows), sorted(highs)
    values = [low + (high - low) * place for low, high in zip(lows, highs, strict=True) for place in _PLACES]
    found = (bisect.bisect_right(starts, value) - bisect.bisect_left(ends, value) for value in values)
    return sum(found) / len(values) if values else 0.0


def order_of(lows: Sequence[Fraction], highs: Sequence[Fraction], depth: float) -> str:
    """How far the parts are sorted, in a word."""
    if len(lows) <= 1:
        return "single"
    pairs = range(len(lows) - 1)
    if min(lows) == max(highs):
        return "constant"
    if all(highs[at] <= lows[at + 1] for at in pairs):
        return "ascending"
    if all(lows[at] >= highs[at + 1] for at in pairs):
        return "descending"
    share = depth / len(lows)
    return "clustered" if share <= _CLUSTERED else "unordered" if share >= _UNORDERED else "partly ordered"
