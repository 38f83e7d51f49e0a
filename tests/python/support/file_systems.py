"""File systems of other libraries for the tests."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import fsspec
import pytest
from pyarrow import fs

from support.s3_store import BUCKET, Store

__all__ = ["FOLDERS", "READ_ONLY", "WRITABLE", "Folder", "obstore_s3", "s3"]


class Folder(NamedTuple):
    """An empty folder of a file system."""

    filesystem: Any
    path: str
    """The folder, with a slash at its end; empty for the root."""
    is_local: bool = False
    """Whether the native core reads and writes it."""
    can_pickle: bool = True

    def names(self) -> list[str]:
        """Names of all files in it, hidden ones included."""
        base = self.path.strip("/")
        return sorted(path.strip("/")[len(base) :].lstrip("/") for path in self._paths())

    def _paths(self) -> list[str]:
        system = self.filesystem
        if not isinstance(system, fs.FileSystem | fsspec.AbstractFileSystem):
            return [found["path"] for chunk in system.list() for found in chunk]
        system = system if isinstance(system, fs.FileSystem) else fs.PyFileSystem(fs.FSSpecHandler(system))
        found = system.get_file_info(fs.FileSelector(self.path, recursive=True, allow_not_found=True))
        return [info.path for info in found if info.type == fs.FileType.File]


def s3(store: Store, *, is_counted: bool = False) -> fs.S3FileSystem:
    """The bucket, by pyarrow. Requests that are counted do not write: they would have a body of unknown length."""
    between = store.between
    return fs.S3FileSystem(
        access_key="tester",
        secret_key="hush-hush",
        region="us-east-1",
        endpoint_override=f"http://{between.host}:{between.server_port if is_counted else between.port}",
    )


def memory() -> Any:
    """An empty file system in memory."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    return system


def obstore_of(kind: str, *arguments: Any, **options: Any) -> Any:
    """A store of obstore."""
    stores = pytest.importorskip("obstore.store")
    return getattr(stores, kind)(*arguments, **options)


def obstore_s3(store: Store, prefix: str | None = None) -> Any:
    """The bucket, by obstore."""
    return obstore_of(
        "S3Store",
        BUCKET,
        prefix=prefix,
        endpoint=store.options["aws_endpoint"],
        access_key_id="tester",
        secret_access_key="hush-hush",
        region="us-east-1",
        client_options={"allow_http": True},
    )


Make = Callable[[Path, Store], Folder]
"""Makes an empty folder."""

FOLDERS: dict[str, Make] = {
    "LocalFileSystem": lambda path, _: Folder(fs.LocalFileSystem(), f"{path}/", is_local=True),
    "SubTreeFileSystem": lambda path, _: Folder(
        fs.SubTreeFileSystem(str(path), fs.LocalFileSystem()), "", is_local=True
    ),
    "fsspec-file": lambda path, _: Folder(fsspec.filesystem("file"), f"{path}/", is_local=True),
    "fsspec-dir": lambda path, _: Folder(fsspec.filesystem("dir", path=str(path), fo=str(path)), "", is_local=True),
    "fsspec-memory": lambda path, _: Folder(memory(), "/shelf/"),
    "fsspec-memory-dir": lambda path, _: Folder(fsspec.filesystem("dir", path="/shelf", fs=memory()), ""),
    "PyFileSystem": lambda path, _: Folder(fs.PyFileSystem(fs.FSSpecHandler(memory())), "shelf/"),
    "SubTreeFileSystem-memory": lambda path, _: Folder(
        fs.SubTreeFileSystem("/shelf", fs.PyFileSystem(fs.FSSpecHandler(memory()))), ""
    ),
    "MemoryStore": lambda path, _: Folder(obstore_of("MemoryStore"), "", can_pickle=False),
    "LocalStore": lambda path, _: Folder(obstore_of("LocalStore", str(path)), "", is_local=True),
    "S3Store": lambda path, store: Folder(obstore_s3(store), ""),
    "S3Store-folder": lambda path, store: Folder(obstore_s3(store, "some/where"), "in/"),
    "S3FileSystem": lambda path, store: Folder(s3(store), f"{BUCKET}/"),
    "S3FileSystem-folder": lambda path, store: Folder(fs.SubTreeFileSystem(f"{BUCKET}/sub", s3(store)), ""),
}
WRITABLE = sorted(FOLDERS)


def zipped(path: Path) -> Any:
    """The files of a folder, in a file of zip."""
    with zipfile.ZipFile(path / "files.zip", "w") as file:
        for each in sorted(path.rglob("*.orc")):
            file.write(each, each.relative_to(path))
    return fsspec.filesystem("zip", fo=str(path / "files.zip"))


READ_ONLY: dict[str, Callable[[Path], Any]] = {"zip": zipped}
