"""Conversion of files between ORC and other formats."""

from __future__ import annotations

import datetime
import decimal
import functools
import itertools
import json
import math
import pathlib
import random
import re
import shlex
import threading
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pyorc
import pytest
from orcish_cli.formats import text_values
from orcish_cli.formats.schemas import parse_schema, parse_type
from support.carbon import CarbonTableWriter
from support.case_loops import each_case
from support.http_server import FileServer
from support.processes import ORCISH
from support.small_tables import in_stripes
from support.terminals import on_terminal

ENDINGS = ["parquet", "csv", "csv.gz", "tsv", "jsonl", "jsonl.zst", "arrow", "feather", "arrows", "orc"]
TEXT = [ending for ending in ENDINGS if ending[:3] in ("csv", "tsv", "jso")]
MINUTE = datetime.datetime(2026, 1, 2, 3, 4, 5, 600)
ROWS = pa.table(
    {
        "id": pa.array([1, None, -(2**63)]),
        "text": pa.array(["", 'x\n"y', None]),
        "number": pa.array([0.1, 1e300, None]),
        "price": pa.array([decimal.Decimal("1.10"), None, decimal.Decimal("12345678.90")], pa.decimal128(10, 2)),
        "data": pa.array([b"\x00\xff", None, b""]),
        "day": pa.array([datetime.date(2026, 1, 2), None, datetime.date(1, 1, 1)]),
        "at": pa.array([MINUTE, None, None], pa.timestamp("us")),
        "flag": pa.array([True, None, False]),
    }
)
SCHEMA = "id bigint, text string, number double, price decimal(10,2), data binary, day date, at timestamp, flag boolean"
NESTED = pa.table(
    {
        "list": pa.array([[1, None], None, []]),
        "struct": pa.array([{"a": 1}, None, {"a": None}]),
        "map": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
        "category": pa.array(["x", None, "y"]).dictionary_encode(),
        "span": pa.array([1, None, 2], pa.duration("us")),
    }
)


@pytest.fixture
def run(run):
    """Runs ``orcish convert``."""
    return functools.partial(run, "convert")


@pytest.fixture
def orc(tmp_path):
    orcish.write_table(ROWS, tmp_path / "rows.orc")
    return tmp_path / "rows.orc"


def names(folder: pathlib.Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@each_case("ending", ENDINGS)
def test_there_and_back(ending, orc, tmp_path, run):
    middle, back = tmp_path / f"middle.{ending}", tmp_path / "back.orc"
    code, lines, err = run(orc, middle)
    assert (code, err) == (0, "")
    assert middle.is_file()
    assert lines == [f"3 rows in 1 files, {middle.stat().st_size:,} bytes"]
    schema = ["--schema", SCHEMA] if ending in TEXT else []
    code, lines, err = run(middle, back, *schema, "--json")
    assert (code, err) == (0, "")
    assert json.loads(lines[0]) == {"file": str(back), "rows": 3, "bytes": back.stat().st_size}
    assert orcish.read_table(back).equals(ROWS)
    assert names(tmp_path) == {middle.name, "back.orc"}


@each_case("ending", ["parquet", "arrow", "arrows", "orc"])
def test_nested_values(ending, tmp_path, run):
    orcish.write_table(NESTED, tmp_path / "nested.orc")
    middle, back = tmp_path / f"middle.{ending}", tmp_path / "back.orc"
    assert run(tmp_path / "nested.orc", middle)[0] == 0
    assert run(middle, back)[0] == 0
    assert orcish.read_table(back).to_pylist() == NESTED.to_pylist()


def test_json_of_types_that_orc_has_not(tmp_path, run):
    zurich = pa.timestamp("us", "Europe/Zurich")
    table = pa.table(
        {
            "span": pa.array([1500], pa.duration("ms")),
            "short": pa.array([-1], pa.duration("ns")),
            "time": pa.array([datetime.time(1, 2, 3, 500_000)], pa.time64("us")),
            "zone": pa.array([datetime.datetime(2026, 7, 1, tzinfo=datetime.timezone.utc)], zurich),
            "fixed": pa.array([b"ab"], pa.binary(2)),
            "large": pa.array([b"ab"], pa.large_binary()),
            "pair": pa.array([[1, 2]], pa.list_(pa.int8(), 2)),
            "list": pa.array([[1]], pa.large_list(pa.int8())),
            "view": pa.array(["x"], pa.string_view()),
            "map": pa.array([[("k", 1)]], pa.map_(pa.large_string(), pa.int8())),
        }
    )
    with pa.ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as writer:
        writer.write_table(table)
    assert run(tmp_path / "a.arrow", tmp_path / "a.jsonl")[0] == 0
    assert json.loads((tmp_path / "a.jsonl").read_text()) == {
        "span": "PT1.5S",
        "short": "PT-0.000000001S",
        "time": "01:02:03.5",
        "zone": "2026-07-01T00:00:00Z",
        "fixed": "6162",
        "large": "6162",
        "pair": [1, 2],
        "list": [1],
        "view": "x",
        "map": {"k": 1},
    }


def test_values_without_a_text_of_csv_are_json(tmp_path, run):
    orcish.write_table(NESTED, tmp_path / "nested.orc")
    assert run(tmp_path / "nested.orc", tmp_path / "o.csv")[0] == 0
    text = (tmp_path / "o.csv").read_text().splitlines()
    assert text[1] == '"[1, null]","{""a"": 1}","{""k"": 1}","x","PT0.000001S"'
    assert text[2] == ",,,,"
    assert run(tmp_path / "nested.orc", tmp_path / "o.jsonl")[0] == 0
    assert json.loads((tmp_path / "o.jsonl").read_text().splitlines()[0])["map"] == {"k": 1}


def test_inferred_types(tmp_path, run):
    (tmp_path / "a.csv").write_text("id,price,day,at,text,nothing\n1,1.5,2026-01-02,2026-01-02 03:04:05,x,\n-2,,,,,\n")
    assert run(tmp_path / "a.csv", tmp_path / "a.orc")[0] == 0
    kinds = [str(kind) for kind in orcish.read_schema(tmp_path / "a.orc").types]
    assert kinds == ["int64", "double", "date32[day]", "timestamp[s]", "string", "string"]
    (tmp_path / "a.jsonl").write_text('{"id":1,"day":"2026-01-02","n":null,"l":[{"t":"2026-01-02"}]}\n{"id":2}\n')
    assert run(tmp_path / "a.jsonl", tmp_path / "b.orc")[0] == 0
    first, second = orcish.read_table(tmp_path / "b.orc").to_pylist()
    assert first == {"id": 1, "day": "2026-01-02", "n": None, "l": [{"t": "2026-01-02"}]}
    assert second == {"id": 2, "day": None, "n": None, "l": None}


@each_case("values", itertools.permutations(['"NaN"', "1.5", "null", '"-Infinity"']))
def test_numbers_of_json_that_are_not_finite(values, tmp_path, run):
    """They are text, as JSON has no number for them, wherever they are."""
    source = tmp_path / "a.jsonl"
    source.write_text("".join(f'{{"x": {value}}}\n' for value in values))
    assert run(source, tmp_path / "a.orc")[0] == 0
    numbers = {'"NaN"': math.nan, "1.5": 1.5, "null": None, '"-Infinity"': -math.inf}
    assert str(orcish.read_table(tmp_path / "a.orc")["x"].to_pylist()) == str([numbers[value] for value in values])


def test_texts_beside_numbers_that_are_not_finite(tmp_path, run):
    source = tmp_path / "a.jsonl"
    source.write_text('{"x": "NaN"}\n{"x": "Inf"}\n')
    assert run(source, tmp_path / "a.orc")[0] == 0
    assert orcish.read_table(tmp_path / "a.orc")["x"].to_pylist() == ["NaN", "Inf"]
    source.write_text('{"x": "other"}\n{"x": 1.5}\n')
    code, _, err = run(source, tmp_path / "b.orc")
    assert code == 1
    assert "row 2" in err


def test_folders_of_several_formats(tmp_path, run):
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "a.csv").write_text("x\n1\n")
    (tmp_path / "t" / "b.jsonl").write_text('{"x": 1}\n')
    code, _, err = run(tmp_path / "t", tmp_path / "a.orc")
    assert code == 1
    assert re.search(r"a\.csv is csv and .*b\.jsonl is json: sources have one format", err)
    assert not (tmp_path / "a.orc").exists()


def test_fractions_behind_integers(tmp_path, run, monkeypatch):
    monkeypatch.setattr(text_values, "BLOCK", 1 << 10)
    source = tmp_path / "a.csv"
    source.write_text("x\n" + "123\n" * 1000 + "1.5\n")
    code, _, err = run(source, tmp_path / "a.orc")
    assert code == 1
    assert "'1.5' is no integer, as the first rows have: give the type with --schema 'x double'" in err
    assert run(source, tmp_path / "a.orc", "--schema", "x double")[0] == 0


@each_case("later", itertools.permutations(["1.5", "abc", "007"], 2))
@each_case("between", [0, 1000])
def test_advised_types_hold_all_values(later, between, tmp_path, run, monkeypatch):
    """Of several, the last one does, as rows that are not read yet may have any values."""
    monkeypatch.setattr(text_values, "BLOCK", 1 << 10)
    source, target = tmp_path / "a.csv", tmp_path / "a.orc"
    texts = ["123"] * 1000 + [later[0]] + ["123"] * between + [later[1]]
    source.write_text("".join(f"{text}\n" for text in ["x", *texts]))
    code, _, err = run(source, target)
    advised = re.findall(r"'(x \w+)'", err)
    wanted = ["x double", "x string"] if later[0] == "1.5" and between else ["x string"]
    assert (code, advised) == (1, wanted)
    assert run(source, target, "--schema", advised[-1])[0] == 0
    assert orcish.read_table(target)["x"].to_pylist() == texts


@each_case("name", ["x", "a b", "it's", "a`b", "a:b"])
def test_advised_types_are_words_of_a_shell(name, tmp_path, run, monkeypatch):
    monkeypatch.setattr(text_values, "BLOCK", 1 << 10)
    source = tmp_path / "a.csv"
    source.write_text(f"{name},y\n" + "123,1\n" * 1000 + "abc,1\n")
    _, _, err = run(source, tmp_path / "a.orc")
    assert run(source, tmp_path / "a.orc", "--schema", shlex.split(err[err.index("--schema") :])[1])[0] == 0


def test_advised_types_without_a_header(tmp_path, run, monkeypatch):
    """The schema has the names of all columns, then."""
    monkeypatch.setattr(text_values, "BLOCK", 1 << 10)
    source = tmp_path / "a.csv"
    source.write_text("123,1\n" * 1000 + "1.5,1\n")
    code, _, err = run(source, tmp_path / "a.orc", "--no-header")
    assert (
        code,
        "give the types of all columns with --schema, to 'f0' the type double if it holds all values" in err,
    ) == (1, True)
    assert run(source, tmp_path / "a.orc", "--no-header", "--schema", "f0 double, f1 int")[0] == 0


@each_case("ending", ["csv", "jsonl"])
def test_timestamps_of_a_given_unit(ending, tmp_path, run):
    texts = ["2026-01-02 03:04:05.000000000", "2026-01-02T03:04:05.120", "0001-01-01", "2026-01-02 03:04:05.000100000Z"]
    wall = [
        datetime.datetime(2026, 1, 2, 3, 4, 5),
        datetime.datetime(2026, 1, 2, 3, 4, 5, 120_000),
        datetime.datetime(1, 1, 1),
    ]
    source = tmp_path / f"a.{ending}"

    def write(texts):
        lines = ["at", *texts] if ending == "csv" else [json.dumps({"at": text}) for text in texts]
        source.write_text("".join(f"{line}\n" for line in lines))

    write(texts[:3])
    assert run(source, tmp_path / "a.orc", "--schema", "at timestamp")[0] == 0
    assert orcish.read_table(tmp_path / "a.orc")["at"].to_pylist() == wall
    write(texts[3:])
    assert run(source, tmp_path / "b.orc", "--schema", "at timestamp with local time zone")[0] == 0
    instant = datetime.datetime(2026, 1, 2, 3, 4, 5, 100, datetime.timezone.utc)
    assert orcish.read_table(tmp_path / "b.orc")["at"].to_pylist() == [instant]
    write(["2026-01-02 03:04:05.000000001"])
    code, _, err = run(source, tmp_path / "c.orc", "--schema", "at timestamp[us]")
    assert code == 1
    assert "000000001" in err


@each_case("text", ["007", "-00.5", "12345678901234567890", "9" * 40])
def test_texts_that_numbers_would_change(text, tmp_path, run):
    (tmp_path / "a.csv").write_text(f"zip,b\n1,x\n{text},y\n")
    for at, options in enumerate([[], ["--schema", "zip string"]]):
        assert run(tmp_path / "a.csv", tmp_path / f"{at}.orc", *options)[::2] == (0, "")
        assert orcish.read_table(tmp_path / f"{at}.orc").to_pydict() == {"zip": ["1", text], "b": ["x", "y"]}


def test_how_csv_is_written_and_read(tmp_path, run):
    (tmp_path / "a.txt").write_text("1;NULL;\n2;x;\n")
    options = ["--from", "csv", "--delimiter", ";", "--no-header"]
    assert (
        run(
            tmp_path / "a.txt", tmp_path / "a.orc", *options, "--null", "NULL", "--schema", "a int, b string, c string"
        )[0]
        == 0
    )
    assert orcish.read_table(tmp_path / "a.orc").to_pydict() == {"a": [1, 2], "b": [None, "x"], "c": ["", ""]}
    assert run(tmp_path / "a.orc", tmp_path / "b.csv", "--delimiter", "tab", "--no-header")[0] == 0
    assert (tmp_path / "b.csv").read_text() == '1\t\t""\n2\t"x"\t""\n'
    assert run(tmp_path / "a.txt", tmp_path / "d.orc", *options)[0] == 0
    assert orcish.read_schema(tmp_path / "d.orc").names == ["f0", "f1", "f2"]
    orcish.write_table(pa.table({"a": [None, "x", None]}), tmp_path / "one.orc")
    assert run(tmp_path / "one.orc", tmp_path / "one.csv")[0] == 0
    assert run(tmp_path / "one.csv", tmp_path / "two.orc")[0] == 0
    assert orcish.read_table(tmp_path / "two.orc")["a"].to_pylist() == [None, "x", None]


def test_delimiters_are_those_of_the_source_that_is_csv(orc, tmp_path, run):
    (tmp_path / "a.csv").write_text("a;b\n1;NULL\n")
    how = ["--delimiter", ";", "--null", "NULL"]
    for ending, text in (("tsv", '"a"\t"b"\n1\t\n'), ("csv", '"a","b"\n1,\n')):
        target = tmp_path / f"b.{ending}"
        code, _, err = run(tmp_path / "a.csv", target, *how)
        assert (code, err) == (0, "")
        assert target.read_text() == text
        assert run(target, tmp_path / f"{ending}.orc")[0] == 0
        assert orcish.read_schema(tmp_path / f"{ending}.orc").names == ["a", "b"]
    assert run(orc, tmp_path / "c.tsv", "-c", "id,flag", "--delimiter", ";")[0] == 0
    assert (tmp_path / "c.tsv").read_text().startswith('"id";"flag"')


def test_what_is_selected(orc, tmp_path, run):
    for ending in ("orc", "parquet", "csv", "arrow"):
        source = tmp_path / f"s.{ending}"
        assert run(orc, source)[0] == 0
        target = tmp_path / f"t_{ending}.parquet"
        code, _, err = run(source, target, "-c", "text,id", "--where", "id = 1")
        assert (code, err) == (0, "")
        found = pa.parquet.read_table(target)
        assert found.column_names == ["text", "id"]
        assert found["id"].to_pylist() == [1]
        limited = tmp_path / f"l_{ending}.parquet"
        assert run(source, limited, "-n", 2)[0] == 0
        assert pa.parquet.read_table(limited)["id"].to_pylist() == [1, None]
        code, _, err = run(source, tmp_path / "x.parquet", "-c", "texd")
        assert code == 1
        assert "text" in err


def test_filters_keep_values_that_orc_has_not(tmp_path, run):
    table = pa.table(
        {"at": pa.array([-1, 5, None], pa.timestamp("us")), "id": [1, 2, 3], "s": [{"x": 1}, None, {"x": 2}]}
    )
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    for where, wanted in (
        ("id <> 2", [0, 2]),
        ("s.x = 1 and id is not null", [0]),
        ("true", [0, 1, 2]),
        ("id > 3", []),
        ("at is not null", [0, 1]),
    ):
        target = tmp_path / f"{where}.arrow"
        code, _, err = run(tmp_path / "a.parquet", target, "--where", where)
        assert (code, err) == (0, "")
        assert (
            pa.ipc.open_file(str(target)).read_all().to_pylist() == table.take(pa.array(wanted, pa.int64())).to_pylist()
        )
    code, _, err = run(tmp_path / "a.parquet", tmp_path / "b.arrow", "--where", "id = 'x'")
    assert code == 1
    assert f"{tmp_path}/a.parquet: column id of type int64 cannot be compared with the string 'x'" in err
    code, _, err = run(tmp_path / "a.parquet", tmp_path / "b.arrow", "--where", "idd = 1")
    assert code == 1
    assert "nearest: id" in err


DATA = sorted((pathlib.Path(__file__).parents[2] / "data").glob("*.orc"))


@each_case("source", [path for path in DATA if "masked" not in path.name], ids=lambda path: path.name)
def test_files_of_other_writers(source, tmp_path, run):
    wanted = orcish.read_table(source, timestamp_unit="exact")
    for ending in ("arrow", "arrows", "parquet"):
        middle, back = tmp_path / f"a.{ending}", tmp_path / f"{ending}.orc"
        code, _, err = run(source, middle)
        if ending == "parquet" and code:
            assert "no child field" in err
            continue
        assert (code, err) == (0, "")
        assert run(middle, back)[0] == 0
        found = orcish.read_table(back, timestamp_unit="exact")
        # Parquet has no unions. NaN is not equal to itself.
        same = [field.name for field in wanted.schema if ending != "parquet" or "union" not in str(field.type)]
        assert str(found.select(same).to_pydict()) == str(wanted.select(same).to_pydict())
    for ending in ("csv", "jsonl"):
        assert run(source, tmp_path / f"a.{ending}")[0] == 0
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == len(wanted)


@each_case("ending", ["csv", "jsonl"])
def test_instants_of_other_zones(ending, tmp_path, run):
    at = datetime.datetime(2026, 7, 1, 10, tzinfo=datetime.timezone.utc)
    table = pa.table({"at": pa.array([at, None], pa.timestamp("us", "Europe/Zurich"))})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    assert run(tmp_path / "a.parquet", tmp_path / f"a.{ending}")[0] == 0
    schema = ["--schema", "at timestamp with local time zone"]
    assert run(tmp_path / f"a.{ending}", tmp_path / "a.orc", *schema)[0] == 0
    assert orcish.read_table(tmp_path / "a.orc")["at"].to_pylist() == [at, None]


@each_case("ending", ENDINGS)
def test_files_without_rows(ending, tmp_path, run):
    orcish.write_table(ROWS.slice(0, 0), tmp_path / "none.orc")
    middle, back = tmp_path / f"middle.{ending}", tmp_path / "back.orc"
    assert run(tmp_path / "none.orc", middle)[0] == 0
    assert run(middle, back, *(["--schema", SCHEMA] if ending in TEXT else []))[0] == 0
    assert orcish.read_table(back).equals(ROWS.slice(0, 0))
    if ending == "jsonl":
        code, _, err = run(middle, tmp_path / "other.orc")
        assert code == 1
        assert f"{middle}: there are no rows, and so no columns: --schema gives them" in err


def test_null_keys_of_maps(tmp_path, run):
    with (tmp_path / "a.orc").open("wb") as file, pyorc.Writer(file, "struct<m:map<string,int>>") as writer:
        writer.write(({None: 1, "k": 2},))
    for ending, text in (("csv", '"m"\n"[[null, 1], [""k"", 2]]"\n'), ("jsonl", '{"m": [[null, 1], ["k", 2]]}\n')):
        assert run(tmp_path / "a.orc", tmp_path / f"a.{ending}")[0] == 0
        assert (tmp_path / f"a.{ending}").read_text() == text
    code, _, err = run(tmp_path / "a.orc", tmp_path / "a.parquet")
    assert code == 1
    assert "null key" in err


class TestSources:
    def test_several_files(self, tmp_path, run):
        for at in range(3):
            pa.parquet.write_table(pa.table({"id": [at, at + 10]}), tmp_path / f"{at}.parquet")
        (tmp_path / "f").mkdir()
        pa.parquet.write_table(pa.table({"id": pa.array([7], pa.int32())}), tmp_path / "f" / "a.parquet")
        code, _, err = run(tmp_path / "0.parquet", f"{tmp_path}/[12].parquet", tmp_path / "f", tmp_path / "o.orc")
        assert (code, err) == (0, "")
        assert orcish.read_table(tmp_path / "o.orc")["id"].to_pylist() == [0, 10, 1, 11, 2, 12, 7]
        pa.parquet.write_table(pa.table({"other": [1]}), tmp_path / "f" / "b.parquet")
        code, _, err = run(tmp_path / "f", tmp_path / "p.orc")
        assert code == 1
        assert "has other columns than" in err
        assert not (tmp_path / "p.orc").exists()

    def test_partitions(self, tmp_path, run):
        for day in (1, 2):
            folder = tmp_path / "t" / f"day={day}"
            folder.mkdir(parents=True)
            (folder / "a.csv").write_text(f"id\n{day * 10}\n")
        assert run(tmp_path / "t", tmp_path / "o.orc")[0] == 0
        assert orcish.read_table(tmp_path / "o.orc").to_pydict() == {"id": [10, 20], "day": [1, 2]}
        assert run(tmp_path / "t", tmp_path / "table")[0] == 0
        assert orcish.scan(tmp_path / "table", filters="day = 2").to_table().to_pydict() == {"id": [20], "day": [2]}
        assert len(list((tmp_path / "table").glob("day=*/*.orc"))) == 2
        assert run(tmp_path / "table", tmp_path / "o.jsonl")[0] == 0
        assert sorted((tmp_path / "o.jsonl").read_text().splitlines()) == [
            '{"id": 10, "day": 1}',
            '{"id": 20, "day": 2}',
        ]

    def test_carbon(self, tmp_path, run):
        written = CarbonTableWriter(tmp_path / "carbon", pa.schema([("id", pa.int32())]))
        written.load(pa.table({"id": pa.array(range(10), pa.int32())}))
        for ending in ("parquet", "csv", "orc"):
            assert run(written.path, tmp_path / f"o.{ending}")[0] == 0
        assert pa.parquet.read_table(tmp_path / "o.parquet")["id"].to_pylist() == list(range(10))
        assert orcish.read_table(tmp_path / "o.orc")["id"].to_pylist() == list(range(10))

    @pytest.mark.parametrize("ending", ENDINGS)
    def test_a_store(self, ending, store, orc, tmp_path, run):
        options = [f"--storage-option={name}={value}" for name, value in store.options.items()]
        target = f"s3://shelf/a/b.{ending}"
        code, lines, err = run(orc, target, *options)
        assert (code, err, len(lines)) == (0, "", 1)
        code, _, err = run(orc, target, *options)
        assert code == 1
        assert "is there already" in err
        assert store.objects() == [f"a/b.{ending}"]
        schema = ["--schema", SCHEMA] if ending in TEXT else []
        assert run(target, tmp_path / "back.orc", *options, *schema)[0] == 0
        assert orcish.read_table(tmp_path / "back.orc").equals(ROWS)

    @pytest.mark.parametrize("ending", ["parquet", "csv.gz", "jsonl", "arrow"])
    def test_a_store_after_an_error(self, ending, store, orc, tmp_path, run):
        """There is nothing of the target, and no object for its folder."""
        options = [f"--storage-option={name}={value}" for name, value in store.options.items()]
        damaged = tmp_path / "damaged.orc"
        data = bytearray(pathlib.Path(orc).read_bytes())
        stripe = orcish.ORCFile(bytes(data)).stripes[0]
        start = stripe.offset + stripe.index_length
        data[start : start + stripe.data_length] = b"\xff" * stripe.data_length
        damaged.write_bytes(data)
        assert run(damaged, f"s3://shelf/a/b.{ending}", *options)[0] == 1
        assert store.objects() == []

    @pytest.mark.parametrize("ending", ["parquet", "csv.gz", "arrow"])
    def test_errors_of_servers_have_no_credentials(self, ending, tmp_path, run):
        with FileServer({}) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            host = server.url.removeprefix("http://")
            code, lines, err = run(f"http://me:HUSH@{host}/none.{ending}?token=SECRET", tmp_path / "a.orc")
            server.shutdown()
        assert (code, lines) == (1, [])
        assert f"{host}/none.{ending}" in err
        assert "SECRET" not in err
        assert "HUSH" not in err

    def test_urls_of_fsspec(self, orc, tmp_path, run):
        pytest.importorskip("fsspec")
        assert run(orc, "memory://formats/a.parquet")[0] == 0
        assert run("memory://formats/a.parquet", tmp_path / "back.orc")[0] == 0
        assert orcish.read_table(tmp_path / "back.orc").equals(ROWS)
        code, _, err = run(orc, "https://host/a.parquet", "--existing-data=overwrite")
        assert code == 1
        assert "https://host/a.parquet: files of HTTP servers are read only" in err


class TestNothingAppearsAfterAFailure:
    @pytest.mark.parametrize("ending", [*ENDINGS, ""])
    def test_a_source_that_is_damaged_in_the_middle(self, ending, tmp_path, run):
        source = tmp_path / "source.orc"
        in_stripes(source, pa.table({"id": range(300_000)}), 100_000, compression="none")
        last = orcish.ORCFile(source).stripes[2]
        with source.open("r+b") as file:
            file.seek(last.offset)
            file.write(b"\xff" * (last.index_length + last.data_length + last.footer_length))
        target = tmp_path / (f"out.{ending}" if ending else "out")
        code, lines, err = run(source, target)
        assert (code, lines) == (1, [])
        assert "stripe 2" in err
        assert names(tmp_path) == {"source.orc"}
        if ending:
            target.write_text("as it was")
            assert run(source, target, "--existing-data", "overwrite")[0] == 1
            assert target.read_text() == "as it was"
            assert names(tmp_path) == {"source.orc", target.name}

    @pytest.mark.parametrize("ending", [ending for ending in ENDINGS if ending != "orc"])
    def test_a_cut_file_of_another_format(self, ending, tmp_path, run):
        rng = random.Random(1)
        table = pa.table({"id": range(100_000), "r": [rng.random() for _ in range(100_000)]})
        orcish.write_table(table, tmp_path / "a.orc")
        source = tmp_path / f"a.{ending}"
        assert run(tmp_path / "a.orc", source)[0] == 0
        data = source.read_bytes()
        source.write_bytes(data[: len(data) * 2 // 3])
        code, _, err = run(source, tmp_path / "b.orc")
        if ending in ("csv", "tsv"):
            return  # Half a number is a number.
        assert code == 1, err
        assert err.startswith(f"orcish: {source}: ")
        assert not (tmp_path / "b.orc").exists()


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            (["rows.orc", "o.xlsx"], ".xlsx is no known format"),
            (["rows.orc", "rows.orc", "--existing-data", "overwrite"], "one of the sources"),
            (["rows.orc", "o.csv", "--compression", "snappy"], "csv has no codec snappy"),
            (["rows.orc", "o.csv", "--compression", "gzip"], "has the ending .csv.gz"),
            (["rows.orc", "o.arrow", "--compression", "brotli"], "arrow has no codec brotli"),
            (["rows.orc", "o.orc", "--compression", "bz2"], "orc has no codec bz2"),
            (["rows.orc", "folder", "--compression", "gzip"], "orc has no codec gzip"),
            (["rows.orc", "folder", "--limit", "1"], "--limit is of targets that are files"),
            (["rows.orc", "o.parquet", "--compression", "snappy", "--compression-level", "3"], "has no levels"),
            (["rows.orc", "o.parquet", "--bloom-filter-columns", "id"], "is of targets that are ORC"),
            (["rows.orc", "o.parquet", "--verify"], "is of targets that are ORC"),
            (["rows.orc", "o.parquet", "--partition-by", "id"], "is of folders"),
            (["rows.orc", "o.parquet", "--existing-data", "append"], "is of folders"),
            (["rows.orc", "o.csv", "--null", "NULL"], "is of CSV that is read"),
            (["rows.orc", "o.csv", "--delimiter", "ab"], "it is one character"),
            *(
                ([source, target, *option], text)
                for source in ("rows.orc", "a.parquet")
                for target in ("o.parquet", "o.orc", "o.jsonl", "o.arrow", "folder")
                for option, text in (
                    (["--schema", "id int"], "--schema is of CSV and JSON"),
                    (["--delimiter", ";"], "--delimiter is of CSV"),
                    (["--no-header"], "--no-header is of CSV"),
                    (["--null", "NULL"], "--null is of CSV"),
                )
            ),
            *(
                ([source, "o.orc", *option], "is of sources that are ORC")
                for source in ("a.parquet", "a.csv", "bad.jsonl")
                for option in (["--masked"], ["--timestamps", "wall"], ["--timezone", "UTC"], ["--long-char", "error"])
            ),
            (["rows.orc", "a.csv", "o.parquet"], "sources have one format"),
            (["a.parquet", "o.orc", "--schema", "id int"], "--schema is of CSV and JSON"),
            (["a.parquet", "o.orc", "--timestamps", "wall"], "is of sources that are ORC"),
            (["a.csv", "o.orc", "--schema", "idd int"], "nearest: id"),
            (["a.csv", "o.orc", "--schema", "id in"], "is wanted at 'in'"),
            (["bad.jsonl", "o.orc"], "--schema"),
            (["missing.parquet", "o.orc"], "missing.parquet"),
            (["a.parquet", "rows.orc"], "--existing-data overwrite replaces it"),
            (["rows.orc", "d.parquet"], "is a folder"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else None,
    )
    def test_options(self, arguments, text, orc, tmp_path, run, monkeypatch):
        of_files = text in ("one of the sources", "sources have one format", "nearest: id", "--schema")
        of_files |= text in ("missing.parquet", "--existing-data overwrite replaces it", "is a folder")
        monkeypatch.chdir(tmp_path)
        pa.parquet.write_table(pa.table({"id": [1]}), "a.parquet")
        pathlib.Path("a.csv").write_text("id\n1\n")
        pathlib.Path("bad.jsonl").write_text('{"a": 1}\n{"a": "x"}\n')
        pathlib.Path("d.parquet").mkdir()
        before = names(tmp_path)
        code, lines, err = run(*arguments)
        assert (code, lines) == ((1 if of_files else 2), [])
        assert text in err
        assert names(tmp_path) == before
        assert orcish.read_table("rows.orc").equals(ROWS)

    @pytest.mark.parametrize("depth", [30, 55])
    def test_columns_that_readers_of_parquet_refuse(self, depth, tmp_path, run):
        kind = pa.int64()
        for _ in range(depth):
            kind = pa.list_(pa.field("element", kind))
        orcish.write_table(pa.table({"c": pa.nulls(1, kind)}), tmp_path / "deep.orc")
        code, _, err = run(tmp_path / "deep.orc", tmp_path / "deep.parquet")
        if depth < 40:
            assert (code, err) == (0, "")
            assert pa.parquet.read_table(tmp_path / "deep.parquet")["c"].type == kind
        else:
            assert code == 1
            assert "deep.parquet: readers refuse such columns" in err
            assert names(tmp_path) == {"deep.orc"}

    def test_types_that_a_format_has_not(self, tmp_path, run):
        table = pa.table({"u": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1]), pa.array(["x"])])})
        orcish.write_table(table, tmp_path / "u.orc")
        assert run(tmp_path / "u.orc", tmp_path / "u.parquet")[0] == 0
        assert run(tmp_path / "u.orc", tmp_path / "u.arrow")[0] == 0
        code, _, err = run(tmp_path / "u.arrow", tmp_path / "v.parquet")
        assert code == 1
        assert "--columns leaves columns out" in err
        assert not (tmp_path / "v.parquet").exists()


def test_hostile_names(tmp_path, run):
    orcish.write_table(pa.table({"n\x1b[0m": ["\x1b[2J"]}), tmp_path / "a.orc")
    for ending in ENDINGS:
        name = tmp_path / f"o\x1b[31m.{ending}"
        code, lines, err = run(tmp_path / "a.orc", name, "--json")
        assert (code, err) == (0, "")
        assert all(line.isprintable() for line in lines)
        name.write_bytes(b"PAR1ARROW1{\x1b[31m" * 10)
        code, _, err = run(name, tmp_path / "b.orc", "--existing-data", "overwrite")
        assert err.rstrip("\n").isprintable()


def test_a_terminal_shows_a_bar(tmp_path):
    orcish.write_table(pa.table({"id": range(300_000)}), tmp_path / "a.orc")
    code, shown = on_terminal(ORCISH, "convert", tmp_path / "a.orc", tmp_path / "b.csv")
    assert code == 0
    assert "300,000 rows in 1 files" in shown
    assert "\x1b[K" in shown or "\x1b[2K" in shown


@each_case(
    ("text", "wanted"),
    [
        ("array<int>", "list<element: int32>"),
        ("map<string,list<int8>>", "map<string, list<element: int8>>"),
        ("struct<a:bigint,`b c`:string>", "struct<a: int64, b c: string>"),
        ("decimal(12,2)", "decimal128(12, 2)"),
        ("decimal", "decimal128(38, 10)"),
        ("timestamp[ms, tz=Europe/Zurich]", "timestamp[ms, tz=Europe/Zurich]"),
        ("TIMESTAMP WITH LOCAL TIME ZONE", "timestamp[us, tz=UTC]"),
        ("time64[ns]", "time64[ns]"),
        ("duration[s]", "duration[s]"),
        ("uint16", "uint16"),
    ],
)
def test_types(text: str, wanted: str) -> None:
    assert str(parse_type(text).type) == wanted


def test_schemas() -> None:
    wanted = pa.schema([("a", pa.int64()), ("b", pa.string())])
    for text in (
        "a bigint, b string",
        "a:bigint,b:string",
        "struct<a:bigint,b:string>",
        "a int64,b utf8",
        "`a` long , `b` string",
    ):
        assert parse_schema(text) == wanted
    assert parse_schema("v varchar(10)").field("v").metadata == {b"orc.type": b"varchar(10)"}
    bad: tuple[Any, ...] = (
        "",
        "a",
        "a foo",
        "a int b int",
        "a int, a int",
        "a decimal(99)",
        "a array<int",
        "a timestamp[h]",
        "a int(3)",
    )
    for text in bad:
        with pytest.raises(ValueError, match=r"the type|the schema"):
            parse_schema(text)
