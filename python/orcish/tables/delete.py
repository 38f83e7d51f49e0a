"""The function :func:`delete`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from orcish._native import Location
from orcish.filters.pushdown import Filters
from orcish.io.filesystem import table_folder
from orcish.keywords import checked_keywords, chosen_options
from orcish.progress import reported
from orcish.tables.deletion import Deleted, DeletedRows, DeletionPlan, delete_rows
from orcish.types import FileSystem, ProgressOption, StorageOptions, WriteOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["delete"]


@checked_keywords
def delete(
    target: str | os.PathLike[str],
    filters: Filters,
    *,
    progress: ProgressOption = False,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
    **options: Unpack[WriteOptions],
) -> Deleted:
    """Deletes the rows of a table for which a filter is true. Rows for which it is null stay.

    Files without such rows are not changed, and most of them are not read. Files that have only such rows are removed.
    The other files are written again, with the types of the table, and with their attributes, codec, user metadata,
    stride of the row index and version. The table changes at once; if the call fails before, it is unchanged. Rows that
    another job adds meanwhile stay.

    The keywords of :class:`~orcish.types.WriteOptions` apply to files that are written again. Without
    ``bloom_filter_columns`` they have no bloom filters.

    >>> orcish.delete("orders/", "id < 5 and day = date '2026-11-20'")
    Deleted(rows=3, files_removed=0, files_rewritten=1)

    Args:
        target: The folder of the table, or of a partition, or its URL.
        filters: The rows to delete; see ``filters`` of :class:`~orcish.types.ReadOptions`. Timestamps are compared with
            all of their digits, as in scans with ``timestamp_unit="exact"``.
        progress: True for a bar on the terminal, or a function that is called with a
            :class:`~orcish.types.Progress` at the beginning and after each file.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
        filesystem: The local file system that the path is within; see :data:`~orcish.types.FileSystem`. Others are
            refused, as commits need more than they offer.

    Returns:
        The numbers of rows and files.

    Raises:
        FileNotFoundError: There is no such folder, or there are no files in it.
        NotADirectoryError: The path is that of a file.
        ValueError: The filter or an option is invalid; a file is behind a link to a folder.
        UnsupportedError: The path is a CarbonData table, or a file was written in a time zone that is not known.
        CorruptFileError: A file cannot be read; the table is unchanged.
        LimitExceededError: A file has timestamps that no unit of Arrow has without a loss, see ``exact`` of
            :class:`~orcish.types.ReadOptions`; the table is unchanged. :func:`orcish.convert` with ``timestamp_unit``
            makes a table without the digits.
        CommitError: A file was changed or removed meanwhile; the table is unchanged.
        UnfinishedCommitError: The commit is decided and not finished, or it is not known whether it is decided.
        OSError: A file cannot be read or written; the table is unchanged.
    """
    chosen = chosen_options(options, WriteOptions)
    path = Location(table_folder(target, filesystem, storage_options)).path
    storage = cast("dict[str, str]", dict(storage_options or {}))
    plan = DeletionPlan.of(path, filters, storage, chosen)
    done: list[DeletedRows] = []
    with plan.job.cleaned_up() as staged, plan.reading():
        with reported(progress, f"delete from {path}", sum(task.size for task in plan.tasks)) as add:
            for task in plan.tasks:
                deleted = delete_rows(task)
                done.append(deleted)
                staged += [] if deleted.staged is None else [deleted.staged]
                add(task.size)
        return plan.commit(done)
