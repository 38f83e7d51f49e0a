"""What Spark writes through orcish, Spark by itself reads; and all of it appears, or nothing."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orcish
import orcish.spark as osp
import pyarrow as pa
import pytest
from orcish.errors import OrcishError
from orcish.spark.options import WriterOptions
from orcish.spark.writers import OrcishWriter
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql.types import LongType, StructType
from support.case_loops import each_case
from support.processes import run_script
from support.spark_tables import assert_same, every_type, ids_of, left_over, rows_of, table_of

Spark = Any


def save(frame: Any, path: Any, mode: str = "append", **options: Any) -> None:
    frame.write.format("orcish").options(**options).mode(mode).save(str(path))


def failure(run: Any) -> str:
    with pytest.raises(PySparkException) as raised:
        run()
    return str(raised.value)


def test_every_type(spark: Spark, tmp_path: Path) -> None:
    frame = every_type(spark)
    frame.write.orc(str(tmp_path / "own"))
    save(frame, tmp_path / "t", verify="true")
    found = spark.read.orc(str(tmp_path / "t"))
    assert_same(found, spark.read.orc(str(tmp_path / "own")))
    assert_same(spark.read.format("orcish").load(str(tmp_path / "t")), found)
    # The types of the files are those that Spark itself writes.
    types = {str(orcish.ORCFile(path).type_string) for path in tmp_path.glob("*/part-*.orc")}
    assert len(types) == 1


@each_case("kind", ["day", "hour", "minute", "second", "day to hour", "minute to second", "day to second"])
def test_intervals(spark: Spark, tmp_path: Path, kind: str) -> None:
    frame = spark.range(3).selectExpr(f"cast(cast(id * 86400 as interval second) as interval {kind}) as i")
    save(frame, tmp_path / "t")
    frame.write.orc(str(tmp_path / "own"))
    assert_same(spark.read.orc(str(tmp_path / "t")), spark.read.orc(str(tmp_path / "own")))


def test_times(spark: Spark, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.timeType.enabled", "true")
    try:
        frame = spark.sql("select id, time'12:34:56.123456' as t, if(id = 1, null, time'00:00:00') as n from range(3)")
        frame.write.orc(str(tmp_path / "own"))
        save(frame, tmp_path / "t")
        assert rows_of(spark.read.orc(str(tmp_path / "t"))) == rows_of(frame)
        assert_same(spark.read.format("orcish").load(str(tmp_path / "own")), spark.read.orc(str(tmp_path / "own")))
    except PySparkException as error:
        if "TIME" not in str(error):
            raise
        pytest.skip("this Spark has no times in ORC")
    finally:
        spark.conf.unset("spark.sql.timeType.enabled")


def test_append_and_overwrite(spark: Spark, tmp_path: Path) -> None:
    table = tmp_path / "t"
    save(spark.range(0, 10, 1, 3), table)
    assert len(table_of(table)) == 3
    save(spark.range(10, 20), table)
    assert ids_of(table) == list(range(20))
    assert (table / "_SUCCESS").exists()
    save(spark.range(5), table, "overwrite")
    assert ids_of(table) == list(range(5))
    assert len(table_of(table)) == 1
    assert left_over(table) == []
    # Of what it is made of itself.
    save(spark.read.format("orcish").load(str(table)).where("id > 2"), table, "overwrite")
    assert ids_of(table) == [3, 4]


def test_rows_in_no_order_of_tasks(spark: Spark, tmp_path: Path) -> None:
    save(spark.range(0, 1000, 1, 7).selectExpr("id", "cast(id as string) s"), tmp_path / "t", maxRowsPerFile="60")
    assert ids_of(tmp_path / "t") == list(range(1000))
    counts = [orcish.ORCFile(tmp_path / "t" / name).num_rows for name in table_of(tmp_path / "t")]
    assert max(counts) == 60
    assert len(counts) == 21


# Partitions.


def test_many_partitions(spark: Spark, tmp_path: Path) -> None:
    """Each task has one file for each partition, with its rows in order."""
    frame = spark.range(0, 8000, 1, 2).selectExpr("id", "cast(pmod(hash(id), 300) as int) p")
    save(frame, tmp_path / "t", partitionBy="p")
    osp.convert(frame, tmp_path / "u", partition_by=["p"], sort_within=["id"])
    pairs = {(row.id < 4000, row.p) for row in frame.collect()}
    for table in (tmp_path / "t", tmp_path / "u"):
        names = table_of(table)
        assert len(names) == len(pairs) > 590
        for name in names[::50]:
            ids = orcish.read_table(table / name)["id"].to_pylist()
            assert ids == sorted(ids)
        assert ids_of(table) == list(range(8000))
    assert left_over(tmp_path / "t") == []


def test_too_many_partitions(spark: Spark, tmp_path: Path) -> None:
    frame = spark.range(0, 100, 1, 2).selectExpr("id", "id k")
    with pytest.raises(PySparkException, match="more partitions than max_partitions=49"):
        save(frame, tmp_path / "t", partitionBy="k", maxPartitions="49")
    with pytest.raises(PySparkException, match="more partitions than max_partitions=49"):
        osp.convert(frame, tmp_path / "t", partition_by=["k"], max_partitions=49)
    assert table_of(tmp_path / "t") == []
    assert left_over(tmp_path / "t") == []
    # The bound is that of a task.
    save(frame, tmp_path / "t", partitionBy="k", maxPartitions="50")
    assert len(table_of(tmp_path / "t")) == 100


PARTITIONED = {
    "int": "cast(id - 2 as int)",
    "long": "id * 10000000000L",
    "text": "element_at(array('a', null, '', 'b/c', '50%', 'x=y', ' blank ', 'q\"', 'a:b', 'é😀', '__x', '.h', 'back\\\\slash', '#?*{}[]^', '1', \"it's\"), cast(id % 16 + 1 as int))",
    "date": "if(id = 3, null, date_add(date'1582-10-01', cast(id * 10 as int)))",
    "timestamp": "if(id = 3, null, timestamp'2026-01-31 12:00:00' + id * interval '0.25' second)",
    "old timestamp": "timestamp'1582-10-01 12:00:00' + id * interval '5' day",
    "ntz": "timestamp_ntz'2026-01-31 12:00:00' + id * interval '0.5' second",
    "double": "element_at(array(1D, 1.5D, -0D, 1e10D, 1e-5D, double('NaN'), double('Infinity'), 1234567.875D, 12345678.5D, 0.001D, null), cast(id % 11 + 1 as int))",
    "float": "element_at(array(float(1.1), float(1e10), float('NaN'), float(0.1)), cast(id % 4 + 1 as int))",
    "decimal": "cast(id as decimal(10,2)) / 4",
    "small decimal": "element_at(array(0.00000012BD, 1.5BD, 0BD, 100BD, -0.0000001BD, null), cast(id % 6 + 1 as int)) + cast(0 as decimal(20, 8))",
    "decimal of whole numbers": "cast(id * 100000000000000000BD - 7 as decimal(38, 0))",
    "exponents": "element_at(array(1e21D, 1e-7D, 2e-3D, 4.9E-324D, 123456789.123D, 2e22D, 9e15D), cast(id % 7 + 1 as int))",
    "single exponents": "element_at(array(float(1e21), float(1e-7), float(3.4028235E38), float(1.4E-45), float(1e7)), cast(id % 5 + 1 as int))",
    "day to second": "element_at(array(interval '1 00:00:03' day to second, interval '-1 02:03:04.5' day to second, interval '0 0:0:0.000001' day to second, interval '99999 23:59:59.999999' day to second, null), cast(id % 5 + 1 as int))",
    "day": "cast(id - 7 as int) * interval '1' day",
    "day to hour": "cast(cast(id - 7 as int) * interval '1' hour * 11 as interval day to hour)",
    "hour": "cast(cast(cast(id - 7 as int) * interval '20' hour as interval day to second) as interval hour)",
    "minute to second": "cast(cast(id - 7 as int) * interval '50.5' second as interval minute to second)",
    "second": "cast(id - 7 as int) * interval '0.5' second",
    "far date": "element_at(array(date'+12345-01-02', date'-0001-01-01', date'0000-05-05', date'9999-12-31'), cast(id % 4 + 1 as int))",
    "far timestamp": "element_at(array(timestamp'+12345-01-02 00:00:00', timestamp'-0001-01-01 00:00:00.5', null), cast(id % 3 + 1 as int))",
    "far ntz": "element_at(array(timestamp_ntz'+12345-01-02 00:00:00', timestamp_ntz'-0001-01-01 00:00:00.5'), cast(id % 2 + 1 as int))",
    "flag": "if(id = 3, null, id % 2 = 0)",
    "byte": "cast(id as tinyint)",
}


def folders_of(table: Path) -> list[str]:
    return sorted({str(Path(name).parent) for name in table_of_all(table)})


def table_of_all(table: Path) -> list[str]:
    return [str(path.relative_to(table)) for path in table.rglob("part-*.orc")]


@each_case("title", PARTITIONED)
def test_partitions(spark: Spark, tmp_path: Path, title: str) -> None:
    """Folders are named as Spark names them."""
    frame = spark.range(0, 16, 1, 1).selectExpr("id", f"{PARTITIONED[title]} as p")
    frame.write.partitionBy("p").orc(str(tmp_path / "own"))
    save(frame, tmp_path / "t", partitionBy="p")
    assert folders_of(tmp_path / "t") == folders_of(tmp_path / "own")
    # Python has no years beyond 9999.
    texts = ["id", "cast(p as string) as p"]
    own, found = spark.read.orc(str(tmp_path / "own")), spark.read.orc(str(tmp_path / "t"))
    again = spark.read.format("orcish").load(str(tmp_path / "t"))
    assert found.schema == again.schema == own.schema
    rows = rows_of(own.selectExpr(*texts))
    assert rows_of(found.selectExpr(*texts)) == rows
    assert rows_of(again.selectExpr(*texts)) == rows
    # With the type that was written.
    kind = frame.schema["p"].dataType.simpleString()
    own = spark.read.schema(f"id bigint, p {kind}").orc(str(tmp_path / "own"))
    again = spark.read.format("orcish").schema(f"id bigint, p {kind}").load(str(tmp_path / "t"))
    assert_same(again.selectExpr(*texts), own.selectExpr(*texts))


def test_partitions_by_far_summer_times(spark: Spark, tmp_path: Path) -> None:
    """Time zones have daylight saving time in all future years."""
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        frame = spark.range(6).selectExpr("id", "timestamp'2142-01-04 12:00:00' + id * interval '60' day as p")
        frame.write.partitionBy("p").orc(str(tmp_path / "own"))
        save(frame, tmp_path / "t", partitionBy="p", sessionTimezone="Europe/Berlin")
        assert folders_of(tmp_path / "t") == folders_of(tmp_path / "own")
        reader = spark.read.format("orcish").option("sessionTimezone", "Europe/Berlin")
        assert_same(reader.load(str(tmp_path / "t")), spark.read.orc(str(tmp_path / "own")))
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


def test_partitions_by_times(spark: Spark, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.timeType.enabled", "true")
    try:
        times = "time'12:00:00', time'12:34:56.123456', time'00:00:00', time'23:59:59.1'"
        frame = spark.sql(f"select id, element_at(array({times}), cast(id + 1 as int)) as p from range(4)")
        frame.write.partitionBy("p").orc(str(tmp_path / "own"))
        save(frame, tmp_path / "t", partitionBy="p")
        assert folders_of(tmp_path / "t") == folders_of(tmp_path / "own")
        again = spark.read.format("orcish").schema("id bigint, p time(6)").load(str(tmp_path / "t"))
        assert rows_of(again) == rows_of(frame)
    except PySparkException as error:
        if "TIME" not in str(error):
            raise
        pytest.skip("this Spark has no times in ORC")
    finally:
        spark.conf.unset("spark.sql.timeType.enabled")


@each_case("value", ["array(id)", "struct(id)", "map(1, id)", "X'ff'"])
def test_types_that_name_no_folders(spark: Spark, tmp_path: Path, value: str) -> None:
    """Partition columns of unsupported types are refused before a task runs."""
    frame = spark.range(3).selectExpr("id", f"{value} as p")
    text = failure(lambda: save(frame, tmp_path / "t", partitionBy="p"))
    assert "partitionBy: column 'p' is" in text
    assert "Job aborted" not in text


@each_case("name", ["_k", "k=", "K k"])
def test_odd_names_of_partition_columns(spark: Spark, tmp_path: Path, name: str) -> None:
    """Columns whose names begin with an underscore are read by all, and other folders of such names are hidden."""
    frame = spark.range(4).selectExpr("id", f"id % 2 as `{name}`")
    save(frame, tmp_path / "t", partitionBy=name)
    found = spark.read.format("orcish").load(str(tmp_path / "t"))
    assert_same(found, spark.read.orc(str(tmp_path / "t")))
    assert ids_of(tmp_path / "t") == [0, 1, 2, 3]
    assert orcish.scan(tmp_path / "t").schema.names == ["id", name]


@each_case("name", [".k", "."])
def test_hidden_names_of_partition_columns(spark: Spark, tmp_path: Path, name: str) -> None:
    frame = spark.range(3).selectExpr("id", f"id as `{name}`")
    text = failure(lambda: save(frame, tmp_path / "t", partitionBy=name))
    assert f"column {name!r}: readers pass over folders such as" in text
    with pytest.raises(ValueError, match="readers pass over folders"):
        osp.convert(frame, tmp_path / "t", partition_by=[name], spark=spark)
    assert not (tmp_path / "t").exists()


@pytest.fixture
def view(spark: Spark, tmp_path: Path) -> Any:
    """A temporary view of a path."""
    spark.sql(f"create temporary view orcish_inserted using orcish options (path '{tmp_path / 't'}')")
    yield "orcish_inserted"
    spark.sql("drop view orcish_inserted")


def test_inserts_into_a_view(spark: Spark, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    save(spark.range(3), tmp_path / "t")
    view = request.getfixturevalue("view")
    spark.sql(f"insert into {view} values (10)")
    assert ids_of(tmp_path / "t") == [0, 1, 2, 10]
    spark.sql(f"insert overwrite {view} values (11)")
    assert ids_of(tmp_path / "t") == [11]


def test_inserts_into_a_view_with_partitions(
    spark: Spark, tmp_path: Path, request: pytest.FixtureRequest, overwrite_mode: Any
) -> None:
    """A view has no option of writing alone, so that partitions are not written, and not lost."""
    save(spark.range(4).selectExpr("id", "id % 2 as p"), tmp_path / "t", partitionBy="p")
    view = request.getfixturevalue("view")
    assert "partition columns are: p" in failure(lambda: spark.sql(f"insert into {view} values (10, 1)"))
    overwrite_mode("dynamic")
    assert "does not support dynamic overwrite" in failure(lambda: spark.sql(f"insert overwrite {view} values (10, 1)"))
    assert ids_of(tmp_path / "t") == [0, 1, 2, 3]
    overwrite_mode("static")
    spark.sql(f"insert overwrite {view} values (10, 1)")
    assert ids_of(tmp_path / "t") == [10]
    assert "it is an option for writing" in failure(
        lambda: spark.sql(f"create temporary view w using orcish options (path '{tmp_path / 't'}', partitionBy 'p')")
    )


def test_partitions_of_other_columns(spark: Spark, tmp_path: Path) -> None:
    """A table whose folders have different partition columns cannot be read."""
    frame = spark.range(3).selectExpr("id", "id % 2 as p", "1 as q")
    table = str(tmp_path / "t")
    frame.write.format("orcish").mode("append").option("partitionBy", "p").save(table)
    for given in ({}, {"partitionBy": "q"}, {"partitionBy": "p,q"}):
        with pytest.raises(PySparkException, match=r"is a table whose partition columns are: p; partitionBy is: "):
            frame.write.format("orcish").mode("append").options(**given).save(table)
    frame.write.format("orcish").mode("append").option("partitionBy", "p").save(table)
    assert spark.read.format("orcish").load(table).count() == 6
    frame.write.format("orcish").mode("overwrite").option("partitionBy", "q").save(table)
    assert spark.read.format("orcish").load(table).count() == 3


def test_partitions_within_others(spark: Spark, tmp_path: Path) -> None:
    frame = spark.range(0, 40, 1, 2).selectExpr(
        "id", "id % 3 as `a b`", "if(id % 4 = 0, null, cast(id % 2 as string)) as `k=v`"
    )
    frame.write.partitionBy("a b", "k=v").orc(str(tmp_path / "own"))
    save(frame, tmp_path / "t", partitionBy='["a b", "k=v"]')
    assert folders_of(tmp_path / "t") == folders_of(tmp_path / "own")
    assert_same(spark.read.orc(str(tmp_path / "t")), spark.read.orc(str(tmp_path / "own")))
    assert_same(spark.read.format("orcish").load(str(tmp_path / "t")), spark.read.orc(str(tmp_path / "own")))


def test_dynamic_overwrite(spark: Spark, tmp_path: Path) -> None:
    first = spark.range(12).selectExpr("id", "id % 3 as p", "0 as v")
    again = spark.range(2).selectExpr("id + 100 as id", "id * 2 as p", "1 as v")
    own = str(tmp_path / "own")
    first.write.partitionBy("p").orc(own)
    again.write.mode("overwrite").option("partitionOverwriteMode", "dynamic").partitionBy("p").orc(own)
    save(first, tmp_path / "t", partitionBy="p")
    save(again, tmp_path / "t", "overwrite", partitionBy="p", partitionOverwriteMode="dynamic")
    assert_same(spark.read.orc(str(tmp_path / "t")), spark.read.orc(own))
    assert ids_of(tmp_path / "t") == [1, 4, 7, 10, 100, 101]
    save(again, tmp_path / "t", "overwrite", partitionBy="p")
    assert ids_of(tmp_path / "t") == [100, 101]
    # Nothing overwrites nothing, or everything.
    save(again.limit(0), tmp_path / "t", "overwrite", partitionBy="p", partitionOverwriteMode="dynamic")
    assert ids_of(tmp_path / "t") == [100, 101]
    save(again.limit(0), tmp_path / "t", "overwrite", partitionBy="p")
    assert table_of(tmp_path / "t") == []


def test_partitions_that_stay_have_the_types_of_new_ones(spark: Spark, tmp_path: Path) -> None:
    table = pa.table({"t": pa.array([0, 1], pa.timestamp("us", "UTC")), "p": [0, 1]})
    orcish.write_dataset(table, tmp_path / "t", partition_by=["p"])
    again = spark.sql("select timestamp'2026-01-01 00:00:00' t, 1 p")
    save(again, tmp_path / "t", "overwrite", partitionBy="p", partitionOverwriteMode="dynamic")
    types = {orcish.ORCFile(path).column_types[1] for path in (tmp_path / "t").rglob("*.orc")}
    assert types == {"timestamp with local time zone"}
    save(again, tmp_path / "t", "overwrite", partitionBy="p")
    types = {orcish.ORCFile(path).column_types[1] for path in (tmp_path / "t").rglob("*.orc")}
    assert types == {"timestamp"}


@pytest.fixture
def overwrite_mode(spark: Spark) -> Any:
    """A function that sets the mode of the session."""
    name = "spark.sql.sources.partitionOverwriteMode"
    yield lambda mode: spark.conf.set(name, mode)
    spark.conf.unset(name)


def test_overwrite_mode_of_the_session(spark: Spark, tmp_path: Path, overwrite_mode: Any) -> None:
    """The session decides what an overwrite replaces, and the option of the write decides before it, as in Spark."""
    first = spark.range(12).selectExpr("id", "id % 3 as p")
    again = spark.range(2).selectExpr("id + 100 as id", "id * 2 as p")
    nothing = spark.createDataFrame([], again.schema)
    for session, option in (
        ("dynamic", {}),
        ("DYNAMIC", {"PartitionOverwriteMode": "Static"}),
        ("static", {}),
        ("static", {"PARTITIONOVERWRITEMODE": "DYNAMIC"}),
        ("static", {"partitionOverwriteMode": "dynamic"}),
    ):
        overwrite_mode(session)
        for at, rows in enumerate((again, again.filter("id < 0"), again.limit(0), nothing)):
            own, table = tmp_path / "own", tmp_path / f"t-{session}-{len(option)}-{at}"
            first.write.mode("overwrite").option("partitionOverwriteMode", "static").partitionBy("p").orc(str(own))
            save(first, table, "overwrite", partitionBy="p", partitionOverwriteMode="static")
            rows.write.mode("overwrite").options(**option).partitionBy("p").orc(str(own))
            save(rows, table, "overwrite", partitionBy="p", **option)
            assert ids_of_any(table) == ids_of_any(own)
            assert left_over(table) == []


def ids_of_any(table: Path) -> list[int]:
    return ids_of(table) if table_of(table) else []


def test_dynamic_overwrite_of_other_partitions(spark: Spark, tmp_path: Path, overwrite_mode: Any) -> None:
    """A table whose partition columns are others can be replaced, and not in part."""
    save(spark.range(4).selectExpr("id", "id as p"), tmp_path / "t", partitionBy="p")
    other = spark.range(4).selectExpr("id", "id as q")
    overwrite_mode("dynamic")
    assert "partition columns are: p" in failure(lambda: save(other, tmp_path / "t", "overwrite", partitionBy="q"))
    assert len(table_of(tmp_path / "t")) == 4
    overwrite_mode("static")
    # Everything is replaced.
    save(spark.range(2), tmp_path / "t", "overwrite")
    assert ids_of(tmp_path / "t") == [0, 1]
    save(other, tmp_path / "t", "overwrite", partitionBy="q")
    assert [Path(name).parent.name for name in table_of(tmp_path / "t")] == [f"q={at}" for at in range(4)]


@pytest.mark.parametrize("way", ["option", "session", "convert", "folder"])
@pytest.mark.parametrize("has_log", [True, False])
def test_a_dynamic_overwrite_without_partition_columns(
    spark: Spark, tmp_path: Path, overwrite_mode: Any, way: str, has_log: bool
) -> None:
    """It is refused where the table has partitions, whose rows it would not keep, and names their columns."""
    table = tmp_path / "t"
    rows = spark.range(6).selectExpr("id", "id % 2 as p", "id % 3 as q")
    if has_log:
        save(rows, table, partitionBy="p,q")
    else:
        rows.write.partitionBy("p", "q").orc(str(table))
    again = spark.sql("select 7L id, 1L p, 1L q")
    if way == "option":
        text = failure(lambda: save(again, table, "overwrite", partitionOverwriteMode="dynamic"))
    elif way == "session":
        overwrite_mode("dynamic")
        text = failure(lambda: save(again, table, "overwrite"))
    elif way == "folder":
        inside = table / "p=0"
        text = failure(lambda: save(again.drop("p"), inside, "overwrite", partitionOverwriteMode="dynamic"))
        assert '.option("partitionBy", \'["q"]\')' in text
        assert ids_of(table) == list(range(6))
        return
    else:
        with pytest.raises(ValueError, match=r'needs partition_by=\["p", "q"\]'):
            osp.convert(again, table, existing_data="overwrite_partitions", spark=spark)
        with pytest.raises(ValueError, match=r'needs partition_by=\["p", "q"\]'):
            orcish.write_dataset(pa.table({"id": [1]}), table, existing_data="overwrite_partitions")
        assert ids_of(table) == list(range(6))
        return
    assert "partition columns are: p, q; partitionBy is: none" in text
    assert '.option("partitionBy", \'["p", "q"]\')' in text
    assert ids_of(table) == list(range(6))


@pytest.mark.parametrize("session", [True, False])
def test_a_dynamic_overwrite_of_a_table_without_partitions(
    spark: Spark, tmp_path: Path, overwrite_mode: Any, session: bool
) -> None:
    """It replaces everything, whatever the columns are, as in Spark. So does one of the folder of a partition."""
    if session:
        overwrite_mode("dynamic")
    options = {} if session else {"partitionOverwriteMode": "dynamic"}
    for rows in ("select 1L id, 'a' s", "select 2L id, 5 s", "select 3L id"):
        save(spark.sql(rows), tmp_path / "t", "overwrite", **options)
    assert ids_of(tmp_path / "t") == [3]
    save(spark.range(4).selectExpr("id", "id % 2 as p"), tmp_path / "p", partitionBy="p")
    save(spark.sql("select 9L id"), tmp_path / "p" / "p=1", "overwrite", **options)
    assert ids_of(tmp_path / "p") == [0, 2, 9]


def test_stored_types_after_a_dynamic_overwrite_of_the_session(
    spark: Spark, tmp_path: Path, overwrite_mode: Any
) -> None:
    table = pa.table({"t": pa.array([0, 1], pa.timestamp("us", "UTC")), "p": [0, 1]})
    orcish.write_dataset(table, tmp_path / "t", partition_by=["p"])
    overwrite_mode("dynamic")
    save(spark.sql("select timestamp'2026-01-01 00:00:00' t, 1 p"), tmp_path / "t", "overwrite", partitionBy="p")
    types = {orcish.ORCFile(path).column_types[1] for path in (tmp_path / "t").rglob("*.orc")}
    assert types == {"timestamp with local time zone"}


def test_an_overwrite_without_tasks(tmp_path: Path) -> None:
    writer = OrcishWriter(
        WriterOptions.of({"path": str(tmp_path / "t"), "partitionBy": "p"}),
        StructType().add("id", LongType()).add("p", LongType()),
        True,
    )
    with pytest.raises(OrcishError, match="option partitionOverwriteMode"):
        writer.commit([None])


def test_tables_of_the_catalog(spark: Spark, tmp_path: Path) -> None:
    """Spark passes no path for them."""
    path = str(tmp_path / "t")
    frame = spark.range(3)
    save(frame, path)
    said = "Spark does not pass the path of a table of its catalog"
    sql = spark.sql
    sql("create table orcish_empty (id bigint) using orcish")
    sql(f"create table orcish_there (id bigint) using orcish location '{path}'")
    try:
        for run in (
            lambda: frame.write.format("orcish").saveAsTable("orcish_saved"),
            lambda: frame.write.format("orcish").mode("append").saveAsTable("orcish_saved"),
            lambda: sql("select * from orcish_empty").collect(),
            lambda: sql("insert into orcish_empty values (1)"),
            lambda: sql("select * from orcish_there").collect(),
            lambda: sql(f"create table orcish_location using orcish location '{path}'"),
            lambda: sql(f"create table orcish_options using orcish options (path '{path}')"),
            lambda: spark.catalog.createTable("orcish_created", path=path, source="orcish"),
            lambda: sql("create table orcish_selected using orcish as select 1 as id"),
        ):
            text = failure(run)
            assert said in text, text[-500:]
            assert "CREATE TABLE name USING orc LOCATION" in text
    finally:
        for name in ("empty", "there", "saved", "location", "options", "created", "selected"):
            sql(f"drop table if exists orcish_{name}")
    # What works.
    sql(f"create temporary view orcish_view using orcish options (path '{path}')")
    assert sql("select * from orcish_view").count() == 3
    sql("drop view orcish_view")
    sql(f"create table orcish_orc using orc location '{path}'")
    assert sql("select * from orcish_orc").count() == 3
    sql("drop table orcish_orc")
    assert ids_of(tmp_path / "t") == [0, 1, 2]


# Options.


@each_case("codec", ["zstd", "ZLIB", "snappy", "lz4", "none", "uncompressed", ""])
def test_compression(spark: Spark, tmp_path: Path, codec: str) -> None:
    save(spark.range(100), tmp_path / "t", **({"compression": codec} if codec else {}))
    (name,) = table_of(tmp_path / "t")
    plain = {"uncompressed": "none", "": "zstd"}.get(codec, codec.lower())
    assert orcish.ORCFile(tmp_path / "t" / name).compression == plain
    assert name.endswith(".orc" if plain == "none" else f".{plain}.orc")
    assert spark.read.orc(str(tmp_path / "t")).count() == 100


def test_bloom_filters(spark: Spark, tmp_path: Path) -> None:
    frame = spark.range(0, 20_000, 1, 1).selectExpr("id * 7919 % 20000 * 2 as n", "cast(id as string) as s")
    save(frame, tmp_path / "t", bloomFilterColumns="n,s", bloomFilterFpp="0.001", rowIndexStride="1000")
    (name,) = table_of(tmp_path / "t")
    found = orcish.scan(str(tmp_path / "t" / name), filters=orcish.col("n") == 10_001)
    assert found.count() == 0
    assert "bloom" in str(found.explain()).lower()
    own = {"orc.bloom.filter.columns": "n", "orc.compress": "ZLIB", "orc.row.index.stride": "1000"}
    save(frame, tmp_path / "own", **own)
    (name,) = table_of(tmp_path / "own")
    assert orcish.ORCFile(tmp_path / "own" / name).compression == "zlib"
    assert spark.read.orc(str(tmp_path / "t")).where("n = 10").count() == 1


# Nothing to write.


def test_no_rows(spark: Spark, tmp_path: Path) -> None:
    empty = every_type(spark).limit(0)
    save(empty, tmp_path / "t")
    found = spark.read.orc(str(tmp_path / "t"))
    assert found.columns == empty.columns
    assert found.count() == 0
    assert len(table_of(tmp_path / "t")) == 1
    # Tasks without rows make no files.
    save(spark.range(0, 100, 1, 4).where("id >= 75"), tmp_path / "few")
    assert ids_of(tmp_path / "few") == list(range(75, 100))
    assert len(table_of(tmp_path / "few")) <= 2
    save(spark.range(5), tmp_path / "all", "overwrite")
    save(spark.range(0), tmp_path / "all", "overwrite")
    assert ids_of(tmp_path / "all") == []


def test_a_frame_without_partitions(spark: Spark, tmp_path: Path) -> None:
    """A data frame without partitions has no task that could write a file. Spark runs one."""
    frame = spark.createDataFrame(spark.sparkContext.emptyRDD(), "id bigint")
    save(frame, tmp_path / "t")
    frame.write.orc(str(tmp_path / "own"))
    assert_same(spark.read.orc(str(tmp_path / "t")), spark.read.orc(str(tmp_path / "own")))


# Errors.


def test_errors(spark: Spark, tmp_path: Path) -> None:
    frame = spark.range(3).selectExpr("id", "id % 2 as p")
    table = tmp_path / "t"
    assert "no path" in failure(lambda: frame.write.format("orcish").mode("append").save())
    for options, said in [
        ({"compresion": "zstd"}, "did you mean compression?"),
        ({"partitionBy": "q"}, 'partitionBy: no column is named "q"'),
        ({"partitionBy": "id,p"}, "one column"),
        ({"partitionBy": "p,p"}, "twice"),
        ({"compression": "gzip"}, "option compression='gzip': must be one of"),
        ({"maxRowsPerFile": "-1"}, "maxRowsPerFile"),
        ({"bloomFilterColumns": "nope"}, "option bloomFilterColumns: no column is named"),
        ({"bloomFilterFpp": "2"}, "option bloomFilterFpp=2: it lies between 0 and 1"),
        ({"partitionOverwriteMode": "some"}, "static or dynamic"),
    ]:
        text = failure(lambda options=options: save(frame, table, **options))
        assert said in text, (options, text[-500:])
        assert table_of(table) == []
        assert left_over(table) == []
    # What Spark itself does not let through.
    assert "UNSUPPORTED_DATA_SOURCE_SAVE_MODE" in failure(lambda: frame.write.format("orcish").save(str(table)))
    failure(lambda: frame.write.format("orcish").mode("append").partitionBy("p").save(str(table)))


@each_case("value", ["null", "interval '3' month", "parse_json('1')", "array(null)", "named_struct('a', null)"])
def test_types_that_orc_has_not(spark: Spark, tmp_path: Path, value: str) -> None:
    text = failure(lambda: save(spark.range(1).selectExpr("id", f"{value} as odd"), tmp_path / "t"))
    assert "odd" in text or "interval" in text.lower()
    assert not (tmp_path / "t").exists() or table_of(tmp_path / "t") == []


def test_times_that_orc_has_not(spark: Spark, tmp_path: Path) -> None:
    """Spark's own writer stores other values for these times."""
    frame = spark.sql("select timestamp'1969-12-31 23:59:59.5' as t")
    assert "the second before 1970" in failure(lambda: save(frame, tmp_path / "t"))
    assert table_of(tmp_path / "t") == []
    assert left_over(tmp_path / "t") == []


def test_names_that_are_odd(spark: Spark, tmp_path: Path) -> None:
    frame = spark.range(3).selectExpr("id as `a.b`", "id as `é 日`", "named_struct('x.y', id) as `s`", "id as `UPPER`")
    table = tmp_path / "a b+c%20d é"
    save(frame, table)
    found = spark.read.orc(str(table))
    assert found.columns == frame.columns
    assert rows_of(found) == rows_of(frame)
    save(frame, f"file:{tmp_path / 'url'}")
    assert rows_of(spark.read.orc(str(tmp_path / "url"))) == rows_of(frame)


@pytest.mark.long
def test_tasks_that_fail(tmp_path: Path) -> None:
    """Tasks fail some times, or always, and commits fail."""
    assert run_script("task_retries", tmp_path) == ["again", "never", "finished", "undecided"]


def test_dates_in_python(spark: Spark, tmp_path: Path) -> None:
    """Instants of Python are read back as the same instants."""
    values = [
        dt.datetime(1969, 12, 31, 23, 59, 58, 999_999, dt.timezone.utc),
        dt.datetime(2026, 7, 1, tzinfo=dt.timezone.utc),
    ]
    save(spark.createDataFrame([(value,) for value in values], "t timestamp"), tmp_path / "t")
    found = orcish.scan(str(tmp_path / "t")).to_table()["t"].to_pylist()
    assert sorted(value.replace(tzinfo=dt.timezone.utc) for value in found) == values


@each_case("by", [[], ["p"]])
def test_other_threads(spark: Spark, tmp_path: Path, by: list[str]) -> None:
    """Threads without an active session write, and add to what is there."""
    frame = spark.range(40).selectExpr(
        "id", "cast(id % 2 as int) as p", "cast('2026-07-01' as timestamp) as at", "'x' as s"
    )

    def write(mode: Any) -> None:
        options = {"stripe_size": "1MB", "bloom_filter_columns": ["id"], "dictionary": {"s": False}, "verify": True}
        osp.write(frame, tmp_path / "t", mode=mode, partition_by=by, max_rows_per_file=30, **options)

    for mode in ("overwrite", "append", "overwrite", "append"):
        with ThreadPoolExecutor(1) as pool:
            with pytest.raises(Py4JJavaError, match="DATA_SOURCE_NOT_FOUND"):
                pool.submit(save, frame, tmp_path / "t").result()
            pool.submit(write, mode).result()
    rows = rows_of(frame)
    assert rows_of(spark.read.orc(str(tmp_path / "t")).select("id", "p", "at", "s")) == sorted([*rows, *rows])
    assert all(file.startswith("p=") == bool(by) for file in table_of(tmp_path / "t"))
    assert left_over(tmp_path / "t") == []


def test_streams_of_other_threads(spark: Spark, tmp_path: Path) -> None:
    """A thread that has made a data frame has an active session, with which a stream starts."""
    save(spark.range(5), tmp_path / "t")

    def run() -> None:
        spark.createDataFrame([], "id int")
        rows = spark.readStream.format("orcish").load(str(tmp_path / "t"))
        writer = rows.writeStream.format("orcish").option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start(str(tmp_path / "new")).awaitTermination()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(run).result()
    assert ids_of(tmp_path / "new") == list(range(5))


def test_wrong_keywords_of_write(spark: Spark, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mode='error': must be 'append' or 'overwrite'"):
        osp.write(spark.range(1), tmp_path / "t", mode="error")
    with pytest.raises(ValueError, match="'big' is no size"):
        osp.write(spark.range(1), tmp_path / "t", mode="append", stripe_size="big")
    with pytest.raises(TypeError, match="partition_overwrite_mode"):
        osp.write(spark.range(1), tmp_path / "t", mode="append", partition_overwrite="dynamic")
    assert not (tmp_path / "t").exists()
