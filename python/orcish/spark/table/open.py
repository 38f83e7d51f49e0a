"""Opening of a table under options of the data source."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from orcish.filters.pushdown import Filters
from orcish.spark.options import TableOptions, data_source_options, path_texts, to_text
from orcish.spark.session import default_parallelism, infers_partition_types, session_zone, timestamp_zone
from orcish.spark.table.table import SparkTable
from orcish.spark.types.arrow import nullable
from orcish.types import StorageOptions

__all__ = ["open_table", "session_defaults"]


def open_table(
    spark: SparkSession,
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    columns: Sequence[str] | None = None,
    filters: Filters | None = None,
    schema: StructType | None = None,
    options: Mapping[str, Any] | None = None,
    storage_options: StorageOptions | None = None,
    is_carbon: bool | None = None,
) -> SparkTable:
    """Opens a table.

    Args:
        spark: The session.
        path: A path or URL of a file or folder, a pattern, or several of them.
        columns: Dotted names of columns.
        filters: Which rows are read.
        schema: The columns and their types.
        options: :class:`~orcish.spark.options.SourceOptions`, or options of the data source by its own names.
        storage_options: Options of the object store.
        is_carbon: Whether this is a table of CarbonData; ``None`` finds out.
    """
    given = {**session_defaults(spark), "columns": columns, **(options or {}), "paths": path_texts(path)}
    parsed = TableOptions.of(data_source_options(given))
    if storage_options:
        # Unlike options of the data source, these may have any name.
        parsed = dataclasses.replace(parsed, storage={**parsed.storage, **to_text(storage_options)})
    return SparkTable.open(parsed, None if schema is None else nullable(schema), filters, is_carbon=is_carbon)


def session_defaults(spark: SparkSession) -> dict[str, Any]:
    """Options that come from the session, which a data source cannot access."""
    return {
        "timezone": timestamp_zone(spark),
        "session_timezone": session_zone(spark),
        "min_splits": default_parallelism(spark),
        "partition_column_type_inference": None if infers_partition_types(spark) else False,
    }
