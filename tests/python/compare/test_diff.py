"""Differences of files and tables, compared with a slow comparison of objects of Python."""

from __future__ import annotations

import datetime
import io
import json
import math
import os
import pathlib
import random
import subprocess
from collections import Counter
from decimal import Decimal
from typing import Any

import orcish
import orcish.comparing.partitions as partitions
import pyarrow as pa
import pytest
from orcish.comparing.types import comparable
from orcish.comparing.values import different
from orcish_cli import main
from support.carbon import CarbonTableWriter
from support.case_loops import each_case
from support.processes import ORCISH
from support.random_cases import cases

DATA = pathlib.Path(__file__).parents[2] / "data"


def written(rows: pa.Table, **options: Any) -> bytes:
    target = io.BytesIO()
    orcish.write_table(rows, target, **options)
    return target.getvalue()


def plain(value: Any) -> Any:
    """A value that is equal to another one as Python says."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    if isinstance(value, dict):
        return tuple((name, plain(inner)) for name, inner in value.items())
    if isinstance(value, list):
        if value and isinstance(value[0], tuple):
            return frozenset((plain(key), plain(inner)) for key, inner in value)
        return tuple(map(plain, value))
    return value


FLAT: dict[str, list[Any]] = {
    "int8": [None, -1, 0, 1],
    "int64": [None, -(2**63), 2**63 - 1, 5],
    "float": [None, math.nan, 0.0, -0.0, 1.5, math.inf],
    "double": [None, math.nan, 0.0, -0.0, 0.1, -math.inf],
    "string": [None, "", "a", "日本"],
    "binary": [None, b"", b"\xff"],
    "bool": [None, True, False],
    "date32": [None, datetime.date(1, 1, 1), datetime.date(9999, 12, 31)],
    "timestamp[us]": [None, datetime.datetime(2026, 1, 1), datetime.datetime(1900, 1, 1, 0, 0, 0, 5)],
    "decimal": [None, Decimal("1.25"), Decimal("-99999.99")],
    "duration": [None, datetime.timedelta(seconds=1), datetime.timedelta(days=-1)],
    "dictionary": [None, "x", "y"],
}
TYPES: dict[str, Any] = {
    **{name: getattr(pa, name)() for name in ("int8", "int64", "string", "binary", "date32")},
    "float": pa.float32(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "timestamp[us]": pa.timestamp("us"),
    "decimal": pa.decimal128(10, 2),
    "duration": pa.duration("us"),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
}


def column_type(chance: random.Random, depth: int = 2) -> tuple[pa.DataType, Any]:
    """A type, and a function that makes values."""
    kind = chance.choice([*FLAT, *(["list", "struct", "map"] if depth else [])])
    if kind in FLAT:
        return TYPES[kind], lambda: chance.choice(FLAT[kind])
    inner, make = column_type(chance, depth - 1)
    other, other_make = column_type(chance, depth - 1)
    if kind == "list":
        return pa.list_(inner), lambda: chance.choice([None, [], [make()], [make(), make()]])
    if kind == "struct":
        return pa.struct([("a", inner), ("b", other)]), lambda: chance.choice([None, {"a": make(), "b": other_make()}])
    return pa.map_(pa.string(), inner), lambda: chance.choice(
        [None, [], [("k", make())], [("k", make()), ("l", make())]]
    )


def random_rows(chance: random.Random, count: int) -> tuple[pa.Schema, list[dict[str, Any]], Any]:
    columns = {f"c{at}": column_type(chance) for at in range(chance.randrange(1, 5))}
    schema = pa.schema([(name, kind) for name, (kind, _) in columns.items()])

    def row() -> dict[str, Any]:
        return {name: make() for name, (_, make) in columns.items()}

    return schema, [row() for _ in range(count)], row


@each_case("seed", range(cases(60)))
def test_random_rows_by_position(seed: int) -> None:
    chance = random.Random(seed)
    schema, rows, row = random_rows(chance, chance.randrange(0, 60))
    other = [row() if chance.random() < 0.3 else each for each in rows]
    other = other[: chance.randrange(len(other) + 1)] if chance.random() < 0.3 else other
    a, b = (pa.Table.from_pylist(each, schema) for each in (rows, other))
    found = orcish.diff(
        orcish.scan(written(a)).batch_size(chance.randrange(1, 9)),
        orcish.scan(written(b)).batch_size(chance.randrange(1, 9)),
        show=10_000,
    )
    pairs = list(zip(a.to_pylist(), b.to_pylist(), strict=False))
    expected = [
        (at, name) for at, (x, y) in enumerate(pairs) for name in schema.names if plain(x[name]) != plain(y[name])
    ]
    assert [(each.row_a, each.column) for each in found.shown if each.kind == "changed"] == expected
    assert found.changed == len({at for at, _ in expected})
    assert found.columns == Counter(name for _, name in expected)
    assert (found.only_a, found.only_b) == (len(rows) - len(pairs), len(other) - len(pairs))
    assert (found.rows_a, found.rows_b) == (len(rows), len(other))
    assert bool(found) == bool(expected or len(rows) != len(other))
    assert bool(orcish.diff(written(a), written(b), brief=True)) == bool(found)


@pytest.mark.parametrize("memory", [1, 1 << 30])
@each_case("seed", range(cases(40)))
def test_random_rows_by_key(seed: int, memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(partitions, "MAX_PARTS", chance.choice([1, 3, 256]))
    kinds = chance.sample(sorted(FLAT), chance.randrange(1, 3))
    schema = pa.schema([*((f"k{at}", TYPES[kind]) for at, kind in enumerate(kinds)), ("v", pa.list_(pa.int64()))])
    keys = [f"k{at}" for at in range(len(kinds))]

    def row() -> dict[str, Any]:
        values = {f"k{at}": chance.choice(FLAT[kind]) for at, kind in enumerate(kinds)}
        return {**values, "v": chance.choice([None, [1], [2, None]])}

    tables = [pa.Table.from_pylist([row() for _ in range(chance.randrange(40))], schema) for _ in range(2)]
    scans = [orcish.scan(written(table)).batch_size(7) for table in tables]
    found = orcish.diff(*scans, key=keys, show=10_000, max_memory=memory)
    groups: list[dict[Any, list[Any]]] = [{}, {}]
    for group, table in zip(groups, tables, strict=True):
        for each in table.to_pylist():
            group.setdefault(tuple(plain(each[key]) for key in keys), []).append(plain(each["v"]))
    changed = only_a = only_b = 0
    for key in groups[0].keys() | groups[1].keys():
        x, y = (group.get(key, []) for group in groups)
        changed += sum(v != w for v, w in zip(x, y, strict=False))
        only_a += max(0, len(x) - len(y))
        only_b += max(0, len(y) - len(x))
    assert (found.changed, found.only_a, found.only_b) == (changed, only_a, only_b)
    several = {key for group in groups for key, values in group.items() if len(values) > 1}
    assert found.duplicate_keys == len(several)
    for each in found.shown:
        assert each.key is not None
        for side, number, table in (("a", each.row_a, tables[0]), ("b", each.row_b, tables[1])):
            if number is not None:
                value = getattr(each, side)
                shown = value if each.column is not None else value["v"]
                assert plain(shown) == plain(table["v"][number].as_py())
    bags = [orcish.scan(written(table)).select(*keys) for table in tables]
    bag = orcish.diff(*bags, ignore_order=True, max_memory=memory)
    counts = [Counter({key: len(values) for key, values in group.items()}) for group in groups]
    assert (bag.changed, bag.only_a, bag.only_b) == (
        0,
        (counts[0] - counts[1]).total(),
        (counts[1] - counts[0]).total(),
    )


WIDTHS = [
    (pa.int8(), pa.int64(), [1, None, -5]),
    (pa.uint64(), pa.int64(), [1, 2**62]),
    (pa.float32(), pa.float64(), [1.5, None, math.nan]),
    (pa.int32(), pa.float64(), [2**31 - 1, None]),
    (pa.decimal128(5, 2), pa.decimal128(38, 10), [Decimal("1.25"), None]),
    (pa.int64(), pa.decimal128(38, 2), [2**62]),
    (pa.decimal128(38, 0), pa.decimal128(38, 38), [Decimal(0)]),
    (pa.string(), pa.large_string(), ["a", None]),
    (pa.string(), pa.string_view(), ["a", None]),
    (pa.string(), pa.binary(), ["a", None]),
    (pa.string(), pa.dictionary(pa.int8(), pa.string()), ["a", None]),
    (pa.binary(2), pa.binary(), [b"ab", None]),
    (pa.timestamp("s"), pa.timestamp("ns"), [datetime.datetime(2026, 1, 1), None]),
    (pa.timestamp("s", "UTC"), pa.timestamp("us", "Europe/Berlin"), [datetime.datetime(2026, 1, 1)]),
    (pa.duration("s"), pa.duration("ns"), [datetime.timedelta(seconds=5), None]),
    (pa.date32(), pa.date64(), [datetime.date(2026, 1, 1), None]),
    (pa.time32("s"), pa.time64("ns"), [datetime.time(1, 2, 3), None]),
    (pa.list_(pa.int8()), pa.large_list(pa.int64()), [[1, None], [], None]),
    (pa.list_(pa.int8(), 2), pa.list_(pa.int64()), [[1, None], None]),
    (
        pa.struct([("a", pa.int8()), ("b", pa.string())]),
        pa.struct([("b", pa.string()), ("a", pa.int32())]),
        [{"a": 1, "b": "x"}, None],
    ),
    (pa.null(), pa.int64(), [None]),
]


@pytest.mark.parametrize(("kind", "other", "values"), WIDTHS, ids=str)
def test_types_of_different_widths(kind: pa.DataType, other: pa.DataType, values: list[Any]) -> None:
    a, b = pa.array([*values, None], kind), pa.array([*values, None], other)
    assert comparable(kind, other)
    for x, y in ((a, b), (b, a)):
        assert not any(different(x, y, 0.0).to_pylist())
        swapped = pa.concat_arrays([y.slice(len(y) - 1), y.slice(0, len(y) - 1)])
        expected = [plain(v) != plain(w) for v, w in zip([*values, None], [None, *values], strict=True)]
        assert different(x, swapped, 0.0).to_pylist() == expected


def test_views() -> None:
    """Views are read where orcish has written them, and many functions of pyarrow have none."""
    rows = pa.table(
        {
            "k": pa.array(["a", "b", None], pa.string_view()),
            "l": pa.array([["x"], None, []], pa.list_view(pa.string_view())),
            "s": pa.array([{"b": b"1"}, None, {"b": None}], pa.struct([("b", pa.binary_view())])),
        }
    )
    turned = written(pa.concat_tables([rows.slice(2), rows.slice(0, 2)]))
    assert orcish.scan(turned).schema.field("k").type == pa.string_view()
    for memory in (1, 1 << 20):
        assert not orcish.diff(written(rows), turned, key="k", max_memory=memory)
    assert orcish.diff(written(rows), turned).columns == {"k": 3, "l": 3, "s": 3}


def test_processes_find_the_same_first_differences(tmp_path: pathlib.Path) -> None:
    """The parts of rows on disk do not depend on the seed of Python's hashes, nor on the address of None."""
    a, b = str(tmp_path / "a.orc"), str(tmp_path / "b.orc")
    rows = pa.table({"k": [None, *(f"key {at}" for at in range(200))], "b": [None, *(b"%d" % at for at in range(200))]})
    orcish.write_table(rows, a)
    orcish.write_table(rows.set_column(1, "b", pa.array([b"x"] * 201)), b)
    found = set()
    for keys in ("k", "b"):
        for seed in ("0", "1", "77"):
            done = subprocess.run(
                [*ORCISH, "diff", a, b, "--key", keys, "--max-memory", "1", "-n", "5"],
                capture_output=True,
                text=True,
                check=False,
                env={**os.environ, "PYTHONHASHSEED": seed},
            )
            assert (done.returncode, done.stderr) == (1, "")
            found.add((keys, done.stdout))
    assert len(found) == 2


def test_times_beyond_the_finer_unit() -> None:
    late = datetime.datetime(9999, 12, 31)
    seconds = pa.array([late, datetime.datetime(2026, 1, 1)], pa.timestamp("s"))
    finer = pa.array([datetime.datetime(2026, 1, 1)] * 2, pa.timestamp("ns"))
    assert different(seconds, finer, 0.0).to_pylist() == [True, False]


@pytest.mark.parametrize(
    ("kind", "other"),
    [
        (pa.int64(), pa.float64()),
        (pa.int64(), pa.string()),
        (pa.timestamp("us"), pa.timestamp("us", "UTC")),
        (pa.list_(pa.int64()), pa.int64()),
        (pa.struct([("a", pa.int64())]), pa.struct([("b", pa.int64())])),
        (pa.bool_(), pa.int8()),
    ],
    ids=str,
)
def test_types_that_are_not_compared(kind: pa.DataType, other: pa.DataType) -> None:
    a, b = (pa.table({"x": pa.nulls(3, each), "id": [1, 2, 3]}) for each in (kind, other))
    assert not comparable(kind, other)
    found = orcish.diff(written(a), written(b), values_only=True)
    (change,) = found.schema
    assert (change.kind, change.column, change.is_compared) == ("type", "x", False)
    assert (found.changed, bool(found)) == (0, True)
    with pytest.raises(TypeError, match="column x"):
        orcish.diff(written(a), written(b), key="x")


def test_structs_of_other_fields_are_different() -> None:
    """Values of fields that one side has are no part of the comparison of values."""
    a = written(pa.table({"s": [{"a": 1, "b": 2}]}))
    b = written(pa.table({"s": [{"a": 1}]}))
    found = orcish.diff(a, b, values_only=True)
    assert (found.changed, [change.is_compared for change in found.schema]) == (0, [False])
    assert found


def test_options() -> None:
    a = pa.table({"id": [1, 2, 3], "x": [1.0, 2.0, math.inf], "y": ["a", "b", "c"]})
    b = pa.table({"y": ["a", "b", "c"], "id": pa.array([1, 2, 3], pa.int16()), "x": [1.0, 2.001, math.inf]})
    one, two = written(a, metadata={"k": "1"}), written(b, metadata={"k": "2"})
    found = orcish.diff(one, two)
    assert {(change.kind, change.column) for change in found.schema} >= {("type", "id"), ("order", "id")}
    assert found.columns == {"x": 1}
    assert not orcish.diff(one, two, values_only=True, tolerance=0.01)
    assert orcish.diff(one, two, values_only=True, tolerance=0.0001).changed == 1
    assert not orcish.diff(one, two, columns=["y"])
    assert not orcish.diff(one, two, filters="id = 1", values_only=True)
    assert orcish.diff(one, two, filters="id > 1", values_only=True).rows_a == 2
    (change,) = orcish.diff(one, two, columns=["y"], check_metadata=True).metadata
    assert (change.column, change.key, change.a, change.b) == (None, "k", "1", "2")
    assert orcish.diff(one, two, show=0).shown == ()
    assert orcish.diff(one, two, show=0).changed == 1
    for wrong, message in {
        "tolerance": {"tolerance": -1.0},
        "ignore_order": {"ignore_order": True, "key": "id"},
        "no tolerance": {"ignore_order": True, "tolerance": 0.1},
    }.items():
        with pytest.raises(ValueError, match=wrong):
            orcish.diff(one, two, **message)  # type: ignore[arg-type]
    with pytest.raises(orcish.UnknownColumnError, match='key: a: no column is named "idd"; nearest: id'):
        orcish.diff(one, two, key="idd")


def test_columns_of_one_name() -> None:
    rows = pa.table([pa.array([1, 2]), pa.array([3, 4])], names=["a", "a"])
    other = pa.table([pa.array([1, 2]), pa.array([3, 5])], names=["a", "a"])
    found = orcish.diff(written(rows), written(other))
    assert (found.changed, found.columns) == (1, {"a (2)": 1})
    assert orcish.diff(written(rows), written(other), ignore_order=True).only_a == 1
    (change,) = orcish.diff(written(rows), written(pa.table({"a": [1]}))).schema
    assert (change.kind, change.column) == ("only_a", "a (2)")
    with pytest.raises(orcish.UnknownColumnError, match="'a'"):
        orcish.diff(written(rows), written(other), key="a")


def test_without_common_columns() -> None:
    found = orcish.diff(written(pa.table({"a": [1, 2]})), written(pa.table({"b": [1]})))
    assert (found.rows_a, found.rows_b, found.only_a, found.only_b) == (2, 1, 1, 0)
    assert [change.kind for change in found.schema] == ["only_a", "only_b"]


def test_tables(tmp_path: pathlib.Path) -> None:
    rows = pa.table({"id": range(100), "day": [f"d{at % 3}" for at in range(100)]})
    orcish.write_dataset(rows, tmp_path / "t", partition_by=["day"])
    orcish.write_table(rows, tmp_path / "a.orc")
    found = orcish.diff(tmp_path / "t", tmp_path / "a.orc", key="id")
    assert (found.changed, found.only_a, found.only_b) == (0, 0, 0)
    assert not orcish.diff(tmp_path / "t", tmp_path / "a.orc", ignore_order=True, values_only=True)
    with pytest.raises(TypeError, match="metadata"):
        orcish.diff(tmp_path / "t", tmp_path / "a.orc", check_metadata=True)
    written_carbon = CarbonTableWriter(tmp_path / "c", pa.schema({"id": pa.int64()}))
    written_carbon.load(rows.select(["id"]))
    assert not orcish.diff(str(written_carbon.path), tmp_path / "t", columns=["id"], key="id")


@pytest.mark.parametrize("path", sorted(DATA.glob("*.orc")), ids=lambda path: path.name)
def test_a_file_is_equal_to_itself(path: pathlib.Path) -> None:
    scans = [orcish.scan(path, masked="allow", batch_size=size) for size in (3, 1000)]
    assert not orcish.diff(*scans)
    assert not orcish.diff(*scans, values_only=True)


class TestCommand:
    def run(self, capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, list[str], str]:
        code = main(["diff", *map(str, arguments)])
        out, err = capsys.readouterr()
        assert all(line.isprintable() for line in [*out.splitlines(), *err.splitlines()])
        return code, out.splitlines(), err

    def test_exit_codes(self, capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
        a, b = tmp_path / "a.orc", tmp_path / "b.orc"
        orcish.write_table(pa.table({"id": [1, 2]}), a)
        orcish.write_table(pa.table({"id": [1, 3]}), b)
        assert self.run(capsys, a, a) == (0, [], "")
        assert self.run(capsys, "-q", a, a) == (0, [], "")
        assert self.run(capsys, "-q", a, b) == (1, [f"{a} and {b} differ"], "")
        code, lines, err = self.run(capsys, a, b)
        assert (code, err) == (1, "")
        assert "1 rows have different values: id 1" in lines
        for wrong in (
            (a, tmp_path / "c.orc"),
            (a, b, "-k", "ix"),
            (a, b, "--tolerance", "-1"),
            (a, b, "--max-memory", "x"),
        ):
            code, lines, err = self.run(capsys, *wrong)
            assert (code, lines) == (2, [])
            assert err.startswith("orcish: ")
        with pytest.raises(SystemExit) as raised:
            main(["diff", str(a)])
        assert raised.value.code == 2

    def test_output(self, capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
        a, b = tmp_path / "a\x1b.orc", tmp_path / "b.orc"
        orcish.write_table(
            pa.table({"id": [1, 2, 3], "x\x1b": ["a", "b\x1b", None], "old": [1, 1, 1]}), a, metadata={"k": "\x1b"}
        )
        orcish.write_table(pa.table({"id": [1, 2, 4], "x\x1b": ["a", "c", None], "new": [1, 1, 1]}), b)
        code, lines, _ = self.run(capsys, a, b, "--key", "id", "--metadata")
        text = "\n".join(lines)
        assert code == 1
        for part in ("only in A", "only in B", "1 rows only in A, 1 rows only in B", "id=2", "Metadata", "\\x1b"):
            assert part in text
        found = [json.loads(line) for line in self.run(capsys, a, b, "--key", "id", "--json")[1]]
        assert [each["what"] for each in found] == ["column", "column", "value", "row", "row", "all"]
        assert (found[-1]["changed"], found[-1]["only_a"], found[-1]["differ"]) == (1, 1, True)
        assert found[2]["key"] == {"id": 2}
        lines = self.run(capsys, a, b, "--key", "id", "-n", 1)[1]
        assert lines[-1] == "… and 2 more: --limit shows more"
        assert "… and" not in "\n".join(self.run(capsys, a, b, "--key", "id", "--all")[1])


def test_keys_of_other_types() -> None:
    """Equal keys are in one part, whatever the types and the batches of both sides are."""
    late = datetime.datetime(9999, 12, 31)
    moments = [datetime.datetime(2026, 1, 1) + datetime.timedelta(days=at) for at in range(50)]
    pairs: list[tuple[pa.Array, pa.Array]] = [
        (pa.array([*moments, late], pa.timestamp("s")), pa.array([*moments, moments[0]], pa.timestamp("ns"))),
        (pa.array([*range(50), -1], pa.int64()), pa.array([*range(50), 2**64 - 1], pa.uint64())),
        (pa.array([*range(50), None], pa.int8()), pa.array([*range(50), 99], pa.float64())),
        (
            pa.array([f"v{at}" for at in range(51)]),
            pa.array([*(f"v{at}".encode() for at in range(50)), b"w"], pa.binary()),
        ),
        (pa.array([Decimal(at) for at in range(51)], pa.decimal128(5, 0)), pa.array([*range(50), 99], pa.int64())),
    ]
    for x, y in pairs:
        for memory in (1, 1 << 30):
            scans = [
                orcish.scan(written(pa.table({"k": each})), timestamp_unit="exact").batch_size(7) for each in (x, y)
            ]
            found = orcish.diff(*scans, key="k", max_memory=memory)
            repeated = int(x.type == pa.timestamp("s"))
            assert (found.changed, found.only_a, found.only_b) == (0, 1, 1), x.type
            assert found.duplicate_keys == repeated


@pytest.mark.parametrize("as_table", [(False, False), (False, True), (True, True)])
def test_names_that_only_arrow_has_are_no_difference(as_table: tuple[bool, bool], tmp_path: pathlib.Path) -> None:
    def kinds(name: str, key: str, is_null: bool) -> list[pa.DataType]:
        item = pa.field(name, pa.int32(), nullable=is_null)
        plain = [pa.list_(item), pa.large_list(item), pa.list_(item, 2), pa.map_(pa.field(key, pa.int8(), False), item)]
        return [*plain, pa.list_(pa.field(name, plain[0])), pa.struct([("item", plain[3])])]

    values = [[[1, 2]], [[1, 2]], [[1, 2]], [[(1, 2)]], [[[1]]], [{"item": [(1, 2)]}]]
    places = []
    for side, given in enumerate((("item", "key", True), ("element", "k", False))):
        columns = {f"c{at}": pa.array(values[at], kind) for at, kind in enumerate(kinds(*given))}
        columns["n"] = pa.array([1], pa.int64() if side else pa.int32())
        place = tmp_path / f"{side}.orc"
        if as_table[side]:
            orcish.write_dataset(pa.table(columns), tmp_path / str(side))
            place = tmp_path / str(side)
        else:
            orcish.write_table(pa.table(columns), place)
        places.append(place)
    (change,) = orcish.diff(*places).schema
    assert (change.column, change.a, change.b) == ("n", "int", "bigint")


@pytest.mark.parametrize("is_nested", [False, True])
def test_units_that_files_do_not_say_are_no_difference(is_nested: bool, tmp_path: pathlib.Path) -> None:
    """The unit of timestamps without an Arrow schema comes from the statistics, and differs with the rows."""
    far = [datetime.datetime(2020, 1, 1), datetime.datetime(9999, 1, 1)]
    times = {"far": far, "near": far[:1] * 2}
    for name, values in times.items():
        column = pa.array(values, pa.timestamp("us"))
        rows = pa.table({"id": [1, 2], "t": pa.array([[each] for each in column]) if is_nested else column})
        orcish.write_table(rows, tmp_path / name, arrow_schema=False)
    found = orcish.diff(tmp_path / "far", tmp_path / "near", filters="id = 1")
    assert (bool(found), found.schema) == (False, ())
    assert main(["diff", str(tmp_path / "far"), str(tmp_path / "near"), "--where", "id = 1"]) == 0
    assert orcish.diff(tmp_path / "far", tmp_path / "near").changed == 1
    # A stored unit is one.
    for unit in ("ms", "us"):
        orcish.write_table(pa.table({"t": pa.array([5], pa.timestamp(unit))}), tmp_path / unit)
    assert [each.kind for each in orcish.diff(tmp_path / "ms", tmp_path / "us").schema] == ["type"]


def test_nanoseconds_beside_far_years(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They have no common unit: the error has the option that compares them."""
    pieces = []
    for at, (value, unit) in enumerate([(1_000_000_001, "ns"), (253_402_300_799_000_000, "us")]):
        pieces.append(tmp_path / f"{at}.orc")
        orcish.write_table(pa.table({"t": pa.array([value], pa.timestamp(unit))}), pieces[-1], arrow_schema=False)
    file = str(tmp_path / "both.orc")
    orcish.merge(pieces, file)
    for command in (["diff", file, file], ["sql", f"from '{file}'"], ["convert", file, file + ".parquet"]):
        assert main(command) == (2 if command[0] == "diff" else 1)
        err = capsys.readouterr().err
        assert (file in err, "--timestamp-unit us cuts them off" in err, "timestamp_unit" in err) == (True, True, False)
        assert main([*command, "--timestamp-unit", "us"]) == 0
        capsys.readouterr()
    assert not orcish.diff(file, file, timestamp_unit="us")
