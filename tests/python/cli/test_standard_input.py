"""``-`` in the place of files: standard input and standard output."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish_cli import main
from orcish_cli.commands import COMMANDS
from support.processes import ORCISH
from support.random_cases import pairs

ROWS = pa.table({"id": range(2000), "text": [f"t{number}" for number in range(2000)]})
READING = [
    ["meta", "-"],
    ["data", "-"],
    ["head", "-"],
    ["tail", "-"],
    ["sample", "-"],
    ["count", "-"],
    ["scan", "-"],
    ["schema", "-"],
    ["stats", "-"],
    ["sizes", "-"],
    ["key", "-"],
    ["check", "-"],
    ["compat", "-"],
    ["advise", "-"],
    ["explain", "-", "--where", "id > 5"],
    ["sql", "select count(*) from t", "--table", "t=-"],
    ["sql", "select count(*) from '-' join 'a.orc' using (id)"],
    ["layout", "-", "--json"],
    ["layout", "-", "-o", "page.html"],
    ["diff", "-", "a.orc"],
    ["diff", "a.orc", "-"],
    ["diff", "-", "a.orc", "--brief"],
    ["merge", "a.orc", "-", "-o", "new.orc"],
    ["rewrite", "-", "-o", "new.orc", "--sort-by", "-id"],
    ["recover", "-", "-o", "new.orc"],
    ["recover", "-", "--dry-run"],
    ["convert", "-", "new.csv"],
    ["convert", "-", "folder"],
]
SEVERAL = ("meta", "count", "scan", "schema", "stats", "sizes", "key", "check", "compat", "layout")
"""Commands that read several files."""
NAMING = ("meta", "count", "scan", "schema", "key", "check", "compat", "advise", "explain", "recover")
"""Commands whose JSON begins with the name of the file."""
REFUSED = [
    ["merge", "a.orc", "-o", "-"],
    ["rewrite", "a.orc", "-o", "-"],
    ["recover", "a.orc", "-o", "-"],
    ["layout", "a.orc", "-o", "-"],
    ["convert", "a.orc", "-"],
    ["convert", "a.orc", "-", "--to", "orc"],
    ["convert", "a.orc", "-", "--to", "parquet"],
    ["rewrite", "-", "--in-place"],
    ["count", "-", "-"],
    ["diff", "-", "-"],
    ["delete", "-", "--where", "id > 5"],
    ["compact", "-"],
    ["history", "-"],
    ["recover", "-", "-o", "-"],
    ["spark", "convert", "-", "folder"],
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    orcish.write_table(ROWS, tmp_path / "a.orc")
    return tmp_path


@pytest.fixture
def piped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, which this process is in, with the file in standard input, too."""
    (folder / "temporary").mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "temporary"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((folder / "a.orc").read_bytes())))
    return folder


def run(folder: Path, *arguments: str, **how: Any) -> subprocess.CompletedProcess[bytes]:
    """Runs the command; ``TMPDIR`` is a folder of its own."""
    (folder / "temporary").mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(folder / "temporary")}
    command = [*ORCISH, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, **how)
    assert list((folder / "temporary").iterdir()) == []
    return done


@pytest.mark.parametrize("arguments", READING, ids=" ".join)
def test_sources(arguments: list[str], piped: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert (main(arguments), capfd.readouterr().err) == (0, "")
    assert list((piped / "temporary").iterdir()) == []


@pytest.fixture
def redirected(piped: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder, with the file in place of the standard input of the process."""
    before = os.dup(0)
    with open(piped / "a.orc", "rb") as file, open(0, "rb", closefd=False) as stream:
        os.dup2(file.fileno(), 0)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
        yield piped
    os.dup2(before, 0)
    os.close(before)


@pytest.mark.parametrize("is_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize("has_other", [False, True], ids=["alone", "with others"])
@pytest.mark.parametrize("kind", ["piped", "redirected"])
@pytest.mark.parametrize("arguments", READING, ids=" ".join)
def test_output_has_no_names_of_temporary_files(
    arguments: list[str],
    kind: str,
    has_other: bool,
    is_json: bool,
    request: pytest.FixtureRequest,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Standard input is called ``-``, alone and beside another file, in texts, JSON and pages."""
    folder = request.getfixturevalue(kind)
    orcish.write_table(ROWS.slice(1), folder / "b.orc")
    given = list(arguments)
    if has_other:
        if arguments[0] not in SEVERAL:
            pytest.skip("the command reads one file")
        given.insert(given.index("-") + 1, "b.orc")
    if is_json and "--json" not in given:
        if arguments[0] in ("diff", "sql") or arguments[-1] == "page.html":
            pytest.skip("the command, or its test, names no file in JSON")
        given.append("--json")
    main(given)
    shown = "".join(capfd.readouterr())
    if arguments[-1] == "page.html":
        shown += (folder / "page.html").read_text()
    for word in ("/dev/stdin", "standard-input", "orcish-", str(folder / "temporary")):
        assert word not in shown
    if is_json and arguments[0] in NAMING:
        assert json.loads(shown.splitlines()[0])["file"] == "-"


def test_all_commands_that_read_standard_input_are_here() -> None:
    with_sources = {arguments[0] for arguments in (*READING, *REFUSED)}
    without = {"version", "completion", "help", "vacuum", "json-schema"}
    assert {command.name for command in COMMANDS} - without == with_sources


NO_ORC = {
    "csv": (
        b"a,b\n1,2\n",
        b"- is a CSV file, and not ORC: `orcish convert - standard-input.orc --from csv` makes ORC of it",
    ),
    "json": (
        b'{"a": 1}\n',
        b"- is a JSON file, and not ORC: `orcish convert - standard-input.orc --from json` makes ORC",
    ),
    "torn": (b"ORC" + bytes(100), b"orcish: -: not an ORC file"),
}


@pytest.mark.parametrize(
    ("command", "given", "is_pipe"),
    pairs([["count", "-"], ["convert", "-", "new.orc"], ["sql", "from '-'"]], NO_ORC, [True, False]),
    ids=str,
)
def test_errors_name_what_was_given(command: list[str], given: str, is_pipe: bool, folder: Path) -> None:
    """A pipe is a temporary file, whose name says nothing, and which is gone when the command ends."""
    data, expected = NO_ORC[given]
    (folder / "given").write_bytes(data)
    if is_pipe:
        done = run(folder, *command, input=data)
    else:
        with open(folder / "given", "rb") as file:
            done = run(folder, *command, stdin=file)
    if command[0] == "sql" and is_pipe:
        # The file of a query is gone before its error is shown, and with it what it was.
        expected = b"orcish: -: not an ORC file"
    assert (done.returncode, expected in done.stderr) == (1, True), done.stderr
    assert not any(word in done.stderr for word in (str(folder).encode(), b"/dev/stdin"))


def test_files_that_are_redirected(folder: Path) -> None:
    with open(folder / "a.orc", "rb") as file:
        done = run(folder, "count", "-", "--json", stdin=file)
    assert json.loads(done.stdout)["rows"] == 2000
    (folder / "behind").write_bytes(bytes(100) + (folder / "a.orc").read_bytes())
    with open(folder / "behind", "rb") as file:
        # Another process has read a part.
        file.seek(100)
        done = run(folder, "data", "-", "--all", "--json", stdin=file)
    assert len(done.stdout.splitlines()) == 2000
    with open(folder / "a.orc", "rb") as file:
        done = run(folder, "convert", "-", "a.orc", "--existing-data", "overwrite", stdin=file)
    assert (done.returncode, b"the target is one of the sources" in done.stderr) == (1, True)


@pytest.mark.parametrize("form", ["csv", "json", "arrows"])
def test_streams(form: str, folder: Path) -> None:
    done = run(folder, "convert", "a.orc", "-", "--to", form)
    assert (done.returncode, done.stderr) == (0, b"")
    back = run(folder, "convert", "-", "back.orc", "--from", form, input=done.stdout)
    assert (back.returncode, back.stderr) == (0, b"")
    assert orcish.read_table(folder / "back.orc").to_pylist() == ROWS.to_pylist()
    again = run(folder, "convert", "-", "-", "--to", form, input=(folder / "a.orc").read_bytes())
    assert again.stdout == done.stdout
    with open("/dev/full", "wb") as full:
        command = [*ORCISH, "convert", "a.orc", "-", "--to", form]
        failed = subprocess.run(command, cwd=folder, stdout=full, stderr=subprocess.PIPE, check=False)
    assert failed.returncode != 0
    assert b"standard output: No space left on device" in failed.stderr


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_what_is_refused(arguments: list[str], piped: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = main(arguments)
    out, err = capfd.readouterr()
    assert (code != 0, out) == (True, "")
    assert err.startswith("orcish: -: ")
    assert sorted(path.name for path in piped.iterdir()) == ["a.orc", "temporary"]


def test_a_file_of_the_name(folder: Path) -> None:
    assert run(folder, "convert", "a.orc", "./-", "--to", "csv").returncode == 0
    assert (folder / "-").read_bytes().startswith(b'"id","text"')
