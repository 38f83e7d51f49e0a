"""Filters with literals that the type of a table does not hold: files whose own type holds them give rows or an error."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import orcish
import pyarrow as pa
import pytest
from orcish_cli import main
from support.case_loops import each_case

FILES = {
    "scale": (pa.array([Decimal("1.00")], pa.decimal128(5, 2)), pa.array([Decimal("12345.6789")], pa.decimal128(9, 4))),
    "precision": (pa.array([Decimal("1.0")], pa.decimal128(3, 1)), pa.array([Decimal("10.25")], pa.decimal128(9, 2))),
}
FILTERS = {
    "scale": ["x = 12345.6789", "x in (12345.6789)", "x = 12345.6789 or x = 77", "x > 12345.6788 and x < 12345.679"],
    "precision": ["x = 10.25", "x >= 10.25", "x in (10.25, 3)"],
}
CASES = [(name, where) for name, filters in FILTERS.items() for where in filters]


@each_case(("name", "where"), CASES)
@each_case("command", ["count", "data", "tail", "sample", "scan", "explain", "delete", "convert"])
def test_no_row_is_hidden(
    command: str, name: str, where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "t"
    table.mkdir()
    for at, values in enumerate(FILES[name]):
        orcish.write_table(pa.table({"x": values}), table / f"{at}.orc")
    target = [str(tmp_path / "made.jsonl")] if command == "convert" else []
    code = main([command, str(table), *target, *([] if command == "convert" else ["--json"]), "--where", where])
    out, err = capsys.readouterr()
    if code:
        assert "1.orc" in err
        assert "x" in err
        assert [orcish.ORCFile(path).num_rows for path in sorted(table.glob("*.orc"))] == [1, 1]
        return
    found = [] if command == "convert" else [json.loads(line) for line in out.splitlines()]
    counted = {
        "count": lambda: sum(line["rows"] for line in found),
        "scan": lambda: sum(line["rows"] for line in found),
        "delete": lambda: sum(line["rows"] for line in found),
        "convert": lambda: len((tmp_path / "made.jsonl").read_text().splitlines()),
        "explain": lambda: sum(line["rows_read"] for line in found),
    }
    assert counted.get(command, lambda: len(found))() == 1
