"""What a session says of itself, whether Spark runs in this process or elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession

__all__ = [
    "default_parallelism",
    "job_description",
    "jvm",
    "large_batches",
    "local_property",
    "session_zone",
    "task_cpus",
    "task_number",
    "timestamp_zone",
]

MOST_BYTES = 64 << 20
"""Bytes of a batch whose values are not counted."""


def jvm(spark: SparkSession) -> Any:
    """The JVM of this process; none with Spark Connect."""
    return getattr(spark, "_jvm", None)


def timestamp_zone(spark: SparkSession) -> str:
    """The zone in which Spark's own reader takes the wall clocks of ORC: that of its JVM. With Spark Connect, which
    does not tell it, that of the session.
    """
    machine = jvm(spark)
    if machine is not None:
        return str(machine.java.util.TimeZone.getDefault().getID())
    return session_zone(spark)


def session_zone(spark: SparkSession) -> str:
    """The zone in which the session shows instants, and understands their texts."""
    return str(spark.conf.get("spark.sql.session.timeZone"))


def default_parallelism(spark: SparkSession) -> int:
    """How many tasks the cluster runs at a time; 1 where that is not known."""
    if jvm(spark) is None:
        return 1
    return int(spark.sparkContext.defaultParallelism)


@contextlib.contextmanager
def job_description(spark: SparkSession, text: str) -> Iterator[None]:
    """Names the jobs within in Spark's UI, where that is in reach."""
    if jvm(spark) is None:
        yield
        return
    context = spark.sparkContext
    before = context.getLocalProperty("spark.job.description")
    context.setLocalProperty("spark.job.description", text)
    try:
        yield
    finally:
        # None, which takes the name away, is not in Spark's stubs.
        context.setLocalProperty("spark.job.description", before)  # type: ignore[arg-type]


@contextlib.contextmanager
def large_batches(spark: SparkSession, schema: pa.Schema) -> Iterator[None]:
    """Has the JVM count the rows of a batch and not their bytes, which takes as long again as all else that it does for
    Arrow; where the types of the columns say that no batch will be large.
    """
    name = "spark.sql.execution.arrow.maxBytesPerBatch"
    before = spark.conf.get(name, None)
    rows = int(spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch", "10000") or 0)
    widths = [_width(field.type) for field in schema]
    # Without a number of rows, the bytes are all that ends a batch.
    if rows <= 0 or None in widths or rows * sum(width or 0 for width in widths) > MOST_BYTES:
        yield
        return
    try:
        spark.conf.set(name, str((1 << 31) - 1))
    except Exception:
        # This Spark has no such setting, or does not let it be set.
        yield
        return
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, before)


def _width(kind: pa.DataType) -> int | None:
    """Bytes of a value, about; none where they are not known."""
    if pa.types.is_struct(kind):
        widths = [_width(kind.field(at).type) for at in range(kind.num_fields)]
        return None if None in widths else 1 + sum(width or 0 for width in widths)
    is_fixed = pa.types.is_primitive(kind) or pa.types.is_decimal(kind)
    return kind.bit_width // 8 + 1 if is_fixed else 1 if pa.types.is_null(kind) else None


def task_number() -> int:
    """Number of the task that runs here, among those of its stage."""
    context = TaskContext.get()
    return context.partitionId() if context is not None else 0


def task_cpus() -> int:
    """Cores that the task which runs here has."""
    context = TaskContext.get()
    return context.cpus() if context is not None else 1


def local_property(name: str) -> str | None:
    """A property of the task that runs here."""
    context = TaskContext.get()
    return context.getLocalProperty(name) if context is not None else None
