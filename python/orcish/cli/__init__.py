"""The command ``orcish``: what is in ORC files and in tables of CarbonData, from the shell."""

from __future__ import annotations

import argparse
import io
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import cast

import pyarrow as pa

from orcish._native import __version__
from orcish.carbon import check_no_external
from orcish.carbon_table import CarbonTable
from orcish.cli import carbon
from orcish.cli.arguments import Parser, add_external, add_timestamps, add_values, count, names
from orcish.cli.converting import add_arguments, converted
from orcish.cli.meta import describe, to_text
from orcish.cli.rows import first_rows, first_rows_of, json_lines, table_lines
from orcish.cli.text import json_line, show
from orcish.errors import OrcishError
from orcish.file import ORCFile
from orcish.types import ReadOptions

__all__ = ["main"]

_FAILED = 1
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives its exit code."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if options.run is _spark:
        # Options before the name of a job are not among what is left of the line.
        options.arguments = [*rest, *options.arguments]
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    run: Callable[[argparse.Namespace], int] = options.run
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a character gets its escape.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has seen enough. What is left in the buffer must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception:
        return _fault()
    return code


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="orcish", description="Look into Apache ORC files and Apache CarbonData tables.")
    parser.add_argument("--version", action="version", version=f"orcish {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    command = commands.add_parser(
        "meta",
        help="what files and tables say of themselves: rows, sizes, stripes or segments, types, writer",
        description="Print what ORC files, tables of CarbonData and their files say of themselves. No data is read.",
    )
    command.add_argument("files", nargs="+", metavar="FILE")
    command.add_argument("--json", action="store_true", help="one JSON object a file, each on a line")
    command.add_argument("--arrow", action="store_true", help="also the Arrow schema that the files are read with")
    command.add_argument("--statistics", action="store_true", help="also the statistics of all columns")
    add_external(command)
    command.set_defaults(run=_meta)

    command = commands.add_parser(
        "data",
        help="the first rows",
        description="Print the first rows of an ORC file, or of a table of CarbonData. Only what they need is read.",
        epilog="In JSON, 64-bit integers are numbers, decimals strings; dates and timestamps are in ISO 8601, "
        "binaries in hexadecimal digits; NaN and infinities are strings; maps are objects where their keys "
        "are strings and arrays of pairs elsewhere; a union has the form {tag, value}.",
    )
    command.add_argument("file", metavar="FILE")
    rows = command.add_mutually_exclusive_group()
    rows.add_argument("-n", "--rows", type=count, default=10, metavar="N", help="how many rows (10)")
    rows.add_argument("--all", dest="rows", action="store_const", const=None, help="all rows")
    command.add_argument("--json", action="store_true", help="one JSON object a row, each on a line")
    command.add_argument(
        "-c",
        "--columns",
        type=names,
        action="extend",
        metavar="A,B.C",
        help="only these columns, in this order; dots lead into nested ones",
    )
    add_values(command)
    command.add_argument("--stripe", type=count, metavar="I", help="rows of this stripe, counted from 0")
    add_timestamps(command, "timezone")
    command.add_argument("--masked", action="store_const", const="allow", help="show the masks of encrypted columns")
    command.add_argument(
        "--width", type=count, default=40, metavar="W", help="widest cell of the table (40); 0 for no bound"
    )
    add_external(command)
    command.set_defaults(run=_data)

    command = commands.add_parser(
        "convert",
        help="a table of CarbonData, or of ORC files, as a folder of ORC files",
        description="Write the rows of a table, of CarbonData or of ORC files, as a folder of ORC files.",
    )
    add_arguments(command)
    command.set_defaults(run=_convert)

    command = commands.add_parser(
        "spark",
        add_help=False,
        help="jobs over whole tables, by Spark: compact, convert, profile, verify",
    )
    command.add_argument("arguments", nargs=argparse.REMAINDER)
    command.set_defaults(run=_spark)
    return parser


def _spark(options: argparse.Namespace) -> int:
    try:
        # It takes a second, which no other command should.
        from orcish.spark.submit import main as run_job
    except ModuleNotFoundError as error:
        if error.name != "pyspark":
            raise
        return _fail(OrcishError("jobs need PySpark: pip install pyspark"))
    return run_job(options.arguments)


def _convert(options: argparse.Namespace) -> int:
    try:
        _print(converted(options))
    except (OrcishError, OSError, TypeError, KeyError, ValueError) as error:
        return _fail(error)
    return 0


def _meta(options: argparse.Namespace) -> int:
    code = 0
    for number, name in enumerate(options.files):
        try:
            lines = _described(name, options)
        except (OrcishError, OSError, ValueError) as error:
            code = _fail(error)
            continue
        _print([""] if number and not options.json else [])
        _print(lines)
    return code


def _described(name: str, options: argparse.Namespace) -> list[str]:
    """What there is to know of a file or table."""
    if not carbon.is_carbon(name):
        check_no_external(options.external_locations, f"{name}: --external-location")
        described = describe(name, ORCFile(name), arrow=options.arrow, statistics=options.statistics)
        lines = to_text
    elif options.statistics:
        raise ValueError(f"{name}: --statistics are those of ORC files")
    else:
        described, lines = carbon.describe(name, options.external_locations), carbon.to_text
    return [json_line(described)] if options.json else lines(described)


def _data(options: argparse.Namespace) -> int:
    try:
        schema, batches = _rows(options)
        if options.json:
            _print(json_lines(batches))
        else:
            _print(table_lines(schema, batches, options.width or None))
    except BrokenPipeError:
        raise
    except (OrcishError, OSError, ValueError) as error:
        return _fail(error)
    return 0


def _rows(options: argparse.Namespace) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The first rows of a file or table."""
    names = ("columns", "invalid_utf8", "long_char", "decimal_out_of_range", "timestamps", "timezone", "masked")
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if carbon.is_carbon(options.file):
        if options.stripe is not None:
            raise ValueError(f"{options.file}: --stripe is of ORC files")
        table = CarbonTable(options.file, external_locations=options.external_locations)
        scan = table.scan(**cast("ReadOptions", given))
        return scan.schema, first_rows_of(scan, options.rows)
    check_no_external(options.external_locations, f"{options.file}: --external-location")
    # What is in the file, whoever wrote it.
    natural = {"arrow_schema": False, "timestamp_unit": "auto", "timestamps": "wall", "null_map_keys": "dictionary"}
    read = cast("ReadOptions", {**natural, **given})
    file = ORCFile(options.file)
    return file.arrow_schema(**read), first_rows(file, options.rows, options.stripe, read)


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        show(line)


def _fail(error: Exception) -> int:
    # Rows that came before the error stand before it in a terminal, too.
    sys.stdout.flush()
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if isinstance(error, KeyError):
        # Its own text is quoted.
        text = str(error.args[0]) if error.args else text
    show(f"orcish: {text}", is_error=True)
    return _FAILED


def _fault() -> int:
    """The trace of an exception that nobody expected."""
    sys.stdout.flush()
    for line in traceback.format_exc().splitlines():
        show(line, is_error=True)
    return _FAILED
