"""Commands that would do nothing, or something else, say so: by exit code, message or object."""

from __future__ import annotations

import json
from pathlib import Path

import orcish
import pyarrow as pa
import pyarrow.parquet
import pytest
from support.carbon import CarbonTableWriter

ROWS = pa.table({"id": [1, 2, 3], "day": [1, 1, 2]})
READING = [
    ["data", "a.orc"],
    ["head", "a.orc"],
    ["tail", "a.orc"],
    ["sample", "a.orc"],
    ["count", "a.orc"],
    ["scan", "a.orc"],
    ["explain", "a.orc", "--where", "id > 1"],
    ["sql", "select * from 'a.orc'"],
    ["convert", "a.orc", "new.orc"],
    ["convert", "a.orc", "new.csv"],
    ["convert", "a.orc", "new"],
    ["rewrite", "a.orc", "-o", "new.orc"],
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    orcish.write_table(ROWS, "a.orc")


@pytest.mark.parametrize("command", READING, ids=" ".join)
@pytest.mark.parametrize("more", [[], ["--timestamps", "wall"]], ids=str)
def test_a_time_zone_is_of_instants(command, more, run):
    code, lines, err = run(*command, "--timezone", "UTC", *more)
    assert (code, lines) == (2, [])
    assert "--timezone is of --timestamps instant" in err
    assert not any(Path().glob("new*"))
    assert run(*command, "--timezone", "UTC", "--timestamps", "instant")[0] == 0


def test_recover_of_a_file_names_the_option(run):
    code, lines, err = run("recover", "a.orc")
    assert (code, lines) == (2, [])
    assert "recover a.orc -o TARGET" in err


@pytest.fixture
def carbon() -> str:
    writer = CarbonTableWriter(Path("carbon"), pa.schema([("id", pa.int64())]))
    writer.load(pa.table({"id": [1]}))
    return "carbon"


@pytest.mark.parametrize("command", ["compact", "delete", "vacuum", "history", "recover", "json-schema"])
def test_carbon_is_refused_by_name(command, carbon, run):
    code, lines, err = run(command, carbon, *(["--where", "id > 1"] if command == "delete" else []))
    assert (code, lines) == (1, [])
    assert f"{carbon}" in err
    assert "CarbonData" in err


@pytest.mark.parametrize("files", [1, 2])
def test_compact_of_another_format_is_an_error(files, run):
    Path("p").mkdir()
    for number in range(files):
        pa.parquet.write_table(ROWS, f"p/{number}.parquet")
    code, lines, err = run("compact", "p")
    assert (code, lines) == (1, [])
    assert "p/0.parquet" in err
    assert "Parquet" in err


def test_compact_without_work_prints_an_object(run):
    orcish.write_dataset(ROWS, "t")
    code, (line,), err = run("compact", "t", "--json")
    assert (code, err) == (0, "")
    assert json.loads(line) == {"action": "nothing", "files": 0, "rows": 0, "bytes_before": 0, "bytes_after": 0}


class TestTablesWithoutRows:
    @pytest.fixture(autouse=True)
    def table(self) -> None:
        orcish.write_dataset(ROWS, "t", partition_by=["day"])
        self.before = orcish.scan("t").files
        orcish.delete("t", "true")

    def test_sizes_have_no_file(self, run):
        code, (line,), _ = run("sizes", "t", "--json")
        found = json.loads(line)
        assert (code, found["files"], found["bytes"], found["columns"]) == (0, 0, 0, [])
        assert not any(found["overhead"].values())
        assert run("sizes", "t")[1][0] == "0 files, 0 rows, 0 stripes, 0 bytes"

    def test_statistics_are_of_the_columns_of_files(self, rows, run):
        orcish.write_dataset(ROWS, "u", partition_by=["day"])
        assert [each["column"] for each in rows("stats", "t")] == [each["column"] for each in rows("stats", "u")]
        for table in ("t", "u"):
            code, _, err = run("stats", table, "-c", "day")
            assert code == 1
            assert "column day is a partition column" in err

    def test_merge_says_that_there_are_no_rows(self, run):
        code, _, err = run("merge", "t", "-o", "new.orc")
        assert code == 1
        assert "t: a table without rows has no stripes" in err
        assert run("merge", "t", "a.orc", "-o", "new.orc")[0] == 0
        assert orcish.read_table("new.orc").equals(ROWS)
