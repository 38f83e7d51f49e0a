"""Scans: what to read of a table of any number of files."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from orcish import _native
from orcish.answers import answer
from orcish.carbon import CarbonSource, check_no_external, check_options
from orcish.errors import NullMapKeyError
from orcish.explanation import Explanation
from orcish.file import ORCFile
from orcish.filters import Filters, check, joined
from orcish.reading import Readable, check_limit, name_of_rows
from orcish.residual import Residual
from orcish.sources import (
    ReadableColumns,
    Scannable,
    Sources,
    Table,
    alone,
    files_of,
    has_carbon,
    is_carbon,
    is_carbon_file,
    is_many,
    of_types,
)
from orcish.types import Limits, Matching, ReadOptions, ScanOptions, Source, StorageOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Scan", "Split", "read_table", "scan"]

DEFAULT_SPLIT_BYTES = 128 << 20
"""Stored bytes of a split, about."""


def scan(source: Sources, **options: Unpack[ScanOptions]) -> Scan:
    """What to read of one file or of many, which are a table.

    Nothing but the tail of the first file is read before rows are asked for.

    >>> orcish.scan("orders/", filters=orcish.col("id") == 5).to_table()          # doctest: +SKIP
    >>> orcish.scan("s3://bucket/orders/day=2026-*/").select("id").limit(10)      # doctest: +SKIP

    Args:
        source: A path or URL of a file, of a folder with files at any depth, or a pattern such as
            ``day=2026-*/part-*.orc``; the bytes of a file; a file object; or a list of these. Files and folders whose
            names begin with ``_`` or ``.`` are left out of folders and patterns. Or the path or URL of a table of
            CarbonData, or of one of its files.
        options: How the files are a table, see :class:`~orcish.types.ScanOptions`, and what to read of it, see
            :class:`~orcish.types.ReadOptions`; :meth:`Scan.select`, :meth:`Scan.where` and :meth:`Scan.limit` say
            the latter as well.

    Raises:
        FileNotFoundError: There is no file.
        UnknownColumnError: A column is not in the table.
        TypeError: The source is nothing that can be read, or an option has not the type that it should have.
        ValueError: An option does not fit, or the filter does not fit the types of the columns; ``stripes`` are for one
            file.
    """
    given = dict(options)
    if given.pop("stripes", None) is not None:
        raise ValueError("stripes are those of one file: read it with ORCFile, or take splits of the scan")
    made = _scan(source, given)
    made._check()
    return made


def _scan(source: Sources, given: dict[str, Any]) -> Scan:
    """The scan of a source, whose options have not been looked at."""
    storage_options = cast("StorageOptions | None", given.pop("storage_options", None))
    limits = cast("Limits | None", given.pop("limits", None))
    external = given.pop("external_locations", None)
    files = []
    if not is_carbon(source, storage_options):
        files = files_of(source, cast("bool | None", given.get("partitions")), storage_options)
        if not files:
            raise FileNotFoundError(f"no files: {source!r}")
    if not files or has_carbon(files):
        return Scan(CarbonSource.at(alone(source), storage_options, limits, external), check_options(given))
    check_no_external(external)
    given.pop("partitions", None)
    schema = cast("pa.Schema | None", given.pop("schema", None))
    match = cast("Matching", given.pop("match", "name"))
    return Scan(Table(files, schema, match, storage_options, limits), given)


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
    of_table = ("schema", "match", "partitions", "external_locations")
    is_table = isinstance(source, list | tuple) or is_many(source) or is_carbon_file(source)
    if is_table or any(options.get(name) for name in of_table):
        return scan(source, **options).to_table()
    check_no_external(options.get("external_locations"))
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


class Scan(Readable):
    """What to read of a table; made by :func:`orcish.scan`. It is an Arrow stream, as often as it is asked for.

    Scans are not changed: each method that says what to read gives a new one.
    """

    def __init__(self, table: Scannable, options: dict[str, Any], opened: Any = None) -> None:
        self._of = table
        self._options = options
        self._opened = opened or table.open(options)

    def __repr__(self) -> str:
        files = self.files
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        return f"<orcish.Scan of {_native.display_name(files[0]) if files else 'no files'}{more}>"

    def _with(self, **options: Any) -> Scan:
        return Scan(self._of, {**self._options, **options}, self._opened)

    # What to read.

    def select(self, *columns: str | Sequence[str]) -> Scan:
        """Read these columns, by dotted names, in this order; one list of them will do as well."""
        names = columns[0] if len(columns) == 1 and isinstance(columns[0], list | tuple) else columns
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"columns are selected by their names, not by {name!r}")
        return self._with(columns=list(names))

    def where(self, filters: Filters | None) -> Scan:
        """Read rows for which this is true too; see ``filters`` of :class:`~orcish.types.ReadOptions`.

        Rows are filtered before they are limited, in whatever order :meth:`where` and :meth:`limit` are called.
        """
        if filters is None:
            return self
        check(filters)
        before = self._options.get("filters")
        return self._with(filters=filters if before is None else joined(before, filters))

    def limit(self, rows: int) -> Scan:
        """Read no more rows than these."""
        rows = check_limit(rows)
        before = self._options.get("limit")
        return self._with(limit=rows if before is None else min(before, rows))

    def batch_size(self, rows: int) -> Scan:
        """Give batches of no more rows than these."""
        return self._with(batch_size=rows)

    # Of what.

    @property
    def files(self) -> list[str]:
        """Paths or URLs of the files."""
        return cast("list[str]", self._opened.files)

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of what is read."""
        return self._schema(self._options)

    # Reading.

    def _under(self, native: dict[str, Any]) -> Any:
        # Other types make another table.
        is_other = of_types(native) != of_types(self._options)
        return (self._of.open(native) if is_other else self._opened).with_options(native)

    def _open(self, native: dict[str, Any]) -> _native.Batches:
        return cast("_native.Batches", self._under(native).read())

    def _readable_columns(self, native: dict[str, Any]) -> list[str] | None:  # noqa: ARG002
        if not isinstance(self._opened, ReadableColumns):
            return None
        return list(self._opened.table.schema_of(self._opened).names)

    def _readable(self) -> Scan:
        """The scan without the columns that cannot be read, where it is of all columns."""
        columns = None if self._options.get("columns") is not None else self._readable_columns({})
        return self if columns is None else self._with(columns=columns)

    def _check(self) -> None:
        """Raises what is wrong with the options. Columns may be chosen yet: those that cannot be read are no error."""
        readable = self._readable()
        native, _ = readable._prepare(readable._options)
        readable._under(native)

    def to_table(self) -> pa.Table:
        """Read into a table."""
        return self._table(self._options)

    def to_pandas(self, **options: Any) -> Any:
        """Read into a pandas data frame; the keywords are those of :meth:`pyarrow.Table.to_pandas`."""
        return self.to_table().to_pandas(**options)

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Read batch by batch, in memory that does not grow with the files."""
        return self._batches(self._options)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.to_batches()

    def head(self, rows: int = 10) -> pa.Table:
        """The first rows; no more is read than they are in."""
        return self.limit(rows).to_table()

    def count(self) -> int:
        """Number of rows. Those that statistics count are not read; of others only what the filter asks is."""
        readable = self._readable()
        native, after = readable._prepare(readable._options)
        try:
            if after is None:
                return cast("int", readable._under(native).count())
            return sum(len(batch) for batch in self.select(*readable._cheapest(after.residual)).to_batches())
        except NullMapKeyError:
            if "null_map_keys" in self._options:
                raise
            # No map is handed out.
            return self._with(null_map_keys="dictionary").count()

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
            OverflowError: It is a date, a time or a duration that Python's types do not hold, as years beyond 9999.
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
        if number and part._prepare(part._options)[1] is None:
            part = part._with(row_number=None)
        return part, self._of.is_stored(column)

    def _proven(self) -> list[tuple[dict[str, Any], list[int]]] | None:
        """For each file, statistics of the one column that is read over the stripes of which all rows are wanted, and
        the indexes of the other stripes; ``None`` where that is only known when the rows have been read.
        """
        native, after = self._prepare(self._options)
        if after is not None or self._options.get("limit") is not None:
            return None
        return self._of.proven(self._under(native))

    def _of_files(self, files: list[tuple[int, list[int] | None]]) -> Scan:
        """The part of the scan that is in some files, by their indexes, and in some of their stripes or all."""
        return Scan(self._of.part(files, self._opened), self._options)

    def explain(self) -> Explanation:
        """What reading would do: which files, stripes and row groups (of CarbonData blocklets and pages) are skipped
        and why, and how much is read.

        Tails, footers of stripes, and row indexes and bloom filters of the columns that the filter asks are read to
        find out.
        """
        native, after = self._prepare(self._options)
        found = self._under(native).explain()
        return Explanation.of(found, None if after is None else str(after.residual), self._of.parts)

    def splits(self, size: int = DEFAULT_SPLIT_BYTES) -> list[Split]:
        """Parts of about ``size`` stored bytes that can be read alone, also in other processes.

        Stripes that statistics prove to have no wanted row are in none. A limit holds for each split.

        Raises:
            TypeError: The filter is about all rows at once, of which a split has but some.
        """
        native, after = self._prepare(self._options)
        if after is not None and not after.residual.by_row:
            raise TypeError(f"no splits: the filter {after.residual} is, or may be, about all rows at once")
        return [Split(*part, self._options) for part in self._of.splits(self._under(native), size)]

    def _rows(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        return self._rows_under(self._options)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._stream(self._options).__arrow_c_stream__(requested_schema)


@dataclasses.dataclass(frozen=True, eq=False)
class Split:
    """Part of a scan: stripes, or blocklets, of one file. It can be pickled, as file objects cannot, and read in any
    process.
    """

    location: str
    rows: int
    """Rows of the stripes, deleted ones included; 0 for files of CarbonData that do not tell, which are streams."""
    size: int
    """Stored bytes of the stripes, all columns."""
    stripes: list[int]
    """Their indexes; of CarbonData those of its blocklets."""
    table: Scannable = dataclasses.field(repr=False)
    """The file, with its tail, which is not read again."""
    options: dict[str, Any] = dataclasses.field(repr=False)

    def scan(self) -> Scan:
        """The split as a scan of its own."""
        return Scan(self.table, self.options)
