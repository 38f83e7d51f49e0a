"""The warning about tables with partitions of which a data frame has all rows."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Sequence

from orcish.errors import OrcishError
from orcish.io.filesystem import is_foreign
from orcish.io.names import display_name
from orcish.io.paths import expanded, is_hidden, is_http, is_pattern, local_path
from orcish.tables.log.table import table_log
from orcish.types import StorageOptions

__all__ = ["UnfilteredReadWarning", "warn_of_partitions"]

_known: set[str] = set()
"""The tables that this process has looked at."""


class UnfilteredReadWarning(UserWarning):
    """A data frame has all partitions of a table, because it is read without ``filters``."""


def warn_of_partitions(paths: Sequence[str], storage: StorageOptions | None, level: int) -> None:
    """Warns once of each table with partitions.

    Args:
        paths: The paths or URLs that are read without ``filters``.
        storage: Options of the store.
        level: The frame that the warning names, counted from the caller.
    """
    for path in map(expanded, paths):
        if path in _known:
            continue
        _known.add(path)
        # What is wrong with a path is an error of the read.
        with contextlib.suppress(OSError, OrcishError, ValueError):
            if _has_partitions(path, storage):
                warnings.warn(
                    f"{display_name(path)}: the table has partitions and is read without filters: df.filter(...) reads "
                    "all of them, as Spark passes no filters to Python data sources; filters='...' of osp.read reads "
                    "those that match",
                    UnfilteredReadWarning,
                    stacklevel=level + 1,
                )


def _has_partitions(path: str, storage: StorageOptions | None) -> bool:
    """Whether a table has partitions: on local disks by its folders, and in stores by its log.

    Raises:
        OSError, OrcishError, ValueError: There is no such folder, or the log cannot be read.
    """
    place = local_path(path)
    if is_pattern(place) or is_foreign(place) or is_http(place):
        return False
    if "://" in place:
        # Below this folder there are no files of the table.
        _, schema = table_log(place.rstrip("/"), storage).view("_orcish")
        return schema is not None and bool(schema[1])
    with os.scandir(place) as entries:
        return any(entry.is_dir() and entry.name.partition("=")[1] and not is_hidden(entry.name) for entry in entries)
