"""Messages of errors have the words of the shell, and say which command helps."""

from __future__ import annotations

import argparse
import gzip
import pathlib
import shlex

import orcish
import pyarrow as pa
import pyarrow.parquet
import pytest
from orcish.errors import OptionError, OptionTypeError
from orcish_cli.commands import COMMANDS
from orcish_cli.messages import in_shell, is_of_arguments, set_command
from orcish_cli.parser import Parser

FLAGS = (
    *("--compression", "--decimal-out-of-range", "--existing-data", "--filters", "--ignore-order", "--key", "--limit"),
    *("--max-partitions", "--partition-by", "--row-index-stride", "--sample-size", "--stripe-size", "--timestamp-unit"),
)


def command_of(**given: object) -> argparse.Namespace:
    """The arguments of a command with many options, of which some are given."""
    parser = Parser(prog="orcish all")
    for flag in FLAGS:
        parser.add_argument(flag)
    parser.add_argument("--storage-option", dest="storage_options")
    for flag in ("rewrite", "masked"):
        parser.add_argument(f"--{flag}", action="store_true")
    return argparse.Namespace(parser=parser, **given)


TEXTS = {
    'allow it with storage_options={"allow_http": True}': "allow it with --storage-option allow_http=true",
    "z.orc: row_index_stride=3: row groups have": "z.orc: --row-index-stride 3: row groups have",
    'read it in a finer unit (timestamp_unit="ns")': "read it in a finer unit (--timestamp-unit ns)",
    "partition_by=['a', 'b']: columns": "--partition-by a,b: columns",
    "partition_by=[]: give": "--partition-by '': give",
    "partition_by is: day": "--partition-by is: day",
    "existing_data='append' adds to it": "--existing-data append adds to it",
    "rewrite=True takes them": "--rewrite takes them",
    'with the option masked="allow"': "with the option --masked",
    'key: a: no column is named "id"; there is none': '--key: a: no column is named "id"; there is none',
    "undone by orcish.recover, as": "undone by orcish recover, as",
    "orcish.write_table writes": "orcish convert writes",
    "cut the digits off, with cast(pyarrow.timestamp('ms'), safe=False)": "cut the digits off, with --timestamp-unit ms",
    "t/version=1/timezone='x'/a.orc: no file": "t/version=1/timezone='x'/a.orc: no file",
    'no column is named "partition_by"': 'no column is named "partition_by"',
    'status 404: <?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>It is not there.</Message></Error>': (
        "status 404: NoSuchKey: It is not there."
    ),
}
"""Messages of the library, and those of the shell."""
LIKE_WORDS = {
    "key=01": "key=01: the folder has no log",
    "limit=7": 'limit=7: no column is named "nope"',
    "stripe_size": "stripe_size: no such file",
    "key": "key: the folder has no log",
    "id = ' limit=7'": "the string ' limit=7'",
}
"""Names of files and literals that look like words of the library, and messages, which stay as they are."""


def test_words():
    set_command(command_of())
    assert {text: in_shell(text) for text in TEXTS} == TEXTS
    for given, text in LIKE_WORDS.items():
        set_command(command_of(files=[given], limit=7))
        assert in_shell(text) == text
    set_command(command_of(files=["x.orc"], limit=7))
    assert in_shell("x.orc: limit=7 is wrong") == "x.orc: --limit 7 is wrong"


def test_errors_of_options_have_flags():
    set_command(command_of())
    assert in_shell(OptionError("limit", "must be at least 0", -1)) == "--limit -1: must be at least 0"
    assert in_shell(OptionTypeError("storage_options", "must be a mapping")) == "--storage-option: must be a mapping"
    assert in_shell(OptionError("batch_size", "must be at least 1", 0)) == "batch_size=0: must be at least 1"
    options = command_of(_given={"limit": -1})
    assert is_of_arguments(OptionError("limit", "must be at least 0", -1), options)
    assert not is_of_arguments(OptionError("batch_size", "must be at least 1", 0), options)


FOREIGN = {
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


@pytest.mark.usefixtures("folder")
def test_files_of_other_formats_and_torn_files(run):
    missing = []
    for command in READING:
        for name, (form, wanted) in FOREIGN.items():
            code, _, err = run(command[0], name, *command[1:])
            if not code or f"{name} is a {form} file, and not ORC: `orcish {wanted} makes ORC of it" not in err:
                missing.append((command, name, err))
        code, _, err = run(command[0], "torn.orc", *command[1:])
        if not code or "orcish recover torn.orc -o TARGET" not in err:
            missing.append((command, "torn.orc", err))
    assert missing == []
    code, _, err = run("recover", "torn.orc", "-o", "new.orc")
    assert code == 2
    assert "--like FILE names another file of its writer" in err


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
    "comment": (b"# a,b\n# c,d\n", TEXT, ""),
    "settings.ini": (b"[a,b]\nc=1,2\n", TEXT, ""),
    "settings.yaml": (b"a: 1, 2\nb: [3, 4]\n", TEXT, ""),
    "log.txt": (b"2026-01-01 00:00:00,123 INFO begin\n2026-01-01 00:00:01,456 INFO, well\n", TEXT, ""),
    "text.json": (b"hello\n", TEXT, ""),
    "zeros.csv": (bytes(1000), None, ""),
    "empty.csv": (b"", None, ""),
    "wide.csv": ("a,b\n1,2\n".encode("utf-16"), None, ""),
}


def test_contents_of_other_files(tmp_path, monkeypatch, run):
    """The content of a local file says what it is, and not its name: CSV is a table, and no text with commas."""
    monkeypatch.chdir(tmp_path)
    wrong = []
    for name, (data, form, wanted) in CONTENTS.items():
        pathlib.Path(name).write_bytes(data)
        code, _, err = run("meta", name)
        begin = f"{name}: not an ORC file: " if form is None else f"{name} is {form}, and not ORC: `orcish convert"
        parts = ("--from csv", "--from json") if form == TEXT else (wanted,)
        if code != 1 or not err.startswith(f"orcish: {begin}") or not all(part in err for part in parts):
            wrong.append((name, err))
        elif form in (CSV, JSON) and name not in ("array", "lists.log", "latin"):
            advised = shlex.split(err.split("`")[1])
            pathlib.Path(advised[3]).unlink(missing_ok=True)
            done = run(*advised[1:])
            if done[::2] != (0, "") or not orcish.read_table(advised[3]).num_rows:
                wrong.append((name, done))
    assert wrong == []


@pytest.mark.usefixtures("folder")
def test_options_that_are_wrong(run, capsys):
    for text, wanted in {
        "data a --lim 3": "unknown option --lim; did you mean --limit?",
        "diff a b --ignore": "unknown option --ignore",
        "dta a": "unknown command 'dta'; did you mean data?",
        "vacuum t --older-than 7d": "'7d' is no number of days",
        "data a -n x": "'x' is no whole number of 0 or more",
        "convert a b --compression-level x": "'x' is no whole number",
        "sample a --fraction x": "'x' is no number from 0 to 1",
        "diff a b --tolerance x": "'x' is no number",
    }.items():
        with pytest.raises(SystemExit) as ended:
            run(*text.split())
        assert ended.value.code == 2
        assert wanted in capsys.readouterr().err
    for command in COMMANDS:
        assert not Parser(prog=command.name).allow_abbrev
    for given, wanted in {
        ("sql", "select * from whole.orc"): "from 'whole.orc'",
        ("sql", "select * from ./whole.orc"): "from './whole.orc'",
        ("data", "whole.orc", "--where", "Personal-Nr = '1'"): "are in backticks",
        ("data", "whole.orc", "--columns", "no"): 'no column is named "no"',
    }.items():
        code, _, err = run(*given)
        assert (code, wanted in err) == (1 if "--columns" in given else 2, True), err


@pytest.mark.usefixtures("folder")
def test_a_key_that_is_not_compared_is_read(run):
    other = orcish.read_table("whole.orc").set_column(1, "text", pa.array(["x"] * 50_000))
    orcish.write_table(other.cast(pa.schema([("id", pa.int32()), ("text", pa.string())])), "other.orc")
    code, lines, err = run("diff", "whole.orc", "other.orc", "-k", "id", "-c", "text", "--json")
    assert (code, err) == (1, "")
    assert '"changed": 50000' in lines[-1]
    assert not any('"what": "column"' in line for line in lines)
