"""Files of HDFS, in a cluster of Hadoop's own servers."""

from __future__ import annotations

import concurrent.futures
import datetime as dt
import threading
from pathlib import Path
from typing import Any

import numpy as np
import orcish
import pyarrow as pa
import pytest
from orcish import _native, col
from orcish.tables.folder import Folder
from orcish_cli import main
from support.cpp_writers import write_arrow
from support.hdfs_store import Hdfs

MIB = 1 << 20
SMALL = pa.table({"a": range(5000), "s": [f"text {i}" for i in range(5000)]})
DATA = write_arrow(SMALL)
NAMES = [
    "t/dt=2026-01-01/part-0.orc",
    "t/dt=2026-01-01/part-1.orc",
    "t/dt=2026-01-01/_SUCCESS",
    "t/dt=2026-02-01/part-0.orc",
    "t/dt=2025-01-01/part-0.orc",
    "t/_temporary/0/part-9.orc",
    "t/.part-8.orc.crc",
    "other/a b%3A ü.orc",
]


def large(mib: int) -> pa.Table:
    """Random numbers, which take as many bytes as they have. Blocks of the cluster have four MiB."""
    return pa.table({"noise": np.random.default_rng(1).integers(0, 2**63, mib * MIB // 8)})


@pytest.fixture
def shelf(hdfs: Hdfs) -> Hdfs:
    for name in NAMES:
        hdfs.put(f"/{name}", DATA)
    hdfs.make_folder("/t/dt=2024-01-01")
    return hdfs


def test_read(shelf: Hdfs) -> None:
    for name in (NAMES[0], NAMES[7]):
        assert orcish.read_table(f"{shelf.url}/{name}", storage_options=shelf.options).equals(SMALL)
    file = orcish.ORCFile(f"{shelf.url}/{NAMES[0]}", storage_options=shelf.options)
    assert file.read(columns=["s"]).equals(SMALL.select(["s"]))
    assert file.read(filters=col("a") > 4990).num_rows == 9
    again = orcish.ORCFile(f"{shelf.url}/{NAMES[0]}".replace("hdfs:", "HDFS:"), storage_options=shelf.options)
    assert again.num_rows == 5000


def test_blocks(hdfs: Hdfs) -> None:
    """Ranges within blocks, across their borders and at them."""
    table = large(11)
    data = write_arrow(table, compression="uncompressed", stripe_size=2 * MIB)
    hdfs.put("/t.orc", data)
    assert Folder(hdfs.url, hdfs.options).read("t.orc") == data
    for part_size in (MIB, 100_003, 8 * MIB):
        options = {**hdfs.options, "orcish.part_size": part_size}
        assert orcish.read_table(f"{hdfs.url}/t.orc", storage_options=options).equals(table)


def test_files_of_other_formats_are_read(hdfs: Hdfs, tmp_path: Path) -> None:
    orcish.write_table(SMALL, tmp_path / "a.orc")
    for ending in ("parquet", "csv"):
        assert main(["convert", str(tmp_path / "a.orc"), str(tmp_path / f"a.{ending}")]) == 0
        source = f"{hdfs.url}/others/a.{ending}"
        _native.write_small(source, (tmp_path / f"a.{ending}").read_bytes(), overwrite=True)
        assert main(["convert", source, str(tmp_path / f"{ending}.orc")]) == 0
        assert orcish.read_table(tmp_path / f"{ending}.orc")["s"].to_pylist() == SMALL["s"].to_pylist()


def test_what_is_missing(shelf: Hdfs) -> None:
    for name in ("none.orc", "t", "none/t.orc", f"{NAMES[0]}/x.orc"):
        with pytest.raises(FileNotFoundError, match=f"{shelf.url}/{name}: cannot be read"):
            orcish.ORCFile(f"{shelf.url}/{name}", storage_options=shelf.options)
    for name in ("none", "t/dt=2024-01-01", f"{NAMES[0]}/x"):
        with pytest.raises(FileNotFoundError, match=f"{shelf.url}/{name}: cannot be listed"):
            _native.list_files(f"{shelf.url}/{name}", shelf.options)
    assert _native.list_files(f"{shelf.url}/none/*.orc", shelf.options) == []
    with pytest.raises(OSError, match=r"hdfs://127\.0\.0\.1:1/t\.orc: cannot be read: .*refused"):
        orcish.read_table("hdfs://127.0.0.1:1/t.orc", storage_options=shelf.options)


def test_listing(shelf: Hdfs) -> None:
    def found(location: str) -> list[int]:
        listed = _native.list_files(f"{shelf.url}/{location}", shelf.options)
        assert {size for _, size in listed} <= {len(DATA)}
        return [NAMES.index(url.removeprefix(f"{shelf.url}/")) for url, _ in listed]

    assert found("t") == found("t/") == [4, 0, 1, 3]
    assert found("t/dt=2026-*/part-*.orc") == [0, 1, 3]
    assert found("t/dt=2026-*") == [0, 1, 3]
    assert found("t/**/part-0.orc") == [4, 0, 3]
    assert found("*/dt=2026-01-01/part-?.orc") == [0, 1]
    assert found("t/dt=202[!5]-01-01/*") == [0, 1]
    assert found("t/dt=3*") == []
    assert found(NAMES[2]) == [2]
    assert found("") == [7, 4, 0, 1, 3]


def test_scans(shelf: Hdfs) -> None:
    table = orcish.scan(f"{shelf.url}/t/dt=2026-*/", storage_options=shelf.options)
    day = dt.date(2026, 1, 1)
    kept = table.where((col("dt") == day) & (col("a") == 17)).to_table()
    assert kept.to_pylist() == [{"a": 17, "s": "text 17", "dt": day}] * 2
    assert [len(file.stripes) for file in table.where(col("dt") > day).explain().files] == [0, 0, 1]
    assert orcish.scan(f"{shelf.url}/t", storage_options=shelf.options).count() == 4 * 5000
    with pytest.raises(FileNotFoundError, match=r"hdfs://.*/t/dt=1999"):
        orcish.scan(f"{shelf.url}/t/dt=1999-*/", storage_options=shelf.options)


def test_files_that_are_replaced(hdfs: Hdfs) -> None:
    """A reader gives the rows of one file, or fails."""
    table = large(3)
    options: dict[str, Any] = {"compression": "none", "stripe_size": MIB, "storage_options": hdfs.options}
    orcish.write_table(table, f"{hdfs.url}/t.orc", **options)
    file = orcish.ORCFile(f"{hdfs.url}/t.orc", storage_options=hdfs.options)
    orcish.write_table(table.slice(8), f"{hdfs.url}/t.orc", **options, existing_data="overwrite")
    with pytest.raises(OSError, match="it is another one than when it was opened"):
        file.read()


@pytest.mark.parametrize("mib", [0, 1, 20])
def test_written_files(hdfs: Hdfs, mib: int) -> None:
    table = large(mib) if mib else SMALL
    url = f"{hdfs.url}/new/folder/a b%3A ü.orc"
    for rows in (table, table.slice(1)):
        for verify in (False, True):
            written = orcish.write_table(
                rows,
                url,
                compression="none",
                stripe_size=2 * MIB,
                verify=verify,
                storage_options=hdfs.options,
                existing_data="overwrite",
            )
            assert hdfs.tree("/new") == {"/new/folder": None, "/new/folder/a b%3A ü.orc": written.bytes}
            assert orcish.read_table(hdfs.get("/new/folder/a b%3A ü.orc")).equals(rows)
    assert orcish.read_table(url, storage_options=hdfs.options).equals(table.slice(1))


@pytest.mark.filterwarnings("ignore:.*was not closed:ResourceWarning")
@pytest.mark.parametrize("mib", [1, 20])
def test_what_is_given_up_leaves_nothing(hdfs: Hdfs, mib: int) -> None:
    table = large(mib)
    options: dict[str, Any] = {
        "existing_data": "overwrite",
        "compression": "none",
        "stripe_size": 2 * MIB,
        "storage_options": hdfs.options,
    }
    url = f"{hdfs.url}/db/t/a.orc"

    def start() -> orcish.ORCWriter:
        writer = orcish.ORCWriter(url, table.schema, **options)
        writer.write(table)
        # A file that is large enough is in the cluster, under a hidden name.
        assert [name.startswith("t/.a.orc.") for name in hdfs.files("/db")] == [True] * (mib > 8)
        return writer

    start().abort()
    assert hdfs.tree("/") == {}
    with pytest.raises(LookupError, match="not ours"), start():
        raise LookupError("not ours")
    assert hdfs.tree("/") == {}
    writer = start()
    del writer
    assert hdfs.tree("/") == {}
    # Folders with other files stay, and so does the file that was there before.
    hdfs.put("/db/t/a.orc", DATA)
    writer = orcish.ORCWriter(url, table.schema, **options)
    writer.write(table)
    writer.abort()
    assert hdfs.tree("/db") == {"/db/t": None, "/db/t/a.orc": len(DATA)}


def test_failed_writes(hdfs: Hdfs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name node refuses to create a file, to add a block to it, or to rename it."""
    table = large(20)

    def fails(error: type[Exception], text: str, path: str = "/q/t/a.orc", rows: pa.Table = table) -> None:
        before = hdfs.tree("/")
        with pytest.raises(error, match=text) as raised:
            orcish.write_table(
                rows,
                f"{hdfs.url}{path}",
                existing_data="overwrite",
                compression="none",
                storage_options=hdfs.options,
            )
        assert "at org." not in str(raised.value)
        assert hdfs.tree("/") == before

    hdfs.command("quota", "/q", 10 * MIB)
    fails(OSError, f"{hdfs.url}/q/t/a.orc: cannot be written: .*DSQuotaExceeded")
    hdfs.put("/q/t/a.orc", DATA)
    fails(OSError, "DSQuotaExceeded")
    hdfs.make_folder("/q/f")
    fails(IsADirectoryError, "is a directory", "/q/f", SMALL)
    fails(FileNotFoundError, "is not a directory", "/q/t/a.orc/b.orc", SMALL)
    hdfs.command("safemode", "ENTER")
    fails(OSError, "SafeMode")
    hdfs.command("safemode", "LEAVE")
    monkeypatch.setenv("HADOOP_USER_NAME", "guest")
    fails(PermissionError, "Permission denied: user=guest")
    with pytest.raises(ValueError, match="column t: row"):
        orcish.write_table(
            table.append_column("t", pa.array([5] * (len(table) - 1) + [-1], pa.timestamp("us"))),
            f"{hdfs.url}/q/b.orc",
            storage_options=hdfs.options,
        )
    assert hdfs.files("/") == ["q/t/a.orc"]


def test_small_files(hdfs: Hdfs) -> None:
    folder = Folder(f"{hdfs.url}/db", hdfs.options)
    assert (folder.files(), folder.stat("a/b"), folder.stat("a")) == ([], None, None)
    folder.write("a/b", b"one")
    folder.write("a/c", b"")
    found = folder.stat("a/b")
    assert found is not None
    assert found == folder.files()[0]
    assert abs(found.modified - dt.datetime.now().timestamp()) < 60
    assert [(file.name, file.size) for file in folder.files()] == [("a/b", 3), ("a/c", 0)]
    assert folder.stat("a") is None
    assert (folder.read("a/b"), folder.read("a/c")) == (b"one", b"")
    with pytest.raises(FileExistsError, match=f"{hdfs.url}/db/a/b: cannot be written: .* exists"):
        folder.write("a/b", b"two")
    for existing_data in ("error", "overwrite"):
        with pytest.raises((FileExistsError, IsADirectoryError), match=f"{hdfs.url}/db/a: cannot be written"):
            folder.write("a", b"two", existing_data=existing_data)
    assert folder.read("a/b") == b"one"
    folder.write("a/b", b"three", existing_data="overwrite")
    assert folder.read("a/b", limit=5) == b"three"
    with pytest.raises(orcish.LimitExceededError, match="5 bytes"):
        folder.read("a/b", limit=4)
    with pytest.raises(FileNotFoundError, match="/db/a/none: cannot be read"):
        folder.read("a/none")
    with pytest.raises(IsADirectoryError, match="/db/a: cannot be deleted"):
        folder.delete(["a", "a/b", "none"])
    assert hdfs.files("/db") == ["a/c"], "the others are deleted"
    folder.delete(["a/c"])
    with pytest.raises(IsADirectoryError, match="/db/a: cannot be deleted"):
        folder.delete(["a"])
    folder.write("b/.hidden/x", b"")
    folder.write("_y", b"")
    assert [file.name for file in folder.files()] == ["_y", "b/.hidden/x"]
    assert [file.name for file in folder.files("b")] == ["b/.hidden/x"]
    with pytest.raises(NotADirectoryError, match="/db/_y: cannot be deleted"):
        folder.delete_folder("_y")
    folder.delete_folder("b")
    folder.delete_folder("none")
    assert hdfs.tree("/db") == {"/db/_y": 0, "/db/a": None}
    with pytest.raises(ValueError, match="names no file"):
        Folder(hdfs.url, hdfs.options).delete_folder("")


def test_exclusive_creation(hdfs: Hdfs) -> None:
    """Of writers at a time, one creates a file."""
    folder = Folder(f"{hdfs.url}/log", hdfs.options)
    barrier = threading.Barrier(8)

    def create(number: int, at: int) -> bool:
        barrier.wait()
        try:
            folder.write(f"{at}.json", bytes([number]) * 1000)
        except FileExistsError:
            return False
        return True

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for at in range(10):
            created = list(pool.map(create, range(8), [at] * 8))
            assert sum(created) == 1
            assert folder.read(f"{at}.json") == bytes([created.index(True)]) * 1000
    assert hdfs.files("/log") == [f"{at}.json" for at in range(10)]


def test_replacement_is_atomic(hdfs: Hdfs) -> None:
    """Readers see one of the versions of a file at any time."""
    folder = Folder(hdfs.url, hdfs.options)
    folder.write("a", b"0" * 1000)

    def replace(number: int) -> None:
        for _ in range(20):
            folder.write("a", str(number).encode() * 1000, existing_data="overwrite")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        running = [pool.submit(replace, number) for number in range(1, 4)]
        seen = 0
        while not all(each.done() for each in running):
            try:
                found = folder.read("a")
            except OSError as error:
                # The version of the request is gone, or its blocks are.
                assert not isinstance(error, FileNotFoundError)  # noqa: PT017
                continue
            assert len(found) == 1000
            assert len(set(found)) == 1
            seen += 1
        for each in running:
            each.result()
    assert seen > 0
    assert hdfs.files("/") == ["a"]


def test_datasets(hdfs: Hdfs) -> None:
    table = pa.table({"id": range(60), "p": [f"a {i % 3} é" for i in range(60)], "n": [i % 2 for i in range(60)]})
    base = f"{hdfs.url}/db/t"
    options: dict[str, Any] = {"storage_options": hdfs.options, "partition_by": ["n", "p"]}
    assert len(orcish.write_dataset(table, base, **options)) == 6
    assert all(name.startswith(("n=", "_orcish/log/")) for name in hdfs.files("/db/t"))

    def ids() -> list[int]:
        return sorted(orcish.scan(base, storage_options=hdfs.options).to_table()["id"].to_pylist())

    assert ids() == list(range(60))
    with pytest.raises(FileExistsError, match="has data already"):
        orcish.write_dataset(table, base, **options)
    orcish.write_dataset(table.slice(0, 10), base, existing_data="append", **options)
    assert len(ids()) == 70
    orcish.write_dataset(table.slice(0, 10), base, existing_data="overwrite", **options)
    assert ids() == list(range(10))


def test_options(hdfs: Hdfs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Properties of Hadoop come from its files, and from the options, which go first."""
    orcish.write_table(SMALL, f"{hdfs.url}/t.orc", storage_options=hdfs.options)
    address = hdfs.url.removeprefix("hdfs://")
    several = {"dfs.ha.namenodes.ns": "a,b", "dfs.namenode.rpc-address.ns.a": "127.0.0.1:1"}
    for url, options in [
        ("hdfs:///t.orc", {"fs.defaultFS": hdfs.url}),
        ("hdfs:///t.orc", {"fs.defaultfs": hdfs.url}),
        ("hdfs://ns/t.orc", {**several, "dfs.namenode.rpc-address.ns.b": address}),
        ("viewfs://all/t.orc", {"fs.viewfs.mounttable.all.linkFallback": f"{hdfs.url}/"}),
        (
            "viewfs://all/x/t.orc",
            {
                "fs.viewfs.mounttable.all.linkFallback": f"{hdfs.url}/no",
                "fs.viewfs.mounttable.all.link./x": f"{hdfs.url}/",
            },
        ),
    ]:
        assert orcish.read_table(url, storage_options=options).equals(SMALL), url
    (tmp_path / "core-site.xml").write_text(
        "<configuration><property><name>fs.defaultFS</name><value>hdfs://127.0.0.1:1</value></property></configuration>"
    )
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    with pytest.raises(OSError, match=r"hdfs:///t\.orc: .*refused"):
        orcish.read_table("hdfs:///t.orc", storage_options=hdfs.options)
    with pytest.raises(OSError, match="refused"):
        orcish.write_table(SMALL, "hdfs:///t.orc", storage_options=hdfs.options)
    (tmp_path / "core-site.xml").write_text(
        f"<configuration><property><name>fs.defaultFS</name><value>{hdfs.url}</value></property></configuration>"
    )
    monkeypatch.setenv("HADOOP_CONF_DIR", f"{tmp_path}/.")
    assert orcish.read_table("hdfs:///t.orc").equals(SMALL)
    for option in ("aws_region", "client_kwargs", "replication"):
        with pytest.raises(ValueError, match=f'"{option}" of hdfs'):
            orcish.read_table(f"{hdfs.url}/t.orc", storage_options={option: "x"})
    with pytest.raises(ValueError, match="credentials"):
        orcish.read_table(f"hdfs://me@{address}/t.orc")


def test_merge_and_convert(shelf: Hdfs) -> None:
    urls = [f"{shelf.url}/{NAMES[at]}" for at in (0, 1)]
    assert orcish.merge(urls, f"{shelf.url}/whole.orc", storage_options=shelf.options).rows == 10_000
    assert orcish.read_table(shelf.get("/whole.orc")).num_rows == 10_000
    done = orcish.convert(f"{shelf.url}/t", f"{shelf.url}/out", storage_options=shelf.options)
    assert sum(file.rows for file in done) == 20_000
