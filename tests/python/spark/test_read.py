"""What Spark reads through orcish is what it reads by itself, and what orcish adds to that."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import orcish
import orcish.spark as osp
import pyarrow as pa
import pytest
from orcish.errors import UnsupportedError
from orcish.spark.options import WriterOptions
from orcish.spark.target import TableTarget
from orcish.tables.commit import Job
from orcish.tables.log.listing import table_files
from pyorc import CompressionKind
from pyspark.errors import AnalysisException, PySparkException
from support.case_loops import each_case
from support.cpp_writers import write_arrow, write_rows
from support.processes import run_script
from support.small_tables import put, rows
from support.spark_tables import assert_same, every_type, rows_of, types_of
from support.staged_commits import decide

Spark = Any


def load(spark: Spark, path: Any, **options: Any) -> Any:
    """A table, as people read it who have never imported orcish."""
    return spark.read.format("orcish").options(**options).load(str(path))


def failure(run: Any) -> str:
    """The text of the error with which a query fails."""
    with pytest.raises(PySparkException) as raised:
        run()
    return str(raised.value)


@pytest.fixture(scope="module")
def types(spark: Spark, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of every type, of several files."""
    folder = tmp_path_factory.mktemp("types") / "t"
    every_type(spark).write.orc(str(folder))
    return folder


@pytest.fixture(scope="module")
def numbers(spark: Spark, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of four files of 2,000 rows in several stripes, partitioned by a text."""
    folder = tmp_path_factory.mktemp("numbers")
    for at in range(4):
        (folder / f"p=v{at % 2}").mkdir(exist_ok=True)
        orcish.write_table(
            rows(at * 2000, 2000), folder / f"p=v{at % 2}" / f"{at}.orc", stripe_size=4096, row_index_stride=1000
        )
    return folder


def test_every_type(spark: Spark, types: Path) -> None:
    assert_same(load(spark, types), spark.read.orc(str(types)))


def test_the_session_time_zone_changes_nothing(spark: Spark, types: Path) -> None:
    """The session time zone changes the display of instants, not their values."""
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        names = ["id", "cast(t as double)", "cast(t as string)", "ntz", "nest"]
        assert rows_of(load(spark, types).selectExpr(*names)) == rows_of(spark.read.orc(str(types)).selectExpr(*names))
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


@each_case(
    "kind", ["day", "hour", "minute", "second", "day to hour", "hour to minute", "minute to second", "day to second"]
)
def test_intervals(spark: Spark, tmp_path: Path, kind: str) -> None:
    spark.range(3).selectExpr(f"cast(cast(id * 86400 as interval second) as interval {kind}) as i").write.orc(
        str(tmp_path / "t")
    )
    assert_same(load(spark, tmp_path / "t"), spark.read.orc(str(tmp_path / "t")))


def test_char_and_varchar(spark: Spark, tmp_path: Path) -> None:
    spark.sql(f"create table chars (c char(5), v varchar(5)) using orc location '{tmp_path / 't'}'")
    try:
        spark.sql("insert into chars values ('ab', 'cd'), (null, null), ('', ''), ('abcde', ' x')")
        wanted = spark.table("chars")
        assert_same(load(spark, tmp_path / "t"), wanted)
    finally:
        spark.sql("drop table chars")


def test_intervals_of_months_are_refused(spark: Spark, tmp_path: Path) -> None:
    spark.range(1).selectExpr("id", "interval '3' month as m").write.orc(str(tmp_path / "t"))
    text = failure(lambda: load(spark, tmp_path / "t").schema)
    assert "column m: Spark's Python workers have no interval month" in text
    assert "option `columns`" in text
    # What the text proposes.
    assert load(spark, tmp_path / "t", columns="id").collect()[0].asDict() == {"id": 0}


def test_unions(spark: Spark, tmp_path: Path) -> None:
    """Spark itself cannot read unions."""
    (tmp_path / "u.orc").write_bytes(write_rows("struct<u:uniontype<int,string>>", [(1,), ("a",), (None,)]))
    frame = load(spark, tmp_path / "u.orc")
    assert frame.schema["u"].dataType.typeName() == "struct"
    assert len(frame.collect()) == 3


# Partitions.

PARTITIONS = {
    "int": ["1", "-7", "+07", None],
    "long": ["1", "10000000000"],
    "decimal": ["99999999999999999999", "1"],
    "double": ["1.5", "-2", "1e-3"],
    "long and double": ["1.5", "10000000000"],
    "date": ["2026-01-31", "1500-01-01", None],
    "no date": ["2026-02-31", "2026-01-31"],
    "timestamp": ["2026-01-31 12:00:00", "2026-01-31 12:00:00.5", "1969-12-31 23:59:59", None],
    "microseconds": ["2026-01-31 12:00:00", "1969-12-31 23:59:59.999999"],
    "no timestamp": ["2026-01-31 25:00:00"],
    "date and timestamp": ["2026-01-31", "2026-01-31 12:00:00"],
    "text": ["a", "é b", "1"],
    "int and date": ["1", "2026-01-31"],
    "escaped": ["a/b", "50%", "x=y", 'q"', "a:b", "back\\slash", "#?*{}[]^'"],
    "NaN": ["NaN", "1.0", "-Infinity"],
    "letters of types": ["1d", "2.5f"],
    "exponents": ["1e3", "7", "1."],
    "decimal and double": ["99999999999999999999", "1.5"],
    "no int": ["1_0", "0x1"],
    "int and timestamp": ["2026-01-31 12:00:00", "1"],
    "flags": ["true", "false"],
}


@each_case("title", PARTITIONS)
def test_partitions(spark: Spark, tmp_path: Path, title: str) -> None:
    """Partition columns have the types that Spark infers from folder names."""
    table = tmp_path / "t"
    for at, value in enumerate(PARTITIONS[title]):
        name = "__HIVE_DEFAULT_PARTITION__" if value is None else escaped(value)
        put(table / f"p={name}", {"a.orc": pa.table({"id": [at]})})
    assert_same(load(spark, table), spark.read.orc(str(table)))


def escaped(value: str) -> str:
    return "".join(f"%{ord(char):02X}" if char in "\"#%'*/:=?\\{[]^" else char for char in value)


def test_partitions_of_partitions(spark: Spark, tmp_path: Path) -> None:
    table = str(tmp_path / "t")
    frame = spark.range(20).selectExpr(
        "id", "id % 3 as `A b`", "if(id % 4 = 0, null, date'2026-01-01') as day", "'x' as s"
    )
    frame.write.partitionBy("A b", "day", "s").orc(table)
    wanted = spark.read.orc(table)
    assert_same(load(spark, table), wanted)
    assert rows_of(load(spark, table).where("`A b` = 1 and day is null")) == rows_of(
        wanted.where("`A b` = 1 and day is null")
    )
    # Of one folder within, those below it.
    assert_same(load(spark, f"{table}/A b=1"), spark.read.orc(f"{table}/A b=1"))
    assert load(spark, table, partitions="false").columns == ["id"]
    assert load(spark, f"{table}/A b=1", partitions="true").columns == ["id", "A b", "day", "s"]
    for where, count in [("`A b` = 1", 7), ("day is null", 5), ("s = 'x' and id > 17", 2)]:
        assert load(spark, table, filters=where.replace("`", '"')).count() == count, where


def test_a_partition_of_nulls(spark: Spark, tmp_path: Path) -> None:
    """A partition column without values is a string. In Spark it is void, which cannot be written."""
    put(tmp_path / "t" / "p=__HIVE_DEFAULT_PARTITION__", {"a.orc": pa.table({"id": [1]})})
    frame = load(spark, tmp_path / "t")
    assert frame.schema["p"].dataType.simpleString() == "string"
    assert [tuple(row) for row in frame.collect()] == [(1, None)]


def test_partition_types_of_a_schema(spark: Spark, tmp_path: Path) -> None:
    for at, value in enumerate(["01", "2", "__HIVE_DEFAULT_PARTITION__"]):
        put(tmp_path / "t" / f"p={value}", {"a.orc": pa.table({"id": [at]})})
    for kind in ["string", "bigint", "double", "smallint"]:
        schema = f"id bigint, p {kind}"
        wanted = spark.read.schema(schema).orc(str(tmp_path / "t"))
        assert_same(spark.read.format("orcish").schema(schema).load(str(tmp_path / "t")), wanted)
    text = failure(lambda: spark.read.format("orcish").schema("id bigint, p date").load(str(tmp_path / "t")).collect())
    assert "p=01" in text


# Schemas.


def test_schemas_of_users(spark: Spark, tmp_path: Path) -> None:
    table = str(tmp_path / "t")
    spark.range(10).selectExpr(
        "cast(id as int) as a",
        "cast(id as float) as `B`",
        "named_struct('x', id, 'y', named_struct('z', 'text', 'w', timestamp'2026-01-01 00:00:00')) as n",
        "array(named_struct('i', id, 'j', 1)) as l",
        "id % 2 as p",
    ).write.partitionBy("p").orc(table)
    for schema in [
        "a int, p int",
        "b float, A int, p bigint",
        "a bigint, missing string, B double, p int",
        "n struct<y:struct<z:string>>, p string",
        "n struct<y:struct<w:timestamp>,x:bigint>, a int, p int",
        "missing struct<a:int,b:array<string>>, a int, p int",
        "l array<struct<j:int>>, p int",
        "a int, P int",
        "a string, p int",
    ]:
        wanted = spark.read.schema(schema).orc(table)
        found = spark.read.format("orcish").schema(schema).load(table)
        assert types_of(found) == types_of(wanted), schema
        assert rows_of(found) == rows_of(wanted), schema
    # Unlike Spark's own, it reads what the schema says, partition columns and all.
    assert spark.read.format("orcish").schema("p int, a int").load(table).columns == ["p", "a"]
    assert spark.read.format("orcish").schema("a int").load(table).count() == 10


def test_schemas_that_do_not_fit(spark: Spark, tmp_path: Path) -> None:
    put(tmp_path / "t", {"a.orc": pa.table({"text": ["x"]})})
    text = failure(lambda: spark.read.format("orcish").schema("text map<int,int>").load(str(tmp_path / "t")).count())
    assert "text" in text
    both = spark.read.format("orcish").schema("text string, other int").option("columns", "text")
    assert "columns" in failure(lambda: both.load(str(tmp_path / "t")).collect())


def test_merge_schema(spark: Spark, tmp_path: Path) -> None:
    put(
        tmp_path / "t",
        {
            "p=1/a.orc": pa.table({"id": [1], "x": pa.array([1], pa.int32()), "s": [{"a": 1}]}),
            "p=2/b.orc": pa.table({"id": [2], "y": ["new"], "s": [{"a": 2, "b": "in s"}]}),
        },
    )
    table = str(tmp_path / "t")
    # The order in which Spark takes the files is not that of their names.
    names = ["id", "x", "s", "y", "p"]
    wanted = spark.read.option("mergeSchema", "true").orc(table)
    assert_same(load(spark, table, mergeSchema="true"), wanted.select(names))
    assert load(spark, table).columns == ["id", "x", "s", "p"]
    assert [row.y for row in load(spark, table, mergeSchema="true").orderBy("id").collect()] == [None, "new"]


def test_columns_by_their_numbers(spark: Spark, tmp_path: Path) -> None:
    """Old versions of Hive named columns by position."""
    put(tmp_path / "t", {"a.orc": pa.table({"_col0": [1], "_col1": ["x"]})})
    frame = spark.read.format("orcish").schema("id bigint, text string").load(str(tmp_path / "t"))
    assert [tuple(row) for row in frame.collect()] == [(1, "x")]


# Options.


def test_columns(spark: Spark, types: Path) -> None:
    wanted = spark.read.orc(str(types))
    frame = load(spark, types, columns="text, nest.b.t, id")
    assert frame.columns == ["text", "nest", "id"]
    assert frame.schema["nest"].dataType.simpleString() == "struct<b:struct<t:timestamp>>"
    assert rows_of(frame.select("nest.b.t", "id")) == rows_of(wanted.select("nest.b.t", "id"))
    assert load(spark, types, columns=json.dumps(["deep", "id"])).columns == ["deep", "id"]
    assert "no_such" in failure(lambda: load(spark, types, columns="no_such").schema)


def test_where(spark: Spark, numbers: Path) -> None:
    wanted = spark.read.orc(str(numbers))
    for where in [
        "id = 17",
        "id between 1990 and 2010 and x is null",
        "p = 'v1' and text in ('t1', 't2')",
        "id < 0",
        "x > 1e9",
    ]:
        assert_same(load(spark, numbers, filters=where), wanted.where(where))
    # What cannot have such a row is no task.
    assert load(spark, numbers, filters="id >= 7990").rdd.getNumPartitions() == 1
    several = load(spark, numbers, filters="id < 0")
    assert several.count() == 0
    assert several.columns == ["id", "text", "x", "p"]


@each_case(
    ("where", "said"), [("id =", "id ="), ("nothing = 1", "nothing"), ("id = 'text'", "id"), ("id in (1", "in (1")]
)
def test_errors_of_where(spark: Spark, numbers: Path, where: str, said: str) -> None:
    """Errors of `where` are raised before anything is read."""
    assert said in failure(lambda: load(spark, numbers, filters=where).schema)


def test_row_index(spark: Spark, numbers: Path) -> None:
    frame = load(spark, numbers, rowNumber="row", filters="id in (0, 1999, 2000, 2001, 7999)")
    assert frame.columns[-1] == "row"
    found = {row.id: row.row for row in frame.collect()}
    assert found == {0: 0, 1999: 1999, 2000: 0, 2001: 1, 7999: 1999}
    assert load(spark, numbers, rowNumber="row").select("row").distinct().count() == 2000


@each_case(
    "options",
    [{}, {"minSplits": "3"}, {"minSplits": "100"}, {"splitSize": "1"}, {"splitSize": "20000", "batchSize": "7"}],
)
def test_splits(spark: Spark, numbers: Path, options: dict[str, str]) -> None:
    """Every row is in exactly one split."""
    frame = load(spark, numbers, **options)
    assert sorted(row.id for row in frame.select("id").collect()) == list(range(8000))
    tasks = frame.rdd.getNumPartitions()
    if not options:
        assert tasks == 1
    elif options.get("minSplits") == "3":
        assert tasks == 3
    else:
        assert tasks > 3


@each_case(
    ("options", "said"),
    [
        ({"colums": "id"}, "did you mean columns?"),
        ({"mergeSchema": "maybe"}, "mergeSchema"),
        ({"splitSize": "0"}, "splitSize"),
        ({"minSplits": "many"}, "minSplits"),
        ({"columns": "[1]"}, "columns"),
        ({"columns": "[broken"}, "columns"),
    ],
)
def test_options_that_are_none(spark: Spark, numbers: Path, options: dict[str, str], said: str) -> None:
    text = failure(lambda: load(spark, numbers, **options).schema)
    assert said in text
    assert "ValueError" in text


# One data frame in several scans.


def test_one_data_frame_many_times(spark: Spark, numbers: Path) -> None:
    frame = load(spark, numbers)
    for _ in range(2):
        assert frame.filter("id = 3").count() == 1
        assert frame.count() == 8000
    both = frame.filter("id = 3").union(frame.filter("id = 15"))
    assert sorted(row.id for row in both.collect()) == [3, 15]
    joined = frame.alias("a").join(frame.filter("id < 100").alias("b"), "id")
    assert joined.count() == 100
    frame.createOrReplaceTempView("numbers_view")
    total = spark.sql(
        "select (select count(*) from numbers_view where p = 'v0') a, (select count(*) from numbers_view) b,"
        " (select max(id) from numbers_view where id < 10) c"
    ).first()
    assert tuple(total) == (4000, 8000, 9)
    spark.catalog.dropTempView("numbers_view")


def test_views_by_sql(spark: Spark, numbers: Path) -> None:
    spark.sql(f"create temp view sql_view using orcish options (path '{numbers}', filters 'id < 50')")
    assert spark.sql("select count(*) n from sql_view").first().n == 50
    assert spark.sql("select count(*) n from sql_view where id >= 49").first().n == 1
    spark.catalog.dropTempView("sql_view")


def test_several_paths(spark: Spark, numbers: Path) -> None:
    paths = [str(numbers / "p=v0" / "0.orc"), str(numbers / "p=v1" / "*.orc")]
    frame = spark.read.format("orcish").load(paths)
    assert frame.count() == 6000
    assert sorted(row.id for row in frame.select("id").collect()) == [*range(4000), *range(6000, 8000)]


def test_files_whose_names_are_odd(spark: Spark, tmp_path: Path) -> None:
    put(tmp_path / "a b+c%20d é", {"p=x%20y/f #1.orc": rows(0, 3), "p=x%20y/_hidden.orc": b"no", "_SUCCESS": b""})
    assert sorted(tuple(row) for row in load(spark, tmp_path / "a b+c%20d é").select("id", "p").collect()) == [
        (0, "x y"),
        (1, "x y"),
        (2, "x y"),
    ]


def test_tables_without_rows(spark: Spark, tmp_path: Path) -> None:
    put(tmp_path / "t", {"a.orc": rows(0, 1).slice(0, 0)})
    frame = load(spark, tmp_path / "t")
    assert frame.columns == ["id", "text", "x"]
    assert frame.collect() == []
    assert frame.count() == 0
    assert load(spark, tmp_path / "t", minSplits="8").count() == 0


# Errors.


def test_nothing_there(spark: Spark, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ["no_such", "no_such.orc", "empty", "none*.orc"]:
        text = failure(lambda name=name: load(spark, tmp_path / name).schema)
        assert "FileNotFoundError" in text
        assert name in text
    with pytest.raises(AnalysisException, match="no path"):
        spark.read.format("orcish").load()


def test_corrupt_files(spark: Spark, tmp_path: Path) -> None:
    good = write_arrow(rows(0, 1000))
    put(tmp_path / "t", {"a.orc": good, "b.orc": good[: len(good) // 2], "c/text.orc": b"no ORC"})
    text = failure(lambda: load(spark, tmp_path / "t").count())
    assert "b.orc" in text or "text.orc" in text
    assert "Error" in text
    text = failure(lambda: load(spark, tmp_path / "t/c").schema)
    assert "text.orc" in text


def test_a_file_that_goes(spark: Spark, tmp_path: Path) -> None:
    """A file is removed between planning and reading."""
    put(tmp_path / "t", {"a.orc": rows(0, 10), "b.orc": rows(10, 10)})
    frame = load(spark, tmp_path / "t")
    assert frame.rdd.getNumPartitions() == 1
    (tmp_path / "t" / "b.orc").unlink()
    assert "b.orc" in failure(frame.collect)


def test_osp_read(spark: Spark, numbers: Path) -> None:
    wanted = spark.read.orc(str(numbers))
    found = osp.read(spark, str(numbers), columns=["x", "id"], filters=orcish.col("id") > 7000)
    assert_same(found, wanted.where("id > 7000").select("x", "id"))
    assert osp.read(spark, [str(numbers / "p=v0")], min_splits=2).rdd.getNumPartitions() == 2
    assert osp.read(spark, str(numbers), schema="id int").schema.simpleString() == "struct<id:int>"


@pytest.mark.long
def test_other_time_zones(tmp_path: Path) -> None:
    """The JVM and the machine are in other time zones. Spark's own reader is the reference for instants."""
    (tmp_path / "berlin").mkdir()
    clocks = ["skipped", "predicates", "instants", "folders"]
    assert run_script("clock_changes", tmp_path / "berlin", TZ="Europe/Berlin") == clocks
    (tmp_path / "new_york").mkdir()
    found = run_script("another_zone", tmp_path / "new_york", TZ="America/New_York")
    assert found == ["read", "partitions", "shown", "read_in_python", "wrote", "appended", "zoned", *clocks]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_files_of_other_stores(spark: Spark, tmp_path: Path) -> None:
    """Files are opened by fsspec, whose caches leave files open."""
    table = {"p=1/a.orc": rows(0, 10), "p=2/b.orc": rows(10, 10), "p=2/_temporary/c.orc": rows(20, 10)}
    put(tmp_path / "t", table)
    url = f"simplecache::file://{tmp_path}/t"
    wanted = spark.read.orc(str(tmp_path / "t"))
    assert_same(spark.read.format("orcish").load(url), wanted)
    assert_same(osp.read(spark, url, filters="p = 2 and id < 15"), wanted.where("p = 2 and id < 15"))
    assert_same(spark.read.format("orcish").load(f"{url}/p=1/a.orc"), wanted.where("p = 1").drop("p"))
    assert osp.verify(url).isEmpty()
    osp.convert(url, str(tmp_path / "out"))
    assert_same(spark.read.orc(str(tmp_path / "out")), wanted)
    with pytest.raises(PySparkException, match="nosuch is known to neither orcish nor fsspec"):
        spark.read.format("orcish").load("nosuch://host/t").count()
    with pytest.raises(PySparkException, match=r"file://.*/new: .* is not written"):
        wanted.write.format("orcish").mode("append").save(f"simplecache::file://{tmp_path}/new")
    with pytest.raises(UnsupportedError, match=r"file://.*/t: .* is not written"):
        osp.compact(url)


def test_local_urls(spark: Spark, tmp_path: Path) -> None:
    """They are paths of the local disk."""
    url = f"local://{tmp_path}/t"
    spark.range(10).write.format("orcish").mode("append").save(url)
    assert spark.read.format("orcish").load(url).count() == 10
    osp.convert(url, f"local://{tmp_path}/out")
    assert spark.read.format("orcish").load(str(tmp_path / "out")).count() == 10


def test_transactional_tables_are_not_written(spark: Spark, tmp_path: Path) -> None:
    put(tmp_path / "t", {"delta_0000001_0000001_0000/bucket_00000": rows(0, 10)})
    for mode in ("append", "overwrite"):
        with pytest.raises(PySparkException, match="transactional table of Hive"):
            spark.range(10).write.format("orcish").mode(mode).save(str(tmp_path / "t"))
        with pytest.raises(UnsupportedError, match="transactional table of Hive"):
            osp.convert(spark.range(10).toDF("id"), tmp_path / "t", existing_data=mode)
    assert [path.name for path in (tmp_path / "t").iterdir()] == ["delta_0000001_0000001_0000"]


def test_tables_of_patterns(spark: Spark, tmp_path: Path) -> None:
    """Unfinished commits of all tables that a path or pattern matches are seen."""
    for path in ("db/*", "db/env=prod/t/p=1", "db/*/t/p=*", "db/env=prod/*/p=1/*.orc"):
        base = tmp_path / str(len(path)) / "db" / "env=prod" / "t"
        put(base, {"p=1/a.orc": rows(0, 10)})
        job = Job(str(base))
        target = WriterOptions.of({"path": str(base), "partitionBy": "p"})
        frame = spark.createDataFrame([], "id bigint, p int")
        batch = pa.record_batch({"id": pa.array([77], pa.int64()), "p": pa.array([1], pa.int32())})
        staged = TableTarget(job, target, frame.schema).write(iter([batch]), 0)
        decide(job, staged, ["p=1/a.orc"], published=1)
        found = table_files(str(tmp_path / str(len(path)) / path), None, {}).files
        assert [file.location for file in found] == [staged[0].location], path


def test_values_that_are_not_as_their_types_say(spark: Spark, tmp_path: Path) -> None:
    data = write_rows("struct<s:string>", [("a@@",), ("b",)], compression=CompressionKind.NONE)
    put(tmp_path / "t", {"0.orc": data.replace(b"@@", b"\xff@")})
    assert "not valid UTF-8" in failure(lambda: load(spark, tmp_path / "t").collect())
    for choice, value in [("replace", "a\ufffd@"), ("NULL", None), ("binary", bytearray(b"a\xff@"))]:
        found = load(spark, tmp_path / "t", invalidUtf8=choice, longChar="cut", decimalOutOfRange="null")
        assert found.collect()[0].s == value
    assert load(spark, tmp_path / "t", invalidUtf8="replace", filters="s = 'a\ufffd@'").count() == 1
    assert "must be one of error, replace, null, binary" in failure(
        lambda: load(spark, tmp_path / "t", invalidUtf8="other").collect()
    )


def test_partitions_without_filters(spark: Spark, tmp_path: Path) -> None:
    """A table with partitions of which all rows are read gives a warning in the process of the user, once."""
    table, plain = tmp_path / "t", tmp_path / "plain"
    orcish.write_dataset(pa.table({"id": range(6), "p": [0, 1] * 3}), table, partition_by=["p"])
    orcish.write_dataset(pa.table({"id": range(6), "p": [0, 1] * 3}), plain)
    with warnings.catch_warnings():
        warnings.simplefilter("error", osp.UnfilteredReadWarning)
        assert osp.read(spark, table, filters="p = 1").count() == 3
        assert osp.read(spark, plain).count() == 6
        assert osp.read(spark, f"{table}/*/*.orc").count() == 6
        assert osp.read(spark, table, partitions=False).count() == 6
    with pytest.warns(osp.UnfilteredReadWarning, match="is read without filters: df.filter") as given:
        frame = osp.read(spark, table)
    assert given[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", osp.UnfilteredReadWarning)
        assert frame.filter("p = 1").count() == 3
        assert osp.read(spark, str(table)).count() == 6


@each_case(
    ("text", "value", "spark_value"), [("٣", "٣", 3), ("0x1p3", "0x1p3", 8.0), ("12%3A00%3A00", "12:00:00", None)]
)
def test_partition_texts_that_stay_text(
    spark: Spark, tmp_path: Path, text: str, value: str, spark_value: float | None
) -> None:
    """As docs/spark-reading.md says. Times are not compared, as not every version of Spark has the type."""
    table = put(tmp_path / "t", {f"p={text}/a.orc": rows(0, 1)})
    assert [row.p for row in load(spark, table).collect()] == [value]
    assert [row.p for row in load(spark, table, filters=f"p = '{value}'").collect()] == [value]
    if spark_value is not None:
        assert [row.p for row in spark.read.orc(str(table)).collect()] == [spark_value]


def test_partitions_of_nulls(spark: Spark, tmp_path: Path) -> None:
    table = put(tmp_path / "t", {"p=__HIVE_DEFAULT_PARTITION__/a.orc": rows(0, 1)})
    found = load(spark, table)
    assert (found.schema["p"].dataType.simpleString(), [row.p for row in found.collect()]) == ("string", [None])


@each_case("reader", ["format", "osp.read", "map_batches"])
def test_a_data_frame_that_is_used_twice(spark: Spark, tmp_path: Path, reader: str) -> None:
    """After another file has got the name, there is an error."""
    path = tmp_path / "t" / "a.orc"
    path.parent.mkdir()
    tables = [pa.table({"id": pa.array(range(first, first + 1000), pa.int64())}) for first in (1000, 2000)]
    orcish.write_table(tables[0], path)
    folder = str(path.parent)
    frame = {
        "format": lambda: spark.read.format("orcish").load(folder),
        "osp.read": lambda: osp.read(spark, folder),
        "map_batches": lambda: osp.map_batches(spark, folder, lambda batches: batches, "id bigint"),
    }[reader]()
    assert frame.count() == 1000
    orcish.write_table(tables[1], path, existing_data="overwrite")
    with pytest.raises(PySparkException, match="the file was replaced"):
        frame.where("id >= 2000").collect()
