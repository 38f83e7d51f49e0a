"""Which files of a folder are read: those that Spark's own reader reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orcish
import orcish.spark as osp
import pyarrow as pa
import pytest
from orcish.errors import OrcishError
from orcish.spark.files import spark_files
from orcish.spark.options import TableOptions
from orcish.spark.stream_reader import FoundFiles, OrcishStreamReader
from pyspark.errors import PySparkException, SparkRuntimeException
from pyspark.sql.types import LongType, StructType
from support.case_loops import each_case
from support.small_tables import put
from support.spark_tables import assert_same

Spark = Any

LAYOUTS = [
    ["x.orc", "sub/x.orc", "sub/deep/x.orc"],
    ["k=1/x.orc", "k=2/x.orc", "k=1/sub/x.orc", "k=1/sub/deep/x.orc"],
    ["k=1/sub/x.orc"],
    ["x.orc", "k=1/x.orc"],
    ["sub/k=1/x.orc", "sub/k=2/x.orc"],
    ["k=1/sub/j=2/x.orc"],
    ["k=1/j=1/x.orc", "k=2/j=3/x.orc"],
    ["_k=1/x.orc", "_k=2/x.orc"],
    ["_x=1.orc", "y.orc"],
    ["k=1/_x=2.orc", "y.orc"],
    ["_x/y.orc", ".s/x.orc", "_temporary/x.orc", "x.orc._COPYING_", "y.orc"],
    ["k=1/_x/x.orc", "k=1/.s=2/x.orc", "k=1/y.orc"],
]
"""Layouts that Spark reads."""

REFUSED = [
    ["k=1/x.orc", "sub/x.orc"],
    ["k=1/x.orc", "sub/k=2/x.orc"],
    ["a/k=1/x.orc", "b/k=2/x.orc"],
    ["k=1/sub/j=2/x.orc", "k=1/x.orc"],
    ["k=1/x.orc", "j=1/x.orc"],
    ["k=1/x.orc", "k=1/j=1/x.orc"],
]
"""Layouts that Spark refuses."""


def table(folder: Path, names: list[str]) -> Path:
    """A table whose column ``id`` says which file a row is from."""
    return put(folder, {name: pa.table({"id": [at]}) for at, name in enumerate(names)})


def check(spark: Spark, paths: list[str], **options: str) -> None:
    found, wanted = (spark.read.format(name).options(**options).load(paths) for name in ("orcish", "orc"))
    assert_same(found, wanted)


@each_case("names", [*LAYOUTS, *REFUSED], ids=" ".join)
def test_all_files(spark: Spark, tmp_path: Path, names: list[str]) -> None:
    check(spark, [str(table(tmp_path / "t", names))], recursiveFileLookup="true")


@each_case("names", LAYOUTS, ids=" ".join)
def test_layouts(spark: Spark, tmp_path: Path, names: list[str]) -> None:
    folder = table(tmp_path / "t", names)
    check(spark, [str(folder)])
    # Without columns of partitions, the same files are read. A stream reads them, too.
    rows = sorted(row.id for row in spark.read.orc(str(folder)).collect())
    for options in ({"path": str(folder)}, {"path": str(folder), "partitions": "false"}):
        files = spark_files(TableOptions.of(options)).files
        assert sorted(orcish.read_table([file.location for file in files])["id"].to_pylist()) == rows
    assert len(FoundFiles.of(TableOptions.of({"path": f"{folder}/"})).names()) == len(rows)


@each_case("names", REFUSED, ids=" ".join)
def test_refused_layouts(spark: Spark, tmp_path: Path, names: list[str]) -> None:
    folder = str(table(tmp_path / "t", names))
    with pytest.raises(SparkRuntimeException, match="CONFLICTING"):
        spark.read.orc(folder)
    with pytest.raises(OrcishError, match=r"/t: the folders /.* and /.*recursiveFileLookup=true"):
        spark_files(TableOptions.of({"path": folder}))
    # All files are read without columns of partitions.
    assert spark_files(TableOptions.of({"path": folder, "partitions": "false"})).files


@each_case(
    "names",
    [
        ["k=1", "k=2"],
        ["u", "v"],
        ["u", "u"],
        ["u", "u/x.orc"],
        ["u/x.orc", "v"],
        ["u", "u/sub"],
        ["k=1/x.orc", "k=2/x.orc"],
        ["w", "w/k=5"],
        ["n/a=1"],
        ["u*"],
        ["[uv]/*.orc"],
    ],
    ids=" ".join,
)
def test_several_paths(spark: Spark, tmp_path: Path, names: list[str]) -> None:
    files = ["k=1/x.orc", "k=2/x.orc", "k=2/sub/x.orc", "u/x.orc", "u/sub/x.orc", "v/y.orc", "w/k=5/y.orc"]
    folder = table(tmp_path, [*files, "n/a=1/b=2/x.orc"])
    paths = [f"{folder}/{name}" for name in names]
    check(spark, paths)
    check(spark, paths, recursiveFileLookup="true")


def test_paths_with_and_without_partitions(tmp_path: Path) -> None:
    folder = table(tmp_path, ["u/x.orc", "w/k=5/y.orc", "w2/k=6/z.orc"])

    def files(*names: str, **options: str) -> list[tuple[str, Any]]:
        paths = json.dumps([f"{folder}/{name}" for name in names])
        found = spark_files(TableOptions.of({"paths": paths, **options})).files
        return [(file.location[len(str(folder)) + 1 :], file.partition) for file in found]

    for names in (["u*", "w*"], ["*"], ["u", "w"]):
        with pytest.raises(OrcishError, match="not partitions of one folder"):
            files(*names)
    # Spark refuses these.
    assert files("w", "w2") == [("w/k=5/y.orc", [("k", "5")]), ("w2/k=6/z.orc", [("k", "6")])]
    # Folders above a path are partitions on request.
    assert files("w/k=5", partitions="true") == [("w/k=5/y.orc", [("k", "5")])]
    assert files("w/k=5/y.orc", partitions="true") == [("w/k=5/y.orc", [("k", "5")])]
    assert files("w/k=5") == files("w/k=5/y.orc") == [("w/k=5/y.orc", [])]
    with pytest.raises(ValueError, match="recursiveFileLookup"):
        files("w", partitions="true", recursiveFileLookup="true")


def test_jobs(spark: Spark, tmp_path: Path) -> None:
    folder = str(table(tmp_path / "t", ["x.orc", "y.orc", "sub/x.orc"]))
    (tmp_path / "t" / "sub" / "bad.orc").write_bytes(b"bad")
    assert osp.verify(folder, spark=spark).isEmpty()
    assert osp.profile(folder, spark=spark).collect()[0].rows == 2
    assert osp.map_batches(spark, folder, lambda batches: batches, "id bigint").count() == 2
    osp.convert(folder, str(tmp_path / "o"), spark=spark)
    assert spark.read.orc(str(tmp_path / "o")).count() == 2
    assert not osp.verify(folder, recursive_file_lookup=True, spark=spark).isEmpty()
    (tmp_path / "t" / "sub" / "bad.orc").unlink()
    assert osp.read(spark, folder, recursive_file_lookup=True).count() == 3
    assert osp.profile(folder, recursive_file_lookup=True, spark=spark).collect()[0].rows == 3
    # The scan of orcish reads all folders.
    assert orcish.scan(folder).count() == 3


def test_a_stream(tmp_path: Path) -> None:
    """A file that a stream has found stays one of its files when the table gets partitions. It has none of them."""
    folder = table(tmp_path / "t", ["x.orc", "sub/x.orc"])
    schema = StructType().add("id", LongType()).add("k", LongType())
    reader = OrcishStreamReader({"path": str(folder), "maxFilesPerTrigger": "1"}, schema)
    start = reader.initialOffset()
    one = reader.latestOffset(start)
    assert one["files"] == 1
    (folder / "sub" / "x.orc").unlink()
    put(folder, {"k=1/x.orc": pa.table({"id": [7]})})
    two = reader.latestOffset(one)
    assert two["files"] == 2
    again = OrcishStreamReader({"path": str(folder)}, schema)
    batches = [batch for part in again.partitions(start, two) for batch in again.read(part)]
    assert sorted(tuple(row.values()) for batch in batches for row in batch.to_pylist()) == [(0, None), (7, 1)]


@each_case("name", ["typo", "typo/", "empty", "no*", "t/nothing.orc"])
def test_paths_without_files(spark: Spark, tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    table(tmp_path / "t", ["x.orc"])
    path = f"{tmp_path}/{name}"
    for call in (
        lambda: osp.verify(path, spark=spark),
        lambda: osp.profile(path, spark=spark),
        lambda: osp.map_batches(spark, path, lambda batches: batches, "id bigint"),
        lambda: osp.convert(path, str(tmp_path / "o"), spark=spark),
    ):
        with pytest.raises(FileNotFoundError, match=str(tmp_path)):
            call()
    with pytest.raises(PySparkException, match="FileNotFoundError"):
        spark.read.format("orcish").load(path)
    assert not (tmp_path / "o").exists()
    assert not (tmp_path / "typo").exists()


# Types of partition columns.


@pytest.fixture
def without_inference(spark: Any) -> Any:
    """A session that does not infer types."""
    name = "spark.sql.sources.partitionColumnTypeInference.enabled"
    spark.conf.set(name, "false")
    yield
    spark.conf.unset(name)


@each_case("form", ["orc", "orcish"])
def test_text_of_partitions_without_inference(spark: Any, tmp_path: Path, without_inference: None, form: str) -> None:
    """Leading zeros stay, with a log and without, as in Spark's own reader."""
    table = str(tmp_path / "t")
    frame = spark.sql("select 1 id, '01234' zip, '1.50' price union all select 2, '00007', '2'")
    if form == "orc":
        frame.write.partitionBy("zip", "price").orc(table)
    else:
        frame.write.format("orcish").mode("append").option("partitionBy", "zip,price").save(table)
    own = spark.read.orc(table)
    assert own.schema["zip"].dataType.simpleString() == "string"
    reader = spark.read.format("orcish")
    option = ("partitionColumnTypeInference", "false")
    assert_same(osp.read(spark, table), own)
    assert_same(reader.option(*option).load(table), own)
    mapped = osp.map_batches(spark, table, lambda batches: batches, "id int, zip string, price string")
    assert_same(mapped, own)
    found = osp.read(spark, table, filters="zip = '01234'").collect()
    assert [row.id for row in found] == [1]
    osp.convert(table, tmp_path / "new", spark=spark)
    assert {path.parent.parent.name for path in (tmp_path / "new").rglob("*.orc")} == {"zip=01234", "zip=00007"}
    # A word in the call counts before the session.
    assert osp.read(spark, table, partition_column_type_inference=True).schema["zip"].dataType.simpleString() == "int"
    assert sorted(row.zip for row in spark.read.format("orcish").option(option[0], "true").load(table).collect()) == [
        7,
        1234,
    ]
    given = spark.read.format("orcish").schema("id int, zip int, price double").load(table)
    assert sorted(row.zip for row in given.collect()) == [7, 1234]
    # The data source cannot see the session, and says so.
    with pytest.raises(Exception, match=r'partition column zip .*\.option\("partitionColumnTypeInference", "false"\)'):
        spark.read.format("orcish").load(table).collect()


def test_partitions_with_inference(spark: Any, tmp_path: Path) -> None:
    """Without a setting, types are those that Spark infers, and the option makes them text."""
    table = str(tmp_path / "t")
    spark.sql("select 1 id, '01234' zip").write.partitionBy("zip").orc(table)
    assert_same(spark.read.format("orcish").load(table), spark.read.orc(table))
    assert_same(osp.read(spark, table), spark.read.orc(table))
    for found in (
        spark.read.format("orcish").option("partitionColumnTypeInference", "false").load(table),
        osp.read(spark, table, partition_column_type_inference=False),
    ):
        assert [tuple(row) for row in found.collect()] == [(1, "01234")]
