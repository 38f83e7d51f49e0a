"""Rows of Spark that are appended to a table: which types do not fit, and the casts that make them fit."""

from __future__ import annotations

import io
from collections.abc import Collection

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812

from orcish.arrow.nested import fields_by_path, map_fields, value_type
from orcish.errors import OrcishError
from orcish.reading.file import ORCFile
from orcish.spark.schemas import arrow_schema, spark_schema, stored_schema
from orcish.spark.table import AS_STORED
from orcish.tables.appending import ExistingTable
from orcish.writing.timestamps import CATALYST_TYPE
from orcish.writing.writer import ORCWriter

__all__ = ["appended_schema"]


def appended_schema(existing: ExistingTable, rows: T.StructType, partition: Collection[str], replace: str) -> pa.Schema:
    """The schema with which rows of Spark are appended to a table, as of :meth:`ExistingTable.appended_schema`.

    Args:
        existing: The table.
        rows: The schema of the rows.
        partition: The partition columns of the rows.
        replace: The option that replaces the whole table, for messages.

    Raises:
        ValueError: A type of the table does not hold the values, or wall clocks would be instants, or instants wall
            clocks. The message has the cast that makes the rows fit, if there is one.
    """
    types = _types_of(existing, rows.names)
    try:
        return _checked(existing, rows, partition, types)
    except ValueError as error:
        advice = _advice(existing, rows, partition, types)
        raise ValueError(f"{error}{advice and f': {advice}, or replace the table with {replace}'}") from None


def _checked(
    existing: ExistingTable, rows: T.StructType, partition: Collection[str], types: dict[str, T.DataType]
) -> pa.Schema:
    known = arrow_schema(T.StructType([T.StructField(name, kind) for name, kind in types.items()]))
    table = fields_by_path(known)
    for path, field in fields_by_path(stored_schema(rows)).items():
        kinds = [field.type, table[path].type] if path in table else []
        if all(map(pa.types.is_timestamp, kinds)) and len({kind.tz is None for kind in kinds}) > 1:
            own, kind = ("timestamp_ntz" if kind.tz is None else "timestamp" for kind in kinds)
            column = "partition column" if path in partition else "column"
            raise ValueError(f"{existing.base}: {column} {path} of the rows is {own}, and {kind} in the table")
    return existing.appended_schema(stored_schema(rows), partition)


def _types_of(existing: ExistingTable, names: Collection[str]) -> dict[str, T.DataType]:
    """The types that Spark has for columns of the table. With an Arrow schema, timestamps without a time zone are wall
    clocks; without it, those of files of Spark that say so.
    """
    own = {field.name: field for field in existing.schema}
    own |= {name: pa.field(name, kind) for name, kind in existing.partition_types.items()}
    found = {}
    for name in names:
        if name not in own:
            continue
        is_wall = existing.has_arrow_schema or name in existing.partition_types
        field = _as_wall_clocks(own[name]) if is_wall else own[name]
        try:
            file = io.BytesIO()
            ORCWriter(file, pa.schema([field]), arrow_schema=False).close()
            found[name] = spark_schema(ORCFile(file.getvalue()).arrow_schema(**AS_STORED))[0].dataType
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
    existing: ExistingTable, rows: T.StructType, partition: Collection[str], types: dict[str, T.DataType]
) -> str:
    """What makes the first column fit that does not; empty where the types are not the fault."""

    def fits(field: T.StructField) -> bool:
        own = [name for name in partition if name == field.name]
        try:
            _checked(existing, T.StructType([field]), own, types)
        except ValueError:
            return False
        return True

    field = next((field for field in rows if field.name in types and not fits(field)), None)
    if field is None:
        return ""
    kind = _with_leaves_of(field.dataType, types[field.name])
    if not fits(T.StructField(field.name, kind)):
        return "write to another table"
    name = field.name if field.name.isidentifier() else f"`{field.name}`"
    return f'cast the rows, with .withColumn("{field.name}", col("{name}").cast("{kind.simpleString()}"))'


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
