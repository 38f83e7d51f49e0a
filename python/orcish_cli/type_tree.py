"""Trees of ORC types, and their text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from orcish import ORCFile

__all__ = [
    "CATALYST_TYPE",
    "ColumnType",
    "column_tree",
    "flat_lines",
    "own_names",
    "pretty_lines",
    "quoted",
    "type_text",
]

CATALYST_TYPE = "spark.sql.catalyst.type"
"""The attribute in which Spark records its own type of a column."""
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_]+")
_INDENT = "  "


class ColumnType(NamedTuple):
    """A column with its type, and the columns in it."""

    name: str
    kind: str
    """The type without the types in it: ``struct``, ``int``, ``decimal(10,2)``."""
    attributes: dict[str, str]
    children: list[ColumnType]


def own_names(file: ORCFile) -> list[str]:
    """Names of the columns without those that they are in, by column id. Names may have dots."""
    paths, parents = file.column_paths, file.column_parents
    pairs = zip(paths, parents, strict=True)
    return [path.removeprefix(f"{paths[parent]}." if parent else "") for path, parent in pairs]


def column_tree(file: ORCFile) -> ColumnType:
    """The tree of the columns of a file."""
    found: list[ColumnType] = []
    columns = zip(own_names(file), file.column_parents, file.column_types, strict=True)
    for id, (name, parent, text) in enumerate(columns):
        column = ColumnType(name, text.partition("<")[0], file.attributes(id), [])
        found.append(column)
        if parent is not None:
            found[parent].children.append(column)
    return found[0]


def quoted(name: str) -> str:
    """A name as the text of a type has it: with backquotes unless it is a plain word."""
    return name if _PLAIN_NAME.fullmatch(name) else f"`{name.replace('`', '``')}`"


def type_text(column: ColumnType) -> str:
    """The type on one line: ``struct<id:bigint,name:string>``."""
    if not column.children and column.kind not in ("struct", "uniontype"):
        return column.kind
    return f"{column.kind}<{','.join(_label(column, child) + type_text(child) for child in column.children)}>"


def pretty_lines(column: ColumnType, indent: str = "") -> list[str]:
    """The type with a line for each column."""
    if not column.children:
        return [type_text(column)]
    lines = [f"{column.kind}<"]
    for at, child in enumerate(column.children, 1):
        first, *rest = pretty_lines(child, indent + _INDENT)
        comma = "," if at < len(column.children) else ">"
        lines += [f"{indent}{_INDENT}{_label(column, child)}{first}", *rest]
        lines[-1] += comma
    return lines


def flat_lines(column: ColumnType, path: str = "root") -> Iterator[str]:
    """A line for each column without columns in it: ``root.customer.name: string``."""
    if not column.children:
        yield f"{path}: {type_text(column)}"
    for child in column.children:
        yield from flat_lines(child, f"{path}.{child.name}")


def _label(parent: ColumnType, child: ColumnType) -> str:
    return f"{quoted(child.name)}:" if parent.kind == "struct" else ""
