"""Rewriting of files: their rows, all or some of them, in a new file with their types and attributes."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from orcish.io.files import TableFile
from orcish.reading.file import ORCFile, has_arrow_schema
from orcish.reading.orc_files import OrcFiles
from orcish.reading.source import type_options
from orcish.scan import scan
from orcish.tables.folder import Folder
from orcish.types import ScanOptions, StorageOptions
from orcish.writing.timestamps import common_timezone, has_wall_clocks, timestamp_types, with_schema, with_stored_types
from orcish.writing.writer import Written

__all__ = ["file_options", "rewrite", "rewritten_name"]


MIN_STRIDE, MAX_STRIDE = 1_000, 2**31 - 1
"""Rows of a row group that can be written."""


def rewritten_name(name: str, attempt: str, suffix: str) -> str:
    """The path of a file that replaces others, which sorts like the first of them.

    Args:
        name: The first of the replaced files, by its path in the table.
        attempt: The folder of the staged file.
        suffix: The suffix of the new name.
    """
    folder, separator, old = name.rpartition("/")
    return f"{folder}{separator}{old.partition('.')[0][:10]}-{attempt[-32:]}{suffix}"


def file_options(source: str, folder: Folder, options: Mapping[str, Any]) -> dict[str, Any]:
    """Codec, user metadata, stride of the row index and version of the file, with given options taking precedence."""
    first = ORCFile(source, storage_options=folder.storage_options)
    own = {name: value for name, value in first.metadata.items() if not name.startswith("orcish.")}
    # LZO cannot be written.
    codec = "zstd" if first.compression == "lzo" else first.compression
    stride, version = first.row_index_stride, first.version
    kept: dict[str, Any] = {"compression": codec, "metadata": own}
    # Bloom filters need a row index, and version 0.12.
    has_filters = bool(options.get("bloom_filter_columns"))
    if stride or not has_filters:
        kept["row_index_stride"] = min(max(stride, MIN_STRIDE), MAX_STRIDE) if stride else 0
    if version in ("0.11", "0.12") and not has_filters:
        kept["version"] = version
    return {**kept, **options}


def rewrite(
    sources: list[str],
    folder: Folder,
    target: str,
    attempt: str,
    options: dict[str, Any],
    *,
    removed: pa.Array | None = None,
) -> tuple[Written, bytes]:
    """Writes the rows of files into a new file, which is not published yet.

    Args:
        sources: The files.
        folder: The folder of the table.
        target: The new file, by its path in the table.
        attempt: The folder of the staged file.
        options: Options of the new file.
        removed: Sorted numbers of rows that are left out, counted over all files.

    Returns:
        The size of the file, and its token.

    Raises:
        LimitExceededError: A timestamp has digits beyond the unit of its column, or does not fit into 64 bits.
    """
    storage = folder.storage_options
    files = [ORCFile(source, storage_options=storage) for source in sources]
    kinds = [timestamp_types(file) for file in files]
    with_types = [file for file in files if has_arrow_schema(file)]
    reading: ScanOptions = {"partitions": False, "storage_options": storage, "timestamp_unit": "exact"}
    if not with_types:
        # Without Arrow schemas, the types that readers choose must stay the same.
        options = {"arrow_schema": False, **options}
    if any(kinds):
        # Instants of a single zone keep it, and with it both occurrences of an hour that its clocks repeat. Wall clock
        # times that were written as such have no ambiguity and are read as they are.
        zone = common_timezone([file for file, kind in zip(files, kinds, strict=True) if kind])
        if zone is not None and "timezone" not in options:
            options = {**options, "timezone": zone}
            if not any(has_wall_clocks(file.schema) for file in with_types):
                reading["timestamps"] = "instant"
    reading["schema"] = _common_schema(sources, type_options({**reading}), storage)
    rows = scan(sources, **reading)
    stored = with_stored_types(rows.schema, kinds)
    with folder.writer(target, stored, publish=False, staging=attempt, **options) as writer:
        for batch in rows if removed is None else _without(rows, removed):
            writer.write_batch(with_schema(batch, stored))
    return writer.close(), cast("bytes", writer.token)


def _without(batches: Iterable[pa.RecordBatch], removed: pa.Array) -> Iterator[pa.RecordBatch]:
    """The rows of batches without those of some numbers."""

    def place(number: int) -> int:
        """The index of the first removed number that is not less."""
        return bisect.bisect_left(range(len(removed)), number, key=lambda at: removed[at].as_py())

    first = 0
    for batch in batches:
        start, end = place(first), place(first + batch.num_rows)
        if start == end:
            yield batch
        elif end - start < batch.num_rows:
            places = [number - first for number in removed.slice(start, end - start).to_pylist()]
            yield from _without_places(batch, places)
        first += batch.num_rows


def _without_places(batch: pa.RecordBatch, places: list[int]) -> Iterator[pa.RecordBatch]:
    """The rows of a batch without those at some places, in one batch or several."""
    numbers = pa.array(range(batch.num_rows), pa.int64())
    try:
        yield batch.filter(pc.invert(pc.is_in(numbers, pa.array(places, pa.int64()))))
    except pa.ArrowNotImplementedError:
        # pyarrow does not filter views and run-end encoded arrays.
        for start, end in itertools.pairwise([-1, *places, batch.num_rows]):
            if end - start > 1:
                yield batch.slice(start + 1, end - start - 1)


def _common_schema(sources: list[str], options: dict[str, Any], storage: StorageOptions | None) -> pa.Schema | None:
    """The union of the schemas; ``None`` where all are equal.

    Raises:
        OrcishError: There is no common type.
    """
    files = OrcFiles([TableFile(source, None, []) for source in sources], None, "name", storage, None)
    unified = files.unified_schema(options, case_sensitive=True)
    if unified.fault is not None:
        raise unified.fault
    return unified.schema if unified.differs else None
