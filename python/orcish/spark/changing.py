"""Changes of a table as Spark jobs: small files are joined, and rows are deleted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from orcish._native import Location, StagedFile
from orcish.filters.pushdown import Filters
from orcish.keywords import checked_keywords, chosen_options
from orcish.sizes import parse_size
from orcish.spark.options import to_text
from orcish.spark.runner import active_session, run_in_workers, to_frame
from orcish.spark.target import mark_success
from orcish.tables.commit import STAGED
from orcish.tables.compaction import CompactionPlan, CompactionTask, compact_files
from orcish.tables.deletion import DeletedRows, DeletionPlan, DeletionTask, delete_rows
from orcish.types import StorageOptions, WriteOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["compact", "delete"]

COMPACTED = pa.schema(
    [
        ("folder", pa.string()),
        ("action", pa.string()),
        ("files", pa.int64()),
        ("rows", pa.int64()),
        ("bytes_before", pa.int64()),
        ("bytes_after", pa.int64()),
        ("file", pa.string()),
    ]
)
_COMPACTED_BY_TASK = pa.schema([*COMPACTED, *STAGED])
DELETED = pa.schema([("rows", pa.int64()), ("files_removed", pa.int64()), ("files_rewritten", pa.int64())])
_DELETED_BY_TASK = pa.schema([("name", pa.string()), ("deleted", pa.int64()), *STAGED])


@checked_keywords
def compact(
    target: str | os.PathLike[str],
    *,
    target_file_size: int | str = "512MB",
    rewrite: bool = False,
    spark: SparkSession | None = None,
    storage_options: StorageOptions | None = None,
    **options: Unpack[WriteOptions],
) -> DataFrame:
    """Combines small files of a table, folder by folder, in the order of their names.

    Files with the same types and options are merged: each is checked, and their stripes are copied. Other files, and
    all files with ``rewrite``, are decoded and written again, with the types of the table. The table changes at
    once, when all files have been written; if the job is stopped before, the table is unchanged. Readers that have
    listed the old files and not opened them yet will not find them.

    The keywords of :class:`~orcish.types.WriteOptions` apply to files that are rewritten.

    >>> written = orcish.write_dataset(table, "orders/", partition_by=["day"], existing_data="append")
    >>> osp.compact("orders/", target_file_size="512MB").select("action", "files", "rows").show()
    +------+-----+----+
    |action|files|rows|
    +------+-----+----+
    | merge|    2| 100|
    | merge|    2| 100|
    +------+-----+----+

    Args:
        target: The folder of the table, or of a partition, or its URL.
        target_file_size: Approximate bytes of a file; files of at least three quarters of it are not changed.
        rewrite: Whether all files are rewritten, for larger stripes or other options.
        spark: The session; the active one by default.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.

    Returns:
        A row for each new file: its folder, ``merge`` or ``rewrite``, the number of files that it replaces, rows, bytes
        before and after, and its name.

    Raises:
        ValueError: Options of files are given without ``rewrite``.
        FileNotFoundError: There are no files at the path.
        UnsupportedError: The path is a CarbonData table.
        CommitError: A file was changed or removed while the job ran; the table is unchanged.
        PySparkException: A file cannot be read; the message names it.
    """
    session = active_session(spark)
    size = parse_size(target_file_size)
    plan = CompactionPlan.of(
        Location(target).absolute(),
        to_text(storage_options or {}),
        size,
        rewrite,
        chosen_options(options, WriteOptions),
    )

    def run(task: CompactionTask) -> list[tuple[Any, ...]]:
        file, staged = compact_files(task)
        return [(*file, staged.token)]

    with plan.job.cleaned_up() as made, plan.reading(PySparkException):
        rows = run_in_workers(session, plan.tasks, run, _COMPACTED_BY_TASK, f"orcish: compact {target}")
        made += (StagedFile(row["token"]) for row in rows)
        plan.commit(made)
        if made:
            mark_success(plan.job)
    return to_frame(session, rows, COMPACTED)


@checked_keywords
def delete(
    target: str | os.PathLike[str],
    filters: Filters,
    *,
    spark: SparkSession | None = None,
    storage_options: StorageOptions | None = None,
    **options: Unpack[WriteOptions],
) -> DataFrame:
    """Deletes the rows of a table for which a filter is true, as :func:`orcish.delete` does, with a task for each file
    that may have such rows.

    The keywords of :class:`~orcish.types.WriteOptions` apply to files that are written again.

    >>> osp.delete("orders/", "id < 5 and day = date '2026-11-20'").show()
    +----+-------------+---------------+
    |rows|files_removed|files_rewritten|
    +----+-------------+---------------+
    |   3|            0|              1|
    +----+-------------+---------------+

    Args:
        target: The folder of the table, or of a partition, or its URL.
        filters: The rows to delete; see ``filters`` of :class:`~orcish.types.ReadOptions`. Columns have the types of
            the files, and not those of Spark; timestamps are compared with all of their digits.
        spark: The session; the active one by default.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.

    Returns:
        A row with the numbers of deleted rows, of removed files, and of files that were written again.

    Raises:
        FileNotFoundError: There are no files at the path.
        ValueError: The filter or an option is invalid; a file is behind a link to a folder.
        UnsupportedError: The path is a CarbonData table.
        CommitError: A file was changed or removed while the job ran; the table is unchanged.
        PySparkException: A file cannot be read; the message names it.
    """
    session = active_session(spark)
    plan = DeletionPlan.of(
        Location(target).absolute(), filters, to_text(storage_options or {}), chosen_options(options, WriteOptions)
    )

    def run(task: DeletionTask) -> list[tuple[Any, ...]]:
        done = delete_rows(task)
        return [(done.name, done.rows, None if done.staged is None else done.staged.token)]

    deleted: list[DeletedRows] = []
    with plan.job.cleaned_up() as staged, plan.reading(PySparkException):
        for row in run_in_workers(session, plan.tasks, run, _DELETED_BY_TASK, f"orcish: delete from {target}"):
            kept = None if row["token"] is None else StagedFile(row["token"])
            deleted.append(DeletedRows(row["name"], row["deleted"], kept))
            staged += [] if kept is None else [kept]
        done = plan.commit(deleted)
        if done.rows:
            mark_success(plan.job)
    return to_frame(session, [done._asdict()], DELETED)
