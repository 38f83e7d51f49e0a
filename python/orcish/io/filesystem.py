"""Files of stores without a client in orcish, opened by fsspec."""

from __future__ import annotations

import urllib.parse
from typing import Any

from orcish import _native
from orcish.errors import UnsupportedError
from orcish.io.files import TableFile
from orcish.io.paths import is_hidden

__all__ = ["ForeignFile", "foreign_files", "is_foreign"]

OWN = frozenset(
    ("", "file", "s3", "s3a", "gs", "gcs", "az", "azure", "adl", "abfs", "abfss", "hdfs", "viewfs", "http", "https")
)
"""Schemes of URLs that orcish opens itself."""


def is_foreign(path: str) -> bool:
    """Whether a location is a URL that orcish does not open itself."""
    scheme, sign, _ = path.partition("://")
    return bool(sign) and scheme.lower() not in OWN


class ForeignFile:
    """A file given by its URL. It can be pickled, and is opened on first use, in any process."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._file: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return ForeignFile, (self._url,)

    def _opened(self) -> Any:
        if self._file is None:
            system, path = _system(self._url)
            self._file = system.open_input_file(path)
        return self._file

    def read(self, size: int = -1, /) -> bytes:
        """Reads at most ``size`` bytes."""
        return bytes(self._opened().read(None if size < 0 else size))

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Moves to ``offset``."""
        file = self._opened()
        file.seek(offset, whence)
        return int(file.tell())


def foreign_files(url: str, partitions: bool | None) -> list[TableFile]:
    """The files at or below a URL, with their partition values.

    Raises:
        FileNotFoundError: There is nothing at the URL.
        UnsupportedError: fsspec does not know the scheme.
    """
    from pyarrow import fs

    system, path = _system(url)
    info = system.get_file_info(path)
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(f"no files: {url}")
    base = url.rstrip("/")
    if info.type == fs.FileType.File:
        return [TableFile(base, ForeignFile(base), _native.partitions_of(base) if partitions else [])]
    start = len(path.rstrip("/"))
    found = system.get_file_info(fs.FileSelector(path, recursive=True))
    names = sorted(each.path[start:] for each in found if each.type == fs.FileType.File and each.size > 0)
    urls = [base + name for name in names if not is_hidden(name.lstrip("/"))]
    has_values = partitions is not False
    return [TableFile(at, ForeignFile(at), _native.partitions_below(base, at) if has_values else []) for at in urls]


def _system(url: str) -> tuple[Any, str]:
    from pyarrow import fs

    scheme = urllib.parse.urlsplit(url).scheme.lower()
    try:
        import fsspec

        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise UnsupportedError(f"{url}: {scheme} is known to neither orcish nor fsspec: {error}") from error
    return fs.PyFileSystem(fs.FSSpecHandler(system)), path
