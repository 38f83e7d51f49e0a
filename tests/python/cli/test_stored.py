"""Tables whose files differ in types that commands unify, and values that the usual types do not hold."""

from __future__ import annotations

import decimal
import itertools
import json
import pathlib

import orcish
import pyarrow as pa
import pyarrow.orc as po
import pytest

COMMANDS = {
    "data": ["--all"],
    "tail": ["-n", "99"],
    "sample": ["-n", "99"],
}


def shown(run, command, *sources):
    code, lines, err = run(command, *sources, "--json", *COMMANDS[command])
    assert code == 0, err
    return [json.loads(line) for line in lines]


def put(folder, *tables):
    folder.mkdir()
    for at, table in enumerate(tables):
        orcish.write_table(table, folder / f"{at}.orc")
    return folder


VALUES = {
    "int32": pa.array([5], pa.int32()),
    "uint64": pa.array([5], pa.uint64()),
    "time32": pa.array([5], pa.time32("s")),
    "duration": pa.array([5], pa.duration("ns")),
    "string": pa.array(["x"]),
    "bool": pa.array([True]),
    "struct": pa.array([{"a": 1, "b": ["x"]}]),
    "list": pa.array([[1, None]]),
    "date": pa.array([5], pa.int32()).cast(pa.date32()),
    "timestamp": pa.array([5], pa.timestamp("s")),
    "dictionary": pa.array(["x"]).dictionary_encode(),
    "decimal": pa.array([5], pa.int64()).cast(pa.decimal128(20, 1)),
}


@pytest.mark.parametrize("kind", VALUES)
class TestNullsInTheFirstFile:
    """They are those of a table whose first file has values, and no nulls."""

    @pytest.fixture
    def source(self, kind, tmp_path):
        column = VALUES[kind]
        return put(
            tmp_path / "t",
            pa.table({"c": pa.nulls(1), "n": pa.array([{"x": None}])}),
            pa.table({"c": column, "n": pa.StructArray.from_arrays([column], ["x"])}),
        )

    @pytest.mark.parametrize("command", COMMANDS)
    def test_rows(self, kind, source, command, run):
        value = shown(run, command, source / "1.orc")[0]["c"]
        assert value is not None
        assert shown(run, command, source) == [{"c": None, "n": {"x": None}}, {"c": value, "n": {"x": value}}]

    def test_numbers(self, kind, source, run):
        for command in ("scan", "count"):
            code, lines, err = run(command, source, "--json", "--where", "n.x is not null or c is null")
            assert (code, [json.loads(line)["rows"] for line in lines]) == (0, [1, 1]), err

    def test_sql(self, kind, source, run):
        pytest.importorskip("duckdb")
        code, lines, err = run("sql", f"from '{source}'", "--json")
        assert code == 0, err
        assert [json.loads(line) for line in lines] == shown(run, "data", source)


@pytest.mark.parametrize("command", COMMANDS)
def test_wall_clocks_and_instants(command, tmp_path, run):
    (tmp_path / "t").mkdir()
    for at, zone in enumerate((None, "UTC")):
        columns = {"t": pa.array([at + 1], pa.timestamp("us", zone)), "wall": pa.array([0], pa.timestamp("us"))}
        po.write_table(pa.table(columns), tmp_path / "t" / f"{at}.orc")
    assert shown(run, command, tmp_path / "t") == [
        {"t": "1970-01-01T00:00:00.000001Z", "wall": "1970-01-01T00:00:00"},
        {"t": "1970-01-01T00:00:00.000002Z", "wall": "1970-01-01T00:00:00"},
    ]
    code, lines, err = run("count", tmp_path / "t", "--json", "--where", "t >= timestamp '1970-01-01 00:00:00.000002Z'")
    assert (code, [json.loads(line)["rows"] for line in lines]) == (0, [0, 1]), err
    code, _, err = run(command, tmp_path / "t", "--timestamps", "wall")
    assert code == 1
    assert "1.orc: column t" in err


FAR = {10**13: "318857-05-20T17:46:40", -(10**13): "-314918-08-13T06:13:20", 10**11: "5138-11-16T09:46:40"}


@pytest.mark.parametrize("unit", ["s", "ms"])
@pytest.mark.parametrize("command", COMMANDS)
def test_years_that_microseconds_do_not_hold(command, unit, tmp_path, run):
    scale = {"s": 1, "ms": 1000}[unit]
    values = pa.array([number * scale for number in FAR], pa.timestamp(unit))
    orcish.write_table(pa.table({"t": values}), tmp_path / "far.orc")
    assert [row["t"] for row in shown(run, command, tmp_path / "far.orc")] == list(FAR.values())
    code, lines, err = run("data", tmp_path / "far.orc", "--stripe", 0)
    assert code == 0, err
    assert [line.strip() for line in lines[2:]] == list(FAR.values())


@pytest.mark.parametrize("command", [*COMMANDS, "sql"])
def test_types_nested_deeper_than_pyarrow_passes_on(command, tmp_path, run):
    value: object = 42
    kind = pa.int32()
    for _ in range(80):
        value, kind = [value], pa.list_(kind)
    po.write_table(pa.table({"id": [1], "deep": pa.array([value], kind)}), tmp_path / "deep.orc")
    if command == "sql":
        pytest.importorskip("duckdb")
        code, lines, err = run("sql", f"from '{tmp_path}/deep.orc' where deep like '%42%'", "--json")
        assert code == 0, err
        assert [json.loads(line) for line in lines] == [{"id": 1, "deep": json.dumps(value)}]
    else:
        assert shown(run, command, tmp_path / "deep.orc") == [{"id": 1, "deep": value}]


MASKED = pathlib.Path(__file__).parents[2] / "data" / "masked.zstd.orc"


@pytest.mark.parametrize("command", ["data", "tail", "sample", "scan", "explain", "sql"])
def test_encrypted_columns(command, run):
    """Their masks are read on request, and other columns without a word."""
    if command == "sql":
        pytest.importorskip("duckdb")
        whole, part = [f"from '{MASKED}'"], [f"select id, count(*) over () from '{MASKED}'"]
    else:
        whole, part = [MASKED], [MASKED, "-c", "id"]
    code, _, err = run(command, *whole)
    assert code == 1
    assert "are encrypted" in err
    assert run(command, *whole, "--masked")[0] == 0
    assert run(command, *part)[0] == 0


@pytest.mark.parametrize("arguments", [[], ["--by-file"], ["--by-stripe"]], ids=str)
def test_statistics_of_encrypted_columns(arguments, run):
    code, lines, err = run("stats", MASKED, "--json", *arguments)
    assert code == 0
    found = {each["column"]: each.get("masked", False) for each in map(json.loads, lines)}
    encrypted = orcish.ORCFile(MASKED).encrypted_columns
    assert encrypted
    assert {name for name, is_masked in found.items() if is_masked} >= set(encrypted)
    assert not found["id"]
    assert f"{', '.join(encrypted)} are encrypted" in err
    assert any(line.split()[-1] == "masked" for line in run("stats", MASKED, *arguments)[1])
    # Other columns have them without a word.
    code, lines, err = run("stats", MASKED, "-c", "id", "--json", *arguments)
    assert (code, err, "masked" in json.loads(lines[0])) == (0, "", False)


@pytest.mark.parametrize("arguments", [[], ["--by-file"], ["--by-stripe"]], ids=str)
def test_statistics_of_fields(arguments, tmp_path, run):
    orcish.write_table(pa.table({"id": [1], "c": [{"a": 1, "l": [{"x": 2}]}], "d": [3]}), tmp_path / "n.orc")
    for columns in (["c"], ["c,c.l"], ["c", "-c", "c.l", "-c", "c.a"]):
        _, lines, _ = run("stats", tmp_path / "n.orc", "-c", *columns, "--json", *arguments)
        assert [json.loads(line)["column"] for line in lines] == ["c", "c.a", "c.l", "c.l.element", "c.l.element.x"]


@pytest.mark.parametrize("place", ["file", "folder"])
@pytest.mark.parametrize(
    "command", ["count", "data", "tail", "sample", "scan", "explain", "diff", "convert", "rewrite"]
)
def test_filters_of_columns_of_nulls(command, place, tmp_path, run):
    folder = put(tmp_path / "t", pa.table({"n": pa.nulls(2)}), *([pa.table({"n": pa.nulls(1)})] * (place == "folder")))
    source = folder if place == "folder" else folder / "0.orc"
    for literal in ("5", "'x'", "date '2026-01-01'"):
        options = {"diff": [source], "convert": [tmp_path / "out.jsonl", "--existing-data", "overwrite"]}
        more = {"rewrite": ["-o", tmp_path / "out.orc", "--existing-data=overwrite"]} | options
        where = ["--where", f"n = {literal} or n is null"]
        code, _, err = run(command, source, *more.get(command, []), *where)
        assert code == 0, err


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("command", ["data", "tail", "sample", "count", "scan", "explain", "json-schema", "convert"])
def test_clocks_in_some_files_and_instants_in_others(command, order, tmp_path, run):
    for name, zone in zip(("a", "b")[::order], (None, "UTC"), strict=True):
        rows = pa.table({"t": pa.array([0], pa.timestamp("us", zone)), "s": [{"t": None}]})
        rows = rows.set_column(1, "s", pa.StructArray.from_arrays([rows["t"].combine_chunks()], ["t"]))
        orcish.write_table(rows, tmp_path / f"{name}.orc")
    sources = [tmp_path / "a.orc", tmp_path / "b.orc"]
    if command == "convert":
        sources = [tmp_path / "*.orc", tmp_path / "out.csv"]
    code, lines, err = run(command, *sources)
    assert code == 0, err
    if command == "json-schema":
        instant = "timestamp with local time zone"
        assert lines == [f"struct<t:{instant},s:struct<t:{instant}>>"]


OF_SEVERAL_TYPES = {
    "nanoseconds": [pa.array([1_000_000_001], pa.timestamp("ns"))],
    "units": [pa.array([1], pa.timestamp("s")), pa.array([1_000_000_001], pa.timestamp("ns"))],
    "integers": [pa.array([1], pa.int8()), pa.array([200], pa.uint8())],
    "floats": [pa.array([1], pa.int8()), pa.array([1.5])],
    "decimals": [pa.array([1]), pa.array([decimal.Decimal("1.25")])],
    "bytes": [pa.array(["a"]), pa.array([b"b"])],
}


@pytest.mark.parametrize("nest", [lambda values: values, lambda values: pa.ListArray.from_arrays([0, 1], values)])
@pytest.mark.parametrize("kind", OF_SEVERAL_TYPES)
def test_nulls_of_a_file_anywhere(kind, nest, tmp_path, run):
    """The columns have the type of the files with values, wherever the file with nulls is."""
    pytest.importorskip("duckdb")
    tables = [pa.table({"c": nest(values)}) for values in (pa.nulls(1), *OF_SEVERAL_TYPES[kind])]
    found = []
    for at, order in enumerate(itertools.permutations(tables)):
        source = put(tmp_path / str(at), *order)
        rows = shown(run, "data", source)
        code, lines, err = run("sql", f"from '{source}'", "--json")
        assert code == 0, err
        assert [json.loads(line) for line in lines] == rows
        found.append(sorted(map(str, rows)))
    assert found == [found[0]] * len(found)
    assert kind not in ("nanoseconds", "units") or "01.000000001" in str(found[0])


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    "types",
    [
        (pa.duration("s"), pa.duration("ms")),
        (pa.duration("us"), pa.duration("s")),
        (pa.time32("s"), pa.time32("ms")),
        (pa.time64("us"), pa.time64("ns")),
        (pa.duration("s"), pa.int64()),
    ],
    ids=str,
)
def test_statistics_of_several_units(types, order, tmp_path, run):
    """Numbers of several units have no bounds and no sum, and are said to have none."""
    columns = [pa.array([1], kind) for kind in types][::order]
    tables = [pa.table({"c": values, "n": pa.StructArray.from_arrays([values], ["x"])}) for values in columns]
    source = put(tmp_path / "t", *tables, pa.table({"c": pa.nulls(0, types[0])}))
    code, lines, err = run("stats", source, "--json")
    assert code == 0, err
    found = {column["column"]: column for column in map(json.loads, lines)}
    for name in ("c", "n.x"):
        assert not {"min", "max", "sum"} & set(found[name]["statistics"])
        assert found[name]["statistics"]["values"] == 2
        assert {str(kind) for kind in types} & set(found[name]["units"])
        assert len(found[name]["units"]) == 2
    code, lines, err = run("stats", source, "-c", "c")
    assert "units " in "\n".join(lines)
    same = put(tmp_path / "same", tables[0], tables[0])
    code, lines, err = run("stats", same, "-c", "c", "--json")
    assert json.loads(lines[0])["statistics"]["min"] == 1
    assert "units" not in json.loads(lines[0])
