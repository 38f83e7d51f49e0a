"""Rows of Spark that are appended to a table of other types: they are refused, with the cast that makes them fit."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import orcish
import orcish.spark as osp
import pyarrow as pa
import pytest
from orcish.spark.options import WriterOptions
from orcish.spark.writers import OrcishStreamWriter
from pyspark.sql import functions as F  # noqa: N812
from support.case_loops import each_case
from support.random_cases import each_value, pairs

Spark = Any

INSTANT = "timestamp'2026-06-01 12:00:00'"
WALL = "timestamp_ntz'2026-06-01 12:00:00'"
ADVICE = re.compile(r'\.withColumn\("(\w+)", col\("\w+"\)\.cast\("([^"]+)"\)\)')

SHAPES = {
    "column": "{}",
    "element": "array({})",
    "field": "named_struct('a', {}, 'b', 1)",
    "value": "map('k', {})",
    "deep": "array(map('k', named_struct('a', array({}))))",
}


def append(frame: Any, table: Path, **options: str) -> None:
    frame.write.format("orcish").mode("append").options(**options).save(str(table))


def convert(frame: Any, table: Path, **options: str) -> None:
    by = options.get("partitionBy")
    osp.convert(frame, table, partition_by=[by] if by else None, existing_data="append", spark=frame.sparkSession)


def stream(frame: Any, table: Path, **options: str) -> None:
    OrcishStreamWriter(WriterOptions.of({"path": str(table), **options}), frame.schema)
    # A writer of a stream begins with the same check.
    append(frame, table, **options)


def check(way: Any, frame: Any, table: Path, said: str, **options: str) -> None:
    """The append is refused and changes nothing, and succeeds with the cast of the message."""
    before = orcish.scan(table).count()
    with pytest.raises(Exception, match=said) as raised:
        way(frame, table, **options)
    assert orcish.scan(table).count() == before
    found = ADVICE.search(str(raised.value))
    assert found is not None, raised.value
    name, kind = found.groups()
    way(frame.withColumn(name, F.col(name).cast(kind)), table, **options)
    assert orcish.scan(table).count() == before + 1


WAYS = [*((append, shape) for shape in SHAPES), (convert, "column"), (convert, "deep"), (stream, "deep")]


@each_case(("which", "first"), each_value(WAYS, [INSTANT, WALL]))
def test_wall_clocks_and_instants(spark: Spark, tmp_path: Path, which: tuple[Any, str], first: str) -> None:
    """They are no values of each other, in tables of orcish and of Spark's own writer."""
    way, shape = which
    second = WALL if first == INSTANT else INSTANT
    value = SHAPES[shape]
    table = tmp_path / "t"
    frame = spark.sql(f"select 1 id, {value.format(first)} t")
    if way is convert:
        frame.write.orc(str(table))
    else:
        append(frame, table)
    append(frame, table)
    kinds = ["timestamp", "timestamp_ntz"] if second == INSTANT else ["timestamp_ntz", "timestamp"]
    said = rf"column t[a-z.]* of the rows is {kinds[0]}, and {kinds[1]} in the table: cast the rows"
    check(way, spark.sql(f"select 2 id, {value.format(second)} t"), table, said)
    # Readers see one wall clock in all rows.
    seen = spark.read.format("orcish").load(str(table)).selectExpr("cast(t as string) t").distinct().collect()
    expected = spark.sql(f"select cast({value.format(first)} as string)").first()
    assert [tuple(row) for row in seen] == [tuple(expected)]


@each_case(("way", "zone", "column"), pairs([append, convert], [None, "UTC", "Europe/Berlin"], ["k", "v"]))
def test_timestamps_of_pandas(spark: Spark, tmp_path: Path, way: Any, zone: str | None, column: str) -> None:
    """Timestamps without a time zone are wall clocks, also in partition columns with types."""
    noon = pa.array([dt.datetime(2026, 6, 1, 12)], pa.timestamp("us", zone))
    orcish.write_dataset(pa.table({"id": [1], "k": noon, "v": noon}), tmp_path, partition_by=["k"])
    values = {"k": WALL if zone is None else INSTANT, "v": WALL if zone is None else INSTANT}
    fitting = spark.sql(f"select 2L id, {values['k']} k, {values['v']} v")
    way(fitting, tmp_path, partitionBy="k")
    values[column] = INSTANT if zone is None else WALL
    kinds = ("timestamp", "timestamp_ntz") if zone is None else ("timestamp_ntz", "timestamp")
    said = f"column {column} of the rows is {kinds[0]}, and {kinds[1]} in the table"
    check(way, spark.sql(f"select 3L id, {values['k']} k, {values['v']} v"), tmp_path, said, partitionBy="k")
    found = orcish.read_table(tmp_path)
    assert set(found["k"].to_pylist()) == set(found["v"].to_pylist()) == set(noon.to_pylist())


@each_case(
    ("table", "rows", "cast"),
    [
        (pa.array([1]), "'2'", "bigint"),
        (pa.array([1], pa.int32()), "2L", "int"),
        (pa.array([1]), "2.0d", "bigint"),
        (pa.array(["a"], pa.large_string()), "2", "string"),
        (pa.array([1.5], pa.float32()), "2.5d", "float"),
        (pa.array([dt.date(2026, 1, 1)]), "'2026-01-01'", "date"),
        (pa.array(["a"]).dictionary_encode(), "2", "string"),
        (pa.array([{"a": 1, "b": 2}]), "named_struct('b', '2', 'a', 1L)", "struct<b:bigint,a:bigint>"),
        (pa.array([[1]]), "array('2')", "array<bigint>"),
    ],
    ids=str,
)
def test_types_that_do_not_fit(spark: Spark, tmp_path: Path, table: pa.Array, rows: str, cast: str) -> None:
    orcish.write_dataset(pa.table({"id": [1], "v": table}), tmp_path)
    frame = spark.sql(f"select 2L id, {rows} v")
    said = re.escape(f'.withColumn("v", col("v").cast("{cast}")), or replace the table with .mode("overwrite")')
    check(append, frame, tmp_path, said)


def test_types_that_no_cast_makes_fit(spark: Spark, tmp_path: Path) -> None:
    orcish.write_dataset(pa.table({"v": pa.array([1], pa.uint64())}), tmp_path)
    with pytest.raises(Exception, match=r'write to another table, or replace the table with existing_data="overwrite"'):
        osp.convert(spark.sql("select 'x' v"), tmp_path, existing_data="append", spark=spark)
    with pytest.raises(Exception, match=r"differ only by case: rename the column of the rows$"):
        osp.convert(spark.sql("select 'x' V"), tmp_path, existing_data="append", spark=spark)
