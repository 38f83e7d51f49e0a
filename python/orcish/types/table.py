"""The table of options: what classes of options say of each one.

The flags of the command and the pages of documentation are made from the table. Documentation of attributes is in the
source of a class only, so that the source is read, once.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterator
from importlib import resources
from typing import NamedTuple

__all__ = ["Option", "classes_in", "options_of"]


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


def options_of(kind: type) -> dict[str, Option]:
    """The options of a class, such as :class:`orcish.types.ReadOptions`, by their names."""
    return classes_in(kind.__module__)[kind.__name__]


@functools.cache
def classes_in(module: str) -> dict[str, dict[str, Option]]:
    """The options in a module, by their names and those of their classes, which have the options of their bases. The
    aliases of types that have documentation are those of a class without a name.
    """
    package, _, name = module.rpartition(".")
    source = resources.files(package).joinpath(f"{name}.py").read_text(encoding="utf-8")
    body = ast.parse(source).body
    found: dict[str, dict[str, Option]] = {}
    aliases = found[""] = _options(body, {})
    for each in body:
        if isinstance(each, ast.ClassDef):
            inherited = [found.get(ast.unparse(base), {}) for base in each.bases]
            own = _options(each.body, {name: alias for name, alias in aliases.items() if alias.words})
            found[each.name] = {name: option for options in (*inherited, own) for name, option in options.items()}
    return found


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
