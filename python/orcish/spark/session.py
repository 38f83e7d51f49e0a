"""What a session says of itself, whether Spark runs in this process or elsewhere."""

from __future__ import annotations

import contextlib
from typing import Any

from pyspark.sql import SparkSession

__all__ = ["default_parallelism", "described", "timestamp_zone"]


def jvm(spark: SparkSession) -> Any:
    """The JVM of this process; none with Spark Connect."""
    return getattr(spark, "_jvm", None)


def timestamp_zone(spark: SparkSession) -> str:
    """The zone in which Spark's own reader takes the wall clocks of ORC: that of its JVM. With Spark Connect, which does
    not tell it, that of the session.
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
def described(spark: SparkSession, text: str) -> Any:
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
        context.setLocalProperty("spark.job.description", before)
