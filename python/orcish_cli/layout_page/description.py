"""What a report says, as JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orcish._native import __version__
from orcish.errors import OrcishError
from orcish.keywords import checked_keywords
from orcish.progress import reported
from orcish.reading.file import ORCFile
from orcish.tables.orc_sources import OrcSource, orc_sources, title_of
from orcish.terminal import printable
from orcish.types import FileSystem, ProgressOption, Sources, StorageOptions

from orcish_cli.layout_page.columns import Columns, Run, describe_file, stored_runs
from orcish_cli.layout_page.files import Sketches, open_largest
from orcish_cli.layout_page.ranges import Parts
from orcish_cli.layout_page.values import MAX_COLUMNS, MAX_RANGES, MAX_TILES, shared_start

__all__ = ["describe"]


@checked_keywords
def describe(
    source: Sources,
    *,
    distinct: bool = False,
    advice: Mapping[str, Any] | None = None,
    progress: ProgressOption = False,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
) -> dict[str, Any]:
    """What the report of :func:`~orcish_cli.layout_page.write_report` says, as JSON values, of the same arguments."""
    files = orc_sources(source, storage_options, filesystem)
    found = open_largest(files, storage_options)
    opened, stored, unread = _stored(found.files)
    failed, sizes = [*found.failed, *unread], found.sizes
    columns = Columns()
    pairs = list(zip(opened, stored, strict=True))
    keys = [columns.add(file, [run.storage for run in runs]) for (_, file), runs in pairs]
    hidden = columns.choose()
    if distinct:
        estimates, unsketched = _estimates(files, [each["name"] for each in failed], progress, storage_options)
        failed = [*failed, *unsketched]
        columns.add_distinct(estimates)
    described = [
        describe_file(name, file, runs, own, columns) for ((name, file), runs), own in zip(pairs, keys, strict=True)
    ]
    is_remote = any("://" in file.name for file in files)
    parts = Parts([(file, own) for (_, file), own in zip(opened, keys, strict=True)], columns, is_remote=is_remote)
    start = _shared_start([each["name"] for each in described])
    for each in described:
        each["label"] = each["name"][start:]
    shown_bytes, shown_rows = (sum(each[key] for each in described) for key in ("bytes", "rows"))
    return {
        "title": title_of(source, len(files)),
        "version": __version__,
        "files": len(sizes),
        "bytes": sum(size for size, _ in sizes),
        "rows": sum(rows for _, rows in sizes),
        "shown": described,
        "failed": failed,
        "hidden_files": {
            "files": len(sizes) - len(opened),
            "bytes": sum(size for size, _ in sizes) - shown_bytes,
            "rows": sum(rows for _, rows in sizes) - shown_rows,
        },
        "hidden_columns": hidden,
        "columns": columns.described(),
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


def _stored(
    files: list[tuple[str, ORCFile]],
) -> tuple[list[tuple[str, ORCFile]], list[list[Run]], list[dict[str, str]]]:
    """The files whose stripe footers can be read, their stripes, and the files that cannot be read.

    Raises:
        OrcishError: No file can be read.
        OSError: Likewise.
    """
    opened: list[tuple[str, ORCFile]] = []
    stored: list[list[Run]] = []
    unread: list[dict[str, str]] = []
    for name, file in files:
        tiles = len(files) * min(len(file.column_parents), MAX_COLUMNS)
        try:
            runs = stored_runs(file, max(1, MAX_TILES // tiles))
        except (OrcishError, OSError) as error:
            if not opened and len(unread) == len(files) - 1:
                raise
            unread.append({"name": name, "error": printable(str(error))})
            continue
        opened.append((name, file))
        stored.append(runs)
    return opened, stored, unread


def _estimates(
    files: list[OrcSource], failed: list[str], progress: ProgressOption, storage_options: StorageOptions | None
) -> tuple[dict[str, float], list[dict[str, str]]]:
    """The number of distinct values of each column, and the files that cannot be read."""
    sketches = Sketches()
    unread = []
    with reported(progress, "distinct values", None) as add:
        for name, source, _ in files:
            if name in failed:
                continue
            try:
                sketches.add(ORCFile(source, storage_options=storage_options), add)
            except (OrcishError, OSError) as error:
                if len(files) == 1:
                    raise
                unread.append({"name": name, "error": printable(str(error))})
    return sketches.estimates(), unread


def _shared_start(names: list[str]) -> int:
    """The length of the path that all files are below; 0 for one file."""
    return names[0].rfind("/", 0, shared_start(names)) + 1 if len(names) > 1 else 0
