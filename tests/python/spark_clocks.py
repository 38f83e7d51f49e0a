"""Run by a test in a process whose time zone puts the clock forward and back: wall clocks as Spark's reader takes them,
predicates on them, and names of folders.
"""

from __future__ import annotations

import datetime as dt
import operator
import os
import sys
from pathlib import Path
from typing import Any

import orcish
import orcish.spark as osp
import pyarrow as pa
from orcish.spark.options import TableOptions
from orcish.spark.tables import SparkTable
from pyspark.sql import SparkSession
from spark_cases import assert_same, start_spark

ZONE = os.environ["TZ"]
FORWARD = {"America/New_York": dt.datetime(2026, 3, 8, 2), "Europe/Berlin": dt.datetime(2026, 3, 29, 2)}[ZONE]
BACK = {"America/New_York": dt.datetime(2026, 11, 1, 1), "Europe/Berlin": dt.datetime(2026, 10, 25, 2)}[ZONE]
UTC = dt.timezone.utc
OPERATORS = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def clocks(around: dt.datetime) -> list[dt.datetime]:
    return [around + dt.timedelta(minutes=minutes) for minutes in range(-180, 240, 15)]


def table_of(folder: Path, name: str, values: list[dt.datetime | None]) -> str:
    orcish.write_table(pa.table({"id": range(len(values)), "t": pa.array(values, pa.timestamp("us"))}), folder / name)
    return str(folder / name)


def read(path: str, where: Any = None) -> dict[int, Any]:
    """Instants by their ids, without a job."""
    options = TableOptions.of({"path": path})
    rows = [batch for work in SparkTable.open(options, filters=where).work() for batch in work.batches()]
    return {row["id"]: row["t"] for batch in rows for row in batch.to_pylist()}


def check_skipped(spark: SparkSession, folder: Path) -> None:
    path = table_of(folder, "skipped.orc", [*clocks(FORWARD), None])
    assert_same(spark.read.format("orcish").load(path), spark.read.orc(path))
    assert set(read(path).values()) == {
        row.t.astimezone(UTC) if row.t else None for row in spark.read.orc(path).collect()
    }


def check_predicates(folder: Path) -> None:
    for name, around in [("forward.orc", FORWARD), ("back.orc", BACK), ("plain.orc", dt.datetime(2026, 6, 1))]:
        path = table_of(folder, name, [*clocks(around), None])
        rows = read(path)
        starts = sorted(value for value in rows.values() if value is not None)[0]
        for minutes in range(-120, 480, 15):
            literal = starts + dt.timedelta(minutes=minutes)
            for symbol, test in OPERATORS.items():
                found = set(read(path, f"t {symbol} timestamp '{literal:%Y-%m-%d %H:%M:%S}Z'"))
                wanted = {at for at, value in rows.items() if value is not None and test(value, literal)}
                assert found == wanted, (name, symbol, literal)
            column = orcish.col("t")
            assert set(read(path, column != literal)) == {at for at, v in rows.items() if v not in (literal, None)}
            later = literal + dt.timedelta(minutes=30)
            among = {at for at, value in rows.items() if value in (literal, later)}
            assert set(read(path, column.is_in([literal, later]))) == among
            assert set(read(path, ~column.is_in([literal, None]))) == set()


def check_folders(spark: SparkSession, folder: Path) -> None:
    """Are named in the zone of the session, and not in that of the machine."""
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    frame = spark.range(4).selectExpr("id", "timestamp'2026-03-08 02:30:00' + id * interval '9' hour as p")
    frame.write.partitionBy("p").orc(str(folder / "own"))
    given = {"partitionBy": "p", "sessionTimezone": "Asia/Tokyo"}
    frame.write.format("orcish").options(**given).mode("append").save(str(folder / "written"))
    osp.convert(frame, str(folder / "converted"), partition_by=["p"])
    osp.convert(str(folder / "own"), str(folder / "again"))
    own = sorted(path.name for path in (folder / "own").glob("p=*"))
    assert len(own) == 4
    for name in ("written", "converted", "again"):
        assert sorted(path.name for path in (folder / name).glob("p=*")) == own, name
    wanted = spark.read.orc(str(folder / "own"))
    assert_same(osp.read(spark, str(folder / "own")), wanted)
    found = spark.read.format("orcish").option("sessionTimezone", "Asia/Tokyo").load(str(folder / "own"))
    assert_same(found, wanted)
    for where in ["p >= timestamp'2026-03-08 11:30:00'", "p < timestamp'2026-03-08 11:30:00 UTC'"]:
        assert_same(osp.read(spark, str(folder / "own"), where=where.replace(" UTC", "Z")), wanted.where(where))
    # What the clock does not show is as much later, in text.
    spark.conf.set("spark.sql.session.timeZone", ZONE)
    text = f"{FORWARD + dt.timedelta(minutes=30):%Y-%m-%d %H%%3A%M%%3A%S}"
    (folder / "parts" / f"p={text}").mkdir(parents=True)
    table_of(folder / "parts" / f"p={text}", "a.orc", [None])
    assert_same(osp.read(spark, str(folder / "parts")), spark.read.orc(str(folder / "parts")))


def session() -> Any:
    """In whose JVM the zone is that of this process."""
    return start_spark(
        "local[1]",
        spark_driver_extraJavaOptions=f"-Duser.timezone={ZONE}",
        spark_log_level="ERROR",
        spark_sql_shuffle_partitions="1",
    )


def check(spark: SparkSession, folder: Path) -> None:
    check_skipped(spark, folder)
    print("skipped")
    check_predicates(folder)
    print("predicates")
    check_folders(spark, folder)
    print("folders")


if __name__ == "__main__":
    spark = session()
    check(spark, Path(sys.argv[1]))
    spark.stop()
