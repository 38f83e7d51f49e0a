"""Detection of CarbonData tables and files."""

from __future__ import annotations

import os
from collections.abc import Mapping

from orcish import _native
from orcish.errors import UnsupportedError
from orcish.io.files import TableFile
from orcish.io.filesystem import is_foreign
from orcish.io.paths import is_http, is_pattern, local_path, native_source
from orcish.io.storage import native_storage
from orcish.io.system_path import SystemPath
from orcish.types import Sources, StorageOptions

__all__ = [
    "check_not_carbon",
    "has_carbon",
    "is_carbon",
    "is_carbon_file",
    "is_carbon_folder",
    "is_carbon_table",
    "is_of_carbon",
    "single_table",
]

_METADATA = "Metadata/schema"

_DATA = ".carbondata"

_SUFFIXES = (_DATA, ".carbonindex", ".carbonindexmerge", ".deletedelta")
"""Suffixes of the files that are read of a folder without metadata."""


def is_carbon(source: Sources, storage_options: StorageOptions | None) -> bool:
    """Whether a source is a CarbonData table with metadata, or a data file.

    A store is asked for the metadata only where the name looks like a folder. Other tables are recognized by the list
    of their files, see :func:`has_carbon`.
    """
    if is_carbon_file(source):
        return True
    if not isinstance(source, str | os.PathLike):
        return False
    path = local_path(os.fspath(source))
    if "://" not in path:
        return os.path.isfile(os.path.join(path, _METADATA))
    folder = path.rstrip("/")
    if is_http(path) or is_foreign(path) or is_pattern(path) or (folder == path and "." in path.rpartition("/")[2]):
        return False
    try:
        return _native.stat(f"{folder}/{_METADATA}", native_storage(folder, storage_options)) is not None
    except PermissionError:
        # Stores without the right to list report missing files as forbidden.
        return False


def is_carbon_file(source: Sources) -> bool:
    """Whether a source is the path or URL of a CarbonData file."""
    if not isinstance(source, str | os.PathLike):
        return False
    path = os.fspath(source)
    return path.endswith(_DATA) and not is_pattern(path)


def is_carbon_folder(path: str, storage: Mapping[str, str]) -> bool:
    """Whether a folder is a CarbonData table, with or without metadata."""
    return _native.is_carbon(local_path(path), native_storage(path, storage))


def has_carbon(files: list[TableFile]) -> bool:
    """Whether there are files of a CarbonData table among some files."""
    return any(file.location.endswith((_DATA, f"/{_METADATA}")) for file in files)


def is_of_carbon(file: TableFile) -> bool:
    """Whether a file of a folder without metadata is read as a part of a CarbonData table."""
    return file.location.endswith(_SUFFIXES)


def single_table(source: Sources) -> str:
    """The path or URL of a CarbonData table.

    Raises:
        ValueError: The source is a list or a pattern.
        UnsupportedError: The source is within a file system that the native core does not read.
    """
    if isinstance(source, SystemPath):
        raise UnsupportedError(
            f"{source}: tables of CarbonData are read from local paths and URLs, and not through a file system"
        )
    path = None if isinstance(source, list | tuple) else native_source(source)
    if not isinstance(path, str) or is_pattern(path):
        raise ValueError(f"tables of CarbonData are read one at a time, by the path of the table: {source!r}")
    return local_path(path)


def is_carbon_table(path: str, storage: Mapping[str, str]) -> bool:
    """Whether there is a CarbonData table at a path or URL."""
    return is_carbon(path, dict(storage))


def check_not_carbon(path: str, storage: Mapping[str, str]) -> None:
    """Raises UnsupportedError where there is a CarbonData table."""
    if is_carbon_table(path, storage):
        raise UnsupportedError(f"{path} is a table of CarbonData, which is only read: convert writes it as ORC")
