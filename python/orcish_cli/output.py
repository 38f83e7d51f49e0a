"""Output of commands: lines, and error messages with exit codes."""

from __future__ import annotations

import os
import shutil
import sys
import traceback
from collections.abc import Iterable, Sequence
from typing import Any

from orcish.errors import OrcishError
from orcish.io.names import display_name
from orcish.process import is_terminal
from orcish.terminal import Table, printable, shorten, show, width

from orcish_cli.words import in_shell

__all__ = ["EXPECTED", "drop_output", "fail", "print_lines", "print_table", "print_traceback", "written_json"]

EXPECTED = (OrcishError, OSError, TypeError, KeyError, ValueError)
"""Errors of arguments and files, which are shown without a traceback."""
_GAP = 2
"""Blanks between columns."""
MIN_CELL, MAX_WHOLE = 10, 24
"""The width to which cells are cut at most, and the width of words, such as numbers, that are not cut."""


def print_lines(lines: Iterable[str]) -> None:
    """Prints lines."""
    for line in lines:
        show(line)


def written_json(file: Any) -> dict[str, Any]:
    """What JSON says of a file that was written, as a named tuple with the field ``path``."""
    found = file._asdict()
    return {"file": found.pop("path"), **found}


def print_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool], *, cuts: bool = False
) -> None:
    """Prints a table: in colour on a terminal, if rich is installed, or else as aligned text. Cells are wrapped between
    words where the terminal is narrow; where words do not fit either, lines are wider than it.

    Args:
        header: Names of the columns.
        rows: Texts of the cells.
        right: Which columns are aligned to the right.
        cuts: Whether cells are cut where the terminal is narrow, and not wrapped.
    """
    head = list(map(printable, header))
    body = [list(map(printable, row)) for row in rows]
    if cuts and is_terminal(sys.stdout):
        cuts_at = _cut_widths([head, *body], shutil.get_terminal_size().columns)
        body = [[shorten(cell, at) for cell, at in zip(row, cuts_at, strict=True)] for row in body]
        print_lines(Table(head, right).lines(body))
        return
    console = _console() if is_terminal(sys.stdout) else None
    if console is None:
        print_lines(Table(head, right).lines(body))
        return
    from rich.table import Table as RichTable
    from rich.text import Text

    widths = _widths([head, *body], console.width)
    if widths is None:
        first, *lines = Table(head, right).lines(body)
        console.print(Text(first, style="bold"), soft_wrap=True)
        print_lines(lines)
        return
    table = RichTable(box=None, header_style="bold", pad_edge=False, padding=(0, 1))
    for name, is_right, most in zip(head, right, widths, strict=True):
        table.add_column(Text(name), justify="right" if is_right else "left", width=most, overflow="fold")
    for row in body:
        # Text has no markup.
        table.add_row(*map(Text, row))
    console.print(table)


def _cut_widths(rows: Sequence[Sequence[str]], terminal: int) -> list[int]:
    """The widths of columns with which a table fits into a terminal where the widest cells are cut. Names of columns,
    and numbers, are whole.
    """
    columns = list(zip(*rows, strict=True))
    found = [max(map(width, cells)) for cells in columns]
    whole = [[cell for cell in cells[1:] if " " not in cell and width(cell) <= MAX_WHOLE] for cells in columns]
    least = [max(map(width, [cells[0], *words]), default=0) for cells, words in zip(columns, whole, strict=True)]
    least = [max(each, MIN_CELL) for each in least]
    left = terminal - _GAP * (len(columns) - 1)
    while sum(found) > left:
        # The widest one, of those that can be narrower.
        wide = [at for at, most in enumerate(found) if most > least[at]]
        if not wide:
            break
        found[max(wide, key=lambda at: found[at])] -= 1
    return found


def _widths(rows: Sequence[Sequence[str]], terminal: int) -> list[int] | None:
    """The widths of columns with which a table fits into a terminal, and no word or number is broken; ``None`` where
    there are none.
    """
    columns = list(zip(*rows, strict=True))
    whole = [max(map(width, cells)) for cells in columns]
    words = [max((width(word) for cell in cells for word in cell.split()), default=0) for cells in columns]
    left = terminal - sum(words) - _GAP * (len(columns) - 1)
    if left < 0:
        return None
    found = list(words)
    # Columns that need little more have it.
    order = sorted(range(len(columns)), key=lambda at: whole[at] - words[at])
    for place, at in enumerate(order):
        more = min(whole[at] - words[at], left // (len(order) - place))
        found[at] += more
        left -= more
    return found


def _console() -> Any:
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console(highlight=False)


def fail(error: Exception, code: int = 1) -> int:
    """Prints the message of an error; gives the exit code."""
    _end_output()
    text = _text_of_system(error) if isinstance(error, OSError) and error.strerror else str(error)
    if isinstance(error, KeyError):
        # The text of a KeyError is quoted.
        text = str(error.args[0]) if error.args else text
    if isinstance(error, UnicodeEncodeError) and error.encoding == "utf-8":
        # Bytes of arguments that are no text are surrogates.
        name = error.object.encode(errors="surrogateescape").decode(errors="backslashreplace")
        text = f"{name}: the name is not UTF-8: rename the file, or make a link to it"
    show(f"orcish: {in_shell(text)}", is_error=True)
    return code


def _text_of_system(error: OSError) -> str:
    """The text of an error of the system, with the file that it is about, without its number."""
    name = display_name(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else ""
    text = str(error.strerror)
    return f"{name}: {text}" if name and name not in text else text


def _end_output() -> None:
    """Writes what was printed before an error. Where that fails, the rest must not fail again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        drop_output()


def drop_output() -> None:
    """Lets standard output, which cannot be written, be the null device."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_traceback(code: int = 1) -> int:
    """Prints the traceback of an unexpected exception; gives the exit code."""
    _end_output()
    for line in traceback.format_exc().splitlines():
        show(line, is_error=True)
    return code
