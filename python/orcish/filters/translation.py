"""Parts of the translations of predicates of pyarrow and polars.

A translation is exact where it is true, false and unknown for the same rows as the original. An inexact translation is
true for all rows for which the original is true, and for more. The original is then residual.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from orcish.arrow.nested import is_read_union
from orcish.filters.expression import Tree
from orcish.filters.literals import Literal
from orcish.filters.names import ColumnName

__all__ = [
    "FLIPPED",
    "Translation",
    "all_of",
    "any_of",
    "false_or_null",
    "find_field",
    "flat_tree",
    "literal_kind",
    "midnight",
    "negation",
    "path_of",
    "pushed_field",
    "round_to_single",
    "set_member",
    "whole_days",
]

FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Comparison operators with swapped operands."""

_DAY = 86_400 * 10**9


class Translation(NamedTuple):
    """A predicate, and whether the translation is exact."""

    tree: Tree
    exact: bool = True


def all_of(parts: Sequence[Translation | None]) -> Translation | None:
    """The conjunction. Operands without translation are left out, which makes the result inexact."""
    known = [part for part in parts if part is not None]
    if not known:
        return None
    exact = len(known) == len(parts) and all(part.exact for part in known)
    return Translation(flat_tree("and", [part.tree for part in known]), exact)


def any_of(parts: Sequence[Translation | None]) -> Translation | None:
    """The disjunction, which exists only where all operands have translations."""
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    return Translation(flat_tree("or", [part.tree for part in known]), all(part.exact for part in known))


def negation(part: Translation | None) -> Translation | None:
    """The negation. The negation of an inexact translation would exclude too many rows, so there is none."""
    if part is None or not part.exact:
        return None
    return Translation(("not", part.tree))


def flat_tree(kind: str, trees: list[Tree]) -> Tree:
    """The conjunction or disjunction of trees. Nested conjunctions or disjunctions of the same kind are flattened."""
    if len(trees) == 1:
        return trees[0]
    return (kind, [inner for tree in trees for inner in (tree[1] if tree[0] == kind else [tree])])


def false_or_null(name: ColumnName) -> Tree:
    """A predicate that is false for values and unknown for null."""
    return ("and", [("is_null", name), ("constant", None)])


def set_member(name: ColumnName, values: list[Literal], *, null: bool, nan: bool) -> Tree:
    """Whether a column has one of some values. Null and NaN are values like others; the result is never unknown."""
    found: list[Tree] = []
    if values:
        found.append(("in", name, values))
    if nan:
        found.append(("is_nan", name))
    if null:
        return flat_tree("or", [("is_null", name), *found])
    return ("and", [("not", ("is_null", name)), flat_tree("or", found)]) if found else ("constant", False)


def find_field(schema: pa.Schema, path: Sequence[str]) -> tuple[ColumnName, pa.DataType] | None:
    """Name and type of a column, through structs; ``None`` where the path does not exist, or several fields have a name
    of it.
    """
    fields = list(schema)
    kind: pa.DataType | None = None
    for step in path:
        near = [field for field in fields if field.name == step]
        if len(near) != 1:
            return None
        kind = near[0].type
        fields = [kind.field(index) for index in range(kind.num_fields)] if pa.types.is_struct(kind) else []
    return None if kind is None else (path[0] if len(path) == 1 else tuple(path), kind)


def path_of(schema: pa.Schema, name: ColumnName) -> Sequence[str]:
    """The path of a name: its steps, the column of this name, or what is between its dots."""
    if not isinstance(name, str):
        return name
    return [name] if name in schema.names else name.split(".")


def pushed_field(schema: pa.Schema, path: Sequence[str]) -> tuple[ColumnName, pa.DataType] | None:
    """As :func:`find_field`, for a column that the native core selects and filters by its name: ``None`` also for
    structs of unions and what is within them.
    """
    parts = (path[:length] for length in range(1, len(path) + 1))
    if any((found := find_field(schema, part)) and is_read_union(found[1]) for part in parts):
        return None
    return find_field(schema, path)


def literal_kind(kind: pa.DataType) -> str | None:
    """The kind of literals that a column is compared with; ``None`` for nested and other types."""
    types = pa.types
    if types.is_boolean(kind):
        return "bool"
    if types.is_signed_integer(kind):
        return "int"
    if types.is_float32(kind) or types.is_float64(kind):
        return "float"
    if types.is_decimal(kind):
        return "decimal"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "string"
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind):
        return "binary"
    if types.is_date32(kind):
        return "date"
    if types.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "instant"
    return None


def whole_days(value: Literal) -> Literal | None:
    """The date of a wall clock time at midnight; ``None`` for other times."""
    days, rest = divmod(value[1], _DAY)
    return None if rest or value[2] else ("date", days)


def midnight(value: Literal) -> Literal:
    """The wall clock time of midnight on a date."""
    return ("timestamp", value[1] * _DAY, False)


def round_to_single(value: float) -> float:
    """Rounds to single precision."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
