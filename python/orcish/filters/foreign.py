"""Filter pushdown of predicates of pyarrow and polars, and of pyarrow's lists of comparisons."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from orcish.filters import polars as polars_filters
from orcish.filters import polars_tree
from orcish.filters import pyarrow as arrow_filters
from orcish.filters.expression import Expression
from orcish.filters.levels import TooManyLevelsError, balanced
from orcish.filters.names import dotted
from orcish.filters.residual import Residual
from orcish.filters.strings import check_comparable, typed_value, typed_values
from orcish.filters.translation import Translation, all_of, find_field, path_of

__all__ = ["Pushdown", "split", "split_lists", "split_polars"]

Pushdown: TypeAlias = "tuple[Expression | None, Residual | None]"
"""The pushed-down predicate, and the residual; ``None`` where there is none."""


def split(filters: Any, schema: pa.Schema) -> Pushdown:
    """Splits an expression of pyarrow or of polars."""
    return _split_arrow(filters, schema) if isinstance(filters, pc.Expression) else split_polars(filters, schema)


def split_lists(filters: Sequence[Any], schema: pa.Schema) -> Pushdown:
    """Splits a list of comparisons, or of lists of them.

    Raises:
        ValueError: The list is malformed.
    """
    return _split_arrow(_from_lists(filters, schema), schema)


def _split_arrow(filters: pc.Expression, schema: pa.Schema) -> Pushdown:
    try:
        decoded = arrow_filters.DecodedExpression(filters)
        translated, left = _split_parts(decoded.conjuncts(), functools.partial(arrow_filters.translate, schema=schema))
        if not left:
            return translated, None
        rest = decoded.expression(left)
        return translated, Residual(rest, arrow_filters.DecodedExpression(rest).columns())
    except TooManyLevelsError:
        raise
    except Exception:
        # The serialization of pyarrow is internal to it; pyarrow can always evaluate its expressions itself.
        return None, Residual(filters, None)


def split_polars(filters: Any, schema: pa.Schema, *, is_elementwise: bool = False) -> Pushdown:
    """Splits an expression of polars, which may be known to be elementwise."""
    columns = polars_tree.columns(filters)
    by_row = is_elementwise
    try:
        root = polars_tree.Node(filters)
        polars_tree.check_depth(root)
        by_row = columns is not None and root.is_by_row(trusted=is_elementwise)
        # An expression such as a mean needs all rows, so nothing can be filtered before it.
        if by_row:
            translate = functools.partial(polars_filters.translate, schema=schema)
            translated, left = _split_parts(polars_tree.conjuncts(root), translate)
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


def _split_parts(
    parts: list[Any], translate: Callable[[Any], Translation | None]
) -> tuple[Expression | None, list[Any]]:
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


LISTS = (list, tuple, set, frozenset)
"""Types of the lists of values, of which strings are values of the type of the column."""


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
    found = find_field(schema, path_of(schema, column))
    if found is None:
        return _OPERATORS[symbol](field, value)
    name, kind = dotted(found[0]), found[1]
    if symbol in ("in", "not in"):
        found_values = typed_values(name, kind, list(value)) if isinstance(value, LISTS) else _list(value)
        check_comparable(name, kind, found_values)
        return _OPERATORS[symbol](field, found_values)
    return _OPERATORS[symbol](field, typed_value(name, kind, value))


def _field(column: Any, schema: pa.Schema) -> pc.Expression:
    if isinstance(column, str):
        path = path_of(schema, column)
        if len(path) > 1 and find_field(schema, path) is not None:
            return pc.field(*path)
        return pc.field(column)
    if isinstance(column, list | tuple) and column and all(isinstance(name, str) for name in column):
        return pc.field(*column)
    raise ValueError(f"malformed filters: {column!r} is no name of a column")
