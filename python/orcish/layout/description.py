"""What a report says, as JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orcish._native import __version__
from orcish.carbon.detect import has_carbon, is_carbon
from orcish.errors import OrcishError, UnsupportedError
from orcish.io.files import TableFile
from orcish.keywords import checked_keywords
from orcish.layout.bounds import MAX_RANGES, MAX_TILES
from orcish.layout.columns import Columns
from orcish.layout.distinct import Sketches
from orcish.layout.opened import name_of, open_largest
from orcish.layout.parts import Parts
from orcish.layout.stored import describe_file
from orcish.layout.values import shared_start
from orcish.progress import reported
from orcish.reading.file import ORCFile
from orcish.tables.log.listing import table_files
from orcish.terminal import printable
from orcish.types import ProgressOption, Sources, StorageOptions

__all__ = ["describe"]


@checked_keywords
def describe(
    source: Sources,
    *,
    distinct: bool = False,
    advice: Mapping[str, Any] | None = None,
    progress: ProgressOption = False,
    storage_options: StorageOptions | None = None,
) -> dict[str, Any]:
    """What the report of :func:`orcish.layout.write_report` says, as JSON values; the arguments are the same."""
    files = _files(source, storage_options)
    found = open_largest(files, storage_options)
    opened, sizes, failed = found.files, found.sizes, found.failed
    columns = Columns()
    keys = [columns.add(file) for _, file in opened]
    hidden = columns.choose()
    if distinct:
        estimates, unread = _estimates(files, [each["name"] for each in failed], progress, storage_options)
        failed = [*failed, *unread]
        columns.add_distinct(estimates)
    chosen = columns.chosen()
    most = max(1, MAX_TILES // (len(opened) * max(len(chosen), 1)))
    described = [describe_file(*each, own, columns, most) for each, own in zip(opened, keys, strict=True)]
    parts = Parts([(file, own) for (_, file), own in zip(opened, keys, strict=True)], columns)
    start = _shared_start([each["name"] for each in described])
    for each in described:
        each["label"] = each["name"][start:]
    shown_bytes, shown_rows = (sum(each[key] for each in described) for key in ("bytes", "rows"))
    return {
        "title": _title(source, files),
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
        "advice": advice,
    }


def _files(source: Sources, storage_options: StorageOptions | None) -> list[Any]:
    """The sources of all files."""
    carbon = UnsupportedError("CarbonData has no stripes: orcish.convert writes its tables as ORC files")
    if is_carbon(source, storage_options):
        raise carbon
    files: list[TableFile] = table_files(source, False, storage_options).files
    if has_carbon(files):
        raise carbon
    if not files:
        raise FileNotFoundError(f"no files: {_title(source, [])}")
    # URLs of fsspec are opened by their locations.
    return [file.location if file.source is None or "://" in file.location else file.source for file in files]


def _title(source: Any, files: list[Any]) -> str:
    if isinstance(source, list | tuple):
        return _title(source[0], files) if len(source) == 1 else f"{len(files):,} files"
    return name_of(source)


def _shared_start(names: list[str]) -> int:
    """The length of the path that all files are below; 0 for one file."""
    return names[0].rfind("/", 0, shared_start(names)) + 1 if len(names) > 1 else 0


def _estimates(
    files: list[Any], failed: list[str], progress: ProgressOption, storage_options: StorageOptions | None
) -> tuple[dict[str, float], list[dict[str, str]]]:
    """The number of distinct values of each column, and the files that cannot be read."""
    sketches = Sketches()
    unread = []
    with reported(progress, "distinct values", None) as add:
        for location in files:
            name = name_of(location)
            if name in failed:
                continue
            try:
                sketches.add(ORCFile(location, storage_options=storage_options), add)
            except (OrcishError, OSError) as error:
                if len(files) == 1:
                    raise
                unread.append({"name": name, "error": printable(str(error))})
    return sketches.estimates(), unread
