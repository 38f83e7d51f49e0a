"""Reading over HTTP beside signals, forks and the workers of Spark."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import pyarrow as pa
import pytest
from servers import serve
from support import run_python, write_arrow

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
    """SIGINT while the server keeps a reader waiting."""
    code = f"""
        import os, sys, orcish
        url = sys.argv[1]
        file = orcish.ORCFile(url)
        print("reading", flush=True)
        sys.stdin.readline()
        try:
            {call.format(threads)}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            os._exit(0)
    """
    asked, end = threading.Event(), threading.Event()
    command = [sys.executable, "-c", textwrap.dedent(code), f"{server.url}/t/wide.orc"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "reading\n"
            server.rules.append(lambda handler, _: asked.set() or end.wait(30))
            process.stdin.write("go\n")
            process.stdin.flush()
            assert asked.wait(20)
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
            assert time.monotonic() - start < 5
        finally:
            end.set()
            process.kill()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_fork_after_use(server):
    """A child reads what its parent opened, and its own child too; the parent is not disturbed."""
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
