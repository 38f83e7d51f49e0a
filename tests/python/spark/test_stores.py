"""Tables of Spark in a store, where files cannot be renamed: S3, as moto's server has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orcish
import orcish.spark as osp
import pyarrow as pa
import pytest
from orcish.errors import OrcishError
from orcish.spark import file_log
from orcish.spark.file_log import FileLog
from orcish.tables.folder import Folder
from pyspark.errors import PySparkException
from support.carbon import CarbonTableWriter
from support.s3_store import BUCKET, Store
from support.spark_tables import assert_same, every_type, rows_of

Spark = Any
TABLE = f"s3a://{BUCKET}/db/t"


def options_of(store: Store) -> dict[str, str]:
    return {name: str(value) for name, value in store.options.items() if name.startswith("aws_")}


def save(frame: Any, store: Store, mode: str = "append", **more: str) -> None:
    frame.write.format("orcish").options(**options_of(store), **more).mode(mode).save(TABLE)


def load(spark: Spark, store: Store, path: str = TABLE) -> Any:
    return spark.read.format("orcish").options(**options_of(store)).load(path)


def data(store: Store) -> list[str]:
    """Keys of the table's files."""
    return [key for key in store.objects() if key.endswith(".orc")]


def test_there_and_back(spark: Spark, store: Store, tmp_path: Path) -> None:
    every_type(spark).write.orc(str(tmp_path / "t"))
    frame = spark.read.orc(str(tmp_path / "t"))
    save(frame, store)
    assert_same(load(spark, store), frame)
    save(frame, store)
    assert load(spark, store).count() == 2 * frame.count()
    save(frame, store, "overwrite")
    assert_same(load(spark, store), frame)
    assert store.uploads() == []
    assert not any("/jobs/" in key for key in store.objects())
    assert osp.verify(TABLE, spark=spark, storage_options=options_of(store)).isEmpty()


def test_jobs(spark: Spark, store: Store, tmp_path: Path) -> None:
    ids = sorted(repr({"id": at}) for at in range(300))
    for at in range(3):
        frame = spark.range(at * 100, at * 100 + 100).selectExpr("id", "id % 2 as p", "cast(id as string) as text")
        frame.write.parquet(str(tmp_path / f"{at}"))
    storage = options_of(store)
    for at in range(3):
        raw = str(tmp_path / f"{at}")
        done = osp.convert(raw, TABLE, partition_by=["p"], existing_data="append", spark=spark, storage_options=storage)
        assert sum(row.rows for row in done.collect()) == 100
    assert len(data(store)) == 6
    assert rows_of(load(spark, store).select("id")) == ids
    store.between.log.clear()
    done = osp.compact(TABLE, spark=spark, storage_options=storage)
    assert sorted((row.folder, row.action, row.files) for row in done.collect()) == [
        ("p=0", "merge", 3),
        ("p=1", "merge", 3),
    ]
    # Written once: no store is asked to copy, and each byte is sent once.
    sizes = sum(store.client.head_object(Bucket=BUCKET, Key=key)["ContentLength"] for key in data(store))
    sent = sum(size for method, path, size in store.between.log if method == "PUT" and "partNumber" in path)
    assert sent == sizes
    assert len(data(store)) == 2
    assert rows_of(load(spark, store, f"{TABLE}/p=*").select("id")) == ids
    found = osp.profile(TABLE, columns=["id"], spark=spark, storage_options=storage).collect()
    assert [(row.rows, row.min, row.max) for row in found if row.column == "id"] == [(300, "0", "299")]
    assert store.uploads() == []


def test_nothing_appears_before_the_commit(spark: Spark, store: Store) -> None:
    """The entry of the log is refused, or the store does not say whether it has taken it."""
    save(spark.range(10), store)
    before = store.objects()
    for status, text in ((403, "_orcish/log/0{11}1.json: .*403"), (500, "whether the commit is decided is not known")):
        store.between.status = status
        store.between.fails = lambda method, path: method == "PUT" and "_orcish/log/" in path and ".json" in path
        with pytest.raises(PySparkException, match=text):
            save(spark.range(10, 20, 1, 2), store)
        store.between.fails = lambda method, path: False
        assert [key for key in store.objects() if not key.endswith("/in-doubt")] == before
        # A request that is late may still decide the commit.
        assert len(store.uploads()) == (0 if status == 403 else 2)
    save(spark.range(20, 30), store)
    assert load(spark, store).count() == 20


@pytest.mark.long
def test_a_commit_that_is_cut_short(spark: Spark, store: Store) -> None:
    """The manifest decides an interrupted commit, and the next process finishes it."""
    save(spark.range(0, 10, 1, 1), store)
    uploads: list[str] = []

    def completes(method: str, path: str) -> bool:
        is_last = method == "POST" and "uploadId" in path
        if is_last:
            uploads.append(path)
        return is_last and len(uploads) > 1

    store.between.fails = completes
    with pytest.raises(PySparkException, match="decided and not finished"):
        save(spark.range(10, 30, 1, 2), store, "overwrite")
    # While that goes on, nobody is given half of it.
    with pytest.raises((PySparkException, OrcishError), match=r"commit 1 of the table is decided and not finished"):
        load(spark, store).count()
    store.between.fails = lambda method, path: False
    assert orcish.recover(TABLE, storage_options=store.options) == "finished"
    assert load(spark, store).count() == 20
    assert sorted(orcish.read_table(TABLE, storage_options=store.options)["id"].to_pylist()) == list(range(10, 30))
    assert store.uploads() == []
    assert [file.name for file in Folder(TABLE, store.options).files("_orcish/jobs")] == []


def test_answers_that_are_lost(spark: Spark, store: Store) -> None:
    """An existing manifest counts, although its writer got an error."""
    store.between.loses = lambda method, path: method == "PUT" and "_orcish/log/" in path and ".json" in path
    save(spark.range(10), store)
    store.between.loses = lambda method, path: False
    assert load(spark, store).count() == 10


def test_tables_of_carbondata(spark: Spark, store: Store, tmp_path: Path) -> None:
    """CarbonData tables are read and converted in a store. Detecting one takes a request."""
    rows = pa.table({"id": range(100), "p": [f"p{at % 2}" for at in range(100)]})
    written = CarbonTableWriter(tmp_path / "t", rows.schema, partition_by=("p",))
    written.load(rows)
    for path in written.path.rglob("*"):
        if path.is_file():
            store.client.upload_file(str(path), BUCKET, f"db/carbon/{path.relative_to(written.path)}")
    url, storage = f"s3a://{BUCKET}/db/carbon", options_of(store)
    wanted = spark.createDataFrame(rows.to_pandas(), "id bigint, p string")
    assert_same(spark.read.format("carbondata").options(**storage).load(url), wanted)
    assert_same(load(spark, store, url), wanted)
    osp.convert(url, TABLE, spark=spark, storage_options=storage)
    store.between.log.clear()
    assert_same(load(spark, store), wanted)
    looked = [path for _, path, _ in store.between.log if "Metadata" in path]
    # For the schema, and for the tasks.
    assert len(looked) == 2
    with pytest.raises(orcish.UnsupportedError, match="CarbonData"):
        osp.convert(TABLE, url, existing_data="overwrite", spark=spark, storage_options=storage)


def test_paths_without_objects(spark: Spark, store: Store) -> None:
    storage = options_of(store)
    path = f"s3://{BUCKET}/typo/"
    for call in (
        lambda: osp.verify(path, spark=spark, storage_options=storage),
        lambda: osp.profile(path, spark=spark, storage_options=storage),
        lambda: osp.map_batches(spark, path, lambda batches: batches, "id bigint", storage_options=storage),
        lambda: osp.convert(path, f"s3://{BUCKET}/o", spark=spark, storage_options=storage),
    ):
        with pytest.raises(FileNotFoundError, match=path):
            call()
    assert store.objects() == []


def test_subfolders(spark: Spark, store: Store) -> None:
    """The same files as on a local disk."""
    folder = Folder(TABLE, options_of(store))
    for at, name in enumerate(("x.orc", "sub/x.orc")):
        with folder.writer(name, pa.schema([("id", pa.int64())])) as writer:
            writer.write(pa.table({"id": [at]}))
    assert [row.id for row in load(spark, store, f"{TABLE}/").collect()] == [0]
    assert load(spark, store, f"{TABLE}/*").count() == 2
    assert spark.read.format("orcish").options(**options_of(store), recursiveFileLookup="true").load(TABLE).count() == 2


def test_the_state_of_streams(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_log, "FAN", 3)
    folder = Folder(f"{TABLE}/_orcish/found", options_of(store))
    for at in range(1, 12):
        folder.write(f"{at:012d}.json", json.dumps({"order": "an order", "files": [f"{at}.orc"]}).encode())
    log = FileLog(folder)
    log.load()
    log.add(["12.orc"])
    assert [file.name for file in folder.files()] == [
        "000000000001-000000000009.json",
        "000000000010-000000000012.json",
    ]
    again = FileLog(folder)
    again.load()
    assert again.names == log.names == [f"{at}.orc" for at in range(1, 13)]
