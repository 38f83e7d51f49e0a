"""Listing of paths, URLs, folders and patterns."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from orcish import _native
from orcish.io.paths import is_http, is_many, local_path, native_source
from orcish.io.system_path import SystemFile, SystemPath
from orcish.types import Sources

__all__ = ["Located", "TableFile", "source_files"]


class Located(NamedTuple):
    """What is at a path, a URL or a pattern."""

    files: list[str]
    """Their locations."""
    partition: list[tuple[str, str | None]]
    """Names and values of the partition columns of the table of the files that the path is below."""


class TableFile(NamedTuple):
    """A file of a scan, in the form that the native core takes."""

    location: str
    source: Any
    """Bytes or a file object; ``None`` where the location is a path or URL."""
    partition: list[tuple[str, str | None]]
    """Names and values of the partition columns."""
    tail: bytes | None = None
    stripes: list[int] | None = None
    """Indexes of the stripes to read; all by default."""

    @property
    def opened(self) -> Any:
        """What :class:`orcish.ORCFile` opens: the path or URL, bytes or a file object."""
        return self.location if self.source is None else self.source


def source_files(sources: Sources, partitions: bool | None, listed: Callable[[str], Located]) -> list[TableFile]:
    """The files of sources, in their order.

    Args:
        sources: The sources.
        partitions: Whether folders ``name=value`` are columns.
        listed: Lists a path, a URL or a pattern.

    Raises:
        TypeError: A source cannot be read.
        FileNotFoundError: There is no file at a path, or none that matches a pattern.
    """
    several = list(sources) if isinstance(sources, list | tuple) else [sources]
    found = [file for each in several for file in _files(each, partitions, listed)]
    if len(found) < 2:
        return found
    # Bytes and file objects get distinct names.
    return [
        file._replace(location=f"{file.location[:-1]} {at}>") if _is_nameless(file.source) else file
        for at, file in enumerate(found)
    ]


def _files(source: Any, partitions: bool | None, listed: Callable[[str], Located]) -> list[TableFile]:
    """The files of a source. Partition values come from the paths below a folder or pattern, and from the path of a
    partition of a table with a log.
    """
    if isinstance(source, SystemPath):
        return _system_files(source, partitions)
    path = native_source(source)
    if not isinstance(path, str):
        return [TableFile(f"<{type(source).__name__}>", path, [])]
    path = local_path(path)
    # Few HTTP servers can list, and opening a missing file raises an error anyway.
    is_one = is_http(path) and not is_many(path.partition("?")[0])
    found, above = Located([path], []) if is_one else listed(path)
    is_file = len(found) == 1 and _bare(found[0]) == _bare(path)
    has_values = not is_file if partitions is None else partitions
    if not has_values:
        return [TableFile(at, None, []) for at in found]
    # Other folders above the scanned one are only partitions on request.
    of = _native.partitions_of if partitions else functools.partial(_native.partitions_below, path)
    return [TableFile(at, None, _joined(above, of(at))) for at in found]


def _system_files(source: SystemPath, partitions: bool | None) -> list[TableFile]:
    """The files at a path within a file system. A log of a table there is not read."""
    path, files = source.location, source.files()
    is_file = len(files) == 1 and files[0].location == path
    if partitions is False or (is_file and not partitions):
        return [TableFile(file.location, file, []) for file in files]
    of = _native.partitions_of if partitions else functools.partial(_native.partitions_below, path)
    return [TableFile(file.location, file, of(file.location)) for file in files]


def _is_nameless(source: Any) -> bool:
    return source is not None and not isinstance(source, SystemFile)


def _joined(above: list[tuple[str, str | None]], own: list[tuple[str, str | None]]) -> list[tuple[str, str | None]]:
    names = {name for name, _ in own}
    return [*(pair for pair in above if pair[0] not in names), *own]


def _bare(location: str) -> str:
    """A location without its scheme, which has several spellings."""
    return location.partition("://")[2] or location
