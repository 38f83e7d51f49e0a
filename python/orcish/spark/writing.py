"""Data frames that are written as tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from pyspark.sql import DataFrame

from orcish.io.paths import path_text
from orcish.keywords import checked_keywords, chosen_options
from orcish.spark.options import data_source_options
from orcish.spark.session import make_active, path_of_this_process, session_zone, timestamp_zone
from orcish.types import SparkWriteOptions, StorageOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["write"]


@checked_keywords
def write(
    frame: DataFrame,
    path: str | os.PathLike[str],
    *,
    mode: Literal["append", "overwrite"],
    partition_by: Sequence[str] = (),
    storage_options: StorageOptions | None = None,
    **options: Unpack[SparkWriteOptions],
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
    if mode not in ("append", "overwrite"):
        raise ValueError(f"mode={mode!r}: must be 'append' or 'overwrite'")
    spark = frame.sparkSession
    zones = {"timezone": timestamp_zone(spark), "session_timezone": session_zone(spark)}
    by = list(partition_by) or None
    text = data_source_options(
        {**zones, "partition_by": by, **chosen_options(options, SparkWriteOptions), **(storage_options or {})}
    )
    make_active(spark)
    writer = frame.write.format("orcish").mode(mode).options(**cast("dict[str, Any]", text))
    writer.save(path_of_this_process(spark, path_text(path)))
