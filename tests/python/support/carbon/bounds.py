"""Least and greatest values as pages and blocklets state them."""

import struct

from support.carbon import columns as c
from support.carbon.encodings import big_endian

# What Java writes for complex columns: the name of an object, good for nothing.
NO_BOUNDS = b"[B@1404f0e3", b"[B@54ee4ce2"
LONGEST = 200
FLIPPED = {c.SHORT: (16, 2), c.INT: (32, 4), c.LONG: (64, 8), c.TIMESTAMP: (64, 8), c.BYTE: (8, 1)}


def stated(column: c.Column, value, *, page: bool) -> tuple[bytes, bool]:
    """A bound in its bytes and whether it may be used; ``value`` is None where there is none."""
    if value is None:
        return b"", True
    if isinstance(value, bytes):
        return (value, True) if len(value) <= LONGEST else (b"", False)
    kind = column.kind
    if kind == c.DATE:
        return struct.pack(">i", value), True
    if column.dimension:
        if kind == c.BOOLEAN:
            return (b"1" if value else b"0") if page else (b"\xff" if value else b"\0"), True
        if kind in FLIPPED:
            bits, size = FLIPPED[kind]
            return (int(value) + (1 << bits - 1)).to_bytes(size, "big"), True
        return str(value).encode(), True
    if kind in (c.BOOLEAN, c.BYTE):
        return struct.pack(">b", value), True
    if kind == c.DOUBLE:
        return struct.pack(">d", value), True
    if kind == c.FLOAT:
        return struct.pack(">f", value) + bytes(4), True
    if kind == c.DECIMAL:
        return bytes([column.type.scale]) + big_endian(value), True
    return struct.pack(">q", value), True


def pair(column: c.Column, low, high, *, page: bool) -> tuple[bytes, bytes, bool]:
    """Both bounds; unusable if one of them is too long."""
    low, low_good = stated(column, low, page=page)
    high, high_good = stated(column, high, page=page)
    return (low, high, True) if low_good and high_good else (b"", b"", False)
