"""Selection of rows of columns of any type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.nested import map_fields

__all__ = ["plain_columns", "select_rows"]


def select_rows(data: Any, select: Callable[[Any], Any]) -> Any:
    """Applies a selection of rows to a table or batch. It is given types that pyarrow compares and selects rows of:
    views are large strings and binaries, and run-end encoded arrays are decoded.
    """
    if any(pa.types.is_run_end_encoded(field.type) for field in data.schema):
        return _with_runs(select_rows(_without_runs(data), select), data.schema)
    plain = pa.schema([field.with_type(_without_views(field.type)) for field in data.schema])
    if plain == data.schema:
        return select(data)
    return select(data.cast(plain)).cast(data.schema)


def plain_columns(data: Any) -> Any:
    """A table or batch with types that pyarrow compares: views are large strings and binaries, and run-end encoded
    arrays are decoded.
    """
    decoded = _without_runs(data)
    plain = pa.schema([field.with_type(_without_views(field.type)) for field in decoded.schema])
    return decoded if plain == decoded.schema else decoded.cast(plain)


def _without_runs(data: Any) -> Any:
    """Decodes run-end encoded columns."""
    columns = [pc.run_end_decode(each) if pa.types.is_run_end_encoded(each.type) else each for each in data.columns]
    fields = zip(data.schema, columns, strict=True)
    schema = pa.schema([field.with_type(column.type) for field, column in fields], data.schema.metadata)
    return type(data).from_arrays(columns, schema=schema)


def _with_runs(data: Any, schema: pa.Schema) -> Any:
    """Encodes the columns that were run-end encoded before."""

    def encoded(column: Any, kind: pa.DataType) -> Any:
        if not pa.types.is_run_end_encoded(kind):
            return column
        return pc.run_end_encode(column, run_end_type=kind.run_end_type)

    columns = [encoded(column, field.type) for column, field in zip(data.columns, schema, strict=True)]
    return type(data).from_arrays(columns, schema=schema)


def _without_views(kind: pa.DataType) -> pa.DataType:
    """The type with large strings and binaries in place of views."""
    types = pa.types
    if types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary_view(kind):
        return pa.large_binary()
    # Casts of other nested types are not supported; views inside of them are kept.
    is_cast = types.is_struct(kind) or types.is_list(kind) or types.is_large_list(kind) or types.is_map(kind)
    return map_fields(kind, lambda field, _: field.with_type(_without_views(field.type))) if is_cast else kind
