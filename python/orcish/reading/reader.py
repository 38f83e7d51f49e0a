"""Reading under options: what files and scans have in common."""

from __future__ import annotations

import abc
import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from orcish import _native
from orcish.arrow.frames import fitted_metadata
from orcish.errors import CorruptFileError, NullMapKeyError, UnknownColumnError, UnsupportedError
from orcish.filters.advice import timestamp_advice
from orcish.filters.expression import Expression, native_filter
from orcish.filters.pushdown import Successive, split_filters
from orcish.filters.residual import Residual, combined_residual, of_expression
from orcish.filters.steps import StepName, check_steps
from orcish.progress import reported
from orcish.reading.batches import Seen, iterate, native_batches, read_all, reader_of_batches, schema_of, table_of
from orcish.types import ProgressOption

__all__ = [
    "DEFAULT_ROW_NUMBER",
    "BatchSource",
    "DerivedRows",
    "Reader",
    "ResidualFilter",
    "limit_of_plan",
    "row_count_of",
    "row_number_name",
    "rows_of",
]

DEFAULT_ROW_NUMBER = "row_number"


class BatchSource(abc.ABC):
    """An Arrow stream whose rows orcish reads itself; :func:`rows_of` gives them."""

    @abc.abstractmethod
    def _rows(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """The schema and the batches of the stream."""

    @abc.abstractmethod
    def _row_count(self) -> int | None:
        """The number of rows of the stream, if metadata have it."""


def rows_of(source: BatchSource) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The schema and the batches of a stream.

    An exception while reading keeps its type. The C stream interface passes only its message on.
    """
    return source._rows()


def row_count_of(source: BatchSource) -> int | None:
    """The number of rows of a stream, if metadata have it."""
    return source._row_count()


class DerivedRows(BatchSource):
    """The rows of a source, changed; there are as many."""

    def __init__(self, rows: BatchSource) -> None:
        self._given = rows

    def _row_count(self) -> int | None:
        return row_count_of(self._given)


class Reader(abc.ABC):
    """Reads rows under options, which are the keywords of :class:`~orcish.types.ReadOptions`.

    Options "of the native core" have the pushed-down part of the filter under the key ``filter``.
    """

    @abc.abstractmethod
    def open(self, native: dict[str, Any]) -> _native.Batches:
        """The batches under options of the native core."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """What is read, for people."""

    @abc.abstractmethod
    def all_rows(self, options: dict[str, Any]) -> int:
        """The number of rows under options other than ``filters`` and ``limit``, of metadata."""

    @abc.abstractmethod
    def readable_columns(self, native: dict[str, Any]) -> list[str] | list[int] | None:
        """The columns that can be read, where some cannot; ``None`` where none can."""

    def with_advice(self, error: ValueError, native: dict[str, Any]) -> ValueError:
        """The error of a read under options of the native core, with advice if its filter mixes instants and wall
        clocks.
        """
        predicate = native.get("filter")
        if predicate is None:
            return error
        plain = {**native, "filter": None, "row_number": None}
        advice = timestamp_advice(predicate.tree(), self._schema_of_readable_columns(plain))
        # A string is not yet known to stand for an instant.
        return ValueError(f"{str(error).partition('; a timestamp is written')[0]}{advice}") if advice else error

    def prepare(self, options: dict[str, Any]) -> tuple[dict[str, Any], ResidualFilter | None]:
        """Options of the native core, and the part of the filter that is applied to the batches."""
        return prepare(options, self.native_schema, self._schema_of_readable_columns)

    def native_schema(self, native: dict[str, Any]) -> pa.Schema:
        """The schema under options of the native core."""
        # The schema does not depend on the filter, and types of encrypted columns may be shown.
        return schema_of(self.open({**native, "filter": None, "masked": "allow"}))

    def _schema_of_readable_columns(self, native: dict[str, Any]) -> pa.Schema:
        try:
            return self.native_schema({**native, "columns": None})
        except (CorruptFileError, UnsupportedError):
            columns = self.readable_columns(native)
            if columns is None:
                raise
        return self.native_schema({**native, "columns": columns})

    @property
    def reads_null_keys(self) -> bool:
        """Whether there is the option ``null_map_keys="dictionary"``."""
        return True

    @property
    def is_one_frame(self) -> bool:
        """Whether metadata about the rows of a data frame can be about the rows that are read."""
        return True

    def _fitted(self, schema: pa.Schema) -> pa.Schema:
        """The schema with metadata that fit the columns and rows that are read."""
        return fitted_metadata(schema, is_whole=self.is_one_frame)

    def schema(self, options: dict[str, Any]) -> pa.Schema:
        """The schema of the rows."""
        native, residual = self.prepare(options)
        return self._fitted(self.native_schema(native) if residual is None else residual.schema)

    def read_reported(self, options: dict[str, Any], progress: ProgressOption) -> pa.Table:
        """All rows as a table, with the progress of the read."""
        if not progress:
            return self.read_table(options)
        with reported(progress, f"read {self.name}", self.row_count(options)) as add:
            return self.read_table(options, add)

    def row_count(self, options: dict[str, Any]) -> int | None:
        """The number of rows, if metadata have it."""
        if options.get("filters") is not None:
            return None
        rows = self.all_rows(options)
        limit = options.get("limit")
        return rows if limit is None else min(rows, limit)

    def read_table(self, options: dict[str, Any], seen: Seen | None = None) -> pa.Table:
        """All rows as a table."""
        native, residual = self.prepare(options)
        try:
            batches = self.open(native)
            table = read_all(batches, self.name, seen) if residual is None else residual.table(batches, self.name, seen)
        except NullMapKeyError:
            if "null_map_keys" in options or not self.reads_null_keys:
                raise
            return self.read_table({**options, "null_map_keys": "dictionary"}, seen)
        if not table.num_rows and table.num_columns:
            table = _with_chunks(table)
        schema = self._fitted(table.schema)
        # pyarrow would lose the number of rows of a table without columns.
        return table.replace_schema_metadata(schema.metadata) if table.num_columns else table

    def table_of(self, rows: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
        """A table of batches that are made of the rows, under the limit of tables that are read."""
        return table_of(rows, schema, self.open({"limit": 0}).max_result, self.name)

    def read_batches(self, options: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        """The rows batch by batch."""
        return self.read_rows(options)[1]

    def read_rows(self, options: dict[str, Any]) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """The schema and the batches."""
        return self._rows(*self._opened(options))

    def _rows(
        self, batches: _native.Batches, residual: ResidualFilter | None
    ) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        if residual is None:
            schema, rows = native_batches(batches)
        else:
            schema, rows = residual.schema, residual.batches(batches, self.name)
        fitted = self._fitted(schema)
        if fitted is schema:
            return schema, rows
        return fitted, (batch.replace_schema_metadata(fitted.metadata) for batch in rows)

    def stream(self, options: dict[str, Any]) -> _native.Batches | pa.RecordBatchReader:
        """The rows as an Arrow stream."""
        batches, residual = self._opened(options)
        if self._is_plain(batches, residual):
            return batches
        return reader_of_batches(batches, self._rows(batches, residual))

    def record_batch_reader(self, options: dict[str, Any]) -> pa.RecordBatchReader:
        """The rows as a reader of pyarrow."""
        batches, residual = self._opened(options)
        return reader_of_batches(batches, None if self._is_plain(batches, residual) else self._rows(batches, residual))

    def _opened(self, options: dict[str, Any]) -> tuple[_native.Batches, ResidualFilter | None]:
        native, residual = self.prepare(options)
        return self.open(native), residual

    def _is_plain(self, batches: _native.Batches, residual: ResidualFilter | None) -> bool:
        """Whether the batches of the native core are those that are read."""
        return residual is None and self._fitted(schema := schema_of(batches)) is schema


@dataclasses.dataclass(frozen=True)
class ResidualFilter:
    """The residuals of filters, each with the limit that follows it, in the order in which they are applied."""

    steps: tuple[tuple[Residual, int | None], ...]
    schema: pa.Schema
    """The schema of the requested columns. Batches also have the columns that only the residuals need."""

    def __str__(self) -> str:
        """The residuals and limits, for people. The last limit is that of the read."""
        texts = [f"{residual}{'' if limit is None else f', then limit {limit}'}" for residual, limit in self.steps[:-1]]
        return ", then ".join([*texts, str(self.steps[-1][0])])

    @property
    def columns(self) -> list[str] | None:
        """Names of the top-level columns that the residuals need; ``None`` where they are not known."""
        return combined_residual([residual for residual, _ in self.steps]).columns

    @property
    def by_row(self) -> bool:
        """Whether all residuals are elementwise."""
        return all(residual.by_row for residual, _ in self.steps)

    @property
    def limits(self) -> list[int | None]:
        """The limits."""
        return [limit for _, limit in self.steps]

    def table(self, batches: _native.Batches, name: str, seen: Seen | None = None) -> pa.Table:
        """The requested rows and columns. ``name`` is the name of what is read in errors."""
        if self.by_row:
            return table_of(self.batches(batches, name, seen), self.schema, batches.max_result, name)
        table = read_all(batches, name, seen)
        for residual, limit in self.steps:
            table = residual.apply(table).slice(0, limit)
        return self._project(table)

    def batches(self, batches: _native.Batches, name: str, seen: Seen | None = None) -> Iterator[pa.RecordBatch]:
        """The requested rows and columns, batch by batch where the residuals are elementwise."""
        if not self.by_row:
            yield from self.table(batches, name).to_batches()
            return
        left = self.limits
        if 0 in left:
            return
        for batch in iterate(batches, seen):
            kept = batch
            for at, (residual, _) in enumerate(self.steps):
                limit = left[at]
                kept = residual.apply(kept).slice(0, limit)
                if limit is not None:
                    left[at] = limit - len(kept)
            if len(kept):
                yield self._project(kept)
            # Stops before another batch is read.
            if 0 in left:
                return

    def _project(self, data: Any) -> Any:
        """The requested columns, without columns and struct fields that were read for the residual."""
        if data.schema.equals(self.schema):
            return data
        columns = data.select(self.schema.names)
        if columns.schema.equals(self.schema):
            return columns
        columns = columns.cast(self.schema)
        return columns.replace_schema_metadata(self.schema.metadata)


def limit_of_plan(native: dict[str, Any], residual: ResidualFilter | None) -> int | None:
    """The number of rows after which a read under options of the native core ends, if that is known before."""
    return 0 if residual is not None and 0 in residual.limits else native.get("limit")


def row_number_name(options: dict[str, Any]) -> str | None:
    """The name of the row number column; ``None`` where there is no such column.

    Raises:
        ValueError: The name is empty.
    """
    name = options.get("row_number")
    if name == "":
        raise ValueError("row_number='': give the column a name, or True")
    return (DEFAULT_ROW_NUMBER if name is True else name) or None


def prepare(
    options: dict[str, Any],
    schema_of: Callable[[dict[str, Any]], pa.Schema],
    schema_of_readable: Callable[[dict[str, Any]], pa.Schema],
) -> tuple[dict[str, Any], ResidualFilter | None]:
    """Options of the native core, and the part of the filter that is applied to the batches.

    Args:
        options: Keywords of :class:`~orcish.types.ReadOptions`.
        schema_of: Gives the schema under options of the native core.
        schema_of_readable: Gives the schema of all columns that can be read, under options of the native core.

    Raises:
        TypeError: The filter is of no known kind, or a filter of polars is about a column whose type polars does not
            have.
        UnknownColumnError: A column of the filter does not exist.
        ValueError: The residual does not fit the types of the columns, or a name leads to a field that a column of the
            same dotted name hides.
    """
    native = {name: value for name, value in options.items() if name not in ("filters", "row_number", "limit")}
    row_number = row_number_name(options)
    if row_number:
        native["row_number"] = row_number
    _check_columns(row_number, options.get("columns"), native, schema_of_readable)
    (filters, limit), *later = Successive.stages(options.get("filters"), options.get("limit"))
    names = [*(options.get("columns") or ()), *(filters.columns if isinstance(filters, Expression) else ())]
    if any(isinstance(name, StepName) for name in names):
        check_steps(names, schema_of_readable({**native, "columns": None, "row_number": None}))
    # Only unions that are read as structs need the schema of a predicate of orcish.
    is_stored = isinstance(filters, Expression) and native.get("unions") != "struct"
    if not later and (filters is None or is_stored):
        if limit is not None:
            native["limit"] = limit
        if isinstance(filters, Expression):
            native["filter"] = native_filter(filters)
        return native, None
    readable = schema_of_readable(native)
    expression, residual = split_filters(filters, readable)
    if expression is not None:
        native["filter"] = native_filter(expression)
    steps: list[tuple[Residual, int | None]] = []
    if residual is not None:
        steps.append((residual, limit))
    elif limit is not None:
        native["limit"] = limit
    for filters, limit in later:
        # What follows a limit is not pushed down.
        expression, residual = split_filters(filters, readable)
        parts = [] if expression is None else [of_expression(expression, readable.names)]
        steps.append((combined_residual([*parts, *([] if residual is None else [residual])]), limit))
    if not steps:
        return native, None
    needed = ResidualFilter(tuple(steps), readable).columns
    for name in needed or ():
        if name not in readable.names:
            # Raises UnknownColumnError with the nearest names.
            schema_of({**native, "columns": [name]})
    for residual, _ in steps:
        residual.check(readable)
    requested = native.get("columns")
    schema = schema_of(native)
    if requested is not None:
        if needed is None:
            native["columns"] = None
        else:
            by_id = bool(requested) and isinstance(requested[0], int)
            selected = schema.names if by_id else list(requested)
            native["columns"] = [*selected, *(name for name in needed if name != row_number)]
    return native, ResidualFilter(tuple(steps), schema)


def _check_columns(
    row_number: str | None,
    names: Sequence[Any] | None,
    native: dict[str, Any],
    schema_of_readable: Callable[[dict[str, Any]], pa.Schema],
) -> None:
    """Checks the names of columns that are selected.

    Raises:
        UnknownColumnError: The name of the row number column is there, and no other column has it.
        ValueError: A column is there twice.
    """
    if names is None:
        return
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(f"columns: {twice!r} is given twice: a column is read once")
    if row_number is None or row_number not in names:
        return
    if row_number not in schema_of_readable({**native, "columns": None, "row_number": None}).names:
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
