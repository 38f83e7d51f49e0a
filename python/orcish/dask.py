"""Tables as data frames of dask.

>>> import orcish.dask
>>> orders = orcish.dask.read("orders/", filters=orcish.col("id") >= 90)
>>> int(orders["id"].min().compute())
90
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from orcish.filters.pushdown import Filters
from orcish.io.names import errors_about
from orcish.io.paths import absolute_source
from orcish.keywords import checked_keywords, chosen_options
from orcish.reading.scan import DEFAULT_SPLIT_SIZE, Scan, Split, reader_of
from orcish.scanning import scan
from orcish.types import Columns, ScanOptions, Sources, TableOptions

if TYPE_CHECKING:
    import dask.dataframe
    from typing_extensions import Unpack

__all__ = ["read"]


@checked_keywords
def read(
    source: Sources,
    *,
    split_size: int = DEFAULT_SPLIT_SIZE,
    columns: Columns | None = None,
    batch_size: int | None = None,
    filters: Filters | None = None,
    limit: int | None = None,
    row_number: bool | str | None = None,
    threads: int | None = None,
    **options: Unpack[TableOptions],
) -> dask.dataframe.DataFrame:
    """A data frame of dask over one file or many, with a partition for each split of the scan. The other arguments are
    those of :func:`orcish.scan`.

    Columns of a query are pushed down; ``filters`` are pushed down where they are given here. Columns have the Arrow
    types that are read (``pandas.ArrowDtype``), so that all partitions have the same types, whatever nulls they have.
    A partition is decoded by one thread unless ``threads`` is given, as dask reads several at a time.

    Args:
        split_size: Stored bytes of a partition, about.

    Raises:
        FileNotFoundError: There is no file.
        UnknownColumnError: The table does not have a column.
        TypeError: The source cannot be read, an option has the wrong type, there is no such option, or the filter is
            about all rows at once.
        ValueError: An option has a wrong value, the filter does not fit the types of the columns, or a ``limit`` is
            given.
    """
    chosen = chosen_options(locals(), ScanOptions)
    import dask.dataframe

    if limit is not None:
        raise ValueError(f"limit={limit}: partitions are read independently; take head() of the data frame")
    # Workers may have other working directories.
    given = scan(source if "filesystem" in chosen else absolute_source(source), **{"threads": 1, **chosen})
    # Raises the error of a column that cannot be read.
    with errors_about(reader_of(given).name):
        meta = _pandas(pa.Table.from_batches([], given.schema))
    # A data frame has at least one partition.
    parts: list[Scan | Split] = [*given.splits(split_size)] or [given.limit(0)]
    # The function has no types.
    from_map: Any = dask.dataframe.from_map
    frame: dask.dataframe.DataFrame = from_map(_frame, parts, meta=meta, label="orcish", enforce_metadata=False)
    return frame


def _frame(part: Scan | Split, columns: Sequence[str] | None = None) -> Any:
    """Some columns of a part of a table, as a data frame of pandas. dask finds the argument ``columns`` by its name."""
    from orcish.datasets.dataset import ScanDataset

    rows = part.scan() if isinstance(part, Split) else part
    with errors_about(reader_of(rows).name):
        return _pandas(ScanDataset(rows).to_table(None if columns is None else list(columns)))


def _pandas(table: pa.Table) -> Any:
    import pandas

    if not table.num_columns:
        return pandas.DataFrame(index=pandas.RangeIndex(table.num_rows))
    return table.to_pandas(types_mapper=pandas.ArrowDtype, ignore_metadata=True)
