"""Columns of one file whose dotted names are the same are different columns to each command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
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
    (found,) = map(json.loads, run(capsys, "stats", "--json", "-c", "a.b", path))
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


TWICE = pa.Table.from_arrays(
    [pa.array([1, 2]), pa.array([3, 4]), pa.array(["p", "q"]), pa.array([5.5, None])], names=["x", "y", "x", "x"]
)


def write(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".orc":
        orcish.write_table(table, path)
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        make = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
        with make(str(path), table.schema) as writer:
            writer.write_table(table)
    return path


def read(path: Path) -> pa.Table:
    if path.suffix == ".orc":
        return orcish.read_table(path)
    if path.suffix == ".parquet":
        return pyarrow.parquet.ParquetFile(path).read()
    return (pa.ipc.open_file if path.suffix == ".arrow" else pa.ipc.open_stream)(path.read_bytes()).read_all()


@pytest.mark.parametrize("target", ["orc", "parquet", "arrow", "arrows"])
@pytest.mark.parametrize("source", ["orc", "parquet", "arrow", "arrows"])
def test_conversions_of_names_that_are_there_twice(source: str, target: str, tmp_path: Path, capsys: Any) -> None:
    path = write(TWICE, tmp_path / f"a.{source}")
    made = tmp_path / f"b.{target}"
    run(capsys, "convert", path, made)
    assert read(made).equals(TWICE)
    run(capsys, "convert", path, path, made, "--existing-data", "overwrite")
    assert read(made).equals(pa.concat_tables([TWICE, TWICE]))
    run(capsys, "convert", path, made, "--existing-data", "overwrite", "--where", "y = 4")
    assert read(made).equals(TWICE.slice(1))
    run(capsys, "convert", path, made, "--existing-data", "overwrite", "-c", "y")
    assert read(made).equals(TWICE.select([1]))
    # What was written is read again.
    run(capsys, "convert", made, tmp_path / "c.orc")
    nested = pa.table({"s": pa.StructArray.from_arrays([pa.array([1]), pa.array(["p"])], ["x", "x"])})
    run(capsys, "convert", write(nested, path), made, "--existing-data", "overwrite")
    assert read(made).equals(nested)


@pytest.mark.parametrize("source", ["orc", "parquet", "arrow", "arrows"])
def test_what_no_text_has_is_refused(source: str, tmp_path: Path, capsys: Any) -> None:
    nested = pa.table({"l": [[{"s": 1}]], "s": pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["x", "x"])})
    for table, name in ((TWICE, "two columns have the name 'x'"), (nested, "column 's' have the name 'x'")):
        assert main(["convert", str(write(table, tmp_path / f"a.{source}")), str(tmp_path / "a.jsonl")]) == 1
        assert name in capsys.readouterr().err
        assert not (tmp_path / "a.jsonl").exists()


@pytest.mark.parametrize("source", ["parquet", "arrow", "arrows"])
@pytest.mark.parametrize("options", [["-c", "x"], ["-c", "y,x"], ["--where", "x = 1"]])
def test_a_name_of_several_columns(source: str, options: list[str], tmp_path: Path, capsys: Any) -> None:
    assert main(["convert", str(write(TWICE, tmp_path / f"a.{source}")), str(tmp_path / "a.orc"), *options]) == 1
    assert "3 columns have the name 'x'" in capsys.readouterr().err


@pytest.mark.parametrize("source", ["orc", "parquet", "arrow"])
def test_json_schema_of_names_that_are_there_twice(source: str, tmp_path: Path, capsys: Any) -> None:
    path = write(TWICE, tmp_path / f"a.{source}")
    assert run(capsys, "json-schema", path, path) == ["struct<x:bigint,y:bigint,x:string,x:double>"]
