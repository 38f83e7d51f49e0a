"""Commands and functions that write the rows of several files write the columns of all of them."""

import pathlib
import shutil
from collections.abc import Callable
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.parquet
import pytest
from support.processes import Run


def rewritten_in_place(run: Run, source: pathlib.Path) -> pa.Table:
    assert run("rewrite", source, "--in-place")[0] == 0
    return orcish.read_table(source)


def rewritten_elsewhere(run: Run, source: pathlib.Path) -> pa.Table:
    target = source.with_name("new")
    assert run("rewrite", source, "-o", target)[0] == 0
    return orcish.read_table(target)


def of_one_file(run: Run, source: pathlib.Path) -> pa.Table:
    target = source.with_name("new.orc")
    assert run("rewrite", *sorted(source.glob("*.orc")), "-o", target)[0] == 0
    return orcish.read_table(target)


def converted_files(run: Run, source: pathlib.Path) -> pa.Table:
    target = source.with_name("new.orc")
    assert run("convert", *sorted(source.glob("*.orc")), target)[0] == 0
    return orcish.read_table(target)


def converted_to_parquet(run: Run, source: pathlib.Path) -> pa.Table:
    target = source.with_name("new.parquet")
    assert run("convert", source, target)[0] == 0
    return pyarrow.parquet.read_table(target)


def converted_to_json(run: Run, source: pathlib.Path) -> pa.Table:
    target = source.with_name("new.jsonl")
    assert run("convert", source, target)[0] == 0
    again = source.with_name("again.orc")
    assert run("convert", target, again)[0] == 0
    return orcish.read_table(again)


def converted_to_folder(run: Run, source: pathlib.Path) -> pa.Table:
    target = source.with_name("new")
    assert run("convert", f"{source}/*.orc", target)[0] == 0
    return orcish.read_table(target)


def of_the_function(run: Run, source: pathlib.Path) -> pa.Table:
    del run
    target = source.with_name("new")
    orcish.convert(source, target)
    return orcish.read_table(target)


def compacted(run: Run, source: pathlib.Path) -> pa.Table:
    assert run("compact", source, "--rewrite")[0] == 0
    return orcish.read_table(source)


VERBS = [
    *(rewritten_in_place, rewritten_elsewhere, of_one_file, converted_files, converted_to_parquet, converted_to_json),
    *(converted_to_folder, of_the_function, compacted),
]
FIRST = [{"id": 1}, {"id": 2}]
OTHERS = {
    "column": (FIRST, [{"id": 3, "s": "x"}]),
    "field": ([{"id": 1, "n": {"a": 1}}], [{"id": 2, "n": {"a": 2, "b": {"c": "x"}}}]),
    "field in a list": ([{"id": 1, "n": [{"a": 1}]}], [{"id": 2, "n": [{"a": 2, "b": "x"}]}]),
}


def made(folder: pathlib.Path, *tables: pa.Table) -> pathlib.Path:
    folder.mkdir()
    for name, table in zip("abc", tables, strict=False):
        orcish.write_table(table, folder / f"{name}.orc")
    return folder


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("case", OTHERS)
def test_columns_of_later_files(verb: Callable[..., pa.Table], case: str, tmp_path: pathlib.Path, run: Run) -> None:
    tables = [pa.Table.from_pylist(rows) for rows in OTHERS[case]]
    found = verb(run, made(tmp_path / "t", *tables)).sort_by("id")
    wanted = pa.concat_tables(tables, promote_options="permissive")
    assert found.schema.names == wanted.schema.names
    assert str(found.to_pylist()) == str(_with_fields(wanted))


def _with_fields(table: pa.Table) -> list[Any]:
    """The rows, with the fields of all files in each struct."""
    return table.cast(table.schema).to_pylist()


@pytest.mark.parametrize("verb", VERBS)
def test_wider_types_of_later_files(verb: Callable[..., pa.Table], tmp_path: pathlib.Path, run: Run) -> None:
    small, wide = pa.table({"id": pa.array([1], pa.int32())}), pa.table({"id": [2**40]})
    assert verb(run, made(tmp_path / "t", small, wide))["id"].to_pylist() == [1, 2**40]


@pytest.mark.parametrize("target", ["new", "new.orc", "new.parquet", None])
@pytest.mark.parametrize("others", [1, 2])
def test_types_that_contradict_each_other(target: str | None, others: int, tmp_path: pathlib.Path, run: Run) -> None:
    """The error names both files, and nothing is written. Other columns can be chosen."""
    tables = [*[pa.table({"id": [1], "x": [1]})] * others, pa.table({"id": [2], "x": ["a"]})]
    source = made(tmp_path / "t", *tables)
    verb = ["rewrite", source, "--in-place"] if target is None else ["convert", source, tmp_path / target]
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.orc")}
    code, _, err = run(*verb)
    assert code == 1
    assert str(source / "a.orc") in err
    assert str(source / f"{'abc'[others]}.orc") in err
    assert "x is int64 and string" in err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.orc")} == before
    assert run(*verb, "-c", "id")[0] == 0


def test_chosen_columns_of_later_files(tmp_path: pathlib.Path, run: Run) -> None:
    source = made(tmp_path / "t", pa.table({"id": [1]}), pa.table({"id": [2], "s": ["x"]}))
    assert run("rewrite", source, "-o", tmp_path / "a.orc", "-c", "s", "--where", "s = 'x'")[0] == 0
    assert orcish.read_table(tmp_path / "a.orc").to_pydict() == {"s": ["x"]}
    orcish.convert(source, tmp_path / "b", columns=["s"], filters="s is not null")
    assert orcish.read_table(tmp_path / "b").to_pydict() == {"s": ["x"]}


@pytest.mark.parametrize("verb", VERBS)
def test_columns_that_the_log_does_not_have(verb: Callable[..., pa.Table], tmp_path: pathlib.Path, run: Run) -> None:
    """Another writer has added a file to a table."""
    source = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [1]}), source)
    orcish.write_table(pa.table({"id": [2], "s": ["x"]}), source / "z.orc")
    found = verb(run, source).sort_by("id")
    assert found["id"].to_pylist() == [1, 2]
    stored = [path for path in source.rglob("*.orc") if "s" in orcish.ORCFile(path).schema.names]
    assert "s" in found.schema.names or stored


def test_partition_columns_stay_last(tmp_path: pathlib.Path, run: Run) -> None:
    source = tmp_path / "t"
    for day, rows in (("1", {"id": [1]}), ("2", {"id": [2], "s": ["x"]})):
        (source / f"day={day}").mkdir(parents=True)
        orcish.write_table(pa.table(rows), source / f"day={day}" / "a.orc")
    shutil.copytree(source, tmp_path / "u")
    orcish.convert(source, tmp_path / "v")
    assert run("rewrite", source, "--in-place")[0] == 0
    assert run("convert", tmp_path / "u", tmp_path / "w.orc")[0] == 0
    for each in (source, tmp_path / "v", tmp_path / "w.orc"):
        found = orcish.read_table(each).sort_by("id")
        assert found.to_pydict() == {"id": [1, 2], "s": [None, "x"], "day": [1, 2]}
    assert {path.parent.name for path in source.rglob("*.orc")} == {"day=1", "day=2"}
