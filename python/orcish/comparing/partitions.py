"""Rows of two sides in parts that fit into memory, on disk if all together do not."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from orcish.comparing.keys import ROW, buckets
from orcish.comparing.leaves import counted
from orcish.comparing.simple import simple

if TYPE_CHECKING:
    from orcish.io.temporary_folder import TemporaryFolder

__all__ = ["Partitions", "Side", "numbered"]

Side = Literal["a", "b"]

PART_ROWS = 1 << 18
"""About how many rows of both sides a part in memory has."""
MAX_PARTS = 256
"""Maximum number of parts. Each has two files."""
MAX_PART = 1 << 30
"""Maximum bytes of a part, as far as they can be foreseen: offsets of strings have 32 bits."""


def numbered(batches: Iterator[pa.RecordBatch], seen: Callable[[int], object]) -> Iterator[pa.RecordBatch]:
    """Batches with a last column that has the numbers of the rows."""
    at = 0
    for batch in batches:
        numbers = counted(at, batch.num_rows)
        columns = [*map(simple, batch.columns), numbers]
        yield pa.RecordBatch.from_arrays(columns, names=[*batch.schema.names, ROW])
        at += batch.num_rows
        seen(batch.num_rows)


class Partitions:
    """Rows of two sides, divided by their keys.

    Args:
        schemas: The schemas of the batches, with the numbers of rows.
        keys: Positions of the columns of the key.
        max_memory: Bytes from which on rows are on disk.
        rows: About how many rows there will be; 0 where that is not known.
    """

    def __init__(self, schemas: dict[Side, pa.Schema], keys: Sequence[int], max_memory: int, rows: int) -> None:
        self._schemas = schemas
        self._keys = list(keys)
        self._max_memory = min(max_memory, MAX_PART)
        self._rows = rows
        self._held: list[tuple[Side, pa.RecordBatch]] = []
        self._bytes = self._held_rows = 0
        self._folder: TemporaryFolder | None = None
        self._files: dict[tuple[Side, int], tuple[Any, Any]] = {}
        self.count = 1
        """The number of parts."""

    def __enter__(self) -> Partitions:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._folder is None:
            return
        # After an error, the ends of files may not be written either.
        with self._folder, contextlib.suppress(OSError):
            self._close()

    def add(self, side: Side, batch: pa.RecordBatch) -> None:
        """Adds rows of a side."""
        if self._folder is not None:
            self._spill(side, batch)
            return
        self._held.append((side, batch))
        self._bytes += batch.nbytes
        self._held_rows += batch.num_rows
        if self._bytes <= self._max_memory:
            return
        expected = self._bytes * max(1.0, self._rows / max(self._held_rows, 1))
        # Comparing takes about as much memory as the rows of a part.
        self.count = min(MAX_PARTS, int(2 * expected / self._max_memory) + 2)
        # The import of `tempfile` takes 3 ms, and only rows that do not fit into memory need it.
        from orcish.io.temporary_folder import TemporaryFolder

        self._folder = TemporaryFolder("orcish-diff-")
        held, self._held = self._held, []
        for each in held:
            self._spill(*each)

    def _spill(self, side: Side, batch: pa.RecordBatch) -> None:
        assert self._folder is not None
        if not batch.num_rows:
            return
        numbers = self._buckets(side, [batch.column(at) for at in self._keys], self.count)
        order = pc.array_sort_indices(numbers)
        rows = pa.RecordBatch.from_arrays([column.take(order) for column in batch.columns], schema=batch.schema)
        at = 0
        for entry in numbers.take(order).value_counts().to_pylist():
            with self._folder.errors_of_writing():
                self._writer(side, entry["values"]).write_batch(rows.slice(at, entry["counts"]))
            at += entry["counts"]

    def _writer(self, side: Side, part: int) -> Any:
        found = self._files.get((side, part))
        if found is None:
            file = pa.OSFile(str(self._path(side, part)), "wb")
            codec = "lz4" if pa.Codec.is_available("lz4") else None
            options = pa.ipc.IpcWriteOptions(compression=codec)
            found = self._files[side, part] = file, pa.ipc.new_stream(file, self._schemas[side], options=options)
        return found[1]

    def _path(self, side: Side, part: int) -> Path:
        assert self._folder is not None
        return Path(self._folder.name) / f"{part}.{side}"

    def _close(self) -> None:
        for file, writer in self._files.values():
            writer.close()
            file.close()
        self._files = {}

    def parts(self) -> Iterator[tuple[pa.Table, pa.Table]]:
        """The rows of both sides, part by part. Rows of one key are in one part, in their order."""
        if self._folder is None:
            yield from self._held_parts()
            return
        with self._folder.errors_of_writing():
            self._close()
        for part in range(self.count):
            yield self._read("a", part), self._read("b", part)

    def _held_parts(self) -> Iterator[tuple[pa.Table, pa.Table]]:
        """The rows in memory. Parts whose hash tables fit into the cache take less time than all rows at once."""
        count = self._held_rows // PART_ROWS + 1
        if count == 1:
            yield self._table("a"), self._table("b")
            return
        ordered, bounds = {}, {}
        for side in self._schemas:
            table = self._table(side).combine_chunks()
            numbers = self._buckets(side, [table.column(at).combine_chunks() for at in self._keys], count)
            order = pc.array_sort_indices(numbers)
            ordered[side] = table.take(order)
            sizes = {entry["values"]: entry["counts"] for entry in numbers.value_counts().to_pylist()}
            bounds[side] = list(itertools.accumulate((sizes.get(part, 0) for part in range(count)), initial=0))
        self._held = []
        for part in range(count):
            a, b = (ordered[side].slice(at[part], at[part + 1] - at[part]) for side, at in bounds.items())
            yield a, b

    def _buckets(self, side: Side, columns: Sequence[Any], count: int) -> Any:
        other = self._schemas["b" if side == "a" else "a"]
        return buckets(columns, [other.field(at).type for at in self._keys], count)

    def _table(self, side: Side) -> pa.Table:
        return pa.Table.from_batches([batch for of, batch in self._held if of == side], self._schemas[side])

    def _read(self, side: Side, part: int) -> pa.Table:
        path = self._path(side, part)
        if not path.exists():
            return pa.Table.from_batches([], self._schemas[side])
        with pa.OSFile(str(path), "rb") as file:
            table = pa.ipc.open_stream(file).read_all()
        path.unlink()
        return table
