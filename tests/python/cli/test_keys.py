"""The option ``--keys`` of commands that read rows."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import orcish
import pytest
from support.case_loops import each_case

FILE = str(pathlib.Path(__file__).parents[2] / "data" / "masked.zstd.orc")
KEY = bytes(range(16)).hex()
NAMES = [f"name {at}" for at in range(10)]


@pytest.fixture
def place(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"secret@0": KEY}))
    return f"file:{path}"


def test_rows_are_printed_with_keys(run: Any, place: str) -> None:
    code, lines, _ = run("data", FILE, "--keys", place, "--json")
    assert code == 0
    assert [json.loads(line)["name"] for line in lines] == NAMES
    assert run("count", FILE, "--filters", "name = 'name 3'", "--keys", place)[1][-1].split()[-1] == "1"


def test_rows_are_converted_with_keys(run: Any, place: str, tmp_path: pathlib.Path) -> None:
    code, _, err = run("convert", FILE, tmp_path / "plain", "--keys", place)
    assert code == 0, err
    assert orcish.read_table(tmp_path / "plain")["name"].to_pylist() == NAMES


@each_case("text", ["0001020304", "file:", "env:", "other:place", "python:no_module_of_this_name:keys", f"hex:{KEY}"])
def test_a_key_is_no_argument(run: Any, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run("data", FILE, "--keys", text)
    assert ended.value.code == 2
    assert KEY not in capsys.readouterr().err


def test_a_missing_key_is_named(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_KEYS", "{}")
    code, _, err = run("data", FILE, "--keys", "env:NO_KEYS")
    assert code == 1
    assert "secret@0, which is missing" in err
