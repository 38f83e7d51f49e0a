"""Types of arguments, and options as mappings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypedDict

import pyarrow as pa

from orcish.encryption.columns import Encrypt, Masks
from orcish.encryption.keys import Keys
from orcish.filters.names import ColumnName
from orcish.filters.pushdown import Filters

__all__ = [
    "BinaryFile",
    "ColumnName",
    "Columns",
    "DatasetOptions",
    "ExistingData",
    "ExistingFile",
    "FileSystem",
    "Filters",
    "Limits",
    "Matching",
    "Pending",
    "Progress",
    "ProgressOption",
    "ReadOptions",
    "ScanOptions",
    "SelectionOptions",
    "Source",
    "Sources",
    "SparkReadOptions",
    "SparkWriteOptions",
    "StorageOptions",
    "TableOptions",
    "Target",
    "ValueOptions",
    "WritableFile",
    "WriteOptions",
]


class BinaryFile(Protocol):
    """A file object that is open for binary reading, such as those of ``open`` and fsspec."""

    def read(self, size: int, /) -> bytes:
        """Reads at most ``size`` bytes."""

    def seek(self, offset: int, whence: int = 0, /) -> Any:
        """Moves to ``offset``."""


class WritableFile(Protocol):
    """A file object that is open for binary writing."""

    def write(self, data: bytes, /) -> Any:
        """Writes ``data``; may return how many bytes were written, if not all."""


Target: TypeAlias = "str | os.PathLike[str] | WritableFile"
"""Where a file is written: a path, a URL of an object store, or a file object."""

Source: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryFile"
"""A path, a URL, the bytes of a whole file, or a file object."""

Sources: TypeAlias = "Source | Sequence[Source]"
"""A path, URL, folder or pattern, the bytes of a file, or a file object; or several of them."""

StorageOptions: TypeAlias = "Mapping[str, str | int | bool | Callable[[], object]]"
"""Options of object stores. They take precedence over environment variables.

Keys are those of the Rust crate ``object_store``, in lower case: ``aws_access_key_id``, ``aws_secret_access_key``,
``aws_session_token``, ``aws_region``, ``aws_endpoint``, ``aws_skip_signature`` (no credentials), …; ``aws_profile``, a
profile of ``~/.aws``, from which settings come that are in neither the options nor the environment;
``google_service_account``, …; ``azure_storage_account_name``, ``azure_storage_account_key``, …; and for all stores
``allow_http``, ``timeout`` (``"30s"``), ``connect_timeout``, ``proxy_url``, …. With HTTP, the value of
``header.NAME`` is sent as a header. With HDFS, keys are properties of Hadoop: ``dfs.…``, ``fs.…`` and ``hadoop.…``.
With schemes that fsspec opens, they are the arguments of its file system.

``credentials`` is a callable that obtains credentials of S3, Google Cloud Storage or Azure. They take precedence over
all others. It returns a mapping, or a pair of the mapping and the time at which its credentials expire: a datetime with
a zone, or seconds since 1970. The keys are ``aws_access_key_id``, ``aws_secret_access_key`` and ``aws_session_token``
for S3; ``bearer_token`` for Google Cloud Storage; one of ``azure_storage_account_key``, ``azure_storage_sas_key`` and
``bearer_token`` for Azure. It is called on another thread, before the first request and again shortly before the
credentials expire; its exceptions fail the request. Objects with such options are pickled if the callable is.

Options of requests:

- ``orcish.first_read``: bytes that are read from the end of a file with the first request (65,536);
- ``orcish.coalesce_gap``: ranges that are closer than this number of bytes are read with one request (1,048,576);
- ``orcish.part_size``: maximum bytes of a request (8,388,608); longer ranges are read in parallel parts;
- ``orcish.concurrency``: maximum number of concurrent requests to a store or server (10; at most 256). As many stripes
  and files are prefetched;
- ``orcish.max_retries`` (10) and ``orcish.retry_timeout``, in seconds (180): how often and how long requests are
  retried after transient failures;
- ``orcish.ca_certificate``: path of a PEM file with certificates of authorities that are trusted, beside those of the
  system (none).
"""

FileSystem: TypeAlias = Any
"""A file system that paths of a call are within: a ``pyarrow.fs.FileSystem``, an ``AbstractFileSystem`` of fsspec, or a
store of obstore, such as ``obstore.store.S3Store``.

Paths are those that the file system takes, without the scheme of a URL, such as ``bucket/orders/``. Files of a local
file system are read and written as those of a path. Other files are read through the file system, range by range, and
written under a hidden name, which is changed when the file is complete. Stores of obstore need no such name."""

Columns: TypeAlias = "Sequence[ColumnName] | Sequence[int]"
"""Names (``"a"``, ``"nest.b"``, ``"list.element.c"``, ``"map.value"``, ``("a.b", "c")``), or column ids of the type
tree. One dotted name need not be in a list.

A dotted name is that of a column ``a.b``, or else of the field ``b`` of a column ``a``. A tuple has steps:
``("a", "b")`` is the field, whatever other columns there are.

Column ids are no positions: they count nested columns, too, and begin with 0 for the root, which is refused where it is
a struct. ``ORCFile.column_paths`` has the names by id."""


Matching: TypeAlias = "Literal['name', 'name_ignoring_case', 'position'] | str"
"""How columns of a table are matched with columns of its files; other words are keys of attributes, such as
``iceberg.id``."""


ExistingData: TypeAlias = Literal["error", "append", "overwrite", "overwrite_partitions"]
"""What to do where the target has data already: an error, by default; the new files are added; they replace all files;
or they replace those of their partitions."""

ExistingFile: TypeAlias = Literal["error", "overwrite"]
"""What to do where the file that is written is there already: an error, by default, or it is replaced. A file that
another process writes meanwhile is an error, too. Stores, and file systems without hard links, are asked when the
writer opens and right before the file appears. A file object has to be empty."""

Pending: TypeAlias = Literal["wait", "before"]
"""What a reader does where the last commit is decided and not all of its files are visible: it waits and fails at last,
or reads the state before the commit."""


class Progress(NamedTuple):
    """How far a piece of work is."""

    done: int
    """Bytes of the files that are done, of functions that change tables; or rows, of those that read or write rows."""
    total: int | None
    """Bytes of all files, or all rows; ``None`` where their number is not known before they have been read, as with a
    filter, or for rows of a generator."""


ProgressOption: TypeAlias = bool | Callable[[Progress], object]
"""Whether a bar is shown on the terminal, or a function that is called with a :class:`Progress` at the beginning and
after each file or batch."""


class Limits(TypedDict, total=False):
    """Limits on what a file may make the reader do; each is optional."""

    tail: int
    """Maximum bytes of a file footer, a stripe footer, or stripe statistics, compressed and decompressed (256 MiB). The
    dotted names of all columns, and their types, have the same limit."""
    chunk: int
    """Maximum bytes of a compression chunk (64 MiB)."""
    depth: int
    """Maximum nesting of types (128)."""
    columns: int
    """Maximum number of columns of the type tree (1,048,576)."""
    stripes: int
    """Maximum number of stripes (1,048,576)."""
    memory: int
    """Maximum bytes of each of three things that a read holds at a time: stored stripes; decompressed chunks,
    dictionaries and indexes; decoded batches that have not been consumed yet (4 GiB). All three together take at most
    about two and a half times this limit. Explaining a read has the same limit."""
    result: int
    """Maximum bytes of a table that is returned as a whole, by ``read_table``, ``to_table`` and their like. By default
    it is ``memory`` where that is given, and there is no limit otherwise: a table may have any size that fits into
    memory."""


class SelectionOptions(TypedDict, total=False):
    """Options of reading that are keywords of each function: which columns and rows are read, and how they come."""

    columns: Columns | None
    """The columns to read, in this order, each once; all by default."""
    filters: Filters | None
    """Only rows for which this is true; all by default. It is an expression of :func:`orcish.col`, of pyarrow or of
    polars, or pyarrow's lists of ``(column, operator, value)``. A string is parsed as SQL, such as ``"id > 5 and name
    in ('a', 'b')"``, see :func:`orcish.filters.text.parse`. Stripes and row groups are skipped where statistics or
    bloom filters exclude all rows."""
    limit: int | None
    """Maximum number of rows to read, of those that pass the filters; all by default."""
    batch_size: int
    """Maximum rows of a batch; 65,536 by default. A batch also has at most 128 MiB of values, unless a single row needs
    more."""
    row_number: bool | str
    """Adds a column with the number of each row in its file, from 0. Its name is ``row_number``, or the given one.
    Filters can name it."""
    threads: int
    """Number of decoding threads; 0, the number of cores, by default. There is at most one for each 32 MiB of the limit
    ``memory``. Requests to servers have threads of their own."""


class ValueOptions(TypedDict, total=False):
    """Options of how values are read."""

    arrow_schema: bool
    """Whether columns have the Arrow types that they were written with, where the metadata of the file has an Arrow
    schema (``orcish.arrow.schema``) that fits its types; true by default. ``timestamp_unit``, ``timestamps``,
    ``strings`` and ``unions`` take precedence. A scan of several files has the types of the first one, and its columns
    are nullable."""
    timestamp_unit: Literal["s", "ms", "us", "ns", "auto", "exact"]
    """Unit of timestamps; the unit that they were written with, or else ``us``, by default. ``auto`` is ``ns`` where
    statistics show that all values fit, and else ``us``. ``exact`` loses no digit: it is the unit that they were
    written with, or else as ``auto``, and a value with digits beyond the unit is an error. In a scan of several files
    without ``schema``, the default, ``auto`` and ``exact`` are the finest unit of any file, but ``ns`` only where the
    values of all files fit."""
    timestamps: Literal["wall", "instant"]
    """Whether ``timestamp`` of ORC is read as the wall clock time of the writer, or as the instant, in UTC; instants of
    columns that are known to be written as instants, and else wall clock times, by default. The file stores instants
    and the time zone of the writer. Instants distinguish the two occurrences of an hour that the clock repeats. A scan
    gives instants where some files have ``timestamp`` and others ``timestamp with local time zone``."""
    timezone: str
    """Changes instants of ``timestamp``: each becomes the instant at which clocks of this zone show the wall clock time
    of the writer; none by default. ORC Java, and so Spark, reads it so in a JVM of this zone. With the zone of the
    writer, the stored instants are unchanged."""
    timestamp_out_of_range: Literal["error", "null"]
    """How timestamps beyond the range of the unit are read; as an error by default."""
    strings: Literal["utf8", "large", "view", "dictionary", "binary"]
    """Arrow type of strings; the type that they were written with, or else ``utf8``, by default. ``binary`` also reads
    strings that are not valid UTF-8."""
    invalid_utf8: Literal["error", "replace", "null", "binary"]
    """How invalid UTF-8 is read; as an error by default. ``replace`` puts U+FFFD in place of the bytes, as
    ``bytes.decode(errors="replace")`` does. With ``binary``, all string columns have the binary type that corresponds
    to ``strings``; ``strings="binary"`` is short for ``utf8`` with this choice."""
    decimal_out_of_range: Literal["error", "null"]
    """How decimals of more digits than their precision are read; as an error by default."""
    long_char: Literal["keep", "cut", "error"]
    """How strings that are longer than their ``char`` or ``varchar``, in code points, are read; as they are stored by
    default. ``cut`` truncates them."""
    trim_char: bool
    """Whether trailing blanks of ``char`` values are removed; false by default."""
    unions: Literal["dense", "sparse", "struct"]
    """Arrow type of unions; the type that they were written with, or else ``dense``, by default."""
    null_map_keys: Literal["error", "dictionary"]
    """How null keys of maps are read; as an error by default. Maps of Arrow cannot have them. With ``dictionary``, the
    keys of all maps are dictionary arrays, which can hold a null. Tables are read that way without request where a map
    has a null key."""
    masked: Literal["error", "allow"]
    """Whether encrypted columns may be read as their masks; an error by default."""


class ReadOptions(SelectionOptions, ValueOptions, total=False):
    """Options of reading, which are keywords of every function that reads."""

    stripes: Sequence[int] | None
    """Indexes of the stripes to read, in this order; all by default."""


class TableOptions(ValueOptions, total=False):
    """Options of tables, beside those of :class:`SelectionOptions`."""

    schema: pa.Schema | None
    """Schema of the table; that of its log, or the columns of the first file with types that hold the values of all
    files, by default. A value that is none of its type is an error. Partition columns in it have its types: an integer,
    boolean, date or string."""
    match: Matching
    """How columns are matched with columns of the files."""
    partitions: bool | None
    """Whether folders ``name=value`` are columns; true for folders and patterns, and false for single files, by
    default."""
    storage_options: StorageOptions | None
    """Options of the stores of URLs."""
    filesystem: FileSystem | None
    """The file system that the paths are within; that of local paths and URLs by default."""
    limits: Limits | None
    """Limits on what each file may make the reader do."""
    keys: Keys | None
    """Keys of encrypted columns: a mapping from the name and the version of each master key to its bytes, a function
    that returns them, or an object that unwraps local keys; see :mod:`orcish.encryption`. Without the key of a column,
    its masks can be read with ``masked``."""
    external_locations: Sequence[str | os.PathLike[str]] | None
    """Paths and URLs at or below which a table of CarbonData may have segments and partitions, in addition to its
    folder; none by default. An example is ``["s3://bucket/archive"]``. Other locations in its metadata are refused, as
    they would be read with the rights of the user. Headers of ``storage_options`` are only sent to the host of the
    table."""
    pending: Literal["wait", "before"] | None
    """What to do where the last commit of the table is decided, and not all of its files are visible; ``wait`` by
    default. ``wait`` waits while files become visible, and fails if none does for some seconds. ``before`` reads the
    state before the commit."""


class ScanOptions(SelectionOptions, TableOptions, total=False):
    """Options of a scan. Columns are given by names, not by ids."""


class WriteOptions(TypedDict, total=False):
    """Options of writing. Columns are given by their names, as for reading; a name includes all nested columns."""

    compression: Literal["zstd", "zlib", "snappy", "lz4", "brotli", "none", "uncompressed"] | None
    """Codec of the file; ``zstd`` by default. ``None`` is no compression, as for pyarrow and pandas."""
    compression_level: int | None
    """Level of the codec: 1 to 12 of zlib, -7 to 22 of zstd, 0 to 11 of brotli; 1, 2 and 5 by default. Other codecs
    have no levels."""
    column_compression: Mapping[ColumnName, int | Literal["none"] | None] | None
    """Other compression levels of columns; ``None`` does not compress the column. The codec is that of the file."""
    compression_block_size: int | str | None
    """Maximum bytes of a compression chunk; 262,144, and down to 65,536 where there are many columns, by default."""
    stripe_size: int | str | None
    """Stored bytes of a stripe; 64 MiB by default."""
    row_index_stride: int | None
    """Rows of a row group, at least 1,000, or 0 for no row index; 10,000 by default."""
    bloom_filter_columns: Sequence[ColumnName] | None
    """Columns with bloom filters; none by default."""
    bloom_filter_fpp: float | None
    """False positive probability of bloom filters; 0.01 by default."""
    dictionary: bool | Mapping[ColumnName, bool | None] | None
    """Whether strings are dictionary encoded, for all columns or by column; what is expected to be smaller in each
    stripe by default. ``None`` is the same."""
    metadata: Mapping[str, bytes | str] | None
    """User metadata of the file. Metadata of the Arrow schema are added."""
    timezone: str | None
    """Time zone of the wall clock that timestamps without zone are stored in, by any id that a JVM knows; ``"UTC"`` by
    default. Readers in Java and C++ see the same wall clock time with any zone since 1970; earlier times may be others
    in pyarrow, see ``docs/from-pyarrow.md``."""
    version: Literal["0.11", "0.12"] | None
    """Version of the format; ``0.12`` by default. ``0.11`` is for readers as old as Hive 0.11."""
    arrow_schema: bool | None
    """Whether the Arrow schema is stored, so that readers restore the types that were written; true by default."""
    threads: int | None
    """Number of encoding threads; the number of cores by default."""
    encrypt: Encrypt | None
    """Columns that are encrypted, by the names of their keys: ``{"pii": ["ssn", "contact.email"]}``, or the text of ORC
    Java, ``"pii:ssn,contact.email"``; none by default. A column includes all columns below it."""
    mask: Masks | None
    """What readers without the key of a column see, by column: ``nullify`` for nulls, or ``sha256`` for digests, as
    ``{"contact.email": "sha256"}``, or the text of ORC Java, ``"sha256:contact.email"``; ``nullify`` by default."""
    keys: Keys | None
    """Keys of the encrypted columns; see :mod:`orcish.encryption`. Files are written with the newest version of a
    key."""
    verify: bool | None
    """Whether the file is read and compared with the input before it appears; false by default. Values, statistics, the
    row index, bloom filters and, of local files, the bytes on disk are compared. Writing takes about three times as
    long, and the rows of a stripe are kept in memory."""


class DatasetOptions(TypedDict, total=False):
    """Options of folders of files, which are keywords of :func:`orcish.write_dataset` and :func:`orcish.convert`."""

    existing_data: ExistingData
    """What to do where the target has data already; an error by default. With ``append``, the new files are added. With
    ``overwrite``, they replace all files, and with ``overwrite_partitions`` those of their partitions."""
    partition_by: Sequence[str] | None
    """Names of the partition columns, the outermost first; those of the source, or none, by default. Files do not have
    these columns."""
    max_rows_per_file: int | None
    """Maximum number of rows of a file; no limit by default."""
    max_open_files: int
    """Maximum number of open files; 256 by default. Rows of further partitions wait in memory, and in temporary files
    beyond half of ``max_memory``, until the dataset is finished: each partition has one file."""
    max_partitions: int
    """Maximum number of partitions; 10,000 by default. More are an error before any of their files is created."""
    max_memory: int | str
    """Maximum bytes of memory of all open files and of rows that wait; 1 GiB by default. The largest files end their
    stripes beyond it."""


class SparkReadOptions(TypedDict, total=False):
    """Options of reading with :mod:`orcish.spark`. In the data source, their names are in camel case."""

    merge_schema: bool | None
    """Whether the columns are those of all files, in place of those of the log or of the first file; false by
    default."""
    case_sensitive: bool | None
    """Whether names are case sensitive; false by default. Names that differ only by case are then an error."""
    partition_column_type_inference: bool | None
    """Whether partition columns have the types that Spark infers, and not text; true, and in functions the setting of
    the session, by default."""
    recursive_file_lookup: bool | None
    """Whether the files of all subfolders are read, and no folder is a partition; false by default."""
    split_size: int | None
    """Bytes of a split; 128 MiB by default."""
    min_splits: int | None
    """Least number of splits; 1, and in functions the parallelism of Spark, by default."""
    session_timezone: str | None
    """Time zone of timestamps in names of folders and in ``filters``; ``timezone`` by default."""
    timezone: str | None
    batch_size: int | None
    row_number: bool | str | None
    partitions: bool | None
    pending: Pending | None
    external_locations: Sequence[str] | None
    key_provider: str | None
    """Where keys of encrypted columns come from, in each worker: ``kms://https@host:9600/kms``, ``file:PATH``,
    ``env:NAME``, or ``python:module:name`` for an object of a module; see :mod:`orcish.encryption`."""
    masked: Literal["error", "allow"] | None
    invalid_utf8: Literal["error", "replace", "null", "binary"] | None
    decimal_out_of_range: Literal["error", "null"] | None
    long_char: Literal["keep", "cut", "error"] | None


class SparkWriteOptions(TypedDict, total=False):
    """Options of writing with :mod:`orcish.spark`. In the data source, their names are in camel case."""

    partition_overwrite_mode: Literal["static", "dynamic"] | None
    """With ``dynamic``, an overwrite replaces only partitions with new rows; the setting
    ``spark.sql.sources.partitionOverwriteMode`` of the session by default."""
    case_sensitive: bool | None
    timezone: str | None
    session_timezone: str | None
    max_rows_per_file: int | None
    compression: Literal["zstd", "zlib", "snappy", "lz4", "brotli", "none", "uncompressed"] | None
    compression_level: int | None
    compression_block_size: int | str | None
    stripe_size: int | str | None
    row_index_stride: int | None
    bloom_filter_columns: Sequence[str] | None
    bloom_filter_fpp: float | None
    dictionary: bool | Mapping[str, bool | None] | None
    verify: bool | None
