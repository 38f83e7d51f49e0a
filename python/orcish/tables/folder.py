"""The folder of a table, on this machine or in a store, as it is needed by who decides which files are of the table."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from orcish import _native
from orcish.io.paths import local_path, native_source
from orcish.keywords import chosen_options
from orcish.types import Source, StorageOptions, WriteOptions
from orcish.writing.writer import ORCWriter, Written

__all__ = ["MAX_SMALL_BYTES", "FileInfo", "Folder", "UploadInfo", "upload_info"]

MAX_SMALL_BYTES = 64 << 20
"""Most bytes of a file that :meth:`Folder.read` reads, by default."""


class FileInfo(NamedTuple):
    """A file of a folder."""

    name: str
    """Its path below the folder, with ``/`` between names."""
    size: int
    """Bytes."""
    modified: float
    """Seconds since 1970 when it was last written; stores say it to the second."""


class UploadInfo(NamedTuple):
    """A file that has been written and not published."""

    location: str
    """Where it is to be."""
    rows: int
    bytes: int
    """Length of the file."""
    stripes: int


def upload_info(token: bytes) -> UploadInfo:
    """What a token says of its file.

    Raises:
        ValueError: It is no token.
    """
    return UploadInfo(*_native.upload_info(token))


@dataclasses.dataclass(frozen=True)
class Folder:
    """A folder, and what is done with files below it. Names are paths below the folder, with ``/`` between them.

    It need not be there: what is written makes it. All calls release the interpreter, and errors of the system or a
    store are an ``OSError`` that names the location. Pickled, it has the storage options in it, secrets and all.

    >>> folder = Folder("s3://bucket/table", options)                                       # doctest: +SKIP
    >>> folder.write("_commits/7.json", data)   # FileExistsError where somebody else has made it

    Args:
        base: A path, a ``file:`` URL, or a URL of S3, Google Cloud Storage or Azure.
        storage_options: How the store of a URL is reached; see :data:`~orcish.types.StorageOptions`.
    """

    base: str
    """The folder: an absolute path, or a URL; without ``/`` at its end."""
    storage_options: StorageOptions | None = dataclasses.field(default=None, repr=False, hash=False)

    def __post_init__(self) -> None:
        base = local_path(os.fspath(self.base))
        if not base or base.endswith("://"):
            raise ValueError(f"{self.base!r} is no folder")
        if "://" not in base:
            # Other processes have other working directories.
            base = Path(base).absolute().as_posix()
        object.__setattr__(self, "base", base.rstrip("/"))
        if self.storage_options is not None:
            object.__setattr__(self, "storage_options", dict(self.storage_options))

    @property
    def _options(self) -> dict[str, Any] | None:
        return cast("dict[str, Any] | None", self.storage_options)

    def location(self, name: str) -> str:
        """The path or URL of a file; with no name, that of the folder.

        Raises:
            ValueError: The name leads out of the folder.
        """
        if not name:
            return self.base or "/"
        if any(segment in ("", ".", "..") for segment in name.split("/")):
            raise ValueError(f"{name!r} is no name of a file below {self.base}")
        return f"{self.base}/{name}"

    def below(self, name: str) -> Folder:
        """A folder in this one."""
        return Folder(self.location(name), self.storage_options)

    def files(self, name: str = "") -> list[FileInfo]:
        """All files below the folder, or one in it, at any depth, in order; hidden and temporary ones too.

        None where there is no such folder. Links to files are files here, those to folders are not followed.
        """
        start = len(self.base) + 1
        found = _native.list_all(self.location(name), self._options)
        return [FileInfo(at[start:], size, modified) for at, size, modified in found]

    def stat(self, name: str) -> FileInfo | None:
        """What is known of a file; ``None`` where there is none of this name, or a folder."""
        found = _native.stat(self.location(name), self._options)
        return None if found is None else FileInfo(name, *found)

    def read(self, name: str, *, limit: int = MAX_SMALL_BYTES) -> bytes:
        """All bytes of a file.

        Raises:
            FileNotFoundError: There is none.
            LimitExceededError: It has more than ``limit``.
        """
        return _native.read_small(self.location(name), self._options, limit=limit)

    def write(self, name: str, data: bytes, *, overwrite: bool = False) -> None:
        """Makes a file, which appears whole and is durable then; folders that it is in are made.

        Without ``overwrite`` exactly one of several that write at a time does, whatever they write. On local disks that
        takes hard links; stores of S3's kind have to know ``If-None-Match``, which they have to be trusted with.

        Raises:
            FileExistsError: There is one, without ``overwrite``.
            UnsupportedError: The store says that it cannot leave alone what is there.
        """
        _native.write_small(self.location(name), data, self._options, overwrite=overwrite)

    def delete(self, names: Iterable[str]) -> None:
        """Deletes files, many at a time; those that are missing are no error."""
        if isinstance(names, str):
            raise TypeError("names is a list of names")
        _native.delete_files([self.location(name) for name in names], self._options)

    def delete_folder(self, name: str) -> None:
        """Deletes a folder with all that is below, hidden files too; ``""`` stands for this one.

        Links are not followed. In a store, parts of files that are not published stay.
        """
        _native.delete_folder(self.location(name), self._options)

    def writer(
        self,
        name: str,
        schema: Any,
        *,
        publish: bool = True,
        staging: str | None = None,
        compression: Literal["zstd", "zlib", "snappy", "lz4", "brotli", "none", "uncompressed"] | None = None,
        compression_level: int | None = None,
        column_compression: Mapping[str, int | Literal["none"] | None] | None = None,
        compression_block_size: int | None = None,
        stripe_size: int | None = None,
        row_index_stride: int | None = None,
        bloom_filter_columns: Sequence[str] | None = None,
        bloom_filter_fpp: float | None = None,
        dictionary: bool | Mapping[str, bool | None] | None = None,
        metadata: Mapping[str, bytes | str] | None = None,
        timezone: str | None = None,
        version: Literal["0.11", "0.12"] | None = None,
        arrow_schema: bool | None = None,
        threads: int | None = None,
        verify: bool | None = None,
    ) -> ORCWriter:
        """A writer of a file; with ``publish=False`` of one that does not appear until it is :meth:`complete`.

        On local disks such a file waits in the folder ``staging`` of this one, and its own folder is made when it
        appears; without ``staging`` it waits in its own folder, which has to be there.
        """
        options = chosen_options(locals(), WriteOptions)
        return ORCWriter(
            self.location(name),
            schema,
            storage_options=self.storage_options,
            publish=publish,
            staging=self._waiting(staging),
            **options,
        )

    def merge(self, sources: Sequence[Source], name: str, *, staging: str | None = None) -> tuple[Written, bytes]:
        """Writes the stripes of files as one, as :func:`orcish.merge` does, which does not appear until it is
        :meth:`complete`.

        Returns:
            What has been written, and its token.

        Raises:
            ValueError: There are no files, or they are not alike; the message names the file and what differs.
        """
        *written, token = _native.merge_files(
            [native_source(source) for source in sources],
            self.location(name),
            storage_options=self._options,
            publish=False,
            staging=self._waiting(staging),
        )
        return Written(*written), cast("bytes", token)

    def _waiting(self, staging: str | None) -> str | None:
        """Where files wait that do not appear: in stores, where they will be."""
        return None if staging is None or "://" in self.base else self.location(staging)

    def complete(self, name: str, token: bytes) -> None:
        """Makes a file appear that has been written and not published, in place of what is there.

        Once more does nothing more, as long as the file is there: a store knows it by what it keeps with it; on local
        disks and with Azure it is known by its name and size.

        Raises:
            OSError: It cannot appear, such as where it has been given up, or replaced since.
            ValueError: The token is of another file.
        """
        _native.complete_upload(self.location(name), token, self._options)

    def abort(self, name: str, token: bytes) -> None:
        """Removes a file that has been written and not published.

        One that is gone is no error, and one that has appeared stays. Azure removes parts by itself only, after a week.

        Raises:
            ValueError: The token is of another file.
        """
        _native.abort_upload(self.location(name), token, self._options)
