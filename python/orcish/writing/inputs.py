"""Objects that cannot be written, with what to give in their place."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from orcish.arrow.exported import check_names, check_no_nul

__all__ = ["check_input", "no_input"]


def check_input(data: Any) -> None:
    """Checks objects that have an interface of Arrow, and no rows that can be written.

    Raises:
        TypeError: The data are one column without a name, or a column of a data frame of polars has Python objects.
        ValueError: The name of a column has a NUL.
    """
    polars, pandas = sys.modules.get("polars"), sys.modules.get("pandas")
    if isinstance(data, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        check_names(data.schema)
    elif any(library is not None and isinstance(data, library.DataFrame) for library in (polars, pandas)):
        for name in data.columns:
            check_no_nul(name)
    if polars is not None and isinstance(data, polars.DataFrame):
        for name, kind in data.schema.items():
            if _has_objects(kind, polars.Object):
                raise TypeError(
                    f"column {name!r} has Python objects, of polars' type {kind}, which no file can hold: cast its "
                    "values to another type, or leave the column out"
                )
    elif _is_column(data):
        raise no_input(data)


def _has_objects(kind: Any, objects: Any) -> bool:
    """Whether a type of polars is, or has nested, the type of Python objects."""
    if kind == objects:
        return True
    nested = [field.dtype for field in getattr(kind, "fields", ())]
    inner = getattr(kind, "inner", None)
    return any(_has_objects(each, objects) for each in (nested if inner is None else [*nested, inner]))


def _is_column(data: Any) -> bool:
    """Whether an object is one column. Structs are rows."""
    if isinstance(data, pa.Array | pa.ChunkedArray):
        return not pa.types.is_struct(data.type)
    polars, pandas = sys.modules.get("polars"), sys.modules.get("pandas")
    if polars is not None and isinstance(data, polars.Series):
        return not isinstance(data.dtype, polars.Struct)
    return pandas is not None and isinstance(data, pandas.Series | pandas.Index)


def no_input(data: Any) -> TypeError:
    """The error for an object without rows of Arrow."""
    return TypeError(f"{type(data).__name__} is no table that can be written: {_advice(data)}")


def _advice(data: Any) -> str:
    """What makes rows of an object."""
    kind = type(data)
    library = kind.__module__.partition(".")[0]
    if library == "pyspark":
        return 'Spark writes it, as in frame.write.format("orcish").save(path)'
    if isinstance(data, pa.Table):
        return "a batch is wanted here, and write(table) takes tables"
    if library == "dask":
        return "compute() gives its rows"
    if hasattr(data, "collect"):
        return "collect() gives its rows"
    if hasattr(data, "to_frame"):
        return "it is one column, of which to_frame() makes a data frame"
    if isinstance(data, pa.Array | pa.ChunkedArray) or hasattr(data, "__array__"):
        return "it is one column, of which pyarrow.table({'name': data}) makes a table"
    if isinstance(data, Mapping):
        return (
            "pyarrow.table(data) makes a table of columns by their names, pyarrow.Table.from_pylist(rows) one of rows"
        )
    if isinstance(data, str | os.PathLike):
        return "the rows of a path are orcish.scan(path), or pyarrow.dataset.dataset(path) for other formats"
    return "tables have __arrow_c_stream__ or __arrow_c_array__, as those of pyarrow, polars and pandas"
