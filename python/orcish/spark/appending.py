"""Rows of Spark that are appended to a table: which types do not fit, and the casts that make them fit."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812

from orcish import _native
from orcish.arrow.exported import ExportedSchema, schema_for_native
from orcish.arrow.nested import fields_by_path, map_fields, value_type
from orcish.errors import OrcishError
from orcish.spark.schemas import arrow_schema, spark_schema, stored_schema
from orcish.spark.table import AS_STORED
from orcish.writing.timestamps import CATALYST_TYPE

__all__ = ["appended_schema"]


def appended_schema(
    existing: _native.TableColumns,
    rows: T.StructType,
    partition: Sequence[str],
    timestamps: Collection[tuple[str, str]],
    replace: str,
) -> pa.Schema:
    """The schema with which rows of Spark are appended to a table.

    Args:
        existing: The columns of the table.
        rows: The schema of the rows.
        partition: The partition columns of the rows.
        timestamps: Dotted names of columns of instants and their ORC types.
        replace: The option that replaces the whole table, for messages.

    Raises:
        ValueError: A type of the table does not hold the values, or wall clocks would be instants, or instants wall
            clocks. The message has the cast that makes the rows fit, if there is one.
    """
    types = _types_of(existing, rows.names)
    try:
        _check_clocks(existing, rows, partition, types)
        own = schema_for_native(stored_schema(rows))
        return pa.schema(ExportedSchema(existing.appended_schema(own, partition, timestamps)))
    except ValueError as error:
        advice = _advice(existing, rows, partition, types)
        raise ValueError(f"{error}{advice and f'{advice}, or replace the table with {replace}'}") from None


def _check_clocks(
    existing: _native.TableColumns, rows: T.StructType, partition: Sequence[str], types: dict[str, T.DataType]
) -> None:
    """Raises ValueError for wall clocks that would be instants, and for instants that would be wall clocks."""
    known = arrow_schema(T.StructType([T.StructField(name, kind) for name, kind in types.items()]))
    table = fields_by_path(known)
    for path, field in fields_by_path(stored_schema(rows)).items():
        kinds = [field.type, table[path].type] if path in table else []
        if all(map(pa.types.is_timestamp, kinds)) and len({kind.tz is None for kind in kinds}) > 1:
            own, kind = ("timestamp_ntz" if kind.tz is None else "timestamp" for kind in kinds)
            column = "partition column" if path in partition else "column"
            raise ValueError(
                f"{existing.location}: {column} {path} of the rows is {own}, and {kind} in the table: cast the rows to "
                "the type of the table"
            )


def _types_of(existing: _native.TableColumns, names: Collection[str]) -> dict[str, T.DataType]:
    """The types that Spark has for columns of the table. With an Arrow schema, timestamps without a time zone are wall
    clocks; without it, those of files of Spark that say so.
    """
    own = {field.name: field for field in pa.schema(ExportedSchema(existing.schema))}
    partition = {field.name: field for field in pa.schema(ExportedSchema(existing.partition_schema))}
    own |= partition
    found = {}
    for name in names:
        if name not in own:
            continue
        is_wall = existing.has_arrow_schema or name in partition
        field = _as_wall_clocks(own[name]) if is_wall else own[name]
        try:
            stored = _native.stored_schema(schema_for_native(pa.schema([field])), AS_STORED)
            found[name] = spark_schema(pa.schema(ExportedSchema(stored)))[0].dataType
        except (OrcishError, ValueError):
            # Spark has no such type.
            continue
    return found


def _as_wall_clocks(field: pa.Field) -> pa.Field:
    """The field with timestamps without a time zone as the wall clocks of Spark."""
    kind = value_type(field.type)
    if pa.types.is_timestamp(kind) and kind.tz is None:
        return field.with_metadata({**(field.metadata or {}), CATALYST_TYPE: "timestamp_ntz"})
    return field.with_type(map_fields(kind, lambda child, _: _as_wall_clocks(child)))


def _advice(
    existing: _native.TableColumns, rows: T.StructType, partition: Sequence[str], types: dict[str, T.DataType]
) -> str:
    """What makes the first column fit that does not; empty where the types are not the fault."""

    def fits(field: T.StructField) -> bool:
        own, row = [name for name in partition if name == field.name], T.StructType([field])
        try:
            _check_clocks(existing, row, own, types)
            existing.appended_schema(schema_for_native(stored_schema(row)), own)
        except ValueError:
            return False
        return True

    field = next((field for field in rows if field.name in types and not fits(field)), None)
    if field is None:
        return ""
    kind = _with_leaves_of(field.dataType, types[field.name])
    if not fits(T.StructField(field.name, kind)):
        return ", or write to another table"
    name = field.name if field.name.isidentifier() else f"`{field.name}`"
    return f', with .withColumn("{field.name}", col("{name}").cast("{kind.simpleString()}"))'


def _with_leaves_of(own: T.DataType, kind: T.DataType) -> T.DataType:
    """A type with the fields of one type, in their order, and with the types that another one has for them."""
    if isinstance(own, T.StructType) and isinstance(kind, T.StructType):
        known = {field.name: field.dataType for field in kind}
        fields = [(field.name, _with_leaves_of(field.dataType, known.get(field.name, field.dataType))) for field in own]
        return T.StructType([T.StructField(*field) for field in fields])
    if isinstance(own, T.ArrayType) and isinstance(kind, T.ArrayType):
        return T.ArrayType(_with_leaves_of(own.elementType, kind.elementType))
    if isinstance(own, T.MapType) and isinstance(kind, T.MapType):
        return T.MapType(_with_leaves_of(own.keyType, kind.keyType), _with_leaves_of(own.valueType, kind.valueType))
    return kind
