"""Several sources of ``orcish convert`` have the types of all: no value is changed."""

from __future__ import annotations

import datetime
import functools
import json
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.parquet
import pytest
from orcish_cli.formats.source_types import common_schema

NOON = datetime.datetime(2026, 1, 2, 12)
TYPED = ["parquet", "arrow", "arrows"]
OTHERS: list[tuple[Any, Any]] = [
    (pa.array([True]), pa.array([7])),
    (pa.array([NOON.date()]), pa.array([NOON])),
    (pa.array([5]), pa.array(["007"])),
    (pa.array([5]), pa.array([NOON])),
    (pa.array([5]), pa.array([1.5])),
    (pa.array([0], pa.time64("us")), pa.array([NOON])),
    (pa.array([0], pa.timestamp("ms")), pa.array([0], pa.timestamp("ms", "Europe/Berlin"))),
    (pa.array([{"x": 1}]), pa.array([{"x": 1, "y": 2}])),
    (pa.array([[{"x": 1}]]), pa.array([[{"x": "1"}]])),
]
WIDENED: list[tuple[Any, Any]] = [
    (pa.array([1], pa.int32()), pa.array([2**40])),
    (pa.array([1], pa.uint8()), pa.array([-1], pa.int8())),
    (pa.array([1.5], pa.float32()), pa.array([1e300])),
    (pa.array([1, 2], pa.decimal128(3, 0)), pa.array([12345], pa.decimal128(5, 0))),
    (pa.array(["a"]), pa.array(["b"], pa.large_string())),
    (pa.array(["a"]).dictionary_encode(), pa.array(["b"])),
    (pa.array([NOON], pa.timestamp("ms")), pa.array([NOON], pa.timestamp("us"))),
    (pa.array([{"x": 1, "y": "a"}]), pa.array([{"y": "b", "x": 2}])),
    (pa.array([[1]], pa.list_(pa.int32())), pa.array([[2**40]], pa.large_list(pa.int64()))),
    (pa.array([None]), pa.array([1])),
]


@pytest.fixture
def run(run):
    """Runs ``orcish convert``."""
    return functools.partial(run, "convert")


def write(path: Any, array: pa.Array) -> None:
    table = pa.table({"a": array})
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path)
        return
    made = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
    with made(str(path), table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize("ending", TYPED)
def test_other_types(ending, tmp_path, run):
    for at, (one, two) in enumerate(OTHERS):
        for first, second in ((one, two), (two, one)):
            write(tmp_path / f"1.{ending}", first)
            write(tmp_path / f"2.{ending}", second)
            for target in (f"{at}.orc", f"{at}.csv", f"{at}"):
                code, _, err = run(tmp_path / f"1.{ending}", tmp_path / f"2.{ending}", tmp_path / target)
                assert code == 1
                assert f"2.{ending}: column 'a' is " in err
                assert not (tmp_path / target).exists()


@pytest.mark.parametrize("ending", TYPED)
def test_types_that_hold_those_of_all(ending, tmp_path, run):
    for at, (one, two) in enumerate(WIDENED):
        for number, pair in enumerate(((one, two), (two, one))):
            for name, array in zip("12", pair, strict=True):
                write(tmp_path / f"{name}.{ending}", array)
            target = tmp_path / f"{at}_{number}.orc"
            code, _, err = run(tmp_path / f"1.{ending}", tmp_path / f"2.{ending}", target)
            assert (code, err) == (0, "")
            assert orcish.read_table(target)["a"].to_pylist() == pair[0].to_pylist() + pair[1].to_pylist()


def test_columns_that_are_not_read_may_differ(tmp_path, run):
    for name, values in (("1", [1]), ("2", ["x"])):
        pa.parquet.write_table(pa.table({"a": values, "b": [1]}), tmp_path / f"{name}.parquet")
    sources = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    assert run(*sources, tmp_path / "b.orc", "-c", "b")[0] == 0
    assert orcish.read_table(tmp_path / "b.orc")["b"].to_pylist() == [1, 1]


@pytest.mark.parametrize(
    ("one", "two", "wanted"),
    [
        ("x", "1.50,1e5", ["x", "1.50", "1e5"]),
        ("x", "2020-01-01T00:00:00+02:00", ["x", "2020-01-01T00:00:00+02:00"]),
        ("true", "1", ["true", "1"]),
        ("1", "1.5", [1.0, 1.5]),
        ("1", "007", ["1", "007"]),
        ("9007199254740993", "1.5", None),
        ("2026-01-02", "2026-01-02 12:00:00", ["2026-01-02", "2026-01-02 12:00:00"]),
    ],
)
def test_csv(one, two, wanted, tmp_path, run):
    for first, second in ((one, two), (two, one)):
        for name, texts in (("1", first), ("2", second)):
            (tmp_path / f"{name}.csv").write_text("\n".join(["a", *texts.split(","), ""]))
        target = tmp_path / f"{first == one}.orc"
        code, _, err = run(tmp_path / "1.csv", tmp_path / "2.csv", target)
        if wanted is None:
            assert code == 1
            assert "--schema" in err
        else:
            assert (code, err) == (0, "")
            assert sorted(orcish.read_table(target)["a"].to_pylist()) == sorted(wanted)


@pytest.mark.parametrize(
    ("one", "two", "wanted"),
    [
        ("1", '"007"', "is string, and int64 in"),
        ('{"x":1}', '{"x":1,"y":2}', [{"x": 1, "y": None}, {"x": 1, "y": 2}]),
        ("null", "true", [None, True]),
        ("1", "1.5", [1.0, 1.5]),
        ("9007199254740993", "1.5", "has more digits"),
        ("[1]", "[null]", [[1], [None]]),
        ("[1]", "1", "column 'a' is int64"),
    ],
)
def test_json(one, two, wanted, tmp_path, run):
    for name, text in (("1", one), ("2", two)):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"a":{text}}}\n')
    code, _, err = run(tmp_path / "1.jsonl", tmp_path / "2.jsonl", tmp_path / "o.orc")
    if isinstance(wanted, str):
        assert code == 1
        assert wanted in err
    else:
        assert (code, err) == (0, "")
        assert orcish.read_table(tmp_path / "o.orc")["a"].to_pylist() == wanted


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "jsonl"])
@pytest.mark.parametrize("kind", ["all", "some"])
def test_null_partitions(ending, kind, tmp_path, run):
    hidden = "__HIVE_DEFAULT_PARTITION__"
    for at, text in enumerate([hidden, hidden] if kind == "all" else ["7", hidden]):
        folder = tmp_path / "t" / f"q={at}" / f"p={text}"
        folder.mkdir(parents=True)
        file = folder / f"a.{ending}"
        if ending == "csv":
            file.write_text(f"id\n{at}\n")
        elif ending == "jsonl":
            file.write_text(json.dumps({"id": at}))
        else:
            orcish.write_table(pa.table({"id": [at]}), tmp_path / "one.orc")
            assert run(tmp_path / "one.orc", file, "--existing-data", "overwrite")[0] == 0
            (tmp_path / "one.orc").unlink()
    for target in ("o.orc", "table"):
        code, _, err = run(tmp_path / "t", tmp_path / target)
        assert (code, err) == (0, "")
        found = orcish.scan(tmp_path / target).to_table().select(["id", "q", "p"])
        wanted = None if kind == "all" else 7
        assert sorted(found.to_pylist(), key=lambda row: row["id"]) == [
            {"id": 0, "q": 0, "p": wanted},
            {"id": 1, "q": 1, "p": None},
        ]


def test_common_types_of_unsigned_integers():
    def common(*kinds):
        schemas = [pa.schema([("a", kind)]) for kind in kinds]
        return common_schema(schemas, [str(kind) for kind in kinds], "arrow", None).field("a").type

    assert common(pa.uint32(), pa.int8()) == pa.int64()
    assert common(pa.uint8(), pa.int32()) == pa.int32()
    assert common(pa.uint16(), pa.uint64()) == pa.uint64()
    assert common(pa.uint64(), pa.int8()) == pa.decimal128(20, 0)
    assert common(pa.int32(), pa.float64()) == pa.float64()
    with pytest.raises(ValueError, match="column 'a' is double, and int64 in int64"):
        common(pa.int64(), pa.float64())


def test_columns_in_another_order(tmp_path, run):
    """Columns are those of their names, whatever the order of a file, in every format."""
    tables = [pa.table({"a": [1], "b": [2], "c": ["x"]}), pa.table({"c": ["y"], "b": [4], "a": [3]})]
    wanted = [{"a": 1, "b": 2, "c": "x"}, {"a": 3, "b": 4, "c": "y"}]
    for ending in ("csv", "json", "parquet", "arrow", "arrows", "orc"):
        sources = [tmp_path / f"{number}.{ending}" for number in range(2)]
        for table, source in zip(tables, sources, strict=True):
            orc = tmp_path / "one.orc"
            orcish.write_table(table, orc, existing_data="overwrite")
            if ending == "orc":
                orc.rename(source)
            else:
                assert run(orc, source)[0] == 0
        for more in ([], ["--schema", "a bigint, b bigint, c string"] if ending in ("csv", "json") else []):
            target = tmp_path / f"{ending}.orc"
            assert run(*sources, target, "--existing-data", "overwrite", *more)[0] == 0
            assert orcish.read_table(target).to_pylist() == wanted, (ending, more)
        assert run(*sources, target, "--existing-data", "overwrite", "--where", "a = 3")[0] == 0
        assert orcish.read_table(target).to_pylist() == wanted[1:], ending
