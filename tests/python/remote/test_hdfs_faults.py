"""HDFS behind a network that loses requests and answers."""

from __future__ import annotations

import socket
import struct

import orcish
import pyarrow as pa
import pytest
from orcish.errors import CommitError
from orcish.tables.commit import Job
from orcish.tables.folder import Folder
from support.hdfs_store import Hdfs, losing
from support.staged_commits import decide, staged
from support.waiting import wait_until

TABLE = pa.table({"id": range(1000)})
OPTIONS = {"orcish.max_retries": "0"}


@pytest.mark.parametrize("is_sent", [True, False])
@pytest.mark.parametrize("method", ["create", "addBlock", "complete", "rename2"])
def test_written_files(hdfs: Hdfs, method: str, is_sent: bool) -> None:
    """A write whose rename is done succeeds, although nobody has said so. Any other fails, and leaves nothing."""
    before = TABLE.slice(0, 1)
    for is_there in (False, True):
        if is_there:
            orcish.write_table(before, f"{hdfs.url}/t/a.orc", storage_options=OPTIONS, existing_data="overwrite")
        with losing(hdfs, method, is_sent=is_sent) as url:
            if method == "rename2" and is_sent:
                orcish.write_table(TABLE, f"{url}/t/a.orc", storage_options=OPTIONS, existing_data="overwrite")
                assert orcish.read_table(hdfs.get("/t/a.orc")).equals(TABLE)
                assert hdfs.files("/") == ["t/a.orc"]
                continue
            with pytest.raises(OSError, match=f"{url}/t/a.orc: cannot be written"):
                orcish.write_table(TABLE, f"{url}/t/a.orc", storage_options=OPTIONS, existing_data="overwrite")
        assert hdfs.files("/") == (["t/a.orc"] if is_there else [])
        assert not is_there or orcish.read_table(hdfs.get("/t/a.orc")).equals(before)


def test_exclusive_creation(hdfs: Hdfs) -> None:
    for is_sent in (True, False):
        with losing(hdfs, "rename2", is_sent=is_sent) as url:
            folder = Folder(f"{url}/log", OPTIONS)
            name = f"{is_sent}"
            if is_sent:
                folder.write(name, b"one")
            else:
                with pytest.raises(OSError, match="cannot be written"):
                    folder.write(name, b"one")
                folder.write(name, b"one")
            with pytest.raises(FileExistsError):
                folder.write(name, b"two")
            assert folder.read(name) == b"one"
    assert hdfs.files("/log") == ["False", "True"]


@pytest.mark.parametrize("is_sent", [True, False])
def test_commits(hdfs: Hdfs, is_sent: bool) -> None:
    """The rename of an entry of the log decides, whether its answer arrives or not."""
    with losing(hdfs, "rename2", is_sent=is_sent) as url:
        job = Job(f"{url}/t", OPTIONS)
        assert job.commit([staged(job, [1])])
    job = Job(f"{hdfs.url}/t", OPTIONS)
    decide(job, [staged(job, [2])], number=1)
    with losing(hdfs, "rename2", is_sent=is_sent) as url:
        if not is_sent:
            with pytest.raises(CommitError, match="decided and not finished"):
                orcish.recover(f"{url}/t", storage_options=OPTIONS)
        assert orcish.recover(f"{url}/t", storage_options=OPTIONS) == "finished"
    found = orcish.read_table(f"{hdfs.url}/t", storage_options=OPTIONS)
    assert sorted(found["id"].to_pylist()) == [1, 2]
    assert [name for name in hdfs.files("/t/_orcish") if not name.startswith("log/0")] == []


def test_reads(hdfs: Hdfs) -> None:
    """Requests that change nothing are repeated."""
    hdfs.make_folder("/t")
    orcish.write_table(TABLE, f"{hdfs.url}/t/a.orc", storage_options=OPTIONS)
    for method in ("getFileInfo", "getBlockLocations", "getListing"):
        for is_sent in (True, False):
            with losing(hdfs, method, is_sent=is_sent) as url:
                assert orcish.scan(f"{url}/t", storage_options=OPTIONS).to_table().equals(TABLE)


def test_logs_are_no_answers(hdfs: Hdfs) -> None:
    """The cluster of the tests answers commands while a connection that is reset has it log an error."""
    hdfs.put("/a", b"abc")
    before = len(hdfs.log())
    with socket.create_connection(hdfs.data_node("/a")) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.sendall(b"\0")
    wait_until(lambda: "Connection reset" in hdfs.log()[before:], 30)
    assert "Connection reset" in hdfs.log()[before:]
    hdfs.command("safemode", "LEAVE")
