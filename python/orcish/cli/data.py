"""``orcish data``: the first rows of a file or table, as JSON lines or as an aligned table."""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import pyarrow as pa

from orcish.carbon.source import check_no_external
from orcish.carbon.table import CarbonTable
from orcish.cli.arguments import (
    add_external,
    add_filters,
    add_storage,
    add_timestamps,
    add_values,
    count,
    names,
)
from orcish.cli.batch_slices import slices
from orcish.cli.json_values import to_json
from orcish.cli.meta_carbon import is_carbon
from orcish.cli.output import print_lines
from orcish.cli.sources import is_several
from orcish.reading.file import ORCFile
from orcish.reading.scan import Scan
from orcish.scan import scan
from orcish.terminal import Table, json_line, printable, shorten
from orcish.types import ReadOptions

__all__ = ["add_arguments", "first_rows", "first_rows_of_scan", "json_lines", "table_lines"]

_BATCH_SIZE = 8192


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Print the first rows of an ORC file, of the files of a folder or pattern, or of a table of CarbonData. No "
        "other rows are read."
    )
    command.epilog = (
        "In JSON, 64-bit integers are numbers, decimals strings; dates and timestamps are in ISO 8601, binaries in "
        "hexadecimal digits; NaN and infinities are strings; maps are objects where their keys are strings and arrays "
        "of pairs elsewhere; a union has the form {tag, value}."
    )
    command.add_argument("file", metavar="FILE", help="a file, a folder, a pattern or a URL")
    rows = command.add_mutually_exclusive_group()
    rows.add_argument("-n", "--limit", type=count, default=10, metavar="N", help="how many rows (10)")
    rows.add_argument("--all", dest="limit", action="store_const", const=None, help="all rows")
    command.add_argument("--json", action="store_true", help="one JSON object a row, each on a line")
    command.add_argument(
        "-c",
        "--columns",
        type=names,
        action="extend",
        metavar="A,B.C",
        help="only these columns, in this order; dots lead into nested ones",
    )
    add_filters(command, "only rows for which this is true")
    add_values(command)
    command.add_argument("--stripe", type=count, metavar="I", help="rows of this stripe, counted from 0")
    add_timestamps(command, "timezone")
    command.add_argument("--masked", action="store_const", const="allow", help="show the masks of encrypted columns")
    command.add_argument(
        "--width", type=count, default=40, metavar="W", help="widest cell of the table (40); 0 for no bound"
    )
    add_storage(command)
    add_external(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    schema, batches = _read_rows(options)
    if options.json:
        print_lines(json_lines(batches))
    else:
        print_lines(table_lines(schema, batches, options.width or None))
    return 0


def _read_rows(options: argparse.Namespace) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The schema and the first rows of a file or table."""
    names = (
        "columns",
        "filters",
        "invalid_utf8",
        "long_char",
        "decimal_out_of_range",
        "timestamps",
        "timestamp_unit",
        "timezone",
        "masked",
    )
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    storage = dict(options.storage_options)
    if is_carbon(options.file, storage):
        if options.stripe is not None:
            raise ValueError(f"{options.file}: --stripe is of ORC files")
        table = CarbonTable(options.file, storage_options=storage, external_locations=options.external_locations)
        rows = table.scan(**cast("ReadOptions", given))
        return rows.schema, first_rows_of_scan(rows, options.limit)
    check_no_external(options.external_locations, f"{options.file}: --external-location")
    # Values are shown as they are stored, whatever Arrow types they were written with.
    stored = {"arrow_schema": False, "timestamp_unit": "auto", "timestamps": "wall", "null_map_keys": "dictionary"}
    read = cast("ReadOptions", {**stored, **given})
    if is_several(options.file):
        if options.stripe is not None:
            raise ValueError(f"{options.file}: --stripe is of one file")
        rows = scan(options.file, storage_options=storage, **read)
        return rows.schema, first_rows_of_scan(rows, options.limit)
    file = ORCFile(options.file, storage_options=storage)
    return file.arrow_schema(**read), first_rows(file, options.limit, options.stripe, read)


def first_rows(file: ORCFile, limit: int | None, stripe: int | None, options: ReadOptions) -> Iterator[pa.RecordBatch]:
    """Batches of the first rows of a file or of a stripe. Other stripes are not read."""
    options = options.copy()
    if stripe is not None:
        options["stripes"] = [stripe]
    if limit is not None:
        options["limit"] = limit
    options["batch_size"] = _BATCH_SIZE
    yield from file.iter_batches(**options)


def first_rows_of_scan(scan: Scan, limit: int | None) -> Iterator[pa.RecordBatch]:
    """Batches of the first rows of a table."""
    if limit is not None:
        scan = scan.limit(limit)
    return scan.batch_size(_BATCH_SIZE).to_batches()


def json_lines(batches: Iterable[pa.RecordBatch]) -> Iterator[str]:
    """One JSON object for each row."""
    for batch in batches:
        names = batch.schema.names
        for row in itertools.chain.from_iterable(map(_rows, slices(batch))):
            yield json_line(dict(zip(names, row, strict=True)))


def table_lines(schema: pa.Schema, batches: Iterable[pa.RecordBatch], max_width: int | None) -> Iterator[str]:
    """The rows as a table; cells wider than ``max_width`` are truncated."""
    names = [shorten(printable(name), max_width) for name in schema.names]
    table = Table(names, [_is_number(field.type) for field in schema])
    # An empty block at the end prints the header if there are no rows.
    parts = itertools.chain.from_iterable(map(slices, batches))
    for rows in itertools.chain(map(_rows, parts), [()]):
        yield from table.lines([shorten(_cell(value), max_width) for value in row] for row in rows)


def _rows(batch: pa.RecordBatch) -> Sequence[tuple[Any, ...]]:
    if batch.num_columns == 0:
        return [()] * batch.num_rows
    return list(zip(*map(to_json, batch.columns), strict=True))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _cell(value: Any) -> str:
    return printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
