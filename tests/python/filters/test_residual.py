"""What of a filter is left to be applied after the read: by the row or to the whole table, and checked before."""

import io
import random
import re
from decimal import Decimal

import numpy as np
import orcish
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish import col
from orcish.arrow.polars import polars_type, with_polars_types
from orcish.filters.pushdown import ElementwisePredicate, split_filters
from support.case_loops import each_case
from support.cpp_writers import write_arrow, write_rows
from support.read_types import read_schema
from support.writer_tables import written

NUMBERS = [None if at % 7 == 0 else at - 30 for at in range(60)]
TABLE = pa.table(
    {
        "row": range(60),
        "i": NUMBERS,
        "k": [at % 4 for at in range(60)],
        "f": [None if at is None else at / 3 for at in NUMBERS],
        "s": [None if at % 5 == 0 else f" t{at % 9} " for at in range(60)],
        "l": [None if at % 6 == 0 else list(range(at % 4)) for at in range(60)],
        "t": pa.array([at * 10**14 for at in range(60)], pa.timestamp("us")),
        "n": [{"x": at % 3, "y": str(at)} for at in range(60)],
    }
)
WHOLE = pl.from_arrow(TABLE)
DATA = write_arrow(TABLE, batch_size=10, row_index_stride=20)
i, k, f, s = pl.col("i"), pl.col("k"), pl.col("f"), pl.col("s")

BY_ROW = [
    i.abs() > 20,
    -i > 5,
    i.sign() * 2 > 1,
    f.round(1) * 2 > 3,
    f.floor() % 2 == 0,
    f.ceil() % 2 == 0,
    i.clip(-3, k) * 2 > 2,
    i.fill_null(100) > 25,
    i.fill_null(k) > 2,
    f.fill_nan(3.0) > 2,
    i.pow(2) > 100,
    f.exp() > 3,
    f.is_close(2.0, abs_tol=0.5),
    i.replace({-1: 100, 5: 200}) > 28,
    i.replace_strict([1, 2], [30, 40], default=0) > 35,
    i.replace_strict(pl.Series([1, 2]), pl.Series([30, 40]), default=k) > 2,
    pl.coalesce(i, k) * 2 > 5,
    pl.max_horizontal(i, k) * 2 > 5,
    pl.struct("i", "k").is_in([{"i": 1, "k": 3}, {"i": 2, "k": 0}]),
    s.str.strip_chars() == "t3",
    s.str.replace("t", "u").str.contains("u4"),
    s.str.slice(1, 2) == "t5",
    pl.concat_str(s, s).str.len_chars() > 7,
    pl.col("l").list.len() > 2,
    pl.col("l").list.contains(k - 1),
    pl.col("l").list.sum() == 3,
    pl.col("t").dt.month_start() > pl.datetime(1970, 6, 1),
    pl.col("t").dt.is_leap_year(),
    pl.when(i > 5).then(k > 1).otherwise(s.is_null()),
    pl.when(s.is_null()).then(i + 1).when(k == 2).then(2).otherwise(pl.col("row")) * 2 > 4,
    pl.when(k == 1).then(pl.lit(None)).otherwise(True),
    (pl.when(k > 1).then(i).otherwise(0) > 2) & (i < 20),
]
WHOLE_ONLY = [
    i > i.mean(),
    i.fill_null(i.max()) > 5,
    i.fill_null(strategy="forward") > 5,
    pl.when(i > i.mean()).then(True).otherwise(False),
    i.clip(i.mean(), 20) > 10,
    k > k.mean().over("s"),
    i.is_in(k.implode()),
    i == pl.Series([*range(30), *range(-30, 0)]),
    s.str.strip_chars().is_first_distinct(),
]


def rows_of(filters):
    return WHOLE.filter(filters)["row"].to_list()


@each_case("filters", BY_ROW, ids=str)
def test_functions_of_single_rows_are_applied_by_the_row(filters):
    translated, residual = split_filters(filters, TABLE.schema)
    want = rows_of(filters)
    assert 0 < len(want) < len(TABLE)
    assert residual.by_row
    assert set(residual.columns) <= set(filters.meta.root_names())
    parts = [residual.apply(batch) for batch in TABLE.to_batches(max_chunksize=7)]
    if translated is None:
        assert [row for part in parts for row in part["row"].to_pylist()] == want
    for asked in (filters, (k >= 0) & filters):
        scan = orcish.scan(DATA, filters=asked, columns=["row"], batch_size=7)
        assert scan.to_table()["row"].to_pylist() == want
        assert scan.where(col("row") >= 30).to_table()["row"].to_pylist() == [row for row in want if row >= 30]
        assert sum(split.scan().count() for split in scan.splits(1)) == len(want)


@each_case("filters", WHOLE_ONLY, ids=str)
def test_functions_of_all_rows_are_applied_to_all(filters):
    translated, residual = split_filters(filters, TABLE.schema)
    assert (translated, residual.by_row) == (None, False)
    assert residual.columns == list(dict.fromkeys(filters.meta.root_names()))
    scan = orcish.scan(DATA, filters=filters, columns=["row"], batch_size=7)
    assert scan.to_table()["row"].to_pylist() == rows_of(filters)
    assert scan.limit(3).to_table()["row"].to_pylist() == rows_of(filters)[:3]
    # Filters are applied in the order of the calls.
    later = scan.where(col("row") > 5)
    assert later.to_table()["row"].to_pylist() == [row for row in rows_of(filters) if row > 5]
    assert later.count() == later.to_table().num_rows
    with pytest.raises(TypeError, match="all rows at once: it cannot be joined"):
        orcish.scan(DATA).where(col("row") > 5).where(filters).to_table()
    # Nothing is no other filter.
    assert scan.where(None).count() == orcish.scan(DATA).where(None).where(filters).count() == len(rows_of(filters))


@each_case("filters", [i.hash() > 5, pl.col("l").list.eval(pl.element() > 1).list.any()], ids=str)
def test_what_polars_says_is_of_single_rows_is_taken_for_it(filters):
    assert not split_filters(filters, TABLE.schema)[1].by_row
    translated, residual = split_filters(ElementwisePredicate((k == 2) & filters), TABLE.schema)
    assert str(translated) == "k = 2"
    assert residual.by_row
    assert residual.columns == filters.meta.root_names()


def test_series_have_rows_of_their_own():
    """A series in an expression makes it a filter on all rows, except the values of `is_in`."""
    assert not split_filters(ElementwisePredicate(i == pl.Series(range(60))), TABLE.schema)[1].by_row
    assert split_filters(ElementwisePredicate(i.abs().is_in(pl.Series([1, 2]))), TABLE.schema)[1].by_row


# How much is read.


class Counting(io.BytesIO):
    """A file that counts the bytes that are read."""

    count = 0

    def read(self, size=-1):
        data = super().read(size)
        self.count += len(data)
        return data


@pytest.fixture(scope="module")
def large():
    size = 200_000
    noise = np.random.default_rng(1)
    wide = {f"c{at}": pa.array(noise.random(size)) for at in range(8)}
    return write_arrow({"id": range(size), **wide}, stripe_size=1 << 20, batch_size=10_000)


@each_case("filters", [pc.field("id") * 2 > 20, pl.col("id") * 2 > 20], ids=str)
@each_case(
    "read",
    [
        lambda source, filters: orcish.scan(source, filters=filters, threads=1).head(5),
        lambda source, filters: orcish.scan(source, filters=filters, threads=1).limit(5).to_table(),
        lambda source, filters: next(iter(orcish.scan(source, filters=filters, limit=5, threads=1))),
        lambda source, filters: orcish.ORCFile(source).read(filters=filters, limit=5, threads=1),
    ],
)
def test_no_more_is_read_than_the_first_rows_are_in(large, read, filters):
    source = Counting(large)
    assert read(source, filters)["id"].to_pylist() == [11, 12, 13, 14, 15]
    assert source.count < len(large) / 3


@each_case("filters", [pl.col("id").shift() > 199_990, pl.col("id").abs() > 199_990], ids=str)
def test_no_other_columns_are_read_than_the_filter_asks(large, filters):
    source = Counting(large)
    assert orcish.ORCFile(source).read(filters=filters, columns=["id"]).num_rows < 10
    assert source.count < len(large) / 3


def test_a_query_of_polars_reads_the_columns_that_it_asks(large):
    source = Counting(large)
    keep = pl.col("id").hash() % 2 == 0
    found = orcish.scan_polars(source).filter(keep & (pl.col("id") < 1000)).select("id").collect()
    assert found.equals(pl.DataFrame({"id": range(1000)}).filter(keep))
    assert source.count < len(large) / 3


# Filters that do not fit.


UNFIT = [
    [("s", ">", 5)],
    [("i", "=", "x")],
    [("i", "<", 0), ("s", ">", 5)],
    [("n", "=", 1)],
    [("n.y", "=", 5)],
    pc.field("s") == 5,
    pc.field("i") + 1,
    (pc.field("i") < 0) & (pc.field("s") > 5),
    s > 5,
    i == "x",
    i.is_in(["a"]),
    i.str.contains("a"),
    (i < 0) & (s > 5),
    i.shift().str.contains("a"),
]
UNKNOWN = [
    [("nosuch", "=", 1)],
    [("n.nosuch", "=", 1)],
    pc.field("nosuch") > 1,
    pc.field("n", "nosuch") == 1,
    pl.col("nosuch") > 1,
    pl.col("nosuch").shift() > 1,
    pl.col("n").struct.field("nosuch") == 1,
    pl.col("nosuch").abs() > 1,
]


@each_case("filters", UNFIT, ids=str)
def test_filters_are_checked_before_rows_are_read(filters):
    with pytest.raises(
        ValueError, match=r"the filter .* does not fit: |column i of type int64 cannot be compared with the string"
    ):
        orcish.scan(DATA, filters=filters)
    with pytest.raises(
        ValueError, match=r"the filter .* does not fit: |column i of type int64 cannot be compared with the string"
    ):
        orcish.scan(DATA, filters=filters, columns=["i"], limit=0)
    with pytest.raises(
        ValueError, match=r"the filter .* does not fit: |column i of type int64 cannot be compared with the string"
    ):
        orcish.ORCFile(DATA).read(filters=filters)


@each_case("filters", UNKNOWN, ids=str)
def test_unknown_columns_of_filters_are_named_before_rows_are_read(filters):
    for read in (lambda: orcish.scan(DATA, filters=filters), lambda: orcish.ORCFile(DATA).read(filters=filters)):
        with pytest.raises(orcish.UnknownColumnError, match="nosuch"):
            read()


def test_unknown_columns_of_filters_come_with_the_nearest():
    data = write_arrow({"customer": [1], "total": [2]})
    for filters in ([("custmer", "=", 1)], pc.field("custmer") == 1, pl.col("custmer") == 1):
        with pytest.raises(orcish.UnknownColumnError, match="nearest: customer"):
            orcish.scan(data, filters=filters)


def test_what_is_wrong_of_no_rows_only_is_let_pass():
    assert rows_of(i > i.get(50)) == orcish.scan(DATA, filters=i > i.get(50)).to_table()["row"].to_pylist()


def test_columns_that_polars_has_no_type_for_are_no_hindrance():
    data = write_rows("struct<a:int,u:uniontype<int,string>>", [(1, 2), (2, "x"), (3, 5)])
    assert orcish.scan(data, filters=pl.col("a") * 2 > 3).count() == 2
    assert orcish.scan(data, filters=pl.col("a") > pl.col("a").mean()).to_table()["u"].to_pylist() == [5]


@each_case("filters", [pc.field("k") * 2 > 4, pc.utf8_length(pc.field("s")) > 3, k * 2 > 4, i > i.mean()], ids=str)
@each_case("read", [lambda **o: orcish.scan(DATA, **o).to_table(), lambda **o: orcish.ORCFile(DATA).read(**o)])
def test_views_of_strings_are_filtered(filters, read):
    want = read(filters=filters)
    found = read(filters=filters, strings="view")
    assert found.to_pylist() == want.to_pylist()
    assert found.schema.field("s").type == pa.string_view()
    assert found.schema.field("n").type.field("y").type == pa.string_view()


TWO = pa.decimal256(20, 2)
MONEY = [Decimal("1.00"), None, Decimal("3.50"), Decimal("-2.25")]
OTHERS = {
    "decimal256": pa.array(MONEY, TWO),
    "decimal of a scale below 0": pa.array([Decimal(100), None, Decimal(300), Decimal(-200)], pa.decimal128(5, -2)),
    "list_view": pa.array([[1], None, [2, 3], []], pa.list_view(pa.int64())),
    "large_list_view": pa.array([["a"], None, ["b", None], []], pa.large_list_view(pa.string_view())),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 4], pa.int32()), pa.array([1, None, 2])),
    "struct": pa.array(
        [at and {"d": at, "v": [1]} for at in MONEY], pa.struct([("d", TWO), ("v", pa.list_view(pa.int8()))])
    ),
    "list": pa.array([MONEY, None, [], MONEY[:1]], pa.list_(TWO)),
    "large_list": pa.array([MONEY, None, [], MONEY[:1]], pa.large_list(TWO)),
    "fixed_size_list": pa.array([MONEY[:2], None, MONEY[2:], MONEY[:2]], pa.list_(TWO, 2)),
    "list_view of list_view": pa.array([[[1], None], None, [], [[2, 3]]], pa.list_view(pa.list_view(pa.int8()))),
    "map": pa.array([[("a", MONEY[0])], None, [], [("b", None), ("c", MONEY[2])]], pa.map_(pa.string(), TWO)),
    "dictionary": pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 0], pa.int32()), pa.array(MONEY[2:], TWO)),
    "uuid": pa.array([bytes(16), None, bytes(16), b"1" * 16], pa.uuid()),
    "list of uuid": pa.ListArray.from_arrays(
        pa.array([0, None, 1, 2, 2], pa.int32()), pa.array([bytes(16), None], pa.uuid())
    ),
}


@each_case("title", OTHERS)
def test_filters_of_polars_of_types_that_it_has_not(title):
    table = pa.table({"id": range(4), "c": OTHERS[title]})
    data = written(table)
    assert pa.table(orcish.ORCFile(data)).schema == read_schema(table.schema)
    want = table.to_pylist()
    for filters in (
        pl.col("c").is_not_null().cast(pl.Int32).sqrt() > 0.5,
        pl.col("c").is_not_null().shift(0),
        pl.all_horizontal(pl.all().is_not_null()),
    ):
        for found in (orcish.read_table(data, filters=filters), orcish.scan(data, filters=filters).to_table()):
            assert found.schema == read_schema(table.schema)
            assert found.to_pylist() == [want[0], *want[2:]]
    found = orcish.scan(data, filters=pl.col("id").sqrt() > 1.2).head(1)
    assert found.to_pylist() == [want[2]]
    assert orcish.scan_polars(data).filter(pl.col("c").is_null()).collect()["id"].to_list() == [1]


def test_values_of_types_that_polars_has_not():
    data = written(pa.table({"a": OTHERS["decimal256"], "l": OTHERS["list_view"]}))
    for filters, rows in (
        (pl.col("a") * 2 > 3, [2]),
        (pl.col("a") > pl.col("a").mean(), [0, 2]),
        (pl.col("l").list.sum() > 1, [2]),
    ):
        found = orcish.read_table(data, filters=filters, row_number=True)
        assert found["row_number"].to_pylist() == rows, filters


WITHOUT_TYPE = {
    "union": pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, None])]),
    "interval": pa.array([pa.MonthDayNano([1, 2, 3]), None]),
    "decimal256 of many digits": pa.array([Decimal("1.00"), None], pa.decimal256(50, 2)),
    "decimal256 of many digits before the point": pa.array([Decimal(1000), None], pa.decimal256(37, -2)),
}


@each_case("title", WITHOUT_TYPE)
def test_polars_has_no_type(title):
    column = WITHOUT_TYPE[title]
    for name, kind, values in (
        ("c", column.type, column),
        ("s", pa.struct([("c", column.type)]), pa.StructArray.from_arrays([column], ["c"])),
    ):
        data = written(pa.table({"id": range(2), name: values}))
        text = re.escape(f"column {name} of type {kind}: polars has no type for {column.type}")
        for filters in (pl.col(name).is_not_null().cast(pl.Int32).sqrt() > 0.5, pl.all_horizontal(pl.all().is_null())):
            for read in (orcish.read_table, orcish.scan):
                with pytest.raises(TypeError, match=text):
                    read(data, filters=filters)
        with pytest.raises(TypeError, match=text):
            orcish.scan_polars(data)
        assert orcish.scan_polars(data, columns=["id"]).collect().height == 2
        assert orcish.read_table(data, filters=pl.col("id").sqrt() > 0.5)["id"].to_pylist() == [1]


def random_kind(rng, depth):
    if depth == 0:
        return rng.choice([TWO, pa.int64(), pa.string(), pa.list_view(pa.int64()), pa.decimal128(5, -2)])
    kind = random_kind(rng, depth - 1)
    nested = [pa.list_, pa.large_list, pa.list_view, pa.large_list_view, lambda kind: pa.list_(kind, 2)]
    nested += [lambda kind: pa.map_(pa.string(), kind), lambda kind: pa.struct([("a", kind), ("b", pa.int8())])]
    return rng.choice(nested)(kind)


def random_value(rng, kind):
    types = pa.types
    if rng.random() < 0.25:
        return None
    if types.is_decimal(kind):
        return Decimal(rng.randint(-999, 999)).scaleb(-kind.scale)
    if types.is_struct(kind):
        return {field.name: random_value(rng, field.type) for field in kind}
    if types.is_map(kind):
        return [(str(at), random_value(rng, kind.item_type)) for at in range(rng.randint(0, 3))]
    if types.is_nested(kind):
        count = kind.list_size if types.is_fixed_size_list(kind) else rng.randint(0, 3)
        return [random_value(rng, kind.value_type) for _ in range(count)]
    return str(rng.randint(0, 9)) if types.is_string(kind) else rng.randint(-9, 9)


def test_random_types_become_those_of_polars():
    rng = random.Random(11)
    compared = 0
    for _ in range(400):
        kind = random_kind(rng, rng.randint(0, 3))
        array = pa.array([random_value(rng, kind) for _ in range(rng.randint(0, 8))], kind)
        first = rng.randint(0, len(array))
        for part in (array, array.slice(first, rng.randint(0, len(array)))):
            table = with_polars_types(pa.table({"c": part}))
            table.validate(full=True)
            assert table["c"].type == polars_type(kind)
            assert table["c"].to_pylist() == part.to_pylist(), kind
            compared += table["c"].type != kind
    assert compared > 200


@each_case(
    ("filters", "meant"),
    [
        (pc.field("s.x") == 1, "pc.field('s', 'x')"),
        (pc.field("s.y.z") == 1, "pc.field('s', 'y', 'z')"),
        (pl.col("s.x") == 1, "pl.col('s').struct.field('x')"),
        ((pl.col("id") > 0) & (pl.col("s.y.z") == 1), "pl.col('s').struct.field('y').struct.field('z')"),
    ],
    ids=str,
)
def test_dotted_names_of_other_libraries(tmp_path, filters, meant):
    """They are those of orcish only."""
    path = tmp_path / "a.orc"
    orcish.write_table(pa.table({"id": [1], "s": [{"x": 1, "y": {"z": 1}}]}), path)
    for read in (
        lambda: orcish.read_table(path, filters=filters),
        lambda: orcish.scan(path).where(filters).count(),
        lambda: orcish.ORCFile(path).read(filters=filters),
    ):
        with pytest.raises(orcish.UnknownColumnError) as caught:
            read()
        assert f"did you mean {meant}?" in str(caught.value)


@each_case("nested", [False, True])
def test_fields_of_unions_that_are_read_as_structs(tmp_path, nested):
    """All languages, and all verbs, find the same rows."""
    variants = [pa.array([1, 5, None]), pa.array(["x", "y"])]
    union = pa.UnionArray.from_dense(
        pa.array([0, 1, 0, 0, 1], pa.int8()), pa.array([0, 0, 1, 2, 1], pa.int32()), variants
    )
    column = pa.StructArray.from_arrays([union], names=["u"]) if nested else union
    top = "s" if nested else "u"
    orcish.write_table(pa.table({top: column, "id": range(5)}), tmp_path / "a.orc")
    path = ("s", "u") if nested else ("u",)
    name = ".".join(path)
    field = pl.col(path[0])
    for step in path[1:]:
        field = field.struct.field(step)
    cases = {
        (0, 2): [
            col(f"{name}.field0") < 6,
            f"{name}.field0 < 6",
            [(f"{name}.field0", "<", 6)],
            pc.field(*path, "field0") < 6,
            field.struct.field("field0") < 6,
        ],
        (1, 4): [
            col(f"{name}.tag") == 1,
            col(f"{name}.field1").is_in(["x", "y"]),
            pc.field(*path, "tag") == 1,
            field.struct.field("tag") == 1,
        ],
        (2, 4): [
            (col(f"{name}.field0") == 5) | (col("id") == 4),
            f"id > 1 and ({name}.field0 = 5 or {name}.field1 = 'y')",
            (pc.field(*path, "field0") == 5) | (pc.field("id") == 4),
        ],
        (0, 1, 2, 3, 4): [col(name).is_not_null(), f"{name} is not null", pc.field(*path).is_valid()],
    }
    for ids, questions in cases.items():
        for filters in questions:
            options = {"filters": filters, "unions": "struct"}
            scan = orcish.scan(tmp_path, unions="struct")
            assert scan.where(filters).to_table()["id"].to_pylist() == list(ids), filters
            assert orcish.read_table(tmp_path / "a.orc", columns=["id"], **options).to_pydict() == {"id": list(ids)}
            assert orcish.scan_polars(tmp_path, **options).select("id").collect()["id"].to_list() == list(ids)
            assert orcish.dataset(tmp_path, **options).count_rows() == scan.where(filters).count() == len(ids)
            assert scan.where(filters).max("id") == max(ids)
    pushed = orcish.scan(tmp_path, unions="struct").where(f"id > 1 and {name}.tag = 0").explain()
    assert pushed.after_read == f"{name}.tag = 0"
    with pytest.raises(orcish.UnknownColumnError):
        orcish.read_table(tmp_path, filters=f"{name}.field7 = 1", unions="struct")
    with pytest.raises(ValueError, match="compared"):
        orcish.read_table(tmp_path, filters=f"{name}.field0 = 'abc'", unions="struct")
