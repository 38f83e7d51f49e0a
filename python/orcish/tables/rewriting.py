"""Rewriting of files: their rows, all or some of them, in a new file with the types of the table."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from orcish import _native
from orcish._native import complete_storage
from orcish.arrow.exported import schema_for_native
from orcish.errors import UnsupportedError
from orcish.io.files import TableFile
from orcish.io.names import display_name, errors_about_rows
from orcish.reading.file import ORCFile
from orcish.reading.orc_files import OrcFiles
from orcish.reading.scan import Scan
from orcish.reading.scan_reader import ScanReader
from orcish.tables.folder import Folder
from orcish.tables.log.schema import TableSchema
from orcish.tables.rewritten import RewrittenTypes, Source
from orcish.writing.option_check import check_file_options
from orcish.writing.timestamps import timestamp_types, with_schema
from orcish.writing.writer import Written, native_options

__all__ = ["check_options", "file_options", "kept_options", "rewrite", "rewritten_name"]


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
    return kept_options(ORCFile(source, storage_options=folder.storage_options), options)


def kept_options(first: ORCFile, options: Mapping[str, Any]) -> dict[str, Any]:
    """Codec, user metadata, stride of the row index and version of an open file, likewise."""
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


def check_options(source: str, folder: Folder, options: Mapping[str, Any], schema: TableSchema | None) -> None:
    """Checks the options with which a file is written again.

    Args:
        source: The file.
        folder: The folder of the table.
        options: The options that are given.
        schema: The schema of the table in its log.

    Raises:
        TypeError, ValueError, OrcishError: An option is wrong, or the file cannot be read.
    """
    if options:
        storage = folder.storage_options
        files = [Source(source, ORCFile(source, storage_options=storage))]
        types = RewrittenTypes.of(files, schema, storage, keeps_instants="timezone" not in options)
        check_file_options(types.read, file_options(source, folder, options))


def rewrite(
    sources: list[str],
    folder: Folder,
    target: str,
    attempt: str,
    options: dict[str, Any],
    *,
    schema: TableSchema | None,
    removed: pa.Array | None = None,
) -> tuple[Written, bytes]:
    """Writes the rows of files into a new file, which is not published yet.

    Readers of the table find the same values as before, under all options. The stripes of the new file have the time
    zones of the stripes that their rows come from, and so ``timestamp`` columns have the same clocks and the same
    instants. With ``timezone`` in the options all stripes have this zone, and wall clocks stay as they are.

    Args:
        sources: The files.
        folder: The folder of the table.
        target: The new file, by its path in the table.
        attempt: The folder of the staged file.
        options: Options of the new file.
        schema: The schema of the table in its log.
        removed: Sorted numbers of rows that are left out, counted over all files.

    Returns:
        The size of the file, and its token.

    Raises:
        LimitExceededError: A timestamp has digits beyond the unit of its column, or does not fit into 64 bits.
        OrcishError: A file cannot be read with the types of the table.
    """
    storage = folder.storage_options
    files = [Source(source, ORCFile(source, storage_options=storage)) for source in sources]
    runs = [_Run(None, [file.table_file() for file in files])] if "timezone" in options else _runs(files)
    types = RewrittenTypes.of(
        files, schema, storage, keeps_instants="timezone" not in options, arrow_schema=options.get("arrow_schema")
    )
    recorded = schema_for_native(types.recorded)
    native = {**options, "arrow_schema": types.has_arrow_schema, "recorded_schema": recorded}
    writer = _native.Writer(
        folder.location(target),
        schema_for_native(types.read),
        options=native_options(native),
        storage_options=complete_storage(folder.base, storage),
        publish=False,
        staging=folder.location(attempt),
        overwrite=True,
    )
    first = 0
    try:
        with errors_about_rows(display_name(folder.base), folder.base):
            for run in runs:
                if run.zone is not None:
                    _set_timezone(writer, run.zone, run.files[0].location)
                table = OrcFiles(
                    run.files,
                    types.read,
                    "name",
                    storage,
                    None,
                    is_schema_inferred=True,
                    is_schema_of_log=schema is not None,
                    ignores_arrow_types=types.ignores_arrow_types,
                )
                for batch in Scan(ScanReader(table, {"timestamp_unit": "exact"})):
                    for kept in [batch] if removed is None else _without(batch, removed, first):
                        rows = with_schema(kept, types.read)
                        stream = pa.RecordBatchReader.from_batches(rows.schema, [rows])
                        writer.write_stream(stream.__arrow_c_stream__())
                    first += batch.num_rows
            written = Written(*writer.finish())
    except BaseException:
        writer.abort()
        raise
    return written, cast("bytes", writer.token)


class _Run(NamedTuple):
    """Consecutive stripes whose writers had one time zone."""

    zone: str | None
    """The zone, empty where it is not recorded; ``None`` where it does not matter."""
    files: list[TableFile]


def _set_timezone(writer: _native.Writer, zone: str, location: str) -> None:
    """Gives the next stripes the time zone of the stripes that their rows come from.

    Raises:
        UnsupportedError: The zone is not known. The message names the file that has it.
    """
    try:
        writer.set_timezone(zone)
    except ValueError:
        raise UnsupportedError(f"{location}: writer time zone {zone!r} is not known") from None


def _runs(sources: Sequence[Source]) -> list[_Run]:
    """The stripes of files, in their order."""
    runs: list[_Run] = []
    for source in sources:
        zones: list[str | None] = [None]
        if timestamp_types(source.file):
            zones = [*source.file.writer_timezones()] or [None]
        at = 0
        for zone, same in itertools.groupby(zones):
            count = len(list(same))
            part = source.table_file(None if count == len(zones) else list(range(at, at + count)))
            at += count
            if runs and (zone is None or runs[-1].zone in (None, zone)):
                last = runs.pop()
                runs.append(_Run(last.zone if zone is None else zone, [*last.files, part]))
            else:
                runs.append(_Run(zone, [part]))
    return runs


def _without(batch: pa.RecordBatch, removed: pa.Array, first: int) -> Iterator[pa.RecordBatch]:
    """The rows of a batch, whose first row has the number ``first``, without those of some numbers."""

    def place(number: int) -> int:
        """The index of the first removed number that is not less."""
        return bisect.bisect_left(range(len(removed)), number, key=lambda at: removed[at].as_py())

    start, end = place(first), place(first + batch.num_rows)
    if start == end:
        yield batch
    elif end - start < batch.num_rows:
        places = [number - first for number in removed.slice(start, end - start).to_pylist()]
        yield from _without_places(batch, places)


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
