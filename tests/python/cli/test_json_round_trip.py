"""Rows that become JSON lines and ORC again are the same rows, whatever their types, empty values and nulls."""

import csv
import datetime as dt
import json
import random

import orcish
import pyarrow as pa
from support.case_loops import each_case

LEAVES = (pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.decimal128(30, 3))


def kind_of(rng, depth):
    """A random type."""
    form = rng.choice(("leaf", "list", "map", "struct")) if depth else "leaf"
    if form == "list":
        return pa.list_(kind_of(rng, depth - 1))
    if form == "map":
        return pa.map_(rng.choice((pa.string(), pa.int64())), kind_of(rng, depth - 1))
    if form == "struct":
        return pa.struct([(f"f{at}", kind_of(rng, depth - 1)) for at in range(rng.randrange(4))])
    return rng.choice(LEAVES)


def value_of(rng, kind):
    """A random value, often null or empty."""
    if rng.random() < 0.3:
        return None
    if pa.types.is_struct(kind):
        return {field.name: value_of(rng, field.type) for field in kind}
    count = rng.choice((0, 0, 1, 2))
    if pa.types.is_map(kind):
        keys = ("a", "", "{}") if pa.types.is_string(kind.key_type) else (0, -1, 2**60)
        return [(key, value_of(rng, kind.item_type)) for key in keys[:count]]
    if pa.types.is_list(kind):
        return [value_of(rng, kind.value_type) for _ in range(count)]
    number = rng.randrange(-3, 4)
    if pa.types.is_decimal(kind):
        return pa.scalar(f"{number}.125").cast(kind).as_py()
    return {pa.int64(): number, pa.float64(): number / 4, pa.bool_(): number > 0}.get(
        kind, ("", "null", "{}")[number % 3]
    )


def without_nulls(value, kind):
    """A document without the fields of structs that are null."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        found = {field.name: without_nulls(value[field.name], field.type) for field in kind}
        return {name: inner for name, inner in found.items() if inner is not None}
    if pa.types.is_map(kind) and isinstance(value, dict):
        return {key: without_nulls(item, kind.item_type) for key, item in value.items()}
    if pa.types.is_map(kind):
        return [[key, without_nulls(item, kind.item_type)] for key, item in value]
    if pa.types.is_list(kind):
        return [without_nulls(each, kind.value_type) for each in value]
    return value


@each_case("seed", range(60))
def test_rows_come_back(tmp_path, run, seed):
    rng = random.Random(seed)
    kinds = [kind_of(rng, 3) for _ in range(3)]
    root = pa.struct([(f"c{at}", kind) for at, kind in enumerate(kinds)])
    arrays = [pa.array([value_of(rng, kind) for _ in range(20)], kind) for kind in kinds]
    names = [field.name for field in root]
    source, text, back = (tmp_path / name for name in ("a.orc", "a.jsonl", "b.orc"))
    orcish.write_table(pa.table(arrays, names=names), source)
    wanted = orcish.read_table(source).to_pylist()
    assert run("convert", source, text)[0] == 0
    given = ("--schema", orcish.ORCFile(source).type_string, "--existing-data", "overwrite")
    assert run("convert", text, back, *given)[::2] == (0, "")
    assert orcish.read_table(back, columns=names).to_pylist() == wanted
    # Fields that are left out are null, also those of structs of which nothing is left.
    documents = [without_nulls(json.loads(line), root) for line in text.read_text().splitlines()]
    text.write_text("\n".join(map(json.dumps, documents)))
    assert run("convert", text, back, *given)[::2] == (0, "")
    assert orcish.read_table(back, columns=names).to_pylist() == wanted


@each_case("kind", ["bigint", "array<bigint>", "struct<a:bigint>", "map<string,bigint>", "date", "boolean"])
@each_case("rows", [3, 2000])
def test_values_of_other_types_name_the_row(kind, rows, tmp_path, run, monkeypatch):
    monkeypatch.setattr("orcish_cli.formats.text_values.BLOCK", 1 << 10)
    text = tmp_path / "a.jsonl"
    text.write_text('{"x": null}\n' * rows + '{"x": "other"}\n{"x": null}\n')
    code, _, err = run("convert", text, tmp_path / "b.orc", "--schema", f"x {kind}")
    assert code == 1
    assert f"{text}: row {rows + 1}: column 'x': " in err


def test_a_schema_of_json_reads_structs_without_fields(tmp_path, run):
    text, back = tmp_path / "a.jsonl", tmp_path / "b.orc"
    rows = [
        {"id": 1, "x": 0.12345678901234567890123, "payload": {}},
        {"id": 2, "x": 1.5, "payload": {"a": {}}},
        {"id": 3, "x": 1.5, "payload": {"a": {"b": [1]}, "c": 2}},
        {"id": 4, "x": None, "payload": None},
    ]
    text.write_text("\n".join(map(json.dumps, rows)))
    (printed,) = run("json-schema", text)[1]
    assert run("convert", text, back, "--schema", printed)[::2] == (0, "")
    assert orcish.read_table(back)["payload"].to_pylist() == [
        {"a": None, "c": None},
        {"a": {"b": None}, "c": None},
        {"a": {"b": [1]}, "c": 2},
        None,
    ]


@each_case("target", ["a.jsonl", "a.csv"])
@each_case(
    ("kind", "value"),
    [
        (pa.time32("s"), dt.time(0, 0, 5)),
        (pa.time64("ns"), dt.time(0, 0, 5, 7)),
        (pa.duration("ms"), dt.timedelta(milliseconds=5)),
        (pa.uint64(), 2**63 + 1),
        (pa.uint8(), 200),
    ],
    ids=str,
)
def test_values_in_maps_are_written_as_those_in_lists(kind, value, target, tmp_path, run):
    """Text has values of Arrow types, wherever they are, and not the integers that ORC stores for them."""
    source, text = tmp_path / "a.orc", tmp_path / target
    maps = pa.array([[("k", value)]], pa.map_(pa.string(), kind))
    lists = pa.array([[value]], pa.list_(kind))
    table = pa.table({"m": maps, "l": lists})
    orcish.write_table(table, source)
    assert run("convert", source, text)[0] == 0
    document = json.loads(text.read_text()) if target == "a.jsonl" else {}
    if target == "a.csv":
        _, row = csv.reader(text.read_text().splitlines())
        document = dict(zip(("m", "l"), map(json.loads, row), strict=True))
    assert document["m"]["k"] == document["l"][0]
