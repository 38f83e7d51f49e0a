"""The folder of a table, on a local disk, in HDFS or in an object store."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orcish import _native
from orcish._native import Location, complete_storage
from orcish.keywords import chosen_options
from orcish.types import ExistingFile, StorageOptions, WriteOptions
from orcish.writing.writer import ORCWriter

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["MAX_SMALL_BYTES", "FileInfo", "Folder", "UploadInfo", "upload_info"]

MAX_SMALL_BYTES = 64 << 20
"""Maximum bytes of a file for :meth:`Folder.read`, by default."""


class FileInfo(NamedTuple):
    """A file of a folder."""

    name: str
    """Path below the folder, with ``/`` as separator."""
    size: int
    """Size in bytes."""
    modified: float
    """Time of the last write, in seconds since 1970; stores record whole seconds."""


class UploadInfo(NamedTuple):
    """A file that is written and not published."""

    location: str
    """Path or URL of the file once it is published."""
    rows: int
    bytes: int
    """Length of the file."""
    stripes: int


def upload_info(token: bytes) -> UploadInfo:
    """The file that a token belongs to.

    Raises:
        ValueError: The token is invalid.
    """
    return UploadInfo(*_native.upload_info(token))


@dataclasses.dataclass(frozen=True)
class Folder:
    """A folder and operations on the files below it. Names are paths below the folder, with ``/`` as separator.

    The folder need not exist; writing creates it. All calls release the GIL. Errors of the operating system and of
    stores are ``OSError`` with the location. Pickles include the storage options, and thus credentials.

    >>> from orcish.tables.folder import Folder
    >>> folder = Folder("jobs")
    >>> folder.write("_commits/7.json", b"{}")
    >>> folder.write("_commits/7.json", b"{}")
    Traceback (most recent call last):
    FileExistsError: ...

    Args:
        base: A path, a ``file:`` URL, or a URL of S3, Google Cloud Storage, Azure or HDFS.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
    """

    base: str
    """The folder: an absolute path, or a URL, without a trailing slash."""
    storage_options: StorageOptions | None = dataclasses.field(default=None, repr=False, hash=False)

    def __post_init__(self) -> None:
        base = Location(self.base).path
        if not base or base.endswith("://"):
            raise ValueError(f"{self.base!r} is no folder")
        if "://" not in base:
            # Other processes may have other working directories.
            base = Path(base).absolute().as_posix()
        object.__setattr__(self, "base", base.rstrip("/"))
        if self.storage_options is not None:
            object.__setattr__(self, "storage_options", dict(self.storage_options))

    @property
    def _options(self) -> dict[str, Any] | None:
        return complete_storage(self.base, self.storage_options)

    def location(self, name: str) -> str:
        """The path or URL of a file, or, with an empty name, of the folder.

        Raises:
            ValueError: The name leads out of the folder.
        """
        if not name:
            return self.base or "/"
        if any(segment in ("", ".", "..") for segment in name.split("/")):
            raise ValueError(f"{name!r} is no name of a file below {self.base}")
        return f"{self.base}/{name}"

    def below(self, name: str) -> Folder:
        """A folder inside of this one."""
        return Folder(self.location(name), self.storage_options)

    def files(self, name: str = "") -> list[FileInfo]:
        """All files below the folder or a folder inside of it, at any depth, sorted; hidden and temporary files
        included.

        Empty where there is no such folder. Links to files are listed as files; links to folders are not followed.
        """
        start = len(self.base) + 1
        found = _native.list_all(self.location(name), self._options)
        return [FileInfo(at[start:], size, modified) for at, size, modified in found]

    def stat(self, name: str) -> FileInfo | None:
        """Metadata of a file; ``None`` where there is no such file."""
        found = _native.stat(self.location(name), self._options)
        return None if found is None else FileInfo(name, *found)

    def read(self, name: str, *, limit: int = MAX_SMALL_BYTES) -> bytes:
        """Reads a whole file.

        Raises:
            FileNotFoundError: There is no such file.
            LimitExceededError: The file is larger than ``limit``.
        """
        return _native.read_small(self.location(name), self._options, limit=limit)

    def write(self, name: str, data: bytes, *, existing_data: ExistingFile = "error") -> None:
        """Writes a file atomically and durably; missing folders are created.

        Unless it overwrites, exactly one of several concurrent writers succeeds. Local disks need hard links for that;
        stores with the API of S3 have to implement ``If-None-Match``, which cannot be verified.

        Raises:
            FileExistsError: The file exists, and is not replaced.
            UnsupportedError: The store reports that it cannot write conditionally.
        """
        overwrite = existing_data == "overwrite"
        _native.write_small(self.location(name), data, self._options, overwrite=overwrite)

    def delete(self, names: Iterable[str]) -> None:
        """Deletes files, many at a time. Missing files are ignored."""
        if isinstance(names, str):
            raise TypeError("names is a list of names")
        _native.delete_files([self.location(name) for name in names], self._options)

    def delete_folder(self, name: str) -> None:
        """Deletes a folder with everything below it, hidden files included; ``""`` is the folder itself.

        Links are not followed. In a store, parts of unpublished files stay.
        """
        _native.delete_folder(self.location(name), self._options)

    def writer(
        self,
        name: str,
        schema: Any,
        *,
        existing_data: ExistingFile = "error",
        publish: bool = True,
        staging: str | None = None,
        **options: Unpack[WriteOptions],
    ) -> ORCWriter:
        """A writer of a file; with ``publish=False``, the file does not appear until :meth:`complete`.

        On local disks and HDFS, an unpublished file is in the folder ``staging`` inside of this one, and its target
        folder is created when it is published. Without ``staging``, it is in its target folder, which has to exist on
        local disks. Other stores need no folder.
        """
        chosen = chosen_options(options, WriteOptions)
        return ORCWriter(
            self.location(name),
            schema,
            storage_options=self.storage_options,
            existing_data=existing_data,
            publish=publish,
            staging=None if staging is None else self.location(staging),
            **chosen,
        )

    def complete(self, name: str, token: bytes) -> None:
        """Publishes a file, which replaces an existing one.

        Further calls have no effect as long as the file exists. Stores recognize it by metadata; local disks, HDFS
        and Azure by name and size.

        Raises:
            OSError: The file cannot be published, for example because it was aborted, or replaced since.
            ValueError: The token belongs to another file.
        """
        _native.complete_upload(self.location(name), token, self._options)

    def abort(self, name: str, token: bytes) -> None:
        """Removes an unpublished file.

        A missing file is ignored, and a published one stays. Azure has no such request: the parts of an upload stay for
        a week, and can be published.

        Raises:
            ValueError: The token belongs to another file.
        """
        _native.abort_upload(self.location(name), token, self._options)
