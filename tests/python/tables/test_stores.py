"""Tables on every kind of store: the same cases, with the same results but where a store cannot do otherwise."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import orcish
import pyarrow as pa
import pytest
from orcish import col
from orcish._native import StagedFile
from orcish.errors import CommitError
from orcish.tables.commit import Job
from orcish.tables.folder import FileInfo, Folder
from support.called_back import CalledBack
from support.staged_commits import staged
from support.store_commits import decide
from support.stores import KINDS, RunningStore, UnavailableError

MIB = 1 << 20
ROWS = pa.table({"id": range(3000), "text": [f"text {at}" for at in range(3000)]})


@pytest.fixture(scope="module", params=KINDS)
def running(request: pytest.FixtureRequest) -> Iterator[RunningStore]:
    """A store of each kind, for all tests of the module."""
    running = KINDS[request.param]()
    try:
        store = running.__enter__()
    except UnavailableError as error:
        pytest.skip(f"{request.param}: {error}")
    try:
        yield store
    finally:
        running.__exit__(None, None, None)


@pytest.fixture
def store(running: RunningStore, monkeypatch: pytest.MonkeyPatch) -> RunningStore:
    """The store, empty."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "AZURE_", "GOOGLE_"))]:
        monkeypatch.delenv(name)
    running.clear()
    return running


def folder_of(store: RunningStore) -> Folder:
    return Folder(store.base, store.options)


def job_of(store: RunningStore) -> Job:
    return Job(f"{store.base}/t", store.options)


def ids_of(store: RunningStore, path: str = "t", **options: Any) -> list[int]:
    table = orcish.read_table(f"{store.base}/{path}", columns=["id"], storage_options=store.options, **options)
    return sorted(table["id"].to_pylist())


def put(store: RunningStore, **files: pa.Table) -> None:
    """Writes files of one folder as other software does."""
    for name, table in files.items():
        sink = pa.BufferOutputStream()
        orcish.write_table(table, sink)
        folder_of(store).write(name, sink.getvalue().to_pybytes())


def table_with(store: RunningStore, ids: range) -> None:
    put(store, **{f"t/old-{at}.orc": pa.table({"id": [at]}) for at in ids})


def change(store: RunningStore) -> tuple[Job, list[StagedFile]]:
    job = job_of(store)
    return job, [staged(job, range(10, 13)), staged(job, range(20, 22), folder="more")]


OLD = ["old-0.orc", "old-1.orc"]
NEW = [2, 10, 11, 12, 20, 21]


def state_of(store: RunningStore) -> tuple[list[FileInfo], list[str]]:
    return folder_of(store).files(), sorted((store.uploads or list)())


def in_threads(count: int, call: Callable[[int], Any]) -> list[Any]:
    """Calls a function at the same time."""
    barrier = threading.Barrier(count)

    def run(at: int) -> Any:
        barrier.wait()
        return call(at)

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_reading(store: RunningStore) -> None:
    names = ["t/day=1/a b%3A ü.orc", "t/day=2/b.orc", "t/day=2/_temporary/c.orc", "t/day=2/.d.orc", "u/day=3/e.orc"]
    put(store, **dict.fromkeys(names, ROWS))
    assert store.objects() == sorted(names)
    url, options = f"{store.base}/{names[0]}", store.options
    assert orcish.read_table(url, storage_options=options).equals(ROWS)
    file = orcish.ORCFile(url, storage_options=options)
    assert file.read(columns=["text"], filters=col("id") == 17).to_pylist() == [{"text": "text 17"}]
    table = orcish.scan(f"{store.base}/t", storage_options=options)
    assert table.files == [f"{store.base}/{name}" for name in names[:2]]
    assert table.where((col("day") == 2) & (col("id") < 3)).select("id", "day").to_table().to_pylist() == [
        {"id": at, "day": 2} for at in range(3)
    ]
    for pattern, count in (("t/day=*/*.orc", 2), ("t/day=[13]", 1), ("*/day=?/*", 3), ("**/b.orc", 1), ("t/**", 2)):
        found = orcish.scan(f"{store.base}/{pattern}", storage_options=options)
        assert found.count() == count * len(ROWS), pattern
    assert [name for name, *_ in folder_of(store).files("t")] == sorted(names[:4])
    for missing in ("t/none.orc", "none", "t/day=9*/"):
        with pytest.raises(FileNotFoundError, match=r"none|day=9"):
            orcish.read_table(f"{store.base}/{missing}", storage_options=options)


def test_files_appear_whole(store: RunningStore) -> None:
    noise = pa.table({"noise": np.random.default_rng(1).integers(0, 2**63, 12 * MIB // 8)})
    url, options = f"{store.base}/a.orc", {**store.options, "orcish.part_size": 5 * MIB}
    writing: dict[str, Any] = {
        "storage_options": options,
        "existing_data": "overwrite",
        "compression": "none",
        "stripe_size": 2 * MIB,
    }
    put(store, **{"a.orc": ROWS})
    writer = orcish.ORCWriter(url, noise.schema, **writing)
    writer.write(noise)
    assert orcish.read_table(url, storage_options=options).equals(ROWS)
    writer.abort()
    assert orcish.read_table(url, storage_options=options).equals(ROWS)
    assert store.objects() == ["a.orc"]
    # Parts of Azure cannot be removed. They are of no file any more once another file of the name is written.
    assert store.left_over() == []
    for _ in range(2):
        orcish.write_table(noise, url, **writing)
        assert orcish.read_table(url, storage_options=options).equals(noise)
    orcish.write_table(ROWS, url, existing_data="overwrite", storage_options=options)
    assert orcish.read_table(url, storage_options=options).equals(ROWS)
    assert store.objects() == ["a.orc"]
    assert store.left_over() == []


def test_a_name_is_created_once(store: RunningStore) -> None:
    folder = folder_of(store)

    def create(at: int) -> bool:
        try:
            folder.write("log/7.json", b"%d" % at * 1000)
        except FileExistsError:
            return False
        return True

    for _ in range(5):
        created = in_threads(8, create)
        assert sum(created) == 1
        assert folder.read("log/7.json") == b"%d" % created.index(True) * 1000
        assert store.objects() == ["log/7.json"]
        folder.write("log/7.json", b"other", existing_data="overwrite")
        assert folder.read("log/7.json") == b"other"
        folder.delete(["log/7.json", "log/8.json"])
        assert folder.stat("log/7.json") is None


def test_staged_files(store: RunningStore) -> None:
    folder, schema = folder_of(store), pa.schema([("id", pa.int64())])

    def stage(rows: int, name: str = "t/k=1/a.orc") -> bytes:
        place = {"publish": False, "staging": f"t/_orcish/jobs/j/{Path(name).stem}"}
        with folder.writer(name, schema, existing_data="overwrite", **place) as writer:
            writer.write(pa.table({"id": pa.array(range(rows), pa.int64())}))
        assert writer.token is not None
        return writer.token

    token = stage(5)
    assert folder.stat("t/k=1/a.orc") is None
    assert len(store.left_over()) == 1
    for _ in range(3):
        folder.complete("t/k=1/a.orc", token)
        assert ids_of(store, "t/k=1/a.orc") == list(range(5))
    folder.abort("t/k=1/a.orc", token)
    assert ids_of(store, "t/k=1/a.orc") == list(range(5)), "a published file stays"
    assert store.left_over() == []
    # Another file of the name is not taken for it.
    other = stage(600)
    folder.complete("t/k=1/a.orc", other)
    with pytest.raises(FileNotFoundError, match=r"t/k=1/a\.orc: cannot be published"):
        folder.complete("t/k=1/a.orc", token)
    with pytest.raises(ValueError, match="was written for"):
        folder.complete("t/k=1/b.orc", token)
    # Two of one name.
    tokens = [stage(3, "t/two.orc"), stage(400, "t/two.orc")]
    folder.complete("t/two.orc", tokens[0])
    if store.has_separate_uploads:
        folder.complete("t/two.orc", tokens[1])
        assert ids_of(store, "t/two.orc") == list(range(400))
    else:
        with pytest.raises(FileNotFoundError, match=r"t/two\.orc: cannot be published"):
            folder.complete("t/two.orc", tokens[1])
        assert ids_of(store, "t/two.orc") == list(range(3))
    assert store.left_over() == []
    folder.delete(["t/two.orc"])
    given_up = stage(7, "t/b.orc")
    for _ in range(2):
        folder.abort("t/b.orc", given_up)
    assert store.objects() == ["t/k=1/a.orc"]
    if store.can_discard:
        assert store.left_over() == []
        with pytest.raises(FileNotFoundError, match=r"t/b\.orc: cannot be published"):
            folder.complete("t/b.orc", given_up)
    else:
        assert store.left_over() == ["t/b.orc"]
    gone = stage(9, "t/c.orc")
    store.lose("t/c.orc")
    with pytest.raises(FileNotFoundError, match=r"t/c\.orc: cannot be published"):
        folder.complete("t/c.orc", gone)
    assert folder.stat("t/c.orc") is None


def test_appends_at_a_time(store: RunningStore) -> None:
    put(store, **{f"t/k=0/{at}.orc": pa.table({"id": [at]}) for at in range(2)})

    def append(at: int) -> None:
        for number in range(3):
            job = job_of(store)
            assert job.commit([staged(job, [100 + at * 3 + number], folder=f"k={at % 2}")])

    in_threads(4, append)
    assert ids_of(store) == [0, 1, *range(100, 112)]
    assert store.left_over() == []


def test_an_overwrite_beside_appends(store: RunningStore) -> None:
    """Rows are those of the commits in the order of the log, for readers meanwhile, too."""
    table_with(store, range(3))
    done = threading.Event()

    def act(at: int) -> list[list[int]]:
        if at == 2:
            seen = []
            while not done.is_set():
                # A file that is removed between its listing and its read is an error of the read.
                with contextlib.suppress(OSError):
                    seen.append(ids_of(store))
            return seen
        try:
            job = job_of(store)
            files = [staged(job, [100, 101]), staged(job, [102, 103])] if at == 0 else [staged(job, [7])]
            job.commit(files, "append" if at == 0 else "overwrite", everything=at == 1)
        finally:
            if at == 1:
                done.set()
        return []

    appended = [100, 101, 102, 103]
    allowed = ([0, 1, 2], [0, 1, 2, *appended], [7], [7, *appended])
    for rows in in_threads(3, act)[2]:
        assert rows in allowed
    assert ids_of(store) in ([7], [7, *appended])
    assert store.left_over() == []


def test_two_remove_the_same_files(store: RunningStore) -> None:
    table_with(store, range(4))
    existing = job_of(store).files()

    def compact(at: int) -> str:
        job = job_of(store)
        files = [staged(job, range(4))]
        try:
            job.commit(files, "compact", existing=existing)
        except CommitError as error:
            job.abort(files)
            return str(error)
        return "done"

    lost, won = sorted(in_threads(2, compact), key=lambda outcome: outcome == "done")
    assert won == "done"
    assert "changed or removed by another job" in lost
    assert ids_of(store) == [0, 1, 2, 3]
    assert len(store.left_over()) == (0 if store.can_discard else 1)


READERS: dict[str, Callable[..., list[int]]] = {
    "folder": ids_of,
    "pattern": lambda store, **more: ids_of(store, "t/**", **more),
    "scan": lambda store, **more: sorted(
        orcish.scan(f"{store.base}/t", storage_options=store.options, **more).to_table()["id"].to_pylist()
    ),
}


@pytest.mark.parametrize("way", READERS)
def test_readers_write_nothing(store: RunningStore, way: str) -> None:
    """A commit that is decided, whose process has died: readers see all of it or nothing, and change nothing."""
    read = READERS[way]
    for published, wanted in ((0, [0, 1, 2]), (1, [0, 1, 2]), (2, NEW)):
        store.clear()
        table_with(store, range(3))
        job, added = change(store)
        decide(job, added, OLD, published=published)
        before = state_of(store)
        assert read(store, pending="before") == wanted
        if published == 2:
            assert read(store) == wanted
        assert state_of(store) == before
        assert orcish.recover(f"{store.base}/t", storage_options=store.options) == "finished"
        assert read(store) == NEW
        assert orcish.recover(f"{store.base}/t", storage_options=store.options) == "nothing"
        assert store.left_over() == []


def test_readers_wait(store: RunningStore) -> None:
    table_with(store, range(3))
    job, added = change(store)
    decide(job, added, OLD, published=1)
    timer = threading.Timer(0.5, lambda: orcish.recover(f"{store.base}/t", storage_options=store.options))
    timer.start()
    assert ids_of(store) == NEW
    timer.join()


def test_the_next_writer_finishes_a_commit(store: RunningStore) -> None:
    table_with(store, range(3))
    job, added = change(store)
    decide(job, added, OLD, published=1)
    other = job_of(store)
    assert other.commit([staged(other, [30])])
    assert ids_of(store) == [*NEW, 30]
    assert store.left_over() == []


@pytest.mark.parametrize(("published", "lost"), [(0, 0), (0, 1), (1, 1)])
def test_files_that_are_lost(store: RunningStore, published: int, lost: int) -> None:
    """A commit is undone if its files are gone. Nobody publishes the others of its files after that."""
    table_with(store, range(3))
    job, added = change(store)
    decide(job, added, OLD, published=published)
    store.lose(f"t/{job.name_of(added[lost])}")
    url = f"{store.base}/t"
    with pytest.raises(CommitError, match=r"commit 0 .* decided and not finished.*undo"):
        orcish.recover(url, storage_options=store.options)
    assert ids_of(store, pending="before") == [0, 1, 2]
    assert orcish.recover(url, undo=True, storage_options=store.options) == "undone"
    assert ids_of(store) == [0, 1, 2]
    assert store.left_over() == []
    # A process that was suspended while it published the files goes on.
    for file in added:
        with pytest.raises(FileNotFoundError, match="cannot be published"):
            job.folder().complete(job.name_of(file), file.token)
    assert ids_of(store) == [0, 1, 2]
    other = job_of(store)
    assert other.commit([staged(other, [30])])
    assert ids_of(store) == [0, 1, 2, 30]
    # What can be finished is not undone.
    job, added = change(store)
    decide(job, added, OLD, published=1, number=2, previous=other.id)
    assert orcish.recover(url, undo=True, storage_options=store.options) == "finished"
    assert ids_of(store) == [*NEW, 30]


def test_streams(store: RunningStore) -> None:
    def batch(number: int, row: int) -> bool:
        job = job_of(store)
        return job.commit([staged(job, [row])], stream=("q", number))

    assert [batch(number, row) for number, row in ((0, 0), (0, 99), (1, 1), (0, 99), (1, 99), (2, 2))] == [
        True, False, True, False, False, True,
    ]  # fmt: skip
    assert ids_of(store) == [0, 1, 2]
    assert len(store.left_over()) == (0 if store.can_discard else 3)


def test_vacuum(store: RunningStore) -> None:
    """Files of dead jobs are removed. Uploads are left to the rules of the store."""
    table_with(store, range(2))
    dead = job_of(store)
    staged(dead, range(5))
    job, added = change(store)
    decide(job, added)
    before = len(store.left_over())
    url = f"{store.base}/t"
    assert orcish.vacuum(url, storage_options=store.options) == 0
    assert len(store.left_over()) == before == 3
    removed = 1 if store.uploads is None else 0
    assert orcish.vacuum(url, older_than=timedelta(0), storage_options=store.options) == removed
    assert len(store.left_over()) == 3 - removed
    assert orcish.recover(url, storage_options=store.options) == "finished"
    assert ids_of(store) == [0, 1, 10, 11, 12, 20, 21]
    assert len(store.left_over()) == 1 - removed


def test_tables_below_tables(store: RunningStore) -> None:
    """One look into each folder above, up to the bucket, finds a table whose readers would see the rows."""
    options = store.options
    for name in ("t", "t", "t2", "a/b/c"):
        orcish.write_dataset(ROWS, f"{store.base}/{name}", existing_data="append", storage_options=options)
    for name in ("t/below", "t/v[1]", "t/k=1/x", "a/b/c/d/e"):
        with pytest.raises(ValueError, match=r"is below the table .*/(t|a/b/c), whose readers"):
            orcish.write_dataset(ROWS, f"{store.base}/{name}", storage_options=options)
    assert orcish.scan(f"{store.base}/t", storage_options=options).count() == 2 * ROWS.num_rows


def test_datasets(store: RunningStore) -> None:
    url, options = f"{store.base}/t", store.options
    data = pa.table({"id": range(100), "k": [at % 3 for at in range(100)]})
    orcish.write_dataset(data, url, partition_by=["k"], storage_options=options)
    assert ids_of(store) == list(range(100))
    orcish.write_dataset(data, url, partition_by=["k"], existing_data="overwrite", storage_options=options)
    assert ids_of(store) == list(range(100))
    with pytest.raises(FileExistsError):
        orcish.write_dataset(data, url, partition_by=["k"], storage_options=options)
    assert orcish.scan(url, storage_options=options).where(col("k") == 1).count() == 33
    assert store.left_over() == []
    folder_of(store).delete_folder("t")
    assert store.objects() == []


@pytest.mark.parametrize("function", ["ORCWriter", "merge"])
def test_files_that_replace_none(function: str, store: RunningStore) -> None:
    """By default, a file that is there stays, and so does one that appears meanwhile."""
    options: dict[str, Any] = {"storage_options": store.options}
    url, rows = f"{store.base}/new.orc", ROWS.select(["id"])
    sink = pa.BufferOutputStream()
    orcish.write_table(rows, sink)
    stored = sink.getvalue().to_pybytes()

    def write(meanwhile: Callable[[], object]) -> None:
        if function == "merge":
            orcish.merge([CalledBack(stored, meanwhile)], url, **options)
            return
        with orcish.ORCWriter(url, rows.schema, **options) as writer:
            writer.write(rows)
            meanwhile()

    write(lambda: None)
    assert ids_of(store, "new.orc") == list(range(3000))
    with pytest.raises(
        FileExistsError, match=r"new\.orc: cannot be written: the target is there already: existing_data='overwrite'"
    ):
        write(lambda: None)
    folder_of(store).delete(["new.orc"])
    with pytest.raises(
        FileExistsError, match=r"new\.orc: cannot be written: another process has written the target meanwhile"
    ):
        write(lambda: put(store, **{"new.orc": rows.slice(5, 1)}) if "new.orc" not in store.objects() else None)
    assert ids_of(store, "new.orc") == [5]
    assert store.objects() == ["new.orc"]
    if store.can_discard:
        assert store.left_over() == []
