"""Casts keep all values, or are errors."""

from __future__ import annotations

import decimal
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.arrow.casting import cast_array
from orcish.errors import CastError, UnsupportedError
from orcish_cli import main
from support.case_loops import each_case

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
