"""The command ``orcish``, one module for each subcommand or group of them."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from orcish import __version__
from orcish.process import end_process, open_streams

from orcish_cli.commands import make_parser

__all__ = ["main", "run_program"]


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
    chosen = next((argument for argument in given if not argument.startswith("-")), None)
    is_completing = "_ARGCOMPLETE" in os.environ
    parser = make_parser(__version__, chosen, has_all=is_completing)
    if is_completing:
        from orcish_cli.completion import complete

        complete(parser)
    try:
        options = parser.parse_args(given)
    except OSError as error:
        # The help cannot be printed.
        from orcish_cli.running import failed

        return failed(error, argparse.Namespace())
    # The help needs no files, and no time for the modules that read them.
    from orcish_cli.running import run

    return run(options)
