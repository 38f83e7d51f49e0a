"""A column ``a.b`` and the field ``b`` of a column ``a``: each command takes the one that is meant."""

from __future__ import annotations

import json

import orcish
import pyarrow as pa
import pytest

ROWS = [{"id": 1, "a.b": 9, "a": {"b": 7}}, {"id": 2, "a.b": 0, "a": {"b": 9}}]
MEANT = {"`a.b`": "a.b", "`a`.`b`": ("a", "b"), "a.b": ("a", "b"), "a.`b`": ("a", "b")}
"""How names are written, and what they mean."""
READS = ["data", "tail", "sample"]


def values(name):
    """The values of a column of the rows."""
    return [row["a.b"] if name == "a.b" else row["a"]["b"] for row in ROWS]


@pytest.fixture(params=MEANT)
def given(request):
    """A name, and what it means."""
    return request.param, MEANT[request.param]


@pytest.fixture
def table(tmp_path):
    orcish.write_dataset(pa.Table.from_pylist(ROWS), tmp_path / "table")
    return tmp_path / "table"


@pytest.fixture
def file(table):
    return next(table.glob("*.orc"))


def done(run, *arguments):
    code, lines, err = run(*arguments)
    assert code == 0, err
    return lines


def test_reads(given, table, file, run, tmp_path):
    name, meant = given
    kept = [row["id"] for row, value in zip(ROWS, values(meant), strict=True) if value == 9]
    chosen = [{"a.b": row["a.b"]} if meant == "a.b" else {"a": row["a"]} for row in ROWS]
    for source in (table, file):
        for command in READS:
            lines = done(run, command, source, "--where", f"{name} = 9", "--json")
            assert [json.loads(line)["id"] for line in lines] == kept, command
            lines = done(run, command, source, "-c", name, "--json")
            assert [json.loads(line) for line in lines] == chosen, command
        assert json.loads(done(run, "count", source, "--where", f"{name} > 0", "--json")[0])["rows"] == sum(
            value > 0 for value in values(meant)
        )
        for command in ("scan", "explain"):
            done(run, command, source, "--where", f"{name} = 9")
            done(run, command, source, "-c", name)
        (found,) = (json.loads(line) for line in done(run, "stats", source, "-c", name, "--json"))
        assert (found["statistics"]["min"], found["statistics"]["max"]) == (min(values(meant)), max(values(meant)))
        (described,) = (json.loads(line) for line in done(run, "meta", source, "--row-index", name, "--json"))
        assert described["row_index"]["a.b"][0]["statistics"]["min"] == min(values(meant))
    done(run, "convert", table, tmp_path / "rows.jsonl", "-c", name)
    assert [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()] == chosen
    done(run, "convert", file, tmp_path / "rows.orc", "--where", f"{name} = 9")
    assert orcish.read_table(tmp_path / "rows.orc")["id"].to_pylist() == kept


def test_two_names_of_one_text(table, file, run):
    lines = done(run, "data", file, "-c", "id,a.b,`a.b`", "--json")
    assert list(map(json.loads, lines)) == [{"id": row["id"], "a": row["a"], "a.b": row["a.b"]} for row in ROWS]
    (described,) = map(json.loads, done(run, "meta", file, "--row-index", "a.b,`a.b`,id", "--json"))
    found = {name: groups[0]["statistics"]["min"] for name, groups in described["row_index"].items()}
    assert found == {"`a`.`b`": 7, "`a.b`": 0, "id": 1}


def test_differences_of_the_other_column_do_not_count(given, file, run, tmp_path):
    name, meant = given
    other = [{**row, "a": {"b": 1}} if meant == "a.b" else {**row, "a.b": 1} for row in ROWS]
    orcish.write_table(pa.Table.from_pylist(other), tmp_path / "other.orc")
    assert run("diff", file, tmp_path / "other.orc", "-c", name)[0] == 0
    assert run("diff", file, tmp_path / "other.orc")[0] == 1
    orcish.write_table(pa.Table.from_pylist([{**row, "a.b": 1, "a": {"b": 1}} for row in ROWS]), tmp_path / "both.orc")
    assert run("diff", file, tmp_path / "both.orc", "-c", name)[0] == 1


def test_sorts(given, file, run, tmp_path):
    name, meant = given
    by_value = [row["id"] for _, row in sorted(zip(values(meant), ROWS, strict=True), key=lambda pair: pair[0])]
    for sign, want in (("", by_value), ("-", by_value[::-1])):
        target = tmp_path / f"sorted{sign}.orc"
        done(run, "rewrite", file, "-o", target, "--sort-by", f"{sign}{name}")
        assert orcish.read_table(target)["id"].to_pylist() == want
        done(run, "rewrite", file, "-o", tmp_path / f"ids{sign}.orc", "--sort-by", f"{sign}{name}", "-c", "id")
        assert orcish.read_table(tmp_path / f"ids{sign}.orc").to_pydict() == {"id": want}


def test_bloom_filters(given, table, file, run, tmp_path):
    name, meant = given
    other = ("a", "b") if meant == "a.b" else "a.b"
    done(run, "rewrite", file, "-o", tmp_path / "filters.orc", "--bloom-filter-columns", name)
    done(run, "compact", table, "--rewrite", "--bloom-filter-columns", name)
    for path in (tmp_path / "filters.orc", next(table.glob("*.orc"))):
        made = orcish.ORCFile(path)
        assert made.row_groups(meant)[0].bloom_filter is not None
        assert made.row_groups(other)[0].bloom_filter is None
        (described,) = map(json.loads, done(run, "meta", path, "--bloom", f"{name},id", "--json"))
        assert [len(groups) for groups in described["bloom_filters"].values()] == [1, 0]


def test_deletes(given, table, run):
    name, meant = given
    done(run, "delete", table, "--where", f"{name} = 9")
    kept = [row for row, value in zip(ROWS, values(meant), strict=True) if value != 9]
    assert orcish.read_table(table).to_pylist() == kept


@pytest.mark.parametrize("command", [*READS, "count", "scan", "explain"])
def test_names_of_which_there_is_one_need_no_quotes(command, run, tmp_path):
    orcish.write_table(pa.table({"a.b": [1], "c": [{"d": 2, "e.f": 3}]}), tmp_path / "one.orc")
    for name in ("a.b", "`a`.b", "c.d", "`c`.`d`", "c.e.f", "`c`.`e.f`", "`c.d`"):
        done(run, command, tmp_path / "one.orc", "--where", f"{name} > 0")
        done(run, command, tmp_path / "one.orc", "-c", name)


@pytest.mark.parametrize(
    ("name", "found"),
    [("`x`.`a`.`b`", {"a": {"b": 2}}), ("x.a.b", {"a": {"b": 2}}), ("x.`a.b`", {"a.b": 1}), ("`x.a.b`", {"a.b": 1})],
)
def test_fields_of_fields(name, found, tmp_path, run):
    orcish.write_table(pa.table({"x": [[{"a.b": 1, "a": {"b": 2}}]]}), tmp_path / "deep.orc")
    (line,) = done(run, "data", tmp_path / "deep.orc", "-c", name, "--json")
    assert json.loads(line) == {"x": [found]}


@pytest.mark.parametrize(
    ("arguments", "statistics"),
    [
        (["stats", "-c"], lambda row: row["statistics"]),
        (["meta", "--row-index"], lambda row: row["row_index"][""][0]["statistics"]),
    ],
    ids=["stats", "meta"],
)
def test_a_column_without_a_name_is_not_the_root(arguments, statistics, tmp_path, run):
    orcish.write_table(pa.table({"b": ["x"], "": [7]}), tmp_path / "empty.orc")
    code, lines, err = run(arguments[0], tmp_path / "empty.orc", arguments[1], "``", "--json")
    assert code == 0, err
    assert statistics(json.loads(lines[0]))["min"] == 7
