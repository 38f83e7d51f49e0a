"""The interface between a scan and a table: ORC files, or a table of CarbonData."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from orcish.reading.explanation import PartNames

__all__ = ["ScanSource", "SplitPart", "type_options"]

TYPE_OPTIONS = frozenset(
    (
        "arrow_schema",
        "timestamp_unit",
        "timestamps",
        "timezone",
        "timestamp_out_of_range",
        "strings",
        "invalid_utf8",
        "decimal_out_of_range",
        "long_char",
        "trim_char",
        "unions",
        "null_map_keys",
        "limits",
    )
)
"""Options that decide the types of columns. A table is opened with them."""


def type_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options that decide the types of columns."""
    return {name: value for name, value in options.items() if name in TYPE_OPTIONS}


class SplitPart(NamedTuple):
    """A part of a scan that can be read by itself."""

    location: str
    rows: int
    size: int
    """Stored bytes."""
    stripes: list[int]
    """Indexes of stripes, or of blocklets."""
    source: ScanSource
    """The table of this part alone."""


class ScanSource(Protocol):
    """A table that can be scanned. ``opened`` is a result of :meth:`open`, possibly under further options."""

    @property
    def part_names(self) -> PartNames:
        """Names of the parts of a file: stripes and row groups, or blocklets and pages."""

    @property
    def reads_null_keys(self) -> bool:
        """Whether maps with null keys can be read, with ``null_map_keys="dictionary"``."""

    @property
    def partition_columns(self) -> list[str]:
        """Columns whose values are in folder names."""

    def open(self, options: dict[str, Any]) -> Any:
        """The native scan, whose columns have the types that the options decide."""

    def statistics(self, opened: Any) -> list[tuple[dict[str, Any], list[int]]] | None:
        """For each file, statistics of the one selected column over all stripes whose rows all pass the filter, and the
        indexes of the other stripes; ``None`` where the statistics are not exact.
        """

    def splits(self, opened: Any, size: int) -> Iterator[SplitPart]:
        """Parts of about ``size`` stored bytes."""
