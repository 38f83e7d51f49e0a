"""The table of options: what classes of options say of each one.

The flags of the command, the pages of documentation and the lines of ``help`` are made from the table. Documentation of
attributes is in the source of a class only, so that the source is read, once.
"""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
import sys
from collections.abc import Iterator
from typing import NamedTuple, is_typeddict

__all__ = ["OPTIONS", "Option", "add_lines", "classes_in", "options_of"]

OPTIONS = "Options:"
"""The line of a docstring behind which options have lines."""


class Option(NamedTuple):
    """An option, as its class states it."""

    name: str
    type: str
    """The type as Python has it, without ``None``: ``int | str``."""
    words: tuple[str, ...]
    """All values of an option that is one of some words."""
    text: str
    """The documentation. Its first sentence says what the option is, and the default after a semicolon."""
    meaning: str
    """The first sentence of the documentation, without its default."""
    default: str
    """What the first sentence of the documentation says of the default; empty where it says nothing."""

    def summary(self, meaning: str | None = None, default: str | None = None) -> str:
        """What the option is, with its default in parentheses: those of the class, unless others are given."""
        default = self.default if default is None else default
        return (meaning or self.meaning) + (f" ({default})" if default else "")


def options_of(kind: type) -> dict[str, Option]:
    """The options of a class, such as :class:`orcish.types.ReadOptions`, by their names."""
    return classes_in(kind.__module__)[kind.__name__]


@functools.cache
def classes_in(module: str) -> dict[str, dict[str, Option]]:
    """The options in a module, by their names and those of their classes, which have the options of their bases. The
    aliases of types that have documentation are those of a class without a name.
    """
    names = vars(sys.modules[module])
    body = ast.parse("".join(linecache.getlines(names["__file__"], names))).body
    found: dict[str, dict[str, Option]] = {}
    aliases = found[""] = _options(body, {})
    for each in body:
        if isinstance(each, ast.ClassDef):
            inherited = [found.get(ast.unparse(base), {}) for base in each.bases]
            own = _options(each.body, {name: alias for name, alias in aliases.items() if alias.words})
            found[each.name] = {name: option for options in (*inherited, own) for name, option in options.items()}
    return found


def add_lines(module: str) -> None:
    """Adds a line for each option to the docstrings of the classes of options of a module."""
    for kind in list(vars(sys.modules[module]).values()):
        if is_typeddict(kind) and kind.__module__ == module:
            kind.__doc__ = _Lines(kind.__doc__ or "")


class _Lines:
    """A docstring with a line for each option, which are read where somebody reads the docstring."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __get__(self, instance: object, kind: type) -> str:
        # Programs that are packed may have no sources, and so no lines.
        options = classes_in(kind.__module__).get(kind.__name__, {})
        lines = [f"    {option.name}: {option.summary()}" for option in options.values()]
        return "\n".join([self._text, "", OPTIONS, *lines, ""])


def _options(body: list[ast.stmt], words: dict[str, Option]) -> dict[str, Option]:
    """The names in a body that have documentation; ``words`` are the aliases of types that are words."""
    found = {}
    for stated, text in itertools.pairwise(body):
        if isinstance(stated, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            name = ast.unparse(stated.target)
            kind = stated.annotation if stated.value is None else stated.value
            parts = [part for part in _alternatives(kind) if part != "None"]
            values = [word for part in parts for word in (words[part].words if part in words else _words(part))]
            said = str(text.value.value)
            meaning, _, default = " ".join(said.split()).partition(". ")[0].removesuffix(".").partition("; ")
            default = default.removesuffix("by default").rstrip(" ,")
            found[name] = Option(name, " | ".join(parts), tuple(values), said, meaning, default)
    return found


def _alternatives(kind: ast.expr) -> Iterator[str]:
    """The types of a union."""
    if isinstance(kind, ast.BinOp):
        yield from _alternatives(kind.left)
        kind = kind.right
    yield ast.unparse(kind)


def _words(kind: str) -> tuple[str, ...]:
    """The words of a type ``Literal``; none of other types."""
    return tuple(ast.literal_eval(kind.removeprefix("Literal"))) if kind.startswith("Literal[") else ()
