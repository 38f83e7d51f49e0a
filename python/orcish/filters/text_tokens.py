"""Tokens of predicates as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from orcish.filters.expression import RESERVED

__all__ = ["PredicateTextError", "Token", "excerpt", "text_error", "tokens", "unexpected_end"]

_BACKTICKS = "`[^`]*(?:``[^`]*)*`(?!`)"
_QUOTES, _APOSTROPHES = (
    rf"{quote}[^{quote}\\]*(?:(?:\\.|{quote}{quote})[^{quote}\\]*)*{quote}(?!{quote})" for quote in "\"'"
)
_PART = re.compile(rf"{_BACKTICKS}|{_QUOTES}|\w+", re.DOTALL)
_TOKEN = re.compile(
    rf"\s*(?:(?P<number>[+-]?\.?[0-9](?:[eE][+-](?=[0-9])|[\w.])*)"
    rf"|(?P<string>{_APOSTROPHES})"
    rf"|(?P<name>(?:[^\W\d]\w*|{_BACKTICKS}|{_QUOTES})(?:\.(?:{_PART.pattern}))*)"
    r"|(?P<operator><=|>=|<>|!=|==|[=<>])"
    r"|(?P<mark>[(),])"
    r"|(?P<end>\Z))",
    re.DOTALL,
)
_UNKNOWN = re.compile(r"\s*(\w+|.)", re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8})|(?P<octal>[0-3][0-7]{2})|(?P<char>.))"
    r"|(?P<quote>['\"])(?P=quote)",
    re.DOTALL,
)
# Escapes of Spark. In `like` patterns, the backslashes of the last two are significant.
_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": r"\%", "_": r"\_"}
_MOST_SHOWN = 60


class PredicateTextError(ValueError):
    """A syntax error in the text of a predicate."""


class Token(NamedTuple):
    """A token."""

    kind: str
    """``number``, ``string``, ``name``, ``operator`` or ``end``, or the keyword or punctuation mark itself."""
    text: str
    start: int
    """Position of the token in the text."""
    value: str
    """The unquoted and unescaped string or name, or the normalized operator."""


def excerpt(piece: str) -> str:
    """An excerpt of the text for error messages: on one line, truncated, and quoted unless it begins with a quote."""
    piece = piece if len(piece) <= _MOST_SHOWN else f"{piece[:_MOST_SHOWN]}…"
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in piece)
    return plain if plain.startswith(("'", '"', "`", "[", "{")) else f'"{plain}"'


def text_error(piece: str, start: int, what: str) -> PredicateTextError:
    """A syntax error at a position of the text."""
    return PredicateTextError(f"{excerpt(piece)} {what} (character {start + 1})")


def unexpected_end(text: str, expected: str) -> PredicateTextError:
    """The error that the text ends too early."""
    text = text.rstrip()
    if not text:
        return PredicateTextError(f"the text is empty, and {expected} should be there (character 1)")
    tail = text if len(text) <= _MOST_SHOWN else text[-_MOST_SHOWN:]
    return text_error(tail, len(text), f"ends where {expected} should be")


def tokens(text: str) -> Iterator[Token]:
    """Splits the text into tokens. The last token is the end.

    Raises:
        PredicateTextError: There are characters that are no token.
    """
    at = 0
    while found := _TOKEN.match(text, at):
        kind: Any = found.lastgroup
        start, at = found.span(kind)
        yield _token(kind, found[kind], start)
        if kind == "end":
            return
    unknown: Any = _UNKNOWN.match(text, at)
    start = unknown.start(1)
    if unknown[1] in "'\"`":
        raise text_error(text[start:], start, "begins with a quote that has no end")
    raise text_error(unknown[1], start, "is nothing that a predicate has")


def _token(kind: str, piece: str, start: int) -> Token:
    if kind == "string":
        return Token(kind, piece, start, _unquoted(piece, start))
    if kind == "operator":
        return Token(kind, piece, start, {"==": "=", "<>": "!="}.get(piece, piece))
    if kind == "mark":
        return Token(piece, piece, start, piece)
    if kind == "name":
        if piece.lower() in RESERVED:
            return Token(piece.lower(), piece, start, piece)
        if '"' in piece or "`" in piece:
            parts = _PART.finditer(piece)
            return Token(kind, piece, start, ".".join(_unquoted(each[0], start + each.start()) for each in parts))
    return Token(kind, piece, start, piece)


def _unquoted(piece: str, start: int) -> str:
    """A string or a step of a name, without quotes and escapes."""
    quote = piece[0]
    inner = piece[1:-1]
    if quote == "`":
        return inner.replace("``", "`")
    if quote not in "'\"":
        return piece
    if "\\" not in inner:
        return inner.replace(quote * 2, quote)

    def plain(found: re.Match[str]) -> str:
        if found["quote"]:
            return quote if found["quote"] == quote else found[0]
        code = int(found["short"] or found["long"] or "0", 16) or int(found["octal"] or "0", 8)
        char = found["char"]
        if code > 0x10FFFF or (char and char.isalnum() and char not in _ESCAPES):
            what = r"is no escape: a backslash itself is written \\"
            raise text_error(found[0], start + 1 + found.start(), what)
        return _ESCAPES.get(char, char) if char else chr(code)

    return _ESCAPE.sub(plain, inner)
