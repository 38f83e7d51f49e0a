"""Names of partition folders, as Spark gives them."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812

from orcish import _native
from orcish.arrow.exported import ExportedArray
from orcish.errors import UnsupportedError

__all__ = ["check_partition_type", "is_named_as_text", "partition_names"]

_NAMED = (
    T.FractionalType,
    T.DateType,
    T.TimestampType,
    T.TimestampNTZType,
    T.DayTimeIntervalType,
)


def check_partition_type(name: str, kind: T.DataType) -> None:
    """Raises UnsupportedError for types that cannot be partition columns, and ValueError for such names."""
    if not name or name.startswith("."):
        folder = _native.partition_folder(name, "…")
        raise ValueError(f"partitionBy: column {name!r}: readers pass over folders such as {folder!r}")
    if isinstance(kind, T.BinaryType):
        # Spark replaces invalid UTF-8, which would change values.
        raise UnsupportedError(f"partitionBy: column {name!r} is binary, and names are text: cast it to string")
    if isinstance(kind, T.StructType | T.ArrayType | T.MapType | T.NullType) or kind.typeName() == "variant":
        raise UnsupportedError(f"partitionBy: column {name!r} is {kind.simpleString()}, which names no folder")


def is_named_as_text(kind: T.DataType) -> bool:
    """Whether Spark formats values of a type in its own way."""
    return isinstance(kind, _NAMED) or type(kind).__name__ == "TimeType"


def partition_names(column: pa.Array, kind: T.DataType, zone: str) -> pa.Array:
    """Values as strings with the format of Spark's casts, which are the names of folders.

    Args:
        column: The values, in Spark's Arrow type.
        kind: Type of the column.
        zone: Time zone of the session, in which instants are formatted.
    """
    fields = (int(kind.startField), int(kind.endField)) if isinstance(kind, T.DayTimeIntervalType) else None
    timezone = zone if isinstance(kind, T.TimestampType) else None
    texts = _native.format_partition_values(column.__arrow_c_array__(), "spark", timezone=timezone, interval=fields)
    return pa.array(ExportedArray(texts))
