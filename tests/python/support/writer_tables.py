"""Tables for the tests of the writer: every type in many layouts, and how what others read is compared with them."""

from __future__ import annotations

import datetime as dt
import functools
import io
import math
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import orcish
import pyarrow as pa

from support.random_cases import pairs

STRIDE = 1003
"""Rows of a row group: no multiple of 8, so that bits begin within bytes."""
ROWS = 5 * STRIDE + 517
DAY = 86_400 * 10**6
TYPE_KEY = "orc.type"
SPARK_KEY = "spark.sql.catalyst.type"

Integers = Any  # An array of numpy.


def generator(name: str) -> np.random.Generator:
    """Random numbers that are the same for the same name."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def integers(rng: np.random.Generator, rows: int) -> Integers:
    """Integers in pieces that run length encoders store in different ways: runs, deltas, narrow, wide, outliers."""
    parts: list[Integers] = []
    left = rows
    while left > 0:
        count = min(left, int(rng.choice([1, 2, 3, 5, 10, 17, 60, 200, 511, 513, 700])))
        start = int(rng.integers(-(10**6), 10**6))
        kind = rng.integers(6)
        if kind == 0:
            part = np.full(count, start)
        elif kind == 1:
            part = start + np.arange(count) * int(rng.integers(-9, 10))
        elif kind == 2:
            part = rng.integers(-4, 5, count)
        elif kind == 3:
            part = rng.integers(-(2**40), 2**40, count)
        elif kind == 4:
            part = rng.integers(0, 100, count)
            part[rng.random(count) < 0.02] = int(rng.integers(2**33))
        else:
            part = np.sort(rng.integers(start, start + 10**6, count))
        parts.append(part.astype(np.int64))
        left -= count
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _texts(numbers: Integers) -> list[str]:
    return [f"{n % 1_000_003:x}" + "é日"[n % 3 : n % 3 + 1] for n in numbers.tolist()]


def _micros(numbers: Integers) -> Integers:
    """Microseconds within the years that 64 bits of nanoseconds hold, with all numbers of trailing zeros."""
    micros = numbers * 7 % (10**10) * np.array([1, 10, 1000, 10**5, 10**6, 10**6])[numbers % 6]
    micros = micros % (400 * 365 * DAY) - 200 * 365 * DAY
    # A fraction of the last second before 1970 cannot be stored.
    return np.where((micros > -1_000_000) & (micros < 0), micros + 1_000_000, micros)


def _decimals(digits: int) -> Callable[[Integers], pa.Array]:
    def make(numbers: Integers) -> pa.Array:
        limit = 10**digits
        values = [n * 10**20 % limit * (1 if n % 2 else -1) if n % 5 == 0 else n % limit for n in numbers.tolist()]
        raw = b"".join(value.to_bytes(16, "little", signed=True) for value in values)
        return pa.Array.from_buffers(pa.decimal128(digits, min(digits - 1, 4)), len(values), [None, pa.py_buffer(raw)])

    return make


PRIMITIVES: dict[str, Callable[[Integers], pa.Array]] = {
    "o": lambda n: pa.array(n % 3 == 0),
    "i8": lambda n: pa.array(n.astype(np.int8)),
    "i16": lambda n: pa.array(n.astype(np.int16)),
    "i32": lambda n: pa.array(n.astype(np.int32)),
    "i64": lambda n: pa.array(np.where(n % 97 == 5, n * 10**6, n)),
    "f32": lambda n: pa.array((n / 4).astype(np.float32)),
    "f64": lambda n: pa.array(n / 8),
    "s": lambda n: pa.array(_texts(n)),
    "w": lambda n: pa.array([f"word {n % 50}" for n in n.tolist()]),
    "b": lambda n: pa.array([text.encode("utf-16") for text in _texts(n)]),
    "day": lambda n: pa.array((n % 60_000 - 20_000).astype(np.int32)).cast(pa.date32()),
    "t": lambda n: pa.array(_micros(n), pa.timestamp("us")),
    "tz": lambda n: pa.array(_micros(n + 1), pa.timestamp("us", "UTC")),
    "d9": _decimals(9),
    "d18": _decimals(18),
    "d38": _decimals(38),
}
"""Short names of types, and how their values are made of integers."""

PADDED = ("ch", "vc")


_gaps = True
# Whether there are row groups that have no values in a column.


def null_mask(name: str, rows: int, stride: int = STRIDE) -> Integers:
    """Where a column is null: row groups with no nulls, some, few, only nulls, at the first row, in runs."""
    rng = generator("nulls of " + name)
    shift = zlib.crc32(name.encode()) % 7
    mask = np.zeros(rows, bool)
    for group, start in enumerate(range(0, rows, stride)):
        part = mask[start : start + stride]
        match (group + shift) % 7:
            case 1:
                part[:] = rng.random(len(part)) < (1 if _gaps else 0.6)
            case 2:
                part[:] = rng.random(len(part)) < 0.3
            case 4:
                part[0] = True
            case 5:
                part[:] = rng.random(len(part)) < 0.01
            case 6:
                part[:] = np.arange(len(part)) // 37 % 2 == 0
    return mask


def with_nulls(array: pa.Array, mask: Integers) -> pa.Array:
    """The array with nulls where the mask says so."""
    numbers = pa.array(np.arange(len(array)), mask=mask)
    return array.take(numbers)


def lengths(name: str, rows: int) -> Integers:
    """How many elements lists have: runs of none and of one, and random ones."""
    rng = generator("lengths of " + name)
    if not _gaps:
        return rng.integers(1, 4, rows)
    return np.where(np.arange(rows) // 150 % 4 == 0, np.arange(rows) // 600 % 2, rng.integers(0, 4, rows))


def listed(name: str, rows: int, make: Callable[[int], pa.Array]) -> pa.Array:
    """Lists with nulls, of elements that are made for their number."""
    counts = np.where(null_mask(name, rows), 0, lengths(name, rows))
    offsets = np.concatenate([[0], np.cumsum(counts)])
    kept = pa.array(offsets.astype(np.int32), mask=np.concatenate([null_mask(name, rows), [False]]))
    return pa.ListArray.from_arrays(kept, make(int(offsets[-1])))


def mapped(name: str, rows: int, keys: Callable[[int], pa.Array], items: Callable[[int], pa.Array]) -> pa.Array:
    """Maps with nulls, whose keys differ within a map."""
    lists = listed(name, rows, lambda count: pa.array(np.arange(count)))
    count = len(lists.values)
    offsets = pa.array(lists.offsets.to_numpy(), mask=np.concatenate([null_mask(name, rows), [False]]))
    return pa.MapArray.from_arrays(offsets, keys(count), items(count))


def plain(name: str, kind: str, rows: int) -> pa.Array:
    """A column without nulls."""
    return PRIMITIVES[kind](integers(generator(name), rows))


def holed(name: str, kind: str, rows: int) -> pa.Array:
    """A column with nulls."""
    return with_nulls(plain(name, kind, rows), null_mask(name, rows))


def struct(name: str, rows: int, children: dict[str, pa.Array], *, nulls: bool = True) -> pa.Array:
    """Structs, with nulls by default."""
    mask = pa.array(null_mask(name, rows)) if nulls else None
    return pa.StructArray.from_arrays(list(children.values()), names=list(children), mask=mask)


def union(name: str, rows: int, *, nulls: bool = False) -> pa.Array:
    """A dense union, whose values may be null."""
    some = holed if nulls else plain
    rng = generator(name)
    tags = rng.integers(0, 4, rows).astype(np.int8)
    offsets = np.zeros(rows, np.int32)
    counts = []
    for tag in range(4):
        where = tags == tag
        counts.append(int(where.sum()))
        offsets[where] = np.arange(counts[-1])
    children = [
        some(name + "0", "i64", counts[0]),
        some(name + "1", "s", counts[1]),
        some(name + "2", "o", counts[2]),
        struct(name + "3", counts[3], {"a": holed(name + "3a", "i32", counts[3])}, nulls=nulls),
    ]
    return pa.UnionArray.from_dense(pa.array(tags), pa.array(offsets), children)


def table_without_gaps(rows: int = ROWS) -> pa.Table:
    """The same kinds of columns, which all have values in each row group, at any depth."""
    global _gaps
    _gaps = False
    try:
        return table(rows)
    finally:
        _gaps = True


def table(rows: int = ROWS, *, unions: bool = False) -> pa.Table:
    """Keys to filter by, and columns of every type: with nulls, without, in lists, maps, structs, deeply nested."""
    kinds = list(PRIMITIVES)
    numbers = np.arange(rows)
    columns: dict[str, pa.Array] = {
        "row": pa.array(numbers),
        "k": pa.array(numbers * 7919 % rows),
        "g": pa.array((numbers // 100).astype(np.int32)),
    }
    for kind in kinds:
        columns[kind] = holed(kind, kind, rows)
        columns[kind + "0"] = plain(kind + "0", kind, rows)
    for kind in kinds:
        columns["l_" + kind] = listed("l_" + kind, rows, functools.partial(holed, "el_" + kind, kind))
    columns["st"] = struct("st", rows, {kind: holed("st." + kind, kind, rows) for kind in kinds})
    columns["m_s"] = mapped(
        "m_s", rows, lambda count: pa.array([f"k{n}" for n in range(count)]), lambda count: holed("m_s.v", "o", count)
    )
    columns["m_i"] = mapped(
        "m_i",
        rows,
        lambda count: pa.array(np.arange(count)),
        lambda count: listed("m_i.v", count, lambda inner: holed("m_i.e", "f64", inner)),
    )
    columns["deep"] = listed(
        "deep",
        rows,
        lambda count: struct(
            "deep.e",
            count,
            {
                "o": holed("deep.o", "o", count),
                "m": mapped(
                    "deep.m",
                    count,
                    lambda inner: pa.array(np.arange(inner).astype(np.int32)),
                    lambda inner: struct("deep.v", inner, {"s": holed("deep.s", "w", inner)}),
                ),
            },
        ),
    )
    columns["null"] = pa.nulls(rows, pa.int32())
    for kind in PADDED:
        columns[kind] = with_nulls(
            pa.array([text[:5].ljust(5) if kind == "ch" else text[:5] for text in _texts(numbers * 31)]),
            null_mask(kind, rows),
        )
    if unions:
        columns["u"] = union("u", rows)
        columns["l_u"] = listed("l_u", rows, lambda count: union("lu", count))
    fields = [
        pa.field(name, array.type, metadata={TYPE_KEY: f"{'char' if name == 'ch' else 'varchar'}(5)"})
        if name in PADDED
        else pa.field(name, array.type)
        for name, array in columns.items()
    ]
    return pa.table(list(columns.values()), schema=pa.schema(fields))


def bloomed(columns: pa.Table) -> list[str]:
    """Columns that can have bloom filters."""
    found = []
    for field in columns.schema:
        if not (pa.types.is_nested(field.type) or pa.types.is_boolean(field.type)):
            found.append(field.name)
    return found


DEEP_TABLES = "tables nested deeper than 64 levels are read, and not written: pyarrow imports no such schema"

CODECS = ["none", "zlib", "snappy", "lz4", "zstd", "brotli"]
VERSIONS = ["0.11", "0.12"]


def _combinations() -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and options of every codec, version and way to index."""
    for codec, version, stride in pairs(CODECS, VERSIONS, [0, STRIDE]):
        options: dict[str, Any] = {
            "compression": codec,
            "version": version,
            "row_index_stride": stride,
            "compression_block_size": 4096,
            "stripe_size": 400_000,
            "dictionary": {"s0": True, "w0": False},
        }
        yield f"{codec}_{version.replace('.', '_')}_{stride}", options


COMBINATIONS = list(_combinations())


def written(data: Any, **options: Any) -> bytes:
    """The bytes of a file that orcish writes."""
    out = io.BytesIO()
    orcish.write_table(data, out, **options)
    return out.getvalue()


# How values are compared.


def physical_type(kind: pa.DataType) -> pa.DataType:
    """The physical type: the type in which values are read without a stored schema."""
    types = pa.types
    simple: dict[pa.DataType, pa.DataType] = {
        pa.uint8(): pa.int16(),
        pa.uint16(): pa.int32(),
        pa.uint32(): pa.int64(),
        pa.uint64(): pa.decimal128(20, 0),
        pa.float16(): pa.float32(),
        pa.null(): pa.bool_(),
        pa.large_string(): pa.string(),
        pa.string_view(): pa.string(),
        pa.large_binary(): pa.binary(),
        pa.binary_view(): pa.binary(),
        pa.date64(): pa.date32(),
    }
    if kind in simple:
        return simple[kind]
    if types.is_time32(kind):
        return pa.int32()
    if types.is_time64(kind) or types.is_duration(kind):
        return pa.int64()
    if types.is_fixed_size_binary(kind):
        return pa.binary()
    if types.is_timestamp(kind):
        return pa.timestamp("us", "UTC" if kind.tz else None)
    if types.is_decimal(kind):
        digits = min(38, max(kind.precision, kind.scale) - min(kind.scale, 0))
        return pa.decimal128(digits, max(kind.scale, 0))
    if types.is_map(kind):
        return pa.map_(physical_type(kind.key_type), physical_type(kind.item_type))
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return physical_type(kind.value_type)
    if hasattr(kind, "value_type"):
        return pa.list_(physical_type(kind.value_type))
    if types.is_struct(kind):
        return pa.struct([(field.name, physical_type(field.type)) for field in kind])
    return kind


def as_physical(column: pa.ChunkedArray) -> pa.Array:
    """A column in its physical type."""
    array = column.combine_chunks()
    array = pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
    if pa.types.is_duration(array.type) or pa.types.is_time(array.type):
        return array.cast(pa.int32() if pa.types.is_time32(array.type) else pa.int64())
    target = physical_type(array.type)
    return array if array.type == target else array.cast(target)


def values(array: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Values as Python has them, which are equal where they are the same: NaN too, and zeros of the other sign not."""
    return [comparable(value) for value in array.to_pylist()]


def comparable(value: Any) -> Any:
    """A value in a form where what is equal is the same."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else ("-0.0" if value == 0 and math.copysign(1, value) < 0 else value)
    if isinstance(value, dict):
        return {key: comparable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [comparable(inner) for inner in value]
    if isinstance(value, dt.datetime) and value.tzinfo:
        return value.astimezone(dt.timezone.utc)
    return value


def assert_same(got: pa.Table, want: pa.Table) -> None:
    """Checks that tables have the same columns and values, whichever of the types that hold them they have."""
    assert got.column_names == want.column_names
    assert got.num_rows == want.num_rows
    for name, theirs, ours in zip(want.column_names, got.columns, want.columns, strict=True):
        if theirs.type == ours.type:
            assert theirs.equals(ours) or values(theirs) == values(ours), f"column {name}"
            continue
        try:
            theirs, ours = as_physical(theirs), as_physical(ours)
            if theirs.cast(ours.type).equals(ours):
                continue
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
            pass
        left, right = values(theirs), values(ours)
        assert left == right, f"column {name}"
