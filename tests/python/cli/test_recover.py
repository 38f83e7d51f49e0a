"""``orcish recover`` of files; that of tables is tested with the other commands of tables."""

from __future__ import annotations

import json
from pathlib import Path

import orcish
import pyarrow as pa
import pytest
from orcish.terminal import printable
from orcish_cli import main
from support.small_tables import in_stripes

ROWS = pa.table({"id": range(4000), "text": [f"t{number}" for number in range(4000)]})


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    return in_stripes(tmp_path / "whole.orc", ROWS, 1000)


def test_a_torn_file(whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stripe = orcish.ORCFile(whole).stripes[2]
    torn, new = tmp_path / "torn\x1b[31m.orc", tmp_path / "new.orc"
    torn.write_bytes(whole.read_bytes()[: stripe.offset + 100])
    assert main(["recover", str(torn), "--dry-run"]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert printable(str(torn)) in err
    assert "no valid tail" in err
    assert main(["recover", str(torn), "--like", str(whole)]) == 1
    out, err = capsys.readouterr()
    assert "2,000 rows in 2 stripes can be read" in out
    assert f"lost: bytes {stripe.offset:,} to {stripe.offset + 100:,}, an unknown number of rows: " in out
    assert "\x1b" not in out
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([torn.name, "whole.orc"])
    assert main(["recover", str(torn), "--like", str(whole), "-o", str(new), "--json"]) == 1
    described = json.loads(capsys.readouterr().out)
    assert (described["rows"], described["stripes"], described["tail_end"], described["written"]) == (
        2000,
        2,
        None,
        str(new),
    )
    assert orcish.read_table(new).equals(ROWS.slice(0, 2000))


def test_a_whole_file(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recover", str(whole), "--dry-run"]) == 0
    assert "nothing is lost" in capsys.readouterr().out


def test_a_file_that_goes_on_behind_its_tail(whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, first = whole.read_bytes(), orcish.ORCFile(whole).stripes[0]
    length = first.index_length + first.data_length + first.footer_length
    (tmp_path / "torn.orc").write_bytes(file + file[3 : 3 + length] + file[3:50])
    assert main(["recover", str(tmp_path / "torn.orc"), "-o", str(tmp_path / "new.orc")]) == 1
    out = capsys.readouterr().out
    assert "5,000 rows in 5 stripes can be read" in out
    assert f"the last tail ends at byte {len(file):,}" in out
    assert "1 of the stripes are listed by no tail" in out
    assert orcish.ORCFile(tmp_path / "new.orc").num_rows == 5000


def test_arguments_of_tables_and_files(whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recover", str(tmp_path), "--undo", "--like", str(whole)]) == 2
    assert "--like is of files, and --undo of tables" in capsys.readouterr().err
    assert main(["recover", str(tmp_path / "none.orc"), "--dry-run"]) == 2
    assert "none.orc" in capsys.readouterr().err
    assert main(["recover", str(whole), "--dry-run", "-o", str(tmp_path / "new.orc")]) == 2
    assert "--dry-run writes no file" in capsys.readouterr().err
    # Without an option of files, it is the command of tables.
    assert main(["recover", str(whole)]) == 2
    assert "is a file, and no folder: `orcish recover " in capsys.readouterr().err
    assert not (tmp_path / "new.orc").exists()


@pytest.mark.parametrize("how", ["--dry-run", "-o"])
@pytest.mark.parametrize("json", [[], ["--json"]], ids=str)
def test_the_exit_code_says_whether_anything_is_saved(how: str, json: list[str], whole: Path, tmp_path: Path) -> None:
    """``--dry-run`` has the code of the command that writes."""
    for length, code in ((40, 2), (whole.stat().st_size - 10, 1), (whole.stat().st_size, 0)):
        (tmp_path / "torn.orc").write_bytes(whole.read_bytes()[:length])
        given = [how] if how == "--dry-run" else [how, str(tmp_path / f"{length}.orc")]
        assert main(["recover", str(tmp_path / "torn.orc"), "--like", str(whole), *given, *json]) == code, length
