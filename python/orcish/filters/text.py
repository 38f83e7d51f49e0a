"""Predicates as text: conditions of SQL, or pyarrow's lists as JSON.

>>> parse("id > 5 and name in ('a', 'b') and day >= date '2026-01-01'")
(id > 5) and (name in ('a', 'b')) and (day >= date '2026-01-01')
>>> parse('[["id", ">", 5], ["name", "in", ["a", "b"]]]')
(id > 5) and (name in ('a', 'b'))
"""

from __future__ import annotations

from orcish.filters.expression import Column, Expression, Tree, col, tree_of
from orcish.filters.json import parse_json
from orcish.filters.literals import Literal
from orcish.filters.text_literals import TYPES, number, pattern
from orcish.filters.text_tokens import PredicateTextError, Token, excerpt, text_error, tokens, unexpected_end
from orcish.filters.translation import FLIPPED, flat_tree

__all__ = ["parse"]

# The native core allows 500 levels. Printing in Python allows some hundreds.
_MOST_LEVELS = 256

_UNARY_FUNCTIONS = {
    "is_nan": Column.is_nan,
    "isnan": Column.is_nan,
    "isnotnull": Column.is_not_null,
    "isnull": Column.is_null,
}
_PREFIXES = ("starts_with", "startswith")
_FUNCTIONS = ", ".join([*_UNARY_FUNCTIONS, *_PREFIXES])


def parse(text: str, option: str = "filters") -> Expression:
    r"""Parses a predicate. The ``str`` of an :class:`Expression` is parsed to the same expression.

    In SQL, columns are compared with values by ``=``, ``==``, ``!=``, ``<>``, ``<``, ``<=``, ``>``, ``>=``, ``in``,
    ``between``, ``like`` with patterns such as ``'abc%'``, ``is null``, ``is nan`` and ``starts_with(name, 'abc')``.
    Predicates are joined by ``and``, ``or``, ``not`` and parentheses. A boolean column is a predicate. Keywords are
    case-insensitive.

    Names are dotted names as in :func:`col`. Names, or steps of names, with characters other than letters, digits and
    underscores are quoted with backticks or double quotes. Values are ``null``, ``true``, ``5``, decimals such as
    ``1.5``, floats such as ``1.5e0``, ``1.5D`` and ``double('NaN')``, strings in single quotes with the escapes of
    Spark (``''``, ``\\``, ``\n``, ``\u00e9``), ``x'00ff'``, ``date '2026-01-31'`` and ``timestamp '2026-01-31
    12:00:00'``. Timestamps are wall clock times; with ``Z`` or an offset such as ``+01:00`` at the end they are
    instants.

    Text that begins with ``[`` is JSON: a list of ``[column, operator, value]`` is a conjunction, and a list of such
    lists a disjunction of conjunctions. Operators are ``=``, ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``in`` and
    ``not in``. For ``in`` and ``not in``, null is a value like others, as in pyarrow.

    Args:
        text: The text.
        option: The name of the option, with which error messages begin.

    Raises:
        ValueError: The text is no predicate, or has more than 256 levels; the message has the position of the error.
    """
    try:
        tree = parse_json(text) if text.lstrip().startswith("[") else _Parser(text).predicate()
        if _levels(tree) > _MOST_LEVELS:
            raise PredicateTextError(f"{excerpt(text)} is a predicate of more than {_MOST_LEVELS} levels")
    except PredicateTextError as error:
        raise ValueError(f"{option}: {error}") from None
    return Expression(tree)


def _levels(tree: Tree) -> int:
    """The number of levels of ``and``, ``or`` and ``not``, and the leaves."""
    count, level = 0, [tree]
    while level:
        count += 1
        rows = [[node[1]] if node[0] == "not" else node[1] for node in level if node[0] in ("and", "or", "not")]
        level = [node for row in rows for node in row]
    return count


class _Scope:
    """The state of the parser within one pair of parentheses, or at the top level."""

    __slots__ = ("negations", "row", "rows")

    def __init__(self) -> None:
        self.negations = 0
        """Number of ``not`` before the next predicate."""
        self.row: list[Tree] = []
        """Operands of the current conjunction."""
        self.rows: list[Tree] = []
        """Finished operands of the disjunction."""

    def add(self, tree: Tree) -> None:
        for _ in range(self.negations):
            tree = ("not", tree)
        self.negations = 0
        self.row.append(tree)

    def end_row(self) -> None:
        self.rows.append(flat_tree("and", self.row))
        self.row = []

    def tree(self) -> Tree:
        self.end_row()
        return flat_tree("or", self.rows)


class _Parser:
    """A parser without recursion, so that no depth of nesting overflows the stack."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(tokens(text))
        self._at = 0

    def predicate(self) -> Tree:
        """Parses the whole text."""
        levels = [_Scope()]
        while True:
            self._begin(levels)
            tree = self._comparison()
            while True:
                level = levels[-1]
                level.add(tree)
                if self._take("and"):
                    break
                if self._take("or"):
                    level.end_row()
                    break
                if len(levels) == 1:
                    if self._token.kind == "end":
                        return level.tree()
                    raise self._unexpected('"and" or "or"')
                if not self._take(")"):
                    raise self._unexpected('"and", "or" or ")"')
                tree = levels.pop().tree()

    def _begin(self, levels: list[_Scope]) -> None:
        """Parses ``not`` and opening parentheses before a comparison."""
        while True:
            token = self._token
            if self._take("not"):
                levels[-1].negations += 1
            elif self._take("("):
                levels.append(_Scope())
            else:
                return
            if max(len(levels) - 1, sum(level.negations for level in levels)) > _MOST_LEVELS:
                raise text_error(token.text, token.start, f"is more than {_MOST_LEVELS} levels deep")

    def _comparison(self) -> Tree:
        value = self._literal()
        if value is not None:
            return self._after_value(value)
        token = self._token
        if token.kind != "name":
            raise self._unexpected("a predicate")
        self._at += 1
        if self._token.kind == "(":
            return self._call(token)
        return self._after_column(col(token.value))

    def _after_value(self, value: Literal) -> Tree:
        operator = self._take("operator")
        if operator:
            return ("compare", FLIPPED[operator.value], self._name(), value)
        if value[0] in ("bool", "null"):
            return ("constant", value[1] if value[0] == "bool" else None)
        raise self._unexpected("an operator")

    def _after_column(self, column: Column) -> Tree:
        operator = self._take("operator")
        if operator:
            return ("compare", operator.value, column.name, self._value())
        if self._take("is"):
            negated = self._take("not")
            tree = self._null_or_nan(column)
        else:
            negated = self._take("not")
            if self._take("in"):
                tree = ("in", column.name, self._values())
            elif self._take("between"):
                low = self._value()
                self._expect("and")
                bounds = [("compare", ">=", column.name, low), ("compare", "<=", column.name, self._value())]
                tree = ("and", bounds)
            elif self._take("like"):
                tree = self._like(column.name)
            elif negated:
                raise self._unexpected('"in", "between" or "like"')
            elif self._token.kind in ("and", "or", ")", "end"):
                return tree_of(column)
            else:
                raise self._unexpected("an operator")
        return ("not", tree) if negated else tree

    def _null_or_nan(self, column: Column) -> Tree:
        if self._take("null"):
            return ("is_null", column.name)
        if self._token.text.lower() == "nan":
            self._at += 1
            return ("is_nan", column.name)
        raise self._unexpected('"null" or "nan"')

    def _values(self) -> list[Literal]:
        self._expect("(")
        found = [self._value()]
        while self._take(","):
            found.append(self._value())
        if not self._take(")"):
            raise self._unexpected('"," or ")"')
        return found

    def _like(self, name: str) -> Tree:
        token = self._token
        if not self._take("string"):
            raise self._unexpected("a pattern in single quotes")
        try:
            text, is_prefix = pattern(token.value)
        except ValueError as error:
            raise text_error(token.text, token.start, str(error)) from None
        return ("starts_with", name, ("string", text)) if is_prefix else ("compare", "=", name, ("string", text))

    def _call(self, function: Token) -> Tree:
        self._expect("(")
        word = function.text.lower()
        if word not in _UNARY_FUNCTIONS and word not in _PREFIXES:
            raise text_error(function.text, function.start, f"is no function that is known: these are {_FUNCTIONS}")
        name = self._name()
        if word in _UNARY_FUNCTIONS:
            tree = tree_of(_UNARY_FUNCTIONS[word](col(name)))
        else:
            self._expect(",")
            token = self._token
            prefix = self._value()
            if prefix[0] not in ("string", "binary"):
                raise text_error(token.text, token.start, "is where a string should be")
            tree = ("starts_with", name, prefix)
        self._expect(")")
        return tree

    def _name(self) -> str:
        token = self._take("name")
        if token is None:
            raise self._unexpected("a column")
        return token.value

    def _value(self) -> Literal:
        found = self._literal()
        if found is not None:
            return found
        token = self._token
        if token.kind != "name":
            raise self._unexpected("a value")
        what = "is a column where a value should be: columns are compared with values only"
        if token.text.startswith('"'):
            what += ", and strings are in single quotes"
        raise text_error(token.text, token.start, what)

    def _literal(self) -> Literal | None:
        """Parses a literal; ``None`` where the next token is none."""
        token = self._token
        kind = token.kind
        if kind == "name":
            return self._typed(token)
        if kind not in ("number", "string", "true", "false", "null"):
            return None
        self._at += 1
        if kind == "string":
            return ("string", token.value)
        if kind == "number":
            try:
                return number(token.text)
            except ValueError as error:
                raise text_error(token.text, token.start, str(error)) from None
        return ("null",) if kind == "null" else ("bool", kind == "true")

    def _typed(self, token: Token) -> Literal | None:
        """Parses a literal with a type, such as ``date '2026-01-31'``; floats may have parentheses:
        ``double('NaN')``.
        """
        word = token.text.lower()
        if word not in TYPES:
            return None
        is_call = word in ("double", "float") and self._tokens[self._at + 1].kind == "("
        string = self._tokens[self._at + (2 if is_call else 1)]
        if string.kind != "string":
            return None
        self._at += 3 if is_call else 2
        piece = self._text[token.start : string.start + len(string.text)]
        try:
            found = TYPES[word](string.value)
        except ValueError as error:
            raise text_error(piece, token.start, str(error)) from None
        if is_call:
            self._expect(")")
        return found

    # Tokens.

    @property
    def _token(self) -> Token:
        """The next token. The end token is never consumed."""
        return self._tokens[self._at]

    def _take(self, kind: str) -> Token | None:
        """Consumes the next token, if it is of this kind."""
        token = self._tokens[self._at]
        if token.kind != kind:
            return None
        self._at += 1
        return token

    def _expect(self, kind: str) -> None:
        if not self._take(kind):
            raise self._unexpected(f'"{kind}"')

    def _unexpected(self, expected: str) -> PredicateTextError:
        """The error that another token was expected."""
        token = self._token
        if token.kind != "end":
            return text_error(token.text, token.start, f"is where {expected} should be")
        return unexpected_end(self._text, expected)
