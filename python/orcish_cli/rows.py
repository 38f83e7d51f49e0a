"""``orcish data``, ``head``, ``tail`` and ``sample``: rows of files and tables, as JSON lines or as a table."""

from __future__ import annotations

import argparse
import itertools
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import pyarrow as pa
from orcish import ORCFile, Scan
from orcish._native import Location
from orcish.io.names import display_name
from orcish.process import is_terminal
from orcish.tables.stored import fitted_scan, stored_values, stripe_of
from orcish.terminal import printable
from orcish.types import ReadOptions

from orcish_cli.arguments import add_files, add_json, add_limit, count, fraction, storage_of
from orcish_cli.batch_slices import limited, slices
from orcish_cli.json_text import json_text
from orcish_cli.json_values import WideInteger, to_json
from orcish_cli.parser import WrongArgumentsError
from orcish_cli.reading import add_reading, chosen_reading, open_rows
from orcish_cli.sources import is_carbon, is_several, refuse_external
from orcish_cli.terminal import GAP, Table, print_lines, shorten, show, show_text, text_of, width

__all__ = ["JSON_VALUES", "add_data", "add_sample", "add_showing", "add_tail", "print_rows", "table_lines"]

BATCH_SIZE = 8192
JSON_VALUES = (
    "In JSON, 64-bit integers are numbers, decimals strings; dates and timestamps are in ISO 8601, binaries in "
    "hexadecimal digits; NaN and infinities are strings; maps are objects where their keys are strings and arrays "
    "of pairs elsewhere; a union has the form {tag, value}. Of columns or fields of one name, later ones are a_1, a_2."
)
"""How values are shown, for the help of commands."""


def add_data(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``data``."""
    command.description = (
        "Print the first rows of ORC files, of the files of folders and patterns, or of a table of CarbonData. Several "
        "sources are one table. No other rows are read."
    )
    add_files(command)
    rows = command.add_mutually_exclusive_group()
    add_limit(rows, "how many rows", 10)
    rows.add_argument("--all", dest="limit", action="store_const", const=None, help="all rows")
    command.add_argument("--stripe", type=count, metavar="I", help="rows of this stripe, counted from 0")
    _add_more(command, _data)


def add_tail(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``tail``."""
    command.description = (
        "Print the last rows of ORC files, of the files of folders and patterns, or of a table of CarbonData, in their "
        "order. Several sources are one table. Stripes before these rows are not read."
    )
    add_files(command)
    add_limit(command, "how many rows", 10)
    _add_more(command, lambda options: _print(open_rows(options.files, options).tail(options.limit), options))


def add_sample(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``sample``."""
    command.description = (
        "Print rows at random, without repetition, in their order. All rows, or all for which --where is true, are "
        "equally likely. Several sources are one table. Stripes without a chosen row are not read."
    )
    add_files(command)
    rows = command.add_mutually_exclusive_group()
    add_limit(rows, "how many rows", usual="10")
    rows.add_argument("--fraction", type=fraction, metavar="F", help="the part of the rows, from 0 to 1")
    command.add_argument("--seed", type=int, metavar="S", help="the same seed chooses the same rows of the same files")
    _add_more(command, _sample)


def _add_more(command: argparse.ArgumentParser, run: Any) -> None:
    command.epilog = JSON_VALUES
    add_showing(command)
    add_reading(command)
    command.set_defaults(run=run)


def add_showing(command: argparse.ArgumentParser) -> None:
    """Adds the arguments that say how rows are printed."""
    add_json(command)
    command.add_argument(
        "--width", type=count, default=40, metavar="W", help="widest cell of the table (40); 0 for no bound"
    )


def _sample(options: argparse.Namespace) -> int:
    rows = 10 if options.limit is None and options.fraction is None else options.limit
    return _print(open_rows(options.files, options).sample(rows, fraction=options.fraction, seed=options.seed), options)


def _print(table: pa.Table, options: argparse.Namespace) -> int:
    # Tables without columns have no batches.
    batches = table.to_batches() if table.schema.names else [pa.record_batch({"r": pa.nulls(len(table))}).select([])]
    return print_rows(table.schema, batches, options)


def _data(options: argparse.Namespace) -> int:
    most = options.limit
    if most is None or not (is_terminal(sys.stdout) and is_terminal(sys.stderr)):
        return print_rows(*_first_rows(options, most), options)
    # One row more tells whether there are others.
    schema, batches = _first_rows(options, most + 1)
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


def _first_rows(options: argparse.Namespace, limit: int | None) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The schema and the first rows of the sources."""
    files, stripe, storage = options.files, options.stripe, storage_of(options)
    if len(files) > 1 or is_several(files[0]) or Location(files[0]).is_carbon_file:
        if stripe is not None:
            of = "ORC files" if is_carbon(files[0], storage) else "one file"
            raise WrongArgumentsError(f"--stripe is of {of}, and not of {display_name(files[0])}")
        return _first_of_scan(open_rows(files, options), limit)
    refuse_external(options, files[0])
    given = chosen_reading(options)
    file = ORCFile(files[0], storage_options=storage, keys=given.pop("keys", None))
    if stripe is not None and stripe >= file.num_stripes:
        last = f"the last one is {file.num_stripes - 1}" if file.num_stripes else "there is none"
        raise WrongArgumentsError(f"--stripe {stripe}: {display_name(files[0])} has no such stripe: {last}")
    fitted = fitted_scan(file, given, storage)
    if fitted is not None:
        return _first_of_scan(fitted if stripe is None else stripe_of(fitted, stripe), limit)
    read = stored_values(given)
    part = {"batch_size": BATCH_SIZE, "limit": limit, "stripes": None if stripe is None else [stripe]}
    more = {name: value for name, value in part.items() if value is not None}
    schema = file.arrow_schema(**cast("ReadOptions", read))
    return schema, iter(file.iter_batches(**cast("ReadOptions", {**read, **more})))


def _first_of_scan(scan: Scan, limit: int | None) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    rows = scan if limit is None else scan.limit(limit)
    return scan.schema, rows.batch_size(BATCH_SIZE).to_batches()


def print_rows(schema: pa.Schema, batches: Iterable[pa.RecordBatch], options: argparse.Namespace) -> int:
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
    return 0


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
        texts = [[shorten(text_of(value), max_width) for value in row] for row in rows]
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
