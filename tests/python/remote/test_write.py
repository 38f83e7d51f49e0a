"""Files and tables that are written to object stores: S3, as moto's server has it, and one that fails."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import orcish
import pyarrow as pa
import pytest
from support.s3_store import BUCKET, Rule, Store

MIB = 1 << 20
SMALL = pa.table({"id": range(1000), "s": [f"text {i}" for i in range(1000)]})


def large(mib: int) -> pa.Table:
    """Random numbers, which take as many bytes as they have."""
    return pa.table({"noise": np.random.default_rng(1).integers(0, 2**63, mib * MIB // 8)})


URL = f"s3://{BUCKET}/t/a b%3A ü.orc"
KEY = "t/a b%3A ü.orc"


def test_small_files_are_one_request(store: Store) -> None:
    written = orcish.write_table(SMALL, URL, existing_data="overwrite", storage_options=store.options)
    assert store.asked() == ["PUT"]
    assert store.objects() == [KEY]
    data = store.client.get_object(Bucket=BUCKET, Key=KEY)["Body"].read()
    assert written == (1000, len(data), 1)
    assert orcish.read_table(data).equals(SMALL)
    assert orcish.read_table(URL, storage_options=store.options).equals(SMALL)
    # What was there is replaced.
    orcish.write_table(
        SMALL.slice(0, 3), URL.replace("s3:", "s3a:"), existing_data="overwrite", storage_options=store.options
    )
    assert orcish.read_table(URL, storage_options=store.options).num_rows == 3
    assert store.objects() == [KEY]


def test_large_files_go_in_parts(store: Store) -> None:
    table = large(20)
    options = {**store.options, "orcish.part_size": 6 * MIB}
    for stripe_size, verify in ((2 * MIB, False), (64 * MIB, False), (2 * MIB, True)):
        written = orcish.write_table(
            table,
            URL,
            storage_options=options,
            compression="none",
            stripe_size=stripe_size,
            verify=verify,
            existing_data="overwrite",
        )
        sizes = [size for method, path, size in store.between.log if "partNumber" in path]
        assert store.asked() == ["POST uploads", *["PUT partNumber"] * len(sizes), "POST uploadId"]
        assert sum(sizes) == written.bytes > 20 * MIB
        assert len(sizes) == 4
        assert all(size >= 5 * MIB for size in sorted(sizes)[1:])
        assert store.uploads() == []
        file = orcish.ORCFile(URL, storage_options=store.options)
        assert file.check() == []
        assert file.read().equals(table)
        store.between.log.clear()
    # The default is 8 MiB.
    orcish.write_table(
        large(9), URL, storage_options=store.options, compression="none", stripe_size=2 * MIB, existing_data="overwrite"
    )
    assert store.asked().count("PUT partNumber") == 2


@pytest.mark.parametrize("mib", [1, 20])
def test_what_is_given_up_leaves_nothing(store: Store, mib: int) -> None:
    table = large(mib)
    options: dict[str, Any] = {
        "compression": "none",
        "stripe_size": 2 * MIB,
        "existing_data": "overwrite",
        "storage_options": store.options,
    }

    def start() -> orcish.ORCWriter:
        writer = orcish.ORCWriter(URL, table.schema, **options)
        writer.write(table)
        assert store.objects() == []
        assert [key for key, _ in store.uploads()] == ([KEY] if mib > 8 else [])
        return writer

    start().abort()
    assert (store.objects(), store.uploads()) == ([], [])
    with pytest.raises(LookupError, match="not ours"), start():
        raise LookupError("not ours")
    assert (store.objects(), store.uploads()) == ([], [])
    orcish.write_table(SMALL, URL, storage_options=store.options)
    with pytest.raises(TypeError, match="str"), orcish.ORCWriter(URL, table.schema, **options) as writer:
        writer.write([table, "no rows"])
    assert store.uploads() == []
    assert orcish.read_table(URL, storage_options=store.options).equals(SMALL)


@pytest.mark.filterwarnings("ignore:.*was not closed:ResourceWarning")
def test_what_is_forgotten_leaves_nothing(store: Store) -> None:
    table = large(20)
    options = {**store.options, "timeout": "30s"}
    writer = orcish.ORCWriter(URL, table.schema, compression="none", stripe_size=2 * MIB, storage_options=options)
    writer.write(table)
    start = time.monotonic()
    del writer
    assert time.monotonic() - start < 10
    assert (store.objects(), store.uploads()) == ([], [])


def test_failures_at_the_end_leave_nothing(store: Store) -> None:
    table = large(20)
    micros = pa.array([5] * (len(table) - 1) + [-1], pa.timestamp("us"))
    options = {**store.options, "timeout": "2s"}
    with pytest.raises(ValueError, match="column t: row") as raised:
        orcish.write_table(
            table.append_column("t", micros), URL, compression="none", stripe_size=2 * MIB, storage_options=options
        )
    assert (store.objects(), store.uploads()) == ([], [])
    assert raised.value is not None


FAULTS: list[tuple[str, int, Rule]] = [
    ("put", 1, lambda method, path: method == "PUT"),
    ("begin", 20, lambda method, path: method == "POST" and "uploads" in path),
    ("first_part", 20, lambda method, path: "partNumber=1&" in path),
    ("later_part", 20, lambda method, path: "partNumber=2&" in path),
    ("last_part", 20, lambda method, path: "partNumber=3&" in path),
    ("end", 20, lambda method, path: method == "POST" and "uploadId" in path),
]


@pytest.mark.parametrize(("mib", "rule"), [fault[1:] for fault in FAULTS], ids=[fault[0] for fault in FAULTS])
def test_servers_that_fail(store: Store, mib: int, rule: Rule) -> None:
    """A failed write raises an error, leaves no object and no parts, and keeps the old object."""
    old = SMALL.slice(0, 10)
    options: dict[str, Any] = {
        "compression": "none",
        "stripe_size": 2 * MIB,
        "existing_data": "overwrite",
        "storage_options": store.options,
    }
    for is_there in (False, True):
        if is_there:
            store.between.fails = lambda method, path: False
            orcish.write_table(old, URL, storage_options=store.options)
        store.between.fails = rule
        with pytest.raises(OSError, match="s3://shelf/t/a b") as raised:
            orcish.write_table(large(mib), URL, **options)
        assert "hush" not in str(raised.value)
        assert store.uploads() == []
        assert store.objects() == ([KEY] if is_there else [])
    store.between.fails = lambda method, path: False
    assert orcish.read_table(URL, storage_options=store.options).equals(old)


def test_failures_that_pass(store: Store) -> None:
    """Transient failures are retried."""
    options = {**store.options, "orcish.max_retries": 3}
    left = [2]

    def twice(method: str, path: str) -> bool:
        if method == "PUT" and left[0] > 0:
            left[0] -= 1
            return True
        return False

    store.between.fails = twice
    orcish.write_table(SMALL, URL, existing_data="overwrite", storage_options=options)
    assert store.asked() == ["PUT"] * 3
    left[0] = 2
    table = large(20)
    orcish.write_table(
        table, URL, existing_data="overwrite", storage_options=options, compression="none", stripe_size=2 * MIB
    )
    assert left == [0]
    assert orcish.read_table(URL, storage_options=options).equals(table)


def test_servers_that_are_not_there(store: Store) -> None:
    options = {**store.options, "aws_endpoint": "http://127.0.0.1:1"}
    with pytest.raises(OSError, match="s3://shelf"):
        orcish.write_table(SMALL, URL, storage_options=options)
    with pytest.raises(OSError, match="s3://nowhere"):
        orcish.write_table(SMALL, "s3://nowhere/t.orc", storage_options=store.options)
    for url in (f"s3://{BUCKET}", f"s3://{BUCKET}/"):
        with pytest.raises(ValueError, match="names no file"):
            orcish.write_table(SMALL, url, storage_options=store.options)
    with pytest.raises(ValueError, match="client_kwargs"):
        orcish.write_table(SMALL, URL, storage_options={**store.options, "client_kwargs": "x"})
    assert store.objects() == []


def test_merge(store: Store) -> None:
    urls = [f"s3://{BUCKET}/part-{number}.orc" for number in range(3)]
    for number, url in enumerate(urls):
        orcish.write_table(SMALL.slice(number * 300, 300), url, storage_options=store.options)
    written = orcish.merge(urls, f"s3://{BUCKET}/whole.orc", storage_options=store.options)
    assert written.stripes == 3
    file = orcish.ORCFile(f"s3://{BUCKET}/whole.orc", storage_options=store.options)
    assert file.read().equals(SMALL.slice(0, 900))
    assert file.check() == []
    orcish.write_table(SMALL, urls[2], existing_data="overwrite", storage_options=store.options, compression="none")
    with pytest.raises(ValueError, match=r"s3://shelf/part-2\.orc: the compression"):
        orcish.merge(urls, f"s3://{BUCKET}/other.orc", storage_options=store.options)
    assert "other.orc" not in store.objects()
    assert store.uploads() == []


def test_tables(store: Store) -> None:
    table = pa.table(
        {
            "id": range(60),
            "p": [None if i % 6 == 0 else f"a/b:{i % 3} %41é" for i in range(60)],
            "n": [i % 2 for i in range(60)],
        }
    )
    base = f"s3://{BUCKET}/folder/table"
    options: dict[str, Any] = {"storage_options": store.options, "partition_by": ["n", "p"]}
    done = orcish.write_dataset(table, base, **options)
    data = [key for key in store.objects() if "/_orcish/log/" not in key]
    assert sorted(file.path for file in done) == sorted(f"s3://{BUCKET}/{key}" for key in data)
    assert all("/n=" in file.path and "/p=" in file.path for file in done)
    read = orcish.read_table(base, schema=table.schema, storage_options=store.options)
    assert read.sort_by("id").select(["id", "p", "n"]).to_pylist() == table.to_pylist()
    kept = orcish.scan(base, storage_options=store.options).where(orcish.col("n") == 1)
    assert kept.count() == 30
    with pytest.raises(FileExistsError, match="has data already"):
        orcish.write_dataset(table, base, **options)
    orcish.write_dataset(table, base + "/", **options, existing_data="append", max_rows_per_file=4)
    assert orcish.scan(base, storage_options=store.options).count() == 120
    for key in store.objects():
        assert "//" not in key


def test_tables_that_fail(store: Store) -> None:
    """After an error there is no object, and no upload that is not completed."""
    base = f"s3://{BUCKET}/folder"
    table = pa.table({"id": range(60), "p": [i // 10 for i in range(60)]})

    def batches() -> Iterator[pa.RecordBatch]:
        yield from table.to_batches(max_chunksize=10)
        raise LookupError("no more rows")

    reader = pa.RecordBatchReader.from_batches(table.schema, batches())
    with contextlib.suppress(LookupError):
        orcish.write_dataset(reader, base, partition_by=["p"], storage_options=store.options)
    assert (store.objects(), store.uploads()) == ([], [])
    store.between.fails = lambda method, path: method == "PUT" and "p%3D3" in path
    with pytest.raises(OSError, match="p=3"):
        orcish.write_dataset(table, base, partition_by=["p"], storage_options=store.options)
    assert (store.objects(), store.uploads()) == ([], [])


def test_http_servers_are_refused() -> None:
    for url in ("http://127.0.0.1:1/t.orc", "https://127.0.0.1:1/t.orc"):
        for write in (
            lambda url=url: orcish.write_table(SMALL, url),
            lambda url=url: orcish.ORCWriter(url, SMALL.schema),
            lambda url=url: orcish.write_dataset(SMALL, url, existing_data="append"),
        ):
            with pytest.raises(orcish.UnsupportedError, match="HTTP"):
                write()
