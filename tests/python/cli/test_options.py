"""Options that all commands have, and URLs of a store, whose options every command passes on."""

from __future__ import annotations

import argparse
import importlib
import json
import pathlib
import re
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish_cli.commands import COMMANDS
from orcish_cli.parser import Once, Parser
from support.processes import Run
from support.s3_store import BUCKET

FILE, TABLE, TORN = f"s3://{BUCKET}/f.orc", f"s3://{BUCKET}/t", f"s3://{BUCKET}/torn.orc"
NO_FILES = {"version", "completion", "spark"}
"""Commands that take no sources; those of ``spark`` have tests of their own."""

RUNS: dict[str, list[list[str]]] = {
    **{name: [[FILE], [TABLE], [FILE, FILE]] for name in ("data", "head", "tail", "sample")},
    **{
        name: [[FILE], [TABLE], [FILE, TABLE]]
        for name in ("meta", "count", "scan", "check", "schema", "sizes", "stats", "compat", "key")
    },
    "sql": [[f"select count(*) as rows from '{FILE}'"], [f"select k, max(id) from '{TABLE}/*/*.orc' group by k"]],
    "merge": [[FILE, FILE, "-o", f"s3://{BUCKET}/merged.orc"]],
    "layout": [[FILE, TABLE]],
    "advise": [[FILE, "--sample-size", "1MB", "--runs", "1"]],
    "json-schema": [[FILE], [f"s3://{BUCKET}/a.json"]],
    "explain": [[FILE, "--where", "id = 5"], [TABLE, "--where", "k = 1"]],
    "diff": [[FILE, TABLE, "--values-only", "--key", "id"]],
    "convert": [
        [FILE, f"s3://{BUCKET}/to.parquet"],
        [FILE, f"s3://{BUCKET}/to.csv"],
        [TABLE, f"s3://{BUCKET}/to.orc"],
        [TABLE, f"s3://{BUCKET}/converted"],
    ],
    "rewrite": [[FILE, "-o", f"s3://{BUCKET}/new.orc", "--sort-by", "-id"], [TABLE, "--in-place"]],
    "compact": [[TABLE]],
    "delete": [[TABLE, "--where", "id = 5"]],
    "history": [[TABLE]],
    "recover": [[TORN, "-o", f"s3://{BUCKET}/saved.orc"], [FILE, "--dry-run"], [TABLE]],
    "vacuum": [[TABLE]],
}


def options_of(command: Any) -> dict[str, argparse.Action]:
    parser = Parser(prog=command.name)
    getattr(importlib.import_module(f"orcish_cli.{command.module}"), command.function)(parser)
    return {option: action for action in parser._actions for option in action.option_strings}


@pytest.mark.parametrize("command", COMMANDS, ids=[command.name for command in COMMANDS])
def test_names_of_options(command: Any) -> None:
    found = options_of(command)
    if command.name not in NO_FILES:
        assert {"--json", "--storage-option"} <= found.keys()
    for pair in (("-n", "--limit"), ("-c", "--columns"), ("--filters", "--where"), ("-o", "--output")):
        assert (pair[0] in found) == (pair[1] in found)
        assert found.get(pair[0]) is found.get(pair[1])
    assert all(action.help for action in found.values())


@pytest.fixture
def remote(store: Any, tmp_path: pathlib.Path) -> list[str]:
    """The arguments for the store, which has the files."""
    rows = pa.table({"id": range(1000), "k": [at % 2 for at in range(1000)]})
    orcish.write_table(rows, FILE, storage_options=store.options)
    orcish.write_dataset(rows, TABLE, partition_by=["k"], storage_options=store.options)
    orcish.write_table(rows, tmp_path / "torn.orc")
    data = (tmp_path / "torn.orc").read_bytes()
    store.client.put_object(Bucket=BUCKET, Key="torn.orc", Body=data + data[len("ORC") : -5])
    store.client.put_object(Bucket=BUCKET, Key="a.json", Body=b'{"a": 1}')
    # moto does not take requests of pyarrow as they are.
    options = {**store.options, "aws_endpoint": f"http://{store.between.host}:{store.between.port}"}
    return [f"--storage-option={name}={value}" for name, value in options.items()]


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (["--sort-by", "-id"], [("id", True)]),
        (["--sort-by=-id,b"], [("id", True), ("b", False)]),
        (["--sort-by", "-a", "--sort-by", "b", "--json"], [("a", True), ("b", False)]),
        (["--json", "--sort-by", "b"], [("b", False)]),
        (["-o", "--x.orc", "--sort-by", "--b"], [("-b", True)]),
    ],
)
def test_values_that_begin_with_a_dash(given: list[str], value: list[tuple[str, bool]]) -> None:
    parser = Parser()
    commands = parser.add_subparsers(parser_class=Parser)
    command = commands.add_parser("rewrite")
    importlib.import_module("orcish_cli.rewrite").add_arguments(command)
    options = parser.parse_args(["rewrite", "f.orc", *given, *([] if "-o" in given else ["--in-place"])])
    assert options.sort_by == value
    assert options.json == ("--json" in given)
    assert options.output == ("--x.orc" if "-o" in given else None)


def test_a_missing_value_is_no_option(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    for given in (["--sort-by", "--json"], ["--sort-by"], ["--sort-by", "--memory=1GB"]):
        with pytest.raises(SystemExit):
            run("rewrite", "f.orc", "--in-place", *given)
        assert "--sort-by: expected one argument" in capsys.readouterr().err


def test_every_command_is_here() -> None:
    assert RUNS.keys() == {command.name for command in COMMANDS} - NO_FILES


@pytest.mark.parametrize("name", RUNS)
def test_urls_and_json(name: str, run: Run, remote: list[str]) -> None:
    """Every line of the output is an object, and a store that is not there is an error that names the URL."""
    for arguments in RUNS[name]:
        code, lines, err = run(name, *arguments, "--json", *remote)
        assert (code, err) == (int(name == "recover" and TORN in arguments), ""), arguments
        assert lines or name in ("compact", "recover"), arguments
        assert all(isinstance(json.loads(line), dict) for line in lines), arguments
    there = [each for each in remote if "=aws_endpoint=" not in each]
    for arguments in RUNS[name]:
        code, lines, err = run(name, *arguments, "--json", *there, "--storage-option=aws_endpoint=http://127.0.0.1:9")
        assert code in (1, 2), arguments
        assert f"s3://{BUCKET}/" in err, arguments
        assert "Traceback" not in err


def parsers() -> list[Any]:
    """The parsers of all commands, and of the jobs of Spark."""
    found = []
    for command in COMMANDS:
        parser = Parser(prog=command.name)
        getattr(importlib.import_module(f"orcish_cli.{command.module}"), command.function)(parser)
        jobs = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        found += [job for each in jobs for job in each.choices.values()] if jobs else [parser]
    return [pytest.param(parser, id=parser.prog) for parser in found]


def parsed(parser: argparse.ArgumentParser, given: list[str]) -> argparse.Namespace:
    """The arguments, behind those that the command needs."""
    needed = [action for action in parser._actions if action.required]
    before = {action.dest: ["id > 1"] if "--where" in action.option_strings else ["x"] for action in needed}
    options = [
        part
        for action in needed
        if action.option_strings and not set(given) & set(action.option_strings)
        for part in (action.option_strings[0], *before[action.dest])
    ]
    groups = [group for group in parser._mutually_exclusive_groups if group.required]
    options += ["--in-place"] if groups and not {"-o", "--output", "--in-place"} & set(given) else []
    names = [
        value for action in needed if not action.option_strings for value in (action.choices or before[action.dest])
    ]
    return parser.parse_args([*names[:2], *options, *given])


@pytest.mark.parametrize("parser", parsers())
def test_nothing_that_is_given_is_dropped(parser: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """An option that is given several times has all values, or is an error; the same value twice is none."""
    for action in parser._actions:
        if not action.option_strings or action.nargs is not None:
            continue
        option = action.option_strings[-1]
        own = {"--fraction": ["0.5", "1"], "--reader": ["trino", "spark4"], "--keys": ["env:A", "env:B"]}
        values = list(action.choices or ()) or own.get(option, ["1", "2"])
        if option == "--where":
            found = parsed(parser, [option, "id > 1 or id < 0", option, "k = 2", option, "id > 3"])
            assert str(found.filters) == "((id > 1) or (id < 0)) and (k = 2) and (id > 3)"
            continue
        if action.type is not None and getattr(action.type, "__name__", "") in ("pair", "renames", "types"):
            found = parsed(parser, [option, "a=1", option, "b=2", option, "a=1"])
            assert dict(getattr(found, action.dest)) == {"a": "1", "b": "2"}
            values = ["a=1", "a=2"]
        elif not isinstance(action, Once):
            found = parsed(parser, [option, values[0], option, values[1]])
            assert [each[0] if option == "--sort-by" else each for each in getattr(found, action.dest)] == values
            continue
        else:
            parsed(parser, [option, values[0], option, values[0]])
        with pytest.raises(SystemExit) as ended:
            parsed(parser, [option, values[0], option, values[1]])
        assert ended.value.code == 2
        assert "given twice" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["delete", "count", "data", "convert", "rewrite", "scan", "diff"])
def test_several_filters_are_all_true(name: str, run: Run, tmp_path: pathlib.Path) -> None:
    table = str(tmp_path / "t")
    orcish.write_dataset(pa.table({"id": range(100), "k": [at % 2 for at in range(100)]}), table, partition_by=["k"])
    both = ["--where", "id >= 90", "--filters", "id < 95 or id = 3"]
    target = str(tmp_path / "to.orc")
    more = {"convert": [target], "rewrite": ["-o", target], "diff": [table]}.get(name, [])
    code, lines, err = run(name, table, *more, *both, "--json")
    assert (code, err) == (0, "")
    found = [json.loads(line) for line in lines]
    if name == "diff":
        assert found[-1]["rows_a"] == 5
    else:
        assert (len(found) if name == "data" else sum(each["rows"] for each in found)) == 5
    if name == "delete":
        assert orcish.scan(table).count() == 95


def test_a_filter_of_several_that_is_none(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run("count", "f.orc", "--where", "id > 1", "--where", "id < 2) or (true")
    assert ended.value.code == 2
    assert "--where" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "prog", "text"),
    [
        (["dta"], "orcish", "unknown command 'dta'; did you mean data?"),
        (["cat", "f.orc"], "orcish", "unknown command 'cat'; did you mean data?"),
        (["verify", "f.orc"], "orcish", "unknown command 'verify'; did you mean check?"),
        (["convert", "a", "b", "--overwrite"], "orcish convert", "option --overwrite; did you mean --existing-data?"),
        (["convert", "a", "b", "--codec=zstd"], "orcish convert", "option --codec; did you mean --compression?"),
        (["convert", "a", "-o", "b"], "orcish convert", "unknown option -o$"),
        (["xyzzy"], "orcish", "unknown command 'xyzzy'"),
        (["--foo"], "orcish", "unknown option --foo"),
        (["--verson", "data"], "orcish", "unknown option --verson; did you mean --version?"),
        (["data", "f.orc", "--colums", "id"], "orcish data", "unknown option --colums; did you mean --columns?"),
        (["data", "--colums=id"], "orcish data", "unknown option --colums; did you mean --columns?"),
        (["data", "f.orc", "-x"], "orcish data", "unknown option -x"),
        (["head", "-5", "f.orc"], "orcish head", "unknown option -5; did you mean -n 5?"),
        (["count", "f.orc", "-12"], "orcish count", "unknown option -12; did you mean -n 12?"),
        (["count", "f.orc", "--rows", "5"], "orcish count", "unknown option --rows; did you mean --limit?"),
        (["meta", "f.orc", "-n", "5"], "orcish meta", "unknown option -n$"),
        (["meta", "f.orc", "-5"], "orcish meta", "unknown option -5$"),
        (["diff", "a", "b", "c"], "orcish diff", "unexpected argument 'c'"),
        (["spark", "compct", "t"], "orcish spark", "unknown job 'compct'; did you mean compact?"),
        (["spark", "compact", "t", "--master2", "x"], "orcish spark compact", "unknown option --master2"),
        (
            ["convert", "a.orc", "b", "--compression", "zstdd"],
            "orcish convert",
            "'zstdd' is none of .*; did you mean zstd?",
        ),
        (["sample", "f.orc", "--fraction", "2"], "orcish sample", "2 is not from 0 to 1"),
        (["compact", "t", "--target-file-size", "0"], "orcish compact", "'0' is no size"),
        (["spark", "compact", "t", "--target-file-size", "many"], "orcish spark compact", "many"),
        (["compat", "f.orc", "-r", "spark"], "orcish compat", "there is no reader 'spark'; did you mean spark"),
        (["compat", "f.orc", "-r", "spark4,x"], "orcish compat", "there is no reader 'x'; there are "),
    ],
)
def test_wrong_arguments(given: list[str], prog: str, text: str, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(*given)
    assert ended.value.code == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(f"{prog}: error: ")
    assert re.search(text.replace("?", r"\?"), first)
    assert second == f"see {prog} --help"


@pytest.mark.parametrize(
    "given",
    [
        ["convert", "a.orc", "b.orc", "--partition-by", "k"],
        ["convert", "a.orc", "b.csv", "--existing-data", "append"],
        ["convert", "a.orc", "b", "--limit", "1"],
        ["rewrite", "a.orc", "--in-place", "--existing-data=overwrite"],
        ["recover", "a.orc", "-o", "b.orc", "--undo"],
        ["layout", "a.orc"],
    ],
    ids=" ".join,
)
def test_arguments_that_do_not_go_together(given: list[str], run: Run) -> None:
    code, lines, err = run(*given)
    assert (code, lines, err.count("\n")) == (2, [], 1)


def test_help_and_version(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    for given, start in (
        (["help"], "usage: orcish COMMAND"),
        (["help", "data"], "usage: orcish data"),
        (["-V"], "orcish "),
    ):
        with pytest.raises(SystemExit) as ended:
            run(*given)
        assert ended.value.code == 0
        assert capsys.readouterr().out.startswith(start)
