"""A file and a folder with partitions are one table with the columns of the first one, or an error that names both."""

from __future__ import annotations

from pathlib import Path

import orcish
import pyarrow as pa
import pytest

ROWS = pa.table({"id": [1, 2, 3], "day": [1, 1, 2]})
READING = ["data", "head", "tail", "sample"]
WRITING = [
    ["convert", "new.orc"],
    ["convert", "new.csv"],
    ["convert", "new"],
    ["rewrite", "new.orc"],
    ["rewrite", "new"],
]


@pytest.fixture(autouse=True)
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    orcish.write_dataset(ROWS, "t", partition_by=["day"])
    orcish.write_table(ROWS.select(["id"]), "a.orc")
    orcish.write_table(ROWS, "whole.orc")
    # The columns of rows are those of the first file that has any.
    Path("late").mkdir()
    orcish.write_table(ROWS, "late/1.orc")
    Path("late/0.orc").touch()


def _written(command: list[str], *options: str) -> list[str]:
    name, target = command
    return [name, "a.orc", "t", *(["-o"] if name == "rewrite" else []), target, *options]


@pytest.mark.parametrize("command", READING)
def test_columns_of_the_first_one(command, rows):
    found = rows(command, "a.orc", "t")
    assert sorted(each["id"] for each in found) == [1, 1, 2, 2, 3, 3]
    assert all(each.keys() == {"id"} for each in found)
    assert orcish.scan(["a.orc", "t"]).count() == 6


@pytest.mark.parametrize("command", [*READING, "count", "scan"])
def test_what_contradicts_names_both(command, run):
    for first, other in (("t", "a.orc"), ("whole.orc", "t"), ("late", "t")):
        code, _, err = run(command, first, other)
        if command in ("count", "scan"):
            assert (code, err) == (0, "")
            continue
        assert code == 1
        assert first in err
        assert other in err
        assert "read them one by one" in err


@pytest.mark.parametrize("command", WRITING, ids=" ".join)
def test_rows_that_are_written_lose_no_column(command, run):
    code, _, err = run(*_written(command))
    assert code == 1
    assert "t has the partition columns day, and a.orc has not: write them one by one" in err
    assert not Path(command[1]).exists()
    assert run(*_written(command, "-c", "id"))[0] == 0
    if command[1] != "new.csv":
        assert sorted(orcish.read_table(command[1])["id"].to_pylist()) == [1, 1, 2, 2, 3, 3]
