"""Files of a file log: lists of names, and blocks of lists that were joined."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = ["Piece", "Span", "block_spans", "joinable", "piece_of", "superseded"]

FAN = 32
"""Number of lists that become a block, and of blocks that become a larger block."""
LEVELS = 4
"""Number of sizes of blocks."""

_NAME = re.compile(r"(\d{12})(?:-(\d{12}))?\.json")

Span = tuple[int, int]
"""Numbers of the first and of the last list of a piece."""


class Piece(NamedTuple):
    """A list, or a block: the names of several successive lists."""

    span: Span
    size: int = 0
    """Size of the file in bytes."""
    length: int = 0
    """Number of names; 0 before the piece is read."""

    @property
    def is_block(self) -> bool:
        """Whether it has several lists."""
        return self.span[0] != self.span[1]

    @property
    def name(self) -> str:
        """Name of the file."""
        first, last = self.span
        return f"{first:012d}-{last:012d}.json" if self.is_block else f"{first:012d}.json"


def piece_of(name: str, size: int) -> Piece | None:
    """The piece in a file; ``None`` for other files."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    first, last = int(found[1]), int(found[2] or found[1])
    is_known = first > 0 and (found[2] is None or (first, last) in block_spans(first))
    return Piece((first, last), size) if is_known else None


def block_spans(number: int) -> list[Span]:
    """The blocks that may have a list, from the smallest to the largest."""
    spans = []
    for level in range(1, LEVELS + 1):
        width = FAN**level
        first = (number - 1) // width * width + 1
        spans.append((first, first + width - 1))
    return spans


def superseded(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces whose lists are in a larger piece as well."""
    there = list(pieces)
    blocks = {piece.span for piece in there if piece.is_block}
    if not blocks:
        return []
    return [piece for piece in there if any(span in blocks for span in _larger(piece.span))]


def _larger(span: Span) -> list[Span]:
    first, last = span
    return [block for block in block_spans(first) if block[1] - block[0] > last - first]


def joinable(pieces: Sequence[Piece], most: int) -> list[tuple[int, int]]:
    """The ranges of successive pieces that become a block each, whose size is at most ``most`` bytes, about."""
    ends = {piece.span[1]: at + 1 for at, piece in enumerate(pieces)}
    ranges = []
    start = 0
    while start < len(pieces):
        end = start + 1
        for first, last in block_spans(pieces[start].span[0]):
            stop = ends.get(last, 0)
            if first != pieces[start].span[0] or sum(piece.size for piece in pieces[start:stop]) > most:
                break
            end = max(end, stop)
        if end > start + 1:
            ranges.append((start, end))
        start = end
    return ranges
