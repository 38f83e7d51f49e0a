"""Commits of Spark's jobs: whatever dies when, a table is what it was or what it was to be."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.spark.options import TableOptions
from orcish.spark.table import SparkTable
from orcish.tables.commit import Job
from support.case_loops import each_case
from support.random_cases import seeded
from support.small_tables import put
from support.spark_tables import ids_of
from support.staged_commits import decide, staged

DRIVER = """
    import sys, os
    from pyspark.sql import SparkSession
    import orcish.spark as osp
    table = sys.argv[1]
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.log.level", "OFF").config("spark.driver.host", "127.0.0.1").getOrCreate()
    print("jvm", spark._jvm.java.lang.ProcessHandle.current().pid(), flush=True)
    spark.range(1).collect()
    print("ready", flush=True)
    for at in range(int(sys.argv[2]), 10_000):
        spark.range(at * 100, at * 100 + 100, 1, 4).write.format("orcish").mode("append").save(table)
        print("committed", at, flush=True)
        if at % 2:
            osp.compact(table, spark=spark)
            print("merged", at, flush=True)
"""


@pytest.mark.long
def test_killed_drivers(tmp_path: Path) -> None:
    """Drivers of Spark are killed while they write and compact."""
    table = tmp_path / "t"
    chance = seeded("killed drivers")
    code = "\n".join(line[4:] for line in DRIVER.splitlines())
    batch = 0
    for _ in range(2):
        command = [sys.executable, "-c", code, str(table), str(batch)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert process.stdout is not None
        words = process.stdout.readline().split()
        assert words[0] == "jvm"
        assert process.stdout.readline() == "ready\n"
        # The first batch is the slowest: its workers have to start.
        assert process.stdout.readline().startswith("committed")
        time.sleep(chance.uniform(0.1, 3))
        os.kill(int(words[1]), signal.SIGKILL)
        process.kill()
        # `communicate` would lose lines that are in the buffer already.
        said = process.stdout.read()
        process.stdout.close()
        process.wait()
        committed = [int(line.split()[1]) for line in said.splitlines() if line.startswith("committed")]
        least = max(committed, default=batch) + 1
        # The driver's Python workers may be at work for a moment.
        settled(table)
        # The commit that was on its way is there whole, or not at all, before and after it is finished.
        before = sorted(orcish.read_table(str(table), pending="before")["id"].to_pylist())
        orcish.recover(table)
        there = ids_of(table)
        assert before in (there, list(range(least * 100)))
        assert there in (list(range(least * 100)), list(range(least * 100 + 100))), (least, len(there))
        batch = len(there) // 100
    assert batch >= 2


def settled(table: Path) -> None:
    before: Any = None
    for _ in range(50):
        now = sorted(str(path) for path in table.rglob("*"))
        if now == before:
            return
        before = now
        time.sleep(0.3)


@each_case("path", ["", "/", "/more=1", "/more=1/", "/more=*", "/more=1/*.orc"])
def test_plans_of_unfinished_commits(tmp_path: Path, path: str) -> None:
    """The plan of a read has the files of the table after a commit of a dead driver, and changes nothing."""
    table = put(tmp_path / "t", {f"more=1/old-{at}.orc": pa.table({"id": [at]}) for at in range(3)})
    job = Job(str(table))
    added = [staged(job, range(10, 13), folder="more=1") for _ in range(2)]
    decide(job, added, ["more=1/old-0.orc", "more=1/old-1.orc"], published=2)
    work = SparkTable.open(TableOptions.of({"path": f"{table}{path}"})).task_inputs()
    assert sum(part.rows for part in work) == 7
    assert (table / "more=1" / "old-0.orc").exists()
