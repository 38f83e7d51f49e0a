"""Small files of a table put together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from orcish.errors import OrcishError
from orcish.file import ORCFile, has_arrow_schema
from orcish.folders import FileInfo, Folder
from orcish.instants import as_stored, has_wall_clocks, kinds_of, only_zone, with_schema
from orcish.scan import scan
from orcish.sources import files_of
from orcish.spark.carbon import check_not_carbon
from orcish.spark.commit import Job, Staged, finish_commits
from orcish.spark.jobs import found_session, in_workers, parse_size, to_frame
from orcish.spark.manifests import is_hidden
from orcish.spark.schemas import merged_schema
from orcish.spark.target import suffix_of
from orcish.types import ScanOptions
from orcish.writing import Written

__all__ = ["compact"]

FULL = 0.75
"""Part of the size that is aimed at from which on a file is left alone."""

RESULT = pa.schema(
    [
        ("folder", pa.string()),
        ("action", pa.string()),
        ("files", pa.int64()),
        ("rows", pa.int64()),
        ("bytes_before", pa.int64()),
        ("bytes_after", pa.int64()),
        ("file", pa.string()),
    ]
)
_BY_TASK = pa.schema([*RESULT, ("token", pa.binary())])


def compact(
    path: str,
    *,
    target_file_size: int | str = "512MB",
    rewrite: bool = False,
    spark: SparkSession | None = None,
    storage_options: dict[str, str] | None = None,
    **options: Any,
) -> DataFrame:
    """Puts small files of a table together, folder by folder, in the order of their names.

    Files that are alike are merged: their stripes are copied, and nothing is decoded. Others, and all with `rewrite`,
    are read and written anew, with the types and attributes that they have. The table changes at once, when all has
    been written; stopped before, it is as it was. Readers that have listed the old files and not opened them will miss
    them.

    >>> osp.compact("table/", target_file_size="512MB").show()                                  # doctest: +SKIP

    Args:
        path: The folder of the table, local or in an object store.
        target_file_size: Bytes of a file, about; files of three quarters of it and more are left alone.
        rewrite: Write all of them anew: where stripes are small, or with other `options`.
        spark: The session; the active one by default.
        storage_options: How the store of a URL is reached; see :data:`~orcish.types.StorageOptions`.
        options: For files that are written anew; see :class:`~orcish.types.WriteOptions`.

    Returns:
        A row for each new file: its folder, ``merge`` or ``rewrite``, how many files it replaces, rows, bytes before
        and after, its name.

    Raises:
        ValueError: Options for files are given without `rewrite`.
        FileNotFoundError: There is nothing at the path.
        UnsupportedError: It is a table of CarbonData.
        OrcishError: A file has changed or gone when the table is about to change; the table is as it was.
        PySparkException: A file cannot be read; the message names it.
    """
    session = found_session(spark)
    size = parse_size(target_file_size)
    if options and not rewrite:
        raise ValueError(f"{', '.join(options)}: options of files need rewrite=True, as merged files stay as they are")
    storage = storage_options or {}
    check_not_carbon(path, storage)
    finish_commits(path, storage)
    job = Job(path, storage)
    folder = job.folder()
    everything = folder.files()
    if not everything:
        # A path that is wrong is told from a table without files as readers do.
        files_of(path, None, storage)
    # Files of no bytes are none of rows; Hive writes them.
    there = [file for file in everything if file.size and not is_hidden(file.name)]
    tasks = [_Task(job, group, rewrite, options) for group in _groups(there, size, rewrite)]

    def replaced(now: list[FileInfo]) -> list[str]:
        removed = [name for task in tasks for name in task.names]
        for name in sorted(set(removed) - {file.name for file in set(there) & set(now)}):
            raise OrcishError(f"{folder.location(name)}: changed while it was compacted; the table is left as it was")
        return removed

    made: list[Staged] = []
    try:
        rows = in_workers(session, tasks, _run, _BY_TASK, f"orcish: compact {path}")
        made += (
            Staged(_joined(row["folder"], row["file"]), row["rows"], row["bytes_after"], row["token"]) for row in rows
        )
        if made:
            job.commit(made, replaced)
    except BaseException:
        job.give_up(made)
        raise
    return to_frame(session, rows, RESULT)


@dataclasses.dataclass(frozen=True)
class _Task:
    job: Job
    names: list[str]
    rewrite: bool
    options: dict[str, Any]


def _groups(files: Sequence[Any], size: int, rewrite: bool) -> list[list[str]]:
    """Files of one folder that become one, in the order of their names."""
    folders: dict[str, list[Any]] = {}
    for file in sorted(files):
        folders.setdefault(file.name.rpartition("/")[0], []).append(file)
    groups: list[list[str]] = []
    for within in folders.values():
        group: list[str] = []
        total = 0
        for file in within:
            if file.size >= size * FULL and not rewrite:
                continue
            if group and total + file.size > size:
                groups.append(group)
                group, total = [], 0
            group.append(file.name)
            total += file.size
        groups.append(group)
    return [group for group in groups if len(group) > 1 or (rewrite and group)]


def _run(task: _Task) -> list[tuple[Any, ...]]:
    """Writes one file that does not appear yet."""
    folder = task.job.folder()
    sources = [folder.location(name) for name in task.names]
    before = sum(found.size for name in task.names if (found := folder.stat(name)) is not None)
    within, _, first = task.names[0].rpartition("/")
    attempt = task.job.attempt()
    # The beginning of the first name says where among the others the rows are.
    stem, _, ending = first.partition(".")
    name = f"{stem[:10]}-{attempt[-32:]}"
    action = "rewrite"
    made = None
    if not task.rewrite:
        try:
            target = _joined(within, f"{name}.{ending or 'orc'}")
            made = folder.merge(sources, target, staging=attempt)
            action = "merge"
        except ValueError:
            # They are not alike.
            pass
    if made is None:
        options = _options_of(sources[0], folder, task.options)
        target = _joined(within, f"{name}{suffix_of(options)}")
        made = _rewritten(sources, folder, target, attempt, options)
    written, token = made
    if written.rows != (rows := sum(ORCFile(at, storage_options=folder.storage_options).num_rows for at in sources)):
        folder.abort(target, token)
        raise OrcishError(f"{sources[0]} and {len(sources) - 1} more: {rows} rows became {written.rows}")
    return [(within, action, len(sources), written.rows, before, written.bytes, target.rpartition("/")[2], token)]


def _options_of(source: str, folder: Folder, options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a file, and what is said of them."""
    first = ORCFile(source, storage_options=folder.storage_options)
    own = {name: value for name, value in first.metadata.items() if not name.startswith("orcish.")}
    # LZO is read only.
    codec = "zstd" if first.compression == "lzo" else first.compression
    return {"compression": codec, "metadata": own, **options}


def _rewritten(
    sources: list[str], folder: Folder, target: str, attempt: str, options: dict[str, Any]
) -> tuple[Written, bytes]:
    storage = folder.storage_options
    files = [ORCFile(source, storage_options=storage) for source in sources]
    kinds = [kinds_of(file) for file in files]
    with_types = [file for file in files if has_arrow_schema(file)]
    reading: ScanOptions = {"partitions": False, "storage_options": storage}
    if not with_types:
        # What columns are read as stays what it is.
        options = {"arrow_schema": False, **options}
        reading["timestamp_unit"] = "auto"
    if any(kinds):
        # Those of one zone keep it, and with it both times of an hour that its clocks show twice. Wall clocks which
        # their writer knew as such were written without a choice between the two, and are read as they are.
        zone = only_zone([file for file, kind in zip(files, kinds, strict=True) if kind])
        if zone is not None and "timezone" not in options:
            options = {**options, "timezone": zone}
            if not any(has_wall_clocks(file.schema) for file in with_types):
                reading["timestamps"] = "instant"
    reading["schema"] = _schema_of_all(sources, reading)
    rows = scan(sources, **reading)
    stored = as_stored(rows.schema, kinds)
    with folder.writer(target, stored, publish=False, staging=attempt, **options) as writer:
        for batch in rows:
            writer.write_batch(with_schema(batch, stored))
    return writer.close(), cast("bytes", writer.token)


def _schema_of_all(sources: list[str], reading: ScanOptions) -> pa.Schema | None:
    """The columns of files together; None where they are those of each.

    Raises:
        OrcishError: They have no types together that hold the values of each.
    """
    schemas = [scan([source], **reading).schema for source in sources]
    if all(schema.equals(schemas[0]) for schema in schemas):
        return None
    return merged_schema(zip(sources, schemas, strict=True), case_sensitive=True)


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
