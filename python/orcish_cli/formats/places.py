"""Where files of other formats are: local disks, S3, and what fsspec opens."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from orcish import _native
from orcish.errors import UnsupportedError
from orcish.io.filesystem import foreign_path, fsspec_system, is_foreign
from orcish.io.names import display_name, errors_with_name
from orcish.io.outputs import Moved, NamedOutput, Output, kind_of, local_output
from orcish.io.paths import is_http, local_path
from orcish.io.storage import TRUE, native_storage
from orcish.io.system_path import SystemPath
from orcish.io.systems import System

from orcish_cli.formats.bounded_file import BoundedFile
from orcish_cli.formats.remote_file import open_http, open_stored, open_with_fsspec
from orcish_cli.standard_input import STREAM

__all__ = ["Sink", "check_place", "check_regular", "open_bounded", "open_input", "open_output"]

S3 = {
    "access_key_id": "access_key",
    "secret_access_key": "secret_key",
    "session_token": "session_token",
    "token": "session_token",
    "region": "region",
    "default_region": "region",
    "endpoint": "endpoint_override",
    "endpoint_url": "endpoint_override",
    "skip_signature": "anonymous",
}
"""Options of S3, without ``aws_``, and what pyarrow calls them."""


def open_bounded(location: str, storage: Mapping[str, Any]) -> pa.NativeFile:
    """As :func:`open_input`, for formats whose files state lengths. Reads take no more memory than there are bytes."""
    path = local_path(location)
    file: Any
    if "://" not in path:
        _check_file(location, path)
        file = open(path, "rb")  # noqa: SIM115
        return pa.PythonFile(BoundedFile(file, os.fstat(file.fileno()).st_size), mode="r")
    file = open_input(location, storage)
    try:
        size: int | None = file.size()
    except (OSError, ValueError):
        # Some servers do not say it.
        size = None
    return pa.PythonFile(BoundedFile(file, size), mode="r")


def open_input(location: str, storage: Mapping[str, Any]) -> pa.NativeFile:
    """Opens a file for reading at any position.

    Raises:
        OSError: The file cannot be opened.
    """
    path = local_path(location)
    if "://" not in path:
        _check_file(location, path)
        return pa.OSFile(path)
    return pa.PythonFile(_remote_file(path, storage), mode="r")


def _check_file(location: str, path: str) -> None:
    if os.path.isdir(path):
        raise IsADirectoryError(f"{display_name(location)} is a directory")
    # pyarrow says in words of its own that a file is missing.
    os.stat(path)
    check_regular(path)


def check_regular(path: str) -> None:
    """Checks that a path, if there is something, is a file. A pipe without a writer is waited for, and devices may have
    no end.

    Raises:
        OSError: It is a pipe, a socket or a device.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(f"{display_name(path)}: cannot be opened: it is {kind_of(path)}: copy its bytes to a file first")


def open_output(location: str, storage: Mapping[str, Any], *, overwrite: bool) -> Sink:
    """Creates a file, which appears under its name when it is published. Errors name it.

    Raises:
        FileExistsError: The file is there, without ``overwrite``.
        OSError: The file cannot be created.
        UnsupportedError: Files of other formats are not written to such a store.
    """
    if location == STREAM:
        return Sink(NamedOutput(StandardOutput(), "standard output"))
    path = local_path(location)
    if "://" not in path:
        with errors_with_name(location):
            return Sink(NamedOutput(local_output(path, overwrite=overwrite), location))
    if is_foreign(path):
        return Sink(foreign_path(path, storage).create(overwrite=overwrite))
    system, inside = _s3(path, storage)
    return Sink(SystemPath(_S3(system, native_storage(path, storage)), inside, path).create(overwrite=overwrite))


def check_place(location: str) -> None:
    """Checks that files of other formats can be written to a place.

    Raises:
        UnsupportedError: They are not written to such a store.
    """
    path = local_path(location)
    scheme, sign, _ = path.partition("://")
    if sign and not is_foreign(path) and scheme.lower() not in ("s3", "s3a"):
        raise UnsupportedError(
            f"{display_name(path)}: only ORC is written to {scheme}://: write to a local disk, or to S3"
        )


class Sink(io.RawIOBase):
    """A file that is written. Closing it is not enough for it to appear: it may be incomplete."""

    def __init__(self, output: Output) -> None:
        self._output = output
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
            self._output.write(bytes(view))
        self._size += len(view)
        return len(view)

    def publish(self) -> int:
        """Lets the file appear under its name; gives its size."""
        self._output.close()
        return self._size

    def abort(self) -> None:
        """Removes what was written, unless it is published."""
        self._is_aborted = True
        self._output.abort()


class _S3(System):
    """S3 by pyarrow, without the empty objects that it makes for the folders of files that it deletes."""

    def __init__(self, system: Any, storage: dict[str, Any] | None) -> None:
        super().__init__(system)
        self._storage = storage

    def create(self, path: str) -> Output:
        """See :class:`~orcish.io.systems.System`."""
        system = self._given

        def delete(hidden: str) -> None:
            _native.delete_files([f"s3://{hidden}"], self._storage)

        def move(hidden: str, name: str) -> None:
            system.copy_file(hidden, name)
            delete(hidden)

        return Moved(path, system.open_output_stream, move, delete)


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
    if not is_foreign(url) and not is_http(url):
        return open_stored(url, storage)
    system, path = fsspec_system(url, storage, "files of other formats of ")
    return (open_http if is_http(url) else open_with_fsspec)(system, path, url)


def _s3(url: str, storage: Mapping[str, Any]) -> tuple[Any, str]:
    """The file system of pyarrow of a URL of S3, and the path within it."""
    check_place(url)
    path = url.partition("://")[2]
    from pyarrow import fs

    around = {key: value for key, value in os.environ.items() if key.startswith("AWS_") and value}
    options = {**around, **(native_storage(url, storage) or {})}
    plain = {key.lower().removeprefix("aws_"): value for key, value in options.items()}
    given: dict[str, Any] = {S3[key]: value for key, value in plain.items() if key in S3}
    if "anonymous" in given:
        given["anonymous"] = str(given["anonymous"]).lower() in TRUE
    if str(given.get("endpoint_override", "")).lower().startswith("http://"):
        given["scheme"] = "http"
    return fs.S3FileSystem(**given), path
