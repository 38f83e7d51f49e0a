"""Stores of obstore, in the form that readers and writers use."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from orcish.io.names import display_name
from orcish.io.ranges import CONCURRENCY
from orcish.io.systems import OpenFile, Output, Status, joined
from orcish.io.versions import FileChangedError, Version, check_unchanged, version_of

__all__ = ["ObstoreSystem"]


class ObstoreSystem:
    """A store of obstore."""

    concurrency = CONCURRENCY

    def __init__(self, store: Any) -> None:
        self._store = store

    def normalized(self, path: str) -> str:
        """See :class:`~orcish.io.systems.System`."""
        if "://" in path:
            raise ValueError(
                f"{display_name(path)!r}: the path within a store is no URL: it begins below the bucket and prefix"
            )
        return path.strip("/")

    def native_path(self, path: str) -> str | None:
        """See :class:`~orcish.io.systems.System`."""
        from obstore.store import LocalStore

        if not isinstance(self._store, LocalStore):
            return None
        return joined(str(self._store.prefix or "/"), path)

    def status(self, path: str) -> Status:
        """See :class:`~orcish.io.systems.System`."""
        import obstore

        with _errors():
            if path:
                with contextlib.suppress(FileNotFoundError):
                    return Status(is_file=True, is_folder=False, size=obstore.head(self._store, path)["size"])
            is_folder = any(obstore.list(self._store, prefix=path or None, chunk_size=1))
        return Status(is_file=False, is_folder=is_folder, size=None)

    def find(self, folder: str) -> list[tuple[str, int | None]]:
        """See :class:`~orcish.io.systems.System`."""
        import obstore

        with _errors():
            chunks = obstore.list(self._store, prefix=folder or None)
            return [(found["path"], found["size"]) for chunk in chunks for found in chunk]

    def open(self, path: str) -> OpenFile:
        """See :class:`~orcish.io.systems.System`."""
        import obstore

        with _errors():
            return Object(self._store, path, obstore.head(self._store, path))

    def create(self, path: str) -> Output:
        """See :class:`~orcish.io.systems.System`."""
        import obstore

        with _errors():
            return Upload(obstore.open_writer(self._store, path))


class Object:
    """An object of a store. Each read is one request, for the version that was opened if the object has an ETag."""

    def __init__(self, store: Any, path: str, meta: Any) -> None:
        self._store, self._path = store, path
        self._size: int = meta["size"]
        self._opened = version_of(meta, self._size)
        etag = meta.get("e_tag")
        # A condition with a weak ETag never holds.
        self._etag = None if not etag or etag.startswith("W/") else etag

    def read_at(self, nbytes: int, offset: int) -> Any:
        """See :class:`~orcish.io.systems.OpenFile`."""
        import obstore

        length = min(nbytes, self._size - offset)
        if length <= 0:
            return b""
        with _errors():
            if self._etag is None:
                return obstore.get_range(self._store, self._path, start=offset, length=length)
            options: Any = {"if_match": self._etag, "range": (offset, offset + length)}
            found = obstore.get(self._store, self._path, options=options)
            # Some servers do not look at conditions.
            check_unchanged(self._opened, version_of(found.meta, found.meta["size"]))
            return found.bytes()

    def size(self) -> int:
        """See :class:`~orcish.io.systems.OpenFile`."""
        return self._size

    def version(self) -> Version:
        """See :class:`~orcish.io.systems.OpenFile`."""
        return self._opened

    def check(self) -> None:
        """See :class:`~orcish.io.systems.OpenFile`."""
        import obstore

        if self._etag is None:
            with _errors():
                meta = obstore.head(self._store, self._path)
            check_unchanged(self._opened, version_of(meta, meta["size"]))


class Upload:
    """An object that is being written. It appears with the last request."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, data: bytes, /) -> object:
        """See :class:`~orcish.io.systems.Output`."""
        with _errors():
            return self._file.write(data)

    def close(self) -> None:
        """See :class:`~orcish.io.systems.Output`."""
        file, self._file = self._file, None
        if file is not None:
            with _errors():
                file.close()

    def abort(self) -> None:
        """See :class:`~orcish.io.systems.Output`. An upload that is not completed is no object."""
        self._file = None


@contextlib.contextmanager
def _errors() -> Iterator[None]:
    """Errors of obstore become errors of the system."""
    from obstore.exceptions import (
        BaseError,
        NotFoundError,
        PermissionDeniedError,
        PreconditionError,
        UnauthenticatedError,
    )

    try:
        yield
    except PreconditionError as error:
        raise FileChangedError from error
    except BaseError as error:
        if isinstance(error, NotFoundError):
            kind: type[OSError] = FileNotFoundError
        else:
            is_refused = isinstance(error, PermissionDeniedError | UnauthenticatedError)
            kind = PermissionError if is_refused else OSError
        # The rest of the message has the structure of the error.
        raise kind(str(error).partition("\n\nDebug source")[0]) from error
