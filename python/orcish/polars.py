"""Scans as lazy frames of polars."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from orcish.arrow.polars import check_is_of_polars, of_polars, to_polars
from orcish.filters.pushdown import ElementwisePredicate, Filters
from orcish.keywords import checked_keywords, chosen_options
from orcish.reading.orc_files import OrcFiles
from orcish.reading.reader import row_number_name
from orcish.reading.scan import Scan, reader_of
from orcish.reading.scan_reader import ScanReader
from orcish.scan import scan
from orcish.types import Columns, Limits, Matching, ScanOptions, Sources, StorageOptions

if TYPE_CHECKING:
    import polars


__all__ = ["scan_polars"]


@checked_keywords
def scan_polars(
    source: Sources,
    *,
    columns: Columns | None = None,
    batch_size: int | None = None,
    stripes: Sequence[int] | None = None,
    filters: Filters | None = None,
    limit: int | None = None,
    row_number: bool | str | None = None,
    threads: int | None = None,
    arrow_schema: bool | None = None,
    timestamp_unit: Literal["s", "ms", "us", "ns", "auto"] | None = None,
    timestamps: Literal["wall", "instant"] | None = None,
    timezone: str | None = None,
    timestamp_out_of_range: Literal["error", "null"] | None = None,
    strings: Literal["utf8", "large", "view", "dictionary", "binary"] | None = None,
    invalid_utf8: Literal["error", "replace", "null", "binary"] | None = None,
    decimal_out_of_range: Literal["error", "null"] | None = None,
    long_char: Literal["keep", "cut", "error"] | None = None,
    trim_char: bool | None = None,
    unions: Literal["dense", "sparse", "struct"] | None = None,
    null_map_keys: Literal["error", "dictionary"] | None = None,
    masked: Literal["error", "allow"] | None = None,
    schema: pa.Schema | None = None,
    match: Matching | None = None,
    partitions: bool | None = None,
    storage_options: StorageOptions | None = None,
    limits: Limits | None = None,
    external_locations: Sequence[str | os.PathLike[str]] | None = None,
) -> polars.LazyFrame:
    """A lazy frame of polars over one file or many; the arguments are those of :func:`orcish.scan`.

    Columns, filters, the number of rows and the size of batches that a query needs go down to the reader: it skips
    stripes and row groups as :class:`orcish.Scan` does. ``limit`` is of the scan: rows are limited before the query
    filters them. Types that polars has not become others: decimals of 256 bits those of 128, those of a scale below 0
    those of scale 0, views of lists lists.

    >>> orcish.scan_polars("orders/").filter(pl.col("id") == 5).select("name").collect()      # doctest: +SKIP

    Raises:
        TypeError: A column is of a type that polars has not: an interval; a decimal of more than 38 digits; a union,
            which can be read as a struct. `columns` can leave it out.
    """
    options = chosen_options(locals(), ScanOptions)
    from polars.io.plugins import register_io_source

    given = scan(source, **options)
    # Which fails where a column cannot be read.
    given.schema  # noqa: B018
    table = _with_types_of_polars(given)
    schema = table.schema
    check_is_of_polars(schema)
    empty = to_polars(pa.Table.from_batches([], schema))
    parts = _parts(table, options.get("columns"), schema.names)
    number = row_number_name(options)
    reader = reader_of(table)
    _, after_read = reader.prepare(reader.options)
    # What is about all rows, or the first ones, is not about those that the query's predicate keeps.
    is_first = options.get("limit") is not None or (after_read is not None and not after_read.residual.by_row)

    def batches(
        with_columns: list[str] | None, predicate: Any | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[polars.DataFrame]:
        part = table if batch_size is None else table.batch_size(batch_size)
        if n_rows is not None:
            part = part.limit(n_rows)
        # Where rows are counted, the predicate then keeps some of the first.
        after = predicate if n_rows is not None or is_first else None
        if predicate is not None and after is None:
            # polars hands down nothing but predicates that are about single rows.
            part = part.where(ElementwisePredicate(predicate))
        if with_columns is not None:
            names = dict.fromkeys(with_columns if after is None else [*with_columns, *after.meta.root_names()])
            part = part.select(*(each for name in names if name != number for each in parts.get(name, [name])))
        for batch in part:
            frame: polars.DataFrame = to_polars(batch)
            frame = frame if after is None else frame.filter(after)
            if with_columns:
                frame = frame.select(with_columns)
            elif with_columns is not None:
                # A selection of no column would have no row either.
                frame = frame.drop(frame.columns)
            yield frame

    return register_io_source(batches, schema=empty.schema, validate_schema=True, is_pure=True)


def _with_types_of_polars(table: Scan) -> Scan:
    """The scan, whose columns the core reads as types that polars has; pyarrow's casts of lists cannot be relied on."""
    reader = reader_of(table)
    source = reader.source
    if not isinstance(source, OrcFiles):
        return table
    whole = source.full_schema(reader.opened)
    plain = pa.schema([field.with_type(of_polars(field.type)) for field in whole], whole.metadata)
    if plain == whole:
        return table
    return Scan(ScanReader(dataclasses.replace(source, schema=plain), reader.options))


def _parts(table: Scan, asked: Columns | None, names: list[str]) -> dict[str, list[str]]:
    """The columns that were asked for, such as ``n.a``, by the columns that polars knows, such as ``n``."""
    found: dict[str, list[str]] = {}
    for name in map(str, asked or ()):
        only = reader_of(table).with_options(columns=[name], filters=None, row_number=None)
        found.setdefault(name if name in names else only.selected_schema.names[0], []).append(name)
    return found
