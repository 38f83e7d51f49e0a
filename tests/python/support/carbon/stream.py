"""Streaming segments: files of rows, in compressed blocks behind a marker."""

import struct

import numpy as np
import pyarrow as pa

from support.carbon import columns as c
from support.carbon import encodings as e
from support.carbon import thrift
from support.carbon.chunks import compress
from support.carbon.columns import Column, schema_list
from support.carbon.nested import elements
from support.carbon.pages import DATE_ZERO, unscaled_bytes

MARKER = b"@carbondata_sync"
FLIPPED = {c.SHORT: ">h", c.INT: ">i", c.LONG: ">q", c.TIMESTAMP: ">q", c.BYTE: ">b", c.FLOAT: ">f", c.DOUBLE: ">d"}
PLAIN = {c.SHORT: ">h", c.INT: ">i", c.LONG: ">q", c.BYTE: ">b", c.FLOAT: ">f", c.DOUBLE: ">d"}


def plain_values(array: pa.Array, kind: int) -> list:
    """Values of an array as Python has them; instants and days as numbers."""
    if kind == c.TIMESTAMP:
        return array.cast(pa.timestamp("ms", array.type.tz)).cast(pa.int64()).to_pylist()
    if kind == c.DATE:
        return array.cast(pa.int32()).to_pylist()
    return array.to_pylist()


def dimension_bytes(column: Column, value) -> bytes:
    """A value without a dictionary; its first bit is flipped if it is a number."""
    kind = column.kind
    if kind in c.TEXTS:
        return value.encode()
    if kind == c.BINARY:
        return value
    if kind == c.BOOLEAN:
        return b"\xff" if value else b"\0"
    if kind == c.DECIMAL:
        return bytes([column.type.scale]) + unscaled_bytes(value, column.type)
    data = struct.pack(">i", value + DATE_ZERO) if kind == c.DATE else struct.pack(FLIPPED[kind], value)
    return bytes([data[0] ^ 128]) + data[1:]


def child_bytes(column: Column, array: pa.Array) -> list[bytes]:
    """Each value of a complex column or of a child, with all that is in it."""
    if column.kind == c.STRUCT:
        fields = [child_bytes(child, part) for child, part in zip(column.children, array.flatten(), strict=True)]
        head = struct.pack(">h", len(fields))
        return [head + b"".join(row) for row in zip(*fields, strict=True)]
    if column.kind in c.COMPLEX:
        counts, rows, values = elements(array)
        parts = child_bytes(column.children[0], values.take(rows))
        ends = np.cumsum(counts)
        return [
            struct.pack(">i", count) + b"".join(parts[end - count : end])
            for count, end in zip(counts.tolist(), ends.tolist(), strict=True)
        ]
    wide = column.kind in (*c.TEXTS, c.BINARY, c.DATE, c.DECIMAL)
    null = e.NULL if column.kind in c.TEXTS else b""
    parts = (null if value is None else dimension_bytes(column, value) for value in plain_values(array, column.kind))
    return [struct.pack(">i" if wide else ">h", len(part)) + part for part in parts]


def cells(column: Column, array: pa.Array) -> list[bytes | None]:
    """The bytes of a column in each row: None for nulls of measures, which are bits; others have them as values."""
    kind = column.kind
    if kind in c.COMPLEX:
        array = array.take(pa.array(np.arange(len(array))))
        return [struct.pack(">h", len(part)) + part for part in child_bytes(column, array)]
    values = plain_values(array, kind)
    if kind == c.DATE:
        return [struct.pack(">i", 1 if value is None else value + DATE_ZERO) for value in values]
    if column.dimension:
        form = ">i" if kind == c.VARCHAR else ">h"
        null = e.NULL if kind == c.STRING else b""
        parts = (null if value is None else dimension_bytes(column, value) for value in values)
        return [struct.pack(form, len(part)) + part for part in parts]
    if kind == c.DECIMAL:
        scale = bytes([column.type.scale])
        parts = (None if value is None else scale + unscaled_bytes(value, column.type) for value in values)
        return [None if part is None else struct.pack(">h", len(part)) + part for part in parts]
    if kind == c.BOOLEAN:
        return [None if value is None else bytes([value]) for value in values]
    return [None if value is None else struct.pack(PLAIN[kind], value) for value in values]


def block(table: pa.Table, columns: list[Column], codec: str) -> bytes:
    """A block of rows: the marker, its header, and the compressed rows."""
    by_column = [cells(column, pa.concat_arrays(table.column(column.name).chunks)) for column in columns]
    rows = []
    for row in zip(*by_column, strict=True):
        nulls = e.bitset(np.array([cell is None for cell in row]))
        rows.append(struct.pack(">h", len(nulls)) + nulls + b"".join(cell for cell in row if cell is not None))
    data = b"".join(rows)
    header = {
        1: thrift.i32(len(data)),
        2: thrift.i32(0),
        4: thrift.nested(thrift.struct({1: thrift.i32(table.num_rows)})),
    }
    header, data = thrift.struct(header), compress(data, codec)
    return MARKER + struct.pack(">i", len(header)) + header + struct.pack(">i", len(data)) + data


def stream_header(columns: list[Column], codec: str, clock: int) -> bytes:
    header = {
        1: thrift.i32(3),
        2: schema_list(columns),
        3: thrift.flag(False),
        4: thrift.i64(clock),
        5: thrift.flag(True),
        6: thrift.binary(MARKER),
        7: thrift.binary(codec),
    }
    return thrift.struct(header)


def stream_bytes(table: pa.Table, columns: list[Column], codec: str, *, block_rows: int, clock: int) -> bytes:
    """A whole file of a streaming segment."""
    blocks = [block(table.slice(at, block_rows), columns, codec) for at in range(0, table.num_rows, block_rows)]
    return stream_header(columns, codec, clock) + b"".join(blocks)


def stream_index(name: str, rows: int, size: int) -> bytes:
    """The index of a streaming segment: how many rows and bytes of a file are committed."""
    bounds = thrift.struct({1: thrift.binaries([]), 2: thrift.binaries([])})
    entry = {
        1: thrift.i64(rows),
        2: thrift.binary(name),
        3: thrift.i64(-1),
        4: thrift.nested(thrift.struct({1: thrift.nested(bounds)})),
        6: thrift.i64(size),
    }
    return thrift.struct(entry)
