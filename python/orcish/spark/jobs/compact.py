"""Compaction of a table as a Spark job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from orcish.carbon.detect import check_not_carbon
from orcish.errors import UnfinishedCommitError
from orcish.io.paths import is_hidden
from orcish.keywords import checked_keywords, chosen_options
from orcish.spark.jobs.runner import active_session, parse_size, run_in_workers, to_frame
from orcish.spark.options import to_text
from orcish.spark.table.writer import mark_success
from orcish.tables.commit import Job, Staged
from orcish.tables.compact import CompactionTask, compact_files, compaction_groups, joined_path
from orcish.tables.log.listing import table_files
from orcish.tables.log.recovery import recover
from orcish.types import StorageOptions, WriteOptions

__all__ = ["compact"]

RESULT = pa.schema(
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
_BY_TASK = pa.schema([*RESULT, ("token", pa.binary())])


@checked_keywords
def compact(
    path: str,
    *,
    target_file_size: int | str = "512MB",
    rewrite: bool = False,
    spark: SparkSession | None = None,
    storage_options: StorageOptions | None = None,
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
) -> DataFrame:
    """Combines small files of a table, folder by folder, in the order of their names.

    Files with the same types and options are merged: their stripes are copied, and nothing is decoded. Other files, and
    all files with ``rewrite``, are decoded and written again, with their types and attributes. The table changes at
    once, when all files have been written; if the job is stopped before, the table is unchanged. Readers that have
    listed the old files and not opened them yet will not find them.

    The keywords of :class:`~orcish.types.WriteOptions` apply to files that are rewritten.

    >>> osp.compact("table/", target_file_size="512MB").show()                                  # doctest: +SKIP

    Args:
        path: The folder of the table, local or in an object store.
        target_file_size: Approximate bytes of a file; files of at least three quarters of it are not changed.
        rewrite: Whether all files are rewritten, for larger stripes or other options.
        spark: The session; the active one by default.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.

    Returns:
        A row for each new file: its folder, ``merge`` or ``rewrite``, the number of files that it replaces, rows, bytes
        before and after, and its name.

    Raises:
        ValueError: Options of files are given without ``rewrite``.
        FileNotFoundError: There is nothing at the path.
        UnsupportedError: The path is a CarbonData table.
        OrcishError: A file was changed or removed while the job ran; the table is unchanged.
        PySparkException: A file cannot be read; the message names it.
    """
    options = chosen_options(locals(), WriteOptions)
    session = active_session(spark)
    size = parse_size(target_file_size)
    if options and not rewrite:
        raise ValueError(f"{', '.join(options)}: options of files need rewrite=True, as merged files stay as they are")
    storage = to_text(storage_options or {})
    check_not_carbon(path, storage)
    job = Job(path, storage)
    # Files that an unfinished commit removes are not worth compacting.
    recover(path, storage_options=storage)
    everything = job.files()
    if not everything:
        # Raises FileNotFoundError for a wrong path, but not for a table without files.
        table_files(path, None, storage)
    # Hive writes files of no bytes, which have no rows.
    there = [file for file in everything if file.size and not is_hidden(file.name)]
    tasks = [CompactionTask(job, group, rewrite, options) for group in compaction_groups(there, size, rewrite)]

    made: list[Staged] = []
    try:
        rows = run_in_workers(session, tasks, compact_files, _BY_TASK, f"orcish: compact {path}")
        made += (
            Staged(joined_path(row["folder"], row["file"]), row["rows"], row["bytes_after"], row["token"])
            for row in rows
        )
        if made:
            removed = {name for task in tasks for name in task.names}
            job.commit(made, "compact", existing=[file for file in there if file.name in removed])
            mark_success(job)
    except UnfinishedCommitError:
        raise
    except BaseException:
        job.give_up(made)
        raise
    return to_frame(session, rows, RESULT)
