"""What is done with files and folders as wholes: on this machine, in HDFS and in S3, as moto's server has it."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orcish
import pyarrow as pa
import pytest
from orcish import _native
from orcish.tables.folder import FileInfo, Folder, upload_info
from support.case_loops import each_case
from support.hdfs_store import Hdfs
from support.http_server import seconds_to_interrupt, serve
from support.processes import run_python
from support.s3_store import BUCKET, Store

MIB = 1 << 20
TABLE = pa.table({"id": range(1000), "s": [f"text {i}" for i in range(1000)]})


@pytest.fixture(params=["local", "url", "s3", "hdfs"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    """A folder that is not there."""
    if request.param == "s3":
        store: Store = request.getfixturevalue("store")
        return Folder(f"s3://{BUCKET}/base/ä b%3A", store.options)
    if request.param == "hdfs":
        hdfs: Hdfs = request.getfixturevalue("hdfs")
        return Folder(f"{hdfs.url}/base/ä b%3A", hdfs.options)
    path = tmp_path / "base" / "ä b%3A"
    return Folder(path.as_uri() if request.param == "url" else f"{path}/")


def in_s3(store: Store, **options: Any) -> Folder:
    return Folder(f"s3a://{BUCKET}/t", {**store.options, **options})


def names(folder: Folder, name: str = "") -> list[str]:
    return [file.name for file in folder.files(name)]


def write(folder: Folder, name: str, table: pa.Table = TABLE, **options: Any) -> bytes:
    """Writes a file that is not published."""
    with folder.writer(name, table.schema, publish=False, existing_data="overwrite", **options) as writer:
        writer.write(table)
        assert writer.token is None
    assert writer.token is not None
    return writer.token


def test_small_files(folder: Folder) -> None:
    with pytest.raises(FileNotFoundError, match=r"ä b%3A/a/_b\.json"):
        folder.read("a/_b.json")
    assert folder.stat("a/_b.json") is None
    folder.write("a/_b.json", b"one")
    assert folder.read("a/_b.json") == b"one"
    with pytest.raises(FileExistsError, match=r"ä b%3A/a/_b\.json"):
        folder.write("a/_b.json", b"two")
    assert folder.read("a/_b.json") == b"one"
    for data in (b"three", b"", bytes(MIB)):
        folder.write("a/_b.json", data, existing_data="overwrite")
        assert folder.read("a/_b.json") == data
        with pytest.raises(FileExistsError):
            folder.write("a/_b.json", data)
    assert folder.read("a/_b.json", limit=MIB) == bytes(MIB)
    with pytest.raises(orcish.LimitExceededError, match=r"a/_b\.json: the file has 1048576 bytes"):
        folder.read("a/_b.json", limit=MIB - 1)
    found = folder.stat("a/_b.json")
    assert found is not None
    assert found[:2] == ("a/_b.json", MIB)
    assert abs(found.modified - time.time()) < 60
    assert [file[:2] for file in folder.files()] == [found[:2]]
    assert folder.stat("a") is None


def test_one_of_several_writers_wins(folder: Folder) -> None:
    for round_ in range(5):
        start, results = threading.Barrier(6), []

        def write(data: bytes, name: str = f"log/{round_}", start: Any = start, results: Any = results) -> None:
            start.wait()
            try:
                folder.write(name, data)
                results.append(data)
            except FileExistsError:
                results.append(None)

        threads = [threading.Thread(target=write, args=[b"%d" % writer * 1000]) for writer in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        winners = [data for data in results if data is not None]
        assert (len(results), len(winners)) == (6, 1)
        assert folder.read(f"log/{round_}") == winners[0]
    assert names(folder) == [f"log/{round_}" for round_ in range(5)]


def test_lists_and_deletions(folder: Folder) -> None:
    assert folder.files() == []
    every = [".crc", "_t/.x/_y", "dt=1/a.orc", "dt=1/b.orc.1.tmp", "dt=10/c.orc", "z"]
    for i, name in enumerate(every):
        folder.write(name, bytes(i))
    beside = Folder(folder.base + "2", folder.storage_options)
    beside.write("kept", b"")
    assert [(file.name, file.size) for file in folder.files()] == [(name, i) for i, name in enumerate(every)]
    assert names(folder, "dt=1") == every[2:4]
    assert [at for at, _, _ in _native.list_all(folder.base, folder._options)] == [folder.location(n) for n in every]
    assert names(folder.below("dt=1")) == ["a.orc", "b.orc.1.tmp"]
    assert folder.files("none") == folder.files("z") == []
    for name, is_there in {"": True, "_t": True, "dt=1": True, "dt": False, "none": False, "z": False}.items():
        assert _native.has_folder(folder.location(name), folder._options) == is_there, name
    folder.delete(["z", "none", "z/below", "dt=1/a.orc"])
    folder.delete(["z"])
    folder.delete([])
    assert names(folder) == [".crc", "_t/.x/_y", "dt=1/b.orc.1.tmp", "dt=10/c.orc"]
    for _ in range(2):
        folder.delete_folder("dt=1")
        assert names(folder) == [".crc", "_t/.x/_y", "dt=10/c.orc"]
    folder.delete_folder("")
    folder.delete_folder("")
    assert (folder.files(), names(beside)) == ([], ["kept"])
    assert "://" in folder.base or not Path(folder.base).exists()


def test_many_files(folder: Folder) -> None:
    every = [f"{i % 7}/{i:04}" for i in range({"hdfs": 20, "s3": 120}.get(folder.base.partition("://")[0], 1100))]
    for name in every:
        folder.write(name, b"x", existing_data="overwrite")
    assert names(folder) == sorted(every)
    folder.delete(every[:-5] + every[:3])
    assert names(folder) == sorted(every[-5:])


def test_files_are_not_there_before_they_are_published(folder: Folder) -> None:
    token = write(folder, "t/dt=1/a.orc", staging="_staging/1")
    info = upload_info(token)
    assert (info.location, info.rows, info.stripes) == (folder.location("t/dt=1/a.orc"), 1000, 1)
    assert names(folder, "t") == []
    assert folder.stat("t/dt=1/a.orc") is None
    code = """
        import pickle, sys
        folder, token = pickle.loads(bytes.fromhex(sys.argv[1]))
        folder.complete("t/dt=1/a.orc", token)
    """
    for _ in range(2):
        run_python(code, pickle.dumps((folder, token)).hex())
        found = folder.files()
        assert [(file.name, file.size) for file in found] == [("t/dt=1/a.orc", info.bytes)]
        folder.complete("t/dt=1/a.orc", token)
    table = orcish.read_table(folder.location("t/dt=1/a.orc"), storage_options=folder.storage_options)
    assert table.equals(TABLE)
    folder.abort("t/dt=1/a.orc", token)
    assert names(folder) == ["t/dt=1/a.orc"]
    folder.delete(["t/dt=1/a.orc"])
    with pytest.raises(OSError, match=r"a\.orc: cannot be published"):
        folder.complete("t/dt=1/a.orc", token)
    assert folder.files() == []


def test_files_that_are_given_up(folder: Folder) -> None:
    token = write(folder, "a.orc", staging="_staging")
    for _ in range(2):
        folder.abort("a.orc", token)
        assert folder.files() == []
    with pytest.raises(OSError, match=r"a\.orc: cannot be published"):
        folder.complete("a.orc", token)
    writer = folder.writer("a.orc", TABLE.schema, publish=False, staging="_staging")
    with contextlib.suppress(LookupError), writer:
        writer.write(TABLE)
        raise LookupError
    assert (writer.token, folder.files()) == (None, [])


def test_tokens_of_others(folder: Folder) -> None:
    token = write(folder, "a.orc", staging="_staging")
    for call in (folder.complete, folder.abort):
        with pytest.raises(ValueError, match=r"b\.orc: the file was written for .*a\.orc"):
            call("b.orc", token)
        with pytest.raises(ValueError, match="no token"):
            call("a.orc", b"anything")
    folder.complete("a.orc", token)
    with pytest.raises(ValueError, match="no token"):
        upload_info(b"")


def test_published_files_have_no_token(folder: Folder) -> None:
    folder.write("x", b"")
    with folder.writer("a.orc", TABLE.schema) as writer:
        writer.write(TABLE)
    assert writer.token is None
    assert names(folder) == ["a.orc", "x"]
    with pytest.raises(ValueError, match="publish=False"):
        _native.Writer(folder.location("b.orc"), TABLE.schema.__arrow_c_schema__(), staging="/tmp")
    with pytest.raises(ValueError, match="publish=False"), open(os.devnull, "wb") as file:
        orcish.ORCWriter(file, TABLE.schema, publish=False)


def test_names_stay_below(folder: Folder) -> None:
    for name in ("/a", "../a", "a/../../b", "a//b", "a/", ".", "./a"):
        for call in (folder.read, folder.stat, folder.files, folder.delete_folder, folder.below):
            with pytest.raises(ValueError, match="no name"):
                call(name)
        with pytest.raises(ValueError, match="no name"):
            folder.delete([name])
    with pytest.raises(TypeError, match="list"):
        folder.delete("a")


def test_folders_are_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Folder("t", {"aws_secret_access_key": "hush"})
    assert folder.base == f"{tmp_path}/t"
    assert pickle.loads(pickle.dumps(folder)) == folder == Folder(f"{tmp_path}/t//", {"aws_secret_access_key": "hush"})
    assert hash(folder) == hash(Folder(folder.base))
    assert "hush" not in repr(folder)
    assert Folder("/").location("a") == "/a"
    for base in ("", "s3://"):
        with pytest.raises(ValueError, match="no folder"):
            Folder(base)


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_links(tmp_path: Path) -> None:
    """Nothing beyond a link is deleted."""
    folder, kept = Folder(str(tmp_path / "t")), tmp_path / "kept"
    kept.mkdir()
    (kept / "a").write_text("a")
    folder.write("sub/b", b"")
    for name, target in (("sub/up", ".."), ("sub/kept", kept), ("file", kept / "a"), ("gone", "nothing")):
        (tmp_path / "t" / name).symlink_to(target)
    assert names(folder) == ["file", "sub/b"]
    folder.delete(["file"])
    (tmp_path / "other").symlink_to("t")
    _native.delete_folder(str(tmp_path / "other"))
    assert names(folder) == ["sub/b"]
    folder.delete_folder("")
    assert sorted(os.listdir(tmp_path)) == ["kept"]
    assert (kept / "a").read_text() == "a"
    with pytest.raises(NotADirectoryError, match="kept/a"):
        _native.delete_folder(str(kept / "a"))
    for root in ("/", "file:///"):
        with pytest.raises(ValueError, match="no folder"):
            _native.delete_folder(root)


def test_local_files_that_wait(tmp_path: Path) -> None:
    """Staged files have a hidden name in their own folder, or are in another folder."""
    folder = Folder(str(tmp_path))
    token = write(folder, "a.orc")
    waiting = names(folder)
    assert len(waiting) == 1
    assert waiting[0].startswith(".a.orc.")
    # As always, what was there keeps who may read it.
    (tmp_path / "a.orc").write_text("before")
    (tmp_path / "a.orc").chmod(0o640)
    folder.complete("a.orc", token)
    assert (tmp_path / "a.orc").stat().st_mode & 0o777 == 0o640
    assert orcish.read_table(tmp_path / "a.orc").equals(TABLE)
    with pytest.raises(FileNotFoundError):
        write(folder, "missing/a.orc")
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write(folder, "folder", staging="_staging")


def test_large_files_in_parts(store: Store) -> None:
    table = pa.table({"noise": np.random.default_rng(1).integers(0, 2**63, 20 * MIB // 8)})
    folder = in_s3(store, **{"orcish.part_size": 6 * MIB})
    for verify in (False, True):
        token = write(folder, "a.orc", table, compression="none", stripe_size=2 * MIB, verify=verify)
        sizes = [size for _, path, size in store.between.log if "partNumber" in path]
        assert store.asked() == ["POST uploads", *["PUT partNumber"] * 4]
        # Some stores want parts of one size.
        assert sorted(sizes)[1:] == [6 * MIB] * 3
        assert sum(sizes) == upload_info(token).bytes
        assert (store.objects(), len(store.uploads())) == ([], 1)
        folder.complete("a.orc", token)
        assert store.asked() == ["POST uploadId"]
        assert (store.objects(), store.uploads()) == (["t/a.orc"], [])
        assert orcish.read_table(folder.location("a.orc"), storage_options=folder.storage_options).equals(table)
        folder.delete(["a.orc"])
        store.between.log.clear()
    # What is small goes in one part.
    token = write(folder, "a.orc")
    assert store.asked() == ["POST uploads", "PUT partNumber"]
    assert len(token) < 500
    folder.abort("a.orc", token)
    assert store.uploads() == []


@pytest.mark.filterwarnings("ignore:.*was not closed:ResourceWarning")
@pytest.mark.parametrize("rows", [1000, 20 * MIB // 8])
def test_writers_that_fail_leave_no_parts(store: Store, rows: int) -> None:
    table = pa.table({"noise": np.random.default_rng(1).integers(0, 2**63, rows)})
    folder = in_s3(store)
    options: dict[str, Any] = {"compression": "none", "stripe_size": 2 * MIB}
    rules: list[Callable[[str, str], bool]] = [
        lambda method, path: method == "POST" and "uploads" in path,
        lambda method, path: "partNumber=1&" in path,
    ]
    for rule in rules:
        store.between.fails = rule
        with pytest.raises(OSError, match=r"s3a://shelf/t/a\.orc: cannot be written") as raised:
            write(folder, "a.orc", table, **options)
        assert "hush" not in str(raised.value)
        store.between.fails = lambda method, path: False
        assert (store.objects(), store.uploads()) == ([], [])
    writer = folder.writer("a.orc", table.schema, publish=False, existing_data="overwrite", **options)
    writer.write(table)
    writer.abort()
    writer = folder.writer("a.orc", table.schema, publish=False, existing_data="overwrite", **options)
    writer.write(table)
    del writer
    assert (store.objects(), store.uploads()) == ([], [])


def test_answers_that_are_lost(store: Store) -> None:
    """A retry of a request that was carried out succeeds."""
    for retries in (0, 3):
        folder = in_s3(store, **{"orcish.max_retries": retries})
        left: list[int] = []

        def once(method: str, path: str, left: list[int] = left) -> bool:
            return method in ("PUT", "POST") and "uploads" not in path and bool(left) and left.pop() > 0

        store.between.loses = once
        left.append(1)
        folder.write("once", b"ours")
        assert (folder.read("once"), left) == (b"ours", [])
        # Not even if it has the same bytes; without another request nobody knows what the lost answer was.
        left.append(1)
        with pytest.raises(FileExistsError if retries else OSError, match="cannot be written"):
            folder.write("once", b"ours")
        token = write(folder, "a.orc")
        left.append(1)
        folder.complete("a.orc", token)
        assert (names(folder), left, store.uploads()) == (["a.orc", "once"], [], [])
        folder.delete(["a.orc", "once"])


def test_uploads_are_known_by_more_than_their_size(store: Store) -> None:
    folder = in_s3(store)
    tokens = [write(folder, "a.orc"), write(folder, "a.orc")]
    assert upload_info(tokens[0]) == upload_info(tokens[1])
    for token in tokens:
        folder.complete("a.orc", token)
    folder.complete("a.orc", tokens[1])
    with pytest.raises(OSError, match=r"s3a://shelf/t/a\.orc: cannot be published"):
        folder.complete("a.orc", tokens[0])


def test_stores_without_conditions(store: Store) -> None:
    folder = in_s3(store, aws_conditional_put="disabled")
    with pytest.raises(orcish.UnsupportedError, match="s3a://shelf/t/a: cannot be written: the store cannot"):
        folder.write("a", b"one")
    folder.write("a", b"one", existing_data="overwrite")


def test_one_request_at_a_time(store: Store) -> None:
    folder = in_s3(store, **{"orcish.concurrency": 1})
    for i in range(5):
        folder.write(f"a/{i}", b"one")
    folder.write("a/5", b"one", existing_data="overwrite")
    folder.write("b", b"one")
    folder.complete("c.orc", write(folder, "c.orc"))
    folder.delete_folder("a")
    assert names(folder) == ["b", "c.orc"]


def test_objects_that_stand_for_folders(store: Store) -> None:
    for key in ("t/", "t/sub/", "t/sub/a", "t2"):
        store.client.put_object(Bucket=BUCKET, Key=key, Body=b"")
    folder = in_s3(store)
    folder.below("sub").write("empty", b"")
    assert names(folder) == ["sub/a", "sub/empty"]
    folder.delete_folder("")
    # Their names cannot be said to a store here, and they are no files.
    assert store.objects() == ["t/", "t/sub/", "t2"]


def test_whole_buckets_are_not_deleted(store: Store) -> None:
    Folder(f"s3://{BUCKET}", store.options).write("a", b"")
    for url in (f"s3://{BUCKET}", f"s3://{BUCKET}/"):
        with pytest.raises(ValueError, match="names no file"):
            _native.delete_folder(url, store.options)
        assert [at for at, _, _ in _native.list_all(url, store.options)] == [f"s3://{BUCKET}/a"]


def test_what_is_not_there(store: Store) -> None:
    folder = Folder("s3://nowhere/t", store.options)
    for call in (
        lambda: folder.read("a"),
        lambda: folder.write("a", b""),
        lambda: folder.files(),
        lambda: write(folder, "a"),
    ):
        with pytest.raises(FileNotFoundError, match="s3://nowhere/") as raised:
            call()
        assert "hush" not in str(raised.value)
    unreachable = Folder("s3://shelf/t", {**store.options, "aws_endpoint": "http://127.0.0.1:1"})
    for call in (
        lambda: unreachable.stat("a"),
        lambda: unreachable.write("a", b""),
        lambda: unreachable.delete(["a", "b"]),
        lambda: unreachable.delete_folder("a"),
    ):
        with pytest.raises(OSError, match="s3://shelf/") as raised:
            call()
        assert "hush" not in str(raised.value)


def test_http_servers_are_read() -> None:
    with serve({"/t/a": b"one"}) as server:
        folder = Folder(f"{server.url}/t")
        assert folder.read("a") == b"one"
        found = folder.stat("a")
        assert found == FileInfo("a", 3, found.modified if found else 0)
        assert folder.stat("b") is None
        with pytest.raises(FileNotFoundError):
            folder.read("b")
        for call in (
            lambda: folder.write("a", b""),
            lambda: folder.delete(["a"]),
            lambda: folder.delete_folder("a"),
            lambda: write(folder, "a"),
        ):
            with pytest.raises(orcish.UnsupportedError, match="HTTP"):
                call()


@each_case("call", ["read('a')", "stat('a')", "files()", "delete_folder('a')"])
def test_ctrl_c(call: str) -> None:
    """SIGINT arrives while the store delays its response."""
    with serve({}) as server:
        options = {
            "aws_endpoint": server.url,
            "aws_access_key_id": "tester",
            "aws_secret_access_key": "hush",
            "aws_region": "us-east-1",
            "aws_allow_http": True,
        }
        setup = "import json; from orcish.tables.folder import Folder; folder = Folder('s3://shelf/t', json.loads(sys.argv[1]))"
        assert seconds_to_interrupt(server, [json.dumps(options)], setup, f"folder.{call}", hold=30) < 5


@pytest.mark.parametrize("publish", [True, False])
def test_interrupted_uploads_leave_no_parts(store: Store, publish: bool) -> None:
    """SIGINT arrives while the store delays the upload of parts."""
    end = threading.Event()
    store.between.fails = lambda method, path: "partNumber" in path and end.wait(30)
    try:
        out = run_python(
            """
            import os, pickle, signal, sys, threading, time, numpy as np, pyarrow as pa
            folder, publish = pickle.loads(bytes.fromhex(sys.argv[1]))
            table = pa.table({"noise": np.random.default_rng(1).integers(0, 2**63, 20 * (1 << 20) // 8)})
            writer = folder.writer("a.orc", table.schema, publish=publish, compression="none", stripe_size=2 << 20)
            threading.Timer(2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            start = time.monotonic()
            try:
                with writer:
                    writer.write(table)
            except KeyboardInterrupt:
                print(time.monotonic() - start < 10, writer.token)
            """,
            pickle.dumps((in_s3(store), publish)).hex(),
        )
        assert out == "True None\n"
        assert (store.objects(), store.uploads()) == ([], [])
    finally:
        end.set()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_fork(folder: Folder) -> None:
    """A forked child opens its own connections, and completes uploads of its parent."""
    out = run_python(
        """
        import os, pickle, sys, warnings, pyarrow as pa
        warnings.simplefilter("ignore")
        folder = pickle.loads(bytes.fromhex(sys.argv[1]))
        table = pa.table({"a": range(10)})
        folder.write("parent", b"one")
        writers = [folder.writer(f"{i}.orc", table.schema, publish=False) for i in range(2)]
        for writer in writers:
            writer.write(table)
        writers[0].close()
        child = os.fork()
        if child == 0:
            folder.complete("0.orc", writers[0].token)
            folder.write("child", b"two")
            try:
                folder.write("parent", b"three")
            except FileExistsError:
                del writers, writer
                os._exit(0)
            os._exit(1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        writers[1].close()
        folder.complete("1.orc", writers[1].token)
        print([file.name for file in folder.files()])
        """,
        pickle.dumps(folder).hex(),
    )
    assert out.splitlines() == ["0", "['0.orc', '1.orc', 'child', 'parent']"]


def test_other_threads_go_on() -> None:
    """Requests to a store release the interpreter lock."""
    with serve({"/t/a": b"one"}) as server:
        server.rules.append(lambda handler, _: time.sleep(0.5))
        ticks: list[int] = []
        end = threading.Event()

        def tick() -> None:
            while not end.wait(0.01):
                ticks.append(1)

        thread = threading.Thread(target=tick)
        thread.start()
        assert Folder(f"{server.url}/t").read("a") == b"one"
        end.set()
        thread.join()
        assert len(ticks) > 10
