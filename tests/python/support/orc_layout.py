"""Where the parts of an ORC file are: a parser of tails and stripe footers that shares no code with orcish."""

import zlib
from dataclasses import dataclass

from support.protobuf import message

STREAM_KINDS = ["PRESENT", "DATA", "LENGTH", "DICTIONARY_DATA", "DICTIONARY_COUNT", "SECONDARY", "ROW_INDEX"]
DATA_KINDS = set(STREAM_KINDS[:6])


@dataclass
class StreamAt:
    """A stream of a stripe."""

    stripe: int
    column: int
    kind: str
    start: int
    end: int


@dataclass
class Layout:
    """Where everything is in a file, found without orcish; none and zlib compression only."""

    streams: list[StreamAt]
    stripe_footers: list[range]
    encodings: list[list[int]]
    tail_start: int

    def data_ranges(self, columns) -> list[range]:
        """Byte ranges of the data streams of columns, and nothing else."""
        wanted = [s for s in self.streams if s.column in columns and s.kind in DATA_KINDS and s.end > s.start]
        return [range(s.start, s.end) for s in wanted]


def layout(file: bytes) -> Layout:
    postscript_length = file[-1]
    postscript_at = len(file) - 1 - postscript_length
    postscript = message(file[postscript_at:-1])
    compressed = postscript.get(2, [0])[0]
    assert compressed in (0, 1), "only files without compression, or with zlib, are taken apart here"

    def section(start: int, end: int) -> bytes:
        return inflate(file[start:end]) if compressed else file[start:end]

    footer_at = postscript_at - postscript[1][0]
    footer = message(section(footer_at, postscript_at))
    found = Layout([], [], [], footer_at - postscript.get(5, [0])[0])
    for index, stripe in enumerate(message(s) for s in footer.get(3, [])):
        at = stripe[1][0]
        footer_start = at + stripe[2][0] + stripe[3][0]
        stripe_footer = message(section(footer_start, footer_start + stripe[4][0]))
        found.stripe_footers.append(range(footer_start, footer_start + stripe[4][0]))
        found.encodings.append([message(c).get(1, [0])[0] for c in stripe_footer.get(2, [])])
        for stream in (message(s) for s in stripe_footer.get(1, [])):
            kind = stream.get(1, [0])[0]
            name = STREAM_KINDS[kind] if kind < len(STREAM_KINDS) else str(kind)
            length = stream.get(3, [0])[0]
            found.streams.append(StreamAt(index, stream.get(2, [0])[0], name, at, at + length))
            at += length
    return found


def inflate(section: bytes) -> bytes:
    out, at = b"", 0
    while at < len(section):
        header = int.from_bytes(section[at : at + 3], "little")
        chunk = section[at + 3 : at + 3 + (header >> 1)]
        out += chunk if header & 1 else zlib.decompress(chunk, -15)
        at += 3 + (header >> 1)
    return out


def chunk_count(file: bytes, stream: StreamAt) -> int:
    """How many compression chunks a stream has."""
    count, at = 0, stream.start
    while at < stream.end:
        at += 3 + (int.from_bytes(file[at : at + 3], "little") >> 1)
        count += 1
    return count
