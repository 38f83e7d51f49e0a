"""The reader of everything: a table or a file, and the options that it is read with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

import pyarrow as pa

from orcish import _native
from orcish.arrow.exported import ExportedArray
from orcish.arrow.frames import fitted_metadata
from orcish.errors import NullMapKeyError, UnknownColumnError, text_of
from orcish.filters.advice import timestamp_advice
from orcish.filters.expression import Expression
from orcish.filters.names import ColumnName
from orcish.filters.pushdown import Filters, Successive, combined, own_expression, split_all
from orcish.filters.text import native_predicate
from orcish.io.names import display_name
from orcish.progress import reported
from orcish.reading.batches import Seen, native_batches, read_all, reader_of_batches, schema_of, table_of
from orcish.reading.explanation import Explanation
from orcish.reading.source import ScanSource, SplitPart, row_number_name, type_options
from orcish.types import ProgressOption

__all__ = ["ScanReader"]

P = ParamSpec("P")
T = TypeVar("T")


class ScanReader:
    """Reads a table or a file under options; immutable.

    Args:
        source: The table, or the file.
        options: Keywords of :class:`~orcish.types.ReadOptions`.
        opened: A native scan of the source with the same type options, where there is one already.
    """

    def __init__(self, source: ScanSource, options: dict[str, Any], opened: _native.Scan | None = None) -> None:
        self.source = source
        self.options = options
        self.opened = opened or source.open(options)
        self._made: _native.Scan | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # The native scan is opened again.
        return ScanReader, (self.source, self.options)

    def with_options(self, **options: Any) -> ScanReader:
        """A reader of the same source with other options."""
        return ScanReader(self.source, {**self.options, **options}, self.opened)

    def select(self, columns: Sequence[Any]) -> ScanReader:
        """A reader of some columns.

        Raises:
            TypeError: A column is not given by its name.
        """
        for name in columns:
            if not isinstance(name, str | tuple):
                raise TypeError(f"columns are selected by their names, not by {text_of(name)}")
        return self.with_options(columns=list(columns))

    def where(self, filters: Filters) -> ScanReader:
        """A reader of the rows for which a further filter is true."""
        before, limit = self.options.get("filters"), self.options.get("limit")
        if limit is not None or not (before is None or isinstance(before, Expression) or self.takes_filters()):
            return self.with_options(filters=Successive(before, limit, filters), limit=None)
        return self.with_options(filters=filters if before is None else combined(before, filters))

    def with_types(self, change: Callable[[pa.DataType], pa.DataType]) -> ScanReader:
        """A reader of the columns of a table of ORC files with other types; a value that they do not hold is an error
        where it is read. Tables of CarbonData have their own types.
        """
        source = self.source.with_types(self.opened, change)
        return self if source is self.source else ScanReader(source, self.options)

    # What the native core makes of the options.

    def scan(self, **options: Any) -> _native.Scan:
        """The native scan under the options, or others.

        Raises:
            TypeError: The filter is of no known kind, or a filter of polars is about a column whose type polars does
                not have.
            UnknownColumnError: A column does not exist.
            ValueError: The filter does not fit the types of the columns.
        """
        if options:
            given = {**self.options, **options}
            is_same = type_options(given) == type_options(self.options)
            return _native_scan(self.opened if is_same else self.source.open(given), given)
        if self._made is None:
            self._made = _native_scan(self.opened, self.options)
        return self._made

    def check(self) -> None:
        """Raises the errors of the options. Columns that cannot be read are no error until they are selected."""
        self._without_unreadable_columns().scan()

    def _without_unreadable_columns(self) -> ScanReader:
        if self.opened.fault is None or self.options.get("columns") is not None:
            return self
        # Names that several columns have are no columns that can be selected.
        names = Counter(schema_of(self.opened.readable()).names)
        return self.with_options(columns=[name for name, count in names.items() if count == 1])

    def with_null_keys(self, read: Callable[Concatenate[ScanReader, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What a function reads; keys of maps are dictionaries where one is null and no option says otherwise."""
        try:
            return read(self, *args, **kwargs)
        except NullMapKeyError:
            if "null_map_keys" in self.options or not self.source.reads_null_keys:
                raise
            reader = ScanReader(self.source, {**self.options, "null_map_keys": "dictionary"})
            return read(reader, *args, **kwargs)

    def takes_filters(self) -> bool:
        """Whether further filters can be applied together with those of the options: there is no limit, and no filter
        about all rows at once, which have to be applied before.
        """
        return self.scan().is_divisible

    # Names and schemas.

    @property
    def files(self) -> list[str]:
        """Paths or URLs of the files."""
        return self.source.files_of(self.opened)

    @property
    def name(self) -> str:
        """What is read, for people."""
        files = self.files
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        return f"{display_name(files[0]) if files else 'no files'}{more}"

    @property
    def selected_schema(self) -> pa.Schema:
        """The schema of the rows."""
        return self.schema()

    def schema(self, **options: Any) -> pa.Schema:
        """The schema of the rows under the options, or others."""
        return self._fitted(schema_of(self.scan(**options).schema_only()))

    def _fitted(self, schema: pa.Schema) -> pa.Schema:
        """The schema with metadata that fit the columns and rows that are read."""
        return fitted_metadata(schema, is_whole=len(self.files) == 1) if schema.metadata else schema

    def parts_of_columns(self) -> dict[str, list[ColumnName]]:
        """The requested columns, such as ``n.a``, by the columns of the schema that they are in, such as ``n``; empty
        if all columns are read.
        """
        requested, found = self.options.get("columns"), dict[str, list[ColumnName]]()
        if requested is None:
            return found
        names = self.selected_schema.names
        for name in requested:
            only = self.with_options(columns=[name], filters=None, row_number=None)
            found.setdefault(name if name in names else only.selected_schema.names[0], []).append(name)
        return found

    # Rows.

    def read_table(self, progress: ProgressOption = False, seen: Seen | None = None) -> pa.Table:
        """All rows as a table.

        Args:
            progress: Where the progress is reported, as for :meth:`orcish.Scan.to_table`.
            seen: Called with the rows of each batch, where there is no progress.
        """
        if not progress:
            return self.with_null_keys(ScanReader._table, seen)
        with reported(progress, f"read {self.name}", self.row_count()) as add:
            return self.with_null_keys(ScanReader._table, add)

    def _table(self, seen: Seen | None = None) -> pa.Table:
        table = read_all(self.scan().read(), lambda: self.name, seen)
        if not table.num_rows and table.num_columns:
            table = _with_chunks(table)
        schema = self._fitted(table.schema)
        # pyarrow would lose the number of rows of a table without columns.
        return table.replace_schema_metadata(schema.metadata) if table.num_columns else table

    def table_of(self, rows: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
        """A table of batches that are made of the rows, under the limit of tables that are read."""
        return table_of(rows, schema, self.opened.schema_only().max_result, lambda: self.name)

    def read_rows(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """The schema and the batches."""
        return self._rows(self.scan().read())

    def read_batches(self) -> Iterator[pa.RecordBatch]:
        """The rows batch by batch."""
        return self.read_rows()[1]

    def _rows(self, batches: _native.Batches) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        schema, rows = native_batches(batches)
        fitted = self._fitted(schema)
        if fitted is schema:
            return schema, rows
        return fitted, (batch.replace_schema_metadata(fitted.metadata) for batch in rows)

    def stream(self) -> _native.Batches | pa.RecordBatchReader:
        """The rows as an Arrow stream."""
        batches = self.scan().read()
        return batches if self._is_plain(batches) else reader_of_batches(batches, self._rows(batches))

    def record_batch_reader(self) -> pa.RecordBatchReader:
        """The rows as a reader of pyarrow."""
        batches = self.scan().read()
        return reader_of_batches(batches, None if self._is_plain(batches) else self._rows(batches))

    def _is_plain(self, batches: _native.Batches) -> bool:
        """Whether the batches of the native core are those that are read."""
        schema = schema_of(batches)
        return self._fitted(schema) is schema

    # Numbers of rows, aggregates, plans.

    def row_count(self) -> int | None:
        """The number of rows, if metadata have it."""
        if self.options.get("filters") is not None:
            return None
        rows = self.all_rows()
        limit = self.options.get("limit")
        return rows if limit is None else min(rows, limit)

    def all_rows(self) -> int:
        """The number of rows without the filter and the limit, of metadata."""
        return self.scan(filters=None, limit=None, row_number=None, columns=[]).count()

    def count(self) -> int:
        """Number of rows."""
        return self.with_null_keys(lambda reader: reader._without_unreadable_columns().scan().count())

    def only_column(self, column: ColumnName) -> ScanReader:
        """The reader of one column."""
        return self.select([] if column == row_number_name(self.options) else [column])

    def aggregate(self, function: str) -> pa.Scalar:
        """The minimum, maximum or sum of the only column. If the column is a struct, it has one field, whose values are
        aggregated.
        """
        # Maps cannot be aggregated, so a map with a null key is a column of the filter, and its keys are not returned.
        result = self.with_null_keys(lambda reader: reader._alone().aggregate(function))
        return pa.array(ExportedArray(result))[0]

    def _alone(self) -> _native.Scan:
        """The scan of the selected column, or else of the row numbers, and of no other column."""
        return self.scan(hide_row_number=bool(self.options["columns"]))

    def statistics(self) -> list[tuple[dict[str, Any], list[int]]] | None:
        """For each file, statistics of the one selected column over all stripes whose rows all pass the filter, and the
        indexes of the other stripes; ``None`` where rows have to be read to know that.
        """
        return self._alone().exact_statistics()

    def explain(self) -> Explanation:
        """What reading would do."""
        scan = self.scan()
        return Explanation.of(
            scan.explain(),
            scan.residual,
            self.source.part_names,
            limit=scan.known_limit,
            is_partitioned=bool(self.source.partition_columns),
        )

    def of_files(self) -> list[tuple[str, ScanReader]]:
        """A reader of each file, with the location of the file. All have the same columns. A table of CarbonData is one
        file.
        """
        return [(name, ScanReader(file, self.options)) for name, file in self.source.of_files(self.opened)]

    def splits(self, size: int) -> list[SplitPart]:
        """Parts of about ``size`` stored bytes.

        Raises:
            TypeError: The filter is not elementwise.
        """
        return list(self.source.splits(self.scan(), size))


def _native_scan(opened: _native.Scan, options: dict[str, Any]) -> _native.Scan:
    """The native scan under options that its types do not depend on; raises as :meth:`ScanReader.scan`."""
    native = dict(options)
    filters, limit = native.pop("filters", None), native.pop("limit", None)
    if "row_number" in native:
        native["row_number"] = row_number_name(options)
    if native.get("columns") is not None:
        _check_columns(native.get("row_number"), native["columns"], _Readable(opened, native))
    if filters is None:
        return opened.with_options({**native, "stages": [(None, [], limit)]})
    readable = _Readable(opened, native)
    if isinstance(filters, Successive):
        stages = [(*_native_filters(each, readable), of) for each, of in Successive.stages(filters, limit)]
    else:
        stages = [(*_native_filters(filters, readable), limit)]
    try:
        return opened.with_options({**native, "stages": stages})
    except ValueError as error:
        raise _with_advice(error, stages, readable) from None


class _Readable:
    """The columns that filters can name, which are looked up where a filter needs them."""

    def __init__(self, opened: _native.Scan, native: dict[str, Any]) -> None:
        self._opened = opened
        self._native = {**native, "columns": []}
        self._found: pa.Schema | None = None

    @property
    def schema(self) -> pa.Schema:
        """All columns that can be read, row numbers last."""
        if self._found is None:
            self._found = schema_of(self._opened.with_options(self._native).readable(row_number=True))
        return self._found

    def stored_schema(self) -> pa.Schema:
        """The same without row numbers."""
        return schema_of(self._opened.with_options(self._native).readable())

    def check_column(self, name: str) -> None:
        """Raises UnknownColumnError with the nearest names if there is no such column."""
        if name not in self.schema.names:
            self._opened.with_options({**self._native, "columns": [name]})


def _native_filters(filters: Filters | None, readable: _Readable) -> tuple[_native.Filter | None, list[Any]]:
    """The predicate of the native core, and the filters that other libraries evaluate."""
    if filters is None:
        return None, []
    if isinstance(filters, str):
        return native_predicate(filters), []
    own = own_expression(filters)
    if own is not None:
        return own.native, []
    expression, residuals = split_all(filters, readable.schema)
    for residual in residuals:
        for name in residual.columns or ():
            readable.check_column(name)
        residual.check(readable.schema)
    return None if expression is None else expression.native, residuals


def _with_advice(error: ValueError, stages: list[tuple[Any, ...]], readable: _Readable) -> ValueError:
    """The error of a scan, with advice if a filter mixes instants and wall clocks."""
    for predicate, _, _ in stages:
        advice = "" if predicate is None else timestamp_advice(predicate.tree(), readable.stored_schema())
        if advice:
            # A string is not yet known to stand for an instant.
            return ValueError(f"{str(error).partition('; a timestamp is written')[0]}{advice}")
    return error


def _check_columns(row_number: str | None, names: Sequence[Any], readable: _Readable) -> None:
    """Checks the names of columns that are selected.

    Raises:
        UnknownColumnError: The name of the row number column is there, and no other column has it.
        ValueError: A column is there twice.
    """
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(f"columns: {twice!r} is given twice: a column is read once")
    if row_number is not None and row_number in names and row_number not in readable.stored_schema().names:
        raise UnknownColumnError(
            f"column {row_number} has the row numbers, and is added behind the columns that are selected: leave it out "
            "of columns; queries of scan_polars and dataset can select it"
        )


def _with_chunks(table: pa.Table) -> pa.Table:
    """A table without rows whose columns have a chunk, as those of ``pyarrow.Schema.empty_table``: list views without a
    chunk abort the process in ``to_pandas``.
    """
    try:
        return table.schema.empty_table()
    except pa.ArrowNotImplementedError:
        # pyarrow makes no empty arrays of unions.
        return table
