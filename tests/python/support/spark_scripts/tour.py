"""What ``docs/spark.md`` says of each version of Spark, tried on the installed one: a job, a function in the workers,
and from 4.0 on the data sources and streams.

    make spark-versions                   # a virtual environment for each version of Spark, and this in it
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

os.environ["TZ"] = "UTC"
time.tzset()
os.environ["PYSPARK_PYTHON"] = sys.executable

import orcish  # noqa: E402
import orcish.spark as osp  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyspark  # noqa: E402
from pyspark.sql import DataFrame, SparkSession  # noqa: E402

from support.carbon import CarbonTableWriter  # noqa: E402

VERSION = tuple(map(int, pyspark.__version__.split(".")[:2]))


def session() -> SparkSession:
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    return builder.config("spark.driver.host", "127.0.0.1").config("spark.log.level", "ERROR").getOrCreate()


def rows(frame: DataFrame) -> list[tuple[object, ...]]:
    return sorted(map(tuple, frame.collect()))


def jobs(spark: SparkSession, folder: Path) -> None:
    """Functions in the workers, and jobs."""
    raw, table = str(folder / "raw"), str(folder / "table")
    frame = spark.range(0, 1000, 1, 4).selectExpr(
        "id",
        "cast(id as string) as text",
        "id % 3 as p",
        "cast(id / 4 as decimal(10, 2)) as price",
        "timestamp '2024-02-29 01:02:03.456789' as at",
        "array(id, null) as list",
    )
    frame.write.parquet(raw)
    done = osp.convert(raw, table, partition_by=["p"], spark=spark)
    assert sum(row.rows for row in done.collect()) == 1000
    found = osp.map_batches(spark, table, lambda batches: batches, "id bigint, p int", columns=["id", "p"])
    assert rows(found) == [(at, at % 3) for at in range(1000)]
    some = osp.map_batches(
        spark, table, lambda batches: batches, "id bigint", columns=["id"], filters=orcish.col("id") < 5
    )
    assert rows(some) == [(at,) for at in range(5)]
    pandas = osp.map_pandas(spark, table, lambda frames: frames, "text string", columns=["text"], filters="id = 7")
    assert rows(pandas) == [("7",)]
    assert osp.compact(table, spark=spark).count() == 3
    assert osp.verify(table, spark=spark).count() == 0
    assert {row.column: row.rows for row in osp.profile(table, spark=spark).collect()}["id"] == 1000
    # By Spark's own reader.
    order = ["id", "text", "price", "at", "list", "p"]
    assert rows(spark.read.orc(table).select(*order)) == rows(frame.select(*order))


def carbon(spark: SparkSession, folder: Path) -> None:
    """A table of CarbonData, in the workers and as ORC, and from 4.0 on by its data source."""
    table, out = str(folder / "carbon"), str(folder / "carbon-orc")
    at = pa.array(range(0, 10**9, 10**7), pa.timestamp("ms"))
    wanted = pa.table({"id": pa.array(range(100)), "p": [f"p{i % 2}" for i in range(100)], "at": at})
    CarbonTableWriter(table, wanted.schema, partition_by=("p",)).load(wanted)
    schema = "id bigint, p string, at timestamp"
    found = rows(osp.map_batches(spark, table, lambda batches: batches, schema))
    assert [row[:2] for row in found] == [(i, f"p{i % 2}") for i in range(100)]
    osp.convert(table, out, spark=spark)
    assert rows(spark.read.orc(out).select("id", "p", "at")) == found
    if VERSION >= (4, 0):
        assert rows(spark.read.format("carbondata").load(table)) == found
        assert spark.read.format("orcish").option("filters", "at < timestamp '1970-01-02'").load(table).count() == 9


def source(spark: SparkSession, folder: Path) -> None:
    """The data source, for reading and writing."""
    table, out = str(folder / "table"), str(folder / "out")
    found = spark.read.format("orcish").load(table)
    assert rows(found) == rows(spark.read.orc(table))
    assert spark.read.format("orcish").option("filters", "id > 990").load(table).count() == 9
    assert osp.read(spark, table, columns=["text"], filters="id = 5").collect()[0][0] == "5"
    found.write.format("orcish").mode("append").option("partitionBy", "p").save(out)
    found.write.format("orcish").mode("overwrite").option("partitionBy", "p").save(out)
    assert rows(spark.read.orc(out)) == rows(spark.read.orc(table))


def stream(spark: SparkSession, folder: Path) -> None:
    """A table as a stream, into one of Spark's, and from 4.1 on into one of orcish's."""
    table, state = str(folder / "table"), str(folder / "state")
    for sink in ("parquet", "orcish") if VERSION >= (4, 1) else ("parquet",):
        out = folder / f"stream-{sink}"
        read = spark.readStream.format("orcish").option("stateLocation", f"{state}-{sink}").load(table)
        write = read.writeStream.format(sink).option("checkpointLocation", f"{out}-checkpoint").outputMode("append")
        query = write.start(str(out))
        query.processAllAvailable()
        query.stop()
        found = spark.read.format(sink).load(str(out))
        assert rows(found.select("id")) == [(at,) for at in range(1000)], sink


def main() -> None:
    spark = session()
    print(f"pyspark {spark.version}, Python {sys.version.split()[0]}, pyarrow {pa.__version__}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for step in (jobs, carbon, source, stream) if VERSION >= (4, 0) else (jobs, carbon):
            step(spark, Path(folder))
            print(f"{step.__name__}: right", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
