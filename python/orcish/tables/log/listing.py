"""Listing of tables: the files of sources, at one moment of the logs of their tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from orcish import _native
from orcish.io.files import TableFile
from orcish.tables.log.schema import TableSchema
from orcish.types import Pending, Sources

__all__ = ["Listing", "table_files"]


class Listing(NamedTuple):
    """The files of sources."""

    files: list[TableFile]
    schema: TableSchema | None
    """The schema of their table, as its log has it; ``None`` if there are several."""
    is_carbon: bool = False
    """Whether the source is one of CarbonData, where this was asked. Files of a table with metadata are not listed."""

    @property
    def locations(self) -> list[str]:
        """Paths or URLs of the files."""
        return [file.location for file in self.files]


def table_files(
    sources: Sources,
    partitions: bool | None,
    storage: Mapping[str, Any] | None,
    pending: Pending = "wait",
    *,
    is_read: bool = False,
) -> Listing:
    """The files of sources, in their order. Nothing is written.

    Args:
        sources: A source, or a list: paths, URLs, patterns, bytes, file objects, and paths within file systems.
        partitions: Whether folders ``name=value`` are columns; by default, those below a folder are.
        storage: Options of the stores of URLs.
        pending: What is read where the last commit of a table is not finished.
        is_read: Whether the sources are read as ORC or CarbonData, and so have files or a schema.

    Raises:
        TypeError: A source cannot be read.
        FileNotFoundError: There is no file at a path, or none that matches a pattern; with ``is_read``, none at all.
        UnsupportedError: A folder is that of a transactional table of Hive.
        CommitError: The last commit of a table is not finished, and its files do not become visible.
    """
    is_carbon, files, schema = _native.source_files(
        sources, storage, partitions=partitions, is_before=pending == "before", is_read=is_read
    )
    return Listing(list(map(TableFile._make, files)), None if schema is None else TableSchema._make(schema), is_carbon)
