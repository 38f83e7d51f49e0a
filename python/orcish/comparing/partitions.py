"""Rows that are matched by the values of a key, in parts on disk where all together do not fit into memory."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from orcish.comparing.rows import Found
from orcish.comparing.types import all_comparable, own_array, own_type, shared_type, typed
from orcish.comparing.values import codes, combined_codes, counted, hashes, mixed

if TYPE_CHECKING:
    from orcish.io.temporary_folder import TemporaryFolder

__all__ = ["Keys", "Rows", "Side", "compare_by_key"]

Side = Literal["a", "b"]

MAX_PARTS = 256
"""Maximum number of parts. Each has two files."""
_ROW = "row"
"""The last column of the rows of a side: their numbers. Other columns may have the same name."""
_SLICE = 65_536


class Keys:
    """The columns of a key.

    Args:
        name: The argument that names them, for messages.
        a: The schema of one side.
        b: The schema of the other side.
        positions: Where the columns are in both schemas.

    Raises:
        TypeError: A column has types whose values cannot all be compared.
    """

    def __init__(self, name: str, a: pa.Schema, b: pa.Schema, positions: Sequence[int]) -> None:
        self._columns = []
        for at in positions:
            key, kinds = a.field(at).name, (a.field(at).type, b.field(at).type)
            if not all_comparable(*kinds):
                raise TypeError(
                    f"{name}: column {key} is {kinds[0]} in one and {kinds[1]} in the other: they never match"
                )
            self._columns.append((at, shared_type(*kinds)))

    def of(self, rows: pa.RecordBatch) -> list[Any]:
        """The columns of a batch, in the types that both sides share."""
        return [typed(rows.column(at), kind) for at, kind in self._columns]

    def parts(self, rows: pa.RecordBatch, count: int) -> Any:
        """The number of the part of each row, of some number of parts. Equal keys are in one part."""
        total = pa.scalar(0, pa.int64())
        for array in self.of(rows):
            total = mixed(total, hashes(array))
        # The upper bits depend on all bits of a product.
        spread = pc.shift_right(mixed(total, pa.scalar(0, pa.int64())), pa.scalar(33, pa.int64()))
        positive = pc.bit_wise_and(spread, pa.scalar((1 << 31) - 1, pa.int64()))
        size = pa.scalar(count, pa.int64())
        return pc.subtract(positive, pc.multiply(pc.divide(positive, size), size))


class Rows:
    """Rows of two sides, numbered and in their own types: in memory, or on disk once they take more than some bytes.

    Args:
        schemas: The schemas of both sides.
        keys: The columns of the key.
        max_memory: Bytes from which on rows are on disk.
        rows: About how many rows there will be; 0 where that is not known.
    """

    def __init__(self, schemas: Mapping[Side, pa.Schema], keys: Keys, max_memory: int, rows: int) -> None:
        self._schemas = {
            side: pa.schema([*((field.name, own_type(field.type)) for field in schema), (_ROW, pa.int64())])
            for side, schema in schemas.items()
        }
        self._keys = keys
        self._max_memory = max_memory
        self._rows = rows
        self._held: dict[Side, list[pa.RecordBatch]] = {side: [] for side in schemas}
        self._bytes = self._held_rows = 0
        self._folder: TemporaryFolder | None = None
        self._files = contextlib.ExitStack()
        self._writers: dict[tuple[Side, int], Any] = {}
        self.count = 1
        """The number of parts."""

    def __enter__(self) -> Rows:
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            # After an error, the ends of files may not be written either.
            with self._folder, contextlib.suppress(OSError):
                self._files.close()

    def add_all(self, side: Side, batches: Iterator[pa.RecordBatch], seen: Callable[[int], object]) -> int:
        """Adds the rows of a side; gives their number."""
        count = 0
        for batch in batches:
            columns = [*map(own_array, batch.columns), counted(count, batch.num_rows)]
            own = pa.RecordBatch.from_arrays(columns, schema=self._schemas[side])
            if self._folder is not None:
                self._spill(side, own)
            else:
                self._hold(side, own)
            count += batch.num_rows
            seen(batch.num_rows)
        return count

    def _hold(self, side: Side, batch: pa.RecordBatch) -> None:
        self._held[side].append(batch)
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
        for own, held in self._held.items():
            while held:
                self._spill(own, held.pop(0))

    def _spill(self, side: Side, batch: pa.RecordBatch) -> None:
        assert self._folder is not None
        parts = self._keys.parts(batch, self.count)
        ordered = batch.take(pc.array_sort_indices(parts))
        sizes = sorted((entry["values"], entry["counts"]) for entry in parts.value_counts().to_pylist())
        starts = itertools.accumulate((size for _, size in sizes), initial=0)
        for (part, size), start in zip(sizes, starts, strict=False):
            with self._folder.errors_of_writing():
                self._writer(side, part).write_batch(ordered.slice(start, size))

    def _writer(self, side: Side, part: int) -> Any:
        if (side, part) not in self._writers:
            options = pa.ipc.IpcWriteOptions(compression="lz4" if pa.Codec.is_available("lz4") else None)
            file = self._files.enter_context(pa.OSFile(str(self._path(side, part)), "wb"))
            writer = pa.ipc.new_stream(file, self._schemas[side], options=options)
            self._writers[side, part] = self._files.enter_context(writer)
        return self._writers[side, part]

    def _path(self, side: Side, part: int) -> Path:
        assert self._folder is not None
        return Path(self._folder.name) / f"{part}.{side}"

    def parts(self) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
        """The rows of both sides, part by part. Rows of one key are in one part, in their order."""
        if self._folder is not None:
            with self._folder.errors_of_writing():
                self._files.close()
        for part in range(self.count):
            yield self._part("a", part), self._part("b", part)

    def _part(self, side: Side, part: int) -> pa.RecordBatch:
        """The rows of a side in a part, which is not asked for again."""
        if self._folder is None:
            batches, self._held[side] = self._held[side], []
        elif (side, part) not in self._writers:
            batches = []
        else:
            path = self._path(side, part)
            with pa.OSFile(str(path), "rb") as file:
                batches = list(pa.ipc.open_stream(file))
            path.unlink()
        return _one_batch(pa.Table.from_batches(batches, self._schemas[side]))


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    """A table in one batch."""
    columns = [
        pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, column.type) for column in table.columns
    ]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)


def compare_by_key(found: Found, keys: Keys, a: pa.RecordBatch, b: pa.RecordBatch) -> None:
    """Compares rows that have the same key, in their order. The last column of each side has the numbers of its rows.

    Args:
        found: Takes the differences.
        keys: The columns of the key.
        a: Rows of one side.
        b: Rows of the other side.
    """
    pairs = zip(keys.of(a), keys.of(b), strict=True)
    both = combined_codes([codes(pa.concat_arrays(pair)) for pair in pairs])
    x, y = both.slice(0, len(a)), both.slice(len(a))
    repeated = pc.unique(pa.concat_arrays([_repeated(x), _repeated(y)]))
    if len(repeated):
        found.duplicate_keys += len(repeated)
        both = combined_codes([both, pa.concat_arrays([_times_before(x), _times_before(y)])])
        x, y = both.slice(0, len(a)), both.slice(len(a))
    partner = pc.index_in(x, value_set=y)
    rows = pc.indices_nonzero(partner.is_valid())
    partners = partner.drop_null()
    for start in range(0, len(rows), _SLICE):
        found.compare(*(own.take(at.slice(start, _SLICE)) for own, at in ((a, rows), (b, partners))))
    alone = pc.indices_nonzero(partner.is_null()), pc.indices_nonzero(pc.invert(pc.is_in(y, value_set=x)))
    sides: tuple[tuple[Side, pa.RecordBatch], ...] = ("a", a), ("b", b)
    for (side, own), rows in zip(sides, alone, strict=True):
        for start in range(0, len(rows), _SLICE):
            found.only(side, own.take(rows.slice(start, _SLICE)))


def _repeated(codes: Any) -> Any:
    """The codes that are there more than once."""
    counts = codes.value_counts()
    return counts.field("values").filter(pc.greater(counts.field("counts"), 1))


def _times_before(codes: Any) -> Any:
    """How often the code of each row is there in the rows before it."""
    order = pc.array_sort_indices(codes)
    ordered = codes.take(order)
    # The first place of each code among those in order.
    first = pc.index_in(ordered, value_set=ordered).cast(pa.int64())
    return pc.subtract(counted(0, len(codes)), first).take(pc.array_sort_indices(order))
