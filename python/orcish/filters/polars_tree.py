"""Structure of polars expressions: their operands, their columns, and whether they are elementwise.

The structure comes from the JSON serialization. Literals come from the expressions, as JSON has no NaN.
"""

from __future__ import annotations

import functools
import json
import operator
import re
import sys
import warnings
from typing import Any, cast

from orcish.filters.levels import balanced, check_levels, on_deep_stack

__all__ = ["AND", "OR", "Node", "check_depth", "columns", "conjunction", "conjuncts", "errors", "flatten"]

AND = ("And", "LogicalAnd")
OR = ("Or", "LogicalOr")

# Elementwise functions, by the group that they have in polars.
_BY_ROW = {
    "": {"Abs", "Negate", "Sign", "Floor", "Ceil", "Round", "RoundSF", "Clip", "Exp", "Log", "Log1p"}
    | {"FillNull", "Coalesce", "Replace", "ReplaceStrict", "AsStruct"}
    | {"MaxHorizontal", "MinHorizontal", "SumHorizontal"},
    "Pow": {"Generic", "Sqrt", "Cbrt"},
    "Boolean": {"IsNull", "IsNotNull", "IsNan", "IsNotNan", "IsFinite", "IsInfinite", "Not", "IsBetween", "IsIn"}
    | {"IsClose", "AllHorizontal", "AnyHorizontal"},
    "StringExpr": {"StartsWith", "EndsWith", "Contains", "Lowercase", "Uppercase", "LenBytes", "LenChars"}
    | {"StripChars", "StripCharsStart", "StripCharsEnd", "StripPrefix", "StripSuffix", "Replace", "Slice", "Head"}
    | {"Tail", "ConcatHorizontal", "Find", "CountMatches", "ZFill", "PadStart", "PadEnd"},
    "BinaryExpr": {"StartsWith", "EndsWith", "Contains", "Size"},
    "ListExpr": {"Length", "Contains", "Get", "Sum", "Min", "Max"},
    "StructExpr": {"FieldByName"},
    "TemporalExpr": {"Year", "Quarter", "Month", "Week", "WeekDay", "Day", "OrdinalDay", "Date", "Hour", "Minute"}
    | {"Second", "Millisecond", "Microsecond", "Nanosecond", "IsoYear", "IsLeapYear", "Time", "MonthStart", "MonthEnd"}
    | {"TotalDays", "TotalHours", "TotalMinutes", "TotalSeconds", "TotalMilliseconds", "Truncate"},
}
# Functions that look a value up in a collection, which may be a series.
_AMONG_VALUES = ("IsIn", "Replace", "ReplaceStrict")


def errors() -> type[Exception]:
    """The exception that polars raises for expressions that cannot be serialized, such as Python functions."""
    return cast("type[Exception]", sys.modules["polars"].exceptions.PolarsError)


class Node:
    """A part of an expression, with its JSON.

    Raises:
        Exception: Of any type, where the serialization of polars is not as expected.
    """

    def __init__(self, expression: Any, tree: Any = None) -> None:
        self.expression = expression
        if tree is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = _parsed(on_deep_stack(lambda: expression.meta.serialize(format="json")))
        ((self.kind, self.value),) = tree.items()
        if self.kind == "Alias":
            (part,) = expression.meta.pop()
            inner = Node(part, self.value[0])
            self.expression, self.kind, self.value = inner.expression, inner.kind, inner.value

    @functools.cached_property
    def function(self) -> tuple[str, str, Any]:
        """Group, name and options of a function; empty for other nodes."""
        if self.kind != "Function":
            return "", "", None
        name, options = _name_and_options(self.value["function"])
        if name not in _BY_ROW:
            return "", name, options
        return name, *_name_and_options(options)

    @functools.cached_property
    def children(self) -> list[Node]:
        """The operands in order."""
        if self.kind == "BinaryExpr":
            trees = [self.value["left"], self.value["right"]]
        elif self.kind == "Function":
            trees = self.value["input"]
        elif self.kind == "Cast":
            trees = [self.value["expr"]]
        elif self.kind == "Ternary":
            trees = [self.value[name] for name in _ternary()]
            return [Node(part, tree) for part, tree in zip(self.expression.meta.pop(), trees, strict=True)]
        else:
            return []
        parts = self.expression.meta.pop()
        if _last_comes_first():
            parts.reverse()
        return [Node(part, tree) for part, tree in zip(parts, trees, strict=True)]

    @property
    def operator(self) -> str:
        """The operator of a binary expression; empty for other nodes."""
        return str(self.value["op"]) if self.kind == "BinaryExpr" else ""

    def is_by_row(self, *, trusted: bool = False) -> bool:
        """Whether the expression is elementwise: its value for a row depends on that row alone.

        With ``trusted``, unknown functions are assumed to be elementwise. Series literals never are.
        """
        pending = [self]
        while pending:
            node = pending.pop()
            if node.kind == "Literal":
                if not {"Dyn", "Scalar"} & node.value.keys():
                    return False
                continue
            if node.kind not in ("Column", "BinaryExpr", "Cast", "Ternary"):
                group, name, _ = node.function
                if not trusted and name not in _BY_ROW.get(group, ()):
                    return False
                if name in _AMONG_VALUES:
                    first, *rest = node.children
                    rest = [part for part in rest if part.kind != "Literal"]
                    if name == "IsIn" and rest and not trusted:
                        return False
                    pending += [first, *rest]
                    continue
            pending.extend(node.children)
        return True


_TOKENS = re.compile(r'[{}\[\]:,]|"(?:[^"\\]|\\.)*"|[^\s{}\[\]:,"]+')


def _parsed(text: str) -> Any:
    """A value of JSON, which may be nested more deeply than the parser of Python takes."""
    try:
        return json.loads(text)
    except RecursionError:
        pass
    # Values of a list, or names and values of an object in turn; the last is the innermost one.
    open_values: list[list[Any]] = [[]]
    for token in _TOKENS.findall(text):
        if token in ("{", "["):
            open_values.append([])
        elif token in ("}", "]"):
            given = open_values.pop()
            is_object = token == "}"
            open_values[-1].append(dict(zip(given[::2], given[1::2], strict=True)) if is_object else given)
        elif token not in (":", ","):
            open_values[-1].append(json.loads(token))
    return open_values[0][0]


def _name_and_options(found: Any) -> tuple[str, Any]:
    """Splits a name that may have options."""
    if isinstance(found, dict) and len(found) == 1:
        ((name, more),) = found.items()
        return name, more
    return (found, None) if isinstance(found, str) else ("", None)


def columns(expression: Any) -> list[str] | None:
    """Names of the columns of an expression, without duplicates; ``None`` where it has selectors or patterns."""
    if expression.meta.has_multiple_outputs():
        return None
    return list(dict.fromkeys(expression.meta.root_names()))


@functools.cache
def _ternary() -> list[str]:
    """Keys of the JSON of ``when``, in the order in which polars returns its operands."""
    polars = sys.modules["polars"]
    made = polars.when(polars.col("predicate")).then(polars.col("truthy")).otherwise(polars.col("falsy"))
    return [part.meta.output_name() for part in made.meta.pop()]


@functools.cache
def _last_comes_first() -> bool:
    polars = sys.modules["polars"]
    return not (polars.col("a") == 1).meta.pop()[0].meta.is_column()


def conjuncts(root: Node) -> list[Node]:
    """The operands of a conjunction."""
    return flatten(root, AND)


def conjunction(nodes: list[Node]) -> Any:
    """The conjunction of some parts, as an expression of polars."""
    return balanced(operator.and_, [_rebuilt(node) for node in nodes])


def _rebuilt(node: Node) -> Any:
    """The expression of a part without long chains of alternatives, in which polars takes time in their square."""
    if node.operator not in OR:
        return node.expression
    return balanced(operator.or_, [part.expression for part in flatten(node, OR)])


def check_depth(root: Node) -> None:
    """Raises TooManyLevelsError for an expression of more levels than a filter has."""
    check_levels(root, _operands)


def _operands(node: Node) -> list[Node]:
    """The operands of a function, or of a chain of operators."""
    chain = next((chain for chain in (AND, OR) if node.operator in chain), None)
    return node.children if chain is None else flatten(node, chain)


def flatten(node: Node, operators: tuple[str, ...]) -> list[Node]:
    """The operands of nested operators of the same kind."""
    found: list[Node] = []
    pending = [node]
    while pending:
        node = pending.pop()
        if node.operator in operators:
            pending.extend(reversed(node.children))
        else:
            found.append(node)
    return found
