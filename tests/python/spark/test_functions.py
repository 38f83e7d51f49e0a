"""Functions that run in the workers, which open the files themselves."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orcish
import orcish.spark as osp
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from support.case_loops import each_case
from support.small_tables import put, rows
from support.spark_tables import every_type, rows_of

Spark = Any

# Workers do not have this file.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(scope="module")
def numbers(spark: Spark, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("numbers")
    return str(put(folder, {f"p={at}/a.orc": rows(at * 1000, 1000) for at in range(4)}))


def same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches


def test_every_type(spark: Spark, tmp_path: Path) -> None:
    """Functions receive the types of Spark's own Arrow functions."""
    every_type(spark).write.orc(str(tmp_path / "t"))
    wanted = spark.read.orc(str(tmp_path / "t"))
    assert rows_of(osp.map_batches(spark, str(tmp_path / "t"), same, wanted.schema)) == rows_of(wanted)

    def types(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.record_batch({"name": batch.schema.names, "type": [str(field.type) for field in batch.schema]})

    schema = "name string, type string"
    found = dict(map(tuple, osp.map_batches(spark, str(tmp_path / "t"), types, schema).distinct().collect()))
    own = dict(map(tuple, wanted.mapInArrow(types, schema).distinct().collect()))
    assert found.keys() == own.keys()
    # An instant is one, whatever zone it is shown in, and names within lists are free.
    plain = {name: kind for name, kind in found.items() if "timestamp" not in kind and "<" not in kind}
    assert plain == {name: own[name] for name in plain}
    assert found["t"] == "timestamp[us, tz=UTC]"
    assert found["ntz"] == "timestamp[us]"


@each_case(
    "where",
    [
        orcish.col("id") >= 3990,
        "id >= 3990",
        pc.field("id") >= 3990,
        pl.col("id") >= 3990,
        pl.col("id") * 2 >= 7980,
        [("id", ">=", 3990)],
    ],
    ids=["orcish", "text", "pyarrow", "polars", "polars left over", "tuples"],
)
def test_where(spark: Spark, numbers: str, where: Any) -> None:
    done = osp.map_batches(spark, numbers, same, "x double, id bigint", columns=["x", "id"], filters=where)
    assert sorted(row.id for row in done.collect()) == list(range(3990, 4000))
    frames = osp.map_pandas(spark, numbers, lambda frames: frames, "id bigint", columns=["id"], filters=where)
    assert sorted(row.id for row in frames.collect()) == list(range(3990, 4000))


def test_partitions_and_options(spark: Spark, numbers: str) -> None:
    done = osp.map_batches(spark, numbers, same, "id bigint, p int", columns=["id", "p"], filters="p = 2", min_splits=1)
    assert {(row.id // 1000, row.p) for row in done.collect()} == {(2, 2)}
    done = osp.map_batches(
        spark, f"{numbers}/p=3", same, "id bigint, row bigint", columns=["id"], row_number="row", batch_size=10
    )
    assert all(row.id == 3000 + row.row for row in done.collect())
    two = osp.map_batches(spark, [f"{numbers}/p=0", f"{numbers}/p=3"], same, "id bigint", columns=["id"])
    assert sorted(row.id for row in two.collect()) == [*range(1000), *range(3000, 4000)]
    with pytest.raises(TypeError, match="did you mean 'row_number'"):
        osp.map_batches(spark, numbers, same, "id bigint", row_numbr="row")  # type: ignore[call-arg]
    assert osp.map_batches(spark, numbers, same, "id bigint", columns=["id"], min_splits=3).rdd.getNumPartitions() == 3


def test_schemas_of_tables(spark: Spark, numbers: str) -> None:
    from pyspark.sql.types import DoubleType, LongType, StructType

    schema = StructType().add("x", DoubleType()).add("missing", LongType())
    done = osp.map_batches(spark, numbers, same, schema, table_schema=schema, filters="x < 0.6")
    assert sorted(map(tuple, done.collect()), key=repr) == [(0.25, None), (0.5, None)]
    with pytest.raises(orcish.UnknownColumnError, match="id"):
        osp.map_batches(spark, numbers, same, schema, table_schema=schema, filters="id < 2")


def test_functions_that_aggregate(spark: Spark, numbers: str) -> None:
    """A function that aggregates all batches of its task returns one row for each task."""

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        total = seen = 0
        for batch in batches:
            total += pc.sum(batch["id"]).as_py()
            seen += len(batch)
        yield pa.record_batch({"n": [seen], "total": [total]})

    found = osp.map_batches(spark, numbers, count, "n bigint, total bigint", min_splits=4, batch_size=100).collect()
    assert len(found) == 4
    assert sum(row.n for row in found) == 4000
    assert sum(row.total for row in found) == sum(range(4000))


def test_pandas(spark: Spark, numbers: str) -> None:
    def score(frames: Any) -> Any:
        for frame in frames:
            assert list(frame.columns) == ["id", "x"]
            yield frame.assign(score=frame["x"].fillna(0) * 2)[["id", "score"]]

    found = osp.map_pandas(
        spark, numbers, score, "id bigint, score double", columns=["id", "x"], filters="id < 7"
    ).collect()
    assert sorted(map(tuple, found)) == [(i, 0.0 if i % 5 == 0 else i / 2) for i in range(7)]


@each_case("run", [osp.map_batches, osp.map_pandas])
def test_functions_that_fail(spark: Spark, numbers: str, run: Any) -> None:
    def fails(batches: Any) -> Any:
        for _ in batches:
            raise KeyError("the function's own error")
        yield

    with pytest.raises(PySparkException, match="the function's own error"):
        run(spark, numbers, fails, "id bigint").collect()
    # The next job is well.
    assert run(spark, numbers, lambda batches: batches, "id bigint", columns=["id"]).count() == 4000


@each_case("made", ["None", "RecordBatch", "DataFrame"])
@each_case("way", [osp.map_batches, osp.map_pandas], ids=lambda way: way.__name__)
def test_functions_that_yield_nothing_say_so(spark: Spark, numbers: str, way: Any, made: str) -> None:
    def first(parts: Iterator[Any]) -> Any:
        part = next(iter(parts))
        batch = part if isinstance(part, pa.RecordBatch) else pa.RecordBatch.from_pandas(part)
        return {"None": None, "RecordBatch": batch, "DataFrame": batch.to_pandas()}[made]

    with pytest.raises(PySparkException, match=f"the function takes an iterator of .* it has returned (a )?{made}"):
        way(spark, numbers, first, "id bigint").collect()


def test_functions_that_read_little(spark: Spark, numbers: str) -> None:
    def first(batches: Any) -> Any:
        yield next(iter(batches)).slice(0, 1)

    assert osp.map_batches(spark, numbers, first, "id bigint", columns=["id"], batch_size=10).count() == 1
    assert osp.map_batches(spark, numbers, lambda batches: iter(()), "id bigint").count() == 0


def test_nothing_to_read(spark: Spark, tmp_path: Path, numbers: str) -> None:
    put(tmp_path / "t", {"a.orc": pa.table({"id": pa.array([], pa.int64())})})
    for path, where in [(str(tmp_path / "t"), None), (numbers, "id < 0")]:
        done = osp.map_batches(spark, path, same, "id bigint", columns=["id"], filters=where)
        assert done.collect() == []
        assert osp.map_pandas(spark, path, lambda f: f, "id bigint", columns=["id"], filters=where).collect() == []
    with pytest.raises(FileNotFoundError):
        osp.map_batches(spark, str(tmp_path / "none"), same, "id bigint")


def test_one_frame_many_times(spark: Spark, numbers: str) -> None:
    done = osp.map_batches(spark, numbers, same, "id bigint", columns=["id"])
    assert done.filter("id = 3").count() == 1
    assert done.count() == 4000
    assert done.union(done.filter("id = 5")).count() == 4001


def test_predicates_that_read_cannot_take(spark: Spark, numbers: str) -> None:
    for where in [pl.col("id") > 1, pc.field("id") > 1, [("id", ">", 1)]]:
        with pytest.raises(TypeError, match=r"orcish\.col"):
            osp.read(spark, numbers, filters=where)
    assert osp.read(spark, numbers, filters="id < 5").count() == 5
    assert osp.read(spark, numbers, filters=orcish.col("text").is_in(["t1"]) & (orcish.col("id") < 20)).count() == 3
