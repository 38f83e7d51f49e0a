"""ORC files."""

from __future__ import annotations

import copy
import datetime
import decimal
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from orcish import _native
from orcish.asynchronous import batches_of_thread
from orcish.encryption.keys import HiddenKeys, Keys, hidden
from orcish.errors import UnknownColumnError
from orcish.filters.names import ColumnName
from orcish.filters.pushdown import Filters
from orcish.hints import FILE, missing_attribute
from orcish.io.files import TableFile
from orcish.io.filesystem import in_file_system
from orcish.io.paths import within
from orcish.io.system_path import SystemFile
from orcish.keywords import checked_keywords, chosen_options
from orcish.progress import reported_so_far
from orcish.reading.explanation import STRIPES, Explanation
from orcish.reading.reader import BatchSource
from orcish.reading.scan_reader import ScanReader
from orcish.reading.source import OneSource, SplitPart
from orcish.reading.storage import column_storage
from orcish.terminal import printable
from orcish.types import (
    BloomFilter,
    Columns,
    ColumnStatistics,
    ColumnStorage,
    FileSystem,
    Finding,
    Limits,
    ProgressOption,
    ReadOptions,
    RowGroup,
    Source,
    StorageOptions,
    StripeInfo,
    ValueOptions,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from orcish.reading.encryption import Encryption

__all__ = [
    "ORCFile",
    "has_arrow_schema",
    "in_gregorian_calendar",
    "keys_of",
    "native_file",
    "records_parent_nulls",
    "table_file",
]

_ARROW_SCHEMA = "orcish.arrow.schema"
"""Key of the user metadata with the Arrow schema."""
_ROOT_COLUMN = "value"
"""Name of the only column of a file whose root type is no struct."""


def records_parent_nulls(file: ORCFile) -> bool:
    """Whether statistics of fields of structs record that a struct is null: those of orcish from version 0.1.1."""
    return cast("bool", file._file.properties["records_parent_nulls"])


def has_arrow_schema(file: ORCFile) -> bool:
    """Whether the file has an Arrow schema in its metadata."""
    return _ARROW_SCHEMA in file.metadata


class ORCFile(BatchSource):
    """An open ORC file. Its tail is read when it is opened, its data on request.

    The file is an Arrow stream: any consumer of ``__arrow_c_stream__`` reads it. Files of paths, URLs and bytes can be
    pickled; a pickle has the tail, and the storage options, and thus credentials. At the end of a ``with`` block the
    file is closed.

    Args:
        source: A path, the bytes of a whole file, an object with ``read`` and ``seek``, or a URL: ``s3://``, ``gs://``,
            ``az://``, ``abfs://``, ``abfss://``, ``hdfs://``, ``https://``, ``http://``, ``file://``, or another
            scheme that fsspec opens.
        tail: The result of :meth:`tail_bytes` for the same file, in any process; the tail is then not read again.
        limits: Limits on what the file may make the reader do.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
        filesystem: The file system that the path is within; see :data:`~orcish.types.FileSystem`.
        keys: Keys of encrypted columns; see :mod:`orcish.encryption`.
    """

    @checked_keywords
    def __init__(
        self,
        source: Source,
        *,
        tail: bytes | None = None,
        limits: Limits | None = None,
        storage_options: StorageOptions | None = None,
        filesystem: FileSystem | None = None,
        keys: Keys | None = None,
    ) -> None:
        place = source if filesystem is None else in_file_system(source, filesystem, storage_options)
        hidden_keys = hidden(keys)
        try:
            self._file = _native.File(
                place,
                tail=tail,
                limits=cast("dict[str, int] | None", limits),
                storage_options=storage_options,
                keys=None if hidden_keys is None else hidden_keys.native(),
            )
        except IsADirectoryError as error:
            raise IsADirectoryError(f"{error}: orcish.scan reads the files of a folder") from None
        native = self._file.source
        self._given: tuple[Any, ...] = (native, limits, storage_options, hidden_keys)
        self._folder = _native.working_folder()
        self._source = self._file.name if isinstance(native, str | SystemFile) else f"<{type(source).__name__}>"

    def __repr__(self) -> str:
        if isinstance(self._file, _ClosedFile):
            return printable(f"<orcish.ORCFile {self._source}: closed>")
        return printable(f"<orcish.ORCFile {self._source}: {self.num_rows} rows, {self.num_stripes} stripes>")

    def _repr_html_(self) -> str:
        facts = [("rows", self.num_rows), ("stripes", self.num_stripes), ("", self.compression)]
        from orcish.notebook import schema_html

        return schema_html(f"orcish.ORCFile {self._source}", facts, self.schema)

    def __array__(self, *_: Any, **__: Any) -> Any:
        # pandas.DataFrame(file) would say that it was not called properly.
        raise TypeError("a file is no array: to_pandas() reads it into a data frame, and read() into Arrow")

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.iter_batches()

    def __reduce__(self) -> tuple[Any, ...]:
        source, limits, storage_options, keys = self._given
        if not isinstance(source, str | bytes | SystemFile):
            raise TypeError(f"{self!r} cannot be pickled: only files of paths, URLs and bytes can")
        if isinstance(source, str):
            source = within(self._folder, source)
        return _unpickled, (source, self.tail_bytes(), limits, storage_options, keys)

    def __copy__(self) -> ORCFile:
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def __enter__(self) -> ORCFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Releases the file, once all readers that were made of it are done. Later calls raise ``ValueError``. File
        objects that were given stay open. Files that are not closed are released when nothing refers to them.
        """
        self._file = cast("_native.File", _ClosedFile(self._source))

    if not TYPE_CHECKING:  # Type checkers would take any name for one that is there.

        def __getattr__(self, name: str) -> None:
            raise missing_attribute("a file", name, FILE, dir(type(self)))

    def __len__(self) -> int:
        # It would be that of a list of batches, or of columns.
        raise TypeError("a file has no length: num_rows is the number of its rows")

    def __bool__(self) -> bool:
        return True

    # Metadata.

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of all columns under default options."""
        return self.arrow_schema()

    @checked_keywords
    def arrow_schema(
        self,
        *,
        columns: Columns | None = None,
        batch_size: int | None = None,
        stripes: Sequence[int] | None = None,
        filters: Filters | None = None,
        limit: int | None = None,
        row_number: bool | str | None = None,
        threads: int | None = None,
        **options: Unpack[ValueOptions],
    ) -> pa.Schema:
        """The Arrow schema under options; the keywords are those of :class:`~orcish.types.ReadOptions`."""
        return self._reader(chosen_options(locals(), ReadOptions)).schema()

    @checked_keywords
    def check(self, *, progress: ProgressOption = False) -> list[Finding]:
        """Reads the whole file and compares its rows with the recorded statistics of row groups, stripes and the file,
        with the positions of the row index, and, in files written by orcish, with the bloom filters. Recorded bounds
        have to be values of the column. Sums of floats may differ by rounding. Known faults of writers are not
        reported, as the reader ignores the affected statistics.

        ``limits["memory"]`` has to have room for three times the dictionaries and chunks of each column, as each is
        read sequentially and by two readers that use the row index, and for the bloom filters of a stripe.

        Args:
            progress: True for a bar on the terminal, or a function that is called with a
                :class:`~orcish.types.Progress`, in rows.

        Returns:
            Contradictions within the file, at most a thousand.

        Raises:
            CorruptFileError: The file cannot be read.
            LimitExceededError: The memory limit is too low, or there are more rows without stored data than bytes.
        """
        with reported_so_far(progress, f"check {self._file.name}", self.num_rows) as done:
            return [Finding(*found) for found in self._file.check(done)]

    @property
    def type_string(self) -> str:
        """The ORC type in the syntax of Hive: ``struct<id:bigint,name:string>``."""
        return self._file.type_string

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self._file.num_rows

    @property
    def num_stripes(self) -> int:
        """Number of stripes."""
        return len(self._file.stripes)

    @property
    def stripes(self) -> list[StripeInfo]:
        """Positions and rows of the stripes."""
        return [StripeInfo(*stripe) for stripe in self._file.stripes]

    @property
    def metadata(self) -> dict[str, bytes]:
        """The user metadata."""
        return self._file.metadata

    @property
    def column_paths(self) -> list[str]:
        """Dotted names of all columns, nested ones included, by column id; the name of the root is empty.

        Raises:
            LimitExceededError: The names take more than ``limits["tail"]`` bytes; each includes the names above it.
        """
        return self._file.column_paths

    @property
    def column_types(self) -> list[str]:
        """ORC types of all columns, by column id.

        Raises:
            LimitExceededError: The types take more than ``limits["tail"]`` bytes; each includes the types below it.
        """
        return self._file.column_types

    @property
    def column_parents(self) -> list[int | None]:
        """Column ids of the parents of all columns, by column id; the root has none."""
        return self._file.column_parents

    @checked_keywords
    def attributes(self, column: ColumnName | int) -> dict[str, str]:
        """Attributes of a column's type, such as ``iceberg.id``."""
        return dict(self._file.column_attributes(self.column_id(column)))

    @property
    def compression(self) -> str:
        """``none``, ``zlib``, ``snappy``, ``lzo``, ``lz4``, ``zstd`` or ``brotli``."""
        return cast("str", self._file.properties["compression"])

    @property
    def compression_chunk_size(self) -> int:
        """Maximum bytes of a compression chunk; 0 without compression."""
        return cast("int", self._file.properties["compression_chunk_size"])

    @property
    def version(self) -> str:
        """Version of the format, such as ``0.12``; empty in the oldest files."""
        return ".".join(map(str, self._file.properties["version"]))

    @property
    def writer(self) -> str:
        """The software that wrote the file."""
        return cast("str", self._file.properties["writer"])

    @property
    def writer_version(self) -> int:
        """Version number of the writer; each writer has its own numbers."""
        return cast("int", self._file.properties["writer_version"])

    @property
    def software_version(self) -> str | None:
        """Version of the software that wrote the file, as it recorded it."""
        return cast("str | None", self._file.properties["software_version"])

    @property
    def calendar(self) -> str:
        """``julian/gregorian`` (also where the file records none) or ``proleptic gregorian``.

        Dates and timestamps are read as proleptic Gregorian in either case.
        """
        return cast("str", self._file.properties["calendar"])

    @property
    def row_index_stride(self) -> int:
        """Rows of a row group; 0 where the file has no row index."""
        return cast("int", self._file.properties["row_index_stride"])

    @property
    def file_length(self) -> int:
        """Length of the file in bytes."""
        return cast("int", self._file.properties["file_length"])

    @property
    def encrypted_columns(self) -> list[str]:
        """Dotted names of the encrypted columns, of which only the masks can be read."""
        ids = self._file.properties["encrypted_columns"]
        paths = self.column_paths if ids else []
        return [paths[id] for id in ids]

    @property
    def encryption(self) -> Encryption | None:
        """Names of the keys, encrypted columns and masks; ``None`` where no column is encrypted. No key is needed."""
        from orcish.reading.encryption import encryption

        return encryption(self._file)

    def writer_timezones(self) -> list[str]:
        """The time zone of the writer of each stripe; empty where it is not recorded. Stripe footers are read."""
        return list(self._file.writer_timezones())

    def tail_bytes(self) -> bytes:
        """The serialized tail, for ``ORCFile(source, tail=…)`` in any process."""
        return self._file.tail_bytes()

    # Statistics.

    @checked_keywords
    def statistics(self, column: ColumnName | int) -> ColumnStatistics | None:
        """Statistics of a column over the whole file; ``None`` where the writer recorded none.

        Args:
            column: Dotted name, or column id. The root is 0, ``""`` where no column has an empty name, and
                also ``value`` where it is no struct.
        """
        id = self.column_id(column)
        found = self._file.column_statistics(id)
        return None if found is None else _statistics(found, self._file.column_type(id))

    @checked_keywords
    def stripe_statistics(self, column: ColumnName | int) -> list[ColumnStatistics]:
        """Statistics of a column for each stripe; empty where the writer recorded none."""
        id = self.column_id(column)
        kind = self._file.column_type(id)
        return [_statistics(found, kind) for found in self._file.column_stripe_statistics(id)]

    @checked_keywords
    def column_storage(self, *, stripes: Sequence[int] | None = None) -> list[ColumnStorage]:
        """Stored sizes and encodings of all columns, nested ones included, by column id. Stripe footers are read. Of
        encrypted columns, they are those of the masks.

        >>> file = orcish.ORCFile("orders.orc")
        >>> {column.name: column.total_bytes for column in file.column_storage()}
        {'': ..., 'id': ..., 'placed': ..., 'customer': ..., 'customer.name': ..., 'total': ...}
        >>> file.column_storage()[4].encodings
        {'DIRECT_V2': 1}

        Args:
            stripes: Indexes of stripes; all by default.

        Raises:
            ValueError: There is no such stripe.
            LimitExceededError: A stripe footer, or the names, take more than ``limits["tail"]`` bytes.
        """
        return column_storage(self._file, stripes)

    @checked_keywords
    def row_groups(self, column: ColumnName | int, *, stripes: Sequence[int] | None = None) -> list[RowGroup]:
        """The row groups of a column: what its row index and its bloom filters record. Stripes without a row index have
        none. The row indexes and bloom filters of the column are read.

        >>> [group.num_rows for group in orcish.ORCFile("orders.orc").row_groups("id")]
        [100]

        Args:
            column: Dotted name, or column id, as for :meth:`statistics`.
            stripes: Indexes of stripes; all by default.

        Raises:
            UnknownColumnError: There is no such column.
            ValueError: There is no such stripe.
            CorruptFileError: A stripe footer or a row index cannot be decoded.
        """
        id = self.column_id(column)
        kind = self._file.column_type(id)
        return [
            RowGroup(
                stripe,
                first,
                rows,
                None if found is None else _statistics(found, kind),
                positions,
                None if bloom is None else BloomFilter(*bloom),
            )
            for stripe, first, rows, found, positions, bloom in self._file.row_groups(id, stripes)
        ]

    @checked_keywords
    def column_id(self, column: ColumnName | int) -> int:
        """The id of the column that the reader takes for a name; an id is itself.

        Raises:
            UnknownColumnError: There is no such column.
        """
        if isinstance(column, int):
            return column
        try:
            return self._file.column_id(column)
        except UnknownColumnError:
            # The name of the root is empty, and so may be that of a column.
            if column == "":
                return 0
            raise

    # Data.

    def _reader(self, options: dict[str, Any]) -> ScanReader:
        columns = options.get("columns") or ()
        if 0 in columns and self._file.column_type(0).startswith("struct"):
            raise ValueError(
                f"columns={list(columns)!r}: 0 is the root, and so all columns: numbers are column ids, which count "
                "nested columns, and no positions; give names, or see column_paths"
            )
        return ScanReader(_FileSource(self._file), options)

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
        progress: ProgressOption = False,
        **options: Unpack[ValueOptions],
    ) -> pa.Table:
        """Reads the file into a table; the keywords are those of :class:`~orcish.types.ReadOptions`.

        Args:
            progress: True for a bar on the terminal, or a function that is called with a
                :class:`~orcish.types.Progress`, of rows, at the beginning and after each batch.
        """
        return self._reader(chosen_options(locals(), ReadOptions)).read_table(progress)

    def to_pandas(self, **options: Any) -> Any:
        """Reads the file into a pandas data frame; the keywords are those of :meth:`pyarrow.Table.to_pandas`."""
        return self.read().to_pandas(**options)

    def to_polars(self) -> Any:
        """Reads the file into a polars data frame."""
        from orcish.arrow.polars import to_polars

        return to_polars(self.read())

    @checked_keywords
    def head(self, rows: int = 10) -> pa.Table:
        """Reads the first rows. Stripes after them are not read."""
        return self.read(limit=rows)

    @checked_keywords
    def iter_batches(
        self,
        *,
        columns: Columns | None = None,
        batch_size: int | None = None,
        stripes: Sequence[int] | None = None,
        filters: Filters | None = None,
        limit: int | None = None,
        row_number: bool | str | None = None,
        threads: int | None = None,
        **options: Unpack[ValueOptions],
    ) -> Iterator[pa.RecordBatch]:
        """Reads the file batch by batch, in memory that does not grow with the file; the keywords are those of
        :class:`~orcish.types.ReadOptions`.
        """
        return self._reader(chosen_options(locals(), ReadOptions)).read_batches()

    @checked_keywords
    def iter_batches_async(
        self,
        *,
        columns: Columns | None = None,
        batch_size: int | None = None,
        stripes: Sequence[int] | None = None,
        filters: Filters | None = None,
        limit: int | None = None,
        row_number: bool | str | None = None,
        threads: int | None = None,
        **options: Unpack[ValueOptions],
    ) -> AsyncGenerator[pa.RecordBatch, None]:
        """Reads the file batch by batch, for ``async for``, without blocking the event loop; the keywords are those of
        :class:`~orcish.types.ReadOptions`.

        A thread reads the next batch while the program has the last one, and no further. Exceptions are those of
        :meth:`iter_batches`. Cancelling the task, or closing the generator, as ``contextlib.aclosing`` does, closes the
        reader.
        """
        reader = self._reader(chosen_options(locals(), ReadOptions))
        return batches_of_thread(reader.read_batches)

    @checked_keywords
    def read_stripe(
        self,
        index: int,
        *,
        columns: Columns | None = None,
        batch_size: int | None = None,
        filters: Filters | None = None,
        limit: int | None = None,
        row_number: bool | str | None = None,
        threads: int | None = None,
        **options: Unpack[ValueOptions],
    ) -> pa.Table:
        """Reads one stripe into a table; the keywords are those of :class:`~orcish.types.ReadOptions`."""
        return self._reader({**chosen_options(locals(), ReadOptions), "stripes": [index]}).read_table()

    @checked_keywords
    def explain(
        self,
        *,
        columns: Columns | None = None,
        batch_size: int | None = None,
        stripes: Sequence[int] | None = None,
        filters: Filters | None = None,
        limit: int | None = None,
        row_number: bool | str | None = None,
        threads: int | None = None,
        **options: Unpack[ValueOptions],
    ) -> Explanation:
        """Explains what reading would do: which stripes and row groups are skipped and why, and how much is read. The
        keywords are those of :class:`~orcish.types.ReadOptions`.

        Reads the stripe footers, and the row indexes and bloom filters of the columns of the filter.
        """
        return self._reader(chosen_options(locals(), ReadOptions)).explain()

    @checked_keywords
    def reader(
        self,
        *,
        columns: Columns | None = None,
        batch_size: int | None = None,
        stripes: Sequence[int] | None = None,
        filters: Filters | None = None,
        limit: int | None = None,
        row_number: bool | str | None = None,
        threads: int | None = None,
        **options: Unpack[ValueOptions],
    ) -> pa.RecordBatchReader:
        """A reader of pyarrow over the rows, which can be consumed once; the keywords are those of
        :class:`~orcish.types.ReadOptions`.

        An error while reading is raised by what consumes the reader: by pyarrow as ``pyarrow.ArrowInvalid``, with the
        same message. :meth:`iter_batches`, and functions of orcish that write the rows, raise the errors of orcish.
        """
        return self._reader(chosen_options(locals(), ReadOptions)).record_batch_reader()

    def _rows(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        return self._reader({}).read_rows()

    def _row_count(self) -> int | None:
        return self.num_rows

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._reader({}).stream().__arrow_c_stream__(requested_schema)


class _ClosedFile:
    """In the place of the native file, after a file has been closed."""

    def __init__(self, name: str) -> None:
        self.closed_name = name

    def __getattr__(self, name: str) -> Any:
        raise ValueError(f"{printable(self.closed_name)}: the file is closed")


def _unpickled(
    source: str | bytes, tail: bytes, limits: Limits | None, storage_options: StorageOptions | None, keys: Any
) -> ORCFile:
    return ORCFile(source, tail=tail, limits=limits, storage_options=storage_options, keys=keys)


class _FileSource(OneSource):
    """A file as the source of a reader."""

    part_names = STRIPES
    reads_null_keys = True
    partition_columns: Sequence[str] = ()

    def __init__(self, file: _native.File) -> None:
        self._file = file

    def open(self, options: dict[str, Any]) -> _native.Scan:  # noqa: ARG002 - the types are decided when it is read
        """The native scan."""
        return self._file.scan()

    def splits(self, scan: _native.Scan, size: int) -> Iterator[SplitPart]:  # noqa: ARG002
        """Splits are of tables."""
        raise TypeError(f"{self._file.name}: a file has no splits: scan it")


def native_file(file: ORCFile) -> _native.File:
    """The file of the native core, for other modules of orcish."""
    return file._file


def keys_of(file: ORCFile) -> HiddenKeys | None:
    """The keys that a file was opened with."""
    keys: HiddenKeys | None = file._given[3]
    return keys


def table_file(file: ORCFile) -> TableFile:
    """The file as one of a scan, which does not read its tail again."""
    source, *_ = file._given
    if isinstance(source, str):
        return TableFile(source, None, [], file.tail_bytes())
    location = source.location if isinstance(source, SystemFile) else file._source
    return TableFile(location, source, [], file.tail_bytes())


def in_gregorian_calendar(file: ORCFile) -> ORCFile:
    """The file with dates and timestamps of the proleptic Gregorian calendar, whatever its footer says."""
    found = copy.copy(file)
    found._file = file._file.in_gregorian_calendar()
    # A pickle has the source, and no calendar.
    found._given = (None, None, None)
    return found


_EPOCH = datetime.date(1970, 1, 1)


def _statistics(found: dict[str, Any], column_type: str) -> ColumnStatistics:
    """Statistics with values of the types that pyarrow would give them."""
    fields: dict[str, Any] = dict(found)
    kind = fields["kind"]
    for name in ("min", "max", "sum"):
        if name not in fields:
            continue
        value = fields[name]
        if kind == "decimal":
            fields[name] = decimal.Decimal(value)
        elif kind == "string":
            text, is_exact = value
            try:
                fields[name], fields[f"{name}_is_exact"] = text.decode(), is_exact
            except UnicodeDecodeError:
                # A replacement character would make it another value, which may be no bound.
                fields[name] = None
        elif kind == "date":
            fields[name] = _date(value)
        elif kind == "timestamp":
            fields[f"{name}_nanoseconds"] = value
            microseconds, rest = divmod(value, 1000)
            if rest:
                # It stays a bound.
                fields[f"{name}_is_exact"] = False
                microseconds += name == "max"
            fields[name] = _timestamp(microseconds, "local" in column_type, value)
    if kind == "timestamp":
        fields["is_instant"] = "local" in column_type
    axes = {axis: fields.pop(axis) for axis in "xyzm" if axis in fields}
    if kind == "geospatial":
        fields["bounding_box"] = axes
        fields["geospatial_types"] = tuple(fields.pop("types"))
    return ColumnStatistics(**fields)


def _date(days: int) -> datetime.date | int:
    """A date, or days since 1970 where it is out of range for Python."""
    try:
        return _EPOCH + datetime.timedelta(days=days)
    except OverflowError:
        return days


def _timestamp(microseconds: int, utc: bool, nanoseconds: int) -> datetime.datetime | int:
    """A timestamp in microseconds, or nanoseconds since 1970 where it is out of range for Python."""
    start = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc if utc else None)
    try:
        return start + datetime.timedelta(microseconds=microseconds)
    except OverflowError:
        return nanoseconds
