"""Pages of one column: encoded, not yet compressed."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from support.carbon import columns as c
from support.carbon import encodings as e

DATE_ZERO = (1 << 30) - 1
PLAIN, MEASURE, STRUCT_PARENT, LIST_PARENT, CHILD, LONG_PLAIN = 2, 4, 5, 6, 7, 8


@dataclass
class Page:
    """The parts of a page; ``state`` says how it is sorted, where that is said at all."""

    rows: int
    data: bytes
    encoders: list[int]
    meta: bytes | None = None
    low: object = None
    high: object = None
    nulls: bytes = b""
    ids: bytes = b""
    runs: bytes = b""
    state: int | None = None


@dataclass(frozen=True)
class PageOptions:
    """What pages depend on beside their column: the compressor that they name, and the lengths in children; with
    ``as_apache`` numbers and nulls that Apache's writer does not write as they should be are as it writes them."""

    compressor: str = "snappy"
    int_lengths: bool = True
    rle: bool = True
    as_apache: bool = False


def value_page(column: c.Column, array: pa.Array, options: PageOptions) -> Page:
    """A page of numbers, booleans, instants or decimals, whose nulls are in a bitmap."""
    kind, schema = column.kind, e.TYPE_IDS[column.kind]
    own = e.STORES.get(schema, schema)
    nulls = np.asarray(array.is_null())
    values = None
    if kind == c.DECIMAL:
        encoded, low, high = decimals(column, array, nulls)
    else:
        if kind == c.TIMESTAMP:
            array = array.cast(pa.timestamp("ms", array.type.tz)).cast(pa.int64())
        elif kind == c.BOOLEAN:
            array = array.cast(pa.int8())
        values = array.fill_null(0).to_numpy(zero_copy_only=False)
        low, high = (values.min().item(), values.max().item()) if len(values) else (0, 0)
        if kind in (c.FLOAT, c.DOUBLE):
            encoded = e.floating_of_apache(values, own) if options.as_apache else e.floating(values, own)
        else:
            encoded = e.whole(values.astype(np.int64), own, forced=column.child, delta=not column.child)
    data, ids = encoded.data, b""
    encoders = [encoded.encoder]
    if column.inverted and encoded.encoder != e.DIRECT_COMPRESS:
        order = np.argsort(values, kind="stable")
        data, ids = data[order], e.row_ids(order)
        encoders.append(e.INVERTED_INDEX)
    if column.child and options.int_lengths:
        encoders.append(e.INT_LENGTHS)
    precision, scale = column.decimal
    meta = e.meta(
        column.name,
        schema,
        CHILD if column.child else PLAIN if column.dimension else MEASURE,
        encoded.store,
        encoded.decimals,
        e.meta_bounds(schema, low, high, scale, precision),
        options.compressor,
        scale=scale,
        precision=precision,
    )
    state = 2 if ids else None
    return Page(len(array), data.tobytes(), encoders, meta, low, high, e.bitset(nulls), ids, state=state)


def decimals(column: c.Column, array: pa.Array, nulls: np.ndarray):
    """Decimals that fit 64 bits as whole numbers, others in a fixed width; nulls are zeros."""
    halves = np.where(nulls[:, None], 0, e.unscaled(array)) if len(array) else np.empty((0, 2), "<i8")
    if column.type.precision <= 18:
        own = e.T_INT if column.type.precision <= 9 else e.T_LONG
        values = np.ascontiguousarray(halves[:, 0])
        low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
        return e.whole(values, own, forced=True, delta=own == e.T_INT), low, high
    width = e.decimal_width(column.type.precision)
    data = np.ascontiguousarray(halves).view(np.uint8).reshape(-1, 16)[:, ::-1][:, 16 - width :]
    low = high = 0
    if not nulls.all():
        least = pc.min_max(array).as_py()
        low, high = (
            int.from_bytes(unscaled_bytes(least[key], column.type), "big", signed=True) for key in ("min", "max")
        )
    if nulls.any():
        low, high = min(low, 0), max(high, 0)
    return e.Encoded(e.DIRECT_COMPRESS, e.T_DECIMAL, np.ascontiguousarray(data)), low, high


def unscaled_bytes(value, of: pa.Decimal128Type) -> bytes:
    """The unscaled value of one decimal, in as few bytes as hold it."""
    sign, digits, exponent = value.as_tuple()
    number = int("".join(map(str, digits))) * 10 ** (exponent + of.scale)
    return e.big_endian(-number if sign else number)


def stored_page(column: c.Column, rows: np.ndarray, encoders, options: PageOptions, order, low, high) -> Page:
    """A page of fixed-width keys: in the order of an inverted index if there is one, repetitions counted."""
    ids = runs = b""
    if order is not None:
        rows, ids = rows[order], e.row_ids(order)
    count = len(rows) if order is None else len(order)
    if options.rle:
        rows, runs = e.run_lengths(rows)
    encoders = [*encoders, *([e.INVERTED_INDEX] if ids else [])]
    if runs and e.RLE not in encoders:
        encoders.append(e.RLE)
    return Page(count, rows.tobytes(), encoders, None, low, high, ids=ids, runs=runs, state=2 if column.sort else 1)


def date_page(column: c.Column, array: pa.Array, options: PageOptions) -> Page:
    """Days as keys, of which 1 is null."""
    days = array.cast(pa.int32())
    keys = np.where(np.asarray(days.is_null()), 1, np.asarray(days.fill_null(0)).astype(np.int64) + DATE_ZERO)
    order = np.argsort(keys, kind="stable") if column.inverted else None
    rows = keys.astype(">i4").view(np.uint8).reshape(-1, 4)
    encoders = [e.DICTIONARY, e.RLE]
    return stored_page(column, rows, encoders, options, order, int(keys.min()), int(keys.max()))


def filled(column: c.Column, array: pa.Array) -> pa.Array:
    """Texts or bytes with what stands for null in them."""
    if not array.null_count:
        return array
    marker = column.kind == c.STRING or (column.child and column.kind == c.VARCHAR)
    marker = e.NULL if marker else b""
    return array.fill_null(pa.scalar(marker, pa.binary()).cast(array.type))


def byte_bounds(array: pa.Array) -> tuple[bytes, bytes]:
    """Least and greatest of texts or bytes, by their bytes."""
    bounds = pc.min_max(array.cast(pa.large_binary())).as_py()
    return bounds["min"] or b"", bounds["max"] or b""


def text_page(column: c.Column, array: pa.Array, options: PageOptions, keys: np.ndarray | None) -> Page:
    """Texts or bytes after their lengths, or the keys that they have in the dictionary of the chunk."""
    array = filled(column, array)
    low, high = byte_bounds(array)
    wide = column.kind != c.STRING
    encoders = [e.DIRECT_VARCHAR] if wide else []
    order = None
    if column.inverted:
        order = np.asarray(pc.array_sort_indices(array.cast(pa.large_binary()))).astype(np.int64)
    if keys is not None:
        return stored_page(column, e.keys3(keys), encoders, options, order, low, high)
    ids = b""
    if order is not None:
        array, ids = array.take(pa.array(order)), e.row_ids(order)
        encoders = [*encoders, e.INVERTED_INDEX]
    data = e.length_values(array, 4 if wide else 2)
    return Page(len(array), data, encoders, None, low, high, ids=ids, state=2 if column.sort else 1)


def bytes_page(column: c.Column, place: int, rows: int, data: bytes, options: PageOptions) -> Page:
    """A page of a complex column whose bytes are made already."""
    meta = e.meta(column.name, e.T_BYTES, place, e.T_BYTES, 0, b"", options.compressor)
    encoders = [e.DIRECT_COMPRESS, *([e.INT_LENGTHS] if options.int_lengths else [])]
    return Page(rows, data, encoders, meta)


def child_page(column: c.Column, array: pa.Array, options: PageOptions, keys: np.ndarray | None) -> Page:
    """A page of a child that is no complex column itself."""
    if column.kind not in (c.STRING, c.VARCHAR, c.BINARY, c.DATE, c.DECIMAL):
        return value_page(column, array, options)
    if keys is not None:
        return bytes_page(column, CHILD, len(array), e.keys3(keys).tobytes(), options)
    data = e.length_values(child_bytes(column, array, options), 4 if options.int_lengths else 2)
    return bytes_page(column, CHILD, len(array), data, options)


def child_bytes(column: c.Column, array: pa.Array, options: PageOptions) -> pa.Array:
    """Children of varying length as bytes; of null nothing is stored but the marker of texts, and the key of dates."""
    if column.kind == c.DATE:
        days = array.cast(pa.int32()).to_pylist()
        null = (1 ^ 1 << 31).to_bytes(4, "big") if options.as_apache else b""
        parts = [null if day is None else ((day + DATE_ZERO) ^ 1 << 31).to_bytes(4, "big") for day in days]
        return pa.array(parts, pa.large_binary())
    if column.kind == c.DECIMAL:
        scale = bytes([array.type.scale])
        parts = [b"" if value is None else scale + unscaled_bytes(value, array.type) for value in array.to_pylist()]
        return pa.array(parts, pa.large_binary())
    return filled(column, array)
