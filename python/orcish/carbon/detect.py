"""Detection of CarbonData tables and files."""

from __future__ import annotations

import os
from collections.abc import Mapping

from orcish._native import Location, has_carbon_metadata, is_file_of_carbon
from orcish.errors import UnsupportedError
from orcish.io.files import TableFile
from orcish.io.names import display_name
from orcish.io.system_path import SystemPath
from orcish.types import Sources

__all__ = ["check_not_carbon", "has_carbon", "is_of_carbon", "single_table"]

_SUFFIXES = (".carbondata", ".carbonindex", ".carbonindexmerge", ".deletedelta")
"""Suffixes of the files that are read of a folder without metadata."""


def has_carbon(files: list[TableFile]) -> bool:
    """Whether there are files of a CarbonData table among some files."""
    return any(is_file_of_carbon(file.location) for file in files)


def is_of_carbon(file: TableFile) -> bool:
    """Whether a file of a folder without metadata is read as a part of a CarbonData table."""
    return file.location.endswith(_SUFFIXES)


def single_table(source: Sources) -> str:
    """The path or URL of a CarbonData table.

    Raises:
        ValueError: The source is a list or a pattern.
        UnsupportedError: The source is within a file system that the native core does not read.
    """
    found = Location(source) if isinstance(source, str | os.PathLike) else None
    if isinstance(source, SystemPath) or (found is not None and found.is_foreign):
        name = source if found is None else display_name(found.path)
        raise UnsupportedError(
            f"{name}: tables of CarbonData are read from local paths and URLs, and not through a file system"
        )
    if found is None or found.is_pattern:
        raise ValueError(f"tables of CarbonData are read one at a time, by the path of the table: {source!r}")
    return found.path


def check_not_carbon(path: str, storage: Mapping[str, str]) -> None:
    """Raises UnsupportedError where there is a CarbonData table."""
    if has_carbon_metadata(path, storage):
        raise UnsupportedError(f"{path} is a table of CarbonData, which is only read: convert writes it as ORC")
