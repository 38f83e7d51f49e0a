"""Hive writes files of zero bytes where there are no rows. Commands pass over those of tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest

COMMANDS: list[list[str]] = [
    ["schema", "t"],
    ["schema", "t", "--arrow"],
    ["schema", "t", "--spark"],
    ["json-schema", "t"],
    ["rewrite", "t", "-o", "b.orc"],
    ["stats", "t"],
    ["sizes", "t"],
    ["meta", "t"],
    ["check", "t"],
    ["compat", "t"],
    ["data", "t"],
    ["advise", "t"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Any, command: list[str]) -> None:
    """What commands print of the table is what they print of its only other file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t").mkdir()
    orcish.write_table(pa.table({"id": [1, 2], "s": ["a", "b"]}), tmp_path / "t" / "b.orc")
    code, lines, err = run(*command)
    assert (code, err) == (0, "")
    for name in ("a.orc", "c.orc"):
        (tmp_path / "t" / name).touch()
    found = run(*command, *(["--existing-data=overwrite"] if command[0] == "rewrite" else []))
    assert (found[0], found[2]) == (0, "")
    if command[0] != "advise":
        assert found[1] == lines


@pytest.mark.parametrize("command", ["schema", "meta", "stats", "check"])
def test_single_files(tmp_path: Path, run: Any, command: str) -> None:
    (tmp_path / "a.orc").touch()
    code, _, err = run(command, tmp_path / "a.orc")
    assert code != 0
    assert "not an ORC file" in err
