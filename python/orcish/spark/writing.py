"""Data frames that are written as tables."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, cast

from pyspark.sql import DataFrame

from orcish.io.paths import path_text
from orcish.keywords import checked_keywords, chosen_options
from orcish.sizes import parse_size
from orcish.spark.options import writer_options
from orcish.spark.session import make_active, session_zone, timestamp_zone
from orcish.types import StorageOptions

__all__ = ["write"]


class _FrameOptions(TypedDict, total=False):
    """Options of the data source for writing, as keywords."""

    max_rows_per_file: int | None
    partition_overwrite_mode: Literal["static", "dynamic"] | None
    case_sensitive: bool | None
    timezone: str | None
    session_timezone: str | None
    compression: Literal["zstd", "zlib", "snappy", "lz4", "brotli", "none", "uncompressed"] | None
    compression_level: int | None
    compression_block_size: int | str | None
    stripe_size: int | str | None
    row_index_stride: int | None
    bloom_filter_columns: Sequence[str] | None
    bloom_filter_fpp: float | None
    dictionary: bool | Mapping[str, bool | None] | None
    verify: bool | None


@checked_keywords
def write(
    frame: DataFrame,
    path: str | os.PathLike[str],
    *,
    mode: Literal["append", "overwrite"],
    partition_by: Sequence[str] = (),
    max_rows_per_file: int | None = None,
    partition_overwrite_mode: Literal["static", "dynamic"] | None = None,
    case_sensitive: bool | None = None,
    timezone: str | None = None,
    session_timezone: str | None = None,
    compression: Literal["zstd", "zlib", "snappy", "lz4", "brotli", "none", "uncompressed"] | None = None,
    compression_level: int | None = None,
    compression_block_size: int | str | None = None,
    stripe_size: int | str | None = None,
    row_index_stride: int | None = None,
    bloom_filter_columns: Sequence[str] | None = None,
    bloom_filter_fpp: float | None = None,
    dictionary: bool | Mapping[str, bool | None] | None = None,
    verify: bool | None = None,
    storage_options: StorageOptions | None = None,
) -> None:
    """Writes a data frame as a table, from any thread of Python.

    This is ``frame.write.format("orcish")``, which Spark finds only in threads that have an active session. The session
    of the data frame becomes the active one of this thread, and its time zones are those of the table.

    >>> osp.write(spark.range(3), "numbers/", mode="overwrite")
    >>> osp.read(spark, "numbers/").count()
    3

    The other keywords are options of the data source; see ``docs/spark-writing.md``.

    Args:
        frame: The rows.
        path: The folder of the table, or its URL.
        mode: Whether the rows are added to the table, or replace it.
        partition_by: Partition columns, the outermost first.
        partition_overwrite_mode: With ``"dynamic"``, ``"overwrite"`` replaces only partitions that have new rows; by
            default, the setting of the session decides.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.

    Raises:
        ValueError: The mode or a size is wrong.
        PySparkException: The rows cannot be written; the table is unchanged.
    """
    options = chosen_options(locals(), _FrameOptions)
    if mode not in ("append", "overwrite"):
        raise ValueError(f"mode={mode!r}: must be 'append' or 'overwrite'")
    for name in ("compression_block_size", "stripe_size"):
        if name in options:
            options[name] = parse_size(options[name])
    spark = frame.sparkSession
    zones = {"timezone": timestamp_zone(spark), "session_timezone": session_zone(spark)}
    by = list(partition_by) or None
    text = writer_options({**zones, "partition_by": by, **options, **(storage_options or {})})
    make_active(spark)
    writer = frame.write.format("orcish").mode(mode).options(**cast("dict[str, Any]", text))
    writer.save(path_text(path))
