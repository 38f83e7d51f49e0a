"""The columns that a query of a dataset needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from orcish.filters.levels import TooManyLevelsError
from orcish.filters.names import ColumnName, dotted
from orcish.filters.pyarrow import DecodedExpression
from orcish.filters.translation import pushed_field
from orcish.hints import unknown_column

__all__ = ["Path", "Projection", "check_projection", "check_single", "names_to_read", "paths_of", "projected_paths"]

Projection: TypeAlias = "Sequence[str] | Mapping[str, pc.Expression]"
"""Columns of a query: names, or expressions by their names."""
Path: TypeAlias = "tuple[str, ...]"
"""The name of a column, and names of fields within it."""


def check_projection(columns: Any) -> list[str] | dict[str, pc.Expression]:
    """The columns as a list or a dict.

    Raises:
        TypeError: They are neither names nor expressions by their names.
    """
    if isinstance(columns, Mapping):
        for name, value in columns.items():
            if not isinstance(value, pc.Expression):
                raise TypeError(
                    f"columns[{name!r}]: must be an expression such as pyarrow.compute.field({name!r}), not "
                    f"{type(value).__name__}"
                )
        return dict(columns)
    if not isinstance(columns, list | tuple) or not all(isinstance(name, str) for name in columns):
        raise TypeError(f"columns={columns!r}: must be a list of names, or a dict of expressions of pyarrow")
    return list(columns)


def projected_paths(columns: list[str] | dict[str, pc.Expression], schema: pa.Schema) -> list[Path]:
    """The columns of a schema that a projection needs.

    Raises:
        UnknownColumnError: The schema does not have a column.
        ValueError: The schema has several columns of a name, as for pyarrow.
    """
    found: list[Path] = []
    if isinstance(columns, dict):
        whole: list[Path] = [(each,) for each in schema.names]
        known = True
        for name, expression in columns.items():
            paths = paths_of(expression, schema)
            known &= paths is not None
            found += paths or ()
            check_single(f"columns[{name!r}]", paths, schema)
        if not known:
            # Positions in an expression are those of all columns, in the order of the schema.
            return whole
        counts = Counter(schema.names)
        # pyarrow needs a column to count rows by.
        return found or [path for path in whole if counts[path[0]] == 1][:1] or whole
    for name in columns:
        # As in pyarrow, a column is also given by a path such as `n.a` or `.n.a`.
        path = (name,) if name in schema.names else tuple(name.removeprefix(".").split("."))
        _check_known(path[0], schema)
        found.append(path)
    check_single("columns", found, schema)
    return found


def paths_of(expression: pc.Expression, schema: pa.Schema) -> list[Path] | None:
    """The columns of a schema that an expression needs; ``None`` where they are not known.

    Raises:
        UnknownColumnError: The schema does not have a column.
    """
    try:
        paths = DecodedExpression(expression).paths()
    except TooManyLevelsError:
        raise
    except Exception:
        # The serialization of pyarrow is internal to it. It has no columns that are given by their positions.
        return None
    for path in paths:
        _check_known(path[0], schema)
    return paths


def names_to_read(paths: Iterable[Path], schema: pa.Schema, parts: Mapping[str, list[ColumnName]]) -> list[ColumnName]:
    """Names by which a scan reads the columns of some paths.

    Args:
        paths: The paths.
        schema: The schema of the scan.
        parts: The names that the scan selects of a column, if they are not all.
    """
    found: dict[ColumnName, Path] = {}
    for path in paths:
        if path[0] in parts:
            found |= {name: (path[0], dotted(name)) for name in parts[path[0]]}
        else:
            # A path that cannot be pushed down reads the whole column.
            read = path[:1] if pushed_field(schema, path) is None else path
            found[read if len(read) > 1 else read[0]] = read
    read_whole = {path[0] for path in found.values() if len(path) == 1}
    within = {path for path in found.values() if len(path) > 1}
    return [
        name
        for name, path in found.items()
        if len(path) == 1
        or not (path[0] in read_whole or any(path[:length] in within for length in range(2, len(path))))
    ]


def check_single(given: str, paths: list[Path] | None, schema: pa.Schema) -> None:
    """Checks the columns of an expression.

    Args:
        given: The expression in messages.
        paths: Its columns; ``None`` where they are given by their positions, among columns of different names.
        schema: The schema of the dataset.

    Raises:
        ValueError: The schema has several columns of a name.
    """
    names = schema.names if paths is None else [path[0] for path in paths]
    counts = Counter(schema.names)
    several = next((name for name in names if counts[name] > 1), None)
    if several is not None:
        raise ValueError(
            f"{given}: the dataset has several columns {several}: ORCFile.read reads each of them by its id"
        )


def _check_known(name: str, schema: pa.Schema) -> None:
    if name not in schema.names:
        raise unknown_column(name, schema.names)
