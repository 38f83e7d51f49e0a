"""The interface between a scan and a table: ORC files, or a table of CarbonData."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, cast

import pyarrow as pa

from orcish import _native
from orcish.reading.explanation import PartNames

__all__ = ["DEFAULT_ROW_NUMBER", "OneSource", "ScanSource", "SplitPart", "row_number_name", "type_options"]

DEFAULT_ROW_NUMBER = "row_number"

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


def row_number_name(options: dict[str, Any]) -> str | None:
    """The name of the row number column; ``None`` where there is no such column.

    Raises:
        ValueError: The name is empty.
    """
    name = options.get("row_number")
    if name == "":
        raise ValueError("row_number='': give the column a name, or True")
    return cast("str | None", (DEFAULT_ROW_NUMBER if name is True else name) or None)


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
    """A table, or a file, that can be read."""

    @property
    def part_names(self) -> PartNames:
        """Names of the parts of a file: stripes and row groups, or blocklets and pages."""

    @property
    def reads_null_keys(self) -> bool:
        """Whether maps with null keys can be read, with ``null_map_keys="dictionary"``."""

    @property
    def partition_columns(self) -> Sequence[str]:
        """Columns whose values are in folder names."""

    def open(self, options: dict[str, Any]) -> _native.Scan:
        """The native scan, whose columns have the types that the options decide, without a selection of rows."""

    def files_of(self, opened: _native.Scan) -> list[str]:
        """Paths or URLs of the files."""

    def of_files(self, opened: _native.Scan) -> list[tuple[str, ScanSource]]:
        """The locations of the files, and each file with the columns of all."""

    def with_types(self, opened: _native.Scan, change: Callable[[pa.DataType], pa.DataType]) -> ScanSource:
        """The source with other types of its columns, where it can have others."""

    def splits(self, scan: _native.Scan, size: int) -> Iterator[SplitPart]:
        """Parts of about ``size`` stored bytes of a scan under further options."""


class OneSource:
    """Base class of sources that are read as they are."""

    def files_of(self, opened: _native.Scan) -> list[str]:
        """Paths or URLs of the files."""
        return opened.files

    def of_files(self, opened: _native.Scan) -> list[tuple[str, ScanSource]]:
        """The source itself."""
        return [(", ".join(opened.files[:1]), cast("ScanSource", self))]

    def with_types(self, opened: _native.Scan, change: Callable[[pa.DataType], pa.DataType]) -> ScanSource:  # noqa: ARG002
        """The source itself, which has its own types."""
        return cast("ScanSource", self)
