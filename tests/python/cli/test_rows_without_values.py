"""ORC files of a few bytes with more rows than memory holds."""

from __future__ import annotations

import random
import resource
import subprocess

import orcish
import pytest
from orcish.reading import parts
from support.orc_builder import STRUCT, column_type, orc
from support.processes import ORCISH

ROWS = 2**62


@pytest.fixture
def file(tmp_path):
    """An ORC file without columns."""
    path = tmp_path / "many.orc"
    path.write_bytes(orc([column_type(STRUCT)], [(ROWS, [])]))
    return path


def test_a_sample(file, run):
    assert orcish.ORCFile(file).num_rows == ROWS
    code, _, err = run("sample", file, "--fraction", "0.5")
    assert code == 1
    assert f"{ROWS // 2:,} rows" in err
    assert orcish.sample(file, 3).num_rows == 3


def test_advice_ends(file, run):
    code, lines, _ = run("advise", file, "--sample-size", "1MiB")
    assert code == 0
    assert lines


@pytest.mark.parametrize("target", ["parquet", "csv"])
def test_formats_without_such_rows(target, file, tmp_path, run):
    code, _, err = run("convert", file, tmp_path / f"a.{target}")
    assert code == 1
    assert "no rows without columns" in err
    assert not (tmp_path / f"a.{target}").exists()


@pytest.mark.parametrize("command", [["convert", "many.orc", "a.jsonl"], ["data", "many.orc", "--json"]])
def test_lines_in_bounded_memory(command, file):
    if command[0] == "data":
        command = [*command, "--limit", "1000000"]
    ran = subprocess.Popen(
        [*ORCISH, *command],
        cwd=file.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)),
    )
    try:
        _, err = ran.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        ran.kill()
        _, err = ran.communicate()
    assert b"Error" not in err


def test_positions_of_many_rows(monkeypatch):
    monkeypatch.setattr(parts, "MAX_LIST", 10)
    counts = [0] * 40
    for seed in range(400):
        found = list(parts._positions(random.Random(seed), 40, 20))
        assert found == sorted(set(found))
        assert len(found) == 20
        for at in found:
            counts[at] += 1
    assert min(counts) > 140
    assert max(counts) < 260
    assert list(parts._positions(random.Random(1), 40, 40)) == list(range(40))
