"""File systems of pyarrow, and those of fsspec and stores of obstore by the same interface."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import posixpath
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import fs

from orcish.errors import UnsupportedError
from orcish.file_systems import library_of
from orcish.io.http_ranges import read_range, reads_http
from orcish.io.names import display_name
from orcish.io.outputs import Moved, Output, Upload
from orcish.io.versions import Version, version_of

__all__ = ["CONCURRENCY", "FsspecSystem", "Opened", "Range", "System", "system_of"]

CONCURRENCY = 10
"""Requests of one read at the same time, as for stores that the native core reads."""
Range = tuple[int, int]
"""Offsets of the first byte, and of the byte after the last."""
Read = Callable[[Sequence[Range]], Sequence[Any]]
"""Reads ranges within a file, as objects with the buffer protocol. Several threads may call it."""


class Opened(NamedTuple):
    """An open file."""

    size: int
    read: Read
    version: Version
    """The version for readers of the same file in other processes, as far as it is known."""
    pinned: Version | None
    """The version that later reads are compared with; ``None`` where all of them are of the version that was opened."""


class System:
    """A file system of pyarrow. It can be pickled if the given object can."""

    def __init__(self, given: Any) -> None:
        self._given = given

    @property
    def concurrency(self) -> int:
        """Ranges of one file that are read at the same time: 1 where an open file has one position."""
        return CONCURRENCY

    def normalized(self, path: str) -> str:
        """The path without the URL scheme of the file system, and without slashes at its end.

        Raises:
            ValueError: The path is the URL of another file system.
        """
        found: str = self._given.normalize_path(path)
        return found.rstrip("/") or found[:1]

    def native_path(self, path: str) -> str | None:
        """The path of the same file on the local disk; ``None`` where it is not there."""
        system, path = self._innermost(path)
        return os.path.abspath(path) if isinstance(system, fs.LocalFileSystem) else None

    def status(self, path: str) -> fs.FileInfo:
        """What is at a path now."""
        return self._given.get_file_info(path)

    def find(self, folder: str) -> list[tuple[str, int | None]]:
        """Paths and sizes of all files below a folder. The paths begin with ``folder``."""
        infos = self._given.get_file_info(fs.FileSelector(folder, recursive=True, allow_not_found=True))
        return [(info.path, info.size) for info in infos if info.is_file]

    def version(self, path: str) -> Version:
        """The version of a file now.

        Raises:
            OSError: There is no file.
        """
        # Opening a file of a store is one request, which has its ETag. Listings have times only.
        has_metadata = not isinstance(self._innermost("")[0], fs.PyFileSystem)
        properties = _metadata(self._given.open_input_file(path)) if has_metadata else {}
        if properties:
            return version_of(properties, None)
        info = self.status(path)
        if not info.is_file:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return version_of({"mtime": info.mtime_ns}, info.size)

    def open(self, path: str) -> Opened:
        """Opens a file.

        Raises:
            OSError: The file is not there, or cannot be opened.
        """
        file = self._given.open_input_file(path)
        properties = _metadata(file)
        version = version_of(properties, None) if properties else self.version(path)
        return Opened(file.size(), lambda ranges: _at_the_same_time(file, ranges), version, version)

    def create(self, path: str) -> Output:
        """Creates a file, which appears when it is closed.

        Raises:
            OSError: The file cannot be created.
            UnsupportedError: The file system cannot be written to, or cannot publish a file as a whole.
        """
        return Moved(path, self._given.open_output_stream, self._given.move, self._given.delete_file)

    def _innermost(self, path: str) -> tuple[Any, str]:
        """The file system within those that are folders of another, and the path within it."""
        system = self._given
        while isinstance(system, fs.SubTreeFileSystem):
            path = _joined(system.base_path, path)
            system = system.base_fs
        return system, path


class FsspecSystem(System):
    """A file system of fsspec. Its caches are not believed."""

    @property
    def concurrency(self) -> int:
        """See :class:`System`."""
        # Several readers would download a file to the same place. Caches seem to be what they are around.
        return CONCURRENCY if self._innermost("")[0].async_impl and not self._is_cache() else 1

    def normalized(self, path: str) -> str:
        """See :class:`System`."""
        found: str = self._given._strip_protocol(path)
        if "://" not in found:
            return found.rstrip("/") or found[:1]
        protocol = self._given.protocol
        if not {"http", "https"}.isdisjoint([protocol] if isinstance(protocol, str) else protocol):
            return found
        raise ValueError(f"{display_name(path)!r}: the path within a file system is no URL of another file system")

    def native_path(self, path: str) -> str | None:
        """See :class:`System`."""
        from fsspec.implementations.local import LocalFileSystem

        system, path = self._innermost(path)
        return system._strip_protocol(path) if isinstance(system, LocalFileSystem) else None

    def status(self, path: str) -> fs.FileInfo:
        """See :class:`System`."""
        self._forget(path)
        return fs.FSSpecHandler(self._given).get_file_info([path])[0]

    def find(self, folder: str) -> list[tuple[str, int | None]]:
        """See :class:`System`."""
        return [(path, info.get("size")) for path, info in self._given.find(folder, detail=True).items()]

    def version(self, path: str) -> Version:
        """See :class:`System`."""
        info = self._info(path)
        return version_of(info, info.get("size"))

    def open(self, path: str) -> Opened:
        """See :class:`System`."""
        return self._requested(path) if self._innermost("")[0].async_impl else self._opened(path)

    def _requested(self, path: str) -> Opened:
        """A file of which each range is a request, without a cache, as the native core asks for what it needs."""
        info = self._info(path)
        size = info.get("size")
        if size is None or size < 0:
            raise UnsupportedError(f"{path}: the file system does not know the length of the file: read it into memory")

        def read(ranges: Sequence[Range]) -> Sequence[Any]:
            inner, inside = self._innermost(path)
            if reads_http(inner):
                # The file system takes any range for that which it asked for.
                with ThreadPoolExecutor(CONCURRENCY) as pool:
                    return [*pool.map(lambda each: read_range(inner, inside, each[0], each[1], size, {}), ranges)]
            starts, ends = zip(*ranges, strict=True)
            paths = [path] * len(ranges)
            # Calls that are under way after an error are not waited for.
            found: list[bytes] = self._given.cat_ranges(
                paths, list(starts), list(ends), batch_size=CONCURRENCY, on_error="raise"
            )
            return found

        version = version_of(info, size)
        return Opened(size, read, version, version)

    def _opened(self, path: str) -> Opened:
        """A file with one position."""
        from fsspec.implementations.local import LocalFileOpener

        is_cache = self._is_cache()
        version = None if is_cache else self.version(path)
        handle = self._given.open(path, mode="rb")
        file = pa.PythonFile(handle, mode="r")
        # Bytes in memory and open files of the local disk are those of one version.
        is_pinned = isinstance(handle, io.BytesIO | io.BufferedReader | io.FileIO | LocalFileOpener)
        pinned = None if is_pinned else version or self.version(path)
        # What a cache has may be older than what its file system states.
        return Opened(
            file.size(),
            lambda ranges: [file.read_at(end - start, start) for start, end in ranges],
            version or version_of({}, file.size()),
            pinned,
        )

    def create(self, path: str) -> Output:
        """See :class:`System`."""
        system = self._given
        return Moved(path, lambda hidden: system.open(hidden, mode="wb"), self._move(), system.rm_file)

    def _move(self) -> Callable[[str, str], object]:
        """The function that moves a file: a rename, or else a copy.

        Raises:
            UnsupportedError: The file system has neither.
        """
        from fsspec import AbstractFileSystem

        system, inner = self._given, self._innermost("")[0]
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

    def _info(self, path: str) -> dict[str, Any]:
        """What the file system says of a file now."""
        self._forget(path)
        info: dict[str, Any] = self._given.info(path)
        if info["type"] == "directory":
            raise IsADirectoryError(f"{path} is a directory")
        return info

    def _forget(self, path: str) -> None:
        """Empties the caches of listings. Wrappers that make a file system asynchronous have the file system within."""
        for system in (self._given, getattr(self._given, "sync_fs", None)):
            if system is not None:
                system.invalidate_cache(path)

    def _is_cache(self) -> bool:
        from fsspec.implementations.cached import CachingFileSystem

        return isinstance(self._innermost("")[0], CachingFileSystem)

    def _innermost(self, path: str) -> tuple[Any, str]:
        """See :class:`System`."""
        from fsspec.implementations.dirfs import DirFileSystem

        system = self._given
        while isinstance(system, DirFileSystem):
            path = _joined(system.path, path)
            system = system.fs
        return system, path


class ObstoreSystem(System):
    """A store of obstore. An upload is an object once it is complete."""

    def normalized(self, path: str) -> str:
        """See :class:`System`."""
        if "://" in path:
            raise ValueError(
                f"{display_name(path)!r}: the path within a store is no URL: it begins below the bucket and prefix"
            )
        return path.strip("/")

    def native_path(self, path: str) -> str | None:
        """See :class:`System`."""
        from obstore.store import LocalStore

        return _joined(str(self._given.prefix or "/"), path) if isinstance(self._given, LocalStore) else None

    def status(self, path: str) -> fs.FileInfo:
        """See :class:`System`."""
        import obstore

        if path:
            with contextlib.suppress(FileNotFoundError):
                return fs.FileInfo(path, fs.FileType.File, size=obstore.head(self._given, path)["size"])
        is_folder = any(obstore.list(self._given, prefix=path or None, chunk_size=1))
        return fs.FileInfo(path, fs.FileType.Directory if is_folder else fs.FileType.NotFound)

    def find(self, folder: str) -> list[tuple[str, int | None]]:
        """See :class:`System`."""
        import obstore

        chunks = obstore.list(self._given, prefix=folder or None)
        return [(found["path"], found["size"]) for chunk in chunks for found in chunk]

    def version(self, path: str) -> Version:
        """See :class:`System`."""
        import obstore

        found = obstore.head(self._given, path)
        return version_of(found, found["size"])

    def open(self, path: str) -> Opened:
        """See :class:`System`."""
        import obstore

        def read(ranges: Sequence[Range]) -> Sequence[Any]:
            starts, ends = zip(*ranges, strict=True)
            return obstore.get_ranges(self._given, path, starts=starts, ends=ends, coalesce=0)

        found = obstore.head(self._given, path)
        version = version_of(found, found["size"])
        return Opened(found["size"], read, version, version)

    def create(self, path: str) -> Output:
        """See :class:`System`."""
        import obstore

        return Upload(obstore.open_writer(self._given, path))


KINDS = {"pyarrow": System, "fsspec": FsspecSystem, "obstore": ObstoreSystem}


def system_of(filesystem: Any) -> System:
    """The file system of an argument. One of pyarrow that wraps a file system of fsspec is the latter."""
    handler = filesystem.handler if isinstance(filesystem, fs.PyFileSystem) else None
    given = handler.fs if isinstance(handler, fs.FSSpecHandler) else filesystem
    return KINDS[str(library_of(given))](given)


def _metadata(file: Any) -> dict[str, Any]:
    """The properties of an open file of pyarrow; empty where it has none."""
    try:
        found = file.metadata() or {}
    except NotImplementedError:
        return {}
    return {key.decode() if isinstance(key, bytes) else key: value for key, value in found.items()}


def _at_the_same_time(file: Any, ranges: Sequence[Range]) -> list[Any]:
    """Ranges of a file of pyarrow, whose reads block."""

    def read(part: Range) -> Any:
        return file.read_at(part[1] - part[0], part[0])

    if len(ranges) < 2:
        return [read(part) for part in ranges]
    with ThreadPoolExecutor(min(CONCURRENCY, len(ranges)), "orcish-ranges") as pool:
        try:
            found = pool.map(read, ranges)
        except RuntimeError:
            # There are no new threads at the end of the process.
            found = map(read, ranges)
        return list(found)


def _joined(folder: str, path: str) -> str:
    """A path within the folder of a file system.

    Raises:
        ValueError: The path leaves the folder.
    """
    if ".." in path.split("/"):
        raise ValueError(f"{path!r}: '..' leaves the folder of the file system")
    return posixpath.join(folder, path.lstrip("/"))
