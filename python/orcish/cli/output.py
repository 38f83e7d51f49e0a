"""Output of commands: lines, and error messages with exit codes."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterable

from orcish.terminal import show

__all__ = ["fail", "print_lines", "print_traceback"]

_FAILED = 1
_KEYWORD = re.compile(r"\b(existing_data|partition_by|rewrite|undo)=(?:True|'([^']*)'|\[([^]]*)\])")
"""A keyword of a function, with its value, in a message."""


def print_lines(lines: Iterable[str]) -> None:
    """Prints lines."""
    for line in lines:
        show(line)


def fail(error: Exception) -> int:
    """Prints the message of an error; gives the exit code."""
    # Rows before the error are printed before it.
    sys.stdout.flush()
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if isinstance(error, KeyError):
        # The text of a KeyError is quoted.
        text = str(error.args[0]) if error.args else text
    show(f"orcish: {_KEYWORD.sub(_option, text)}", is_error=True)
    return _FAILED


def _option(keyword: re.Match[str]) -> str:
    """A keyword of a message as the option of the command."""
    name, text, names = keyword.groups()
    value = text if names is None else ",".join(name.strip().strip("'") for name in names.split(","))
    return f"--{name.replace('_', '-')}" + (f" {value or repr('')}" if value is not None else "")


def print_traceback() -> int:
    """Prints the traceback of an unexpected exception; gives the exit code."""
    sys.stdout.flush()
    for line in traceback.format_exc().splitlines():
        show(line, is_error=True)
    return _FAILED
