"""Columns of one file whose dotted names are the same are different columns to each command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
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


BESIDE = pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, 4]), pa.array(["p", "q"])], names=["x", "x", "y"])


def test_a_name_of_several_columns_cannot_be_given(tmp_path: Path, run: Run) -> None:
    path, target = tmp_path / "a.orc", tmp_path / "o.orc"
    orcish.write_table(BESIDE, path)
    for options in (
        ["--drop", "x"],
        ["--rename", "x=z"],
        ["--cast", "x=int"],
        ["--sort-by", "x"],
        ["--bloom-filter-columns", "x"],
        ["-c", "x"],
        ["--where", "x = 1"],
    ):
        code, _, err = run("rewrite", path, "-o", target, *options)
        assert code in (1, 2), options
        assert "several columns have this name" in err, options
    # Others can be.
    for options in (["--drop", "y"], ["--rename", "y=z"], ["--cast", "y=varchar(9)"], ["--sort-by", "y"]):
        assert run("rewrite", path, "-o", target, "--existing-data", "overwrite", *options)[0] == 0, options
        assert orcish.read_table(target).schema.names.count("x") == 2


def test_a_dotted_name_is_the_column_that_is_read(tmp_path: Path, rows: Callable[..., list[Any]]) -> None:
    path = tmp_path / "a.orc"
    orcish.write_table(SAME["a field and a dot"], path)
    file = orcish.ORCFile(path)
    assert orcish.read_table(path, columns=["a.b"]).to_pylist() == [{"a.b": "p"}, {"a.b": "q"}]
    assert file.statistics("a.b").min == "p"
    assert file.stripe_statistics("a.b")[0].min == "p"
    assert file.row_groups("a.b")[0].statistics.min == "p"
    (found,) = rows("stats", "-c", "`a.b`", path)
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


def done(run: Run, *arguments: Any) -> list[str]:
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    return out


TWICE = pa.Table.from_arrays(
    [pa.array([1, 2]), pa.array([3, 4]), pa.array(["p", "q"]), pa.array([5.5, None])], names=["x", "y", "x", "x"]
)


def write(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".orc":
        orcish.write_table(table, path, existing_data="overwrite")
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
def test_conversions_of_names_that_are_there_twice(source: str, target: str, tmp_path: Path, run: Run) -> None:
    path = write(TWICE, tmp_path / f"a.{source}")
    made = tmp_path / f"b.{target}"
    done(run, "convert", path, made)
    assert read(made).equals(TWICE)
    done(run, "convert", path, path, made, "--existing-data", "overwrite")
    assert read(made).equals(pa.concat_tables([TWICE, TWICE]))
    done(run, "convert", path, made, "--existing-data", "overwrite", "--where", "y = 4")
    assert read(made).equals(TWICE.slice(1))
    done(run, "convert", path, made, "--existing-data", "overwrite", "-c", "y")
    assert read(made).equals(TWICE.select([1]))
    # What was written is read again.
    done(run, "convert", made, tmp_path / "c.orc")
    nested = pa.table({"s": pa.StructArray.from_arrays([pa.array([1]), pa.array(["p"])], ["x", "x"])})
    done(run, "convert", write(nested, path), made, "--existing-data", "overwrite")
    assert read(made).equals(nested)


@pytest.mark.parametrize("source", ["orc", "parquet", "arrow", "arrows"])
def test_what_no_text_has_is_refused(source: str, tmp_path: Path, run: Run) -> None:
    nested = pa.table({"l": [[{"s": 1}]], "s": pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["x", "x"])})
    for table, name in ((TWICE, "two columns have the name 'x'"), (nested, "column 's' have the name 'x'")):
        code, _, err = run("convert", write(table, tmp_path / f"a.{source}"), tmp_path / "a.jsonl")
        assert (code, name in err) == (1, True)
        assert not (tmp_path / "a.jsonl").exists()


@pytest.mark.parametrize("source", ["parquet", "arrow", "arrows"])
@pytest.mark.parametrize("options", [["-c", "x"], ["-c", "y,x"], ["--where", "x = 1"]])
def test_a_name_of_several_columns(source: str, options: list[str], tmp_path: Path, run: Run) -> None:
    code, _, err = run("convert", write(TWICE, tmp_path / f"a.{source}"), tmp_path / "a.orc", *options)
    said = 'column "x": several columns have this name' if "--where" in options else "3 columns have the name 'x'"
    assert (code, said in err) == (1, True)


@pytest.mark.parametrize("source", ["orc", "parquet", "arrow"])
def test_json_schema_of_names_that_are_there_twice(source: str, tmp_path: Path, run: Run) -> None:
    path = write(TWICE, tmp_path / f"a.{source}")
    assert done(run, "json-schema", path, path) == ["struct<x:bigint,y:bigint,x:string,x:double>"]
