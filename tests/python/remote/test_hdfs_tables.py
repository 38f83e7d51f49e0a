"""Commits of tables in HDFS, where staged files are renamed."""

from __future__ import annotations

import concurrent.futures
import functools
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish._native import StagedFile
from orcish.errors import CommitError, CorruptFileError
from orcish.tables.commit import Job
from orcish.tables.folder import upload_info
from support.hdfs_store import Hdfs
from support.random_cases import seeded
from support.staged_commits import LOG, WRITER, decide, scanned_again, sealed, staged, staged_name

OLD = ["old-0.orc", "old-1.orc"]
NEW = [2, 10, 11, 12, 20, 21]
ENTRY = f"/db/t/{LOG}/{0:012}.json"


@pytest.fixture
def table(hdfs: Hdfs) -> str:
    """A table of three files."""
    url = f"{hdfs.url}/db/t"
    for at in range(3):
        orcish.write_table(pa.table({"id": [at]}), f"{url}/old-{at}.orc", storage_options=hdfs.options)
    return url


def job_of(table: str) -> Job:
    return Job(table, {"orcish.max_retries": "0"})


def ids_of(source: str, **options: Any) -> list[int]:
    return sorted(orcish.read_table(source, columns=["id"], **options)["id"].to_pylist())


def change(table: str) -> tuple[Job, list[StagedFile]]:
    job = job_of(table)
    return job, [staged(job, range(10, 13)), staged(job, range(20, 22), folder="more")]


def files_of(table: str, *names: str) -> Any:
    return [file for file in job_of(table).files() if file.name in names]


def left_over(hdfs: Hdfs) -> list[str]:
    """Hidden files and folders, beside the log."""
    hidden = [name for name in hdfs.tree("/db/t") if "/_" in name or "/." in name]
    known = ("/db/t/_orcish", "/db/t/_orcish/jobs", "/db/t/_orcish/log", "/db/t/_orcish/clock")
    return [name for name in hidden if name not in known and not name.startswith("/db/t/_orcish/log/")]


def test_a_commit(hdfs: Hdfs, table: str) -> None:
    job, added = change(table)
    assert ids_of(table) == [0, 1, 2]
    assert job.commit(added, "overwrite", existing=files_of(table, *OLD))
    assert ids_of(table) == NEW
    assert left_over(hdfs) == []
    job.abort(added)
    assert ids_of(table) == NEW
    assert hdfs.files(f"/db/t/{LOG}") == [f"{0:012}.done", f"{0:012}.json"]
    with pytest.raises(FileExistsError, match="has data already"):
        job_of(table).commit([], is_new=True)


def test_a_staged_file(hdfs: Hdfs, table: str) -> None:
    """Its bytes are in the folder of the job. Only the commit of the job takes it."""
    job, added = change(table)
    info = upload_info(added[1].token)
    assert info.location == f"{table}/{job.name_of(added[1])}"
    bytes_at = f"/db/t/{job.staging}/{staged_name(job, added[1])}"
    assert hdfs.tree("/db/t")[bytes_at] == info.bytes
    assert "/db/t/more" not in hdfs.tree("/db/t")
    for other in (job_of(table), job_of(f"{hdfs.url}/db/other")):
        with pytest.raises(ValueError, match="the file was not staged for the table"):
            other.commit(added)
    folder = job.folder()
    for _ in range(3):
        folder.complete(job.name_of(added[1]), added[1].token)
        assert hdfs.tree("/db/t")[f"/db/t/{job.name_of(added[1])}"] == info.bytes
    folder.abort(job.name_of(added[1]), added[1].token)
    assert bytes_at not in hdfs.tree("/db/t")
    # Another file of the name is not taken for it.
    hdfs.put(f"/db/t/{job.name_of(added[1])}", b"other")
    for file in added:
        folder.abort(job.name_of(file), file.token)
        with pytest.raises(FileNotFoundError, match=f"{job.name_of(file)}: cannot be published: .* gone"):
            folder.complete(job.name_of(file), file.token)
    assert hdfs.get(f"/db/t/{job.name_of(added[1])}") == b"other"


@pytest.mark.parametrize("path", ["", "/**"])
def test_readers_write_nothing(hdfs: Hdfs, table: str, path: str) -> None:
    """A decided commit of a dead process: readers see its rows once all files are visible, and never half of them."""
    before = {name: hdfs.get(name) for name, size in hdfs.tree("/db").items() if size is not None}
    for published, wanted in ((0, [0, 1, 2]), (1, [0, 1, 2]), (2, NEW)):
        hdfs.clear()
        for name, data in before.items():
            hdfs.put(name, data)
        job, added = change(table)
        decide(job, added, OLD, published=published)
        there = hdfs.tree("/db")
        assert ids_of(table + path, pending="before") == wanted
        if published == 2:
            assert ids_of(table + path) == wanted
        assert hdfs.tree("/db") == there
        assert orcish.recover(table) == "finished"
        assert ids_of(table + path) == NEW
        assert orcish.recover(table) == "nothing"
        assert left_over(hdfs) == []


def test_readers_wait_for_files(table: str) -> None:
    job, added = change(table)
    decide(job, added, OLD, published=1)
    timer = threading.Timer(0.5, lambda: orcish.recover(table))
    timer.start()
    assert ids_of(table) == NEW
    timer.join()


def test_files_that_are_lost(hdfs: Hdfs, table: str) -> None:
    """A commit whose files are lost can be undone. Any other is finished."""
    job, added = change(table)
    decide(job, added, OLD, published=1)
    hdfs.delete(f"/db/t/{job.staging}/{staged_name(job, added[1])}")
    other = job_of(table)
    more = [staged(other, [30])]
    calls: list[Callable[[], object]] = [lambda: orcish.recover(table), lambda: other.commit(more)]
    for call in calls:
        with pytest.raises(CommitError, match=r"commit 0 .* decided and not finished.*undo"):
            call()
    assert orcish.recover(table, undo=True) == "undone"
    assert ids_of(table) == [0, 1, 2]
    other.commit(more)
    assert ids_of(table) == [0, 1, 2, 30]
    assert left_over(hdfs) == []


def test_entries_are_not_believed(hdfs: Hdfs, table: str) -> None:
    """Whoever may write into a table cannot make others touch files elsewhere."""
    orcish.write_table(pa.table({"id": [7]}), f"{hdfs.url}/secret.orc")
    size = hdfs.tree("/")["/secret.orc"]
    outside = [
        {"name": "x.orc", "size": size, "staged": {"file": name}}
        for name in ("../../../../../secret.orc", "/secret.orc", f"{hdfs.url}/secret.orc")
    ]
    targets = [{"name": name, "size": 1, "staged": {"file": "x"}} for name in ("../y.orc", "/y.orc", "_orcish/x")]
    cases: list[dict[str, Any]] = [
        *({"added": [file]} for file in outside + targets),
        *({"removed": [name]} for name in ("../../secret.orc", "/secret.orc")),
        {"job": "../.."},
    ]
    job = job_of(table)
    decide(job, [staged(job, [99])])
    entry = json.loads(hdfs.get(ENTRY))
    for case in cases:
        hdfs.put(ENTRY, sealed(entry | case).encode())
        before = hdfs.tree("/")
        for call in (ids_of, orcish.recover, functools.partial(orcish.recover, undo=True)):
            with pytest.raises(CorruptFileError, match=r"_orcish/log/0{12}\.json"):
                call(table)
        assert hdfs.tree("/") == before, case


def test_appends_at_a_time(hdfs: Hdfs, table: str) -> None:
    def run(start: int) -> None:
        for at in range(4):
            job = job_of(table)
            job.commit([staged(job, [100 + start * 4 + at])])

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(4)))
    assert ids_of(table) == [0, 1, 2, *range(100, 116)]
    assert left_over(hdfs) == []


def test_appends_beside_overwrites(hdfs: Hdfs) -> None:
    """Rows are those of the commits in the order of the log."""
    appended = list(range(100, 110))
    for attempt in range(2):
        table = f"{hdfs.url}/db/{attempt}"
        orcish.write_table(pa.table({"id": [0]}), f"{table}/old.orc")
        barrier = threading.Barrier(2)

        def append(table: str = table, barrier: Any = barrier) -> None:
            job = job_of(table)
            files = [staged(job, [id]) for id in appended]
            barrier.wait()
            job.commit(files)

        def overwrite(table: str = table, barrier: Any = barrier) -> None:
            job = job_of(table)
            files = [staged(job, [7])]
            barrier.wait()
            job.commit(files, "overwrite", everything=True)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            running = [pool.submit(append), pool.submit(overwrite)]
            seen = [scanned_again(ids_of, table) for _ in range(5)]
            for each in running:
                each.result()
        assert ids_of(table) in ([7], [7, *appended])
        assert all(rows in ([0], [0, *appended], [7], [7, *appended]) for rows in seen), seen


def test_jobs_that_are_dead(hdfs: Hdfs, table: str) -> None:
    change(table)
    job, added = change(table)
    decide(job, added)
    assert orcish.vacuum(table) == 0
    assert orcish.vacuum(table, older_than=timedelta(0)) == 2
    assert hdfs.tree("/db/t").keys() >= {f"/db/t/{job.staging}"}
    assert orcish.recover(table) == "finished"
    assert len(ids_of(table)) == 3 + 5
    job, added = change(table)
    job.abort(added)
    assert left_over(hdfs) == []
    missing = f"{hdfs.url}/db/none"
    for call in (orcish.recover, orcish.vacuum, orcish.history):
        with pytest.raises(FileNotFoundError, match=r"no such folder: .*/db/none"):
            call(missing)
    assert "/db/none" not in hdfs.tree("/db")
    hdfs.make_folder("/db/empty/deep")
    for folder in ("/db/empty", "/db/empty/deep/"):
        assert orcish.recover(f"{hdfs.url}{folder}") == "nothing"
        assert orcish.vacuum(f"{hdfs.url}{folder}") == 0


@pytest.mark.long
def test_killed_writers(hdfs: Hdfs) -> None:
    """Writers are killed at random times. Confirmed commits are there once, others completely or not at all."""
    table = f"{hdfs.url}/db/t"
    chance = seeded("killed writers of HDFS")
    here = str(Path(__file__).parents[1])
    batch = 0
    for _ in range(8):
        command = [sys.executable, "-c", WRITER, table, here, str(batch)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            said = "".join(process.stdout.readline() for _ in range(chance.randrange(6)))
            time.sleep(chance.uniform(0, 1.5))
            process.send_signal(signal.SIGKILL)
            said += process.stdout.read()
        committed = [int(line.split()[1]) for line in said.splitlines() if line.startswith("committed")]
        least = max(committed, default=batch - 1) + 1
        states = (list(range(least * 10)), list(range(least * 10 + 10)))

        def ids(**options: Any) -> list[int]:
            has_files = any(name.endswith(".orc") and "/_" not in name for name in hdfs.tree("/db/t"))
            return ids_of(table, **options) if has_files else []

        assert ids(pending="before") in states
        if "/db/t" in hdfs.tree("/db"):
            orcish.recover(table)
        there = ids()
        assert there in states, (least, len(there))
        batch = len(there) // 10
    assert batch > 4
    orcish.vacuum(table, older_than=timedelta(0))
    assert hdfs.tree("/db/t/_orcish/jobs") == {}
