"""Files of stores and servers, read by ranges that are of one version of a file."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable, Mapping
from typing import Any

from orcish import _native
from orcish.io.http_ranges import read_range
from orcish.io.names import display_name, errors_with_name
from orcish.io.storage import native_storage
from orcish.io.versions import FileChangedError

__all__ = ["open_http", "open_stored", "open_with_fsspec"]

READ_AHEAD = 4 << 20
"""Bytes of a request at least."""
REASONS = {
    "TooManyRedirects": "the server redirects without an end",
    "ServerDisconnectedError": "the server closed the connection without an answer",
    "ClientConnectorError": "the server cannot be connected to",
    **dict.fromkeys(
        ("InvalidURL", "InvalidUrlRedirectClientError", "NonHttpUrlRedirectClientError"),
        "the server redirects to what is no URL of HTTP",
    ),
    **dict.fromkeys(("BadStatusLine", "BadHttpMessage", "ClientPayloadError"), "the server does not answer with HTTP"),
}
"""What errors of aiohttp are, by their names: their texts have URLs, or bytes of the answer."""
Fetch = Callable[[int, int], bytes]


def open_stored(url: str, storage: Mapping[str, Any]) -> Any:
    """Opens a file of a store that the native core reads.

    Raises:
        OSError, OrcishError: The file cannot be opened.
    """
    file = _native.StoredFile(url, native_storage(url, dict(storage)))
    return io.BufferedReader(_Ranges(file.read, file.size(), url), READ_AHEAD)


def open_http(system: Any, path: str, url: str) -> Any:
    """Opens a file of a server of HTTP. It is read from its begin to its end only where its size is not known.

    Args:
        system: The file system of fsspec.
        path: The path within it.
        url: The URL, for messages.

    Raises:
        OSError: The file cannot be opened.
    """
    with errors_with_name(url):
        try:
            info = system.info(path)
        except FileNotFoundError as error:
            # The answers to other requests are hidden behind this one.
            if error.__cause__ is None or getattr(error.__cause__, "status", None) == 404:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)) from error
            raise OSError(_reason(error.__cause__)) from error
    size = info.get("size")
    if not size or not info.get("partial", True):
        return open_with_fsspec(system, path, url)

    opened = _tag(info)

    def check(headers: Mapping[str, str]) -> None:
        nonlocal opened
        found = _tag(headers)
        if None not in (opened, found) and opened != found:
            raise FileChangedError
        opened = opened or found

    def fetch(start: int, end: int) -> bytes:
        return read_range(system, path, start, end, size, {"Accept-Encoding": "identity"}, check)

    return io.BufferedReader(_Ranges(fetch, size, url), READ_AHEAD)


def open_with_fsspec(system: Any, path: str, url: str) -> Any:
    """Opens a file of any file system of fsspec; arguments as those of :func:`open_http`."""
    with errors_with_name(url):
        file = system.open(path, "rb")
    return _Opened(file, url)


def _tag(said: Mapping[str, Any]) -> str | None:
    """What tells versions of a file apart: its ETag, unless it is a weak one, which may be that of other bytes, too."""
    found = said.get("ETag")
    return None if found is None or str(found).startswith("W/") else str(found)


def _reason(error: Any) -> str:
    """What a server answered. The texts of errors of aiohttp have the URL, which may have credentials."""
    kind, message = type(error).__name__, getattr(error, "message", "")
    if kind in REASONS:
        return REASONS[kind]
    if not hasattr(error, "status"):
        return f"the request failed: {kind}"
    # Of an answer that is none of HTTP, the message has the bytes.
    return f"HTTP {error.status}{f' {message}' if message and message.isprintable() else ''}"


class _Ranges(io.RawIOBase):
    """A file of which ranges are read."""

    def __init__(self, fetch: Fetch, size: int, url: str) -> None:
        self._fetch, self._size, self._url = fetch, size, url
        self._at = 0
        self._whole: bytes | None = None
        """The file, where the server answers requests for a range with all of it."""

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
        data = self._range(start, end)
        buffer[: len(data)] = data
        self._at = end
        return len(data)

    def _range(self, start: int, end: int) -> bytes:
        if self._whole is None:
            with errors_with_name(self._url):
                data = self._fetch(start, end)
            if len(data) == end - start:
                return data
            if len(data) != self._size:
                raise OSError(
                    f"{display_name(self._url)}: the server sent {len(data):,} bytes, and not the {end - start:,} "
                    f"from {start:,} to {end:,} of {self._size:,}: download the file, and convert the copy"
                )
            self._whole = data
        return self._whole[start:end]


class _Opened(io.RawIOBase):
    """A file of fsspec, whose errors name it, and which does not end before its size."""

    def __init__(self, file: Any, url: str) -> None:
        self._file, self._url = file, url

    def readable(self) -> bool:
        """Whether there is ``read``."""
        return True

    def seekable(self) -> bool:
        """Whether there is ``seek``."""
        return bool(self._file.seekable())

    def tell(self) -> int:
        """The position."""
        return int(self._file.tell())

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Goes to a position."""
        with errors_with_name(self._url):
            try:
                return int(self._file.seek(offset, whence))
            except ValueError as error:
                raise OSError("the server gives no ranges of the file: download it, and convert the copy") from error

    def read(self, size: int = -1, /) -> bytes:
        """Reads the next bytes."""
        with errors_with_name(self._url):
            begin = self._file.tell()
            data: bytes = self._file.read(size)
        whole = getattr(self._file, "size", None)
        if isinstance(whole, int) and len(data) != size and begin + len(data) < whole:
            raise OSError(
                f"{display_name(self._url)}: the file ends after {begin + len(data):,} of {whole:,} bytes: copy it "
                "to a local disk, and convert the copy"
            )
        return data

    def close(self) -> None:
        """Closes the file."""
        if not self.closed:
            self._file.close()
        super().close()
