"""Files of sources that have to be ORC, and their names for people."""

from __future__ import annotations

from typing import Any, NamedTuple

from orcish import _native
from orcish.errors import UnsupportedError
from orcish.io.filesystem import in_file_system
from orcish.tables.log.listing import table_files
from orcish.terminal import printable
from orcish.types import FileSystem, Sources, StorageOptions
from orcish.writing import target

__all__ = ["OrcSource", "name_of", "orc_sources", "partition_columns", "title_of"]


class OrcSource(NamedTuple):
    """A file."""

    name: str
    """Its name for people."""
    source: Any
    """What :class:`orcish.ORCFile` opens."""
    location: str
    """Its path or URL; a name for bytes and file objects."""


def orc_sources(
    source: Sources, storage_options: StorageOptions | None, filesystem: FileSystem | None = None
) -> list[OrcSource]:
    """The files of a source.

    Raises:
        FileNotFoundError: There are no files.
        UnsupportedError: The source is of CarbonData.
    """
    source = in_file_system(source, filesystem, storage_options)
    files, _, is_carbon = table_files(source, False, storage_options, is_read=True)
    if is_carbon:
        raise UnsupportedError("CarbonData has no stripes: orcish.convert writes its tables as ORC files")
    if not files:
        raise FileNotFoundError(f"no files: {title_of(source, 0)}")
    return [OrcSource(name_of(file.location), file.opened, file.location) for file in files]


def partition_columns(files: list[OrcSource]) -> set[str]:
    """Names of the columns whose values are in the names of folders."""
    return {name for file in files for name, _ in _native.partitions_of(file.location)}


def title_of(source: Any, files: int) -> str:
    """The name of a source of several files, for people."""
    if isinstance(source, list | tuple):
        return title_of(source[0], files) if len(source) == 1 else f"{files:,} files"
    return name_of(source)


def name_of(source: Any) -> str:
    """The name of a path, a URL or another source, for people."""
    return printable(target.name_of(source))
