"""What a comparison says."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

__all__ = ["ColumnChange", "Difference", "Differences", "MetadataChange"]


@dataclasses.dataclass(frozen=True)
class ColumnChange:
    """A difference of two schemas."""

    kind: Literal["only_a", "only_b", "type", "order"]
    column: str
    a: str | None
    """The type in ``a``; of ``order``, the position, from 0."""
    b: str | None
    is_compared: bool
    """Whether all values of the column are compared: it is on both sides, and its types hold comparable values."""


@dataclasses.dataclass(frozen=True)
class MetadataChange:
    """A difference of user metadata, or of the attributes of a column."""

    column: str | None
    """The column of an attribute; ``None`` for metadata of the file."""
    key: str
    a: str | None
    b: str | None


@dataclasses.dataclass(frozen=True)
class Difference:
    """A value that differs, or a row that only one side has."""

    kind: Literal["changed", "only_a", "only_b"]
    row_a: int | None
    """The number of the row in ``a``, from 0."""
    row_b: int | None
    key: dict[str, Any] | None
    """The values of the key; ``None`` for rows that are compared by position."""
    column: str | None
    """The column of a value; ``None`` for a row."""
    a: Any
    """The value in ``a``; for a row, its columns."""
    b: Any


@dataclasses.dataclass(frozen=True)
class Differences:
    """The differences of two files or tables; true if there is any."""

    schema: tuple[ColumnChange, ...]
    metadata: tuple[MetadataChange, ...]
    rows_a: int | None
    """Number of rows of ``a``. With ``brief``, and a difference, it is that of the metadata: ``None`` where they do not
    have it, as with a filter."""
    rows_b: int | None
    changed: int
    """Number of rows that both have, with different values. With ``brief``, this and the following numbers are those up
    to the first difference."""
    only_a: int
    """Number of rows that only ``a`` has: without a partner of the same key, or beyond the last row of ``b``."""
    only_b: int
    columns: dict[str, int]
    """Numbers of different values, by column. Later columns of one name are numbered, such as ``x (2)``."""
    duplicate_keys: int
    """Number of keys that several rows of one side have."""
    shown: tuple[Difference, ...]
    """The first differences of rows."""

    def __bool__(self) -> bool:
        return bool(self.schema or self.metadata or self.changed or self.only_a or self.only_b)
