"""Random conditions as people ask them, and the same ones for each peer: pyorc's predicates and Spark's SQL."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyorc import TypeKind
from pyorc.predicates import Predicate, PredicateColumn

from support.random_tables import EPOCH, MICROSECOND, Kind, Table

Tree = Any
SYMBOLS = ["=", "=", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True)
class Leaf:
    """A column that can be asked about: its dotted name, its type, its id in the file, its values."""

    name: str
    kind: Kind
    id: int
    values: list[Any]


def size(kind: Kind) -> int:
    """Number of columns that a type is in a file."""
    return 1 + sum(map(size, kind.inner))


def leaves(table: Table) -> Iterator[Leaf]:
    """The simple columns of a table, those within structs too."""
    id = 1
    for name, kind in table.kinds.items():
        yield from _below(Leaf(name, kind, id, table.values[name]))
        id += size(kind)


def _below(leaf: Leaf) -> Iterator[Leaf]:
    if not leaf.kind.inner:
        yield leaf
    if pa.types.is_struct(leaf.kind.arrow):
        id = leaf.id + 1
        for field, kind in zip(leaf.kind.arrow, leaf.kind.inner, strict=True):
            values = [None if value is None else value[field.name] for value in leaf.values]
            yield from _below(Leaf(f"{leaf.name}.{field.name}", kind, id, values))
            id += size(kind)


# Conditions, as trees of orcish.


def literal(kind: pa.DataType, value: Any) -> tuple[Any, ...]:
    types = pa.types
    if types.is_boolean(kind):
        return ("bool", value)
    if types.is_integer(kind):
        return ("int", value)
    if types.is_floating(kind):
        return ("float", value)
    if types.is_decimal(kind):
        return ("decimal", format(value, "f"))
    if types.is_timestamp(kind):
        return ("timestamp", (value.replace(tzinfo=None) - EPOCH) // MICROSECOND * 1000, kind.tz is not None)
    if types.is_date(kind):
        return ("date", (value - EPOCH.date()).days)
    return ("string" if types.is_string(kind) else "binary", value)


def value_of(found: tuple[Any, ...]) -> Any:
    """The value of a literal."""
    tag, value = found[:2]
    if tag == "decimal":
        return Decimal(value)
    if tag == "timestamp":
        return EPOCH + value // 1000 * MICROSECOND
    return EPOCH.date() + dt.timedelta(days=value) if tag == "date" else value


def condition(rng: random.Random, leaf: Leaf) -> Tree:
    """A comparison with a value that the column has, or with another one of its type.

    Whether a field of a struct is null is not asked: peers ask the statistics of the field, which know nothing of rows
    where the struct is null, and lose these, in files of their own too.
    """
    there = [value for value in leaf.values if value is not None and value == value]
    # Those at the edges above all, which are what statistics have.
    picked = [*rng.sample(there, min(len(there), 20)), *([min(there), max(there)] * 5 if there else [])]

    def draw() -> tuple[Any, ...]:
        value = rng.choice(picked) if picked and rng.random() < 0.8 else leaf.kind.draw(rng)
        return literal(leaf.kind.arrow, value if value == value else 1.0)

    shape = rng.random()
    if shape < 0.15 and "." not in leaf.name:
        tree: Tree = ("is_null", leaf.name)
        return tree if rng.random() < 0.5 else ("not", tree)
    if shape < 0.35:
        return ("in", leaf.name, [draw() for _ in range(rng.choice([1, 2, 5]))])
    return ("compare", rng.choice(SYMBOLS), leaf.name, draw())


def conditions(rng: random.Random, found: list[Leaf], depth: int = 2) -> Tree:
    """Conditions on some of the columns, joined."""
    shape = rng.random()
    if depth == 0 or shape < 0.5:
        return condition(rng, rng.choice(found))
    if shape < 0.6:
        return ("not", conditions(rng, found, depth - 1))
    return (rng.choice(["and", "or"]), [conditions(rng, found, depth - 1) for _ in range(rng.choice([2, 2, 3]))])


def asked(tree: Tree) -> Iterator[Tree]:
    """The comparisons of a condition."""
    if tree[0] in ("and", "or"):
        for part in tree[1]:
            yield from asked(part)
    elif tree[0] == "not":
        yield from asked(tree[1])
    else:
        yield tree


def finite(tree: Any) -> bool:
    """Whether a condition has no number that is more than all others."""
    for each in asked(tree):
        literals = [each[3]] if each[0] == "compare" else each[2] if each[0] == "in" else []
        if any(tag == "float" and not math.isfinite(value) for tag, value, *_ in literals):
            return False
    return True


def name_of(comparison: Tree) -> str:
    return str(comparison[2] if comparison[0] == "compare" else comparison[1])


# The same for pyorc.

PYORC = {
    "boolean": TypeKind.BOOLEAN, "tinyint": TypeKind.BYTE, "smallint": TypeKind.SHORT, "int": TypeKind.INT,
    "bigint": TypeKind.LONG, "float": TypeKind.FLOAT, "double": TypeKind.DOUBLE, "string": TypeKind.STRING,
    "date": TypeKind.DATE, "timestamp": TypeKind.TIMESTAMP, "decimal": TypeKind.DECIMAL,
    "varchar": TypeKind.VARCHAR, "char": TypeKind.CHAR,
    "timestamp with local time zone": TypeKind.TIMESTAMP_INSTANT,
}  # fmt: skip
"""Types that pyorc can ask about."""

COMPARISONS: dict[str, Callable[[PredicateColumn, Any], Predicate]] = {
    "=": lambda column, value: column == value,
    "!=": lambda column, value: column != value,
    "<": lambda column, value: column < value,
    "<=": lambda column, value: column <= value,
    ">": lambda column, value: column > value,
    ">=": lambda column, value: column >= value,
}


def askable(leaf: Leaf) -> bool:
    """Whether pyorc can ask about a column: bounds of timestamps mislead it that have a part of a millisecond, and before
    1970 any fraction of a second.
    """
    kind = leaf.kind.orc.partition("(")[0]
    if kind.startswith("timestamp"):
        there = [value for value in leaf.values if value is not None]
        return all(value.microsecond % (1000 if value.year >= 1970 else 1_000_000) == 0 for value in there)
    return kind in PYORC


def pyorc_column(leaf: Leaf) -> PredicateColumn:
    kind = leaf.kind.arrow
    more = {"precision": kind.precision, "scale": kind.scale} if pa.types.is_decimal(kind) else {}
    return PredicateColumn(PYORC[leaf.kind.orc.partition("(")[0]], index=leaf.id, **more)


def for_pyorc(tree: Tree, by_name: dict[str, Leaf]) -> Predicate:
    """A condition as pyorc has it; each use makes it anew, as pyorc changes those that it joins."""
    match tree:
        case ("not", part):
            return ~for_pyorc(part, by_name)
        case ("and" | "or", parts):
            done = for_pyorc(parts[0], by_name)
            for part in parts[1:]:
                other = for_pyorc(part, by_name)
                done = done & other if tree[0] == "and" else done | other
            return done
        case ("is_null", name):
            return COMPARISONS["="](pyorc_column(by_name[name]), None)
        case ("in", name, literals):
            return for_pyorc(("or", [("compare", "=", name, each) for each in literals]), by_name)
    _, symbol, name, found = tree
    value = value_of(found)
    if isinstance(value, dt.datetime):
        value = value.replace(tzinfo=dt.timezone.utc)
    return COMPARISONS[symbol](pyorc_column(by_name[name]), value)


# The same for Spark.


def for_spark(tree: Tree, by_name: dict[str, Leaf]) -> str:
    """A condition as Spark's SQL has it."""
    match tree:
        case ("not", part):
            return f"not ({for_spark(part, by_name)})"
        case ("and" | "or", parts):
            return f" {tree[0]} ".join(f"({for_spark(part, by_name)})" for part in parts)
        case ("is_null", name):
            return f"{name} is null"
        case ("in", name, literals):
            return f"{name} in ({', '.join(sql(each, by_name[name].kind) for each in literals)})"
    _, symbol, name, found = tree
    return f"{name} {symbol} {sql(found, by_name[name].kind)}"


def sql(found: tuple[Any, ...], kind: Kind) -> str:
    """A literal of the column's type."""
    value = value_of(found)
    match found[0]:
        case "bool":
            return str(value).lower()
        case "float":
            return f"cast('{value!r}' as {kind.orc})"
        case "int" | "decimal":
            return f"cast('{format(value, 'f') if isinstance(value, Decimal) else value}' as {kind.orc})"
        case "date":
            return f"date'{value}'"
        case "timestamp":
            return f"timestamp'{value}'"
        case "binary":
            return f"X'{value.hex()}'"
    # As bytes, so that no character has a meaning in SQL.
    return f"cast(X'{value.encode().hex()}' as string)"
