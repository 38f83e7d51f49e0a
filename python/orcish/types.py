"""What orcish takes and gives back."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypedDict

import pyarrow as pa

from orcish.filters.pushdown import Filters

__all__ = [
    "BinaryFile",
    "ColumnStatistics",
    "Columns",
    "Finding",
    "Limits",
    "Matching",
    "ReadOptions",
    "ScanOptions",
    "Source",
    "Sources",
    "StorageOptions",
    "StripeInfo",
    "Target",
    "WritableFile",
    "WriteOptions",
]


class BinaryFile(Protocol):
    """A file object that is open for binary reading, such as those of ``open`` and fsspec."""

    def read(self, size: int, /) -> bytes:
        """Read at most ``size`` bytes."""

    def seek(self, offset: int, whence: int = 0, /) -> Any:
        """Move to ``offset``."""


class WritableFile(Protocol):
    """A file object that is open for binary writing."""

    def write(self, data: bytes, /) -> Any:
        """Write all of ``data``, or say how much of it."""


Target: TypeAlias = "str | os.PathLike[str] | WritableFile"
"""Where a file is written to: a path, a URL of an object store, or a file object."""

Source: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryFile"
"""A path, a URL, the bytes of a whole file, or a file object."""

Sources: TypeAlias = "Source | Sequence[Source]"
"""A path, URL, folder or pattern, the bytes of a file, or a file object; or several of them."""

StorageOptions: TypeAlias = "Mapping[str, str | int | bool]"
"""How the store of a URL is reached, beside what variables of the environment say.

Keys are those of the Rust crate ``object_store``, in lower case: ``aws_access_key_id``, ``aws_secret_access_key``,
``aws_session_token``, ``aws_region``, ``aws_endpoint``, ``aws_skip_signature`` (no credentials), …;
``google_service_account``, …; ``azure_storage_account_name``, ``azure_storage_account_key``, …; and for all of them
``allow_http``, ``timeout`` (``"30s"``), ``connect_timeout``, ``proxy_url``, …. With HTTP, the value of
``header.NAME`` is sent as a header.

These say how requests are made:

- ``orcish.first_read``: bytes to read from the end of a file at first (65,536);
- ``orcish.coalesce_gap``: bytes that are rather read than another request is made (1,048,576);
- ``orcish.part_size``: most bytes of a request (8,388,608); longer ranges are read in parts, side by side;
- ``orcish.concurrency``: most requests to a store or server at a time (10; at most 256). As many stripes and files are
  asked for ahead of what is decoded;
- ``orcish.max_retries`` (10) and ``orcish.retry_timeout``, in seconds (180): how often and how long requests that
  failed for a passing reason are made again.
"""

Columns: TypeAlias = "Sequence[str] | Sequence[int]"
"""Dotted names (``"a"``, ``"nest.b"``, ``"list.element.c"``, ``"map.value"``), or column ids of the type tree."""


Matching: TypeAlias = "Literal['name', 'name_ignoring_case', 'position'] | str"
"""How columns of a table are found in its files; other words are keys of attributes, such as ``iceberg.id``."""


class Limits(TypedDict, total=False):
    """Bounds on what a file may make the reader do; what is left out stays at its default."""

    tail: int
    """Most bytes of a footer, of the file or of a stripe, and of stripe statistics: as stored and decoded (256 MiB).
    The dotted names of all columns may take as many, and their types."""
    chunk: int
    """Most bytes that a compression chunk may hold (64 MiB)."""
    depth: int
    """Deepest nesting of types (128)."""
    columns: int
    """Most columns of the type tree (1,048,576)."""
    stripes: int
    """Most stripes (1,048,576)."""
    memory: int
    """Most bytes of each of three things that one read holds at a time: stripes as stored; decompressed chunks,
    dictionaries and indexes; decoded batches that have not been handed out yet (4 GiB). All three together take about
    two and a half times as much at most. An explanation of a read may take as many."""


class ReadOptions(TypedDict, total=False):
    """How to read; every function that reads takes these as keywords."""

    columns: Columns | None
    """The columns to read, in this order; all by default."""
    batch_size: int
    """Most rows of a batch (65,536)."""
    stripes: Sequence[int] | None
    """Indexes of the stripes to read, in this order; all by default."""
    filters: Filters | None
    """Which rows to read: an expression of :func:`orcish.col`, of pyarrow or of polars, or pyarrow's lists of
    ``(column, operator, value)``. Text is read as SQL, such as ``"id > 5 and name in ('a', 'b')"``, or as such lists in
    JSON, see :func:`orcish.filters.text.parse`. Stripes and row groups that have no such row by their statistics or
    bloom filters are not read."""
    limit: int | None
    """Most rows to read."""
    row_number: bool | str
    """Add a column, ``row_number`` or of the name given, with the number of each row in the file, from 0."""
    threads: int
    """Threads that decode; 0, the default, takes as many as the machine has cores. Those that wait for the answers of
    servers come on top, one for each request."""
    arrow_schema: bool
    """Give columns the Arrow types that they were written with, where the file has kept its Arrow schema in its
    metadata, under ``orcish.arrow.schema``: true by default. A schema that does not fit the types of the file is left
    out of account. What ``timestamp_unit``, ``timestamps``, ``strings`` and ``unions`` say stands above it. A scan of
    several files has the types of the first one, and its columns may all have nulls."""
    timestamp_unit: Literal["s", "ms", "us", "ns", "auto"]
    """Unit of timestamps, as they were written or else ``us`` by default; ``auto`` is ``ns`` where statistics show that
    all values fit."""
    timestamps: Literal["wall", "instant"]
    """What is read of ORC's ``timestamp``, which stores instants and the time zone of its writer: what the writer's
    clock showed (``wall``), or the instant, in UTC, which tells the two times of an hour apart that the clock showed
    twice. By default columns that were written as instants are such, if that is known, and the others wall clocks; and
    a scan whose first file has ``timestamp`` where others have ``timestamp with local time zone`` gives instants."""
    timezone: str
    """With instants of ``timestamp``: those at which the clocks of this zone show what the writer's showed, as ORC Java
    (and so Spark) reads them in a JVM of this zone. Where it is the writer's own zone, and by default, the instants are
    those that are stored."""
    timestamp_out_of_range: Literal["error", "null"]
    """What becomes of timestamps that the unit cannot hold: an error, by default, or null."""
    strings: Literal["utf8", "large", "view", "dictionary", "binary"]
    """Arrow type of strings, as they were written or else ``utf8`` by default; ``binary`` takes bytes that are not
    valid UTF-8."""
    invalid_utf8: Literal["error", "replace", "null", "binary"]
    """What becomes of text that is not UTF-8: an error, by default; U+FFFD in place of the bytes, as
    ``bytes.decode(errors="replace")`` has it; null in place of the value. With ``binary`` all text columns have the
    binary type of the form that ``strings`` asks for; ``strings="binary"`` is short for ``utf8`` with this."""
    decimal_out_of_range: Literal["error", "null"]
    """What becomes of decimals of more digits than their precision: an error, by default, or null."""
    long_char: Literal["keep", "cut", "error"]
    """What becomes of text that is longer than its ``char`` or ``varchar``, in code points: it is read as it is stored,
    by default, cut, or an error."""
    trim_char: bool
    """Cut the padding blanks off the end of char values."""
    unions: Literal["dense", "sparse", "struct"]
    """Arrow type of unions, as they were written or else ``dense`` by default."""
    null_map_keys: Literal["error", "dictionary"]
    """Arrow's maps cannot have null keys. A file that has them is an error in a stream, whose schema is fixed
    before; with ``dictionary`` the keys of all maps are dictionary arrays, which can hold a null. Tables are
    read that way without being asked where there is no other."""
    masked: Literal["error", "allow"]
    """Whether encrypted columns may be read as their masks; an error by default."""


class ScanOptions(ReadOptions, total=False):
    """What a scan takes beside its source. Its columns have names and no ids, and it has no ``stripes``: splits do."""

    schema: pa.Schema | None
    """Schema of the table; that of the first file by default. Where it has a column of the paths, it says the type of
    its values: an integer, boolean, date or text."""
    match: Matching
    """How columns are found in files."""
    partitions: bool | None
    """Whether folders ``name=value`` are columns; by default they are, but for files that are named one by one."""
    storage_options: StorageOptions | None
    """Options of object stores."""
    limits: Limits | None
    """Bounds on what each file may make the reader do."""
    external_locations: Sequence[str | os.PathLike[str]] | None
    """Paths and URLs at or below which a table of CarbonData may have segments and partitions, beside its own folder,
    such as ``["s3://bucket/archive"]``. What its metadata names elsewhere is refused, as it would be read with the
    rights of whoever reads the table. Headers of ``storage_options`` are sent to the host of the table alone."""


@dataclasses.dataclass(frozen=True)
class StripeInfo:
    """Where a stripe is in the file, in bytes, and which rows it holds."""

    offset: int
    index_length: int
    data_length: int
    footer_length: int
    num_rows: int
    first_row: int


@dataclasses.dataclass(frozen=True)
class ColumnStatistics:
    """What a writer recorded of a column, for a file or a stripe; ``None`` is unknown.

    Statistics that a known fault of the writing software may have made wrong are left out.
    """

    kind: str
    """Kind of the statistics: ``integer``, ``double``, ``string``, … or ``none``."""
    values: int | None = None
    """Number of values that are not null."""
    has_null: bool | None = None
    bytes_on_disk: int | None = None
    min: Any = None
    """Least value, as pyarrow would give it; of strings possibly a prefix, see :attr:`min_is_exact`, and
    ``None`` where it is not UTF-8."""
    max: Any = None
    """Greatest value, likewise."""
    min_is_exact: bool | None = None
    max_is_exact: bool | None = None
    sum: Any = None
    """Sum of the values; NaN where one is NaN and the writer says so, in which case there are no bounds."""
    total_length: int | None = None
    """Total length of strings or binaries, in bytes."""
    true_count: int | None = None
    min_children: int | None = None
    """Fewest elements of a list or map; the Java and C++ libraries do not count them rightly."""
    max_children: int | None = None
    total_children: int | None = None
    bounding_box: dict[str, tuple[float, float]] | None = None
    """Extent of geometries by axis."""
    geospatial_types: tuple[int, ...] | None = None


class Finding(NamedTuple):
    """Something that is not as a file says; see :meth:`orcish.ORCFile.check`."""

    stripe: int | None
    """Index of the stripe; none where it is about the file."""
    group: int | None
    """Number of the row group within the stripe; none where it is about the stripe or the file."""
    column: str
    """Dotted name; empty for the root."""
    message: str


class WriteOptions(TypedDict, total=False):
    """How a file is written. Columns are named by their dotted names; a name stands for all below it too."""

    compression: Literal["zstd", "zlib", "snappy", "lz4", "brotli", "none", "uncompressed"] | None
    """Codec of the file; ``"zstd"`` by default."""
    compression_level: int | None
    """1 to 12 of zlib (1), -7 to 22 of zstd (2), 0 to 11 of brotli (5); the others have none."""
    column_compression: Mapping[str, int | Literal["none"] | None] | None
    """Columns that are compressed at another level, or, with ``None``, not at all. The codec is the file's."""
    compression_block_size: int | None
    """Most bytes of a compression chunk; 262,144 by default, and down to 65,536 where there are many columns."""
    stripe_size: int | None
    """Bytes of a stripe as stored; 64 MiB by default."""
    row_index_stride: int | None
    """Rows of a row group: 10,000 by default, 1,000 at least, or 0 for no row index."""
    bloom_filter_columns: Sequence[str] | None
    """Columns with bloom filters."""
    bloom_filter_fpp: float | None
    """What part of the values that a row group does not have its bloom filter may find; 0.01 by default."""
    dictionary: bool | Mapping[str, bool | None] | None
    """Whether text is stored as references to a dictionary: for all columns or by column. By default, and with
    ``None``, stripe by stripe, whichever is expected to be smaller."""
    metadata: Mapping[str, bytes | str] | None
    """Keys and values for the user metadata of the file. Those of the Arrow schema are added."""
    timezone: str | None
    """Time zone whose wall clock timestamps without zone are stored in, by any id that a JVM knows; ``"UTC"``. Readers
    see the same wall clock, whatever it is."""
    version: Literal["0.11", "0.12"] | None
    """Version of the format; ``"0.12"`` by default, ``"0.11"`` for readers as old as Hive 0.11."""
    arrow_schema: bool | None
    """Whether the Arrow schema is stored, so that reading gives back the types that were written; true by default."""
    threads: int | None
    """Threads that encode; as many as the machine has cores by default."""
    verify: bool | None
    """Whether to read what was written and compare it with what was given, before the file appears: values, statistics,
    row index and bloom filters, and, of local files, the bytes on disk. It takes some three times as long, and the rows
    of a stripe are kept in memory."""
