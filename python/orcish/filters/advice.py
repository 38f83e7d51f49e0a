"""What to do about comparisons of timestamps that mix instants and wall clocks."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from orcish.arrow.nested import value_type
from orcish.errors import OrcishError
from orcish.filters.expression import Tree, leaves_of, tree_of
from orcish.filters.literals import Literal, to_sql
from orcish.filters.names import ColumnName, dotted
from orcish.filters.text import parse
from orcish.filters.translation import find_field, path_of

__all__ = ["timestamp_advice"]


def timestamp_advice(predicate: Tree, schema: pa.Schema) -> str:
    """How the first value that does not fit its column of timestamps is written; empty if there is none.

    Args:
        predicate: The predicate, as nested tuples.
        schema: The schema of the table.
    """
    for name, literal in _comparisons(predicate):
        found = find_field(schema, path_of(schema, name))
        kind = None if found is None else value_type(found[1])
        if kind is None or not pa.types.is_timestamp(kind):
            continue
        clock = _clock(literal)
        if kind.tz is not None and clock is not None and not clock[1]:
            written = f"timestamp '{clock[0]}Z', or with an offset such as +01:00"
            return f"; {dotted(name)} has instants: {written}; a datetime of Python has a tzinfo"
        if kind.tz is None and clock is not None and clock[1]:
            return f"; {dotted(name)} has wall clocks: timestamp '{clock[0]}'; a datetime of Python has no tzinfo"
    return ""


def _comparisons(predicate: Tree) -> Iterator[tuple[ColumnName, Literal]]:
    """The names of columns, each with a value that it is compared with."""
    for node in leaves_of(predicate):
        if node[0] == "compare":
            yield node[2], node[3]
        elif node[0] == "in":
            for literal in node[2]:
                yield node[1], literal


def _clock(literal: Literal) -> tuple[str, bool] | None:
    """The date and time of a value, as text, and whether it is an instant; ``None`` for other values."""
    if literal[0] == "string":
        # Text is no timestamp. It may be meant as one.
        try:
            _, _, _, literal = tree_of(parse(f"x = timestamp {to_sql(literal)}"))
        except (ValueError, OrcishError):
            return None
    if literal[0] == "date":
        return f"{_text(literal)} 00:00:00", False
    if literal[0] != "timestamp":
        return None
    return _text((*literal[:2], False)), literal[2]


def _text(literal: Literal) -> str:
    """The text between the quotes of a value."""
    return to_sql(literal).split("'")[1]
