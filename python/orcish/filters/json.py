"""Predicates as JSON: pyarrow's lists of ``[column, operator, value]``."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from orcish.filters.expression import Tree
from orcish.filters.literals import Literal, literal
from orcish.filters.text_tokens import PredicateTextError, excerpt, text_error, unexpected_end
from orcish.filters.translation import flat_tree, set_member

__all__ = ["parse_json"]

_COMPARISONS = {"=": "=", "==": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_OPERATORS = [*_COMPARISONS, "in", "not in"]


def parse_json(text: str) -> Tree:
    """Parses a list of comparisons, or a list of such lists.

    Raises:
        PredicateTextError: The text is no such list.
    """
    try:
        lists = json.loads(text, parse_int=_int, parse_float=_float, parse_constant=_constant)
    except json.JSONDecodeError as error:
        rest = text[error.pos :]
        wrong = text_error(rest, error.pos, f"is where the JSON is wrong: {error.msg}")
        raise (wrong if rest.strip() else unexpected_end(text, "more JSON")) from None
    except RecursionError:
        raise PredicateTextError("the JSON is too deep for lists of [column, operator, value]") from None
    if not lists:
        raise PredicateTextError("the list has no comparison: it takes lists of [column, operator, value]")
    if not any(map(_is_row, lists)):
        return _row(lists)
    for row in lists:
        if not _is_row(row):
            raise _malformed(row, "is no list of [column, operator, value], as others beside it are")
    return flat_tree("or", [_row(row) for row in lists])


def _int(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:
        raise PredicateTextError(f"the number {excerpt(digits)} has too many digits") from None


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise PredicateTextError(f"the number {excerpt(digits)} is beyond all floating point numbers")
    return value


def _constant(word: str) -> NoReturn:
    raise PredicateTextError(f"{excerpt(word)} is nothing that JSON has")


def _is_comparison(part: Any) -> bool:
    return isinstance(part, list) and len(part) == 3 and isinstance(part[1], str)


def _is_row(part: Any) -> bool:
    # The name of a column may be a list too.
    return isinstance(part, list) and bool(part) and isinstance(part[0], list) and not _is_comparison(part)


def _row(row: list[Any]) -> Tree:
    return flat_tree("and", [_comparison(part) for part in row])


def _comparison(part: Any) -> Tree:
    if not _is_comparison(part):
        raise _malformed(part, "is no [column, operator, value]")
    name, operator, value = part
    # In pyarrow, a list of names is a path through structs.
    if isinstance(name, list) and name and all(isinstance(step, str) for step in name):
        name = ".".join(name)
    if not isinstance(name, str):
        raise _malformed(part, "does not begin with the name of a column")
    if operator in _COMPARISONS:
        return ("compare", _COMPARISONS[operator], name, _literal(value, part))
    if operator not in ("in", "not in"):
        raise _malformed(part, f"has none of the operators {', '.join(_OPERATORS)}")
    if not isinstance(value, list):
        raise _malformed(part, f"has no list of values behind {excerpt(operator)}")
    known = [_literal(each, part) for each in value if each is not None]
    tree = set_member(name, known, null=len(known) < len(value), nan=False)
    return tree if operator == "in" else ("not", tree)


def _literal(value: Any, part: Any) -> Literal:
    if isinstance(value, list | dict):
        raise _malformed(part, "has a list or an object where a value should be")
    return literal(value)


def _malformed(part: Any, what: str) -> PredicateTextError:
    try:
        piece = json.dumps(part, ensure_ascii=False)
    except RecursionError:
        piece = "[…]"
    return PredicateTextError(f"{excerpt(piece)} {what}")
