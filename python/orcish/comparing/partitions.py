"""Rows that are matched by the values of a key, in parts that fit into memory, on disk if all together do not."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from orcish.comparing.arrays import own_array, typed
from orcish.comparing.rows import Found
from orcish.comparing.types import all_comparable, own_type, shared_type
from orcish.comparing.values import codes, combined_codes, counted, hashes, mixed

if TYPE_CHECKING:
    from orcish.io.temporary_folder import TemporaryFolder

__all__ = ["Keys", "Partitions", "Side", "compare_tables"]

Side = Literal["a", "b"]

PART_ROWS = 1 << 18
"""About how many rows of both sides a part in memory has."""
MAX_PARTS = 256
"""Maximum number of parts. Each has two files."""
MAX_PART = 1 << 30
"""Maximum bytes of a part, as far as they can be foreseen: offsets of strings have 32 bits."""
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

    def of(self, rows: Any) -> list[Any]:
        """The columns of a batch or table, each as one array of the type that both sides share."""
        return [typed(_array(rows.column(at)), kind) for at, kind in self._columns]

    def buckets(self, rows: Any, count: int) -> Any:
        """The number of the bucket of each row, of some number of buckets. Equal keys have equal buckets."""
        total = pa.scalar(0, pa.int64())
        for array in self.of(rows):
            total = mixed(total, hashes(array))
        # The upper bits depend on all bits of a product.
        spread = pc.shift_right(mixed(total, pa.scalar(0, pa.int64())), pa.scalar(33, pa.int64()))
        positive = pc.bit_wise_and(spread, pa.scalar((1 << 31) - 1, pa.int64()))
        size = pa.scalar(count, pa.int64())
        return pc.subtract(positive, pc.multiply(pc.divide(positive, size), size))


def _array(column: Any) -> Any:
    """A column as one array."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if not column.num_chunks:
        return pa.nulls(0, column.type)
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


class Partitions:
    """Rows of two sides, divided by their keys.

    Args:
        schemas: The schemas of both sides.
        keys: The columns of the key.
        max_memory: Bytes from which on rows are on disk.
        rows: About how many rows there will be; 0 where that is not known.
    """

    def __init__(self, schemas: dict[Side, pa.Schema], keys: Keys, max_memory: int, rows: int) -> None:
        own = {side: [(field.name, own_type(field.type)) for field in schema] for side, schema in schemas.items()}
        self._schemas = {side: pa.schema([*fields, (_ROW, pa.int64())]) for side, fields in own.items()}
        self._keys = keys
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

    def add_all(self, side: Side, batches: Iterator[pa.RecordBatch], seen: Callable[[int], object]) -> int:
        """Adds the rows of a side; gives their number."""
        count = 0
        for batch in batches:
            columns = [*map(own_array, batch.columns), counted(count, batch.num_rows)]
            self._add(side, pa.RecordBatch.from_arrays(columns, schema=self._schemas[side]))
            count += batch.num_rows
            seen(batch.num_rows)
        return count

    def _add(self, side: Side, batch: pa.RecordBatch) -> None:
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
        rows, bounds = self._divided(batch, self.count)
        for part, (start, end) in enumerate(itertools.pairwise(bounds)):
            if start < end:
                with self._folder.errors_of_writing():
                    self._writer(side, part).write_batch(rows.slice(start, end - start))

    def _divided(self, rows: Any, count: int) -> tuple[Any, list[int]]:
        """The rows in the order of their parts, and where the parts begin and end."""
        numbers = self._keys.buckets(rows, count)
        sizes = {entry["values"]: entry["counts"] for entry in numbers.value_counts().to_pylist()}
        bounds = list(itertools.accumulate((sizes.get(part, 0) for part in range(count)), initial=0))
        return rows.take(pc.array_sort_indices(numbers)), bounds

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
        divided = {side: self._divided(self._table(side).combine_chunks(), count) for side in self._schemas}
        self._held = []
        for part in range(count):
            a, b = (rows.slice(at[part], at[part + 1] - at[part]) for rows, at in divided.values())
            yield a, b

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


class _Matches(NamedTuple):
    """Positions of rows that belong together, and of those without a partner."""

    a: Any
    b: Any
    only_a: Any
    only_b: Any
    duplicates: int
    """Keys that several rows of one side have."""


def _matches(a: list[Any], b: list[Any]) -> _Matches:
    """Matches rows by the columns of their keys. Rows of one key are matched in their order."""
    length = len(a[0])
    both = combined_codes([codes(pa.concat_arrays([x, y])) for x, y in zip(a, b, strict=True)])
    x, y = both.slice(0, length), both.slice(length)
    twice = pc.unique(pa.concat_arrays([_repeated(x), _repeated(y)]))
    if len(twice):
        both = combined_codes([both, pa.concat_arrays([_times_before(x), _times_before(y)])])
        x, y = both.slice(0, length), both.slice(length)
    position = pc.index_in(x, value_set=y)
    is_matched = position.is_valid()
    only_a = pc.indices_nonzero(pc.invert(is_matched))
    only_b = pc.indices_nonzero(pc.invert(pc.is_in(y, value_set=x)))
    return _Matches(pc.indices_nonzero(is_matched), position.filter(is_matched), only_a, only_b, len(twice))


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


def compare_tables(found: Found, keys: Keys, a: pa.Table, b: pa.Table) -> None:
    """Compares rows of two tables by the key. The last column of each has the numbers of the rows."""
    a, b = a.combine_chunks(), b.combine_chunks()
    matches = _matches(keys.of(a), keys.of(b))
    found.duplicate_keys += matches.duplicates
    for start in range(0, len(matches.a), _SLICE):
        x, y = _taken(a, matches.a.slice(start, _SLICE)), _taken(b, matches.b.slice(start, _SLICE))
        found.compare(x, y, x.column(x.num_columns - 1), y.column(y.num_columns - 1))
    sides: list[tuple[Side, pa.Table, Any]] = [("a", a, matches.only_a), ("b", b, matches.only_b)]
    for side, table, rows in sides:
        for start in range(0, len(rows), _SLICE):
            part = _taken(table, rows.slice(start, _SLICE))
            found.only(side, part, part.column(part.num_columns - 1))


def _taken(table: pa.Table, rows: Any) -> pa.RecordBatch:
    columns = [_array(column.take(rows)) for column in table.columns]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)
