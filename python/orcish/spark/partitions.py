"""Columns that are the names of folders, such as ``dt=2026-01-01``, with the types that Spark gives them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812

from orcish.sources import TableFile

__all__ = ["partition_types", "scanned_as"]

_INTEGER = re.compile(r"[+-]?\d+")
_REAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(\.\d{1,6})?")


def partition_types(files: Sequence[TableFile]) -> dict[str, T.DataType]:
    """The type of each partition column by all its values, in their order: as Spark infers them."""
    values: dict[str, set[str]] = {}
    for file in files:
        for name, value in file.partition:
            values.setdefault(name, set()).update(() if value is None else (value,))
    return {name: _type(found) for name, found in values.items()}


def _type(values: set[str]) -> T.DataType:
    if not values:
        return T.StringType()
    if all(_INTEGER.fullmatch(value) for value in values):
        most = max(abs(int(value) + (int(value) < 0)) for value in values)
        if most < 1 << 31:
            return T.IntegerType()
        if most < 1 << 63:
            return T.LongType()
        digits = max(len(value.lstrip("+-")) for value in values)
        return T.DecimalType(digits, 0) if digits <= 38 else T.DoubleType()
    if all(_REAL.fullmatch(value) for value in values):
        return T.DoubleType()
    if all(_DATE.fullmatch(value) and _is_date(value) for value in values):
        return T.DateType()
    if all(_DATE.fullmatch(value) or _TIMESTAMP.fullmatch(value) for value in values):
        return T.TimestampType()
    return T.StringType()


def _is_date(value: str) -> bool:
    try:
        datetime.date.fromisoformat(value)
    except ValueError:
        return False
    return True


def scanned_as(kind: pa.DataType) -> pa.DataType:
    """The type with which a scan knows a partition column: a whole number, boolean or date, and text for all others."""
    is_known = pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date32(kind)
    return kind if is_known else pa.string()
