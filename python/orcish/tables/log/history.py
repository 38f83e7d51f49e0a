"""The function :func:`history`."""

from __future__ import annotations

import os
from datetime import datetime, timedelta, timezone
from typing import Literal, NamedTuple, cast

from orcish.keywords import checked_keywords
from orcish.tables.log.table import of_log
from orcish.types import FileSystem, StorageOptions

__all__ = ["Commit", "history"]

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Commit(NamedTuple):
    """A commit of a table, as its log has it."""

    number: int
    """The number of the entry of the log."""
    time: datetime
    """When the commit was decided, in UTC, by the clock of the writer."""
    operation: Literal["append", "overwrite", "compact", "delete"]
    status: Literal["done", "unfinished", "undone"]
    """``unfinished`` is decided; the next writer or :func:`orcish.recover` finishes it. ``undone`` has no effect."""
    rows_added: int
    """Number of the rows of the added files. A compaction adds the rows that it keeps, and so does a deletion."""
    files_added: int
    files_removed: int
    stream: str | None
    """ID of the stream that has written it."""
    batch: int | None
    """Number of the batch of the stream."""
    job: str
    """ID of the job."""
    engine: str
    """Name and version of the writer."""


@checked_keywords
def history(
    target: str | os.PathLike[str],
    *,
    limit: int = 20,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
) -> list[Commit]:
    """The last commits of a table, the newest first.

    The log keeps the last 20 commits, and those of the last hour before the newest.

    >>> [(commit.operation, commit.rows_added) for commit in orcish.history("orders/")]
    [('append', 100)]

    Args:
        target: The folder of the table, or a partition of it, or its URL.
        limit: Maximum number of commits, 0 or more.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
        filesystem: The local file system that the path is within; see :data:`~orcish.types.FileSystem`. Others are
            refused, as commits need more than they offer.

    Returns:
        The commits; none for a folder without a log.

    Raises:
        FileNotFoundError: There is no such folder.
        NotADirectoryError: The path is that of a file.
        CorruptFileError: An entry of the log is invalid.
        OSError: The log cannot be read.
    """
    found = of_log(target, filesystem, storage_options, lambda log: log.history(limit), [])
    return [_commit(*fields) for fields in found]


def _commit(
    number: int,
    millis: int,
    operation: str,
    status: str,
    rows: int,
    added: int,
    removed: int,
    batch: tuple[str, int] | None,
    job: str,
    engine: str,
) -> Commit:
    # The clock of a writer may be wrong by any amount.
    time = EPOCH + timedelta(milliseconds=min(millis, 253_402_300_799_999))
    stream, number_of_batch = batch or (None, None)
    return Commit(
        number,
        time,
        cast('Literal["append", "overwrite", "compact", "delete"]', operation),
        cast('Literal["done", "unfinished", "undone"]', status),
        rows,
        added,
        removed,
        stream,
        number_of_batch,
        job,
        engine,
    )
