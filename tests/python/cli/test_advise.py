"""The command ``orcish advise``."""

from __future__ import annotations

import json
import pathlib
import random

import orcish
import pyarrow as pa
import pytest
from orcish.terminal import printable
from support.processes import ORCISH, Run
from support.terminals import on_terminal

CORRUPT = pathlib.Path(__file__).parents[2] / "data" / "corrupt"
FEW = ("--runs", 1, "--sample-size", "400KB")


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    chance = random.Random(5)
    texts = [[f"{chance.getrandbits(bits):x}" for _ in range(20_000)] for bits in (64, 256)]
    data = pa.table({"id": range(20_000), "\x1b[31mkey": texts[0], "more": texts[1]})
    orcish.write_table(data, tmp_path / "a.orc", row_index_stride=1000)
    return tmp_path / "a.orc"


def test_text(path: pathlib.Path, run: Run) -> None:
    code, lines, err = run("advise", path, "--lookup", "\x1b[31mkey", "--where", "id < 5", *FEW)
    assert (code, err) == (0, "")
    assert lines[0] == str(path)
    assert lines[1].startswith("Sample: ")
    assert not any("\x1b" in line for line in lines)
    assert any(line.startswith("*  bloom filter: \\x1b[31mkey") for line in lines)
    assert any(line.startswith("Rows that filters look at") for line in lines)
    assert lines[lines.index("Advised:") + 1].startswith(f"  orcish rewrite {path} ")


def test_terminal(path: pathlib.Path) -> None:
    """A terminal shows a bar on the way, and the table at the end."""
    code, text = on_terminal(ORCISH, "advise", path, *FEW)
    assert code == 0
    assert "%" in text
    assert "compression: lz4" in text
    assert "\\x1b[31mkey" in text
    assert "\x1b[31mkey" not in text


def test_json(path: pathlib.Path, run: Run) -> None:
    code, out, err = run("advise", path, path, "--json", *FEW)
    assert (code, err) == (0, "")
    first, second = map(json.loads, out)
    assert first["file"] == str(path)
    assert first["stripes"] == second["stripes"]
    assert [trial["bytes"] for trial in first["trials"]][:5] == [trial["bytes"] for trial in second["trials"]][:5]


def test_a_file_that_fails_does_not_end_the_others(path: pathlib.Path, run: Run) -> None:
    code, out, err = run("advise", CORRUPT / "footer-garbage.orc", path, "--json", *FEW)
    assert (code, len(out)) == (1, 1)
    assert "footer-garbage.orc" in err
    code, _, err = run("advise", path, "--lookup", "kex")
    assert (code, err.count("\n")) == (1, 1)
    assert f'{printable(str(path))}: lookup: no column is named "kex"; nearest: ' in err


def test_layout_with_advice(path: pathlib.Path, run: Run) -> None:
    code, out, err = run("layout", path, "--json", "--advise", "--lookup", "id", *FEW)
    assert (code, err) == (0, "")
    advice = json.loads(out[0])["advice"]
    assert advice["rows"] == json.loads(json.dumps(advice))["rows"] > 0
    assert {each["filters"] for trial in advice["trials"] for each in trial["lookups"]} >= {"id"}
