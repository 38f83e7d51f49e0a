"""Schemas and arrays of the native core, for import into pyarrow, schemas for the native core, and the types that it
finds for the values of several types.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from orcish import _native
from orcish.errors import UnsupportedError

__all__ = [
    "ExportedArray",
    "ExportedSchema",
    "check_names",
    "check_no_nul",
    "common_type",
    "schema_for_native",
    "union_of_schemas",
]


@dataclasses.dataclass(frozen=True)
class ExportedSchema:
    """A schema as a PyCapsule, which :func:`pyarrow.schema` takes."""

    capsule: object

    def __arrow_c_schema__(self) -> object:
        return self.capsule


@dataclasses.dataclass(frozen=True)
class ExportedArray:
    """The PyCapsules of a type and of an array, which :func:`pyarrow.array` and :func:`pyarrow.record_batch` take."""

    capsules: tuple[object, object]

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return self.capsules


def schema_for_native(schema: Any) -> object:
    """A schema as the PyCapsule of its Arrow C schema.

    Args:
        schema: A schema of pyarrow, or another object with ``__arrow_c_schema__``.

    Raises:
        ValueError: See :func:`check_names`.
    """
    if isinstance(schema, pa.Schema):
        check_names(schema)
    return schema.__arrow_c_schema__()


def check_names(fields: Any, path: str = "", *, has_nul: bool = False) -> None:
    """Checks the names of columns, nested ones included.

    Args:
        fields: The fields, such as a schema of pyarrow.
        path: The dotted name of the column that has them, with a point at its end.
        has_nul: Whether names may have a NUL. Names of Arrow C schemas end at it.

    Raises:
        ValueError: A name has a NUL, or is not UTF-8, or the scale of a decimal is none of Arrow's C interface.
    """
    # Types may have more levels than Python calls functions.
    todo = [(path, iter(fields))]
    while todo:
        path, rest = todo[-1]
        field = next(rest, None)
        if field is None:
            todo.pop()
            continue
        try:
            name = field.name
        except UnicodeDecodeError as error:
            of = f" of {path[:-1]!r}" if path else ""
            raise ValueError(f"the name of a column{of} is not UTF-8: {error}") from None
        if not has_nul:
            check_no_nul(name, path)
        kind = field.type
        if not -128 <= getattr(kind, "scale", 0) <= 127:
            raise ValueError(f"column {path + name!r}: {kind}: a scale of decimals is from -128 to 127")
        while hasattr(kind, "value_type") and not kind.num_fields:
            # The values of dictionaries.
            kind = kind.value_type
        if kind.num_fields:
            todo.append((f"{path}{name}.", iter([kind.field(at) for at in range(kind.num_fields)])))


def check_no_nul(name: Any, path: str = "") -> None:
    """Checks the name of a column.

    Raises:
        ValueError: It has a NUL.
    """
    if isinstance(name, str) and "\0" in name:
        raise ValueError(
            f"column {path + name!r}: the name has a NUL, at which names end in Arrow's C interface: rename the column"
        )


def union_of_schemas(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """The columns of all schemas, with the narrowest types that hold the values of all.

    Raises:
        UnsupportedError: Types of a column have no common type.
        ValueError: Names of columns are ambiguous.
    """

    def union(first: pa.Schema, other: pa.Schema) -> pa.Schema:
        return pa.schema(ExportedSchema(_native.unify_schemas(schema_for_native(first), schema_for_native(other))))

    return functools.reduce(union, schemas)


def common_type(first: Any, other: Any) -> Any:
    """The narrowest type that holds the values of two types; ``None`` if there is none."""
    try:
        return union_of_schemas([pa.schema([pa.field("", kind)]) for kind in (first, other)]).field(0).type
    except UnsupportedError:
        return None
