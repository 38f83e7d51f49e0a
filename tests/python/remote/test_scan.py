"""Scans of files of servers: how much they ask for."""

import threading
import time

import orcish
import polars as pl
import pyarrow as pa
import pytest
from orcish import col
from support.cpp_writers import write_arrow
from support.http_server import Crowd, serve
from support.orc_layout import layout

ROWS = 60_000
PART = pa.table(
    {
        "id": list(range(ROWS)),
        "noise": [i * 2654435761 % 2**40 for i in range(ROWS)],
        "text": [f"text {i}" for i in range(ROWS)],
    }
)
HOW = {"stripe_size": 256 << 10, "batch_size": 10_000, "row_index_stride": 1000, "compression": "uncompressed"}
DATA = write_arrow(PART, **HOW)
FEW = {"orcish.first_read": 4096, "orcish.coalesce_gap": 0, "orcish.max_retries": 0}
NAMES = [f"/{i}.orc" for i in range(3)]


@pytest.fixture
def server():
    with serve(dict.fromkeys(NAMES, DATA)) as server:
        yield server


def urls(server, count=3):
    return [server.url + name for name in NAMES[:count]]


def spans(log):
    return [tuple(map(int, asked.removeprefix("bytes=").split("-"))) for _, asked in log]


def test_a_lookup_reads_what_its_explanation_says(server):
    scan = orcish.scan(urls(server, 1)[0], storage_options=FEW).where(col("id") == 34_567).select("text")
    plan = scan.explain()
    (stripe,) = [stripe for stripe in plan.files[0].stripes if stripe.outcome != "skipped"]
    assert plan.rows_read == 1000
    server.take()
    assert scan.to_table()["text"].to_pylist() == ["text 34567"]
    log, sent = server.take()
    found = layout(DATA)
    indexes = [s for s in found.streams if s.stripe == stripe.stripe and s.kind == "ROW_INDEX"]
    most = sum(s.end - s.start for s in indexes) + len(found.stripe_footers[stripe.stripe])
    assert stripe.filter_bytes <= sent <= plan.bytes + most
    assert len(log) <= plan.requests + 1 + len(indexes)
    begin = min(s.start for s in indexes)
    assert all(begin <= first and last < found.stripe_footers[stripe.stripe].stop for first, last in spans(log))


def test_what_is_not_there_takes_the_tail(server):
    scan = orcish.scan(urls(server, 1)[0], storage_options=FEW)
    assert server.take() == ([("GET", "bytes=-4096")], 4096)
    assert scan.where(col("id") == -1).to_table().num_rows == 0
    assert scan.where(col("id") < 0).count() == 0
    assert scan.count() == ROWS
    assert scan.schema == PART.schema
    assert server.take() == ([], 0)
    assert scan.where(col("id") >= 0).count() == ROWS
    assert server.take() == ([], 0)


def test_counts_read_what_the_filter_asks(server):
    scan = orcish.scan(urls(server), storage_options=FEW)
    assert server.take() == ([("GET", "bytes=-4096")] * 3, 3 * 4096)
    assert scan.count() == 3 * ROWS
    # The tails are known.
    assert server.take()[0] == []
    assert scan.where(col("id") >= 59_500).count() == 3 * 500
    found = layout(DATA)
    _, sent = server.take()
    ids = sum(len(span) for span in found.data_ranges({1}))
    assert sent < 3 * (4096 + ids + 20_000) < len(DATA)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_limit_asks_for_few_files(server, threads):
    """Prefetch of files is bounded."""
    scan = orcish.scan(urls(server, 1) * 20, threads=threads)
    server.take()
    assert scan.select("id").head(5)["id"].to_pylist() == list(range(5))
    assert server.take()[1] < (1 if threads == 1 else 5) * len(DATA)


def test_columns_that_are_not_wanted_are_not_read(server):
    scan = orcish.scan(urls(server), storage_options=FEW, columns=["noise"])
    server.take()
    assert scan.to_table()["noise"].to_pylist() == PART["noise"].to_pylist() * 3
    found = layout(DATA)
    wanted = sum(map(len, found.data_ranges({2}))) + sum(map(len, found.stripe_footers))
    assert server.take()[1] <= 3 * (wanted + 4096)


def test_polars_over_a_server(server):
    lazy = orcish.scan_polars(urls(server), storage_options=FEW)
    server.take()
    assert lazy.filter(pl.col("id") == 7).select("text").collect()["text"].to_list() == ["text 7"] * 3
    assert server.take()[1] < 3 * len(DATA) / 5


@pytest.mark.parametrize("filters", [None, col("noise") >= 0])
def test_stripes_are_fetched_ahead(server, filters):
    """One thread decodes while requests for the next stripes run, as many as the option allows."""
    options = FEW | {"orcish.concurrency": 3}
    file = orcish.ORCFile(urls(server, 1)[0], storage_options=options)
    assert file.num_stripes > 4
    crowd = Crowd()
    server.rules.append(crowd)
    assert file.read(columns=["noise"], filters=filters, threads=1).equals(PART.select(["noise"]))
    assert 1 < crowd.most <= 3


@pytest.mark.parametrize("threads", [1, 2])
def test_files_are_opened_ahead(server, threads):
    """Files of excluded partitions are not opened."""
    data = write_arrow(PART.slice(0, 100))
    server.files.update({f"/t/p={i % 2}/{i}.orc": data for i in range(20)})
    paths = [server.url + name for name in server.files if name.startswith("/t/")]
    schema = orcish.scan(paths[:1], partitions=True).schema
    scan = orcish.scan(paths, schema=schema, partitions=True, threads=threads).where(col("p") == 1)
    crowd = Crowd()
    server.rules.append(crowd)
    server.take()
    found = scan.to_table()
    assert found["id"].to_pylist() == list(range(100)) * 10
    assert set(found["p"].to_pylist()) == {1}
    assert len(server.take()[0]) == 10
    assert crowd.most > 2


def test_counts_ask_many_files_at_a_time(server):
    crowd = Crowd()
    server.rules.append(crowd)
    scan = orcish.scan(urls(server, 1) * 20, storage_options=FEW, threads=1)
    assert scan.count() == 20 * ROWS
    assert crowd.most > 2


def stall(server, name):
    """Keeps who asks for a file waiting, until the event is set."""
    end = threading.Event()
    server.rules.append(lambda handler, _: handler.path == name and end.wait(30) and False)
    return end


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_nobody_waits_for_what_is_not_wanted_any_more(server, threads):
    """The second file stalls. A limit that the first file reaches, and a dropped reader, end at once."""
    scan = orcish.scan(urls(server), threads=threads, storage_options=FEW, columns=["id"])
    end = stall(server, "/1.orc")
    try:
        start = time.monotonic()
        assert scan.head(5).num_rows == 5
        batches = iter(scan)
        assert next(batches)["id"][0].as_py() == 0
        del batches
        assert time.monotonic() - start < 10
    finally:
        end.set()


def test_a_file_that_is_replaced(server):
    """The server ignores conditions of requests, and returns the version of the file."""
    server.etags = True
    other = write_arrow(PART.set_column(0, "id", pa.array([i + 1 for i in range(ROWS)])), **HOW)
    assert len(other) == len(DATA)
    file = orcish.ORCFile(urls(server, 1)[0], storage_options=FEW)
    server.files["/0.orc"] = other
    with pytest.raises(OSError, match=r"/0\.orc.*another one than when it was opened"):
        file.read(columns=["id"])


def test_secrets_are_in_no_message(server):
    server.files["/bad.orc"] = b"no ORC file at all" * 10
    url = f"http://user:pass@127.0.0.1:{server.server_port}/bad.orc?sign=se'cr et"
    with pytest.raises(orcish.CorruptFileError, match=r"bad\.orc") as caught:
        orcish.scan(url)
    assert not any(secret in str(caught.value) for secret in ("pass", "cr et", "cr%20et"))
    good = f"http://user:pass@127.0.0.1:{server.server_port}/0.orc?sign=secret"
    scan = orcish.scan(good, schema=pa.schema({"id": pa.string(), "text": pa.int8()}))
    for call in (scan.to_table, scan.explain, lambda: scan.splits()):
        with pytest.raises(orcish.UnsupportedError, match=r"/0\.orc") as caught:
            call()
        assert not any(secret in str(caught.value) for secret in ("pass", "secret"))
    assert "secret" not in str(orcish.scan(good).explain())


def test_failures_name_the_url(server):
    scan = orcish.scan([*urls(server), f"{server.url}/none.orc"], storage_options=FEW)
    with pytest.raises(FileNotFoundError, match=rf"{server.url}/none\.orc"):
        scan.to_table()
    with pytest.raises(FileNotFoundError, match=r"none\.orc"):
        orcish.scan(f"{server.url}/none.orc", storage_options=FEW)


def test_queries_of_urls_are_no_patterns(server):
    """Wildcards and key=value pairs in the query of a URL are no patterns and no partitions."""
    server.files["/k=1/t.orc"] = DATA
    scan = orcish.scan(f"{server.url}/k=1/t.orc?sign=a", storage_options=FEW)
    assert scan.schema == PART.schema
    assert scan.count() == ROWS
    assert orcish.read_table(f"{server.url}/k=1/t.orc?sign=a*b", columns=["id"]).num_rows == ROWS
