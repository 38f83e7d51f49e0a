"""The files of a report: the largest ones, opened, and the sizes of all."""

from __future__ import annotations

import heapq
from typing import NamedTuple

from orcish.errors import OrcishError
from orcish.layout.bounds import MAX_FILES
from orcish.reading.file import ORCFile
from orcish.tables.orc_sources import OrcSource
from orcish.terminal import printable
from orcish.types import StorageOptions

__all__ = ["Opened", "open_largest"]


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
    for number, (name, source) in enumerate(files):
        try:
            file = ORCFile(source, storage_options=storage_options)
            # Of files of the same size, the first ones are kept.
            size = (file.file_length, -number)
            if len(kept) < MAX_FILES or size > kept[0][:2]:
                _check(file)
                heapq.heappush(kept, (*size, file))
        except (OrcishError, OSError) as error:
            fault = error
            failed.append({"name": name, "error": printable(str(error))})
            continue
        sizes.append((file.file_length, file.num_rows))
        if len(kept) > MAX_FILES:
            heapq.heappop(kept)
    if fault is not None and not kept:
        raise fault
    ordered = sorted(kept, key=lambda each: -each[1])
    return Opened([(files[-number].name, file) for _, number, file in ordered], sizes, failed)


def _check(file: ORCFile) -> None:
    """Reads what a report says of a file, which may be damaged."""
    file.column_storage()
    file.stripe_statistics(0)
    for id in range(len(file.column_parents)):
        file.statistics(id)
