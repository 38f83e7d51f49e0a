"""Compaction: choice of the files that are combined, and how they become one file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pyarrow as pa

from orcish.errors import OrcishError
from orcish.io.files import TableFile
from orcish.reading.file import ORCFile, has_arrow_schema
from orcish.reading.orc_files import OrcFiles
from orcish.reading.source import type_options
from orcish.scan import scan
from orcish.tables.commit import Job
from orcish.tables.folder import Folder
from orcish.types import ScanOptions, StorageOptions
from orcish.writing.dataset import file_suffix
from orcish.writing.timestamps import common_timezone, has_wall_clocks, timestamp_types, with_schema, with_stored_types
from orcish.writing.writer import Written

__all__ = ["CompactionTask", "compact_files", "compaction_groups", "joined_path"]

FULL = 0.75
"""Files of at least this fraction of the target size are not compacted."""


@dataclasses.dataclass(frozen=True)
class CompactionTask:
    """Files of one folder that become one file; it can be pickled."""

    job: Job
    names: list[str]
    rewrite: bool
    options: dict[str, Any]


def compaction_groups(files: Sequence[Any], size: int, rewrite: bool) -> list[list[str]]:
    """Groups of files that become one file each: of one folder, in the order of their names."""
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


def compact_files(task: CompactionTask) -> list[tuple[Any, ...]]:
    """Writes one file, which is not published yet."""
    folder = task.job.folder()
    sources = [folder.location(name) for name in task.names]
    before = sum(found.size for name in task.names if (found := folder.stat(name)) is not None)
    within, _, first = task.names[0].rpartition("/")
    attempt = task.job.attempt()
    # The name of the new file sorts like the first of the old ones.
    stem, _, ending = first.partition(".")
    name = f"{stem[:10]}-{attempt[-32:]}"
    action = "rewrite"
    made = None
    if not task.rewrite:
        try:
            target = joined_path(within, f"{name}.{ending or 'orc'}")
            made = folder.merge(sources, target, staging=attempt)
            action = "merge"
        except ValueError:
            # The files differ, so their stripes cannot be copied.
            pass
    if made is None:
        options = _file_options(sources[0], folder, task.options)
        target = joined_path(within, f"{name}{file_suffix(options)}")
        made = _rewrite(sources, folder, target, attempt, options)
    written, token = made
    if written.rows != (rows := sum(ORCFile(at, storage_options=folder.storage_options).num_rows for at in sources)):
        folder.abort(target, token)
        raise OrcishError(f"{sources[0]} and {len(sources) - 1} more: {rows} rows became {written.rows}")
    return [(within, action, len(sources), written.rows, before, written.bytes, target.rpartition("/")[2], token)]


def _file_options(source: str, folder: Folder, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the file, with the given ones taking precedence."""
    first = ORCFile(source, storage_options=folder.storage_options)
    own = {name: value for name, value in first.metadata.items() if not name.startswith("orcish.")}
    # LZO cannot be written.
    codec = "zstd" if first.compression == "lzo" else first.compression
    return {"compression": codec, "metadata": own, **options}


def _rewrite(
    sources: list[str], folder: Folder, target: str, attempt: str, options: dict[str, Any]
) -> tuple[Written, bytes]:
    storage = folder.storage_options
    files = [ORCFile(source, storage_options=storage) for source in sources]
    kinds = [timestamp_types(file) for file in files]
    with_types = [file for file in files if has_arrow_schema(file)]
    reading: ScanOptions = {"partitions": False, "storage_options": storage}
    if not with_types:
        # Without Arrow schemas, the types that readers choose must stay the same.
        options = {"arrow_schema": False, **options}
        reading["timestamp_unit"] = "auto"
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
        for batch in rows:
            writer.write_batch(with_schema(batch, stored))
    return writer.close(), cast("bytes", writer.token)


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


def joined_path(folder: str, name: str) -> str:
    """The path of a file in a folder; an empty folder is the table's own."""
    return f"{folder}/{name}" if folder else name
