"""The file log of streams: the files of a table, in the order in which streams have found them."""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from orcish.errors import OrcishError
from orcish.tables.folder import Folder

__all__ = ["FileLog", "Piece", "block_spans", "joinable", "piece_of", "superseded"]

LIST_FILES = 10_000
"""Maximum names of a list."""
BLOCK_BYTES = 32 << 20
"""Maximum bytes of a block. A block is read as a whole."""
ATTEMPTS = 20
"""How often the folder is listed while other streams join lists."""
READERS = 16
"""Maximum pieces that are read from a store at a time."""
MOST_DELETED = 10_000
"""Maximum pieces that are deleted when files are added."""
CHUNK = 1024
"""Maximum pieces that are read before they are checked."""

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


class FileLog:
    """The file log of a table.

    Names are in numbered lists, which are JSON files. The first stream that needs a list creates it, where none exists.
    All lists have the same id, which identifies the order of the files.

    Streams join lists to blocks, and blocks to larger blocks. A block has the names of its lists in their order. It
    exists before the pieces that it replaces are removed, so that a stream can stop at any point.

    A stream that was suspended may create a list whose number another stream has used, if the true list was joined and
    removed meanwhile. Such a list does not count. It is recognized by the block that has its number: a list counts if
    none of the blocks exists that could have it. A stream looks for these blocks after it has created or read the list,
    and from the smallest to the largest. If a block was removed before the stream looks for it, a larger block exists,
    which the stream looks for afterwards.
    """

    def __init__(self, folder: Folder) -> None:
        self.id: str | None = None
        """Id of the order; ``None`` while there is no list."""
        self.names: list[str] = []
        self.base = folder.base
        self._folder = folder
        self._known: set[str] = set()
        self._pieces: list[Piece] = []
        """The pieces that have the names."""
        self._listed: dict[Span, Piece] = {}
        """The pieces in the folder, as of the last listing."""

    @property
    def _lists(self) -> int:
        """Number of the known lists."""
        return self._pieces[-1].span[1] if self._pieces else 0

    def load(self) -> None:
        """Reads new lists. Nothing is written.

        Raises:
            OrcishError: A list is invalid, has another id than the lists before it, or is lost.
        """
        for _ in range(ATTEMPTS):
            pieces = (piece_of(file.name, file.size) for file in self._folder.files())
            self._listed = {piece.span: piece for piece in pieces if piece is not None}
            # Other streams may join and remove lists during the listing, and before they are read.
            with contextlib.suppress(FileNotFoundError):
                if self._read_listed():
                    return
        raise OrcishError(
            f"{self.base}: the order in which streams have found their files is lost: lists are missing. Remove all "
            "lists, and start streams with new checkpoints"
        )

    def add(self, names: Iterable[str]) -> None:
        """Appends names that are not in the log yet, and joins lists."""
        fresh = sorted(set(names) - self._known)
        while fresh:
            order, part = self.id or uuid.uuid4().hex, fresh[:LIST_FILES]
            data = _encoded(order, part)
            piece = Piece((self._lists + 1, self._lists + 1), len(data))
            try:
                self._folder.write(piece.name, data)
            except FileExistsError:
                # Another stream has written the list.
                self.load()
            else:
                if self._is_joined(piece.span[0]):
                    self._folder.delete([piece.name])
                    self.load()
                else:
                    self._take(piece, order, part)
                    self._listed[piece.span] = piece
            fresh = [name for name in fresh if name not in self._known]
        self._join()

    def _read_listed(self) -> bool:
        """Reads the listed pieces that are not known; whether all of them were there."""
        last = max((span[1] for span in self._listed), default=0)
        if last < self._lists:
            return False
        blocks = {span: piece for span, piece in self._listed.items() if piece.is_block}
        lists = self._lists
        wanted: list[Piece] = []
        while lists < last:
            found = _with_list(lists + 1, self._listed, blocks)
            if found is None:
                return False
            wanted.append(found)
            lists = found.span[1]
        for start in range(0, len(wanted), CHUNK):
            some = wanted[start : start + CHUNK]
            contents = self._contents(some)
            if self._any_is_joined(some):
                return False
            for piece, (order, names) in zip(some, contents, strict=True):
                self._take(piece, order, names)
        return True

    def _contents(self, pieces: Sequence[Piece]) -> list[tuple[str, list[str]]]:
        # Local files are read faster one after the other.
        if len(pieces) == 1 or "://" not in self.base:
            return [self._content(piece) for piece in pieces]
        with concurrent.futures.ThreadPoolExecutor(READERS) as pool:
            return list(pool.map(self._content, pieces))

    def _content(self, piece: Piece) -> tuple[str, list[str]]:
        """The id and the names of a piece."""
        text = self._folder.read(piece.name)
        try:
            found = json.loads(text)
            return found["order"], found["files"]
        except (ValueError, TypeError, KeyError) as error:
            raise OrcishError(f"{self._folder.location(piece.name)}: is no list of files: {error!r}") from error

    def _any_is_joined(self, pieces: Iterable[Piece]) -> bool:
        # All lists of a smallest block have the same blocks.
        numbers = {block_spans(piece.span[0])[0][0] for piece in pieces if not piece.is_block}
        return any(self._is_joined(number) for number in sorted(numbers))

    def _is_joined(self, number: int) -> bool:
        """Whether a block exists that has a list."""
        return any(self._folder.stat(Piece(span).name) is not None for span in block_spans(number))

    def _take(self, piece: Piece, order: str, names: list[str]) -> None:
        """Appends the names of a piece, of which the first ones may be known."""
        if self.id not in (None, order):
            raise OrcishError(
                f"{self._folder.location(piece.name)}: is of another order than the lists before it, of which some "
                "are lost: remove them all, and start streams with new checkpoints"
            )
        known = 0
        while self._pieces and self._pieces[-1].span[1] >= piece.span[0]:
            known += self._pieces.pop().length
        fresh = names[known:]
        self.id = order
        self.names += fresh
        self._known.update(fresh)
        self._pieces.append(piece._replace(length=len(names)))

    def _join(self) -> None:
        """Joins lists and blocks, and removes those that are joined."""
        self._adopt_blocks()
        counts = [piece.length for piece in self._pieces]
        for start, end in joinable(self._pieces, BLOCK_BYTES):
            pieces = self._pieces[start:end]
            block = self._written_block(pieces, sum(counts[:start]))
            if block is None:
                break
            self._listed[block.span] = block
        self._adopt_blocks()
        gone = superseded(self._listed.values())[:MOST_DELETED]
        if gone:
            self._folder.delete([piece.name for piece in gone])
        for piece in gone:
            del self._listed[piece.span]

    def _written_block(self, pieces: Sequence[Piece], start: int) -> Piece | None:
        """Writes the block of some pieces, whose names begin at an index; ``None`` if another stream does so.

        Raises:
            OrcishError: The pieces were replaced by those of another order.
        """
        try:
            order, _ = self._content(pieces[0])
        except FileNotFoundError:
            return None
        if order != self.id:
            raise OrcishError(
                f"{self.base}: the order in which streams have found their files was replaced: start streams with new "
                "checkpoints"
            )
        data = _encoded(order, self.names[start : start + sum(piece.length for piece in pieces)])
        block = Piece((pieces[0].span[0], pieces[-1].span[1]), len(data))
        # Whoever writes the block, it is the same.
        with contextlib.suppress(FileExistsError):
            self._folder.write(block.name, data)
        return block

    def _adopt_blocks(self) -> None:
        """Replaces known pieces by the listed blocks that have them."""
        lists = self._lists
        adopted: list[Piece] = []
        for piece in self._pieces:
            spans = [span for span in block_spans(piece.span[0]) if span in self._listed and span[1] <= lists]
            if not spans or spans[-1][1] - spans[-1][0] <= piece.span[1] - piece.span[0]:
                adopted.append(piece)
            elif adopted and adopted[-1].span == spans[-1]:
                adopted[-1] = adopted[-1]._replace(length=adopted[-1].length + piece.length)
            else:
                adopted.append(self._listed[spans[-1]]._replace(length=piece.length))
        self._pieces = adopted


def _with_list(number: int, listed: Mapping[Span, Piece], blocks: Mapping[Span, Piece]) -> Piece | None:
    """The largest of the listed pieces that have a list."""
    if blocks:
        for span in reversed(block_spans(number)):
            if span in blocks:
                return blocks[span]
    return listed.get((number, number))


def _encoded(order: str, names: Sequence[str]) -> bytes:
    return json.dumps({"order": order, "files": names}).encode()
