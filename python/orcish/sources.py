"""What a table may be made of: files by their paths, URLs, folders and patterns, their bytes, and file objects."""

from __future__ import annotations

import dataclasses
import functools
import os
import urllib.request
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import pyarrow as pa

from orcish import _native
from orcish.types import Limits, Matching, Source, StorageOptions

__all__ = [
    "OF_THE_TABLE",
    "Sources",
    "Table",
    "TableFile",
    "files_of",
    "is_many",
    "is_pattern",
    "local_path",
    "native_source",
]

Sources: TypeAlias = "Source | Sequence[Source]"
"""A path, URL, folder or pattern, the bytes of a file, or a file object; or several of them."""

OF_THE_TABLE = frozenset(
    (
        "arrow_schema",
        "timestamp_unit",
        "timestamp_out_of_range",
        "strings",
        "trim_char",
        "unions",
        "null_map_keys",
        "limits",
    )
)
"""Options that decide the types of columns, which have to be known when the schema of the table is."""

_SIGNS = "*?["


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


@dataclasses.dataclass(frozen=True)
class Table:
    """The files of a scan, and how they are read; pickled, it has the storage options in it, secrets and all."""

    files: list[TableFile] = dataclasses.field(repr=False)
    schema: pa.Schema | None
    match: Matching
    storage_options: StorageOptions | None = dataclasses.field(repr=False)
    limits: Limits | None

    def open(self, options: dict[str, Any]) -> _native.Scan:
        """The table with the types that its columns have under these options."""
        return _native.Scan(
            self.files,
            schema=None if self.schema is None else self.schema.__arrow_c_schema__(),
            options={name: value for name, value in options.items() if name in OF_THE_TABLE},
            matching=self.match,
            storage_options=cast("dict[str, Any] | None", self.storage_options),
            limits=cast("dict[str, int] | None", self.limits),
        )


def native_source(source: Any) -> Any:
    """A path, URL, bytes or file object as the native core takes them.

    Raises:
        TypeError: The source is none of these.
    """
    found = os.fspath(source) if isinstance(source, os.PathLike) else source
    if isinstance(found, str | bytes) or hasattr(found, "read"):
        return found
    try:
        # pyarrow's buffers included: all that gives its memory away.
        return bytes(memoryview(found))
    except TypeError:
        raise TypeError(
            f"a source is a path, a URL, the bytes of a file or a file object, not {type(source).__name__}"
        ) from None


def is_many(source: Sources) -> bool:
    """Whether a source is the path of a folder, or a pattern."""
    if not isinstance(source, str | os.PathLike):
        return False
    path = local_path(os.fspath(source))
    if _exists(path):
        return os.path.isdir(path)
    return path.endswith("/") or is_pattern(path)


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
    if path.lower().startswith(("http://", "https://")) and not is_many(path.partition("?")[0]):
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


def is_pattern(path: str) -> bool:
    """Whether a path or URL is a pattern: nothing on this machine has that name."""
    return any(sign in path for sign in _SIGNS) and not _exists(path)


def _exists(path: str) -> bool:
    return "://" not in path and os.path.exists(path)


def local_path(location: str) -> str:
    """The path of a URL of a file; other locations as they are."""
    if not location.lower().startswith("file:"):
        return location
    path = location[len("file:") :]
    if path.startswith("//"):
        path = "/" + path[2:].partition("/")[2]
    return urllib.request.url2pathname(path)


def _bare(location: str) -> str:
    """A location without its scheme, which may be written in several ways."""
    return location.partition("://")[2] or location
