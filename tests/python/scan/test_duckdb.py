"""Scans and files in the queries of duckdb, which finds them by the names of variables."""

# ruff: noqa: F841

import duckdb
import orcish
import polars as pl
import pyarrow as pa
import pytest
from orcish import col
from support.case_loops import each_case
from support.cpp_writers import write_arrow
from support.small_tables import put, rows

PARTS = [rows(0, 3000), rows(3000, 2000)]


@pytest.fixture
def folder(tmp_path):
    return put(tmp_path, {f"k={i}/{i}.orc": part for i, part in enumerate(PARTS)})


def test_queries_find_scans_by_name(folder):
    scan = orcish.scan(folder)
    for _ in range(2):
        assert duckdb.sql("select count(*), sum(id), count(x) from scan").fetchall() == [(5000, 12_497_500, 4000)]
        assert duckdb.sql("select text, k from scan where id = 3001").fetchall() == [("t5", 1)]
    assert duckdb.sql("select id from scan order by id desc limit 3").fetchall() == [(4999,), (4998,), (4997,)]
    assert len(duckdb.sql("select id from scan limit 7").fetchall()) == 7
    twice = "select count(*) from scan a join scan b on a.id = b.id + 10 where a.k <> b.k"
    assert duckdb.sql(twice).fetchall() == [(10,)]


def test_queries_find_files_by_name(folder):
    file = orcish.ORCFile(folder / "k=0" / "0.orc")
    scan = orcish.scan(folder).where(col("k") == 1).select("id", "x")
    for _ in range(2):
        assert duckdb.sql("select max(id), avg(x) from file").fetchall() == [(2999, 375.0)]
        both = "select id from file union all select id from scan order by id"
        assert [id for (id,) in duckdb.sql(both).fetchall()] == list(range(5000))
    assert duckdb.sql("select f.id from file f join scan s on f.id + 3000 = s.id limit 5").arrow() is not None


def test_scans_with_a_residual(folder):
    scan = orcish.scan(folder, filters=pl.col("id") % 1000 == 1)
    for _ in range(2):
        assert duckdb.sql("select id from scan order by id").fetchall() == [(1,), (1001,), (2001,), (3001,), (4001,)]


@each_case("strings", ["utf8", "large", "view", "dictionary", "binary"])
def test_forms_of_strings(folder, strings):
    scan = orcish.scan(folder, strings=strings)
    want = [(b"t0" if strings == "binary" else "t0", 715)]
    assert duckdb.sql("select text, count(*) from scan group by 1 order by 1 limit 1").fetchall() == want


def test_errors_end_a_query(folder):
    put(folder, {"k=2/2.orc": b"no ORC"})
    scan = orcish.scan(folder)
    with pytest.raises(Exception, match=r"2\.orc"):
        duckdb.sql("select sum(id) from scan").fetchall()
    assert duckdb.sql("select 1").fetchall() == [(1,)]


def test_types(folder):
    nested = pa.table({"s": [{"a": 1, "b": [1, 2]}], "m": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int32()))})
    scan = orcish.scan([write_arrow(nested), write_arrow({"m": nested["m"]})])
    assert duckdb.sql("select s.b[2], m['k'] from scan").fetchall() == [(2, 1), (None, 1)]
