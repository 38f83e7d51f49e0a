"""The run of a command, and the exit code of its errors."""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Callable

from orcish.errors import out_of_memory
from orcish.process import EndingSignals

from orcish_cli.messages import EXPECTED, fail, is_of_arguments, print_traceback, set_command, set_stream
from orcish_cli.standard_input import named_sources, source_names
from orcish_cli.terminal import drop_output, show_text

__all__ = ["failed", "run"]

WRONG_ARGUMENTS = 2
"""The exit code for arguments that a command cannot take."""


def run(options: argparse.Namespace) -> int:
    """Runs a command with its arguments; gives the exit code."""
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
                return failed(error, options)
    except BaseException as error:
        # Libraries have errors of their own for work that a signal has ended.
        if signals.received is not None or isinstance(error, KeyboardInterrupt):
            return signals.code
        return failed(error, options)


def _run(options: argparse.Namespace, sources: contextlib.ExitStack) -> int:
    run_command: Callable[[argparse.Namespace], int] = options.run
    set_command(options)
    sources.enter_context(named_sources(options))
    set_stream(getattr(options, "standard_input", None))
    code = run_command(options)
    show_text("", is_last=True)
    return code


def failed(error: BaseException, options: argparse.Namespace) -> int:
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
