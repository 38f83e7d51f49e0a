"""Texts of CSV and JSON keep their values, with given and with inferred types."""

from __future__ import annotations

import datetime
import functools
import gzip
import json
import random

import orcish
import pyarrow as pa
import pyarrow.parquet
import pytest
from orcish.arrow.nested import DIGITS
from orcish_cli import main
from support.case_loops import each_case

ENDINGS = ["csv", "jsonl"]


@pytest.fixture
def run(run):
    """Runs ``orcish convert``."""
    return functools.partial(run, "convert")


def write(path, texts):
    """Values of a column ``a``, as cells of CSV or as numbers and words of JSON."""
    lines = ["a", *texts] if path.suffix == ".csv" else [f'{{"a":{text}}}' for text in texts]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


INFERRED = [
    ["1234567890123456.78"],
    ["12345678901234567.5"],
    ["1E400", "1.5"],
    ["1e-400", "1.5"],
    ["18446744073709551615"],
    ["9007199254740993", "1.5"],
    ["1.5", "9007199254740993"],
]


@each_case("ending", ENDINGS)
@each_case("texts", INFERRED, ids=" ".join)
def test_inferred_numbers_of_more_digits(ending, texts, tmp_path, run):
    source, target = write(tmp_path / f"a.{ending}", texts), tmp_path / "o.orc"
    code, _, err = run(source, target)
    if ending == "csv":
        # Cells are texts before they are numbers.
        assert (code, err) == (0, "")
        assert orcish.read_table(target)["a"].to_pylist() == texts
    else:
        assert code == 1
        assert "give the type with --schema" in err
        assert not target.exists()
        # Values of nested columns, too.
        source.write_text("".join(f'{{"a":[{{"b":{text}}}]}}\n' for text in texts))
        assert run(source, target)[0] == 1


OTHER_TEXTS = [
    *("007", "-00", "-00.5", "0x1F", "0X1f", "+5", "+491701234567", "+.5", "+1e5", "+inf", "-0", " 5", "5 ", " 1.5"),
    *("1_000", "1,000", "1'000", "1e", "0b1", "12abc", "9223372036854775808", "100000000000000000000", "1e400"),
    *("True", "FALSE", "tRue", " true", "t", "yes", "NULL", "N/A", "-", "+", "\u0663"),
]
"""Texts that are others as numbers or booleans, or none."""


def quoted(texts):
    return ['"' + text + '"' for text in texts]


@each_case("beside", [[], ["1"], ["1.5"], ["true"]], ids=["alone", "integer", "double", "boolean"])
@each_case("text", OTHER_TEXTS, ids=ascii)
def test_cells_that_are_other_texts(text, beside, tmp_path, run, capsys):
    """Columns with such a text are texts, and those of integers and booleans have the same cells again."""
    texts = [*beside, text]
    source = write(tmp_path / "a.csv", quoted(texts))
    assert run(source, tmp_path / "o.orc")[::2] == (0, "")
    if text != "-0" or beside != ["1.5"]:
        assert orcish.read_table(tmp_path / "o.orc")["a"].to_pylist() == texts
    assert main(["json-schema", str(source)]) == 0
    assert capsys.readouterr().out.strip() == orcish.ORCFile(tmp_path / "o.orc").type_string


@each_case("text", ["+5", "007", "-0", " 5", "True"])
@each_case("first", ["5", "1.5", "true"])
def test_later_cells_that_are_other_texts(first, text, tmp_path, run, monkeypatch):
    monkeypatch.setattr("orcish_cli.formats.text_values.BLOCK", 1000)
    code, _, err = run(write(tmp_path / "a.csv", [first] * 1000 + [text]), tmp_path / "o.orc")
    assert (code, "--schema 'a string'" in err) == ((0, False) if (first, text) == ("1.5", "-0") else (1, True))


CELLS = {
    "integers": ["0", "-1", "10", "-9223372036854775808", "9223372036854775807", "100"],
    "booleans": ["true", "false"],
    "texts": OTHER_TEXTS,
    "mixed": ["1", "true", "+5", "-0"],
    "dates": ["2026-01-31", "0001-01-01"],
}


@each_case("kind", CELLS)
def test_the_same_cells_again(kind, tmp_path, run):
    for at, cells in enumerate([CELLS[kind], *([cell] for cell in CELLS[kind])]):
        source, target = write(tmp_path / f"{at}.csv", quoted(cells)), tmp_path / f"{at}-again.csv"
        assert run(source, tmp_path / f"{at}.orc")[0] == 0
        assert run(tmp_path / f"{at}.orc", target)[0] == 0
        assert target.read_text().replace('"', "") == source.read_text().replace('"', "")


@each_case(
    ("text", "value"),
    [("1.", 1.0), (".5", 0.5), ("-.5", -0.5), ("0.50", 0.5), ("1e5", 1e5), ("1E+05", 1e5), ("Infinity", float("inf"))],
)
def test_doubles_have_other_spellings(text, value, tmp_path, run):
    assert run(write(tmp_path / "a.csv", [text]), tmp_path / "o.orc")[0] == 0
    assert orcish.read_table(tmp_path / "o.orc")["a"].to_pylist() == [value]


@each_case("name", ["a.csv", "a.jsonl", "a.csv.gz", "a.tsv"])
@each_case("rows", [0, 1, 3])
def test_the_last_line_break_says_nothing(name, rows, tmp_path, run):
    """Files with one and without one are the same rows, those of a header alone included."""
    sign = "\t" if ".tsv" in name else ","
    lines = [f"a{sign}b"] + [f"{at}{sign}2020-01-01" for at in range(rows)]
    if "jsonl" in name:
        lines = [f'{{"a":{at},"b":"x"}}' for at in range(rows)] + ['{"a":1,"c":2}']
    made = []
    for at, end in enumerate(["", "\n"]):
        folder = tmp_path / str(at)
        folder.mkdir()
        opened = gzip.open if name.endswith("gz") else open
        with opened(folder / name, "wb") as file:
            file.write(("\n".join(lines) + end).encode())
        assert run(folder / name, folder / "o.orc")[::2] == (0, "")
        made.append(orcish.read_table(folder / "o.orc"))
    assert made[0] == made[1]
    assert made[0].num_rows == rows + ("jsonl" in name)


@each_case("name", ["a.csv", "a.jsonl"])
@each_case("schema", [None, "b date", "c int, b date", "c int, a int, b date"])
def test_columns_stay_in_their_order(name, schema, tmp_path, run):
    source = tmp_path / name
    rows = ["a,b,c", "1,2020-01-01,2"] if name == "a.csv" else ['{"a":1,"b":"2020-01-01","c":2}']
    source.write_text("\n".join(rows) + "\n")
    assert run(source, tmp_path / "o.orc", *([] if schema is None else ["--schema", schema]))[0] == 0
    assert orcish.read_table(tmp_path / "o.orc").column_names == ["a", "b", "c"]


@each_case("ending", ENDINGS)
@each_case(
    ("kind", "text"),
    [
        ("float", "1e39"),
        ("float", "16777217"),
        ("double", "1e999"),
        ("double", "12345678901234567.5"),
        ("decimal(5,2)", "1.505"),
        ("int", "1.5"),
        ("tinyint", "300"),
        ("boolean", "1"),
    ],
)
def test_given_types_of_other_values(ending, kind, text, tmp_path, run):
    code, _, err = run(write(tmp_path / f"a.{ending}", [text]), tmp_path / "o.orc", "--schema", f"a {kind}")
    assert code == 1
    assert "a" in err
    assert "give the type" not in err
    assert not (tmp_path / "o.orc").exists()


@each_case("ending", ENDINGS)
def test_numbers_that_are_kept(ending, tmp_path, run):
    texts = ["0.1", "1.50", "1e5", "123456789012345678e-3", "0.30000000000000004", "5e-324", "1.7976931348623157e308"]
    texts.pop(3)
    assert run(write(tmp_path / f"a.{ending}", texts), tmp_path / "o.orc")[0] == 0
    assert orcish.read_table(tmp_path / "o.orc")["a"].to_pylist() == [float(text) for text in texts]
    assert run(write(tmp_path / f"b.{ending}", ["  7", "8  "]), tmp_path / "p.orc", "--schema", "a int")[0] == 0
    assert orcish.read_table(tmp_path / "p.orc")["a"].to_pylist() == [7, 8]


def of_all_types() -> pa.Table:
    when = datetime.datetime(2026, 1, 2, 3, 4, 5, 600)
    leaves = {
        "float": pa.array([0.1, float("inf"), None, float("-inf")], pa.float32()),
        "double": pa.array([0.1, float("inf"), None, 1e300]),
        "number": pa.array([2**63 - 1, -1, None, 0]),
        "price": pa.array(["12345678901234567890.10", "-1", None, "0"]).cast(pa.decimal128(30, 2)),
        "data": pa.array([b"\x00\xff", b"", None, b"00ff"]),
        "day": pa.array([0, 36_500_000, None, -(2**31)], pa.int32()).cast(pa.date32()),
        "at": pa.array([when, when, None, when]),
        "instant": pa.array([when, when, None, when], pa.timestamp("us", "UTC")),
        "time": pa.array([when.time(), when.time(), None, when.time()]),
        "span": pa.array([1500, -1, None, 0], pa.duration("us")),
        "text": pa.array(["NaN", 'x\n"', None, "007"]),
        "flag": pa.array([True, False, None, True]),
    }
    offsets = pa.array([0, 2, 2, 3, 4], pa.int32())
    columns = dict(leaves)
    for name, array in leaves.items():
        columns[f"list_{name}"] = pa.ListArray.from_arrays(offsets, array)
        columns[f"struct_{name}"] = pa.StructArray.from_arrays([array], ["x"])
        columns[f"map_{name}"] = pa.MapArray.from_arrays(offsets, pa.array(["a", "b", "a", "a"]), array)
    columns["keys"] = pa.array([[(1, "x"), (2, None)], [], None, [(3, "y")]], pa.map_(pa.int64(), pa.string()))
    return pa.table(columns)


def as_schema(table: pa.Table) -> str:
    """The types of a table, as ``--schema`` takes them."""
    names = {
        "list_": "array<{}>",
        "struct_": "struct<x:{}>",
        "map_": "map<string,{}>",
    }
    parts = []
    for field in table.schema:
        prefix = next((prefix for prefix in names if field.name.startswith(prefix)), "")
        kind = str(table.schema.field(field.name.removeprefix(prefix)).type)
        kind = kind.replace("date32[day]", "date").replace("decimal128", "decimal").replace("bool", "boolean")
        if field.name == "keys":
            kind = "map<bigint,string>"
        parts.append(f"`{field.name}` {names.get(prefix, '{}').format(kind)}")
    return ", ".join(parts)


def test_our_own_json_is_read_back(tmp_path, run):
    table = of_all_types()
    with pa.ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as writer:
        writer.write_table(table)
    assert run(tmp_path / "a.arrow", tmp_path / "a.jsonl")[0] == 0
    code, _, err = run(tmp_path / "a.jsonl", tmp_path / "b.arrow", "--schema", as_schema(table))
    assert (code, err) == (0, "")
    back = pa.ipc.open_file(str(tmp_path / "b.arrow")).read_all()
    for name in table.column_names:
        assert str(back[name].cast(table.schema.field(name).type)) == str(table[name]), name
    assert run(tmp_path / "b.arrow", tmp_path / "b.jsonl")[0] == 0
    assert (tmp_path / "b.jsonl").read_text() == (tmp_path / "a.jsonl").read_text()


@each_case(
    ("text", "kind"),
    [
        ('"00fg"', "binary"),
        ('["00fg"]', "array<binary>"),
        ('["2020-01-01T00:00:00+02:00"]', "array<timestamp>"),
        ('{"x":1,"y":2}', "struct<x:int>"),
        ('[["a",1],["a",2]]', "map<string,int>"),
        ('{"1":1,"01":2}', "map<int,int>"),
        ('"1.5"', "double"),
        ("1", "string"),
        ("true", "int"),
        ("[1]", "int"),
        ('{"b":1}', "array<int>"),
        ("NaN", "double"),
        ('"PT1.5"', "duration[ms]"),
    ],
)
def test_json_that_is_not_of_a_given_type(text, kind, tmp_path, run):
    (tmp_path / "a.jsonl").write_text(f'{{"a":{text}}}\n')
    code, _, err = run(tmp_path / "a.jsonl", tmp_path / "o.orc", "--schema", f"a {kind}")
    assert code == 1
    assert err.startswith(f"orcish: {tmp_path}/a.jsonl: ")
    assert not (tmp_path / "o.orc").exists()


def test_rows_of_json(tmp_path, run):
    source = tmp_path / "a.jsonl"
    source.write_text("{}\n{}\n\n{}")
    assert run(source, tmp_path / "o.orc")[0] == 0
    assert orcish.scan(tmp_path / "o.orc").count() == 3
    for text in ('{"a":1,"a":2}\n', "[1]\n", '{"a":1\n', "{}\n[1]\n"):
        source.write_text(text)
        assert run(source, tmp_path / "p.orc")[0] == 1
    rows = [{"id": at, "x": at / 7, "text": "x" * 200} for at in range(200_000)]
    source.write_text("\ufeff" + "\n".join(map(json.dumps, rows)))
    code, _, err = run(source, tmp_path / "many.orc")
    assert (code, err) == (0, "")
    assert orcish.read_table(tmp_path / "many.orc").to_pylist() == rows


@each_case("is_given", [True, False], ids=["given", "inferred"])
@each_case(
    ("kind", "text", "wrong"),
    [
        ("bigint", "5", "x7"),
        ("tinyint", "5", "300"),
        ("double", "5.5", "x7"),
        ("boolean", "true", "x7"),
        ("date", "2026-01-31", "x7"),
        ("timestamp", "2026-01-31 01:02:03", "x7"),
        ("decimal(5,2)", "1.25", "x7"),
        ("binary", "ab", "x7"),
    ],
)
def test_errors_of_cells_name_row_and_column(kind, text, wrong, is_given, tmp_path, run, monkeypatch):
    """Rows are counted below the header, without empty lines, in all blocks of the file; cells may have line breaks."""
    if not is_given and kind in ("tinyint", "decimal(5,2)", "binary"):
        pytest.skip("the type is not inferred")
    monkeypatch.setattr("orcish_cli.formats.text_values.BLOCK", 200)
    lines = ["a,b", f'"two\nlines",{text}', "", *[f"{at},{text}" for at in range(50)], f",{wrong}", f"last,{wrong}"]
    source = tmp_path / "a.csv"
    source.write_text("".join(f"{line}\n" for line in lines))
    given = ["--schema", f"b {kind}"] if is_given else []
    code, _, err = run(source, tmp_path / "o.orc", *given)
    assert code == 1
    assert err.startswith(f"orcish: {source}: row 52: column 'b': ")
    # Without a header, its line is a row.
    source.write_text(source.read_text().removeprefix("a,b\n"))
    name = "b" if is_given else "f1"
    given = ["--schema", f"a string, b {kind}"] if is_given else []
    assert f": row 52: column '{name}': " in run(source, tmp_path / "o.orc", "--no-header", *given)[2]


@each_case("at", [0, 40], ids=["first block", "later block"])
def test_errors_of_rows_of_csv_name_the_row(at, tmp_path, run, monkeypatch):
    monkeypatch.setattr("orcish_cli.formats.text_values.BLOCK", 200)
    source = tmp_path / "a.csv"
    source.write_text("a,b\n" + "1,2020-01-01\n" * at + "1,2020-01-01\n1,2,3\n")
    err = run(source, tmp_path / "o.orc")[2]
    advice = "--delimiter and --no-header say how the file is written"
    assert err == f"orcish: {source}: row {at + 2}: Expected 2 columns, got 3: 1,2,3: {advice}\n"


@each_case("given", [[], ["--schema", "b bigint"]], ids=["inferred", "given"])
@each_case("at", [0, 40], ids=["first block", "later block"])
@each_case("text", ['{"a":', "[1]", '{"a":1,"a":2}', '{"a":NaN}', '{"a":"x"}', "nul", "5", '{"a":[1]}'])
def test_errors_of_json_name_the_row(text, at, given, tmp_path, run, monkeypatch):
    """Rows are counted from 1, in all blocks of the file."""
    monkeypatch.setattr("orcish_cli.formats.text_values.BLOCK", 200)
    source = tmp_path / "a.jsonl"
    source.write_text('{"a":1,"b":2}\n\n{"b":2}\n' + '{"a":1,"b":2}\n' * at + text + "\n")
    code, _, err = run(source, tmp_path / "o.orc", *given)
    assert code == 1
    assert err.startswith(f"orcish: {source}: row {at + 3}: ")


ZONES = [
    "Europe/Zurich",
    "Africa/Monrovia",
    "America/St_Johns",
    "America/New_York",
    "Asia/Tokyo",
    "UTC",
    "+01:30",
    "Etc/UTC",
]


@each_case("unit", ["s", "us", "ns"])
@each_case("zone", ZONES)
def test_texts_of_instants_are_read_as_the_same_instants(zone, unit, tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    choose, second = random.Random(zone), 10 ** DIGITS[unit]
    years = [datetime.datetime(year, 1, 1, tzinfo=datetime.timezone.utc) for year in (1700, 2200)]
    first, last = (int(year.timestamp()) * second for year in years)
    instants = [choose.randint(first, last) for _ in range(200)] + [choose.randint(first, 0) for _ in range(200)]
    instants += [-946_771_200 * second, 0, None]
    if unit == "ns":
        instants += [-(2**63) + 10**10, 2**63 - 1]
    at = pa.array(instants).cast(pa.timestamp(unit, zone))
    pa.parquet.write_table(
        pa.table({"id": range(len(at)), "at": at, "text": ['a"b'] * len(at)}), "a.parquet", version="2.6"
    )
    utc = at.cast(pa.timestamp("ns", "UTC"))
    for target, more in (("a.csv", []), ("a.tsv", ["--where", "id >= 0"])):
        assert run("a.parquet", target, *more)[0] == 0
        for given in ([], ["--schema", "at timestamp[ns, tz=UTC]"]):
            assert run(target, "back.orc", *given, "--existing-data=overwrite")[0] == 0
            found = orcish.read_table("back.orc", timestamp_unit="exact")
            assert found["at"].combine_chunks().cast(utc.type).equals(utc)
            assert found["text"].to_pylist() == ['a"b'] * len(at)
    assert run("a.parquet", "a.orc")[0] == 0
    assert main(["rewrite", "a.orc", "-o", "text.orc", "--cast", "at=string"]) == 0
    found = orcish.read_table("text.orc")["at"].combine_chunks()
    assert found.cast(utc.type).equals(utc)


def test_offsets_of_whole_minutes_are_written(tmp_path, run):
    for at, text in (
        (datetime.datetime(2026, 7, 1), "02:00:00.000000+0200"),
        (datetime.datetime(1850, 1, 1), "00:00:00.000000Z"),
    ):
        rows = pa.table({"at": pa.array([at], pa.timestamp("us")).cast(pa.timestamp("us", "Europe/Zurich"))})
        pa.parquet.write_table(rows, tmp_path / "a.parquet")
        assert run(tmp_path / "a.parquet", tmp_path / "a.csv", "--existing-data=overwrite")[0] == 0
        assert (tmp_path / "a.csv").read_text().split("\n")[1].strip('"') == f"{at:%Y-%m-%d} {text}"
