"""Ranges of values in the parts of a table, its stripes or row groups, which show how far rows are sorted."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from orcish.errors import OrcishError
from orcish.reading.column_keys import Key
from orcish.reading.file import ORCFile
from orcish.terminal import printable
from orcish.types import RowGroup

from orcish_cli.layout_page.columns import Column, Columns
from orcish_cli.layout_page.values import (
    MAX_INDEXES,
    MAX_PARTS,
    MAX_RANGES,
    MAX_REMOTE_INDEXES,
    MAX_STATISTICS,
    keys,
    positions,
    runs,
    shown,
)
from orcish_cli.moments import bound

__all__ = ["Part", "Parts", "describe_ranges", "mean_depth", "order_of"]

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


class Parts:
    """Ranges of values and bloom filters of the columns of files.

    Args:
        files: The files, and the keys of their columns, by column id.
        columns: The columns of the report.
        is_remote: Whether a file is of a store or server.
    """

    def __init__(self, files: list[tuple[ORCFile, list[Key]]], columns: Columns, *, is_remote: bool) -> None:
        self.ranges: list[dict[str, Any]] = []
        """As JSON values, in the order of the columns."""
        self.blooms: list[dict[str, Any]] = []
        """Likewise."""
        self.faults: list[str] = []
        """Errors of row indexes."""
        chosen = sorted(columns.chosen(), key=lambda each: -each.total_bytes)
        stripes = sum(file.num_stripes for file, _ in files)
        most = MAX_REMOTE_INDEXES if is_remote else MAX_INDEXES
        self._has_groups = stripes * min(len(chosen), MAX_RANGES) <= most
        self._files = [(file, {key: id for id, key in enumerate(keys)}) for file, keys in files]
        for column in chosen:
            if len(self.ranges) < MAX_RANGES or column.bloom_bytes:
                self._add(column, columns.position(column.key))
        for found in (self.ranges, self.blooms):
            found.sort(key=lambda each: each["column"])

    def _add(self, column: Column, at: int | None) -> None:
        parts: list[Part] = []
        groups: list[RowGroup] = []
        levels = set()
        for file, id, prefix in self._of(column):
            own = self._groups(file, id)
            if own and any(group.statistics is not None for group in own):
                parts.extend(_group_parts(own, prefix, file.column_types[id]))
                levels.add("row group")
            else:
                parts.extend(_stripe_parts(file, id, prefix))
                levels.add("stripe")
            groups.extend(own)
        described = describe_ranges(parts, levels.pop() if len(levels) == 1 else "part")
        if described is not None and len(self.ranges) < MAX_RANGES:
            self.ranges.append({"column": at, **described})
        if column.bloom_bytes:
            self.blooms.append({"column": at, "bytes": column.bloom_bytes, **_filled(groups)})

    def _of(self, column: Column) -> Iterator[tuple[ORCFile, int, str]]:
        """The files that have a column, its id, and what the names of the parts begin with."""
        for number, (file, ids) in enumerate(self._files):
            if (id := ids.get(column.key)) is not None:
                yield file, id, f"file {number}, " if len(self._files) > 1 else ""

    def _groups(self, file: ORCFile, id: int) -> list[RowGroup]:
        if not self._has_groups:
            return []
        try:
            return file.row_groups(id)
        except (OrcishError, OSError) as error:
            self.faults.append(printable(str(error)))
            return []


def _group_parts(groups: list[RowGroup], prefix: str, kind: str) -> Iterator[Part]:
    stripe, number = -1, 0
    for group in groups:
        number = 0 if group.stripe != stripe else number + 1
        stripe = group.stripe
        found = group.statistics
        low, high = (None, None) if found is None else (bound(found, "min", kind), bound(found, "max", kind))
        yield Part(f"{prefix}stripe {stripe}, row group {number}", low, high)


def _stripe_parts(file: ORCFile, id: int, prefix: str) -> list[Part]:
    """The bounds of a column in each stripe; empty where the file has none, or where reading them takes too long."""
    if len(file.column_parents) * file.num_stripes > MAX_STATISTICS:
        return []
    kind, stripes = file.column_types[id], enumerate(file.stripe_statistics(id))
    return [Part(f"{prefix}stripe {at}", bound(found, "min", kind), bound(found, "max", kind)) for at, found in stripes]


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
