"""Partition columns: inference of their types, and their values, with the rules of Spark."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from orcish import _native
from orcish.arrow.exported import ExportedArray, ExportedSchema
from orcish.io.files import TableFile

__all__ = ["parse_partition_values", "partition_schema", "partition_values", "scan_type"]


def partition_schema(files: Sequence[TableFile]) -> pa.Schema:
    """The partition columns, with the types that Spark infers from all values."""
    columns = [(name, list(values)) for name, values in partition_values(files).items()]
    return pa.schema(ExportedSchema(_native.infer_partition_schema(columns, "spark")))


def partition_values(files: Sequence[TableFile]) -> dict[str, set[str]]:
    """The distinct values of each partition column, as strings."""
    values: dict[str, set[str]] = {}
    for file in files:
        for name, value in file.partition:
            values.setdefault(name, set()).update(() if value is None else (value,))
    return values


def parse_partition_values(texts: pa.Array, to: pa.DataType, zone: str) -> pa.Array:
    """Parses the values of a partition column as Spark does.

    Args:
        texts: The values as strings.
        to: Type of the column.
        zone: Time zone of the session, in which instants are written as wall clock times.

    Raises:
        pa.ArrowInvalid: A string is no value of the type.
        UnsupportedError: Partition columns cannot be of the type.
    """
    is_instant = pa.types.is_timestamp(to) and to.tz is not None
    schema = pa.schema([("value", pa.timestamp("us", zone) if is_instant else to)]).__arrow_c_schema__()
    try:
        return pa.array(ExportedArray(_native.parse_partition_values(texts.__arrow_c_array__(), schema, "spark")))
    except ValueError as error:
        raise pa.ArrowInvalid(str(error)) from None


def scan_type(kind: pa.DataType) -> pa.DataType:
    """The type of a partition column in the scan: integers, booleans and dates are parsed there, others are strings."""
    is_known = pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date32(kind)
    return kind if is_known else pa.string()
