"""The files at paths, URLs, folders and patterns."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, cast

from orcish import _native
from orcish.io.paths import is_http, is_many, local_path, native_source
from orcish.types import Sources, StorageOptions

__all__ = ["TableFile", "files_of"]


class TableFile(NamedTuple):
    """A file of a table, as the native core takes it."""

    location: str
    source: Any
    """Bytes or a file object; ``None`` where it is at its location."""
    partition: list[tuple[str, str | None]]
    """Names and values of its partition columns."""
    tail: bytes | None = None
    stripes: list[int] | None = None
    """Indexes of those that are read; all by default."""


def files_of(sources: Sources, partitions: bool | None, storage_options: StorageOptions | None) -> list[TableFile]:
    """The files of some sources, in their order.

    Raises:
        TypeError: A source is nothing that can be read.
        FileNotFoundError: There is no file at a path that is no pattern.
    """
    several = list(sources) if isinstance(sources, list | tuple) else [sources]
    found = [file for each in several for file in _files(each, partitions, storage_options)]
    if len(found) < 2:
        return found
    # Those without a location have names of their own.
    return [
        file if file.source is None else file._replace(location=f"{file.location[:-1]} {at}>")
        for at, file in enumerate(found)
    ]


def _files(source: Any, partitions: bool | None, storage_options: StorageOptions | None) -> list[TableFile]:
    """The files of a source. The values of partitions are in the paths below a folder, or that fit a pattern."""
    path = native_source(source)
    if not isinstance(path, str):
        return [TableFile(f"<{type(source).__name__}>", path, [])]
    path = local_path(path)
    # Few servers of HTTP can list, and a file that is missing is found to be so when it is opened.
    if is_http(path) and not is_many(path.partition("?")[0]):
        found = [path]
    else:
        found = [at for at, _ in _native.list_files(path, cast("dict[str, Any] | None", storage_options))]
    is_file = len(found) == 1 and _bare(found[0]) == _bare(path)
    has_values = not is_file if partitions is None else partitions
    if not has_values:
        return [TableFile(at, None, []) for at in found]
    # Folders above the one that is scanned are not of the table, unless they are asked for.
    of = _native.partitions_of if partitions else functools.partial(_native.partitions_below, path)
    return [TableFile(at, None, of(at)) for at in found]


def _bare(location: str) -> str:
    """A location without its scheme, which may be written in several ways."""
    return location.partition("://")[2] or location
