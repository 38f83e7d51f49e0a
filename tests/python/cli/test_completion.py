"""What shells complete."""

from __future__ import annotations

import os
import subprocess
import sys

import orcish
import pyarrow as pa
import pytest
from orcish_cli.readers.facts import READERS

pytest.importorskip("argcomplete")


@pytest.fixture
def completed(tmp_path):
    orcish.write_table(pa.table({"id": [1], "c": [{"n": 1}], "idle": [2]}), tmp_path / "a.orc")
    (tmp_path / "broken.orc").write_bytes(b"x")

    def completed(line: str) -> set[str]:
        output = tmp_path / "out"
        output.write_text("")
        given = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE_SHELL": "fish"}
        environment = {**os.environ, **given, "_ARGCOMPLETE_STDOUT_FILENAME": str(output), "_ARGCOMPLETE_IFS": "\n"}
        command = [sys.executable, "-m", "orcish"]
        subprocess.run(command, env=environment, cwd=tmp_path, check=True, capture_output=True)
        return {each.strip() for each in output.read_text().splitlines()}

    return completed


@pytest.mark.parametrize(
    "line",
    [
        "orcish data a.orc -c ",
        "orcish stats a.orc --columns ",
        "orcish rewrite a.orc --sort-by ",
        "orcish diff a.orc a.orc --key ",
        "orcish meta a.orc --bloom ",
    ],
)
def test_columns_of_the_files_in_front(line, completed):
    assert completed(line) == {"id", "c", "c.n", "idle"}
    assert completed(f"{line}id") == {"id", "idle"}
    assert completed(f"{line}c.n,id") == {"c.n,id", "c.n,idle"}


def test_no_columns(completed):
    assert not completed("orcish data broken.orc -c ")
    assert not completed("orcish data s3://b/a.orc -c ")


def test_readers(completed):
    known = {reader.id for reader in READERS}
    assert completed("orcish compat a.orc -r ") == known
    assert completed("orcish compat a.orc -r spark3,hiv") == {
        f"spark3,{each}" for each in known if each.startswith("hiv")
    }


def test_files(completed):
    assert "a.orc" in completed("orcish data ")
