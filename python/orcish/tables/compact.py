"""The function :func:`compact`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from orcish._native import Location
from orcish.io.filesystem import table_folder
from orcish.keywords import checked_keywords, chosen_options
from orcish.progress import reported
from orcish.sizes import parse_size
from orcish.tables.compaction import CompactedFile, CompactionPlan, compact_files
from orcish.types import FileSystem, ProgressOption, StorageOptions, WriteOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["compact"]


@checked_keywords
def compact(
    target: str | os.PathLike[str],
    *,
    target_file_size: int | str = "512MB",
    rewrite: bool = False,
    progress: ProgressOption = False,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
    **options: Unpack[WriteOptions],
) -> list[CompactedFile]:
    """Combines small files of a table, folder by folder, in the order of their names.

    Each file is checked. Files with the same types and options are merged: their stripes are copied. Other files, and
    all files with ``rewrite``, which are not checked, are decoded and written again, with the types of the table and
    the time zones of their writers, and the attributes, codec, stride of the row index and version of the first of
    them. The table changes at once, when all files have been written; if the call fails before, the table is unchanged.
    Readers that have listed the old files and not opened them yet will not find them.

    The keywords of :class:`~orcish.types.WriteOptions` apply to files that are rewritten.

    >>> written = orcish.write_dataset(table, "orders/", partition_by=["day"], existing_data="append")
    >>> [(file.files, file.rows) for file in orcish.compact("orders/", target_file_size="512MB", progress=True)]
    [(2, 100), (2, 100)]

    Args:
        target: The folder of the table, or of a partition, or its URL.
        target_file_size: Approximate bytes of a file; files of at least three quarters of it are not changed.
        rewrite: Whether all files are rewritten, for larger stripes or other options.
        progress: True for a bar on the terminal, or a function that is called with a
            :class:`~orcish.types.Progress` at the beginning and after each file.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
        filesystem: The local file system that the path is within; see :data:`~orcish.types.FileSystem`. Others are
            refused, as commits need more than they offer.

    Returns:
        The new files.

    Raises:
        ValueError: Options of files are given without ``rewrite``, or a size is invalid.
        FileNotFoundError: There is no such folder, or there are no files in it.
        NotADirectoryError: The path is that of a file.
        UnsupportedError: The path is a CarbonData table, or a file was written in a time zone that is not known.
        CorruptFileError: A file cannot be read, or, without ``rewrite``, :meth:`orcish.ORCFile.check` finds that it
            contradicts its rows, which may be damaged; the table is unchanged.
        UnsupportedError: Files of one folder have columns that are one column to some readers: of names that differ
            only by case, or of one ``iceberg.id``; the table is unchanged.
        LimitExceededError: Files have timestamps with digits beyond the unit that readers of the table see, or that no
            unit of Arrow has without a loss; the table is unchanged. :func:`orcish.convert` with ``timestamp_unit``
            makes a table with another unit.
        CommitError: A file was changed or removed meanwhile; the table is unchanged.
        UnfinishedCommitError: The commit is decided and not finished, or it is not known whether it is decided.
        OSError: A file cannot be read or written; the table is unchanged.
    """
    chosen = chosen_options(options, WriteOptions)
    size = parse_size(target_file_size)
    path = Location(table_folder(target, filesystem, storage_options)).path
    storage = cast("dict[str, str]", dict(storage_options or {}))
    plan = CompactionPlan.of(path, storage, size, rewrite, chosen)
    done: list[CompactedFile] = []
    with plan.job.cleaned_up() as staged, plan.reading():
        with reported(progress, f"compact {path}", sum(task.size for task in plan.tasks)) as add:
            for task in plan.tasks:
                file, made = compact_files(task)
                done.append(file)
                staged.append(made)
                add(task.size)
        plan.commit(staged)
    return done
