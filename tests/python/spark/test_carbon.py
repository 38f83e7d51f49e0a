"""Tables of CarbonData in Spark: read, in functions of workers, and written as ORC."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orcish
import orcish.spark as osp
import pyarrow as pa
import pytest
from orcish_cli.spark import main
from pyspark.errors import PySparkException
from support import carbon_apache as apache
from support import carbon_rows as cases
from support.carbon import CarbonTableWriter, write_folder
from support.carbon.deletes import Deletes
from support.case_loops import each_case
from support.processes import run_script
from support.random_cases import cases as cases_of
from support.random_cases import seeded
from support.spark_tables import assert_same, rows_of, table_of

Spark = Any

NAMES = ["i64", "f64", "dec18", "s", "day", "at", "flag", "texts", "nest"]


def load(spark: Spark, path: Any, **options: Any) -> Any:
    """A table, as people read it who have never imported orcish."""
    return spark.read.format("carbondata").options(**options).load(str(path))


def check(found: Any, wanted: pa.Table) -> None:
    """The rows of a data frame are those of a table, in any order."""
    assert found.columns == wanted.column_names
    cases.equal(found.toArrow().cast(wanted.schema), wanted, ordered=False)


def failure(run: Any) -> str:
    """The text of the error with which a query fails."""
    with pytest.raises(PySparkException) as raised:
        run()
    return str(raised.value)


def written_table(folder: Path, names: list[str], **options: Any) -> CarbonTableWriter:
    """A table of several files, pages and blocklets."""
    written = CarbonTableWriter(folder, cases.table(names).schema, page_rows=16, blocklet_rows=48, **options)
    written.load(cases.table(names))
    written.load(cases.table(names, 200, start=100), files=3)
    return written


@pytest.fixture(scope="module")
def types(tmp_path_factory: pytest.TempPathFactory) -> CarbonTableWriter:
    """A table of every type."""
    return written_table(tmp_path_factory.mktemp("types") / "t", list(cases.COLUMNS))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> CarbonTableWriter:
    """A table of some types, for what is asked of it."""
    return written_table(tmp_path_factory.mktemp("some") / "t", NAMES)


# Rows.


def test_every_type(spark: Spark, types: CarbonTableWriter) -> None:
    frame = load(spark, types.path)
    check(frame, orcish.read_table(str(types.path)))
    kinds = {field.name: field.dataType.simpleString() for field in frame.schema}
    assert all(field.nullable for field in frame.schema)
    assert [kinds[name] for name in ("i8", "f32", "dec38", "long", "raw", "day", "at")] == [
        "tinyint",
        "float",
        "decimal(38,10)",
        "string",
        "binary",
        "date",
        "timestamp",
    ]
    assert kinds["nest"] == "struct<x:bigint,y:string,days:array<date>,d:decimal(10,2)>"
    assert kinds["map"] == "map<string,double>"


def test_all_ways_to_read_it(spark: Spark, table: CarbonTableWriter) -> None:
    """The data source `orcish` detects the table, also in views and in paths in SQL."""
    path, wanted = str(table.path), table.rows()
    check(spark.read.format("orcish").load(path), wanted)
    check(spark.read.format("orcish").load(f"file://{path}/"), wanted)
    check(osp.read(spark, path), wanted)
    spark.sql(f"create temporary view carbon_rows using carbondata options (path '{path}', filters 'id < 20')")
    assert spark.sql("select count(*), max(id) from carbon_rows").collect() == [(20, 19)]
    assert load(spark, path).count() == 300


def test_instants(spark: Spark, table: CarbonTableWriter) -> None:
    """Instants are the same in each session time zone. Text of local times is in the session time zone."""
    path, wanted = str(table.path), {row["id"]: row["at"] for row in table.rows().to_pylist()}
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        for frame in (load(spark, path, timezone="America/New_York"), osp.read(spark, path)):
            found = {row.id: row.micros for row in frame.selectExpr("id", "unix_micros(at) as micros").collect()}
            assert found == {id: at and round(at.timestamp() * 1000) * 1000 for id, at in wanted.items()}
        where = "at >= timestamp'1970-01-01 09:00:00'"
        rows = osp.read(spark, path, filters=where)
        assert sorted(row.id for row in rows.collect()) == [
            id for id, at in wanted.items() if at is not None and at.timestamp() >= 0
        ]
        assert_same(rows, load(spark, path).where(where))
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


@each_case("index", [True, False])
def test_folders_and_files_without_metadata(spark: Spark, tmp_path: Path, index: bool) -> None:
    rows = cases.table(["s", "at"])
    files = write_folder(tmp_path / "t", rows, files=3, index=index)
    whole = orcish.read_table(str(tmp_path / "t"))
    check(load(spark, tmp_path / "t"), whole)
    check(spark.read.format("orcish").load(str(tmp_path / "t")), whole)
    path = tmp_path / "t" / files[0].name
    check(load(spark, path), orcish.read_table(str(path)))
    osp.convert(str(tmp_path / "t"), str(tmp_path / "orc"), spark=spark)
    check(spark.read.orc(str(tmp_path / "orc")), whole)


@each_case("named", [None, "carbondata"])
@each_case("other", ["notes.csv", "old.carbondata.bak"])
def test_folders_without_metadata_in_place(spark: Spark, tmp_path: Path, named: str | None, other: str) -> None:
    """All files of CarbonData become ORC, also with deletes. Others are not removed, as they are not read."""
    rows = cases.table(["s"])
    files = write_folder(tmp_path / "t", rows, files=2)
    Deletes(tmp_path / "t").add("0", files, [0, 2], 1700000000001, listed=False)
    # The metadata of the deletes, of which a folder without metadata has none.
    shutil.rmtree(tmp_path / "t" / "Metadata")
    path, whole = str(tmp_path / "t"), orcish.read_table(str(tmp_path / "t"))
    assert whole.num_rows == rows.num_rows - 2
    (tmp_path / "t" / other).write_text("1\n")
    before = {path.name: path.read_bytes() for path in (tmp_path / "t").iterdir()}
    with pytest.raises(ValueError, match=other):
        osp.convert(path, path, format=named, existing_data="overwrite", spark=spark)
    assert {path.name: path.read_bytes() for path in (tmp_path / "t").iterdir()} == before
    (tmp_path / "t" / other).unlink()
    osp.convert(path, path, format=named, existing_data="overwrite", spark=spark)
    check(spark.read.orc(path), whole)


def test_segments_deletes_and_streams(spark: Spark, tmp_path: Path) -> None:
    """Live rows are read, with the current columns of the table."""
    names = ["s", "i32", "day", "at"]
    written = written_table(tmp_path / "t", names)
    written.delete("0", range(0, 100, 3))
    written.update("1", [0, 150], cases.table(names, 2, start=1000))
    written.load(cases.table(names, 10, start=2000), state="Marked for Delete")
    written.compact(["0", "2"])
    written.stream(cases.table(names, 50, start=3000), block_rows=20)
    written.alter_add("new", pa.int64(), 7)
    written.alter_rename("s", "text")
    wanted = written.rows()
    check(load(spark, written.path), wanted)
    assert load(spark, written.path, filters="id >= 3000").count() == 50
    assert load(spark, written.path, filters="new = 7", columns="id").count() == wanted.num_rows
    osp.convert(str(written.path), str(tmp_path / "orc"), spark=spark)
    check(spark.read.orc(str(tmp_path / "orc")), wanted)


def test_partitions(spark: Spark, tmp_path: Path) -> None:
    """Partition columns are stored in the files, and name the folders of converted tables."""
    names = ["i64", "s", "day", "i16"]
    rows = cases.table(names, 40)
    written = CarbonTableWriter(tmp_path / "t", rows.schema, partition_by=("s", "day"))
    written.load(rows)
    check(load(spark, written.path), written.rows())
    assert load(spark, written.path, filters="s is null and id > 20").count() == 2
    osp.convert(str(written.path), str(tmp_path / "orc"), spark=spark)
    found = spark.read.orc(str(tmp_path / "orc"))
    assert found.columns == ["id", "i64", "i16", "s", "day"]
    check(found, written.rows())
    assert all(name.startswith("s=") for name in table_of(tmp_path / "orc"))
    osp.convert(str(written.path), str(tmp_path / "other"), partition_by=["i16"], spark=spark)
    check(
        spark.read.orc(str(tmp_path / "other")).selectExpr("id", "cast(i16 as smallint) i16"),
        written.rows().select(["id", "i16"]),
    )
    osp.convert(str(written.path), str(tmp_path / "plain"), partition_by=[], spark=spark)
    check(spark.read.orc(str(tmp_path / "plain")), written.rows())
    osp.convert(str(written.path), str(tmp_path / "part"), read_options={"columns": ["id", "s"]}, spark=spark)
    assert spark.read.orc(str(tmp_path / "part")).columns == ["id", "s"]


def test_tables_without_rows(spark: Spark, tmp_path: Path) -> None:
    written = CarbonTableWriter(tmp_path / "t", cases.table(NAMES).schema)
    check(load(spark, written.path), written.rows())
    osp.convert(str(written.path), str(tmp_path / "orc"), spark=spark)
    assert spark.read.orc(str(tmp_path / "orc")).columns == ["id", *NAMES]
    assert osp.profile(str(written.path), spark=spark).count() > 0


# Options.


def test_columns(spark: Spark, table: CarbonTableWriter) -> None:
    frame = load(spark, table.path, columns="S, nest.D, id")
    assert frame.columns == ["s", "nest", "id"]
    assert frame.schema["nest"].dataType.simpleString() == "struct<d:decimal(10,2)>"
    wanted = load(spark, table.path)
    assert rows_of(frame.select("s", "nest.d", "id")) == rows_of(wanted.select("s", "nest.d", "id"))
    assert "no_such" in failure(lambda: load(spark, table.path, columns="no_such").schema)
    assert 'named "S"' in failure(lambda: load(spark, table.path, columns="S", caseSensitive="true").schema)


@each_case(
    "where",
    [
        "id = 17",
        "ID between 90 and 110 and s is not null",
        "s in ('name 1 é', 'name 2 é') and flag",
        "f64 > 29.85",
        "dec18 < 0",
        "day = date'1960-01-01'",
        "at > timestamp'1970-01-01 00:00:00' and at <= timestamp'1970-01-01 03:30:00Z'",
        "not (at = timestamp'1969-12-31 20:00:00')",
        "at in (timestamp'1969-12-31 20:00:00', timestamp'1969-12-31 20:07:00.001')",
        "i64 is null",
        "id < 0",
    ],
)
def test_where(spark: Spark, table: CarbonTableWriter, where: str) -> None:
    wanted = load(spark, table.path).where(where)
    zone = str(spark.conf.get("spark.sql.session.timeZone"))
    assert_same(load(spark, table.path, filters=where, sessionTimezone=zone), wanted)
    frame = load(spark, table.path, filters=where, columns="s", sessionTimezone=zone)
    assert rows_of(frame) == rows_of(wanted.select("s"))


def test_tasks(spark: Spark, table: CarbonTableWriter) -> None:
    """The number of tasks is as requested. Blocklets without matching rows have no task."""
    for options in ({"splitSize": "1"}, {"minSplits": "5"}):
        frame = load(spark, table.path, **options)
        assert frame.rdd.getNumPartitions() > 3
        assert sorted(row.id for row in frame.select("id").collect()) == list(range(300))
    assert load(spark, table.path, splitSize="1", filters="id < 10").rdd.getNumPartitions() == 1


def test_schemas_of_users(spark: Spark, table: CarbonTableWriter) -> None:
    wanted = load(spark, table.path)
    for schema, query in {
        "s string, id int": ["s", "id"],
        "ID bigint, Flag boolean": ["cast(id as bigint) as ID", "flag as Flag"],
        "dec18 decimal(30, 8), id int": ["cast(dec18 as decimal(30, 8)) as dec18", "id"],
        "nest struct<d:decimal(10,2),x:bigint>, at timestamp": ["named_struct('d', nest.d, 'x', nest.x) as nest", "at"],
        "texts array<string>": ["texts"],
    }.items():
        found = spark.read.format("carbondata").schema(schema).load(str(table.path))
        assert found.schema.simpleString() == wanted.selectExpr(*query).schema.simpleString(), schema
        rows, wanted_rows = found, wanted.selectExpr(*query)
        if "nest" in schema:
            rows, wanted_rows = (frame.select("nest.x", "nest.d", "at") for frame in (rows, wanted_rows))
        assert rows_of(rows) == rows_of(wanted_rows), schema
    found = osp.read(spark, str(table.path), schema="at timestamp, id bigint")
    assert_same(found, wanted.selectExpr("at", "cast(id as bigint) as id"))


@each_case(
    ("schema", "said"),
    [
        ("id string", "column id is int"),
        ("i64 int", "column i64 is bigint"),
        ("at timestamp_ntz", "column at is timestamp"),
        ("dec18 decimal(18, 2)", "column dec18"),
        ("nest struct<x:string>", "column nest"),
        ("nest struct<none:int>", "none"),
        ("texts array<int>", "column texts"),
        ("missing int", "missing"),
    ],
)
def test_schemas_that_do_not_fit(spark: Spark, table: CarbonTableWriter, schema: str, said: str) -> None:
    assert said in failure(lambda: spark.read.format("carbondata").schema(schema).load(str(table.path)).collect())


# Functions in the workers.


def test_functions(spark: Spark, table: CarbonTableWriter) -> None:
    path, wanted = str(table.path), load(spark, table.path)

    def same(batches: Iterator[Any]) -> Iterator[Any]:
        return batches

    assert rows_of(osp.map_batches(spark, path, same, wanted.schema)) == rows_of(wanted)
    schema = "id int, at timestamp"
    for where in ("id > 250", orcish.col("id") > 250, pa.compute.field("id") > 250):
        found = osp.map_batches(spark, path, same, schema, columns=["id", "at"], filters=where)
        assert rows_of(found) == rows_of(wanted.select("id", "at").where("id > 250"))
    found = osp.map_pandas(spark, path, same, "id int", columns=["ID"], filters="flag")
    assert sorted(row.id for row in found.collect()) == sorted(row.id for row in wanted.where("flag").collect())


def test_profile(spark: Spark, types: CarbonTableWriter) -> None:
    """The profile of a CarbonData table reads all rows."""
    rows = {row.column: row for row in osp.profile(str(types.path), spark=spark).collect()}
    table = orcish.read_table(str(types.path))
    assert list(rows)[:3] == ["id", "flag", "i8"]
    assert (rows["id"].min, rows["id"].max, rows["id"].rows, rows["id"].nulls) == ("0", "299", 300, 0)
    assert (rows["id"].bytes, rows["id"].encodings, rows["id"].proven) == (None, "", False)
    assert abs(rows["id"].distinct - 300) < 15
    for name in cases.COLUMNS:
        assert rows[name].nulls == table.column(name).null_count, name
    assert rows["at"].min == "1969-12-31 20:00:00"
    assert rows["ints.element"].rows == len(pa.compute.list_flatten(table.column("ints")))
    part = osp.profile(str(types.path), columns=["day"], filters="id < 10", distinct=False, spark=spark).collect()
    assert [(row.column, row.rows, row.min, row.distinct) for row in part] == [("day", 10, "1960-01-01", None)]


# Conversion.


def test_convert(spark: Spark, types: CarbonTableWriter, tmp_path: Path) -> None:
    source, target = str(types.path), str(tmp_path / "orc")
    done = osp.convert(source, target, bloom_filter_columns=["id"], sort_within=["s"], spark=spark).collect()
    assert sum(row.rows for row in done) == 300
    assert sorted(row.file for row in done) == table_of(tmp_path / "orc")
    check(spark.read.orc(target), orcish.read_table(source))
    assert_same(spark.read.format("orcish").load(target), load(spark, source))
    with pytest.raises(FileExistsError):
        osp.convert(source, target, spark=spark)
    osp.convert(
        source, target, existing_data="append", format="carbondata", read_options={"filters": "id < 10"}, spark=spark
    )
    assert spark.read.orc(target).count() == 310
    osp.convert(source, target, existing_data="overwrite", spark=spark)
    assert spark.read.orc(target).count() == 300


def test_convert_by_the_command(spark: Spark, table: CarbonTableWriter, tmp_path: Path) -> None:
    target = str(tmp_path / "orc")
    assert main(["convert", str(table.path), target, "--sort-within", "id", "--compression", "zlib"]) == 0
    check(spark.read.orc(target), table.rows())


@pytest.mark.long
def test_convert_in_another_zone(spark: Spark, table: CarbonTableWriter, tmp_path: Path) -> None:
    """A conversion in a JVM of another zone keeps the instants for Spark's own reader."""
    assert run_script("carbon_instants", tmp_path, TZ="America/New_York", TABLE=str(table.path)) == ["instants"]


# What is for ORC alone.


@each_case(
    ("options", "said"),
    [
        ({"mergeSchema": "true"}, "mergeSchema"),
        ({"rowNumber": "row"}, "rowNumber"),
        ({"partitions": "false"}, "partitions"),
        ({"colums": "id"}, "did you mean columns?"),
    ],
)
@each_case("name", ["carbondata", "orcish"])
def test_options_that_are_refused(
    spark: Spark, table: CarbonTableWriter, name: str, options: dict[str, str], said: str
) -> None:
    text = failure(lambda: spark.read.format(name).options(**options).load(str(table.path)).schema)
    assert said in text
    assert "ValueError" in text


def test_several_paths_are_refused(spark: Spark, table: CarbonTableWriter) -> None:
    paths = [str(table.path), str(table.path)]
    assert "one path" in failure(lambda: spark.read.format("carbondata").load(paths).schema)


def test_what_is_no_table(spark: Spark, tmp_path: Path) -> None:
    spark.range(3).write.orc(str(tmp_path / "orc"))
    for path in (tmp_path / "orc", tmp_path / "none"):
        assert str(path) in failure(lambda at=path: load(spark, at).schema)


def test_tables_are_not_written(spark: Spark, table: CarbonTableWriter, tmp_path: Path) -> None:
    path = str(table.path)
    before = sorted(table.path.rglob("*"))
    rows = spark.range(3)
    for mode in ("append", "overwrite"):
        assert "only read" in failure(lambda mode=mode: rows.write.format("carbondata").mode(mode).save(path))
        assert "only read" in failure(lambda mode=mode: rows.write.format("orcish").mode(mode).save(path))
        with pytest.raises(orcish.UnsupportedError, match="only read"):
            osp.convert(rows, path, existing_data=mode, spark=spark)
    for job in (osp.compact, osp.verify):
        with pytest.raises(orcish.UnsupportedError, match="CarbonData"):
            job(path, spark=spark)
    assert sorted(table.path.rglob("*")) == before


@each_case("name", ["carbondata", "orcish"])
def test_tables_are_no_streams(spark: Spark, table: CarbonTableWriter, tmp_path: Path, name: str) -> None:
    before = sorted(table.path.rglob("*"))

    def start() -> None:
        frame = spark.readStream.format(name).load(str(table.path))
        query = frame.writeStream.format("noop").option("checkpointLocation", str(tmp_path / name)).start()
        try:
            query.processAllAvailable()
        finally:
            query.stop()

    assert "CarbonData" in failure(start)
    assert sorted(table.path.rglob("*")) == before


# Tables that Apache wrote.

TABLES = [name for name in apache.tables() if name != "empty"]


@pytest.mark.skipif(not TABLES, reason=f"no tables of Apache CarbonData in {apache.FOLDER}: set ORCISH_CARBONDATA")
def test_tables_of_apache(spark: Spark, tmp_path: Path) -> None:
    """All tables of Apache are read by orcish, and by Spark after conversion."""
    converted = seeded("tables that are converted").sample(TABLES, cases_of(len(TABLES)))
    for name in TABLES:
        path = apache.table_path(name)
        wanted = orcish.read_table(path)
        check(load(spark, path), wanted)
        if name not in converted:
            continue
        osp.convert(path, str(tmp_path / name), spark=spark)
        found = spark.read.orc(str(tmp_path / name))
        if wanted.num_rows or not orcish.CarbonTable(path).partition_columns:
            check(found.select(wanted.column_names), wanted)
