"""Lists of names of columns, in all commands that take them."""

from __future__ import annotations

import argparse
import json

import orcish
import pyarrow as pa
import pytest
from orcish_cli.column_names import names, renames, sort_keys, top_names, types


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a,b.c", ["a", ("b", "c")]),
        ("`b.c`,b.c", ["b.c", ("b", "c")]),
        ("a, b ,c", ["a", "b", "c"]),
        ("", [""]),
        ("``", [""]),
        ("`a,b`", ["a,b"]),
        ("`a,b`.c,-`d,e`", [("a,b", "c"), "-d,e"]),
        ("x.`a,``b`, ` c`", [("x", "a,`b"), " c"]),
        ("q`t", ["q`t"]),
        ("two words", ["two words"]),
    ],
)
def test_lists(text, found):
    assert names(text) == found


@pytest.mark.parametrize("text", ["`a", "`a`b", "a,`b``"])
def test_errors(text):
    with pytest.raises(argparse.ArgumentTypeError, match=r"backtick|has to follow"):
        names(text)


@pytest.mark.parametrize(("parse", "text"), [(names, "a,b,a"), (names, "b.c,b.`c`"), (top_names, "b.c,`b.c`")])
def test_names_that_are_given_twice(parse, text):
    with pytest.raises(argparse.ArgumentTypeError, match="is given twice"):
        parse(text)


@pytest.mark.parametrize(
    ("parse", "text", "found"),
    [
        (sort_keys, "a,-b.c", [("a", False), (("b", "c"), True)]),
        (top_names, "a,b.c", ["a", "b.c"]),
        (sort_keys, "`-a`, -`-b`, -`c,d`.e", [("-a", False), ("-b", True), (("c,d", "e"), True)]),
        (sort_keys, "a(x,-b)", [("a(x", False), ("b)", True)]),
        (renames, "a=b", [("a", "b")]),
        (renames, "a=x,y,b = z ", [("a", "x,y"), ("b", "z")]),
        (renames, "`x,y`=z,`p=q`=`r,s=t`,u=v", [("x,y", "z"), ("p=q", "r,s=t"), ("u", "v")]),
        (renames, "a.b=c,`d``e`=`f``g`", [("a.b", "c"), ("d`e", "f`g")]),
        (renames, "q`t=u`v,``=w", [("q`t", "u`v"), ("", "w")]),
        (types, "a=int, b=decimal(10,2)", [("a", "int"), ("b", "decimal(10,2)")]),
        (types, "`a,b=c`=struct<`x,y=z>`:int,d:map<int,int>>,e=int", [
            ("a,b=c", "struct<`x,y=z>`:int,d:map<int,int>>"), ("e", "int"),
        ]),
    ],
)  # fmt: skip
def test_names_with_more(parse, text, found):
    assert parse(text) == found


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (sort_keys, "a,-a"),
        (sort_keys, "`a`b"),
        *((parse, text) for parse in (renames, types) for text in ("a", "=b", "`a=b", "`a`b=c", "`a,b`")),
        (renames, "a=`b`c"),
    ],
)
def test_errors_of_names_with_more(parse, text):
    with pytest.raises(argparse.ArgumentTypeError):
        parse(text)


ODD = ["com,ma", "do.t", "a b", "tick`", " blank", "", "-minus", "e=qual", "a,b=c"]


def quoted(name):
    return f"`{name.replace('`', '``')}`"


@pytest.mark.parametrize("name", ODD)
class TestCommands:
    @pytest.fixture
    def file(self, name, tmp_path):
        path = tmp_path / "odd.orc"
        orcish.write_table(pa.table({name: [2, 1], "id": [1, 2], "more": [0, 0]}), path, bloom_filter_columns=[name])
        return path

    @pytest.mark.parametrize("command", ["data", "tail", "sample"])
    def test_rows(self, name, file, command, run):
        code, lines, err = run(command, file, "-c", f"id, {quoted(name)}", "--json")
        assert code == 0, err
        assert [json.loads(line) for line in lines] == [{"id": 1, name: 2}, {"id": 2, name: 1}]

    @pytest.mark.parametrize(
        "arguments",
        [
            ["stats", "-c"],
            ["count", "-c"],
            ["scan", "-c"],
            ["explain", "-c"],
            ["meta", "--row-index"],
            ["meta", "--bloom"],
            ["advise", "--lookup"],
        ],
    )
    def test_a_file(self, name, file, arguments, run):
        code, _, err = run(arguments[0], file, arguments[1], quoted(name))
        assert code == 0, err

    @pytest.mark.parametrize("option", ["--key", "--columns"])
    def test_diff(self, name, file, option, run):
        code, _, err = run("diff", file, file, option, quoted(name))
        assert code == 0, err

    def test_rewrite(self, name, file, tmp_path, run):
        target = tmp_path / "out.orc"
        options = ["--sort-by", quoted(name), "--drop", "more", "--bloom-filter-columns", quoted(name)]
        code, _, err = run("rewrite", file, "--output", target, *options)
        assert code == 0, err
        assert orcish.read_table(target).to_pydict() == {name: [1, 2], "id": [2, 1]}
        code, _, err = run("rewrite", file, "--output", tmp_path / "less.orc", "--drop", f"id,{quoted(name)}")
        assert code == 0, err
        assert orcish.read_table(tmp_path / "less.orc").schema.names == ["more"]

    @pytest.mark.parametrize("sign", ["", "-"])
    def test_rewrite_with_signs_and_values(self, name, file, sign, tmp_path, run):
        options = ["--sort-by", f"{sign}{quoted(name)}", "--cast", f"{quoted(name)}=string,more=int"]
        code, _, err = run("rewrite", file, "-o", tmp_path / "a.orc", *options, "--rename", f"{quoted(name)}=`n,e=w`")
        assert code == 0, err
        found = orcish.read_table(tmp_path / "a.orc")
        assert found.to_pydict() == {
            "n,e=w": ["2", "1"] if sign else ["1", "2"],
            "id": [1, 2] if sign else [2, 1],
            "more": [0, 0],
        }
        code, _, err = run(
            "rewrite", tmp_path / "a.orc", "-o", tmp_path / "b.orc", "--rename", f"`n,e=w`={quoted(name)}"
        )
        assert code == 0, err
        assert orcish.read_table(tmp_path / "b.orc").schema.names == [name, "id", "more"]
