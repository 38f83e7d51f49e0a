"""How values become the bytes of a page: whole arrays at once, by numpy."""

import struct
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from support.carbon import columns as c

DICTIONARY, RLE, INVERTED_INDEX, DIRECT_COMPRESS, ADAPTIVE, ADAPTIVE_DELTA = 0, 2, 3, 6, 7, 8
FLOATING, DELTA_FLOATING, DIRECT_VARCHAR, INT_LENGTHS = 11, 13, 14, 15
# Types as the metadata of a page numbers them, and how wide their values are.
T_STRING, T_DATE, T_TIMESTAMP, T_BOOLEAN, T_SHORT, T_INT, T_FLOAT, T_LONG, T_DOUBLE = range(9)
T_DECIMAL, T_BYTE, T_BYTES, T_SHORT_INT = 10, 14, 15, 16
WIDTHS = {T_BYTE: 1, T_SHORT: 2, T_SHORT_INT: 3, T_INT: 4, T_LONG: 8, T_FLOAT: 4, T_DOUBLE: 8}
TYPE_IDS = {
    c.BOOLEAN: T_BOOLEAN,
    c.BYTE: T_BYTE,
    c.SHORT: T_SHORT,
    c.INT: T_INT,
    c.LONG: T_LONG,
    c.TIMESTAMP: T_TIMESTAMP,
    c.FLOAT: T_FLOAT,
    c.DOUBLE: T_DOUBLE,
    c.DECIMAL: T_DECIMAL,
}
STORES = {T_BOOLEAN: T_BYTE, T_TIMESTAMP: T_LONG}
FORMATS = {T_BOOLEAN: ">b", T_BYTE: ">b", T_SHORT: ">h", T_INT: ">i", T_FLOAT: ">f", T_DOUBLE: ">d"}
NULL = b"@NU#LL$!"


@dataclass
class Encoded:
    """Values of a page: the encoder, the type that is stored, the power of ten, and the bytes of all elements."""

    encoder: int
    store: int
    data: np.ndarray
    decimals: int = 0


def fit(low: int, high: int) -> int:
    """The narrowest type for whole numbers."""
    for store, bits in ((T_BYTE, 7), (T_SHORT, 15), (T_SHORT_INT, 23), (T_INT, 31)):
        if -(1 << bits) <= low and high < 1 << bits:
            return store
    return T_LONG


def elements(values: np.ndarray, store: int) -> np.ndarray:
    """Each value as bytes, a row of ``width`` bytes per value."""
    if store == T_SHORT_INT:
        return values.astype(">i4").view(np.uint8).reshape(-1, 4)[:, 1:]
    order = {T_BYTE: "i1", T_SHORT: "<i2", T_INT: "<i4", T_LONG: "<i8", T_FLOAT: "<f4", T_DOUBLE: "<f8"}[store]
    return np.ascontiguousarray(values.astype(order)).view(np.uint8).reshape(-1, WIDTHS[store])


def whole(values: np.ndarray, own: int, *, forced: bool = False, delta: bool = True) -> Encoded:
    """Whole numbers, as narrow as they or their distances from the greatest are; ``own`` is the type to beat."""
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    plain = fit(low, high)
    apart = fit(high - low, high - low) if delta else T_LONG
    if not forced and min(WIDTHS[plain], WIDTHS[apart]) >= WIDTHS[own]:
        return Encoded(DIRECT_COMPRESS, own, elements(values, own))
    if WIDTHS[plain] <= WIDTHS[apart]:
        return Encoded(ADAPTIVE, plain, elements(values, plain))
    return Encoded(ADAPTIVE_DELTA, apart, elements(high - values, apart))


def same(left: np.ndarray, right: np.ndarray) -> bool:
    """Whether all bits are the same, those of zeros too."""
    bits = "i4" if left.dtype == np.float32 else "i8"
    return bool(np.array_equal(left.view(bits), right.view(bits)))


def floating(values: np.ndarray, own: int) -> Encoded:
    """Floating-point numbers: as scaled whole numbers where that loses nothing, by at most 5 decimals."""
    if not np.isfinite(values).all():
        raise ValueError("CarbonData has no NaN and no infinity")
    for decimals in range(6) if len(values) else ():
        factor = 10.0**decimals
        scaled = np.rint(values.astype(np.float64) * factor)
        if np.abs(scaled).max() >= 1 << 53:
            break
        divisor, scaled = values.dtype.type(factor), scaled.astype(np.int64)
        if not same((scaled.astype(values.dtype) / divisor).astype(values.dtype), values):
            continue
        if own == T_DOUBLE and not decimals:
            return whole(scaled, own)
        plain = fit(-int(np.abs(scaled).max()), int(np.abs(scaled).max()))
        top = int(divisor * values.max())
        apart = fit(0, max(top - int(scaled.min()), 0))
        if WIDTHS[apart] < WIDTHS[plain] and (own == T_DOUBLE or abs(top) < 1 << 24):
            distances = top - scaled
            back = ((np.int64(top) - distances).astype(values.dtype) / divisor).astype(values.dtype)
            if int(distances.min()) >= 0 and same(back, values):
                return Encoded(DELTA_FLOATING, apart, elements(distances, apart), decimals)
        if WIDTHS[plain] < WIDTHS[own]:
            return Encoded(FLOATING, plain, elements(scaled, plain), decimals)
        break
    return Encoded(DIRECT_COMPRESS, own, elements(values, own), -1)


def floating_of_apache(values: np.ndarray, own: int) -> Encoded:
    """Floating-point numbers as Apache's writer makes them whole numbers, be they what they were or not."""
    single, wide = own == T_FLOAT, values.astype(np.float64)
    decimals = max((len(np.format_float_positional(value, trim="-").partition(".")[2]) for value in values), default=0)
    if decimals > 5 or not len(values):
        return Encoded(DIRECT_COMPRESS, own, elements(values, own), -1)
    factor = 10.0**decimals
    largest, apart = int(factor * np.abs(wide).max()), int(factor * (wide.max() - wide.min()))
    if not decimals and not single:
        return whole(wide.astype(np.int64), own, delta=False)
    plain, delta = fit(-largest, largest), fit(apart, apart)
    if WIDTHS[plain] > WIDTHS[delta]:
        top = int(values.dtype.type(factor) * values.max())
        scaled = wide * factor
        # Single precision is cut, double precision rounded.
        distances = np.trunc(top - scaled) if single else top - np.floor(scaled + 0.5)
        return Encoded(DELTA_FLOATING, delta, elements(distances.astype(np.int64), delta), decimals)
    if WIDTHS[plain] < 8:
        return Encoded(FLOATING, plain, elements(np.floor(wide * factor + 0.5).astype(np.int64), plain), decimals)
    return Encoded(DIRECT_COMPRESS, own, elements(values, own), -1)


def unscaled(array: pa.Array) -> np.ndarray:
    """Decimals as pairs of 64-bit numbers, low half first; nulls may be anything."""
    data = np.frombuffer(array.buffers()[1], "<i8").reshape(-1, 2)
    return data[array.offset : array.offset + len(array)]


def decimal_width(precision: int) -> int:
    """Bytes that hold all decimals of so many digits."""
    return next(size for size in range(1, 17) if 1 << (8 * size - 1) >= 10**precision)


def big_endian(number: int) -> bytes:
    """As few bytes as hold the number, as Java's ``BigInteger`` does."""
    return number.to_bytes((number + (number < 0)).bit_length() // 8 + 1, "big", signed=True)


def meta(
    name: str, schema: int, place: int, encoded_store: int, decimals: int, bounds: bytes, codec: str, **more
) -> bytes:
    """The metadata blob of a page: ``place`` is the kind of column (2 plain, 4 measure, 7 child, ...)."""
    named, codec_name = name.encode(), codec.encode()
    head = struct.pack(">H", len(named)) + named
    head += struct.pack(
        ">BBiiBi", schema, place, more.get("scale", -1), more.get("precision", -1), encoded_store, decimals
    )
    return head + b"\0" + bounds + struct.pack(">H", len(codec_name)) + codec_name


def meta_bounds(schema: int, low, high, scale: int = 0, precision: int = 0) -> bytes:
    """Greatest value, least value and an unused one, as the metadata blob has them."""
    if schema == T_DECIMAL:
        parts = [bytes([scale]) + big_endian(high), bytes([scale]) + big_endian(low), b"\0\0"]
        data = b"".join(struct.pack(">H", len(part)) + part for part in parts)
        return data + struct.pack(">ii", scale, precision)
    form = FORMATS.get(schema, ">q")
    return struct.pack(form, high) + struct.pack(form, low) + bytes(struct.calcsize(form) if schema == T_FLOAT else 8)


def bitset(bits: np.ndarray) -> bytes:
    """Java's ``BitSet.toByteArray``."""
    return np.packbits(bits, bitorder="little").tobytes().rstrip(b"\0")


def keys3(keys: np.ndarray) -> np.ndarray:
    """Keys of local dictionaries, 3 bytes each."""
    return keys.astype(">u4").view(np.uint8).reshape(-1, 4)[:, 1:]


def raw(array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and bytes of a text or binary array without nulls."""
    array = array.cast(pa.large_binary())
    offsets = np.frombuffer(array.buffers()[1], "<i8")[array.offset : array.offset + len(array) + 1]
    data = array.buffers()[2]
    data = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return offsets - offsets[0] if len(offsets) else np.zeros(1, "i8"), data[offsets[0] : offsets[-1]] if len(
        offsets
    ) else data


def length_values(array: pa.Array, width: int, *, cut: bool = False) -> bytes:
    """Each value after its length, big endian in ``width`` bytes; of longer ones the lowest are left if ``cut``."""
    offsets, data = raw(array)
    count = len(offsets) - 1
    lengths = np.diff(offsets)
    if width == 2 and count and lengths.max() > 32767 and not cut:
        raise ValueError("a STRING holds at most 32,767 bytes")
    out = np.empty(len(data) + width * count, np.uint8)
    starts = offsets[:-1] + width * np.arange(count)
    holds = np.ones(len(out), bool)
    for byte in range(width):
        out[starts + byte] = lengths >> 8 * (width - 1 - byte) & 255
        holds[starts + byte] = False
    out[holds] = data
    return out.tobytes()


def run_starts(rows: np.ndarray) -> np.ndarray:
    """Where rows of bytes differ from the one before; the first one counts."""
    changed = (rows[1:] != rows[:-1]).any(axis=1)
    return np.concatenate([[0], np.flatnonzero(changed) + 1])


def run_lengths(rows: np.ndarray) -> tuple[np.ndarray, bytes]:
    """Rows without repetitions and their (start, count) pairs; no pairs if there is little to save."""
    if not len(rows):
        return rows, b""
    starts = run_starts(rows)
    if len(starts) * 3 > len(rows) * 2:
        return rows, b""
    counts = np.diff(np.concatenate([starts, [len(rows)]]))
    return rows[starts], np.column_stack([starts, counts]).astype(">i2").tobytes()


def row_ids(ids: np.ndarray) -> bytes:
    """An inverted index: the ends of runs of consecutive ids, and where such runs are."""
    if not len(ids):
        return b""
    first = np.concatenate([[0], np.flatnonzero(np.diff(ids) != 1) + 1])
    last = np.concatenate([first[1:], [len(ids)]]) - 1
    sizes = np.where(last > first, 2, 1)
    places = np.concatenate([[0], np.cumsum(sizes)])
    if (places[-1] + (sizes == 2).sum()) * 100 // len(ids) > 70:
        short, runs = ids, np.empty(0, int)
    else:
        short = np.empty(places[-1], int)
        short[places[:-1]] = ids[first]
        short[places[1:] - 1] = ids[last]
        runs = places[:-1][sizes == 2]
    data = short.astype(">i2").tobytes()
    return struct.pack(">i", len(data)) + data + runs.astype(">i2").tobytes()
