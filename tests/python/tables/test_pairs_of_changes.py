"""Two changes of one table at a time, the first of which is planned before the other one and committed after it.

Either both happen, and the table is that of one after the other, in one of the two orders, or the first one is refused.
"""

from __future__ import annotations

import functools
import pathlib
import shutil
from collections.abc import Callable
from typing import Any, NamedTuple

import orcish
import pyarrow as pa
import pytest
from orcish.errors import CommitError
from orcish.tables.commit import Job
from orcish.tables.compaction import CompactionPlan
from orcish.tables.deletion import DeletionPlan
from orcish.tables.target import DatasetTarget
from support.case_loops import each_case
from support.random_cases import pairs

Change = Callable[[pathlib.Path], object]


# Tables, whose first file has a column that others have not, and whose last folder decides a type.


def put(table: pathlib.Path, name: str, **columns: Any) -> None:
    path = table / name
    path.parent.mkdir(parents=True, exist_ok=True)
    orcish.write_table(pa.table(columns), path)


def plain(table: pathlib.Path) -> None:
    put(table, "k=1/a.orc", id=[1, 2], x=["x", "x"])
    put(table, "k=1/b.orc", id=[3, 4], x=["x", "x"])
    put(table, "k=1/c.orc", id=[5, 6], y=[5, 6])
    put(table, "k=2/a.orc", id=[7, 8])
    put(table, "k=t/a.orc", id=[9, 10])
    put(table, "k=u/a.orc", id=[11, 12])


def begun(table: pathlib.Path) -> None:
    """The log has no schema, as of earlier versions."""
    plain(table)
    put(table, "k=2/b.orc", id=[100, 101])
    job = Job(str(table))
    job.commit([], "delete", existing=[file for file in job.files() if file.name == "k=2/b.orc"])
    assert (table / "_orcish").exists()


def logged(table: pathlib.Path) -> None:
    plain(table)
    orcish.write_dataset(pa.table({"id": [13], "z": [9]}), table / "k=2", existing_data="append")


def untyped(table: pathlib.Path) -> None:
    """The log has no type of the partition column."""
    rows = pa.table({"id": [0], "x": ["x"], "y": [0], "k": pa.nulls(1)})
    orcish.write_dataset(rows, table, partition_by=["k"])
    for at, value in enumerate(["1", "1", "1", "2", "t", "u"]):
        put(table, f"k={value}/{at}.orc", id=[2 * at + 1, 2 * at + 2])


TABLES = {each.__name__: each for each in (plain, begun, logged, untyped)}


# Changes.


def write(existing_data: Any, path: str, **columns: Any) -> Change:
    by = [] if path else ["k"]
    return lambda table: orcish.write_dataset(
        pa.table(columns), table / path, partition_by=by, existing_data=existing_data
    )


def delete(path: str, filters: str) -> Change:
    return lambda table: orcish.delete(table / path, filters)


def compact(path: str, *, rewrite: bool = False) -> Change:
    return lambda table: orcish.compact(table / path, rewrite=rewrite)


def convert(table: pathlib.Path) -> None:
    source = table.parent / "source.orc"
    orcish.write_table(pa.table({"id": [70], "c": ["c"], "k": ["2"]}), source, existing_data="overwrite")
    orcish.convert(source, table, partition_by=["k"], existing_data="append")


CHANGES: dict[str, Change] = {
    "delete a file": delete("", "id < 3"),
    "delete another file": delete("", "id = 3 or id = 4"),
    "delete some rows": delete("", "id in (1, 5)"),
    "delete a folder": delete("", "id = 11 or id = 12"),
    "delete the other folders": delete("", "id < 11"),
    "delete within a partition": delete("k=1", "id > 0"),
    "delete a partition of text": delete("k=t", "true"),
    "compact": compact(""),
    "compact a partition": compact("k=1"),
    "rewrite": compact("", rewrite=True),
    "append": write("append", "", id=[50], k=["2"]),
    "append integers": write("append", "", id=[51], k=[2], y=[1]),
    "append text": write("append", "", id=[52], k=["u"]),
    "append to a partition": write("append", "k=2", id=[53], d=[1.5]),
    "overwrite": write("overwrite", "", id=[60], k=["07"]),
    "overwrite with integers": write("overwrite", "", id=[61], y=["text"], k=[7]),
    "overwrite with nulls": write("overwrite", "", id=[62], x=["x"], k=pa.nulls(1)),
    "overwrite a partition": write("overwrite", "k=1", id=[63]),
    "overwrite equal partitions": write("overwrite_partitions", "", id=[64, 65], k=["1", "t"]),
    "convert": convert,
}
"""Changes of a table, by what they do."""


class Seen(NamedTuple):
    """What readers find."""

    schema: list[tuple[str, str]]
    rows: list[str]


def seen(table: pathlib.Path) -> Seen:
    found = orcish.read_table(table)
    rows = sorted(str(sorted(row.items())) for row in found.to_pylist())
    return Seen([(field.name, str(field.type)) for field in found.schema], rows)


def in_order(table: pathlib.Path, changes: list[Change]) -> Seen | None:
    """The table after changes, one after the other; ``None`` if one is refused."""
    copy = table.parent / "in order"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(table, copy)
    try:
        for change in changes:
            change(copy)
    except (ValueError, FileNotFoundError):
        return None
    return seen(copy)


def stopped(monkeypatch: pytest.MonkeyPatch, other: Callable[[], object]) -> None:
    """Makes another change once the files of the next one are written, before its commit."""

    def wrapped(own: Callable[..., Any]) -> Callable[..., Any]:
        def commit(*args: Any, **kwargs: Any) -> Any:
            monkeypatch.undo()
            other()
            return own(*args, **kwargs)

        return commit

    for owner in (DeletionPlan, CompactionPlan, DatasetTarget):
        monkeypatch.setattr(owner, "commit", wrapped(owner.commit))


TWO_CHANGES = pairs(TABLES, CHANGES, CHANGES)


@each_case("make", TABLES)
@each_case("first", CHANGES)
def test_two_changes(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, first: str, make: str) -> None:
    start, table = tmp_path / "start", tmp_path / "t"
    TABLES[make](start)
    columns = set(seen(start).schema)
    after = functools.cache(lambda *names: in_order(start, [CHANGES[name] for name in names]))
    for second in [second for own, one, second in TWO_CHANGES if (own, one) == (make, first)]:
        one, other = CHANGES[first], CHANGES[second]
        shutil.rmtree(table, ignore_errors=True)
        shutil.copytree(start, table)
        stopped(monkeypatch, functools.partial(other, table))
        try:
            one(table)
            wanted = [(first, second), (second, first)]
        except CommitError:
            wanted = [(second,)]
        finally:
            monkeypatch.undo()
        found = seen(table)
        assert any(found == after(*names) for names in wanted), second
        if {first.split()[0], second.split()[0]} <= {"delete", "compact", "rewrite"}:
            assert columns <= set(found.schema), second


@each_case("make", TABLES)
@each_case("name", [name for name in CHANGES if name.startswith(("delete", "compact", "rewrite"))])
def test_columns_and_types_stay(tmp_path: pathlib.Path, name: str, make: str) -> None:
    """Whichever rows are deleted, and whichever files are joined."""
    TABLES[make](tmp_path)
    before = seen(tmp_path)
    CHANGES[name](tmp_path)
    assert set(before.schema) <= set(seen(tmp_path).schema)


# What the rows are checked against.

OVERWRITTEN: dict[str, tuple[Any, Any, Any]] = {
    "text that was cast to integers": ([1], ["x"], ["01"]),
    "integers that were widened": (pa.array([1], pa.int64()), pa.nulls(1), pa.array([5], pa.int32())),
    "integers that are too large": (
        pa.array([1], pa.int64()),
        pa.array([2], pa.int32()),
        pa.array([2**40], pa.int64()),
    ),
    "text in the place of integers": (["a"], [1], ["b"]),
}
"""Partition columns: those of a table, of an overwrite, and of rows that are written meanwhile."""


@each_case("existing_data", ["append", "overwrite_partitions"])
@each_case("case", OVERWRITTEN)
def test_rows_are_checked_against_the_new_table(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, case: str, existing_data: str
) -> None:
    """Rows that were cast to the types of the old table are not those that the new one would get."""
    old, new, given = OVERWRITTEN[case]
    write("append", "", id=[1], k=old)(tmp_path)
    stopped(monkeypatch, lambda: write("overwrite", "", id=[2], k=new)(tmp_path))
    with pytest.raises(CommitError, match="changed while the rows were written"):
        write(existing_data, "", id=[3], k=given)(tmp_path)
    found = orcish.read_table(tmp_path)
    assert found["id"].to_pylist() == [2]
    write("overwrite", "", id=[2], k=new)(tmp_path)
    assert orcish.read_table(tmp_path).schema.equals(found.schema)


def test_equal_partitions_are_those_of_the_new_table(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts that are equal as values of the old type are different partitions."""
    day = pa.array([0], pa.date32())
    write("append", "", id=[1], k=day)(tmp_path)
    new = write("overwrite", "", id=[2, 3], k=["1970-1-1", "1970-01-01"])
    stopped(monkeypatch, lambda: new(tmp_path))
    with pytest.raises(CommitError):
        write("overwrite_partitions", "", id=[4], k=["1970-01-01"])(tmp_path)
    assert sorted(orcish.read_table(tmp_path)["id"].to_pylist()) == [2, 3]


@each_case("arrow_schema", [True, False])
def test_types_that_folders_show(tmp_path: pathlib.Path, arrow_schema: bool) -> None:
    """The log has no type of the column, and gets none that contradicts the folders."""
    rows = pa.table({"id": [1], "k": pa.nulls(1)})
    options: Any = {"existing_data": "append", "arrow_schema": arrow_schema}
    orcish.write_dataset(rows, tmp_path, partition_by=["k"], **options)
    orcish.write_dataset(pa.table({"id": [2]}), tmp_path / "k=x", **options)
    orcish.write_dataset(pa.table({"id": [3], "k": [7]}), tmp_path, partition_by=["k"], **options)
    found = orcish.read_table(tmp_path).sort_by("id")
    assert found["k"].to_pylist() == [None, "x", "7"]
    orcish.delete(tmp_path / "k=x", "true")
    assert orcish.scan(tmp_path).schema.equals(found.schema)


@each_case("way", ["overwrite", "overwrite_partitions"])
def test_columns_of_replaced_partitions_stay(tmp_path: pathlib.Path, way: Any) -> None:
    plain(tmp_path)
    before = set(seen(tmp_path).schema)
    inside = way == "overwrite"
    columns = {"id": [1]} if inside else {"id": [1], "k": ["1"]}
    write(way, "k=1" if inside else "", **columns)(tmp_path)
    assert before <= set(seen(tmp_path).schema)
    # Types that contradict those of the other files go with them.
    other = tmp_path.parent / f"{tmp_path.name} other"
    put(other, "k=1/a.orc", id=["text"])
    put(other, "k=2/a.orc", id=[1])
    if inside:
        write(way, "k=1", id=[2])(other)
        assert sorted(orcish.read_table(other)["id"].to_pylist()) == [1, 2]


@each_case("change", ["compact", "delete"])
def test_a_file_that_becomes_the_first_one(tmp_path: pathlib.Path, change: str) -> None:
    """The name of a file that was written again may come before that of the first one."""
    put(tmp_path, "abcdefghij0.orc", id=range(5_000), x=[f"{at * 7919 % 100_003}" for at in range(5_000)])
    put(tmp_path, "abcdefghij1.orc", id=[-1, -2])
    put(tmp_path, "abcdefghij2.orc", id=[-3, -4])
    if change == "compact":
        assert [file.files for file in orcish.compact(tmp_path, target_file_size=3_000)] == [2]
    else:
        orcish.delete(tmp_path, "id = -1")
    assert orcish.scan(tmp_path).files[0].rpartition("/")[2].startswith("abcdefghij-")
    assert orcish.scan(tmp_path).schema.names == ["id", "x"]
