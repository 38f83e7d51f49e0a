"""Conversion between schemas of Spark and of Arrow."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812 - as everybody calls it

from orcish.errors import UnsupportedError
from orcish.writing.timestamps import CATALYST_TYPE, ORC_TYPE

__all__ = ["arrow_schema", "nullable", "scanned_schema", "spark_schema", "stored_schema"]

_PLAIN: list[tuple[Callable[[Any], bool], Callable[[], T.DataType]]] = [
    (pa.types.is_boolean, T.BooleanType),
    (pa.types.is_int8, T.ByteType),
    (pa.types.is_int16, T.ShortType),
    (pa.types.is_int32, T.IntegerType),
    (pa.types.is_int64, T.LongType),
    (pa.types.is_float32, T.FloatType),
    (pa.types.is_float64, T.DoubleType),
    (pa.types.is_string, T.StringType),
    (pa.types.is_binary, T.BinaryType),
    (pa.types.is_date32, T.DateType),
    (pa.types.is_null, T.NullType),
]
_UNITS = {"day": 0, "hour": 1, "minute": 2, "second": 3}


def spark_schema(schema: pa.Schema) -> T.StructType:
    """The Spark types of columns, given by the Arrow types in which orcish reads them; the same as in Spark's reader.

    Raises:
        UnsupportedError: Spark's Python workers do not have a type; the message names the column.
    """
    return T.StructType([_spark_field(field, field.name) for field in schema])


def _spark_field(field: pa.Field, path: str) -> T.StructField:
    return T.StructField(field.name, _spark_type(field, path), True)


def _spark_type(field: pa.Field, path: str) -> T.DataType:
    kind = field.type
    precision = re.fullmatch(r"time\((\d)\)", _catalyst(field) or "")
    if precision and pa.types.is_int64(kind) and hasattr(T, "TimeType"):
        return T.TimeType(int(precision[1]))
    for is_kind, made in _PLAIN:
        if is_kind(kind):
            return made()
    if pa.types.is_decimal(kind):
        return T.DecimalType(kind.precision, kind.scale)
    if pa.types.is_timestamp(kind):
        is_wall_clock = kind.tz is None and _catalyst(field) == "timestamp_ntz"
        return T.TimestampNTZType() if is_wall_clock else T.TimestampType()
    if pa.types.is_duration(kind):
        return _day_time(_catalyst(field) or "interval day to second")
    if pa.types.is_struct(kind):
        return T.StructType([_spark_field(child, f"{path}.{child.name}") for child in kind])
    if pa.types.is_map(kind):
        value = _spark_type(kind.item_field, f"{path}.value")
        return T.MapType(_spark_type(kind.key_field, f"{path}.key"), value, True)
    if pa.types.is_list(kind):
        return T.ArrayType(_spark_type(kind.value_field, f"{path}.element"), True)
    raise UnsupportedError(
        f"column {path}: Spark's Python workers have no {_catalyst(field) or kind}; "
        "name the other columns in the option `columns`"
    )


def _catalyst(field: pa.Field) -> str | None:
    found = (field.metadata or {}).get(CATALYST_TYPE.encode())
    return None if found is None else found.decode(errors="replace").lower()


def _day_time(text: str) -> T.DataType:
    units = [_UNITS[word] for word in text.split() if word in _UNITS]
    return T.DayTimeIntervalType(units[0], units[-1]) if units else T.DayTimeIntervalType()


def nullable(schema: T.StructType) -> T.StructType:
    """The schema with all fields nullable, as Spark's own sources take it."""
    return T.StructType([T.StructField(f.name, _nullable(f.dataType), True, f.metadata) for f in schema])


def _nullable(kind: T.DataType) -> T.DataType:
    if isinstance(kind, T.StructType):
        return nullable(kind)
    if isinstance(kind, T.ArrayType):
        return T.ArrayType(_nullable(kind.elementType), True)
    if isinstance(kind, T.MapType):
        return T.MapType(_nullable(kind.keyType), _nullable(kind.valueType), True)
    return kind


def arrow_schema(schema: T.StructType) -> pa.Schema:
    """The schema of the Arrow batches that Spark exchanges for these types."""
    return pa.schema([_arrow_field(field.name, field.dataType, field.nullable, field.name) for field in schema])


def _arrow_field(name: str, kind: T.DataType, nullable: bool, path: str) -> pa.Field:
    return pa.field(name, _arrow_type(kind, path), nullable)


def _arrow_type(kind: T.DataType, path: str) -> pa.DataType:
    found = _ARROW.get(kind.typeName())
    if found is not None:
        return found
    if isinstance(kind, T.StringType):
        return pa.string()
    if isinstance(kind, T.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, T.DayTimeIntervalType):
        return pa.duration("us")
    if type(kind).__name__ == "TimeType":
        return pa.time64("ns")
    if isinstance(kind, T.ArrayType):
        return pa.list_(_arrow_field("element", kind.elementType, kind.containsNull, f"{path}.element"))
    if isinstance(kind, T.MapType):
        value = _arrow_field("value", kind.valueType, kind.valueContainsNull, f"{path}.value")
        return pa.map_(_arrow_field("key", kind.keyType, False, f"{path}.key"), value)
    if isinstance(kind, T.StructType):
        return pa.struct([_arrow_field(f.name, f.dataType, f.nullable, f"{path}.{f.name}") for f in kind])
    raise UnsupportedError(f"column {path}: orcish has no {kind.simpleString()} of Spark")


_ARROW = {
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
}


def stored_schema(schema: T.StructType) -> pa.Schema:
    """The schema under which rows of Spark are written, as by Spark's writer: instants as ``timestamp`` with the zone
    of the writer, and types that ORC does not have as integers with an attribute.

    Raises:
        UnsupportedError: A type cannot be stored in ORC; the message names the column.
    """
    return pa.schema([_stored(field.name, field.dataType, field.name) for field in schema])


def _stored(name: str, kind: T.DataType, path: str) -> pa.Field:
    attribute = {CATALYST_TYPE: kind.simpleString()}
    if type(kind).__name__ == "TimeType":
        return pa.field(name, pa.int64(), metadata=attribute)
    if isinstance(kind, T.TimestampNTZType):
        return pa.field(name, pa.timestamp("us"), metadata=attribute)
    if isinstance(kind, T.TimestampType):
        return pa.field(name, pa.timestamp("us", "UTC"), metadata={**attribute, ORC_TYPE: "timestamp"})
    if isinstance(kind, T.DayTimeIntervalType):
        return pa.field(name, pa.duration("us"), metadata=attribute)
    if isinstance(kind, T.StructType):
        return pa.field(name, pa.struct([_stored(f.name, f.dataType, f"{path}.{f.name}") for f in kind]))
    if isinstance(kind, T.ArrayType):
        return pa.field(name, pa.list_(_stored("element", kind.elementType, f"{path}.element")))
    if isinstance(kind, T.MapType):
        key = _stored("key", kind.keyType, f"{path}.key").with_nullable(False)
        return pa.field(name, pa.map_(key, _stored("value", kind.valueType, f"{path}.value")))
    if kind.typeName() in ("void", "variant"):
        raise UnsupportedError(
            f'column {path}: ORC has no {kind.simpleString()}: cast it to another type, as in cast("string")'
        )
    return pa.field(name, _arrow_type(kind, path))


def scanned_schema(schema: pa.Schema) -> pa.Schema:
    """The schema of a scan whose batches are converted to ``schema``: times are integers, and all fields nullable."""
    return pa.schema(list(map(_scanned, schema)))


def _scanned(field: pa.Field) -> pa.Field:
    kind = field.type
    if pa.types.is_time(kind):
        # Nanoseconds since midnight.
        kind = pa.int64()
    elif pa.types.is_struct(kind):
        kind = pa.struct(list(map(_scanned, kind)))
    elif pa.types.is_map(kind):
        kind = pa.map_(_scanned(kind.key_field).with_nullable(False), _scanned(kind.item_field))
    elif pa.types.is_list(kind):
        kind = pa.list_(_scanned(kind.value_field))
    return field.with_type(kind).with_nullable(True)
