"""``orcish meta --row-index`` and ``--bloom``."""

from __future__ import annotations

import json
from pathlib import Path

import orcish
import pyarrow as pa
import pytest
from orcish_cli import main
from support.carbon import CarbonTableWriter

NAME = "a\x1b[31mz"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rows = pa.table({"id": range(2500), NAME: [f"t{number}" for number in range(2500)]})
    orcish.write_table(rows, tmp_path / "a.orc", row_index_stride=1000, bloom_filter_columns=["id"])
    return tmp_path / "a.orc"


def test_row_groups(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON and text say what the file says."""
    groups = orcish.ORCFile(path).row_groups("id")
    assert main(["meta", str(path), "--row-index", f"id,{NAME}", "--bloom", "id", "--json"]) == 0
    described = json.loads(capsys.readouterr().out)
    entries = described["row_index"]["id"]
    assert [(each["stripe"], each["group"], each["first_row_in_stripe"], each["rows"]) for each in entries] == [
        (0, 0, 0, 1000),
        (0, 1, 1000, 1000),
        (0, 2, 2000, 500),
    ]
    assert [each["statistics"]["min"] for each in entries] == [0, 1000, 2000]
    assert [each["positions"] for each in entries] == [group.positions for group in groups]
    assert len(described["row_index"][NAME]) == 3
    for found, group in zip(described["bloom_filters"]["id"], groups, strict=True):
        assert group.bloom_filter is not None
        assert (found["bits"], found["bits_set"]) == (group.bloom_filter.bits, group.bloom_filter.bits_set)
    assert main(["meta", str(path), "--row-index", f"id,{NAME}", "--bloom", f"id,{NAME}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("Row index of id")
    assert lines[at + 4].split()[:4] == ["0", "1", "1,000", "1,000"]
    assert "Row index of a\\x1b[31mz" in lines
    assert "Bloom filters of a\\x1b[31mz: none" in lines
    at = lines.index("Bloom filters of id")
    assert "BLOOM_FILTER_UTF8" in lines[at + 3]
    assert not any("\x1b" in line for line in lines)


@pytest.mark.parametrize("option", ["--row-index", "--bloom"])
def test_errors(option: str, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["meta", str(path), option, "none"]) == 1
    assert "none" in capsys.readouterr().err
    table = CarbonTableWriter(tmp_path / "t", pa.schema([("id", pa.int32())]))
    table.load(pa.table({"id": pa.array([1], pa.int32())}))
    assert main(["meta", str(table.path), option, "id"]) == 1
    assert f"{option} is of ORC files" in capsys.readouterr().err
