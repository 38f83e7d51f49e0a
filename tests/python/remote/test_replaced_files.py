"""Files within file systems of other libraries that are replaced or deleted while they are read."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, ClassVar

import fsspec
import numpy as np
import orcish
import pyarrow as pa
import pytest
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractBufferedFile
from orcish.io.filesystem import in_file_system
from orcish.io.versions import FileChangedError, check_unchanged, version_of
from pyarrow import fs
from support.far_system import FarSystem
from support.file_systems import memory, obstore_of, obstore_s3, s3
from support.s3_store import BUCKET

CHANGED = "the file was replaced: it is another one than when it was opened"
ROWS = 2_000_000


class Buffered(MemoryFileSystem):  # type: ignore[misc]
    """A synchronous file system, whose open files make a request for each range."""

    protocol = "buffered"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]

    def open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        """A file that reads by its path."""
        return BufferedRanges(self, path, cache_type="none") if mode == "rb" else super().open(path, mode, **options)


class BufferedRanges(AbstractBufferedFile):  # type: ignore[misc]
    """An open file."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        found: bytes = self.fs.cat_file(self.path, start, end)
        return found


def arrow() -> tuple[Any, str, Place]:
    """A file system of pyarrow that states times, and no ETags."""
    inner = Buffered()
    inner.store.clear()

    class Handler(fs.FileSystemHandler):  # type: ignore[misc]
        """What the tests need of a file system."""

        def normalize_path(self, path: str) -> str:
            return path

        def get_file_info(self, paths: list[str]) -> list[Any]:
            kind = fs.FileType
            found = [inner.store.get(f"/{path}") for path in paths]
            return [
                fs.FileInfo(path, kind.NotFound)
                if file is None
                else fs.FileInfo(path, kind.File, size=file.size, mtime=file.created)
                for path, file in zip(paths, found, strict=True)
            ]

        def open_input_file(self, path: str) -> Any:
            return pa.PythonFile(inner.open(f"/{path}"), mode="r")

    # The other methods are not called.
    Handler.__abstractmethods__ = frozenset()
    return fs.PyFileSystem(Handler()), "a.orc", Place(inner, "/a.orc")


class Place:
    """Where a file of fsspec is."""

    def __init__(self, system: Any, path: str) -> None:
        self.system, self.path = system, path

    def put(self, data: bytes | None) -> None:
        """Replaces the file, or deletes it."""
        if data is None:
            self.system.rm_file(self.path)
        else:
            with self.system.open(self.path, "wb") as file:
                file.write(data)


class Object(Place):
    """Where an object of S3 is."""

    def put(self, data: bytes | None) -> None:
        """Replaces the object, or deletes it."""
        if data is None:
            self.system.client.delete_object(Bucket=BUCKET, Key=self.path)
        else:
            self.system.client.put_object(Bucket=BUCKET, Key=self.path, Body=data)


class OfObstore(Place):
    """Where an object of obstore is."""

    def put(self, data: bytes | None) -> None:
        """Replaces the object, or deletes it."""
        self.system.delete(self.path) if data is None else self.system.put(self.path, data)


def far(kind: type[Any]) -> Any:
    """An empty file system of a class."""
    system = kind()
    system.store.clear()
    return system


def wrapped() -> Any:
    """A synchronous file system as an asynchronous one."""
    return AsyncFileSystemWrapper(memory(), asynchronous=False)


def simple(system: Any, inner: Any = None, path: str = "/a.orc") -> tuple[Any, str, Place]:
    """A file system of fsspec, and where it has its files."""
    return system, "a.orc", Place(inner or system, path)


def of_obstore(system: Any) -> tuple[Any, str, Place]:
    """A store of obstore."""
    return system, "a.orc", OfObstore(system, "a.orc")


SYSTEMS: dict[str, Callable[[Any], tuple[Any, str, Place]]] = {
    "memory": lambda _: simple(memory()),
    "folder": lambda _: simple(fsspec.filesystem("dir", path="/t", fs=wrapped()), memory(), "/t/a.orc"),
    "asynchronous": lambda _: simple(far(FarSystem)),
    "wrapper": lambda _: simple(wrapped(), memory()),
    "buffered": lambda _: simple(far(Buffered)),
    "url": lambda _: (None, "memory://a.orc", Place(memory(), "/a.orc")),
    "arrow": lambda _: arrow(),
    "PyFileSystem": lambda _: (
        fs.PyFileSystem(fs.FSSpecHandler(far(FarSystem))),
        "a.orc",
        Place(FarSystem(), "/a.orc"),
    ),
    "S3FileSystem": lambda store: (s3(store), f"{BUCKET}/a.orc", Object(store, "a.orc")),
    "MemoryStore": lambda _: of_obstore(obstore_of("MemoryStore")),
    "S3Store": lambda store: (obstore_s3(store), "a.orc", Object(store, "a.orc")),
}
PINNED = {"memory", "url"}
"""Systems whose open files are one version."""


def version(first: float, codec: str = "none") -> bytes:
    """A file of some stripes with numbers from ``first`` to ``first + 1``."""
    file = io.BytesIO()
    values = np.random.default_rng(1).random(ROWS) / 2 + first + 0.1
    orcish.write_table(pa.table({"v": values}), file, compression=codec, stripe_size="1MB")
    return file.getvalue()


OLD = version(2)
NEW: dict[str, bytes | None] = {"same layout": version(4), "other layout": version(4, "zstd"), "deleted": None}


@pytest.mark.parametrize("change", NEW)
@pytest.mark.parametrize("kind", SYSTEMS)
def test_rows_are_those_of_one_version(kind: str, change: str, store: Any) -> None:
    system, path, place = SYSTEMS[kind](store)
    place.put(OLD)
    rows = iter(orcish.scan(path, filesystem=system, threads=1))
    parts = [next(rows)]
    place.put(NEW[change])
    if kind in PINNED:
        values = pa.Table.from_batches([*parts, *rows])["v"].to_numpy()
        assert len(values) == ROWS
        assert values.max() < 3
        return
    with pytest.raises(OSError, match=r"a\.orc") as error:
        list(rows)
    if change != "deleted":
        assert CHANGED in str(error.value)


@pytest.mark.parametrize("size", [0, -1, None])
@pytest.mark.parametrize("kind", [FarSystem, Buffered])
def test_sizes_of_listings_are_not_believed(kind: type[Any], size: int | None, monkeypatch: Any) -> None:
    """A file is empty only where its open file is."""
    system = far(kind)
    Place(system, "/t/a.orc").put(OLD)

    def find(self: Any, path: str, *_: Any, **__: Any) -> dict[str, Any]:
        return {"/t/a.orc": {"name": "/t/a.orc", "size": size, "type": "file"}}

    monkeypatch.setattr(kind, "find", find)
    assert orcish.scan("/t", filesystem=system).count() == ROWS
    assert orcish.read_table("/t", filesystem=system).num_rows == ROWS
    Place(system, "/t/a.orc").put(b"")
    assert in_file_system("/t/a.orc", system, None).file().read() == b""


def test_requests_of_the_check() -> None:
    """One for each batch of reads after the first request, and none where a file is one request."""
    system = far(FarSystem)
    Place(system, "/a.orc").put(OLD)
    system.reset()
    file = orcish.ORCFile("/a.orc", filesystem=system)
    assert (system.calls, len(system.ranges)) == (2, 1)
    file.read(stripes=[0], threads=1)
    reads, checks = len(system.ranges) - 1, system.calls - len(system.ranges) - 1
    assert 1 <= checks <= reads
    orcish.write_table(pa.table({"a": [1, 2]}), "/b.orc", filesystem=system)
    system.reset()
    orcish.ORCFile("/b.orc", filesystem=system).read()
    assert (system.calls, len(system.ranges)) == (2, 1)


def test_versions() -> None:
    """The most exact property that both have decides."""
    check_unchanged(version_of({}, None), version_of({}, 5))
    check_unchanged(version_of({"ETag": "a", "mtime": 1}, 5), version_of({"etag": "a", "mtime": 2}, 5))
    check_unchanged(version_of({"mtime": 1}, 5), version_of({"etag": "a", "mtime": 1}, 5))
    for first, second in [
        ({"ETag": "a"}, {"ETag": "b"}),
        ({"mtime": 1}, {"modified": 2}),
        ({"created": 1}, {"created": 2}),
    ]:
        with pytest.raises(FileChangedError, match=CHANGED):
            check_unchanged(version_of(first, 5), version_of(second, 5))
    with pytest.raises(FileChangedError):
        check_unchanged(version_of({"ETag": "a"}, 5), version_of({"ETag": "a"}, 6))
