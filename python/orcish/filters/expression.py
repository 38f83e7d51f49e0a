"""Predicates on columns.

>>> from orcish import col
>>> (col("id") == 5) | col("customer").field("name").is_null()
(id = 5) or (customer.name is null)

A predicate is true, false or unknown for a row, as in SQL; rows for which it is true are kept. A comparison with null
is unknown, whether the column or the literal is null. ``not`` of unknown is unknown. Numbers are compared by value,
regardless of their types: ``col("x") > 2.5`` also works for integer columns. Floats are compared as in IEEE 754: NaN is
equal to nothing, itself included, and neither less nor greater; ``!=`` is true for it. 0.0 equals -0.0. Strings and
binaries are ordered by their bytes. False is less than true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeAlias, TypeVar, cast

from orcish import _native
from orcish.errors import text_of
from orcish.filters import literals
from orcish.filters.levels import check_count, check_levels
from orcish.filters.names import ColumnName, dotted, steps_of
from orcish.hints import COLUMN, missing_attribute
from orcish.keywords import checked_keywords

__all__ = [
    "RESERVED",
    "Column",
    "Expression",
    "Tree",
    "col",
    "folded",
    "leaves_of",
    "name_of",
    "parsed_expression",
    "tree_of",
]

Tree: TypeAlias = "tuple[Any, ...]"
"""A predicate as nested tuples; see :func:`tree_of`."""

T = TypeVar("T")

_BARE_NAME = r"[^\W\d]\w*"

RESERVED = frozenset(["and", "between", "false", "in", "is", "like", "not", "null", "or", "true"])
"""Reserved words of SQL, in lower case; they are case-insensitive."""


@checked_keywords
def col(name: ColumnName) -> Column:
    """A column, by its dotted name, such as ``"id"`` or ``"customer.name"``, or by a tuple of steps, such as
    ``("customer", "name")``. Comparing it gives an :class:`Expression`.

    A column ``a.b`` precedes the field ``b`` of a column ``a``, which is ``("a", "b")``.
    """
    return Column(name)


class _Operand:
    """Base class of predicates and boolean columns, with the operators ``&``, ``|`` and ``~``."""

    __slots__ = ()

    # `==` builds a predicate, so that lookups in dicts and sets could not work.
    __hash__: ClassVar[None] = None  # type: ignore[assignment]
    # Lets numpy scalars call our comparisons.
    __array_ufunc__: ClassVar[None] = None

    def _predicate(self) -> Tree:
        raise NotImplementedError

    def _levels(self) -> int:
        """The number of levels of the predicate, see :func:`~orcish.filters.levels.check_levels`."""
        return 1

    def __and__(self, other: object) -> Expression:
        return self._join("and", self, other)

    def __rand__(self, other: object) -> Expression:
        return self._join("and", other, self)

    def __or__(self, other: object) -> Expression:
        return self._join("or", self, other)

    def __ror__(self, other: object) -> Expression:
        return self._join("or", other, self)

    def __invert__(self) -> Expression:
        return Expression(("not", self._predicate()))

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a predicate is neither true nor false before rows are read: join predicates with & and |, negate with ~, "
            "each in parentheses, in place of `and`, `or` and `not`; in place of `a < x < b` use between, "
            "and is_in in place of `in`"
        )

    @staticmethod
    def _join(kind: str, left: object, right: object) -> Expression:
        if not isinstance(left, _Operand) or not isinstance(right, _Operand):
            return NotImplemented  # type: ignore[no-any-return]
        return Expression._joined(kind, left, right)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} objects do not change")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} objects do not change")


class Column(_Operand):
    """A column, by its dotted name; made by :func:`col`. Comparing it gives an :class:`Expression`.

    A boolean column is a predicate itself: ``~col("paid") & (col("total") > 100)``.
    """

    __slots__ = ("_name",)
    _name: ColumnName

    @checked_keywords
    def __init__(self, name: ColumnName) -> None:
        if not isinstance(name, str | tuple):
            raise TypeError(f"a column's name is a str or a tuple of str, not {type(name).__name__}")
        steps = steps_of(name)
        other = next((step for step in steps if not isinstance(step, str)), None)
        if not steps or other is not None:
            what = "no steps" if not steps else f"a step of type {type(other).__name__}"
            raise TypeError(f"a column's name is a str or a tuple of str: {name!r} has {what}")
        plain = tuple(map(str.__str__, steps))
        object.__setattr__(self, "_name", plain if len(plain) > 1 else plain[0])

    if not TYPE_CHECKING:  # Type checkers would take any name for one that is there.

        def __getattr__(self, name: str) -> None:
            raise missing_attribute("a column", name, COLUMN, dir(type(self)))

    @property
    def name(self) -> str:
        """The dotted name."""
        return dotted(self._name)

    @property
    def steps(self) -> tuple[str, ...]:
        """The name of the column, and the names of fields within it. A dotted name is one step."""
        return steps_of(self._name)

    @checked_keywords
    def field(self, name: str) -> Column:
        """A field of a struct column: ``col("customer").field("name")`` is ``col(("customer", "name"))``."""
        return Column((*self.steps, *Column(name).steps))

    __getitem__ = field
    # With `__getitem__` alone, `in` and iteration would call it with 0, 1, ….
    __iter__: ClassVar[None] = None
    __contains__: ClassVar[None] = None

    @checked_keywords
    def equals(self, other: object) -> bool:
        """Whether the other object is the same column; ``==`` builds a predicate."""
        return isinstance(other, Column) and other._name == self._name

    def _compare(self, operator: str, value: object) -> Expression:
        if isinstance(value, _Operand):
            raise TypeError("comparing a column with a column or a predicate is not supported")
        return Expression(("compare", operator, self._name, literals.literal(value)))

    def __eq__(self, value: object) -> Expression:  # type: ignore[override]
        return self._compare("=", value)

    def __ne__(self, value: object) -> Expression:  # type: ignore[override]
        return self._compare("!=", value)

    def __lt__(self, value: object) -> Expression:
        return self._compare("<", value)

    def __le__(self, value: object) -> Expression:
        return self._compare("<=", value)

    def __gt__(self, value: object) -> Expression:
        return self._compare(">", value)

    def __ge__(self, value: object) -> Expression:
        return self._compare(">=", value)

    @checked_keywords
    def is_in(self, values: Iterable[object]) -> Expression:
        """Whether the value is one of these.

        With a null among the values, the predicate is unknown rather than false where no other value matches. With no
        values, it is false, even for null.
        """
        if isinstance(values, str | bytes | bytearray | memoryview | _Operand) or not isinstance(values, Iterable):
            raise TypeError(f"is_in takes a list of values, not {type(values).__name__}")
        found = literals.literals(values)
        return Expression(("in", self._name, found) if found else ("constant", False))

    @checked_keywords
    def not_in(self, values: Iterable[object]) -> Expression:
        """Whether the value is none of these: the negation of :meth:`is_in`, which is unknown for null."""
        return ~self.is_in(values)

    @checked_keywords
    def between(self, low: object, high: object) -> Expression:
        """Whether the value is at least ``low`` and at most ``high``."""
        return (self >= low) & (self <= high)

    def is_null(self) -> Expression:
        """Whether the value is null. ``== None`` is unknown for all rows instead."""
        return Expression(("is_null", self._name))

    def is_not_null(self) -> Expression:
        """Whether the value is not null."""
        return ~self.is_null()

    def is_nan(self) -> Expression:
        """Whether the value is NaN; unknown for null."""
        return Expression(("is_nan", self._name))

    @checked_keywords
    def starts_with(self, prefix: str | bytes) -> Expression:
        """Whether the string or binary begins with a prefix."""
        found = literals.literal(prefix)
        if found[0] not in ("string", "binary"):
            raise TypeError(f"starts_with takes a str or bytes, not {type(prefix).__name__}")
        return Expression(("starts_with", self._name, found))

    @checked_keywords
    def ends_with(self, suffix: str) -> Expression:
        """Whether the string ends with a suffix."""
        return self.like(pattern_within(suffix, at_end=True, method="ends_with"))

    @checked_keywords
    def contains(self, text: str) -> Expression:
        """Whether the string contains a text, which is no regular expression."""
        return self.like(pattern_within(text, at_end=False, method="contains"))

    @checked_keywords
    def like(self, pattern: str) -> Expression:
        r"""Whether the string matches a pattern, as in SQL: ``%`` is any text, also none, ``_`` is one character, and
        ``\%``, ``\_`` and ``\\`` are these characters themselves.

        Raises:
            ValueError: A backslash in the pattern is before another character.
        """
        if not isinstance(pattern, str):
            raise TypeError(f"like takes a str, not {type(pattern).__name__}")
        return parsed_expression(_native.Filter(("like", self._name, str.__str__(pattern))))

    def _predicate(self) -> Tree:
        return ("compare", "=", self._name, ("bool", True))

    def __repr__(self) -> str:
        return f"col({self._name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Column, (self._name,)


class Expression(_Operand):
    """A predicate, made by comparing columns. Predicates are joined with ``&`` and ``|``, and negated with ``~``."""

    __slots__ = ("_depth", "_kind", "_made", "_node", "_sides")
    _kind: str
    _depth: int
    _node: Tree | None
    _sides: tuple[_Operand, _Operand] | None
    """The sides of a conjunction or disjunction whose tree is not made yet: a chain of them is one list, which is made
    once, and not for each of its operators."""
    _made: _native.Filter | None

    @checked_keywords
    def __init__(self, tree: Tree) -> None:
        """Takes a tree as described in :func:`tree_of`. Users make predicates by comparing columns.

        Raises:
            ValueError: The tree has too many levels.
        """
        if not isinstance(tree, tuple) or not tree or not isinstance(tree[0], str):
            reason = "orcish.col makes predicates, and orcish.filters.text.parse reads their text"
            raise TypeError(f"tree={text_of(tree):.100}: {reason}")
        self._set(tree[0], check_levels(tree, operands_of) if tree[0] in _JOINTS else 1, tree, None)

    def _set(self, kind: str, levels: int, tree: Tree | None, sides: tuple[_Operand, _Operand] | None) -> None:
        for name, value in (("_kind", kind), ("_depth", levels), ("_node", tree), ("_sides", sides), ("_made", None)):
            object.__setattr__(self, name, value)

    @staticmethod
    def _joined(kind: str, left: _Operand, right: _Operand) -> Expression:
        """A conjunction or disjunction."""
        levels = 1
        for side in (left, right):
            is_of_chain = isinstance(side, Expression) and side._kind == kind
            levels = max(levels, side._levels() + (not is_of_chain))
            if isinstance(side, Expression) and not is_of_chain:
                # Trees are made from the leaves up, without recursion.
                side._predicate()
        check_count(levels)
        joined: Expression = object.__new__(Expression)
        joined._set(kind, levels, None, (left, right))
        return joined

    def _levels(self) -> int:
        return self._depth

    @property
    def native(self) -> _native.Filter:
        """The predicate as an object of the native core, for modules of orcish. The conversion is cached, as there may
        be a million values.
        """
        if self._made is None:
            object.__setattr__(self, "_made", _native.Filter(self._predicate()))
        return cast("_native.Filter", self._made)

    def _tree(self) -> Tree:
        """The predicate as nested tuples; see :func:`tree_of`."""
        if self._node is None:
            parts: list[Tree] = []
            pending: list[_Operand] = [self]
            while pending:
                part = pending.pop()
                sides = part._sides if isinstance(part, Expression) and part._kind == self._kind else None
                if sides is not None:
                    pending.extend(reversed(sides))
                    continue
                tree = part._predicate()
                parts.extend(tree[1] if tree[0] == self._kind else [tree])
            object.__setattr__(self, "_node", (self._kind, parts))
            object.__setattr__(self, "_sides", None)
        return cast("Tree", self._node)

    _predicate = _tree

    @property
    def columns(self) -> list[str]:
        """Dotted names of the columns in the predicate, without duplicates."""
        names = (name_of(leaf) for leaf in leaves_of(self._predicate()))
        return list(dict.fromkeys(dotted(name) for name in names if name is not None))

    @checked_keywords
    def equals(self, other: object) -> bool:
        """Whether the other object is the same predicate, written in the same way; ``==`` raises a TypeError."""
        # The text distinguishes 1, 1.0 and True, and 0.0 and -0.0. NaN equals NaN.
        return isinstance(other, Expression) and repr(_flat(other._predicate())) == repr(_flat(self._predicate()))

    def _no_comparison(self, _other: object) -> NoReturn:
        raise TypeError(
            "a predicate cannot be compared: put comparisons in parentheses, as & and | bind tighter than they do; "
            "equals tells whether two predicates are the same"
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _no_comparison

    def __repr__(self) -> str:
        """The predicate as SQL; :func:`orcish.filters.text.parse` reads it back."""
        return _to_sql(self._predicate())

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (_flat(self._predicate()),)


_JOINTS = ("and", "or", "not")
"""Kinds of predicates that are made of others."""


def operands_of(tree: Tree) -> Sequence[Tree]:
    """The predicates that a predicate is made of."""
    if tree[0] in ("and", "or"):
        return cast("Sequence[Tree]", tree[1])
    return tree[1:] if tree[0] == "not" else ()


def folded(tree: Tree, leaf: Callable[[Tree], T], join: Callable[[Tree, list[T]], T]) -> T:
    """What is made of a predicate, from the leaves up, without recursion.

    Args:
        tree: The predicate.
        leaf: Takes a part that is made of no others.
        join: Takes another part, and what was made of its operands.
    """
    found: list[T] = []
    pending = [(tree, False)]
    while pending:
        node, is_below_done = pending.pop()
        if node[0] not in _JOINTS:
            found.append(leaf(node))
            continue
        operands = operands_of(node)
        if is_below_done:
            begin = len(found) - len(operands)
            found[begin:] = [join(node, found[begin:])]
        else:
            pending.append((node, True))
            pending.extend((operand, False) for operand in reversed(operands))
    return found[0]


def _flat(tree: Tree) -> list[Tree]:
    """The parts of a predicate in postfix notation, which is pickled and compared without recursion."""
    parts: list[Tree] = []

    def join(node: Tree, below: list[None]) -> None:
        parts.append((node[0], len(below)))

    folded(tree, parts.append, join)
    return parts


def _unpickled(parts: list[Tree]) -> Expression:
    """The predicate of :func:`_flat`."""
    found: list[Tree] = []
    for part in parts:
        if part[0] not in _JOINTS:
            found.append(part)
            continue
        begin = len(found) - part[1]
        operands = found[begin:]
        found[begin:] = [(part[0], operands) if part[0] != "not" else (part[0], *operands)]
    return Expression(found[0])


def escaped_pattern(text: str, method: str = "like") -> str:
    """The pattern of ``like`` that matches a text only.

    Raises:
        TypeError: It is no text, which is the argument of a method.
    """
    if not isinstance(text, str):
        raise TypeError(f"{method} takes a str, not {type(text).__name__}")
    return re.sub(r"([\\%_])", r"\\\1", text)


def pattern_within(text: str, *, at_end: bool, method: str = "like") -> str:
    """The pattern of ``like`` that matches what contains a text, or ends with it; raises as :func:`escaped_pattern`."""
    return f"%{escaped_pattern(text, method)}{'' if at_end else '%'}"


def leaves_of(tree: Tree) -> Iterator[Tree]:
    """The parts of a predicate that are no conjunctions, disjunctions and negations, from left to right."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if node[0] in ("and", "or"):
            pending.extend(reversed(node[1]))
        elif node[0] == "not":
            pending.append(node[1])
        else:
            yield node


def name_of(leaf: Tree) -> ColumnName | None:
    """The name of the column of a part that is made of no others; ``None`` for constants."""
    if leaf[0] == "constant":
        return None
    name: ColumnName = leaf[2 if leaf[0] == "compare" else 1]
    return name


def tree_of(predicate: Expression | Column) -> Tree:
    """The predicate as nested tuples, from which the native core builds its own.

    ``("and" | "or", [tree, …])``, ``("not", tree)``, ``("compare", operator, name, literal)`` with one of
    ``= != < <= > >=``, ``("in", name, [literal, …])``, ``("is_null", name)``, ``("is_nan", name)``,
    ``("starts_with", name, literal)``, ``("like", name, pattern)``, ``("constant", True | False | None)``; ``None`` is
    unknown. Names are texts, or tuples of several steps. Literals are described in :mod:`orcish.filters.literals`.
    ``and``, ``or`` and ``in`` have at least one element, which may be null for ``in``.
    """
    return predicate._predicate()


def parsed_expression(predicate: _native.Filter) -> Expression:
    """The expression of a predicate that the native core has parsed."""
    expression = Expression(predicate.tree())
    object.__setattr__(expression, "_made", predicate)
    return expression


def _to_sql(tree: Tree) -> str:
    return folded(tree, _leaf_to_sql, _joint_to_sql)


def _joint_to_sql(node: Tree, parts: list[str]) -> str:
    if node[0] == "not":
        inner = node[1]
        return f"{_quoted_name(inner[1])} is not null" if inner[0] == "is_null" else f"not ({parts[0]})"
    return "(" + f") {node[0]} (".join(parts) + ")"


def _leaf_to_sql(node: Tree) -> str:
    kind = node[0]
    if kind == "compare":
        return f"{_quoted_name(node[2])} {node[1]} {literals.to_sql(node[3])}"
    if kind == "in":
        return f"{_quoted_name(node[1])} in ({', '.join(map(literals.to_sql, node[2]))})"
    if kind == "is_null":
        return f"{_quoted_name(node[1])} is null"
    if kind == "starts_with":
        return f"starts_with({_quoted_name(node[1])}, {literals.to_sql(node[2])})"
    if kind == "like":
        return f"{_quoted_name(node[1])} like {literals.to_sql(('string', node[2]))}"
    if kind == "is_nan":
        return f"is_nan({_quoted_name(node[1])})"
    return {True: "true", False: "false", None: "null"}[node[1]]


def _quoted_name(name: ColumnName) -> str:
    """The name in SQL. A text with dots is in quotes: without them, its steps would be those between the dots."""
    first, *others = steps_of(name)
    is_bare = re.fullmatch(_BARE_NAME, first) and (first[0] == "_" or first[0].isalpha())
    is_bare = is_bare and (bool(others) or first.lower() not in RESERVED)
    quoted = [step if re.fullmatch(r"\w+", step) else literals.quote(step, '"') for step in others]
    return ".".join([first if is_bare else literals.quote(first, '"'), *quoted])
