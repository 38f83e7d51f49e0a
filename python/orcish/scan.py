"""Scans: what to read of a table of any number of files."""

from __future__ import annotations

import dataclasses
import os
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pyarrow as pa

from orcish import _native
from orcish.answers import answer
from orcish.errors import NullMapKeyError
from orcish.explanation import Explanation
from orcish.file import ORCFile
from orcish.filters import Filters, Residual, joined
from orcish.reading import AfterRead, iterate, name_of_rows, prepare, read_all, schema_of
from orcish.types import Limits, Matching, ReadOptions, ScanOptions, Source, StorageOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Scan", "Split", "read_table", "scan"]

Sources: TypeAlias = "Source | Sequence[Source]"
"""A path, URL, folder or pattern, the bytes of a file, or a file object; or several of them."""

DEFAULT_SPLIT_BYTES = 128 << 20
"""Stored bytes of a split, about."""

# What decides the types of columns has to be known when the schema of the table is.
_OF_THE_TABLE = frozenset(
    ("timestamp_unit", "timestamp_out_of_range", "strings", "trim_char", "unions", "null_map_keys", "limits")
)

_File: TypeAlias = "tuple[str, Any, list[tuple[str, str | None]], bytes | None, list[int] | None]"
"""Location, bytes or file object instead, partition values, tail and stripes, as the native core takes them."""


@dataclasses.dataclass(frozen=True)
class Table:
    """The files of a scan, and how they are read."""

    files: list[_File] = dataclasses.field(repr=False)
    schema: pa.Schema | None
    match: Matching
    storage_options: StorageOptions | None
    limits: Limits | None

    def open(self, options: dict[str, Any]) -> _native.Scan:
        """The table with the types that its columns have under these options."""
        return _native.Scan(
            self.files,
            schema=None if self.schema is None else self.schema.__arrow_c_schema__(),
            options={name: value for name, value in options.items() if name in _OF_THE_TABLE},
            matching=self.match,
            storage_options=cast("dict[str, Any] | None", self.storage_options),
            limits=cast("dict[str, int] | None", self.limits),
        )


def scan(source: Sources, **options: Unpack[ScanOptions]) -> Scan:
    """What to read of one file or of many, which are a table.

    Nothing but the tail of the first file is read before rows are asked for.

    >>> orcish.scan("orders/", filters=orcish.col("id") == 5).to_table()          # doctest: +SKIP
    >>> orcish.scan("s3://bucket/orders/day=2026-*/").select("id").limit(10)      # doctest: +SKIP

    Args:
        source: A path or URL of a file, of a folder with files at any depth, or a pattern such as
            ``day=2026-*/part-*.orc``; the bytes of a file; a file object; or a list of these. Files and folders whose
            names begin with ``_`` or ``.`` are left out of folders and patterns.
        options: How the files are a table, see :class:`~orcish.types.ScanOptions`, and what to read of it, see
            :class:`~orcish.types.ReadOptions`; :meth:`Scan.select`, :meth:`Scan.where` and :meth:`Scan.limit` say
            the latter as well.

    Raises:
        FileNotFoundError: There is no file.
        UnknownColumnError: A column is not in the table.
        ValueError: An option does not fit; ``stripes`` are for one file.
    """
    given = dict(options)
    if given.pop("stripes", None) is not None:
        raise ValueError("stripes are those of one file: read it with ORCFile, or take splits of the scan")
    storage_options = cast("StorageOptions | None", given.pop("storage_options", None))
    partitions = cast("bool | None", given.pop("partitions", None))
    files = _named([file for each in _sources(source) for file in _files(each, partitions, storage_options)])
    if not files:
        raise FileNotFoundError(f"no files: {source!r}")
    schema = cast("pa.Schema | None", given.pop("schema", None))
    match = cast("Matching", given.pop("match", "name"))
    table = Table(files, schema, match, storage_options, cast("Limits | None", given.pop("limits", None)))
    made = Scan(table, given)
    made._check()
    return made


def read_table(source: Sources, **options: Unpack[ScanOptions]) -> pa.Table:
    """Read one file or many into a table; see :func:`scan` for what ``source`` may be, and for the keywords.

    The chunks of the table are the batches that are read.

    Raises:
        CorruptFileError: The bytes are not a valid ORC file.
        UnknownColumnError: A column is not in the file.
        UnsupportedError: The file needs something that orcish does not do, or does only when asked to.
        LimitExceededError: The file asks for more than ``limits`` allow.
        OSError: The source cannot be read.
    """
    of_table = ("schema", "match", "partitions")
    if isinstance(source, list | tuple) or any(options.get(name) for name in of_table) or _is_many(source):
        return scan(source, **options).to_table()
    given = {name: value for name, value in options.items() if name not in of_table}
    storage_options, limits = given.pop("storage_options", None), given.pop("limits", None)
    try:
        file = ORCFile(
            cast("Source", source),
            storage_options=cast("StorageOptions | None", storage_options),
            limits=cast("Limits | None", limits),
        )
    except FileNotFoundError:
        # In a store, a folder is no more than what files have in common.
        if not isinstance(source, str) or "://" not in source:
            raise
        return scan(source, **options).to_table()
    return file.read(**cast("ReadOptions", given))


def _is_many(source: Sources) -> bool:
    """Whether a path is that of a folder, or a pattern."""
    if not isinstance(source, str | os.PathLike):
        return False
    path = os.fspath(source)
    path = _path_of(path) if path.lower().startswith("file:") else path
    if "://" not in path and os.path.exists(path):
        return os.path.isdir(path)
    return path.endswith("/") or any(sign in path for sign in "*?[")


def _sources(source: Sources) -> list[Source]:
    return list(source) if isinstance(source, list | tuple) else [cast("Source", source)]


def _files(source: Source, partitions: bool | None, storage_options: StorageOptions | None) -> Iterator[_File]:
    """The files of a source. The values of partitions are in the paths below a folder, or that fit a pattern."""
    path = os.fspath(source) if isinstance(source, os.PathLike) else source
    if isinstance(path, str):
        # Few servers of HTTP can list, and a file that is missing is found to be so when it is opened.
        is_named = path.lower().startswith(("http://", "https://")) and not _is_many(path.partition("?")[0])
        found = [(path, 0)] if is_named else _native.list_files(path, cast("dict[str, Any] | None", storage_options))
        is_file = len(found) == 1 and _path_of(found[0][0]) == _path_of(path)
        has_values = not is_file if partitions is None else partitions
        # Folders above the one that is scanned are not of the table, unless they are asked for.
        above = 0 if partitions else len(_base_of(path))
        for location, _ in found:
            below = location[above:] if location.startswith(path[:above]) else location
            yield location, None, _native.partitions_of(below) if has_values else [], None, None
        return
    name = f"<{type(source).__name__}>"
    if not isinstance(path, bytes) and not hasattr(path, "read"):
        path = bytes(memoryview(path))
    yield name, path, [], None, None


def _base_of(path: str) -> str:
    """The part of a path before the first pattern."""
    signs = [at for at in map(path.find, "*?[") if at >= 0]
    return path[: path.rfind("/", 0, min(signs)) + 1] if signs else path


def _path_of(location: str) -> str:
    """A location without its scheme, which may be written in several ways."""
    if location.lower().startswith("file:"):
        return urllib.request.url2pathname(urllib.parse.urlsplit(location).path)
    return location.partition("://")[2] or location


def _named(files: list[_File]) -> list[_File]:
    """The files, of which those without a location have names of their own."""
    named: list[_File] = []
    for at, (location, source, *rest) in enumerate(files):
        is_many = source is not None and len(files) > 1
        named.append((f"{location[:-1]} {at}>" if is_many else location, source, *rest))
    return named


class Scan:
    """What to read of a table; made by :func:`orcish.scan`. It is an Arrow stream, as often as it is asked for.

    Scans are not changed: each method that says what to read gives a new one.
    """

    def __init__(self, table: Table, options: dict[str, Any], opened: _native.Scan | None = None) -> None:
        self._of = table
        self._options = options
        self._table = opened or table.open(options)

    def __repr__(self) -> str:
        files = self.files
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        return f"<orcish.Scan of {files[0]}{more}>"

    def _with(self, **options: Any) -> Scan:
        return Scan(self._of, {**self._options, **options}, self._table)

    # What to read.

    def select(self, *columns: str) -> Scan:
        """Read these columns, by dotted names, in this order."""
        return self._with(columns=list(columns))

    def where(self, filters: Filters) -> Scan:
        """Read rows for which this is true too; see ``filters`` of :class:`~orcish.types.ReadOptions`."""
        before = self._options.get("filters")
        return self._with(filters=filters if before is None else joined(before, filters))

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

    def _check(self) -> None:
        """Raises what is wrong with the options."""
        native, _ = self._prepare()
        self._table.with_options(native)

    def _schema_of(self, native: dict[str, Any]) -> pa.Schema:
        return schema_of(self._table.with_options({**native, "filter": None, "masked": "allow"}).read())

    def to_table(self) -> pa.Table:
        """Read into a table."""
        native, after = self._prepare()
        try:
            table = read_all(self._table.with_options(native).read())
        except NullMapKeyError:
            if "null_map_keys" in self._options:
                raise
            return Scan(self._of, {**self._options, "null_map_keys": "dictionary"}).to_table()
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
        number = name_of_rows(self._options)
        names = [name for name in residual.columns or () if name != number]
        # The numbers of rows are read in any case.
        return names[:1] if names or number else self.schema.names[:1]

    def min(self, column: str) -> Any:
        """Least value of a column, by its dotted name; ``None`` of no values. NaN is passed over.

        Stripes of which all rows are wanted are not read where their statistics say it exactly.

        Raises:
            TypeError: Values of the column's type have no order.
            UnknownColumnError: The column is not in the table.
        """
        return answer(self, column, "min")

    def max(self, column: str) -> Any:
        """Greatest value of a column; as :meth:`min`."""
        return answer(self, column, "max")

    def sum(self, column: str) -> Any:
        """Sum of a column of numbers, or of how many values are true; as :meth:`min`. Floating point numbers are always
        read, as their sum depends on their order; with NaN it is NaN.
        """
        return answer(self, column, "sum")

    def _of_column(self, column: str) -> tuple[Scan, bool]:
        """The scan of one column, as the first of its batches, and whether the column is stored in the files."""
        number = name_of_rows(self._options)
        if column == number:
            return self.select(), False
        part = self.select(column)
        # What is left of a filter may ask about the numbers of rows.
        if number and part._prepare()[1] is None:
            part = part._with(row_number=None)
        return part, all(column != name for name, _ in self._of.files[0][2])

    def _proven(self) -> list[tuple[dict[str, Any], list[int]]] | None:
        """For each file, statistics of the one column that is read over the stripes of which all rows are wanted, and
        the indexes of the other stripes; ``None`` where that is only known when the rows have been read.
        """
        native, after = self._prepare()
        if after is not None or self._options.get("limit") is not None:
            return None
        return self._table.with_options(native).proven()

    def _of_files(self, files: list[tuple[int, list[int] | None]]) -> Scan:
        """The part of the scan that is in some files, by their indexes, and in some of their stripes or all."""
        schema = pa.schema(_Schema(self._table.table_schema()))
        parts: list[_File] = []
        for file, stripes in files:
            name, source, partition, tail, own = self._of.files[file]
            parts.append((name, source, partition, tail, own if stripes is None else stripes))
        return Scan(dataclasses.replace(self._of, files=parts, schema=schema), self._options)

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

        Raises:
            TypeError: The filter is about all rows at once, of which a split has but some.
        """
        native, after = self._prepare()
        if after is not None and not after.residual.by_row:
            raise TypeError(f"no splits: the filter {after.residual} is, or may be, about all rows at once")
        table = self._table.with_options(native)
        schema = pa.schema(_Schema(self._table.table_schema()))
        sources = {location: source for location, source, *_ in self._of.files}
        splits = []
        for location, partition, tail, stripes, rows, length in table.splits(size):
            file: _File = (location, sources[location], partition, tail, stripes)
            of = dataclasses.replace(self._of, files=[file], schema=schema)
            splits.append(Split(location, rows, length, stripes, of, self._options))
        return splits

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
    """Part of a scan: stripes of one file. It can be pickled, as file objects cannot, and read in any process."""

    location: str
    rows: int
    """Rows of the stripes."""
    size: int
    """Stored bytes of the stripes, all columns."""
    stripes: list[int]
    table: Table = dataclasses.field(repr=False)
    """The file, with its tail, which is not read again."""
    options: dict[str, Any] = dataclasses.field(repr=False)

    def scan(self) -> Scan:
        """The split as a scan of its own."""
        return Scan(self.table, self.options)
