"""Requests by which files within file systems of other libraries are read."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fsspec
import orcish
import pyarrow as pa
import pytest
from orcish.io.filesystem import in_file_system
from orcish.io.ranges import CONCURRENCY, FIRST_READ, read_parts
from orcish.io.system_file import MAX_WINDOWS
from pyarrow import fs
from support.far_system import FarSystem
from support.file_systems import FOLDERS

LATENCY = 0.02
COLUMNS = {f"c{at}": [(i * 2654435761 + at) % 2**40 for i in range(20_000)] for at in range(20)}
WIDE = pa.table(COLUMNS)


@pytest.fixture
def far() -> FarSystem:
    """An empty file system with latency."""
    system = FarSystem(LATENCY)
    system.store.clear()
    system.latency = LATENCY
    return system


def written(system: Any, path: str, table: pa.Table, **options: Any) -> None:
    orcish.write_table(table, path, filesystem=system, compression="none", **options)
    if isinstance(system, FarSystem):
        system.reset()


def ranges_of(size: int) -> list[tuple[int, int]]:
    return [(0, 3), (size // 2, size // 2 + 100_000), (7, 7), (size - 5, size), (100, 70_000), (size - 3, size + 9)]


@pytest.mark.parametrize("kind", FOLDERS)
def test_ranges_are_those_of_the_file(kind: str, tmp_path: Path, store: Any) -> None:
    folder = FOLDERS[kind](tmp_path, store)
    if folder.is_local:
        # The native core reads local paths.
        return
    written(folder.filesystem, f"{folder.path}a.orc", WIDE)
    file = in_file_system(f"{folder.path}a.orc", folder.filesystem, None).file()
    everything = file.read()
    assert everything[:3] == b"ORC"
    again = in_file_system(f"{folder.path}a.orc", folder.filesystem, None).file()
    ranges = ranges_of(len(everything))
    assert again.read_ranges(ranges) == [everything[start:end] for start, end in ranges]
    assert again.tell() == 0


def test_ranges_are_read_at_the_same_time(far: FarSystem) -> None:
    written(far, "/a.orc", WIDE)
    file = in_file_system("/a.orc", far, None).file()
    everything = far.cat_file("/a.orc", 0, far.size("/a.orc"))
    far.reset()
    ranges = [(at * 100_000, at * 100_000 + 50_000) for at in range(20)]
    assert file.read_ranges(ranges) == [everything[first:end] for first, end in ranges]
    assert (len(far.ranges), far.most_in_flight) == (20, CONCURRENCY)


def test_a_read_has_several_requests_under_way(far: FarSystem) -> None:
    """Columns of a stripe are read with few requests, and stripes ahead of those that are decoded."""
    written(far, "/a.orc", pa.concat_tables([WIDE] * 8), stripe_size="2MB")
    file = orcish.ORCFile("/a.orc", filesystem=far)
    assert file.num_stripes > 2
    far.reset()
    assert file.read(columns=[f"c{at}" for at in range(0, 20, 3)]).num_rows == 160_000
    assert len(far.ranges) <= 2 * file.num_stripes
    assert far.most_in_flight > 1


def test_threads_share_the_number_of_requests(far: FarSystem) -> None:
    written(far, "/a.orc", WIDE)
    file = in_file_system("/a.orc", far, None).file()
    everything = far.cat_file("/a.orc", 0, far.size("/a.orc"))
    file.read_ranges([(0, 1)])
    far.reset()
    ranges = [(at * 100_000, at * 100_000 + 50_000) for at in range(20)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: file.read_ranges(ranges), range(4)))
    assert found == [[everything[first:end] for first, end in ranges]] * 4
    assert (len(far.ranges), far.most_in_flight) == (80, CONCURRENCY)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore")
def test_a_child_does_not_wait_for_requests_of_its_parent(far: FarSystem) -> None:
    written(far, "/a.orc", WIDE)
    file = in_file_system("/a.orc", far, None).file()
    far.latency = 0.5
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(file.read_ranges, [(at * 100_000, at * 100_000 + 9) for at in range(CONCURRENCY)])
        while far.most_in_flight != CONCURRENCY:
            time.sleep(0.001)
        child = os.fork()
        if not child:
            far.latency = 0
            os._exit(0 if file.read_ranges([(0, 3)]) == [b"ORC"] else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert len(running.result()) == CONCURRENCY


SYSTEMS: dict[str, tuple[Callable[[], Any], int]] = {
    "asynchronous": (lambda: fsspec.filesystem("http"), CONCURRENCY),
    "folder": (lambda: fsspec.filesystem("dir", path="x", fs=fsspec.filesystem("http")), CONCURRENCY),
    "memory": (lambda: fsspec.filesystem("memory"), 1),
    "simplecache": (lambda: fsspec.filesystem("simplecache", target_protocol="http"), 1),
    "blockcache": (lambda: fsspec.filesystem("blockcache", target_protocol="http"), 1),
    "pyarrow": (lambda: fs.SubTreeFileSystem("x", fs.S3FileSystem(anonymous=True, region="x")), CONCURRENCY),
    "wrapped": (lambda: fs.PyFileSystem(fs.FSSpecHandler(fsspec.filesystem("memory"))), 1),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_which_file_systems_read_at_the_same_time(name: str) -> None:
    """Files that have one position are read one range at a time, and files that are downloaded at their first read."""
    make, concurrency = SYSTEMS[name]
    assert in_file_system("a.orc" if name != "folder" else "b/a.orc", make(), None).file().concurrency == concurrency


@pytest.mark.parametrize("concurrency", [1, 2, 5])
def test_long_ranges_are_read_in_parts(concurrency: int) -> None:
    data = bytes(range(256))
    lengths: list[int] = []

    def read_at(nbytes: int, offset: int) -> bytes:
        lengths.append(nbytes)
        return data[offset : offset + nbytes]

    ranges = [(0, 256), (3, 3), (10, 20), (17, 90)]
    found = read_parts(read_at, ranges, concurrency, part_size=10)
    assert found == [data[start:end] for start, end in ranges]
    assert max(lengths) == (256 if concurrency == 1 else 10)


def test_the_first_error_is_raised() -> None:
    def read_at(_: int, offset: int) -> bytes:
        if offset:
            raise OSError(f"at {offset}")
        return b"x"

    for concurrency in (1, 4):
        with pytest.raises(OSError, match=r"at 1$"):
            read_parts(read_at, [(0, 1), (1, 2), (2, 3)], concurrency)


def test_no_new_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges are read one by one."""

    def refuse(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert read_parts(lambda nbytes, offset: bytes([offset]) * nbytes, [(0, 2), (2, 3)], 4) == [b"\0\0", b"\2"]


READS: dict[str, Callable[[Any, str], pa.Table]] = {
    "all": lambda system, path: orcish.read_table(path, filesystem=system),
    "columns": lambda system, path: orcish.read_table(path, columns=["c1", "c9", "c17"], filesystem=system),
    "filter": lambda system, path: orcish.read_table(path, filters="c3 < 9000000000", filesystem=system),
    "scan": lambda system, path: orcish.scan(path, filesystem=system).select("c5").to_table(),
    "dataset": lambda system, path: orcish.dataset(path, filesystem=system).to_table(columns=["c5"]),
}


@pytest.mark.parametrize("name", READS)
def test_small_files_take_two_requests(name: str, far: FarSystem) -> None:
    """One for the tail, and one for the rest, however many columns and stripes there are."""
    written(far, "/a.orc", WIDE.slice(0, 5000), stripe_size="1KB", row_index_stride=1000)
    assert orcish.ORCFile("/a.orc", filesystem=far).num_stripes > 1
    far.reset()
    READS[name](far, "/a.orc")
    assert len(far.ranges) <= 2
    assert sum(end - start for start, end in far.ranges) == far.size("/a.orc")


@pytest.mark.parametrize("name", READS)
def test_tiny_files_take_one_request(name: str, far: FarSystem) -> None:
    written(far, "/a.orc", WIDE.slice(0, 200))
    assert far.size("/a.orc") < FIRST_READ
    READS[name](far, "/a.orc")
    assert len(far.ranges) == 1


def test_large_files_are_not_read_as_a_whole(far: FarSystem) -> None:
    written(far, "/a.orc", WIDE)
    size = far.size("/a.orc")
    orcish.read_schema("/a.orc", filesystem=far)
    assert far.ranges == [(size - FIRST_READ, size)]
    far.reset()
    orcish.read_table("/a.orc", columns=["c1"], filesystem=far)
    assert sum(end - start for start, end in far.ranges) < size / 4


def test_many_files_are_read_in_bounded_memory(far: FarSystem) -> None:
    """Files of a scan that were in memory are read again."""
    for at in range(MAX_WINDOWS + 5):
        written(far, f"/t/{at:02}.orc", WIDE.slice(at, 50))
    scan = orcish.scan("/t", filesystem=far).select("c0")
    expected = pa.concat_tables([WIDE.slice(at, 50).select(["c0"]) for at in range(MAX_WINDOWS + 5)])
    for _ in range(3):
        assert scan.to_table().equals(expected)
