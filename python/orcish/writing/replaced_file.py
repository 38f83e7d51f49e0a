"""Files that are written anew in their place: one that has changed meanwhile stays."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from typing import Any

from orcish import _native
from orcish._native import Location, complete_storage
from orcish.errors import CommitError
from orcish.io.filesystem import foreign_path
from orcish.io.names import display_name
from orcish.io.versions import FileChangedError, Version
from orcish.progress import reported
from orcish.reading.reader import BatchSource, row_count_of, rows_of
from orcish.types import ProgressOption
from orcish.writing.rows import counted
from orcish.writing.writer import ORCWriter, Written

__all__ = ["ReplacedFile"]


class ReplacedFile:
    """A file as it is before its rows are read.

    Args:
        location: Its path or URL.
        storage: Options of the store.

    Raises:
        OSError: There is no such file.
    """

    def __init__(self, location: str, storage: Mapping[str, Any]) -> None:
        found = Location(location)
        # The working directory may change.
        self._location = os.path.abspath(found.path) if found.is_local else found.path
        self._name = display_name(location)
        self._storage = dict(storage)
        self._is_foreign = found.is_foreign
        self._version = _version(self._location, self._storage)

    def write(self, rows: BatchSource, *, progress: ProgressOption = False, options: Mapping[str, Any]) -> Written:
        """Writes a file in its place.

        Args:
            rows: The rows.
            progress: As for :func:`orcish.write_table`.
            options: Options of the file.

        Raises:
            CommitError: The file was changed or removed meanwhile; it stays as it is.
            OSError, OrcishError, ValueError: As in :func:`orcish.write_table`.
        """
        if self._is_foreign:
            output = foreign_path(self._location, self._storage).create()
            try:
                written, _ = self._written(output, rows, progress, options, {})
                self._check_unchanged()
                output.close()
            except BaseException:
                output.abort()
                raise
            return written
        storage = complete_storage(self._location, self._storage)
        unpublished = {"publish": False, "existing_data": "overwrite", "storage_options": self._storage}
        written, token = self._written(self._location, rows, progress, options, unpublished)
        try:
            self._check_unchanged()
            _native.complete_upload(self._location, token, storage)
        except BaseException:
            with contextlib.suppress(Exception):
                _native.abort_upload(self._location, token, storage)
            raise
        return written

    def _written(
        self,
        target: Any,
        rows: BatchSource,
        progress: ProgressOption,
        options: Mapping[str, Any],
        place: Mapping[str, Any],
    ) -> tuple[Written, bytes]:
        """Writes a file that is not published yet."""
        schema, batches = rows_of(rows)
        total = row_count_of(rows) if progress else None
        with (
            ORCWriter(target, schema, **place, **options) as writer,
            reported(progress, f"rewrite {self._name}", total) as add,
        ):
            for batch in counted(batches, add):
                writer.write_batch(batch)
        return writer.close(), writer.token or b""

    def _check_unchanged(self) -> None:
        """Checks that the file in the place has not changed."""
        try:
            is_changed = _version(self._location, self._storage) != self._version
        except (FileChangedError, FileNotFoundError):
            is_changed = True
        if is_changed:
            raise CommitError(f"{self._name}: the file was changed meanwhile, and stays as it is: run it again")


def _version(location: str, storage: dict[str, Any]) -> tuple[Any, ...] | Version:
    """What tells a file apart from another one in its place. Stores tell its size and the time of its last write."""
    if "://" not in location:
        try:
            found = os.stat(location)
        except FileNotFoundError:
            raise FileNotFoundError(f"no such file: {display_name(location)}") from None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
    if Location(location).is_foreign:
        return foreign_path(location, storage).version()
    stored = _native.stat(location, complete_storage(location, storage))
    if stored is None:
        raise FileNotFoundError(f"no such file: {display_name(location)}")
    return stored
