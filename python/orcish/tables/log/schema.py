"""The schema of a table, as its log has it."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["TableSchema"]


class TableSchema(NamedTuple):
    """The schema of a table, as its log has it, in the form that the native core takes."""

    file: bytes
    """An ORC file without rows, with the columns of the files of the table, and partition columns of known types."""
    partition: list[str]
    """Names of the partition columns, the outermost first."""
    table: str = ""
    """Path or URL of the table, for messages."""
    shown: list[str] | None = None
    """Names of the partition columns that a scan without files has; all by default."""

    @property
    def shown_columns(self) -> list[str]:
        """The partition columns that a scan without files has."""
        return self.partition if self.shown is None else self.shown
