"""Filter pushdown: the part of a predicate that the native core evaluates, and the residual."""

from __future__ import annotations

import dataclasses
import functools
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from orcish.filters import polars as polars_filters
from orcish.filters import polars_tree
from orcish.filters import pyarrow as arrow_filters
from orcish.filters.expression import Column, Expression, tree_of
from orcish.filters.levels import TooManyLevelsError, balanced
from orcish.filters.residual import Residual
from orcish.filters.steps import check_steps
from orcish.filters.strings import typed_value, typed_values
from orcish.filters.text import parse
from orcish.filters.translation import Translation, all_of, find_field

__all__ = [
    "ElementwisePredicate",
    "Filters",
    "Pushdown",
    "Successive",
    "check_filters",
    "combined",
    "own_expression",
    "split_all",
    "split_filters",
]

Filters: TypeAlias = "Expression | Column | str | pc.Expression | Sequence[Any] | Any"
"""A predicate of orcish, SQL for :func:`orcish.filters.text.parse`, a predicate of pyarrow or of polars, or
pyarrow's lists of ``(column, operator, value)``: one list is a conjunction, a list of lists a disjunction of
conjunctions."""

Pushdown: TypeAlias = "tuple[Expression | None, Residual | None]"
"""The pushed-down predicate, and the residual; ``None`` where there is none."""


@dataclasses.dataclass(frozen=True)
class Conjunction:
    """The conjunction of predicates, possibly of several libraries."""

    parts: tuple[Filters, ...]


@dataclasses.dataclass(frozen=True)
class ElementwisePredicate:
    """A predicate of polars that is known to be elementwise."""

    predicate: Any


@dataclasses.dataclass(frozen=True)
class Successive:
    """A predicate on the rows that another one and a limit leave."""

    before: Filters | None
    limit: int | None
    filters: Filters

    def __str__(self) -> str:
        before = "" if self.before is None else f"{self.before}, then "
        return f"{before}{'' if self.limit is None else f'limit {self.limit}, then '}{self.filters}"

    @staticmethod
    def stages(filters: Filters | None, limit: int | None) -> Iterator[tuple[Filters | None, int | None]]:
        """Predicates, each with the limit that follows it, in the order in which they are applied."""
        if isinstance(filters, Successive):
            yield from Successive.stages(filters.before, filters.limit)
            filters = filters.filters
        yield filters, limit


def combined(first: Filters, second: Filters) -> Expression | Conjunction | Successive:
    """The conjunction of two predicates."""
    if isinstance(first, Successive):
        return dataclasses.replace(first, filters=combined(first.filters, second))
    if isinstance(first, Expression) and isinstance(second, Expression):
        return first & second
    return Conjunction((*(first.parts if isinstance(first, Conjunction) else (first,)), second))


def check_filters(filters: Any) -> None:
    """Raises TypeError for objects that are no filter, and ValueError for text that is no predicate."""
    if isinstance(filters, str):
        parse(filters, "filters")
    elif not isinstance(
        filters, Expression | Column | pc.Expression | Conjunction | Successive | ElementwisePredicate | list | tuple
    ):
        polars = sys.modules.get("polars")
        if polars is None or not isinstance(filters, polars.Expr):
            raise TypeError(
                "filters are an expression of orcish, pyarrow or polars, text such as 'id > 5', or a list of "
                f"(column, operator, value), not {type(filters).__name__}"
            )


def own_expression(filters: Filters) -> Expression | None:
    """The predicate of an expression of orcish, or of text; ``None`` for predicates of other libraries.

    Raises:
        ValueError: Text is no predicate.
    """
    if isinstance(filters, str):
        return parse(filters, "filters")
    if isinstance(filters, Column):
        return Expression(tree_of(filters))
    return filters if isinstance(filters, Expression) else None


def split_filters(filters: Filters | None, schema: pa.Schema) -> Pushdown:
    """Splits a predicate into one for the native core and a residual that is applied to the batches.

    A row is kept when both are true. These are the rows that the library of the predicate would keep, with its own
    semantics of nulls and NaN. Comparisons that the library refuses but orcish can evaluate, such as large integers
    with floats in pyarrow, are evaluated.

    Args:
        filters: The predicate.
        schema: The schema of the table, with the types that are read; the semantics depend on them. The column of row
            numbers is in it, if there is one.

    Raises:
        ValueError: A list is malformed, text is no predicate, a predicate has too many levels, or a name leads to a
            field that a column of the same dotted name hides.
        TypeError: The object is no predicate.
    """
    if filters is None:
        return None, None
    check_filters(filters)
    if (own := own_expression(filters)) is not None:
        check_steps(own.columns, schema)
        return own, None
    if isinstance(filters, pc.Expression):
        return _split_arrow(filters, schema)
    if isinstance(filters, list | tuple):
        return _split_arrow(_from_lists(filters, schema), schema)
    if isinstance(filters, ElementwisePredicate):
        return _split_polars(filters.predicate, schema, is_elementwise=True)
    return _split_polars(filters, schema)


def split_all(filters: Filters | None, schema: pa.Schema) -> tuple[Expression | None, list[Residual]]:
    """As :func:`split_filters`, also for the conjunction of predicates of several libraries, each with its residual.

    Raises:
        TypeError: A predicate that is not elementwise is combined with others.
    """
    parts = filters.parts if isinstance(filters, Conjunction) else (filters,)
    split = [split_filters(part, schema) for part in parts if part is not None]
    expressions = [expression for expression, _ in split if expression is not None]
    residuals = [residual for _, residual in split if residual is not None]
    for residual in residuals:
        if len(split) > 1 and not residual.by_row:
            # The result would depend on the order in which the filters are applied.
            raise TypeError(
                f"the filter {residual} is, or may be, about all rows at once: it cannot be joined with others"
            )
    return balanced(operator.and_, expressions) if expressions else None, residuals


def _split_arrow(filters: pc.Expression, schema: pa.Schema) -> Pushdown:
    try:
        decoded = arrow_filters.DecodedExpression(filters)
        translated, left = _split(decoded.conjuncts(), functools.partial(arrow_filters.translate, schema=schema))
        if not left:
            return translated, None
        rest = decoded.expression(left)
        return translated, Residual(rest, arrow_filters.DecodedExpression(rest).columns())
    except TooManyLevelsError:
        raise
    except Exception:
        # The serialization of pyarrow is internal to it; pyarrow can always evaluate its expressions itself.
        return None, Residual(filters, None)


def _split_polars(filters: Any, schema: pa.Schema, *, is_elementwise: bool = False) -> Pushdown:
    columns = polars_tree.columns(filters)
    by_row = is_elementwise
    try:
        root = polars_tree.Node(filters)
        polars_tree.check_depth(root)
        by_row = columns is not None and root.is_by_row(trusted=is_elementwise)
        # An expression such as a mean needs all rows, so nothing can be filtered before it.
        if by_row:
            translate = functools.partial(polars_filters.translate, schema=schema)
            translated, left = _split(polars_tree.conjuncts(root), translate)
            if not left:
                return translated, None
            rest = polars_tree.conjunction(left)
            return translated, Residual(rest, polars_tree.columns(rest))
    except TooManyLevelsError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError, polars_tree.errors()):
        # As for pyarrow.
        pass
    return None, Residual(filters, columns, by_row)


def _split(parts: list[Any], translate: Callable[[Any], Translation | None]) -> tuple[Expression | None, list[Any]]:
    found = [translate(part) for part in parts]
    left = [
        part for part, translation in zip(parts, found, strict=True) if translation is None or not translation.exact
    ]
    whole = all_of(found)
    return None if whole is None else Expression(whole.tree), left


_OPERATORS: dict[str, Callable[[pc.Expression, Any], pc.Expression]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda field, values: field.isin(_list(values)),
    "not in": lambda field, values: ~field.isin(_list(values)),
}


def _list(values: Any) -> Any:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ValueError(f"malformed filters: `in` takes a list of values, not {values!r}")
    return list(values) if isinstance(values, set | frozenset) else values


def _from_lists(filters: Sequence[Any], schema: pa.Schema) -> pc.Expression:
    """The expression that pyarrow makes of the lists, except that names may be dotted."""
    if not filters:
        raise ValueError("malformed filters: an empty list")
    # A flat list of comparisons is the same as a list with this list.
    rows = [filters] if all(isinstance(part, list | tuple) and _is_comparison(part) for part in filters) else filters
    alternatives: list[pc.Expression] = []
    for row in rows:
        if not isinstance(row, list | tuple) or not row:
            raise ValueError(f"malformed filters: {row!r} is no list of (column, operator, value)")
        alternatives.append(balanced(operator.and_, [_comparison(part, schema) for part in row]))
    return balanced(operator.or_, alternatives)


def _is_comparison(part: Any) -> bool:
    return len(part) == 3 and isinstance(part[1], str)


def _comparison(part: Any, schema: pa.Schema) -> pc.Expression:
    if not isinstance(part, list | tuple) or len(part) != 3:
        raise ValueError(f"malformed filters: {part!r} is no (column, operator, value)")
    column, symbol, value = part
    if not isinstance(symbol, str) or symbol not in _OPERATORS:
        raise ValueError(f"malformed filters: {symbol!r} is none of the operators {', '.join(_OPERATORS)}")
    field = _field(column, schema)
    found = find_field(schema, column.split(".") if isinstance(column, str) else column)
    if found is None:
        return _OPERATORS[symbol](field, value)
    if symbol in ("in", "not in"):
        is_list = isinstance(value, list | tuple | set | frozenset)
        return _OPERATORS[symbol](field, typed_values(*found, list(value)) if is_list else value)
    return _OPERATORS[symbol](field, typed_value(*found, value))


def _field(column: Any, schema: pa.Schema) -> pc.Expression:
    if isinstance(column, str):
        path = column.split(".")
        if len(path) > 1 and find_field(schema, path) is not None:
            return pc.field(*path)
        return pc.field(column)
    if isinstance(column, list | tuple) and column and all(isinstance(name, str) for name in column):
        return pc.field(*column)
    raise ValueError(f"malformed filters: {column!r} is no name of a column")
