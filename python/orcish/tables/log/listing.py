"""Listing of tables: the files of paths, URLs and patterns, at one moment of the logs of their tables."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast

from orcish import _native
from orcish.errors import CommitError
from orcish.io.files import TableFile, source_files
from orcish.io.filesystem import foreign_files, is_foreign
from orcish.io.paths import is_http, is_pattern
from orcish.types import Sources, StorageOptions

__all__ = ["Pending", "folder_above", "table_files", "table_locations"]

Pending: TypeAlias = Literal["wait", "before"]
"""What a reader does where the last commit is decided and not all of its files are visible: it waits and fails at last,
or reads the state before the commit."""

PATTERN = "*?["
"""Special characters of patterns."""
MAX_ATTEMPTS = 100
"""How often a pattern is listed while its tables change."""


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
    return source_files(sources, partitions, functools.partial(_locations, options=options, pending=pending))


def table_locations(
    path: str, storage: StorageOptions | Mapping[str, str] | None, pending: Pending = "wait"
) -> list[str]:
    """The locations of the files at a path, a URL or a pattern. Nothing is written.

    Raises:
        FileNotFoundError, CommitError: As for :func:`table_files`.
    """
    return [file.location for file in table_files(path, False, storage, pending)]


def _locations(path: str, options: dict[str, Any] | None, pending: Pending) -> list[str]:
    """The locations of the files at a path, a URL or a pattern."""
    listed = functools.partial(_listed, path, options)
    if is_http(path):
        return listed()
    if is_pattern(path):
        return _matches(path, options, pending)
    root, inside = _root(path)
    log = _native.TableLog(root, options)
    if "://" in path or not log.exists():
        found = listed()
        # A log that begins during the listing is one of a table that was listed in part.
        if not log.exists():
            return found
    base = path.rstrip("/")
    start = len(inside) + 1 if inside else 0
    names = [name for name, _ in log.view(inside, is_before=pending == "before")]
    # Raises FileNotFoundError for a wrong path.
    return [f"{base}/{name[start:]}" if name != inside else path for name in names] or listed()


def _listed(path: str, options: dict[str, Any] | None) -> list[str]:
    return [location for location, _ in _native.list_files(path, options)]


def _matches(pattern: str, options: dict[str, Any] | None, pending: Pending) -> list[str]:
    """The files that match a pattern. Their tables are known from their paths."""
    views: dict[str, set[str]] | None = None
    for _ in range(MAX_ATTEMPTS):
        found = _listed(pattern, options)
        roots = {_root(location.rpartition("/")[0] or "/")[0] for location in found}
        logs = {root: _native.TableLog(root, options) for root in sorted(roots)}
        now = {
            root: {f"{root}/{name}" for name, _ in log.view("", is_before=pending == "before")}
            for root, log in logs.items()
            if log.exists()
        }
        # Between two views of the same files, they were all there.
        if not now or now == views:
            return [location for location in found if _is_in(location, now)]
        views = now
    raise CommitError(f"{pattern}: the tables change faster than they can be listed")


def _is_in(location: str, views: dict[str, set[str]]) -> bool:
    """Whether a file is one of its table."""
    root, inside = _root(location.rpartition("/")[0] or "/")
    view = views.get(root)
    name = location.rpartition("/")[2]
    return view is None or "/".join(part for part in (root, inside, name) if part) in view


def _root(folder: str) -> tuple[str, str]:
    """The folder of the table of a folder, and the path below it. Paths are as they are given, as far as that tells."""
    folder = folder.rstrip("/") or "/"
    if "://" not in folder and "=" in folder.partition("/")[0]:
        folder = os.path.abspath(folder)
    return _native.table_root(folder)


def folder_above(path: str, signs: str) -> str | None:
    """The folder above the first part of a path that has one of some characters."""
    parts = path.split("/")
    at = next((at for at, part in enumerate(parts) if any(sign in part for sign in signs)), None)
    return None if at is None else "/".join(parts[:at]) or ("/" if path.startswith("/") else ".")
