"""Casts that keep all values, by the rules of the native core: texts of dates and times, and selection of rows of any
type, are made of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from orcish import _native
from orcish.arrow.exported import ExportedArray
from orcish.arrow.nested import map_fields

__all__ = ["cast_array", "cast_columns", "iso_texts", "parse_values", "plain_columns", "select_rows"]


def cast_array(array: Any, kind: Any, *, adds_fields: bool = False) -> pa.Array:
    """The array with another type, nested types included.

    Booleans come from 0, 1, and the texts ``true`` and ``false``. Texts of numbers may have zeros at their ends. Texts
    of instants have the offset of their zone; those whose offset has seconds are of UTC, and end in ``Z``. Structs
    keep their fields, in any order. Structs as which unions are read become unions.

    Args:
        array: The array.
        kind: The type.
        adds_fields: Whether structs may get fields, which are null.

    Raises:
        CastError: A value is not one of the type, or a field of a struct would be lost or be new.
        UnsupportedError: There is no such cast.
    """
    own = array.type
    if own == kind:
        return array
    if isinstance(own, pa.BaseExtensionType):
        return cast_array(array.storage, kind, adds_fields=adds_fields)
    if isinstance(kind, pa.BaseExtensionType):
        return kind.wrap_array(cast_array(array, kind.storage_type, adds_fields=adds_fields))
    field = pa.schema([pa.field("", kind)]).__arrow_c_schema__()
    made = _native.cast(array.__arrow_c_array__(), field, adds_fields)
    found = pa.array(ExportedArray((kind.__arrow_c_schema__(), made)))
    # Extension types that are not registered are imported as their storage.
    return found if found.type == kind else found.cast(kind)


def iso_texts(array: Any, kind: Any) -> pa.Array:
    """ISO 8601 texts of dates, times and timestamps of all years, of a type of text, without zeros at the end of
    fractions. Instants are of UTC, and end in ``Z``.
    """
    return pa.array(ExportedArray(_native.iso_texts(array.__arrow_c_array__()))).cast(kind)


def parse_values(texts: pa.Array, to: pa.DataType) -> pa.Array:
    """Parses texts in names of folders as values of a partition column. Each spelling of a value is known.

    Raises:
        ValueError: A text is no value of the type.
        UnsupportedError: Partition columns cannot be of the type.
    """
    schema = pa.schema([("value", to)]).__arrow_c_schema__()
    return pa.array(ExportedArray(_native.parse_partition_values(texts.__arrow_c_array__(), schema, "hive")))


def cast_columns(data: Any, schema: pa.Schema) -> Any:
    """A table or batch with the types of a schema of the same columns.

    Raises:
        CastError: See :func:`cast_array`.
        UnsupportedError: Likewise.
    """

    def cast(column: Any, kind: Any) -> Any:
        if isinstance(column, pa.ChunkedArray):
            return pa.chunked_array([cast_array(chunk, kind) for chunk in column.chunks], kind)
        return cast_array(column, kind)

    columns = [cast(column, kind) for column, kind in zip(data.columns, schema.types, strict=True)]
    return type(data).from_arrays(columns, schema=schema)


def select_rows(data: Any, select: Callable[[Any], Any]) -> Any:
    """Applies a selection of rows to a table or batch. It is given types that pyarrow compares and selects rows of:
    views are large strings and binaries, and run-end encoded arrays are decoded.
    """
    plain = plain_columns(data)
    return select(data) if plain is data else cast_columns(select(plain), data.schema)


def plain_columns(data: Any) -> Any:
    """A table or batch with types that pyarrow compares: views are large strings and binaries, and run-end encoded
    arrays are decoded.
    """
    plain = pa.schema([field.with_type(_plain(field.type)) for field in data.schema], data.schema.metadata)
    return data if plain == data.schema else cast_columns(data, plain)


def _plain(kind: Any) -> Any:
    types = pa.types
    if types.is_run_end_encoded(kind):
        return _plain(kind.value_type)
    if types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary_view(kind):
        return pa.large_binary()
    # There is no cast between unions.
    return kind if types.is_union(kind) else map_fields(kind, lambda field, _: field.with_type(_plain(field.type)))
