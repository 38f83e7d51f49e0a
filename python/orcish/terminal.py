"""Output for terminals. All text from files is escaped."""

from __future__ import annotations

import json
import math
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

__all__ = [
    "Table",
    "fields",
    "indented",
    "json_float",
    "json_line",
    "printable",
    "shorten",
    "show",
    "show_text",
    "width",
]


def printable(text: str) -> str:
    """Escapes control characters, invisible characters and changes of colour or direction."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def json_line(value: Any, default: Callable[[Any], Any] | None = None) -> str:
    """A value as one line of JSON, in which the characters that :func:`printable` escapes have escapes of JSON.

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
    """Prints whole lines in which everything is escaped that :func:`printable` escapes.

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
        raise OSError(error.errno, f"standard output: {error.strerror}") from error


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
        for cell, most, right in zip(cells, self._widths, self._right, strict=True):
            blanks = " " * (most - width(cell))
            padded.append(blanks + cell if right else cell + blanks)
        return "  ".join(padded).rstrip()
