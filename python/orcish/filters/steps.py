"""Dotted names whose steps are known. The native core has names as text, in which a column ``a.b`` hides the field
``b`` of a column ``a``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from orcish import _native

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["StepName", "check_steps", "step_name", "steps_of_names", "without_sign"]

_STEP = r'`(?:[^`]|``)*`|"(?:[^"\\]|\\.|"")*"|\w+'
_TOKEN = re.compile(
    rf"""'(?:[^'\\]|\\.|'')*' | --[^\n]* | (?P<comment>/\*) | [+-]?\s*\.?\d[\w.]*
    | (?P<name>(?:{_STEP})(?:\.(?:{_STEP}))*) | .""",
    re.DOTALL | re.VERBOSE,
)
_COMMENT = re.compile(r"/\*|\*/")


class StepName(str):
    """A dotted name, and the names of the columns and fields that it leads through."""

    steps: tuple[str, ...]

    def __new__(cls, steps: Iterable[str]) -> StepName:
        """Joins the steps."""
        given = tuple(map(str.__str__, steps))
        self = super().__new__(cls, ".".join(given))
        self.steps = given
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.steps,)


def step_name(steps: Iterable[str]) -> str:
    """The dotted name of some steps. Without a dot it needs no steps."""
    name = StepName(steps)
    return name if "." in name else str.__str__(name)


def without_sign(name: str, sign: str) -> str:
    """A name without a sign in front of it."""
    if not isinstance(name, StepName):
        return name.removeprefix(sign)
    first, *others = name.steps
    return step_name([first.removeprefix(sign), *others])


def steps_of_names(text: str) -> dict[str, StepName]:
    """The dotted names in the text of a predicate, by what the native core calls them. Of a name that is written in
    several ways, the one with the most steps is given.
    """
    found: dict[str, StepName] = {}
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        assert token is not None
        at = token.end()
        if token["comment"]:
            at = _end_of_comment(text, at)
        elif token["name"]:
            name = StepName(map(_plain, re.findall(_STEP, token["name"], re.DOTALL)))
            if "." in name and (name not in found or len(found[name].steps) < len(name.steps)):
                found[str.__str__(name)] = name
    return found


def _end_of_comment(text: str, at: int) -> int:
    """Where a comment ends, which may have others in it."""
    levels = 1
    while levels:
        mark = _COMMENT.search(text, at)
        if mark is None:
            return len(text)
        levels += 1 if mark[0] == "/*" else -1
        at = mark.end()
    return at


def _plain(step: str) -> str:
    """A step without its quotes."""
    if step[0] not in '`"':
        return step
    tree: Any = _native.Filter.parse(f"{step} is null").tree()
    return str(tree[1])


def check_steps(names: Iterable[Any], schema: pa.Schema) -> None:
    """Refuses names that lead to a field which a column or field of the same dotted name hides.

    Args:
        names: The names; those whose steps are not known are those of the native core.
        schema: All columns.

    Raises:
        ValueError: The native core would take another column.
    """
    for name in names:
        if not isinstance(name, StepName):
            continue
        found = list(_splits(str.__str__(name), list(schema)))
        if found and found[0] != name.steps and name.steps in found:
            taken, meant = _quoted(found[0]), _quoted(name.steps)
            raise ValueError(
                f"column {name}: there are {taken} and {meant}, and the first hides the second: write {taken} for the "
                f"first, with its backticks; read {_quoted(name.steps[:-1])} for the second, or rename one of them"
            )


def _quoted(steps: tuple[str, ...]) -> str:
    return ".".join(f"`{step.replace('`', '``')}`" for step in steps)


def _splits(name: str, fields: list[pa.Field]) -> Iterator[tuple[str, ...]]:
    """The steps by which a dotted name leads to a column or field, those that the native core takes first."""
    near = [(own, kind) for own, kind in _named(fields) if name == own or name.startswith(f"{own}.")]
    for own, kind in sorted(near, key=lambda each: -len(each[0])):
        if name == own:
            yield (own,)
        else:
            yield from ((own, *rest) for rest in _splits_within(name[len(own) + 1 :], kind))


def _splits_within(name: str, kind: pa.DataType) -> Iterator[tuple[str, ...]]:
    """The steps below a column of a type. The elements of lists and the values of maps need none."""
    import pyarrow as pa

    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if types.is_struct(kind):
        yield from _splits(name, [kind.field(index) for index in range(kind.num_fields)])
    elif types.is_map(kind):
        yield from _splits(name, [pa.field("key", kind.key_type), pa.field("value", kind.item_type)])
        yield from _splits_within(name, kind.item_type)
    elif hasattr(kind, "value_type") and not types.is_dictionary(kind):
        yield from _splits(name, [pa.field("element", kind.value_type), pa.field("item", kind.value_type)])
        yield from _splits_within(name, kind.value_type)


def _named(fields: list[pa.Field]) -> Iterator[tuple[str, pa.DataType]]:
    """The first field of each name."""
    known: set[str] = set()
    for field in fields:
        if field.name not in known:
            known.add(field.name)
            yield field.name, field.type
