"""The command ``orcish layout``."""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import Any

import orcish
import pyarrow as pa
import pytest
from support.processes import ORCISH, Run
from support.s3_store import BUCKET

CORRUPT = pathlib.Path(__file__).parents[2] / "data" / "corrupt"


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    orcish.write_table(pa.table({"id": range(5000), "k": [1] * 5000}), tmp_path / "a.orc")
    return tmp_path / "a.orc"


def test_page(path: pathlib.Path, run: Run) -> None:
    report = path.with_name("report.html")
    code, out, err = run("layout", path, "-o", report)
    assert (code, err) == (0, "")
    assert out == [f"{report}: 1 files, {path.stat().st_size:,} bytes, 3 columns"]
    assert report.read_text("ascii").startswith("<!DOCTYPE html>")


def test_json(path: pathlib.Path, run: Run) -> None:
    code, out, err = run("layout", path, "--json", "--distinct")
    assert (code, err) == (0, "")
    (line,) = map(json.loads, out)
    assert [column["path"] for column in line["columns"]] == ["(root)", "id", "k"]
    assert line["columns"][2]["distinct"] == 1


def test_several_files_of_which_one_fails(path: pathlib.Path, run: Run) -> None:
    report = path.with_name("report.html")
    bad = CORRUPT / "footer-garbage.orc"
    code, out, err = run("layout", path, bad, "-o", report)
    assert (code, out[0].partition(": ")[2].partition(",")[0]) == (1, "1 files")
    assert str(bad) in err
    assert bad.name in report.read_text("ascii")
    report.unlink()
    code, out, err = run("layout", bad, "-o", report)
    assert (code, out) == (1, [])
    assert not report.exists()


def test_errors(path: pathlib.Path, run: Run) -> None:
    code, _, err = run("layout", path)
    assert (code, "-o report.html" in err) == (2, True)
    data = path.read_bytes()
    code, _, err = run("layout", path, "-o", path)
    assert (code, "is an ORC file: the page needs another name" in err) == (1, True)
    assert path.read_bytes() == data
    code, _, err = run("layout", path, "-o", "s3://user:secret@bucket/r.html")
    assert (code, "is written to a local path" in err, "secret" in err) == (1, True, False)
    code, _, err = run("layout", path, "--json", "--lookup", "id")
    assert (code, "are of --advise" in err) == (2, True)
    code, _, err = run("layout", path.with_name("none.orc"), "-o", path.with_name("r.html"))
    assert (code, "none.orc" in err) == (1, True)
    code, _, err = run("layout", path, "-o", path.parent / "no folder" / "r.html")
    assert (code, "no folder" in err) == (1, True)


def test_names_of_files_are_escaped_on_the_terminal(path: pathlib.Path) -> None:
    odd = path.with_name("\x1b[31m.orc")
    path.rename(odd)
    command = [*ORCISH, "layout", str(odd), "-o", str(path.with_name("\x1b[32m.html"))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "\x1b" not in done.stdout
    assert "\\x1b[32m.html" in done.stdout


def test_store(store: Any, path: pathlib.Path, run: Run) -> None:
    url = f"s3://{BUCKET}/t/a.orc"
    orcish.write_table(pa.table({"id": [1]}), url, storage_options=store.options)
    pairs = [f"--storage-option={name}={value}" for name, value in store.options.items()]
    code, out, err = run("layout", url, "--json", *pairs)
    assert (code, err) == (0, "")
    assert json.loads(out[0])["rows"] == 1
