"""Run by a test in a process whose time zone is that of New York: reads and writes timestamps with Spark's and orcish's
means.
"""

from __future__ import annotations

import sys
from pathlib import Path

import orcish.spark as osp
import pyarrow as pa
from pyspark.sql import SparkSession

from support.small_tables import put
from support.spark_scripts import clock_changes as spark_clocks
from support.spark_tables import assert_same, every_type, rows_of


def check(spark: SparkSession, folder: Path) -> None:
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    table = str(folder / "spark")
    every_type(spark).write.orc(table)
    wanted = spark.read.orc(table)
    assert_same(spark.read.format("orcish").load(table), wanted)
    assert_same(osp.read(spark, table), wanted)
    print("read")

    for at, value in enumerate(["2026-01-31 12%3A00%3A00", "2026-07-31 12%3A00%3A00.5", "1800-01-01 00%3A00%3A00"]):
        put(folder / "parts" / f"p={value}", {"a.orc": pa.table({"id": [at]})})
    parts = spark.read.orc(str(folder / "parts"))
    assert_same(spark.read.format("orcish").load(str(folder / "parts")), parts)
    print("partitions")

    for zone in ["Asia/Tokyo", "UTC"]:
        spark.conf.set("spark.sql.session.timeZone", zone)
        texts = ["id", "cast(t as string)", "cast(t as double)", "cast(deep as string)"]
        found = spark.read.format("orcish").load(table)
        assert rows_of(found.selectExpr(*texts)) == rows_of(wanted.selectExpr(*texts)), zone
    print("shown")

    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    passed = osp.map_batches(
        spark, table, lambda batches: batches, wanted.select("id", "t").schema, columns=["id", "t"]
    )
    assert rows_of(passed) == rows_of(wanted.select("id", "t"))
    print("read_in_python")

    written = folder / "orcish"
    wanted.write.format("orcish").mode("overwrite").save(str(written))
    assert_same(spark.read.orc(str(written)), wanted)
    print("wrote")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    wanted.write.format("orcish").mode("append").save(str(written))
    assert_same(spark.read.orc(str(written)), wanted.union(wanted))
    osp.convert(table, str(folder / "converted"))
    assert_same(spark.read.orc(str(folder / "converted")), wanted)
    osp.convert(wanted, str(folder / "of_frame"))
    assert_same(spark.read.orc(str(folder / "of_frame")), wanted)
    print("appended")

    # Where the machine's zone is not that of the JVM, an option says it.
    found = spark.read.format("orcish").option("timezone", "America/New_York").load(table)
    assert_same(found, wanted)
    print("zoned")


if __name__ == "__main__":
    spark = spark_clocks.session()
    check(spark, Path(sys.argv[1]))
    clocks = Path(sys.argv[1], "clocks")
    clocks.mkdir()
    spark_clocks.check(spark, clocks)
    spark.stop()
