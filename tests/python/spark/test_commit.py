"""A commit is decided by one file: whatever dies when, a table is what it was or what it was to be."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from orcish.errors import OrcishError
from orcish.spark.options import TableOptions
from orcish.spark.table.table import SparkTable
from orcish.tables import manifests
from orcish.tables.commit import Job, Staged, committed_batch, finish_commits
from orcish.tables.folder import Folder
from support.random_cases import seeded
from support.small_tables import put
from support.spark_tables import ids_of, left_over, table_of
from support.staged_commits import Died, Dying, staged


def table_with(folder: Path, ids: range) -> Path:
    put(folder, {f"old-{at}.orc": pa.table({"id": [at]}) for at in ids})
    return folder


def change(table: Path) -> tuple[Job, list[Staged]]:
    job = Job(str(table))
    return job, [staged(job, range(10, 13)), staged(job, range(20, 22), folder="more")]


def removing(*names: str) -> Callable[[Any], list[str]]:
    return lambda there: list(names)


def decide(job: Job, added: list[Staged], replaced: Any = None, *, step: str = "write") -> None:
    """A commit that is decided, and of which nothing more is done, or not much."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        Dying(monkeypatch, step, after=True)
        with pytest.raises(Died):
            job.commit(added, replaced)


NEW = [2, 10, 11, 12, 20, 21]


def test_a_commit(tmp_path: Path) -> None:
    table = table_with(tmp_path / "t", range(3))
    job, added = change(table)
    assert ids_of(table) == [0, 1, 2], "what is staged is of no table"
    job.commit(added, removing("old-0.orc", "old-1.orc"))
    assert ids_of(table) == NEW
    assert left_over(table) == []
    assert finish_commits(str(table), {}) == 0
    job.abort(added)
    assert ids_of(table) == NEW, "what is committed is not taken back"


@pytest.mark.parametrize("after", [False, True])
def test_death_at_each_step(tmp_path: Path, after: bool) -> None:
    """Before the manifest exists the table is unchanged. Afterwards the next process finishes the commit."""
    number, was_decided = 0, False
    while True:
        table = table_with(tmp_path / f"{number}", range(3))
        job, added = change(table)
        with pytest.MonkeyPatch.context() as monkeypatch:
            dying = Dying(monkeypatch, number, after=after)
            try:
                job.commit(added, removing("old-0.orc", "old-1.orc"))
            except Died:
                pass
            else:
                break
        is_decided = "write" in (dying.names if after else dying.names[:-1])
        was_decided |= is_decided
        finish_commits(str(table), {})
        assert ids_of(table) == (NEW if is_decided else [0, 1, 2]), (number, dying.names)
        if is_decided:
            assert left_over(table) == []
        # Nothing more is done the next time, nor by a job that is told to give up.
        assert finish_commits(str(table), {}) == 0
        job.abort(added)
        assert ids_of(table) == (NEW if is_decided else [0, 1, 2])
        assert left_over(table) == []
        number += 1
    assert was_decided
    assert number > 8


def test_finishers_that_die_as_well(tmp_path: Path) -> None:
    """Each finishing process dies one step later than the one before."""
    table = table_with(tmp_path / "t", range(3))
    job, added = change(table)
    decide(job, added, removing("old-0.orc", "old-1.orc"))
    for number in range(100):
        with pytest.MonkeyPatch.context() as monkeypatch:
            Dying(monkeypatch, number, after=number % 2 == 0)
            try:
                finish_commits(str(table), {})
            except Died:
                continue
        break
    assert ids_of(table) == NEW
    assert left_over(table) == []


def test_errors_of_the_disk(tmp_path: Path) -> None:
    """Disk errors before the manifest fail the commit. Later errors say that the commit will be finished."""
    seen = set()
    for number in range(100):
        table = table_with(tmp_path / f"{number}", range(3))
        job, added = change(table)
        error: Exception | None = None
        with pytest.MonkeyPatch.context() as monkeypatch:
            dying = Dying(monkeypatch, number, after=False, error=OSError(5, "the disk is gone"))
            try:
                job.commit(added, removing("old-0.orc", "old-1.orc"))
            except (OrcishError, OSError) as raised:
                error = raised
        if number >= len(dying.names):
            break
        # Of what is left of others, nobody is told.
        is_done = ids_of(table) == NEW and left_over(table) == []
        assert (error is None) == is_done
        if error is not None:
            is_decided = isinstance(error, OrcishError)
            seen.add(is_decided)
            assert ("decided but not finished" in str(error)) == is_decided
            assert "the disk is gone" in str(error)
            assert is_decided == ("write" in dying.names and dying.names[-2:] != ["write", "read"])
        finish_commits(str(table), {})
        assert ids_of(table) == (NEW if "decided" in str(error) or error is None else [0, 1, 2])
    assert seen == {True, False}


def test_a_store_that_does_not_answer(tmp_path: Path) -> None:
    """The manifest exists although the request has failed: the commit continues."""
    for error in [OSError(5, "timed out"), FileExistsError("somebody has made it")]:
        table = table_with(tmp_path / type(error).__name__, range(3))
        job, added = change(table)
        with pytest.MonkeyPatch.context() as monkeypatch:
            Dying(monkeypatch, "write", after=True, error=error)
            job.commit(added, removing("old-0.orc", "old-1.orc"))
        assert ids_of(table) == NEW
        assert left_over(table) == []


def test_a_manifest_is_all_or_nothing(tmp_path: Path) -> None:
    """Of two concurrent commits of one job, one succeeds."""
    table = table_with(tmp_path / "t", range(3))
    job, added = change(table)
    decide(job, added[:1])
    with pytest.raises(FileExistsError):
        job.commit(added)
    finish_commits(str(table), {})
    assert ids_of(table) == [0, 1, 2, 10, 11, 12]


def test_several_finish_at_once(tmp_path: Path) -> None:
    for attempt in range(10):
        table = table_with(tmp_path / f"{attempt}", range(3))
        for replaced in (removing("old-0.orc", "old-1.orc"), None):
            job, added = change(table)
            decide(job, added, replaced, step=("write", "complete")[attempt % 2])
        failed: list[BaseException] = []
        barrier = threading.Barrier(4)

        def run(table: Path = table, barrier: Any = barrier, failed: list[BaseException] = failed) -> None:
            barrier.wait()
            try:
                finish_commits(str(table), {})
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        assert ids_of(table) == sorted([2, *NEW[1:], *NEW[1:]])
        assert left_over(table) == []


def test_two_write_at_a_time(tmp_path: Path) -> None:
    """Each job appends its rows, and finishes pending commits of the other."""
    for attempt in range(5):
        table = tmp_path / f"{attempt}"
        failed: list[BaseException] = []

        def run(start: int, table: Path = table, failed: list[BaseException] = failed) -> None:
            try:
                for at in range(5):
                    finish_commits(str(table), {})
                    job = Job(str(table))
                    job.commit([staged(job, range(start + at, start + at + 1))])
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=run, args=(start,)) for start in (0, 5, 10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        assert ids_of(table) == list(range(15))
        assert left_over(table) == []


def test_two_remove_at_a_time(tmp_path: Path) -> None:
    """The slower job fails, as files that it has read are gone, and leaves no rows."""
    for attempt in range(8):
        table = table_with(tmp_path / f"{attempt}", range(6))
        outcomes: list[str] = []
        barrier = threading.Barrier(3)

        def run(table: Path = table, barrier: Any = barrier, outcomes: list[str] = outcomes) -> None:
            job = Job(str(table))
            before = {file.name for file in job.folder().files() if file.name.endswith(".orc")}
            made = [staged(job, range(6))]

            def replaced(there: Any) -> list[str]:
                if before - {file.name for file in there}:
                    raise OrcishError("gone")
                return sorted(before)

            barrier.wait()
            try:
                job.commit(made, replaced)
                outcomes.append("done")
            except OrcishError as error:
                job.abort(made)
                outcomes.append(str(error))

        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == ["done", "gone", "gone"]
        assert ids_of(table) == list(range(6))
        assert left_over(table) == []


def test_one_decides_while_another_takes_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that another commit has decided to remove do not exist for the next commit."""
    table = table_with(tmp_path / "t", range(3))
    other, more = change(table)
    job, added = change(table)
    files = Folder.files
    at_work: list[str] = []

    def between(self: Folder, name: str = "") -> Any:
        found = files(self, name)
        # Behind the first look at what is decided.
        if name == manifests.OWN and not at_work:
            at_work.append(name)
            decide(other, more, removing("old-0.orc"))
        return found

    def replaced(there: Any) -> list[str]:
        if all(file.name != "old-0.orc" for file in there):
            raise OrcishError("gone")
        return ["old-0.orc"]

    monkeypatch.setattr(Folder, "files", between)
    with pytest.raises(OrcishError, match="gone"):
        job.commit(added, replaced)
    monkeypatch.undo()
    job.abort(added)
    assert ids_of(table) == [1, 2, 10, 11, 12, 20, 21]
    assert left_over(table) == []


def test_a_finisher_that_sleeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A paused process continues after the commit is finished and its files are removed by another. It changes nothing."""
    table = table_with(tmp_path / "t", range(3))
    job, added = change(table)
    decide(job, added, removing("old-0.orc", "old-1.orc"))
    complete = Folder.complete

    def late(self: Folder, name: str, token: bytes) -> None:
        monkeypatch.setattr(Folder, "complete", complete)
        finish_commits(str(table), {})
        other = Job(str(table))
        other.commit([staged(other, [7])], removing("old-2.orc", *(file.target for file in added)))
        complete(self, name, token)

    monkeypatch.setattr(Folder, "complete", late)
    finish_commits(str(table), {})
    assert ids_of(table) == [7]
    assert left_over(table) == []


def test_numbers_that_are_stale_are_swept(tmp_path: Path) -> None:
    table = table_with(tmp_path / "t", range(3))
    for at in range(3):
        job = Job(str(table))
        job.commit([staged(job, [10 + at])], removing(f"old-{at}.orc"))
        for path in (table / "_orcish" / "removals").iterdir():
            os.utime(path, (1, 1))
    # The last is kept, as the next has to have another.
    assert [path.name for path in (table / "_orcish" / "removals").iterdir()] == ["000000000002.json"]
    assert ids_of(table) == [10, 11, 12]


def test_manifests_that_are_being_written(tmp_path: Path) -> None:
    """Manifests under temporary names do not count."""
    table = table_with(tmp_path / "t", range(3))
    for folder in ("removals", "streams/s"):
        (table / "_orcish" / folder).mkdir(parents=True)
        (table / "_orcish" / folder / ".000000000000.json.0.tmp").write_text('{"job": ')
    assert finish_commits(str(table), {}) == 0
    job, added = change(table)
    job.commit(added, removing("old-0.orc", "old-1.orc"))
    assert ids_of(table) == NEW
    assert len(list((table / "_orcish").rglob("*.tmp"))) == 2


def test_a_table_behind_a_link(tmp_path: Path) -> None:
    table = table_with(tmp_path / "t", range(3))
    (tmp_path / "link").symlink_to(table)
    job, added = change(table)
    decide(job, added)
    assert finish_commits(str(tmp_path / "link"), {}) == 1
    assert ids_of(table) == [0, 1, *NEW]


def test_what_cannot_be_found_out_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the state of the manifest is unknown, the error does not say that the commit has failed."""
    table = table_with(tmp_path / "t", range(3))
    job, added = change(table)
    write = Folder.write

    def lost(self: Folder, *args: Any, **more: Any) -> None:
        write(self, *args, **more)
        raise TimeoutError("no answer")

    def unreadable(*args: Any, **more: Any) -> bytes:
        raise TimeoutError("no answer either")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Folder, "write", lost)
        patch.setattr(Folder, "read", unreadable)
        with pytest.raises(OrcishError, match=r"commit\.json: whether .* is not known: no answer either"):
            job.commit(added)
        job.give_up(added)
    finish_commits(str(table), {})
    assert ids_of(table) == [0, 1, *NEW]


def test_what_is_stale_is_swept(tmp_path: Path) -> None:
    table = table_with(tmp_path / "t", range(3))
    old, young = Job(str(table)), Job(str(table))
    staged(old, range(5))
    staged(young, range(5))
    for path in (table / "_orcish" / "jobs" / old.id).rglob("*"):
        os.utime(path, (time.time() - manifests.STALE_SECONDS - 60,) * 2)
    job, added = change(table)
    job.commit(added)
    assert [path.name for path in (table / "_orcish" / "jobs").iterdir()] == [young.id]
    # A manifest is never stale.
    decided, more = change(table)
    decide(decided, more)
    for path in (table / "_orcish" / "jobs" / decided.id).rglob("*"):
        os.utime(path, (1, 1))
    job, added = change(table)
    job.commit(added)
    finish_commits(str(table), {})
    assert len(ids_of(table)) == 3 + 3 * 5


def test_a_file_that_is_lost_says_so(tmp_path: Path) -> None:
    """A decided commit with a missing file cannot be finished, and is reported each time."""
    table = table_with(tmp_path / "t", range(3))
    job, added = change(table)
    for waiting in (table / "_orcish").rglob(".*"):
        waiting.unlink()
    with pytest.raises(OrcishError, match="decided but not finished"):
        job.commit(added, removing("old-0.orc"))
    with pytest.raises(OrcishError, match=r"_orcish/removals/0+\.json: this commit is decided .*/part-"):
        finish_commits(str(table), {})
    assert 0 in ids_of(table), "files are added before others are removed"


def test_nothing_is_there(tmp_path: Path) -> None:
    assert finish_commits(str(tmp_path / "none"), {}) == 0
    assert not (tmp_path / "none").exists()
    Job(str(tmp_path / "none")).abort()


def test_readers_pass_over_jobs(tmp_path: Path) -> None:
    table = table_with(tmp_path / "t", range(3))
    _, added = change(table)
    assert len(added) == 2
    assert ids_of(table) == [0, 1, 2]
    assert table_of(table) == ["old-0.orc", "old-1.orc", "old-2.orc"]


# Processes that are killed.

WRITER = """
    import sys, os
    sys.path.insert(0, sys.argv[2])
    from support.staged_commits import staged
    from orcish.tables.commit import Job, finish_commits
    import orcish
    table = sys.argv[1]
    start = int(sys.argv[3])
    print("ready", flush=True)
    for at in range(start, 10_000):
        finish_commits(table, {})
        job = Job(table)
        files = [staged(job, range(at * 10, at * 10 + 5), folder=""),
                 staged(job, range(at * 10 + 5, at * 10 + 10), folder="more%d" % (at % 3))]
        print("staged", at, flush=True)
        job.commit(files, stream=("s", at))
        print("committed", at, flush=True)
        if at % 4 == 3:
            # All that is in one folder becomes one file.
            names = [f.name for f in job.folder().files() if f.name.startswith("part-")]
            ids = orcish.read_table([table + "/" + n for n in names])["id"].to_pylist()
            job = Job(table)
            job.commit([staged(job, ids)], lambda there: names)
            print("merged", at, flush=True)
"""


@pytest.mark.long
def test_killed_writers(tmp_path: Path) -> None:
    """Writers are killed at random times. Confirmed commits are there once, others completely or not at all."""
    table = tmp_path / "t"
    table.mkdir()
    chance = seeded("killed writers")
    here = str(Path(__file__).parents[1])
    code = "\n".join(line[4:] for line in WRITER.splitlines())
    batch = 0
    for _ in range(12):
        command = [sys.executable, "-c", code, str(table), here, str(batch)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        # It says three things of most batches, and four of others.
        said = "".join(process.stdout.readline() for _ in range(chance.randrange(12)))
        time.sleep(chance.uniform(0, 0.04))
        process.send_signal(signal.SIGKILL)
        rest, errors = process.communicate()
        said += rest
        assert process.returncode == -signal.SIGKILL, errors
        finish_commits(str(table), {})
        there = ids_of(table) if table_of(table) else []
        committed = [int(line.split()[1]) for line in said.splitlines() if line.startswith("committed")]
        least = max(committed, default=batch - 1) + 1
        # The batch that was on its way is there whole, or not at all.
        assert there in (list(range(least * 10)), list(range(least * 10 + 10))), (least, len(there))
        batch = len(there) // 10
        assert committed_batch(Folder(str(table)), "s") == batch - 1
    assert batch > 12


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
        said, _ = process.communicate()
        committed = [int(line.split()[1]) for line in said.splitlines() if line.startswith("committed")]
        least = max(committed, default=batch) + 1
        # The driver's Python workers may be at work for a moment.
        settled(table)
        finish_commits(str(table), {})
        there = ids_of(table)
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


def test_the_manifest_can_be_read_by_people(tmp_path: Path) -> None:
    table = table_with(tmp_path / "t", range(3))
    job, added = change(table)
    decide(job, added, removing("old-0.orc"))
    text = (table / "_orcish" / "removals" / "000000000000.json").read_text()
    found = json.loads(text)
    assert [file["target"] for file in found["added"]] == [file.target for file in added]
    assert found["removed"] == ["old-0.orc"]


@pytest.mark.parametrize("path", ["", "/", "/more=1", "/more=1/", "/more=*", "/more=1/*.orc"])
def test_readers_finish(tmp_path: Path, path: str) -> None:
    """Planning a read of a table, or of some partitions, finishes pending commits."""
    table = put(tmp_path / "t", {f"more=1/old-{at}.orc": pa.table({"id": [at]}) for at in range(3)})
    job = Job(str(table))
    added = [staged(job, range(10, 13), folder="more=1") for _ in range(2)]
    decide(job, added, removing("more=1/old-0.orc", "more=1/old-1.orc"))
    work = SparkTable.open(TableOptions.of({"path": f"{table}{path}"})).task_inputs()
    assert sum(part.rows for part in work) == 7
    assert ids_of(table) == [2, 10, 10, 11, 11, 12, 12]
    assert left_over(table) == []
