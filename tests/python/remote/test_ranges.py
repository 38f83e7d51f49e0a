"""Requests by which files within file systems of other libraries are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import orcish
import pyarrow as pa
import pytest
from orcish.io.filesystem import in_file_system
from orcish.io.system_path import FIRST_READ, MAX_TAILS, PART_SIZE
from orcish.io.systems import CONCURRENCY
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
    options = {"compression": "none", "existing_data": "overwrite", **options}
    orcish.write_table(table, path, filesystem=system, **options)
    if isinstance(system, FarSystem):
        system.reset()


def ranges_of(size: int) -> list[tuple[int, int]]:
    return [(0, 3), (size // 2, size // 2 + 100_000), (7, 7), (size - 5, size), (100, 70_000), (size - 3, size + 9)]


def test_ranges_are_those_of_the_file(tmp_path: Path, store: Any) -> None:
    for kind, make in FOLDERS.items():
        (tmp_path / kind).mkdir()
        folder = make(tmp_path / kind, store)
        if folder.is_local:
            # The native core reads local paths.
            continue
        written(folder.filesystem, f"{folder.path}a.orc", WIDE)
        everything = in_file_system(f"{folder.path}a.orc", folder.filesystem, None).file().read()
        assert everything[:3] == b"ORC", kind
        ranges = ranges_of(len(everything))
        again = in_file_system(f"{folder.path}a.orc", folder.filesystem, None).file()
        assert again.read_ranges(ranges) == [everything[start:end] for start, end in ranges], kind


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


def test_long_ranges_are_read_in_parts(far: FarSystem) -> None:
    data = bytes(range(256)) * ((2 * PART_SIZE + 512) // 256)
    far.pipe("/long", data)
    assert in_file_system("/long", far, None).file().read_ranges([(0, 10), (7, len(data))]) == [data[:10], data[7:]]
    assert max(end - start for start, end in far.ranges) == PART_SIZE


SYSTEMS: dict[str, tuple[Callable[[], Any], int]] = {
    "asynchronous": (lambda: fsspec.filesystem("http"), CONCURRENCY),
    "folder": (lambda: fsspec.filesystem("dir", path="x", fs=fsspec.filesystem("http")), CONCURRENCY),
    "memory": (lambda: fsspec.filesystem("memory"), 1),
    "simplecache": (lambda: fsspec.filesystem("simplecache", target_protocol="http"), 1),
    "blockcache": (lambda: fsspec.filesystem("blockcache", target_protocol="http"), 1),
    "pyarrow": (lambda: fs.SubTreeFileSystem("x", fs.S3FileSystem(anonymous=True, region="x")), CONCURRENCY),
    "wrapped": (lambda: fs.PyFileSystem(fs.FSSpecHandler(fsspec.filesystem("memory"))), 1),
}


def test_which_file_systems_read_at_the_same_time() -> None:
    """Files that have one position are read one range at a time, and files that are downloaded at their first read."""
    for name, (make, concurrency) in SYSTEMS.items():
        file = in_file_system("a.orc" if name != "folder" else "b/a.orc", make(), None).file()
        assert file.concurrency == concurrency, name


READS: dict[str, Callable[[Any, str], pa.Table]] = {
    "all": lambda system, path: orcish.read_table(path, filesystem=system),
    "columns": lambda system, path: orcish.read_table(path, columns=["c1", "c9", "c17"], filesystem=system),
    "filter": lambda system, path: orcish.read_table(path, filters="c3 < 9000000000", filesystem=system),
    "scan": lambda system, path: orcish.scan(path, filesystem=system).select("c5").to_table(),
    "dataset": lambda system, path: orcish.dataset(path, filesystem=system).to_table(columns=["c5"]),
}


def test_small_files_take_two_requests(far: FarSystem) -> None:
    """One for the tail, and one for the rest, however many columns and stripes there are; tiny ones take one."""
    written(far, "/a.orc", WIDE.slice(0, 5000), stripe_size="1KB", row_index_stride=1000)
    written(far, "/tiny.orc", WIDE.slice(0, 200))
    assert orcish.ORCFile("/a.orc", filesystem=far).num_stripes > 1
    assert far.size("/tiny.orc") < FIRST_READ
    for name, read in READS.items():
        far.reset()
        read(far, "/a.orc")
        assert len(far.ranges) <= 2, name
        assert sum(end - start for start, end in far.ranges) == far.size("/a.orc"), name
        far.reset()
        read(far, "/tiny.orc")
        assert len(far.ranges) == 1, name


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
    for at in range(MAX_TAILS + 5):
        written(far, f"/t/{at:02}.orc", WIDE.slice(at, 50))
    scan = orcish.scan("/t", filesystem=far).select("c0")
    expected = pa.concat_tables([WIDE.slice(at, 50).select(["c0"]) for at in range(MAX_TAILS + 5)])
    for _ in range(3):
        assert scan.to_table().equals(expected)
