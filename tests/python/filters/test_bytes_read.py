"""What filters do not read: of a file object that counts, the bytes that statistics and bloom filters exclude."""

import io
import random

import orcish
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish import col
from support.case_loops import each_case
from support.counting_file import Counting
from support.cpp_writers import write_arrow, write_rows
from support.filter_files import clock_of
from support.orc_layout import layout

ROWS, STRIDE = 40_000, 1000


def table():
    rng = random.Random(3)
    return pa.table(
        {
            "id": pa.array(range(ROWS)),
            "hidden": [rng.randrange(10**9) * 2 for _ in range(ROWS)],
            "name": [f"{rng.randrange(10**9):09}" for _ in range(ROWS)],
            "part": [f"part {row // 10_000}" for row in range(ROWS)],
            "none": pa.array([None] * ROWS, pa.int32()),
            "payload": [rng.randbytes(20).hex() for _ in range(ROWS)],
        }
    )


TABLE = table()
NAMES = TABLE.column_names


@pytest.fixture(scope="module", params=["pyarrow", "pyarrow, stripes", "pyorc", "spark"])
def data(request):
    if request.param == "spark":
        return by_spark(request.getfixturevalue("spark"), request.getfixturevalue("tmp_path_factory").mktemp("orc"))
    if request.param == "pyorc":
        schema = "struct<id:bigint,hidden:bigint,name:string,part:string,none:int,payload:string>"
        rows = list(zip(*(column.to_pylist() for column in TABLE.columns), strict=True))
        return write_rows(
            schema, rows, row_index_stride=STRIDE, bloom_filter_columns=[2, 3], bloom_filter_fpp=0.001,
            compression_block_size=4096, memory_block_size=4096,
        )  # fmt: skip
    options = {"row_index_stride": STRIDE, "bloom_filter_columns": [2, 3], "bloom_filter_fpp": 0.001}
    if request.param == "pyarrow, stripes":
        options |= {"stripe_size": 700_000, "batch_size": 5000}
    return write_arrow(TABLE, **options)


def by_spark(spark, folder):
    options = {
        "compress": "none",
        "row.index.stride": STRIDE,
        "bloom.filter.columns": "hidden,name",
        "bloom.filter.fpp": 0.001,
    }
    out = folder / "out"
    with clock_of(spark, "UTC"):
        frame = spark.createDataFrame(TABLE).coalesce(1)
        frame.write.options(**{f"orc.{key}": str(value) for key, value in options.items()}).orc(str(out))
    (part,) = out.glob("part-*.orc")
    return part.read_bytes()


def cost(data, filters, columns=None, **options):
    """How much of the data streams a read takes, and its rows."""
    wanted = layout(data).data_ranges(range(1, len(NAMES) + 1))
    source = Counting(data)
    file = orcish.ORCFile(source)
    # With the tail comes what is before it.
    source.ranges.clear()
    found = file.read(filters=filters, columns=columns, threads=1, **options)
    return source.taken(wanted) / sum(map(len, wanted)), found


def rows_of(found):
    return found["id"].to_pylist()


@each_case(
    "filters",
    [
        col("id") < 0,
        (col("id") >= ROWS) | (col("part") == "other"),
        col("none").is_not_null(),
        (col("none") > 1) & (col("payload") > ""),
        col("id").is_null(),
        (col("id") < 100) & (col("id") > 200) & (col("part") == "part 9"),
        ~col("id").between(-1, ROWS),
        col("part").starts_with("q"),
    ],
    ids=str,
)
def test_what_statistics_exclude_reads_no_data(data, filters):
    share, found = cost(data, filters)
    assert found.num_rows == 0
    assert share == 0


def test_one_row_reads_its_row_group_only(data):
    share, found = cost(data, col("id") == 23_456)
    assert rows_of(found) == [23_456]
    assert found.to_pylist() == TABLE.slice(23_456, 1).to_pylist()
    # One of forty row groups, and the rest of its chunks.
    assert share < 0.15


def test_ranges_and_lists_read_their_row_groups_only(data):
    share, found = cost(data, col("id").between(5_500, 6_499) | col("id").is_in([20_000, 20_001]))
    assert rows_of(found) == [*range(5_500, 6_500), 20_000, 20_001]
    assert share < 0.35
    share, found = cost(data, (col("part") == "part 2") & (col("id") < 20_500), columns=["id"])
    assert rows_of(found) == list(range(20_000, 20_500))
    assert share < 0.15


def test_what_all_rows_fulfil_is_not_looked_at(data):
    every = col("id").between(0, ROWS) & col("part").is_not_null() & col("none").is_null()
    share, found = cost(data, every, columns=[], row_number="row")
    assert found["row"].to_pylist() == list(range(ROWS))
    assert share == 0


def test_bloom_filters_exclude_what_statistics_do_not(data):
    """The values are within the bounds of each row group, and in no row group or in one."""
    for absent in (col("hidden") == 1_000_001, col("name") == "50000000x", col("hidden").is_in([5, 10**9 + 1])):
        share, found = cost(data, absent)
        assert found.num_rows == 0
        assert share < 0.05
    for row in (0, 12_345, ROWS - 1):
        here = (col("hidden") == TABLE["hidden"][row].as_py()) & (col("name") == TABLE["name"][row].as_py())
        share, found = cost(data, here)
        assert rows_of(found) == [row]
        assert share < 0.2


def test_other_columns_are_read_where_rows_are_found(data):
    """Without statistics the filter column is read as a whole, and the payload columns of one row group."""
    row = 31_000
    value = TABLE["payload"][row].as_py()
    found_at = layout(data).data_ranges([1, 2, 3, 4, 5])
    source = Counting(data)
    found = orcish.ORCFile(source).read(filters=col("payload") == value, threads=1)
    assert rows_of(found) == [row]
    assert source.taken(found_at) < 0.2 * sum(map(len, found_at))


def test_a_limit_ends_the_read(data):
    file = orcish.ORCFile(data)
    share, found = cost(data, None, columns=["id"], limit=10)
    assert rows_of(found) == list(range(10))
    share, found = cost(data, col("id") >= 0, columns=["payload"], limit=10)
    assert found.num_rows == 10
    if file.num_stripes > 1:
        assert share < 0.6


def test_a_null_test_of_a_struct_reads_no_field_of_it():
    rows = [None if i % 3 else {"a": i, "b": f"{i:050}"} for i in range(20_000)]
    data = write_arrow(pa.table({"id": range(20_000), "s": rows}), compression="uncompressed")
    file = Counting(data)
    found = orcish.ORCFile(file).read(columns=["id"], filters=col("s").is_null())
    assert found["id"].to_pylist() == [i for i in range(20_000) if i % 3]
    # s is column 2, its fields are 3 and 4.
    # But for what is read with the tail.
    assert file.taken(layout(data).data_ranges({3, 4})) < 20_000 < sum(map(len, layout(data).data_ranges({3, 4})))
    assert file.taken(layout(data).data_ranges({2})) > 0


@each_case("count", [1, 2, STRIDE, STRIDE + 1])
@each_case("step", [1, 200])
def test_rows_at_the_edges_of_row_groups_read_no_others(count, step):
    """Payload columns are read for exactly the row groups with selected rows, once each."""
    rows, rng = 10 * STRIDE, random.Random(4)
    starts = {0, 1, STRIDE - 2, STRIDE - 1, STRIDE, 4 * STRIDE + 500, 8 * STRIDE, 9 * STRIDE - count, rows - count}
    places = {start: set(range(start, start + count, step)) for start in starts}
    payload = [rng.randbytes(50).hex() for _ in range(rows)]
    columns = {f"at{start}": [row in found for row in range(rows)] for start, found in places.items()}
    out = io.BytesIO()
    table = pa.table({"payload": payload, **columns})
    orcish.write_table(table, out, compression="uncompressed", row_index_stride=STRIDE, dictionary=False)
    data = out.getvalue()
    wanted = layout(data).data_ranges({1})
    for start, found in places.items():
        source = Counting(data)
        file = orcish.ORCFile(source)
        source.ranges.clear()
        table = file.read(filters=col(f"at{start}").is_in([True]), columns=["payload"], threads=1)
        assert table["payload"].to_pylist() == [payload[row] for row in sorted(found)]
        groups = len({row // STRIDE for row in found})
        assert 0.95 * groups <= source.taken(wanted) / sum(map(len, wanted)) * 10 <= groups + 0.3, start
        assert source.taken([range(len(data))]) == sum(map(len, source.ranges))


LONG_STRIDE = 5000


def _sought():
    """Columns of any type, with nulls and without, whose values do not repeat."""
    rng = random.Random(5)
    rows = 10 * LONG_STRIDE
    numbers = [rng.randrange(1, 10**6) for _ in range(rows)]
    texts = [f"{number:09}" * 3 for number in numbers]
    integers = pa.array(numbers)
    yield "boolean", pa.array([number % 2 == 0 for number in numbers])
    yield "tinyint", pa.array([number % 100 for number in numbers], pa.int8())
    for kind in (pa.int16(), pa.int32(), pa.int64()):
        yield f"{kind}", pa.array([number % 30_000 for number in numbers], kind)
    for kind in (pa.float32(), pa.float64(), pa.date32(), pa.decimal128(18, 0), pa.decimal128(38, 0)):
        yield f"{kind}", pa.array(numbers, pa.int32()).cast(kind)
    for unit in ("us", "ns"):
        yield f"timestamp[{unit}]", integers.cast(pa.timestamp(unit))
    yield "instant", integers.cast(pa.timestamp("us", "UTC"))
    yield "string", pa.array(texts)
    yield "binary", pa.array(texts).cast(pa.binary())
    yield "list", pa.array([[number] * (number % 3) for number in numbers])
    yield "map", pa.array([[(text, 1)] * (len(text) % 2) for text in texts], pa.map_(pa.string(), pa.int8()))
    yield "struct", pa.StructArray.from_arrays([integers, pa.array(texts)], ["a", "b"])
    nulls = pa.array([number % 7 == 0 for number in numbers])
    yield "nulls", pc.if_else(nulls, None, integers)
    tags = pa.array([number % 2 for number in numbers], pa.int8())
    yield "union", pa.UnionArray.from_sparse(tags, [integers, pa.array(texts)])


SOUGHT = dict(_sought())


@each_case(("codec", "version"), [("uncompressed", "0.12"), ("zlib", "0.11")])
@each_case("name", SOUGHT)
def test_row_groups_of_columns_of_any_type(name, codec, version):
    """For any type of payload column, exactly the row group with the selected row is read."""
    column, out = SOUGHT[name], io.BytesIO()
    table = pa.table({"id": range(len(column)), "x": column})
    options = {"compression": codec, "compression_block_size": 2048, "version": version}
    orcish.write_table(table, out, row_index_stride=LONG_STRIDE, dictionary=False, **options)
    data = out.getvalue()
    wanted = layout(data).data_ranges(range(2, 10))
    source = Counting(data)
    file = orcish.ORCFile(source)
    source.ranges.clear()
    rows = [2 * LONG_STRIDE + 10, 7 * LONG_STRIDE + 999]
    for row in rows:
        found = file.read(filters=col("id") == row, columns=["x"], threads=1)
        assert found["x"].to_pylist() == column.slice(row, 1).to_pylist()
    # A chunk is a third of the compressed booleans.
    most = 0.7 if name == "boolean" else 0.35
    assert 0 < source.taken(wanted) / sum(map(len, wanted)) < most


def test_bloom_filters_are_not_read_where_nothing_is_left_to_rule_out():
    """Bloom filters are not read if the row index decides all row groups."""
    rows, rng = 10 * STRIDE, random.Random(4)
    table = pa.table({"id": range(rows), "hidden": [rng.randrange(10**9) * 2 for _ in range(rows)]})
    # Ids that are between those of the row groups, and of the stripe.
    table = table.set_column(0, "id", pa.array([row + 10 * (row // STRIDE) for row in range(rows)]))
    out = io.BytesIO()
    orcish.write_table(table, out, compression="uncompressed", row_index_stride=STRIDE, bloom_filter_columns=["hidden"])
    data = out.getvalue()
    blooms = [range(s.start, s.end) for s in layout(data).streams if s.column == 2 and s.kind in ("7", "8")]
    assert sum(map(len, blooms)) > 5000
    source = Counting(data)
    file = orcish.ORCFile(source)
    absent = col("hidden") == 10**9 + 1
    for filters, is_read in [
        (absent, True),
        (absent & (col("id") == STRIDE + 5), False),
        (absent | (col("id") != STRIDE + 5), False),
        (absent & (col("id") == STRIDE - 5), True),
    ]:
        source.ranges.clear()
        found = file.read(filters=filters, threads=1)
        assert found.num_rows == (0 if filters is absent or "and" in str(filters) else rows), str(filters)
        assert (source.taken(blooms) > 5000) == is_read, str(filters)


@each_case("kind", ["string", "char(3)", "varchar(3)", "varchar(30)"])
def test_text_of_any_type_is_ruled_out(kind):
    """Bounds and bloom filters exclude text of maximum length too. C++ writes no usable bloom filters of char."""
    rows = [(f"{row * 2:03}",) for row in range(100, 400)]
    data = write_rows(f"struct<v:{kind}>", rows, bloom_filter_columns=[1], bloom_filter_fpp=0.001)
    file = orcish.ORCFile(data)
    for absent in ("301", "475", "797") if kind != "char(3)" else ():
        (stripe,) = file.explain(filters=col("v") == absent).files[0].stripes
        assert (stripe.outcome, [reason for _, reason in stripe.reasons]) == ("skipped", ["bloom filter"])
    for condition in (col("v") < "200", col("v") > "798", col("v") == "1", col("v") == "9000"):
        (stripe,) = file.explain(filters=condition).files[0].stripes
        assert stripe.outcome == "skipped", str(condition)
    (stripe,) = file.explain(filters=col("v") >= "200").files[0].stripes
    assert stripe.outcome == "all"
    assert file.read(filters=col("v") == "300")["v"].to_pylist() == ["300"]
