"""What files and scans do alike: rows under options, and what is left to do with them in Python."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from orcish import _native, deep
from orcish.errors import CorruptFileError, NullMapKeyError, UnsupportedError
from orcish.expression import Expression
from orcish.filters import to_expression
from orcish.residual import Residual

__all__ = ["AfterRead", "Readable", "Streamed", "check_limit", "name_of_rows", "rows_of"]

DEFAULT_ROW_NUMBER = "row_number"


class Streamed:
    """What is an Arrow stream of rows that orcish reads."""

    def _rows(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """The schema and the batches of the stream. What ends them is raised as it is, where the C interface has the
        text of an exception only.
        """
        raise NotImplementedError


class Readable(Streamed):
    """What can be read under options, in all the ways that there are."""

    def _open(self, native: dict[str, Any]) -> _native.Batches:
        """The batches under options of the native core."""
        raise NotImplementedError

    def _prepare(self, options: dict[str, Any]) -> tuple[dict[str, Any], AfterRead | None]:
        return prepare(options, self._schema_of, self._schema_of_readable)

    def _readable_columns(self, native: dict[str, Any]) -> list[str] | list[int] | None:
        """The columns that can be read, where not all can; ``None`` where none can."""
        raise NotImplementedError

    def _schema_of_readable(self, native: dict[str, Any]) -> pa.Schema:
        """The schema of all columns that can be read."""
        try:
            return self._schema_of({**native, "columns": None})
        except (CorruptFileError, UnsupportedError):
            columns = self._readable_columns(native)
            if columns is None:
                raise
        return self._schema_of({**native, "columns": columns})

    def _schema_of(self, native: dict[str, Any]) -> pa.Schema:
        # Rows make no difference, and the types of encrypted columns are no secret.
        return _schema_of(self._open({**native, "filter": None, "masked": "allow"}))

    def _schema(self, options: dict[str, Any]) -> pa.Schema:
        native, after = self._prepare(options)
        return self._schema_of(native) if after is None else after.schema

    def _table(self, options: dict[str, Any]) -> pa.Table:
        native, after = self._prepare(options)
        try:
            batches = self._open(native)
            return read_all(batches) if after is None else after.table(batches)
        except NullMapKeyError:
            if "null_map_keys" in options:
                raise
            return self._table({**options, "null_map_keys": "dictionary"})

    def _batches(self, options: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        native, after = self._prepare(options)
        batches = self._open(native)
        return iterate(batches) if after is None else after.batches(batches)

    def _rows_under(self, options: dict[str, Any]) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """The rows of the stream under options; see :meth:`_rows`."""
        native, after = self._prepare(options)
        batches = self._open(native)
        return rows_of(batches) if after is None else (after.schema, after.batches(batches))

    def _stream(self, options: dict[str, Any]) -> _native.Batches | pa.RecordBatchReader:
        native, after = self._prepare(options)
        batches = self._open(native)
        return batches if after is None else pa.RecordBatchReader.from_batches(after.schema, after.batches(batches))


@dataclasses.dataclass(frozen=True)
class AfterRead:
    """A part of a filter that the core cannot evaluate, and what comes after it."""

    residual: Residual
    schema: pa.Schema
    """Of the columns that were asked for, where more had to be read."""
    limit: int | None

    def table(self, batches: _native.Batches) -> pa.Table:
        """The rows and columns that were asked for."""
        if self.residual.by_row:
            return pa.Table.from_batches(list(self.batches(batches)), self.schema)
        return self._shape(self.residual.apply(read_all(batches)).slice(0, self.limit))

    def batches(self, batches: _native.Batches) -> Iterator[pa.RecordBatch]:
        """The rows and columns that were asked for, batch by batch where the filter allows it."""
        if not self.residual.by_row:
            yield from self.table(batches).to_batches()
            return
        left = self.limit
        if left == 0:
            return
        for batch in iterate(batches):
            kept = self.residual.apply(batch).slice(0, left)
            if len(kept):
                yield self._shape(kept)
            if left is not None:
                left -= len(kept)
                # Nothing is read for rows that are not asked for.
                if left == 0:
                    return

    def _shape(self, data: Any) -> Any:
        """Without the columns, and fields of columns, that were read for the filter only."""
        if data.schema.equals(self.schema):
            return data
        columns = data.select(self.schema.names)
        if columns.schema.equals(self.schema):
            return columns
        columns = columns.cast(self.schema)
        return columns.replace_schema_metadata(self.schema.metadata)


def name_of_rows(options: dict[str, Any]) -> str | None:
    """The name of the column with the numbers of rows, if there is one."""
    name = options.get("row_number")
    return (DEFAULT_ROW_NUMBER if name is True else name) or None


def check_limit(rows: int) -> int:
    """A number of rows; raises ValueError for fewer than none, TypeError for what is no whole number."""
    rows = operator.index(rows)
    if rows < 0:
        raise ValueError(f"a limit of {rows} rows")
    return rows


def prepare(
    options: dict[str, Any],
    schema_of: Callable[[dict[str, Any]], pa.Schema],
    schema_of_readable: Callable[[dict[str, Any]], pa.Schema],
) -> tuple[dict[str, Any], AfterRead | None]:
    """Options as the native core takes them, and what to do after the read.

    Args:
        options: Keywords of :class:`~orcish.types.ReadOptions`.
        schema_of: Gives the schema that reading has under native options.
        schema_of_readable: Gives the schema of all columns that can be read under native options.

    Raises:
        TypeError: Columns are no list, the filter is none that is known, or one of polars about a column of a type that
            polars has not.
        UnknownColumnError: A column of the filter is not there.
        ValueError: What the core cannot evaluate of the filter does not fit the types of the columns.
    """
    if options.get("limit") is not None:
        check_limit(options["limit"])
    if isinstance(options.get("columns"), str | bytes):
        raise TypeError(f"columns are a list of names, not {options['columns']!r}")
    native = {name: value for name, value in options.items() if name not in ("filters", "row_number")}
    row_number = name_of_rows(options)
    if row_number:
        native["row_number"] = row_number
    filters = options.get("filters")
    if filters is None:
        return native, None
    if isinstance(filters, Expression):
        native["filter"] = filters._filter()
        return native, None
    # The core does not know the numbers of rows as a column: what asks about them is left.
    everything = schema_of_readable({**native, "row_number": None})
    expression, residual = to_expression(filters, everything)
    if expression is not None:
        native["filter"] = expression._filter()
    if residual is None:
        return native, None
    readable = schema_of_readable({**native, "filter": None}) if row_number else everything
    for name in residual.columns or ():
        if name not in readable.names:
            # The error of the core says which names are near.
            schema_of({**native, "columns": [name]})
    residual.check(readable)
    asked = native.get("columns")
    limit = native.pop("limit", None)
    schema = schema_of(native)
    if asked is not None:
        if residual.columns is None:
            native["columns"] = None
        else:
            by_id = bool(asked) and isinstance(asked[0], int)
            names = schema.names if by_id else list(asked)
            native["columns"] = [*names, *(name for name in residual.columns if name != native.get("row_number"))]
    return native, AfterRead(residual, schema, limit)


def _schema_of(batches: _native.Batches) -> pa.Schema:
    return deep.schema(batches) if batches.depth > deep.MAX_DEPTH else pa.schema(batches)


def rows_of(batches: _native.Batches) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The schema of batches, and the batches one by one."""
    return _schema_of(batches), iterate(batches)


def read_all(batches: _native.Batches) -> pa.Table:
    """All batches as a table."""
    if batches.depth > deep.MAX_DEPTH:
        return deep.read_all(batches)
    try:
        return pa.RecordBatchReader.from_stream(batches).read_all()
    except Exception:
        batches.raise_failure()
        raise


def iterate(batches: _native.Batches) -> Iterator[pa.RecordBatch]:
    """The batches one by one."""
    if batches.depth > deep.MAX_DEPTH:
        yield from deep.iterate(batches)
        return
    reader = pa.RecordBatchReader.from_stream(batches)
    while True:
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return
        except Exception:
            batches.raise_failure()
            raise
        yield batch
