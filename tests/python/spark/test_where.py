"""Predicates, names and options of reading: as Spark has the table, and not as its files have it."""

from __future__ import annotations

import datetime as dt
import itertools
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import orcish
import orcish.spark as osp
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish.errors import OrcishError, UnknownColumnError
from orcish.spark.options import TableOptions, WriterOptions
from orcish.spark.table import SparkTable, open_table
from pyspark.errors import PySparkException
from pyspark.sql.types import DayTimeIntervalType, IntegerType, StructField, StructType
from support.case_loops import each_case
from support.small_tables import put
from support.spark_tables import assert_same, rows_of, types_of

Spark = Any
INSTANT = dt.datetime(2026, 7, 1, 12, tzinfo=dt.timezone.utc)


def opened(path: Path, where: Any = None, **options: str) -> SparkTable:
    return SparkTable.open(TableOptions.of({"path": str(path), "timezone": "UTC", **options}), filters=where)


def read(path: Path, where: Any = None, **options: str) -> list[dict[str, Any]]:
    """Rows, without a job."""
    works = opened(path, where, **options).task_inputs()
    return [row for work in works for batch in work.batches() for row in batch.to_pylist()]


def ids(path: Path, where: Any = None, **options: str) -> list[int]:
    return sorted(row["id"] for row in read(path, where, **options))


# Timestamps.


@pytest.fixture
def times(tmp_path: Path) -> Path:
    clocks = [dt.datetime(2026, 7, 1, hour) for hour in (10, 12, 14)]
    nested = [{"T": clock, "items": [clock]} for clock in clocks]
    return put(tmp_path / "t", {"a.orc": pa.table({"id": [10, 12, 14], "t": clocks, "n": nested})})


@each_case(
    "where",
    [
        "t >= timestamp '2026-07-01 12:00:00Z'",
        "t >= timestamp '2026-07-01 14:00:00+02:00'",
        "n.t >= timestamp '2026-07-01 12:00:00Z'",
        orcish.col("t") >= INSTANT,
        pc.field("t") >= pa.scalar(INSTANT),
        pl.col("t") >= INSTANT,
        [("t", ">=", INSTANT)],
    ],
    ids=str,
)
def test_instants(times: Path, where: Any) -> None:
    """Instants are compared with columns that the files store as local times."""
    assert ids(times, where) == [12, 14]
    # Two hours later on the clocks there.
    assert ids(times, where, timezone="Europe/Berlin") == [14]


@each_case("literal", ["timestamp '2026-07-01 12:00:00'", "'2026-07-01 12:00:00'", "date '2026-07-01'"])
@each_case("form", ["t >= {}", "t in ({})", "n.t < {}"])
def test_clocks_whose_zone_is_unknown(times: Path, literal: str, form: str) -> None:
    """A data source sees neither the zone of the JVM nor that of the session."""
    where = form.format(literal)
    with pytest.raises(ValueError, match=r"has no time zone, .* give option sessionTimezone, .* Z or an offset"):
        SparkTable.open(TableOptions.of({"path": str(times), "filters": where}))
    for option in ("timezone", "sessionTimezone"):
        SparkTable.open(TableOptions.of({"path": str(times), "filters": where, option: "Europe/Berlin"}))
    SparkTable.open(TableOptions.of({"path": str(times), "filters": "t >= timestamp '2026-07-01 12:00:00Z'"}))


def test_strings_beside_instants(times: Path) -> None:
    assert ids(times, "t >= '2026-07-01 12:00:00'") == ids(times, "t >= '2026-07-01 12:00:00Z'") == [12, 14]
    assert ids(times, "t >= '2026-07-01 12:00:00'", sessionTimezone="Europe/Berlin") == [10, 12, 14]
    assert ids(times, "t in ('2026-07-01 14:00:00', null) or t < '2026-07-01'") == [14]
    with pytest.raises(ValueError, match="the string 'noon', which is no timestamp"):
        ids(times, "t >= 'noon'")


def test_clocks_without_a_zone(times: Path) -> None:
    """Timestamps without zone, and dates, are in the session time zone."""
    where = "t >= timestamp '2026-07-01 12:00:00'"
    assert ids(times, where) == ids(times, where, timezone="Europe/Berlin") == [12, 14]
    assert ids(times, where, timezone="UTC", sessionTimezone="Europe/Berlin") == [10, 12, 14]
    assert ids(times, where, timezone="Europe/Berlin", sessionTimezone="UTC") == [14]
    assert ids(times, "t >= date '2026-07-02'", sessionTimezone="+13:00") == [12, 14]
    with pytest.raises(ValueError, match="column t"):
        opened(times, "t > 5")


def test_what_pyarrow_and_polars_would_evaluate(times: Path) -> None:
    assert ids(times, pl.col("id") * 2 >= 24) == [12, 14]
    assert ids(times, pl.col("t").dt.hour() > 11) == [12, 14]


def test_what_polars_evaluates_of_folders(parts: Path) -> None:
    assert ids(parts, pl.col("p").abs() > 1) == [0, 1]


# Partition columns.


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    names = ["1.5", "-2", "1e-1", "__HIVE_DEFAULT_PARTITION__"]
    return put(tmp_path / "t", {f"p={name}/a.orc": pa.table({"id": [at]}) for at, name in enumerate(names)})


@each_case(
    "where",
    ["p = 1.5", "p = '1.5'", "p > 1", "p <> 1.5", "not (p > 1)", "p is null", "p in (0.1, -2)", "p not in (0.1, -2)"],
)
def test_numbers_of_folders(spark: Spark, parts: Path, where: str) -> None:
    wanted = spark.read.orc(str(parts)).where(where)
    assert ids(parts, where) == sorted(row.id for row in wanted.collect())


def test_numbers_of_folders_that_do_not_fit(parts: Path) -> None:
    for where in ["p = 'x'", "p = true", "p = date '2026-01-01'", "starts_with(p, '1')"]:
        with pytest.raises(ValueError, match="column p of type double"):
            opened(parts, where)
    assert ids(parts, "is_nan(p)") == []
    assert ids(parts, "p in (1.5, null)") == [0]
    assert ids(parts, "not (p in (1.5, null))") == []
    assert ids(parts, "p = null") == []
    assert ids(parts, pc.field("p") > 1) == [0]
    assert ids(parts, pc.field("p") == 0.1) == [2]


def test_types_of_folders(spark: Spark, tmp_path: Path) -> None:
    for kind, names, where in [
        ("decimal", ["99999999999999999999", "7"], "p > 7"),
        ("timestamp", ["2026-01-31 12%3A00%3A00", "2026-02-01 12%3A00%3A00.5"], "p > timestamp'2026-01-31 12:00:00'"),
        ("dates", ["2026-01-31", "2026-02-01 12%3A00%3A00"], "p > date'2026-01-31'"),
        ("far", ["+12345-01-02", "-0001-01-01", "2026-01-31"], "p > date'2026-01-31'"),
        ("far times", ["+12345-01-02 00%3A00%3A00", "2026-01-31"], "p > date'2026-01-31'"),
    ]:
        table = put(tmp_path / kind, {f"p={name}/a.orc": pa.table({"id": [at]}) for at, name in enumerate(names)})
        wanted = spark.read.orc(str(table))
        found = spark.read.format("orcish").load(str(table))
        assert types_of(found) == types_of(wanted)
        texts = ["id", "cast(p as string) p"]
        assert rows_of(found.selectExpr(*texts)) == rows_of(wanted.selectExpr(*texts))
        assert ids(table, where.replace("date'", "date '"), columns="id") == sorted(
            row.id for row in wanted.where(where).select("id").collect()
        )


# Names.


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    files = {f"P={at}/a.orc": pa.table({"Id": [at], "Nest": [{"Inner": at, "other": 1}]}) for at in range(3)}
    return put(tmp_path / "t", files)


def test_names_in_any_case(mixed: Path) -> None:
    found = read(mixed, columns="ID,nest.INNER,p", where="iD = 1 and NEST.inner = 1 and p = 1")
    assert found == [{"Id": 1, "Nest": {"Inner": 1}, "P": 1}]
    for options in [{"columns": "ID"}, {"filters": "ID = 1"}, {"filters": "p = 1"}, {"columns": "Nest.inner"}]:
        with pytest.raises(UnknownColumnError, match="nearest"):
            opened(mixed, caseSensitive="true", **options)
    with pytest.raises(UnknownColumnError, match="nearest"):
        opened(mixed, columns="Ids")


def test_names_that_are_the_same(spark: Spark, tmp_path: Path) -> None:
    table = put(tmp_path / "t", {"a.orc": pa.table({"id": [1], "ID": [2]})})
    with pytest.raises(PySparkException, match="already exists"):
        spark.read.orc(str(table))
    with pytest.raises(ValueError, match=r"'id' and 'ID'.*caseSensitive"):
        opened(table)
    assert read(table, "ID = 2", caseSensitive="true") == [{"id": 1, "ID": 2}]


def test_partition_by_in_any_case(spark: Spark, tmp_path: Path) -> None:
    frame = spark.range(3).selectExpr("id", "id % 2 as P")
    writer = frame.write.format("orcish").mode("append")
    writer.option("partitionBy", "p").save(str(tmp_path / "t"))
    assert {path.name for path in (tmp_path / "t").glob("*=*")} == {"P=0", "P=1"}
    with pytest.raises(PySparkException, match='no column is named "p"; nearest: P'):
        writer.options(partitionBy="p", caseSensitive="true").save(str(tmp_path / "u"))


# Columns of all files.


def test_merged_names(spark: Spark, tmp_path: Path) -> None:
    table = put(
        tmp_path / "t",
        {
            "a.orc": pa.table({"id": [1], "n": [{"a": 1}]}),
            "b.orc": pa.table({"ID": [2], "N": [{"A": 2, "b": 3}], "x": [1]}),
        },
    )
    found = read(table, mergeSchema="true")
    assert found == [
        {"id": 1, "n": {"a": 1, "b": None}, "x": None},
        {"id": 2, "n": {"a": 2, "b": 3}, "x": 1},
    ]
    assert len(spark.read.option("mergeSchema", "true").orc(str(table)).columns) == 3
    assert list(read(table, mergeSchema="true", caseSensitive="true")[0]) == ["id", "n", "ID", "N", "x"]


@each_case(
    ("one", "other"),
    [
        (pa.array([2**60 + 1]), pa.array([1.5])),
        (pa.array([1.5]), pa.array([2**60 + 1])),
        (pa.array([1.5]), pa.array([2], pa.decimal128(38, 2))),
        (pa.array([[2**60 + 1]]), pa.array([[1.5]])),
        (pa.array([{"a": 2**60 + 1}]), pa.array([{"A": 1.5}])),
        (pa.array([1]), pa.array(["text"])),
    ],
    ids=["whole", "real", "decimal", "list", "struct", "text"],
)
def test_types_that_do_not_go_together(tmp_path: Path, one: pa.Array, other: pa.Array) -> None:
    table = put(tmp_path / "t", {"a.orc": pa.table({"c": one}), "b.orc": pa.table({"C": other})})
    with pytest.raises(OrcishError, match=r"b\.orc: its columns do not go with"):
        opened(table, mergeSchema="true")


TWO_FILES = [
    (pa.array([1.5]), pa.array([2**60 + 1])),
    (pa.array([1.5], pa.float32()), pa.array([2**24 + 1], pa.int32())),
    (pa.array([1.5]), pa.array([Decimal("0.10")])),
    (pa.array([1, 2], pa.timestamp("s")), pa.array([999, 1001], pa.timestamp("ms"))),
    (pa.array([dt.date(2026, 1, 1)]), pa.array([1], pa.timestamp("us"))),
    (pa.array(["text"]), pa.array([5])),
]


@each_case("merge", ["false", "true"])
@each_case("backwards", [False, True])
@each_case(("one", "other"), TWO_FILES, ids=[f"{one.type}-{other.type}" for one, other in TWO_FILES])
def test_values_of_files_of_other_types(
    tmp_path: Path, one: pa.Array, other: pa.Array, backwards: bool, merge: str
) -> None:
    """Each value is that of its file, or an error."""
    pair = (other, one) if backwards else (one, other)
    files = {name: pa.table({"c": values}) for name, values in zip(("a.orc", "b.orc"), pair, strict=True)}
    table = put(tmp_path / "t", files)
    try:
        found = [row["c"] for row in read(table, mergeSchema=merge)]
    except OrcishError as error:
        text = str(error)
        if any(name in text for name in files):
            return
        raise
    alone = [row["c"] for name in files for row in read(put(tmp_path / name, {name: files[name]}))]
    assert found == alone


@each_case("job", ["compact", "convert"])
def test_jobs_change_no_value_of_files_of_other_types(spark: Spark, tmp_path: Path, job: str) -> None:
    for at, pair in enumerate(TWO_FILES):
        for number, (first, second) in enumerate((pair, pair[::-1])):
            table = put(
                tmp_path / f"{at}_{number}", {"a.orc": pa.table({"c": first}), "b.orc": pa.table({"c": second})}
            )
            try:
                before = sorted(orcish.read_table(table)["c"].to_pylist())
            except OrcishError:
                before = None
            target = table if job == "compact" else tmp_path / f"{at}_{number}_new"
            try:
                if job == "compact":
                    osp.compact(str(table), rewrite=True, spark=spark)
                else:
                    osp.convert(str(table), str(target), spark=spark)
            except (OrcishError, PySparkException):
                assert before is None, (job, first.type, second.type)
                assert orcish.read_table(table / "a.orc")["c"].to_pylist() == first.to_pylist()
                continue
            assert before is not None, (job, first.type, second.type)
            assert sorted(orcish.read_table(target)["c"].to_pylist()) == before


def test_types_that_hold_both(tmp_path: Path) -> None:
    table = put(
        tmp_path / "t", {"a.orc": pa.table({"c": pa.array([1], pa.int32())}), "b.orc": pa.table({"c": [2**60 + 1]})}
    )
    assert [row["c"] for row in read(table, mergeSchema="true")] == [1, 2**60 + 1]


@each_case("merge", ["false", "true"])
def test_files_without_bytes(spark: Spark, tmp_path: Path, merge: str) -> None:
    files = {"a.orc": b"", "b.orc": b"", "c.orc": pa.table({"id": [1]}), "d.orc": b"", "e.orc": pa.table({"id": [2]})}
    table = put(tmp_path / "t", files)
    assert ids(table, mergeSchema=merge) == [1, 2]
    assert osp.profile(str(table), spark=spark).first().rows == 2
    (table / "c.orc").write_bytes(b"no ORC")
    with pytest.raises(OrcishError, match=r"c\.orc"):
        opened(table, mergeSchema=merge)


def written(folder: Path, tables: dict[str, pa.Table]) -> Path:
    """A folder of files with Arrow schemas."""
    folder.mkdir()
    for name, table in tables.items():
        orcish.write_table(table, folder / name)
    return folder


NUMBERS = [
    (pa.array([1], pa.duration("us")), pa.array([1], pa.duration("s"))),
    (pa.array([1], pa.duration("ns")), pa.array([1], pa.duration("s"))),
    (pa.array([1], pa.time32("s")), pa.array([1], pa.time32("ms"))),
    (pa.array([1], pa.time64("us")), pa.array([1], pa.time64("ns"))),
    (pa.array([1], pa.time32("s")), pa.array([1], pa.time64("us"))),
]


@each_case("merge", ["false", "true"])
@each_case("backwards", [False, True])
@each_case(("one", "other"), NUMBERS, ids=[f"{one.type}-{other.type}" for one, other in NUMBERS])
def test_numbers_of_several_units(tmp_path: Path, one: pa.Array, other: pa.Array, backwards: bool, merge: str) -> None:
    """Spark has the numbers without their types, or with one unit."""
    pair = (other, one) if backwards else (one, other)
    files = {
        name: pa.table({"id": [1], "n": pa.StructArray.from_arrays([values], ["c"])})
        for name, values in zip(("a.orc", "b.orc"), pair, strict=True)
    }
    table = written(tmp_path / "t", files)
    with pytest.raises(OrcishError, match=r"\.orc: column n\.c: ") as caught:
        opened(table, mergeSchema=merge)
    assert all(str(values.type) in str(caught.value) for values in pair)
    assert ids(table, mergeSchema=merge, columns="id") == [1, 1]


def test_durations_under_a_schema_of_intervals(tmp_path: Path) -> None:
    table = written(tmp_path / "t", {"a.orc": pa.table({"c": pa.array([1], pa.duration("s"))})})
    schema = StructType([StructField("c", DayTimeIntervalType())])
    with pytest.raises(OrcishError, match=r"a\.orc: column c: .*duration\[s\].*duration\[us\]"):
        SparkTable.open(TableOptions.of({"path": str(table), "timezone": "UTC"}), schema)


def test_numbers_are_no_intervals_of_other_files(spark: Spark, tmp_path: Path) -> None:
    files = {"a.orc": pa.table({"c": pa.array([1], pa.duration("us"))}), "b.orc": pa.table({"c": [1]})}
    table = written(tmp_path / "t", files)
    with pytest.raises(PySparkException, match=r"b\.orc: column c: it is bigint in this file"):
        spark.read.format("orcish").load(str(table)).collect()


OF_OTHER_FILES = {
    "tinyint": [pa.array([1], pa.int8())],
    "smallint": [pa.array([1], pa.int8()), pa.array([200], pa.uint8())],
    "string": [pa.array(["a"])],
    "boolean": [pa.array([True])],
    "timestamp": [pa.array([1000], pa.timestamp("ns"))],
    "array<int>": [pa.array([[1]], pa.list_(pa.int32()))],
}


@each_case("merge", ["false", "true"])
@each_case("kind", OF_OTHER_FILES)
def test_nulls_have_the_type_of_other_files(tmp_path: Path, kind: str, merge: str) -> None:
    columns = [pa.nulls(1), *OF_OTHER_FILES[kind]]
    for number, order in enumerate(itertools.permutations(columns)):
        files = {f"{at}.orc": pa.table({"c": column}) for at, column in enumerate(order)}
        table = written(tmp_path / str(number), files)
        assert opened(table, mergeSchema=merge).schema.simpleString() == f"struct<c:{kind}>"
        found = [row["c"] for row in read(table, mergeSchema=merge)]
        assert [value is None for value in found] == [column.type == pa.null() for column in order]


# Schemas of users.


def test_columns_that_are_not_null(spark: Spark, tmp_path: Path) -> None:
    table = put(tmp_path / "t", {"a.orc": pa.table({"id": [1, 2], "n": [{"a": 1}, None], "x": [None, 1]})})
    schema = "id bigint not null, n struct<a: bigint not null>, x bigint not null"
    wanted = spark.read.schema(schema).orc(str(table))
    assert_same(osp.read(spark, str(table), schema=schema), wanted)
    kind = spark.createDataFrame([], schema).schema
    assert open_table(spark, str(table), None, None, kind, {}).schema == wanted.schema
    # Spark takes a data source's schema at its word, and would take nulls for values.
    with pytest.raises(PySparkException, match=r"a\.orc: column x: a value is null, and NOT NULL"):
        spark.read.schema(schema).format("orcish").load(str(table)).collect()
    there = spark.read.schema("id bigint not null, n struct<a: bigint not null>").format("orcish").load(str(table))
    assert there.collect() == wanted.select("id", "n").collect()


# Options.


@each_case(
    ("name", "hour"),
    [
        ("GMT+01:00", 1),
        ("UTC+1", 1),
        ("+0100", 1),
        ("-8", -8),
        ("PST", -8),
        ("IST", 5.5),
        ("MST", -7),
        ("Z", 0),
        ("GMT", 0),
        ("UT", 0),
        ("Asia/Tokyo", 9),
    ],
)
def test_zones_of_java(tmp_path: Path, name: str, hour: float) -> None:
    clock = dt.datetime(2026, 1, 1, 12)
    table = put(tmp_path / "t", {"a.orc": pa.table({"t": [clock]})})
    instant = clock.replace(tzinfo=dt.timezone.utc) - dt.timedelta(hours=hour)
    assert read(table, timezone=name) == [{"t": instant}]
    written = WriterOptions.of({"path": "t", "timezone": name})
    assert written.timezone == written.session_timezone == TableOptions.of({"path": "t", "timezone": name}).timezone


@each_case("name", ["Nowhere/City", "+19:00", "+01:00:30", "XYZ", "+1:99"])
def test_zones_that_are_none(name: str) -> None:
    for of in (TableOptions.of, WriterOptions.of):
        with pytest.raises(ValueError, match="option timezone"):
            of({"path": "t", "timezone": name})
        with pytest.raises(ValueError, match="option sessionTimezone"):
            of({"path": "t", "timezone": "UTC", "sessionTimezone": name})


def test_paths_are_those_of_the_driver(spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative paths are resolved on the driver: workers have other working directories."""
    put(tmp_path / "t", {"a.orc": pa.table({"id": [1]})})
    monkeypatch.chdir(tmp_path)
    options = TableOptions.of({"path": "t", "paths": '["u/*.orc", "v/", "s3://b/k", "file:///a"]'})
    here = str(tmp_path)
    assert options.paths == (f"{here}/t", f"{here}/u/*.orc", f"{here}/v/", "s3://b/k", "/a")
    assert WriterOptions.of({"path": "t"}).path == f"{here}/t"
    assert TableOptions.of({"path": "t", "stateLocation": "s"}).stream_state() == f"{here}/s"
    done = osp.map_batches(spark, "t", lambda batches: batches, "id bigint")
    monkeypatch.chdir("/")
    assert done.count() == 1
    monkeypatch.chdir(tmp_path)
    assert osp.verify("t").collect() == []
    assert osp.convert("t", "converted").count() == 1
    assert os.path.isdir(tmp_path / "converted")


def test_options_without_text(tmp_path: Path) -> None:
    """Empty options count as not given."""
    table = put(tmp_path / "t", {"a.orc": pa.table({"id": [1], "x": [2]})})
    assert read(table, columns="", rowNumber="") == [{"id": 1, "x": 2}]
    assert TableOptions.of({"path": "t", "filters": ""}).filters is None
    assert WriterOptions.of({"path": "t", "partitionBy": "", "maxRowsPerFile": "0"}).max_rows_per_file is None
    assert WriterOptions.of({"path": "t", "maxRecordsPerFile": "7"}).max_rows_per_file == 7


def test_numbers_of_rows_that_shadow_a_column(mixed: Path) -> None:
    for name in ["Id", "ID", "p"]:
        with pytest.raises(ValueError, match="rowNumber"):
            opened(mixed, rowNumber=name)
    assert [row["id"] for row in read(mixed, rowNumber="id", caseSensitive="true")] == [0, 0, 0]


@each_case("name", ["types-kind-unknown", "types-list-of-two"])
@each_case("merge", ["true", "false"])
def test_columns_beside_one_that_cannot_be_read(name: str, merge: str) -> None:
    path = Path(__file__).parents[2] / "data" / "odd" / f"{name}.orc"
    whole = [{"c": -1}] * 5
    assert read(path, columns="c", mergeSchema=merge) == read(path, columns="C", mergeSchema=merge) == whole
    for where in (orcish.col("c") == -1, "c = -1", pc.field("c") == -1, pl.col("c").abs() == 1):
        assert read(path, where, columns="c", mergeSchema=merge) == whole
    given = SparkTable.open(
        TableOptions.of({"path": str(path), "mergeSchema": merge}), StructType([StructField("c", IntegerType())])
    )
    assert [row for work in given.task_inputs() for batch in work.batches() for row in batch.to_pylist()] == whole
    for columns in ({}, {"columns": "d"}, {"columns": "c,d"}):
        with pytest.raises(OrcishError, match="column d"):
            opened(path, mergeSchema=merge, **columns)
    with pytest.raises(OrcishError, match="column d"):
        opened(path, "d is null", columns="c", mergeSchema=merge)
