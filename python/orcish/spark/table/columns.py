"""Resolution of column names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

__all__ = ["ColumnMatch", "check_names", "find_column", "same_name"]


def same_name(name: str, case_sensitive: bool) -> str:
    """The key by which names are compared."""
    return name if case_sensitive else name.lower()


def check_names(names: Sequence[str], case_sensitive: bool) -> None:
    """Raises ValueError for names that are equal under ``case_sensitive``."""
    there: dict[str, str] = {}
    for name in names:
        other = there.setdefault(same_name(name, case_sensitive), name)
        if other is not name:
            raise ValueError(f"columns {other!r} and {name!r} are told apart with option caseSensitive=true alone")


class ColumnMatch(NamedTuple):
    """A column, or a nested one, that a name resolves to."""

    name: str
    """The dotted name in the table."""
    table_type: pa.DataType
    """Type in Spark."""
    scan_type: pa.DataType
    """Type in batches of the scan."""
    is_top: bool


def find_column(name: str, table_schema: pa.Schema, scan_schema: pa.Schema, case_sensitive: bool) -> ColumnMatch | None:
    """Resolves a dotted name in two schemas with the same names; ``None`` where there is no such column.

    Raises:
        ValueError: The name is ambiguous.
    """
    pairs = [(field.name, field.type, scan_schema.field(at).type) for at, field in enumerate(table_schema)]
    found = list(_found(same_name(name, case_sensitive), pairs, "", case_sensitive))
    if len(found) > 1:
        raise ValueError(f"column {name!r} may be {' or '.join(repr(each.name) for each in found)}")
    return found[0] if found else None


def _found(
    rest: str, pairs: list[tuple[str, pa.DataType, pa.DataType]], above: str, case_sensitive: bool
) -> Iterator[ColumnMatch]:
    for step, table_type, scan_type in pairs:
        same = same_name(step, case_sensitive)
        if rest == same:
            yield ColumnMatch(above + step, table_type, scan_type, not above)
        elif rest.startswith(f"{same}."):
            yield from _found(rest[len(same) + 1 :], _parts(table_type, scan_type), f"{above}{step}.", case_sensitive)


def _parts(table_type: Any, scan_type: Any) -> list[tuple[str, pa.DataType, pa.DataType]]:
    types = pa.types
    if types.is_struct(table_type):
        return [(field.name, field.type, scan_type.field(at).type) for at, field in enumerate(table_type)]
    if types.is_map(table_type):
        return [("key", table_type.key_type, scan_type.key_type), ("value", table_type.item_type, scan_type.item_type)]
    return [("element", table_type.value_type, scan_type.value_type)] if types.is_list(table_type) else []
