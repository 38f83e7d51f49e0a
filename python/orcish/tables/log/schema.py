"""The schema of a table, as its log has it."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["TableSchema"]


class TableSchema(NamedTuple):
    """The schema of a table, as its log has it."""

    file: bytes
    """An ORC file without rows, whose columns are those of the files of the table."""
    partition: list[str]
    """Names of the partition columns, the outermost first."""
    table: str = ""
    """Path or URL of the table, for messages."""

    @property
    def source(self) -> tuple[bytes, str]:
        """The file, and its name in messages, in the form that the native core takes."""
        return self.file, f"{self.table}: the schema in the log"
