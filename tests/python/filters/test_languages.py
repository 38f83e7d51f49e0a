"""Filters of pyarrow and polars in reads: the rows, columns and errors that they have, all of it in the core or not."""

import datetime as dt
import random
from decimal import Decimal

import orcish
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from orcish import col
from support.case_loops import each_case
from support.cpp_writers import write_arrow, write_rows
from support.foreign_filters import COLUMNS, array_of, arrow_leaves, polars_leaves, trees_of
from support.random_cases import examples

ROWS = 900


def every_type():
    rng = random.Random(1)
    columns = {"row": pa.array(range(ROWS))}
    for name, (kind, pool) in COLUMNS.items():
        # Few values in each row group, so that some are passed over.
        some = [rng.sample([*pool, None], 2) for _ in range(0, ROWS, 50)]
        columns[name] = array_of(kind, [rng.choice(some[row // 50]) for row in range(ROWS)])
    return pa.table(columns)


@pytest.fixture(scope="module")
def file():
    data = write_arrow(
        every_type(), row_index_stride=50, batch_size=50, stripe_size=20_000, bloom_filter_columns=[2, 3]
    )
    return orcish.ORCFile(data)


@pytest.fixture(scope="module")
def whole(file):
    return file.read()


def read(way, file, **options):
    if way == "batches":
        return pa.Table.from_batches(file.iter_batches(**options), file.arrow_schema(**options))
    if way == "reader":
        return pa.RecordBatchReader.from_stream(file.reader(**options)).read_all()
    return file.read(**options)


ways = st.sampled_from(["read", "batches", "reader"])
projections = st.sampled_from([None, ["row"], ["n.y.z", "row"], ["row", "li"], ["row", "s", "i64"], [1, 2]])
limits = st.sampled_from([None, None, 0, 1, 60])


def agrees(file, filters, rows, way, columns, limit, **options):
    got = read(way, file, filters=filters, columns=columns, limit=limit, batch_size=64, **options)
    assert got["row"].to_pylist() == rows[:limit], filters
    assert got.schema == file.arrow_schema(columns=columns, **options)


@examples(300)
@given(trees_of(arrow_leaves()), ways, projections, limits)
def test_predicates_of_pyarrow(file, whole, expression, way, columns, limit):
    try:
        rows = whole.filter(expression)["row"].to_pylist()
    except pa.ArrowException:
        reject()
    agrees(file, expression, rows, way, columns, limit)


@examples(300)
@given(trees_of(polars_leaves()), ways, projections, limits)
@pytest.mark.filterwarnings("ignore:Comparisons with None")
def test_predicates_of_polars(file, whole, expression, way, columns, limit):
    try:
        rows = pl.from_arrow(whole).filter(expression)["row"].to_list()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        reject()
    agrees(file, expression, rows, way, columns, limit)


NOON = dt.datetime(2020, 1, 1)
RESIDUALS = [
    pc.field("i64") == pc.field("i32"),
    (pc.field("i16") * 2 > 2) & pc.field("o"),
    pc.utf8_length(pc.field("s")) > 1,
    (pc.field("n", "x") + pa.scalar(1) == 2) & (pc.field("row") > 100),
    pl.col("i64") == pl.col("i32"),
    pl.col("s").str.contains("a") & (pl.col("row") > 100),
    pl.col("n").struct.field("x") + 1 == 2,
    # Of all rows, so that the batches have to be put together.
    pl.col("row") > pl.col("row").mean(),
    pl.col("s").is_first_distinct(),
    (pl.col("row").shift() > 100) & pl.col("o"),
]


SELECTED = (None, ["row"], ["n.y.z", "row"], ["row", "n.y"], [1])
LIMITS = (None, 0, 1, 7, 10_000)


@each_case("way", ["read", "batches", "reader"])
@each_case("columns", SELECTED, ids=str)
@each_case("limit", LIMITS)
@each_case("filters", RESIDUALS, ids=str)
def test_what_the_core_cannot_evaluate(file, whole, filters, way, columns, limit):
    kept = whole.filter(filters) if isinstance(filters, pc.Expression) else pl.from_arrow(whole).filter(filters)
    rows = kept["row"].to_pylist() if isinstance(kept, pa.Table) else kept["row"].to_list()
    assert rows
    assert len(rows) < ROWS
    agrees(file, filters, rows, way, columns, limit)


@each_case("filters", RESIDUALS, ids=str)
def test_values_beside_what_is_read_for_the_filter_only(file, whole, filters):
    columns = ["n.y.z", "t_us", "row"]
    got = file.read(filters=filters, columns=columns, row_number="at")
    assert got["at"].to_pylist() == got["row"].to_pylist()
    want = file.read(columns=columns).take(got["at"])
    assert got.drop_columns(["at"]).to_pylist() == want.to_pylist()
    assert got.column_names == ["n", "t_us", "row", "at"]


def test_the_number_of_the_row_in_a_predicate_of_another_library(file):
    with_number = file.read(filters=pc.field("at") < 5, columns=["row"], row_number="at")
    assert with_number["at"].to_pylist() == [0, 1, 2, 3, 4]
    with_number = file.read(filters=(pl.col("at") % 100) == 5, columns=["row"], row_number="at")
    assert with_number["at"].to_pylist() == list(range(5, ROWS, 100))


def test_lists_of_comparisons(file, whole):
    filters = [[("i64", ">", 5), ("s", "in", ["a", "b"])], [("n.x", "=", 1), ("row", "<", 300)]]
    both = (pc.field("i64") > 5) & pc.field("s").isin(["a", "b"])
    either = both | ((pc.field("n", "x") == 1) & (pc.field("row") < 300))
    rows = whole.filter(either)["row"].to_pylist()
    assert rows
    for way in ("read", "batches", "reader"):
        agrees(file, filters, rows, way, ["row"], None)
        agrees(file, filters, rows, way, None, 3)
    assert file.read(filters=[("row", "not in", list(range(ROWS - 2)))])["row"].to_pylist() == [ROWS - 2, ROWS - 1]


@each_case("strings", ["large", "view", "dictionary", "binary"])
def test_strings_of_other_types(file, whole, strings):
    rows = whole.filter(pc.field("s") > "a")["row"].to_pylist()
    # Bytes are compared with bytes.
    bound = b"a" if strings == "binary" else "a"
    agreed = file.read(filters=[("s", ">", bound)], strings=strings)["row"].to_pylist()
    assert agreed == rows
    if strings == "large":
        assert file.read(filters=pl.col("s") > "a", strings=strings)["row"].to_pylist() == rows


@each_case("strings", ["utf8", "large", "view", "dictionary", "binary"])
@each_case("way", ["read", "batches", "reader"])
@each_case("filters", [pc.field("i16") * 2 > 2, pl.col("i16") * 2 > 2, pl.col("row") > pl.col("row").mean()], ids=str)
def test_what_the_core_cannot_evaluate_beside_strings_of_other_types(file, whole, strings, way, filters):
    kept = whole.filter(filters) if isinstance(filters, pc.Expression) else pl.from_arrow(whole).filter(filters)
    rows = kept["row"].to_pylist() if isinstance(kept, pa.Table) else kept["row"].to_list()
    for columns in (None, ["s", "b", "n.y.z", "row"], ["row", "n"]):
        agrees(file, filters, rows, way, columns, None, strings=strings)
    got = read(way, file, filters=filters, columns=["s", "n.y"], strings=strings)
    want = whole["s"].take(rows)
    assert got["s"].to_pylist() == (want.cast(pa.binary()) if strings == "binary" else want).to_pylist()


def test_unions_beside_what_the_core_cannot_evaluate():
    rows = [(at, at if at % 2 else str(at), (at, at)) for at in range(100)]
    file = orcish.ORCFile(write_rows("struct<a:int,u:uniontype<int,string>,s:struct<x:int,y:int>>", rows))
    for filters in (pc.field("a") * 2 > 190, pl.col("a") * 2 > 190):
        found = file.read(filters=filters, columns=["s.x", "u"])
        assert found["u"].to_pylist() == ["96", 97, "98", 99]
        assert found["s"].to_pylist() == [{"x": at} for at in range(96, 100)]


# Errors.


@each_case("filters", [col("nosuch") == 1, col("i6") == 1, col("n.z") == 1, col("li.x") == 1], ids=str)
def test_unknown_columns_are_named(file, filters):
    (name,) = filters.columns
    with pytest.raises(orcish.UnknownColumnError, match=name):
        file.read(filters=filters)


def test_an_unknown_column_names_the_nearest(file):
    with pytest.raises(orcish.UnknownColumnError, match="i64"):
        file.read(filters=col("i6") == 1)


@each_case("name", ["nosuch", "i6"])
def test_unknown_columns_of_other_libraries_are_errors(file, name):
    for filters in (pc.field(name) == 1, [(name, "=", 1)], pl.col(name) == 1):
        for columns in (None, ["row"]):
            with pytest.raises(Exception, match=name):
                file.read(filters=filters, columns=columns)


@each_case(
    ("filters", "text"),
    [
        (col("s") == 1, "column s of type string cannot be compared with the integer 1"),
        (col("s") < 1.5, "column s of type string cannot be compared with the floating point number 1.5"),
        (col("i64") == "a", "column i64 of type bigint cannot be compared with the string 'a', which is no number"),
        (col("o") == 1, "column o of type boolean cannot be compared with the integer 1"),
        (col("day") > 5, "column day of type date cannot be compared with the integer 5"),
        (col("d") == b"a", "column d of type decimal.10,2. cannot be compared with the bytes"),
        (col("t_us") == NOON.replace(tzinfo=dt.timezone.utc), "column t_us of type timestamp cannot be compared"),
        (col("z_us") == NOON, "column z_us of type timestamp with local time zone cannot be compared"),
        (col("z_us") == NOON.date(), "column z_us of type timestamp with local time zone cannot be compared"),
        (col("i64").is_nan(), "column i64 of type bigint cannot be NaN"),
        (col("i64").starts_with("a"), "column i64 of type bigint cannot begin with"),
        (
            col("i64").is_in([1, "a"]),
            "column i64 of type bigint cannot be compared with the string 'a', which is no number",
        ),
        (col("n") == 1, "column n of type struct.* cannot be compared, only be null or not"),
        (col("li") == Decimal(1), "column li of type array<bigint> cannot be compared, only be null or not"),
        (col("li.element") == 1, '"li.element" is within a column of type (list|array)'),
        (col("i8").is_null() & ~((col("i64") == 1) | (col("s") == 1)), "column s of type string"),
    ],
    ids=str,
)
def test_what_cannot_be_compared_says_so(file, filters, text):
    for way in ("read", "batches", "reader"):
        with pytest.raises(ValueError, match=text):
            read(way, file, filters=filters)


def test_unions_cannot_be_asked():
    file = orcish.ORCFile(write_rows("struct<a:int,u:uniontype<int,string>>", [(1, 2), (2, "x")]))
    for filters in (col("u") == 2, col("u").is_null()):
        with pytest.raises(ValueError, match="column u is a union"):
            file.read(filters=filters)
    assert file.read(filters=col("a") > 1)["u"].to_pylist() == ["x"]


@each_case("filters", [b"a > 1", 5, {"a": 1}], ids=str)
def test_what_is_no_filter(file, filters):
    with pytest.raises(TypeError, match="filters are an expression"):
        file.read(filters=filters)


def test_malformed_text(file):
    with pytest.raises(ValueError, match=r'^filters: "a >" ends where a value should be \(character 4\)$'):
        file.read(filters="a >")


def test_malformed_lists(file):
    for filters in ([], [("i64", "~", 1)], [("i64",)], ("i64", "=", 1)):
        with pytest.raises(ValueError, match="malformed filters"):
            file.read(filters=filters)
