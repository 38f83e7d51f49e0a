"""The schema in the log of a table, and Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orcish
import orcish.spark as osp
import pyarrow as pa
import pyarrow.orc as po
import pytest
from orcish.errors import UnfinishedCommitError
from orcish.tables.commit import Job
from orcish.tables.folder import Folder
from pyspark.sql import SparkSession
from support.case_loops import each_case
from support.staged_commits import decide, staged


def append(spark: SparkSession, rows: str, table: Path, *by: str) -> None:
    writer = spark.sql(f"select * from values {rows}").write.format("orcish").mode("append")
    writer.options(**({"partitionBy": by[0]} if by else {})).save(str(table))


def read(spark: SparkSession, table: Path, **options: Any) -> Any:
    return spark.read.format("orcish").options(**options).load(str(table))


def test_columns_of_appends(spark: SparkSession, tmp_path: Path) -> None:
    """Spark and Python add columns to one table, and both see all of them."""
    table = tmp_path / "t"
    append(spark, "(1, 'a') as t(id, k)", table, "k")
    orcish.write_dataset(pa.table({"s": ["x"], "k": ["b"]}), table, partition_by=["k"], existing_data="append")
    append(spark, "(1.5D, 'b') as t(d, k)", table, "k")
    wanted = [(1, None, None, "a"), (None, "x", None, "b"), (None, None, 1.5, "b")]
    assert read(spark, table).columns == ["id", "s", "d", "k"]
    for merge in ("false", "true"):
        assert sorted(map(str, read(spark, table, mergeSchema=merge).collect())) == sorted(
            map(str, spark.createDataFrame(wanted, "id int, s string, d double, k string").collect())
        )
    assert orcish.scan(table).schema.names == ["id", "s", "d", "k"]
    with pytest.raises(Exception, match=r"column s of the rows"):
        append(spark, "(2, 'a') as t(s, k)", table, "k")
    with pytest.raises(Exception, match=r"differ only by case"):
        append(spark, "(2, 'a') as t(D, k)", table, "k")
    assert osp.compact(str(table), spark=spark).count() == 1
    assert read(spark, table).columns == ["id", "s", "d", "k"]
    assert osp.delete(str(table), "k >= 'a'", spark=spark).collect()[0].rows == 3
    assert (read(spark, table).columns, read(spark, table).count()) == (["id", "s", "d", "k"], 0)
    append(spark, "(7, 'a') as t(id, k)", table, "k")
    assert [tuple(row) for row in read(spark, table).collect()] == [(7, None, None, "a")]


def test_the_state_before_a_commit(spark: SparkSession, tmp_path: Path) -> None:
    table = tmp_path / "t"
    append(spark, "(1L) as t(id)", table)
    job = Job(str(table))
    added = [staged(job, range(5))]
    decide(job, added, number=1, previous=orcish.history(table)[-1].job)
    assert read(spark, table, pending="before").count() == 1
    assert osp.read(spark, str(table), pending="before").count() == 1
    with pytest.raises(Exception, match=r"option pending='x': must be wait or before"):
        read(spark, table, pending="x").count()
    orcish.recover(table)
    assert read(spark, table, pending="before").count() == 6


def test_partition_columns_with_dates(spark: SparkSession, tmp_path: Path) -> None:
    """Tables of Spark have dates in their folders as other tables have, with rows and without."""
    table = str(tmp_path / "t")
    rows = spark.sql("select id, date'2026-01-01' + int(id % 2) day, id % 2 = 0 even from range(6)")
    rows.write.format("orcish").mode("append").option("partitionBy", "day,even").save(table)
    assert orcish.scan(table).schema.field("day").type == pa.date32()
    assert orcish.scan(table, filters="day = date '2026-01-02'").count() == 3
    assert read(spark, Path(table)).where("day = date'2026-01-02'").count() == 3
    assert osp.read(spark, table, filters="day = date '2026-01-02'").count() == 3
    osp.delete(table, "day = date '2026-01-02'", spark=spark).collect()
    orcish.delete(table, "true")
    assert orcish.scan(table).schema.field("day").type == pa.date32()
    assert orcish.scan(table, filters="day = date '2026-01-02'").count() == 0


def test_a_commit_that_is_decided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of a commit that is decided says so."""
    table = tmp_path / "t"
    table.mkdir()
    job = Job(str(table))
    file = staged(job, range(3))
    folder = Folder(str(table), {})
    blocked = table / job.name_of(file)
    (tmp_path / "elsewhere").mkdir()

    def commit() -> None:
        job.commit([file])

    (table / "_orcish" / "log").mkdir(parents=True, exist_ok=True)
    # The marker cannot be written where a folder has its name.
    (table / "_orcish" / "log" / "000000000000.done" / "x").mkdir(parents=True)
    with pytest.raises(UnfinishedCommitError) as error:
        commit()
    assert error.value.is_decided is True
    assert blocked.exists()
    assert folder.stat(job.name_of(file)) is not None


@each_case(("condition", "left"), [("t = {}", [0, 1, 2]), ("t > {}", []), ("t <= {}", [0, 1, 2])])
def test_deleted_rows_are_those_of_all_digits(condition: str, left: list[int], spark: Any, tmp_path: Path) -> None:
    """As in the package: see ``tests/python/filters/test_same_rows.py``."""
    table = tmp_path / "t"
    table.mkdir()
    values = pa.array([1_500_000_000_000_000_000 + step for step in (1, 500, 999)], pa.timestamp("ns"))
    po.write_table(pa.table({"id": range(3), "t": values}), table / "a.orc")
    done = osp.delete(str(table), condition.format("timestamp '2017-07-14 02:40:00'"), spark=spark).collect()[0]
    assert done.rows == 3 - len(left)
    assert (orcish.read_table(table)["id"].to_pylist() if left else list(table.glob("*.orc"))) == left
