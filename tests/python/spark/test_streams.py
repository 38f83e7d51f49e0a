"""Tables at both ends of streams: each file is read once, and each batch is written once, whatever is started again."""

from __future__ import annotations

import concurrent.futures
import json
import shutil
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.errors import CommitError, OrcishError, UnsupportedError
from orcish.io.files import TableFile
from orcish.spark import file_log, files, stream_reader, writers
from orcish.spark.data_source import OrcishDataSource
from orcish.spark.options import TableOptions, WriterOptions
from orcish.spark.stream_reader import FoundFiles, OrcishStreamReader
from orcish.spark.writers import OrcishStreamWriter
from orcish.tables.commit import Job
from orcish.tables.folder import Folder
from orcish.tables.log.listing import Listing
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql.streaming import datasource as limits
from pyspark.sql.types import LongType, StringType, StructType
from support.case_loops import each_case
from support.small_tables import put
from support.spark_tables import assert_same, every_type, ids_of, left_over, table_of
from support.staged_commits import decide, staged

Spark = Any


def ids(start: int, count: int = 5) -> pa.Table:
    return pa.table({"id": list(range(start, start + count))})


def run(spark: Spark, source: Path | str, target: Path, schema: str | None = None, **options: str) -> Any:
    """Takes all that is there from one table to another, and stops."""
    reader = spark.readStream.format("orcish").options(**options)
    if schema is not None:
        reader = reader.schema(schema)
    frame = reader.load(str(source))
    writer = frame.writeStream.format("orcish").option("checkpointLocation", f"{target}.checkpoint")
    query = writer.outputMode("append").trigger(availableNow=True).start(str(target))
    assert query.awaitTermination(120)
    return query


def rows_by_batch(query: Any) -> list[int]:
    return [progress["numInputRows"] for progress in query.recentProgress if progress["numInputRows"]]


def left_by_jobs(table: Path) -> list[str]:
    """Files and folders of jobs, hidden ones too."""
    return sorted(str(path.relative_to(table)) for path in (table / "_orcish" / "jobs").rglob("*"))


def test_there_and_on(spark: Spark, tmp_path: Path) -> None:
    source, target = put(tmp_path / "s", {"a.orc": ids(0), "b.orc": ids(5)}), tmp_path / "t"
    run(spark, source, target)
    assert ids_of(target) == list(range(10))
    assert left_by_jobs(target) == []
    # A file that comes later, with an older clock, and a restart from the checkpoint; the folder is spelled otherwise.
    put(source, {"0.orc": ids(10)})
    run(spark, f"{tmp_path}/./s//", target)
    assert ids_of(target) == list(range(15))
    source = source.rename(tmp_path / "moved")
    assert rows_by_batch(run(spark, source, target)) == []
    assert left_by_jobs(target) == []
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
    assert rows_by_batch(query) == [10, 10, 5]
    assert left_by_jobs(target) == []


def test_an_empty_folder(spark: Spark, tmp_path: Path) -> None:
    """A stream of an empty folder needs a schema from the user."""
    source, target = tmp_path / "s", tmp_path / "t"
    source.mkdir()
    run(spark, source, target, "id bigint")
    assert not target.exists() or table_of(target) == []
    put(source, {"a.orc": ids(0)})
    run(spark, source, target, "id bigint")
    assert ids_of(target) == list(range(5))


def test_partitions_of_a_batch(spark: Spark, tmp_path: Path) -> None:
    """Partition columns have the types of the table at the start, not those of a batch."""
    source = put(tmp_path / "s", {"p=1/a.orc": ids(0), "p=x/b.orc": ids(5)})
    options = {"filters": "id in (3, 4, 5)", "columns": "p,id", "maxFilesPerTrigger": "1"}
    query = run(spark, source, tmp_path / "t", **options)
    assert len(rows_by_batch(query)) == 2
    rows = spark.read.orc(str(tmp_path / "t")).collect()
    assert sorted((row.id, row.p) for row in rows) == [(3, "1"), (4, "1"), (5, "x")]


def test_the_order_is_lost(spark: Spark, tmp_path: Path) -> None:
    """If Spark overwrites the table, the stream fails, and no file is skipped."""
    source, target = put(tmp_path / "s", {"a.orc": ids(0), "b.orc": ids(5)}), tmp_path / "t"
    run(spark, source, target)
    spark.range(10, 15).coalesce(1).write.mode("overwrite").orc(str(source))
    assert not (source / "_orcish").exists()
    with pytest.raises(StreamingQueryException, match=r"_orcish/found: the order .* is lost.* new checkpoint"):
        run(spark, source, target)
    assert ids_of(target) == list(range(10))


def test_from_other_sources(spark: Spark, tmp_path: Path) -> None:
    """Streams of Spark's own sources are written into partitions."""
    target = tmp_path / "t"
    put(tmp_path / "s", {f"{at}.txt": "\n".join(map(str, range(at * 6, at * 6 + 6))).encode() for at in range(3)})
    frame = spark.readStream.format("text").option("maxFilesPerTrigger", "1").load(str(tmp_path / "s"))
    frame = frame.selectExpr("cast(value as bigint) as id", "cast(value as int) % 3 as p")
    writer = frame.writeStream.format("orcish").option("partitionBy", "p").trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(tmp_path / "c")).start(str(target))
    assert query.awaitTermination(120)
    assert ids_of(target) == list(range(18))
    assert [Path(name).parent.name for name in table_of(target)] == ["p=0"] * 3 + ["p=1"] * 3 + ["p=2"] * 3
    assert left_by_jobs(target) == []
    assert last_batches(target) == {query.id: 2}


def test_output_modes(spark: Spark, tmp_path: Path) -> None:
    source = put(tmp_path / "s", {"a.orc": ids(0)})
    frame = spark.readStream.format("orcish").load(str(source)).groupBy("id").count()
    with pytest.raises(PySparkException, match="append"):  # noqa: PT012
        query = (
            frame.writeStream.format("orcish").outputMode("complete").option("checkpointLocation", str(tmp_path / "c"))
        )
        query.trigger(availableNow=True).start(str(tmp_path / "t")).awaitTermination(120)


# Without Spark: the reader and the writer as it calls them.

LONG = StructType().add("id", LongType())


class Batch:
    """A batch of a stream that begins with a number: one writer has its tasks, another commits it."""

    def __init__(self, table: Path, monkeypatch: pytest.MonkeyPatch, start: int, query: str | None = "q") -> None:
        monkeypatch.setattr(writers, "local_property", {writers.QUERY: query}.get)
        self.table = table
        tasks = self._writer()
        self.messages = [tasks.write(iter(ids(at, 5).to_batches())) for at in (start, start + 5)]

    def _writer(self) -> OrcishStreamWriter:
        return OrcishStreamWriter(WriterOptions.of({"path": str(self.table)}), LONG)

    def commit(self, number: int) -> None:
        self._writer().commit([*self.messages, None], number)

    def abort(self, number: int) -> None:
        self._writer().abort([*self.messages, None], number)


def last_batches(table: Path) -> dict[str, int]:
    """The last batch of each stream, of the log."""
    entry = json.loads(max((table / "_orcish" / "log").glob("*.json")).read_text())
    batches = {stream: last["batch"] for stream, last in entry["streams"].items()}
    return batches | ({entry["batch"]["stream"]: entry["batch"]["batch"]} if entry["batch"] else {})


def test_a_batch_that_is_committed_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver died before it recorded that a batch is committed."""
    table = tmp_path / "t"
    was_second = False
    for number, start in ((0, 0), (0, 0), (1, 10), (0, 0), (1, 10)):
        Batch(table, monkeypatch, start).commit(number)
        was_second = was_second or number == 1
        assert ids_of(table) == list(range(20 if was_second else 10))
        assert left_by_jobs(table) == []
    # Numbers of other streams are others.
    Batch(table, monkeypatch, 20, "r").commit(0)
    assert ids_of(table) == list(range(30))
    # One that is given up.
    Batch(table, monkeypatch, 99).abort(2)
    assert ids_of(table) == list(range(30))
    assert left_by_jobs(table) == []
    assert left_over(table) == []
    assert orcish.recover(table) == "nothing"


def test_a_batch_without_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "t"
    batch = Batch(table, monkeypatch, 0)
    batch.messages = []
    batch.commit(0)
    writer = OrcishStreamWriter(WriterOptions.of({"path": str(table)}), LONG)
    writer.commit([writer.write(iter(()))], 1)
    assert not (table / "_orcish" / "log").exists()


def test_drivers_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "t"
    for number in range(4):
        batches = [Batch(table, monkeypatch, number * 10) for _ in range(4)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda batch, number=number: batch.commit(number), batches))
        assert ids_of(table) == list(range(number * 10 + 10))
    assert left_by_jobs(table) == []


def test_a_task_of_no_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OrcishError, match=r"sql\.streaming\.queryId"):
        Batch(tmp_path / "t", monkeypatch, 0, None)


def reader_of(path: Path | str, schema: StructType = LONG, **options: str) -> OrcishStreamReader:
    return OrcishStreamReader({"path": str(path), **options}, schema)


def read(reader: OrcishStreamReader, start: Any, end: Any) -> list[int]:
    return sorted(
        id for part in reader.partitions(start, end) for batch in reader.read(part) for id in batch["id"].to_pylist()
    )


def test_two_readers_of_one_folder(tmp_path: Path) -> None:
    source = put(tmp_path / "s", {"a.orc": ids(0)})
    readers = [reader_of(source) for _ in range(2)]
    first = readers[0].initialOffset()
    assert first["files"] == 0
    one = readers[0].latestOffset(first)
    put(source, {"b.orc": ids(5)})
    both = readers[1].latestOffset(first)
    assert (one["files"], both["files"]) == (1, 2)
    assert readers[0].latestOffset(one) == both
    assert readers[0].latestOffset(both) == both == readers[1].latestOffset(both)
    assert read(readers[0], one, both) == [5, 6, 7, 8, 9]
    assert readers[0].partitions(both, both) == []
    assert ids_of(source) == list(range(10))
    assert len(orcish.scan(str(source)).files) == 2


def test_where_the_state_is(tmp_path: Path) -> None:
    source = put(tmp_path / "s", {"a.orc": ids(0), "p=1.orc": ids(5)})
    reader = reader_of(source, stateLocation=str(tmp_path / "state"))
    assert read(reader, reader.initialOffset(), reader.latestOffset(reader.initialOffset())) == list(range(10))
    assert not (source / "_orcish").exists()
    (path,) = (tmp_path / "state").iterdir()
    assert json.loads(path.read_text())["files"] == ["a.orc", "p=1.orc"]


@each_case("path", ["{t}/s/", "{t}/s//", "{t}/./s/.", "{t}/x/../s", "file://{t}/s", "file:{t}/s/", "s", "./s"])
def test_ways_to_spell_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").mkdir()
    source = put(tmp_path / "s", {"a.orc": ids(0), "b c%20.orc": ids(5)})
    first = reader_of(source)
    end = first.latestOffset(first.initialOffset())
    again = reader_of(path.format(t=tmp_path))
    assert again.latestOffset(end) == end
    assert read(again, first.initialOffset(), end) == list(range(10))


@each_case("path", ["s3a://shelf/t", "S3://shelf//t/", "s3://shelf/./t"])
def test_ways_to_spell_a_store(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    def listed(path: str, *more: Any) -> Listing:
        return Listing([TableFile(f"{path.rstrip('/')}/p=1/{name}.orc", None, []) for name in "ab"], None)

    monkeypatch.setattr(files, "table_files", listed)
    for several in (False, True):
        paths = json.dumps(["s3://shelf/other"]) if several else "[]"
        wanted = FoundFiles.of(TableOptions.of({"path": "s3://shelf/t", "paths": paths})).names()
        assert FoundFiles.of(TableOptions.of({"path": path, "paths": paths})).names() == wanted
        assert ("p=1/a.orc" in wanted) != several


def test_patterns(tmp_path: Path) -> None:
    source = put(tmp_path / "s", {"p=1/a.orc": ids(0), "p=2/b.orc": ids(5), "c.orc": ids(90)})
    with pytest.raises(ValueError, match="stateLocation"):
        reader_of(f"{source}/*/*.orc")
    reader = reader_of(f"{source}/*/*.orc", stateLocation=str(tmp_path / "state"))
    start = reader.initialOffset()
    end = reader.latestOffset(start)
    assert read(reader, start, end) == list(range(10))
    source.rename(tmp_path / "moved")
    moved = reader_of(f"{tmp_path}/moved/p=*/*", stateLocation=str(tmp_path / "state"))
    assert moved.latestOffset(end) == end
    assert read(moved, start, end) == list(range(10))
    # A folder whose name looks like a pattern.
    odd = reader_of(put(tmp_path / "odd [1]", {"a.orc": ids(0)}))
    assert read(odd, odd.initialOffset(), odd.latestOffset(odd.initialOffset())) == list(range(5))


def test_several_folders(tmp_path: Path) -> None:
    """Several folders have files of the same names. One folder does not exist yet."""
    paths = [str(put(tmp_path / "s", {"a.orc": ids(0)})), str(tmp_path / "u")]
    options = {"paths": json.dumps(paths), "stateLocation": str(tmp_path / "state")}
    reader = OrcishStreamReader(options, LONG)
    one = reader.latestOffset(reader.initialOffset())
    assert one["files"] == 1
    put(tmp_path / "u", {"a.orc": ids(5)})
    reader = OrcishStreamReader({**options, "paths": json.dumps(paths[::-1])}, LONG)
    both = reader.latestOffset(one)
    assert read(reader, one, both) == [5, 6, 7, 8, 9]


def test_lists_that_are_lost(tmp_path: Path) -> None:
    """Lists of files can be lost, whoever has written others since."""
    source = put(tmp_path / "s", {f"{at}.orc": ids(at * 5) for at in range(3)})
    reader = reader_of(source)
    start = reader.initialOffset()
    end = reader.latestOffset(start)
    shutil.rmtree(source / "_orcish")
    for call in (lambda: reader_of(source).latestOffset(end), lambda: reader_of(source).partitions(start, end)):
        with pytest.raises(
            OrcishError, match=r"_orcish/found: the order .* is lost.*read 3, and 0 are.*new checkpoint"
        ):
            call()
    assert not (source / "_orcish").exists()
    other = reader_of(source)
    assert other.latestOffset(other.initialOffset())["files"] == 3
    with pytest.raises(OrcishError, match="is lost"):
        reader_of(source).latestOffset(end)
    # The first one had lists in its memory, and knows no better than to go on with them.
    put(source, {"9.orc": ids(90)})
    assert reader.latestOffset(end)["files"] == 4
    path = source / "_orcish" / "found" / "000000000002.json"
    with pytest.raises(OrcishError, match=r"000000000002\.json: is of another order"):
        reader_of(source).initialOffset()
    path.write_text("[]")
    with pytest.raises(OrcishError, match=r"000000000002\.json: is no list of files"):
        reader_of(source).initialOffset()


def test_files_that_go(tmp_path: Path) -> None:
    """A query fails if files that it has found are gone. A new query begins with existing files."""
    source = put(tmp_path / "s", {"a.orc": ids(0), "b.orc": ids(5)})
    old = reader_of(source, maxFilesPerTrigger="1")
    start = old.initialOffset()
    end = old.latestOffset(start)
    (source / "b.orc").unlink()
    with pytest.raises(FileNotFoundError, match=r"b\.orc, of .*/s: gone before"):
        old.partitions(start, end)
    new = reader_of(source, maxFilesPerTrigger="1")
    first = new.initialOffset()
    put(source, {"c.orc": ids(10)})
    at, taken = first, []
    while (then := new.latestOffset(at, limits.ReadMaxFiles(1))) != at:
        # As after a restart: Spark asks for the initial offset once more.
        taken.append(read(reader_of(source), new.initialOffset() if at == first else at, then))
        at = then
    assert taken == [[0, 1, 2, 3, 4], [], [10, 11, 12, 13, 14]]
    (source / "c.orc").unlink()
    with pytest.raises(FileNotFoundError, match=r"c\.orc"):
        new.partitions(first, at)


def test_an_unfinished_commit(tmp_path: Path) -> None:
    """Files of a commit that is decided are read once all of them are visible, and not before."""
    source = put(tmp_path / "s", {"a.orc": ids(0)})
    job = Job(str(source))
    added = [staged(job, range(at, at + 5)) for at in (5, 10)]
    decide(job, added, published=1)
    reader = reader_of(source)
    start = reader.initialOffset()
    first = reader.latestOffset(start)
    assert read(reader, start, first) == list(range(5))
    assert reader.latestOffset(first) == first
    assert read(reader_of(source), start, first) == list(range(5))
    assert orcish.recover(source) == "finished"
    both = reader.latestOffset(first)
    assert read(reader, first, both) == list(range(5, 15))


def test_the_schema_during_a_commit(tmp_path: Path) -> None:
    source = put(tmp_path / "s", {"a.orc": ids(0)})
    job = Job(str(source))
    decide(job, [staged(job, range(5, 10))])
    assert OrcishDataSource({"path": str(source)}).schema() == LONG
    (source / "a.orc").unlink()
    with pytest.raises(CommitError, match=r"commit 0 of the table is decided and not finished"):
        OrcishDataSource({"path": str(source)}).schema()


def test_listings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each batch lists the table once, and its state once."""
    source = put(tmp_path / "s", {f"{at}.orc": ids(at * 5) for at in range(4)})
    calls: list[str] = []
    listed, state = files.table_files, Folder.files
    monkeypatch.setattr(files, "table_files", lambda *of: calls.append("table") or listed(*of))
    monkeypatch.setattr(Folder, "files", lambda *of: calls.append("state") or state(*of))

    def during(call: Any) -> tuple[Any, list[str]]:
        calls.clear()
        return call(), sorted(calls)

    reader = reader_of(source)
    at = reader.initialOffset()
    for most in (1, 3):
        then, called = during(lambda: reader.latestOffset(at, limits.ReadMaxFiles(most)))  # noqa: B023
        assert called == ["state", "table"]
        assert during(lambda: len(read(reader, at, then))) == (most * 5, [])  # noqa: B023
        at = then
    assert during(lambda: reader.latestOffset(at)) == (at, ["state", "table"])
    # After a restart, Spark repeats the last batch.
    again = reader_of(source)
    assert during(lambda: len(read(again, again.initialOffset(), at))) == (20, ["state", "table"])
    # With this trigger, no more files are found after the beginning.
    put(source, {f"{at}.orc": ids(at * 5) for at in range(4, 6)})
    assert during(again.prepareForTriggerAvailableNow)[1] == ["state", "table"]
    then, called = during(lambda: again.latestOffset(at, limits.ReadMaxFiles(1)))
    assert (then["files"], called) == (5, ["state"])
    put(source, {"6.orc": ids(30)})
    assert during(lambda: read(again, at, then)) == (list(range(20, 25)), [])
    last, called = during(lambda: again.latestOffset(then))
    assert (last["files"], called) == (6, ["state", "table"])


def test_limits(tmp_path: Path) -> None:
    source = put(tmp_path / "s", {f"{at}.orc": ids(at * 5) for at in range(5)})
    reader = reader_of(source, maxFilesPerTrigger="2")
    assert reader.getDefaultReadLimit() == limits.ReadMaxFiles(2)
    assert reader_of(source).getDefaultReadLimit() == limits.ReadAllAvailable()
    start = reader.initialOffset()
    assert reader.latestOffset(start, limits.ReadAllAvailable())["files"] == 5
    assert reader.reportLatestOffset() == {"files": 5}
    # Found without a limit, and read with one; nothing that comes later.
    reader.prepareForTriggerAvailableNow()
    put(source, {"9.orc": ids(25)})
    at, numbers = start, []
    while (then := reader.latestOffset(at, limits.ReadMaxFiles(2))) != at:
        numbers.append(then["files"])
        at = then
    assert numbers == [2, 4, 5]
    assert reader_of(source).latestOffset(at)["files"] == 6


def test_no_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark before 4.2 asks for all files, without a start offset."""
    monkeypatch.setattr(stream_reader, "limits", None)
    source = put(tmp_path / "s", {f"{at}.orc": ids(at * 5) for at in range(2)})
    with pytest.raises(UnsupportedError, match="maxFilesPerTrigger"):
        reader_of(source, maxFilesPerTrigger="2")
    reader = reader_of(source)
    end = reader.latestOffset()
    assert read(reader, reader.initialOffset(), end) == list(range(10))
    shutil.rmtree(source / "_orcish")
    again = reader_of(source)
    with pytest.raises(OrcishError, match="is lost"):
        again.partitions(end, again.latestOffset())


def test_long_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_log, "LIST_FILES", 2)
    source = put(tmp_path / "s", {f"{at}.orc": ids(at * 5) for at in range(5)})
    reader = reader_of(source)
    start = reader.initialOffset()
    end = reader.latestOffset(start)
    assert [path.name for path in sorted((source / "_orcish" / "found").iterdir())] == [
        f"00000000000{number}.json" for number in (1, 2, 3)
    ]
    assert read(reader_of(source), start, end) == list(range(25))


def test_columns_of_a_batch(tmp_path: Path) -> None:
    """A schema decides the types, also of columns that the first file of a batch lacks or has in another type."""
    source = put(
        tmp_path / "s", {"p=2/a.orc": ids(0), "p=1/b.orc": pa.table({"more": ["x"], "n": [{"a": 1, "b": "y"}]})}
    )
    schema = StructType().add("id", LongType()).add("p", StringType())
    schema = schema.add("n", StructType().add("b", StringType()))
    options = {"path": str(source), "maxFilesPerTrigger": "1"}
    reader = OrcishStreamReader({**options, "columns": "id,p,n.b", "filters": "more = 'x' or id > 3"}, schema)
    # The first file has no column `id`.
    start = reader.initialOffset()
    one = reader.latestOffset(start, limits.ReadMaxFiles(1))
    rows = [b.to_pylist() for part in reader.partitions(start, one) for b in reader.read(part)]
    assert rows == [[{"id": None, "p": "1", "n": {"b": "y"}}]]
    reader = OrcishStreamReader({**options, "columns": "id"}, schema)
    with pytest.raises(ValueError, match="option `columns` does not go with it"):
        reader.partitions(start, one)
