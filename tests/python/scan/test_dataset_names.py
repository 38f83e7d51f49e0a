"""Names of columns in datasets: several of one name, names with dots, and what is within columns."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orcish
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from support.case_loops import each_case

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


@each_case("name", SELECTIONS)
def test_a_name_of_several_columns_is_an_error(name: str, path: str) -> None:
    """As in pyarrow: the first of them is not meant more than the others."""
    select = SELECTIONS[name]
    for names in (["a"], ["b", "a"]):
        with pytest.raises(ValueError, match="several columns"):
            select(path, names)
    assert select(path, ["b"]).to_pydict() == {"b": ["x", "y"]}
    with pytest.raises(pa.ArrowInvalid, match="Multiple matches"):
        ds.dataset(TWICE).to_table(columns=["a"])


@each_case("name", ["ORCFile", "read_table", "scan", "dataset"])
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


@each_case("name", QUERIES)
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
        with pytest.raises(ValueError, match="several columns"):
            call(**query)


def test_expressions_of_other_columns(path: str) -> None:
    query = {"columns": {"z": pc.field("b"), "one": pc.scalar(1)}, "filter": pc.field("b") == "y"}
    assert orcish.dataset(path).to_table(**query).to_pydict() == {"z": ["y"], "one": [1]}


def test_expressions_of_no_column(path: str) -> None:
    """Rows are counted by a column whose name no other one has."""
    query = {"columns": {"one": pc.scalar(1)}}
    assert orcish.dataset(path).to_table(**query).to_pydict() == {"one": [1, 1]}
    assert orcish.dataset(path).to_table(columns={}).num_rows == 2


AWKWARD = pa.table(
    {
        "a.b": [1, 2],
        "a": [{"b": 10, "c": 1}, {"b": 20, "c": 2}],
        "n": [{"w": {"x": 5, "y": 6}}, {"w": {"x": 7, "y": 8}}],
        "": [3, 4],
        ".k": [5, 6],
        "k": [7, 8],
    }
)
"""Columns whose names have dots, and what is within others."""
FIELDS = [
    *map(pc.field, AWKWARD.schema.names),
    *map(pc.field, range(AWKWARD.num_columns)),
    pc.field("a", "b"),
    pc.field("a", "c"),
    pc.field("n", "w"),
    pc.field("n", "w", "x"),
    pc.field(1, 0),
    pc.scalar(1),
]


@pytest.fixture(scope="module")
def awkward(tmp_path_factory: pytest.TempPathFactory) -> ds.Dataset:
    path = tmp_path_factory.mktemp("awkward") / "a.orc"
    orcish.write_table(AWKWARD, path)
    return orcish.dataset(path)


@each_case("seed", range(60))
def test_projections_of_names_and_positions(seed: int, awkward: ds.Dataset) -> None:
    """Columns by name, by position and within others, in any order, have the values that pyarrow gives."""
    chosen = random.Random(seed)
    columns = {f"x{at}": chosen.choice(FIELDS) for at in range(chosen.randint(1, 4))}
    filters = chosen.choice([None, pc.field("k") > 7, pc.field(5) > 7, pc.field("a", "b") == 20, pc.field("a.b") == 2])
    expected = ds.InMemoryDataset(AWKWARD).to_table(columns=columns, filter=filters)
    assert awkward.to_table(columns=columns, filter=filters).to_pydict() == expected.to_pydict()
    assert awkward.head(9, columns=columns, filter=filters).to_pydict() == expected.to_pydict()
    if filters is None:
        assert awkward.take([1], columns=columns).to_pydict() == expected.slice(1).to_pydict()


@each_case("seed", range(30))
def test_lists_of_names(seed: int, awkward: ds.Dataset) -> None:
    chosen = random.Random(seed)
    names = chosen.sample(AWKWARD.schema.names, chosen.randint(1, AWKWARD.num_columns))
    assert awkward.to_table(columns=names).equals(AWKWARD.select(names))
    # polars does not find a column without a name in a dataset of pyarrow either.
    if named := [name for name in names if name]:
        found = pl.scan_pyarrow_dataset(awkward).select(named).collect()
        assert found.to_dict(as_series=False) == AWKWARD.select(named).to_pydict()


@each_case("variants", [2, 3, 128])
def test_structs_of_unions(variants: int, tmp_path: Path) -> None:
    """What is within the struct of a union is not pushed down, and gives the rows that pyarrow gives."""
    values = [pa.array([number, number + 1, None], pa.int64()) for number in range(variants)]
    union = pa.UnionArray.from_sparse(pa.array([0, 1, 0], pa.int8()), values)
    table = pa.table({"u": union, "i": [1, 2, 3]})
    orcish.write_table(table, tmp_path / "a.orc")
    dataset = orcish.dataset(tmp_path / "a.orc", unions="struct")
    memory = ds.InMemoryDataset(dataset.to_table())
    for filters in (pc.field("u", "tag") == 1, pc.field("u", "field0") < 1, pc.field("u").is_valid(), None):
        for columns in ({"x": pc.field("u", "tag"), "i": pc.field("i")}, {"x": pc.field("u", "field1")}, ["i"]):
            expected = memory.to_table(columns=columns, filter=filters)
            assert dataset.to_table(columns=columns, filter=filters).equals(expected)
    scanned = orcish.scan_polars(tmp_path / "a.orc", unions="struct")
    assert scanned.filter(pl.col("u").struct.field("tag") == 1).collect()["i"].to_list() == [2]
