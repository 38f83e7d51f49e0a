"""Queries of datasets: what a scan reads, and what pyarrow computes of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from orcish.datasets.columns import check_projection, check_single, names_to_read, paths_of, projected_paths
from orcish.filters.residual import Residual
from orcish.keywords import check_integer
from orcish.reading.reader import rows_of
from orcish.reading.scan import Scan, reader_of
from orcish.reading.source import row_number_name
from orcish.reading.taking import taken

__all__ = ["Query", "check_filter"]

_WHOLE_BATCH = 2**31 - 1
"""A batch size beyond that of any batch."""
_KEYWORDS = frozenset(
    [
        "batch_readahead",
        "batch_size",
        "cache_metadata",
        "fragment_readahead",
        "fragment_scan_options",
        "memory_pool",
        "use_threads",
    ]
)
"""Keywords of scanners of pyarrow. Those about reading ahead, caches and memory pools change no row."""


def check_filter(filters: Any) -> None:
    """Raises TypeError for filters that are not of pyarrow."""
    if filters is not None and not isinstance(filters, pc.Expression):
        raise TypeError(
            f"filter={filters!r}: must be an expression of pyarrow such as pyarrow.compute.field('id') > 5, not "
            f"{type(filters).__name__}; orcish.dataset(source, filters=...) takes other filters"
        )


@dataclasses.dataclass(frozen=True)
class Query:
    """Rows of a scan, and what is computed of them."""

    scan: Scan
    """The scan, with all that can be pushed down."""
    columns: list[str] | dict[str, pc.Expression] | None = None
    """The projection that follows; ``None`` where the scan has the columns of the query."""
    filters: pc.Expression | None = None
    """The filter that follows the scan, and precedes the projection."""

    @classmethod
    def of(cls, scan: Scan, columns: Any, filters: pc.Expression | None, options: dict[str, Any]) -> Query:
        """The query of some columns and rows.

        Args:
            scan: The scan of the dataset.
            columns: Names, expressions by their names, or ``None`` for all columns.
            filters: The filter.
            options: Keywords of scanners of pyarrow.

        Raises:
            UnknownColumnError: The scan does not have a column.
            TypeError: An argument has the wrong type, or there is no such keyword.
            ValueError: The filter does not fit the types of the columns, or a name of an expression is ambiguous.
        """
        scan = _with_options(scan, options)
        check_filter(filters)
        reader, schema = reader_of(scan), scan.schema
        projection = None if columns is None else check_projection(columns)
        whole = [(name,) for name in schema.names]
        paths = whole if projection is None else projected_paths(projection, schema)
        if filters is not None:
            needed = paths_of(filters, schema)
            if needed is not None:
                scan, filters = scan.where(filters), None
            else:
                Residual(filters, None).check(schema)
                check_single("filter", needed, schema)
                # Positions in an expression are those of all columns.
                paths = whole
        if projection is not None:
            reader = reader_of(scan)
            number = row_number_name(reader.options)
            names = names_to_read([path for path in paths if path[0] != number], schema, reader.parts_of_columns())
            scan = scan.select(names)
            if projection == scan.schema.names:
                projection = None
        reader_of(scan).check()
        return cls(scan, projection, filters)

    @property
    def schema(self) -> pa.Schema:
        """The schema of the rows."""
        if self.columns is None:
            return self.scan.schema
        return self._evaluated(iter(()), self.scan.schema).projected_schema

    def stream(self) -> pa.RecordBatchReader:
        """The rows as a stream."""
        if self.columns is None and self.filters is None:
            return pa.RecordBatchReader.from_stream(self.scan)
        return pa.RecordBatchReader.from_batches(self.schema, self.batches())

    def table(self) -> pa.Table:
        """The rows as a table."""
        if self.columns is None and self.filters is None:
            return self.scan.to_table()
        return reader_of(self.scan).table_of(self.batches(), self.schema)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows batch by batch. Errors keep their types."""
        schema, batches = rows_of(self.scan)
        if self.filters is not None:
            residual = Residual(self.filters, None)
            batches = (kept for batch in batches if len(kept := residual.apply(batch)))
        return batches if self.columns is None else self._projected(schema, batches)

    def head(self, rows: int) -> pa.Table:
        """The first rows."""
        left = check_integer("num_rows", rows, 0)
        if self.filters is None:
            return dataclasses.replace(self, scan=self.scan.limit(left)).table()
        found: list[pa.RecordBatch] = []
        batches = self.batches()
        while left and (batch := next(batches, None)) is not None:
            found.append(batch.slice(0, left))
            left -= len(found[-1])
        return pa.Table.from_batches(found, self.schema)

    def count(self) -> int:
        """Number of rows."""
        return self.scan.count() if self.filters is None else sum(map(len, self.batches()))

    def take(self, indices: Any) -> pa.Table:
        """Rows by their positions."""
        return taken(self.schema, self.batches, indices)

    def foreign_scanner(self) -> ds.Scanner:
        """A scanner of pyarrow, which reads once, and reads ahead on threads of pyarrow."""
        return ds.Scanner.from_batches(self.stream())

    def _projected(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if not self.columns:
            # Evaluation would lose the number of rows.
            yield from (batch.select([]) for batch in batches)
            return
        for batch in batches:
            yield from self._evaluated(iter([batch]), schema).to_table().to_batches()

    def _evaluated(self, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> ds.Scanner:
        # A scanner for each batch: threads of pyarrow that read ahead of the consumer would hang at the end of the
        # process, when they wait for the interpreter.
        return ds.Scanner.from_batches(batches, schema=schema, columns=self.columns, batch_size=_WHOLE_BATCH)


def _with_options(scan: Scan, options: dict[str, Any]) -> Scan:
    """The scan under keywords of scanners of pyarrow."""
    for name, value in options.items():
        if name not in _KEYWORDS:
            raise TypeError(f"{name}={value!r}: there is no such keyword of scanners of pyarrow")
    if options.get("fragment_scan_options") is not None:
        raise TypeError("fragment_scan_options: are of other formats; orcish.dataset takes the options of reading")
    if (rows := options.get("batch_size")) is not None:
        scan = scan.batch_size(check_integer("batch_size", rows, 1))
    if options.get("use_threads") is False and "threads" not in reader_of(scan).options:
        scan = Scan(reader_of(scan).with_options(threads=1))
    return scan
