"""The end of a process while threads of orcish, or of another library, read from Python objects.

Daemon threads of Python are not tested: CPython ends them within any library, and pyarrow aborts the process then.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import orcish
import pyarrow as pa
import pytest
from support.case_loops import each_case
from support.random_cases import each_value

PRELUDE = """
import io, os, signal, sys, threading, time
import orcish, pyarrow as pa, pyarrow.dataset
from fsspec.implementations.memory import MemoryFileSystem

DELAY = float(sys.argv[2])

class Far(io.BytesIO):
    def read(self, n=-1):
        time.sleep(DELAY)
        return super().read(n)

class FarSystem(MemoryFileSystem):
    protocol = "far"
    cachable = False
    def _open(self, *args, **keywords):
        file = super()._open(*args, **keywords)
        read = file.read
        file.read = lambda *given: (time.sleep(DELAY), read(*given))[1]
        return file

DATA = open(sys.argv[1], "rb").read()
far = lambda: Far(DATA)
system = FarSystem()
with system.open("/t/a.orc", "wb") as file:
    file.write(DATA)
"""

PROGRAMS = {
    "batches": "rows = orcish.ORCFile(far()).iter_batches(); next(rows)",
    "file system": "reader = orcish.scan('t', filesystem=system).reader(); reader.read_next_batch()",
    "stream": "rows = pa.RecordBatchReader.from_stream(orcish.ORCFile(far())); rows.read_next_batch()",
    "dataset": "rows = orcish.dataset(far()).to_batches(); next(iter(rows))",
    "scanner": "rows = orcish.dataset(far()).scanner().to_reader(); rows.read_next_batch()",
    "foreign scanner": (
        "rows = pa.dataset.Scanner.from_batches(orcish.ORCFile(far()).reader()).to_reader(); rows.read_next_batch()"
    ),
    "two scans": "rows = zip(orcish.scan(far()), orcish.scan(far())); next(rows)",
    "interrupt": """
threading.Timer(3 * DELAY, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    while True:
        orcish.read_table(far())
except KeyboardInterrupt:
    pass
""",
    "finalizer": """
class Last:
    def __init__(self):
        self.rows = orcish.ORCFile(far()).iter_batches()
        next(self.rows)
    def __del__(self):
        next(self.rows)
last = Last()
""",
    "handler": """
import atexit
atexit.register(lambda: print(orcish.read_table(far()).num_rows, flush=True))
""",
    "exit": "print('done', flush=True); rows = orcish.ORCFile(far()).iter_batches(); next(rows); sys.exit(0)",
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("end") / "a.orc"
    table = pa.table({"v": np.random.default_rng(1).random(400_000)})
    orcish.write_table(table, path, compression="none", stripe_size="256KB")
    return path


@each_case(("name", "delay"), each_value(PROGRAMS, [0.003, 0.05]))
def test_process_ends(name: str, delay: float, path: Path) -> None:
    """The process ends by itself, with success, and without messages of the interpreter."""
    program = f"{PRELUDE}\n{PROGRAMS[name]}\nprint('done', flush=True)\n"
    done = subprocess.run(
        [sys.executable, "-c", program, path, str(delay)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout.split()[0]) == (0, "done"), done.stderr
    assert "Fatal" not in done.stderr
    if name == "handler":
        assert done.stdout.split() == ["done", "400000"]


def test_children_of_forks_do_not_wait(path: Path) -> None:
    """Threads of the parent do not exist in the child, which ends without them."""
    program = f"""{PRELUDE}
rows = orcish.ORCFile(far()).iter_batches()
next(rows)
child = os.fork()
if child == 0:
    begun = time.monotonic()
    orcish.read_table(sys.argv[1])
    import atexit
    atexit._run_exitfuncs()
    os._exit(0 if time.monotonic() - begun < 5 else 1)
print(os.waitpid(child, 0)[1], flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, path, "0.05"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
