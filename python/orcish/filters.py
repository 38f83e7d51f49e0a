"""Predicates of other libraries, as far as the native core can evaluate them."""

from __future__ import annotations

import dataclasses
import functools
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from orcish import _from_arrow, _from_polars
from orcish._translation import Translation, all_of, field_at
from orcish.expression import Column, Expression

__all__ = ["Filters", "Residual", "Split", "joined", "to_expression"]

Filters: TypeAlias = "Expression | Column | pc.Expression | Sequence[Any] | Any"
"""A predicate of orcish, of pyarrow or of polars, or pyarrow's lists of ``(column, operator, value)``: one list, all of
which must be true, or a list of such lists, of which one must be."""


Split: TypeAlias = "tuple[Expression | None, Residual | None]"
"""What the native core evaluates, and what is applied after the read; ``None`` where there is nothing to do."""


@dataclasses.dataclass(frozen=True)
class Residual:
    """What is left of a predicate, to be applied after the read."""

    predicate: Any
    """An expression of pyarrow or of polars."""
    columns: list[str] | None
    """Names of the top-level columns that it needs; ``None`` where that may be all."""
    by_row: bool = True
    """Whether it may be applied batch by batch. Otherwise, as with ``polars.col("a") > polars.col("a").mean()``, the
    whole table must be there, and there is nothing but the residual."""

    def __str__(self) -> str:
        """The predicate as its library shows it, for explanations."""
        return str(self.predicate)

    def apply(self, data: Any) -> Any:
        """The rows of a table, record batch or polars data frame for which the predicate is true."""
        arrow = isinstance(data, pa.Table | pa.RecordBatch)
        if isinstance(self.predicate, pc.Expression):
            if arrow:
                return data.filter(self.predicate)
            polars = sys.modules["polars"]
            return polars.from_arrow(data.to_arrow().filter(self.predicate))
        return self._rows(data) if arrow else data.filter(self.predicate)

    def _rows(self, data: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
        """The rows that polars keeps, of the types that Arrow has and polars may not have."""
        polars = sys.modules["polars"]
        if self.columns is None:
            # A column of row numbers might be one of those asked about.
            frame = polars.from_arrow(data)
            answers = frame.select(self.predicate)
            if answers.width > 1:
                # Which polars refuses, in its own words.
                frame.filter(self.predicate)
            keep = answers.to_series()
            return data.filter((keep if len(keep) == len(frame) else keep.new_from_index(0, len(frame))).to_arrow())
        frame = polars.from_arrow(data.select(self.columns or data.schema.names[:1]))
        # Filters are optimized, and come to other results with nulls than the same expressions in a select.
        number = "row of " + " ".join(frame.columns)
        kept = frame.with_row_index(number).filter(self.predicate)
        return data.take(kept.get_column(number).to_arrow())


@dataclasses.dataclass(frozen=True)
class Joined:
    """Predicates, of several libraries perhaps, all of which must be true."""

    parts: tuple[Filters, ...]


@dataclasses.dataclass(frozen=True)
class _Residuals(Residual):
    """What is left of several predicates."""

    parts: tuple[Residual, ...] = ()

    def __str__(self) -> str:
        return "; ".join(map(str, self.parts))

    def apply(self, data: Any) -> Any:
        for part in self.parts:
            data = part.apply(data)
        return data


def joined(first: Filters, second: Filters) -> Joined:
    """A predicate that is true where both are."""
    return Joined((*(first.parts if isinstance(first, Joined) else (first,)), second))


def to_expression(filters: Filters | None, schema: pa.Schema | None = None) -> Split:
    """Split a predicate into one for the native core and one to apply to what has been read.

    A row is kept when both are true, and these are the rows that the predicate's own library would keep, with its own
    rules for nulls and NaN. What that library refuses to compare, but orcish can, such as large integers with floats
    in pyarrow, is compared.

    Args:
        filters: The predicate.
        schema: Of the table that is read, with the types that it will have. Without it only predicates of orcish go
            to the core, as the rules depend on types.

    Raises:
        ValueError: A list is not made as pyarrow makes them.
        TypeError: The predicate is none that is known.
    """
    if filters is None:
        return None, None
    if isinstance(filters, Joined):
        return _of_joined(filters.parts, schema)
    if isinstance(filters, Expression | Column):
        return Expression(filters._predicate()), None
    if isinstance(filters, pc.Expression):
        return _of_arrow(filters, schema)
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(filters, polars.Expr):
        return _of_polars(filters, schema)
    if isinstance(filters, list | tuple):
        return _of_arrow(_of_lists(filters, schema), schema)
    raise TypeError(
        "filters are an expression of orcish, pyarrow or polars, or a list of (column, operator, value), "
        f"not {type(filters).__name__}"
    )


def _of_joined(parts: tuple[Filters, ...], schema: pa.Schema | None) -> Split:
    split = [to_expression(part, schema) for part in parts]
    expressions = [expression for expression, _ in split if expression is not None]
    whole = functools.reduce(operator.and_, expressions) if expressions else None
    left = [residual for _, residual in split if residual is not None]
    if len(left) == len(split) == 1 or not left:
        return whole, left[0] if left else None
    if not all(residual.by_row for residual in left):
        # Of which rows the other filters leave would it be?
        raise TypeError("a filter that is about all rows at once cannot be joined with others")
    names: list[str] | None = []
    for residual in left:
        names = None if names is None or residual.columns is None else [*names, *residual.columns]
    columns = None if names is None else list(dict.fromkeys(names))
    return whole, _Residuals([residual.predicate for residual in left], columns, parts=tuple(left))


def _of_arrow(filters: pc.Expression, schema: pa.Schema | None) -> Split:
    try:
        decoded = _from_arrow.Decoded(filters)
        columns = decoded.columns()
        if schema is None:
            return None, Residual(filters, columns)
        translated, left = _split(decoded.conjuncts(), functools.partial(_from_arrow.translate, schema=schema))
        if not left:
            return translated, None
        rest = decoded.expression(left)
        return translated, Residual(rest, _from_arrow.Decoded(rest).columns())
    except Exception:
        # How pyarrow writes expressions is its own affair; it can always evaluate them.
        return None, Residual(filters, None)


def _of_polars(filters: Any, schema: pa.Schema | None) -> Split:
    columns: list[str] | None = None
    try:
        root = _from_polars.Node(filters)
        columns = root.columns()
        if schema is not None:
            translate = functools.partial(_from_polars.translate, schema=schema)
            translated, left = _split(_from_polars.conjuncts(root), translate)
            if not left:
                return translated, None
            # A mean is one of all rows, so that none may be missing.
            if columns is not None:
                rest = _from_polars.conjunction(left)
                return translated, Residual(rest, _from_polars.Node(rest).columns())
    except Exception:
        # Likewise.
        pass
    return None, Residual(filters, columns, by_row=columns is not None)


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
    if isinstance(values, str | bytes):
        raise ValueError(f"malformed filters: `in` takes a list of values, not {values!r}")
    return list(values) if isinstance(values, set | frozenset) else values


def _of_lists(filters: Sequence[Any], schema: pa.Schema | None) -> pc.Expression:
    """The expression that pyarrow makes of the lists; names may be dotted here."""
    if not filters:
        raise ValueError("malformed filters: an empty list")
    # One list of comparisons is the only member of a list of lists.
    rows = [filters] if all(isinstance(part, tuple) and _is_comparison(part) for part in filters) else filters
    alternatives: list[pc.Expression] = []
    for row in rows:
        if not isinstance(row, list | tuple) or not row:
            raise ValueError(f"malformed filters: {row!r} is no list of (column, operator, value)")
        alternatives.append(functools.reduce(operator.and_, [_comparison(part, schema) for part in row]))
    return functools.reduce(operator.or_, alternatives)


def _is_comparison(part: Any) -> bool:
    return len(part) == 3 and isinstance(part[1], str)


def _comparison(part: Any, schema: pa.Schema | None) -> pc.Expression:
    if not isinstance(part, list | tuple) or len(part) != 3:
        raise ValueError(f"malformed filters: {part!r} is no (column, operator, value)")
    column, symbol, value = part
    if not isinstance(symbol, str) or symbol not in _OPERATORS:
        raise ValueError(f"malformed filters: {symbol!r} is none of the operators {', '.join(_OPERATORS)}")
    return _OPERATORS[symbol](_field(column, schema), value)


def _field(column: Any, schema: pa.Schema | None) -> pc.Expression:
    if isinstance(column, str):
        path = column.split(".")
        if len(path) > 1 and schema is not None and field_at(schema, path) is not None:
            return pc.field(*path)
        return pc.field(column)
    if isinstance(column, list | tuple) and column and all(isinstance(name, str) for name in column):
        return pc.field(*column)
    raise ValueError(f"malformed filters: {column!r} is no name of a column")
