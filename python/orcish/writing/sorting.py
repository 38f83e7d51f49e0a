"""Rows in the order of some columns, in bounded memory: sorted runs in temporary files, and merges of them."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from orcish import _native
from orcish.arrow.casting import cast_array, select_rows
from orcish.arrow.exported import schema_for_native
from orcish.filters.names import ColumnName, dotted
from orcish.hints import unknown_column
from orcish.io.temporary_folder import TemporaryFolder
from orcish.reading.file import ORCFile
from orcish.reading.reader import BatchSource, DerivedRows, rows_of
from orcish.writing.writer import ORCWriter

__all__ = ["DEFAULT_MEMORY", "SortKey", "SortedRows", "sorted_batches"]

DEFAULT_MEMORY = 512 << 20
MAX_RUNS = 32
"""Runs that are merged at a time."""
BATCH_SIZE = 65_536
MIN_BATCH, MIN_STRIPE = 256, 1 << 20


class SortKey(NamedTuple):
    """A column that rows are sorted by."""

    name: ColumnName
    """Its name; dots, and steps, lead into structs."""
    is_descending: bool = False
    nulls_first: bool = False


class SortedRows(DerivedRows):
    """The rows of a source in the order of some columns. Rows with equal values keep their order. NaN is after other
    values in either direction. Nulls are after it, unless a key has them first.

    Args:
        rows: The source.
        keys: The columns, the first one first.
        memory: Bytes of rows that are held at a time, about. Rows beyond it are written to temporary ORC files.
        folder: The folder for the temporary files; that of the system by default.

    Raises:
        UnknownColumnError: There is no such column. Raised when rows are requested.
        TypeError: The values of a column have no order.
    """

    def __init__(
        self, rows: BatchSource, keys: Sequence[SortKey], memory: int = DEFAULT_MEMORY, folder: str | None = None
    ) -> None:
        super().__init__(rows)
        self._keys = list(keys)
        self._memory = memory
        self._folder = folder

    def _rows(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        schema, batches = rows_of(self._given)
        return schema, sorted_batches(schema, batches, self._keys, self._memory, self._folder)


def sorted_batches(
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    keys: Sequence[SortKey],
    memory: int = DEFAULT_MEMORY,
    folder: str | None = None,
) -> Iterator[pa.RecordBatch]:
    """The rows of batches in the order of some columns, as :class:`SortedRows`, whose errors it raises.

    Args:
        schema: The schema of the batches.
        batches: The batches.
        keys: The columns, the first one first.
        memory: As in :class:`SortedRows`.
        folder: As in :class:`SortedRows`.
    """
    # Checks the columns. pyarrow makes no empty table with a union.
    _order(pa.Table.from_batches([], schema), keys)
    return _sorted_batches(schema, batches, keys, memory, folder)


def _sorted_batches(
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    keys: Sequence[SortKey],
    memory: int,
    folder: str | None,
) -> Iterator[pa.RecordBatch]:
    with contextlib.ExitStack() as stack:
        runs: _Runs | None = None
        pending: list[pa.RecordBatch] = []
        size = 0
        for batch in batches:
            pending.append(batch)
            size += batch.nbytes
            # The sorted rows take as much memory again, and so does the stripe that is written.
            if size >= memory // 4:
                if runs is None:
                    temporary = stack.enter_context(TemporaryFolder("orcish-sort-", folder))
                    runs = _Runs(temporary.name, schema, keys, memory)
                runs.add(_sorted(pa.Table.from_batches(pending, schema), keys))
                pending, size = [], 0
        last = _sorted(pa.Table.from_batches(pending, schema), keys)
        pending = []
        if runs is None:
            yield from last.to_batches(BATCH_SIZE)
            return
        if len(last):
            runs.add(last)
        del last
        yield from runs.merged()


class _Runs:
    """Sorted runs, each in a file, in the order of their rows in the source."""

    def __init__(self, folder: str, schema: pa.Schema, keys: Sequence[SortKey], memory: int) -> None:
        self._folder, self._schema, self._keys, self._memory = folder, schema, keys, memory
        self._numbers = itertools.count()
        self._runs: list[str] = []
        self._row_bytes = 1.0

    def add(self, table: pa.Table) -> None:
        """Writes a run."""
        self._row_bytes = max(self._row_bytes, table.nbytes / max(len(table), 1))
        self._runs.append(self._write(iter(table.to_batches(BATCH_SIZE))))

    def merged(self) -> Iterator[pa.RecordBatch]:
        """The rows of all runs in order."""
        while len(self._runs) > MAX_RUNS:
            groups = [self._runs[at : at + MAX_RUNS] for at in range(0, len(self._runs), MAX_RUNS)]
            self._runs = []
            for group in groups:
                self._runs.append(self._write(self._merge(group)))
                for path in group:
                    os.unlink(path)
        yield from self._merge(self._runs)

    def _write(self, batches: Iterator[pa.RecordBatch]) -> str:
        path = os.path.join(self._folder, f"{next(self._numbers)}.orc")
        stripe = max(MIN_STRIPE, self._memory // (8 * MAX_RUNS))
        with ORCWriter(path, self._schema, compression="lz4", row_index_stride=0, stripe_size=stripe) as writer:
            for batch in batches:
                writer.write_batch(batch)
        return path

    def _read(self, path: str) -> Iterator[pa.Table]:
        rows = min(BATCH_SIZE, max(MIN_BATCH, int(self._memory / (8 * MAX_RUNS * self._row_bytes))))
        for batch in ORCFile(path).iter_batches(batch_size=rows, timestamp_unit="exact"):
            columns = [cast_array(batch.column(at), field.type) for at, field in enumerate(self._schema)]
            yield pa.Table.from_batches([pa.RecordBatch.from_arrays(columns, schema=self._schema)])

    def _merge(self, paths: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Merges runs. The rows up to the first row that is the last one read of some run are in their final order."""
        readers = [self._read(path) for path in paths]
        buffers = [next(reader, None) for reader in readers]
        while live := [(at, buffer) for at, buffer in enumerate(buffers) if buffer is not None]:
            parts = [buffer for _, buffer in live]
            ends = list(itertools.accumulate(map(len, parts)))
            together = pa.concat_tables(parts)
            order = _order(together, self._keys)
            lasts = pa.array([end - 1 for end in ends], order.type)
            # There is one, as no buffer is empty.
            final = pc.index(pc.is_in(order, value_set=lasts), value=True).as_py() + 1
            emitted = order.slice(0, final)
            yield from _taken(together, emitted).combine_chunks().to_batches(BATCH_SIZE)
            for (at, part), end in zip(live, ends, strict=True):
                begin = end - len(part)
                is_own = pc.and_(pc.greater_equal(emitted, begin), pc.less(emitted, end))
                left = part.slice(pc.sum(is_own).as_py() or 0)
                buffers[at] = left if len(left) else next(readers[at], None)


def _sorted(table: pa.Table, keys: Sequence[SortKey]) -> pa.Table:
    return _taken(table, _order(table, keys))


def _taken(table: pa.Table, order: pa.Array) -> pa.Table:
    return select_rows(table, lambda plain: plain.take(order))


def _order(table: pa.Table, keys: Sequence[SortKey]) -> pa.Array:
    """The positions of the rows in their order; the sort is stable."""
    columns: dict[str, pa.ChunkedArray] = {}
    order: list[tuple[str, str]] = []
    for at, key in enumerate(keys):
        column = _key_column(table, key.name)
        if key.nulls_first:
            columns[f"is {at}"] = pc.is_valid(column)
            order.append((f"is {at}", "ascending"))
        columns[str(at)] = column
        order.append((str(at), "descending" if key.is_descending else "ascending"))
    return pc.sort_indices(pa.table(columns), sort_keys=order)


def _key_column(table: pa.Table, name: ColumnName) -> pa.ChunkedArray:
    """The values of a column, of a type that pyarrow sorts.

    Raises:
        UnknownColumnError: There is no such column.
        TypeError: The values have no order.
    """
    path = _native.field_path(schema_for_native(table.schema), name)
    column: Any = None if path is None else table.column(path[0])
    for at in path[1:] if path is not None else ():
        # A list has values of its own, and a field of the values of a list has none.
        column = pc.struct_field(column, at) if column is not None and pa.types.is_struct(column.type) else None
    if column is None:
        raise unknown_column(dotted(name), table.schema.names)
    kind = _sortable(column.type)
    if kind is None:
        raise TypeError(f"column {dotted(name)!r} has the type {column.type}, whose values have no order")
    if kind == column.type:
        return column
    return pa.chunked_array([cast_array(chunk, kind) for chunk in column.chunks], kind)


def _sortable(kind: pa.DataType) -> pa.DataType | None:
    """The type as which values are sorted; ``None`` if they have no order."""
    types = pa.types
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return _sortable(kind.value_type)
    if types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary_view(kind):
        return pa.large_binary()
    if types.is_float16(kind):
        return pa.float32()
    if types.is_null(kind):
        return pa.bool_()
    if types.is_nested(kind) or types.is_interval(kind) or isinstance(kind, pa.BaseExtensionType):
        return None
    return kind
