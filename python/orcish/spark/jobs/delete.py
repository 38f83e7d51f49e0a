"""Deletion of rows of a table as a Spark job."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from orcish.filters.pushdown import Filters
from orcish.io.paths import absolute
from orcish.keywords import checked_keywords, chosen_options
from orcish.spark.jobs.runner import active_session, run_in_workers, to_frame
from orcish.spark.options import to_text
from orcish.spark.table.writer import mark_success
from orcish.tables.commit import Staged
from orcish.tables.deletion import DeletedRows, DeletionPlan, DeletionTask, delete_rows
from orcish.types import StorageOptions, WriteOptions

__all__ = ["delete"]

RESULT = pa.schema([("rows", pa.int64()), ("files_removed", pa.int64()), ("files_rewritten", pa.int64())])
_BY_TASK = pa.schema(
    [
        ("name", pa.string()),
        ("rows", pa.int64()),
        ("target", pa.string()),
        ("kept", pa.int64()),
        ("size", pa.int64()),
        ("token", pa.binary()),
    ]
)


@checked_keywords
def delete(
    target: str | os.PathLike[str],
    filters: Filters,
    *,
    spark: SparkSession | None = None,
    storage_options: StorageOptions | None = None,
    compression: Literal["zstd", "zlib", "snappy", "lz4", "brotli", "none", "uncompressed"] | None = None,
    compression_level: int | None = None,
    column_compression: Mapping[str, int | Literal["none"] | None] | None = None,
    compression_block_size: int | str | None = None,
    stripe_size: int | str | None = None,
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
    options = chosen_options(locals(), WriteOptions)
    session = active_session(spark)
    plan = DeletionPlan.of(absolute(target), filters, to_text(storage_options or {}), options)

    def run(task: DeletionTask) -> list[tuple[Any, ...]]:
        done = delete_rows(task)
        return [(done.name, done.rows, *(done.staged or (None,) * len(Staged._fields)))]

    deleted: list[DeletedRows] = []
    with plan.job.cleaned_up() as staged, plan.reading(PySparkException):
        for row in run_in_workers(session, plan.tasks, run, _BY_TASK, f"orcish: delete from {target}"):
            kept = None if row["target"] is None else Staged(row["target"], row["kept"], row["size"], row["token"])
            deleted.append(DeletedRows(row["name"], row["rows"], kept))
            staged += [] if kept is None else [kept]
        done = plan.commit(deleted)
        if done.rows:
            mark_success(plan.job)
    return to_frame(session, [done._asdict()], RESULT)
