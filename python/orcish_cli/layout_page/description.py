"""What a page says, as JSON values."""

from __future__ import annotations

import concurrent.futures
import contextlib
import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from orcish import _native
from orcish._native import __version__
from orcish.arrow.buffers import within
from orcish.errors import OrcishError
from orcish.progress import reported
from orcish.reading.column_keys import column_keys
from orcish.reading.file import ORCFile
from orcish.reading.table_file import file_of_table
from orcish.tables.orc_sources import OrcSource, orc_sources, title_of
from orcish.terminal import printable
from orcish.types import ProgressOption, Sources, StorageOptions

from orcish_cli.layout_page.columns import (
    MAX_COLUMNS,
    File,
    Run,
    choose,
    collected,
    described_columns,
    described_file,
)
from orcish_cli.layout_page.ranges import MAX_RANGES, Parts
from orcish_cli.layout_page.values import runs, shared_start

__all__ = ["describe"]

MAX_FILES = 100
"""Files that are drawn, the largest ones."""
MAX_TILES = 40_000
"""Columns of stripes that are drawn. Where there are more, adjacent stripes are drawn together."""
_THREADS = 8
_AT_ONCE = 64
"""Files that are opened before the smaller ones are released."""


class _Failures:
    """Files that cannot be read."""

    def __init__(self) -> None:
        self.found: list[dict[str, str]] = []
        """Their names and errors."""
        self._last: Exception | None = None

    def add(self, name: str, error: Exception) -> None:
        """Adds a file."""
        self.found.append({"name": name, "error": printable(str(error))})
        self._last = error

    @contextlib.contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Adds a file if it cannot be read in the block."""
        try:
            yield
        except (OrcishError, OSError) as error:
            self.add(name, error)

    def check(self, others: Sequence[Any]) -> None:
        """Raises the last error if there are no other files."""
        if self._last is not None and not others:
            raise self._last


def describe(
    source: Sources,
    *,
    distinct: bool = False,
    advice: Mapping[str, Any] | None = None,
    progress: ProgressOption = False,
    storage_options: StorageOptions | None = None,
) -> dict[str, Any]:
    """What a page says of a file, or of the files of a table. Tails, stripe footers, row indexes and bloom filters are
    read, and no rows.

    Args:
        source: Any source of :func:`orcish.scan` that is ORC.
        distinct: Whether the number of distinct values of each column is estimated, for which all rows are read.
        advice: The result of :meth:`orcish.types.Advice.to_dict`, which becomes a part of the page.
        progress: True for a bar on the terminal, of rows.
        storage_options: Options of the object stores of URLs; see :data:`~orcish.types.StorageOptions`.

    Raises:
        FileNotFoundError: There are no files.
        UnsupportedError: The source is a table of CarbonData.
        OrcishError: No file can be read. Of several files, those that cannot be read are named.
        OSError: Likewise.
    """
    sources = orc_sources(source, storage_options)
    failures = _Failures()
    largest, sizes = _largest(sources, storage_options, failures)
    files = []
    for name, file in largest:
        tiles = len(largest) * min(len(file.column_parents), MAX_COLUMNS)
        with failures.of(name):
            stripes = runs(file.num_stripes, max(1, MAX_TILES // tiles))
            stored = [Run(run, file.column_storage(stripes=list(run))) for run in stripes]
            files.append(File(name, file, column_keys(file), stored))
    failures.check(files)
    columns = collected(files)
    chosen = choose(columns)
    if distinct:
        estimates = _estimates(sources, storage_options, failures, progress)
        counts = Counter(column.path for column in columns.values() if column.parent is not None)
        for column in columns.values():
            # Names of several columns are left out.
            if counts[column.path] == 1 or len(columns) == 1:
                column.distinct = estimates.get(column.path)
    shown = [described_file(file, columns) for file in files]
    names = [file.name for file in files]
    start = names[0].rfind("/", 0, shared_start(names)) + 1 if len(names) > 1 else 0
    for each in shown:
        each["label"] = each["name"][start:]
    parts = Parts(files, chosen, is_remote=any("://" in each.name for each in sources))
    size, rows = sum(each for each, _ in sizes), sum(each for _, each in sizes)
    return {
        "title": title_of(source, len(sources)),
        "version": __version__,
        "files": len(sizes),
        "bytes": size,
        "rows": rows,
        "shown": shown,
        "failed": failures.found,
        "hidden_files": {
            "files": len(sizes) - len(files),
            "bytes": size - sum(each["bytes"] for each in shown),
            "rows": rows - sum(each["rows"] for each in shown),
        },
        "hidden_columns": len(columns) - len(chosen),
        "columns": described_columns(chosen, columns),
        "is_distinct": distinct,
        "ranges": parts.ranges,
        "blooms": parts.blooms,
        "faults": parts.faults,
        "max_ranges": MAX_RANGES,
        "advice": _printable(advice),
    }


def _printable(value: Any) -> Any:
    """A JSON value whose texts are printable."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {printable(key): _printable(each) for key, each in value.items()}
    return [_printable(each) for each in value] if isinstance(value, list | tuple) else value


def _largest(
    sources: Sequence[OrcSource], storage_options: StorageOptions | None, failures: _Failures
) -> tuple[list[tuple[str, ORCFile]], list[tuple[int, int]]]:
    """The largest files with their names, in the order of the table; and bytes and rows of all files that can be
    opened.
    """

    def opened(source: OrcSource) -> ORCFile | Exception | None:
        """The file, or its error; ``None`` for a file of zero bytes."""
        try:
            found = file_of_table(source.source, storage_options)
            if found is not None:
                # Reads the statistics of the tail, which may be damaged.
                found.stripe_statistics(0)
                for id in range(len(found.column_parents)):
                    found.statistics(id)
        except (OrcishError, OSError) as error:
            return error
        return found

    kept: list[tuple[int, int, ORCFile]] = []
    sizes = []
    with concurrent.futures.ThreadPoolExecutor(_THREADS) as threads:
        for start in range(0, len(sources), _AT_ONCE):
            some = sources[start : start + _AT_ONCE]
            for number, found in enumerate(threads.map(opened, some), start):
                if isinstance(found, ORCFile):
                    sizes.append((found.file_length, found.num_rows))
                    # Of files of the same size, the first ones are kept.
                    heapq.heappush(kept, (found.file_length, -number, found))
                    if len(kept) > MAX_FILES:
                        heapq.heappop(kept)
                elif found is not None:
                    failures.add(sources[number].name, found)
    failures.check(kept)
    ordered = sorted(kept, key=lambda each: -each[1])
    return [(sources[-number].name, file) for _, number, file in ordered], sizes


def _estimates(
    sources: Sequence[OrcSource],
    storage_options: StorageOptions | None,
    failures: _Failures,
    progress: ProgressOption,
) -> dict[str, float]:
    """The number of distinct values of each column that has no columns below it, by its dotted name."""
    sketches: dict[str, _native.Distinct] = {}
    failed = {each["name"] for each in failures.found}
    read = []
    with reported(progress, "distinct values", None) as done:
        for source in sources:
            if source.name not in failed:
                with failures.of(source.name):
                    _sketch(ORCFile(source.source, storage_options=storage_options), sketches, done)
                    read.append(source)
    failures.check(read)
    return {path: sketch.estimate() for path, sketch in sketches.items()}


def _sketch(file: ORCFile, sketches: dict[str, _native.Distinct], done: Callable[[int], None]) -> None:
    """Reads all rows of a file."""
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
                sketches.setdefault(path, _native.Distinct()).add(array.__arrow_c_array__())
        done(batch.num_rows)


def _leaves(path: str, array: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """The columns that have no columns below them, with their values. Unions are left out."""
    kind = array.type
    below = f"{path}." if path else ""
    if pa.types.is_struct(kind):
        for field, values in zip(kind, array.flatten(), strict=True):
            yield from _leaves(f"{below}{field.name}", values)
    elif pa.types.is_map(kind):
        for name, values in (("key", array.keys), ("value", array.items)):
            yield from _leaves(f"{below}{name}", within(array, values) if len(array) else values)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from _leaves(f"{below}element", array.flatten())
    elif not pa.types.is_union(kind):
        yield path, array
