"""What commands print: lines, tables and JSON. All text from files is escaped."""

from __future__ import annotations

import datetime
import decimal
import json
import math
import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from orcish.process import is_terminal
from orcish.terminal import printable

__all__ = [
    "GAP",
    "MAX_NAME",
    "Column",
    "Table",
    "cell",
    "drop_output",
    "fields",
    "grid",
    "indented",
    "is_of_output",
    "json_float",
    "json_line",
    "json_text_of",
    "print_lines",
    "print_objects",
    "print_table",
    "shorten",
    "show",
    "show_text",
    "text_of",
    "width",
    "written_json",
]

GAP = 2
"""Blanks between columns."""
MAX_NAME = 200
"""Maximum width of the name of a column in a table."""
_OUTPUT = "standard output: "
MIN_CELL, MAX_WHOLE = 10, 24
"""The width to which cells are cut at most, and the width of words, such as numbers, that are not cut."""


def json_line(value: Any, default: Callable[[Any], Any] | None = None) -> str:
    """A value as one line of JSON, in which the characters that :func:`orcish.terminal.printable` escapes have escapes
    of JSON.

    Floating point values are those of :func:`json_float`.
    """
    encode = _encode if default is None else _encoder(default).encode
    try:
        text = encode(value)
    except ValueError:
        text = encode(_finite(value))
    if text.isprintable():
        return text
    # Outside of strings JSON is ASCII, so the escaped characters are inside of strings.
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def _encoder(default: Callable[[Any], Any] | None = None) -> json.JSONEncoder:
    return json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=default)


_encode = _encoder().encode


def _finite(value: Any) -> Any:
    """A value whose numbers are those of JSON."""
    if isinstance(value, float):
        return json_float(value)
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value


def json_float(value: float) -> float | str:
    """A floating point value as one of JSON: ``"NaN"``, ``"Infinity"`` and ``"-Infinity"`` are strings."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def show(line: str, *, is_error: bool = False) -> None:
    """Prints a line. All output of commands is printed here, or by :func:`show_text`."""
    if is_error:
        print(printable(line), file=sys.stderr)
        return
    show_text(f"{printable(line)}\n")


def show_text(text: str, *, is_last: bool = False) -> None:
    """Prints whole lines in which everything is escaped that :func:`orcish.terminal.printable` escapes.

    Args:
        text: The lines.
        is_last: Whether nothing follows: all that was printed is written.

    Raises:
        OSError: Standard output cannot be written.
    """
    try:
        sys.stdout.write(text)
        if is_last:
            sys.stdout.flush()
    except OSError as error:
        # The number says which subclass it is.
        raise OSError(error.errno, f"{_OUTPUT}{error.strerror}") from error


def is_of_output(error: BaseException) -> bool:
    """Whether standard output could not be written."""
    return isinstance(error, OSError) and str(error.strerror).startswith(_OUTPUT)


def drop_output() -> None:
    """Lets standard output, which cannot be written, be the null device."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_lines(lines: Iterable[str]) -> None:
    """Prints lines."""
    for line in lines:
        show(line)


def print_objects(values: Iterable[Any], text_of_other: Callable[[Any], str] = str) -> None:
    """Prints objects of JSON, each on a line. Values that JSON does not have are strings, which a function gives."""
    for value in values:
        show(json_line(value, text_of_other))


def json_text_of(value: Any) -> str:
    """The text of a value that JSON does not have: hexadecimal digits of bytes, all digits of a decimal, ISO 8601."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def written_json(file: Any) -> dict[str, Any]:
    """What JSON says of a file that was written, as a named tuple with the field ``path``."""
    found = file._asdict()
    return {"file": found.pop("path"), **found}


def width(text: str) -> int:
    """Number of terminal columns that printable text takes."""
    if text.isascii():
        return len(text)
    return sum(_char_width(char) for char in text)


def shorten(text: str, most: int | None) -> str:
    """Cuts text to ``most`` terminal columns, with an ellipsis at the end."""
    if most is None or width(text) <= most:
        return text
    kept, left = [], most - 1
    for char in text:
        left -= _char_width(char)
        if left < 0:
            break
        kept.append(char)
    return "".join(kept) + "…"


def _char_width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def fields(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """One line for each name and value."""
    return [f"{name:<18} {value}" for name, value in pairs]


def indented(lines: Iterable[str]) -> list[str]:
    """Indents lines below a title."""
    return ["  " + line for line in lines]


def text_of(value: Any) -> str:
    """The text of a value of JSON: of strings, without quotes."""
    return printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def cell(value: Any) -> str:
    """The text of a value in a table: numbers have commas, and what is not known is empty."""
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else text_of(value)


class Table:
    """A table with aligned columns. Rows come in blocks; columns never become narrower from block to block.

    Args:
        header: Names of the columns.
        right: Which columns are aligned to the right.
    """

    def __init__(self, header: Sequence[str], right: Sequence[bool]) -> None:
        self._header = list(header)
        self._right = list(right)
        self._widths = [width(name) for name in header]
        self._is_first = True

    def lines(self, rows: Iterable[Sequence[str]]) -> list[str]:
        """The lines of a block. The first block begins with the header."""
        rows = list(rows)
        for row in rows:
            self._widths = [max(most, width(cell)) for most, cell in zip(self._widths, row, strict=True)]
        head = []
        if self._is_first:
            head = [self._line(self._header), self._line(["-" * most for most in self._widths])]
            self._is_first = False
        return head + [self._line(row) for row in rows]

    def _line(self, cells: Sequence[str]) -> str:
        padded = []
        for each, most, right in zip(cells, self._widths, self._right, strict=True):
            blanks = " " * (most - width(each))
            padded.append(blanks + each if right else each + blanks)
        return (" " * GAP).join(padded).rstrip()


class Column(NamedTuple):
    """A column of a table of objects."""

    title: str
    value: str | Callable[[Any], Any]
    """The name of the value in objects of JSON, or a function that gives the value, see :func:`cell`."""
    is_right: bool = False
    """Whether the column is aligned to the right."""


def grid(columns: Sequence[Column], objects: Iterable[Mapping[str, Any]]) -> list[str]:
    """The lines of a table of objects of JSON, indented below a title."""
    table = Table([column.title for column in columns], [column.is_right for column in columns])
    return indented(table.lines(_cells(columns, objects)))


def _cells(columns: Sequence[Column], objects: Iterable[Any]) -> list[list[str]]:
    return [
        [cell(each.get(column.value) if isinstance(column.value, str) else column.value(each)) for column in columns]
        for each in objects
    ]


def print_table(columns: Sequence[Column], objects: Iterable[Any], *, cuts: bool = False) -> None:
    """Prints a table of objects: in colour on a terminal, if rich is installed, or else as aligned text. Where the
    terminal is narrow, cells are wrapped between words; where words do not fit either, lines are wider than the
    terminal.

    Args:
        columns: The columns.
        objects: What the rows are about.
        cuts: Whether cells are cut where the terminal is narrow, and not wrapped.
    """
    head, right = [printable(column.title) for column in columns], [column.is_right for column in columns]
    body = _cells(columns, objects)
    texts = list(zip(head, *body, strict=True))
    console = _console() if is_terminal(sys.stdout) else None
    if cuts and is_terminal(sys.stdout):
        import shutil

        most = _cut_widths(texts, shutil.get_terminal_size().columns)
        body = [[shorten(text, at) for text, at in zip(row, most, strict=True)] for row in body]
    words = [max(width(word) for text in column for word in [*text.split(), ""]) for column in texts]
    if cuts or console is None or sum(words) + GAP * (len(columns) - 1) > console.width:
        first, *lines = Table(head, right).lines(body)
        if console is None or cuts:
            show(first)
        else:
            console.print(first, style="bold", markup=False, soft_wrap=True)
        print_lines(lines)
        return
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(box=None, header_style="bold", pad_edge=False, padding=(0, 1))
    for name, is_right, least in zip(head, right, words, strict=True):
        table.add_column(Text(name), justify="right" if is_right else "left", min_width=least, overflow="fold")
    for row in body:
        # Text has no markup.
        table.add_row(*map(Text, row))
    console.print(table)


def _cut_widths(columns: Sequence[Sequence[str]], terminal: int) -> list[int]:
    """The widths of columns with which a table fits into a terminal where the widest cells are cut. Names of columns,
    and numbers, are whole.
    """
    found = [max(map(width, texts)) for texts in columns]
    whole = [[text for text in texts[1:] if " " not in text and width(text) <= MAX_WHOLE] for texts in columns]
    least = [max(map(width, [texts[0], *words])) for texts, words in zip(columns, whole, strict=True)]
    least = [max(each, MIN_CELL) for each in least]
    while sum(found) > terminal - GAP * (len(columns) - 1):
        # The widest one, of those that can be narrower.
        wide = [at for at, most in enumerate(found) if most > least[at]]
        if not wide:
            break
        found[max(wide, key=lambda at: found[at])] -= 1
    return found


def _console() -> Any:
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console(highlight=False)
