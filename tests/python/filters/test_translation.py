"""Predicates of pyarrow and polars: with them as with orcish's own, the same rows are kept."""

import datetime as dt
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
from orcish import Expression, col
from orcish.filters.pushdown import split_filters
from orcish.filters.residual import Residual
from support.case_loops import each_case
from support.foreign_filters import (
    INF,
    NAN,
    SCHEMA,
    SINGLE,
    WHOLE,
    arrow_leaves,
    polars_leaves,
    tables,
    trees_of,
)
from support.predicate_oracle import keep
from support.random_cases import examples, title

# pyarrow.


def arrow_agrees(expression, table):
    """Whether pyarrow evaluates it at all; the rows are compared if it does."""
    try:
        want = table.filter(expression)
    except pa.ArrowException:
        return False
    translated, residual = split_filters(expression, table.schema)
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


def polars_agrees(expression, table):
    frame = pl.from_arrow(table)
    try:
        want = frame.filter(expression)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return False
    translated, residual = split_filters(expression, table.schema)
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
    translated, residual = split_filters(filters, schema)
    return None if translated is None else str(translated), residual


@each_case(
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


@each_case(
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
        (pl.col("s").str.contains("a."), ["s"]),
        (pl.col("s").str.starts_with(pl.col("s")), ["s"]),
    ],
    ids=str,
)
def test_left_as_a_whole(filters, columns):
    translated, residual = split_filters(filters, SCHEMA)
    assert translated is None
    assert residual.predicate is filters or str(residual.predicate) == str(filters)
    assert residual.columns == columns
    assert residual.by_row
    assert str(residual) == str(filters)


def test_conjunctions_are_split():
    odd = pc.field("i32") + 1 > 2
    translated, residual = split_filters((pc.field("i64") > 1) & odd & pc.field("o"), SCHEMA)
    assert str(translated) == "(i64 > 1) and (o = true)"
    assert residual.predicate.equals(odd)
    assert residual.columns == ["i32"]

    odd = pl.col("i32") + 1 > 2
    translated, residual = split_filters((pl.col("i64") > 1) & odd & pl.col("o"), SCHEMA)
    assert str(translated) == "(i64 > 1) and (o = true)"
    assert residual.predicate.meta.eq(odd)
    assert residual.columns == ["i32"]


def test_less_strict_where_not_exact():
    """Inexact translations select more rows, which the original predicate filters again."""
    odd = pc.field("i32") + 1 > 2
    either = ((pc.field("i64") > 1) & odd) | (pc.field("i64") < 0)
    translated, residual = split_filters(either, SCHEMA)
    assert str(translated) == "(i64 > 1) or (i64 < 0)"
    assert residual.predicate.equals(either)
    zero = pc.field("f64").isin([0.0])
    translated, residual = split_filters(zero & pc.field("o"), SCHEMA)
    assert str(translated) == "(f64 is not null) and (f64 in (0.0e0)) and (o = true)"
    assert residual.predicate.equals(zero)
    assert split(pc.field("f64").isin([0.0, -0.0]))[1] is None


@each_case(
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
    translated, residual = split_filters(filters, SCHEMA)
    assert translated is None
    assert residual.columns == columns
    assert not residual.by_row
    assert residual.apply(WHOLE)["row"].to_pylist() == pl.from_arrow(WHOLE).filter(filters)["row"].to_list()


def test_bounds_that_are_null_are_left_with_all_beside_them():
    both = (pl.col("i64") > 1) & pl.col("i32").is_between(None, 5)
    translated, residual = split_filters(both, SCHEMA)
    assert translated is None
    assert residual.predicate is both
    assert residual.columns == ["i64", "i32"]


def test_bounds_of_different_types_are_left():
    # With a bound in milliseconds, the column is cut to them for the other bound too.
    low, high = pl.lit(dt.datetime(1970, 1, 1), dtype=pl.Datetime("ms")), dt.datetime(1970, 1, 1)
    assert split(pl.col("t_us").is_between(low, high))[0] is None


def test_several_predicates_at_once_are_refused_as_polars_does():
    residual = split_filters(pl.col("i8", "i32") > 1, SCHEMA)[1]
    with pytest.raises(pl.exceptions.ComputeError, match="ambiguous"):
        residual.apply(WHOLE)


def test_predicates_of_orcish_are_taken_as_they_are():
    ours = col("a") == 1
    translated, residual = split_filters(ours, SCHEMA)
    assert translated.equals(ours)
    assert residual is None
    assert str(split_filters(col("flag"), SCHEMA)[0]) == "flag = true"
    assert split_filters(None, SCHEMA) == (None, None)


# Names.


def test_names_with_dots():
    inner = pa.struct([("b", pa.int64()), ("c.d", pa.int64())])
    schema = pa.schema([("a", inner), ("x.y", pa.int64()), ("dup", pa.int64()), ("dup", pa.int64())])
    assert split(pc.field("a", "b") == 1, schema) == ("a.b = 1", None)
    assert split(pc.field("a", "c.d") == 1, schema) == ('a."c.d" = 1', None)
    assert split(pc.field("x.y") == 1, schema) == ('"x.y" = 1', None)
    assert split(pl.col("x.y") == 1, schema) == ('"x.y" = 1', None)
    for unclear in (pc.field("a.b") == 1, pc.field("x", "y") == 1, pc.field("dup") == 1):
        assert split(unclear, schema)[0] is None
    both = pa.schema([("a", inner), ("a.b", pa.int64())])
    assert split(pc.field("a", "b") == 1, both) == ("a.b = 1", None)
    assert split(pc.field("a.b") == 1, both) == ('"a.b" = 1', None)


@each_case(
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


@each_case(
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
    translated, residual = split_filters(filters, SCHEMA)
    assert residual is None
    assert WHOLE.filter(keep(translated, WHOLE))["row"].to_pylist() == want


def test_lists_take_dotted_names():
    assert split([("n.x", "=", 1), ("n.y.z", "in", ["a"])])[0].startswith("(n.x = 1) and (n.y.z is not null)")
    assert split([(("n", "x"), "=", 1)]) == ("n.x = 1", None)
    assert split_filters([("n.nosuch", "=", 1)], SCHEMA)[1].columns == ["n.nosuch"]


@each_case(
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
        split_filters(filters, SCHEMA)
    assert error is pa.ArrowInvalid or re.search("filters", str(caught.value))


# What is left, applied.


def test_residuals_of_pyarrow():
    residual = split_filters(pc.field("i32") + pa.scalar(2**40) == 2**40 + 5, SCHEMA)[1]
    want = [row for row, value in enumerate(WHOLE["i32"].to_pylist()) if value == 5]
    assert residual.apply(WHOLE)["row"].to_pylist() == want
    batch = residual.apply(WHOLE.combine_chunks().to_batches()[0])
    assert isinstance(batch, pa.RecordBatch)
    assert batch["row"].to_pylist() == want
    assert pickle.loads(pickle.dumps(residual)).predicate.equals(residual.predicate)


def test_residuals_of_polars_keep_types():
    table = pa.table({"i": pa.array([1, 2, None], pa.int32()), "t": pa.array([1, 2, 3], pa.timestamp("s"))})
    residual = split_filters(pl.col("i") + 1 > 2, table.schema)[1]
    assert residual.apply(table).equals(table.slice(1, 1))
    assert residual.apply(table.to_batches()[0]).equals(table.to_batches()[0].slice(1, 1))
    nothing = split_filters(pl.lit(1) > pl.lit(2), table.schema)[1]
    assert nothing.columns == []
    assert nothing.apply(table).num_rows == 0
    assert isinstance(residual, Residual)


def test_long_and_deep_predicates():
    terms = [pc.field("i64") != value for value in range(2_000)]
    long = terms[0]
    for term in terms[1:]:
        long = long & term
    translated, residual = split_filters(long, SCHEMA)
    assert residual is None
    assert len(translated._tree()[1]) == 2_000
    deep = pc.field("o")
    for _ in range(3_000):
        deep = ~deep
    with pytest.raises(ValueError, match="more than 256 levels"):
        split_filters(deep, SCHEMA)
    assert isinstance(
        split_filters(pl.any_horizontal([pl.col("i64") == value for value in range(500)]), SCHEMA)[0], Expression
    )
    # Beyond some depth, the parser of Python does not read the JSON of polars.
    for terms in (300, 2_000):
        long = pl.col("i64") != 0
        for value in range(1, terms):
            long = long & (pl.col("i64") != value)
        translated, residual = split_filters(long, SCHEMA)
        assert residual is None
        assert len(translated._tree()[1]) == terms


NUMBERS = [0, 1, 2**53, 2**53 + 1, 2**62 - 1, 2**62, 2**62 + 1, 2**63, 2**64 - 1]


@each_case("literal", [0.0, 1.0, 0.5, 2.0**53, 2.0**62, 2.0**63, 2.0**64, 1e300, -1e300])
def test_whole_floats_are_what_they_are(tmp_path, literal):
    """Whole floating point numbers compare with integers of all types by their exact value."""
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


@each_case("kind", [pa.int64(), pa.float64(), pa.decimal128(10, 2), pa.decimal128(38, 38)], ids=str)
@each_case("text", [*NEAR_ZERO, "1." + "1" * 60, "-1." + "1" * 60, "0." + "0" * 50 + "1" * 40])
def test_numbers_of_any_scale(tmp_path, kind, text):
    """Digits beyond the scale of a column decide comparisons."""
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
