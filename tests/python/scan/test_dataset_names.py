"""Columns of the same name in datasets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

TWICE = pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, 4]), pa.array(["x", "y"])], names=["a", "a", "b"])


@pytest.fixture
def path(tmp_path: Path) -> str:
    orcish.write_table(TWICE, tmp_path / "a.orc")
    return f"{tmp_path}/a.orc"


SELECTIONS: dict[str, Callable[[str, list[str]], pa.Table]] = {
    "ORCFile": lambda path, names: orcish.ORCFile(path).read(columns=names),
    "read_table": lambda path, names: orcish.read_table(path, columns=names),
    "head": lambda path, names: orcish.head(path, 2, columns=names),
    "scan": lambda path, names: orcish.scan(path).select(*names).to_table(),
    "to_table": lambda path, names: orcish.dataset(path).to_table(columns=names),
    "dataset.head": lambda path, names: orcish.dataset(path).head(2, columns=names),
    "take": lambda path, names: orcish.dataset(path).take([0, 1], columns=names),
    "scanner": lambda path, names: orcish.dataset(path).scanner(columns=names).to_table(),
    "to_batches": lambda path, names: pa.Table.from_batches(orcish.dataset(path).to_batches(columns=names)),
    "fragments": lambda path, names: pa.concat_tables(
        part.to_table(columns=names) for part in orcish.dataset(path).get_fragments()
    ),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_a_name_is_that_of_the_first_column(name: str, path: str) -> None:
    """All readers of orcish agree. pyarrow refuses such names."""
    select = SELECTIONS[name]
    assert select(path, ["a"]).to_pydict() == {"a": [1, 2]}
    assert select(path, ["a", "b"]).to_pydict() == {"a": [1, 2], "b": ["x", "y"]}
    assert select(path, ["b"]).to_pydict() == {"b": ["x", "y"]}
    with pytest.raises(pa.ArrowInvalid, match="Multiple matches"):
        ds.dataset(TWICE).to_table(columns=["a"])


@pytest.mark.parametrize("name", ["ORCFile", "read_table", "scan", "dataset"])
def test_all_columns_are_both(name: str, path: str) -> None:
    found = orcish.dataset(path).to_table() if name == "dataset" else orcish.read_table(path)
    assert found.equals(TWICE)


QUERIES: dict[str, dict[str, Any]] = {
    "name": {"columns": {"z": pc.field("a")}},
    "sum": {"columns": {"z": pc.field("a") + 1}},
    "position": {"columns": {"z": pc.field(1)}},
    "other position": {"columns": {"y": pc.field("b"), "z": pc.field(2)}},
    "filter": {"filter": pc.field("a") == 1},
    "filter by position": {"filter": pc.field(1) == 3},
    "both": {"columns": {"z": pc.field("b")}, "filter": pc.field("a") == 1},
    "filter of names": {"columns": ["b"], "filter": pc.field(1) == 3},
}


@pytest.mark.parametrize("name", QUERIES)
def test_expressions_of_ambiguous_names_are_errors(name: str, path: str) -> None:
    """As those of pyarrow, whichever column they would mean."""
    query = QUERIES[name]
    with pytest.raises(pa.ArrowInvalid, match="Multiple matches"):
        ds.dataset(TWICE).to_table(**query)
    calls: list[Callable[..., object]] = [
        orcish.dataset(path).to_table,
        lambda **query: orcish.dataset(path).head(1, **query),
        lambda **query: orcish.dataset(path).take([0], **query),
        lambda **query: orcish.dataset(path).scanner(**query).to_table(),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"several columns a|Multiple matches"):
            call(**query)


def test_expressions_of_other_columns(path: str) -> None:
    query = {"columns": {"z": pc.field("b"), "one": pc.scalar(1)}, "filter": pc.field("b") == "y"}
    assert orcish.dataset(path).to_table(**query).to_pydict() == {"z": ["y"], "one": [1]}
