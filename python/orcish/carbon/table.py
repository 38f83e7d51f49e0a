"""CarbonData tables and files with their metadata."""

from __future__ import annotations

import dataclasses
import datetime
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pyarrow as pa

from orcish import _native
from orcish._native import Location, complete_storage
from orcish.carbon.source import CarbonSource, check_options
from orcish.errors import OrcishError
from orcish.io.names import display_name
from orcish.keywords import checked_keywords, chosen_options
from orcish.reading.reader import BatchSource, rows_of
from orcish.reading.scan import Scan
from orcish.reading.scan_reader import ScanReader
from orcish.terminal import printable
from orcish.types import (
    Limits,
    ReadOptions,
    StorageOptions,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["CarbonBlocklet", "CarbonFile", "CarbonSegment", "CarbonTable"]

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


@dataclasses.dataclass(frozen=True)
class CarbonSegment:
    """A segment: the rows of one load or compaction; ``None`` is unknown."""

    id: str
    """Such as ``0``, or ``0.1`` for compacted segments."""
    state: str
    """State as CarbonData records it, such as ``Success``, ``Compacted`` or ``Marked for Delete``."""
    is_readable: bool
    """Whether its rows belong to the table."""
    format: str
    """``columnar_v3``, or ``row_v1`` for streams."""
    started: datetime.datetime | None
    ended: datetime.datetime | None
    modified: datetime.datetime | None
    """When the segment was deleted or otherwise changed."""
    merged_into: str | None
    """Id of the segment that it was compacted into."""
    rows: int | None
    """Number of rows without deleted ones."""
    deleted_rows: int | None
    data_bytes: int | None
    index_bytes: int | None
    files: int
    """Number of files that are read."""


class CarbonBlocklet(NamedTuple):
    """A blocklet: rows of a data file that are stored together."""

    rows: int
    """Deleted rows included."""
    pages: int
    """Pages of each column; 0 where the file does not record it, as before version 1.5.1."""
    bytes: int


class CarbonTable(BatchSource):
    """A CarbonData table at the time when it is opened. Later loads and deletions are not seen.

    Tables and their scans can be pickled. A pickle has the storage options, and thus credentials. The metadata is read
    again where it is loaded; if the table is not as it was, that is an error. Splits need no metadata, and have none.

    The table is an Arrow stream: any consumer of ``__arrow_c_stream__`` reads it.

    >>> table = orcish.CarbonTable("sales/")
    >>> table.scan(columns=["id"], filters=orcish.col("id") == 5).to_table().to_pydict()
    {'id': [5]}

    Args:
        path: The path or URL of the folder of the table, of a folder of data files, or of a data file.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
        limits: Limits on what each file may make the reader do.
        external_locations: Paths and URLs that may have segments and partitions of the table, at or below them, in
            addition to its own folder; see :class:`~orcish.types.ScanOptions`.

    Raises:
        UnsupportedError: The table has files outside of its folder.
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
        self._source = CarbonSource.at(Location(path).path, storage_options, limits, external_locations)

    def __repr__(self) -> str:
        name = display_name(self._source.table.location)
        return printable(f"<orcish.CarbonTable {name}: {len(self.segments)} segments, {len(self.files)} files>")

    # Metadata.

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of all columns."""
        return pa.schema(self._source.table)

    @property
    def segments(self) -> list[CarbonSegment]:
        """All segments, including those that are not read."""
        return [_segment(*segment) for segment in self._source.table.segments]

    @property
    def num_rows(self) -> int:
        """Number of rows. Columns are read only where the metadata do not record it."""
        rows = self._source.table.rows()
        return self.count() if rows is None else rows

    @property
    def files(self) -> list[str]:
        """Paths or URLs of the data files that are read."""
        return self._source.table.files

    @property
    def properties(self) -> dict[str, str]:
        """Properties of the table, such as ``sort_scope``."""
        return self._source.table.properties

    @property
    def sort_columns(self) -> list[str]:
        """Columns by which the rows of each segment are sorted."""
        return self._source.table.sort_columns

    @property
    def partition_columns(self) -> list[str]:
        """Columns whose values are in folder names."""
        return self._source.partition_columns

    @property
    def is_transactional(self) -> bool:
        """Whether the table has metadata, and is not only a folder of data files."""
        return self._source.table.is_transactional

    # Data.

    @checked_keywords
    def scan(self, **options: Unpack[ReadOptions]) -> Scan:
        """Scans the table; the keywords are those of :class:`~orcish.types.ReadOptions`."""
        reader = ScanReader(self._source, check_options(chosen_options(options, ReadOptions)))
        reader.check()
        return Scan(reader)

    @checked_keywords
    def read(self, **options: Unpack[ReadOptions]) -> pa.Table:
        """Reads the table into an Arrow table; the keywords are those of :class:`~orcish.types.ReadOptions`."""
        return self.scan(**options).to_table()

    @checked_keywords
    def to_batches(self, **options: Unpack[ReadOptions]) -> Iterator[pa.RecordBatch]:
        """Reads the table batch by batch, in memory that does not grow with it; the keywords are those of
        :class:`~orcish.types.ReadOptions`.
        """
        return self.scan(**options).to_batches()

    def count(self) -> int:
        """Counts the rows with a scan."""
        return self.scan().count()

    def __arrow_c_schema__(self) -> object:
        return self._source.table.__arrow_c_schema__()

    def _rows(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        return rows_of(self.scan())

    def _row_count(self) -> int | None:
        return self._source.table.rows()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.scan().__arrow_c_stream__(requested_schema)


class CarbonFile:
    """A single data file of CarbonData. It can be pickled; a pickle has the storage options, and thus credentials.

    Args:
        path: A path or URL.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
        limits: Limits on what the file may make the reader do.
    """

    @checked_keywords
    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        storage_options: StorageOptions | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._location = Location(path).path
        self._storage_options = storage_options
        self._limits = limits
        self._file = _native.CarbonFile(
            self._location,
            storage_options=complete_storage(self._location, storage_options),
            limits=cast("dict[str, int] | None", limits),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process may have another working directory.
        return _reopened, (Location(self._location).absolute(), self._storage_options, self._limits, self._state())

    def _state(self) -> tuple[Any, ...]:
        """What tells the file apart from another one in its place."""
        return str(self.schema), tuple(self.blocklets), tuple(self.written_by.items())

    def __repr__(self) -> str:
        name = display_name(self._location)
        return printable(f"<orcish.CarbonFile {name}: {self.num_rows} rows, {len(self.blocklets)} blocklets>")

    @property
    def version(self) -> int:
        """Version of the format."""
        return self._file.version

    @property
    def num_rows(self) -> int:
        """Number of rows, deleted rows included."""
        return self._file.num_rows

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the columns in the file, in their stored order."""
        return pa.schema(self._file)

    @property
    def blocklets(self) -> list[CarbonBlocklet]:
        """The blocklets of the file."""
        return [CarbonBlocklet(*blocklet) for blocklet in self._file.blocklets]

    @property
    def written_by(self) -> dict[str, str]:
        """The software that wrote the file, as it recorded it."""
        return dict(self._file.written_by)

    @checked_keywords
    def read(self, **options: Unpack[ReadOptions]) -> pa.Table:
        """Reads the file without deleted rows, where files beside it record them; the keywords are those of
        :class:`~orcish.types.ReadOptions`.
        """
        return CarbonTable(self._location, storage_options=self._storage_options, limits=self._limits).read(**options)


def _reopened(
    location: str, storage_options: StorageOptions | None, limits: Limits | None, state: tuple[Any, ...]
) -> CarbonFile:
    """The file of a pickle.

    Raises:
        OrcishError: It is not the file that was opened.
    """
    file = CarbonFile(location, storage_options=storage_options, limits=limits)
    if file._state() != state:
        raise OrcishError(f"{display_name(location)}: the file is another one than when it was opened: open it again")
    return file


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
    """A time; ``None`` where it is unknown or out of range for Python."""
    try:
        return None if milliseconds is None else _EPOCH + datetime.timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None
