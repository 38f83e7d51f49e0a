"""Tables of many partition values, written by orcish and by Spark; prints a Markdown table.

    python partitions.py
    python partitions.py --values 257 5000 --rows 1000000 --writers write_dataset convert

The rows are in two files of Parquet, and each value is in all parts of both. Each writer runs in a process of its own,
and in two tasks where it is a job. Memory is the peak of the process above what it had before the first row, or that
of Spark's Python workers together; the JVM's is not measured, since its heap grows as far as it may. Spark's own
writer has no workers.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["PYSPARK_PYTHON"] = sys.executable

import numpy as np
import orcish
import pyarrow as pa
import pyarrow.parquet as pq
from run import table, versions

WRITERS = ("write_dataset", "convert", "osp.convert", 'format("orcish")', "df.write.orc")
FILES = 2
PAGE = os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """Runs each writer with each number of values."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--values", type=int, nargs="+", default=[1, 10, 256, 257, 1000, 5000])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--writers", nargs="+", default=list(WRITERS), choices=WRITERS)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        writer, source, target = options.one
        print(json.dumps(measured(writer, Path(source), Path(target))))
        return
    print(", ".join(f"{name} {version}" for name, version in versions().items()) + "\n")
    lines = []
    for values in options.values:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "source")
            make(source, options.rows, values)
            for number, writer in enumerate(options.writers):
                command = [sys.executable, __file__, "--one", writer, str(source), str(Path(folder, f"t{number}"))]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode:
                    raise SystemExit(f"{writer}, {values} values: {done.stderr[-3000:]}")
                found = json.loads(done.stdout.splitlines()[-1])
                if found["rows"] != options.rows:
                    raise SystemExit(f"{writer}, {values} values: {found['rows']} rows")
                memory = "" if found["memory"] is None else f"{found['memory'] / 1e6:,.0f} MB"
                lines.append([f"{values:,}", writer, f"{found['files']:,}", f"{found['seconds']:.1f} s", memory])
                print(*lines[-1], file=sys.stderr)
    print(table(["values", "writer", "files", "time", "memory"], lines))


def make(folder: Path, rows: int, values: int) -> None:
    """Writes the source: the values of ``p`` are in random order."""
    folder.mkdir()
    random = np.random.default_rng(values)
    for number in range(FILES):
        count = rows // FILES + (number < rows % FILES)
        ids = np.arange(count) * FILES + number
        text = pa.array([f"text number {value:x} of a row" for value in random.integers(0, 1 << 40, count)])
        columns = {"id": ids, "p": random.integers(0, values, count), "text": text, "amount": random.random(count)}
        pq.write_table(pa.table(columns), folder / f"{number}.parquet", row_group_size=100_000)


def measured(writer: str, source: Path, target: Path) -> dict[str, Any]:
    """Runs a writer, and looks at what it has written and at its memory."""
    if writer in ("write_dataset", "convert"):
        run, own = of_library(writer, source, target), True
    else:
        run, own = of_spark(writer, source, target), False
    peak = Peak(own)
    begun = time.perf_counter()
    with peak:
        run()
    seconds = time.perf_counter() - begun
    files = [file for file in target.rglob("*.orc") if not any(part.startswith(("_", ".")) for part in file.parts)]
    rows = sum(orcish.ORCFile(file).num_rows for file in files)
    memory = None if writer == "df.write.orc" else peak.most - peak.least
    return {"files": len(files), "seconds": seconds, "memory": memory, "rows": rows}


def of_library(writer: str, source: Path, target: Path) -> Callable[[], Any]:
    """A writer of one process."""
    if writer == "convert":
        # The source is a table of ORC without partitions.
        flat = target.with_name(f"{target.name}-flat")
        for file in sorted(source.iterdir()):
            orcish.write_dataset(pq.read_table(file), flat, existing_data="append")
        return lambda: orcish.convert(flat, target, partition_by=["p"])
    import pyarrow.dataset as ds

    rows = ds.dataset(source).scanner(batch_size=65_536, batch_readahead=1, fragment_readahead=1)
    return lambda: orcish.write_dataset(rows.to_reader(), target, partition_by=["p"])


def of_spark(writer: str, source: Path, target: Path) -> Callable[[], Any]:
    """A job of Spark."""
    import orcish.spark as osp
    from spark import start

    session = start()
    frame = session.read.parquet(str(source))
    if writer == "osp.convert":
        return lambda: osp.convert(frame, target, partition_by=["p"], spark=session)
    if writer == "df.write.orc":
        return lambda: frame.write.partitionBy("p").orc(str(target))
    made = frame.write.format("orcish").option("partitionBy", "p").mode("append")
    return lambda: made.save(str(target))


class Peak:
    """The greatest memory of this process, or of the Python processes below it together, while it is entered."""

    def __init__(self, own: bool) -> None:
        self._own = own
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.least = resident([os.getpid()]) if own else 0
        self.most = self.least

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            self.most = max(self.most, resident([os.getpid()] if self._own else workers()))


def workers() -> list[int]:
    """The Python processes below this one."""
    parents: dict[int, tuple[int, str]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                name, _, rest = Path(f"/proc/{entry}/stat").read_text().partition("(")[2].rpartition(")")
            except OSError:
                continue
            parents[int(entry)] = int(rest.split()[1]), name
    below = {os.getpid()}
    while more := {pid for pid, (parent, _) in parents.items() if parent in below} - below:
        below |= more
    return [pid for pid in below - {os.getpid()} if parents[pid][1].startswith("python")]


def resident(pids: list[int]) -> int:
    """Bytes of memory that are the processes' own."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/statm").read_text().split()
        except OSError:
            continue
        total += (int(fields[1]) - int(fields[2])) * PAGE
    return total


if __name__ == "__main__":
    main()
