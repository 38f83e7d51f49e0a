"""ORC files as no writer makes them, put together from protobuf fields."""

import zlib

from support.protobuf import varint, zigzag

STRUCT, LONG, LIST = 12, 4, 10
PRESENT, DATA, LENGTH, ROW_INDEX, BLOOM_FILTER = 0, 1, 2, 6, 8
INDEXES = (ROW_INDEX, 7, BLOOM_FILTER)
CHUNK = 1 << 18


def integer(field, number):
    return varint(field << 3) + varint(number)


def nested(field, *parts):
    body = b"".join(parts)
    return varint(field << 3 | 2) + varint(len(body)) + body


def column_type(kind, children=(), names=()):
    return integer(1, kind) + nested(2, *map(varint, children)) + b"".join(nested(3, name.encode()) for name in names)


def statistics(values, least=None, greatest=None, total=None):
    """Statistics of a column, of integers if there are bounds."""
    bounds = b"" if least is None else integer(1, zigzag(least)) + integer(2, zigzag(greatest))
    of_integers = bounds + (b"" if total is None else integer(3, zigzag(total)))
    return integer(1, values) + (nested(2, of_integers) if of_integers else b"") + integer(10, 0)


def integers(numbers, *, signed=True):
    """Numbers as a stream has them: runs of version 2 of 64-bit numbers."""
    out = b""
    for at in range(0, len(numbers), 512):
        run = numbers[at : at + 512]
        out += bytes([0x7E | (len(run) - 1) >> 8, (len(run) - 1) & 255])
        out += b"".join((zigzag(n) if signed else n).to_bytes(8, "big") for n in run)
    return out


def zeros(runs):
    """As many runs of 512 zeros, which take 4 bytes each."""
    return b"\xc1\xff\x00\x00" * runs


def deflated(data):
    """Data in compressed chunks."""
    out = b""
    for at in range(0, len(data), CHUNK):
        part = data[at : at + CHUNK]
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = packer.compress(part) + packer.flush()
        stored = len(packed) >= len(part)
        packed = part if stored else packed
        out += (len(packed) << 1 | stored).to_bytes(3, "little") + packed
    return out


def orc(
    types,
    stripes,
    *,
    file_statistics=(),
    stripe_statistics=(),
    stride=0,
    writer=0,
    repeat=1,
    stripe_footer=b"",
    footer_fields=b"",
):
    """A file of compressed stripes, each of so many rows and of streams ``(column, kind, bytes)``, indexes first.

    Each stripe is listed ``repeat`` times. ``stripe_footer`` is put behind each stripe footer, ``footer_fields`` behind
    that of the file.
    """
    out, infos, total = b"ORC", b"", 0
    for rows, streams in stripes:
        start, lengths, footer = len(out), {True: 0, False: 0}, b""
        for column, kind, data in streams:
            stored = deflated(data)
            out += stored
            lengths[kind in INDEXES] += len(stored)
            footer += nested(1, integer(1, kind), integer(2, column), integer(3, len(stored)))
        footer += nested(2, integer(1, 2)) * len(types) + nested(3, b"UTC") + stripe_footer
        footer = deflated(footer)
        out += footer
        places = (start, lengths[True], lengths[False], len(footer), rows)
        infos += nested(3, *(integer(field, number) for field, number in enumerate(places, 1))) * repeat
        total += rows * repeat
    metadata = b"".join(nested(1, *(nested(1, column) for column in columns)) for columns in stripe_statistics)
    metadata = deflated(metadata)
    footer = integer(1, 3) + integer(2, len(out)) + infos + b"".join(nested(4, of) for of in types)
    footer += integer(6, total) + b"".join(nested(7, of) for of in file_statistics)
    footer = deflated(footer + integer(8, stride) + integer(9, writer) + footer_fields)
    postscript = integer(1, len(footer)) + integer(2, 1) + integer(3, CHUNK) + nested(4, varint(0), varint(12))
    postscript += integer(5, len(metadata)) + integer(6, 9) + nested(8000, b"ORC")
    return out + metadata + footer + postscript + bytes([len(postscript)])
