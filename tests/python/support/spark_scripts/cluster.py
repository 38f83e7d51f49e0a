"""Run by a test: a cluster of two workers in processes of their own, which get all by being sent it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import orcish.spark as osp
import pyarrow as pa

from support.spark_tables import assert_same, every_type, ids_of, left_over, start_spark, table_of


def main(folder: Path) -> None:
    spark = start_spark(
        "local-cluster[2,1,512]",
        spark_sql_shuffle_partitions="2",
        spark_executorEnv_PYTHONPATH=os.environ["PYTHONPATH"],
        spark_executor_memory="512m",
        spark_speculation="true",
        spark_speculation_interval="50ms",
        spark_speculation_quantile="0.5",
        spark_speculation_multiplier="1.2",
        spark_speculation_minTaskRuntime="500ms",
    )

    table = str(folder / "t")
    frame = every_type(spark)
    frame.write.format("orcish").mode("append").save(table)
    frame.write.orc(str(folder / "own"))
    assert_same(spark.read.orc(table), spark.read.orc(str(folder / "own")))
    assert left_over(folder / "t") == []
    print("write")
    found = osp.read(spark, table)
    assert_same(found, spark.read.orc(table))
    print("read")

    def where(batches: Any) -> Any:
        for batch in batches:
            time.sleep(0.3)
            yield pa.record_batch({"pid": [os.getpid()], "rows": [len(batch)]})

    done = osp.map_batches(spark, table, where, "pid bigint, rows bigint", min_splits=8).collect()
    assert sum(row.rows for row in done) == 100
    assert os.getpid() not in {row.pid for row in done}
    print("map_batches")

    # A task that is slow the first time, and is started a second time meanwhile: one of both counts.
    mark = folder / "slow"

    def slow(batches: Any) -> Any:
        for batch in batches:
            if 99 in batch.column(0).to_pylist() and not mark.exists():
                mark.touch()
                time.sleep(20)
            yield batch

    rows = spark.range(0, 400, 1, 4).mapInArrow(slow, "id bigint")
    rows.write.format("orcish").mode("append").save(str(folder / "s"))
    assert ids_of(folder / "s") == list(range(400))
    assert len(table_of(folder / "s")) == 4
    print("speculation")

    done = osp.compact(str(folder / "s"), spark=spark)
    assert [row.rows for row in done.collect()] == [400]
    assert ids_of(folder / "s") == list(range(400))
    assert osp.verify(table, spark=spark).collect() == []
    osp.convert(table, str(folder / "c"), spark=spark)
    assert_same(spark.read.orc(str(folder / "c")), spark.read.orc(table))
    print("jobs")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
