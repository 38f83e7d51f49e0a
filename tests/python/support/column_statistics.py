"""Columns of all types that have statistics, and what their statistics must be."""

import datetime as dt
import decimal
from decimal import Decimal

import pyarrow as pa
import pytest

ROWS = 12_000
UTC = dt.timezone.utc
START = dt.datetime(2020, 1, 1, 0, 0, 0)


def pick(i, value):
    return None if i % 10 == 3 else value


COLUMNS = {
    "i8": [pick(i, i % 200 - 100) for i in range(ROWS)],
    "i32": [i * 3 - 5000 for i in range(ROWS)],
    "i64": [pick(i, i * 10**12) for i in range(ROWS)],
    "f": [pick(i, i / 4 - 1000) for i in range(ROWS)],
    "s": [pick(i, f"{i * 7919 % ROWS:05d} ü") for i in range(ROWS)],
    "bin": [b"x" * (i % 9) for i in range(ROWS)],
    "bool": [pick(i, i % 3 == 0) for i in range(ROWS)],
    "dec": [pick(i, Decimal(i - 6000).scaleb(-2)) for i in range(ROWS)],
    "wide": [Decimal(i * 10**25 - 7).scaleb(-5, decimal.Context(prec=60)) for i in range(ROWS)],
    "date": [pick(i, dt.date(1990, 1, 1) + dt.timedelta(days=i)) for i in range(ROWS)],
    "t": [pick(i, START + dt.timedelta(milliseconds=i * 1001)) for i in range(ROWS)],
    "inst": [(START + dt.timedelta(milliseconds=i * 1001)).replace(tzinfo=UTC) for i in range(ROWS)],
    "null": [None] * ROWS,
}
KINDS = {
    "i8": ("integer", "tinyint", pa.int8()),
    "i32": ("integer", "int", pa.int32()),
    "i64": ("integer", "bigint", pa.int64()),
    "f": ("double", "double", pa.float64()),
    "s": ("string", "string", pa.string()),
    "bin": ("binary", "binary", pa.binary()),
    "bool": ("boolean", "boolean", pa.bool_()),
    "dec": ("decimal", "decimal(10,2)", pa.decimal128(10, 2)),
    "wide": ("decimal", "decimal(38,5)", pa.decimal128(38, 5)),
    "date": ("date", "date", pa.date32()),
    "t": ("timestamp", "timestamp", pa.timestamp("ns")),
    "inst": ("timestamp", "timestamp with local time zone", pa.timestamp("ns", "UTC")),
    "null": ("integer", "int", pa.int32()),
}


def expect(statistics, kind, values, has_sums=True):
    """Whatever the writer kept is what the rows give. Java's sums of some types are not believed."""
    there = [value for value in values if value is not None]
    assert statistics.kind == kind
    assert statistics.values == len(there)
    assert statistics.has_null in (len(there) < len(values), None)
    if not there:
        assert statistics.min is statistics.max is None
        return
    if kind in ("integer", "double", "string", "decimal", "date", "timestamp"):
        assert (statistics.min, statistics.max) == (min(there), max(there))
    if kind == "integer":
        total = sum(there)
        assert statistics.sum == (total if -(2**63) <= total < 2**63 else None)
    if kind == "double":
        assert statistics.sum == (pytest.approx(sum(there)) if has_sums else None)
    if kind == "decimal":
        with decimal.localcontext(prec=60):
            assert statistics.sum in ((sum(there), None) if has_sums else (None,))
    if kind == "boolean":
        assert statistics.true_count == sum(there)
    if kind == "string":
        assert statistics.min_is_exact
        assert statistics.max_is_exact
        assert statistics.total_length == sum(len(value.encode()) for value in there)
    if kind == "binary":
        assert statistics.total_length == sum(map(len, there))
