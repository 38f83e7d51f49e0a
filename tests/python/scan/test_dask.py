"""Data frames of dask over tables: rows, types, and columns that are not read."""

import io

import dask
import dask.dataframe as dd
import orcish
import orcish.dask
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish import col
from support.case_loops import each_case
from support.counting_file import Counting
from support.query_dataset import ROWS, TABLE, share, written

NARROW = TABLE.select(["id", "name", "day", "none", "x", "n"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("dask") / "t"
    part = pa.array([i // 10_000 for i in range(ROWS)])
    orcish.write_dataset(NARROW.append_column("k", part), path, partition_by=["k"])
    return path


@pytest.fixture
def memory(folder):
    return orcish.scan(folder).to_table().to_pandas(types_mapper=pd.ArrowDtype)


def test_partitions_are_splits(folder, memory):
    frame = orcish.dask.read(folder)
    assert isinstance(frame, dd.DataFrame)
    assert frame.npartitions == 4
    assert orcish.dask.read(folder, split_size=1).npartitions == len(orcish.scan(folder).splits(1))
    found = frame.compute(scheduler="sync").reset_index(drop=True)
    pd.testing.assert_frame_equal(found, memory)
    assert found.dtypes.equals(frame.dtypes)


def test_types_do_not_depend_on_nulls(folder):
    """`none` is null in all rows of three partitions."""
    frame = orcish.dask.read(folder)
    kinds = {frame.partitions[i].compute(scheduler="sync")["none"].dtype for i in range(4)}
    assert kinds == {pd.ArrowDtype(pa.int32())} == {frame["none"].dtype}
    assert frame["none"].sum().compute(scheduler="sync") == sum(range(30_000, 40_000))


def test_queries(folder, memory):
    frame = orcish.dask.read(folder)
    with dask.config.set(scheduler="threads", num_workers=2):
        assert len(frame) == ROWS
        assert frame["id"].sum().compute() == sum(range(ROWS))
        assert frame.groupby("k")["id"].max().compute().to_dict() == memory.groupby("k")["id"].max().to_dict()
        assert frame[frame["x"] < 10][["id"]].compute()["id"].tolist() == memory[memory["x"] < 10]["id"].tolist()
        assert frame.head(3)["name"].tolist() == ["n000000", "n000001", "n000002"]
        assert frame.index.size.compute() == ROWS
        joined = frame[["id", "k"]].merge(frame[frame["id"] < 5][["id", "name"]], on="id")
        assert sorted(joined.compute()["name"]) == [f"n{i:06}" for i in range(5)]


def test_partitions_in_other_processes(folder):
    frame = orcish.dask.read(folder, columns=["id", "k"], filters="id < 20003")
    assert frame.compute(scheduler="processes", num_workers=1)["id"].tolist() == list(range(20_003))


@each_case(
    ("options", "count"),
    [
        ({"filters": col("id") < 10}, 10),
        ({"filters": pc.field("k") == 3, "columns": ["n.a", "id"]}, 10_000),
        ({"filters": "id < 0"}, 0),
        ({"columns": ["k"], "row_number": True}, ROWS),
        ({"columns": []}, ROWS),
    ],
    ids=str,
)
def test_options_of_the_scan(folder, options, count):
    frame, scan = orcish.dask.read(folder, **options), orcish.scan(folder, **options)
    found = frame.compute(scheduler="sync")
    assert len(found) == len(frame) == count
    assert list(frame.columns) == list(found.columns) == scan.schema.names
    if scan.schema.names:
        want = scan.to_table().to_pandas(types_mapper=pd.ArrowDtype)
        pd.testing.assert_frame_equal(found.reset_index(drop=True), want)
        name = scan.schema.names[0]
        assert frame[[name]].compute(scheduler="sync")[name].tolist() == want[name].tolist()


def test_columns_are_pushed_down(monkeypatch):
    data = written()
    file = Counting(data)
    frame = orcish.dask.read(file)
    file.ranges.clear()
    assert frame["id"].sum().compute(scheduler="sync") == sum(range(ROWS))
    assert share(file, data, of_payload=True) == 0
    assert share(file, data, of_payload=False) < 0.1


def test_errors(folder, tmp_path):
    with pytest.raises(ValueError, match="limit=5: partitions are read independently"):
        orcish.dask.read(folder, limit=5)
    with pytest.raises(orcish.UnknownColumnError, match="zzz"):
        orcish.dask.read(folder, columns=["zzz"])
    with pytest.raises(TypeError, match="split_sizes"):
        orcish.dask.read(folder, split_sizes=5)
    with pytest.raises(FileNotFoundError):
        orcish.dask.read(tmp_path / "none.orc")
    out = io.BytesIO()
    orcish.write_table(NARROW, out, compression="none", row_index_stride=0)
    damaged = bytearray(out.getvalue())
    damaged[3:200_000] = b"\xff" * (200_000 - 3)
    with pytest.raises(orcish.CorruptFileError):
        orcish.dask.read(bytes(damaged)).compute(scheduler="sync")
