"""The commands, on tables of CarbonData."""

import json

import orcish
import pyarrow as pa
import pytest
from orcish_cli import main
from support.carbon import CarbonTableWriter

TABLE = pa.table({"id": pa.array(range(50), pa.int64()), "city": [f"city {i % 2}" for i in range(50)]})


@pytest.fixture
def sales(tmp_path):
    written = CarbonTableWriter(tmp_path / "sales", TABLE.schema, sort_columns=("id",), partition_by=("city",))
    written.load(TABLE)
    written.load(TABLE)
    written.mark("1", "Marked for Delete")
    return str(written.path)


@pytest.fixture
def run(capsys):
    def run(*arguments, code=0):
        assert main(list(arguments)) == code
        out, err = capsys.readouterr()
        assert bool(err) == bool(code)
        return err if code else out

    return run


def test_meta_of_a_table(sales, run):
    text = run("meta", sales)
    assert "Kind               table of CarbonData" in text
    assert "Rows               50" in text
    assert "Partition columns  city" in text
    assert "Marked for Delete" in text
    assert "id: int64" in text
    described = json.loads(run("meta", sales, "--json"))
    assert described["rows"] == 50
    assert [segment["is_readable"] for segment in described["segments"]] == [True, False]
    assert described["segments"][0]["started"].endswith("Z")
    assert [column["name"] for column in described["columns"]] == ["id", "city"]
    assert "--statistics" in run("meta", sales, "--statistics", code=1)


def test_meta_of_a_file(sales, run):
    (first, *_) = orcish.CarbonTable(sales).files
    text = run("meta", first)
    assert "Format version     3" in text
    assert "Blocklets" in text
    described = json.loads(run("meta", first, "--json"))
    assert described["rows"] == 25
    assert described["blocklets"][0]["rows"] == 25


def test_data(sales, run):
    lines = run("data", sales, "-n", "3", "-c", "id").splitlines()
    assert lines[0].split() == ["id"]
    assert len(lines) == 5
    found = [json.loads(line) for line in run("data", sales, "--all", "--json").splitlines()]
    assert sorted(row["id"] for row in found) == list(range(50))
    assert "--stripe" in run("data", sales, "--stripe", "0", code=2)
    assert "nothing" in run("data", sales, "-c", "nothing", code=1)
    for option in (
        ["--invalid-utf8", "replace"],
        ["--long-char", "cut"],
        ["--decimal-out-of-range", "null"],
        ["--timestamps", "instant"],
        ["--timezone", "Europe/Berlin"],
        ["--masked"],
    ):
        assert option[0] in run("data", sales, *option, code=2)


def test_convert(sales, run, tmp_path):
    target = str(tmp_path / "orc")
    assert run("convert", sales, target).startswith("50 rows in 2 files, ")
    assert sorted(path.name for path in (tmp_path / "orc").glob("city=*")) == ["city=city 0", "city=city 1"]
    assert "append" in run("convert", sales, target, code=1)
    options = [
        "--where",
        "id < 10",
        "--columns",
        "id",
        "--compression",
        "zlib",
        "--max-rows-per-file",
        "5",
        "--existing-data",
        "overwrite",
    ]
    lines = [json.loads(line) for line in run("convert", sales, target, *options, "--json").splitlines()]
    assert [line["rows"] for line in lines] == [5, 5]
    assert orcish.ORCFile(lines[0]["file"]).compression == "zlib"
    assert run("convert", sales, target, "--existing-data", "append", "--partition-by", "", "-c", "id").startswith(
        "50 rows in 1 files"
    )
    assert orcish.read_table(target).num_rows == 60
    assert "id <" in run("convert", sales, target, "--existing-data", "append", "--where", "id <", code=2)
    for option in ("timestamps", "timezone"):
        value = {"timestamps": "instant", "timezone": "Europe/Berlin"}[option]
        assert option in run("convert", sales, target, "--existing-data", "overwrite", f"--{option}", value, code=2)
