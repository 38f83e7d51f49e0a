"""Queries of DataFusion and ibis over datasets, by the hooks that they have for datasets of pyarrow."""

import datafusion
import ibis
import orcish
import pyarrow as pa
import pytest
from support.case_loops import each_case
from support.query_dataset import TABLE, opened, share, written


@pytest.fixture(scope="module")
def data():
    return written()


def query(dataset, text):
    context = datafusion.SessionContext()
    context.register_dataset("dataset", dataset)
    return context.sql(text).to_arrow_table()


def rows_in_memory(text):
    context = datafusion.SessionContext()
    context.register_record_batches("dataset", [TABLE.to_batches()])
    return context.sql(text).to_arrow_table().to_pylist()


@each_case(
    "condition",
    [
        "id = 23456",
        "name in ('n012345', 'n000001')",
        "id between 5 and 90 and x is not null",
        "x < 20",
        "day = date '2026-01-05'",
        "time >= timestamp '2026-01-01 11:00:00'",
        "price < 12.5",
        "none = 39999",
        "id not in (1, 2) and id < 50",
        "id = -5",
    ],
)
def test_filters_of_datafusion_are_pushed_down(data, condition):
    file, dataset = opened(data)
    text = f"select id, payload from dataset where {condition} order by id"
    assert query(dataset, text).to_pylist() == rows_in_memory(text)
    assert share(file, data, of_payload=True) < 0.15


@each_case("condition", ["n['a'] = 5", "name like 'n00000%'", "x is null", "id % 1000 = 7", "none <> 30001"])
def test_rows_of_other_filters_of_datafusion(data, condition):
    text = f"select * from dataset where {condition} order by id"
    assert query(opened(data)[1], text).to_pylist() == rows_in_memory(text)


def test_columns_of_datafusion_are_pushed_down(data):
    file, dataset = opened(data)
    assert query(dataset, "select count(*) c, sum(id) s from dataset").to_pylist() == [{"c": 40_000, "s": 799_980_000}]
    assert query(dataset, "select count(*) c from dataset where id >= 0").to_pylist() == [{"c": 40_000}]
    assert share(file, data, of_payload=True) == 0


def test_files_are_partitions_of_datafusion(tmp_path):
    orcish.write_dataset(pa.table({"id": range(10), "k": [1] * 5 + [2] * 5}), tmp_path / "t", partition_by=["k"])
    dataset = orcish.dataset(tmp_path / "t")
    assert query(dataset, "select k, sum(id) s from dataset group by k order by k").to_pydict() == {
        "k": [1, 2],
        "s": [10, 35],
    }
    limited = orcish.dataset(tmp_path / "t", limit=7)
    assert query(limited, "select count(*) c from dataset where id > 1").to_pydict() == {"c": [5]}
    (bad,) = (tmp_path / "t" / "k=2").iterdir()
    bad.write_bytes(bad.read_bytes()[:-100])
    assert query(dataset, "select sum(id) s from dataset where k = 1").to_pydict() == {"s": [10]}
    with pytest.raises(Exception, match=bad.name):
        query(dataset, "select sum(id) s from dataset")


def test_memory_tables_of_ibis(data):
    """ibis gives the dataset to its backend, here duckdb."""
    file, dataset = opened(data)
    connection = ibis.duckdb.connect()
    table = ibis.memtable(dataset)
    found = connection.to_pyarrow(table.filter(table.id == 23_456).select("id", "payload"))
    assert found.to_pylist() == TABLE.slice(23_456, 1).select(["id", "payload"]).to_pylist()
    assert connection.to_pyarrow(table.id.sum()).as_py() == sum(range(40_000))
    assert share(file, data, of_payload=True) < 0.1
