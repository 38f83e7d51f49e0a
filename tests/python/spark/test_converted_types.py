"""Conversions of ORC files keep both ORC types of timestamps, and values that readers do not see."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import orcish
import orcish.spark as osp
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from orcish.writing.timestamps import INSTANT, WALL, timestamp_types
from orcish_cli.spark import main
from pyspark.errors import PySparkException
from support.case_loops import each_case
from support.cpp_writers import write_rows

Spark = Any
AT = dt.datetime(2026, 7, 1, 12, 30, 1, 5, dt.timezone.utc)
KINDS = {"i": INSTANT, "w": WALL, "s.x": INSTANT, "s.y": WALL, "l.element": INSTANT, "m.value": INSTANT}
SCHEMA = f"struct<k:int,i:{INSTANT},w:{WALL},s:struct<x:{INSTANT},y:{WALL}>,l:array<{INSTANT}>,m:map<string,{INSTANT}>>"
ROWS = [(1, AT, AT, (AT, AT), [AT, None], {"a": AT}), (2, None, None, None, None, None)]


def source(folder: Path) -> Path:
    path = folder / "s" / "p=1" / "a.orc"
    path.parent.mkdir(parents=True)
    path.write_bytes(write_rows(SCHEMA, ROWS))
    return folder / "s"


def kinds_of(table: Path) -> list[dict[str, str]]:
    return [timestamp_types(orcish.ORCFile(path)) for path in sorted(table.rglob("*.orc"))]


@each_case("way", ["elsewhere", "in place", "sorted", "all columns", "shell", "appended", "twice"])
def test_both_types_of_timestamps_stay(spark: Spark, tmp_path: Path, way: str) -> None:
    table, target = source(tmp_path), tmp_path / "t"
    instants = orcish.read_table(table, timestamps="instant")
    shown = spark.read.format("orcish").load(str(table)).sort("k").collect()
    if way == "in place":
        target = table
        osp.convert(str(table), str(target), existing_data="overwrite")
    elif way == "sorted":
        osp.convert(str(table), str(target), sort_within=["k"])
    elif way == "all columns":
        osp.convert(str(table), str(target), read_options={"mergeSchema": True})
    elif way == "shell":
        assert main(["convert", str(table), str(target)]) == 0
    else:
        osp.convert(str(table), str(target))
        if way == "appended":
            osp.convert(str(table), str(target), existing_data="append")
        elif way == "twice":
            osp.convert(str(target), str(target), existing_data="overwrite")
    assert kinds_of(target) == [KINDS] * (2 if way == "appended" else 1)
    found = orcish.read_table(target, timestamps="instant")
    assert found.slice(0, 2).select(instants.column_names).to_pydict() == instants.to_pydict()
    assert spark.read.format("orcish").load(str(target)).sort("k").limit(2).collect() == shown or way == "appended"
    # The log has the types, too.
    orcish.delete(target, "k > 0")
    orcish.write_dataset(found.slice(0, 1), target, partition_by=["p"], existing_data="append")
    assert kinds_of(target) == [KINDS]


def test_columns_that_an_append_adds_keep_their_types(spark: Spark, tmp_path: Path) -> None:
    for name, kind in (("a", "struct<k:int>"), ("b", f"struct<k:int,i:{INSTANT}>")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.orc").write_bytes(write_rows(kind, [(1, AT)[: kind.count(":")]]))
    osp.convert(str(tmp_path / "a"), str(tmp_path / "t"))
    osp.convert(str(tmp_path / "b"), str(tmp_path / "t"), existing_data="append")
    assert sorted(map(str, kinds_of(tmp_path / "t"))) == sorted(map(str, [{}, {"i": INSTANT}]))


def test_frames_have_the_type_of_spark(spark: Spark, tmp_path: Path) -> None:
    osp.convert(spark.read.format("orcish").load(str(source(tmp_path))), str(tmp_path / "t"))
    assert {kind for kinds in kinds_of(tmp_path / "t") for kind in kinds.values()} == {WALL}


@each_case("existing", ["overwrite", "overwrite_partitions"])
def test_hidden_values_are_not_lost_in_place(spark: Spark, tmp_path: Path, existing: str) -> None:
    path = tmp_path / "t" / "p=1" / "a.orc"
    path.parent.mkdir(parents=True)
    orcish.write_table(pa.table({"a": [1], "p": [7]}), path)
    with pytest.raises(ValueError, match="column 'p' is stored with other values"):
        osp.convert(str(tmp_path / "t"), str(tmp_path / "t"), existing_data=existing)  # type: ignore[arg-type]
    assert orcish.read_table(path)["p"].to_pylist() == [7]
    osp.convert(str(tmp_path / "t"), str(tmp_path / "x"))
    orcish.write_table(pa.table({"a": [1], "p": [1]}), path, existing_data="overwrite")
    osp.convert(str(tmp_path / "t"), str(tmp_path / "t"), existing_data=existing)  # type: ignore[arg-type]


@each_case("form", ["orc", "parquet"])
def test_columns_that_only_later_files_have(spark: Spark, tmp_path: Path, form: str) -> None:
    """They are written, as by other verbs, also where the source is replaced."""
    tables = [pa.table({"id": [1], "s": [{"a": 1}]}), pa.table({"id": [2], "s": [{"a": 2, "z": 7}], "extra": ["x"]})]
    (tmp_path / "t").mkdir()
    for number, table in enumerate(tables):
        write = orcish.write_table if form == "orc" else pq.write_table
        write(table, str(tmp_path / "t" / f"{number}.{form}"))
    want = [
        {"id": 1, "s": {"a": 1, "z": None}, "extra": None},
        {"id": 2, "s": {"a": 2, "z": 7}, "extra": "x"},
    ]
    osp.convert(str(tmp_path / "t"), str(tmp_path / "u"))
    assert orcish.read_table(tmp_path / "u").sort_by("id").to_pylist() == want
    if form == "orc":
        osp.convert(str(tmp_path / "t"), str(tmp_path / "t"), existing_data="overwrite")
        assert orcish.read_table(tmp_path / "t").sort_by("id").to_pylist() == want
        osp.convert(str(tmp_path / "u"), str(tmp_path / "v"), read_options={"mergeSchema": False})


def test_a_column_that_is_there_twice(spark: Spark, tmp_path: Path) -> None:
    orcish.write_table(pa.table([[1], [2]], ["a", "a"]), tmp_path / "a.orc")
    with pytest.raises(PySparkException, match="column 'a' is there twice, which Spark does not read"):
        spark.read.format("orcish").load(str(tmp_path / "a.orc"))


def test_rows_without_columns(spark: Spark, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the rows have no columns"):
        osp.convert(spark.range(3).select(), str(tmp_path / "t"))


def a_file(path: Path, column: str = "a", value: int = 1) -> None:
    """A file of the format that its name says, with one row."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"x": [value], column: [value]})
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".csv":
        path.write_text(f"{value}\n")
    else:
        orcish.write_table(table, path)


@each_case(
    ("files", "match"),
    [
        (["f.orc", "p=1/g.orc"], r"f\.orc is not read, and would be removed"),
        (["f.parquet", "p=1/g.parquet"], r"f\.parquet is not read, and would be removed"),
        (["f.orc", "other/g.orc"], r"g\.orc is not read, and would be removed"),
        (["p=1/f.orc:p", "p=2/g.orc"], "column 'p' is stored with other values"),
        (["p=1/f.orc:P", "p=2/g.orc"], "column 'P' is stored with other values"),
        (["p=1/f.parquet:p", "p=2/g.parquet"], "column 'p' is stored in files"),
        (["a.csv", "b.parquet"], "files of several formats"),
        (["a.orc", "b.csv"], "files of several formats"),
        (["000000_0", "b.csv"], "its name does not say its format"),
    ],
    ids=str,
)
@each_case("is_link", [False, True])
def test_no_values_are_lost_in_place(spark: Spark, tmp_path: Path, files: list[str], match: str, is_link: bool) -> None:
    """What the job does not read is not removed, by whatever name the source is given."""
    for number, file in enumerate(files, 7):
        name, _, column = file.partition(":")
        a_file(tmp_path / "t" / name, column or "a", number)
    (tmp_path / "link").symlink_to("t")
    before = {path: path.read_bytes() for path in (tmp_path / "t").rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match=match):
        osp.convert(str(tmp_path / ("link" if is_link else "t")), str(tmp_path / "t"), existing_data="overwrite")
    assert {path: path.read_bytes() for path in (tmp_path / "t").rglob("*") if path.is_file()} == before
