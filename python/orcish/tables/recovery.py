"""Repair of tables after processes have died."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Literal, cast

from orcish._native import Location
from orcish.carbon.detect import check_not_carbon
from orcish.io.filesystem import table_folder
from orcish.keywords import checked_keywords
from orcish.tables.log.table import of_log
from orcish.types import FileSystem, StorageOptions

__all__ = ["recover", "vacuum"]

STALE = timedelta(days=7)
"""Age from which on a job that has written nothing is taken for dead."""


@checked_keywords
def recover(
    target: str | os.PathLike[str],
    *,
    undo: bool = False,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
) -> Literal["nothing", "finished", "undone"]:
    """Finishes the last commit of a table, if the process that has decided it died before its end.

    Any process can call this function at any time. There is seldom a need to: writers do the same before they commit.
    Readers do not.

    >>> orcish.recover("orders/")
    'nothing'

    Args:
        target: The folder of the table, or a partition of it, or its URL.
        undo: Whether a commit is undone of which a file cannot appear: its bytes are lost, or there is no right to
            write it, or no place for it. The rows of the commit are lost, and the table has the rows that it had
            before. Try without it first, when the cause is removed. Bytes are lost where somebody has removed them, or
            where a store has removed uploads that were not completed. Other commits are not undone.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
        filesystem: The local file system that the path is within; see :data:`~orcish.types.FileSystem`. Others are
            refused, as commits need more than they offer.

    Returns:
        What was done.

    Raises:
        FileNotFoundError: There is no such folder.
        NotADirectoryError: The path is that of a file.
        UnsupportedError: The path is a CarbonData table.
        CommitError: The commit cannot be finished.
        OSError: The table cannot be read or written.
    """
    _check_not_carbon(target, filesystem, storage_options)
    done = of_log(target, filesystem, storage_options, lambda log: log.recover(undo=undo), "nothing")
    return cast('Literal["nothing", "finished", "undone"]', done)


@checked_keywords
def vacuum(
    target: str | os.PathLike[str],
    *,
    older_than: timedelta | float = STALE,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
) -> int:
    """Removes files that dead jobs have written and never published. Files of the table stay.

    Such files are below ``_orcish/jobs``. In stores, they are uploads that were not completed, which the rules of the
    store remove. Temporary files of the log, files ``.….probe`` that a killed job has left in a partition, and empty
    folders of jobs are removed too.

    >>> orcish.vacuum("orders/")
    0

    Args:
        target: The folder of the table, or a partition of it, or its URL.
        older_than: Time since the last write from which on a job is taken for dead: a ``timedelta`` or a number of
            days, 7 by default. A job that goes on after its files were removed fails, and changes nothing.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
        filesystem: The local file system that the path is within; see :data:`~orcish.types.FileSystem`. Others are
            refused, as commits need more than they offer.

    Returns:
        The number of files that were removed.

    Raises:
        FileNotFoundError: There is no such folder.
        NotADirectoryError: The path is that of a file.
        UnsupportedError: The path is a CarbonData table.
        ValueError: The time is negative.
        OSError: The table cannot be read or written.
    """
    age = older_than if isinstance(older_than, timedelta) else timedelta(days=older_than)
    _check_not_carbon(target, filesystem, storage_options)
    return of_log(target, filesystem, storage_options, lambda log: log.vacuum(age.total_seconds()), 0)


def _check_not_carbon(
    target: str | os.PathLike[str], filesystem: FileSystem | None, storage_options: StorageOptions | None
) -> None:
    path = Location(table_folder(target, filesystem, storage_options)).path
    check_not_carbon(path, cast("dict[str, str]", dict(storage_options or {})))
