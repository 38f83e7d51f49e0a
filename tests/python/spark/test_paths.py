"""Paths as arguments of functions and jobs, and tables without rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orcish
import orcish.spark as osp
import pyarrow as pa
import pytest
from support.case_loops import each_case

Spark = Any

ROWS = pa.table({"id": [1, 2], "k": ["x", "y"]})

FUNCTIONS: dict[str, Callable[[Spark, Any], Any]] = {
    "read": lambda spark, path: osp.read(spark, path).collect(),
    "map_batches": lambda spark, path: osp.map_batches(spark, path, iter, "id bigint, k string").collect(),
    "map_pandas": lambda spark, path: osp.map_pandas(spark, path, iter, "id bigint, k string").collect(),
    "profile": lambda _, path: osp.profile(path).collect(),
    "verify": lambda _, path: osp.verify(path).collect(),
    "compact": lambda _, path: osp.compact(path).collect(),
    "delete": lambda _, path: osp.delete(path, "id = 7").collect(),
    "convert from": lambda _, path: osp.convert(path, f"{path}-copy").collect(),
    "convert to": lambda spark, path: osp.convert(
        spark.createDataFrame([("a", 1)], "k string, id bigint"), path, partition_by=["k"], existing_data="append"
    ).collect(),
}


@each_case("name", FUNCTIONS)
def test_paths_of_pathlib(spark: Spark, tmp_path: Path, name: str) -> None:
    """They are the same as their texts."""
    results = []
    for kind in (Path, str):
        table = tmp_path / kind.__name__ / "t"
        orcish.write_dataset(ROWS, table, partition_by=["k"], basename_template="f{i}.orc")
        results.append([row.asDict() for row in FUNCTIONS[name](spark, kind(table))])
    left, right = ([{key: value for key, value in row.items() if key != "file"} for row in each] for each in results)
    assert sorted(map(str, left)) == sorted(map(str, right))


@each_case("name", FUNCTIONS)
def test_relative_paths(spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """They are those of the program, whatever the working directory of the JVM is."""
    monkeypatch.chdir(tmp_path)
    osp.write(
        spark.createDataFrame([(1, "x"), (2, "y")], "id bigint, k string"), "t", mode="append", partition_by=["k"]
    )
    assert orcish.read_table(tmp_path / "t").num_rows == 2
    # It is an error where there is no table.
    FUNCTIONS[name](spark, "t")


@each_case("name", FUNCTIONS)
def test_empty_paths(spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """They are no paths of the working directory, which would be replaced."""
    monkeypatch.chdir(tmp_path)
    orcish.write_table(ROWS, tmp_path / "a.orc")
    frame = spark.createDataFrame([(1, "x")], "id bigint, k string")
    with pytest.raises(ValueError, match="the path is empty"):
        osp.write(frame, "", mode="overwrite")
    with pytest.raises(ValueError, match=r"the path is empty|no path"):
        FUNCTIONS[name](spark, "")
    assert [path.name for path in tmp_path.iterdir()] == ["a.orc"]


@each_case("name", ["read", "map_batches", "profile"])
def test_several_paths(spark: Spark, tmp_path: Path, name: str) -> None:
    """They are lists of both."""
    for at in "ab":
        orcish.write_dataset(ROWS, tmp_path / at)
    paths = [tmp_path / "a", str(tmp_path / "b")]
    assert FUNCTIONS[name](spark, paths) == FUNCTIONS[name](spark, [*map(str, paths)])


@each_case("name", FUNCTIONS)
@each_case("path", [b"t", 7])
def test_paths_are_text(spark: Spark, name: str, path: Any) -> None:
    """The error says what they have to be."""
    with pytest.raises(TypeError, match=r"a path or URL is text or a pathlib\.Path, not"):
        FUNCTIONS[name](spark, path)


@each_case("by", [[], ["k"]])
@each_case("verb", ["convert", "append", "overwrite"])
def test_tables_without_rows(spark: Spark, tmp_path: Path, by: list[str], verb: str) -> None:
    """Each verb makes a table with the columns of the rows, as orcish.write_dataset does."""
    nothing = spark.createDataFrame([], "id bigint, k string")
    table = str(tmp_path / "t")
    if verb == "convert":
        osp.convert(nothing, table, partition_by=by)
    else:
        options = {"partitionBy": ",".join(by), "partitionOverwriteMode": "static"}
        nothing.write.format("orcish").options(**options).mode(verb).save(table)
    assert (orcish.read_table(table).num_rows, orcish.scan(table).schema) == (0, ROWS.schema)
    found = spark.read.format("orcish").load(table)
    assert (found.count(), found.dtypes) == (0, [("id", "bigint"), ("k", "string")])
    with pytest.raises(FileExistsError, match="has data already" if not by else "is a table already, without rows"):
        osp.convert(nothing, table, partition_by=by)
    before = orcish.history(table)
    osp.convert(nothing, table, partition_by=by, existing_data="append")
    assert orcish.history(table) == before


def test_partitions_of_no_table(spark: Spark, tmp_path: Path) -> None:
    """A new folder name=value makes no table of the folder above."""
    rows = spark.createDataFrame([(1,)], "id bigint")
    with pytest.raises(Exception, match="there is no table in"):
        rows.write.format("orcish").mode("append").save(str(tmp_path / "t" / "run=5"))
    with pytest.raises(ValueError, match="there is no table in"):
        osp.convert(rows, tmp_path / "t" / "run=5")
    assert not (tmp_path / "t").exists()
