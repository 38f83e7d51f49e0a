"""Scanners of datasets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from orcish.datasets.query import Query

__all__ = ["ScanScanner"]


class ScanScanner:
    """Some columns and rows of a dataset, with the methods of :class:`pyarrow.dataset.Scanner`. It reads any number of
    times, and nothing before it is asked for rows.

    It is no :class:`pyarrow.dataset.Scanner`: its C++ interface cannot be implemented in Python. Pass on
    :meth:`to_reader` where pyarrow asks for one.

    Args:
        dataset_schema: The schema of the dataset.
        query: The columns and rows.
    """

    def __init__(self, dataset_schema: pa.Schema, query: Query) -> None:
        self._dataset_schema = dataset_schema
        self._query = query

    @property
    def dataset_schema(self) -> pa.Schema:
        """The schema of the dataset."""
        return self._dataset_schema

    @property
    def projected_schema(self) -> pa.Schema:
        """The schema of the rows."""
        return self._query.schema

    def to_reader(self) -> pa.RecordBatchReader:
        """The rows as a stream."""
        return self._query.stream()

    def to_table(self) -> pa.Table:
        """Reads the rows into a table."""
        return self._query.table()

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Reads the rows batch by batch."""
        return self._query.batches()

    def scan_batches(self) -> Iterator[ds.TaggedRecordBatch]:
        """Reads the rows batch by batch, without the fragment that they are of."""
        return (ds.TaggedRecordBatch(batch, None) for batch in self._query.batches())

    def head(self, num_rows: int) -> pa.Table:
        """Reads the first rows."""
        return self._query.head(num_rows)

    def take(self, indices: Any) -> pa.Table:
        """Reads the rows at some positions, in their order."""
        return self._query.take(indices)

    def count_rows(self) -> int:
        """Counts the rows."""
        return self._query.count()

    def __arrow_c_schema__(self) -> object:
        return self.projected_schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_reader().__arrow_c_stream__(requested_schema)
