"""Options of files that take the place of others. The native core reads and writes the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import pyarrow as pa

from orcish import _native
from orcish.arrow.exported import ExportedSchema
from orcish.reading.file import ORCFile, native_file
from orcish.tables.commit import Job
from orcish.writing.option_check import check_file_options
from orcish.writing.writer import native_options

__all__ = ["LoggedSchema", "check_options", "kept_options"]

LoggedSchema: TypeAlias = "tuple[bytes, list[str]] | None"
"""The schema of a table in its log: the bytes of an ORC file without rows, and the names of the partition columns."""


def kept_options(first: ORCFile, options: Mapping[str, Any]) -> dict[str, Any]:
    """Codec, user metadata, stride of the row index and version of a file, with given options taking precedence."""
    return {**native_file(first).write_options(bool(options.get("bloom_filter_columns"))), **options}


def check_options(job: Job, name: str, options: Mapping[str, Any], schema: LoggedSchema) -> None:
    """Checks the options with which a file is written again.

    Args:
        job: The job.
        name: The file, by its path in the table.
        options: The options that are given.
        schema: The schema of the table in its log.

    Raises:
        TypeError, ValueError, OrcishError: An option is wrong, or the file cannot be read.
    """
    if options:
        decisive = {name: options[name] for name in ("timezone", "arrow_schema") if name in options}
        read = _native.rewritten_schema(job, name, native_options(decisive), schema)
        first = ORCFile(job.location(name), storage_options=job.storage)
        check_file_options(pa.schema(ExportedSchema(read)), kept_options(first, options))
