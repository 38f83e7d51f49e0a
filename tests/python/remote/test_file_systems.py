"""Paths within file systems of pyarrow and fsspec, and stores of obstore."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import pickle
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import orcish
import polars
import pyarrow as pa
import pytest
from orcish import _native
from pyarrow import fs
from support.file_systems import FOLDERS, READ_ONLY, WRITABLE, Folder, obstore_s3, s3
from support.http_server import serve
from support.s3_store import BUCKET

TABLE = pa.table({"a": list(range(3000)), "s": [f"text {i}" for i in range(3000)]})
NAMES = ["t/day=1/a.orc", "t/day=2/b.orc", "t/day=2/_tmp/c.orc", "t/.d.orc", "u/x [1].orc"]


@pytest.fixture(params=WRITABLE)
def folder(request: Any, tmp_path: Path, store: Any) -> Folder:
    """An empty folder of each file system."""
    return FOLDERS[request.param](tmp_path, store)


@pytest.fixture
def full(folder: Folder, tmp_path: Path) -> Folder:
    """The folder with files."""
    for name in NAMES:
        if folder.is_local:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        orcish.write_table(TABLE, folder.path + name, filesystem=folder.filesystem)
    assert folder.names() == sorted(NAMES)
    return folder


def test_files(full: Folder) -> None:
    path, system = full.path + NAMES[0], full.filesystem
    file = orcish.ORCFile(path, filesystem=system)
    assert file.read().equals(TABLE)
    assert path in repr(file)
    if full.can_pickle:
        assert pickle.loads(pickle.dumps(file)).read(columns=["s"]).equals(TABLE.select(["s"]))
    assert orcish.read_metadata(path, filesystem=system).num_rows == 3000
    for source in (path, full.path + NAMES[4], [path]):
        assert orcish.read_table(source, filesystem=system).equals(TABLE)
        assert orcish.read_schema(source, filesystem=system).names == ["a", "s"]
        assert orcish.count_rows(source, filters="a < 7", filesystem=system) == 7
        assert orcish.head(source, 2, columns=["s"], filesystem=system).to_pylist() == [
            {"s": "text 0"},
            {"s": "text 1"},
        ]
        assert orcish.scan_polars(source, filesystem=system).filter(polars.col("a") < 3).collect().height == 3


def test_folders_and_patterns(full: Folder) -> None:
    start, system = full.path, full.filesystem
    for source in ("t", "t/", "t/day=*", "t/*/*.orc", "**/day=[12]/?.orc"):
        scan = orcish.scan(start + source, filesystem=system)
        assert [name.rpartition("/t/")[2].removeprefix("t/") for name in scan.files] == ["day=1/a.orc", "day=2/b.orc"]
        assert scan.schema.names == ["a", "s", "day"]
        assert scan.where("day = 2 and a >= 2998").to_table().to_pylist() == [
            {"a": 2998, "s": "text 2998", "day": 2},
            {"a": 2999, "s": "text 2999", "day": 2},
        ]
        assert orcish.read_table(start + source, filesystem=system).num_rows == 6000
        assert orcish.count_rows(start + source, filesystem=system) == 6000
    assert orcish.scan(start + "t", partitions=False, filesystem=system).schema.names == ["a", "s"]
    assert orcish.scan(start + NAMES[0], partitions=True, filesystem=system).schema.names == ["a", "s", "day"]
    parts = [start + "t/day=1", start + "t/day=2/b.orc"]
    assert orcish.read_table(parts, partitions=True, filesystem=system).column("day").to_pylist()[::3000] == [1, 2]


def test_splits_are_read_by_several_threads(full: Folder) -> None:
    """Readers of one file do not move each other's position."""
    scan = orcish.scan(full.path + NAMES[0], filesystem=full.filesystem)
    (split,) = scan.splits()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: split.scan().to_table(), range(12)))
    assert all(table.equals(TABLE) for table in found)


def test_what_is_missing(full: Folder) -> None:
    for source in ("none.orc", "none/", "t/none-*.orc"):
        for function in (orcish.read_table, orcish.scan):
            with pytest.raises(FileNotFoundError, match="none"):
                function(full.path + source, filesystem=full.filesystem)
    with pytest.raises(FileNotFoundError, match="none"):
        orcish.ORCFile(full.path + "none.orc", filesystem=full.filesystem)


def test_writing(folder: Folder) -> None:
    path, system = f"{folder.path}a.orc", folder.filesystem
    assert orcish.write_table(TABLE.slice(0, 5), path, filesystem=system).rows == 5
    written = orcish.write_table(TABLE, path, filesystem=system, verify=True, existing_data="overwrite")
    assert orcish.ORCFile(path, filesystem=system).file_length == written.bytes
    with orcish.ORCWriter(f"{folder.path}b.orc", TABLE.schema, filesystem=system) as writer:
        writer.write(TABLE)
        assert "b.orc" not in folder.names()
    assert orcish.merge([path, f"{folder.path}b.orc"], f"{folder.path}c.orc", filesystem=system).rows == 6000
    assert orcish.read_table(f"{folder.path}c.orc", filesystem=system).num_rows == 6000
    assert folder.names() == ["a.orc", "b.orc", "c.orc"]


class StopError(Exception):
    """An error of the caller."""


def test_nothing_is_left_of_a_write_that_fails(folder: Folder) -> None:
    """An existing file stays, and nothing hidden is left behind."""
    path, system = f"{folder.path}a.orc", folder.filesystem
    orcish.write_table(TABLE, path, filesystem=system)

    def rows() -> Iterator[pa.Table]:
        yield TABLE.slice(0, 10)
        raise StopError

    with pytest.raises(StopError):
        orcish.write_table(rows(), path, filesystem=system, existing_data="overwrite")
    with (
        contextlib.suppress(StopError),
        orcish.ORCWriter(path, TABLE.schema, filesystem=system, existing_data="overwrite") as writer,
    ):
        writer.write(TABLE.slice(0, 10))
        raise StopError
    with pytest.raises(orcish.UnknownColumnError):
        orcish.write_table(TABLE, path, filesystem=system, bloom_filter_columns=["none"], existing_data="overwrite")
    with pytest.raises(FileNotFoundError):
        orcish.merge([path, f"{folder.path}none.orc"], path, filesystem=system, existing_data="overwrite")
    writer = orcish.ORCWriter(path, TABLE.schema, filesystem=system, existing_data="overwrite")
    writer.write(TABLE.slice(0, 10))
    with pytest.warns(ResourceWarning, match="was not closed"):
        del writer
    assert folder.names() == ["a.orc"]
    assert orcish.read_table(path, filesystem=system).equals(TABLE)


def test_targets_that_are_folders(full: Folder) -> None:
    for target in ("t", "new/"):
        with pytest.raises(IsADirectoryError):
            orcish.write_table(TABLE, full.path + target, filesystem=full.filesystem)


def test_tables_are_written_to_local_file_systems_only(folder: Folder) -> None:
    path, system = f"{folder.path}table", folder.filesystem
    if folder.is_local:
        orcish.write_dataset(TABLE, path, filesystem=system)
        orcish.write_dataset(TABLE, path, filesystem=system, existing_data="append")
        assert orcish.count_rows(path, filesystem=system) == 6000
        assert [file.files for file in orcish.compact(path, filesystem=system)] == [2]
        assert orcish.delete(path, "a < 10", filesystem=system).rows == 20
        operations = [commit.operation for commit in orcish.history(path, filesystem=system)]
        assert operations[:2] == ["delete", "compact"]
        assert orcish.recover(path, filesystem=system) == "nothing"
        assert orcish.vacuum(path, filesystem=system) == 0
        assert orcish.count_rows(path, filesystem=system) == 5980
        return
    calls: list[Callable[[], object]] = [
        lambda: orcish.write_dataset(TABLE, path, filesystem=system),
        lambda: orcish.compact(path, filesystem=system),
        lambda: orcish.delete(path, "a = 1", filesystem=system),
        lambda: orcish.history(path, filesystem=system),
        lambda: orcish.recover(path, filesystem=system),
        lambda: orcish.vacuum(path, filesystem=system),
    ]
    for call in calls:
        with pytest.raises(orcish.UnsupportedError, match="give the URL of the table, such as s3://bucket/table"):
            call()
    assert folder.names() == []


def test_verbs_of_single_files(full: Folder) -> None:
    path, system = full.path + NAMES[0], full.filesystem

    async def rows() -> int:
        file = await orcish.open_async(path, filesystem=system)
        return sum([len(batch) async for batch in file.iter_batches_async(columns=["a"])])

    assert asyncio.run(rows()) == 3000
    assert orcish.ORCFile(path, filesystem=system).check() == []


@pytest.mark.parametrize("kind", READ_ONLY)
def test_archives(kind: str, tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        orcish.write_table(TABLE, tmp_path / name)
    system = READ_ONLY[kind](tmp_path)
    assert orcish.read_table(NAMES[0], filesystem=system).equals(TABLE)
    assert orcish.scan("t", filesystem=system).where("day = 2").count() == 3000
    assert orcish.count_rows("*/day=*/*.orc", filesystem=system) == 6000
    with pytest.raises(orcish.UnsupportedError, match="cannot move a file to its name"):
        orcish.write_table(TABLE, "a.orc", filesystem=system)
    system.zip.close()


@pytest.mark.filterwarnings("ignore")
def test_http_of_fsspec(tmp_path: Path) -> None:
    orcish.write_table(TABLE, tmp_path / "a.orc")
    with serve({"/a.orc": (tmp_path / "a.orc").read_bytes()}) as server:
        system = fsspec.filesystem("http", skip_instance_cache=True)
        assert orcish.read_table(f"{server.url}/a.orc", filesystem=system).equals(TABLE)
        assert {method for method, span in server.take()[0] if span is None} == {"HEAD"}
        with pytest.raises(orcish.UnsupportedError, match="cannot be written to"):
            orcish.write_table(TABLE, f"{server.url}/b.orc", filesystem=system)


def test_requests(store: Any) -> None:
    """A file of S3 is not read as a whole for one column."""
    wide = pa.table({f"c{at}": [(i * 2654435761 + at) % 2**40 for i in range(100_000)] for at in range(12)})
    orcish.write_table(wide, "shelf/wide.orc", filesystem=s3(store), compression="none")
    system = s3(store, is_counted=True)
    store.between.log.clear()
    assert orcish.read_table("shelf/wide.orc", columns=["c1"], filesystem=system).equals(wide.select(["c1"]))
    assert len([1 for method, *_ in store.between.log if method == "GET"]) <= 4
    assert len(store.between.log) <= 6


def test_a_long_upload_of_obstore_that_fails(store: Any) -> None:
    """Its first parts are in the store, and are no object."""
    system = obstore_s3(store)
    rows = pa.table({"a": [random.randbytes(1 << 20) for _ in range(24)]})
    writer = orcish.ORCWriter("long.orc", rows.schema, filesystem=system, compression="none", stripe_size="4MB")
    for at in range(24):
        writer.write(rows.slice(at, 1))
    (upload,) = store.uploads()
    # The server complains of requests that are given up.
    parts, end = 0, time.monotonic() + 30
    while parts == 0 or parts != sum("partNumber" in path for _, path, _ in store.between.log):
        assert time.monotonic() < end
        time.sleep(0.2)
        parts = len(store.client.list_parts(Bucket=BUCKET, Key=upload[0], UploadId=upload[1]).get("Parts", []))
    writer.abort()
    assert store.objects() == []
    orcish.write_table(rows, "long.orc", filesystem=system, compression="none", stripe_size="4MB")
    assert orcish.read_table("long.orc", filesystem=system).equals(rows)


@pytest.mark.parametrize(("status", "kind"), [(403, PermissionError), (400, OSError)])
def test_errors_of_obstore(store: Any, status: int, kind: type[OSError]) -> None:
    """They are errors of the system."""
    system = obstore_s3(store)
    # A small file would be in memory.
    orcish.write_table(pa.table({"a": [random.randbytes(1 << 21)]}), "a.orc", filesystem=system)
    scan = orcish.scan("a.orc", filesystem=system)
    store.between.status = status
    store.between.fails = lambda method, path: True
    calls: list[Any] = [
        scan.to_table,
        lambda: orcish.scan("a.orc", filesystem=system),
        lambda: orcish.ORCFile("a.orc", filesystem=system),
        lambda: orcish.write_table(TABLE, "b.orc", filesystem=system),
    ]
    for call in calls:
        with pytest.raises(kind) as error:
            call()
        assert type(error.value) is kind
        assert "Debug source" not in str(error.value)


def test_special_characters_above_the_folder(tmp_path: Path) -> None:
    base = tmp_path / "v[12]*"
    base.mkdir()
    system = fs.SubTreeFileSystem(str(base), fs.LocalFileSystem())
    orcish.write_table(TABLE, "a.orc", filesystem=system)
    orcish.write_table(TABLE, "b[1].orc", filesystem=system)
    assert orcish.scan("*.orc", filesystem=system).files == [f"{base}/a.orc", f"{base}/b[1].orc"]
    assert orcish.scan("b[1].orc", filesystem=system).files == [f"{base}/b[1].orc"]


@pytest.mark.parametrize("make", ["SubTreeFileSystem", "fsspec-dir", "LocalStore"])
def test_paths_that_leave_the_folder(make: str, tmp_path: Path, store: Any) -> None:
    (tmp_path / "in").mkdir()
    orcish.write_table(TABLE, tmp_path / "a.orc")
    system = FOLDERS[make](tmp_path / "in", store).filesystem
    for call in (orcish.read_table, orcish.scan, lambda path, **kind: orcish.write_table(TABLE, path, **kind)):
        with pytest.raises(ValueError, match=r"'\.\./a\.orc': '\.\.' leaves the folder of the file system"):
            call("../a.orc", filesystem=system)


def test_refused_arguments(tmp_path: Path) -> None:
    local, memory = fs.LocalFileSystem(), fsspec.filesystem("memory")
    for call in (
        orcish.read_table,
        orcish.scan,
        orcish.ORCFile,
        lambda path, **kind: orcish.write_table(TABLE, path, **kind),
    ):
        for system in ("s3", fs, object()):
            with pytest.raises(TypeError, match=r"^filesystem: must be a file system of pyarrow or fsspec"):
                call("a.orc", filesystem=system)
        for system in (local, memory):
            with pytest.raises(ValueError, match="storage_options are for URLs"):
                call("a.orc", filesystem=system, storage_options={"aws_region": "x"})
            with pytest.raises(ValueError, match="filesystem is for paths"):
                call(b"ORC", filesystem=system)
            with pytest.raises(ValueError, match=r"s3://b/a.orc"):
                call("s3://b/a.orc", filesystem=system)


def test_tables_of_carbondata_are_refused() -> None:
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pipe("/c/Metadata/schema", b"x")
    memory.pipe("/c/Fact/a.carbondata", b"x")
    for source in ("/c", "/c/Fact/a.carbondata"):
        with pytest.raises(orcish.UnsupportedError, match="CarbonData"):
            orcish.scan(source, filesystem=memory)


PATTERNS = ["t", "t/*", "t/**", "**/*.orc", "t/?.orc", "t/[ab]*", "t/[!a].orc", "t/_*", "t/_x/*", "*/*/y.orc", "t/[]]*"]
PATHS = ["t/a.orc", "t/b.orc", "t/_x/y.orc", "t/.z/y.orc", "t/_day=1/y.orc", "t/k/y.orc", "t/].orc", "t/k/l/m.orc"]


def test_patterns_match_as_in_the_native_core(tmp_path: Path) -> None:
    for path in PATHS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"x")
    for pattern in PATTERNS:
        native = [name.removeprefix(f"{tmp_path}/") for name, _ in _native.list_files(f"{tmp_path}/{pattern}")]
        found = zip(PATHS, _native.matches_pattern(pattern, PATHS), strict=True)
        assert sorted(path for path, is_match in found if is_match) == native, pattern
    for pattern in ("t/[a", "t/a**b", "t/***"):
        with pytest.raises(ValueError, match="is no pattern"):
            _native.matches_pattern(pattern, PATHS)
        with pytest.raises(ValueError, match="is no pattern"):
            _native.list_files(f"{tmp_path}/{pattern}")
