"""Columns of tables: those of all files together, and by the names that people call them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

__all__ = ["Found", "check_names", "found_column", "same_name"]


def same_name(name: str, case_sensitive: bool) -> str:
    """What is equal for names that are the same."""
    return name if case_sensitive else name.lower()


def check_names(names: Sequence[str], case_sensitive: bool) -> None:
    """Raises ValueError for names that are the same to the table."""
    there: dict[str, str] = {}
    for name in names:
        other = there.setdefault(same_name(name, case_sensitive), name)
        if other is not name:
            raise ValueError(f"columns {other!r} and {name!r} are told apart with option caseSensitive=true alone")


class Found(NamedTuple):
    """A column, or a value within one."""

    name: str
    """The dotted name as the table has it."""
    wanted: pa.DataType
    """Type in one schema, that which Spark has."""
    scanned: pa.DataType
    """Type in another, that which the files are read with."""
    is_top: bool


def found_column(name: str, wanted: pa.Schema, scanned: pa.Schema, case_sensitive: bool) -> Found | None:
    """What a dotted name means in two schemas of the same names; none where it means nothing.

    Raises:
        ValueError: It means several columns.
    """
    pairs = [(field.name, field.type, scanned.field(at).type) for at, field in enumerate(wanted)]
    found = list(_found(same_name(name, case_sensitive), pairs, "", case_sensitive))
    if len(found) > 1:
        raise ValueError(f"column {name!r} may be {' or '.join(repr(each.name) for each in found)}")
    return found[0] if found else None


def _found(
    rest: str, pairs: list[tuple[str, pa.DataType, pa.DataType]], above: str, case_sensitive: bool
) -> Iterator[Found]:
    for step, wanted, scanned in pairs:
        same = same_name(step, case_sensitive)
        if rest == same:
            yield Found(above + step, wanted, scanned, not above)
        elif rest.startswith(f"{same}."):
            yield from _found(rest[len(same) + 1 :], _parts(wanted, scanned), f"{above}{step}.", case_sensitive)


def _parts(wanted: Any, scanned: Any) -> list[tuple[str, pa.DataType, pa.DataType]]:
    types = pa.types
    if types.is_struct(wanted):
        return [(field.name, field.type, scanned.field(at).type) for at, field in enumerate(wanted)]
    if types.is_map(wanted):
        return [("key", wanted.key_type, scanned.key_type), ("value", wanted.item_type, scanned.item_type)]
    return [("element", wanted.value_type, scanned.value_type)] if types.is_list(wanted) else []
