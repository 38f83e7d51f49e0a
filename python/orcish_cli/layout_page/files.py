"""The files of a report: the largest ones, opened, the sizes of all, and sketches of distinct values."""

from __future__ import annotations

import concurrent.futures
import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa
from orcish import _native
from orcish.errors import OrcishError
from orcish.reading.file import ORCFile
from orcish.reading.table_file import file_of_table
from orcish.tables.orc_sources import OrcSource
from orcish.terminal import printable
from orcish.types import StorageOptions

from orcish_cli.layout_page.values import MAX_FILES

__all__ = ["Opened", "Sketches", "open_largest"]

_THREADS = 8
_AT_ONCE = 64
"""Files that are opened before the smaller ones are released."""


class Opened(NamedTuple):
    """The files of a report."""

    files: list[tuple[str, ORCFile]]
    """The largest ones with their names, in the order of the table."""
    sizes: list[tuple[int, int]]
    """Bytes and rows of all files that can be opened."""
    failed: list[dict[str, str]]
    """Names and errors of the files that cannot be read."""


def open_largest(files: list[OrcSource], storage_options: StorageOptions | None) -> Opened:
    """Opens all files, and keeps the largest ones.

    Raises:
        OrcishError: No file can be read.
        OSError: Likewise.
    """
    kept: list[tuple[int, int, ORCFile]] = []
    sizes, failed = [], []
    fault: Exception | None = None
    for number, found in enumerate(_opened(files, storage_options)):
        if found is None:
            continue
        if not isinstance(found, ORCFile):
            fault = found
            failed.append({"name": files[number].name, "error": printable(str(found))})
            continue
        sizes.append((found.file_length, found.num_rows))
        # Of files of the same size, the first ones are kept.
        heapq.heappush(kept, (found.file_length, -number, found))
        if len(kept) > MAX_FILES:
            heapq.heappop(kept)
    if fault is not None and not kept:
        raise fault
    ordered = sorted(kept, key=lambda each: -each[1])
    return Opened([(files[-number].name, file) for _, number, file in ordered], sizes, failed)


def _opened(files: Sequence[OrcSource], storage_options: StorageOptions | None) -> Iterator[ORCFile | Exception | None]:
    """The files, or the errors of those that cannot be read, in their order; ``None`` for files of zero bytes."""

    def opened(file: OrcSource) -> ORCFile | Exception | None:
        try:
            found = file_of_table(file.source, storage_options)
            if found is None:
                return None
            # Reads the statistics of the tail, which may be damaged.
            found.stripe_statistics(0)
            for id in range(len(found.column_parents)):
                found.statistics(id)
        except (OrcishError, OSError) as error:
            return error
        return found

    with concurrent.futures.ThreadPoolExecutor(_THREADS) as threads:
        for start in range(0, len(files), _AT_ONCE):
            yield from threads.map(opened, files[start : start + _AT_ONCE])


class Sketches:
    """Sketches of the columns of files that have no columns below them, by their dotted names."""

    def __init__(self) -> None:
        self._sketches: dict[str, _native.Distinct] = {}

    def add(self, file: ORCFile, done: Callable[[int], None]) -> None:
        """Reads all rows of a file; ``done`` takes the rows of each batch."""
        is_struct = file.column_types[0].startswith("struct")
        batches = file.iter_batches(
            arrow_schema=False,
            strings="binary",
            timestamp_unit="auto",
            timestamp_out_of_range="null",
            decimal_out_of_range="null",
            null_map_keys="dictionary",
            masked="allow",
        )
        for batch in batches:
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                for path, array in _leaves(name if is_struct else "", column):
                    self._sketches.setdefault(path, _native.Distinct()).add(array.__arrow_c_array__())
            done(batch.num_rows)

    def estimates(self) -> dict[str, float]:
        """The number of distinct values of each column."""
        return {path: sketch.estimate() for path, sketch in self._sketches.items()}


def _leaves(path: str, array: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """The columns that have no columns below them, with their values. Unions are left out."""
    kind = array.type
    below = f"{path}." if path else ""
    if pa.types.is_struct(kind):
        for field, values in zip(kind, array.flatten(), strict=True):
            yield from _leaves(f"{below}{field.name}", values)
    elif pa.types.is_map(kind):
        start, end = (array.offsets[0].as_py(), array.offsets[-1].as_py()) if len(array) else (0, 0)
        for name, values in (("key", array.keys), ("value", array.items)):
            yield from _leaves(f"{below}{name}", values.slice(start, end - start))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from _leaves(f"{below}element", array.flatten())
    elif not pa.types.is_union(kind):
        yield path, array
