"""The command explain: rows that a read finds are not said to be skipped, and what is not known is not counted."""

from __future__ import annotations

import json

import orcish
import pyarrow as pa
import pyarrow.orc as po
import pytest
from support.carbon_apache import table_path, tables


@pytest.fixture
def table(tmp_path):
    folder = tmp_path / "table"
    folder.mkdir()
    for name in "abc":
        orcish.write_table(pa.table({"id": range(10)}), folder / f"{name}.orc")
    return folder


@pytest.mark.parametrize("condition", ["id = 1.5", "false", "id = 1.5 and id > 3", "false and id = 1.5"])
def test_a_filter_that_is_never_true(condition, table, run):
    code, lines, _ = run("explain", table, "--where", condition)
    # Files whose own types may have the value are opened.
    skipped = "3 of 3 files skipped" if "false" in condition else "30 of 30 rows skipped, 3 of 3 stripes"
    assert (code, lines[0]) == (0, skipped)
    assert "partition" not in "\n".join(lines)


@pytest.mark.parametrize(("limit", "read"), [(0, 0), (1, 10), (5, 10), (10, 10), (11, 20), (30, 30), (99, 30)])
@pytest.mark.parametrize("where", [[], ["--where", "id >= 0"]])
def test_limits(limit, read, where, table, run):
    code, lines, _ = run("explain", table, "-n", limit, *where, "--json")
    plan = json.loads(lines[0])
    assert (code, plan["rows_read"]) == (0, read)
    assert len(plan["files"]) == 3
    assert str(orcish.ORCFile(table / "a.orc").explain(limit=limit)).startswith(f"{10 if limit else 0} rows")


def test_a_limit_of_rows_that_may_not_pass(table, run):
    assert json.loads(run("explain", table, "-n", 1, "--where", "id = 3", "--json")[1][0])["rows_read"] == 30


def test_digits(tmp_path, run):
    base = 1500000000_000000000
    po.write_table(pa.table({"t": pa.array([base + 1, base + 999], pa.timestamp("ns"))}), tmp_path / "n.orc")
    condition = "t > timestamp '2017-07-14 02:40:00.000000001'"
    assert run("explain", tmp_path / "n.orc", "--where", condition)[1][0].startswith("0 of 2 rows skipped")


@pytest.mark.parametrize("name", tables())
def test_rows_of_carbondata_are_bounded_or_not_counted(name, run):
    try:
        rows = orcish.scan(table_path(name)).to_table().num_rows
    except (FileNotFoundError, orcish.OrcishError) as error:
        pytest.skip(str(error))
    (text,) = run("explain", table_path(name), "--json")[1]
    plan = json.loads(text)
    uncounted = [file for file in plan["files"] if not file["is_counted"]]
    assert uncounted or plan["rows_read"] >= rows
    assert ("whose rows" in run("explain", table_path(name))[1][1]) == bool(uncounted)
