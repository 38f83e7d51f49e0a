"""Listing of tables: the files of paths, URLs and patterns, at one moment of the logs of their tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from orcish import _native
from orcish.io.files import TableFile, source_files
from orcish.io.filesystem import foreign_files, is_foreign
from orcish.io.paths import is_http
from orcish.types import Pending, Sources, StorageOptions

__all__ = ["folder_above", "table_files", "table_locations"]


def table_files(
    sources: Sources,
    partitions: bool | None,
    storage: StorageOptions | Mapping[str, str] | None,
    pending: Pending = "wait",
) -> list[TableFile]:
    """The files of sources, in their order. Nothing is written.

    Raises:
        TypeError: A source cannot be read.
        FileNotFoundError: There is no file at a path that is no pattern.
        CommitError: The last commit of a table is not finished, and its files do not become visible.
    """
    if isinstance(sources, str) and is_foreign(sources):
        return foreign_files(sources, partitions)
    options = None if storage is None else cast("dict[str, Any]", dict(storage))

    def listed(path: str) -> list[str]:
        # Servers of files have no tables that change.
        if is_http(path):
            return [location for location, _ in _native.list_files(path, options)]
        return _native.list_table_files(path, options, is_before=pending == "before")

    return source_files(sources, partitions, listed)


def table_locations(
    path: str, storage: StorageOptions | Mapping[str, str] | None, pending: Pending = "wait"
) -> list[str]:
    """The locations of the files at a path, a URL or a pattern. Nothing is written.

    Raises:
        FileNotFoundError, CommitError: As for :func:`table_files`.
    """
    return [file.location for file in table_files(path, False, storage, pending)]


def folder_above(path: str, signs: str) -> str | None:
    """The folder above the first part of a path that has one of some characters."""
    parts = path.split("/")
    at = next((at for at, part in enumerate(parts) if any(sign in part for sign in signs)), None)
    return None if at is None else "/".join(parts[:at]) or ("/" if path.startswith("/") else ".")
