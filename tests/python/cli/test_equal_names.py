"""Columns of one file whose dotted names are the same are different columns to each command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.orc
import pytest
from orcish.cli import main

SAME = {
    "a name twice": pa.Table.from_arrays([pa.array([1, 2]), pa.array(["p", "q"])], names=["x", "x"]),
    "a field twice": pa.table(
        {"s": pa.StructArray.from_arrays([pa.array([1, 2]), pa.array(["p", "q"])], names=["x", "x"])}
    ),
    "a field and a dot": pa.table({"a": [{"b": 1}, {"b": 2}], "a.b": ["p", "q"]}),
    "an empty name": pa.table({"": [1, 2], "x": ["p", "q"]}),
}


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> list[str]:
    assert main(list(map(str, arguments))) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("name", SAME)
def test_columns_are_told_apart(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.orc"
    pyarrow.orc.write_table(SAME[name], path)
    file = orcish.ORCFile(path)
    found = [json.loads(line) for line in run(capsys, "stats", "--json", path, path)]
    assert [each["column"] for each in found] == file.column_paths
    leaves = [each["statistics"] for each in found if each["type"] in ("bigint", "string")]
    assert [(each["values"], each["min"], each["max"]) for each in leaves] == [(4, 1, 2), (4, "p", "q")]
    (sizes,) = map(json.loads, run(capsys, "sizes", "--json", path))
    storage = file.column_storage()
    assert sorted((each["name"], each["bytes"]) for each in sizes["columns"]) == sorted(
        (each.name, each.data_bytes + each.index_bytes) for each in storage
    )
    text = "\n".join(
        [*run(capsys, "stats", path), *run(capsys, "sizes", path), *run(capsys, "meta", "--statistics", path)]
    )
    assert text.count("(root)") == 3


def test_a_dotted_name_is_the_column_that_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.orc"
    orcish.write_table(SAME["a field and a dot"], path)
    file = orcish.ORCFile(path)
    assert orcish.read_table(path, columns=["a.b"]).to_pylist() == [{"a.b": "p"}, {"a.b": "q"}]
    assert file.statistics("a.b").min == "p"
    assert file.stripe_statistics("a.b")[0].min == "p"
    assert file.row_groups("a.b")[0].statistics.min == "p"
    (found,) = map(json.loads, run(capsys, "stats", "--json", "-c", "`a.b`", path))
    assert (found["type"], found["statistics"]["min"]) == ("string", "p")


def test_partition_columns_have_no_ids_of_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = pa.table({"k": [1], "s": [{"a": 1}], "id": [1]})
    orcish.write_dataset(rows, tmp_path / "t", partition_by=["k"])
    (found,) = map(json.loads, run(capsys, "schema", "--json", tmp_path / "t"))
    file = orcish.ORCFile(next((tmp_path / "t").rglob("*.orc")))
    own = [each for each in found["columns"] if each["id"] is not None]
    assert [each["path"] for each in own] == file.column_paths
    assert [(each["id"], each["parent"]) for each in own] == list(enumerate(file.column_parents))
    assert [each["path"] for each in found["columns"] if each["id"] is None] == ["k"]
    assert own[0]["type"] == found["type"] == file.type_string


@pytest.mark.parametrize("name", ["k", "k:1"])
@pytest.mark.parametrize("option", ["--json", "--by-file", "--by-stripe"])
def test_partition_columns_have_no_statistics(
    option: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    orcish.write_dataset(pa.table({name: [1, 2], "id": [1, 2]}), tmp_path / "t", partition_by=[name])
    assert main(["stats", str(tmp_path / "t"), "-c", name, option]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("is a partition column")) == ("", 1)
