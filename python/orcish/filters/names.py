"""Names of columns: a text, whose dots can be those of a name or lead into a column, or a tuple of steps."""

from __future__ import annotations

from typing import TypeAlias

__all__ = ["ColumnName", "dotted", "in_backticks", "steps_of"]

ColumnName: TypeAlias = "str | tuple[str, ...]"
"""A dotted name, or the steps of one."""


def dotted(name: ColumnName) -> str:
    """The steps, joined by dots."""
    return name if isinstance(name, str) else ".".join(name)


def steps_of(name: ColumnName) -> tuple[str, ...]:
    """The steps. A text is one step."""
    return (name,) if isinstance(name, str) else name


def in_backticks(name: ColumnName) -> str:
    """The name in SQL, with each step in backticks."""
    return ".".join(f"`{step.replace('`', '``')}`" for step in steps_of(name))
