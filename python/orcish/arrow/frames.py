"""Data frames of pandas as rows of tables: what becomes of their index."""

from __future__ import annotations

import json
import sys
from typing import Any

import pyarrow as pa

__all__ = ["with_index_columns", "without_row_numbers"]

PANDAS = b"pandas"
"""Key of the schema metadata that pyarrow has for pandas."""


def with_index_columns(data: Any) -> Any:
    """A data frame of pandas whose named index levels are columns in Arrow, and whose other levels are dropped.

    An unnamed index numbers the rows of one frame. In a table it would be a column that the rows of other frames lack.
    Other data are unchanged.

    Raises:
        ValueError: An index level has the name of a column.
    """
    # pandas is not imported: where it is not loaded, no data can be its.
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(data, pandas.DataFrame):
        return data
    index = data.index
    unnamed = [level for level, name in enumerate(index.names) if name is None]
    columns = {str(name) for name in data.columns}
    for name in index.names:
        if name is not None and str(name) in columns:
            raise ValueError(
                f"{str(name)!r} is a column and an index of the data frame: rename one of them, or drop the index with "
                "reset_index(drop=True)"
            )
    if len(unnamed) == index.nlevels:
        index = pandas.RangeIndex(len(data))
    elif unnamed:
        index = index.droplevel(unnamed)
    elif isinstance(index, pandas.RangeIndex):
        # Arrow has ranges in the metadata only.
        index = pandas.Index(index.to_numpy(), name=index.name)
    else:
        return data
    frame = data.copy(deep=False)
    frame.index = index
    return frame


def without_row_numbers(schema: pa.Schema) -> pa.Schema:
    """The schema without the ranges that number the rows of a data frame.

    pyarrow's ``to_pandas`` applies such a range to any table of the same number of rows, also to other rows.
    """
    described = (schema.metadata or {}).get(PANDAS)
    if described is None:
        return schema
    try:
        found = json.loads(described)
        indexes = found["index_columns"]
        columns = [column for column in indexes if not isinstance(column, dict)]
    except (ValueError, KeyError, TypeError):
        # The metadata are those of another program.
        return schema
    if columns == indexes:
        return schema
    text = json.dumps({**found, "index_columns": columns})
    return schema.with_metadata({**schema.metadata, PANDAS: text.encode()})
