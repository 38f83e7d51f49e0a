"""Wrong arguments end every command with exit code 2, whether the parser or the library finds them."""

from __future__ import annotations

import argparse
import importlib
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish_cli import main
from orcish_cli.commands import COMMANDS
from orcish_cli.parser import Parser

WRONG = {
    "storage_options": ["noequals"],
    "encoding": ["nosuch"],
    "limit": ["x", "-1"],
    "stripe": ["x", "-1", "7"],
    "width": ["x"],
    "filters": ["id >", "`id"],
    "columns": ["`id"],
    "timezone": ["Nowhere"],
    "keys": ["00112233", "file:", "python:no_such_module:keys"],
    "fraction": ["2", "x"],
    "seed": ["x"],
    "tables": ["x"],
    "threads": ["0"],
    "memory": ["x"],
    "runs": ["0", "x"],
    "sample_size": ["x"],
    "key": ["`id"],
    "tolerance": ["-1", "x"],
    "max_memory": ["x"],
    "readers": ["nobody"],
    "schema": ["foo bar", "id int,id int"],
    "delimiter": ["ab", ""],
    "partition_by": ["`id"],
    "max_rows_per_file": ["x"],
    "max_partitions": ["x"],
    "compression_level": ["x", "99"],
    "bloom_filter_columns": ["`id"],
    "lookup": ["`id"],
    "row_index": ["`id"],
    "bloom": ["`id"],
    "sort_by": ["`id"],
    "cast": ["id=what", "id"],
    "rename": ["id"],
    "drop": ["`id"],
    "stripe_size": ["0", "x"],
    "row_index_stride": ["5", "x"],
    "compression_block_size": ["x"],
    "bloom_filter_fpp": ["7", "x"],
    "target_file_size": ["x"],
    "older_than": ["-1", "x"],
}
"""Values that options cannot have, by the attribute of the option. Options with choices have others."""
ANY = {"external_locations", "output", "temporary_folder", "null", "like"}
"""Options of which every text is a value: names of files, and texts."""
MORE = {
    "merge": ["-o", "{out}.orc"],
    "rewrite": ["-o", "{out}.orc"],
    "convert": ["{out}.csv"],
    "diff": ["{file}"],
    "delete": ["--where", "id = 1"],
    "advise": ["--sample-size", "1MB"],
    "layout": ["--json", "--advise"],
    "compact": ["--rewrite"],
}
OF_TABLES = {"compact", "delete", "history", "vacuum"}


def cases() -> list[Any]:
    found = []
    for command in COMMANDS:
        if command.name in ("spark", "version", "completion", "head"):
            continue
        parser = Parser(prog=command.name)
        getattr(importlib.import_module(f"orcish_cli.{command.module}"), command.function)(parser)
        for action in parser._actions:
            if not action.option_strings or action.nargs is not None or isinstance(action, argparse._HelpAction):
                continue
            if action.dest in ANY:
                continue
            values = ["what"] if action.choices else WRONG[action.dest]
            found.append(pytest.param(command.name, action, values, id=f"{command.name}-{action.dest}"))
    return found


def code_of(*arguments: Any) -> int:
    try:
        return main([str(each) for each in arguments])
    except SystemExit as error:
        return int(str(error.code))


@pytest.fixture
def files(tmp_path):
    rows = pa.table({"id": [1, 2], "s": ["x", "y"]})
    orcish.write_table(rows, tmp_path / "a.orc", compression="zlib")
    orcish.write_dataset(rows, tmp_path / "t")
    (tmp_path / "a.csv").write_text("id,s\n1,x\n")
    return tmp_path


def source(command: str, dest: str, files: Any) -> str:
    if command == "sql":
        return f"select count(*) from '{files}/a.orc' where id = 1"
    if command == "convert" and dest in ("schema", "delimiter"):
        return str(files / "a.csv")
    return str(files / ("t" if command in OF_TABLES else "a.orc"))


@pytest.mark.parametrize(("command", "action", "values"), cases())
def test_values_that_options_cannot_have(command, action, values, files, capsys):
    if command == "sql":
        pytest.importorskip("duckdb")
    before = {path: path.read_bytes() for path in files.rglob("*") if path.is_file()}
    for value in values:
        more = [each.format(out=files / "out", file=files / "a.orc") for each in MORE.get(command, [])]
        if command == "convert" and action.dest in ("compression_level", "bloom_filter_columns"):
            more = [str(files / "out.orc")]
        if action.dest == "filters" and command == "delete":
            more = []
        if action.dest == "sample_size":
            more = [each for each in more if each.startswith("--") and each != "--sample-size"]
        code = code_of(command, source(command, action.dest, files), *more, f"{action.option_strings[-1]}={value}")
        out, err = capsys.readouterr()
        assert code == 2, (value, out, err)
        assert err, value
    assert {path: path.read_bytes() for path in files.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["data", "{}/t", "--stripe", "0"],
        ["data", "s3://b/a.orc", "--storage-option", "what=1"],
        ["rewrite", "{}/a.orc", "-o", "{}/b.orc", "--partition-by", "id"],
        ["rewrite", "{}/a.orc", "-o", "{}/b.orc", "--max-rows-per-file", "1"],
        ["rewrite", "{}/a.orc", "--in-place", "--existing-data=overwrite"],
        ["convert", "{}/a.csv", "{}/b.orc", "--masked"],
        ["convert", "{}/a.csv", "{}/b.orc", "--invalid-utf8", "null"],
        ["convert", "{}/a.orc", "{}/b.orc", "--schema", "id int"],
        ["convert", "{}/a.orc", "{}/b.csv", "--null", "x"],
        ["convert", "{}/a.orc", "{}/b.csv", "--compression", "zlib"],
        ["convert", "{}/a.orc", "{}/b.parquet", "--compression", "bz2"],
        ["convert", "{}/a.orc", "{}/b.what"],
        ["compact", "{}/t", "--compression", "zlib"],
        ["layout", "{}/a.orc"],
        ["sql", "what"],
        ["sql", "select 1; select 2"],
    ],
    ids=str,
)
def test_arguments_that_do_not_go_together(arguments, files, capsys):
    if arguments[0] == "sql":
        pytest.importorskip("duckdb")
    assert code_of(*(each.format(files) for each in arguments)) == 2
    assert capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["data", "{}/none.orc"],
        ["data", "{}/a.orc", "-c", "what"],
        ["count", "{}/a.orc", "--where", "what = 1"],
        ["stats", "{}/a.orc", "-c", "what"],
        ["rewrite", "{}/t", "-o", "{}/u", "--partition-by", "what"],
        ["rewrite", "{}/a.orc", "-o", "{}/b.orc", "--sort-by", "what"],
        ["rewrite", "{}/a.orc", "-o", "{}/a.orc"],
        ["rewrite", "{}/a.orc", "-o", "{}/b.orc", "--cast", "s=int"],
        ["convert", "{}/a.csv", "{}/b.orc", "--schema", "s int"],
        ["history", "{}/a.orc"],
    ],
    ids=str,
)
def test_errors_of_files_are_others(arguments, files, capsys):
    assert code_of(*(each.format(files) for each in arguments)) == 1
    assert capsys.readouterr().err


def test_readers_that_are_asked_for(tmp_path, capsys):
    unions = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    orcish.write_table(pa.table({"u": unions}), tmp_path / "u.orc")
    orcish.write_table(pa.table({"id": [1]}), tmp_path / "i.orc")
    for json in ([], ["--json"]):
        assert code_of("compat", tmp_path / "u.orc", *json) == 0
        assert code_of("compat", tmp_path / "u.orc", "-r", "spark4", *json) == 1
        assert code_of("compat", tmp_path / "i.orc", tmp_path / "u.orc", "-r", "hive3,spark4", *json) == 1
        assert code_of("compat", tmp_path / "i.orc", "-r", "spark4", *json) == 0
    assert capsys.readouterr().err == ""
