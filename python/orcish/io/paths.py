"""Paths that other processes have to understand. What a path or URL is, ``Location`` of the native module says."""

from __future__ import annotations

import os
from typing import Any

from orcish._native import Location
from orcish.types import Sources

__all__ = ["PATTERN", "absolute_source", "path_text", "within"]

PATTERN = "*?["
"""Special characters of patterns."""


def absolute_source(source: Sources) -> Sources:
    """A source, or several, with absolute paths; file objects and the bytes of files are unchanged."""
    if isinstance(source, str | os.PathLike):
        return Location(source).absolute()
    if isinstance(source, list | tuple):
        return [Location(each).absolute() if isinstance(each, str | os.PathLike) else each for each in source]
    return source


def within(folder: str | None, path: str) -> str:
    """A path that was relative to a working directory as an absolute one; other paths and URLs are unchanged."""
    found = Location(path)
    if folder is None or not found.is_local or os.path.isabs(found.path):
        return path
    return os.path.join(folder, found.path)


def path_text(path: Any) -> str:
    """A path or URL that an argument has, as it was given.

    Raises:
        TypeError: It is neither text nor a ``pathlib.Path``.
    """
    return os.fspath(path) if Location(path).path else ""
