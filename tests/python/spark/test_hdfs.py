"""Tables of Spark in HDFS."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orcish
import orcish.spark as osp
import pytest
from orcish.tables.commit import Job
from pyspark.errors import PySparkException
from support.hdfs_store import Hdfs
from support.spark_tables import assert_same, every_type, rows_of
from support.staged_commits import LOG, decide, staged

Spark = Any


@pytest.fixture
def table(hdfs: Hdfs) -> str:
    return f"{hdfs.url}/db/t"


def save(frame: Any, table: str, mode: str = "append", **more: str) -> None:
    frame.write.format("orcish").options(**more).mode(mode).save(table)


def load(spark: Spark, path: str) -> Any:
    return spark.read.format("orcish").load(path)


def left_over(hdfs: Hdfs) -> list[str]:
    """Files that are neither data nor the log."""
    known = ("_SUCCESS", "_orcish/clock")
    found = [name for name in hdfs.files("/db/t") if name not in known and not name.startswith("_orcish/log/")]
    return [name for name in found if "/." in f"/{name}" or not name.endswith(".orc")]


def test_there_and_back(spark: Spark, hdfs: Hdfs, table: str) -> None:
    """Spark's own reader and writer of ORC take what orcish gives, and the reverse."""
    every_type(spark).write.orc(f"{hdfs.url}/spark")
    frame = spark.read.orc(f"{hdfs.url}/spark")
    assert_same(load(spark, f"{hdfs.url}/spark"), frame)
    save(frame, table)
    assert_same(load(spark, table), frame)
    assert_same(spark.read.orc(table), frame)
    save(frame, table)
    assert load(spark, table).count() == 2 * frame.count()
    save(frame, table, "overwrite")
    assert_same(load(spark, table), frame)
    assert left_over(hdfs) == []
    assert osp.verify(table, spark=spark).isEmpty()


def test_jobs(spark: Spark, hdfs: Hdfs, table: str, tmp_path: Path) -> None:
    ids = sorted(repr({"id": at}) for at in range(300))
    for at in range(3):
        frame = spark.range(at * 100, at * 100 + 100).selectExpr("id", "id % 2 as p", "cast(id as string) as text")
        frame.write.parquet(str(tmp_path / f"{at}"))
        osp.convert(str(tmp_path / f"{at}"), table, partition_by=["p"], existing_data="append", spark=spark)
    assert rows_of(load(spark, table).select("id")) == ids
    done = osp.compact(table, spark=spark).collect()
    assert sorted((row.folder, row.action, row.files) for row in done) == [("p=0", "merge", 3), ("p=1", "merge", 3)]
    assert rows_of(load(spark, f"{table}/p=*").select("id")) == ids
    assert rows_of(spark.read.orc(table).select("id")) == ids
    assert left_over(hdfs) == []


def test_nothing_appears_before_the_commit(spark: Spark, hdfs: Hdfs, table: str) -> None:
    save(spark.range(10), table)
    before = hdfs.files("/db/t")
    with pytest.raises(PySparkException, match="boom"):
        save(spark.range(10, 20, 1, 2).selectExpr("if(id = 19, raise_error('boom'), id) as id"), table)
    assert hdfs.files("/db/t") == before
    # The next writer finishes the commit of a dead one.
    job = Job(table)
    previous = json.loads(hdfs.get(f"/db/t/{LOG}/{0:012}.json"))["job"]
    decide(job, [staged(job, [30]), staged(job, [31])], published=1, number=1, previous=previous)
    save(spark.range(40, 41), table)
    assert sorted(orcish.read_table(table)["id"].to_pylist()) == [*range(10), 30, 31, 40]
    assert left_over(hdfs) == []
