"""Scans as datasets of pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orcish.filters.pushdown import Filters
from orcish.keywords import checked_keywords, chosen_options
from orcish.scanning import scan
from orcish.types import Columns, ScanOptions, Sources, TableOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from orcish.datasets.dataset import ScanDataset

__all__ = ["dataset"]


@checked_keywords
def dataset(
    source: Sources,
    *,
    columns: Columns | None = None,
    batch_size: int | None = None,
    filters: Filters | None = None,
    limit: int | None = None,
    row_number: bool | str | None = None,
    threads: int | None = None,
    **options: Unpack[TableOptions],
) -> ScanDataset:
    """A :class:`pyarrow.dataset.Dataset` over one file or many; the arguments are those of :func:`orcish.scan`.

    Libraries that query datasets of pyarrow, such as duckdb, polars and DataFusion, push columns and filters of a query
    down to it, and the reader skips stripes and row groups as :class:`orcish.Scan` does. ``limit`` applies to the scan,
    before the filters of the query.

    It has the methods of :class:`pyarrow.dataset.Dataset`. Filters are expressions of pyarrow, columns are names or
    expressions by their names. A scanner reads once. Fragments are splits of the scan. Sorting and joins read the
    dataset into memory. It can be pickled as a scan can.

    >>> import duckdb
    >>> orders = orcish.dataset("orders/")
    >>> duckdb.sql("select sum(id) from orders where id between 5 and 9").fetchall()
    [(35,)]

    Raises:
        FileNotFoundError: There is no file.
        UnknownColumnError: The table does not have a column.
        TypeError: The source cannot be read, an option has the wrong type, or there is no such option.
        ValueError: An option has a wrong value, the filter does not fit the types of the columns, or ``stripes`` are
            given.
    """
    chosen = chosen_options(locals(), ScanOptions)
    from orcish.datasets.dataset import ScanDataset

    return ScanDataset(scan(source, **chosen))
