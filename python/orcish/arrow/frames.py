"""Data frames of pandas as rows of tables: their index, and the metadata from which ``to_pandas`` restores them."""

from __future__ import annotations

import sys
from typing import Any

import pyarrow as pa

from orcish import _native

__all__ = ["PANDAS", "fitted_metadata", "with_index_columns"]

PANDAS = "pandas"
"""Key of the schema metadata that pyarrow has for pandas."""


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
    """The schema with metadata for pandas that fit its columns, see :func:`orcish._native.fitted_pandas`."""
    described = (schema.metadata or {}).get(PANDAS.encode())
    if described is None:
        return schema
    fitted = _native.fitted_pandas(described.decode(errors="replace"), schema.names, is_whole)
    return schema if fitted is None else schema.with_metadata({**schema.metadata, PANDAS.encode(): fitted})
