"""Expressions of polars as trees: their parts, the columns they need, and whether each row is decided alone.

polars writes expressions as JSON, which has their structure; the literals come from the expressions themselves, as
JSON has no NaN.
"""

from __future__ import annotations

import functools
import json
import operator
import sys
import warnings
from typing import Any, cast

__all__ = ["AND", "OR", "Node", "columns", "conjunction", "conjuncts", "errors", "flat"]

AND = ("And", "LogicalAnd")
OR = ("Or", "LogicalOr")

# Functions whose value for a row depends on that row alone, by the groups that polars has them in.
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
# Those that look for a row's value among values, which may be a series.
_AMONG_VALUES = ("IsIn", "Replace", "ReplaceStrict")


def errors() -> type[Exception]:
    """What polars raises where it cannot write an expression, such as one that calls Python."""
    return cast("type[Exception]", sys.modules["polars"].exceptions.PolarsError)


class Node:
    """A part of an expression: what polars makes of it, and the JSON of it.

    Raises:
        Exception: Of whatever kind, when polars writes expressions in another way than expected.
    """

    def __init__(self, expression: Any, tree: Any = None) -> None:
        self.expression = expression
        if tree is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = json.loads(expression.meta.serialize(format="json"))
        ((self.kind, self.value),) = tree.items()
        if self.kind == "Alias":
            (part,) = expression.meta.pop()
            inner = Node(part, self.value[0])
            self.expression, self.kind, self.value = inner.expression, inner.kind, inner.value

    @functools.cached_property
    def function(self) -> tuple[str, str, Any]:
        """Group, name and options of a function; empty where it is none."""
        if self.kind != "Function":
            return "", "", None
        name, options = _named(self.value["function"])
        if name not in _BY_ROW:
            return "", name, options
        return name, *_named(options)

    @functools.cached_property
    def children(self) -> list[Node]:
        """The operands, in their order."""
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
        """Of a binary expression."""
        return str(self.value["op"]) if self.kind == "BinaryExpr" else ""

    def is_by_row(self, *, trusted: bool = False) -> bool:
        """Whether its value for a row depends on that row alone.

        Where it is trusted to, functions that are not known are let pass, but no series: they have rows of their own.
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


def _named(found: Any) -> tuple[str, Any]:
    """A name that may have something with it."""
    if isinstance(found, dict) and len(found) == 1:
        ((name, more),) = found.items()
        return name, more
    return (found, None) if isinstance(found, str) else ("", None)


def columns(expression: Any) -> list[str] | None:
    """Names of the columns that an expression needs, each once; ``None`` where it has selectors or patterns."""
    if expression.meta.has_multiple_outputs():
        return None
    return list(dict.fromkeys(expression.meta.root_names()))


@functools.cache
def _ternary() -> list[str]:
    """The parts of ``when``, as polars writes them, in the order in which it gives them."""
    polars = sys.modules["polars"]
    made = polars.when(polars.col("predicate")).then(polars.col("truthy")).otherwise(polars.col("falsy"))
    return [part.meta.output_name() for part in made.meta.pop()]


@functools.cache
def _last_comes_first() -> bool:
    polars = sys.modules["polars"]
    return not (polars.col("a") == 1).meta.pop()[0].meta.is_column()


def conjuncts(root: Node) -> list[Node]:
    """The parts that all must be true for a row to be kept."""
    return flat(root, AND)


def conjunction(nodes: list[Node]) -> Any:
    """The parts as one expression of polars."""
    return functools.reduce(operator.and_, [node.expression for node in nodes])


def flat(node: Node, operators: tuple[str, ...]) -> list[Node]:
    """The operands of nested operators that are all of these."""
    found: list[Node] = []
    pending = [node]
    while pending:
        node = pending.pop()
        if node.operator in operators:
            pending.extend(reversed(node.children))
        else:
            found.append(node)
    return found
