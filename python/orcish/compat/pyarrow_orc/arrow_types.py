"""Arrow types of ``pyarrow.orc`` in place of those of orcish."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from orcish.arrow.exported import ExportedArray
from orcish.arrow.nested import is_months, map_fields

__all__ = ["as_written", "read_schema", "with_schema"]

TYPE_KEY = b"orc.type"
"""Key of field metadata with an ORC type that Arrow does not have. orcish adds it, and pyarrow does not."""
WRITTEN: list[Callable[[Any], bool]] = [
    pa.types.is_boolean,
    pa.types.is_signed_integer,
    pa.types.is_float32,
    pa.types.is_float64,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_fixed_size_binary,
    pa.types.is_date,
    pa.types.is_timestamp,
    pa.types.is_decimal128,
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_map,
    pa.types.is_struct,
    pa.types.is_union,
]
"""The types that pyarrow writes."""


def read_schema(schema: pa.Schema, metadata: Mapping[str, bytes]) -> pa.Schema:
    """The schema that pyarrow gives a file.

    Args:
        schema: The schema of orcish. An array of its types is an array of the new types.
        metadata: The user metadata of the file.
    """
    return pa.schema([_read_field(field) for field in schema], dict(metadata))


def _read_field(field: pa.Field) -> pa.Field:
    metadata = {key: value for key, value in (field.metadata or {}).items() if key != TYPE_KEY}
    return field.with_type(_read_type(field.type)).with_metadata(metadata or None)


def _read_type(kind: Any) -> Any:
    if pa.types.is_union(kind):
        variants = [_read_field(kind.field(at)).with_name(f"_union_{at}") for at in range(kind.num_fields)]
        return pa.union(variants, kind.mode, kind.type_codes)
    # Intervals of Spark, which are stored as integers.
    if pa.types.is_duration(kind):
        return pa.int64()
    if is_months(kind):
        return pa.int32()
    return map_fields(kind, lambda child, _: _read_field(child))


def with_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with a schema whose types have the same arrays. No values are copied."""
    is_same = all(old.equals(new, check_metadata=True) for old, new in zip(table.schema, schema, strict=True))
    if is_same and table.num_columns:
        return table.replace_schema_metadata(schema.metadata)
    # A table without columns would lose its rows.
    return pa.Table.from_batches([_with_schema(batch, schema) for batch in table.to_batches()], schema)


def _with_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    _, array = batch.__arrow_c_array__()
    return pa.record_batch(ExportedArray((schema.__arrow_c_schema__(), array)))


def as_written(table: pa.Table) -> pa.Table:
    """The table in the types that are stored for it: dates in milliseconds are timestamps. Metadata of the schema are
    not stored.

    Raises:
        pyarrow.ArrowNotImplementedError: pyarrow does not write a type.
    """
    schema = pa.schema([_written_field(field, field.name) for field in table.schema])
    return with_schema(table, schema) if schema.equals(table.schema) else table.cast(schema)


def _written_field(field: pa.Field, path: str) -> pa.Field:
    kind: Any = field.type
    if not any(is_type(kind) for is_type in WRITTEN):
        raise pa.ArrowNotImplementedError(f"column {path}: pyarrow.orc does not write {kind}; orcish.write_table does")
    if pa.types.is_date64(kind):
        return field.with_type(pa.timestamp("ms"))
    return field.with_type(map_fields(kind, lambda child, step: _written_field(child, f"{path}.{step}")))
