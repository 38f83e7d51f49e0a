"""The command ``orcish``, one module for each subcommand."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence

from orcish._native import __version__
from orcish.cli.arguments import Parser
from orcish.cli.convert import add_convert
from orcish.cli.data import add_data
from orcish.cli.meta import add_meta
from orcish.cli.output import fail, print_traceback
from orcish.cli.table import add_table_commands
from orcish.errors import OrcishError

__all__ = ["main"]

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; gives its exit code."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if options.run is _spark:
        # Options before the name of a job are not in the remainder.
        options.arguments = [*rest, *options.arguments]
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    run: Callable[[argparse.Namespace], int] = options.run
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Characters that the terminal cannot show are escaped.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the pipe is gone. The rest of the buffer must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception:
        return print_traceback()
    return code


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="orcish",
        description="Look into and change Apache ORC files and tables, and read Apache CarbonData tables.",
    )
    parser.add_argument("--version", action="version", version=f"orcish {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_meta(commands)
    add_data(commands)
    add_convert(commands)
    add_table_commands(commands)
    command = commands.add_parser(
        "spark",
        add_help=False,
        help="jobs over whole tables, by Spark: compact, convert, delete, profile, verify",
    )
    command.add_argument("arguments", nargs=argparse.REMAINDER)
    command.set_defaults(run=_spark)
    return parser


def _spark(options: argparse.Namespace) -> int:
    try:
        # Importing PySpark takes a second, which the other commands do not need.
        from orcish.cli.spark import main as run_job
    except ModuleNotFoundError as error:
        if error.name != "pyspark":
            raise
        return fail(OrcishError("jobs need PySpark: pip install pyspark"))
    return run_job(options.arguments)
