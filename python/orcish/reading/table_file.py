"""Files of tables. Hive writes files of zero bytes, which have no rows, and no schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orcish import _native
from orcish._native import complete_storage
from orcish.errors import CorruptFileError
from orcish.reading.file import ORCFile
from orcish.types import StorageOptions

__all__ = ["file_of_schema_of", "file_of_table"]


def file_of_table(source: Any, storage: StorageOptions | None) -> ORCFile | None:
    """A file of a table, at a path or URL or an object that is read; ``None`` for one of zero bytes.

    Raises:
        OrcishError, OSError: The file cannot be opened.
    """
    try:
        return ORCFile(source, storage_options=storage)
    except CorruptFileError:
        found = _native.stat(source, complete_storage(source, storage)) if isinstance(source, str) else None
        if found is None or found[0]:
            raise
    return None


def file_of_schema_of(sources: Sequence[Any], storage: StorageOptions | None) -> ORCFile:
    """The file whose schema readers of a table without a log see: the first one that has bytes.

    Raises:
        OrcishError, OSError: The file cannot be opened, or no file has bytes.
    """
    opened = (file_of_table(source, storage) for source in sources)
    return next((file for file in opened if file is not None), None) or ORCFile(sources[0], storage_options=storage)
