"""Tables of queries of duckdb: datasets with the types that duckdb has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from orcish.cli.json_values import to_json
from orcish.datasets.columns import paths_of
from orcish.datasets.dataset import ScanDataset
from orcish.filters.residual import Residual
from orcish.reading.scan import Scan
from orcish.terminal import json_line

__all__ = ["add_table", "message_of"]

MARKER = "orcish.row"
"""The name of the first column of each dataset, which has no values: duckdb reads the first column of a table to count
its rows, and columns of a file may not be readable.
"""


def add_table(connection: Any, name: str, rows: Scan) -> None:
    """Gives a connection of duckdb a table.

    Columns of types that duckdb does not have are JSON texts.

    Args:
        connection: The connection.
        name: The name of the table.
        rows: The rows.
    """
    schema = rows.schema
    if len({field.casefold() for field in schema.names}) < max(len(schema.names), 1):
        # duckdb gives columns of the same name others, by their positions.
        connection.register(name, ScanDataset(rows))
        return
    marker = MARKER
    while marker in schema.names:
        marker += "."
    dataset = _Table(rows, marker, _foreign_columns(connection, schema))
    # The name is that of the source in messages of duckdb.
    connection.register(f"{name} ", dataset)
    connection.execute(
        f"create temp view {_quoted(name)} as select * exclude ({_quoted(marker)}) from {_quoted(f'{name} ')}"
    )


def message_of(error: Exception, names: Iterable[str]) -> str:
    """The message of an error of duckdb in one line, with the names of tables that queries have."""
    text = str(error).partition(". Detail: Python exception: Traceback")[0]
    for name in names:
        text = text.replace(f"'{name} '", f"'{name}'")
    return "; ".join(line.strip() for line in text.splitlines() if line.strip())


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _foreign_columns(connection: Any, schema: pa.Schema) -> set[str]:
    """The columns whose types duckdb does not have."""
    return (
        set()
        if _takes(connection, schema)
        else {field.name for field in schema if not _takes(connection, pa.schema([field]))}
    )


def _takes(connection: Any, schema: pa.Schema) -> bool:
    import duckdb

    try:
        # pyarrow does not pass types of any depth on.
        rows = pa.RecordBatchReader.from_stream(pa.RecordBatchReader.from_batches(schema, []))
        connection.from_arrow(rows).fetchall()
    except (duckdb.Error, pa.ArrowException):
        return False
    return True


class _Table(ScanDataset):
    """A dataset for duckdb, which only asks for its schema, and for scanners.

    Args:
        rows: The rows.
        marker: The name of the column in front.
        texts: The columns that are JSON texts.
    """

    def __init__(self, rows: Scan, marker: str, texts: set[str]) -> None:
        super().__init__(rows)
        self._marker = marker
        self._texts = texts
        self._shown = pa.schema([pa.field(marker, pa.bool_()), *map(self._field, self._schema)])

    def _field(self, field: pa.Field) -> pa.Field:
        return pa.field(field.name, pa.string()) if field.name in self._texts else field

    @property
    def schema(self) -> pa.Schema:
        """The columns that duckdb sees."""
        return self._shown

    def scanner(
        self,
        columns: Any = None,
        filter: pc.Expression | None = None,  # noqa: A002
        **options: Any,
    ) -> Any:
        """A scanner over some columns and rows."""
        names = list(self._shown.names if columns is None else columns)
        used = paths_of(filter, self._shown) if self._texts and filter is not None else []
        needed = self._shown.names if used is None else [*names, *(path[0] for path in used)]
        if not self._texts.intersection(needed) and self._marker not in names:
            return super().scanner(names, filter, **options)
        read = [name for name in dict.fromkeys(needed) if name != self._marker]
        # Conditions about texts are evaluated here.
        is_pushed = not self._texts.intersection(read)
        rows = self._query(read, filter if is_pushed else None, options)
        schema = pa.schema([self._shown.field(0), *map(self._field, rows.schema)])
        batches = self._batches(rows.batches(), schema)
        if filter is not None and not is_pushed:
            batches = map(Residual(filter, None).apply, batches)
        chosen = (batch.select(names) for batch in batches)
        return ds.Scanner.from_batches(chosen, schema=pa.schema([schema.field(name) for name in names]))

    def _batches(self, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            columns = [
                self._column(column, name) for name, column in zip(batch.schema.names, batch.columns, strict=True)
            ]
            yield pa.RecordBatch.from_arrays([pa.nulls(len(batch), pa.bool_()), *columns], schema=schema)

    def _column(self, column: pa.Array, name: str) -> pa.Array:
        if name not in self._texts:
            return column
        return pa.array([None if value is None else json_line(value) for value in to_json(column)], pa.string())
