"""Casts keep all values, or are errors."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.arrow.exact_casts import cast_exactly
from orcish_cli import main
from orcish_cli.formats.schemas import parse_type
from support.case_loops import each_case
from support.random_cases import random_cases

D = decimal.Decimal
DAY, NOON = datetime.date(2026, 1, 2), datetime.datetime(2026, 1, 2, 12)
FAR = pa.array([36_500_000, -(2**31), 2**31 - 1, None], pa.int32()).cast(pa.date32())
FAR_TEXTS = ["101903-08-11", "-5877641-06-23", "5881580-07-11", None]

KEPT: list[tuple[Any, str, Any]] = [
    (pa.array([1.5, math.inf, math.nan, None, -0.0]), "float", [1.5, math.inf, math.nan, None, -0.0]),
    (pa.array([5, 99_999, -1, None]), "decimal(5,0)", [D(5), D(99_999), D(-1), None]),
    (pa.array([5, -(2**63)]), "decimal(38,10)", [D(5), D(-(2**63))]),
    (pa.array([2**64 - 1], pa.uint64()), "decimal(20)", [D(2**64 - 1)]),
    (pa.array([7]), "decimal256(76,70)", [D(7)]),
    (pa.array([True, None]), "decimal(3,1)", [D(1), None]),
    (pa.array([2**53 + 2, 2**60]), "double", [2.0**53 + 2, 2.0**60]),
    (pa.array([0, 1, None]), "boolean", [False, True, None]),
    (pa.array([0.0, 1.0]), "boolean", [False, True]),
    (pa.array([0.0, 1.0], pa.float16()), "boolean", [False, True]),
    (pa.array([D("0.00"), D("1.00")]), "boolean", [False, True]),
    (pa.array(["true", "FALSE", None]), "boolean", [True, False, None]),
    (pa.array([True, False]), "int", [1, 0]),
    (pa.array([D("0.10"), D("-12.50")]), "double", [0.1, -12.5]),
    (pa.array([D("0.10").scaleb(-28)], pa.decimal128(38, 30)), "double", [1e-29]),
    (pa.array([0.1, 2.0]), "decimal(4,2)", [D("0.10"), D("2.00")]),
    (pa.array([D("2.00")]), "int", [2]),
    (pa.array([NOON, datetime.datetime(2026, 1, 2)][1:]), "date", [DAY]),
    (pa.array([DAY]), "timestamp", [datetime.datetime(2026, 1, 2)]),
    (pa.array(["0.1", "1e5", "NaN", "-Infinity", "1e300", "5e-324", "0e999", "0.10000000000000001"]), "double", None),
    (pa.array(["0.1", "16777216", "1.17549435e-38"]), "float", None),
    (pa.array(["7", "-1", None]), "tinyint", [7, -1, None]),
    (pa.array(["1.50", "1e1"]), "decimal(4,2)", [D("1.50"), D("10.00")]),
    (pa.array(["01:02:03.5000"]), "time64[us]", [datetime.time(1, 2, 3, 500_000)]),
    (pa.array(["2026-01-02T12:00:00.0"]), "timestamp[s]", [NOON]),
    (pa.array(["PT1.5S", "PT-0.001S", None]), "duration[ms]", None),
    (pa.array(FAR_TEXTS), "date", None),
    (pa.array(["x", "y"]).dictionary_encode(), "string", ["x", "y"]),
    (pa.array([{"a": 1, "b": 2}, None]), "struct<b:int,a:double>", [{"b": 2, "a": 1.0}, None]),
    (pa.array([[1, None], None, []]), "array<smallint>", [[1, None], None, []]),
    (pa.array([[1, 2], None], pa.list_(pa.int64(), 2)), "array<int>", [[1, 2], None]),
    (pa.array([[("1", 1.0)], None], pa.map_(pa.string(), pa.float64())), "map<bigint,int>", [[(1, 1)], None]),
    (pa.nulls(2), "array<int>", [None, None]),
]


@each_case(("array", "kind", "wanted"), KEPT, ids=lambda value: str(getattr(value, "type", ""))[:30])
def test_values_that_are_kept(array: Any, kind: str, wanted: Any) -> None:
    parsed = parse_type(kind).type
    for given in (array, pa.concat_arrays([array[:1], array])[1:]):
        made = cast_exactly(given, parsed)
        made.validate(full=True)
        assert made.type == parsed
        if wanted is not None:
            assert made.to_pylist() == wanted or str(made.to_pylist()) == str(wanted)


def map_of(*keys: str) -> pa.Array:
    return pa.array([[(key, 1) for key in keys]], pa.map_(pa.string(), pa.int64()))


CHANGED: list[tuple[Any, str]] = [
    (pa.array([1e300]), "float"),
    (pa.array([16_777_217.0]), "float"),
    (pa.array([0.1]), "float"),
    (pa.array([2**53 + 1]), "double"),
    (pa.array([2**63 - 1]), "double"),
    (pa.array([16_777_217]), "float"),
    (pa.array([NOON]), "date"),
    (pa.array([NOON]), "time64[us]"),
    (pa.array([NOON.replace(microsecond=1)]), "timestamp[ms]"),
    (pa.array([7]), "boolean"),
    (pa.array([0.5]), "boolean"),
    (pa.array([math.nan]), "boolean"),
    (pa.array([2**53 + 1]), "boolean"),
    (pa.array([D("0.5")]), "boolean"),
    (pa.array(["1"]), "boolean"),
    (pa.array(["yes"]), "boolean"),
    (pa.array([1.5]), "int"),
    (pa.array([300]), "tinyint"),
    (pa.array([0.125]), "decimal(10,2)"),
    (pa.array([100_000]), "decimal(5,0)"),
    (pa.array([D("12345678901234567.89")]), "double"),
    (pa.array([D("1.55")]), "decimal(5,1)"),
    (pa.array([D("1.50")]), "int"),
    (pa.array(["1e39"]), "float"),
    (pa.array(["16777217"]), "float"),
    (pa.array(["1E400"]), "double"),
    (pa.array(["1e-400"]), "double"),
    (pa.array(["1e99999999999999999999999"]), "double"),
    (pa.array(["1234567890123456.78"]), "double"),
    (pa.array(["12345678901234567.5"]), "double"),
    (pa.array(["9007199254740993"]), "double"),
    (pa.array(["0x1F"]), "int"),
    (pa.array(["1.505"]), "decimal(5,2)"),
    (pa.array(["2026-01-02T12:00:00"]), "date"),
    (pa.array(["2026-01-02T12:00:00+02:00"]), "timestamp"),
    (pa.array(["2026-02-30"]), "date"),
    (pa.array(["9999999-01-01"]), "date"),
    (pa.array(["12:00:00.0001"]), "time32[ms]"),
    (pa.array(["PT0.0001S"]), "duration[ms]"),
    (pa.array(["P1M"]), "duration[ms]"),
    (pa.array([{"x": 1, "y": 2}]), "struct<x:bigint>"),
    (pa.array([{"x": 1}]), "struct<x:bigint,y:bigint>"),
    (pa.array([{"x": 1, "y": 2}]), "struct<p:bigint,q:bigint>"),
    (map_of("1", "01"), "map<bigint,bigint>"),
    (map_of("1.5"), "map<bigint,bigint>"),
]


def nested(array: pa.Array, kind: str) -> list[tuple[pa.Array, str]]:
    """A value and a type on their own, and as those of other types."""
    offsets = pa.array([0, len(array)], pa.int32())
    return [
        (array, kind),
        (pa.concat_arrays([pa.nulls(1, array.type), array]), kind),
        (pa.ListArray.from_arrays(offsets, array), f"array<{kind}>"),
        (pa.StructArray.from_arrays([array], ["s"]), f"struct<s:{kind}>"),
        (pa.MapArray.from_arrays(offsets, pa.array(["k"]), array), f"map<string,{kind}>"),
    ]


@each_case(("array", "kind"), CHANGED, ids=lambda value: str(getattr(value, "type", value))[:30])
def test_values_that_would_change(array: pa.Array, kind: str) -> None:
    for given, wanted in nested(array, kind):
        with pytest.raises(pa.ArrowInvalid):
            cast_exactly(given, parse_type(wanted).type)
        # Nulls have every type with the same fields.
        if not pa.types.is_struct(array.type):
            assert cast_exactly(pa.nulls(2, array.type), parse_type(kind).type).null_count == 2


def test_texts_of_far_dates() -> None:
    for kind in (pa.string(), pa.large_string()):
        assert cast_exactly(FAR, kind).to_pylist() == FAR_TEXTS
    assert cast_exactly(pa.array(FAR_TEXTS), pa.date32()).equals(FAR)
    far = pa.array([2**50, -(2**50)], pa.timestamp("s"))
    assert cast_exactly(far, pa.string()).to_pylist() == ["35680317-09-25 18:57:04", "-35676378-04-08 05:02:56"]


@each_case("how", ["output", "in place", "table", "table in place"])
def test_rewrite(how: str, tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    table = pa.table({"f": [1e300], "id": [5], "s": [{"x": 1, "y": 2}], "day": FAR[:1]})
    source = str(tmp_path / "a.orc")
    if how.startswith("table"):
        source = str(tmp_path / "a")
        orcish.write_dataset(table, source)
    else:
        orcish.write_table(table, source)
    target = source if how.endswith("in place") else f"{tmp_path}/b{'' if how == 'table' else '.orc'}"
    where = ["--in-place"] if target == source else ["-o", target]
    for cast, name in (("f=float", "f"), ("id=boolean", "id"), ("s=struct<x:bigint>", "s")):
        assert main(["rewrite", source, *where, "--cast", cast]) == 1
        assert f"column '{name}': " in capsys.readouterr().err
        assert orcish.scan(source).to_table().equals(table)
    assert main(["rewrite", source, *where, "--cast", "id=decimal(5,0)", "--cast", "day=string"]) == 0
    found = orcish.scan(target).to_table().select(["id", "day"])
    assert found.to_pydict() == {"id": [D(5)], "day": FAR_TEXTS[:1]}


@each_case("kind", [pa.float64(), pa.float32(), pa.float16()], ids=str)
@each_case(("digits", "scale"), [(38, 7), (38, 3), (10, 2), (38, 0), (38, 30), (76, 40), (5, -2)])
def test_decimals_of_floats(kind: Any, digits: int, scale: int) -> None:
    """Whole numbers stay as they are, others have their shortest digits; or the cast is an error."""
    wanted = (pa.decimal256 if digits > 38 else pa.decimal128)(digits, scale)
    for _, rng in random_cases(f"decimals of {kind}, {digits}, {scale}", 300):
        part = rng.choice([rng.random(), round(rng.random(), scale), rng.randrange(1000)]) * 10.0 ** rng.randrange(
            -4, 9
        )
        value = rng.choice([part, float(rng.randrange(2**62)), 2.0 ** rng.randrange(100), math.inf, math.nan])
        array = pa.array([value, None]).cast(kind, safe=False)
        (short, _) = array.cast(pa.float32() if kind == pa.float16() else kind).cast(pa.string()).to_pylist()
        number = array[0].as_py()
        exact = D(int(number)) if math.isfinite(number) and number == int(number) else D(short)
        scaled = exact.scaleb(scale) if exact.is_finite() else exact
        if exact.is_finite() and scaled == scaled.to_integral_value() and abs(scaled) < 10**digits:
            assert cast_exactly(array, wanted).to_pylist() == [exact, None]
        else:
            with pytest.raises(pa.ArrowInvalid, match="is not a value of decimal"):
                cast_exactly(array, wanted)


@each_case("kind", ["decimal(38,7)", "array<decimal(38,7)>", "struct<x:decimal(38,7)>"])
def test_rewrite_of_floats_that_have_no_decimal(kind: str, tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    value = 123456789.12345679
    rows = [{"array<": [value], "struct": {"x": value}}.get(kind[:6], value)]
    orcish.write_table(pa.table({"a": rows}), tmp_path / "a.orc")
    assert main(["rewrite", str(tmp_path / "a.orc"), "-o", str(tmp_path / "b.orc"), "--cast", f"a={kind}"]) == 1
    assert str(tmp_path / "a.orc") in capsys.readouterr().err
    assert not (tmp_path / "b.orc").exists()
