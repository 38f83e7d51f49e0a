"""A column ``a.b`` and the field ``b`` of a column ``a``: no command takes one of them for the other."""

from __future__ import annotations

import json

import orcish
import pyarrow as pa
import pytest

ROWS = [{"id": 1, "a.b": 9, "a": {"b": 7}}, {"id": 2, "a.b": 0, "a": {"b": 9}}]
STEPS = ["`a`.`b`", "a.b", "a.`b`"]
READS = ["count", "data", "tail", "sample", "scan", "explain"]


@pytest.fixture
def table(tmp_path):
    orcish.write_dataset(pa.Table.from_pylist(ROWS), tmp_path / "table")
    return tmp_path / "table"


def arguments(table, name):
    """Commands that have the name of a column."""
    file, out = next(table.glob("*.orc")), table.parent / "out.orc"
    where = f"{name} = 9"
    for command in READS:
        yield [command, file, "--where", where]
        yield [command, file, "-c", name]
    yield ["diff", file, file, "--where", where]
    yield ["diff", file, file, "-c", name]
    yield ["stats", file, "-c", name]
    yield ["meta", file, "--row-index", name]
    yield ["meta", file, "--bloom", name]
    yield ["convert", file, out, "--where", where]
    yield ["convert", file, out.with_suffix(".csv"), "-c", name]
    yield ["rewrite", file, "-o", out.with_name("1.orc"), "--where", where]
    yield ["rewrite", file, "-o", out.with_name("2.orc"), "--sort-by", name]
    yield ["rewrite", file, "-o", out.with_name("3.orc"), "--bloom-filter-columns", name]
    yield ["rewrite", file, "-o", out.with_name("4.orc"), "--sort-by", f"-{name}"]
    yield ["compact", table, "--rewrite", "--bloom-filter-columns", name]
    yield ["delete", table, "--where", where]


@pytest.mark.parametrize("name", STEPS)
def test_steps_to_a_hidden_field_are_an_error(name, table, run):
    for given in arguments(table, name):
        if given[0] == "compact":
            continue
        code, lines, err = run(*given)
        assert code in (1, 2), given
        assert not lines, given
        assert "there are `a.b` and `a`.`b`" in err, given
    assert orcish.read_table(table).to_pylist() == ROWS
    assert [path.name for path in table.parent.iterdir()] == ["table"]


def test_one_quoted_step_is_the_column(table, run):
    for given in arguments(table, "`a.b`"):
        code, _, err = run(*given)
        assert code == 0, (given, err)
    assert orcish.read_table(table).to_pylist() == ROWS[1:]


@pytest.mark.parametrize("command", READS)
def test_names_of_which_there_is_one_need_no_quotes(command, table, run, tmp_path):
    orcish.write_table(pa.table({"a.b": [1], "c": [{"d": 2, "e.f": 3}]}), tmp_path / "one.orc")
    for name in ("a.b", "`a`.b", "c.d", "`c`.`d`", "c.e.f", "`c`.`e.f`", "`c.d`"):
        code, _, err = run(command, tmp_path / "one.orc", "--where", f"{name} > 0")
        assert code == 0, err


def test_filters_of_python(table):
    for filters in ("`a`.b = 9", "a.b = 9", orcish.col("a").field("b") == 9, orcish.col("a")["b"] == 9):
        with pytest.raises(ValueError, match=r"there are `a.b` and `a`.`b`"):
            orcish.read_table(table, filters=filters)
        with pytest.raises(ValueError, match=r"there are `a.b` and `a`.`b`"):
            orcish.delete(table, filters)
    for filters in ('"a.b" = 9', orcish.col("a.b") == 9):
        assert orcish.read_table(table, filters=filters).to_pylist() == ROWS[:1]


@pytest.mark.parametrize("name", ["`x`.`a`.`b`", "x.a.b"])
def test_fields_of_fields(name, tmp_path, run):
    orcish.write_table(pa.table({"x": [[{"a.b": 1, "a": {"b": 2}}]]}), tmp_path / "deep.orc")
    code, _, err = run("data", tmp_path / "deep.orc", "-c", name)
    assert code == 1
    assert "there are `x`.`a.b` and `x`.`a`.`b`" in err
    code, lines, _ = run("data", tmp_path / "deep.orc", "-c", "x.`a.b`", "--json")
    assert code == 0
    assert json.loads(lines[0]) == {"x": [{"a.b": 1}]}


@pytest.mark.parametrize(
    "text", ['"a.b" = 1', "a.b = 1", '(x."y.z" is not null) and ("q""r".s = 2)', '"1.2"."3\\\\" = 5', "a.1b = 3"]
)
def test_texts_of_predicates_keep_the_steps(text):
    from orcish.filters.text import parse

    assert str(parse(text)) == text
    assert str(parse(f"/* n.m /* '*/ */ {text} -- z.`z")) == text


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
