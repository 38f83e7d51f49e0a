"""HDFS beside signals and forks."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator

import numpy as np
import orcish
import pyarrow as pa
import pytest
from support.hdfs_store import Hdfs
from support.processes import run_python
from support.waiting import wait_until

TABLE = pa.table({"noise": np.random.default_rng(1).integers(0, 2**63, (4 << 20) // 8)})

READS = "orcish.read_table(url)"
LISTS = "orcish.scan(url.rpartition('/')[0])"
WRITES = "orcish.write_table(table, url + '2')"
SMALL = "Folder(url.rpartition('/')[0]).write('x', b'x')"


@pytest.fixture
def url(hdfs: Hdfs) -> str:
    orcish.write_table(TABLE, f"{hdfs.url}/t/a.orc", compression="none", stripe_size=1 << 20)
    return f"{hdfs.url}/t/a.orc"


@contextlib.contextmanager
def interrupted(hdfs: Hdfs, url: str, call: str) -> Iterator[None]:
    """A process that has got SIGINT while the servers did not answer, and that lives on during the block."""
    code = f"""
        import os, sys, orcish
        from orcish.tables.folder import Folder
        url = sys.argv[1]
        table = orcish.read_table(url)
        options = {{"orcish.part_size": 1 << 20}}
        writer = orcish.ORCWriter(url + "3", table.schema, compression="none", stripe_size=1 << 20, storage_options=options)
        if "writer" in {call!r}:
            writer.write(table)
        print("ready", flush=True)
        sys.stdin.readline()
        print("asking", flush=True)
        try:
            {call}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        sys.stdin.readline()
        os._exit(0)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with hdfs.stopped():
            print(file=process.stdin, flush=True)
            assert process.stdout.readline() == "asking\n"
            time.sleep(0.5)
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
            assert time.monotonic() - start < 5
        yield
        process.stdin.close()


@pytest.mark.parametrize("call", [READS, LISTS])
def test_interrupted_reads(hdfs: Hdfs, url: str, call: str) -> None:
    with interrupted(hdfs, url, call):
        pass


@pytest.mark.parametrize("call", [WRITES, SMALL, "writer.close()"])
def test_interrupted_writes(hdfs: Hdfs, url: str, call: str) -> None:
    """They leave nothing once the servers answer again."""
    with interrupted(hdfs, url, call):
        wait_until(lambda: hdfs.files("/t") == ["a.orc"], 60)
        assert hdfs.files("/t") == ["a.orc"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_fork_after_use(url: str) -> None:
    """A child process, and its own child, read what the parent opened. The parent is not disturbed."""
    out = run_python(
        """
        import os, sys, warnings, orcish
        warnings.simplefilter("ignore")
        file = orcish.ORCFile(sys.argv[1])
        want = file.read()
        def read():
            return file.read().equals(want) and orcish.read_table(sys.argv[1]).equals(want)
        def child(inner):
            pid = os.fork()
            if pid == 0:
                fine = read() and inner()
                del globals()["file"]
                os._exit(0 if fine else 1)
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        print(child(lambda: child(lambda: True) and read()), child(lambda: True), read())
        """,
        url,
    )
    assert out.split() == ["True", "True", "True"]


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_fork_during_reads(url: str) -> None:
    """Threads of the parent read while children of forks do. They may wait for a minute, until a request is repeated."""
    out = run_python(
        """
        import os, sys, threading, warnings, orcish
        warnings.simplefilter("ignore")
        want = orcish.read_table(sys.argv[1])
        ended, found = threading.Event(), []
        def read():
            while not ended.is_set():
                found.append(orcish.read_table(sys.argv[1]).equals(want))
        threads = [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        statuses = []
        for _ in range(2):
            pid = os.fork()
            if pid == 0:
                os._exit(0 if orcish.read_table(sys.argv[1]).equals(want) else 1)
            statuses.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        ended.set()
        for thread in threads:
            thread.join()
        print(statuses, all(found) and len(found) > 4)
        """,
        url,
        timeout=400,
    )
    assert out.strip() == "[0, 0] True"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_files_belong_to_their_processes(hdfs: Hdfs, url: str) -> None:
    """A child writes nothing to a file that its parent has begun, and removes nothing."""
    out = run_python(
        """
        import os, sys, warnings, orcish
        warnings.simplefilter("ignore")
        table = orcish.read_table(sys.argv[1])
        options = {"orcish.part_size": 1 << 20}
        writer = orcish.ORCWriter(sys.argv[1] + "2", table.schema, compression="none", stripe_size=1 << 20, storage_options=options)
        writer.write(table)
        pid = os.fork()
        if pid == 0:
            try:
                writer.write(table)
            except ValueError as error:
                print(str(error).partition("process")[0], flush=True)
            del writer
            os._exit(0)
        os.waitpid(pid, 0)
        writer.close()
        print(orcish.read_table(sys.argv[1] + "2").equals(table))
        """,
        url,
    )
    assert out.splitlines()[-1] == "True"
    assert "is being written by" in out
    assert hdfs.files("/t") == ["a.orc", "a.orc2"]


def test_servers_that_come_back(hdfs: Hdfs, url: str) -> None:
    """A request waits for servers that are suspended."""
    read = threading.Thread(target=orcish.read_table, args=[url])
    with hdfs.stopped():
        read.start()
        time.sleep(0.5)
        assert read.is_alive()
    read.join(20)
    assert not read.is_alive()
