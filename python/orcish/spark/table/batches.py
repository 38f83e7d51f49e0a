"""Conversion of batches to and from the exact types of Spark."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from orcish.spark.table.partitions import parse_partition_values

__all__ = ["BatchConverter", "StorageConverter", "within_bytes"]

MAX_BYTES = 64 << 20
"""Maximum bytes of a batch, unless one row has more."""


def within_bytes(batch: pa.RecordBatch, most: int = MAX_BYTES) -> Iterator[pa.RecordBatch]:
    """The rows of a batch in batches of at most so many bytes, unless one row has more."""
    if batch.nbytes <= most or batch.num_rows <= 1:
        yield batch
        return
    rows = max(1, batch.num_rows // -(-batch.nbytes // most))
    for start in range(0, batch.num_rows, rows):
        # Rows may differ in size.
        yield from within_bytes(batch.slice(start, rows), most)


@dataclasses.dataclass(frozen=True)
class BatchConverter:
    """Converts batches of a scan to batches of Spark."""

    names: tuple[str, ...]
    """Names of the columns in batches of the scan."""
    schema: pa.Schema
    session_zone: str
    """Time zone of timestamps in folder names."""

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch with the columns and types of the schema.

        Raises:
            pa.ArrowInvalid: A value does not fit its type, such as a partition value that is no number, or a null in a
                column that is not nullable.
        """
        if batch.schema.equals(self.schema):
            return batch
        columns = [
            _cast_nested(batch.column(name), field.type, self._value)
            for name, field in zip(self.names, self.schema, strict=True)
        ]
        for column, field in zip(columns, self.schema, strict=True):
            if _has_values_only(field):
                _check_nulls(column, field, field.name)
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _value(self, column: pa.Array, to: pa.DataType) -> pa.Array:
        if pa.types.is_string(column.type) and not pa.types.is_string(to):
            # Partition values are strings.
            column = parse_partition_values(column, to, self.session_zone)
        return column.cast(to)


@dataclasses.dataclass(frozen=True)
class StorageConverter:
    """Converts batches of Spark to batches that are written."""

    schema: pa.Schema

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch with the types of the schema."""
        columns = [
            _cast_nested(column, field.type, lambda value, to: value.cast(to))
            for column, field in zip(batch.columns, self.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


def _has_values_only(field: pa.Field) -> bool:
    """Whether a field, or a nested one, is not nullable."""
    kind = field.type
    inner = [kind.item_field] if pa.types.is_map(kind) else [kind.field(at) for at in range(kind.num_fields)]
    return not field.nullable or any(map(_has_values_only, inner))


def _check_nulls(column: Any, field: pa.Field, path: str) -> None:
    """Raises pa.ArrowInvalid for nulls in fields that are not nullable, which Spark would take for values."""
    kind = field.type
    if not field.nullable and column.null_count:
        raise pa.ArrowInvalid(f"column {path}: a value is null, and NOT NULL in the schema that was given")
    if pa.types.is_struct(kind):
        # Fields of null structs are not checked.
        there = column.drop_null() if column.null_count else column
        for at, child in enumerate(kind):
            _check_nulls(there.field(at), child, f"{path}.{child.name}")
    elif pa.types.is_map(kind):
        there = _whole(column.drop_null())
        _check_nulls(there.items, kind.item_field, f"{path}.value")
    elif pa.types.is_list(kind):
        _check_nulls(column.flatten(), kind.value_field, f"{path}.element")


def _cast_nested(column: Any, to: Any, value: Callable[[pa.Array, pa.DataType], pa.Array]) -> pa.Array:
    """Casts an array to a type; ``value`` casts the arrays that are not nested."""
    kind = column.type
    if kind.equals(to):
        return column
    if pa.types.is_struct(kind) and pa.types.is_struct(to):
        # `field` respects the offset of slices.
        children = [_cast_nested(column.field(at), field.type, value) for at, field in enumerate(to)]
        return pa.StructArray.from_arrays(children, fields=list(to), mask=_nulls(column))
    if pa.types.is_map(kind) and pa.types.is_map(to):
        column = _whole(column)
        keys, items = _cast_nested(column.keys, to.key_type, value), _cast_nested(column.items, to.item_type, value)
        return pa.MapArray.from_arrays(column.offsets, keys, items, type=to, mask=_nulls(column))
    if pa.types.is_list(kind) and pa.types.is_list(to):
        column = _whole(column)
        values = _cast_nested(column.values, to.value_type, value)
        return pa.ListArray.from_arrays(column.offsets, values, type=to, mask=_nulls(column))
    return value(column, to)


def _nulls(column: Any) -> Any:
    return column.is_null() if column.null_count else None


def _whole(column: Any) -> Any:
    """A list or map array without offset."""
    return pa.concat_arrays([column, column.slice(0, 0)]) if column.offset else column
