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
from orcish.spark.table import SparkTable
from pyspark.sql import SparkSession

from support.spark_tables import assert_same, start_spark

ZONE = os.environ["TZ"]
CHANGES = {
    "America/New_York": (dt.datetime(2026, 3, 8, 2), dt.datetime(2026, 11, 1, 1)),
    "Europe/Berlin": (dt.datetime(2026, 3, 29, 2), dt.datetime(2026, 10, 25, 2)),
    "Australia/Lord_Howe": (dt.datetime(2026, 10, 4, 2), dt.datetime(2026, 4, 5, 1, 30)),
    # Which has had none for long.
    "Asia/Kolkata": (dt.datetime(1942, 9, 1), dt.datetime(1945, 10, 15)),
}
FORWARD, BACK = CHANGES[ZONE]
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
    rows = [batch for work in SparkTable.open(options, filters=where).task_inputs() for batch in work.batches()]
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
        assert_same(osp.read(spark, str(folder / "own"), filters=where.replace(" UTC", "Z")), wanted.where(where))
    # What the clock does not show is as much later, in text.
    spark.conf.set("spark.sql.session.timeZone", ZONE)
    text = f"{FORWARD + dt.timedelta(minutes=30):%Y-%m-%d %H%%3A%M%%3A%S}"
    (folder / "parts" / f"p={text}").mkdir(parents=True)
    table_of(folder / "parts" / f"p={text}", "a.orc", [None])
    assert_same(osp.read(spark, str(folder / "parts")), spark.read.orc(str(folder / "parts")))


def instants() -> list[int]:
    """Microseconds since 1970: where the clock is put forward and back, and where the calendar or the zone changes."""
    around = [int(clock.replace(tzinfo=UTC).timestamp()) for clock in (FORWARD, BACK)]
    near = [second + 900 * step for second in around for step in range(-60, 60)]
    years = [
        dt.datetime(year, 7, 4, 5, 6, 7, tzinfo=UTC) for year in (2, 1000, 1500, 1582, 1583, 1800, 1883, 1900, 1945)
    ]
    far = [int(value.timestamp()) for value in [*years, dt.datetime(2038, 7, 1, tzinfo=UTC)]]
    far += [13_579_632_000, 253_300_000_000]
    some = [second * 10**6 + 123456 for second in [*near, *far]]
    return [*some, -1_500_000, -(10**6), 0, 1]


def check_instants(spark: SparkSession, folder: Path) -> None:
    """Whoever writes and whoever reads, instants are the same, both of those that the clock shows alike too."""
    wanted = instants()
    frame = spark.createDataFrame(list(enumerate(wanted)), "id int, n long").selectExpr(
        "id", "timestamp_micros(n) t", "struct(array(timestamp_micros(n)) as l, map('k', timestamp_micros(n)) as m) s"
    )
    by_spark, by_orcish, appended = (str(folder / name) for name in ("by_spark", "by_orcish", "appended"))
    frame.coalesce(1).write.orc(by_spark)
    frame.coalesce(1).write.format("orcish").mode("append").save(by_orcish)

    def same(path: str) -> None:
        own = spark.read.orc(path).selectExpr("id", "unix_micros(t) n", "unix_micros(s.l[0]) l", "unix_micros(s.m.k) m")
        rows = {row.id: (row.n, row.l, row.m) for row in own.collect()}
        assert rows == {at: (n, n, n) for at, n in enumerate(wanted)}, path
        read = SparkTable.open(TableOptions.of({"path": path})).task_inputs()
        found = [row for work in read for batch in work.batches() for row in batch.to_pylist()]
        assert {row["id"]: row["t"] for row in found} == {at: moment(n) for at, n in enumerate(wanted)}, path
        assert all(row["s"] == {"l": [row["t"]], "m": [("k", row["t"])]} for row in found), path
        table = orcish.read_table(path, timestamps="instant").sort_by("id")
        assert table["t"].cast(pa.int64()).to_pylist() == wanted, path

    same(by_spark)
    same(by_orcish)
    (file,) = Path(by_orcish).glob("*.orc")
    assert orcish.ORCFile(file).writer_timezones() == [ZONE]
    # What Python adds is stored as what is there.
    half = len(wanted) // 2
    frame.where(f"id < {half}").coalesce(1).write.orc(appended)
    rest = orcish.read_table(by_spark, timestamps="instant", filters=orcish.col("id") >= half)
    orcish.write_dataset(rest, appended, existing_data="append")
    same(appended)
    types = [orcish.ORCFile(file).type_string for file in Path(appended).glob("*.orc")]
    assert (len(types), len(set(types))) == (2, 1)
    assert osp.verify(appended, spark=spark).isEmpty()
    osp.compact(appended, rewrite=True, spark=spark)
    same(appended)
    # Spark reads both types alike, and so do we.
    for file in Path(appended).glob("*.orc"):
        orcish.write_table(rest, file.with_name("zoned.orc"))
    mixed = [orcish.scan(appended), orcish.scan([str(folder / "appended" / "zoned.orc"), by_spark])]
    for scan in mixed:
        assert scan.schema.field("t").type == pa.timestamp("us", "UTC")
        found = {row["id"]: row["t"] for row in scan.to_table().to_pylist()}
        assert found == {at: moment(n) for at, n in enumerate(wanted)}
    messages = [(row.column, row.message) for row in osp.verify(appended, spark=spark).collect()]
    assert {column for column, _ in messages} == {"t", "s.l.element", "s.m.value"}
    assert all("timestamp with local time zone" in message for _, message in messages)
    # Spark takes instants before 1900 for clocks that show local mean time, where they are none.
    recent = "t >= timestamp'1900-01-02 00:00:00'"
    assert_same(spark.read.format("orcish").load(appended).where(recent), spark.read.orc(appended).where(recent))
    osp.convert(appended, str(folder / "by_convert"), spark=spark)
    osp.compact(appended, spark=spark)
    for path in (appended, str(folder / "by_convert")):
        rows = spark.read.orc(path).where(recent).selectExpr("id", "unix_micros(t) n").distinct().collect()
        assert {row.id: row.n for row in rows} == {at: n for at, n in enumerate(wanted) if n > -2_208_900_000_000_000}


def moment(micros: int) -> dt.datetime:
    return dt.datetime(1970, 1, 1, tzinfo=UTC) + dt.timedelta(microseconds=micros)


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
    check_instants(spark, folder)
    print("instants")
    check_folders(spark, folder)
    print("folders")


if __name__ == "__main__":
    spark = session()
    check(spark, Path(sys.argv[1]))
    spark.stop()
