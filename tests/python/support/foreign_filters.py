"""Random filters of pyarrow and polars, and tables with columns of all types for them."""

import datetime as dt
import math
import operator
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import reject
from hypothesis import strategies as st

NAN, INF = math.nan, math.inf
SINGLE = 0.10000000149011612  # of single precision, the nearest to 0.1
INTEGERS = [0, 1, -1, 5, 127, 128, -128, 300, 2**24, 2**24 + 1, 2**31 - 1]
LONGS = [*INTEGERS, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, 0.1, SINGLE, 2.5, -2.5, NAN, INF, -INF, 2.0**24, 2.0**53, 1e300, 5e-324, -5e-324]
DECIMALS = [Decimal(each) for each in ("0", "1.20", "1.25", "-1.20", "99999999.99", "5")]
STRINGS = ["", "a", "A", "ab", "b", "é", "zzz", "\U0001f600", "\uffff", "it's", "a\x00"]
BINARIES = [b"", b"a", b"ab", b"\xff", b"\x00", "é".encode()]
DAYS = [dt.date(2020, 1, 1), dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(1582, 10, 4), dt.date(9999, 12, 31)]
# In nanoseconds, about midnights and the edges of units, before and after 1970.
NOON = 1_577_836_800 * 10**9
TICKS = sorted(
    {at + off for at in (0, NOON) for off in (0, 1, -1, 999, 1_000, -1_000, 1_001, -(10**6), 10**6, 10**9, -(10**9))}
)
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def times(unit, zone=None):
    kind = pa.timestamp(unit, zone)
    return kind, [pa.scalar(tick // UNITS[unit], kind) for tick in TICKS]


NESTED = pa.struct([("x", pa.int64()), ("y", pa.struct([("z", pa.string()), ("f", pa.float64())]))])
COLUMNS = {
    "i8": (pa.int8(), [value for value in INTEGERS if -128 <= value < 128]),
    "i16": (pa.int16(), [value for value in INTEGERS if abs(value) < 2**15]),
    "i32": (pa.int32(), INTEGERS),
    "i64": (pa.int64(), LONGS),
    "f32": (pa.float32(), FLOATS),
    "f64": (pa.float64(), FLOATS),
    "d": (pa.decimal128(10, 2), DECIMALS),
    "s": (pa.string(), STRINGS),
    "b": (pa.binary(), BINARIES),
    "o": (pa.bool_(), [True, False]),
    "day": (pa.date32(), DAYS),
    **{f"t_{unit}": times(unit) for unit in UNITS},
    **{f"z_{unit}": times(unit, "UTC") for unit in UNITS},
    "n": (NESTED, [{"x": 1, "y": {"z": "a", "f": NAN}}, {"x": None, "y": None}, {"x": 2, "y": {"z": None, "f": 1.0}}]),
    "li": (pa.list_(pa.int64()), [[1], []]),
}
SCHEMA = pa.schema([pa.field("row", pa.int64()), *(pa.field(name, kind) for name, (kind, _) in COLUMNS.items())])
LITERALS = {
    "int": LONGS,
    "float": FLOATS,
    "decimal": [*DECIMALS, Decimal("1.205"), Decimal("1.2"), Decimal("5.000"), Decimal("5.5"), Decimal("1e20")],
    "string": STRINGS,
    "binary": BINARIES,
    "bool": [True, False],
    "date": DAYS,
}


def array_of(kind, values):
    if any(isinstance(value, pa.Scalar) for value in values):
        ticks = [None if value is None else value.value for value in values]
        return pa.array(ticks, pa.int64()).cast(kind)
    return pa.array(values, kind)


@st.composite
def tables(draw):
    rows = draw(st.integers(1, 12))
    columns = {"row": pa.array(range(rows))}
    for name, (kind, pool) in COLUMNS.items():
        values = draw(st.lists(st.sampled_from([*pool, None]), min_size=rows, max_size=rows))
        columns[name] = array_of(kind, values)
    return pa.table(columns)


# All values beside each other, so that each example asks about all of them.
WHOLE = pa.table(
    {
        "row": range(24),
        **{
            name: array_of(kind, ([*pool, None] * 24)[:24] if len(pool) < 24 else [*pool[:23], None])
            for name, (kind, pool) in COLUMNS.items()
        },
    },
    schema=SCHEMA,
)


def kind_of(name):
    kind = (
        COLUMNS[name][0] if name in COLUMNS else {"n.x": pa.int64(), "n.y.z": pa.string(), "n.y.f": pa.float64()}[name]
    )
    for test, found in (
        (pa.types.is_integer, "int"),
        (pa.types.is_floating, "float"),
        (pa.types.is_decimal, "decimal"),
        (pa.types.is_string, "string"),
        (pa.types.is_binary, "binary"),
        (pa.types.is_boolean, "bool"),
        (pa.types.is_date, "date"),
        (pa.types.is_timestamp, "timestamp"),
    ):
        if test(kind):
            return found
    return None


NAMES = [name for name in COLUMNS if kind_of(name)] + ["n.x", "n.y.z", "n.y.f"]
# Kinds that it makes sense to compare a column with, the likeliest first.
NEAR = {
    "int": ["int", "int", "float", "decimal"],
    "float": ["float", "float", "int"],
    "decimal": ["decimal", "decimal", "int"],
    "string": ["string", "string", "binary"],
    "binary": ["binary", "binary", "string"],
    "bool": ["bool"],
    "date": ["date", "date", "timestamp"],
    "timestamp": ["timestamp", "timestamp", "date"],
}
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@st.composite
def values_for(draw, name, *, same_kind=False, typed):
    """A literal to compare a column with; typed is called with a type of Arrow for some."""
    kind = draw(st.sampled_from(NEAR[kind_of(name)][: 2 if same_kind else None]))
    if kind == "timestamp":
        zone = COLUMNS[name][0].tz if name[:2] in ("t_", "z_") else None
        unit = draw(st.sampled_from(sorted(UNITS)))
        return typed(draw(st.sampled_from(TICKS)) // UNITS[unit], pa.timestamp(unit, zone))
    value = draw(st.sampled_from(LITERALS[kind]))
    types = {"int": [pa.int64(), pa.int32(), pa.int8()], "float": [pa.float64(), pa.float32()]}.get(kind, [])
    if types and draw(st.booleans()):
        wanted = draw(st.sampled_from(types))
        if (
            kind == "float"
            or wanted == pa.int64()
            or -(2 ** (wanted.bit_width - 1)) <= value < 2 ** (wanted.bit_width - 1)
        ):
            return typed(value, wanted)
    return value


def trees_of(leaves):
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(operator.and_, inner, inner), st.builds(operator.or_, inner, inner), inner.map(operator.invert)
        ),
        max_leaves=6,
    )


def arrow_field(name):
    return pc.field(*name.split("."))


@st.composite
def arrow_leaves(draw):
    name = draw(st.sampled_from(NAMES))
    field = arrow_field(name)
    shape = draw(st.sampled_from(["compare"] * 5 + ["in"] * 3 + ["null", "valid", "nan", "starts", "column", "flip"]))
    value = values_for(name, typed=pa.scalar)
    if shape == "compare":
        return draw(st.sampled_from(COMPARISONS))(field, draw(st.one_of(value, value, value, st.just(pa.scalar(None)))))
    if shape == "flip":
        return draw(st.sampled_from(COMPARISONS))(pc.scalar(draw(value)), field)
    if shape == "in":
        found = draw(st.lists(values_for(name, same_kind=True, typed=pa.scalar), max_size=4))
        plain = [each.as_py() if isinstance(each, pa.Scalar) else each for each in found]
        if any(isinstance(each, pa.Scalar) and pa.types.is_timestamp(each.type) for each in found):
            kind = found[0].type
            plain = pa.array([each.value for each in found], pa.int64()).cast(kind)
            return field.isin(pa.concat_arrays([plain, pa.nulls(draw(st.integers(0, 1)), kind)]))
        if draw(st.booleans()):
            plain.append(None)
        try:
            listed = pa.array(plain)
        except pa.ArrowInvalid:
            reject()
        return pc.is_in(field, listed, skip_nulls=draw(st.booleans()))
    if shape == "null":
        return field.is_null(nan_is_null=draw(st.booleans()))
    if shape == "valid":
        return draw(st.sampled_from([field, pc.field("n"), pc.field("li"), pc.field("n", "y")])).is_valid()
    if shape == "nan" and kind_of(name) == "float":
        return pc.is_nan(field)
    if shape == "starts" and kind_of(name) in ("string", "binary"):
        return pc.starts_with(field, draw(st.sampled_from(["", "a", "é", "it'"])))
    return draw(
        st.sampled_from([pc.field("o"), pc.scalar(True), pc.scalar(False), pc.scalar(pa.scalar(None, pa.bool_()))])
    )


def polars_field(name):
    first, *rest = name.split(".")
    found = pl.col(first)
    for step in rest:
        found = found.struct.field(step)
    return found


def polars_literal(value, kind):
    if pa.types.is_timestamp(kind):
        unit = "ms" if kind.unit == "s" else kind.unit
        ticks = value * UNITS[kind.unit] // UNITS[unit]
        return pl.lit(ticks).cast(pl.Datetime(unit, kind.tz))
    types = {
        pa.int64(): pl.Int64,
        pa.int32(): pl.Int32,
        pa.int8(): pl.Int8,
        pa.float32(): pl.Float32,
        pa.float64(): pl.Float64,
    }
    wanted = types[kind]
    return pl.lit(value, dtype=wanted)


@st.composite
def polars_leaves(draw):
    name = draw(st.sampled_from(NAMES))
    field = polars_field(name)
    shapes = ["compare"] * 5 + ["in"] * 3 + ["between", "null", "notnull", "nan", "starts", "column", "flip", "missing"]
    shape = draw(st.sampled_from(shapes))
    value = values_for(name, typed=polars_literal)
    value = st.one_of(value, value, value, value, st.just(pl.lit(None)))
    if shape == "compare":
        return draw(st.sampled_from(COMPARISONS))(field, draw(value))
    if shape == "flip":
        given = draw(value)
        left = given if isinstance(given, pl.Expr) else pl.lit(given)
        return draw(st.sampled_from(COMPARISONS))(left, field).alias("other")
    if shape == "missing":
        return (field.eq_missing if draw(st.booleans()) else field.ne_missing)(draw(value))
    if shape == "between":
        return field.is_between(
            draw(value), draw(value), closed=draw(st.sampled_from(["both", "left", "right", "none"]))
        )
    if shape == "in":
        found = draw(st.lists(values_for(name, same_kind=True, typed=lambda value, kind: (value, kind)), max_size=4))
        kinds = {each[1] for each in found if isinstance(each, tuple)}
        nulls = [None] * draw(st.integers(0, 1))
        if any(map(pa.types.is_timestamp, kinds)):
            unit = draw(st.sampled_from(["ms", "us", "ns"]))
            listed = pl.Series([each[0] for each in found] + nulls, dtype=pl.Int64).cast(
                pl.Datetime(unit, kinds.pop().tz)
            )
        else:
            listed = [each[0] if isinstance(each, tuple) else each for each in found] + nulls
            if kind_of(name) == "float" and draw(st.booleans()):
                listed = pl.Series(listed, dtype=draw(st.sampled_from([pl.Float32, pl.Float64])))
        try:
            return field.is_in(listed, nulls_equal=draw(st.booleans()))
        except (TypeError, pl.exceptions.PolarsError):
            reject()
    if shape in ("null", "notnull"):
        asked = draw(st.sampled_from([field, pl.col("n"), pl.col("li"), pl.col("n").struct.field("y")]))
        return asked.is_null() if shape == "null" else asked.is_not_null()
    if shape == "nan" and kind_of(name) == "float":
        return field.is_nan() if draw(st.booleans()) else field.is_not_nan()
    if shape == "starts" and kind_of(name) == "string":
        return field.str.starts_with(draw(st.sampled_from(["", "a", "é", "it'"])))
    if shape == "starts" and kind_of(name) == "binary":
        return field.bin.starts_with(draw(st.sampled_from([b"", b"a", b"\xff"])))
    return draw(
        st.sampled_from(
            [
                pl.col("o"),
                pl.lit(True),
                pl.lit(False),
                pl.lit(None, dtype=pl.Boolean),
                pl.col("i64").cast(pl.Int32, strict=False) > 3,
            ]
        )
    )
