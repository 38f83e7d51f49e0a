"""Partition columns by the rules of Spark: types that are inferred, values of folders, and names of folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812

from orcish import _native
from orcish.arrow.exported import ExportedArray, ExportedSchema
from orcish.errors import OrcishError, UnsupportedError
from orcish.io.files import TableFile

__all__ = [
    "check_partition_type",
    "clock_instants",
    "is_named_as_text",
    "partition_schema",
    "spark_texts",
    "with_typed_values",
]

_NAMED = (
    T.FractionalType,
    T.DateType,
    T.TimestampType,
    T.TimestampNTZType,
    T.DayTimeIntervalType,
)


def partition_schema(files: Sequence[TableFile]) -> pa.Schema:
    """The partition columns, with the types that Spark infers from all values."""
    columns = [(name, list(values)) for name, values in _texts(files).items()]
    return pa.schema(ExportedSchema(_native.infer_partition_schema(columns, "spark")))


def with_typed_values(files: Sequence[TableFile], types: Mapping[str, pa.DataType], zone: str) -> list[TableFile]:
    """The files with texts of partition columns that are exactly the values that Spark sees, whoever parses them.

    Args:
        files: The files.
        types: The types of the partition columns. Integers, booleans, dates and texts are the same to all readers.
        zone: Time zone of the session, in which names of folders have instants.

    Raises:
        OrcishError: A text is no value of its type.
        UnsupportedError: Partition columns cannot be of a type.
    """
    spelled: dict[str, dict[str | None, str]] = {}
    for name, texts in _texts(files).items():
        kind = types.get(name)
        if kind is None or _is_plain(kind):
            continue
        given = pa.array(sorted(texts), pa.string())
        try:
            values = _instants(given, zone) if _is_instant(kind) else _parsed(given, kind)
        except ValueError as error:
            raise OrcishError(f"partition column {name}: {error}") from None
        spelled[name] = dict(zip(given.to_pylist(), _formatted(values, "UTC").to_pylist(), strict=True))
    if not spelled:
        return list(files)
    return [
        file._replace(partition=[(name, spelled.get(name, {}).get(text, text)) for name, text in file.partition])
        for file in files
    ]


def _texts(files: Sequence[TableFile]) -> dict[str, set[str]]:
    """The different texts of each partition column."""
    texts: dict[str, set[str]] = {}
    for file in files:
        for name, value in file.partition:
            texts.setdefault(name, set()).update(() if value is None else (value,))
    return texts


def _is_plain(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_boolean(kind) or types.is_date32(kind) or types.is_string(kind))


def _is_instant(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) and kind.tz is not None)


def clock_instants(clocks: pa.Array, zone: str) -> pa.Array:
    """The instants of wall clocks of a zone, in UTC. Of times that clocks show twice the first one counts, and skipped
    times are moved by the length of the gap.
    """
    return _instants(_formatted(clocks, None), zone)


def _instants(texts: pa.Array, zone: str) -> pa.Array:
    return _parsed(texts, pa.timestamp("us", zone)).cast(pa.timestamp("us", "UTC"))


def _parsed(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    schema = pa.schema([("value", kind)]).__arrow_c_schema__()
    return pa.array(ExportedArray(_native.parse_partition_values(texts.__arrow_c_array__(), schema, "spark")))


def spark_texts(column: pa.Array, kind: T.DataType, zone: str) -> pa.Array:
    """Values as strings with the format of Spark's casts, which are also the names of folders.

    Args:
        column: The values, in Spark's Arrow type.
        kind: Type of the column.
        zone: Time zone of the session, in which instants are formatted.
    """
    fields = (int(kind.startField), int(kind.endField)) if isinstance(kind, T.DayTimeIntervalType) else None
    return _formatted(column, zone if isinstance(kind, T.TimestampType) else None, fields)


def _formatted(values: pa.Array, zone: str | None, interval: tuple[int, int] | None = None) -> pa.Array:
    texts = _native.format_partition_values(values.__arrow_c_array__(), "spark", timezone=zone, interval=interval)
    return pa.array(ExportedArray(texts))


def is_named_as_text(kind: T.DataType) -> bool:
    """Whether Spark formats values of a type in its own way."""
    return isinstance(kind, _NAMED) or type(kind).__name__ == "TimeType"


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
