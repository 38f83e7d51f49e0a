"""Reading of files."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterator, Sequence
from typing import Any, Literal, cast

import pyarrow as pa

from orcish import _native
from orcish.errors import CorruptFileError, UnknownColumnError, UnsupportedError
from orcish.filters.pushdown import Filters
from orcish.io.paths import native_source
from orcish.keywords import checked_keywords, chosen_options
from orcish.reading.explanation import Explanation
from orcish.reading.reader import BatchSource, Reader
from orcish.types import (
    Columns,
    ColumnStatistics,
    Finding,
    Limits,
    ReadOptions,
    Source,
    StorageOptions,
    StripeInfo,
)

__all__ = ["ORCFile", "has_arrow_schema", "native_file"]

_ARROW_SCHEMA = "orcish.arrow.schema"
"""Key of the metadata under which a file has its Arrow schema."""
_ROOT_COLUMN = "value"
"""The one column of a file whose root is no struct."""


def has_arrow_schema(file: ORCFile) -> bool:
    """Whether a file says of which types of Arrow its columns are."""
    return _ARROW_SCHEMA in file.metadata


class ORCFile(BatchSource):
    """An open ORC file. Its tail is read at once, its data when asked for.

    The file is an Arrow stream itself: whatever takes objects with ``__arrow_c_stream__`` reads it.

    Args:
        source: A path, the bytes of a whole file, an object with ``read`` and ``seek``, or a URL: ``s3://``, ``gs://``,
            ``az://``, ``abfs://``, ``abfss://``, ``https://``, ``http://``, ``file://``.
        tail: What :meth:`tail_bytes` gave for the same file, here or in another process: it is then not read again.
        limits: Bounds on what the file may make the reader do.
        storage_options: How the store of a URL is reached; see :data:`~orcish.types.StorageOptions`.
    """

    @checked_keywords
    def __init__(
        self,
        source: Source,
        *,
        tail: bytes | None = None,
        limits: Limits | None = None,
        storage_options: StorageOptions | None = None,
    ) -> None:
        native = native_source(source)
        self._file = _native.File(
            native,
            tail=tail,
            limits=cast("dict[str, int] | None", limits),
            storage_options=None if storage_options is None else dict(storage_options),
        )
        self._reader = _FileReader(self._file)
        self._source = self._file.name if isinstance(native, str) else f"<{type(source).__name__}>"

    def __repr__(self) -> str:
        return f"<orcish.ORCFile {self._source}: {self.num_rows} rows, {self.num_stripes} stripes>"

    # What the file says of itself.

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of all columns under the default options."""
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
    ) -> pa.Schema:
        """The Arrow schema that reading has under the given options."""
        options = chosen_options(locals(), ReadOptions)
        return self._reader.schema(options)

    def check(self) -> list[Finding]:
        """Reads the whole file, and compares what is recorded of its rows with them: the statistics of row groups, of
        stripes and of the file, the positions of the row index, and, in files of orcish, the bloom filters. Bounds have
        to be values, sums of floating point numbers as near as the order of additions leaves them. What writers are
        known to record wrongly is not looked at, as it is not when the file is read.

        ``limits["memory"]`` has to have room for the dictionaries and chunks of each column three times, as each is
        read through and by two readers that go by the row index, and for the bloom filters of a stripe.

        Returns:
            What is not as the file says, a thousand at most.

        Raises:
            CorruptFileError: The file cannot be read.
            LimitExceededError: Memory is short, or rows for which nothing is stored are more than its bytes.
        """
        return [Finding(*found) for found in self._file.check()]

    @property
    def type_string(self) -> str:
        """The ORC type as Hive writes it: ``struct<id:bigint,name:string>``."""
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
        """Where the stripes are, and which rows they hold."""
        return [StripeInfo(*stripe) for stripe in self._file.stripes]

    @property
    def metadata(self) -> dict[str, bytes]:
        """Keys and values that the writing application left."""
        return self._file.metadata

    @property
    def column_paths(self) -> list[str]:
        """Dotted names of all columns, nested ones too, by column id; that of the root is empty.

        Raises:
            LimitExceededError: They take more than ``limits["tail"]`` bytes: a name is in those of all columns below.
        """
        return self._file.column_paths

    @property
    def column_types(self) -> list[str]:
        """ORC types of all columns, by column id.

        Raises:
            LimitExceededError: They take more than ``limits["tail"]`` bytes: a type is in all those that hold it.
        """
        return self._file.column_types

    @property
    def column_parents(self) -> list[int | None]:
        """Column ids of the types that hold each column, by column id; the root has none."""
        return self._file.column_parents

    @checked_keywords
    def attributes(self, column: str | int) -> dict[str, str]:
        """Attributes of a column's type, such as ``iceberg.id``."""
        return dict(self._file.column_attributes(self._column_id(column)))

    @property
    def compression(self) -> str:
        """``none``, ``zlib``, ``snappy``, ``lzo``, ``lz4``, ``zstd`` or ``brotli``."""
        return cast("str", self._file.properties["compression"])

    @property
    def compression_chunk_size(self) -> int:
        """Most bytes that a compression chunk holds; 0 without compression."""
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
        """Version of the writer, in the count of its kind."""
        return cast("int", self._file.properties["writer_version"])

    @property
    def software_version(self) -> str | None:
        """Version of the software that wrote the file, in its own words."""
        return cast("str | None", self._file.properties["software_version"])

    @property
    def calendar(self) -> str:
        """``julian/gregorian`` (also where the file names none) or ``proleptic gregorian``.

        Dates and timestamps are proleptic Gregorian when read, whatever the file has.
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
        """Dotted names of the columns that are encrypted; only their masks can be read."""
        ids = self._file.properties["encrypted_columns"]
        paths = self.column_paths if ids else []
        return [paths[id] for id in ids]

    def tail_bytes(self) -> bytes:
        """The tail as bytes, for ``ORCFile(source, tail=…)`` in any process."""
        return self._file.tail_bytes()

    # Statistics.

    @checked_keywords
    def statistics(self, column: str | int) -> ColumnStatistics | None:
        """Statistics of a column over the whole file; ``None`` where the writer kept none.

        Args:
            column: Dotted name, or column id; ``""`` and 0 are the root, which is ``value`` too where it is no struct.
        """
        id = self._column_id(column)
        found = self._file.column_statistics(id)
        return None if found is None else _statistics(found, self._file.column_type(id))

    @checked_keywords
    def stripe_statistics(self, column: str | int) -> list[ColumnStatistics]:
        """Statistics of a column for each stripe; empty where the writer kept none."""
        id = self._column_id(column)
        kind = self._file.column_type(id)
        return [_statistics(stripe[id], kind) for stripe in self._file.stripe_statistics() if id < len(stripe)]

    def _column_id(self, column: str | int) -> int:
        if isinstance(column, int):
            return column
        id = self._file.column_id(column)
        if id is None:
            # The reader knows more spellings, and says which names are near.
            self._file.read({"columns": [column]})
            if column == _ROOT_COLUMN:
                # The root is no struct: with these it would be the name of a column.
                return 0
            raise UnknownColumnError(f"no column has the full name {column!r}")
        return id

    # Data.

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
        """Read the file into a table; see :class:`~orcish.types.ReadOptions` for the keywords."""
        options = chosen_options(locals(), ReadOptions)
        return self._reader.read_table(options)

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
        """Read the file batch by batch, in memory that does not grow with the file."""
        options = chosen_options(locals(), ReadOptions)
        return self._reader.read_batches(options)

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
        """Read one stripe into a table."""
        options = chosen_options(locals(), ReadOptions)
        options["stripes"] = [index]
        return self.read(**options)

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
    ) -> Explanation:
        """What reading would do: which stripes and row groups are skipped and why, and how much is read.

        Footers of stripes, and row indexes and bloom filters of the columns that the filter asks, are read for that.
        """
        options = chosen_options(locals(), ReadOptions)
        native, residual = self._reader.prepare(options)
        after_read = None if residual is None else str(residual.residual)
        return Explanation.of([self._file.explain(native)], after_read)

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
    ) -> _native.Batches | pa.RecordBatchReader:
        """An Arrow stream of the file under the given options, to be consumed once."""
        options = chosen_options(locals(), ReadOptions)
        return self._reader.stream(options)

    def _rows(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        return self._reader.read_rows({})

    def __arrow_c_schema__(self) -> object:
        return self._file.read({"masked": "allow"}).__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._file.read().__arrow_c_stream__(requested_schema)


class _FileReader(Reader):
    def __init__(self, file: _native.File) -> None:
        self._file = file

    def open(self, native: dict[str, Any]) -> _native.Batches:
        return self._file.read(native)

    def readable_columns(self, native: dict[str, Any]) -> list[int] | None:
        def is_readable(id: int) -> bool:
            try:
                self.native_schema({**native, "columns": [id]})
            except (CorruptFileError, UnsupportedError):
                return False
            return True

        top = [id for id, parent in enumerate(self._file.column_parents) if parent == 0]
        return [id for id in top if is_readable(id)] or None


def native_file(file: ORCFile) -> _native.File:
    """The file of the native core, for other modules of orcish."""
    return file._file


_EPOCH = datetime.date(1970, 1, 1)


def _statistics(found: dict[str, Any], column_type: str) -> ColumnStatistics:
    """Statistics with values as pyarrow would give them."""
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
                # A text with other characters in place of those bytes is none of the column, and may be no bound.
                fields[name] = None
        elif kind == "date":
            fields[name] = _date(value)
        elif kind == "timestamp":
            fields[name] = _timestamp(value, "local" in column_type)
    axes = {axis: fields.pop(axis) for axis in "xyzm" if axis in fields}
    if kind == "geospatial":
        fields["bounding_box"] = axes
        fields["geospatial_types"] = tuple(fields.pop("types"))
    return ColumnStatistics(**fields)


def _date(days: int) -> datetime.date | int:
    """A date, or the days since 1970 where Python has no such date."""
    try:
        return _EPOCH + datetime.timedelta(days=days)
    except OverflowError:
        return days


def _timestamp(nanoseconds: int, utc: bool) -> datetime.datetime | int:
    """A timestamp to the microsecond, or nanoseconds since 1970 where Python has no such time."""
    start = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc if utc else None)
    try:
        return start + datetime.timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return nanoseconds
