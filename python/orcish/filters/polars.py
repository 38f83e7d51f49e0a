"""Predicates of polars (``polars.Expr``).

polars orders floats totally: NaN equals itself and is greater than all other numbers.
"""

from __future__ import annotations

import math
import sys

import pyarrow as pa

from orcish.arrow.nested import NANOSECONDS
from orcish.filters import literals
from orcish.filters.expression import Tree, pattern_within
from orcish.filters.literals import Literal
from orcish.filters.names import ColumnName
from orcish.filters.polars_tree import AND, OR, Node, flatten
from orcish.filters.translation import (
    FLIPPED,
    Translation,
    all_of,
    any_of,
    false_or_null,
    literal_kind,
    midnight,
    negation,
    pushed_field,
    round_to_single,
    set_member,
    whole_days,
)

__all__ = ["translate"]

_COMPARISONS = {"Eq": "=", "NotEq": "!=", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
_BOUNDS = {"Both": (">=", "<="), "Left": (">=", "<"), "Right": (">", "<="), "None": (">", "<")}
_OF_REGEX = frozenset(r"\.+*?()|[]{}^$")
"""Characters with a meaning in regular expressions."""


def translate(node: Node, schema: pa.Schema) -> Translation | None:
    """Translates a part of an expression; ``None`` where there is no translation.

    Args:
        node: The part.
        schema: The schema of the data.

    Raises:
        ValueError: The whole expression has to be evaluated by polars.
    """
    if node.kind == "Literal":
        scalar = _scalar(node)
        if scalar is None or not pa.types.is_boolean(scalar.type):
            return None
        return Translation(("constant", scalar.as_py()))
    if node.operator in AND:
        return all_of([translate(part, schema) for part in flatten(node, AND)])
    if node.operator in OR:
        return any_of([translate(part, schema) for part in flatten(node, OR)])
    if node.kind == "BinaryExpr":
        return _comparison(node, schema)
    group, called, _ = node.function
    if group == "Boolean" and called in ("Not", "AllHorizontal", "AnyHorizontal"):
        parts = [translate(part, schema) for part in node.children]
        if called == "Not":
            return negation(parts[0])
        return all_of(parts) if called == "AllHorizontal" else any_of(parts)
    if (column := _column(node, schema)) is not None:
        # `~` of numbers is a bitwise operation.
        return Translation(("compare", "=", column[0], ("bool", True))) if pa.types.is_boolean(column[1]) else None
    if node.kind != "Function" or (column := _column(node.children[0], schema)) is None:
        return None
    return _function_call(node, *column)


def _column(node: Node, schema: pa.Schema) -> tuple[ColumnName, pa.DataType] | None:
    path: list[str] = []
    while node.function[:2] == ("StructExpr", "FieldByName"):
        path.insert(0, node.function[2])
        node = node.children[0]
    return pushed_field(schema, [node.value, *path]) if node.kind == "Column" else None


def _scalar(node: Node) -> pa.Scalar | None:
    """The value of a literal, which may be cast."""
    values = _values(node)
    return values[0] if values is not None and len(values) == 1 else None


def _values(node: Node) -> pa.Array | None:
    inner = node
    while inner.kind == "Cast":
        inner = inner.children[0]
    if inner.kind != "Literal":
        return None
    polars = sys.modules["polars"]
    try:
        return polars.select(node.expression).to_series().to_arrow()
    except (polars.exceptions.PolarsError, pa.ArrowException, OverflowError):
        return None


class _Number:
    """A literal that is compared with a column. ``loose`` means that it has no type of its own and takes the
    column's.
    """

    def __init__(self, node: Node) -> None:
        self.loose = node.kind == "Literal" and "Dyn" in node.value
        self.unit: str | None = None
        self.zone: str | None = None
        self.type: pa.DataType | None = None
        self.value: Literal | None = None
        if self.loose and "Int" in node.value["Dyn"]:
            # Arrow has no integers of 128 bits.
            self.value = ("int", int(node.value["Dyn"]["Int"]))
            return
        scalar = _scalar(node)
        if scalar is None or pa.types.is_dictionary(scalar.type):
            return
        self.type = scalar.type
        if pa.types.is_timestamp(scalar.type):
            self.unit, self.zone = scalar.type.unit, scalar.type.tz
        try:
            self.value = literals.literal(scalar)
        except (TypeError, ValueError):
            return


def _comparison(node: Node, schema: pa.Schema) -> Translation | None:
    left, right = node.children
    symbol = _COMPARISONS.get(node.operator)
    missing = {"EqValidity": "=", "NotEqValidity": "!="}.get(node.operator)
    if symbol is None and missing is None:
        return None
    if (column := _column(left, schema)) is None:
        column, right = _column(right, schema), left
        symbol = symbol and FLIPPED[symbol]
    if column is None:
        return None
    if symbol is not None:
        tree = _comparison_tree(*column, symbol, _Number(right))
        return None if tree is None else Translation(tree)
    # `eq_missing` and `ne_missing` treat null as a value.
    if (value := _Number(right)).value == ("null",):
        same: Tree = ("is_null", column[0])
    elif (tree := _comparison_tree(*column, "=", value)) is not None:
        same = ("and", [("not", ("is_null", column[0])), tree])
    else:
        return None
    return Translation(same if missing == "=" else ("not", same))


def _comparison_tree(name: ColumnName, column: pa.DataType, symbol: str, number: _Number) -> Tree | None:
    """The comparison with the semantics of polars; ``None`` where polars refuses it or differs."""
    kind = literal_kind(column)
    value = number.value
    if kind is None or value is None:
        return None
    given = value[0]
    if given == "null":
        return ("compare", symbol, name, value)
    if given == "timestamp" and kind in ("timestamp", "instant"):
        return _timestamps(name, column, symbol, number)
    if kind == "float" and given in ("int", "float"):
        return _floats(name, column, symbol, number)
    if kind == "date" and given == "timestamp":
        # polars casts the column to the unit of the literal. Values out of range of nanoseconds become null.
        found = whole_days(value) if number.unit != "ns" else None
    elif kind == "timestamp" and given == "date":
        found = midnight(value)
        if column.unit == "ns" and abs(found[1]) >= 2**63:
            return None
    elif kind == "int" and given == "float":
        # polars compares as doubles, which are exact for integers up to 2 ** 53.
        found = value if abs(value[1]) < 2**53 or math.isinf(value[1]) else None
    elif kind == "decimal" and given == "int":
        found = value
    else:
        found = value if given == kind else None
    return None if found is None else ("compare", symbol, name, found)


def _floats(name: ColumnName, column: pa.DataType, symbol: str, number: _Number) -> Tree | None:
    given = number.value
    if given is None:
        return None
    single = pa.types.is_float32(column)
    if given[0] == "int" and abs(given[1]) > (2**24 if single else 2**53):
        return None
    value = float(given[1])
    if single and number.loose:
        value = round_to_single(value)
    nan = ("is_nan", name)
    if math.isnan(value):
        if symbol in ("=", ">="):
            return nan
        if symbol in ("!=", "<"):
            return ("not", nan)
        return false_or_null(name) if symbol == ">" else ("not", false_or_null(name))
    tree = ("compare", symbol, name, ("float", value))
    return ("or", [tree, nan]) if symbol in (">", ">=") else tree


def _unit(column: pa.DataType) -> str:
    # polars has no unit of seconds.
    return "ms" if column.unit == "s" else str(column.unit)


def _timestamps(name: ColumnName, column: pa.DataType, symbol: str, number: _Number) -> Tree | None:
    """Polars truncates both sides to the coarser of the two units, downwards."""
    if number.value is None or number.unit is None or column.tz != number.zone:
        return None
    tick = NANOSECONDS[number.unit]
    column_tick = NANOSECONDS[_unit(column)]
    nanoseconds, instant = number.value[1:]

    def compare(symbol: str, at: int) -> Tree:
        return ("compare", symbol, name, ("timestamp", at, instant))

    if column_tick >= tick:
        return compare(symbol, nanoseconds // column_tick * column_tick)
    after = nanoseconds + tick
    if symbol in ("=", "!="):
        same: Tree = ("and", [compare(">=", nanoseconds), compare("<", after)])
        return same if symbol == "=" else ("not", same)
    if symbol in ("<", ">="):
        return compare(symbol, nanoseconds)
    return compare("<" if symbol == "<=" else ">=", after)


def _function_call(node: Node, name: ColumnName, column: pa.DataType) -> Translation | None:
    """Translates a function of one column."""
    group, called, options = node.function
    kind = literal_kind(column)
    rest = node.children[1:]
    if group == "Boolean":
        if called in ("IsNull", "IsNotNull") and not pa.types.is_union(column) and not pa.types.is_null(column):
            missing = Translation(("is_null", name))
            return missing if called == "IsNull" else negation(missing)
        if called in ("IsNan", "IsNotNan") and kind == "float":
            found = Translation(("is_nan", name))
            return found if called == "IsNan" else negation(found)
        if called == "IsIn":
            return _is_in(name, column, rest[0], nulls_equal=options["nulls_equal"])
        if called == "IsBetween":
            return _between(name, column, _BOUNDS[options["closed"]], *map(_Number, rest))
    if group == "StringExpr" and kind == "string" and called in ("EndsWith", "Contains"):
        part = _Number(rest[0]).value
        if part is None or part[0] != "string":
            return None
        text, at_end = str(part[1]), called == "EndsWith"
        is_text = at_end or options["literal"] or _OF_REGEX.isdisjoint(text)
        return Translation(("like", name, pattern_within(text, at_end=at_end))) if is_text else None
    if called == "StartsWith" and kind == {"StringExpr": "string", "BinaryExpr": "binary"}.get(group):
        prefix = _Number(rest[0]).value
        return Translation(("starts_with", name, prefix)) if prefix is not None and prefix[0] == kind else None
    return None


def _between(
    name: ColumnName, column: pa.DataType, symbols: tuple[str, str], low: _Number, high: _Number
) -> Translation | None:
    if ("null",) in (low.value, high.value):
        raise ValueError("what polars makes of a bound that is null changes with what stands beside it")
    if low.value is None or high.value is None:
        return None
    # polars casts all three to a common type, which may differ from the common type of the column and one bound.
    kinds = {number.value[0] for number in (low, high) if number.value}
    loose = low.loose and high.loose and literal_kind(column) == "float"
    if not (kinds == {"int"} or loose or (kinds != {"int", "float"} and low.type == high.type)):
        return None
    trees = [_comparison_tree(name, column, symbol, bound) for symbol, bound in zip(symbols, (low, high), strict=True)]
    return all_of([Translation(tree) for tree in trees if tree]) if all(trees) else None


def _is_in(name: ColumnName, column: pa.DataType, given: Node, *, nulls_equal: bool) -> Translation | None:
    kind = literal_kind(column)
    values = _values(given)
    if kind is None or values is None:
        return None
    if given.kind != "Literal" or "Series" not in given.value:
        # A single literal that is a list.
        if not (pa.types.is_list(values.type) or pa.types.is_large_list(values.type)) or values.null_count:
            return None
        values = values.flatten()
    same_kind = literal_kind(values.type) == kind or pa.types.is_null(values.type)
    if not same_kind or (pa.types.is_timestamp(column) and not _same_timestamps(column, values.type)):
        return None
    known = literals.literals(values.drop_null())
    numbers = [value for value in known if value[0] != "float" or value[1] == value[1]]
    nan = len(numbers) < len(known)
    if nulls_equal:
        return Translation(set_member(name, numbers, null=bool(values.null_count), nan=nan))
    # Nulls in the list are ignored; for nulls in the column the result is unknown.
    trees: list[Tree] = [("in", name, numbers)] if numbers else []
    trees += [("is_nan", name)] if nan else []
    return any_of([Translation(tree) for tree in trees or [false_or_null(name)]])


def _same_timestamps(column: pa.DataType, values: pa.DataType) -> bool:
    return bool(pa.types.is_null(values)) or bool(_unit(column) == values.unit and column.tz == values.tz)
