"""Scans: what to read of a table of any number of files."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pyarrow as pa

from orcish import _native
from orcish.explanation import Explanation
from orcish.expression import Column, Expression
from orcish.filters import Filters, Residual
from orcish.reading import AfterRead, iterate, prepare, read_all
from orcish.types import Limits, Matching, ReadOptions, Source, StorageOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Scan", "Split", "scan"]

Sources: TypeAlias = "Source | Sequence[Source]"
"""A path, URL, folder or pattern, the bytes of a file, or a file object; or several of them."""

DEFAULT_SPLIT_BYTES = 128 << 20
"""Stored bytes of a split, about."""

# What decides the types of columns has to be known when the schema of the table is.
_OF_THE_TABLE = frozenset(
    ("timestamp_unit", "timestamp_out_of_range", "strings", "trim_char", "unions", "null_map_keys", "masked")
)


def scan(
    source: Sources,
    *,
    schema: pa.Schema | None = None,
    match: Matching = "name",
    partitions: bool = True,
    storage_options: StorageOptions | None = None,
    limits: Limits | None = None,
    **options: Unpack[ReadOptions],
) -> Scan:
    """What to read of one file or of many, which are a table.

    Nothing but the tail of the first file is read before rows are asked for.

    >>> orcish.scan("orders/", filters=orcish.col("id") == 5).to_table()          # doctest: +SKIP
    >>> orcish.scan("s3://bucket/orders/day=2026-*/").select("id").limit(10)      # doctest: +SKIP

    Args:
        source: A path or URL of a file, of a folder with files at any depth, or a pattern such as
            ``day=2026-*/part-*.orc``; the bytes of a file; a file object; or a list of these. Files and folders whose
            names begin with ``_`` or ``.`` are left out of folders and patterns.
        schema: Schema of the table without its partition columns; that of the first file by default. Columns that a
            file does not have are null, and narrower types become wider ones.
        match: How columns are found in files: by ``name``, by ``name_ignoring_case``, by ``position``, or by an
            attribute of their types, such as ``iceberg.id``, which the fields of ``schema`` have as metadata.
        partitions: Whether folders ``name=value`` are columns.
        storage_options: Options of object stores.
        limits: Bounds on what each file may make the reader do.
        options: What to read; :meth:`Scan.select`, :meth:`Scan.where` and :meth:`Scan.limit` say it as well.

    Raises:
        FileNotFoundError: There is no file.
        UnknownColumnError: A column is not in the table.
    """
    files = [file for each in _sources(source) for file in _files(each, partitions, storage_options)]
    if not files:
        raise FileNotFoundError(f"no files: {source!r}")
    of_table = {name: value for name, value in options.items() if name in _OF_THE_TABLE}
    table = _native.Scan(
        files,
        schema=None if schema is None else schema.__arrow_c_schema__(),
        options=of_table,
        matching=match,
        storage_options=cast("dict[str, Any] | None", storage_options),
        limits=cast("dict[str, int] | None", limits),
    )
    return Scan(table, dict(options), match, storage_options, limits)


def _sources(source: Sources) -> list[Source]:
    return list(source) if isinstance(source, list | tuple) else [cast("Source", source)]


def _files(
    source: Source, partitions: bool, storage_options: StorageOptions | None
) -> Iterator[tuple[str, Any, list[tuple[str, str | None]], None, None]]:
    """The files of a source, as the native core takes them."""
    path = os.fspath(source) if isinstance(source, os.PathLike) else source
    if isinstance(path, str):
        for location, _ in _native.list_files(path, cast("dict[str, Any] | None", storage_options)):
            yield location, None, _native.partitions_of(location) if partitions else [], None, None
        return
    name = f"<{type(source).__name__}>"
    if not isinstance(path, bytes) and not hasattr(path, "read"):
        path = bytes(memoryview(path))
    yield name, path, [], None, None


class Scan:
    """What to read of a table; made by :func:`orcish.scan`. It is an Arrow stream, as often as it is asked for.

    Scans are not changed: each method that says what to read gives a new one.
    """

    def __init__(
        self,
        table: _native.Scan,
        options: dict[str, Any],
        match: Matching,
        storage_options: StorageOptions | None,
        limits: Limits | None,
    ) -> None:
        self._table = table
        self._options = options
        self._match = match
        self._storage_options = storage_options
        self._limits = limits

    def __repr__(self) -> str:
        files = self.files
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        return f"<orcish.Scan of {files[0]}{more}>"

    def _with(self, **options: Any) -> Scan:
        return Scan(self._table, {**self._options, **options}, self._match, self._storage_options, self._limits)

    # What to read.

    def select(self, *columns: str) -> Scan:
        """Read these columns, by dotted names, in this order."""
        return self._with(columns=list(columns))

    def where(self, filters: Filters) -> Scan:
        """Read rows for which this is true too; see ``filters`` of :class:`~orcish.types.ReadOptions`."""
        before = self._options.get("filters")
        if before is None:
            return self._with(filters=filters)
        if isinstance(before, Expression | Column) and isinstance(filters, Expression | Column):
            return self._with(filters=before & filters)
        if type(before) is type(filters) and not isinstance(filters, list | tuple):
            return self._with(filters=cast("Any", before) & filters)
        raise TypeError("filters of different libraries cannot be joined: give them at once, in one of them")

    def limit(self, rows: int) -> Scan:
        """Read no more rows than these."""
        before = self._options.get("limit")
        return self._with(limit=rows if before is None else min(before, rows))

    def batch_size(self, rows: int) -> Scan:
        """Give batches of no more rows than these."""
        return self._with(batch_size=rows)

    # Of what.

    @property
    def files(self) -> list[str]:
        """Paths or URLs of the files."""
        return self._table.files

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of what is read."""
        native, after = self._prepare()
        return self._schema_of(native) if after is None else after.schema

    # Reading.

    def _prepare(self) -> tuple[dict[str, Any], AfterRead | None]:
        return prepare(self._options, self._schema_of)

    def _schema_of(self, native: dict[str, Any]) -> pa.Schema:
        return pa.schema(self._table.with_options({**native, "filter": None, "masked": "allow"}))

    def to_table(self) -> pa.Table:
        """Read into a table."""
        native, after = self._prepare()
        table = read_all(self._table.with_options(native).read())
        return table if after is None else after.table(table)

    def to_pandas(self, **options: Any) -> Any:
        """Read into a pandas data frame; the keywords are those of :meth:`pyarrow.Table.to_pandas`."""
        return self.to_table().to_pandas(**options)

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Read batch by batch, in memory that does not grow with the files."""
        native, after = self._prepare()
        batches = iterate(self._table.with_options(native).read())
        return batches if after is None else after.batches(batches, self._schema_of(native))

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.to_batches()

    def head(self, rows: int = 10) -> pa.Table:
        """The first rows; no more is read than they are in."""
        return self.limit(rows).to_table()

    def count(self) -> int:
        """Number of rows. Those that statistics count are not read; of others only what the filter asks is."""
        native, after = self._prepare()
        if after is None:
            return self._table.with_options(native).count()
        return sum(len(batch) for batch in self.select(*self._cheapest(after.residual)).to_batches())

    def _cheapest(self, residual: Residual) -> list[str]:
        """Columns that a residual needs, or some other: rows without columns are not counted everywhere."""
        return (residual.columns or self.schema.names)[:1]

    def explain(self) -> Explanation:
        """What reading would do: which files, stripes and row groups are skipped and why, and how much is read.

        Tails, footers of stripes, and row indexes and bloom filters of the columns that the filter asks are read to
        find out.
        """
        native, after = self._prepare()
        found = self._table.with_options(native).explain()
        return Explanation.of(found, None if after is None else str(after.residual))

    def splits(self, size: int = DEFAULT_SPLIT_BYTES) -> list[Split]:
        """Parts of about ``size`` stored bytes that can be read alone, also in other processes.

        Stripes that statistics prove to have no wanted row are in none. A limit holds for each split.
        """
        native, _ = self._prepare()
        table = self._table.with_options(native)
        schema = pa.schema(_Schema(self._table.table_schema()))
        return [
            Split(
                location,
                rows,
                length,
                stripes,
                partition,
                tail,
                schema,
                self._options,
                self._match,
                self._storage_options,
                self._limits,
            )
            for location, partition, tail, stripes, rows, length in table.splits(size)
        ]

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        native, after = self._prepare()
        batches = self._table.with_options(native).read()
        if after is None:
            return batches.__arrow_c_stream__(requested_schema)
        rows = after.batches(iterate(batches), self._schema_of(native))
        return pa.RecordBatchReader.from_batches(after.schema, rows).__arrow_c_stream__(requested_schema)


class _Schema:
    """A schema that is a capsule."""

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __arrow_c_schema__(self) -> object:
        return self._capsule


@dataclasses.dataclass(frozen=True)
class Split:
    """Part of a scan: stripes of one file. It can be pickled, and read in any process."""

    location: str
    rows: int
    """Rows of the stripes."""
    size: int
    """Stored bytes of the stripes, all columns."""
    stripes: list[int]
    partition: list[tuple[str, str | None]] = dataclasses.field(repr=False)
    tail: bytes = dataclasses.field(repr=False)
    """The serialized tail, which is not read again."""
    table_schema: pa.Schema = dataclasses.field(repr=False)
    options: dict[str, Any] = dataclasses.field(repr=False)
    match: Matching = dataclasses.field(repr=False)
    storage_options: StorageOptions | None = dataclasses.field(repr=False)
    limits: Limits | None = dataclasses.field(repr=False)

    def scan(self) -> Scan:
        """The split as a scan of its own."""
        of_table = {name: value for name, value in self.options.items() if name in _OF_THE_TABLE}
        table = _native.Scan(
            [(self.location, None, self.partition, self.tail, self.stripes)],
            schema=self.table_schema.__arrow_c_schema__(),
            options=of_table,
            matching=self.match,
            storage_options=cast("dict[str, Any] | None", self.storage_options),
            limits=cast("dict[str, int] | None", self.limits),
        )
        return Scan(table, self.options, self.match, self.storage_options, self.limits)
