"""Arrow streams whose rows orcish reads itself."""

from __future__ import annotations

import abc
from collections.abc import Iterator

import pyarrow as pa

__all__ = ["BatchSource", "DerivedRows", "row_count_of", "rows_of"]


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
