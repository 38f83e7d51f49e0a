"""Checks of JSON lines before pyarrow parses them, which ends the process where values nest deeply."""

from __future__ import annotations

import re

from orcish.errors import CorruptFileError, LimitExceededError

from orcish_cli.formats.schemas import MAX_LEVELS

__all__ = ["Levels"]

BRACKETS = b'[]{}"\n'
OTHERS = bytes(byte for byte in range(256) if byte not in BRACKETS)
STRING = re.compile(rb'"[^"\n]*"?')
NULL = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r]*null")


class Levels:
    """Checks blocks of whole lines of JSON, in the order of the file."""

    def __init__(self) -> None:
        self._lines = 0
        self._open = 0
        """The number of objects and arrays that are open before the next block."""

    def check(self, text: bytes) -> None:
        """Checks the next block, as pyarrow gets it.

        Raises:
            LimitExceededError: Values nest more than :data:`~orcish_cli.formats.schemas.MAX_LEVELS` levels deep.
            CorruptFileError: A line is ``null``.
        """
        lines = text.count(b"\n")
        objects = text.startswith(b"{") + text.count(b"\n{")
        if objects < lines + (not text.endswith(b"\n")) and b"null" in text:
            self._check_nulls(text)
        brackets = _brackets(text)
        left = brackets.replace(b"\n", b"")
        # Each time, one level or two are left out.
        for _ in range((MAX_LEVELS - self._open) // 2):
            size = len(left)
            left = left.replace(b"[]", b"").replace(b"{}", b"")
            if len(left) == size:
                break
        if left or self._open:
            # Objects on several lines, those with an error, and those that nest deeply.
            self._count(brackets)
        self._lines += lines

    def _check_nulls(self, text: bytes) -> None:
        level = self._open
        for at, line in enumerate(text.split(b"\n"), 1):
            if not level and NULL.match(line):
                raise CorruptFileError(f"line {self._lines + at} is null: JSON lines have an object on each line")
            brackets = _brackets(line)
            level += sum(map(brackets.count, (b"[", b"{"))) - sum(map(brackets.count, (b"]", b"}")))

    def _count(self, brackets: bytes) -> None:
        """Counts the levels of each value."""
        level, line = self._open, self._lines + 1
        for sign in brackets:
            if sign in b"[{":
                level += 1
                if level > MAX_LEVELS:
                    raise LimitExceededError(f"line {line}: a value nests more than {MAX_LEVELS} levels deep")
            elif sign in b"]}":
                level = max(level - 1, 0)
            else:
                line += 1
        self._open = level


def _brackets(text: bytes) -> bytes:
    """The brackets of a text that are not in strings, and the ends of its lines."""
    if b"\\" in text:
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    found = text.translate(None, OTHERS)
    # A bracket stays inside or outside of strings, as two quotes are left out.
    found = found.replace(b'""', b"")
    return STRING.sub(b"", found) if b'"' in found else found
