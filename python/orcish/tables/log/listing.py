"""Listing of tables: the files of paths, URLs and patterns, at one moment of the logs of their tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from orcish import _native
from orcish.io.files import TableFile, source_files
from orcish.io.filesystem import foreign_files, is_foreign
from orcish.io.paths import is_http, local_path, native_source
from orcish.tables.log.schema import TableSchema
from orcish.types import Pending, Sources, StorageOptions

__all__ = ["PATTERN", "Listing", "Locations", "folder_above", "table_files", "table_locations"]


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


PATTERN = "*?["
"""Special characters of patterns."""


def table_files(
    sources: Sources,
    partitions: bool | None,
    storage: StorageOptions | Mapping[str, str] | None,
    pending: Pending = "wait",
) -> Listing:
    """The files of sources, in their order. Nothing is written.

    Raises:
        TypeError: A source cannot be read.
        FileNotFoundError: There is no file at a path that is no pattern.
        CommitError: The last commit of a table is not finished, and its files do not become visible.
    """
    if isinstance(sources, str) and is_foreign(sources):
        return Listing(foreign_files(sources, partitions), None)
    schemas: dict[str, TableSchema | None] = {}

    def listed(path: str) -> list[str]:
        files, schemas[path] = table_locations(path, storage, pending)
        return files

    files = source_files(sources, partitions, listed)
    first = next(iter(sources), None) if isinstance(sources, list | tuple) else sources
    path = None if first is None else native_source(first)
    schema = schemas.get(local_path(path)) if isinstance(path, str) else None
    if len({None if each is None else each.file for each in schemas.values()}) > 1:
        # Tables of different schemas are read like files of different schemas.
        schema = None
    if schema is not None:
        # Columns of the path itself, such as that of t/day=1, are none of the files below it.
        above = {name for name, _ in _native.partitions_of(f"{folder_above(str(path), PATTERN) or path}/-")}
        below = [name for name in schema.partition if name not in above]
        schema = schema._replace(shown=[] if partitions is False else schema.partition if partitions else below)
    return Listing(files, schema)


def table_locations(
    path: str, storage: StorageOptions | Mapping[str, str] | None, pending: Pending = "wait"
) -> Locations:
    """Lists a path, a URL or a pattern. Nothing is written.

    Raises:
        FileNotFoundError: There is no file at a path that is no pattern.
        CommitError: The last commit of a table is not finished, and its files do not become visible.
    """
    if is_foreign(path):
        return Locations([file.location for file in foreign_files(path, False)], None)
    options = None if storage is None else cast("dict[str, Any]", dict(storage))
    # Servers of files have no tables that change.
    if is_http(path):
        return Locations([location for location, _ in _native.list_files(path, options)], None)
    files, schema = _native.list_table_files(path, options, is_before=pending == "before")
    return Locations(files, None if schema is None else TableSchema(*schema, _native.display_name(path)))


def folder_above(path: str, signs: str) -> str | None:
    """The folder above the first part of a path that has one of some characters."""
    parts = path.split("/")
    at = next((at for at, part in enumerate(parts) if any(sign in part for sign in signs)), None)
    return None if at is None else "/".join(parts[:at]) or ("/" if path.startswith("/") else ".")
