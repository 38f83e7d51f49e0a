"""The schema in the log of a table, as an ORC file. Whoever writes to the table may have made it."""

from __future__ import annotations

from orcish import _native
from orcish.errors import OrcishError
from orcish.reading.file import ORCFile
from orcish.tables.log.schema import TableSchema
from orcish.types import Limits

__all__ = ["schema_file"]

MAX_TAIL = _native.MAX_SCHEMA_TAIL
"""Maximum bytes of the footer, also once it is decoded."""


def schema_file(schema: TableSchema, limits: Limits | None = None) -> ORCFile:
    """Opens the schema of a table.

    Args:
        schema: The schema.
        limits: Limits of the files of the table, where they are lower.

    Raises:
        CorruptFileError: It is no ORC file.
        LimitExceededError: It takes more memory than the schema of a table.
    """
    own: Limits = dict(limits or {})  # type: ignore[assignment]
    own["tail"] = min(own.get("tail", MAX_TAIL), MAX_TAIL)
    try:
        return ORCFile(schema.file, limits=own)
    except OrcishError as error:
        raise type(error)(f"{schema.table}: the schema in the log: {str(error).removeprefix('<memory>: ')}") from None
