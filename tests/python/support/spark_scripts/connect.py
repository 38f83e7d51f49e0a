"""Run by a test: a client of Spark Connect, which has no JVM."""

from __future__ import annotations

import sys
from pathlib import Path

import orcish.spark as osp
from pyspark.sql import SparkSession

from support.spark_tables import ids_of, rows_of


def main(folder: Path) -> None:
    spark = SparkSession.builder.remote("local[2]").getOrCreate()
    table = str(folder / "t")
    spark.range(100).write.format("orcish").mode("append").save(table)
    assert ids_of(folder / "t") == list(range(100))
    print("write")
    assert rows_of(spark.read.format("orcish").load(table)) == rows_of(spark.range(100))
    assert osp.read(spark, table, filters="id < 5").count() == 5
    print("read")
    assert osp.map_batches(spark, table, lambda batches: batches, "id bigint").count() == 100
    print("map_batches")
    spark.range(100, 200).write.format("orcish").mode("append").save(table)
    assert sum(row.rows for row in osp.compact(table, spark=spark).collect()) == 200
    assert osp.verify(table, spark=spark).collect() == []
    assert ids_of(folder / "t") == list(range(200))
    print("jobs")
    pairs = spark.range(2).selectExpr("id", "id as p")
    for frame in (pairs, pairs.limit(1)):
        writer = frame.write.format("orcish").mode("overwrite").option("partitionBy", "p")
        writer.save(str(folder / "pairs"))
        spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    assert ids_of(folder / "pairs") == [0, 1]
    print("overwrite")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
