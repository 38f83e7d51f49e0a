"""Scans as lazy frames of polars."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from orcish.reading import name_of_rows
from orcish.scan import Sources, scan

if TYPE_CHECKING:
    import polars
    from typing_extensions import Unpack

    from orcish.types import ScanOptions

__all__ = ["scan_polars"]


def scan_polars(source: Sources, **options: Unpack[ScanOptions]) -> polars.LazyFrame:
    """A lazy frame of polars over one file or many; the arguments are those of :func:`orcish.scan`.

    Columns, filters, the number of rows and the size of batches that a query needs go down to the reader: it skips
    stripes and row groups as :class:`orcish.Scan` does.

    >>> orcish.scan_polars("orders/").filter(pl.col("id") == 5).select("name").collect()      # doctest: +SKIP
    """
    import polars
    from polars.io.plugins import register_io_source

    table = scan(source, **options)
    empty = cast("polars.DataFrame", polars.from_arrow(table.schema.empty_table()))

    number, is_limited = name_of_rows(dict(options)), options.get("limit") is not None

    def batches(
        with_columns: list[str] | None, predicate: Any | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[polars.DataFrame]:
        part = table if batch_size is None else table.batch_size(batch_size)
        if n_rows is not None:
            part = part.limit(n_rows)
        # Where rows are counted, the predicate then keeps some of the first.
        after = predicate if n_rows is not None or is_limited else None
        if predicate is not None and after is None:
            part = part.where(predicate)
        if with_columns is not None:
            names = dict.fromkeys(with_columns if after is None else [*with_columns, *after.meta.root_names()])
            part = part.select(*(name for name in names if name != number))
        for batch in part:
            frame = cast("polars.DataFrame", polars.from_arrow(batch))
            frame = frame if after is None else frame.filter(after)
            yield frame if with_columns is None else frame.select(with_columns)

    return register_io_source(batches, schema=empty.schema, validate_schema=True, is_pure=True)
