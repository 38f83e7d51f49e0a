"""What the translations of other libraries' predicates share.

A translation is exact where it is true, false and unknown for the same rows as its source. Otherwise it is true for
all rows for which the source is true, and for some more: the source is then applied to what has been read.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from orcish.filters.expression import Tree
from orcish.filters.literals import Literal

__all__ = [
    "FLIPPED",
    "Translation",
    "all_of",
    "any_of",
    "field_at",
    "joined",
    "kind_of",
    "midnight",
    "negated",
    "never",
    "rounded",
    "set_member",
    "whole_days",
]

FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Operators with their sides exchanged."""

_DAY = 86_400 * 10**9


class Translation(NamedTuple):
    """A predicate, and whether it is exact."""

    tree: Tree
    exact: bool = True


def all_of(parts: Sequence[Translation | None]) -> Translation | None:
    """The conjunction. What has no translation is left out, which makes it less strict."""
    known = [part for part in parts if part is not None]
    if not known:
        return None
    exact = len(known) == len(parts) and all(part.exact for part in known)
    return Translation(joined("and", [part.tree for part in known]), exact)


def any_of(parts: Sequence[Translation | None]) -> Translation | None:
    """The disjunction, which needs all of its parts."""
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    return Translation(joined("or", [part.tree for part in known]), all(part.exact for part in known))


def negated(part: Translation | None) -> Translation | None:
    """The negation; that of a predicate which is true too often would be true too seldom."""
    if part is None or not part.exact:
        return None
    return Translation(("not", part.tree))


def joined(kind: str, trees: list[Tree]) -> Tree:
    """The trees under ``and`` or ``or``, in one row with those of trees that are rows of the kind themselves."""
    if len(trees) == 1:
        return trees[0]
    return (kind, [inner for tree in trees for inner in (tree[1] if tree[0] == kind else [tree])])


def never(name: str) -> Tree:
    """False for values, unknown for null."""
    return ("and", [("is_null", name), ("constant", None)])


def set_member(name: str, values: list[Literal], *, null: bool, nan: bool) -> Tree:
    """Whether a column has one of the values, null being a value like others, as is NaN: never unknown."""
    found: list[Tree] = []
    if values:
        found.append(("in", name, values))
    if nan:
        found.append(("is_nan", name))
    if null:
        return joined("or", [("is_null", name), *found])
    return ("and", [("not", ("is_null", name)), joined("or", found)]) if found else ("constant", False)


def field_at(schema: pa.Schema, path: Sequence[str]) -> tuple[str, pa.DataType] | None:
    """Dotted name and type of a column, through structs; ``None`` where the name does not lead there alone."""
    name = ".".join(path)
    rest = name
    fields = list(schema)
    kind: pa.DataType | None = None
    for step in path:
        # Names with dots, and names that occur twice, may mean several columns.
        near = [field for field in fields if rest == field.name or rest.startswith(f"{field.name}.")]
        if len(near) != 1 or near[0].name != step:
            return None
        kind = near[0].type
        fields = [kind.field(index) for index in range(kind.num_fields)] if pa.types.is_struct(kind) else []
        rest = rest[len(step) + 1 :]
    return None if kind is None else (name, kind)


def kind_of(kind: pa.DataType) -> str | None:
    """Which literals a column of this type is compared with; ``None`` for nested and other types."""
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
    """The date of a wall clock that shows midnight."""
    days, rest = divmod(value[1], _DAY)
    return None if rest or value[2] else ("date", days)


def midnight(value: Literal) -> Literal:
    """The wall clock at the beginning of a date."""
    return ("timestamp", value[1] * _DAY, False)


def rounded(value: float) -> float:
    """The nearest float of single precision."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
