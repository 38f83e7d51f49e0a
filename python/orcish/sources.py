"""What a table may be made of: files by their paths, URLs, folders and patterns, their bytes, and file objects."""

from __future__ import annotations

import dataclasses
import functools
import os
import urllib.request
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

import pyarrow as pa

from orcish import _native
from orcish.errors import CorruptFileError, OrcishError, UnknownColumnError, UnsupportedError
from orcish.explanation import STRIPES, Parts
from orcish.nested import rebuilt
from orcish.types import Limits, Matching, Source, StorageOptions

__all__ = [
    "ReadableColumns",
    "Scannable",
    "Sources",
    "SplitPart",
    "Table",
    "TableFile",
    "alone",
    "files_of",
    "has_carbon",
    "is_carbon",
    "is_carbon_file",
    "is_many",
    "is_pattern",
    "local_path",
    "native_source",
    "of_types",
    "unknown_beside",
]

Sources: TypeAlias = "Source | Sequence[Source]"
"""A path, URL, folder or pattern, the bytes of a file, or a file object; or several of them."""

OF_THE_TABLE = frozenset(
    (
        "arrow_schema",
        "timestamp_unit",
        "timestamps",
        "timezone",
        "timestamp_out_of_range",
        "strings",
        "invalid_utf8",
        "decimal_out_of_range",
        "long_char",
        "trim_char",
        "unions",
        "null_map_keys",
        "limits",
    )
)
"""Options that decide the types of columns, which have to be known when the schema of the table is."""

_SIGNS = "*?["
_METADATA = "Metadata/schema"
_DATA = ".carbondata"


def of_types(options: dict[str, Any]) -> dict[str, Any]:
    """Those of some options that decide the types of columns."""
    return {name: value for name, value in options.items() if name in OF_THE_TABLE}


class SplitPart(NamedTuple):
    """A part of a scan, as its table gives it."""

    location: str
    rows: int
    size: int
    stripes: list[int]
    """Indexes of stripes, or of blocklets."""
    table: Scannable


class Scannable(Protocol):
    """What a table offers to a scan: ORC files, or a table of CarbonData."""

    @property
    def parts(self) -> Parts:
        """What the parts of its files are called."""

    @property
    def partition_columns(self) -> list[str]:
        """Names of the columns whose values are in names of folders."""

    def open(self, options: dict[str, Any]) -> Any:
        """The scan of the native core, with the types that columns have under these options."""

    def is_stored(self, column: str) -> bool:
        """Whether statistics of the files may know the column."""

    def proven(self, opened: Any) -> list[tuple[dict[str, Any], list[int]]] | None:
        """For each file, statistics of the one column over what is wanted whole, and the indexes of the rest."""

    def part(self, files: list[tuple[int, list[int] | None]], opened: Any) -> Scannable:
        """The part that is in some files, by their indexes, and in some of their stripes or all."""

    def splits(self, opened: Any, size: int) -> Iterator[SplitPart]:
        """Parts of a scan, each with a table of its own."""


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
    is_part: bool = False
    """Whether this is a part of a table whose schema is that of its files, as those of the part may not be all."""

    parts = STRIPES

    @property
    def partition_columns(self) -> list[str]:
        """Names of the columns whose values are in names of folders."""
        return [name for name, _ in self.files[0].partition]

    def open(self, options: dict[str, Any]) -> _native.Scan | ReadableColumns:
        """The table with the types that its columns have under these options."""
        types = of_types(options)
        try:
            return self.open_columns(types, None)
        except (CorruptFileError, UnsupportedError) as error:
            fault = error
        # Types of some columns may be unknown, and those of others be known.
        return ReadableColumns(self, types, self.open_columns(types, []), fault)

    def open_columns(self, types: dict[str, Any], columns: list[str] | None) -> _native.Scan:
        """The table of all columns, or of those that can be read, among which these have to be."""
        return self._open(types if columns is None else {**types, "columns": columns})

    def _open(self, options: dict[str, Any]) -> _native.Scan:
        schema = self.schema
        if schema is not None and self.is_part and options.get("null_map_keys") == "dictionary":
            # So do the types of the files.
            schema = pa.schema([_with_null_keys(field) for field in schema], schema.metadata)
        return _native.Scan(
            self.files,
            schema=None if schema is None else schema.__arrow_c_schema__(),
            options=options,
            matching=self.match,
            storage_options=cast("dict[str, Any] | None", self.storage_options),
            limits=cast("dict[str, int] | None", self.limits),
        )

    def is_stored(self, column: str) -> bool:
        """Whether statistics of the files may know the column."""
        return column not in self.partition_columns

    def proven(self, opened: _native.Scan) -> list[tuple[dict[str, Any], list[int]]]:
        """For each file, statistics of the one column over what is wanted whole, and the indexes of the rest."""
        return opened.proven()

    def part(self, files: list[tuple[int, list[int] | None]], opened: _native.Scan | ReadableColumns) -> Table:
        """The part that is in some files, by their indexes, and in some of their stripes or all."""
        some = [
            self.files[at] if stripes is None else self.files[at]._replace(stripes=stripes) for at, stripes in files
        ]
        return self._of(some, opened)

    def splits(self, opened: _native.Scan, size: int) -> Iterator[SplitPart]:
        """Parts of a scan, each with a table of its own."""
        sources = {file.location: file.source for file in self.files}
        for location, partition, tail, stripes, rows, length in opened.splits(size):
            table = self._of([TableFile(location, sources[location], partition, tail, stripes)], opened)
            # The core says of every split which stripes are in it.
            yield SplitPart(location, rows, length, stripes or [], table)

    def _of(self, files: list[TableFile], opened: _native.Scan | ReadableColumns) -> Table:
        """A table of some files, with the columns of this one."""
        is_part = self.schema is None or self.is_part
        return dataclasses.replace(self, files=files, schema=self.schema_of(opened), is_part=is_part)

    def schema_of(self, opened: _native.Scan | ReadableColumns) -> pa.Schema:
        """The schema of all columns that can be read, those of the folders last."""
        return pa.schema(_Schema(opened.table_schema()))


def _with_null_keys(field: pa.Field, _: str = "") -> pa.Field:
    """A field in which the keys of maps are dictionaries, which may have nulls among their values."""
    kind = rebuilt(field.type, _with_null_keys)
    if pa.types.is_map(kind) and not pa.types.is_dictionary(kind.key_type):
        key = kind.key_field.with_type(pa.dictionary(pa.int32(), kind.key_type))
        kind = pa.map_(key, kind.item_field, kind.keys_sorted)
    return field.with_type(kind)


@dataclasses.dataclass(frozen=True)
class ReadableColumns:
    """A table that has columns which cannot be read, beside those that can."""

    table: Table
    types: dict[str, Any]
    """Options that decide the types of its columns."""
    opened: _native.Scan
    """The table of the columns that can be read."""
    fault: OrcishError
    """Why not all columns can be read."""

    @property
    def files(self) -> list[str]:
        """Paths or URLs of the files."""
        return self.opened.files

    def table_schema(self) -> object:
        """The schema of the columns that can be read."""
        return self.opened.table_schema()

    def with_options(self, options: dict[str, Any]) -> _native.Scan:
        """The scan of columns that can be read.

        Raises:
            OrcishError: A column that is asked for cannot be read.
        """
        columns = options.get("columns")
        if columns is None:
            raise self.fault
        try:
            return self.opened.with_options(options)
        except UnknownColumnError as error:
            # Of columns that are there, this is the error that says why they cannot be read.
            self.table.open_columns(self.types, columns)
            raise unknown_beside(error, self.fault) from error


def unknown_beside(error: UnknownColumnError, fault: OrcishError) -> UnknownColumnError:
    """The error of a column that is not among those that can be read, with the reason why others cannot."""
    return UnknownColumnError(f"{error}; not all columns can be read: {fault}")


class _Schema:
    """A schema that is a capsule."""

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __arrow_c_schema__(self) -> object:
        return self._capsule


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


def is_carbon(source: Sources, storage_options: StorageOptions | None) -> bool:
    """Whether a source is a table of CarbonData with metadata, or a data file. Stores are asked for the metadata where
    the name is like that of a folder; what else is a table is known from the list of its files, see :func:`has_carbon`.
    """
    if is_carbon_file(source):
        return True
    if not isinstance(source, str | os.PathLike):
        return False
    path = local_path(os.fspath(source))
    if "://" not in path:
        return os.path.isfile(os.path.join(path, _METADATA))
    folder = path.rstrip("/")
    if _is_of_http(path) or is_pattern(path) or (folder == path and "." in path.rpartition("/")[2]):
        return False
    try:
        return _native.stat(f"{folder}/{_METADATA}", cast("dict[str, Any] | None", storage_options)) is not None
    except PermissionError:
        # Stores that may not be listed say so of files that are missing.
        return False


def is_carbon_file(source: Sources) -> bool:
    """Whether a source is the path or URL of a data file of CarbonData."""
    if not isinstance(source, str | os.PathLike):
        return False
    path = os.fspath(source)
    return path.endswith(_DATA) and not is_pattern(path)


def has_carbon(files: list[TableFile]) -> bool:
    """Whether some files are of a table of CarbonData."""
    return any(file.location.endswith((_DATA, f"/{_METADATA}")) for file in files)


def alone(source: Sources) -> str:
    """The path or URL of a table of CarbonData.

    Raises:
        ValueError: The source is a list or a pattern.
    """
    path = None if isinstance(source, list | tuple) else native_source(source)
    if not isinstance(path, str) or is_pattern(path):
        raise ValueError(f"tables of CarbonData are read one at a time, by the path of the table: {source!r}")
    return local_path(path)


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
    if _is_of_http(path) and not is_many(path.partition("?")[0]):
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


def _is_of_http(path: str) -> bool:
    return path.lower().startswith(("http://", "https://"))


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
