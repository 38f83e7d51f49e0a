"""Commits of tables: all of a change is there or nothing of it, for every reader, whichever process dies."""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import orcish
import polars as pl
import pyarrow as pa
import pytest
from orcish._native import StagedFile
from orcish.errors import CommitError, CorruptFileError, OrcishError, UnsupportedError
from orcish.tables.commit import Job
from orcish.tables.log.listing import table_files
from support.case_loops import each_case
from support.random_cases import seeded
from support.small_tables import put
from support.staged_commits import WRITER, decide, entry, scanned_again, sealed, staged, staged_path


def ids_of(source: object, **options: Any) -> list[int]:
    return sorted(orcish.read_table(str(source), columns=["id"], **options)["id"].to_pylist())


def state_of(folder: Path) -> dict[str, tuple[int, int]]:
    """All files and folders with their sizes and times."""
    found = {str(path.relative_to(folder)): path.lstat() for path in sorted(folder.rglob("*"))}
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in found.items()}


def left_over(table: Path) -> list[str]:
    """What is hidden, beside the log."""
    hidden = [path.relative_to(table) for path in table.rglob("*") if path.is_file()]
    hidden = [path for path in hidden if any(part.startswith((".", "_")) for part in path.parts)]
    return sorted(str(path) for path in hidden if not str(path).startswith("_orcish/log/") and path.name != "clock")


def table_with(folder: Path, ids: range) -> Path:
    put(folder, {f"old-{at}.orc": pa.table({"id": [at]}) for at in ids})
    return folder


def change(table: Path) -> tuple[Job, list[StagedFile]]:
    job = Job(str(table))
    return job, [staged(job, range(10, 13)), staged(job, range(20, 22), folder="more")]


NEW = [2, 10, 11, 12, 20, 21]
OLD = ["old-0.orc", "old-1.orc"]


def files_of(table: Path, *names: str) -> Any:
    return [file for file in Job(str(table)).files() if file.name in names]


def test_a_commit(tmp_path: Path) -> None:
    table = table_with(tmp_path / "t", range(3))
    job, added = change(table)
    assert ids_of(table) == [0, 1, 2], "what is staged is of no table"
    assert job.commit(added, "overwrite", existing=files_of(table, *OLD))
    assert ids_of(table) == NEW
    assert left_over(table) == []
    assert orcish.recover(table) == "nothing"
    job.abort(added)
    assert ids_of(table) == NEW, "what is committed is not taken back"
    assert sorted(os.listdir(table / "_orcish" / "log")) == ["000000000000.done", "000000000000.json"]


def test_the_log_can_be_read_by_people(tmp_path: Path) -> None:
    table = table_with(tmp_path / "t", range(3))
    previous = None
    for removed in (OLD[:1], OLD[1:]):
        job, added = change(table)
        wanted = entry(job, added, removed, previous=previous)
        job.commit(added, "overwrite", existing=files_of(table, *removed))
        last = max((table / "_orcish" / "log").glob("*.json"))
        written = json.loads(last.read_text())
        assert written.pop("crc32") > 0
        assert abs(written["time"] / 1000 - time.time()) < 60
        assert written == {**wanted, "time": written["time"], "engine": f"orcish {orcish.__version__}"}
        assert json.loads(last.with_suffix(".done").read_text()).items() >= {"job": job.id, "schema": None}.items()
        previous = job.id


WAYS = {
    "read_table": ids_of,
    "scan": lambda table, **more: sorted(orcish.scan(table, **more).to_table()["id"].to_pylist()),
    "polars": lambda table, **more: sorted(orcish.scan_polars(table, **more).select("id").collect()["id"].to_list()),
    "slash": lambda table, **more: ids_of(f"{table}/", **more),
    "pattern": lambda table, **more: ids_of(f"{table}/*", **more),
    "deep pattern": lambda table, **more: ids_of(f"{table}/**", **more),
    "pattern of tables": lambda table, **more: ids_of(f"{Path(table).parent}/[t]/", **more),
    "link": lambda table, **more: ids_of(linked(table), **more),
}


def linked(table: Path) -> Path:
    link = table.parent / "link"
    if not link.exists():
        link.symlink_to(table)
    return link


@each_case("way", WAYS)
def test_readers_write_nothing(tmp_path: Path, way: str) -> None:
    """A decided commit of a dead process: readers see its rows once all files are visible, and never half of them."""
    read = WAYS[way]
    for published, wanted in ((0, [0, 1, 2]), (1, [0, 1, 2]), (2, NEW)):
        table = table_with(tmp_path / f"{published}" / "t", range(3))
        job, added = change(table)
        decide(job, added, OLD, published=published)
        if way == "link":
            linked(table)
        before = state_of(table)
        assert read(table, pending="before") == wanted, published
        if published == 2:
            assert read(table) == wanted
            # One of the files to remove is gone already.
            (table / OLD[0]).unlink()
            assert read(table) == wanted
            before.pop(OLD[0])
        assert state_of(table) == before, "a reader writes nothing"
        assert orcish.recover(table) == "finished"
        assert read(table) == NEW
        assert orcish.recover(table) == "nothing"
        assert left_over(table) == []


def test_a_partition_is_one_of_its_table(tmp_path: Path) -> None:
    table = put(tmp_path / "t", {f"k={at % 2}/{at}.orc": pa.table({"id": [at]}) for at in range(4)})
    job = Job(str(table / "k=0"))
    assert (job.folder().base, job.inside) == (str(table), "k=0")
    added = [staged(job, [10], folder="k=0")]
    decide(job, added, ["k=0/0.orc", "k=0/2.orc"], published=1)
    for path, wanted in (("", [1, 3, 10]), ("k=0", [10]), ("k=0/", [10]), ("k=1", [1, 3]), ("k=*", [1, 3, 10])):
        assert ids_of(f"{table}/{path}") == wanted, path
    os.chdir(table)
    try:
        assert ids_of("k=0") == [10]
        assert ids_of(".") == [1, 3, 10]
    finally:
        os.chdir("/")
    # A writer to a partition finishes the commit of the table.
    other = Job(str(table / "k=1"))
    other.commit([staged(other, [11], folder="k=1")], "overwrite", everything=True)
    assert ids_of(table) == [10, 11]
    assert not (table / "k=1" / "_orcish").exists()
    assert orcish.scan(str(table)).to_table().sort_by("id").to_pylist() == [{"id": 10, "k": 0}, {"id": 11, "k": 1}]


def test_readers_wait_for_files(tmp_path: Path) -> None:
    """A commit that goes on is waited for; one that does not is an error with the remedy."""
    table = table_with(tmp_path / "t", range(3))
    job, added = change(table)
    path = decide(job, added, OLD, published=1)
    timer = threading.Timer(0.5, lambda: orcish.recover(table))
    timer.start()
    assert ids_of(table) == NEW
    timer.join()
    job, added = change(table)
    decide(job, added, number=1, previous=json.loads(path.read_text())["job"])
    with pytest.raises(CommitError, match=r"commit 1 .* is not visible yet.*orcish\.recover.*pending=\"before\""):
        ids_of(table)
    assert ids_of(table, pending="before") == NEW
    with pytest.raises(ValueError, match="pending='after': must be one of wait, before"):
        ids_of(table, pending="after")


def test_files_that_are_lost(tmp_path: Path) -> None:
    """A commit whose files are lost can be undone. Any other is finished."""
    table = table_with(tmp_path / "t", range(3))
    job, added = change(table)
    decide(job, added, OLD, published=1)
    staged_path(job, added[1]).unlink()
    other = Job(str(table))
    more = [staged(other, [30])]
    for call in (lambda: orcish.recover(table), lambda: other.commit(more)):
        with pytest.raises(CommitError, match=r"commit 0 .* decided and not finished.*undo"):
            call()
    assert orcish.recover(table, undo=True) == "undone"
    assert ids_of(table) == [0, 1, 2]
    assert orcish.recover(table, undo=True) == "nothing"
    other.commit(more)
    assert ids_of(table) == [0, 1, 2, 30]
    job, added = change(table)
    decide(job, added, OLD, published=1, number=2, previous=other.id)
    assert orcish.recover(table, undo=True) == "finished"
    assert ids_of(table) == [*NEW, 30]
    assert left_over(table) == []


def forged(table: Path, **more: Any) -> None:
    job = Job(str(table))
    path = decide(job, [staged(job, [99])])
    path.write_text(sealed(json.loads(path.read_text()) | more))


def test_entries_are_not_believed(tmp_path: Path) -> None:
    """Whoever may write into a table cannot make others touch files elsewhere."""
    secret = tmp_path / "secret.orc"
    orcish.write_table(pa.table({"id": [7]}), secret)
    size = secret.stat().st_size
    outside = [
        {"name": "x.orc", "size": size, "staged": {"file": name}} for name in ("../../../../secret.orc", str(secret))
    ]
    targets = [
        {"name": name, "size": 1, "staged": {"file": "x"}} for name in ("../y.orc", "/y.orc", "_orcish/log/7.json", "")
    ]
    cases: list[dict[str, Any]] = [
        *({"added": [file]} for file in outside + targets),
        *({"removed": [name]} for name in ("../secret.orc", str(secret), "k=1/../../secret.orc", ".hidden")),
        {"job": "../.."},
        {"more": 1},
        {"version": 2},
        {"added": [{"name": "x.orc", "size": -1, "staged": {"file": "x"}}]},
        {"added": [{"name": "x.orc", "size": 1, "staged": {"path": "x"}}]},
        {"streams": {"q": {"batch": "x", "entry": 0}}},
    ]
    for at, case in enumerate(cases):
        table = table_with(tmp_path / f"{at}", range(2))
        forged(table, **case)
        before = state_of(tmp_path)
        for call in (ids_of, orcish.recover, functools.partial(orcish.recover, undo=True)):
            with pytest.raises((CorruptFileError, UnsupportedError), match=r"_orcish/log/0{12}\.json"):
                call(table)
        assert state_of(tmp_path) == before, case
    # A folder of a job that is a link.
    table = table_with(tmp_path / "linked", range(2))
    forged(table, job="j", added=[{"name": "x.orc", "size": size, "staged": {"file": "secret.orc"}}])
    (table / "_orcish" / "jobs" / "j").symlink_to(tmp_path)
    with pytest.raises(OrcishError, match="a link in the folder of the table"):
        orcish.recover(table)
    assert secret.exists()
    # A partition that is a link.
    table = table_with(tmp_path / "partition", range(2))
    (table / "k=1").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    job = Job(str(table))
    decide(job, [staged(job, [5], folder="k=1")])
    with pytest.raises(OrcishError, match="a link in the folder of the table"):
        orcish.recover(table)
    assert os.listdir(tmp_path / "elsewhere") == []


def test_texts_that_are_no_entries(tmp_path: Path) -> None:
    for at, text in enumerate([b"", b"{", b"[]", b"{}", b'{"version": "1"}', b"\xff", b"[" * 100, b'{"version": 1}']):
        table = table_with(tmp_path / f"{at}", range(2))
        path = table / "_orcish" / "log" / f"{0:012}.json"
        path.parent.mkdir(parents=True)
        path.write_bytes(text)
        with pytest.raises(CorruptFileError, match=r"0{12}\.json: .*no entry"):
            ids_of(table)
    path.write_bytes(b" " * (64 << 20) + b" ")
    with pytest.raises(OrcishError, match=r"67108865 bytes, where it may have 67108864"):
        ids_of(table)
    # Other files are not of the log.
    path.unlink()
    for name in ("0.json", "x.json", f"{0:012}.json.tmp", f".{0:012}.json", f"{0:013}.json", f"-{1:011}.json"):
        (path.parent / name).write_text("{")
    assert ids_of(table) == [0, 1]


def test_a_number_that_is_taken(tmp_path: Path) -> None:
    """Appends at a time are all there, and each removal sees the files of the commits before."""
    table = table_with(tmp_path / "t", range(3))

    def run(start: int) -> None:
        for at in range(5):
            job = Job(str(table))
            job.commit([staged(job, [100 + start * 5 + at])])

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(4)))
    assert ids_of(table) == [0, 1, 2, *range(100, 120)]
    assert left_over(table) == []


def test_appends_beside_overwrites(tmp_path: Path) -> None:
    """Rows are those of the commits in the order of the log: an overwrite removes all of an append or nothing."""
    for attempt in range(10):
        table = table_with(tmp_path / f"{attempt}", range(3))
        barrier = threading.Barrier(2)

        def append(table: Path = table, barrier: Any = barrier) -> None:
            job = Job(str(table))
            files = [staged(job, range(100 + at * 2, 102 + at * 2)) for at in range(20)]
            barrier.wait()
            job.commit(files)

        def overwrite(table: Path = table, barrier: Any = barrier) -> None:
            job = Job(str(table))
            files = [staged(job, [7])]
            barrier.wait()
            job.commit(files, "overwrite", everything=True)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            running = [pool.submit(append), pool.submit(overwrite)]
            seen = [scanned_again(ids_of, table) for _ in range(5)]
            for each in running:
                each.result()
        appended = list(range(100, 140))
        assert ids_of(table) in ([7], [7, *appended])
        assert all(rows in ([0, 1, 2], [0, 1, 2, *appended], [7], [7, *appended]) for rows in seen), seen


def test_two_remove_the_same_files(tmp_path: Path) -> None:
    """A compaction of a table beside one of its partition: one is done, and the other changes nothing."""
    for attempt in range(8):
        table = put(tmp_path / f"{attempt}", {f"k=0/{at}.orc": pa.table({"id": [at]}) for at in range(6)})
        barrier = threading.Barrier(2)

        def run(path: Path, table: Path = table, barrier: Any = barrier) -> str:
            job = Job(str(path))
            existing = [file for file in Job(str(table)).files() if not file.name.startswith("_")]
            files = [staged(job, range(6), folder="k=0")]
            barrier.wait()
            try:
                job.commit(files, "compact", existing=existing)
            except CommitError as error:
                job.abort(files)
                return str(error)
            return "done"

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            outcomes = sorted(pool.map(run, (table, table / "k=0")))
        assert outcomes[1] == "done"
        assert "k=0/0.orc: the file was changed or removed by another job" in outcomes[0]
        assert ids_of(table) == list(range(6))
        assert left_over(table) == []


def test_batches_of_streams(tmp_path: Path) -> None:
    table = tmp_path / "t"

    def batch(stream: str, number: int, row: int) -> bool:
        job = Job(str(table))
        return job.commit([staged(job, [row])], stream=(stream, number))

    for at in range(30):
        assert batch("q", at, at)
        assert not batch("q", at, 99)
        assert not batch("q", at // 2, 99)
    assert batch("r", 0, 30)
    assert ids_of(table) == list(range(31))
    assert left_over(table) == []
    assert not batch("q", 29, 99)


def test_a_table_of_its_own_beside_the_folder(tmp_path: Path) -> None:
    """Files that are staged while somebody else removes them, and files of other tables, are not committed."""
    table = table_with(tmp_path / "t", range(1))
    job, added = change(table)
    staged_path(job, added[0]).unlink()
    with pytest.raises(CommitError, match="the staged file is gone"):
        job.commit(added)
    assert ids_of(table) == [0]
    other = Job(str(tmp_path / "u"))
    with pytest.raises(ValueError, match="was not staged for the table"):
        other.commit(added)
    with pytest.raises(ValueError, match="was not staged for the table"):
        Job(str(table)).commit(added)
    assert not (tmp_path / "u").exists()


def test_vacuum(tmp_path: Path) -> None:
    table = table_with(tmp_path / "t", range(3))
    dead, young = Job(str(table)), Job(str(table))
    for job in (dead, young):
        staged(job, range(5))
        staged(job, range(5))
    for path in (table / dead.staging).rglob("*"):
        os.utime(path, (time.time() - 8 * 86_400,) * 2)
    job, added = change(table)
    decide(job, added)
    for path in (table / job.staging).rglob("*"):
        os.utime(path, (1, 1))
    assert orcish.vacuum(table, older_than=8.5) == orcish.vacuum(table, older_than=timedelta(days=8.5)) == 0
    assert orcish.vacuum(table) == 2
    assert sorted(os.listdir(table / "_orcish" / "jobs")) == sorted([young.id, job.id])
    assert orcish.vacuum(table, older_than=timedelta(0)) == 2
    assert orcish.vacuum(table, older_than=timedelta(0)) == 0
    assert orcish.recover(table) == "finished"
    assert len(ids_of(table)) == 3 + 5
    for age in (timedelta(seconds=-1), -0.5):
        with pytest.raises(ValueError, match="negative"):
            orcish.vacuum(table, older_than=age)
    for age in (float("nan"), float("inf"), 1e300):
        with pytest.raises(ValueError, match="must be a number of days"):
            orcish.vacuum(table, older_than=age)


def test_nothing_is_there(tmp_path: Path) -> None:
    for call in (orcish.recover, orcish.vacuum):
        with pytest.raises(FileNotFoundError, match="no such folder"):
            call(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    assert orcish.recover(tmp_path / "empty") == "nothing"
    assert orcish.vacuum(tmp_path / "empty") == 0
    assert list((tmp_path / "empty").iterdir()) == []
    Job(str(tmp_path / "none")).abort()
    assert not (tmp_path / "none").exists()
    with pytest.raises(FileNotFoundError):
        ids_of(tmp_path / "none")


def test_a_plain_folder_has_no_log(tmp_path: Path) -> None:
    """Files that are being copied are of no table, and reading makes no folder."""
    table = table_with(tmp_path / "t", range(3))
    (table / "x.orc._COPYING_").write_bytes(b"half")
    before = state_of(table)
    assert ids_of(table) == ids_of(f"{table}/*") == [0, 1, 2]
    assert len(table_files(str(table), None, None).files) == 3
    assert pl.DataFrame(orcish.scan(str(table))).height == 3
    assert state_of(table) == before


@pytest.mark.long
def test_killed_writers(tmp_path: Path) -> None:
    """Writers are killed at random times. Confirmed commits are there once, others completely or not at all."""
    table = tmp_path / "t"
    table.mkdir()
    chance = seeded("killed writers")
    here = str(Path(__file__).parents[1])
    batch = 0
    for _ in range(12):
        command = [sys.executable, "-c", WRITER, str(table), here, str(batch)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        # It says three things of most batches, and four of others.
        said = "".join(process.stdout.readline() for _ in range(chance.randrange(12)))
        time.sleep(chance.uniform(0, 0.04))
        process.send_signal(signal.SIGKILL)
        # `communicate` would lose lines that are in the buffer already.
        said += process.stdout.read()
        process.stdout.close()
        assert process.wait() == -signal.SIGKILL
        committed = [int(line.split()[1]) for line in said.splitlines() if line.startswith("committed")]
        least = max(committed, default=batch - 1) + 1
        # The batch that was on its way is there whole, or not at all, before anybody has recovered the table.
        states = (list(range(least * 10)), list(range(least * 10 + 10)))
        has_files = bool(list(table.rglob("part-*.orc")))
        before = ids_of(table, pending="before") if has_files else []
        assert before in states, (least, len(before), said, sorted(map(str, table.rglob("*"))))
        orcish.recover(table)
        there = ids_of(table) if list(table.rglob("part-*.orc")) else []
        assert there in states, (least, len(there))
        batch = len(there) // 10
    assert batch > 12


def test_files_that_can_never_appear(tmp_path: Path) -> None:
    """What keeps a file from appearing is found before the commit is decided."""
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [0], "k": ["a"]}), table, partition_by=["k"])
    (table / "k=file").write_bytes(b"")
    before = state_of(table)
    for value, text in (("file", "k=file: .*(exists|Not a directory)"), ("x" * 300, "name too long")):
        rows = pa.table({"id": [1, 2], "k": ["new", value]})
        with pytest.raises(OSError, match=f"(?i){text}"):
            orcish.write_dataset(rows, table, partition_by=["k"], existing_data="append")
        assert state_of(table).keys() | {"_orcish/jobs"} == before.keys()
    job = Job(str(table))
    file = staged(job, [7], folder="k=a")
    (table / job.name_of(file)).write_bytes(b"")
    with pytest.raises(FileExistsError):
        job.commit([file])
    (table / job.name_of(file)).unlink()
    assert job.commit([file])
    (table / "k=file").unlink()
    assert ids_of(table) == [0, 7]


def test_a_commit_that_cannot_be_finished_is_undone(tmp_path: Path) -> None:
    """A file in the place of a partition: the commit can neither be finished nor be read, but for its state before."""
    table = table_with(tmp_path / "t", range(3))
    job = Job(str(table))
    added = [staged(job, range(10, 13)), staged(job, [20], folder="k=1")]
    decide(job, added, OLD, published=1)
    (table / "k=1").write_bytes(b"")
    for call in (lambda: orcish.recover(table), lambda: orcish.delete(table, "id = 1")):
        with pytest.raises(CommitError, match=r"not finished.*Remove the cause.*undo=True"):
            call()
    assert orcish.recover(table, undo=True) == "undone"
    (table / "k=1").unlink()
    assert ids_of(table) == [0, 1, 2]
    assert orcish.recover(table) == "nothing"
    assert left_over(table) == []


def victim_of(folder: Path) -> Path:
    """Files elsewhere that nothing may touch."""
    (folder / "jobs").mkdir(parents=True)
    (folder / "jobs" / "thesis").write_bytes(b"precious")
    return folder


LINKS: dict[str, Any] = {
    "jobs": lambda table, victim: (table / "_orcish" / "jobs").symlink_to(victim),
    "log": lambda table, victim: (table / "_orcish" / "log").symlink_to(victim),
    "own": lambda table, victim: (table / "_orcish").symlink_to(victim),
    "clock": lambda table, victim: (table / "_orcish" / "clock").symlink_to(victim / "jobs" / "thesis"),
    "entry": lambda table, victim: (table / "_orcish" / "log" / f"{0:012}.json").symlink_to(victim / "new"),
    "marker": lambda table, victim: (table / "_orcish" / "log" / f"{0:012}.done").symlink_to(victim / "new"),
    "job": lambda table, victim: (table / "_orcish" / "jobs" / "j").symlink_to(victim / "jobs"),
}


@each_case("name", LINKS)
def test_links_below_a_table(tmp_path: Path, name: str) -> None:
    """Who may write into a table can make links there. Nothing behind them is changed, whoever does what."""
    table, victim = table_with(tmp_path / "t", range(2)), victim_of(tmp_path / "victim")
    needs = {"own": [], "jobs": ["_orcish"], "log": ["_orcish"]}.get(name, ["_orcish/log", "_orcish/jobs/other"])
    for folder in needs:
        (table / folder).mkdir(parents=True, exist_ok=True)
    for path in (table / "_orcish").glob("jobs/other"):
        (path / "stale").write_bytes(b"")
    LINKS[name](table, victim)
    before = state_of(victim)
    calls: list[Any] = [
        lambda: ids_of(table),
        lambda: orcish.recover(table),
        lambda: orcish.recover(table, undo=True),
        lambda: orcish.vacuum(table, older_than=timedelta(0)),
        lambda: orcish.write_dataset(pa.table({"id": [9]}), table, existing_data="append"),
        lambda: orcish.write_dataset(pa.table({"id": [9]}), table, existing_data="overwrite"),
        lambda: orcish.compact(table),
        lambda: orcish.delete(table, "id = 0"),
    ]
    for call in calls:
        with contextlib.suppress(OrcishError, OSError, ValueError):
            call()
        assert state_of(victim) == before, name


@each_case("kind", ["removed", "added", "dangling", "staged"])
def test_entries_do_not_reach_through_links(tmp_path: Path, kind: str) -> None:
    table, victim = table_with(tmp_path / "t", range(2)), victim_of(tmp_path / "victim")
    job = Job(str(table))
    thesis = victim / "jobs" / "thesis"
    if kind == "removed":
        (table / "d=1").symlink_to(victim / "jobs")
        decide(job, [], ["d=1/thesis"])
    else:
        file = staged(job, [5])
        path = staged_path(job, file)
        decide(job, [file])
        if kind == "staged":
            path.unlink()
            path.symlink_to(thesis)
        else:
            (table / job.name_of(file)).symlink_to(thesis if kind == "added" else victim / "new" / "file")
    before = state_of(victim)
    for undo in (False, True):
        with contextlib.suppress(OrcishError):
            orcish.recover(table, undo=undo)
        assert state_of(victim) == before
