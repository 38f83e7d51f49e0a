"""File systems of pyarrow and fsspec, in the form that readers and writers use."""

from __future__ import annotations

import errno
import io
import os
import posixpath
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from orcish.errors import UnsupportedError
from orcish.io.http_ranges import read_range
from orcish.io.moved import Moved
from orcish.io.names import display_name
from orcish.io.ranges import CONCURRENCY
from orcish.io.versions import Version, check_unchanged, version_of

__all__ = [
    "ArrowSystem",
    "FsspecSystem",
    "OpenFile",
    "Output",
    "Status",
    "System",
    "arrow_system",
    "fresh_info",
    "joined",
]


class Status(NamedTuple):
    """What is at a path."""

    is_file: bool
    is_folder: bool
    size: int | None
    """Bytes of a file, where the file system knows them."""


class OpenFile(Protocol):
    """An open file, which several threads may read."""

    def read_at(self, nbytes: int, offset: int) -> Any:
        """Reads at most ``nbytes`` bytes at ``offset``, as an object with the buffer protocol."""

    def size(self) -> int:
        """Length of the file."""

    def version(self) -> Version:
        """The version that was opened, as far as the file system states it."""

    def check(self) -> None:
        """Checks that all bytes that were read are those of one version of the file.

        Raises:
            OSError: The file was replaced or deleted after it had been opened.
        """


class Output(Protocol):
    """A file that is being written. It appears when it is closed."""

    def write(self, data: bytes, /) -> object:
        """Writes all of ``data``."""

    def close(self) -> None:
        """Publishes the file."""

    def abort(self) -> None:
        """Removes what was written. A closed file stays."""


class System(Protocol):
    """A file system. It can be pickled if the given object can."""

    @property
    def concurrency(self) -> int:
        """Reads of one file at the same time: 1 where a file has one position."""

    def normalized(self, path: str) -> str:
        """The path without the URL scheme of the file system, and without slashes at its end.

        Raises:
            ValueError: The path is the URL of another file system.
        """

    def native_path(self, path: str) -> str | None:
        """The path of the same file on the local disk; ``None`` where it is not there."""

    def status(self, path: str) -> Status:
        """What is at a path."""

    def find(self, folder: str) -> list[tuple[str, int | None]]:
        """Paths and sizes of all files below a folder. The paths begin with ``folder``."""

    def open(self, path: str) -> OpenFile:
        """Opens a file.

        Raises:
            OSError: The file is not there, or cannot be opened.
        """

    def create(self, path: str) -> Output:
        """Creates a file.

        Raises:
            OSError: The file cannot be created.
            UnsupportedError: The file system cannot be written to, or cannot publish a file as a whole.
        """


class ArrowSystem:
    """A file system of pyarrow."""

    concurrency = CONCURRENCY

    def __init__(self, system: Any) -> None:
        self._system = system

    def normalized(self, path: str) -> str:
        """See :class:`System`."""
        found: str = self._system.normalize_path(path)
        return found.rstrip("/") or found[:1]

    def native_path(self, path: str) -> str | None:
        """See :class:`System`."""
        from pyarrow import fs

        system = self._system
        while isinstance(system, fs.SubTreeFileSystem):
            path = joined(system.base_path, path)
            system = system.base_fs
        return os.path.abspath(path) if isinstance(system, fs.LocalFileSystem) else None

    def status(self, path: str) -> Status:
        """See :class:`System`."""
        from pyarrow import fs

        info = self._system.get_file_info(path)
        return Status(info.type == fs.FileType.File, info.type == fs.FileType.Directory, info.size)

    def find(self, folder: str) -> list[tuple[str, int | None]]:
        """See :class:`System`."""
        from pyarrow import fs

        infos = self._system.get_file_info(fs.FileSelector(folder, recursive=True, allow_not_found=True))
        return [(info.path, info.size) for info in infos if info.type == fs.FileType.File]

    def open(self, path: str) -> OpenFile:
        """See :class:`System`."""
        system, file = self._system, self._system.open_input_file(path)

        def version() -> Version:
            # Opening a file of a store is one request, which has its ETag. Listings have times only.
            properties = _metadata(system.open_input_file(path)) if has_metadata else {}
            info = None if properties else system.get_file_info(path)
            if info is None:
                return version_of(properties, None)
            if not info.is_file:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            return version_of({"mtime": info.mtime_ns}, info.size)

        has_metadata = bool(_metadata(file))
        return Handle(file, version, version_of(_metadata(file), None) if has_metadata else version())

    def create(self, path: str) -> Output:
        """See :class:`System`."""
        system = self._system
        return Moved(path, system.open_output_stream, system.move, system.delete_file)


class FsspecSystem:
    """A file system of fsspec."""

    def __init__(self, system: Any) -> None:
        self._system = system

    @property
    def concurrency(self) -> int:
        """See :class:`System`."""
        from fsspec.implementations.cached import CachingFileSystem

        inner, _ = self._inner()
        # Several readers would download a file to the same place. Caches seem to be what they are around.
        return CONCURRENCY if inner.async_impl and not isinstance(inner, CachingFileSystem) else 1

    def normalized(self, path: str) -> str:
        """See :class:`System`."""
        found: str = self._system._strip_protocol(path)
        if "://" in found and not _protocols(self._system).isdisjoint(("http", "https")):
            return found
        if "://" in found:
            raise ValueError(f"{display_name(path)!r}: the path within a file system is no URL of another file system")
        return found.rstrip("/") or found[:1]

    def native_path(self, path: str) -> str | None:
        """See :class:`System`."""
        from fsspec.implementations.local import LocalFileSystem

        system, folders = self._inner()
        for folder in folders:
            path = joined(folder, path)
        return system._strip_protocol(path) if isinstance(system, LocalFileSystem) else None

    def status(self, path: str) -> Status:
        """See :class:`System`."""
        try:
            info = fresh_info(self._system, path)
        except FileNotFoundError:
            return Status(is_file=False, is_folder=False, size=None)
        return Status(info["type"] == "file", info["type"] == "directory", info.get("size"))

    def find(self, folder: str) -> list[tuple[str, int | None]]:
        """See :class:`System`."""
        found = self._system.find(folder, detail=True)
        return [(path, info.get("size")) for path, info in found.items()]

    def open(self, path: str) -> OpenFile:
        """See :class:`System`."""
        if self._inner()[0].async_impl:
            return Ranges(self._system, path)
        import pyarrow as pa
        from fsspec.implementations.cached import CachingFileSystem
        from fsspec.implementations.local import LocalFileOpener

        system = self._system
        # What a cache has may be older than what its file system states.
        is_cached = isinstance(self._inner()[0], CachingFileSystem)

        def version() -> Version:
            info = fresh_info(system, path)
            if info["type"] == "directory":
                raise IsADirectoryError(f"{path} is a directory")
            return version_of(info, info.get("size"))

        opened = None if is_cached else version()
        handle = system.open(path, mode="rb")
        file = pa.PythonFile(handle, mode="r")
        # Bytes in memory and open files of the local disk are those of one version.
        is_pinned = isinstance(handle, io.BytesIO | io.BufferedReader | io.FileIO | LocalFileOpener)
        if opened is None:
            opened = version_of({}, None) if is_pinned else version()
        return Handle(file, None if is_pinned else version, opened, is_cached=is_cached)

    def create(self, path: str) -> Output:
        """See :class:`System`."""
        system = self._system
        return Moved(path, lambda hidden: system.open(hidden, mode="wb"), self._move(), system.rm_file)

    def _move(self) -> Callable[[str, str], object]:
        """The function that moves a file: a rename, or else a copy.

        Raises:
            UnsupportedError: The file system has neither.
        """
        from fsspec import AbstractFileSystem

        system, (inner, _) = self._system, self._inner()
        # The default is for patterns, too, and takes special characters of names for these.
        if type(inner).mv is not AbstractFileSystem.mv:
            rename: Callable[[str, str], object] = system.mv
            return rename
        if not inner.async_impl and type(inner).cp_file is AbstractFileSystem.cp_file:
            raise UnsupportedError(
                f"{type(inner).__name__} cannot move a file to its name once it is written: write to an open file of "
                "the file system, which keeps a part of the bytes after an error"
            )

        def copy(source: str, target: str) -> None:
            system.cp_file(source, target)
            system.rm_file(source)

        return copy

    def _inner(self) -> tuple[Any, list[str]]:
        """The file system that has the files, and the folders of it that this one is in, the innermost first."""
        from fsspec.implementations.dirfs import DirFileSystem

        system, folders = self._system, []
        while isinstance(system, DirFileSystem):
            folders.append(system.path)
            system = system.fs
        return system, folders


class Handle:
    """An open file of pyarrow.

    Args:
        file: The file.
        version: The version of the file at this moment; ``None`` where the open file is one version.
        opened: The version that was opened.
        is_cached: Whether the bytes are those of a cache, which may have an older version.
    """

    def __init__(
        self, file: Any, version: Callable[[], Version] | None, opened: Version, *, is_cached: bool = False
    ) -> None:
        self._file, self._version, self._opened, self._is_cached = file, version, opened, is_cached

    def read_at(self, nbytes: int, offset: int) -> Any:
        """See :class:`OpenFile`."""
        return self._file.read_at(nbytes, offset)

    def size(self) -> int:
        """See :class:`OpenFile`."""
        return int(self._file.size())

    def version(self) -> Version:
        """See :class:`OpenFile`."""
        return version_of({}, self.size()) if self._is_cached else self._opened

    def check(self) -> None:
        """See :class:`OpenFile`."""
        if self._version is not None:
            check_unchanged(self._opened, self._version())


class Ranges:
    """A file of an asynchronous file system of fsspec. Each read is one request, without a cache, as the native core
    asks for the ranges that it needs.
    """

    def __init__(self, system: Any, path: str) -> None:
        self._system, self._path = system, path
        info = fresh_info(system, path)
        if info["type"] == "directory":
            raise IsADirectoryError(f"{path} is a directory")
        size = info.get("size")
        if size is None or size < 0:
            raise UnsupportedError(f"{path}: the file system does not know the length of the file: read it into memory")
        self._size: int = size
        self._opened = version_of(info, size)

    def read_at(self, nbytes: int, offset: int) -> Any:
        """See :class:`OpenFile`."""
        end = min(offset + nbytes, self._size)
        if offset >= end:
            return b""
        found = read_range(self._system, self._path, offset, end, self._size, {})
        # Servers without ranges give the whole file.
        is_whole = len(found) == self._size and end - offset < self._size
        return found[offset:end] if is_whole else found

    def size(self) -> int:
        """See :class:`OpenFile`."""
        return self._size

    def version(self) -> Version:
        """See :class:`OpenFile`."""
        return self._opened

    def check(self) -> None:
        """See :class:`OpenFile`."""
        info = fresh_info(self._system, self._path)
        check_unchanged(self._opened, version_of(info, info.get("size")))


def arrow_system(filesystem: Any) -> ArrowSystem | FsspecSystem:
    """A file system of pyarrow. One that wraps a file system of fsspec is the latter."""
    from pyarrow import fs

    handler = filesystem.handler if isinstance(filesystem, fs.PyFileSystem) else None
    return FsspecSystem(handler.fs) if isinstance(handler, fs.FSSpecHandler) else ArrowSystem(filesystem)


def fresh_info(system: Any, path: str) -> dict[str, Any]:
    """What a file system of fsspec says of a file now, and not what it has in its caches."""
    system.invalidate_cache(path)
    # Wrappers that make a file system asynchronous have the file system here.
    inner = getattr(system, "sync_fs", None)
    if inner is not None:
        inner.invalidate_cache(path)
    info: dict[str, Any] = system.info(path)
    return info


def _metadata(file: Any) -> dict[str, Any]:
    """The properties of an open file of pyarrow; empty where it has none."""
    try:
        found = file.metadata() or {}
    except NotImplementedError:
        return {}
    return {key.decode() if isinstance(key, bytes) else key: value for key, value in found.items()}


def _protocols(system: Any) -> set[str]:
    """The URL schemes of a file system of fsspec."""
    return {system.protocol} if isinstance(system.protocol, str) else set(system.protocol)


def joined(folder: str, path: str) -> str:
    """A path within the folder of a file system.

    Raises:
        ValueError: The path leaves the folder.
    """
    if ".." in path.split("/"):
        raise ValueError(f"{path!r}: '..' leaves the folder of the file system")
    return posixpath.join(folder, path.lstrip("/"))
