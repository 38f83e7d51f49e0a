"""The columns of files: how they are stored, in which bytes of stripes, and what statistics say of their values."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from orcish.reading.column_keys import Key, column_keys, name_of_empty
from orcish.reading.file import ORCFile
from orcish.reading.storage import encodings_text
from orcish.terminal import printable
from orcish.types import ColumnStatistics, ColumnStorage, StripeInfo

from orcish_cli.layout_page.values import MAX_COLUMNS, runs, shown
from orcish_cli.merged_statistics import merged_statistics
from orcish_cli.moments import bound

__all__ = ["BLOOMS", "Column", "Columns", "Run", "describe_file", "stored_runs"]

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
BLOOMS = ("BLOOM_FILTER", "BLOOM_FILTER_UTF8")
"""Kinds of streams that are bloom filters."""
_BOUNDS: tuple[Literal["min", "max"], ...] = ("min", "max")
_TOP = 2
"""Names in the key of a column of the table."""
_LONG_DECIMAL = 18
"""Decimals of more digits take 16 bytes."""


@dataclasses.dataclass
class Column:
    """A column of all files that have it."""

    key: Key
    kind: str
    files: int = 0
    data_bytes: int = 0
    index_bytes: int = 0
    bloom_bytes: int = 0
    total_bytes: int = 0
    dictionary_entries: int = 0
    encodings: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    rows: int = 0
    """Rows of the files; slots of nested columns are not known."""
    statistics: list[ColumnStatistics | None] = dataclasses.field(default_factory=list)
    """Those of each file."""
    decoded: float | None = 0
    """Bytes of the values in Arrow; ``None`` where they are not known."""
    distinct: float | None = None

    @property
    def path(self) -> str:
        """The dotted name."""
        return self.key[-1][0]

    @property
    def parent(self) -> Key | None:
        """The column that it is nested in."""
        return self.key[:-1] or None


class Columns:
    """The columns of several files. Columns of one name are one column."""

    def __init__(self) -> None:
        self.all: dict[Key, Column] = {}
        self._positions: dict[Key, int] = {}

    def add(self, file: ORCFile, storages: Iterable[Sequence[ColumnStorage]]) -> list[Key]:
        """Adds the columns of a file; gives their keys, by column id.

        Args:
            file: The file.
            storages: The storage of all columns, by column id, in all stripes, as one list or several.
        """
        types, keys = file.column_types, column_keys(file)
        for id, key in enumerate(keys):
            column = self.all.setdefault(key, Column(key, types[id]))
            column.files += 1
            column.rows += file.num_rows
            found = file.statistics(id)
            column.statistics.append(found)
            decoded = _decoded(types[id], found)
            column.decoded = None if column.decoded is None or decoded is None else column.decoded + decoded
        for storage in storages:
            self._add_storage(keys, storage)
        return keys

    def _add_storage(self, keys: Sequence[Key], storage: Sequence[ColumnStorage]) -> None:
        for key, stored in zip(keys, storage, strict=True):
            column = self.all[key]
            column.data_bytes += stored.data_bytes
            column.index_bytes += stored.index_bytes
            column.bloom_bytes += sum(stored.streams.get(kind, 0) for kind in BLOOMS)
            column.total_bytes += stored.total_bytes
            column.dictionary_entries += stored.dictionary_entries
            column.encodings.update(stored.encodings)

    def add_distinct(self, estimates: Mapping[str, float]) -> None:
        """Adds numbers of distinct values by dotted name. Names of several columns are left out."""
        counts = collections.Counter(column.path for column in self.all.values() if column.parent is not None)
        for column in self.all.values():
            if counts[column.path] == 1 or len(self.all) == 1:
                column.distinct = estimates.get(column.path)

    def position(self, key: Key) -> int | None:
        """The position of a column in the report; ``None`` if it is not in it."""
        return self._positions.get(key)

    def choose(self) -> int:
        """Chooses the columns of the report; gives the number of the others."""
        chosen: set[Key] = set()
        for column in sorted(self.all.values(), key=lambda each: -each.total_bytes):
            above = {column.key[:length] for length in range(1, len(column.key) + 1)} - chosen
            if len(chosen) + len(above) > MAX_COLUMNS:
                break
            chosen.update(above)
        self._positions = {key: at for at, key in enumerate(key for key in self.all if key in chosen)}
        return len(self.all) - len(self._positions)

    def chosen(self) -> list[Column]:
        """The columns of the report, in the order of their positions."""
        return [self.all[key] for key in self._positions]

    def described(self) -> list[dict[str, Any]]:
        """The columns of the report as JSON values."""
        whole = sum(column.data_bytes + column.index_bytes for column in self.all.values())
        return [self._described(column, whole) for column in self.chosen()]

    def _described(self, column: Column, whole: int) -> dict[str, Any]:
        parent = column.parent
        above = self.all[parent].path if parent else ""
        name = column.path.removeprefix(f"{above}.") if above else column.path
        empty = name_of_empty(column.key)
        known = column.decoded is not None and column.decoded > 0 and column.data_bytes > 0
        is_top = len(column.key) <= _TOP
        found = merged_statistics(column.statistics)
        values = None if found is None else found.values
        low, high = (None, None) if found is None else (bound(found, each, column.kind) for each in _BOUNDS)
        has_bounds = low is not None and high is not None
        return {
            "name": printable(name) or empty,
            "path": printable(column.path) or empty,
            "parent": None if parent is None else self.position(parent),
            "type": printable(column.kind),
            "files": column.files,
            "bytes": column.total_bytes,
            "share": column.total_bytes / whole if whole else 0,
            "data": column.data_bytes,
            "index": column.index_bytes,
            "encodings": encodings_text(column.encodings),
            "dictionary": column.dictionary_entries,
            "ratio": column.decoded / column.data_bytes if known and column.decoded is not None else None,
            "values": values,
            "nulls": column.rows - values if is_top and values is not None else None,
            "min": shown(low) if has_bounds else None,
            "max": shown(high) if has_bounds else None,
            "distinct": None if column.distinct is None else round(column.distinct),
        }


def _decoded(kind: str, found: ColumnStatistics | None) -> float | None:
    """Bytes of the values of a column in Arrow, as far as types and statistics tell."""
    if found is None or found.values is None:
        return None
    if kind.startswith(_TEXTS):
        return None if found.total_length is None else found.total_length + _OFFSET * found.values
    if digits := re.match(r"decimal\((\d+)", kind):
        return found.values * (16 if int(digits[1]) > _LONG_DECIMAL else 8)
    width = _WIDTHS.get(kind)
    return None if width is None else width * found.values


INDEXES = frozenset(("ROW_INDEX", *BLOOMS))
"""Kinds of streams that are indexes."""


class Run(NamedTuple):
    """Adjacent stripes."""

    stripes: range
    storage: list[ColumnStorage]
    """The storage of all columns in these stripes, by column id."""


def stored_runs(file: ORCFile, most: int) -> list[Run]:
    """The stripes of a file in at most ``most`` runs. The stripe footers are read."""
    return [Run(run, file.column_storage(stripes=list(run))) for run in runs(file.num_stripes, most)]


def describe_file(
    name: str, file: ORCFile, stored: Sequence[Run], keys: Sequence[Key], columns: Columns
) -> dict[str, Any]:
    """The bytes of a file as JSON values.

    Args:
        name: The name of the file, for people.
        file: The file.
        stored: Its stripes.
        keys: The keys of its columns.
        columns: The columns of the report.
    """
    positions = [columns.position(key) for key in keys]
    stripes = file.stripes
    length = sum(stripe.index_length + stripe.data_length + stripe.footer_length for stripe in stripes)
    return {
        "name": name,
        "bytes": file.file_length,
        "rows": file.num_rows,
        "stripe_count": len(stripes),
        "compression": file.compression,
        "chunk": file.compression_chunk_size,
        "stride": file.row_index_stride,
        "version": file.version,
        "writer": printable(file.writer),
        "encrypted": [printable(each) for each in file.encrypted_columns],
        "tail": file.file_length - length,
        "stripes": [_described(stripes, run, positions) for run in stored],
    }


def _described(all_stripes: Sequence[StripeInfo], stored: Run, positions: Sequence[int | None]) -> dict[str, Any]:
    run = stored.stripes
    stripes = all_stripes[run.start : run.stop]
    streams: dict[int, dict[str, int]] = {}
    others = {"index": 0, "data": 0}
    for at, column in zip(positions, stored.storage, strict=True):
        for kind, size in column.streams.items():
            if not size:
                continue
            if at is None:
                others["index" if kind in INDEXES else "data"] += size
            else:
                streams.setdefault(at, {})[kind] = size
    return {
        "first": run.start,
        "count": len(run),
        "rows": sum(stripe.num_rows for stripe in stripes),
        "first_row": stripes[0].first_row,
        "offset": stripes[0].offset,
        "index": sum(stripe.index_length for stripe in stripes),
        "data": sum(stripe.data_length for stripe in stripes),
        "footer": sum(stripe.footer_length for stripe in stripes),
        "columns": [[at, kinds] for at, kinds in streams.items()],
        "others": others,
    }
