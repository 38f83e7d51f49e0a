"""Properties of a Spark session and of tasks, in this process or with Spark Connect."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession

from orcish._native import Location

__all__ = [
    "PARTITION_INFERENCE",
    "default_parallelism",
    "infers_partition_types",
    "job_description",
    "jvm",
    "large_batches",
    "local_property",
    "make_active",
    "path_of_this_process",
    "session_defaults",
    "session_zone",
    "task_cpus",
    "task_number",
    "timestamp_zone",
]

PARTITION_INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"
"""Setting of a session that the option ``partitionColumnTypeInference`` overrides."""
MAX_BYTES = 64 << 20
"""Estimated bytes up to which the JVM need not measure a batch."""


def jvm(spark: SparkSession) -> Any:
    """The JVM of this process; ``None`` with Spark Connect."""
    return getattr(spark, "_jvm", None)


def make_active(spark: SparkSession) -> None:
    """Makes the session the active one of this thread. Spark looks for Python data sources that are written to with the
    active session; threads other than that which has made the session have none.
    """
    if jvm(spark) is not None:
        # This sets the active session, in Python and in the JVM, in all versions of Spark.
        spark.createDataFrame([], "id int")


def path_of_this_process(spark: SparkSession, path: str) -> str:
    """A path for the workers, which have the working directory of the JVM: one that is relative to the working
    directory of this process is absolute. With Spark Connect, whose server has other folders, it is unchanged.
    """
    return path if jvm(spark) is None else Location(path).absolute()


def timestamp_zone(spark: SparkSession) -> str:
    """The time zone in which Spark's reader interprets timestamps of ORC: that of its JVM. With Spark Connect, which
    does not expose it, that of the session.
    """
    machine = jvm(spark)
    if machine is not None:
        return str(machine.java.util.TimeZone.getDefault().getID())
    return session_zone(spark)


def session_zone(spark: SparkSession) -> str:
    """The time zone in which the session parses and shows instants."""
    return str(spark.conf.get("spark.sql.session.timeZone"))


def infers_partition_types(spark: SparkSession) -> bool:
    """Whether partition columns have types that are inferred from their values, in this session."""
    return str(spark.conf.get(PARTITION_INFERENCE, "true")).lower() == "true"


def default_parallelism(spark: SparkSession) -> int:
    """Number of tasks that the cluster runs concurrently; 1 where it is unknown."""
    if jvm(spark) is None:
        return 1
    return int(spark.sparkContext.defaultParallelism)


def session_defaults(spark: SparkSession) -> dict[str, Any]:
    """Options that come from the session, which a data source cannot access."""
    return {
        "timezone": timestamp_zone(spark),
        "session_timezone": session_zone(spark),
        "min_splits": default_parallelism(spark),
        "partition_column_type_inference": None if infers_partition_types(spark) else False,
    }


@contextlib.contextmanager
def job_description(spark: SparkSession, text: str) -> Iterator[None]:
    """Describes the jobs inside of the context in Spark's UI, if there is a JVM."""
    if jvm(spark) is None:
        yield
        return
    context = spark.sparkContext
    before = context.getLocalProperty("spark.job.description")
    context.setLocalProperty("spark.job.description", text)
    try:
        yield
    finally:
        # None, which removes the description, is missing in Spark's stubs.
        context.setLocalProperty("spark.job.description", before)  # type: ignore[arg-type]


@contextlib.contextmanager
def large_batches(spark: SparkSession, schema: pa.Schema) -> Iterator[None]:
    """Makes the JVM limit batches by rows instead of bytes, where the types of the columns show that batches are small.

    Measuring the bytes takes the JVM as long as all other work for Arrow.
    """
    name = "spark.sql.execution.arrow.maxBytesPerBatch"
    before = spark.conf.get(name, None)
    rows = int(spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch", "10000") or 0)
    widths = [_width(field.type) for field in schema]
    # Without a limit on rows, only the limit on bytes ends a batch.
    if rows <= 0 or None in widths or rows * sum(width or 0 for width in widths) > MAX_BYTES:
        yield
        return
    try:
        spark.conf.set(name, str((1 << 31) - 1))
    except Exception:
        # This version of Spark has no such setting, or does not allow to change it.
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
    """Approximate bytes of a value; ``None`` for types of variable width."""
    if pa.types.is_struct(kind):
        widths = [_width(kind.field(at).type) for at in range(kind.num_fields)]
        return None if None in widths else 1 + sum(width or 0 for width in widths)
    is_fixed = pa.types.is_primitive(kind) or pa.types.is_decimal(kind)
    return kind.bit_width // 8 + 1 if is_fixed else 1 if pa.types.is_null(kind) else None


def task_number() -> int:
    """Index of the current task within its stage."""
    context = TaskContext.get()
    return context.partitionId() if context is not None else 0


def task_cpus() -> int:
    """Number of cores of the current task."""
    context = TaskContext.get()
    return context.cpus() if context is not None else 1


def local_property(name: str) -> str | None:
    """A local property of the current task."""
    context = TaskContext.get()
    return context.getLocalProperty(name) if context is not None else None
