"""Tables at both ends of streams: each file is read once, and each batch is written once, whatever is started again."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.folders import Folder
from orcish.spark.commit import committed_batch, finish_commits
from orcish.spark.options import WriterOptions
from orcish.spark.streams import OrcishStreamReader, OrcishStreamWriter
from pyspark.errors import PySparkException, StreamingQueryException
from spark_cases import assert_same, every_type, ids_of, left_over, rows_of, table_of
from tables import put

Spark = Any


def ids(start: int, count: int = 5) -> pa.Table:
    return pa.table({"id": list(range(start, start + count))})


def run(spark: Spark, source: Path, target: Path, schema: str | None = None, **options: str) -> Any:
    """Takes all that is there from one table to another, and stops."""
    reader = spark.readStream.format("orcish").options(**options)
    if schema is not None:
        reader = reader.schema(schema)
    frame = reader.load(str(source))
    writer = frame.writeStream.format("orcish").option("checkpointLocation", f"{target}.checkpoint")
    query = writer.outputMode("append").trigger(processingTime="0 seconds").start(str(target))
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    return query


def test_there_and_on(spark: Spark, tmp_path: Path) -> None:
    source, target = put(tmp_path / "s", {"a.orc": ids(0), "b.orc": ids(5)}), tmp_path / "t"
    run(spark, source, target)
    assert ids_of(target) == list(range(10))
    # A file that comes later, with an older clock, and a restart from the checkpoint.
    put(source, {"0.orc": ids(10)})
    run(spark, source, target)
    assert ids_of(target) == list(range(15))
    run(spark, source, target)
    assert ids_of(target) == list(range(15))
    assert [name for name in left_over(target) if "streams" not in name] == []
    # The table that is written is one like others.
    assert sorted(row.id for row in spark.read.orc(str(target)).collect()) == list(range(15))
    assert spark.read.format("orcish").load(str(target)).count() == 15


def test_every_type(spark: Spark, tmp_path: Path) -> None:
    every_type(spark, 30).write.orc(str(tmp_path / "s"))
    run(spark, tmp_path / "s", tmp_path / "t")
    assert_same(spark.read.orc(str(tmp_path / "t")), spark.read.orc(str(tmp_path / "s")))


def test_several_files_a_batch(spark: Spark, tmp_path: Path) -> None:
    source, target = put(tmp_path / "s", {f"{at}.orc": ids(at * 5) for at in range(5)}), tmp_path / "t"
    query = run(spark, source, target, maxFilesPerTrigger="2")
    assert ids_of(target) == list(range(25))
    rows = [progress["numInputRows"] for progress in query.recentProgress if progress["numInputRows"]]
    assert max(rows) <= 10, rows
    put(source, {"9.orc": ids(25)})
    run(spark, source, target, maxFilesPerTrigger="2")
    assert ids_of(target) == list(range(30))


def test_where_the_state_is(spark: Spark, tmp_path: Path) -> None:
    source, target = put(tmp_path / "s", {"a.orc": ids(0), "p=1.orc": ids(5)}), tmp_path / "t"
    run(spark, source, target, stateLocation=str(tmp_path / "state"))
    assert not (source / "_orcish").exists()
    found = [json.loads(path.read_text()) for path in sorted((tmp_path / "state").iterdir())]
    assert [Path(name).name for name in found[0]] == ["a.orc", "p=1.orc"]
    assert ids_of(target) == list(range(10))


def test_an_empty_folder(spark: Spark, tmp_path: Path) -> None:
    """Has no schema but that of the user."""
    source, target = tmp_path / "s", tmp_path / "t"
    source.mkdir()
    run(spark, source, target, "id bigint")
    assert not target.exists() or table_of(target) == []
    put(source, {"a.orc": ids(0)})
    run(spark, source, target, "id bigint")
    assert ids_of(target) == list(range(5))


def test_where_and_columns(spark: Spark, tmp_path: Path) -> None:
    source = put(tmp_path / "s", {"p=1/a.orc": ids(0), "p=2/b.orc": ids(5)})
    run(spark, source, tmp_path / "t", where="id in (3, 4, 5)", columns="p,id")
    found = spark.read.orc(str(tmp_path / "t"))
    assert sorted((row.id, row.p) for row in found.collect()) == [(3, 1), (4, 1), (5, 2)]


def test_a_file_that_goes(spark: Spark, tmp_path: Path) -> None:
    """Between being found and being read: an error, and no batch without it."""
    source, target = put(tmp_path / "s", {"a.orc": ids(0), "b.orc": ids(5)}), tmp_path / "t"
    state = tmp_path / "state"
    state.mkdir()
    names = [str(source / name) for name in ("a.orc", "b.orc")]
    (state / "000000000001.json").write_text(json.dumps(names))
    (source / "b.orc").unlink()
    with pytest.raises((StreamingQueryException, PySparkException), match=r"b\.orc: gone before"):
        run(spark, source, target, stateLocation=str(state))
    assert not target.exists() or table_of(target) == []


def test_from_other_sources(spark: Spark, tmp_path: Path) -> None:
    """Of Spark's own, into partitions."""
    frame = spark.readStream.format("rate").option("rowsPerSecond", "50").load()
    frame = frame.selectExpr("value as id", "timestamp as t", "value % 3 as p")
    writer = frame.writeStream.format("orcish").option("partitionBy", "p")
    query = writer.option("checkpointLocation", str(tmp_path / "c")).start(str(tmp_path / "t"))
    try:
        for _ in range(200):
            if query.lastProgress and query.lastProgress["batchId"] > 2 and table_of(tmp_path / "t"):
                break
            time.sleep(0.2)
    finally:
        query.stop()
    assert query.exception() is None
    found = ids_of(tmp_path / "t")
    assert found == list(range(len(found)))
    assert len(found) > 50
    assert {Path(name).parent.name for name in table_of(tmp_path / "t")} == {"p=0", "p=1", "p=2"}
    assert rows_of(spark.read.orc(str(tmp_path / "t")).selectExpr("count(*) as n")) == [f"{{'n': {len(found)}}}"]


def test_output_modes(spark: Spark, tmp_path: Path) -> None:
    source = put(tmp_path / "s", {"a.orc": ids(0)})
    frame = spark.readStream.format("orcish").load(str(source)).groupBy("id").count()
    with pytest.raises(PySparkException, match="append"):  # noqa: PT012
        query = (
            frame.writeStream.format("orcish").outputMode("complete").option("checkpointLocation", str(tmp_path / "c"))
        )
        started = query.start(str(tmp_path / "t"))
        started.processAllAvailable()


# Without Spark: the reader and the writer as it calls them.


def test_a_batch_that_is_committed_twice(tmp_path: Path) -> None:
    """As after a driver that has died before it could note that the batch is done."""
    from pyspark.sql.types import LongType, StructType

    table = str(tmp_path / "t")
    schema = StructType().add("id", LongType())

    def write(batch: int, start: int) -> None:
        writer = OrcishStreamWriter(WriterOptions.of({"path": table}), schema)
        message = writer.write(iter(ids(start).to_batches()))
        message.query = "q"
        writer.commit([message, None], batch)

    write(0, 0)
    write(0, 0)
    assert ids_of(tmp_path / "t") == list(range(5))
    write(1, 5)
    write(0, 0)
    write(1, 5)
    assert ids_of(tmp_path / "t") == list(range(10))
    assert committed_batch(Folder(table), "q") == 1
    # One that is given up.
    writer = OrcishStreamWriter(WriterOptions.of({"path": table}), schema)
    message = writer.write(iter(ids(99).to_batches()))
    writer.abort([message, None], 2)
    assert ids_of(tmp_path / "t") == list(range(10))
    assert left_over(tmp_path / "t") == ["_orcish/streams/q.json"]
    assert finish_commits(table, {}) == 0


def test_two_readers_of_one_folder(tmp_path: Path) -> None:
    from pyspark.sql.types import LongType, StructType

    source = put(tmp_path / "s", {"a.orc": ids(0)})
    readers = [OrcishStreamReader({"path": str(source)}, StructType().add("id", LongType())) for _ in range(2)]
    first = readers[0].initialOffset()
    assert readers[0].latestOffset(first) == {"list": 1}
    put(source, {"b.orc": ids(5)})
    assert readers[1].latestOffset(first) == {"list": 2}
    assert readers[0].latestOffset({"list": 1}) == {"list": 2}
    rows = [
        batch["id"].to_pylist()
        for part in readers[0].partitions({"list": 1}, {"list": 2})
        for batch in readers[1].read(part)
    ]
    assert rows == [[5, 6, 7, 8, 9]]
    assert readers[0].partitions({"list": 2}, {"list": 2}) == []
    assert ids_of(source) == list(range(10))
    assert len(orcish.scan(str(source)).files) == 2
