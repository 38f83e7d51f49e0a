"""Differences of values of every type: one value of a column differs, and exactly its row is found."""

from __future__ import annotations

import io
import itertools
import json
import pathlib
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import orcish
import orcish.comparing.partitions as partitions
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.orc
import pytest
from orcish_cli import main
from support.case_loops import each_case
from support.columns_of_types import COLUMNS
from support.cpp_writers import write_rows
from support.random_cases import pairs

MODES: dict[str, dict[str, Any]] = {
    "position": {},
    "key": {"key": "id"},
    "key on disk": {"key": "id", "max_memory": 1},
    "tolerance": {"tolerance": 1e-300},
    "values only": {"values_only": True},
    "ignore order": {"ignore_order": True},
    "ignore order on disk": {"ignore_order": True, "max_memory": 1},
    "own key": {"key": "x"},
    "own key on disk": {"key": "x", "max_memory": 1},
}


DECIMAL = pa.array([Decimal("1.50"), Decimal("1.51")], pa.decimal128(5, 2))
NARROW = ("decimal32", "decimal64")
"""Types that versions of pyarrow before 19 have not."""
OTHERS = {
    "half": pa.array([1.0, 2.0], pa.float16()),
    "tags": pa.UnionArray.from_dense(
        pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array([1])]
    ),
    "fields of one name": pa.StructArray.from_arrays([pa.array([1, 1]), pa.array([2, 3])], names=["q", "q"]),
    "runs": pc.run_end_encode(pa.array([1, 2])),
    **{name: DECIMAL.cast(kind(5, 2)) for name in NARROW if (kind := getattr(pa, name, None)) is not None},
    "maps of maps": pa.array(
        [[("a", [("b", 1)])], [("a", [("b", 2)])]], pa.map_(pa.string(), pa.map_(pa.string(), pa.int8()))
    ),
}
ARRAYS = {
    **{name: array for name, array in COLUMNS.items() if name not in ("null", "runs", "decimal of 256 bits")},
    **OTHERS,
    **{f"{name} in structs": pa.StructArray.from_arrays([array], ["f"]) for name, array in OTHERS.items()},
    **{
        f"{name} in lists": pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), array)
        for name, array in OTHERS.items()
    },
    **{
        f"{name} in maps": pa.MapArray.from_arrays(pa.array([0, 1, 2], pa.int32()), pa.array(["a", "a"]), array)
        for name, array in OTHERS.items()
    },
}
"""Columns whose first two values differ."""


def written(array: pa.Array, order: list[int]) -> bytes:
    column = pa.chunked_array([array.slice(at, 1) for at in order])
    target = io.BytesIO()
    orcish.write_table(pa.table({"id": range(len(order)), "x": column}), target)
    return target.getvalue()


@each_case("mode", MODES)
@pytest.mark.parametrize("name", ARRAYS)
def test_one_value_is_found(name: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "MAX_PARTS", 3)
    array, options = ARRAYS[name], MODES[mode]
    a = written(array, [0, 1])
    assert not orcish.diff(a, a, **options)
    found = orcish.diff(a, written(array, [0, 0]), **options)
    assert found.schema == ()
    if "own" in mode or "ignore" in mode:
        assert (found.only_a, found.only_b) == (1, 1)
        rows = [(each.row_a, each.row_b) for each in found.shown if each.column is None]
        assert (1, None) in rows
        # Rows of one key are matched in their order.
        assert (None, 1) in rows
        return
    assert (found.changed, found.only_a, found.only_b, found.columns) == (1, 0, 0, {"x": 1})
    (each,) = found.shown
    assert (each.row_a, each.row_b, each.column) == (1, 1, "x")
    assert repr(each.a) != repr(each.b)


VALUES = {
    "int32": pa.int32(),
    **{
        f"decimal of {bits} bits": kind
        for bits, kind in {
            32: pa.decimal32(9, 2),
            64: pa.decimal64(18, 2),
            128: pa.decimal128(38, 2),
            256: pa.decimal256(38, 2),
        }.items()
    },
}
ENCODINGS: dict[str, Callable[[pa.Array], Any]] = {
    "plain": lambda values: values,
    "dictionary": lambda values: pa.DictionaryArray.from_arrays(pa.array(range(3), pa.int32()), values),
    "runs": lambda values: pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3], pa.int32()), values),
}
_OFFSETS = pa.array([0, 1, 2, 3], pa.int32())
_IS_NULL = pa.array([False, True, False])
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "alone": lambda values: values,
    "list": lambda values: pa.ListArray.from_arrays(_OFFSETS, values),
    "hidden list": lambda values: pa.ListArray.from_arrays(_OFFSETS, values, mask=_IS_NULL),
    "large list": lambda values: pa.LargeListArray.from_arrays(_OFFSETS.cast(pa.int64()), values, mask=_IS_NULL),
    "list view": lambda values: pa.ListViewArray.from_arrays(
        pa.array([2, 1, 0], pa.int32()), pa.array([1, 1, 1], pa.int32()), values, mask=_IS_NULL
    ),
    "list of a size": lambda values: pa.FixedSizeListArray.from_arrays(values, 1, mask=_IS_NULL),
    "struct": lambda values: pa.StructArray.from_arrays([values], ["f"]),
    "hidden struct": lambda values: pa.StructArray.from_arrays([values], ["f"], mask=_IS_NULL),
    "list of structs": lambda values: LAYOUTS["hidden list"](LAYOUTS["struct"](values)),
    "struct of lists": lambda values: LAYOUTS["hidden struct"](LAYOUTS["hidden list"](values)),
    "items of maps": lambda values: pa.MapArray.from_arrays(_OFFSETS, pa.array(["a", "b", "c"]), values),
    "keys of maps": lambda values: pa.MapArray.from_arrays(_OFFSETS, values, pa.array([1, 2, 3])),
}
"""Columns of three rows, of which each has a value. Rows that are null may have one, too."""


@pytest.mark.parametrize(("name", "encoding", "layout"), pairs(VALUES, ENCODINGS, LAYOUTS))
def test_encoded_values_in_every_layout(name: str, encoding: str, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "MAX_PARTS", 3)

    def file(*values: int | None) -> bytes:
        rows = LAYOUTS[layout](ENCODINGS[encoding](pa.array(values, VALUES[name])))
        target = io.BytesIO()
        orcish.write_table(pa.table({"id": [0, 1, 2], "x": rows}), target)
        return target.getvalue()

    second = 5 if layout == "keys of maps" else None
    a, b = file(1, second, 3), file(1, second, 4)
    for mode, options in MODES.items():
        assert not orcish.diff(a, a, **options), mode
        found = orcish.diff(a, b, **options)
        assert found.changed + found.only_a == 1, mode
        assert found.changed + found.only_b == 1, mode


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kinds", [(pa.time32("s"), pa.time32("ms")), (pa.duration("s"), pa.duration("ms"))], ids=str)
def test_units_are_those_of_values_in_every_layout(layout: str, kinds: tuple[pa.DataType, pa.DataType]) -> None:
    """Stored integers of two units are not compared with each other."""

    def file(kind: pa.DataType, *values: int) -> bytes:
        plain = pa.array(values, pa.int32() if pa.types.is_time32(kind) else pa.int64())
        target = io.BytesIO()
        orcish.write_table(pa.table({"id": [0, 1, 2], "x": LAYOUTS[layout](plain.cast(kind))}), target)
        return target.getvalue()

    seconds, same_time, same_number = file(kinds[0], 1, 2, 3), file(kinds[1], 1000, 2000, 3000), file(kinds[1], 1, 2, 3)
    assert orcish.diff(seconds, same_time).changed == 0
    hidden = layout in ("hidden list", "large list", "list view", "list of a size", "hidden struct")
    hidden |= layout in ("list of structs", "struct of lists")
    assert orcish.diff(seconds, same_number).changed == (2 if hidden else 3)


@each_case("mode", [mode for mode in MODES if "own" not in mode and "ignore" not in mode])
@pytest.mark.parametrize("name", ["list", "struct", "map", "union", "half", "uint64", "words"])
def test_nulls_of_no_type(name: str, mode: str) -> None:
    array = ARRAYS[name]
    a, b = written(array, [0]), written(pa.nulls(1), [0])
    found = orcish.diff(a, b, **MODES[mode])
    assert (found.changed, found.columns) == (1, {"x": 1})
    assert orcish.diff(b, a, **MODES[mode]).changed == 1


@each_case("mode", MODES)
@pytest.mark.parametrize(("kind", "key"), [("string", "a"), ("bigint", 7), ("struct<a:int>", (1,))])
def test_null_keys_of_maps(kind: str, key: Any, mode: str) -> None:
    a, b = (write_rows(f"struct<id:bigint,x:map<{kind},int>>", [(0, {key: 1}), (1, {each: 1})]) for each in (None, key))
    assert not orcish.diff(a, a, **MODES[mode])
    assert not orcish.diff(a, orcish.scan(a), **MODES[mode])
    found = orcish.diff(a, b, **MODES[mode])
    assert found.changed + found.only_a == 1
    assert (1, None) in [(each.row_a, None) for each in found.shown]


def test_types_are_compared_if_they_have_a_union() -> None:
    """Two files are compared in the type in which they are one table. Wall clocks are no instants, though."""
    kinds: list[Any] = [
        *(getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)),
        *(pa.float16(), pa.float32(), pa.float64(), pa.bool_(), pa.string(), pa.large_string(), pa.binary()),
        *(pa.decimal32(5, 2), pa.decimal64(18, 0), pa.decimal128(38, 0), pa.decimal128(38, 38), pa.decimal256(30, 4)),
        *(pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"), pa.duration("s"), pa.duration("ns")),
        *(pa.timestamp(unit, zone) for unit in ("s", "ns") for zone in (None, "UTC", "Asia/Kathmandu")),
    ]
    files = [written(pa.nulls(1, kind), [0]) for kind in kinds]
    wrong = []
    for one, other in itertools.permutations(range(len(kinds)), 2):
        zones = [getattr(kinds[at], "tz", None) is None for at in (one, other) if pa.types.is_timestamp(kinds[at])]
        try:
            orcish.read_table([files[one], files[other]])
        except orcish.UnsupportedError:
            has_union = False
        else:
            has_union = len(set(zones)) < 2
        is_compared = all(change.is_compared for change in orcish.diff(files[one], files[other]).schema)
        if is_compared != has_union:
            wrong.append(f"{kinds[one]} and {kinds[other]}: {is_compared}")
    assert not wrong, "\n".join(wrong)


def test_columns_and_fields_of_one_name(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["x", "x", "s"]

    def file(name: str, *values: int) -> pathlib.Path:
        fields = pa.StructArray.from_arrays([pa.array([1]), pa.array([values[1]])], names=["q", "q"])
        rows = pa.Table.from_arrays([pa.array([0]), pa.array([values[0]]), fields], names=names)
        pyarrow.orc.write_table(rows, tmp_path / name)
        return tmp_path / name

    a, b = file("a.orc", 1, 2), file("b.orc", 1, 3)
    assert not orcish.diff(a, a, check_metadata=True)
    found = orcish.diff(a, b)
    (each,) = found.shown
    assert (each.column, each.a, each.b) == ("s", {"q": 1, "q (2)": 2}, {"q": 1, "q (2)": 3})
    assert orcish.diff(a, file("c.orc", 2, 2)).columns == {"x (2)": 1}
    only = orcish.diff(a, b, ignore_order=True).shown[0]
    assert only.a == {"x": 0, "x (2)": 1, "s": {"q": 1, "q (2)": 2}}
    pyarrow.orc.write_table(pa.table({"x": [0]}), tmp_path / "d.orc")
    assert [change.column for change in orcish.diff(a, tmp_path / "d.orc").schema] == ["x (2)", "s"]
    assert main(["diff", str(a), str(b), "--key", "x"]) == 2
    assert "key: a has several columns 'x'" in capsys.readouterr().err
    assert main(["diff", str(a), str(b), "--json"]) == 1
    assert json.loads(capsys.readouterr().out.splitlines()[0])["a"] == {"q": 1, "q (2)": 2}


def test_values_beyond_the_calendar_have_texts() -> None:
    for kind, texts in {
        pa.date32(): ("5881580-07-11", "-5877641-06-23"),
        pa.timestamp("s"): ("10000-01-01T00:00:00", "-0001-12-31T23:59:59"),
    }.items():
        numbers = (2**31 - 1, -(2**31)) if kind == pa.date32() else (253_402_300_800, -62_167_219_201)
        own = pa.int32() if kind == pa.date32() else pa.int64()
        a, b = (written(pa.array([number], own).cast(kind), [0]) for number in numbers)
        (each,) = orcish.diff(a, b).shown
        assert (each.a, each.b) == texts
