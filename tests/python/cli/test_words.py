"""Messages of the library have the words of the shell where the command prints them."""

from __future__ import annotations

import argparse
import ast
import functools
import gzip
import importlib
import pathlib
import re
import shlex
from collections.abc import Iterator
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.parquet
import pytest
from orcish_cli.commands import COMMANDS
from orcish_cli.parser import OTHER_WORDS, Parser
from orcish_cli.words import KEYWORDS, in_shell, set_options

ROOT = pathlib.Path(orcish.__file__).parents[2]
OTHERS = (
    *("arrow", "asynchronous.py", "compat", "dask.py", "dataset.py", "datasets", "file_systems.py", "hints.py"),
    *("polars.py", "ray", "spark", "notebook.py", "filters/pyarrow.py", "filters/polars.py", "writing/inputs.py"),
)
"""Modules of functions that the command does not call."""
PYTHON = re.compile(
    rf"(?<![\w/.`'\"-])(?:(?:{'|'.join(KEYWORDS)})=['\"\[{{TFN\d]|storage_options|pyarrow\.dataset|orcish\.(?:convert|write)\w*)"
)
"""Words of Python."""


def texts_of_python() -> Iterator[tuple[str, str]]:
    """Modules, and the messages of the errors that they raise; values are ``x``."""
    package = ROOT / "python" / "orcish"
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if name.startswith(OTHERS):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise):
                for inner in ast.walk(node):
                    if isinstance(inner, ast.JoinedStr):
                        yield name, "".join(map(_part, inner.values))
                    elif isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                        yield name, inner.value


def _part(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return "'x'" if isinstance(node, ast.FormattedValue) and node.conversion == ord("r") else "5"


def texts_of_rust() -> Iterator[tuple[str, str]]:
    """Files, and their strings that have a keyword of an option."""
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        name = path.relative_to(ROOT).as_posix()
        if "test" in name or "orcish-python/src" in name:
            continue
        for found in re.finditer(r'"((?:[^"\\\n]|\\.)*)"', path.read_text().partition("#[cfg(test)]")[0]):
            text = re.sub(r"\{\w*:\?\}", "'x'", found[1].replace('\\"', '"'))
            yield name, re.sub(r"\{\w*\}", "5", text)


@pytest.mark.parametrize("texts", [texts_of_python, texts_of_rust], ids=["python", "rust"])
def test_no_message_has_words_of_python(texts):
    set_options(dict.fromkeys([*KEYWORDS, "masked"]))
    found = [(name, text) for name, text in texts() if (PYTHON.search(text) or BARE_WORDS.search(text))]
    assert found
    assert [(name, shown) for name, text in found if PYTHON.search(shown := in_shell(text))] == []


BARE_WORDS = re.compile(r"\b(?:timestamp_unit|row_index_stride|external_locations|max_rows_per_file)\b")


@functools.cache
def _options() -> frozenset[str]:
    """The options of all commands."""
    found: set[str] = set()
    for command in COMMANDS:
        parser = Parser(prog=command.name)
        getattr(importlib.import_module(f"orcish_cli.{command.module}"), command.function)(parser)
        found |= {option for action in parser._actions for option in action.option_strings}
    return frozenset(found)


def test_options_that_are_named_are_there():
    named = {*KEYWORDS.values(), *(each.partition(" ")[0] for own in OTHER_WORDS.values() for each in own)}
    assert named - _options() == set()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('allow it with storage_options={"allow_http": True}', "allow it with --storage-option allow_http=true"),
        ("z.orc: row_index_stride=3: row groups have", "z.orc: --row-index-stride 3: row groups have"),
        ('read it in a finer unit (timestamp_unit="ns")', "read it in a finer unit (--timestamp-unit ns)"),
        ("partition_by=['a', 'b']: columns", "--partition-by a,b: columns"),
        ("partition_by=[]: give", "--partition-by '': give"),
        ("partition_by is: day", "--partition-by is: day"),
        ("existing_data='append' adds to it", "--existing-data append adds to it"),
        ("rewrite=True takes them", "--rewrite takes them"),
        (
            "compression, stripe_size: options of files need rewrite=True",
            "--compression, --stripe-size: options of files need --rewrite",
        ),
        ("key: a has no column 'id'", "--key: a has no column 'id'"),
        ("undone by orcish.recover, as", "undone by orcish recover, as"),
        ("orcish.convert writes", "orcish convert writes"),
        # Names of files and columns stay.
        ("t/version=1/timezone='x'/a.orc: no file", "t/version=1/timezone='x'/a.orc: no file"),
        ("no column 'partition_by'", "no column 'partition_by'"),
        ("duckdb: sample_size = 3", "duckdb: sample_size = 3"),
        (
            'status 404: <?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>It is not there.</Message></Error>',
            "status 404: NoSuchKey: It is not there.",
        ),
    ],
    ids=lambda text: text[:30],
)
def test_words(text, wanted):
    set_options(dict.fromkeys([*KEYWORDS, "masked"]))
    assert in_shell(text) == wanted


def test_masks_are_advised_where_they_are_read():
    text = 'columns a are encrypted: only their masks can be read, with the option masked="allow"'
    set_options({"masked": True})
    assert in_shell(text).endswith("with the option --masked")
    set_options({"files": []})
    assert "masked=" not in in_shell(text)
    assert "--masked" not in in_shell(text)


FOREIGN: dict[str, tuple[str, str]] = {
    "a.parquet": ("Parquet", "convert a.parquet a.orc`"),
    "named.orc": ("Parquet", "convert named.orc named.new.orc --from parquet`"),
    "a.csv": ("CSV", "convert a.csv a.orc`"),
    "a.csv.gz": ("CSV", "convert a.csv.gz a.orc`"),
    "a.jsonl": ("JSON", "convert a.jsonl a.orc`"),
    "json": ("JSON", "convert json json.orc --from json`"),
}
READING = [
    *([name] for name in ("data", "tail", "sample", "count", "scan", "meta", "schema", "stats", "sizes", "check")),
    *([name] for name in ("compat", "key", "advise")),
    ["explain", "--where", "id > 1"],
    ["layout", "--json"],
    ["merge", "-o", "new.orc"],
    ["rewrite", "-o", "new.orc"],
]


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    rows = pa.table({"id": range(50_000), "text": [str(number) for number in range(50_000)]})
    for name in ("a.parquet", "named.orc"):
        pa.parquet.write_table(rows, name)
    pathlib.Path("a.csv").write_text("id,text\n1,a\n")
    pathlib.Path("a.csv.gz").write_bytes(gzip.compress(b"id,text\n1,a\n"))
    for name in ("a.jsonl", "json"):
        pathlib.Path(name).write_text('{"id": 1}\n')
    orcish.write_table(rows, "whole.orc")
    whole = pathlib.Path("whole.orc").read_bytes()
    pathlib.Path("torn.orc").write_bytes(whole[: len(whole) // 2])
    return tmp_path


@pytest.mark.parametrize("command", READING, ids=" ".join)
@pytest.mark.usefixtures("folder")
def test_files_of_other_formats(command, run):
    for name, (form, wanted) in FOREIGN.items():
        code, _, err = run(command[0], name, *command[1:])
        assert code
        assert f"{name} is a {form} file, and not ORC: `orcish {wanted} makes ORC of it" in err


CSV, JSON, TEXT = "a CSV file", "a JSON file", "text"
LONG = b"".join(b'%d,"several, words of %d\n",c\n' % (at, at) for at in range(1000))
CONTENTS = {
    "object.txt": (b'{"a": 1,\n "b": [1, 2]}\n', JSON, "--from json"),
    "array": (b'[\n  {"a": 1}, {"a": 2}\n]\n', JSON, "--from json"),
    "lists.log": (b"[1, 2]\n[3, 4]\n", JSON, "--from json"),
    "mark.txt": (b'\xef\xbb\xbf{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n', JSON, "--from json"),
    "object.csv": (b'{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n', JSON, "--from json"),
    "commas.txt": (b"a,b\n1,2\n", CSV, "--from csv`"),
    "commas.json": (b"a,b\n1,2\n", CSV, "--from csv`"),
    "commas.parquet": (b"a,b\n1,2\n", CSV, "--from csv`"),
    "index": (b",a\n0,1\n", CSV, "--from csv`"),
    "latin": (b"a,b\nM\xfcller,2\n", CSV, "--from csv`"),
    "long": (b"a,b,c\n" + LONG, CSV, "--from csv`"),
    "long.gz.csv": (b"a,b,c\n" + LONG, CSV, "long.gz.orc`"),
    "semicolons.txt": (b"a;b\n1;2\n", CSV, "--from csv --delimiter ';'`"),
    "tabs.csv": (b"a\tb\n1\t2\n", CSV, "tabs.orc --delimiter tab`"),
    "tabs.tsv": (b"a\tb\n1\t2\n", CSV, "tabs.orc`"),
    "commas.tsv": (b"a,b\n1,2\n", CSV, "commas.orc --delimiter ,`"),
    "column.csv": (b"a\n1\n", CSV, "column.orc`"),
    "README": (b"# Readme, of things\n\nText, with commas, and more.\nAnother line; really.\n", TEXT, ""),
    "letter.txt": (b"Dear John,\nhow are you, and\nhow is all?\n", TEXT, ""),
    "prose.txt": (b"One, two.\nThree, four.\n", TEXT, ""),
    "program.py": (b'import os, sys\n\nprint("x", 1)\n', TEXT, ""),
    "page.html": (b"<html>\n<title>404, not found</title>\n</html>\n", TEXT, ""),
    "data.xml": (b'<a b="1,2">\n<c d="3,4"/>\n', TEXT, ""),
    "comment": (b"# a,b\n# c,d\n", TEXT, ""),
    "settings.ini": (b"[a,b]\nc=1,2\n", TEXT, ""),
    "settings.yaml": (b"a: 1, 2\nb: [3, 4]\n", TEXT, ""),
    "log.txt": (b"2026-01-01 00:00:00,123 INFO begin\n2026-01-01 00:00:01,456 INFO, well\n", TEXT, ""),
    "text.json": (b"hello\n", TEXT, ""),
    "text.parquet": (b"hello\n", TEXT, ""),
    "zeros.csv": (bytes(1000), None, ""),
    "zeros.parquet": (bytes(1000), None, ""),
    "empty.csv": (b"", None, ""),
    "wide.csv": ("a,b\n1,2\n".encode("utf-16"), None, ""),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_contents_of_other_files(name, tmp_path, monkeypatch, run):
    """The content of a local file says what it is, and not its name: CSV is a table, and no text with commas."""
    monkeypatch.chdir(tmp_path)
    data, form, wanted = CONTENTS[name]
    pathlib.Path(name).write_bytes(data)
    code, _, err = run("meta", name)
    assert code == 1
    if form is None:
        assert err.startswith(f"orcish: {name}: not an ORC file: ")
        return
    assert err.startswith(f"orcish: {name} is {form}, and not ORC: `orcish convert")
    if form == TEXT:
        assert "--from csv" in err
        assert "--from json" in err
        return
    assert wanted in err
    if name not in ("array", "lists.log", "latin"):
        advised = shlex.split(err.split("`")[1])
        assert run(*advised[1:])[::2] == (0, "")
        rows = orcish.read_table(advised[3])
        assert (rows.num_rows > 0, rows.num_columns > 1) == (True, name != "column.csv")


@pytest.mark.parametrize("command", READING, ids=" ".join)
@pytest.mark.usefixtures("folder")
def test_torn_files(command, run):
    code, _, err = run(command[0], "torn.orc", *command[1:])
    assert code
    assert "orcish recover torn.orc -o TARGET" in err


@pytest.mark.usefixtures("folder")
def test_recover_names_the_option_that_helps(run):
    code, _, err = run("recover", "torn.orc", "-o", "new.orc")
    assert code == 2
    assert "--like FILE names another file of its writer" in err


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["convert", "a", "b", "--overwrite"], "did you mean --existing-data overwrite?"),
        (["rewrite", "a", "-o", "b", "--existing-data", "overwrite"], "did you mean --overwrite?"),
        (["data", "a", "--filter", "x"], "did you mean --where?"),
        (["data", "a", "--lim", "3"], "unknown option --lim; did you mean --limit?"),
        (["diff", "a", "b", "--ignore"], "unknown option --ignore"),
        (["vacuum", "t", "--older-than", "7d"], "'7d' is no number of days"),
        (["data", "a", "-n", "x"], "'x' is no whole number of 0 or more"),
        (["convert", "a", "b", "--compression-level", "x"], "'x' is no whole number"),
        (["sample", "a", "--fraction", "x"], "'x' is no number from 0 to 1"),
        (["diff", "a", "b", "--tolerance", "x"], "'x' is no number"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_options_that_are_wrong(arguments, wanted, run, capsys):
    with pytest.raises(SystemExit) as ended:
        run(*arguments)
    assert ended.value.code == 2
    assert wanted in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS, ids=[command.name for command in COMMANDS])
def test_options_are_not_abbreviated(command: Any) -> None:
    parser: argparse.ArgumentParser = Parser(prog=command.name)
    assert not parser.allow_abbrev


@pytest.mark.usefixtures("folder")
def test_names_of_files_and_columns_are_quoted(run):
    for query, wanted in (
        ("select * from whole.orc", "from 'whole.orc'"),
        ("select * from ./whole.orc", "from './whole.orc'"),
    ):
        code, _, err = run("sql", query)
        assert code == 2
        assert wanted in err
    code, _, err = run("data", "whole.orc", "--where", "Personal-Nr = '1'")
    assert code == 2
    assert "are in backticks" in err


@pytest.mark.usefixtures("folder")
def test_a_key_that_is_not_compared_is_read(rows, run):
    other = orcish.read_table("whole.orc").set_column(1, "text", pa.array(["x"] * 50_000))
    orcish.write_table(other.cast(pa.schema([("id", pa.int32()), ("text", pa.string())])), "other.orc")
    code, lines, err = run("diff", "whole.orc", "other.orc", "-k", "id", "-c", "text", "--json")
    assert (code, err) == (1, "")
    assert '"changed": 50000' in lines[-1]
    assert not any('"what": "column"' in line for line in lines)


@pytest.mark.parametrize(
    ("given", "text", "wanted"),
    [
        # Names of files, columns and literals look like words of the library.
        ("key=01", "key=01: the folder has no log", "key=01: the folder has no log"),
        ("key={a}", "nothing matches key={a}", "nothing matches key={a}"),
        ("overwrite=True", 'overwrite=True: no column is named "nope"', 'overwrite=True: no column is named "nope"'),
        ("runs", "runs: the folder has no log", "runs: the folder has no log"),
        ("stripe_size", "stripe_size: no such file", "stripe_size: no such file"),
        ("my write_table file.orc", "my write_table file.orc: no such file", "my write_table file.orc: no such file"),
        ("a.orc", "key=5/b.orc: not read", "key=5/b.orc: not read"),
        ("sample_size = 'x'", 'column "sample_size" of type bigint', 'column "sample_size" of type bigint'),
        ("id = ' limit=7'", "the string ' limit=7'", "the string ' limit=7'"),
        ("id = 'x limit=007'", "the string 'x limit=007'", "the string 'x limit=007'"),
        ("see", "the value see limit=007 there", "the value see limit=007 there"),
        ("x.orc", "x.orc: limit=7 is wrong", "x.orc: --limit 7 is wrong"),
    ],
)
def test_names_that_are_words(given, text, wanted):
    set_options({"files": [given], "limit": 7})
    assert in_shell(text) == wanted
