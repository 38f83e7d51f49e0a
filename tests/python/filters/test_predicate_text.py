"""Predicates as text: what is printed is read back, what people write in SQL is understood, and nothing else is."""

import datetime as dt
import io
import math
import re
import unicodedata
from decimal import Decimal

import numpy as np
import orcish
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from orcish import Expression, col
from orcish.filters.expression import RESERVED, escaped_pattern
from orcish.filters.literals import literal
from orcish.filters.text import parse
from support.case_loops import each_case
from support.random_cases import examples

a, b, c = col("a"), col("b"), col("c")
UTC = dt.timezone.utc
NOON = 1_577_880_000 * 10**9  # 2020-01-01 12:00:00

# What is printed is read back.

CHARACTERS = st.characters()
ANY_CHARACTERS = st.characters(exclude_categories=())
TRICKY = st.sampled_from(list("\"'`\\%_.\n\r\t\0\x1a\x1b\u00a0\u2028\U0001f600 nuUxZ0189,()[]éß"))
# hypothesis also takes texts of this module, which are no UTF-8.
TEXTS = st.text(st.one_of(CHARACTERS, TRICKY), max_size=12).filter(lambda text: "\ud800" not in text)
NAMES = st.one_of(
    st.sampled_from(["a", "a.b", "nest.b.c", "_c0", "a.0", "é", "A", "a b", "1a", ".a", "a.", "a..b", "", "x", "date"]),
    st.sampled_from(["timestamp", "double", "nan", "unknown", "is_nan", "starts_with", "a.and", "in.x", "²", "1"]),
    st.sampled_from(sorted(RESERVED)).map(lambda word: word.title()),
    st.sampled_from(sorted(RESERVED)),
    TEXTS,
    st.lists(st.one_of(st.sampled_from(["a", "a.b", "in", "0", "", "b c", "²"]), TEXTS), min_size=2, max_size=4).map(
        tuple
    ),
)
DAYS = st.one_of(
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**40), 2**40),
    st.sampled_from([-719_162, -719_163, 2_932_896, 2_932_897, -719_528, -719_529, -(2**31), 2**31 - 1]),
)
INSTANTS = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(2**63), 2**63 - 1).map(lambda seconds: seconds * 10**9),
    st.builds(lambda day, tick: day * 86_400 * 10**9 + tick, DAYS, st.integers(-(10**9), 10**9)),
)
DECIMALS = st.one_of(
    st.decimals(allow_nan=False, allow_infinity=False).filter(lambda value: abs(value.as_tuple().exponent) <= 1_000),
    st.builds(lambda digits, scale: Decimal(digits).scaleb(-scale), st.integers(-(10**20), 10**20), st.integers(0, 25)),
    st.sampled_from(["0", "-0", "0.00", "5", "5.0", "1E+3", "1E-7", f"-{'9' * 36}.{'9' * 38}"]).map(Decimal),
).filter(lambda value: value.adjusted() < 38 and Decimal(value).normalize().as_tuple().exponent > -1_000)
LITERALS = st.one_of(
    st.just(("null",)),
    st.builds(lambda value: ("bool", value), st.booleans()),
    st.builds(lambda value: ("int", value), st.integers(-(2**127), 2**127 - 1)),
    st.builds(lambda value: ("float", value), st.floats()),
    st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, 1e16, 1e300, 5.0]).map(lambda f: ("float", f)),
    DECIMALS.map(literal),
    st.builds(lambda value: ("string", value), TEXTS),
    st.builds(lambda value: ("binary", value), st.binary(max_size=8)),
    st.builds(lambda value: ("date", value), DAYS),
    st.builds(lambda value, instant: ("timestamp", value, instant), INSTANTS, st.booleans()),
)
LEAVES = st.one_of(
    st.tuples(st.just("compare"), st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), NAMES, LITERALS),
    st.tuples(st.just("in"), NAMES, st.lists(LITERALS, min_size=1, max_size=4)),
    st.tuples(st.just("is_null"), NAMES),
    st.tuples(st.just("is_nan"), NAMES),
    st.tuples(st.just("starts_with"), NAMES, LITERALS.filter(lambda value: value[0] in ("string", "binary"))),
    # No simpler predicate is made of these patterns.
    st.tuples(st.just("like"), NAMES, TEXTS.map(lambda text: f"%{escaped_pattern(text)}_")),
    st.tuples(st.just("constant"), st.sampled_from([True, False, None])),
)
EXPRESSIONS = st.recursive(
    LEAVES.map(Expression),
    lambda inner: st.one_of(
        st.builds(lambda left, right: left & right, inner, inner),
        st.builds(lambda left, right: left | right, inner, inner),
        inner.map(lambda expression: ~expression),
    ),
    max_leaves=12,
)


@examples(500)
@given(EXPRESSIONS)
def test_what_is_printed_is_read_back(expression):
    text = str(expression)
    assert text.isprintable()
    assert parse(text).equals(expression)
    assert parse(f"\n( {text}\t)  ").equals(expression)


@examples(500)
@given(LITERALS)
@example(("float", math.nan))
@example(("float", -0.0))
@example(("float", 5e-324))
@example(("decimal", "5"))
@example(("int", 5))
@example(("date", -719_163))
@example(("timestamp", -1, True))
@example(("timestamp", 2**63 * 10**9, False))
@example(("string", "a\\n\n\\\\''\\%\\'"))
def test_literals_are_read_back(value):
    expression = Expression(("in", "a", [value, value]))
    assert parse(str(expression)).equals(expression)
    flipped = str(Expression(("compare", "=", "a", value))).removeprefix("a = ")
    assert parse(f"{flipped} < a").equals(Expression(("compare", ">", "a", value)))


@each_case(
    ("expression", "text"),
    [
        (a == 5.0, "a = 5.0e0"),
        (a == 1e16, "a = 1e+16"),
        (a == -0.0, "a = -0.0e0"),
        (a == math.nan, "a = double('NaN')"),
        (a == -math.inf, "a = double('-Infinity')"),
        (a == Decimal("5"), "a = 5."),
        (a == Decimal("-1.50"), "a = -1.50"),
        (a == "\\n\n", r"a = '\\n\n'"),
        (a == "\U000e0001\x7f", r"a = '\U000e0001\u007f'"),
        (col("Not") == 1, '"Not" = 1'),
        (col("a\\b") == 1, r'"a\\b" = 1'),
        (col("a..b") == 1, '"a..b" = 1'),
        (col("a.0") == 1, '"a.0" = 1'),
        (col(("a", "0")) == 1, "a.0 = 1"),
        (col(("a.b", "c", "in", "d e")) == 1, '"a.b".c.in."d e" = 1'),
        (col(("in", "not")) == 1, "in.not = 1"),
        (a == dt.date(1, 1, 1), "a = date '0001-01-01'"),
        (Expression(("compare", "=", "a", ("date", -719_163))), "a = date '0000-12-31'"),
        (Expression(("compare", "=", "a", ("date", -719_529))), "a = date '-0001-12-31'"),
        (Expression(("compare", "=", "a", ("date", 2_932_897))), "a = date '+10000-01-01'"),
        (a == pa.scalar(-1, pa.timestamp("ns", "UTC")), "a = timestamp '1969-12-31 23:59:59.999999999Z'"),
        (Expression(("constant", None)), "null"),
    ],
    ids=str,
)
def test_how_they_read(expression, text):
    assert str(expression) == text
    assert parse(text).equals(expression)


@given(st.integers(-(2**40), 2**40))
def test_days_are_those_of_numpy(day):
    printed = re.fullmatch(r"a = date '(.*)'", str(Expression(("compare", "=", "a", ("date", day)))))[1]
    year, month, date = re.fullmatch(r"([+-]?\d{4,})-(\d\d)-(\d\d)", printed).groups()
    theirs = re.fullmatch(r"(-?\d+)-(\d\d)-(\d\d)", str(np.datetime64(day, "D"))).groups()
    assert (int(year), month, date) == (int(theirs[0]), *theirs[1:])


# What people write.


@each_case(
    ("text", "expression"),
    [
        ("a = 5", a == 5),
        ("a == 5", a == 5),
        ("a != 5", a != 5),
        ("a <> 5", a != 5),
        ("a<5", a < 5),
        ("a<=5", a <= 5),
        ("a>5", a > 5),
        ("a>=-5", a >= -5),
        ("5 = a", a == 5),
        ("5 <> a", a != 5),
        ("5 < a", a > 5),
        ("5 <= a", a >= 5),
        ("5 > a", a < 5),
        ("'x' >= a", a <= "x"),
        ("date '2020-01-01' < a", a > dt.date(2020, 1, 1)),
        ("a in (1)", a.is_in([1])),
        ("a IN (1, null,'x')", a.is_in([1, None, "x"])),
        ("a not in (1, 2)", ~a.is_in([1, 2])),
        ("a between 1 and 2", a.between(1, 2)),
        ("a NOT BETWEEN 1 AND 2", ~a.between(1, 2)),
        ("a between 1 and 2 and b = 3", a.between(1, 2) & (b == 3)),
        ("a between 1 and 2 or b = 3", a.between(1, 2) | (b == 3)),
        ("a is null", a.is_null()),
        ("a Is Not Null", a.is_not_null()),
        ("a is nan", a.is_nan()),
        ("a is not NaN", ~a.is_nan()),
        ("is_nan(a)", a.is_nan()),
        ("isnan(`a`)", a.is_nan()),
        ("isnull(a) or isnotnull(b)", a.is_null() | b.is_not_null()),
        ("starts_with(a, 'x')", a.starts_with("x")),
        ("StartsWith(a, X'78')", a.starts_with(b"x")),
        ("a like 'abc%'", a.starts_with("abc")),
        ("a like 'abc%%'", a.starts_with("abc")),
        ("a like '%'", a.starts_with("")),
        ("a like ''", a.like("")),
        ("a not like 'abc%'", ~a.starts_with("abc")),
        ("a like 'abc'", a.like("abc")),
        ("a like '%b'", a.ends_with("b")),
        ("a like '%b%'", a.contains("b")),
        ("a not like '_b%c'", ~a.like("_b%c")),
        ("contains(a, '5%')", a.contains("5%")),
        ("endswith(a, '_')", a.ends_with("_")),
        ("a <=> 5", a.is_not_null() & (a == 5)),
        ("a <=> null", a.is_null()),
        ("a = - 5 -- the last", a == -5),
        ("/* all /* of */ them */ a = 5", a == 5),
        (r"a like 'a\%b\_c%'", a.starts_with("a%b_c")),
        (r"a like 'a\\%b\\\\c'", a.like(r"a\%b\\c")),
        ("a", Expression(a._predicate())),
        ("not a", ~a),
        ("(a)", Expression(a._predicate())),
        ("a and b or c", (a & b) | c),
        ("a or b and c", a | (b & c)),
        ("(a or b) and c", (a | b) & c),
        ("not a = 1 and b", ~(a == 1) & b),
        ("not (a = 1 and b)", ~((a == 1) & b)),
        ("not not a or b", ~~a | b),
        ("not a in (1) or not b is null", ~a.is_in([1]) | ~b.is_null()),
        ("a and (b and c)", a & (b & c)),
        ("((a = 1)) OR (b OR (c))", (a == 1) | (b | c)),
        ("a = true and b = FALSE", (a == True) & (b == False)),  # noqa: E712
        ("a = null", a == None),  # noqa: E711
        ("null", Expression(("constant", None))),
        ("true AND a", Expression(("constant", True)) & a),
        ("not false", ~Expression(("constant", False))),
        # Names.
        ("a.b.c = 1", col(("a", "b", "c")) == 1),
        ("`a` = 1", a == 1),
        ("`a`.`b c` = 1", col(("a", "b c")) == 1),
        ("`a.b`.c = 1", col("a.b").field("c") == 1),
        ("`a.b.c` = 1", col("a.b.c") == 1),
        ("a.`in` = 1", col("a")["in"] == 1),
        ("`it``s` = 1", col("it`s") == 1),
        (r"`a\n` = 1", col(r"a\n") == 1),
        ('"a b" = 1', col("a b") == 1),
        ('"a"."b c" = 1', col(("a", "b c")) == 1),
        (r'"say ""x""\n" = 1', col('say "x"\n') == 1),
        ("`and` = 1 and `not`", (col("and") == 1) & col("not")),
        ("Älter > 1", col("Älter") > 1),
        ("date = date '2020-01-01'", col("date") == dt.date(2020, 1, 1)),
        ("x = x'00' and double = double '1'", (col("x") == b"\0") & (col("double") == 1.0)),
        ("unknown or is_nan", col("unknown") | col("is_nan")),
        # Numbers.
        ("a = +5", a == 5),
        ("a = 5L or a = 5s or a = 5Y", (a == 5) | (a == 5) | (a == 5)),
        ("a = 1.5", a == Decimal("1.5")),
        ("a = 1.50", a == Decimal("1.50")),
        ("a = .5", a == Decimal("0.5")),
        ("a = 5.", a == Decimal("5")),
        ("a = -007.10", a == Decimal("-7.10")),
        ("a = 5BD", a == Decimal("5")),
        ("a = 1e3bd", a == Decimal("1000")),
        ("a = 1.5D", a == 1.5),
        ("a = 5d", a == 5.0),
        ("a = 0.1F", a == 0.10000000149011612),
        ("a = 1e3", a == 1000.0),
        ("a = -1.5E-3", a == -0.0015),
        ("a = 170141183460469231731687303715884105728", a == 2.0**127),
        ("a = double 'nan' or a = double('Infinity')", (a == math.nan) | (a == math.inf)),
        ("a = float('-inf') or a = FLOAT '0.1'", (a == -math.inf) | (a == 0.10000000149011612)),
        # Strings and binaries.
        ("a = 'it''s'", a == "it's"),
        (r"a = 'it\'s'", a == "it's"),
        (r"a = '\\\t\r\n\b\0\Z\"'", a == '\\\t\r\n\b\0\x1a"'),
        (r"a = '\u00e9\U0001F600\101\%\_'", a == "é\U0001f600A\\%\\_"),
        ("a = '\"\"'", a == '""'),
        ("a = ''", a == ""),
        ("a = 'é\n'", a == "é\n"),
        ("a = X'00Ff' or a = x ''", (a == b"\x00\xff") | (a == b"")),
        # Days and times.
        ("a = DATE'2020-1-2'", a == dt.date(2020, 1, 2)),
        ("a = date '2020-02-29'", a == dt.date(2020, 2, 29)),
        ("a = date '+12000-02-29'", Expression(("compare", "=", "a", ("date", 3_663_441)))),
        ("a = timestamp '2020-01-01'", a == dt.datetime(2020, 1, 1)),
        ("a = timestamp '2020-01-01 12:00'", a == dt.datetime(2020, 1, 1, 12)),
        ("a = timestamp '2020-01-01T12:00:00.000000001'", a == pa.scalar(NOON + 1, pa.timestamp("ns"))),
        ("a = timestamp '2020-01-01 12:00:00.5000000000'", a == dt.datetime(2020, 1, 1, 12, 0, 0, 500_000)),
        ("a = timestamp_ntz '2020-01-01 12:00:00'", a == dt.datetime(2020, 1, 1, 12)),
        ("a = timestamp_ltz '2020-01-01 12:00:00Z'", a == dt.datetime(2020, 1, 1, 12, tzinfo=UTC)),
        *(
            (f"a = timestamp '2020-01-01 {clock}'", a == dt.datetime(2020, 1, 1, 12, tzinfo=UTC))
            for clock in (
                *("12:00:00Z", "12:00:00z", "12:00 UTC", "12:00:00.0 GMT", "13:00:00+01:00", "13:00:00 +01", "13:00+1"),
                *("06:30:00-0530", "06:30:00-05:30", "12:00:00-00:00"),
            )
        ),
    ],
)
def test_sql(text, expression):
    got = parse(text)
    assert got.equals(expression), (got, expression)
    assert parse(str(got)).equals(got)


# What is wrong.


def is_one_line(text):
    """Whether no character moves the cursor or is invisible, in versions of Unicode that know the character."""
    return not any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in text)


@each_case(
    ("text", "message"),
    [
        ("", "the text is empty, and a predicate should be there (character 1)"),
        ("  ", "the text is empty, and a predicate should be there (character 1)"),
        ("id >", '"id >" ends where a value should be (character 5)'),
        ("id > \n", '"id >" ends where a value should be (character 5)'),
        ("id > )", '")" is where a value should be (character 6)'),
        ("id > > 5", '">" is where a value should be (character 6)'),
        ("a rlike 'x'", '"rlike" is where an operator should be (character 3)'),
        ("a 5", '"5" is where an operator should be (character 3)'),
        ("5", '"5" ends where an operator should be (character 2)'),
        ("'a' and b", '"and" is where an operator should be (character 5)'),
        ("1 = 1", '"1" is where a column should be (character 5)'),
        ("a = 1 b = 2", '"b" is where "and" or "or" should be (character 7)'),
        ("a = 1)", '")" is where "and" or "or" should be (character 6)'),
        ("(a = 1", '"(a = 1" ends where "and", "or" or ")" should be (character 7)'),
        ("()", '")" is where a predicate should be (character 2)'),
        ("a and", '"a and" ends where a predicate should be (character 6)'),
        ("and a", '"and" is where a predicate should be (character 1)'),
        ("a = and", '"and" is where a value should be (character 5)'),
        ("a = b", '"b" is a column where a value should be: columns are compared with values only (character 5)'),
        ('a = "x"', '"x" is a column where a value should be: columns are compared with values only, and strings are in'),
        ("a not = 5", '"=" is where "in", "between" or "like" should be (character 7)'),
        ("a is 5", '"5" is where "null" or "nan" should be (character 6)'),
        ("a in 5", '"5" is where "(" should be (character 6)'),
        ("a in ()", '")" is where a value should be (character 7)'),
        ("a in (1", '"a in (1" ends where "," or ")" should be (character 8)'),
        ("a in (1,)", '")" is where a value should be (character 9)'),
        ("a between 1 or 2", '"or" is where "and" should be (character 13)'),
        ("a like 5", '"5" is where a pattern in single quotes should be (character 8)'),
        (r"a like 'a\\b%'", "with a backslash that is before none of"),
        (r"a like 'a\\'", "with a backslash that is before none of"),
        ("upper(a) = 'X'", '"upper" is not a known function: functions are contains, ends_with, '),
        ("is_nan('a')", "'a' is where a column should be (character 8)"),
        ("is_nan(a", '"is_nan(a" ends where ")" should be (character 9)'),
        ("starts_with(a)", '")" is where "," should be (character 14)'),
        ("starts_with(a, 5)", '"5" is where a string should be (character 16)'),
        ("double('nan'", 'ends where ")" should be'),
        ("a = 'x", "'x begins with a quote that has no end (character 5)"),
        ("a = 'x''", "'x'' begins with a quote that has no end (character 5)"),
        (r"a = 'x\'", r"'x\' begins with a quote that has no end (character 5)"),
        ("`a = 1", "`a = 1 begins with a quote that has no end (character 1)"),
        ('"a = 1', '"a = 1 begins with a quote that has no end (character 1)'),
        (r"a = 'C:\dir'", r'"\d" is no escape: a backslash itself is written \\ (character 8)'),
        (r"a = '\x1b'", r'"\x" is no escape'),
        (r"a = '\u12'", r'"\u" is no escape'),
        (r"a = '\U00110000'", r'"\U00110000" is no escape'),
        ("a = #", '"#" is not allowed in a predicate (character 5)'),
        ("a = \x1b", r'"\u{1b}" is not allowed in a predicate (character 5)'),
        ("a = 1a", '"1a" is no number (character 5)'),
        ("a = 1.2.3", '"1.2.3" is no number (character 5)'),
        ("a = 1e", '"1e" is no number (character 5)'),
        ("a = 1.5L", '"1.5L" is no number (character 5)'),
        ("a = ٣", '"٣" is not allowed in a predicate (character 5)'),
        ("a = 1e999", '"1e999" is beyond all floating point numbers (character 5)'),
        ("a = 1e39f", '"1e39f" is beyond all floating point numbers (character 5)'),
        ("a = 1e2000bd", '"1e2000bd" is too long a decimal (character 5)'),
        ("a = 1e-99999999999999999999bd", "has too large an exponent (character 5)"),
        (f"a = {'9' * 5_000}", '9…" has too many digits (character 5)'),
        ("a = x'0'", "\"x'0'\" is no binary: it takes pairs of hexadecimal digits (character 5)"),
        ("a = x'0g'", "is no binary"),
        ("a = double 'x'", "\"double 'x'\" is no floating point number (character 5)"),
        ("a = date 'x'", "\"date 'x'\" is no date: they are written '2026-01-31' (character 5)"),
        ("a = date '2021-02-29'", "\"date '2021-02-29'\" is a day that no calendar has (character 5)"),
        ("a = date '2021-13-01'", "is a day that no calendar has"),
        ("a = timestamp '2021-13-01 00:00:00'", "is a day that no calendar has"),
        ("a = timestamp 'now'", "is no timestamp: they are written '2026-01-31 12:00:00.5', with Z or an offset"),
        ("a = timestamp '2020-01-01 12:00:00 Europe/Paris'", "is no timestamp: they are written"),
        ("a = timestamp '2020-01-01 24:00:00'", "is a time that no clock shows"),
        ("a = timestamp '2020-01-01 12:60:00'", "is a time that no clock shows"),
        ("a = timestamp '2020-01-01 12:00:60'", "is a time that no clock shows"),
        ("a = timestamp '2020-01-01 12:00:00+19:00'", "has an offset that no time zone has"),
        ("a = timestamp '2020-01-01 12:00:00+01:60'", "has an offset that no time zone has"),
        ("a = timestamp '2020-01-01 12:00:00.0000000001'", "is finer than a nanosecond"),
        ("a = timestamp_ntz '2020-01-01 12:00:00Z'", "is no wall clock: it has a time zone"),
        ("a = timestamp_ltz '2020-01-01 12:00:00'", "is no instant: it has no time zone"),
        ("(" * 300 + "a" + ")" * 300, '"(" is more than 256 levels deep (character 257)'),
        ("(" * 100_000, '"(" is more than 256 levels deep (character 257)'),
        ("not " * 100_000, '"not" is more than 256 levels deep (character 1025)'),
        ("(not a or b and " * 200 + "c" + ")" * 200, "is a predicate of more than 256 levels"),
        ("[", '"[" is not allowed in a predicate: lists of (column, operator, value) are passed as lists, not as text (c'),
        ('[["a", "=", 5]]', "are passed as lists, not as text (character 1)"),
        ("a = '\\ud800'", r'"\ud800" is half of a pair of surrogates (character 6)'),
        ("a = '\ud800'", "half of a pair of surrogates is no text (character 6)"),
    ],
    ids=lambda value: value[:40],
)  # fmt: skip
def test_errors(text, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        parse(text)
    assert type(caught.value) is ValueError
    shown = str(caught.value)
    assert shown.startswith("filters: ")
    assert is_one_line(shown)
    assert len(shown) < 300
    with pytest.raises(ValueError, match=r"^filters: "):
        parse(text, "filters")


PIECES = st.sampled_from(
    [*RESERVED, "a", "a.b", "`a`", '"a"', "'x'", "x'00'", "date '2020-01-01'", "nan", "double", "is_nan", "starts_with",
     "5", "-5", "1.5", "1e3", "5.", "=", "==", "!=", "<>", "<", "<=", ">", ">=", "(", ")", "(", ")", ",", ".", "-", "+",
     "'", '"', "`", "\\", "[", "]", "''", "\0", "\ud800", "timestamp '2020-01-01'"]
)  # fmt: skip


def read_or_refused(text):
    """Whether it is a predicate; otherwise that is said in one way."""
    try:
        expression = parse(text)
    except ValueError as error:
        wrong = error
    else:
        assert parse(str(expression)).equals(expression)
        return True
    assert type(wrong) is ValueError
    shown = str(wrong)
    assert shown.startswith("filters: ")
    assert is_one_line(shown)
    at = re.search(r"\(character (\d+)\)$", shown)
    assert at is None or 1 <= int(at[1]) <= len(text) + 1
    return False


@examples(1_000)
@given(st.one_of(st.text(ANY_CHARACTERS), st.lists(PIECES, max_size=12).map(" ".join), st.lists(PIECES).map("".join)))
def test_any_text_is_a_predicate_or_a_value_error(text):
    read_or_refused(text)


@examples(500)
@given(EXPRESSIONS, st.data())
def test_damaged_text_is_a_predicate_or_a_value_error(expression, data):
    text = str(expression)
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 3))
    read_or_refused(text[:at] + data.draw(st.one_of(st.just(""), TRICKY, PIECES)) + text[at + cut :])


# Long and deep ones.


@each_case(("word", "other"), [("and", "or"), ("or", "and")])
def test_long_predicates_are_flat(word, other):
    count = 100_000
    tree = parse(f" {word} ".join(f"a = {value}" for value in range(count)))._tree()
    assert tree[0] == word
    assert len(tree[1]) == count
    assert tree[1][-1] == ("compare", "=", "a", ("int", count - 1))
    nested = "(" * 200 + "a = 0" + "".join(f" {word} a = {value})" for value in range(200))
    assert len(parse(nested)._tree()[1]) == 201
    mixed = parse(f" {other} ".join(["(a = 1)"] * 3 + [f"(b {word} c)"]))
    assert mixed._tree()[0] == other


def test_long_lists_and_strings():
    assert len(parse(f"a in ({', '.join(map(str, range(100_000)))})")._tree()[2]) == 100_000
    long = "it's \\ \n" * 100_000
    expression = a == long
    assert parse(str(expression)).equals(expression)
    for unclosed in (
        "'" + "''" * 100_000,
        "'" + "\\'" * 100_000,
        "`" + "``" * 100_000,
    ):
        assert not read_or_refused(unclosed)
    assert parse("a like '" + "%" * 100_000 + "x'").columns == ["a"]


def test_deep_predicates():
    expression = a == 1
    for level in range(127):
        expression = ~((expression & b) if level % 2 else (expression | b))
    assert parse(str(expression)).equals(expression)
    deep = "not " * 255 + "a"
    assert str(parse(deep)).count("not (") == 255
    assert parse("(" * 256 + "a" + ")" * 256).equals(Expression(a._predicate()))


# With files.

TABLE = pa.table(
    {
        "id": pa.array([1, 2, 3, None, 5, 6]),
        "name": pa.array(["a", "b", None, "ab", "it's", "\\"]),
        "x": pa.array([1.5, math.nan, -0.0, None, math.inf, 0.1]),
        "price": pa.array([Decimal("1.50"), None, Decimal("0.10"), Decimal("2.00"), Decimal("-1.00"), Decimal("9.99")]),
        "paid": pa.array([True, False, None, True, False, True]),
        "day": pa.array([dt.date(2026, 1, day) if day else None for day in (1, 2, 0, 3, 4, 5)]),
        "at": pa.array([NOON // 1_000, NOON // 1_000 + 1, None, 0, -(10**6), 1], pa.timestamp("us")),
        "instant": pa.array([NOON // 1_000, NOON // 1_000 + 1, None, 0, -(10**6), 1], pa.timestamp("us", "UTC")),
        "raw": pa.array([b"\x00", b"", None, b"\xff", b"a", b"\x00\x01"]),
        "odd name": pa.array([{"in": row} for row in range(6)]),
    }
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "table.orc"
    orcish.write_table(TABLE, path)
    return path


@each_case(
    ("text", "rows"),
    [
        ("id > 2 and name in ('ab', 'it''s') or day < date '2026-01-02'", [0, 4]),
        ("id not in (1, 2) and not paid", [4]),
        ("name like 'a%'", [0, 3]),
        (r"name = '\\' or name = 'it\'s'", [4, 5]),
        ("name is null or id is null", [2, 3]),
        ("x is nan or x = 0", [1, 2]),
        ("x = 0.1 or x = double 'Infinity'", [4, 5]),
        ("price between 0.1 and 2", [0, 2, 3]),
        ("price = 1.5D", [0]),
        ("paid and 3 < id", [5]),
        ("at = timestamp '2020-01-01 12:00:00.000001'", [1]),
        ("at < timestamp_ntz '1970-01-01 00:00:00'", [4]),
        ("instant >= timestamp '2020-01-01 13:00:00+01:00'", [0, 1]),
        ("raw >= X'00' and raw < X'61'", [0, 5]),
        ("`odd name`.`in` >= 4", [4, 5]),
        ('"odd name.in" = 0', [0]),
        ("null or id = 1", [0]),
    ],
)
def test_rows(path, text, rows):
    want = TABLE.take(rows)["odd name"].to_pylist()
    expression = parse(text)
    for filters in (text, expression):
        assert orcish.read_table(path, filters=filters)["odd name"].to_pylist() == want
        assert orcish.scan(path).where(filters).to_table()["odd name"].to_pylist() == want
        assert orcish.ORCFile(path).read(filters=filters, columns=["odd name"])["odd name"].to_pylist() == want
    assert orcish.scan(path, filters=text).count() == len(rows)
    assert orcish.scan(path, filters=text, row_number=True).to_table()["row_number"].to_pylist() == rows


def test_text_is_joined_with_other_filters(path):
    scan = orcish.scan(path).where("id > 1")
    assert scan.where("id < 6").to_table()["id"].to_pylist() == [2, 3, 5]
    assert scan.where(col("id") < 6).to_table()["id"].to_pylist() == [2, 3, 5]
    assert scan.where(pc.field("id") + 1 < 7).to_table()["id"].to_pylist() == [2, 3, 5]
    lazy = orcish.scan_polars(path, filters="id > 1").filter(pl.col("id") < 6).select("id")
    assert lazy.collect()["id"].to_list() == [2, 3, 5]
    (split,) = scan.splits()
    assert split.scan().to_table()["id"].to_pylist() == [2, 3, 5, 6]


def test_dates_that_no_column_holds():
    """Literals beyond the range of date columns compare by their value."""
    days = pa.table({"d": pa.array([-(2**31), 0, None, 2**31 - 1], pa.int32()).cast(pa.date32())})
    out = io.BytesIO()
    orcish.write_table(days, out)
    for year in ("9999999", "999999999999999999"):
        counts = {f"d {op} date '{year}-01-01'": count for op, count in {"=": 0, "!=": 3, "<": 3, ">": 0}.items()}
        counts |= {f"d > date '-{year}-01-01'": 3, f"d in (date '{year}-01-01', date '1970-01-01')": 1}
        for text, count in counts.items():
            assert orcish.scan(out.getvalue(), filters=text).count() == count, text
            assert orcish.read_table(out.getvalue(), filters=text).num_rows == count, text


def test_names_of_a_million_parts(path):
    """An unknown name of a million steps is refused in linear time."""
    with pytest.raises(orcish.UnknownColumnError, match="no column"):
        orcish.scan(path, filters='"' + "x." * 1_000_000 + '" = 1').count()


def test_wrong_text_is_refused_before_the_read(path):
    for read in (
        lambda text: orcish.scan(path, filters=text),
        lambda text: orcish.scan(path).where(text),
        lambda text: orcish.read_table(path, filters=text),
        lambda text: orcish.ORCFile(path).explain(filters=text),
    ):
        with pytest.raises(ValueError, match=r'^filters: "id >" ends where a value should be \(character 5\)$'):
            read("id >")
        with pytest.raises(orcish.UnknownColumnError, match="nosuch"):
            orcish.read_table(path, filters="nosuch = 1")
        with pytest.raises(ValueError, match="day of type date cannot be compared with the string 'Friday'"):
            orcish.read_table(path, filters="day >= 'Friday'")


@each_case("pattern", ["1", "01", "1%", "%1", "1e0", "_"])
@each_case("negation", ["", "not "])
def test_patterns_are_of_texts(tmp_path, pattern, negation):
    """Numbers are no texts, with and without wildcards."""
    table = pa.table({"i": [1, 10], "f": [1.0, 2.5], "t": ["1", "01"], "b": [b"1", b"01"]})
    orcish.write_table(table, tmp_path / "a.orc")
    want = pc.match_like(table["t"], pattern).to_pylist()
    for name in ("t", "b"):
        kept = orcish.read_table(tmp_path / "a.orc", filters=f"{name} {negation}like '{pattern}'")
        is_kept = [is_like != bool(negation) for is_like in want]
        assert kept["i"].to_pylist() == table["i"].filter(pa.array(is_kept)).to_pylist()
    for name in ("i", "f"):
        for filters in (
            f"{name} {negation}like '{pattern}'",
            ~col(name).like(pattern) if negation else col(name).like(pattern),
        ):
            with pytest.raises(ValueError, match=r"cannot (be like the pattern|begin with)"):
                orcish.read_table(tmp_path / "a.orc", filters=filters)
