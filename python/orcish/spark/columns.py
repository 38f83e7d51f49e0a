"""Resolution of column names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from orcish.filters.names import ColumnName, dotted, steps_of

__all__ = ["ColumnMatch", "check_names", "equal_name", "find_column", "same_name"]


def same_name(name: str, case_sensitive: bool) -> str:
    """The key by which names are compared."""
    return name if case_sensitive else name.lower()


def equal_name(names: Iterable[str], name: str, case_sensitive: bool) -> str | None:
    """The first of some names that is equal to a name."""
    same = same_name(name, case_sensitive)
    return next((found for found in names if same_name(found, case_sensitive) == same), None)


def check_names(names: Sequence[str], case_sensitive: bool) -> None:
    """Raises ValueError for names that are equal under ``case_sensitive``."""
    there: dict[str, str] = {}
    for name in names:
        other = there.setdefault(same_name(name, case_sensitive), name)
        if other is not name:
            raise ValueError(f"columns {other!r} and {name!r} are told apart with option caseSensitive=true alone")


class ColumnMatch(NamedTuple):
    """A column, or a nested one, that a name resolves to."""

    name: ColumnName
    """The name in the table, by its steps."""
    type: pa.DataType


def find_column(name: ColumnName, schema: pa.Schema, case_sensitive: bool) -> ColumnMatch | None:
    """Resolves a name; ``None`` where there is no such column. Its steps are tried first.

    Raises:
        ValueError: The name is ambiguous.
    """
    pairs = [(field.name, field.type) for field in schema]
    found = list(_found(same_name(dotted(name), case_sensitive), pairs, (), case_sensitive))
    wanted = [same_name(step, case_sensitive) for step in steps_of(name)]
    by_steps = [each for each in found if [same_name(step, case_sensitive) for step in steps_of(each.name)] == wanted]
    found = by_steps or found
    if len(found) > 1:
        raise ValueError(f"column {dotted(name)!r} may be {' or '.join(repr(dotted(each.name)) for each in found)}")
    return found[0] if found else None


def _found(
    rest: str, pairs: list[tuple[str, pa.DataType]], above: tuple[str, ...], case_sensitive: bool
) -> Iterator[ColumnMatch]:
    for step, kind in pairs:
        same, path = same_name(step, case_sensitive), (*above, step)
        if rest == same:
            yield ColumnMatch(path if above else step, kind)
        elif rest.startswith(f"{same}."):
            yield from _found(rest[len(same) + 1 :], _parts(kind), path, case_sensitive)


def _parts(kind: Any) -> list[tuple[str, pa.DataType]]:
    if pa.types.is_struct(kind):
        return [(field.name, field.type) for field in kind]
    if pa.types.is_map(kind):
        return [("key", kind.key_type), ("value", kind.item_type)]
    return [("element", kind.value_type)] if pa.types.is_list(kind) else []
