"""Columns of ORC files in the DDL of Spark."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa
from orcish.errors import UnsupportedError

from orcish_cli.type_tree import CATALYST_TYPE, ColumnType

__all__ = ["spark_ddl"]

_UNIT = r"(?:year|month|day|hour|minute|second)"
_CATALYST = re.compile(
    r"timestamp(?:_ntz|_ltz)?|string|boolean|tinyint|smallint|int|bigint|float|double|binary|date"
    rf"|(?:char|varchar|time)\(\d{{1,10}}\)|decimal\(\d\d?,\d\d?\)|interval {_UNIT}(?: to {_UNIT})?"
)
"""Types that Spark records in the attributes of columns. Other texts are ignored."""
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TIMESTAMPS = {"timestamp with local time zone": "TIMESTAMP"}
_UNKNOWN = ("uniontype", "geometry", "geography")
_PARTITIONS = {pa.int32(): "INT", pa.int64(): "BIGINT", pa.date32(): "DATE", pa.bool_(): "BOOLEAN"}
"""Types of partition columns. All others are strings."""


def spark_ddl(root: ColumnType, partition: pa.Schema | None = None) -> list[str]:
    """The columns as Spark's reader of ORC files types them, one text each: ``["id BIGINT", "name STRING"]``.

    Args:
        root: The root of the columns.
        partition: Partition columns of its table.

    Raises:
        UnsupportedError: Spark does not have a type; the message names the column.
    """
    if root.kind != "struct":
        raise UnsupportedError(f"Spark reads no file whose root type is {root.kind}: it has to be a struct")
    columns = [f"{_quoted(column.name)} {_spark_type(column, column.name)}" for column in root.children]
    return [*columns, *_partition_columns(partition)]


def _partition_columns(partition: pa.Schema | None) -> Iterator[str]:
    for field in partition or ():
        yield f"{_quoted(field.name)} {_PARTITIONS.get(field.type, 'STRING')}"


def _spark_type(column: ColumnType, path: str) -> str:
    if column.kind in ("struct", "array", "map"):
        inner = [_spark_type(child, f"{path}.{child.name}") for child in column.children]
        if column.kind == "struct":
            names = [_quoted(child.name) for child in column.children]
            inner = [f"{name}: {kind}" for name, kind in zip(names, inner, strict=True)]
        return f"{column.kind.upper()}<{', '.join(inner)}>"
    if column.kind.startswith(_UNKNOWN):
        raise UnsupportedError(f"column {path}: Spark has no type for {column.kind}")
    stated = column.attributes.get(CATALYST_TYPE, "").lower()
    if _CATALYST.fullmatch(stated):
        return stated.upper()
    return _TIMESTAMPS.get(column.kind, column.kind.upper())


def _quoted(name: str) -> str:
    """A name as SQL has it: with backquotes unless it is a plain word."""
    return name if _PLAIN_NAME.fullmatch(name) else f"`{name.replace('`', '``')}`"
