"""The command ``orcish``, one module for each subcommand or group of them."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import itertools
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from orcish._native import __version__
from orcish.errors import out_of_memory
from orcish.process import EndingSignals, end_process, open_streams
from orcish.terminal import show_text

from orcish_cli.commands import COMMANDS
from orcish_cli.completion import complete, is_completing
from orcish_cli.groups import RootParser
from orcish_cli.output import EXPECTED, drop_output, fail, print_traceback
from orcish_cli.parser import Parser
from orcish_cli.standard_input import named_sources, source_names
from orcish_cli.words import set_options, set_stream
from orcish_cli.wrong_arguments import is_of_arguments

__all__ = ["main", "run_program"]

WRONG_ARGUMENTS = 2
"""The exit code for arguments that a command cannot take."""


def run_program() -> NoReturn:
    """Runs the command as the program of this process, which ends with the exit code."""
    end_process(main())


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; gives its exit code."""
    open_streams()
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["help"]:
        # Jobs of Spark are commands of a command.
        given = [*itertools.takewhile(lambda each: not each.startswith("-"), given[1:]), "--help"]
    parser = _parser(next((argument for argument in given if not argument.startswith("-")), None))
    complete(parser)
    try:
        options = parser.parse_args(given)
    except OSError as error:
        # The help cannot be printed.
        return _failed(error, argparse.Namespace())
    if isinstance(sys.stdout, io.TextIOWrapper):
        # JSON is UTF-8, whatever the encoding of the terminal is. Other characters that it cannot show are escaped.
        encoding = "utf-8" if getattr(options, "json", False) else sys.stdout.encoding
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")
    signals = EndingSignals()
    try:
        with signals.handled(), contextlib.ExitStack() as sources:
            try:
                return _run(options, sources)
            except EXPECTED as error:
                if signals.received is not None:
                    raise
                # Advice is about files that are there: standard input is a file up to here.
                return _failed(error, options)
    except BaseException as error:
        # Libraries have errors of their own for work that a signal has ended.
        if signals.received is not None or isinstance(error, KeyboardInterrupt):
            return signals.code
        return _failed(error, options)


def _run(options: argparse.Namespace, sources: contextlib.ExitStack) -> int:
    run: Callable[[argparse.Namespace], int] = options.run
    set_options(vars(options))
    sources.enter_context(named_sources(options))
    set_stream(getattr(options, "standard_input", None))
    code = run(options)
    show_text("", is_last=True)
    return code


def _failed(error: BaseException, options: argparse.Namespace) -> int:
    """Prints what has failed; gives the exit code."""
    trouble = getattr(options, "trouble", 1)
    if isinstance(error, BrokenPipeError):
        # The reader of the pipe is gone. The rest of the buffer must not fail again at exit.
        drop_output()
        return 0
    if isinstance(error, MemoryError):
        return fail(out_of_memory(", ".join(source_names(options)) or "orcish", error), trouble)
    if isinstance(error, EXPECTED):
        return fail(error, WRONG_ARGUMENTS if is_of_arguments(error, options) else trouble)
    if isinstance(error, Exception):
        return print_traceback(trouble)
    raise error


def _parser(chosen: str | None) -> Parser:
    """The parser, with the arguments of one command; of all for completion."""
    parser = RootParser(
        prog="orcish",
        description="Look into, check, convert and change Apache ORC files and tables, and read CarbonData tables.",
        epilog="Exit codes: 0 for success; 1 for an error, as of a file, a column or a target; 2 for wrong arguments, "
        "which are those that no files go with. Of diff, check, and recover of files: 1 where something is found or "
        "lost, 2 for any error. Of compat with -r: 1 also where a reader cannot read a file. After a signal: 128 and "
        "its number.",
    )
    parser.add_argument("-V", "--version", action="version", version=f"orcish {__version__}")
    commands: Any = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    for command in COMMANDS:
        text = command.help
        added = commands.add_parser(command.name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        if chosen == command.name or is_completing():
            # Commands are imported where they are needed, so that others start sooner.
            getattr(importlib.import_module(f"orcish_cli.{command.module}"), command.function)(added)
    return parser
