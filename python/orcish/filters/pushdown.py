"""Filter pushdown: the part of a predicate that the native core evaluates, and the residual."""

from __future__ import annotations

import dataclasses
import operator
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from orcish.filters.expression import Column, Expression, tree_of
from orcish.filters.levels import balanced
from orcish.filters.text import parse

if TYPE_CHECKING:
    import pyarrow.compute as pc

    from orcish.filters.foreign import Pushdown
    from orcish.filters.residual import Residual

__all__ = [
    "ElementwisePredicate",
    "Filters",
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
        filters, Expression | Column | Conjunction | Successive | ElementwisePredicate | list | tuple
    ) and not _is_foreign(filters):
        raise TypeError(
            "filters are an expression of orcish, pyarrow or polars, text such as 'id > 5', or a list of "
            f"(column, operator, value), not {type(filters).__name__}"
        )


def _is_foreign(filters: Any) -> bool:
    """Whether the object is an expression of pyarrow or of polars. A library that is not imported has made none."""
    compute, polars = sys.modules.get("pyarrow._compute"), sys.modules.get("polars")
    is_arrow = compute is not None and isinstance(filters, compute.Expression)
    return is_arrow or (polars is not None and isinstance(filters, polars.Expr))


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
        ValueError: A list is malformed, text is no predicate, or a predicate has too many levels.
        TypeError: The object is no predicate.
    """
    if filters is None:
        return None, None
    check_filters(filters)
    if (own := own_expression(filters)) is not None:
        return own, None
    # It imports pyarrow.compute, which takes as long as the rest of pyarrow.
    from orcish.filters import foreign

    if isinstance(filters, list | tuple):
        return foreign.split_lists(filters, schema)
    if isinstance(filters, ElementwisePredicate):
        return foreign.split_polars(filters.predicate, schema, is_elementwise=True)
    return foreign.split(filters, schema)


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
