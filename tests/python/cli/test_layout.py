"""The command ``orcish layout``."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.cli import main
from support.s3_store import BUCKET

CORRUPT = pathlib.Path(__file__).parents[2] / "data" / "corrupt"


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    orcish.write_table(pa.table({"id": range(5000), "k": [1] * 5000}), tmp_path / "a.orc")
    return tmp_path / "a.orc"


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    code = main(["layout", *map(str, arguments)])
    return code, *capsys.readouterr()


def test_page(path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = path.with_name("report.html")
    code, out, err = run(capsys, path, "-o", report)
    assert (code, err) == (0, "")
    assert out == f"{report}: 1 files, {path.stat().st_size:,} bytes, 3 columns\n"
    assert report.read_text("ascii").startswith("<!DOCTYPE html>")


def test_json(path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, path, "--json", "--distinct")
    assert (code, err) == (0, "")
    (line,) = map(json.loads, out.splitlines())
    assert [column["path"] for column in line["columns"]] == ["(root)", "id", "k"]
    assert line["columns"][2]["distinct"] == 1


def test_several_files_of_which_one_fails(path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = path.with_name("report.html")
    bad = CORRUPT / "footer-garbage.orc"
    code, out, err = run(capsys, path, bad, "-o", report)
    assert (code, out.partition(": ")[2].partition(",")[0]) == (1, "1 files")
    assert str(bad) in err
    assert bad.name in report.read_text("ascii")
    report.unlink()
    code, out, err = run(capsys, bad, "-o", report)
    assert (code, out) == (1, "")
    assert not report.exists()


def test_errors(path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, path)
    assert (code, "-o report.html" in err) == (2, True)
    data = path.read_bytes()
    code, _, err = run(capsys, path, "-o", path)
    assert (code, "is an ORC file: the page needs another name" in err) == (1, True)
    assert path.read_bytes() == data
    code, _, err = run(capsys, path, "-o", "s3://user:secret@bucket/r.html")
    assert (code, "is written to a local path" in err, "secret" in err) == (1, True, False)
    code, _, err = run(capsys, path, "--json", "--lookup", "id")
    assert (code, "are of --advise" in err) == (2, True)
    code, _, err = run(capsys, path.with_name("none.orc"), "-o", path.with_name("r.html"))
    assert (code, "none.orc" in err) == (1, True)
    code, _, err = run(capsys, path, "-o", path.parent / "no folder" / "r.html")
    assert (code, "no folder" in err) == (1, True)


def test_names_of_files_are_escaped_on_the_terminal(path: pathlib.Path) -> None:
    odd = path.with_name("\x1b[31m.orc")
    path.rename(odd)
    command = [sys.executable, "-m", "orcish", "layout", str(odd), "-o", str(path.with_name("\x1b[32m.html"))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "\x1b" not in done.stdout
    assert "\\x1b[32m.html" in done.stdout


def test_store(store: Any, path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"s3://{BUCKET}/t/a.orc"
    orcish.write_table(pa.table({"id": [1]}), url, storage_options=store.options)
    pairs = [f"--storage-option={name}={value}" for name, value in store.options.items()]
    code, out, err = run(capsys, url, "--json", *pairs)
    assert (code, err) == (0, "")
    assert json.loads(out)["rows"] == 1
