"""Values as text with the format of Spark's casts."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

__all__ = ["cast_to_text"]

MAX_COLUMNS = 500
"""Maximum values of a query."""


def cast_to_text(spark: SparkSession, values: list[tuple[T.DataType, Any]]) -> list[str | None]:
    """Casts values to text. Strings, integers and booleans are cast here, other types by Spark.

    Args:
        spark: The session.
        values: Types and values. Dates are days, timestamps and intervals microseconds, and times nanoseconds.
    """
    made: list[str | None] = [None if value is None else _plain(kind, value) for kind, value in values]
    left = [at for at, (_, value) in enumerate(values) if value is not None and made[at] is None]
    for start in range(0, len(left), MAX_COLUMNS):
        some = left[start : start + MAX_COLUMNS]
        row = spark.range(1).select(*(_value(*values[at]).cast("string").alias(f"_{at}") for at in some)).collect()[0]
        for at, text in zip(some, row, strict=True):
            made[at] = text
    return made


def _plain(kind: T.DataType, value: Any) -> str | None:
    if isinstance(kind, T.BooleanType):
        return "true" if value else "false"
    if isinstance(kind, T.StringType):
        return str(value)
    return str(value) if isinstance(kind, T.IntegralType) else None


def _value(kind: T.DataType, value: Any) -> Column:
    if isinstance(kind, T.FloatType | T.DoubleType):
        # Java has other words for special values. Zero has no sign.
        text = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(repr(value), repr(value + 0.0))
    elif isinstance(kind, T.DecimalType):
        text = format(value, "f")
    elif isinstance(kind, T.DateType):
        return F.date_from_unix_date(F.lit(value))
    elif isinstance(kind, T.TimestampType):
        return F.timestamp_micros(F.lit(value).cast("long"))
    elif isinstance(kind, T.TimestampNTZType):
        text = pa.scalar(value, pa.timestamp("us")).cast(pa.string()).as_py()
    elif isinstance(kind, T.DayTimeIntervalType):
        return F.lit(datetime.timedelta(microseconds=value)).cast(kind)
    else:
        text = pa.scalar(value, pa.time64("ns")).cast(pa.string()).as_py()
    return F.lit(text).cast(kind)
