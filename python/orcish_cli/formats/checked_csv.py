"""Files of CSV as pyarrow reads them well: as UTF-8, with a line break at their end, and without an open quote. pyarrow
takes the rest of a file behind an open quote, as files have that are cut, for one cell, and refuses a header alone
without a line break.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from orcish.errors import CorruptFileError

from orcish_cli.formats.errors import ENCODED

__all__ = ["CheckedCsv"]

BLOCK = 1 << 20


class CheckedCsv(io.RawIOBase):
    """A file of CSV.

    Args:
        opened: Opens the file. It is read a second time only where the number of its quotes is odd.
        delimiter: What separates the cells.
        encoding: The encoding; ``None`` for UTF-8.
    """

    def __init__(self, opened: Callable[[], Any], delimiter: str, encoding: str | None) -> None:
        self._opened, self._delimiter, self._encoding = opened, delimiter, encoding
        self._file = self._utf8()
        self._quotes = 0
        self._last = b"\n"

    def _utf8(self) -> Any:
        file = self._opened()
        return file if self._encoding is None else pa.transcoding_input_stream(file, self._encoding, "utf-8")

    def readable(self) -> bool:
        """Whether there is ``read``."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, as many as are asked for unless the file ends.

        Raises:
            CorruptFileError: The file ends, and a quote is open, or text is not of its encoding.
        """
        parts, left = [], size
        try:
            while left and (part := self._file.read(None if size < 0 else left)):
                parts.append(part)
                left -= len(part)
        except UnicodeError as error:
            raise CorruptFileError(f"the text is not of the encoding that is given: {error}: {ENCODED}") from error
        data = b"".join(parts)
        self._quotes += data.count(b'"')
        self._last = data[-1:] or self._last
        if left:
            if self._quotes % 2:
                self._check_quotes()
            if self._last not in b"\r\n":
                self._last = b"\n"
                data += self._last
        return data

    def _check_quotes(self) -> None:
        """Checks that no cell has an open quote. A quote begins a quoted cell only at the begin of the cell."""
        sign = re.escape(self._delimiter.encode())
        quoted = rb'"[^"]*(?:""[^"]*)*"(?!")'
        cell = re.compile(rb"(?:" + quoted + rb'|(?!"))[^' + sign + rb"\r\n]*[" + sign + rb"\r\n]")
        file, rest, line = self._utf8(), b"", 1
        while data := file.read(BLOCK):
            text, at = rest + data, 0
            while (found := cell.match(text, at)) is not None:
                at = found.end()
            line += text.count(b"\n", 0, at)
            rest = text[at:]
        self._quotes = 0
        if rest.startswith(b'"') and re.match(quoted, rest) is None:
            raise CorruptFileError(
                f'line {line}: a quote (") is opened, and the file ends without another one: it is cut, or the quote '
                "is text, which is written twice in a quoted cell"
            )

    def close(self) -> None:
        """Closes the file."""
        if not self.closed:
            self._file.close()
        super().close()
