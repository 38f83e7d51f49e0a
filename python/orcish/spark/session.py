"""What a session says of itself, whether Spark runs in this process or elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from pyspark import TaskContext
from pyspark.sql import SparkSession

__all__ = [
    "default_parallelism",
    "described",
    "jvm",
    "large_batches",
    "local_property",
    "task_cpus",
    "task_number",
    "timestamp_zone",
]


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
    return str(spark.conf.get("spark.sql.session.timeZone"))


def default_parallelism(spark: SparkSession) -> int:
    """How many tasks the cluster runs at a time; 1 where that is not known."""
    if jvm(spark) is None:
        return 1
    return int(spark.sparkContext.defaultParallelism)


@contextlib.contextmanager
def described(spark: SparkSession, text: str) -> Iterator[None]:
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
def large_batches(spark: SparkSession) -> Iterator[None]:
    """Has the JVM count the rows of a batch and not their bytes, which takes as long again as all else that it does for
    Arrow.
    """
    name = "spark.sql.execution.arrow.maxBytesPerBatch"
    before = spark.conf.get(name, None)
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
