"""Columns of one file whose dotted names are the same are different columns to each command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.orc
import pytest
from support.processes import Run

SAME = {
    "a name twice": pa.Table.from_arrays([pa.array([1, 2]), pa.array(["p", "q"])], names=["x", "x"]),
    "a field twice": pa.table(
        {"s": pa.StructArray.from_arrays([pa.array([1, 2]), pa.array(["p", "q"])], names=["x", "x"])}
    ),
    "a field and a dot": pa.table({"a": [{"b": 1}, {"b": 2}], "a.b": ["p", "q"]}),
    "an empty name": pa.table({"": [1, 2], "x": ["p", "q"]}),
}


@pytest.mark.parametrize("name", SAME)
def test_columns_are_told_apart(name: str, tmp_path: Path, run: Run, rows: Callable[..., list[Any]]) -> None:
    path = tmp_path / "a.orc"
    pyarrow.orc.write_table(SAME[name], path)
    file = orcish.ORCFile(path)
    found = rows("stats", path, path)
    assert [each["column"] for each in found] == file.column_paths
    leaves = [each["statistics"] for each in found if each["type"] in ("bigint", "string")]
    assert [(each["values"], each["min"], each["max"]) for each in leaves] == [(4, 1, 2), (4, "p", "q")]
    (sizes,) = rows("sizes", path)
    storage = file.column_storage()
    assert sorted((each["name"], each["bytes"]) for each in sizes["columns"]) == sorted(
        (each.name, each.data_bytes + each.index_bytes) for each in storage
    )
    for command in (["stats"], ["sizes"], ["meta", "--statistics"]):
        assert "\n".join(run(*command, path)[1]).count("(root)") == 1


def test_a_dotted_name_is_the_column_that_is_read(tmp_path: Path, rows: Callable[..., list[Any]]) -> None:
    path = tmp_path / "a.orc"
    orcish.write_table(SAME["a field and a dot"], path)
    file = orcish.ORCFile(path)
    assert orcish.read_table(path, columns=["a.b"]).to_pylist() == [{"a.b": "p"}, {"a.b": "q"}]
    assert file.statistics("a.b").min == "p"
    assert file.stripe_statistics("a.b")[0].min == "p"
    assert file.row_groups("a.b")[0].statistics.min == "p"
    (found,) = rows("stats", "-c", "a.b", path)
    assert (found["type"], found["statistics"]["min"]) == ("string", "p")


def test_partition_columns_have_no_ids_of_files(tmp_path: Path, rows: Callable[..., list[Any]]) -> None:
    table = pa.table({"k": [1], "s": [{"a": 1}], "id": [1]})
    orcish.write_dataset(table, tmp_path / "t", partition_by=["k"])
    (found,) = rows("schema", tmp_path / "t")
    file = orcish.ORCFile(next((tmp_path / "t").rglob("*.orc")))
    own = [each for each in found["columns"] if each["id"] is not None]
    assert [each["path"] for each in own] == file.column_paths
    assert [(each["id"], each["parent"]) for each in own] == list(enumerate(file.column_parents))
    assert [each["path"] for each in found["columns"] if each["id"] is None] == ["k"]
    assert own[0]["type"] == found["type"] == file.type_string


@pytest.mark.parametrize("name", ["k", "k:1"])
@pytest.mark.parametrize("option", ["--json", "--by-file", "--by-stripe"])
def test_partition_columns_have_no_statistics(option: str, name: str, tmp_path: Path, run: Run) -> None:
    orcish.write_dataset(pa.table({name: [1, 2], "id": [1, 2]}), tmp_path / "t", partition_by=[name])
    code, out, err = run("stats", tmp_path / "t", "-c", name, option)
    assert (code, out, err.count("is a partition column")) == (1, [], 1)
