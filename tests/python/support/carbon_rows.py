"""Rows for tests of CarbonData, and how tables are compared."""

import datetime as dt
from decimal import Context, Decimal

import pyarrow as pa

NESTED = pa.struct(
    [("x", pa.int64()), ("y", pa.string()), ("days", pa.list_(pa.date32())), ("d", pa.decimal128(10, 2))]
)


def decimal(number, scale):
    # All digits: the usual context has 28.
    return Decimal(number).scaleb(-scale, Context(prec=38))


def instant(row):
    return dt.datetime(1969, 12, 31, 20) + dt.timedelta(minutes=row * 7, milliseconds=row)


def list_of(row, value):
    return [None if at == 1 else value(at) for at in range(row % 4)]


# Types, and the value of each row.
COLUMNS = {
    "flag": (pa.bool_(), lambda row: row % 3 == 0),
    "i8": (pa.int8(), lambda row: row % 256 - 128),
    "i16": (pa.int16(), lambda row: row * 321 % 60000 - 30000),
    "i32": (pa.int32(), lambda row: row * 12_345_678 % 4_000_000_000 - 2_000_000_000),
    "i64": (pa.int64(), lambda row: row * 1_234_567_890_123_456 - (1 << 60)),
    "near": (pa.int64(), lambda row: 4_000_000_000_000 + row * 3),
    "f32": (pa.float32(), lambda row: row / 4 - 3),
    "f64": (pa.float64(), lambda row: row / 10),
    "third": (pa.float64(), lambda row: row / 3),
    "dec9": (pa.decimal128(9, 2), lambda row: decimal(row * 7919 - 50_000, 2)),
    "dec18": (pa.decimal128(18, 6), lambda row: decimal(row * 10**12 - 10**14, 6)),
    "dec38": (pa.decimal128(38, 10), lambda row: decimal((row - 40) * 10**35, 10)),
    "s": (pa.string(), lambda row: f"name {row % 7} é"),
    "unique": (pa.string(), lambda row: f"{row * 7919 % 1000:04d}" * (row % 3)),
    "long": (pa.large_string(), lambda row: f"long text {row % 11} " * 3),
    "raw": (pa.binary(), lambda row: bytes([row % 256, 0, 255])),
    "day": (pa.date32(), lambda row: dt.date(1960, 1, 1) + dt.timedelta(days=row * 97)),
    "at": (pa.timestamp("ms"), instant),
    "ints": (pa.list_(pa.int32()), lambda row: list_of(row, lambda at: at * row)),
    "texts": (pa.list_(pa.string()), lambda row: list_of(row, lambda at: f"t{at}")),
    "nest": (NESTED, lambda row: {"x": row, "y": f"y{row % 3}", "days": [dt.date(2000, 1, 1)], "d": decimal(row, 2)}),
    "map": (pa.map_(pa.string(), pa.float64()), lambda row: [(f"k{at}", at / 2) for at in range(row % 3)]),
}
SIMPLE = [name for name, (of, _) in COLUMNS.items() if not pa.types.is_nested(of)]
# Columns that a table may be sorted by.
SORTABLE = ("s", "day", "at", "flag", "i16", "i32", "near")


def column(name, rows=100, *, nulls=True, start=0):
    """A column, in which every ninth value is null."""
    of, value = COLUMNS[name]
    return pa.array([None if nulls and row % 9 == 4 else value(row) for row in range(start, start + rows)], of)


def table(names=tuple(COLUMNS), rows=100, *, nulls=True, start=0):
    """A table with a column ``id`` that counts up, and others."""
    ids = pa.array(range(start, start + rows), pa.int32())
    return pa.table({"id": ids, **{name: column(name, rows, nulls=nulls, start=start) for name in names}})


def by_id(rows):
    return rows.sort_by([("id", "ascending")])


def equal(found, wanted, *, ordered=True):
    """Asserts that tables have the same columns and rows; where they are not, says of which column."""
    assert found.schema.names == wanted.schema.names
    assert found.schema.types == wanted.schema.types
    assert found.num_rows == wanted.num_rows
    if not ordered:
        found, wanted = by_id(found), by_id(wanted)
    for name in wanted.column_names:
        assert found.column(name).to_pylist() == wanted.column(name).to_pylist(), f"column {name}"
    found.validate(full=True)
