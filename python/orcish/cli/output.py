"""Output of commands: lines, and error messages with exit codes."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterable, Sequence
from typing import Any

from orcish.errors import OrcishError
from orcish.terminal import Table, printable, show

__all__ = ["EXPECTED", "fail", "print_lines", "print_table", "print_traceback"]

EXPECTED = (OrcishError, OSError, TypeError, KeyError, ValueError)
"""Errors of arguments and files, which are shown without a traceback."""
_KEYWORD = re.compile(r"\b(existing_data|partition_by|rewrite|undo)=(?:True|'([^']*)'|\[([^]]*)\])")
"""A keyword of a function, with its value, in a message."""


def print_lines(lines: Iterable[str]) -> None:
    """Prints lines."""
    for line in lines:
        show(line)


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool]) -> None:
    """Prints a table: in colour and as wide as the terminal on one, if rich is installed, or else as aligned text.

    Args:
        header: Names of the columns.
        rows: Texts of the cells.
        right: Which columns are aligned to the right.
    """
    if sys.stdout.isatty() and (console := _console()) is not None:
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=None, header_style="bold", pad_edge=False)
        for name, is_right in zip(header, right, strict=True):
            table.add_column(Text(printable(name)), justify="right" if is_right else "left", overflow="fold")
        for row in rows:
            # Text has no markup.
            table.add_row(*(Text(printable(cell)) for cell in row))
        console.print(table)
        return
    print_lines(Table(list(map(printable, header)), right).lines([list(map(printable, row)) for row in rows]))


def _console() -> Any:
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console(highlight=False)


def fail(error: Exception, code: int = 1) -> int:
    """Prints the message of an error; gives the exit code."""
    # Rows before the error are printed before it.
    sys.stdout.flush()
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if isinstance(error, KeyError):
        # The text of a KeyError is quoted.
        text = str(error.args[0]) if error.args else text
    if isinstance(error, UnicodeEncodeError) and error.encoding == "utf-8":
        # Bytes of arguments that are no text are surrogates.
        name = error.object.encode(errors="surrogateescape").decode(errors="backslashreplace")
        text = f"{name}: the name is not UTF-8: rename the file, or make a link to it"
    show(f"orcish: {_KEYWORD.sub(_option, text)}", is_error=True)
    return code


def _option(keyword: re.Match[str]) -> str:
    """A keyword of a message as the option of the command."""
    name, text, names = keyword.groups()
    value = text if names is None else ",".join(name.strip().strip("'") for name in names.split(","))
    return f"--{name.replace('_', '-')}" + (f" {value or repr('')}" if value is not None else "")


def print_traceback(code: int = 1) -> int:
    """Prints the traceback of an unexpected exception; gives the exit code."""
    sys.stdout.flush()
    for line in traceback.format_exc().splitlines():
        show(line, is_error=True)
    return code
