"""Casts keep all values, or are errors."""

from __future__ import annotations

import decimal
import math
import random
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.arrow.casting import cast_array
from orcish.arrow.nested import NANOSECONDS, is_binary, is_text
from orcish.errors import CastError, UnsupportedError
from orcish_cli import main
from support.case_loops import each_case
from support.random_cases import random_cases

D = decimal.Decimal
FAR = pa.array([36_500_000, -(2**31), 2**31 - 1, None], pa.int32()).cast(pa.date32())
FAR_TEXTS = ["101903-08-11", "-5877641-06-23", "5881580-07-11", None]


def test_types_cross_the_border() -> None:
    """Arrays and types of pyarrow are those of the native core, slices, extension types and encoded arrays included."""
    item = pa.field("item", pa.int8(), nullable=False, metadata={"a": "b"})
    cases: list[tuple[Any, Any, Any]] = [
        (pa.array([1, None, 2]), pa.float16(), [1.0, None, 2.0]),
        (pa.array([[1, 2], None], pa.list_(pa.int64(), 2)), pa.large_list_view(item), [[1, 2], None]),
        (pa.array([{"a": 1, "b": "x"}, None]), pa.struct([("b", pa.string_view()), ("a", pa.float64())]), None),
        (pa.array([[("1", 1.0)], None], pa.map_(pa.string(), pa.float64())), pa.map_(pa.int64(), pa.int8()), None),
        (pa.array(["x", "y", "x"]), pa.dictionary(pa.int8(), pa.large_string(), ordered=True), ["x", "y", "x"]),
        (pa.array(["7"]).dictionary_encode(), pa.int32(), [7]),
        (pa.array([7, 7]), pa.run_end_encoded(pa.int32(), pa.int8()), [7, 7]),
        (pa.array([True, None]), pa.bool8(), [True, None]),
        (pa.array(FAR_TEXTS), pa.date32(), None),
        (FAR, pa.large_string(), FAR_TEXTS),
        (pa.nulls(2), pa.list_(item), [None, None]),
    ]
    for array, kind, wanted in cases:
        for given in (array, pa.concat_arrays([array[:1], array])[1:]):
            made = cast_array(given, kind)
            made.validate(full=True)
            assert made.type == kind
            assert wanted is None or made.to_pylist() == wanted, kind


LEAVES: list[Any] = [
    pa.bool_(),
    *(pa.int8(), pa.int32(), pa.int64(), pa.uint8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64()),
    *(pa.decimal128(5, 0), pa.decimal128(9, 3), pa.decimal128(38, 20), pa.decimal256(60, 5)),
    *(pa.string(), pa.large_string(), pa.binary(), pa.large_binary()),
    *(pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
    *(pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC")),
    *(pa.duration(unit) for unit in ("s", "ms", "us", "ns")),
]


def values_of(kind: Any, rng: random.Random) -> Any:
    """A value of a type, which often is one of other types, too."""
    types = pa.types
    whole = rng.choice([0, 1, 2, 7, 127, 128, 16_777_217, 2**53 + 1, rng.randrange(2**31), rng.randrange(2**62)])
    if types.is_boolean(kind):
        return pa.array([whole % 2 == 1])
    if types.is_integer(kind):
        return pa.array([whole % 2 ** (kind.bit_width - 1)], kind)
    if types.is_floating(kind):
        value = rng.choice([whole, whole % 1000, rng.randrange(8000) / 8, 0.1, -1.5, math.inf, math.nan, 1e300])
        return pa.array([float(value)], pa.float64()).cast(kind, safe=False)
    if types.is_decimal(kind):
        digits = str(whole)[-rng.randint(1, kind.precision) :]
        return pa.array([D(digits + "0" * rng.randint(0, kind.precision - len(digits))).scaleb(-kind.scale)], kind)
    if is_text(kind) or is_binary(kind):
        value = values_of(rng.choice([each for each in LEAVES if not is_text(each) and not is_binary(each)]), rng)
        return pa.array([value.cast(pa.string())[0].as_py()]).cast(kind) if len(value) else value
    day, second = rng.randrange(-30_000, 30_000), rng.choice([0, 3_600, rng.randrange(86_400)])
    fraction = rng.choice([0, 500_000_000, 1_000, rng.randrange(10**9)])
    per_second = 10**9 // NANOSECONDS[getattr(kind, "unit", "s")]
    if types.is_date32(kind):
        return pa.array([day], pa.int32()).cast(kind)
    if types.is_date64(kind):
        return pa.array([day * 86_400_000]).cast(kind)
    seconds = second if types.is_time(kind) else day * 86_400 + second
    count = seconds * per_second + fraction * per_second // 10**9
    return pa.array([count], pa.int32() if types.is_time32(kind) else pa.int64()).cast(kind)


def kept_by_pyarrow(array: Any, kind: Any) -> Any:
    """The result of pyarrow's cast, if a cast back gives the value, too."""
    try:
        made = array.cast(kind)
        back = made.cast(array.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    return made if back.equals(array) or str(back) == str(array) == str(pa.array([math.nan], array.type)) else None


def is_checked_by_pyarrow(own: Any, kind: Any) -> bool:
    """pyarrow has times beyond a day and dates within one, floating point numbers that are not the nearest ones, and
    texts with more digits than numbers of half precision have.
    """
    types = pa.types
    if types.is_integer(own):
        return not (types.is_time(kind) or types.is_date64(kind))
    if types.is_float16(own):
        return not (is_text(kind) or is_binary(kind))
    return not (types.is_decimal(own) and types.is_floating(kind))


def test_pyarrow_agrees() -> None:
    """What pyarrow casts there and back without a change is cast to the same value. What is cast is the same value after
    the cast back.
    """
    count = 0
    for _, rng in random_cases("casts that pyarrow has", 20_000):
        own, kind = rng.choice(LEAVES), rng.choice(LEAVES)
        array = values_of(own, rng)
        wanted = kept_by_pyarrow(array, kind) if is_checked_by_pyarrow(own, kind) else None
        try:
            found = cast_array(array, kind)
        except (CastError, UnsupportedError):
            found = None
        if found is None:
            assert wanted is None, (array, kind, wanted)
            continue
        count += 1
        if wanted is not None:
            assert found.equals(wanted) or str(found) == str(wanted), (array, kind, found, wanted)
        # A number has many texts, the text of a duration is its number, and a fraction has its shortest digits.
        if is_text(own) or is_binary(own) or (pa.types.is_duration(own) and is_text(kind)):
            continue
        if not pa.types.is_decimal(own) or not pa.types.is_floating(kind) or not found[0].as_py() % 1:
            back = cast_array(found, own)
            assert back.equals(array) or str(back) == str(array), (array, kind, found, back)
    assert count


def test_errors_have_the_row() -> None:
    with pytest.raises(CastError, match=r"^7 of int64 is not a value of bool$") as caught:
        cast_array(pa.array([0, 1, 7]), pa.bool_())
    assert caught.value.row == 2
    with pytest.raises(CastError, match="'y' would be lost") as caught:
        cast_array(pa.array([{"x": 1, "y": 2}]), pa.struct([("x", pa.int64())]))
    assert caught.value.row is None
    with pytest.raises(UnsupportedError, match="no cast from month_day_nano_interval to string"):
        cast_array(pa.nulls(1, pa.month_day_nano_interval()), pa.string())


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


@each_case("kind", ["decimal(38,7)", "array<decimal(38,7)>", "struct<x:decimal(38,7)>"])
def test_rewrite_of_floats_that_have_no_decimal(kind: str, tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    value = 123456789.12345679
    rows = [{"array<": [value], "struct": {"x": value}}.get(kind[:6], value)]
    orcish.write_table(pa.table({"a": rows}), tmp_path / "a.orc")
    assert main(["rewrite", str(tmp_path / "a.orc"), "-o", str(tmp_path / "b.orc"), "--cast", f"a={kind}"]) == 1
    assert str(tmp_path / "a.orc") in capsys.readouterr().err
    assert not (tmp_path / "b.orc").exists()
