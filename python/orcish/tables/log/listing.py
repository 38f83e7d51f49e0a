"""Listing of tables: the files of paths, URLs and patterns, at one moment of the logs of their tables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from orcish import _native
from orcish.io.files import Located, TableFile, source_files
from orcish.io.filesystem import foreign_path, in_file_system, is_foreign
from orcish.io.names import display_name
from orcish.io.paths import expanded, folder_above, is_http, is_pattern, local_path, native_source
from orcish.io.storage import native_storage
from orcish.tables.log.schema import TableSchema
from orcish.tables.log.table import table_of
from orcish.tables.log.transactions import check_plain_files
from orcish.types import Pending, Sources, StorageOptions

__all__ = ["Listing", "Locations", "table_files", "table_locations"]


class Listing(NamedTuple):
    """The files of sources."""

    files: list[TableFile]
    schema: TableSchema | None
    """The schema of their table, as its log has it; ``None`` if there are several."""


class Locations(NamedTuple):
    """The files at a path, a URL or a pattern."""

    files: list[str]
    """Their locations."""
    schema: TableSchema | None
    """The schema of their table, as its log has it."""


def table_files(
    sources: Sources,
    partitions: bool | None,
    storage: StorageOptions | Mapping[str, str] | None,
    pending: Pending = "wait",
) -> Listing:
    """The files of sources, in their order. Nothing is written.

    Raises:
        TypeError: A source cannot be read.
        FileNotFoundError: There is no file at a path, or none that matches a pattern.
        CommitError: The last commit of a table is not finished, and its files do not become visible.
    """
    sources = in_file_system(sources, None, storage)
    schemas: dict[str, TableSchema | None] = {}

    def listed(path: str) -> Located:
        files, schema = table_locations(path, storage, pending)
        schemas[path] = schema
        return Located(files, [] if schema is None else _partitions_above(path, schema))

    files = source_files(sources, partitions, listed)
    first = next(iter(sources), None) if isinstance(sources, list | tuple) else sources
    schema = schemas.get(local_path(native_source(first))) if isinstance(first, str | os.PathLike) else None
    if len({None if each is None else each.file for each in schemas.values()}) > 1:
        # Tables of different schemas are read like files of different schemas.
        schema = None
    if schema is not None and partitions is False:
        schema = schema._replace(shown=[])
    return Listing(files, schema)


def table_locations(
    path: str, storage: StorageOptions | Mapping[str, str] | None, pending: Pending = "wait"
) -> Locations:
    """Lists a path, a URL or a pattern. Nothing is written.

    Raises:
        FileNotFoundError: There is no file at a path, or none that matches a pattern.
        UnsupportedError: The folder is that of a transactional table of Hive.
        CommitError: The last commit of a table is not finished, and its files do not become visible.
    """
    path = expanded(path)
    if is_foreign(path):
        return Locations([file.location for file in foreign_path(path, storage).files()], None)
    options = native_storage(path, storage)
    # Servers of files have no tables that change.
    if is_http(path):
        return Locations([location for location, _ in _native.list_files(path, options)], None)
    files, schema = _native.list_table_files(path, options, is_before=pending == "before")
    if not files and is_pattern(local_path(path)):
        raise FileNotFoundError(f"no files: {display_name(path)!r}: nothing matches the pattern")
    if not files and schema is None and os.path.exists(local_path(path)) and not os.path.isdir(local_path(path)):
        # The error of opening a pipe, a socket or a device says what it is.
        return Locations([path], None)
    if not is_pattern(local_path(path)):
        base = local_path(path).rstrip("/")
        # A log does not make plain rows of them.
        check_plain_files(path, [file[len(base) :] for file in files if file.startswith(f"{base}/")])
    return Locations(files, None if schema is None else TableSchema(*schema, display_name(path)))


def _partitions_above(path: str, schema: TableSchema) -> list[tuple[str, str | None]]:
    """The partition columns of a table that a path in it is below, with their values: those of ``t/day=1`` or of
    ``t/day=1/*.orc``, where the log of ``t`` has them.
    """
    root, inside = table_of(folder_above(path) if is_pattern(local_path(path)) else path)
    return [pair for pair in _native.partitions_below(root, f"{root}/{inside}/-") if pair[0] in schema.partition]
