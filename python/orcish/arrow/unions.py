"""Types that hold the values of several types."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from orcish import _native
from orcish.arrow.exported import ExportedSchema, schema_for_native
from orcish.errors import UnsupportedError

__all__ = ["common_type", "union_of_schemas"]


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
