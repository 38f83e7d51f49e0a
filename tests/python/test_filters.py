"""Predicates of pyarrow and polars: with them as with orcish's own, the same rows are kept."""

import datetime as dt
import math
import operator
import pickle
import re
from decimal import Decimal

import orcish
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from judge import keep
from orcish import Expression, col
from orcish.filters import to_expression
from orcish.residual import Residual
from support import examples, title

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


# pyarrow.


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


def arrow_agrees(expression, table):
    """Whether pyarrow evaluates it at all; the rows are compared if it does."""
    try:
        want = table.filter(expression)
    except pa.ArrowException:
        return False
    translated, residual = to_expression(expression, table.schema)
    got = table if translated is None else table.filter(keep(translated, table))
    if residual is not None:
        for needed in residual.columns or []:
            assert needed in table.column_names
        got = residual.apply(got)
    assert got["row"].to_pylist() == want["row"].to_pylist(), (expression, translated, residual)
    return True


@examples(1_000)
@given(arrow_leaves(), st.booleans())
def test_comparisons_of_pyarrow(leaf, negated):
    if not arrow_agrees(~leaf if negated else leaf, WHOLE):
        # Large numbers are refused as a whole; the small ones are not.
        small = WHOLE.slice(0, 4)
        if not arrow_agrees(~leaf if negated else leaf, small):
            reject()


@examples(200)
@given(trees_of(arrow_leaves()), tables())
def test_predicates_of_pyarrow(expression, table):
    if not arrow_agrees(expression, table):
        reject()


# polars.


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


def polars_agrees(expression, table):
    frame = pl.from_arrow(table)
    try:
        want = frame.filter(expression)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return False
    translated, residual = to_expression(expression, table.schema)
    got = table if translated is None else table.filter(keep(translated, table))
    if residual is not None:
        got = residual.apply(got)
    assert got["row"].to_pylist() == want["row"].to_list(), (expression, translated, residual)
    return True


@examples(1_000)
@given(polars_leaves(), st.booleans())
@pytest.mark.filterwarnings("ignore:Comparisons with None")
def test_comparisons_of_polars(leaf, negated):
    if not polars_agrees(~leaf if negated else leaf, WHOLE):
        reject()


@examples(200)
@given(trees_of(polars_leaves()), tables())
@pytest.mark.filterwarnings("ignore:Comparisons with None")
def test_predicates_of_polars(expression, table):
    if not polars_agrees(expression, table):
        reject()


# What is translated, and what is left.

UTC = dt.timezone.utc


def split(filters, schema=SCHEMA):
    translated, residual = to_expression(filters, schema)
    return None if translated is None else str(translated), residual


@pytest.mark.parametrize(
    ("filters", "text"),
    [
        (pc.field("i64") == 5, "i64 = 5"),
        (pc.field("i8") < 300, "i8 < 300"),
        (pc.field("i32") > 2.5, "i32 > 2.5e0"),
        (pc.field("i64") == Decimal("5.0"), "i64 = 5.0"),
        (pc.field("f64") >= 1, "f64 >= 1.0e0"),
        (pc.field("f32") == 0.1, "f32 = 0.1e0"),
        (pc.field("f64") != NAN, "f64 != double('NaN')"),
        (pc.field("d") <= Decimal("1.205"), "d <= 1.205"),
        (pc.field("d") > 1, "d > 1"),
        (pc.field("s") == "é", "s = 'é'"),
        (pc.field("s") == b"a", "s = 'a'"),
        (pc.field("b") == b"\xff", "b = x'ff'"),
        (pc.field("b") == "a", "b = x'61'"),
        (pc.field("o"), "o = true"),
        (~pc.field("o"), "not (o = true)"),
        (pc.field("o") == False, "o = false"),  # noqa: E712
        (pc.field("day") == dt.date(2020, 1, 1), "day = date '2020-01-01'"),
        (pc.field("day") == dt.datetime(2020, 1, 1), "day = date '2020-01-01'"),
        (pc.field("t_us") == dt.date(2020, 1, 1), "t_us = timestamp '2020-01-01 00:00:00'"),
        (pc.field("t_s") < pa.scalar(1, pa.timestamp("ns")), "t_s < timestamp '1970-01-01 00:00:00.000000001'"),
        (pc.field("z_ns") < dt.datetime(2020, 1, 1, tzinfo=UTC), "z_ns < timestamp '2020-01-01 00:00:00Z'"),
        (pc.field("i64") == pa.scalar(None), "i64 = null"),
        (pc.scalar(5) < pc.field("i64"), "i64 > 5"),
        (pc.field("i64") == pc.scalar(5).cast("int8"), "i64 = 5"),
        (pc.field("n", "y", "z") == "a", "n.y.z = 'a'"),
        (pc.field("n").is_null(), "n is null"),
        (pc.field("li").is_valid(), "li is not null"),
        (pc.field("f64").is_null(nan_is_null=True), "(f64 is null) or (is_nan(f64))"),
        (pc.is_nan(pc.field("f64")), "is_nan(f64)"),
        (pc.starts_with(pc.field("s"), "a"), "starts_with(s, 'a')"),
        (pc.starts_with(pc.field("b"), "a"), "starts_with(b, x'61')"),
        (pc.field("i64").isin([1, 2]), "(i64 is not null) and (i64 in (1, 2))"),
        (pc.field("i64").isin([1, None]), "(i64 is null) or (i64 in (1))"),
        (pc.field("i64").isin([None]), "i64 is null"),
        (pc.field("i64").isin(pa.array([], pa.int64())), "false"),
        (pc.is_in(pc.field("i64"), pa.array([1, None]), skip_nulls=True), "(i64 is not null) and (i64 in (1))"),
        (pc.field("f64").isin([1.0, NAN]), "(f64 is not null) and ((f64 in (1.0e0)) or (is_nan(f64)))"),
        (pc.field("f32").isin([0.1]), f"(f32 is not null) and (f32 in ({SINGLE}e0))"),
        (pc.field("d").isin([Decimal("1.20")]), "(d is not null) and (d in (1.20))"),
        (pc.field("s").isin(["a"]), "(s is not null) and (s in ('a'))"),
        (pc.field("day").isin([dt.date(2020, 1, 1)]), "(day is not null) and (day in (date '2020-01-01'))"),
        (
            pc.field("t_ns").isin([dt.datetime(1970, 1, 1)]),
            "(t_ns is not null) and (t_ns in (timestamp '1970-01-01 00:00:00'))",
        ),
        (pc.scalar(True), "true"),
        ((pc.field("i64") > 1) & pc.field("o") & (pc.field("i64") < 3), "(i64 > 1) and (o = true) and (i64 < 3)"),
        ((pc.field("i64") > 1) | pc.field("o") | pc.field("o"), "(i64 > 1) or (o = true) or (o = true)"),
        (pl.col("i64") == 5, "i64 = 5"),
        (pl.col("i64") < 2**70, f"i64 < {2**70}"),
        (pl.col("i8") > 2.5, "i8 > 2.5e0"),
        (pl.col("i32") == pl.lit(5).cast(pl.Int8), "i32 = 5"),
        (pl.col("f64") > 1, "(f64 > 1.0e0) or (is_nan(f64))"),
        (pl.col("f64") <= 1.0, "f64 <= 1.0e0"),
        (pl.col("f64") == NAN, "is_nan(f64)"),
        (pl.col("f64") < NAN, "not (is_nan(f64))"),
        (pl.col("f64") > NAN, "(f64 is null) and (null)"),
        (pl.col("f64") < INF, "f64 < double('Infinity')"),
        (pl.col("f32") == 0.1, f"f32 = {SINGLE}e0"),
        (pl.col("f32") == pl.lit(0.1, dtype=pl.Float64), "f32 = 0.1e0"),
        (pl.col("d") == Decimal("1.205"), "d = 1.205"),
        (pl.col("d") > 1, "d > 1"),
        (pl.col("s") < "é", "s < 'é'"),
        (pl.col("b") == b"\xff", "b = x'ff'"),
        (pl.col("o"), "o = true"),
        (~pl.col("o"), "not (o = true)"),
        (pl.col("day") == dt.date(2020, 1, 1), "day = date '2020-01-01'"),
        (pl.col("day") < dt.datetime(2020, 1, 1), "day < date '2020-01-01'"),
        (pl.col("t_us") < dt.datetime(2020, 1, 1), "t_us < timestamp '2020-01-01 00:00:00'"),
        (pl.col("t_us") < dt.date(2020, 1, 1), "t_us < timestamp '2020-01-01 00:00:00'"),
        (pl.col("t_ms") < dt.datetime(1970, 1, 1, 0, 0, 0, 1999), "t_ms < timestamp '1970-01-01 00:00:00.001'"),
        (pl.col("t_ns") <= dt.datetime(1970, 1, 1), "t_ns < timestamp '1970-01-01 00:00:00.000001'"),
        (pl.col("z_us") > dt.datetime(2020, 1, 1, tzinfo=UTC), "z_us > timestamp '2020-01-01 00:00:00Z'"),
        (pl.lit(5) < pl.col("i64"), "i64 > 5"),
        ((pl.col("i64") == 5).alias("x"), "i64 = 5"),
        (pl.col("n").struct.field("y").struct.field("z") == "a", "n.y.z = 'a'"),
        (pl.col("i64").eq_missing(5), "(i64 is not null) and (i64 = 5)"),
        (pl.col("i64").ne_missing(None), "i64 is not null"),
        (pl.col("n").is_null(), "n is null"),
        (pl.col("li").is_not_null(), "li is not null"),
        (pl.col("f32").is_nan(), "is_nan(f32)"),
        (pl.col("f32").is_not_nan(), "not (is_nan(f32))"),
        (pl.col("s").str.starts_with("a"), "starts_with(s, 'a')"),
        (pl.col("b").bin.starts_with(b"a"), "starts_with(b, x'61')"),
        (pl.col("i64").is_between(1, 5, closed="left"), "(i64 >= 1) and (i64 < 5)"),
        (pl.col("i64").is_in([1, None]), "i64 in (1)"),
        (pl.col("i64").is_in([1, None], nulls_equal=True), "(i64 is null) or (i64 in (1))"),
        (pl.col("i64").is_in([]), "(i64 is null) and (null)"),
        (pl.col("f64").is_in([0.0, NAN]), "(f64 in (0.0e0)) or (is_nan(f64))"),
        (pl.col("s").is_in(pl.Series(["a"])), "s in ('a')"),
        (pl.col("t_us").is_in([dt.datetime(1970, 1, 1)]), "t_us in (timestamp '1970-01-01 00:00:00')"),
        (pl.all_horizontal(pl.col("o"), pl.col("i64") > 1), "(o = true) and (i64 > 1)"),
        ((pl.col("i64") > 1) & pl.lit(True), "(i64 > 1) and (true)"),
        ((pl.col("i64") > 1) | pl.col("o") & (pl.col("i8") < 1), "(i64 > 1) or ((o = true) and (i8 < 1))"),
    ],
    ids=str,
)
def test_translated_as_a_whole(filters, text):
    assert split(filters) == (text, None)


@pytest.mark.parametrize(
    ("filters", "columns"),
    [
        (pc.field("i64") == pc.field("i32"), ["i64", "i32"]),
        (pc.field("i64") + 1 > 2, ["i64"]),
        (pc.field("f64") == Decimal("0.1"), ["f64"]),
        (pc.is_nan(pc.field("i64")), ["i64"]),
        (pc.starts_with(pc.field("s"), "a", ignore_case=True), ["s"]),
        (pc.field("t_us") == dt.datetime(2020, 1, 1, tzinfo=UTC), ["t_us"]),
        (pc.field("nosuch") == 1, ["nosuch"]),
        (pc.field("n", "y", "f").isin([0.0]) | (pc.field("n", "x") + 1 == 2), ["n"]),
        (~((pc.field("i64") + 1 > 2) & (pc.field("i32") > 1)), ["i64", "i32"]),
        (~pc.field("f64").isin([0.0]), ["f64"]),
        (pc.field(0) == 1, None),
        (pl.col("i64") == pl.col("i32"), ["i64", "i32"]),
        (pl.col("i64") == 2.0**53, ["i64"]),
        (pl.col("f64") == Decimal("0.1"), ["f64"]),
        (pl.col("i64").is_between(None, 5), ["i64"]),
        (pl.col("t_us") == dt.datetime(2020, 1, 1, tzinfo=UTC), ["t_us"]),
        (pl.col("nosuch") == 1, ["nosuch"]),
        (pl.col("s").str.contains("a"), ["s"]),
        (pl.col("s").str.starts_with(pl.col("s")), ["s"]),
    ],
    ids=str,
)
def test_left_as_a_whole(filters, columns):
    translated, residual = to_expression(filters, SCHEMA)
    assert translated is None
    assert residual.predicate is filters or str(residual.predicate) == str(filters)
    assert residual.columns == columns
    assert residual.by_row
    assert str(residual) == str(filters)


def test_conjunctions_are_split():
    odd = pc.field("i32") + 1 > 2
    translated, residual = to_expression((pc.field("i64") > 1) & odd & pc.field("o"), SCHEMA)
    assert str(translated) == "(i64 > 1) and (o = true)"
    assert residual.predicate.equals(odd)
    assert residual.columns == ["i32"]

    odd = pl.col("i32") + 1 > 2
    translated, residual = to_expression((pl.col("i64") > 1) & odd & pl.col("o"), SCHEMA)
    assert str(translated) == "(i64 > 1) and (o = true)"
    assert residual.predicate.meta.eq(odd)
    assert residual.columns == ["i32"]


def test_less_strict_where_not_exact():
    """More rows are read than asked for, never fewer, and the predicate itself takes them out again."""
    odd = pc.field("i32") + 1 > 2
    either = ((pc.field("i64") > 1) & odd) | (pc.field("i64") < 0)
    translated, residual = to_expression(either, SCHEMA)
    assert str(translated) == "(i64 > 1) or (i64 < 0)"
    assert residual.predicate.equals(either)
    zero = pc.field("f64").isin([0.0])
    translated, residual = to_expression(zero & pc.field("o"), SCHEMA)
    assert str(translated) == "(f64 is not null) and (f64 in (0.0e0)) and (o = true)"
    assert residual.predicate.equals(zero)
    assert split(pc.field("f64").isin([0.0, -0.0]))[1] is None


@pytest.mark.parametrize(
    ("filters", "columns"),
    [
        (pl.col("i64") > pl.col("i64").mean(), ["i64"]),
        ((pl.col("i64") > pl.col("i64").mean()) & (pl.col("i64") > 1), ["i64"]),
        ((pl.col("i64").shift() > 1) & (pl.col("i32") > 1), ["i64", "i32"]),
        (pl.col("i64").is_in(pl.col("i32").implode()), ["i64", "i32"]),
        (pl.col("i64").is_first_distinct(), ["i64"]),
        (pl.all_horizontal(pl.col("i8", "i32") > 1), None),
        (pl.all_horizontal(pl.selectors.numeric() > 0), None),
        (pl.col("^i(8|9)$") > 1, None),
        (pl.len() > 3, []),
    ],
    ids=str,
)
def test_what_asks_about_other_rows_is_left_as_a_whole(filters, columns):
    translated, residual = to_expression(filters, SCHEMA)
    assert translated is None
    assert residual.columns == columns
    assert not residual.by_row
    assert residual.apply(WHOLE)["row"].to_pylist() == pl.from_arrow(WHOLE).filter(filters)["row"].to_list()


def test_bounds_that_are_null_are_left_with_all_beside_them():
    both = (pl.col("i64") > 1) & pl.col("i32").is_between(None, 5)
    translated, residual = to_expression(both, SCHEMA)
    assert translated is None
    assert residual.predicate is both
    assert residual.columns == ["i64", "i32"]


def test_bounds_of_different_types_are_left():
    # With a bound in milliseconds, the column is cut to them for the other bound too.
    low, high = pl.lit(dt.datetime(1970, 1, 1), dtype=pl.Datetime("ms")), dt.datetime(1970, 1, 1)
    assert split(pl.col("t_us").is_between(low, high))[0] is None


def test_several_predicates_at_once_are_refused_as_polars_does():
    residual = to_expression(pl.col("i8", "i32") > 1, SCHEMA)[1]
    with pytest.raises(pl.exceptions.ComputeError, match="ambiguous"):
        residual.apply(WHOLE)


def test_predicates_of_orcish_are_taken_as_they_are():
    ours = col("a") == 1
    translated, residual = to_expression(ours, SCHEMA)
    assert translated.equals(ours)
    assert residual is None
    assert str(to_expression(col("flag"), SCHEMA)[0]) == "flag = true"
    assert to_expression(None, SCHEMA) == (None, None)


# Names.


def test_names_with_dots():
    inner = pa.struct([("b", pa.int64()), ("c.d", pa.int64())])
    schema = pa.schema([("a", inner), ("x.y", pa.int64()), ("dup", pa.int64()), ("dup", pa.int64())])
    assert split(pc.field("a", "b") == 1, schema) == ("a.b = 1", None)
    assert split(pc.field("a", "c.d") == 1, schema) == ("a.c.d = 1", None)
    assert split(pc.field("x.y") == 1, schema) == ("x.y = 1", None)
    assert split(pl.col("x.y") == 1, schema) == ("x.y = 1", None)
    for unclear in (pc.field("a.b") == 1, pc.field("x", "y") == 1, pc.field("dup") == 1):
        assert split(unclear, schema)[0] is None
    both = pa.schema([("a", inner), ("a.b", pa.int64())])
    assert split(pc.field("a", "b") == 1, both)[0] is None
    assert split(pc.field("a.b") == 1, both)[0] is None


@pytest.mark.parametrize(
    ("kind", "arrow", "polars"),
    [
        (pa.large_string(), "s = 'a'", "s = 'a'"),
        (pa.string_view(), "s = 'a'", "s = 'a'"),
        (pa.dictionary(pa.int32(), pa.string()), "s = 'a'", None),
    ],
    ids=str,
)
def test_types_of_strings(kind, arrow, polars):
    schema = pa.schema([("s", kind)])
    assert split(pc.field("s") == "a", schema)[0] == arrow
    assert split(pl.col("s") == "a", schema)[0] == polars
    assert split(pl.col("s").is_null(), schema) == ("s is null", None)


def test_unions_have_no_nulls_of_their_own():
    schema = pa.schema([("u", pa.dense_union([pa.field("a", pa.int64())]))])
    assert split(pc.field("u").is_null(), schema)[0] is None


# Lists of comparisons.


@pytest.mark.parametrize(
    "filters",
    [
        [("i64", ">", 5)],
        [("i64", "=", 5), ("s", "in", ["a", "b"])],
        [("i64", "==", 5), ("s", "not in", ["a", None])],
        [[("i64", "!=", 5)], [("s", "in", {"a"}), ("o", "=", True)]],
        [("f64", "<=", 1.0)],
        [("f64", "=", NAN)],
        [("i64", "=", None)],
        [("i64", "in", [1, None])],
        [("i64", "not in", [1])],
        (("i64", ">=", 5), ("i64", "<", 2**40)),
        [[("i64", "<", 5), ("o", "=", False)]],
        [(("i64", "<", 5), ("o", "=", False)), [("s", ">", "a")]],
        [[(("n", "x"), "=", 1)]],
    ],
    ids=str,
)
def test_lists(filters):
    theirs = pq.filters_to_expression(filters)
    want = WHOLE.filter(theirs)["row"].to_pylist()
    translated, residual = to_expression(filters, SCHEMA)
    assert residual is None
    assert WHOLE.filter(keep(translated, WHOLE))["row"].to_pylist() == want


def test_lists_take_dotted_names():
    assert split([("n.x", "=", 1), ("n.y.z", "in", ["a"])])[0].startswith("(n.x = 1) and (n.y.z is not null)")
    assert split([(("n", "x"), "=", 1)]) == ("n.x = 1", None)
    assert to_expression([("n.nosuch", "=", 1)], SCHEMA)[1].columns == ["n.nosuch"]


@pytest.mark.parametrize(
    ("filters", "error"),
    [
        ([], ValueError),
        ([[]], ValueError),
        ([("i64", "=", 1), []], ValueError),
        (("i64", "=", 1), ValueError),
        ([("i64", "=")], ValueError),
        ([("i64", "=", 1, 2)], ValueError),
        ([("i64", "~", 1)], ValueError),
        ([("i64", "is null", None)], ValueError),
        ([("i64", 5, 1)], ValueError),
        ([(5, "=", 1)], ValueError),
        ([("s", "in", "abc")], ValueError),
        ([("i64", "in", 5)], ValueError),
        (["i64"], ValueError),
        ([5], ValueError),
        ([("i64", "=", object())], pa.ArrowInvalid),
        ("i64 ~ 5", ValueError),
        ({"i64": 5}, TypeError),
        (5, TypeError),
    ],
    ids=title,
)
def test_malformed(filters, error):
    with pytest.raises(error) as caught:
        to_expression(filters, SCHEMA)
    assert error is pa.ArrowInvalid or re.search("filters", str(caught.value))


# What is left, applied.


def test_residuals_of_pyarrow():
    residual = to_expression(pc.field("i32") + pa.scalar(2**40) == 2**40 + 5, SCHEMA)[1]
    want = [row for row, value in enumerate(WHOLE["i32"].to_pylist()) if value == 5]
    assert residual.apply(WHOLE)["row"].to_pylist() == want
    batch = residual.apply(WHOLE.combine_chunks().to_batches()[0])
    assert isinstance(batch, pa.RecordBatch)
    assert batch["row"].to_pylist() == want
    assert pickle.loads(pickle.dumps(residual)).predicate.equals(residual.predicate)


def test_residuals_of_polars_keep_types():
    table = pa.table({"i": pa.array([1, 2, None], pa.int32()), "t": pa.array([1, 2, 3], pa.timestamp("s"))})
    residual = to_expression(pl.col("i") + 1 > 2, table.schema)[1]
    assert residual.apply(table).equals(table.slice(1, 1))
    assert residual.apply(table.to_batches()[0]).equals(table.to_batches()[0].slice(1, 1))
    nothing = to_expression(pl.lit(1) > pl.lit(2), table.schema)[1]
    assert nothing.columns == []
    assert nothing.apply(table).num_rows == 0
    assert isinstance(residual, Residual)


def test_long_and_deep_predicates():
    terms = [pc.field("i64") != value for value in range(2_000)]
    long = terms[0]
    for term in terms[1:]:
        long = long & term
    translated, residual = to_expression(long, SCHEMA)
    assert residual is None
    assert len(translated._tree()[1]) == 2_000
    deep = pc.field("o")
    for _ in range(3_000):
        deep = ~deep
    assert to_expression(deep, SCHEMA)[1].predicate is deep
    assert isinstance(
        to_expression(pl.any_horizontal([pl.col("i64") == value for value in range(500)]), SCHEMA)[0], Expression
    )
    # Beyond some depth, Python does not read the JSON of polars.
    for terms, whole in ((300, True), (2_000, False)):
        long = pl.col("i64") != 0
        for value in range(1, terms):
            long = long & (pl.col("i64") != value)
        translated, residual = to_expression(long, SCHEMA)
        assert (residual is None, translated is not None) == (whole, whole)


NUMBERS = [0, 1, 2**53, 2**53 + 1, 2**62 - 1, 2**62, 2**62 + 1, 2**63, 2**64 - 1]


@pytest.mark.parametrize("literal", [0.0, 1.0, 0.5, 2.0**53, 2.0**62, 2.0**63, 2.0**64, 1e300, -1e300])
def test_whole_floats_are_what_they_are(tmp_path, literal):
    """Whole numbers of all types compare with the exact value of a whole floating point number."""
    small = [number for number in NUMBERS if number < 2**63]
    columns = {
        "u": (NUMBERS, pa.uint64()),
        "i": (small, pa.int64()),
        "d": (NUMBERS, pa.decimal128(20, 0)),
        "e": (NUMBERS, pa.decimal128(38, 4)),
    }
    for name, (values, kind) in columns.items():
        path = tmp_path / f"{name}.orc"
        orcish.write_table(
            pa.table({"c": pa.array([Decimal(v) for v in values], pa.decimal128(38, 4)).cast(kind)}), path
        )
        for symbol in ("eq", "ne", "lt", "le", "gt", "ge"):
            is_so = getattr(operator, symbol)
            found = orcish.read_table(path, filters=is_so(col("c"), literal))["c"].to_pylist()
            assert found == [value for value in values if is_so(value, literal)], (name, symbol)
        found = orcish.read_table(path, filters=col("c").is_in([literal]))["c"].to_pylist()
        assert found == [value for value in values if value == literal]


NEAR_ZERO = ["0E-60", "-0E-45", "0E+30", "0", "1E-60", "-1E-60", "1E-39", "-1E-39", "1E-38", "-1E-38", "0.1", "-0.1"]


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.decimal128(10, 2), pa.decimal128(38, 38)], ids=str)
@pytest.mark.parametrize("text", [*NEAR_ZERO, "1." + "1" * 60, "-1." + "1" * 60, "0." + "0" * 50 + "1" * 40])
def test_numbers_of_any_scale(tmp_path, kind, text):
    """Digits that no column has room for decide on which side of the values a number is."""
    numbers = {str(pa.decimal128(38, 38)): ["-1E-38", "0", "1E-38"], str(pa.decimal128(10, 2)): ["-0.01", "0", "0.01"]}
    values = [Decimal(value) for value in numbers.get(str(kind), ["-1", "0", "1"])]
    path, literal = tmp_path / "numbers.orc", Decimal(text)
    array = pa.array([value if pa.types.is_decimal(kind) else int(value) for value in values], kind)
    orcish.write_table(pa.table({"v": array}), path)
    # Columns of floating point numbers are compared with the nearest.
    other = Decimal(float(literal)) if pa.types.is_floating(kind) else literal
    for compare in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        want = [value for value in values if compare(value, other)]
        found = orcish.read_table(path, filters=compare(col("v"), literal))["v"].to_pylist()
        assert [Decimal(value) for value in found] == want, compare
        assert orcish.scan(path).where(~compare(col("v"), literal)).count() == len(values) - len(want)
    want = [value for value in values if value == other]
    assert orcish.scan(path).where(col("v").is_in([literal])).count() == len(want)
