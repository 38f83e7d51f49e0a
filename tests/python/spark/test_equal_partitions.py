"""Dynamic overwrites replace the partitions of equal values, whatever Spark or orcish has called their folders."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
from support.case_loops import each_case
from support.spark_tables import assert_same, ids_of

Spark = Any

INSTANT = pa.timestamp("us", "UTC")
NOON = dt.datetime(2026, 1, 1, 12)

CASES: dict[str, tuple[pa.Array, list[str]]] = {
    "decimals": (pa.array([Decimal("1.00"), Decimal("2.50")]), ["1.0d", "cast(1 as decimal(9, 4))", "1", "'1.0'"]),
    "floats": (pa.array([1.0, 1e-5]), ["1.0d", "float(1)", "1", "1.0bd", "'1'"]),
    "instants": (
        pa.array([NOON, None], INSTANT),
        ["timestamp'2026-01-01 12:00:00+00:00'", "'2026-01-01 13:00:00+01:00'", "timestamp'2026-01-01 21:00:00+09:00'"],
    ),
    "timestamps": (pa.array([NOON, None], pa.timestamp("ms")), ["timestamp_ntz'2026-01-01 12:00:00'"]),
    "numbers": (pa.array([1, 2], pa.uint64()), ["1", "'01'", "1L", "cast(1 as decimal(20))"]),
    "booleans": (pa.array([True, False]), ["true", "'TRUE'"]),
    "dates": (pa.array([NOON.date(), None]), ["date'2026-01-01'", "'2026-1-1'"]),
}


def overwrite(frame: Any, table: Path, **options: str) -> None:
    writer = frame.write.format("orcish").mode("overwrite").options(**options)
    writer.option("partitionBy", "k").option("partitionOverwriteMode", "dynamic").save(str(table))


@each_case("case", CASES)
def test_partitions_of_orcish(spark: Spark, tmp_path: Path, case: str) -> None:
    """Rows of Spark get the types of the table, and the names of its folders."""
    values, literals = CASES[case]
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [0, 1], "k": values}), table, partition_by=["k"])
    folders = {path.name for path in table.glob("k=*")}
    for literal in literals:
        overwrite(spark.sql(f"select 7L as id, {literal} as k"), table, sessionTimezone="America/New_York")
        found = orcish.read_table(table).sort_by("id")
        assert found["id"].to_pylist() == [1, 7], literal
        assert found["k"].combine_chunks().equals(pa.concat_arrays([values[1:], values[:1]])), literal
        assert {path.name for path in table.glob("k=*")} == folders
    assert_same(spark.read.format("orcish").load(str(table)), spark.read.orc(str(table)))


@each_case(
    ("first", "second"),
    [
        ("cast(1 as decimal(9, 2))", "cast(1 as decimal(9, 4))"),
        ("1.0d", "float(1)"),
        ("timestamp_ntz'2026-01-01 12:00:00'", "timestamp_ntz'2026-01-01 12:00:00'"),
    ],
)
def test_partitions_of_spark(spark: Spark, tmp_path: Path, first: str, second: str) -> None:
    """The same for tables that Spark itself has written, and that our data source has."""
    for at, form in enumerate(("orc", "orcish")):
        table = tmp_path / form
        frame = spark.sql(f"select 0L as id, {first} as k union all select 1L, null")
        if at:
            frame.write.format("orcish").mode("append").option("partitionBy", "k").save(str(table))
        else:
            frame.write.partitionBy("k").orc(str(table))
        overwrite(spark.sql(f"select 7L as id, {second} as k"), table)
        assert ids_of(table) == [1, 7]


def test_instants_of_spark(spark: Spark, tmp_path: Path) -> None:
    """Names without an offset are on the clock of the session."""
    frame = spark.sql(
        "select 0L as id, timestamp'2026-01-01 12:00:00Z' as k union all select 1L, timestamp'2026-01-01 17:00:00Z'"
    )
    table = tmp_path / "t"
    (table / "k=2026-01-01 12%3A00%3A00+00%3A00").mkdir(parents=True)
    orcish.write_table(pa.table({"id": [2]}), table / "k=2026-01-01 12%3A00%3A00+00%3A00" / "a.orc")
    options = {"partitionBy": "k", "sessionTimezone": "America/New_York"}
    frame.write.format("orcish").mode("append").options(**options).save(str(table))
    assert (table / "k=2026-01-01 12%3A00%3A00").is_dir()
    # In New York it is noon five hours later than in UTC.
    overwrite(
        spark.sql("select 7L as id, timestamp'2026-01-01 12:00:00Z' as k"), table, sessionTimezone="America/New_York"
    )
    assert ids_of(table) == [1, 7]
    overwrite(
        spark.sql("select 8L as id, timestamp'2026-01-01 17:00:00Z' as k"), table, sessionTimezone="America/New_York"
    )
    assert ids_of(table) == [7, 8]
