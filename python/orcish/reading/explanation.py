"""What a read would do, for people."""

from __future__ import annotations

import collections
import dataclasses
import itertools
from typing import Any, NamedTuple

__all__ = ["BLOCKLETS", "STRIPES", "Explanation", "FilePlan", "PartNames", "StripePlan"]


class PartNames(NamedTuple):
    """What the parts of a file are called, and the parts of these."""

    whole: str
    group: str


STRIPES = PartNames("stripe", "row group")
BLOCKLETS = PartNames("blocklet", "page")

Reasons = tuple[tuple[str, str], ...]
"""Tests that no row passes, each with what proves it."""


@dataclasses.dataclass(frozen=True)
class StripePlan:
    """What becomes of a stripe, or of a blocklet of a CarbonData file, whose row groups are its pages."""

    stripe: int
    rows: int
    outcome: str
    """``all`` rows are wanted, they are ``read`` to find those that are, or they are ``skipped``."""
    reasons: Reasons
    row_groups: tuple[tuple[int, str, Reasons], ...]
    """Rows, outcome and reasons of each row group; none where the stripe is skipped, or is one."""
    filter_bytes: int
    """Bytes of the columns that the filter asks, which are read in any case."""
    filter_requests: int
    other_bytes: int
    """Bytes of the other columns, at most: they are read where rows are found."""
    other_requests: int

    @property
    def rows_read(self) -> int:
        """Rows of the row groups that are not skipped."""
        if self.outcome == "skipped":
            return 0
        if not self.row_groups:
            return self.rows
        return sum(rows for rows, outcome, _ in self.row_groups if outcome != "skipped")


@dataclasses.dataclass(frozen=True)
class FilePlan:
    """What becomes of a file."""

    file: str
    stripes: tuple[StripePlan, ...]
    skipped: bool = False
    """Whether the values of its partition columns do not fit the filter, so that it has none to be read."""


@dataclasses.dataclass(frozen=True, repr=False)
class Explanation:
    """What a read would do: what is skipped and why, and how much is read. Its text is for people."""

    files: tuple[FilePlan, ...]
    after_read: str | None
    """What of the filter is applied to the rows after they have been read."""
    parts: PartNames = STRIPES

    @classmethod
    def of(
        cls, found: list[tuple[str, bool, list[Any]]], after_read: str | None, parts: PartNames = STRIPES
    ) -> Explanation:
        """What the native core found, a file each."""

        def stripe(plan: Any) -> StripePlan:
            index, rows, (outcome, reasons), groups, weights = plan
            row_groups = tuple((rows, what, tuple(why)) for rows, (what, why) in groups)
            return StripePlan(index, rows, outcome, tuple(reasons), row_groups, *weights)

        files = (FilePlan(name, tuple(map(stripe, plans)), skipped) for name, skipped, plans in found)
        return cls(tuple(files), after_read, parts)

    @property
    def bytes(self) -> int:
        """Bytes of data that are read, at most."""
        return sum(plan.filter_bytes + plan.other_bytes for file in self.files for plan in file.stripes)

    @property
    def requests(self) -> int:
        """Requests for data, at most."""
        return sum(plan.filter_requests + plan.other_requests for file in self.files for plan in file.stripes)

    @property
    def rows_read(self) -> int:
        """Rows of what is not skipped."""
        return sum(plan.rows_read for file in self.files for plan in file.stripes)

    def __str__(self) -> str:
        lines = [f"{self.rows_read:,} rows to look at, at most {self.bytes:,} bytes in {self.requests:,} requests"]
        if self.after_read is not None:
            lines.append(f"applied after the read: {self.after_read}")
        for file in self.files:
            lines.append(file.file)
            if file.skipped:
                lines.append("  skipped: the filter is not true of its partition")
            elif not file.stripes:
                lines.append(f"  no {self.parts.whole}s")
            for (outcome, reasons), group in itertools.groupby(file.stripes, lambda plan: (plan.outcome, plan.reasons)):
                plans = list(group)
                if outcome == "skipped":
                    lines.append(f"{_head(plans, self.parts)}skipped by {_why(reasons)}")
                else:
                    lines.extend(line for plan in plans for line in _lines(plan, self.parts))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def _head(plans: list[StripePlan], parts: PartNames) -> str:
    """What begins the line of neighbouring stripes."""
    rows = sum(plan.rows for plan in plans)
    name = parts.whole if len(plans) == 1 else f"{parts.whole}s"
    return f"  {name} {_ranges([plan.stripe for plan in plans])}, {rows:,} rows: "


def _lines(plan: StripePlan, parts: PartNames) -> list[str]:
    what = "all wanted" if plan.outcome == "all" else "read"
    weights = f"{plan.filter_bytes:,} bytes for the filter, at most {plan.other_bytes:,} of other columns"
    lines = [f"{_head([plan], parts)}{what}, {weights}"]
    counts: dict[tuple[str, Reasons], list[int]] = collections.defaultdict(list)
    for at, (_, outcome, reasons) in enumerate(plan.row_groups):
        counts[outcome, reasons].append(at)
    for (outcome, reasons), groups in counts.items():
        words = {"all": "all wanted", "read": "read", "skipped": f"skipped by {_why(reasons)}"}
        lines.append(f"    {len(groups)} {parts.group}s {words[outcome]}: {_ranges(groups)}")
    return lines


def _why(reasons: Reasons) -> str:
    by: dict[str, list[str]] = collections.defaultdict(list)
    for test, proof in reasons:
        by[proof].append(test)
    if not by:
        return "the filter, which is true of no row"
    return "; ".join(f"{proof} ({', '.join(dict.fromkeys(tests))})" for proof, tests in by.items())


def _ranges(numbers: list[int]) -> str:
    """Ascending numbers, runs of which are written as from-to; no more than a line of them."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in runs[:12]]
    return ", ".join(shown) + (", …" if len(runs) > 12 else "")
