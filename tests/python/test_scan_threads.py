"""Ctrl-C while a scan waits for a server."""

import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from servers import serve
from support import write_arrow

DATA = write_arrow({"a": list(range(300_000))}, compression="uncompressed")
SEVERAL = ["scan.to_table()", "list(scan)", "scan.count()", "scan.explain()", "scan.splits()"]


@pytest.mark.parametrize(
    ("threads", "call"),
    [
        *((1, call) for call in SEVERAL),
        (2, "orcish.scan(urls).to_table()"),
        *((2, call) for call in SEVERAL),
    ],
)
def test_ctrl_c(threads, call):
    code = f"""
        import os, sys, orcish
        urls = sys.argv[1:]
        scan = orcish.scan(urls, threads={threads}, filters=orcish.col("a") > 5)
        print("reading", flush=True)
        sys.stdin.readline()
        try:
            {call}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            os._exit(0)
    """
    asked, end = threading.Event(), threading.Event()
    with serve({f"/{i}.orc": DATA for i in range(4)}) as server:
        urls = [f"{server.url}/{i}.orc" for i in range(4)]
        command = [sys.executable, "-c", textwrap.dedent(code), *urls]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout.readline() == "reading\n"
                server.rules.append(lambda handler, _: asked.set() or end.wait(4))
                process.stdin.write("go\n")
                process.stdin.flush()
                assert asked.wait(20)
                # Until all threads wait.
                time.sleep(0.2)
                start = time.monotonic()
                process.send_signal(signal.SIGINT)
                assert process.stdout.readline() == "interrupted\n"
                assert time.monotonic() - start < 2
            finally:
                end.set()
                process.kill()
