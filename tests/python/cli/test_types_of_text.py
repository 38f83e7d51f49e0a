"""Types that commands print are types that ``--schema`` and ``--cast`` take."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.reading.file import ORCFile
from orcish.writing.writer import file_of_schema
from orcish_cli.formats.schemas import parse_schema, parse_type
from support.case_loops import each_case

ARROW = [
    *(pa.null(), pa.bool_(), pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64()),
    *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary(3), pa.large_binary(), pa.binary_view()),
    *(pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"), pa.duration("us")),
    *(pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("ns", "UTC"), pa.timestamp("us", "+02:00")),
    *(pa.timestamp("ms", "Europe/Berlin"), pa.decimal128(10, 2), pa.decimal256(50, 3)),
    *(pa.list_(pa.int32()), pa.large_list(pa.string()), pa.list_(pa.int32(), 3), pa.list_view(pa.int8())),
    *(pa.map_(pa.string(), pa.list_(pa.timestamp("us", "UTC"))), pa.struct([]), pa.struct({"a": pa.int8(), "b c": pa.date32()})),
    *(pa.dictionary(pa.int32(), pa.string()), pa.list_(pa.struct({"x y": pa.list_(pa.binary(2), 2)}))),
    pa.dense_union([pa.field("field0", pa.int32()), pa.field("field1", pa.list_(pa.string()))]),
    pa.sparse_union([pa.field("a", pa.timestamp("ns", "UTC")), pa.field("b", pa.struct({"c": pa.int8()}))]),
]  # fmt: skip
ORC = [
    *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "char(5)", "varchar(5)"),
    *("binary", "date", "timestamp", "timestamp with local time zone", "decimal(10,2)", "array<int>"),
    *("map<string,array<timestamp>>", "struct<`a b`:int,`c``d`:array<struct<e:date>>>", "struct<>"),
    *("uniontype<int,string>", "uniontype<struct<a:int>,array<timestamp>,uniontype<int>>"),
]


@each_case("kind", ARROW, ids=str)
def test_texts_of_arrow(kind: pa.DataType) -> None:
    assert parse_type(str(kind)).type == kind
    schema = pa.schema({"a": kind, "b c": kind})
    lines = "\n".join(f"{field.name}: {field.type}" for field in schema)
    for text in (lines, lines.replace("\n", ", ")):
        assert parse_schema(text).types == schema.types
        assert parse_schema(text).names == schema.names


@each_case("kind", ORC)
def test_texts_of_orc(kind: str) -> None:
    text = f"struct<x:{kind},y:int,`z,`:{kind}>"
    schema = parse_schema(text)
    assert schema.names == ["x", "y", "z,"]
    plain = pa.schema([field.remove_metadata() if "timestamp" in kind else field for field in schema])
    assert file_of_schema(plain).type_string == text or "char" in kind


@each_case(
    "text",
    [
        *("a list<item: int32", "a fixed_size_binary", "a fixed_size_list<item: int32>", "a date32[ms]", "a geometry"),
        *("a uniontype<>", "a uniontype<a:int>", "a dictionary<values=string>", "a month_day_nano_interval"),
        *("a dense_union<int32, string>", "a int not", "a decimal(39,2)", "a: b: int", "a\n\nint, b"),
    ],
)
def test_texts_of_no_type(text: str) -> None:
    with pytest.raises(ValueError, match=r"is wanted at|names? "):
        parse_schema(text)


TABLE = pa.table(
    {
        "i": pa.array([1, None], pa.uint64()),
        "t": pa.array([1, None], pa.timestamp("ns")),
        "z": pa.array([1, None], pa.timestamp("ns", "UTC")),
        "b": pa.array([b"abc", None], pa.binary(3)),
        "d": pa.array([datetime.date(2026, 1, 2), None], pa.date64()),
        "l": pa.array([[1, 2, 3], None], pa.list_(pa.int32(), 3)),
        "n": pa.array([[{"t": 5}], None], pa.list_(pa.struct({"t": pa.timestamp("ns")}))),
        "k": pa.array(["x", None]).dictionary_encode(),
        "v": pa.array(["x", None], pa.string_view()),
        "h": pa.array([1.5, None], pa.float16()),
        "u": pa.UnionArray.from_dense(
            pa.array([1, 0], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([7]), pa.array(["x"])]
        ),
    }
)


@each_case("printed", ["--arrow", None], ids=["arrow", "orc"])
def test_what_schema_prints_reads_json_back(printed: str | None, tmp_path: Path, run: Any) -> None:
    table = TABLE
    if printed:
        table = table.append_column("s", pa.array([1500, None], pa.duration("ms")))
        table = table.append_column("c", pa.array([1500, None], pa.time64("ns")))
    orcish.write_table(table, tmp_path / "a.orc")
    assert run("convert", tmp_path / "a.orc", tmp_path / "a.jsonl")[0] == 0
    _, lines, _ = run("schema", tmp_path / "a.orc", *([printed] if printed else []))
    target = tmp_path / "b.orc"
    assert run("convert", tmp_path / "a.jsonl", target, "--schema", "\n".join(lines))[::2] == (0, "")
    assert ORCFile(target).type_string == ORCFile(tmp_path / "a.orc").type_string
    if printed:
        assert orcish.read_table(target).schema.types == orcish.read_table(tmp_path / "a.orc").schema.types
        assert orcish.read_table(target).to_pylist() == orcish.read_table(tmp_path / "a.orc").to_pylist()
    assert run("convert", target, tmp_path / "b.jsonl")[0] == 0
    if printed:
        assert (tmp_path / "b.jsonl").read_text() == (tmp_path / "a.jsonl").read_text()


def test_what_json_schema_prints_reads_documents(tmp_path: Path, run: Any) -> None:
    rows = [{"a": 1, "b": [1, "x"]}, {"a": "x", "b": [{"c": True}]}, {"a": None, "b": None}, {"a": 1.5, "b": [[2]]}]
    source = tmp_path / "a.jsonl"
    source.write_text("\n".join(map(json.dumps, rows)))
    _, (text,), _ = run("json-schema", source)
    assert "uniontype" in text
    assert run("convert", source, tmp_path / "a.orc", "--schema", text)[::2] == (0, "")
    assert ORCFile(tmp_path / "a.orc").type_string == text
    found = orcish.read_table(tmp_path / "a.orc")["b"].to_pylist()
    assert str(found) == str([[1, "x"], [{"c": True}], None, [[2]]])


@each_case("mode", ["dense_union", "sparse_union"])
def test_values_that_are_of_no_variant(mode: str, tmp_path: Path, run: Any) -> None:
    source = tmp_path / "a.jsonl"
    for value, text in (
        (True, "is not one of the variants"),
        ({"tag": 2, "value": 1}, "the tag 2 is none of 0 to 1"),
        ({"tag": -1, "value": 1}, "the tag -1"),
        ({"tag": 0, "value": "x"}, "column 'a.x'"),
    ):
        source.write_text(json.dumps({"a": value}))
        code, _, err = run("convert", source, tmp_path / "a.orc", "--schema", f"a {mode}<x: int8, y: string>")
        assert (code, text in err) == (1, True), err


NINE, SIX = "2026-01-02T03:04:05.123456789", "9999-01-02T03:04:05.123456"


@each_case("ending", ["csv", "jsonl"])
@each_case("zone", ["", "Z"], ids=["wall", "instant"])
def test_timestamps_without_a_unit_have_the_digits_that_are_there(
    ending: str, zone: str, tmp_path: Path, run: Any
) -> None:
    def write(name: str, *columns: str) -> Path:
        cells = [f"{text}{zone}" for text in columns]
        names = "ab"[: len(cells)]
        lines = (
            [",".join(names), ",".join(cells)]
            if ending == "csv"
            else [json.dumps(dict(zip(names, cells, strict=True)))]
        )
        (tmp_path / f"{name}.{ending}").write_text("\n".join(lines))
        return tmp_path / f"{name}.{ending}"

    kind = "timestamp with local time zone" if zone else "timestamp"
    schema = ["--schema", f"a {kind}, b {kind}"]
    assert run("convert", write("1", NINE, SIX), tmp_path / "a.orc", *schema)[::2] == (0, "")
    assert [each.unit for each in orcish.read_schema(tmp_path / "a.orc").types] == ["ns", "us"]
    assert run("convert", tmp_path / "a.orc", tmp_path / "b.jsonl")[0] == 0
    found = json.loads((tmp_path / "b.jsonl").read_text())
    assert found == {"a": f"{NINE}{zone}", "b": f"{SIX}{zone}"}
    # Of several sources, the finest one decides. A unit that is given has its digits only.
    sources = [write("2", SIX.replace("9999", "2026")), write("3", NINE)]
    for order in (sources, sources[::-1]):
        assert run("convert", *order, tmp_path / "c.orc", "--schema", f"a {kind}", "--existing-data", "overwrite")[
            ::2
        ] == (0, "")
        assert orcish.read_schema(tmp_path / "c.orc").types[0].unit == "ns"
    unit = "timestamp[us, tz=UTC]" if zone else "timestamp[us]"
    assert run("convert", sources[1], tmp_path / "d.orc", "--schema", f"a {unit}")[0] == 1


@each_case("kind", ["timestamp", "timestamp with local time zone"])
@each_case("unit", ["s", "ms", "us", "ns"])
def test_a_cast_without_a_unit_keeps_the_unit(kind: str, unit: str, tmp_path: Path, run: Any) -> None:
    zone = "UTC" if "zone" in kind else None
    orcish.write_table(pa.table({"t": pa.array([123], pa.timestamp(unit, zone))}), tmp_path / "a.orc")
    assert run("rewrite", tmp_path / "a.orc", "-o", tmp_path / "b.orc", "--cast", f"t={kind}")[0] == 0
    assert orcish.read_table(tmp_path / "b.orc") == orcish.read_table(tmp_path / "a.orc")


def test_nested_types_of_csv_are_refused(tmp_path: Path, run: Any) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    for kind in ("array<int>", "uniontype<int,string>", "struct<x:int>", "map<string,int>"):
        code, _, err = run("convert", tmp_path / "a.csv", tmp_path / "a.orc", "--schema", f"a {kind}")
        assert (code, "column 'a'" in err, "is not read from CSV" in err) == (1, True, True), err


JSON = [
    (["1", "300", "null"], "smallint", "bigint"),
    (["1", "9223372036854775807"], "bigint", "bigint"),
    (["1", "9223372036854775808"], "decimal(19,0)", "double"),
    (["-9223372036854775809"], "decimal(19,0)", None),
    (["1", "1.5"], "decimal(2,1)", "double"),
    (["1", "1e3"], "double", "double"),
    (["12345678901234567890.5"], "decimal(21,1)", None),
    (['"NaN"', '"-Infinity"', "null"], "string", "string"),
    (['"NaN"', "1"], "double", "double"),
    (["1", '"Infinity"'], "double", "double"),
    (['"NaN"', '"x"'], "string", "string"),
    (['"NaN"', "1", '"x"'], "uniontype<string,tinyint>", None),
    (['"x"', "1"], "uniontype<string,tinyint>", None),
    (["1", '"x"'], "uniontype<tinyint,string>", None),
    (["true", "null"], "boolean", "boolean"),
    (["true", "1"], "uniontype<boolean,tinyint>", None),
    (["null"], "string", "string"),
    (['"2026-01-02"'], "string", "string"),
    (['"2026-01-02 03:04:05"'], "timestamp", "string"),
    (['"2026-01-02T03:04:05Z"'], "timestamp with local time zone", "string"),
    (["[]", "null"], "array<string>", "array<string>"),
    (["[1]", "[300]"], "array<smallint>", "array<bigint>"),
    (['[1.5, "NaN"]'], "array<double>", "array<double>"),
    (['[1, "x"]'], "array<uniontype<tinyint,string>>", None),
    (['{"a": 1}', '{"b": "x"}'], "struct<a:tinyint,b:string>", "struct<a:bigint,b:string>"),
    (['{"a": ["NaN", 1]}'], "struct<a:array<double>>", "struct<a:array<double>>"),
    (['{"a": 1}', "[1]"], "uniontype<struct<a:tinyint>,array<tinyint>>", None),
]
"""Values of JSON, the type that json-schema prints, and the one that convert infers; ``None`` where it asks for one."""


@each_case(("values", "printed", "inferred"), JSON)
def test_types_of_json(values: list[str], printed: str, inferred: str | None, tmp_path: Path, run: Any) -> None:
    """Numbers that convert infers have 64 bits, times are text, and values of several kinds are an error: later rows may
    have any values.
    """
    source = tmp_path / "a.jsonl"
    source.write_text("".join(f'{{"x": {value}}}\n' for value in values))
    assert run("json-schema", source)[1] == [f"struct<x:{printed}>"]
    code, _, err = run("convert", source, tmp_path / "a.orc")
    assert (code, "give the type with --schema" in err) == ((0, False) if inferred else (1, True))
    assert inferred is None or ORCFile(tmp_path / "a.orc").type_string == f"struct<x:{inferred}>"
    assert run("convert", source, tmp_path / "b.orc", "--schema", f"x {printed}")[0] == 0
    assert ORCFile(tmp_path / "b.orc").type_string == f"struct<x:{printed}>"


def test_numbers_that_are_not_finite_with_a_type(tmp_path: Path, run: Any) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"x": "NaN"}\n{"x": "Infinity"}\n{"x": null}\n{"x": "-Infinity"}\n')
    assert run("convert", source, tmp_path / "a.orc", "--schema", "x double")[0] == 0
    assert str(orcish.read_table(tmp_path / "a.orc")["x"].to_pylist()) == "[nan, inf, None, -inf]"
