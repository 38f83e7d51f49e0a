"""Queries of engines over datasets: duckdb and polars push columns and filters down, which the bytes show that are read."""

# ruff: noqa: F841, RUF059

import datetime as dt

import duckdb
import orcish
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from support.case_loops import each_case
from support.orc_layout import layout
from support.query_dataset import ROWS, TABLE, opened, share, written


@pytest.fixture(scope="module")
def data():
    return written()


CONDITIONS = [
    "id = 23456",
    "id in (5, 7, 20000)",
    "id between 5500 and 6400",
    "id > 39500",
    "not id < 39900",
    "name = 'n012345'",
    "name in ('n012345', 'n012346', 'n020000', 'absent')",
    "name >= 'n039900'",
    "day = date '2026-01-05'",
    "day in (date '2026-01-05', date '2026-02-05', date '2025-02-05')",
    "time >= timestamp '2026-01-01 11:00:00'",
    "time::date = date '2026-01-02'",
    "price < 12.5",
    "none = 39999",
    "x < 20",
    "n.a = 5",
    "id = 5 or id = 39000",
    "id < 100 and name <> 'n000007' and x is not null",
    "(id in (1, 2, 3) and name = 'n000002') or id = 31000",
    "id + 1 = 2",
]


@each_case("condition", CONDITIONS)
def test_filters_of_duckdb_are_pushed_down(data, condition):
    file, dataset = opened(data)
    query = f"select id, payload from {{}} where {condition}"
    found = duckdb.sql(query.format("dataset")).fetchall()
    memory = TABLE
    assert found == duckdb.sql(query.format("memory")).fetchall()
    assert found or condition.startswith("time::date")
    # At most three row groups of forty, and the rest of their chunks.
    assert share(file, data, of_payload=True) < 0.15


@each_case(
    "condition",
    [
        "id not in (1, 2, 3)",
        "x not in (0.25, 0.5)",
        "none not in (30001, 30002)",
        "not (none in (30001, 30002) or x > 5)",
        "none is null or x is null",
        "name like 'n00000%'",
        "x > 9000",
        "none in (30001, null)",
        "coalesce(none, 1) = 1",
        "n.b = 'b7' or none is distinct from 30001",
    ],
)
def test_rows_of_other_filters_of_duckdb(data, condition):
    _, dataset = opened(data)
    memory = TABLE
    query = f"select id, none, x, n from {{}} where {condition}"
    found = duckdb.sql(query.format("dataset")).to_arrow_table()
    assert found.equals(duckdb.sql(query.format("memory")).to_arrow_table())


def test_columns_of_duckdb_are_pushed_down(data):
    for query in ("select sum(id) from dataset", "select count(*) from dataset", "select max(id) from dataset"):
        file, dataset = opened(data)
        assert duckdb.sql(query).fetchall()[0][0] in (sum(range(ROWS)), ROWS, ROWS - 1)
        assert share(file, data, of_payload=True) == 0
        assert share(file, data, of_payload=False) < 0.1
    file, dataset = opened(data)
    assert duckdb.sql("select payload from dataset limit 1").fetchall() == [(TABLE["payload"][0].as_py(),)]
    assert duckdb.sql("select count(*) from dataset d join dataset e on d.id = e.id where e.id < 10").fetchall() == [
        (10,)
    ]


def test_partitions_of_duckdb_are_pushed_down(tmp_path):
    """Files that cannot have rows are not read: these are none."""
    orcish.write_dataset(pa.table({"id": range(10), "k": [1] * 5 + [2] * 5}), tmp_path / "t", partition_by=["k"])
    dataset = orcish.dataset(tmp_path / "t")
    (bad,) = (tmp_path / "t" / "k=2").iterdir()
    bad.write_bytes(bad.read_bytes()[:-100])
    assert duckdb.sql("select sum(id), any_value(k) from dataset where k = 1").fetchall() == [(10, 1)]
    assert pl.scan_pyarrow_dataset(dataset).filter(pl.col("k") == 1).select("id").sum().collect().item() == 10
    with pytest.raises(duckdb.Error, match=bad.name):
        duckdb.sql("select sum(id) from dataset").fetchall()


def test_residuals_and_limits_of_the_scan_in_duckdb(data):
    for options, want in (
        ({"filters": pc.bit_wise_and(pc.field("id"), 1) == 0}, 5000),
        ({"limit": 7000}, 7000),
        ({"filters": pl.col("id") >= pl.col("id").mean()}, 0),
    ):
        dataset = orcish.dataset(data, **options)
        assert duckdb.sql("select count(*) from dataset where id < 10000").fetchall() == [(want,)]
        assert duckdb.sql("select count(*), sum(id) from dataset").fetchall()[0][0] == dataset.count_rows()


@each_case("options", [{}, {"timestamps": "instant"}, {"strings": "large"}, {"strings": "dictionary"}])
def test_types_in_duckdb(data, options):
    dataset, memory = orcish.dataset(data, **options), orcish.read_table(data, **options)
    query = "select * from {} where name in ('n000001', 'n000005', 'n000009') or id = 100 order by id"
    found = duckdb.sql(query.format("dataset")).to_arrow_table()
    assert found.equals(duckdb.sql(query.format("memory")).to_arrow_table())


POLARS = [
    pl.col("id") == 23_456,
    pl.col("id").is_between(5500, 6400),
    pl.col("id").is_in([5, 7, 20_000]),
    (pl.col("name") == "n012345") | (pl.col("id") == 39_000),
    ~(pl.col("id") < 39_900),
    pl.col("day") == dt.date(2026, 1, 5),
    pl.col("x") < 20,
    (pl.col("id") < 700) & pl.col("x").is_null(),
    (pl.col("id") < 700) & pl.col("name").str.starts_with("n00001"),
]


@each_case("condition", POLARS, ids=str)
def test_filters_of_polars_are_pushed_down(data, condition):
    file, dataset = opened(data)
    found = pl.scan_pyarrow_dataset(dataset).filter(condition).select("id", "payload").collect()
    assert found.equals(pl.from_arrow(TABLE).filter(condition).select("id", "payload"))
    assert found.height
    assert share(file, data, of_payload=True) < 0.15


def test_columns_of_polars_are_pushed_down(data):
    for query, want in ((pl.col("id").sum(), sum(range(ROWS))), (pl.len(), ROWS)):
        file, dataset = opened(data)
        assert pl.scan_pyarrow_dataset(dataset).select(query).collect().item() == want
        assert share(file, data, of_payload=True) == 0
    file, dataset = opened(data)
    assert pl.scan_pyarrow_dataset(dataset).head(3).collect()["id"].to_list() == [0, 1, 2]
    dataset = orcish.dataset(data)
    assert pl.scan_pyarrow_dataset(dataset).collect().equals(pl.from_arrow(TABLE))


def test_filters_of_datasets_are_pushed_down(data):
    file, dataset = opened(data)
    assert dataset.to_table({"p": pc.utf8_upper(pc.field("payload"))}, pc.field("id") == 4).num_rows == 1
    assert share(file, data, of_payload=True) < 0.1
    file, dataset = opened(data)
    assert dataset.to_table({"a": pc.field("n", "a") + 1}).num_rows == ROWS
    columns = layout(data).data_ranges([10])
    assert file.taken(columns) == 0 < sum(map(len, columns))
    file, dataset = opened(data)
    assert sum(part.count_rows() for part in dataset.get_fragments(pc.field("id") == 5)) == ROWS
    assert share(file, data, of_payload=False) == 0
