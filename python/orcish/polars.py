"""Scans as lazy frames of polars."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from orcish.arrow.polars import check_polars_types, polars_type, to_polars
from orcish.filters.pushdown import ElementwisePredicate, Filters
from orcish.io.names import errors_about
from orcish.keywords import checked_keywords, chosen_options
from orcish.reading.scan import Scan, reader_of
from orcish.reading.source import row_number_name
from orcish.scanning import scan
from orcish.types import Columns, ScanOptions, Sources, TableOptions

if TYPE_CHECKING:
    import polars
    from typing_extensions import Unpack


__all__ = ["scan_polars"]


@checked_keywords
def scan_polars(
    source: Sources,
    *,
    columns: Columns | None = None,
    batch_size: int | None = None,
    filters: Filters | None = None,
    limit: int | None = None,
    row_number: bool | str | None = None,
    threads: int | None = None,
    **options: Unpack[TableOptions],
) -> polars.LazyFrame:
    """A lazy frame of polars over one file or many; the arguments are those of :func:`orcish.scan`.

    Columns, filters, the number of rows and the batch size of a query are pushed down to the reader, which skips
    stripes and row groups as :class:`orcish.Scan` does. ``limit`` applies to the scan, before the filters of the query.
    Types without an equivalent in polars are converted: 256-bit decimals to 128 bits, decimals of negative scale to
    scale 0, list views to lists.

    >>> orcish.scan_polars("orders/").filter(pl.col("id") == 5).select("total").collect().rows()
    [(Decimal('5.00'),)]

    Raises:
        TypeError: A column is of a type without an equivalent: an interval, a decimal of more than 38 digits, or a
            union, which ``unions="struct"`` reads as a struct. ``columns`` can leave the column out.
    """
    chosen = chosen_options(locals(), ScanOptions)
    from polars.io.plugins import register_io_source

    given = scan(source, **chosen)
    # Raises the error of a column that cannot be read.
    given.schema  # noqa: B018
    # The native core converts the types, as pyarrow's casts of lists are unreliable.
    reader = reader_of(given).with_types(polars_type)
    table = Scan(reader)
    schema, name = table.schema, reader.name
    with errors_about(name):
        check_polars_types(schema)
        empty = to_polars(pa.Table.from_batches([], schema))
    number = row_number_name(chosen)
    parts = reader.parts_of_columns()

    def batches(
        with_columns: list[str] | None, predicate: Any | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[polars.DataFrame]:
        part = table if batch_size is None else table.batch_size(batch_size)
        # With a number of rows, the predicate filters only the first rows.
        if n_rows is not None:
            part = part.limit(n_rows)
        if predicate is not None:
            # polars pushes down only elementwise predicates.
            part = part.where(ElementwisePredicate(predicate))
        if with_columns is not None:
            read = (each for name in with_columns if name != number for each in parts.get(name, [name]))
            part = part.select(list(dict.fromkeys(read)))
        for batch in part:
            with errors_about(name):
                frame: polars.DataFrame = to_polars(batch)
            if with_columns:
                frame = frame.select(with_columns)
            elif with_columns is not None:
                # A selection of no column would lose the number of rows.
                frame = frame.drop(frame.columns)
            yield frame

    return register_io_source(batches, schema=empty.schema, validate_schema=True, is_pure=True)
