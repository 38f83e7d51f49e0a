"""Names of columns that readers do not tell apart."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import orcish
import pyarrow as pa
import pytest
from support.case_loops import each_case


def struct(*names: str) -> pa.Array:
    return pa.StructArray.from_arrays([pa.array([1])] * len(names), list(names))


TWICE = {
    "the same": pa.table([pa.array([1])] * 3, names=["a", "b", "a"]),
    "case": pa.table([pa.array([1])] * 2, names=["a", "A"]),
    "case of other letters": pa.table([pa.array([1])] * 2, names=["É", "é"]),
    "fields": pa.table({"s": struct("a", "a")}),
    "case of fields": pa.table({"s": struct("a", "A")}),
    "fields in lists": pa.table({"s": pa.ListArray.from_arrays([0, 1], struct("a", "A"))}),
    "fields in maps": pa.table({"s": pa.MapArray.from_arrays([0, 1], pa.array(["k"]), struct("a", "A"))}),
}


@each_case("name", TWICE)
@each_case("existing_data", ["error", "append", "overwrite"])
@each_case("rows", [0, 1])
def test_names_that_are_there_twice(tmp_path: pathlib.Path, name: str, existing_data: Any, rows: int) -> None:
    """No table is made, and no folder."""
    with pytest.raises(ValueError, match=r"(is there twice|differ only by case): rename one of the columns"):
        orcish.write_dataset(TWICE[name].slice(0, rows), tmp_path / "t", existing_data=existing_data)
    assert not (tmp_path / "t").exists()


@each_case("name", ["the same", "case"])
def test_partition_columns_that_are_there_twice(tmp_path: pathlib.Path, name: str) -> None:
    """They are columns, too."""
    with pytest.raises(ValueError, match=r"twice|differ"):
        orcish.write_dataset(TWICE[name], tmp_path / "t", partition_by=["a"])
    assert not (tmp_path / "t").exists()


def test_an_overwrite_of_a_table(tmp_path: pathlib.Path) -> None:
    """The table is as before."""
    orcish.write_dataset(pa.table({"x": [1]}), tmp_path / "t")
    with pytest.raises(ValueError, match="'a' is there twice"):
        orcish.write_dataset(TWICE["the same"], tmp_path / "t", existing_data="overwrite")
    assert orcish.read_table(tmp_path / "t").to_pydict() == {"x": [1]}


def test_equal_names_in_different_places(tmp_path: pathlib.Path) -> None:
    """They are other columns."""
    rows = pa.table({"a": [1], "s": struct("a", "s"), "t": struct("A")})
    orcish.write_dataset(rows, tmp_path / "t")
    assert orcish.read_table(tmp_path / "t").equals(rows)


@each_case("verb", ["compact", "convert"])
@each_case("is_nested", [False, True])
def test_names_of_files_that_differ_only_by_case(tmp_path: pathlib.Path, verb: str, is_nested: bool) -> None:
    """No verb writes such columns into one file: one of them would be hidden."""
    for number, name in enumerate(["Id", "ID"]):
        column = pa.array([{name: 1}]) if is_nested else pa.array([1])
        (tmp_path / "t").mkdir(exist_ok=True)
        orcish.write_table(pa.table({"s" if is_nested else name: column}), tmp_path / "t" / f"{number}.orc")
    before = orcish.read_table(tmp_path / "t")
    verbs: dict[str, Callable[[], Any]] = {
        "compact": lambda: orcish.compact(tmp_path / "t"),
        "convert": lambda: orcish.convert(tmp_path / "t", tmp_path / "u"),
    }
    with pytest.raises((ValueError, orcish.OrcishError), match="differ only by case"):
        verbs[verb]()
    assert orcish.read_table(tmp_path / "t").equals(before)
