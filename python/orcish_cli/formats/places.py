"""Where files of other formats are: local disks, stores, servers, and what fsspec opens. Files are read and written as
those of ORC are.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
from orcish import _native
from orcish._native import Location, complete_storage
from orcish.io.filesystem import foreign_path
from orcish.io.names import display_name
from orcish.io.outputs import NamedOutput, kind_of
from orcish.types import ExistingFile
from orcish.writing.target import FileTarget, file_target

from orcish_cli.formats.bounded_file import BoundedFile
from orcish_cli.standard_input import STREAM

__all__ = ["Sink", "check_regular", "open_bounded", "open_input", "open_output"]

READ_AHEAD = 4 << 20
"""Bytes of a request at least."""


def open_bounded(location: str, storage: Mapping[str, Any]) -> pa.NativeFile:
    """As :func:`open_input`, for formats whose files state lengths. Reads take no more memory than there are bytes."""
    file = open_input(location, storage)
    return pa.PythonFile(BoundedFile(file, file.size()), mode="r")


def open_input(location: str, storage: Mapping[str, Any]) -> pa.NativeFile:
    """Opens a file for reading at any position.

    Raises:
        OSError: The file cannot be opened.
    """
    found = Location(location)
    path = found.path
    if not found.is_local:
        return pa.PythonFile(_remote_file(path, storage), mode="r")
    if os.path.isdir(path):
        raise IsADirectoryError(f"{display_name(location)} is a directory")
    # pyarrow says in words of its own that a file is missing.
    os.stat(path)
    check_regular(path)
    return pa.OSFile(path)


def check_regular(path: str) -> None:
    """Checks that a path, if there is something, is a file. A pipe without a writer is waited for, and devices may have
    no end.

    Raises:
        OSError: It is a pipe, a socket or a device.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(f"{display_name(path)}: cannot be opened: it is {kind_of(path)}: copy its bytes to a file first")


def open_output(location: str, storage: Mapping[str, Any], existing_data: ExistingFile) -> Sink:
    """Creates a file, which appears under its name when it is published. Errors name it.

    Raises:
        FileExistsError: The file is there, and not replaced.
        OSError: The file cannot be created.
        UnsupportedError: No files are written there.
    """
    if location == STREAM:
        output = NamedOutput(StandardOutput(), "standard output")
        return Sink(FileTarget(output, overwrite=True), None)
    target = file_target(location, None, dict(storage), existing_data)
    return Sink(target, None if Location(location).is_foreign else complete_storage(location, storage))


class Sink(io.RawIOBase):
    """A file that is written. Closing it is not enough for it to appear: it may be incomplete.

    Args:
        target: The file.
        storage: Options of its store.
    """

    def __init__(self, target: FileTarget, storage: dict[str, Any] | None) -> None:
        self._target = target
        self._file = _native.NewFile(target.native, storage, overwrite=target.overwrite)
        self._size = 0
        self._is_aborted = False

    def writable(self) -> bool:
        """Whether there is ``write``."""
        return True

    def tell(self) -> int:
        """The number of bytes that were written."""
        return self._size

    def write(self, data: Any, /) -> int:
        """Writes all bytes."""
        view = memoryview(data).cast("B")
        # Writers that are dropped after an error write the end of the file.
        if not self._is_aborted:
            self._file.write(bytes(view))
        self._size += len(view)
        return len(view)

    def publish(self) -> int:
        """Lets the file appear under its name; gives its size."""
        self._file.finish()
        self._target.complete()
        return self._size

    def abort(self) -> None:
        """Removes what was written, unless it is published."""
        self._is_aborted = True
        self._file.abort()
        self._target.abort()


class StandardOutput:
    """Standard output. It keeps what was written before an error."""

    def write(self, data: bytes, /) -> object:
        """See :class:`~orcish.io.outputs.Output`."""
        return sys.stdout.buffer.write(data)

    def close(self) -> None:
        """See :class:`~orcish.io.outputs.Output`."""
        sys.stdout.buffer.flush()

    def abort(self) -> None:
        """See :class:`~orcish.io.outputs.Output`."""


def _remote_file(url: str, storage: Mapping[str, Any]) -> Any:
    """A file of a URL. A file that is replaced while it is read is an error where the store says it."""
    if Location(url).is_foreign:
        file = foreign_path(url, storage).file()
        return io.BufferedReader(_Ranges(lambda *span: file.read_ranges([span])[0], file.size(), url), READ_AHEAD)
    stored = _native.StoredFile(url, complete_storage(url, storage))
    return io.BufferedReader(_Ranges(stored.read, stored.size(), url), READ_AHEAD)


class _Ranges(io.RawIOBase):
    """A file of which ranges are read."""

    def __init__(self, fetch: Callable[[int, int], bytes], size: int, url: str) -> None:
        self._fetch, self._size, self._url = fetch, size, url
        self._at = 0

    def readable(self) -> bool:
        """Whether there is ``read``."""
        return True

    def seekable(self) -> bool:
        """Whether there is ``seek``."""
        return True

    def tell(self) -> int:
        """The position."""
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Goes to a position."""
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(begin + offset, 0)
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        """Reads the next bytes, as many as there is room for."""
        start, end = self._at, min(self._at + len(buffer), self._size)
        if start >= end:
            return 0
        data = self._fetch(start, end)
        if len(data) != end - start:
            raise OSError(
                f"{display_name(self._url)}: the file ends after {start + len(data):,} of {self._size:,} bytes: copy "
                "it to a local disk, and convert the copy"
            )
        buffer[: len(data)] = data
        self._at = end
        return len(data)
