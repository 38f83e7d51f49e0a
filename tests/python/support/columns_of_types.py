"""Columns of six values, of every type of Arrow that rows can have."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa

CODES = pa.array([0, 1, 0, 1, 0, 0], pa.int8())
OTHER_CODES = pa.array([5, 7, 5, 7, 5, 5], pa.int8())
COLUMNS = {
    "null": pa.nulls(6),
    "boolean": pa.array([True, None, False, True, None, False]),
    "uint64": pa.array([2**64 - 1, 0, None, 1, 2, 3], pa.uint64()),
    "int64": pa.array([2**63 - 1, -(2**63), None, 0, 1, 2]),
    "half": pa.array([1.5, None, 65504, 0.1, -0.0, 2], pa.float64()).cast(pa.float16()),
    "float": pa.array([0.1, None, 3.4e38, 1e-45, 1e16, -0.0], pa.float32()),
    "double": pa.array([0.1, None, 1e308, 5e-324, 1e16, 123456789012345680.0]),
    "no numbers": pa.array([1.0, float("nan"), float("inf"), float("-inf"), None, 2.5]),
    "no numbers of 32 bits": pa.array([1.0, float("nan"), float("inf"), float("-inf"), None, 2.5], pa.float32()),
    "words": pa.array(["a", None, "", "é", "日本", "\U0001f600"]),
    "escaped": pa.array(['"', "\\", "\n\t\0", "\x1b[31m", "\u202e", None]),
    "large": pa.array(["a", None, "\x7f", "", "b", "c"], pa.large_string()),
    "view": pa.array(["a", None, "x" * 40, '"', "b", "c"], pa.string_view()),
    "binary": pa.array([b"\0\xff", None, b"", b"a", b"b", b"c"]),
    "fixed": pa.array([b"ab", None, b"cd", b"ef", b"\0\0", b"  "], pa.binary(2)),
    "decimal": pa.array([Decimal("1.10"), None, Decimal("-0.01"), 0, 1, 2], pa.decimal128(38, 2)),
    "small decimal": pa.array([Decimal("1e-18"), None, Decimal("0E-18"), 0, 1, 2], pa.decimal128(38, 18)),
    "decimal of 256 bits": pa.array([10**60, None, -1, 0, 1, 2], pa.decimal256(76, 3)),
    "date": pa.array([0, None, -800_000, 10_000_000, 1, 2], pa.int32()).cast(pa.date32()),
    "far dates": pa.array([2**31 - 1, None, -(2**31), 12_000_000, 0, 1], pa.int32()).cast(pa.date32()),
    "far timestamps": pa.array([10**12, None, -(10**13), 10**11, 0, 1], pa.int64()).cast(pa.timestamp("s", "UTC")),
    "date64": pa.array([0, None, 86_400_000, -86_400_000, 1, 2], pa.int64()).cast(pa.date64()),
    "time": pa.array([0, None, 1, 86_399_999_999, 1_000_000, 100_000], pa.time64("us")),
    "time of seconds": pa.array([0, None, 1, 86_399, 10, 60], pa.time32("s")),
    **{
        f"{name} {unit} {zone}": pa.array(values, pa.int64()).cast(pa.timestamp(unit, zone))
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC", "Asia/Kathmandu")
        for name, values in {
            "seconds": [0, None, 10**9, -(10**9), 10**10, 10**11],
            "fractions": [0, None, 1, -1, 1_500_000_000, 1_230_000],
        }.items()
    },
    "far": pa.array([10**17, None, -(10**17), 0, 1, 2], pa.timestamp("us")),
    "duration": pa.array([1_500_000, -1, 0, None, 1, 2], pa.duration("us")),
    "interval": pa.array([(1, 2, 3), None, (0, 0, 0), (-1, 0, 1), (0, 1, 0), (1, 0, 0)], pa.month_day_nano_interval()),
    "dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2, 0, 0]), pa.array(["a", None, '"'])),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2, 6], pa.int32()), pa.array(["a", None])),
    "list": pa.array([[1, 2], None, [], [None], [3], [4]]),
    "list of texts": pa.array([["a", '"'], None, [], [None], ["\n"], ["b"]], pa.large_list(pa.string())),
    "list of a size": pa.array([[1, 2], None, [None, 3], [4, 5], [6, 7], [8, 9]], pa.list_(pa.int32(), 2)),
    "list view": pa.array([[1, 2], None, [], [None], [3], [4]], pa.list_view(pa.int32())),
    # Null lists and structs may have values.
    "hidden lists": pa.ListArray.from_arrays(
        pa.array([0, 1, 3, 3, 4, 5, 6], pa.int32()), pa.array(range(6)), mask=pa.array([False, True] * 3)
    ),
    "hidden structs": pa.StructArray.from_arrays([pa.array(range(6))], ["a"], mask=pa.array([False, True] * 3)),
    "struct": pa.array([{"a": 1, "b\n": "x"}, None, {"a": None, "b\n": None}, {}, {"a": 2}, {"b\n": '"'}]),
    "empty struct": pa.array([{}, None, {}, {}, None, {}], pa.struct([])),
    "map": pa.array([[("a", 1)], None, [], [("b", None)], [("c", 2), ("c", 3)], []], pa.map_(pa.string(), pa.int8())),
    "map of dates": pa.array([[(dt.date(1970, 1, 1), "a")], None, [], [], [], []], pa.map_(pa.date32(), pa.string())),
    "union": pa.UnionArray.from_sparse(CODES, [pa.array(range(6)), pa.array(list("abcdef"))]),
    "dense union": pa.UnionArray.from_dense(
        CODES, pa.array([0, 0, 1, 1, 2, 3], pa.int32()), [pa.array(range(4)), pa.array(["a", None])]
    ),
    "union of other codes": pa.UnionArray.from_sparse(
        OTHER_CODES, [pa.array(range(6)), pa.array(list("abcdef"))], ["x", "y"], [5, 7]
    ),
    "dense union of other codes": pa.UnionArray.from_dense(
        OTHER_CODES,
        pa.array([0, 0, 1, 1, 2, 3], pa.int32()),
        [pa.array(range(4)), pa.array(["a", None])],
        ["x", "y"],
        [5, 7],
    ),
    "uuid": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0123456789abcdef", None] * 3, pa.binary(16))),
}
