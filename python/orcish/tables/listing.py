"""Listing of tables, after unfinished commits are finished."""

from __future__ import annotations

import os
from collections.abc import Mapping

from orcish.io.files import TableFile, source_files
from orcish.io.filesystem import foreign_files, is_foreign
from orcish.io.paths import is_pattern, local_path
from orcish.tables.commit import finish_commits

__all__ = ["folder_above", "table_files"]

PATTERN = "*?["
"""Special characters of patterns."""


def table_files(path: str, partitions: bool | None, storage: Mapping[str, str]) -> list[TableFile]:
    """The files at a path, a URL or a pattern. Decided commits of the tables are finished first.

    Raises:
        FileNotFoundError: There is no file at a path that is no pattern.
    """
    if is_foreign(path):
        return foreign_files(path, partitions)
    above = folder_above(path, PATTERN) if is_pattern(local_path(path)) else None
    for folder in filter(_is_folder, _tables_at(path if above is None else above)):
        finish_commits(folder, storage)
    found = source_files(path, partitions, dict(storage))
    if above is None:
        return found
    # The tables that match a pattern are known only from their files.
    finished = [finish_commits(table, storage) for table in sorted({_table_of(file.location) for file in found})]
    return source_files(path, partitions, dict(storage)) if any(finished) else found


def folder_above(path: str, signs: str) -> str | None:
    """The folder above the first part of a path that has one of some characters."""
    parts = path.split("/")
    at = next((at for at, part in enumerate(parts) if any(sign in part for sign in signs)), None)
    return None if at is None else "/".join(parts[:at]) or ("/" if path.startswith("/") else ".")


def _tables_at(path: str) -> list[str]:
    """Folders that may be the table: the path, or, for the path of a partition, all folders above it."""
    above = folder_above(path, "=")
    if above is None:
        return [path]
    below = path[len(above) :].strip("/").split("/")
    return [above, *("/".join([above.rstrip("/"), *below[: at + 1]]) for at in range(len(below)))]


def _table_of(location: str) -> str:
    """The folder of the table of a file: the folder above all partition folders."""
    *folders, _ = location.split("/")
    while folders and "=" in folders[-1]:
        folders.pop()
    return "/".join(folders) or "/"


def _is_folder(path: str) -> bool:
    """Whether a location may be the folder of a table: not a single file, nor a URL of HTTP."""
    if "://" not in path or path.lower().startswith("file:"):
        return os.path.isdir(local_path(path))
    return not path.lower().startswith("http") and not path.endswith(".orc")
