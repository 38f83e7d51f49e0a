"""``orcish data``: the first rows of a file or table, as JSON lines or as an aligned table."""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import pyarrow as pa
from orcish.carbon.detect import is_carbon_file
from orcish.io.names import display_name
from orcish.process import is_terminal
from orcish.reading.file import ORCFile
from orcish.reading.scan import Scan
from orcish.terminal import Table, printable, shorten, show, show_text, width
from orcish.types import ReadOptions
from orcish.writing.rows import limited

from orcish_cli.actions import WrongArgumentsError
from orcish_cli.arguments import add_files, add_json, add_limit, count
from orcish_cli.batch_slices import slices
from orcish_cli.json_text import json_text
from orcish_cli.json_values import WideInteger, to_json
from orcish_cli.meta_carbon import is_carbon, refuse_external
from orcish_cli.output import print_lines
from orcish_cli.rows import add_reading, chosen_reading, open_rows
from orcish_cli.sources import is_several
from orcish_cli.stored import fitted_scan, stored_values, stripe_of

__all__ = [
    "JSON_VALUES",
    "add_arguments",
    "add_showing",
    "first_rows",
    "first_rows_of_scan",
    "print_rows",
    "table_lines",
]

_BATCH_SIZE = 8192
GAP = 2
"""Blanks between columns."""
JSON_VALUES = (
    "In JSON, 64-bit integers are numbers, decimals strings; dates and timestamps are in ISO 8601, binaries in "
    "hexadecimal digits; NaN and infinities are strings; maps are objects where their keys are strings and arrays "
    "of pairs elsewhere; a union has the form {tag, value}. Of columns or fields of one name, later ones are a_1, a_2."
)
"""How values are shown, for the help of commands."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Print the first rows of ORC files, of the files of folders and patterns, or of a table of CarbonData. Several "
        "sources are one table. No other rows are read."
    )
    command.epilog = JSON_VALUES
    add_files(command)
    rows = command.add_mutually_exclusive_group()
    add_limit(rows, "how many rows (10)", 10)
    rows.add_argument("--all", dest="limit", action="store_const", const=None, help="all rows")
    command.add_argument("--stripe", type=count, metavar="I", help="rows of this stripe, counted from 0")
    add_showing(command)
    add_reading(command)
    command.set_defaults(run=_run)


def add_showing(command: argparse.ArgumentParser) -> None:
    """Adds the arguments that say how rows are printed."""
    add_json(command)
    command.add_argument(
        "--width", type=count, default=40, metavar="W", help="widest cell of the table (40); 0 for no bound"
    )


def _run(options: argparse.Namespace) -> int:
    most = options.limit
    if most is None or not (is_terminal(sys.stdout) and is_terminal(sys.stderr)):
        print_rows(*_read_rows(options), options)
        return 0
    # One row more tells whether there are others.
    schema, batches = _read_rows(argparse.Namespace(**{**vars(options), "limit": most + 1}))
    counts: list[int] = []

    def counted() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            counts.append(len(batch))
            yield batch

    print_rows(schema, limited(counted(), most), options)
    # The one row may be in a batch of its own.
    if sum(counts) + sum(map(len, batches)) > most:
        sys.stdout.flush()
        show("… and more rows: -n N shows more, --all shows all", is_error=True)
    return 0


def print_rows(schema: pa.Schema, batches: Iterable[pa.RecordBatch], options: argparse.Namespace) -> None:
    """Prints rows by the arguments of :func:`add_showing`."""
    if options.json:
        for text in json_text(batches):
            show_text(text)
    elif is_terminal(sys.stdout) and options.width:
        terminal = shutil.get_terminal_size().columns
        hint = "-c names columns, --width W narrows cells" if hasattr(options, "columns") else "--width W narrows cells"
        print_lines(table_lines(schema, batches, options.width, terminal, f"{hint}, --width 0 and --json show all"))
    else:
        print_lines(table_lines(schema, batches, options.width or None))


def _read_rows(options: argparse.Namespace) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The schema and the first rows of the sources."""
    files, storage = options.files, dict(options.storage_options)
    if len(files) > 1 or is_several(files[0]) or is_carbon_file(files[0]):
        if options.stripe is not None:
            of = "ORC files" if is_carbon(files[0], storage) else "one file"
            raise WrongArgumentsError(f"--stripe is of {of}, and not of {display_name(files[0])}")
        rows = open_rows(files, options)
        return rows.schema, first_rows_of_scan(rows, options.limit)
    refuse_external(options, files[0])
    file = ORCFile(files[0], storage_options=storage)
    count = file.num_stripes
    if options.stripe is not None and options.stripe >= count:
        last = f"the last one is {count - 1}" if count else "there is none"
        raise WrongArgumentsError(f"--stripe {options.stripe}: {display_name(files[0])} has no such stripe: {last}")
    given = chosen_reading(options)
    fitted = fitted_scan(file, given, storage)
    if fitted is not None:
        rows = fitted if options.stripe is None else stripe_of(fitted, options.stripe)
        return rows.schema, first_rows_of_scan(rows, options.limit)
    read = cast("ReadOptions", stored_values(given))
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


def table_lines(
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    max_width: int | None,
    terminal: int | None = None,
    hint: str = "",
) -> Iterator[str]:
    """The rows as a table; cells wider than ``max_width`` are truncated.

    Args:
        schema: The schema of the rows.
        batches: The rows.
        max_width: The widest cell.
        terminal: The width of the terminal. Columns that do not fit, by the first rows, are left out, and the last
            line says so.
        hint: How to see them.
    """
    names = [shorten(printable(name), max_width) for name in schema.names]
    right = [_is_number(field.type) for field in schema]
    table: Table | None = None
    kept = len(names)
    # An empty block at the end prints the header if there are no rows.
    parts = itertools.chain.from_iterable(map(slices, batches))
    for rows in itertools.chain(map(_rows, parts), [()]):
        texts = [[shorten(_cell(value), max_width) for value in row] for row in rows]
        if table is None:
            kept = len(names) if terminal is None else _fitting([names, *texts], terminal)
            table = Table(names[:kept], right[:kept])
        yield from table.lines(row[:kept] for row in texts)
    if kept < len(names):
        yield f"… and {len(names) - kept:,} more columns, which do not fit: {hint}"


def _fitting(rows: Sequence[Sequence[str]], terminal: int) -> int:
    """How many columns fit into a terminal; the first one does."""
    ends = itertools.accumulate(max(map(width, cells)) + GAP for cells in zip(*rows, strict=True))
    return max(sum(end - GAP <= terminal for end in ends), 1)


def _rows(batch: pa.RecordBatch) -> Sequence[tuple[Any, ...]]:
    if batch.num_columns == 0:
        return [()] * batch.num_rows
    return list(zip(*map(to_json, batch.columns), strict=True))


def _is_number(kind: pa.DataType) -> bool:
    kind = kind.storage_type if isinstance(kind, WideInteger) else kind
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _cell(value: Any) -> str:
    return printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
