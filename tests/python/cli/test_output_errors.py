"""Standard output and temporary folders that cannot be written, and names that are not text."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.parquet
import pytest
from orcish_cli import main
from support.processes import ORCISH

FULL = "standard output: No space left on device"
CLOSED = "standard output: Bad file descriptor"
ROWS = pa.table(
    {
        "id": range(20_000),
        "text": [f"{number * 7919 % 100_003} {number * 104_729 % 999_983}" for number in range(20_000)],
    }
)
PRINTING = {
    "help": ["--help"],
    "help of a command": ["data", "--help"],
    "help help": ["help", "data"],
    "version option": ["--version"],
    "version": ["version"],
    "data": ["data", "a.orc"],
    "json": ["data", "a.orc", "--all", "--json"],
    "meta": ["meta", "a.orc"],
    "count": ["count", "a.orc"],
    "check": ["check", "a.orc"],
    "sql": ["sql", "select * from 'a.orc'"],
    "json-schema": ["json-schema", "a.orc"],
    "convert": ["convert", "a.orc", "-", "--to", "csv"],
}
READING = [
    *(["meta", "data", "head", "tail", "sample", "count", "scan", "check", "schema", "sizes", "stats", "explain"]),
    *(["compat", "key", "json-schema", "advise", "history", "vacuum", "compact"]),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a file."""
    orcish.write_table(ROWS, tmp_path / "a.orc")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """The folder of temporary files, on a disk with hardly any room."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.system(f"mount -t tmpfs -o size=64k none '{disk}' 2>/dev/null") != 0:
        pytest.skip("mounts need rights")
    try:
        yield disk
    finally:
        os.system(f"umount '{disk}'")


@pytest.mark.parametrize("is_buffered", [True, False], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("command", PRINTING)
def test_full_output(command: str, is_buffered: bool, folder: Path) -> None:
    around = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*ORCISH, *PRINTING[command]],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env={**around, **({} if is_buffered else {"PYTHONUNBUFFERED": "1"})},
        )
    assert done.stderr.decode() == f"orcish: {FULL}\n"
    assert done.returncode == (2 if command == "check" else 1)


@pytest.mark.parametrize("command", PRINTING)
def test_closed_output(command: str, folder: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *ORCISH, *PRINTING[command]],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2 if command == "check" else 1, f"orcish: {CLOSED}\n")


def test_closed_output_of_commands_without_any(folder: Path) -> None:
    for given in (["diff", "a.orc", "a.orc"], ["data", "a.orc", "--limit", "0", "--json"]):
        done = subprocess.run(
            ["sh", "-c", 'exec "$@" >&-', "sh", *ORCISH, *given], cwd=folder, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b""), given


@pytest.mark.parametrize("command", PRINTING)
def test_pipes_that_are_closed_early(command: str, folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as pipe:
        given = [*ORCISH, *PRINTING[command]]
        done = subprocess.run(given, cwd=folder, stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_errors_of_files_are_told_where_output_is_full(folder: Path) -> None:
    with open("/dev/full", "wb") as full:
        given = [*ORCISH, "meta", "a.orc", "missing.orc"]
        done = subprocess.run(given, cwd=folder, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr


def test_standard_input_that_is_closed(folder: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" <&-', "sh", *ORCISH, "data", "-"], cwd=folder, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr[:40]) == (2, b"orcish: -: standard input is closed: giv")


@pytest.mark.parametrize("command", ["count", "diff", "rewrite", "convert"])
def test_temporary_folders_that_are_full(
    command: str, folder: Path, full_disk: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((folder / "a.orc").read_bytes())))
    given = {
        "count": ["-"],
        "convert": ["-", "b.csv"],
        "diff": ["a.orc", "a.orc", "--key", "text", "--max-memory", "1kB"],
        "rewrite": ["a.orc", "-o", "b.orc", "--sort-by", "text", "--memory", "300kB"],
    }
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(full_disk))
        assert main([command, *given[command]]) in (1, 2)
    err = capfd.readouterr().err
    assert err.startswith(f"orcish: {full_disk}")
    assert "No space left on device" in err
    assert err.count("\n") == 1
    assert list(full_disk.iterdir()) == []
    assert sorted(path.name for path in folder.iterdir()) == ["a.orc", "disk"]


@pytest.mark.parametrize("ending", ["csv", "csv.bz2", "csv.gz", "jsonl.bz2", "jsonl.zst", "parquet", "arrow", "orc"])
def test_targets_beyond_the_limit_of_files(ending: str, folder: Path) -> None:
    """The error is one line, also where libraries have their own ones."""
    code = (
        "import resource, sys; from orcish_cli import main; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); "
    )
    given = [sys.executable, "-c", f"{code}sys.exit(main(sys.argv[1:]))", "convert", "a.orc", f"b.{ending}"]
    done = subprocess.run(given, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"orcish: b.{ending}: ")
    assert "File too large" in done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == ["a.orc"]


@pytest.mark.parametrize("command", ["diff", "count"])
def test_temporary_folders_that_are_missing(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((folder / "a.orc").read_bytes())))
    given = ["-"] if command == "count" else ["a.orc", "a.orc", "--key", "text", "--max-memory", "1kB"]
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder / "none"))
        assert main([command, *given]) in (1, 2)
    assert capfd.readouterr().err.startswith(f"orcish: {folder / 'none'}: no temporary folder can be made there: ")


@pytest.mark.parametrize("source", ["table", "function", "list"])
@pytest.mark.parametrize("damage", ["cut", "footer", "pages"])
def test_damaged_files_that_duckdb_reads(
    damage: str, source: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("duckdb")
    file = folder / "a.parquet"
    pa.parquet.write_table(ROWS, file, compression="none", use_dictionary=False)
    data = bytearray(file.read_bytes())
    if damage == "cut":
        del data[5000:]
    elif damage == "footer":
        data[-300:-100] = b"\xff" * 200
    else:
        data[4:2000] = b"\xff" * 1996
    file.write_bytes(data)
    table = {"table": f"'{file}'", "function": f"read_parquet('{file}')", "list": f"read_parquet(['{file}'])"}[source]
    assert main(["sql", f"select * from {table}"]) == 1
    err = capfd.readouterr().err
    assert str(file) in err
    assert err.count("\n") == 1


def test_errors_of_queries_are_of_no_file(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("duckdb")
    pa.parquet.write_table(ROWS, folder / "a.parquet")
    assert main(["sql", "select other from 'a.parquet'"]) == 1
    assert capfd.readouterr().err.startswith("orcish: duckdb: Binder Error")


@pytest.fixture
def odd(folder: Path) -> str:
    """A file whose name is not UTF-8."""
    name = os.fsencode(folder) + b"/\xff.orc"
    os.link(folder / "a.orc", name)
    return os.fsdecode(name)


WITH_FILES: dict[str, list[Any]] = {
    **{name: [name, None] for name in READING},
    "layout": ["layout", None, "--json"],
    "diff": ["diff", None, "a.orc"],
    "diff to": ["diff", "a.orc", None],
    "merge": ["merge", "a.orc", None, "-o", "b.orc"],
    "merge to": ["merge", "a.orc", "-o", None],
    "rewrite": ["rewrite", None, "-o", "b.orc"],
    "rewrite in place": ["rewrite", None, "--in-place"],
    "rewrite to": ["rewrite", "a.orc", "-o", None],
    "recover": ["recover", None, "-o", "b.orc"],
    "convert": ["convert", None, "b.csv"],
    "convert to": ["convert", "a.orc", None],
    "delete": ["delete", None, "--where", "id = 1"],
    "sql": ["sql", "select * from t", "--table", None],
}


@pytest.mark.parametrize("command", WITH_FILES)
def test_names_that_are_not_utf8(command: str, odd: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One rule for all commands."""
    name = f"t={odd}" if command == "sql" else odd
    before = sorted(os.listdir(os.fsencode(folder)))
    assert main([name if each is None else each for each in WITH_FILES[command]]) in (1, 2)
    shown = odd.replace("\udcff", "\\xff")
    advice = "the name is not UTF-8: rename the file, or make a link to it"
    assert capfd.readouterr() == ("", f"orcish: {shown}: {advice}\n")
    assert sorted(os.listdir(os.fsencode(folder))) == before


@pytest.mark.parametrize("given", [["sql", "select 1 as '\udcff'"], ["data", "a.orc", "--where", "text = '\udcff'"]])
def test_arguments_that_are_not_utf8(given: list[str], folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(given) == 2
    shown = given[-1].replace("\udcff", "\\xff")
    assert capfd.readouterr() == ("", f"orcish: {shown}: the argument is not UTF-8\n")


@pytest.mark.parametrize("ending", ["orc", "csv", "jsonl.gz", "parquet", "arrow"])
def test_one_of_two_writers_of_a_target_wins(ending: str, folder: Path) -> None:
    given = [*ORCISH, "convert", "a.orc", f"b.{ending}"]
    both = [subprocess.Popen(given, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    told = [each.communicate()[1].decode() for each in both]
    assert sorted(each.returncode for each in both) == [0, 1]
    assert max(told).startswith(f"orcish: b.{ending}: ")
    assert sorted(path.name for path in folder.iterdir()) == ["a.orc", f"b.{ending}"]
    assert main(["convert", f"b.{ending}", "c.orc"]) == 0
    assert orcish.read_table("c.orc").equals(ROWS)


@pytest.mark.parametrize("end", ["from orcish.process import end_process as end", "from sys import exit as end"])
def test_the_process_ends_as_other_programs(end: str) -> None:
    """Threads and functions at exit are waited for, and what was printed is written."""
    code = (
        "import atexit, threading, time; atexit.register(print, 'at exit'); print('first'); "
        "threading.Thread(target=lambda: (time.sleep(0.3), print('thread'))).start()"
    )
    given = [sys.executable, "-c", f"{end}; {code}; end(3)"]
    around = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    done = subprocess.run(given, capture_output=True, text=True, check=False, env=around)
    assert (done.returncode, done.stdout, done.stderr) == (3, "first\nthread\nat exit\n", "")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(given, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=around)
    assert done.returncode == 120
    assert "No space left on device" in done.stderr
