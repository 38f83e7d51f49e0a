"""Sources of commands that look into files: a file, or the files of a folder or pattern."""

from __future__ import annotations

from collections.abc import Mapping

from orcish.io.names import display_name
from orcish.io.paths import is_http, is_many, is_pattern, local_path
from orcish.reading.file import ORCFile
from orcish.reading.table_file import file_of_table
from orcish.tables.log.listing import Locations, table_locations

__all__ = ["is_folder", "is_several", "opened_file", "orc_files"]


def is_folder(name: str) -> bool:
    """Whether a path or URL is that of a folder. In stores, folders are recognized only by their names."""
    path = local_path(name)
    if is_pattern(path):
        return False
    return is_many(path) if "://" not in path else "." not in path.rpartition("/")[2]


def is_several(name: str) -> bool:
    """Whether a path or URL is that of a folder, or a pattern."""
    # Queries of HTTP URLs have question marks.
    return is_folder(name) or (is_many(name) and not is_http(name))


def orc_files(name: str, storage: Mapping[str, str]) -> Locations:
    """The paths or URLs of a file, or of the files of a folder or pattern; a table without rows has none.

    Raises:
        FileNotFoundError: There is no file at a folder or pattern.
        CommitError: The last commit of a table is not finished, and its files do not become visible.
    """
    if not is_several(name):
        return Locations([name], None)
    found = table_locations(name, storage)
    if not found.files and found.schema is None:
        raise FileNotFoundError(f"no files: {display_name(name)!r}")
    return found


def opened_file(name: str, file: str, storage: Mapping[str, str]) -> ORCFile | None:
    """A file of a source; ``None`` for a file of a folder or pattern that has zero bytes, and so no rows.

    Raises:
        OrcishError, OSError: The file cannot be opened.
    """
    return file_of_table(file, storage) if is_several(name) else ORCFile(file, storage_options=storage)
