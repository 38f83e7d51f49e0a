"""Rows in other encodings than those of the columns of a table."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.arrow.casting import cast_array
from orcish.errors import UnsupportedError
from support.case_loops import each_case

NARROW = pa.array([1, None, 3, 3, 5, 6], pa.int32())
"""Values of a type that is narrower than that of the table."""


def runs(values: pa.Array) -> pa.Array:
    """Each value of an array twice, run-end encoded."""
    return pa.RunEndEncodedArray.from_arrays(pa.array(range(2, 2 * len(values) + 1, 2), pa.int32()), values)


def lists(made: Any, values: pa.Array) -> pa.Array:
    """Lists of two, one, no and no value, the last of them null."""
    plain = pa.ListArray.from_arrays(pa.array([0, 2, 3, 3, 3], pa.int32()), values, mask=pa.array([False] * 3 + [True]))
    return cast_array(plain, made(values.type))


ENCODED: dict[str, Callable[[pa.Array], pa.Array]] = {
    "run_end_encoded": runs,
    "dictionary": lambda values: values.dictionary_encode(),
    "runs of dictionaries": lambda values: runs(values.dictionary_encode()),
    "list_view": lambda values: lists(pa.list_view, values),
    "large_list_view": lambda values: lists(pa.large_list_view, values),
    "list of runs": lambda values: lists(pa.list_, runs(values)),
    "list of dictionaries": lambda values: lists(pa.large_list, values.dictionary_encode()),
    "view of runs": lambda values: lists(pa.list_view, runs(values)),
    "runs of views": lambda values: runs(lists(pa.list_view, values)),
    "struct": lambda values: pa.StructArray.from_arrays(
        [runs(values), pa.concat_arrays([values, values]).dictionary_encode()],
        ["r", "d"],
        mask=pa.array([False, True] * len(values)),
    ),
    "map": lambda values: pa.MapArray.from_arrays([0, 1, 3, None, 4], pa.array(["a", "b", "c", "d"]), runs(values)[:4]),
    "fixed_size_list": lambda values: pa.FixedSizeListArray.from_arrays(
        runs(values), 2, mask=pa.array([False, True] + [False] * (len(values) - 2))
    ),
}


def plain(kind: Any) -> Any:
    """The type without encodings, and with 64 bits."""
    if pa.types.is_run_end_encoded(kind) or pa.types.is_dictionary(kind):
        return plain(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(plain(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, plain(kind.item_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(plain(kind.value_type), kind.list_size)
    return pa.list_(plain(kind.value_type)) if hasattr(kind, "value_type") else pa.int64()


@each_case("name", ENCODED)
def test_encoded_rows_are_appended(tmp_path: pathlib.Path, name: str) -> None:
    """They get the plain, wider type of the table."""
    rows = ENCODED[name](NARROW)
    kind = plain(rows.type)
    orcish.write_dataset(pa.table({"c": pa.nulls(1, kind)}), tmp_path / "t", basename_template="a{i}.orc")
    orcish.write_dataset(
        pa.table({"c": rows[1:]}), tmp_path / "t", existing_data="append", basename_template="b{i}.orc"
    )
    found = orcish.read_table(tmp_path / "t")
    assert found.schema.field("c").type == kind
    assert found["c"].to_pylist() == [None, *rows[1:].to_pylist()]


@each_case("name", ENCODED)
def test_plain_rows_are_appended(tmp_path: pathlib.Path, name: str) -> None:
    """They get the encoding of the table."""
    first = ENCODED[name](NARROW.cast(pa.int64()))
    rows = cast_array(ENCODED[name](NARROW), plain(first.type))
    orcish.write_dataset(pa.table({"c": first}), tmp_path / "t", basename_template="a{i}.orc")
    orcish.write_dataset(pa.table({"c": rows}), tmp_path / "t", existing_data="append", basename_template="b{i}.orc")
    found = orcish.read_table(tmp_path / "t")
    assert found.schema.field("c").type == first.type
    assert found["c"].to_pylist() == first.to_pylist() * 2


@each_case("name", ENCODED)
@each_case(("start", "stop"), [(0, 99), (0, 0), (1, 3), (2, 4), (3, 99)])
def test_casts_of_slices(name: str, start: int, stop: int) -> None:
    """Values, nulls and lengths are those of the slice, and the result is valid."""
    rows = ENCODED[name](NARROW)[start:stop]
    cast = cast_array(rows, plain(rows.type))
    cast.validate(full=True)
    assert (cast.type, cast.to_pylist()) == (plain(rows.type), rows.to_pylist())


def test_what_cannot_be_cast(tmp_path: pathlib.Path) -> None:
    """The error names the column and both types, or the value."""
    orcish.write_dataset(pa.table({"c": pa.array([1], pa.timestamp("us"))}), tmp_path / "t")
    digits = pa.table({"c": pa.array([1], pa.timestamp("ns"))})
    with pytest.raises(
        ValueError, match=r"column c: .* is not a value of timestamp\[us\]: cut the digits off, with cast\(.*'us'"
    ):
        orcish.write_dataset(digits, tmp_path / "t", existing_data="append")
    orcish.write_dataset(
        pa.table({"c": digits["c"].cast(pa.timestamp("us"), safe=False)}), tmp_path / "t", existing_data="append"
    )
    with pytest.raises(UnsupportedError, match=r"from list_view<item: int32> to int64"):
        cast_array(lists(pa.list_view, NARROW), pa.int64())
    # Only structs as which unions are read are unions.
    union = pa.sparse_union([pa.field("a", pa.int64())])
    assert cast_array(pa.array([{"tag": 0, "field0": 3}]), union).to_pylist() == [3]
    with pytest.raises(UnsupportedError, match="to sparse_union"):
        cast_array(pa.array([{"x": 0, "y": 3}]), union)
