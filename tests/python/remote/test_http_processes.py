"""Reading over HTTP beside signals, forks and the workers of Spark."""

import os
import warnings

import pyarrow as pa
import pytest
from support.cpp_writers import write_arrow
from support.http_server import seconds_to_interrupt, serve
from support.processes import run_python

ROWS = 200_000
WIDE = pa.table({f"c{c}": pa.array([(i * 2654435761 + c * 97) % 2**40 for i in range(ROWS)]) for c in range(3)})
WIDE_DATA = write_arrow(WIDE, stripe_size=1 << 20, compression="uncompressed")


@pytest.fixture
def server():
    with serve({"/t/wide.orc": WIDE_DATA}) as server:
        yield server


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "call", ["orcish.ORCFile(url)", "file.read(threads={})", "list(file.iter_batches(threads={}))"]
)
def test_ctrl_c(server, threads, call):
    """SIGINT arrives while the server delays its response."""
    setup = "url = sys.argv[1]; file = orcish.ORCFile(url)"
    assert seconds_to_interrupt(server, [f"{server.url}/t/wide.orc"], setup, call.format(threads), hold=30) < 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_fork_after_use(server):
    """A child process, and its own child, read what the parent opened. The parent is not disturbed."""
    out = run_python(
        """
        import os, sys, warnings, orcish
        warnings.simplefilter("ignore")
        file = orcish.ORCFile(sys.argv[1], storage_options={"orcish.max_retries": 0})
        want = file.read(columns=["c1"])
        def read():
            return file.read(columns=["c1"]).equals(want) and orcish.ORCFile(sys.argv[1]).num_rows == len(want)
        def child(inner):
            pid = os.fork()
            if pid == 0:
                fine = read() and inner()
                del globals()["file"]
                os._exit(0 if fine else 1)
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        print(child(lambda: child(lambda: True) and read()), child(lambda: True), read())
        """,
        f"{server.url}/t/wide.orc",
    )
    assert out.split() == ["True", "True", "True"]


def test_workers_of_spark_read_urls(spark, server):
    """Workers of PySpark are forked from a daemon."""
    url = f"{server.url}/t/wide.orc"

    def rows(_):
        import orcish

        yield orcish.read_table(url, columns=["c0"]).num_rows

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = spark.sparkContext.parallelize(range(2), 2).mapPartitions(rows).collect()
    assert found == [ROWS, ROWS]


def test_a_server_of_the_same_process():
    """The read of a filter column releases the interpreter, which the server of the same process needs."""
    out = run_python(
        """
        import io, sys, threading, http.server
        import orcish, pyarrow as pa, pyarrow.orc
        buffer = io.BytesIO()
        table = pa.table({"a": list(range(50_000))})
        pa.orc.write_table(table, buffer, stripe_size=1, batch_size=1000, compression="uncompressed")
        data = buffer.getvalue()

        class Files(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                first, last = self.headers["Range"].removeprefix("bytes=").split("-")
                span = slice(int(first), int(last) + 1) if first else slice(len(data) - int(last), len(data))
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {span.start}-{span.stop - 1}/{len(data)}")
                self.send_header("Content-Length", str(len(data[span])))
                self.end_headers()
                self.wfile.write(data[span])

            def log_message(self, *arguments):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        file = orcish.ORCFile(f"http://127.0.0.1:{server.server_port}/t.orc", storage_options={"orcish.first_read": 100})
        print(file.num_stripes > 1, file.read(filters=orcish.col("a") == 7).num_rows)
        """,
        timeout=60,
    )
    assert out == "True 1\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize("call", ["orcish.scan([url] * 4, threads=3)", "orcish.ORCFile(url).iter_batches(threads=3)"])
def test_a_fork_with_a_reader_under_way(server, call):
    """A forked child drops the reader of its parent without waiting for threads that it does not have."""
    out = run_python(
        f"""
        import os, sys, warnings, orcish
        warnings.simplefilter("ignore")
        url = sys.argv[1]
        batches = iter({call})
        rows = next(batches).num_rows
        pid = os.fork()
        if pid == 0:
            try:
                next(batches)
            except ValueError as error:
                fine = "another process" in str(error)
            del batches
            os._exit(0 if fine else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        print(rows + sum(batch.num_rows for batch in batches) > 0)
        """,
        f"{server.url}/t/wide.orc",
        timeout=60,
    )
    assert out == "0\nTrue\n"
