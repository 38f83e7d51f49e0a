"""The columns of files: how they are stored, in which bytes of stripes, and what statistics say of their values."""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from orcish.reading.column_keys import Key, name_of_empty
from orcish.reading.file import ORCFile
from orcish.reading.storage import encodings_text
from orcish.terminal import printable
from orcish.types import ColumnStatistics, ColumnStorage

from orcish_cli.layout_page.values import shown
from orcish_cli.merged_statistics import merged_statistics
from orcish_cli.moments import bound

__all__ = ["MAX_COLUMNS", "Column", "File", "Run", "choose", "collected", "described_columns", "described_file"]

MAX_COLUMNS = 300
"""Columns that are drawn, the largest ones, and those that they are nested in."""
_WIDTHS = {
    "boolean": 0.125,
    "tinyint": 1,
    "smallint": 2,
    "int": 4,
    "bigint": 8,
    "float": 4,
    "double": 8,
    "date": 4,
    "timestamp": 8,
    "timestamp with local time zone": 8,
}
"""Bytes of a value in Arrow, by ORC type."""
_TEXTS = ("string", "binary", "char", "varchar")
_OFFSET = 4
"""Bytes of the offset of a text in Arrow."""
_BLOOMS = ("BLOOM_FILTER", "BLOOM_FILTER_UTF8")
"""Kinds of streams that are bloom filters."""
_INDEXES = ("ROW_INDEX", *_BLOOMS)
_BOUNDS: tuple[Literal["min", "max"], ...] = ("min", "max")
_TOP = 2
"""Names in the key of a column of the table."""
_LONG_DECIMAL = 18
"""Decimals of more digits take 16 bytes."""


class Run(NamedTuple):
    """Adjacent stripes."""

    stripes: range
    storage: list[ColumnStorage]
    """The storage of all columns in these stripes, by column id."""


class File(NamedTuple):
    """A file of a page."""

    name: str
    """Its name for people."""
    file: ORCFile
    keys: list[Key]
    """The keys of its columns, by column id."""
    runs: list[Run]
    """All its stripes."""


@dataclasses.dataclass
class Column:
    """A column of all files that have it."""

    key: Key
    kind: str
    files: int = 0
    rows: int = 0
    """Rows of the files; slots of nested columns are not known."""
    data_bytes: int = 0
    index_bytes: int = 0
    bloom_bytes: int = 0
    total_bytes: int = 0
    dictionary_entries: int = 0
    encodings: Counter[str] = dataclasses.field(default_factory=Counter)
    statistics: list[ColumnStatistics | None] = dataclasses.field(default_factory=list)
    """Those of each file."""
    decoded: float = 0
    """Bytes of the values in Arrow; NaN where they are not known."""
    distinct: float | None = None
    position: int | None = None
    """The position in the page; ``None`` if the column is not in it."""

    @property
    def path(self) -> str:
        """The dotted name."""
        return self.key[-1][0]

    @property
    def parent(self) -> Key | None:
        """The column that it is nested in."""
        return self.key[:-1] or None


def collected(files: Sequence[File]) -> dict[Key, Column]:
    """The columns of all files by their keys: columns of one name are one column."""
    columns: dict[Key, Column] = {}
    for each in files:
        for id, (key, kind) in enumerate(zip(each.keys, each.file.column_types, strict=True)):
            column = columns.setdefault(key, Column(key, kind))
            column.files += 1
            column.rows += each.file.num_rows
            found = each.file.statistics(id)
            column.statistics.append(found)
            column.decoded += _decoded(kind, found)
            for stored in (run.storage[id] for run in each.runs):
                column.data_bytes += stored.data_bytes
                column.index_bytes += stored.index_bytes
                column.bloom_bytes += sum(stored.streams.get(stream, 0) for stream in _BLOOMS)
                column.total_bytes += stored.total_bytes
                column.dictionary_entries += stored.dictionary_entries
                column.encodings.update(stored.encodings)
    return columns


def _decoded(kind: str, found: ColumnStatistics | None) -> float:
    """Bytes of the values of a column in Arrow, as far as types and statistics tell; else NaN."""
    if found is None or found.values is None:
        return math.nan
    if kind.startswith(_TEXTS):
        return math.nan if found.total_length is None else found.total_length + _OFFSET * found.values
    if digits := re.match(r"decimal\((\d+)", kind):
        return found.values * (16 if int(digits[1]) > _LONG_DECIMAL else 8)
    return found.values * _WIDTHS.get(kind, math.nan)


def choose(columns: Mapping[Key, Column]) -> list[Column]:
    """Chooses the columns of the page, which get their positions."""
    chosen: set[Key] = set()
    for column in sorted(columns.values(), key=lambda each: -each.total_bytes):
        above = {column.key[:length] for length in range(1, len(column.key) + 1)} - chosen
        if len(chosen) + len(above) > MAX_COLUMNS:
            break
        chosen |= above
    found = [column for key, column in columns.items() if key in chosen]
    for position, column in enumerate(found):
        column.position = position
    return found


def described_columns(chosen: Sequence[Column], columns: Mapping[Key, Column]) -> list[dict[str, Any]]:
    """The chosen ones of all columns as JSON values."""
    whole = sum(column.data_bytes + column.index_bytes for column in columns.values())
    return [_described(column, columns[column.parent] if column.parent else None, whole) for column in chosen]


def _described(column: Column, parent: Column | None, whole: int) -> dict[str, Any]:
    name = column.path.removeprefix(f"{parent.path}.") if parent and parent.path else column.path
    empty = name_of_empty(column.key)
    found = merged_statistics(column.statistics)
    values = None if found is None else found.values
    bounds = [None, None] if found is None else [bound(found, each, column.kind) for each in _BOUNDS]
    low, high = (shown(each) for each in bounds) if None not in bounds else (None, None)
    return {
        "name": printable(name) or empty,
        "path": printable(column.path) or empty,
        "parent": None if parent is None else parent.position,
        "type": printable(column.kind),
        "files": column.files,
        "bytes": column.total_bytes,
        "share": column.total_bytes / whole if whole else 0,
        "data": column.data_bytes,
        "index": column.index_bytes,
        "encodings": encodings_text(column.encodings),
        "dictionary": column.dictionary_entries,
        "ratio": column.decoded / column.data_bytes if column.decoded > 0 and column.data_bytes else None,
        "values": values,
        "nulls": column.rows - values if len(column.key) <= _TOP and values is not None else None,
        "min": low,
        "max": high,
        "distinct": None if column.distinct is None else round(column.distinct),
    }


def described_file(each: File, columns: Mapping[Key, Column]) -> dict[str, Any]:
    """The bytes of a file as JSON values."""
    file, stripes = each.file, each.file.stripes
    length = sum(stripe.index_length + stripe.data_length + stripe.footer_length for stripe in stripes)
    positions = [columns[key].position for key in each.keys]
    return {
        "name": each.name,
        "bytes": file.file_length,
        "rows": file.num_rows,
        "stripe_count": len(stripes),
        "compression": file.compression,
        "chunk": file.compression_chunk_size,
        "stride": file.row_index_stride,
        "version": file.version,
        "writer": printable(file.writer),
        "encrypted": [printable(name) for name in file.encrypted_columns],
        "tail": file.file_length - length,
        "stripes": [_described_run(file, run, positions) for run in each.runs],
    }


def _described_run(file: ORCFile, run: Run, positions: Sequence[int | None]) -> dict[str, Any]:
    stripes = file.stripes[run.stripes.start : run.stripes.stop]
    streams: dict[int, dict[str, int]] = {}
    others = {"index": 0, "data": 0}
    for at, column in zip(positions, run.storage, strict=True):
        for kind, size in column.streams.items():
            if at is None:
                others["index" if kind in _INDEXES else "data"] += size
            elif size:
                streams.setdefault(at, {})[kind] = size
    return {
        "first": run.stripes.start,
        "count": len(run.stripes),
        "rows": sum(stripe.num_rows for stripe in stripes),
        "first_row": stripes[0].first_row,
        "offset": stripes[0].offset,
        "index": sum(stripe.index_length for stripe in stripes),
        "data": sum(stripe.data_length for stripe in stripes),
        "footer": sum(stripe.footer_length for stripe in stripes),
        "columns": [[at, kinds] for at, kinds in streams.items()],
        "others": others,
    }
