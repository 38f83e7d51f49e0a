"""CSV with an end: a file that ends inside of a quoted cell, as files do that are cut, is an error, and one that ends
without a line break has one. pyarrow takes the rest of the former for one cell, and refuses a header like the latter.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

from orcish.errors import CorruptFileError

from orcish_cli.formats.encodings import decoded

__all__ = ["CheckedCsv"]

BLOCK = 1 << 20


class CheckedCsv(io.RawIOBase):
    """A file of CSV, whose last line ends with a line break. It is an error at its end if a quote is open there.

    Args:
        opened: Opens the file. It is read a second time only where the number of its quotes is odd.
        delimiter: What separates the cells.

    Raises:
        CorruptFileError: A quote is open, or text is not of its encoding.
    """

    def __init__(self, opened: Callable[[], Any], delimiter: str) -> None:
        self._opened, self._delimiter = opened, delimiter
        self._file = opened()
        self._quotes = 0
        self._last = b"\n"

    def readable(self) -> bool:
        """Whether there is ``read``."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, as many as are asked for unless the file ends."""
        data = self._more(size)
        while 0 < len(data) < size and (more := self._more(size - len(data))):
            data += more
        self._quotes += data.count(b'"')
        self._last = data[-1:] or self._last
        if len(data) < size or size < 0:
            self._check_quotes()
            if self._last not in b"\r\n":
                self._last = b"\n"
                data += self._last
        return data

    def _more(self, size: int) -> bytes:
        return decoded(lambda: self._file.read(None if size < 0 else size))

    def _check_quotes(self) -> None:
        if self._quotes % 2:
            line = _open_quote(self._opened(), self._delimiter)
            self._quotes = 0
            if line is not None:
                raise CorruptFileError(
                    f'line {line}: a quote (") is opened, and the file ends without another one: it is cut, or the '
                    "quote is text, which is written twice in a quoted cell"
                )

    def close(self) -> None:
        """Closes the file."""
        if not self.closed:
            self._file.close()
        super().close()


def _open_quote(file: Any, delimiter: str) -> int | None:
    """The line of the cell whose quote is open at the end of a file; ``None`` if there is none.

    A quote begins a quoted cell only at the begin of the cell.
    """
    sign = re.escape(delimiter.encode())
    end = b"[" + sign + rb"\r\n]"
    cell = re.compile(rb'(?:"[^"]*(?:""[^"]*)*"(?!"))?[^' + sign + rb"\r\n]*" + end)
    quoted = re.compile(rb'"[^"]*(?:""[^"]*)*"(?!")')
    rest, line = b"", 1
    while data := file.read(BLOCK):
        text, at = rest + data, 0
        while True:
            # A cell without an end quote is no cell up to the next delimiter.
            found = cell.match(text, at)
            if found is None or (text.startswith(b'"', at) and quoted.match(text, at) is None):
                break
            at = found.end()
        line += text.count(b"\n", 0, at)
        rest = text[at:]
    return line if rest.startswith(b'"') and quoted.match(rest) is None else None
