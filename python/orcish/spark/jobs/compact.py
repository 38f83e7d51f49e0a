"""Compaction of a table as a Spark job."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from orcish.io.paths import absolute
from orcish.keywords import checked_keywords, chosen_options
from orcish.sizes import parse_size
from orcish.spark.jobs.runner import active_session, run_in_workers, to_frame
from orcish.spark.options import to_text
from orcish.spark.table.writer import mark_success
from orcish.tables.commit import Staged
from orcish.tables.compaction import CompactionPlan, CompactionTask, compact_files
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
_BY_TASK = pa.schema([*RESULT, ("target", pa.string()), ("size", pa.int64()), ("token", pa.binary())])


@checked_keywords
def compact(
    target: str | os.PathLike[str],
    *,
    target_file_size: int | str = "512MB",
    rewrite: bool = False,
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
    options = chosen_options(locals(), WriteOptions)
    session = active_session(spark)
    size = parse_size(target_file_size)
    plan = CompactionPlan.of(absolute(target), to_text(storage_options or {}), size, rewrite, options)

    def run(task: CompactionTask) -> list[tuple[Any, ...]]:
        file, staged = compact_files(task)
        return [(*file, staged.target, staged.size, staged.token)]

    with plan.job.cleaned_up() as made, plan.reading(PySparkException):
        rows = run_in_workers(session, plan.tasks, run, _BY_TASK, f"orcish: compact {target}")
        made += (Staged(row["target"], row["rows"], row["size"], row["token"]) for row in rows)
        plan.commit(made)
        if made:
            mark_success(plan.job)
    return to_frame(session, rows, RESULT)
