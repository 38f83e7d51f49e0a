"""Profiles of tables that Spark writes, compared with what Spark's own aggregates say."""

import importlib
import random

import orcish
import orcish.spark as osp
import pyarrow as pa
import pytest
from orcish import _native
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812
from support.case_loops import each_case
from support.cpp_writers import write_rows
from support.orc_layout import layout

PROFILE = importlib.import_module("orcish.spark.profiling")

ROWS = 6000
QUERY = f"""
select id,
  if(id % 7 = 0, null, cast(id % 100 as int)) as some,
  cast(id % 11 - 5 as tinyint) as tiny, cast(id % 300 as smallint) as small,
  concat('word ', id % 50) as word, if(id % 3 = 0, null, sha(string(id))) as text,
  cast(concat('x', id) as binary) as bytes,
  id % 2 = 0 as flag, cast(null as string) as never,
  cast(id as decimal(10, 2)) / 4 as price, cast(id * 1000000007 as decimal(38, 5)) as large,
  cast(id / 3 as float) as float, if(id = 77, double('nan'), id * 0.1D) as nans,
  if(id % 5 = 0, double('infinity'), -id / 7) as ends,
  date_add(date'1990-01-01', cast(id % 400 as int)) as day,
  timestamp_micros(id * 1234567 - 1000000) as at, timestamp_ntz'2020-03-29 02:30:00' as clock,
  make_dt_interval(0, 0, 0, id % 10) as span,
  if(id % 4 = 0, null, named_struct('a', id % 13, 'b', if(id % 3 = 0, null, concat('b', id % 5)))) as nest,
  if(id % 6 = 0, null, transform(sequence(0, id % 3), i -> if(i = 2, null, id + i))) as list,
  if(id % 9 = 0, null, map(concat('k', id % 8), id % 21, 'fix', null)) as map,
  array(named_struct('x', id % 17, 'y', array(id % 2))) as deep
from range({ROWS})
"""


@pytest.fixture(scope="module")
def table(spark, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("profile") / "table")
    spark.sql(QUERY).repartition(3).write.orc(path)
    return path


def rows_of(frame):
    return {row["column"]: row for row in frame.collect()}


def values_of(frame, kind, steps, value):
    """Where the values of a column are: a frame, which has those within lists and maps one a row, and an expression."""
    if not steps:
        return [], kind, value
    step, *rest = steps
    if isinstance(kind, T.StructType):
        return values_of(frame, kind[step].dataType, rest, f"{value}.{step}")
    inner = kind.elementType if isinstance(kind, T.ArrayType) else kind.keyType if step == "key" else kind.valueType
    column = "e" if isinstance(kind, T.ArrayType) else step
    exploded, kind, name = values_of(frame, inner, rest, column)
    return [value, *exploded], kind, name


def judge(frame, found, distinct=True):
    """Compares a profile with aggregates of the same rows."""
    frame.persist()
    groups = {}
    for name in found:
        top, *steps = name.split(".")
        exploded, kind, value = values_of(frame, frame.schema[top].dataType, steps, top)
        groups.setdefault(tuple(exploded), []).append((name, kind, value))
    for exploded, columns in groups.items():
        rows = frame
        for value in exploded:
            rows = rows.select(F.explode(value)).withColumnRenamed("col", "e")
        asked = [F.count(F.lit(1))]
        for _, kind, value in columns:
            asked.append(F.count(value))
            if not is_nested(kind):
                differ = F.size(F.collect_set(value))
                asked += [F.min(value).cast("string"), F.max(value).cast("string"), differ]
        count, *answers = rows.agg(*asked).collect()[0]
        for name, kind, _ in columns:
            row = found[name]
            assert row["type"] == kind.simpleString()
            values = answers.pop(0)
            assert (row["rows"], row["values"], row["nulls"]) == (count, values, count - values), name
            if is_nested(kind):
                assert (row["min"], row["max"], row["distinct"]) == (None, None, None), name
                continue
            low, high, differ = (answers.pop(0) for _ in range(3))
            bounds = (None, None) if isinstance(kind, T.BinaryType) else (low, high)
            assert (row["min"], row["max"]) == bounds, name
            assert row["distinct"] == (pytest.approx(differ, rel=0.03) if distinct else None), name
    frame.unpersist()


def is_nested(kind):
    return isinstance(kind, T.StructType | T.ArrayType | T.MapType)


@pytest.fixture(scope="module")
def whole(table):
    return osp.profile(table)


def test_all_types(spark, table, whole):
    frame = whole
    assert frame.columns == [
        "column", "type", "rows", "values", "nulls", "min", "max", "distinct", "bytes", "encodings", "proven",
    ]  # fmt: skip
    found = rows_of(frame)
    judge(spark.read.orc(table), found)
    nested = ["nest", "nest.a", "nest.b", "list", "list.element", "map", "map.key", "map.value"]
    assert list(found)[-len(nested) - 3 :] == [*nested, "deep", "deep.element.x", "deep.element.y.element"]
    # Timestamps and intervals have no statistics that are exact, nor has what may be NaN or null within lists.
    read = {name for name, row in found.items() if not row["proven"]}
    assert read == {"at", "clock", "span", "nans", "list.element"}


def test_without_distinct(spark, table, whole):
    found = rows_of(osp.profile(table, distinct=False, spark=spark))
    assert found == rows_of(whole.withColumn("distinct", F.lit(None).cast("long")))


def test_stored(spark, table, tmp_path):
    """Bytes and encodings equal those of an independent parser of stripe footers."""
    path = tmp_path / "t"
    spark.sql("select id, concat('w', id % 5) as w, named_struct('a', id % 7, 'l', array(id)) as n from range(5000)") \
        .repartition(2).write.option("compression", "none").orc(str(path))  # fmt: skip
    found = rows_of(osp.profile(str(path), distinct=False))
    layouts = [layout(file.read_bytes()) for file in path.glob("part-*.orc")]
    size = [sum(s.end - s.start for found in layouts for s in found.streams if s.column == id) for id in range(7)]
    assert {name: row["bytes"] for name, row in found.items()} == {
        "id": size[1], "w": size[2], "n": sum(size[3:]), "n.a": size[4], "n.l.element": size[6],
    }  # fmt: skip
    assert {name: row["encodings"] for name, row in found.items()} == {
        "id": "DIRECT_V2 2", "w": "DICTIONARY_V2 2", "n": "DIRECT 2", "n.a": "DIRECT_V2 2", "n.l.element": "DIRECT_V2 2",
    }  # fmt: skip
    part = rows_of(osp.profile(str(path), columns=["n.a"], distinct=False))
    assert {name: row["bytes"] for name, row in part.items()} == {"n": size[3] + size[4], "n.a": size[4]}


def spoil(path):
    """Makes all data of a table's files unreadable, and leaves tails and footers of stripes as they are."""
    for file in path.glob("**/*.orc"):
        data = bytearray(file.read_bytes())
        found = layout(bytes(data))
        for part in found.data_ranges({stream.column for stream in found.streams}):
            data[part.start : part.stop] = b"\xff" * len(part)
        file.write_bytes(bytes(data))


def test_what_is_proven_is_not_read(spark, tmp_path):
    path = tmp_path / "t"
    query = """
    select id, if(id % 3 = 0, null, id % 9) as few, string(id % 100) as s, id / 2 as real, id % 2 = 0 as flag,
      cast(id as decimal(20, 3)) as d, date_add(date'2000-01-01', cast(id as int)) as day, encode(string(id), 'utf-8') as b,
      named_struct('a', id, 'l', array(id)) as n, map('k', id) as m, id % 2 as p
    from range(4000)
    """
    spark.sql(query).write.partitionBy("p").option("compression", "zlib").orc(str(path))
    expected = rows_of(osp.profile(str(path), distinct=False))
    judge(spark.read.orc(str(path)), expected, distinct=False)
    part = rows_of(osp.profile(str(path), distinct=False, filters="p = 1 and id < 5000"))
    judge(spark.read.orc(str(path)).where("p = 1"), part, distinct=False)
    spoil(path)
    assert all(row["proven"] for row in (*expected.values(), *part.values()))
    assert rows_of(osp.profile(str(path), distinct=False)) == expected
    assert rows_of(osp.profile(str(path), distinct=False, filters="p = 1 and id < 5000")) == part
    with pytest.raises(Exception, match=r"part-.*\.orc"):
        osp.profile(str(path))


def test_partitions(spark, tmp_path):
    path = str(tmp_path / "t")
    query = (
        "select id, if(id % 4 = 0, null, id % 4) as number, date_add(date'2026-01-01', cast(id % 3 as int)) as day, \
        if(id % 2 = 0, 'x y', '') as word from range(2000)"
    )
    spark.sql(query).write.partitionBy("number", "day", "word").orc(path)
    found = rows_of(osp.profile(path))
    judge(spark.read.orc(path), found)
    assert all(row["proven"] for row in found.values())
    assert (found["day"]["bytes"], found["day"]["encodings"]) == (0, "")
    found = rows_of(osp.profile(path, filters=orcish.col("number") > 1, columns=["day", "id", "number"]))
    assert list(found) == ["day", "id", "number"]
    judge(spark.read.orc(path).where("number > 1"), found)
    judge(spark.read.orc(path).where("id > 100"), rows_of(osp.profile(path, columns=["number"], filters="id > 100")))


@each_case("where", ["id >= 4321", "some = 5 and flag = true", "word = 'no such word'", "id < 1000000"])
def test_where(spark, table, where):
    columns = ["id", "text", "nest", "list", "at", "nans"]
    found = rows_of(osp.profile(table, columns=columns, filters=where))
    judge(spark.read.orc(table).where(where).select(columns), found)
    assert found["id"]["proven"] is (where in ("word = 'no such word'", "id < 1000000"))


def test_where_of_pyarrow(spark, table):
    import pyarrow.compute as pc

    found = rows_of(osp.profile(table, columns=["word"], filters=pc.field("some") + 1 == 6))
    judge(spark.read.orc(table).where("some = 5").select("word"), found)


def test_no_rows(spark, tmp_path):
    path = str(tmp_path / "t")
    spark.sql(QUERY).where("id < 0").write.orc(path)
    found = rows_of(osp.profile(path))
    judge(spark.read.orc(path), found)
    assert {
        (row["rows"], row["distinct"], row["bytes"], row["encodings"], row["proven"]) for row in found.values()
    } <= {
        (0, 0, 0, "", True),
        (0, None, 0, "", True),
    }


def test_files_that_differ(spark, tmp_path):
    path = str(tmp_path / "t")
    spark.sql("select cast(id as int) as id, 1 as x, named_struct('a', id) as n, 'c' as c from range(900)") \
        .coalesce(1).write.orc(path)  # fmt: skip
    spark.sql("select id + 450 as id, named_struct('a', id, 'b', array(string(id))) as n, 'C' as c from range(900)") \
        .coalesce(1).write.mode("append").orc(path)  # fmt: skip
    found = rows_of(osp.profile(path, merge_schema=True))
    schema = "id bigint, x int, n struct<a:bigint, b:array<string>>, c string"
    judge(spark.read.schema(schema).orc(path), found)
    assert not found["id"]["proven"]
    assert found["x"]["proven"]
    # Numbers of both widths are the same values.
    assert found["id"]["distinct"] == pytest.approx(1350, rel=0.03)


def test_stripes_apart(spark, tmp_path):
    """Splits with some stripes of a file use stripe statistics."""
    rng = random.Random(5)
    rows = [(n, None if n % 10 == 0 else rng.randrange(1000), f"{n:05}") for n in range(40_000)]
    file = tmp_path / "stripes.orc"
    options = {"stripe_size": 60_000, "compression_block_size": 4096, "memory_block_size": 4096}
    file.write_bytes(write_rows("struct<a:bigint,b:int,c:string>", rows, **options))
    assert orcish.ORCFile(str(file)).num_stripes > 1
    whole = rows_of(osp.profile(str(file)))
    parts = rows_of(osp.profile(str(file), split_size=1))
    assert parts == whole
    assert all(row["proven"] for row in parts.values())
    judge(spark.read.orc(str(file)), parts)


def test_many_rows_are_merged_by_spark(table, whole, monkeypatch):
    monkeypatch.setattr(PROFILE, "MAX_ROWS", 3)
    assert rows_of(osp.profile(table, min_splits=4)) == rows_of(whole)


def test_bounds_are_in_the_time_zone_of_the_session(spark, table):
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    try:
        found = rows_of(osp.profile(table, columns=["at", "clock"]))
        judge(spark.read.orc(table).select("at", "clock"), found)
        assert found["at"]["min"] == "1970-01-01 05:29:59"
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_names_with_dots(spark, tmp_path):
    path = str(tmp_path / "t")
    spark.sql("select id as `n.a`, timestamp_micros(id) as `n.t`, id as z from range(100)").write.orc(path)
    found = rows_of(osp.profile(path))
    assert list(found) == ["n.a", "n.t", "z"]
    assert {(row["rows"], row["values"], row["distinct"]) for row in found.values()} <= {
        (100, 100, 99),
        (100, 100, 100),
    }


def test_what_does_not_fit(spark, table, tmp_path):
    with pytest.raises(orcish.UnknownColumnError, match="nowhere"):
        osp.profile(table, columns=["nowhere"])
    with pytest.raises(ValueError, match="rowNumber"):
        osp.profile(table, row_number="n")
    with pytest.raises(FileNotFoundError):
        osp.profile(str(tmp_path / "none"))


def test_sketches():
    def of(values):
        sketch = _native.Distinct()
        sketch.add(pa.array(values).__arrow_c_array__())
        return sketch

    merged = of(range(50_000))
    merged.merge(of(range(30_000, 80_000)).to_bytes())
    assert merged.to_bytes() == of(range(80_000)).to_bytes()
    assert merged.estimate() == pytest.approx(80_000, rel=0.03)
    assert len(of([1, None, 1]).to_bytes()) == 4
    assert of(pa.array(["a", "b", "a"]).dictionary_encode()).to_bytes() == of(["b", "a"]).to_bytes()
    with pytest.raises(ValueError, match="no sketch"):
        merged.merge(b"x")
    with pytest.raises(orcish.UnsupportedError):
        of([[1]])


def test_options_of_stores(spark, tmp_path):
    """Storage options are passed as for other jobs."""
    orcish.write_table(pa.table({"id": [1]}), tmp_path / "a.orc")
    found = osp.profile(str(tmp_path), spark=spark, storage_options={"allow_http": True, "region": "eu"})
    assert found.first().rows == 1
