"""Ranges of values in the parts of a table, its stripes or row groups, which show how far rows are sorted."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from orcish.errors import OrcishError
from orcish.reading.file import ORCFile
from orcish.terminal import printable
from orcish.types import RowGroup

from orcish_cli.layout_page.columns import Column, File
from orcish_cli.layout_page.values import numbers_of, positions, runs, shown
from orcish_cli.moments import bound

__all__ = ["MAX_RANGES", "Part", "Parts", "described_ranges"]

MAX_RANGES = 60
"""Columns whose minima and maxima are drawn, the largest ones."""
MAX_INDEXES = 10_000
"""Row indexes of columns in stripes that are read. Where there are more, only statistics of stripes are drawn."""
MAX_REMOTE_INDEXES = 500
"""Likewise, of files of stores and servers, each of which is at least one request."""
MAX_PARTS = 400
"""Bars of a column. Where there are more row groups, adjacent ones have one bar."""
MAX_STATISTICS = 2_000_000
"""Statistics of stripes that are read of a file. Each column reads those of all columns."""
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


class Parts:
    """Ranges of values and bloom filters of the columns of files.

    Args:
        files: The files.
        columns: The columns of the page.
        is_remote: Whether a file is of a store or server.
    """

    def __init__(self, files: Sequence[File], columns: Sequence[Column], *, is_remote: bool) -> None:
        self.ranges: list[dict[str, Any]] = []
        """As JSON values, in the order of the columns."""
        self.blooms: list[dict[str, Any]] = []
        """Likewise."""
        self.faults: list[str] = []
        """Errors of row indexes."""
        stripes = sum(each.file.num_stripes for each in files)
        most = MAX_REMOTE_INDEXES if is_remote else MAX_INDEXES
        self._has_groups = stripes * min(len(columns), MAX_RANGES) <= most
        self._files = [(each.file, {key: id for id, key in enumerate(each.keys)}) for each in files]
        for column in sorted(columns, key=lambda each: -each.total_bytes):
            if len(self.ranges) < MAX_RANGES or column.bloom_bytes:
                self._add(column)
        for found in (self.ranges, self.blooms):
            found.sort(key=lambda each: each["column"])

    def _add(self, column: Column) -> None:
        parts: list[Part] = []
        groups: list[RowGroup] = []
        levels = set()
        for number, (file, ids) in enumerate(self._files):
            if (id := ids.get(column.key)) is None:
                continue
            own = self._groups(file, id)
            has_groups = any(group.statistics is not None for group in own)
            levels.add("row group" if has_groups else "stripe")
            prefix = f"file {number}, " if len(self._files) > 1 else ""
            bounds = _of_groups(own) if has_groups else _of_stripes(file, id)
            kind = file.column_types[id]
            for label, found in bounds:
                low, high = (None, None) if found is None else (bound(found, "min", kind), bound(found, "max", kind))
                parts.append(Part(f"{prefix}{label}", low, high))
            groups += own
        described = described_ranges(parts, levels.pop() if len(levels) == 1 else "part")
        if described is not None and len(self.ranges) < MAX_RANGES:
            self.ranges.append({"column": column.position, **described})
        if column.bloom_bytes:
            self.blooms.append({"column": column.position, "bytes": column.bloom_bytes, **_filled(groups)})

    def _groups(self, file: ORCFile, id: int) -> list[RowGroup]:
        try:
            return file.row_groups(id) if self._has_groups else []
        except (OrcishError, OSError) as error:
            self.faults.append(printable(str(error)))
            return []


def _of_groups(groups: list[RowGroup]) -> Iterator[tuple[str, Any]]:
    """Labels and statistics of row groups."""
    for stripe, own in itertools.groupby(groups, key=lambda group: group.stripe):
        for number, group in enumerate(own):
            yield f"stripe {stripe}, row group {number}", group.statistics


def _of_stripes(file: ORCFile, id: int) -> Iterator[tuple[str, Any]]:
    """Likewise, of stripes; none where reading them takes too long."""
    if len(file.column_parents) * file.num_stripes <= MAX_STATISTICS:
        for at, found in enumerate(file.stripe_statistics(id)):
            yield f"stripe {at}", found


def described_ranges(parts: Sequence[Part], level: str) -> dict[str, Any] | None:
    """The ranges of a column as JSON values; ``None`` where no part has bounds.

    Args:
        parts: The parts, in the order of their rows.
        level: What a part is, such as ``stripe``.
    """
    known = [part for part in parts if part.low is not None and part.high is not None]
    found = numbers_of([bound for part in known for bound in (part.low, part.high)])
    if not known or found is None:
        return None
    lows, highs = found[::2], found[1::2]
    bars = runs(len(known), MAX_PARTS)
    ends = [(min(bar, key=lows.__getitem__), max(bar, key=highs.__getitem__)) for bar in bars]
    places = positions([number for low, high in ends for number in (lows[low], highs[high])])
    depth = _mean_depth(lows, highs)
    return {
        "level": level,
        "parts": len(known),
        "unknown": len(parts) - len(known),
        "together": -(-len(known) // len(bars)),
        "low": shown(known[lows.index(min(lows))].low),
        "high": shown(known[highs.index(max(highs))].high),
        "depth": round(depth, 2),
        "order": _order(lows, highs, depth),
        "bars": [
            [_label(known, bar), *places[2 * at : 2 * at + 2], shown(known[low].low), shown(known[high].high)]
            for at, (bar, (low, high)) in enumerate(zip(bars, ends, strict=True))
        ],
    }


def _label(parts: Sequence[Part], run: range) -> str:
    first = parts[run.start].label
    return first if len(run) == 1 else f"{first} to {parts[run.stop - 1].label}"


def _mean_depth(lows: Sequence[Fraction], highs: Sequence[Fraction]) -> float:
    """The number of parts whose range has a value, as a mean over values in the range of each part."""
    starts, ends = sorted(lows), sorted(highs)
    values = [low + (high - low) * place for low, high in zip(lows, highs, strict=True) for place in _PLACES]
    return sum(bisect.bisect_right(starts, value) - bisect.bisect_left(ends, value) for value in values) / len(values)


def _order(lows: Sequence[Fraction], highs: Sequence[Fraction], depth: float) -> str:
    """How far the parts are sorted, in a word."""
    if len(lows) == 1:
        return "single"
    if min(lows) == max(highs):
        return "constant"
    if all(high <= low for high, low in zip(highs, lows[1:], strict=False)):
        return "ascending"
    if all(low >= high for low, high in zip(lows, highs[1:], strict=False)):
        return "descending"
    share = depth / len(lows)
    return "clustered" if share <= _CLUSTERED else "unordered" if share >= _UNORDERED else "partly ordered"


def _filled(groups: list[RowGroup]) -> dict[str, Any]:
    """How full the bloom filters of row groups are; unknown where no row index is read."""
    filters = [group.bloom_filter for group in groups if group.bloom_filter is not None and group.bloom_filter.bits]
    fills = [each.bits_set / each.bits for each in filters]
    return {
        "filters": len(filters) if groups else None,
        "row_groups": len(groups) if groups else None,
        "bits": sum(each.bits for each in filters),
        "hash_functions": sorted({each.hash_functions for each in filters}),
        "fill": sum(fills) / len(fills) if fills else None,
        "least": min(fills, default=None),
        "most": max(fills, default=None),
        "false_positives": sum(each.false_positives for each in filters) / len(filters) if filters else None,
    }
