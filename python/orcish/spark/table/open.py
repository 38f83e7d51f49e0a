"""Opening of a table under options of the data source."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from orcish.filters.pushdown import Filters
from orcish.spark.options import TableOptions, to_text
from orcish.spark.session import default_parallelism, session_zone, timestamp_zone
from orcish.spark.table.table import SparkTable
from orcish.spark.types.arrow import nullable
from orcish.types import StorageOptions

__all__ = ["open_table", "session_defaults"]


def open_table(
    spark: SparkSession,
    path: str | Sequence[str],
    columns: Sequence[str] | None,
    where: Filters | None,
    schema: StructType | None,
    options: dict[str, Any],
    storage: StorageOptions | None = None,
    is_carbon: bool | None = None,
) -> SparkTable:
    """A table under the options of a data source, as they are given in Python, and with those of its store."""
    paths = [path] if isinstance(path, str) else list(path)
    given = {**session_defaults(spark), "columns": columns, **options, "paths": paths}
    made = TableOptions.of(to_text(given))
    if storage:
        made = dataclasses.replace(made, storage={**made.storage, **to_text(storage)})
    return SparkTable.open(made, None if schema is None else nullable(schema), where, is_carbon=is_carbon)


def session_defaults(spark: SparkSession) -> dict[str, Any]:
    """Options that the session knows better than a data source, which sees nothing of it."""
    return {
        "timezone": timestamp_zone(spark),
        "sessionTimezone": session_zone(spark),
        "minSplits": default_parallelism(spark),
    }
