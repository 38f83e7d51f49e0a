"""Explanations: what a read would skip and why, and how much it would read."""

from __future__ import annotations

import collections
import dataclasses
import itertools
from typing import Any, NamedTuple

from orcish.terminal import printable

__all__ = ["BLOCKLETS", "STRIPES", "Explanation", "FilePlan", "PartNames", "StripePlan"]


class PartNames(NamedTuple):
    """Names of the two levels of parts that a file has."""

    whole: str
    group: str


STRIPES = PartNames("stripe", "row group")
BLOCKLETS = PartNames("blocklet", "page")

Reasons = tuple[tuple[str, str], ...]
"""Conditions that exclude all rows, each with the kind of proof."""

BEYOND: Reasons = (("the rows before suffice", "the limit"),)


@dataclasses.dataclass(frozen=True)
class StripePlan:
    """The plan for a stripe, or for a blocklet of a CarbonData file, whose row groups are its pages."""

    stripe: int
    rows: int
    outcome: str
    """``all``: all rows pass the filter; ``read``: rows are read and filtered; ``skipped``."""
    reasons: Reasons
    row_groups: tuple[tuple[int, str, Reasons], ...]
    """Rows, outcome and reasons of each row group; empty where the stripe is skipped, or has a single row group."""
    filter_bytes: int
    """Bytes of the columns of the filter."""
    filter_requests: int
    other_bytes: int
    """Maximum bytes of the other columns, which are read only where rows pass the filter."""
    other_requests: int

    @property
    def rows_read(self) -> int:
        """Rows of the row groups that are not skipped."""
        if self.outcome == "skipped":
            return 0
        if not self.row_groups:
            return self.rows
        return sum(rows for rows, outcome, _ in self.row_groups if outcome != "skipped")

    @property
    def rows_wanted(self) -> int:
        """Rows that are known to pass the filter."""
        if self.outcome == "all":
            return self.rows
        return sum(rows for rows, outcome, _ in self.row_groups if outcome == "all")

    def beyond_limit(self) -> StripePlan:
        """The plan where the rows before suffice for the limit."""
        return (
            self if self.outcome == "skipped" else StripePlan(self.stripe, self.rows, "skipped", BEYOND, (), 0, 0, 0, 0)
        )


@dataclasses.dataclass(frozen=True)
class FilePlan:
    """The plan for a file."""

    file: str
    stripes: tuple[StripePlan, ...]
    skipped: bool
    """Whether it is not opened: its partition values, or the filter itself, exclude all rows. Rows are not counted."""
    is_counted: bool
    """Whether the number of its rows is known, or the file is skipped. Files of streams of CarbonData are read as a
    whole."""

    def limited(self, limit: int) -> tuple[FilePlan, int]:
        """The plan for the file where the first stripes suffice for a limit, and what is left of the limit."""
        kept: list[StripePlan] = []
        for plan in self.stripes:
            kept.append(plan if limit > 0 else plan.beyond_limit())
            limit -= plan.rows_wanted
        return dataclasses.replace(self, stripes=tuple(kept)), limit


@dataclasses.dataclass(frozen=True, repr=False)
class Explanation:
    """What a read would do; the text is for people."""

    files: tuple[FilePlan, ...]
    after_read: str | None
    """The residual filter, which is applied after the read."""
    parts: PartNames
    is_partitioned: bool
    """Whether the table has partition columns."""

    @classmethod
    def of(
        cls,
        found: list[tuple[str, bool, list[Any]]],
        after_read: str | None,
        parts: PartNames = STRIPES,
        *,
        limit: int | None = None,
        is_partitioned: bool = False,
    ) -> Explanation:
        """Built from the plans of the native core, one for each file, and the limit that it applies."""

        def stripe(plan: Any) -> StripePlan:
            index, rows, (outcome, reasons), groups, weights = plan
            row_groups = tuple((rows, what, tuple(why)) for rows, (what, why) in groups)
            return StripePlan(index, rows, outcome, tuple(reasons), row_groups, *weights)

        files = [
            FilePlan(name, tuple(map(stripe, plans)), skipped, bool(plans) or skipped or parts != BLOCKLETS)
            for name, skipped, plans in found
        ]
        if limit is not None:
            for at, file in enumerate(files):
                files[at], limit = file.limited(limit)
        return cls(tuple(files), after_read, parts, is_partitioned)

    @property
    def bytes(self) -> int:
        """Maximum bytes of data that are read."""
        return sum(plan.filter_bytes + plan.other_bytes for file in self.files for plan in file.stripes)

    @property
    def requests(self) -> int:
        """Maximum number of requests for data."""
        return sum(plan.filter_requests + plan.other_requests for file in self.files for plan in file.stripes)

    @property
    def rows_read(self) -> int:
        """Rows of the row groups that are not skipped, in files whose rows are counted."""
        return sum(plan.rows_read for file in self.files for plan in file.stripes)

    def _repr_html_(self) -> str:
        from orcish.notebook import text_html

        return text_html(str(self))

    def __str__(self) -> str:
        uncounted = sum(not file.is_counted for file in self.files)
        lines = [f"{self.rows_read:,} rows to look at, at most {self.bytes:,} bytes in {self.requests:,} requests"]
        if uncounted:
            lines[0] += f"; and {uncounted:,} files of streams, whose rows and bytes are not known before they are read"
        if self.after_read is not None:
            lines.append(f"applied after the read: {self.after_read}")
        for file in self.files:
            lines.append(file.file)
            if file.skipped:
                of = "its partition" if self.is_partitioned else "any row"
                lines.append(f"  skipped: the filter is not true of {of}")
            elif not file.is_counted:
                lines.append(f"  no {self.parts.whole}s: the file is of a stream, and read as a whole")
            elif not file.stripes:
                lines.append(f"  no {self.parts.whole}s")
            for (outcome, reasons), group in itertools.groupby(file.stripes, lambda plan: (plan.outcome, plan.reasons)):
                plans = list(group)
                if outcome == "skipped":
                    lines.append(f"{_heading(plans, self.parts)}skipped by {_format_reasons(reasons)}")
                else:
                    lines.extend(line for plan in plans for line in _lines(plan, self.parts))
        return "\n".join(map(printable, lines))

    def __repr__(self) -> str:
        return str(self)


def _heading(plans: list[StripePlan], parts: PartNames) -> str:
    """The beginning of the line about adjacent stripes."""
    rows = sum(plan.rows for plan in plans)
    name = parts.whole if len(plans) == 1 else f"{parts.whole}s"
    return f"  {name} {_ranges([plan.stripe for plan in plans])}, {rows:,} rows: "


def _lines(plan: StripePlan, parts: PartNames) -> list[str]:
    what = "all wanted" if plan.outcome == "all" else "read"
    weights = f"{plan.filter_bytes:,} bytes for the filter, at most {plan.other_bytes:,} of other columns"
    lines = [f"{_heading([plan], parts)}{what}, {weights}"]
    counts: dict[tuple[str, Reasons], list[int]] = collections.defaultdict(list)
    for at, (_, outcome, reasons) in enumerate(plan.row_groups):
        counts[outcome, reasons].append(at)
    for (outcome, reasons), groups in counts.items():
        words = {"all": "all wanted", "read": "read", "skipped": f"skipped by {_format_reasons(reasons)}"}
        lines.append(f"    {len(groups)} {parts.group}s {words[outcome]}: {_ranges(groups)}")
    return lines


def _format_reasons(reasons: Reasons) -> str:
    by: dict[str, list[str]] = collections.defaultdict(list)
    for test, proof in reasons:
        by[proof].append(test)
    if not by:
        return "the filter, which is true of no row"
    return "; ".join(f"{proof} ({', '.join(dict.fromkeys(tests))})" for proof, tests in by.items())


def _ranges(numbers: list[int]) -> str:
    """Ascending numbers as text, with ranges for consecutive numbers, cut off after 12 ranges."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in runs[:12]]
    return ", ".join(shown) + (", …" if len(runs) > 12 else "")
