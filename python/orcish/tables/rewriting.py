"""Files that take the place of others: their names and options. The native core reads and writes the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from orcish import _native
from orcish._native import complete_storage
from orcish.arrow.exported import ExportedSchema
from orcish.reading.file import ORCFile, native_file
from orcish.tables.folder import Folder
from orcish.tables.log.schema import TableSchema
from orcish.writing.option_check import check_file_options
from orcish.writing.writer import native_options

__all__ = ["check_options", "file_options", "kept_options", "native_keywords", "rewritten_name"]


def rewritten_name(name: str, attempt: str, suffix: str) -> str:
    """The path of a file that replaces others, which sorts like the first of them.

    Args:
        name: The first of the replaced files, by its path in the table.
        attempt: The folder of the staged file.
        suffix: The suffix of the new name.
    """
    folder, separator, old = name.rpartition("/")
    return f"{folder}{separator}{old.partition('.')[0][:10]}-{attempt[-32:]}{suffix}"


def file_options(source: str, folder: Folder, options: Mapping[str, Any]) -> dict[str, Any]:
    """Codec, user metadata, stride of the row index and version of the file, with given options taking precedence."""
    return kept_options(ORCFile(source, storage_options=folder.storage_options), options)


def kept_options(first: ORCFile, options: Mapping[str, Any]) -> dict[str, Any]:
    """Codec, user metadata, stride of the row index and version of an open file, likewise."""
    return {**native_file(first).write_options(bool(options.get("bloom_filter_columns"))), **options}


def native_keywords(folder: Folder, options: dict[str, Any], schema: TableSchema | None) -> dict[str, Any]:
    """What the native core is told of files that take the place of others.

    Args:
        folder: The folder of the table.
        options: Options of the new file.
        schema: The schema of the table in its log.
    """
    storage = complete_storage(folder.base, folder.storage_options)
    return {"options": native_options(options), "schema": schema, "storage_options": storage}


def check_options(source: str, folder: Folder, options: Mapping[str, Any], schema: TableSchema | None) -> None:
    """Checks the options with which a file is written again.

    Args:
        source: The file.
        folder: The folder of the table.
        options: The options that are given.
        schema: The schema of the table in its log.

    Raises:
        TypeError, ValueError, OrcishError: An option is wrong, or the file cannot be read.
    """
    if options:
        decisive = {name: options[name] for name in ("timezone", "arrow_schema") if name in options}
        read = _native.rewritten_schema(source, **native_keywords(folder, decisive, schema))
        check_file_options(pa.schema(ExportedSchema(read)), file_options(source, folder, options))
