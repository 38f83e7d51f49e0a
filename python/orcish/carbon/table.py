"""Tables of CarbonData: what they say of themselves, and their rows."""

from __future__ import annotations

import dataclasses
import datetime
import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, cast

import pyarrow as pa

from orcish import _native
from orcish.carbon.source import CarbonSource, check_options
from orcish.filters.pushdown import Filters
from orcish.io.paths import local_path
from orcish.keywords import checked_keywords, chosen_options
from orcish.reading.reader import BatchSource, rows_of
from orcish.reading.scan import Scan
from orcish.reading.scan_reader import ScanReader
from orcish.types import Columns, Limits, ReadOptions, StorageOptions

__all__ = ["CarbonBlocklet", "CarbonFile", "CarbonSegment", "CarbonTable"]

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


@dataclasses.dataclass(frozen=True)
class CarbonSegment:
    """What one load, or one compaction, has brought into a table; ``None`` is unknown."""

    id: str
    """Such as ``0``, or ``0.1`` where segments have been compacted."""
    state: str
    """In the words of CarbonData, such as ``Success``, ``Compacted`` or ``Marked for Delete``."""
    is_readable: bool
    """Whether its rows are of the table."""
    format: str
    """``columnar_v3``, or ``row_v1`` of streams."""
    started: datetime.datetime | None
    ended: datetime.datetime | None
    modified: datetime.datetime | None
    """When it was deleted or otherwise changed."""
    merged_into: str | None
    """Id of the segment that has its rows now."""
    rows: int | None
    """Those of the table: deleted ones are not counted."""
    deleted_rows: int | None
    data_bytes: int | None
    index_bytes: int | None
    files: int
    """Those that are read."""


class CarbonBlocklet(NamedTuple):
    """Rows of a data file of CarbonData that are stored together."""

    rows: int
    """Deleted ones included."""
    pages: int
    """Of each column; 0 where the file does not say it, as before version 1.5.1."""
    bytes: int


class CarbonTable(BatchSource):
    """A table of CarbonData, as it is when it is opened: what is loaded or deleted later is not seen.

    The table is an Arrow stream itself: whatever takes objects with ``__arrow_c_stream__`` reads it.

    >>> table = orcish.CarbonTable("warehouse/db/sales")                                    # doctest: +SKIP
    >>> table.scan(columns=["id"], filters=orcish.col("id") == 5).explain()                 # doctest: +SKIP

    Args:
        path: The path or URL of the folder of the table, of a folder of data files, or of one of these.
        storage_options: How the store of a URL is reached; see :data:`~orcish.types.StorageOptions`.
        limits: Bounds on what each file may make the reader do.
        external_locations: Paths and URLs at or below which segments and partitions of the table may be, beside its own
            folder; see :class:`~orcish.types.ScanOptions`.

    Raises:
        UnsupportedError: The table names files outside of its folder.
    """

    @checked_keywords
    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        storage_options: StorageOptions | None = None,
        limits: Limits | None = None,
        external_locations: Sequence[str | os.PathLike[str]] | None = None,
    ) -> None:
        self._source = CarbonSource.at(local_path(os.fspath(path)), storage_options, limits, external_locations)

    def __repr__(self) -> str:
        name = _native.display_name(self._source.table.location)
        return f"<orcish.CarbonTable {name}: {len(self.segments)} segments, {len(self.files)} files>"

    # What the table says of itself.

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of all columns."""
        return pa.schema(self._source.table)

    @property
    def segments(self) -> list[CarbonSegment]:
        """All segments, those that are not read too."""
        return [_segment(*segment) for segment in self._source.table.segments]

    @property
    def num_rows(self) -> int:
        """Number of rows. Columns are read only where the metadata do not say it."""
        rows = self._source.table.rows()
        return self.count() if rows is None else rows

    @property
    def files(self) -> list[str]:
        """Paths or URLs of the data files that are read."""
        return self._source.table.files

    @property
    def properties(self) -> dict[str, str]:
        """Properties that the table was made with, such as ``sort_scope``."""
        return self._source.table.properties

    @property
    def sort_columns(self) -> list[str]:
        """Names of the columns that rows are sorted by, segment by segment."""
        return self._source.table.sort_columns

    @property
    def partition_columns(self) -> list[str]:
        """Names of the columns whose values are in names of folders."""
        return self._source.partition_columns

    @property
    def is_transactional(self) -> bool:
        """Whether the table has metadata, and is not just a folder of data files."""
        return self._source.table.is_transactional

    # Data.

    @checked_keywords
    def scan(
        self,
        *,
        columns: Columns | None = None,
        batch_size: int | None = None,
        stripes: Sequence[int] | None = None,
        filters: Filters | None = None,
        limit: int | None = None,
        row_number: bool | str | None = None,
        threads: int | None = None,
        arrow_schema: bool | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "auto"] | None = None,
        timestamps: Literal["wall", "instant"] | None = None,
        timezone: str | None = None,
        timestamp_out_of_range: Literal["error", "null"] | None = None,
        strings: Literal["utf8", "large", "view", "dictionary", "binary"] | None = None,
        invalid_utf8: Literal["error", "replace", "null", "binary"] | None = None,
        decimal_out_of_range: Literal["error", "null"] | None = None,
        long_char: Literal["keep", "cut", "error"] | None = None,
        trim_char: bool | None = None,
        unions: Literal["dense", "sparse", "struct"] | None = None,
        null_map_keys: Literal["error", "dictionary"] | None = None,
        masked: Literal["error", "allow"] | None = None,
    ) -> Scan:
        """What to read of the table; see :class:`~orcish.types.ReadOptions` for the keywords."""
        options = chosen_options(locals(), ReadOptions)
        reader = ScanReader(self._source, check_options(options))
        reader.check()
        return Scan(reader)

    @checked_keywords
    def read(
        self,
        *,
        columns: Columns | None = None,
        batch_size: int | None = None,
        stripes: Sequence[int] | None = None,
        filters: Filters | None = None,
        limit: int | None = None,
        row_number: bool | str | None = None,
        threads: int | None = None,
        arrow_schema: bool | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "auto"] | None = None,
        timestamps: Literal["wall", "instant"] | None = None,
        timezone: str | None = None,
        timestamp_out_of_range: Literal["error", "null"] | None = None,
        strings: Literal["utf8", "large", "view", "dictionary", "binary"] | None = None,
        invalid_utf8: Literal["error", "replace", "null", "binary"] | None = None,
        decimal_out_of_range: Literal["error", "null"] | None = None,
        long_char: Literal["keep", "cut", "error"] | None = None,
        trim_char: bool | None = None,
        unions: Literal["dense", "sparse", "struct"] | None = None,
        null_map_keys: Literal["error", "dictionary"] | None = None,
        masked: Literal["error", "allow"] | None = None,
    ) -> pa.Table:
        """Read the table into one of Arrow."""
        options = chosen_options(locals(), ReadOptions)
        return self.scan(**options).to_table()

    @checked_keywords
    def to_batches(
        self,
        *,
        columns: Columns | None = None,
        batch_size: int | None = None,
        stripes: Sequence[int] | None = None,
        filters: Filters | None = None,
        limit: int | None = None,
        row_number: bool | str | None = None,
        threads: int | None = None,
        arrow_schema: bool | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "auto"] | None = None,
        timestamps: Literal["wall", "instant"] | None = None,
        timezone: str | None = None,
        timestamp_out_of_range: Literal["error", "null"] | None = None,
        strings: Literal["utf8", "large", "view", "dictionary", "binary"] | None = None,
        invalid_utf8: Literal["error", "replace", "null", "binary"] | None = None,
        decimal_out_of_range: Literal["error", "null"] | None = None,
        long_char: Literal["keep", "cut", "error"] | None = None,
        trim_char: bool | None = None,
        unions: Literal["dense", "sparse", "struct"] | None = None,
        null_map_keys: Literal["error", "dictionary"] | None = None,
        masked: Literal["error", "allow"] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Read batch by batch, in memory that does not grow with the table."""
        options = chosen_options(locals(), ReadOptions)
        return self.scan(**options).to_batches()

    def count(self) -> int:
        """Number of rows, as a scan counts them."""
        return self.scan().count()

    def __arrow_c_schema__(self) -> object:
        return self._source.table.__arrow_c_schema__()

    def _rows(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        return rows_of(self.scan())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.scan().__arrow_c_stream__(requested_schema)


class CarbonFile:
    """A data file of CarbonData by itself, whatever table it is of.

    Args:
        path: A path or URL.
        storage_options: How the store of a URL is reached; see :data:`~orcish.types.StorageOptions`.
        limits: Bounds on what the file may make the reader do.
    """

    @checked_keywords
    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        storage_options: StorageOptions | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._location = local_path(os.fspath(path))
        self._storage_options = storage_options
        self._limits = limits
        self._file = _native.CarbonFile(
            self._location,
            storage_options=cast("dict[str, Any] | None", storage_options),
            limits=cast("dict[str, int] | None", limits),
        )

    def __repr__(self) -> str:
        name = _native.display_name(self._location)
        return f"<orcish.CarbonFile {name}: {self.num_rows} rows, {len(self.blocklets)} blocklets>"

    @property
    def version(self) -> int:
        """Version of the format."""
        return self._file.version

    @property
    def num_rows(self) -> int:
        """Number of rows, deleted ones included."""
        return self._file.num_rows

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the columns in the file, in the order in which they are stored."""
        return pa.schema(self._file)

    @property
    def blocklets(self) -> list[CarbonBlocklet]:
        """What the file is made of."""
        return [CarbonBlocklet(*blocklet) for blocklet in self._file.blocklets]

    @property
    def written_by(self) -> dict[str, str]:
        """What the file says of the software that wrote it."""
        return dict(self._file.written_by)

    @checked_keywords
    def read(
        self,
        *,
        columns: Columns | None = None,
        batch_size: int | None = None,
        stripes: Sequence[int] | None = None,
        filters: Filters | None = None,
        limit: int | None = None,
        row_number: bool | str | None = None,
        threads: int | None = None,
        arrow_schema: bool | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "auto"] | None = None,
        timestamps: Literal["wall", "instant"] | None = None,
        timezone: str | None = None,
        timestamp_out_of_range: Literal["error", "null"] | None = None,
        strings: Literal["utf8", "large", "view", "dictionary", "binary"] | None = None,
        invalid_utf8: Literal["error", "replace", "null", "binary"] | None = None,
        decimal_out_of_range: Literal["error", "null"] | None = None,
        long_char: Literal["keep", "cut", "error"] | None = None,
        trim_char: bool | None = None,
        unions: Literal["dense", "sparse", "struct"] | None = None,
        null_map_keys: Literal["error", "dictionary"] | None = None,
        masked: Literal["error", "allow"] | None = None,
    ) -> pa.Table:
        """Read the file without the rows that were deleted, as far as files beside it say which; see
        :class:`~orcish.types.ReadOptions` for the keywords.
        """
        options = chosen_options(locals(), ReadOptions)
        return CarbonTable(self._location, storage_options=self._storage_options, limits=self._limits).read(**options)


def _segment(
    what: tuple[str, str, bool, str],
    times: tuple[int | None, int | None, int | None],
    merged_into: str | None,
    numbers: tuple[int | None, int | None, int | None, int | None, int],
) -> CarbonSegment:
    started, ended, modified = map(_time, times)
    rows, deleted, data, index, files = numbers
    return CarbonSegment(*what, started, ended, modified, merged_into, rows, deleted, data, index, files)


def _time(milliseconds: int | None) -> datetime.datetime | None:
    """A time, where it is known and Python has it."""
    try:
        return None if milliseconds is None else _EPOCH + datetime.timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None
