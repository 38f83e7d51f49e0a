"""Folders without a log whose files differ: the first change keeps what readers saw."""

import datetime as dt
import io
import pathlib
from typing import Any

import orcish
import pyarrow as pa
import pyorc
import pytest

UNITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
OLD, NEW = dt.datetime(1583, 1, 1), dt.datetime(2020, 1, 1)


def moments(unit: str, value: dt.datetime) -> pa.Array:
    return pa.array([value], pa.timestamp(unit))


@pytest.mark.parametrize("place", ["top", "struct", "list"])
@pytest.mark.parametrize("verb", ["append", "delete", "append of a hidden column"])
@pytest.mark.parametrize(("first", "other"), [("us", "ns"), ("s", "us"), ("ms", "ns"), ("s", "ns")])
def test_units_that_hold_the_values_of_all_files(
    tmp_path: pathlib.Path, first: str, other: str, verb: str, place: str
) -> None:
    """A column has the finest unit of any file, whichever is first, but nanoseconds only where they hold all values."""

    def placed(array: pa.Array) -> pa.Array:
        if place == "struct":
            return pa.StructArray.from_arrays([array], ["a"])
        return pa.ListArray.from_arrays([0, 1], array) if place == "list" else array

    def put(name: str, number: int, unit: str | None, value: dt.datetime = NEW, **more: Any) -> None:
        columns = {"id": [number], **more}
        if unit is not None:
            columns["t"] = placed(moments(unit, value))
        orcish.write_table(pa.table(columns), tmp_path / name)

    hidden = verb == "append of a hidden column"
    put("a.orc", 0, None if hidden else first, extra=[1])
    put("b.orc", 1, first, OLD)
    put("c.orc", 2, other)
    before = orcish.read_table(tmp_path)
    if verb == "delete":
        orcish.delete(tmp_path, "id = 0")
    else:
        rows = pa.table({"id": [3], "t": placed(moments(first, NEW))})
        orcish.write_dataset(rows, tmp_path, existing_data="append")
    after = orcish.read_table(tmp_path).sort_by("id")
    assert after.schema.field("t").type == placed(moments("us", NEW)).type
    if not hidden:
        assert after.schema.field("t") == before.schema.field("t")
    wanted = placed(moments("us", NEW)).to_pylist()[0]
    old = placed(moments("us", OLD)).to_pylist()[0]
    by_id = {0: None if hidden else wanted, 1: old, 2: wanted, 3: wanted}
    assert after["t"].to_pylist() == [by_id[number] for number in after["id"].to_pylist()]


def test_types_of_nulls_stay(tmp_path: pathlib.Path) -> None:
    """The file that has given a column of nulls its type is deleted."""
    orcish.write_table(pa.table({"id": [0, 1], "n": pa.nulls(2)}), tmp_path / "a.orc")
    orcish.write_table(pa.table({"id": [2], "n": pa.array([5], pa.int64())}), tmp_path / "b.orc")
    orcish.write_table(pa.table({"id": [3], "n": pa.array([6], pa.int32())}), tmp_path / "c.orc")
    for number in (2, 3, 0):
        orcish.delete(tmp_path, f"id = {number}")
        assert orcish.scan(tmp_path).schema.field("n").type == pa.int64()


@pytest.mark.parametrize("kind", ["char(5)", "varchar(1)"])
@pytest.mark.parametrize("limited_first", [True, False])
def test_conversions_of_limited_texts(tmp_path: pathlib.Path, kind: str, limited_first: bool) -> None:
    """A column that is limited in some files only is not limited in the target: values are neither padded nor refused."""
    source = tmp_path / "s"
    source.mkdir()
    for name, type_, text in (("b", kind, "x"), ("a" if not limited_first else "c", "string", "longer")):
        file = io.BytesIO()
        with pyorc.Writer(file, f"struct<id:bigint,t:{type_}>") as writer:
            writer.write((0, text))
        (source / f"{name}.orc").write_bytes(file.getvalue())
    before = sorted(orcish.read_table(source)["t"].to_pylist())
    orcish.convert(source, tmp_path / "t")
    assert sorted(orcish.read_table(tmp_path / "t")["t"].to_pylist()) == before
    orcish.convert(source / "b.orc", tmp_path / "u")
    assert orcish.scan(tmp_path / "u").schema.field("t").metadata == {b"orc.type": kind.encode()}


@pytest.mark.parametrize("kind", [pa.list_view(pa.int8()), pa.large_list_view(pa.string()), pa.int8()], ids=str)
def test_results_without_rows_have_chunks(tmp_path: pathlib.Path, kind: pa.DataType) -> None:
    """pyarrow ends the process where pandas gets list views without chunks."""
    values = [[1]] if kind == pa.list_view(pa.int8()) else [["a"]] if pa.types.is_nested(kind) else [1]
    orcish.write_dataset(pa.table({"id": [1], "u": pa.array(values, kind)}), tmp_path / "t")
    orcish.delete(tmp_path / "t", "id = 1")
    for found in (orcish.read_table(tmp_path / "t"), orcish.read_table(tmp_path / "t", columns=["u"])):
        assert (found.num_rows, found["u"].num_chunks, len(found.to_pandas())) == (0, 1, 0)


def test_empty_values_of_partitions_are_null(tmp_path: pathlib.Path) -> None:
    """In scans, conversions and overwrites."""
    table = tmp_path / "t"
    (table / "k=").mkdir(parents=True)
    orcish.write_table(pa.table({"id": [77]}), table / "k=" / "a.orc")
    orcish.write_dataset(pa.table({"id": [0], "k": ["a"]}), table, partition_by=["k"], existing_data="append")
    assert orcish.scan(table, filters="k is null").to_table()["id"].to_pylist() == [77]
    orcish.convert(table, tmp_path / "u")
    assert orcish.scan(tmp_path / "u", filters="k is null").to_table()["id"].to_pylist() == [77]
    rows = pa.table({"id": [78], "k": [""]})
    orcish.write_dataset(rows, table, partition_by=["k"], existing_data="overwrite_partitions")
    assert sorted(orcish.read_table(table)["id"].to_pylist()) == [0, 78]
