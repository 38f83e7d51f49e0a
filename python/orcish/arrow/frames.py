"""Data frames of pandas as rows of tables: their index, and the metadata from which ``to_pandas`` restores them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from typing import Any, AnyStr

import pyarrow as pa

__all__ = ["PANDAS", "fitted_description", "fitted_metadata", "with_index_columns"]

PANDAS = "pandas"
"""Key of the schema metadata that pyarrow has for pandas."""
TEXTS = ("unicode", "string", "empty")
"""What these metadata call labels of columns that are text, or that are not there."""
_PARSED = re.compile(r"mixed.*|bytes|decimal|integer|floating|u?int\d+|float\d+|datetime.*")
"""What they call other labels that pyarrow makes of the names of columns. It fails on the rest, such as categories and
dates, and takes each boolean for True."""


def with_index_columns(data: Any) -> Any:
    """A data frame of pandas whose named index levels are columns in Arrow, and whose other levels are dropped.

    Levels without name that have integers, or no rows, are dropped: they number the rows of one frame, and the rows of
    other frames in the table have the same numbers. Other data are unchanged.

    Raises:
        ValueError: An index level has the name of a column, or has values of another type and no name.
    """
    # pandas is not imported: where it is not loaded, no data can be its.
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(data, pandas.DataFrame):
        return data
    index = data.index
    unnamed = [level for level, name in enumerate(index.names) if name is None]
    for level in unnamed:
        _check_numbers(index.get_level_values(level))
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


def _check_numbers(index: Any) -> None:
    """Raises ValueError for an index without name whose values are more than numbers of rows."""
    if len(index) and index.dtype.kind not in "iu":
        raise ValueError(
            f"the index of the data frame, of type {index.dtype}, has no name, and would be lost: name it, as in "
            "frame.rename_axis('time'), and it is a column of the table, or drop it with reset_index(drop=True)"
        )


def fitted_metadata(schema: pa.Schema, *, is_whole: bool) -> pa.Schema:
    """The schema with metadata for pandas that fit its columns, see :func:`fitted_description`."""
    described = (schema.metadata or {}).get(PANDAS.encode())
    if described is None:
        return schema
    fitted = fitted_description(described, schema.names, is_whole=is_whole)
    return schema if fitted == described else schema.with_metadata({**schema.metadata, PANDAS.encode(): fitted})


def fitted_description(described: AnyStr, names: Sequence[str], *, is_whole: bool) -> AnyStr | str:
    """Metadata for pandas that fit some columns: ``to_pandas`` fails or numbers rows wrongly otherwise.

    - A range is an index of exactly the rows of one data frame. pyarrow applies it to any table of as many rows.
    - Labels of columns that are no text, such as integers, timestamps or tuples, are parsed from the names of all
      columns. With a column that the metadata do not describe, or labels that pyarrow cannot parse, all columns have
      their names as labels.

    Descriptions of columns that are there, such as their types in pandas, stay.

    Args:
        described: The metadata, as JSON.
        names: Names of the columns.
        is_whole: Whether the rows are those of one data frame, or some of them.
    """
    try:
        found = json.loads(described)
        indexes, labels = found["index_columns"], found.get("column_indexes", [])
        kept = indexes if is_whole else [index for index in indexes if not isinstance(index, dict)]
        known = {column.get("field_name", column.get("name")) for column in found["columns"]}
        kinds = [level.get("pandas_type", "") for level in labels]
        is_text = len(kinds) < 2 and all(kind in TEXTS for kind in kinds)
        is_known = known.issuperset(names) and all(kind in TEXTS or _PARSED.fullmatch(kind) for kind in kinds)
    except (ValueError, KeyError, TypeError, AttributeError):
        # The metadata are those of another program.
        return described
    if not is_text and not is_known:
        labels = []
    if kept == indexes and labels == found.get("column_indexes", []):
        return described
    return json.dumps({**found, "index_columns": kept, "column_indexes": labels})
