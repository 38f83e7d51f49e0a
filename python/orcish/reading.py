"""What is left to do in Python with the rows that the native core has read."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from orcish import _native, deep
from orcish.filters import Residual, to_expression

__all__ = ["AfterRead", "iterate", "name_of_rows", "prepare", "read_all", "schema_of"]

DEFAULT_ROW_NUMBER = "row_number"


@dataclasses.dataclass(frozen=True)
class AfterRead:
    """A part of a filter that the core cannot evaluate, and what comes after it."""

    residual: Residual
    schema: pa.Schema
    """Of the columns that were asked for, where more had to be read."""
    limit: int | None

    def table(self, table: pa.Table) -> pa.Table:
        """The rows and columns that were asked for."""
        return self._shape(self.residual.apply(table).slice(0, self.limit))

    def batches(self, batches: Iterator[pa.RecordBatch], read: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows and columns that were asked for, batch by batch where the filter allows it."""
        if not self.residual.by_row:
            yield from self.table(pa.Table.from_batches(list(batches), read)).to_batches()
            return
        left = self.limit
        for batch in batches:
            if left == 0:
                return
            kept = self.residual.apply(batch).slice(0, left)
            left = None if left is None else left - len(kept)
            if len(kept):
                yield self._shape(kept)

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


def prepare(
    options: dict[str, Any], schema_of: Callable[[dict[str, Any]], pa.Schema]
) -> tuple[dict[str, Any], AfterRead | None]:
    """Options as the native core takes them, and what to do after the read.

    Args:
        options: Keywords of :class:`~orcish.types.ReadOptions`.
        schema_of: Gives the schema that reading has under native options.
    """
    native = {name: value for name, value in options.items() if name not in ("filters", "row_number")}
    row_number = name_of_rows(options)
    if row_number:
        native["row_number"] = row_number
    filters = options.get("filters")
    if filters is None:
        return native, None
    # The core does not know the numbers of rows as a column: what asks about them is left.
    everything = schema_of({**native, "columns": None, "row_number": None})
    expression, residual = to_expression(filters, everything)
    if expression is not None:
        native["filter"] = expression._tree()
    if residual is None:
        return native, None
    asked = native.get("columns")
    limit = native.pop("limit", None)
    schema = schema_of(native)
    if native.get("strings") == "view":
        # pyarrow cannot pick rows of views; what it has picked becomes views.
        native["strings"] = "large"
    if asked is not None:
        if residual.columns is None:
            native["columns"] = None
        else:
            by_id = bool(asked) and isinstance(asked[0], int)
            names = schema.names if by_id else list(asked)
            native["columns"] = [*names, *(name for name in residual.columns if name != native.get("row_number"))]
    return native, AfterRead(residual, schema, limit)


def schema_of(batches: _native.Batches) -> pa.Schema:
    """The schema of batches, however deep."""
    return deep.schema(batches) if batches.depth > deep.MAX_DEPTH else pa.schema(batches)


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
