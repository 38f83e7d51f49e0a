"""What orcish writes, orcish reads: all types, nulls, nesting, slices, batches of all shapes, all options."""

from __future__ import annotations

import datetime as dt
import io
import itertools
from decimal import Decimal
from typing import Any

import numpy as np
import orcish
import pyarrow as pa
import pyarrow.orc
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.random_cases import examples
from support.read_types import read_schema
from support.writer_tables import (
    CODECS,
    COMBINATIONS,
    STRIDE,
    assert_same,
    bloomed,
    holed,
    physical_type,
    struct,
    table,
    union,
    values,
    written,
)

EXAMPLES = examples(150, suppress_health_check=list(HealthCheck))
UTC = dt.timezone.utc
EPOCH = dt.datetime(1970, 1, 1)

STRICT = True
"""Whether the Arrow types that were written come back."""

Leaf = tuple[pa.DataType, st.SearchStrategy[Any]]


def whole(value: dt.datetime) -> dt.datetime:
    """The second before 1970 cannot be stored with a fraction."""
    return value.replace(microsecond=0) if -1 < (value - EPOCH).total_seconds() < 0 else value


def bits(count: int, *, signed: bool = True) -> st.SearchStrategy[int]:
    least, most = (-(1 << (count - 1)), (1 << (count - 1)) - 1) if signed else (0, (1 << count) - 1)
    return st.integers(least, most) | st.integers(max(least, -5), 5)


def decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    bound = 10**precision - 1
    return st.integers(-bound, bound).map(lambda n: Decimal((n < 0, tuple(map(int, str(abs(n)))), -scale)))


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(["a", "b", "", "x" * 300])
moments = st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30)).map(whole)
recent = st.datetimes(dt.datetime(1680, 1, 1), dt.datetime(2260, 1, 1)).map(whole)
blobs = st.binary(max_size=20)
spans = st.timedeltas(dt.timedelta(days=-(10**5)), dt.timedelta(days=10**5))

LEAVES: list[Leaf] = [
    (pa.null(), st.none()),
    (pa.bool_(), st.booleans()),
    *((getattr(pa, f"int{count}")(), bits(count)) for count in (8, 16, 32, 64)),
    *((getattr(pa, f"uint{count}")(), bits(count, signed=False)) for count in (8, 16, 32, 64)),
    (pa.float16(), st.floats(width=16)),
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), st.floats()),
    *((kind, text) for kind in (pa.string(), pa.large_string(), pa.string_view())),
    *((kind, blobs) for kind in (pa.binary(), pa.large_binary(), pa.binary_view())),
    (pa.binary(3), st.binary(min_size=3, max_size=3)),
    (pa.date32(), st.dates()),
    (pa.date64(), st.dates()),
    (pa.time32("s"), st.times().map(lambda time: time.replace(microsecond=0))),
    (pa.time64("us"), st.times()),
    (pa.timestamp("s"), moments.map(lambda moment: moment.replace(microsecond=0))),
    (pa.timestamp("us"), moments),
    (pa.timestamp("ns"), recent),
    (pa.timestamp("us", "UTC"), moments.map(lambda moment: moment.replace(tzinfo=UTC))),
    (pa.timestamp("ms", "America/New_York"), moments.map(lambda moment: moment.replace(microsecond=0, tzinfo=UTC))),
    (pa.duration("us"), spans),
    (pa.duration("s"), spans.map(lambda span: dt.timedelta(seconds=int(span.total_seconds())))),
    (pa.dictionary(pa.int32(), pa.string()), st.sampled_from(["a", "b", "", "é"])),
    (pa.dictionary(pa.uint32(), pa.int64()), st.integers(-3, 3)),
    *(
        (kind, decimals(kind.precision, kind.scale))
        for kind in (
            pa.decimal32(9, 2),
            pa.decimal64(18, 0),
            pa.decimal128(5, 2),
            pa.decimal128(18, 18),
            pa.decimal128(38, 7),
            pa.decimal256(38, 10),
        )
    ),
]


def lists(inner: Leaf) -> st.SearchStrategy[Leaf]:
    kind, inside = inner
    some = st.lists(inside | st.none(), max_size=4)
    two = st.lists(inside | st.none(), min_size=2, max_size=2)
    return st.sampled_from(
        [(pa.list_(kind), some), (pa.large_list(kind), some), (pa.list_view(kind), some), (pa.list_(kind, 2), two)]
    )


def maps(inner: Leaf) -> Leaf:
    kind, inside = inner
    return pa.map_(pa.string(), kind), st.dictionaries(text, inside | st.none(), max_size=3).map(
        lambda found: list(found.items())
    )


def structs(inner: list[Leaf]) -> Leaf:
    fields = {f"f{at}": leaf for at, leaf in enumerate(inner)}
    kind = pa.struct([(name, leaf[0]) for name, leaf in fields.items()])
    return kind, st.fixed_dictionaries({name: leaf[1] | st.none() for name, leaf in fields.items()})


def grow(inner: st.SearchStrategy[Leaf]) -> st.SearchStrategy[Leaf]:
    return inner.flatmap(lists) | inner.map(maps) | st.lists(inner, min_size=1, max_size=3).map(structs)


kinds = st.recursive(st.sampled_from(LEAVES), grow, max_leaves=4)


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Columns of some types, few distinct rows many times over, cut out of more rows, in chunks."""
    columns = draw(st.lists(kinds, min_size=1, max_size=4))
    row = st.tuples(*(inside | st.none() for _, inside in columns))
    distinct = draw(st.lists(row, min_size=1, max_size=12))
    times = st.sampled_from([1, 1, 2, 3, 9, 60, 600])
    order = draw(st.lists(st.tuples(st.integers(0, len(distinct) - 1), times), max_size=12))
    rows = [distinct[index] for index, count in order for _ in range(count)]
    arrays = [pa.array([row[at] for row in rows], kind) for at, (kind, _) in enumerate(columns)]
    made = pa.table(arrays, names=[f"c{at}" for at in range(len(columns))])
    start = draw(st.integers(0, min(len(rows), 20)))
    end = draw(st.integers(0, min(len(rows) - start, 20)))
    return made.slice(start, len(rows) - start - end)


@st.composite
def writings(draw: st.DrawFn) -> dict[str, Any]:
    """Options, those that cannot be together left out."""
    options = {
        "compression": draw(st.sampled_from(CODECS)),
        "version": draw(st.sampled_from(["0.11", "0.12"])),
        "row_index_stride": draw(st.sampled_from([0, 1000, 10_000])),
        "stripe_size": draw(st.sampled_from([1, 3000, 64 << 20])),
        "compression_block_size": draw(st.sampled_from([1024, 65_536, None])),
        "dictionary": draw(st.sampled_from([True, False, None])),
        "threads": draw(st.sampled_from([1, 2])),
    }
    if options["version"] == "0.12" and options["row_index_stride"]:
        options["bloom_filter_fpp"] = draw(st.sampled_from([None, 0.5, 0.001]))
    return options


def simple(data: pa.Table) -> list[str]:
    """Columns that can have bloom filters, if those of booleans cannot."""
    return [name for name in bloomed(data) if not pa.types.is_null(data.schema.field(name).type)]


@EXAMPLES
@given(tables(), writings(), st.sampled_from([1, 7, 64, 1000, 65_536]))
def test_any_table_under_any_options(data: pa.Table, options: dict[str, Any], rows: int) -> None:
    if "bloom_filter_fpp" in options:
        options["bloom_filter_columns"] = simple(data)
    rows = max(rows, data.num_rows // 50)
    reader = pa.RecordBatchReader.from_batches(data.schema, data.to_batches(max_chunksize=rows))
    file = orcish.ORCFile(written(reader, **options))
    assert file.num_rows == data.num_rows
    back = file.read()
    back.validate(full=True)
    assert_same(back, data)


@pytest.mark.skipif(not STRICT, reason="the Arrow schema is not stored yet")
@EXAMPLES
@given(tables())
def test_types_come_back(data: pa.Table) -> None:
    file = orcish.ORCFile(written(data))
    back = file.read()
    assert back.schema.equals(read_schema(data.schema), check_metadata=True)
    back.validate(full=True)
    assert all(values(left) == values(right) for left, right in zip(back.columns, data.columns, strict=True))


@pytest.mark.parametrize(("title", "options"), COMBINATIONS, ids=lambda each: each if isinstance(each, str) else "")
def test_all_combinations(title: str, options: dict[str, Any]) -> None:
    data = table(unions=True)
    if options["row_index_stride"] and options["version"] == "0.12":
        options = {**options, "bloom_filter_columns": bloomed(data)}
    file = orcish.ORCFile(written(data, **options))
    assert (file.compression, file.version) == (options["compression"], options["version"])
    assert file.row_index_stride == options["row_index_stride"]
    assert file.num_stripes == (1 if options["row_index_stride"] == 0 else file.num_stripes)
    assert_same(file.read(), data)


def test_filters_find_the_rows() -> None:
    """The row index and bloom filters of orcish lead its reader to the rows of all columns."""
    data = table(unions=True)
    columns = data.column_names
    for bloom in ([], bloomed(data)):
        file = orcish.ORCFile(
            written(
                data,
                row_index_stride=STRIDE,
                compression_block_size=1024,
                stripe_size=300_000,
                bloom_filter_columns=bloom,
                dictionary={"s": True, "w": False},
            )
        )
        assert file.num_stripes >= 2
        for filters, rows in [
            (orcish.col("g") == 13, range(1300, 1400)),
            (orcish.col("row").is_in([1002, 1003, 1004, 2006, 5531]), [1002, 1003, 1004, 2006, 5531]),
            (orcish.col("k") == 3, [at for at in range(data.num_rows) if at * 7919 % data.num_rows == 3]),
            (orcish.col("row") >= 5015, range(5015, data.num_rows)),
        ]:
            assert_same(file.read(filters=filters), data.take(list(rows)).select(columns))


@pytest.mark.parametrize("stride", [1000, 1001, 1003, 1007, 4096])
def test_nulls_of_unions(stride: int) -> None:
    data = pa.table({"row": np.arange(3000), "u": union("nulls", 3000, nulls=True)})
    file = written(data, row_index_stride=stride, compression_block_size=1024)
    assert values(orcish.read_table(file)["u"]) == values(data["u"])


@pytest.mark.parametrize("mode", ["dense", "sparse"])
def test_unions_sliced(mode: str) -> None:
    tags = pa.array([0, 1, 1, 0, 1, 0] * 500, pa.int8())
    if mode == "dense":
        offsets = pa.array([0, 0, 1, 1, 2, 2] * 500, pa.int32())
        array = pa.UnionArray.from_dense(tags, offsets, [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])])
    else:
        array = pa.UnionArray.from_sparse(tags, [pa.array(range(3000)), pa.array([f"t{at}" for at in range(3000)])])
    batch = pa.record_batch({"u": array, "s": pa.StructArray.from_arrays([array], ["u"])})
    for start, count in [(0, 3000), (1, 2999), (3, 5), (2995, 5), (7, 0)]:
        cut = batch.slice(start, count)
        back = orcish.read_table(written(cut))
        want = array.to_pylist()[start : start + count]
        assert back["u"].to_pylist() == want
        assert [row["u"] for row in back["s"].to_pylist()] == want


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        *((rows, kind) for rows in (0, 3) for kind in (pa.string(), pa.binary(), pa.int64(), pa.bool_())),
    ],
    ids=str,
)
def test_empty_dictionaries(rows: int, kind: pa.DataType) -> None:
    """Columns of nulls have empty dictionaries."""
    array = pa.nulls(rows, pa.dictionary(pa.int8(), kind))
    lists_of = pa.ListArray.from_arrays(pa.array([0] * rows + [rows], pa.int32()), array)
    data = pa.table({"d": array, "l": lists_of})
    assert orcish.read_table(written(data), arrow_schema=False).to_pylist() == data.to_pylist()


def test_slices_with_offsets() -> None:
    """Offsets of arrays and of their children are no multiples of 8."""
    data = table(2000).combine_chunks()
    for start, count in [(1, 1999), (3, 8), (777, 1003), (1999, 1), (2000, 0)]:
        cut = data.slice(start, count)
        assert_same(orcish.read_table(written(cut, row_index_stride=1000)), cut)


def test_batches_with_differing_offsets() -> None:
    data = table(3000).combine_chunks()
    cuts = [0, 1, 2, 10, 11, 500, 1000, 1001, 1002, 2500, 2999, 3000]
    parts = [data.slice(start, end - start) for start, end in itertools.pairwise(cuts)]
    back = orcish.read_table(written(pa.concat_tables(parts), row_index_stride=1000, stripe_size=100_000))
    assert_same(back, data)


def test_lists_whose_nulls_have_elements() -> None:
    """Elements of null lists are in the buffers, and are not written."""
    offsets = pa.array([0, 2, 4, 6], pa.int32())
    array = pa.ListArray.from_arrays(offsets, pa.array(range(6)), mask=pa.array([False, True, False]))
    within = pa.StructArray.from_arrays([array], ["l"], mask=pa.array([True, False, False]))
    views = pa.ListViewArray.from_arrays(pa.array([4, 0, 2], pa.int32()), pa.array([2, 1, 2], pa.int32()), range(6))
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(range(6)), 2, mask=pa.array([False, True, False]))
    data = pa.table({"l": array, "s": within, "v": views, "f": fixed})
    assert orcish.read_table(written(data)).to_pylist() == data.to_pylist()
    statistics = orcish.ORCFile(written(data)).statistics("s.l.element")
    assert statistics is not None
    assert (statistics.values, statistics.min, statistics.max) == (2, 4, 5)


def test_nanoseconds() -> None:
    ticks = [0, 1, -1_000_000_000, 999_999_999, 1_234_567_890_123_456_789, -(10**18) + 1, 10**9 + 10, 2**63 - 1, None]
    data = pa.table({"t": pa.array(ticks, pa.timestamp("ns")), "z": pa.array(ticks, pa.timestamp("ns", "UTC"))})
    back = orcish.read_table(written(data), timestamp_unit="ns")
    assert back["t"].cast(pa.int64()).to_pylist() == ticks
    assert back["z"].cast(pa.int64()).to_pylist() == ticks


def test_intervals() -> None:
    found = [pa.MonthDayNano([1, -2, 3]), None, pa.MonthDayNano([-14, 0, -(10**15)])]
    data = pa.table({"i": pa.array(found, pa.month_day_nano_interval())})
    file = written(data)
    assert orcish.ORCFile(file).type_string == "struct<i:struct<months:int,days:int,nanoseconds:bigint>>"
    rows = orcish.read_table(file, arrow_schema=False)["i"].to_pylist()
    assert rows == [each and {"months": each[0], "days": each[1], "nanoseconds": each[2]} for each in found]


def test_run_end_encoded() -> None:
    inner = pa.RunEndEncodedArray.from_arrays([3, 5, 1500, 2500], ["a", None, "b", "a"])
    data = pa.table({"r": inner, "row": range(2500)})
    want = ["a"] * 3 + [None] * 2 + ["b"] * 1495 + ["a"] * 1000
    assert values(orcish.read_table(written(data, row_index_stride=1000), arrow_schema=False)["r"]) == want
    batch = pa.record_batch({"r": inner}).slice(4, 1000)
    assert values(orcish.read_table(written(batch), arrow_schema=False)["r"]) == want[4:1004]


def test_negative_scales() -> None:
    data = pa.table({"d": pa.array([Decimal("12e3"), Decimal("-99e3"), None], pa.decimal128(2, -3))})
    file = orcish.ORCFile(written(data))
    assert file.type_string == "struct<d:decimal(5,0)>"
    assert file.read(arrow_schema=False)["d"].to_pylist() == [12_000, -99_000, None]


@pytest.mark.parametrize("digits", [18, 38])
def test_zeros_behind_the_point_take_no_room(digits: int) -> None:
    """Trailing zeros that all values of a row group share are not stored."""
    numbers = np.random.default_rng(3).integers(-(10**5), 10**5, 5000).tolist()
    sizes = {}
    for scale in (0, 2, 10):
        array = pa.array([Decimal(number) for number in numbers], pa.decimal128(digits, scale))
        file = written(pa.table({"d": array}), compression="none", arrow_schema=False, row_index_stride=1000)
        assert orcish.read_table(file)["d"].combine_chunks().equals(array)
        sizes[scale] = orcish.ORCFile(file).stripes[0].data_length
    assert max(sizes.values()) <= sizes[0] + 100


@pytest.mark.parametrize(
    "kind",
    [
        *(pa.decimal128(38, scale) for scale in (0, 1, 37, 38)),
        *(pa.decimal128(precision, precision) for precision in (1, 18, 19)),
        pa.decimal256(76, 38),
        pa.decimal256(39, 38),
        pa.decimal64(18, 18),
        pa.decimal32(9, 9),
    ],
    ids=str,
)
def test_decimals_of_all_scales(kind: pa.DataType) -> None:
    values = [Decimal((sign, (1,) * min(kind.precision, 38), -kind.scale)) for sign in (0, 1)]
    data = pa.table({"d": pa.array([*values, None], kind)})
    file = orcish.ORCFile(written(data))
    assert file.column_types[1] == f"decimal({min(kind.precision, 38)},{kind.scale})"
    assert file.read().equals(data)


def test_bits_that_say_that_nothing_is_null() -> None:
    """Present streams may exist in columns without nulls, and in stripes without nulls."""
    numbers = pa.array(range(16))
    full, half = (pa.py_buffer(bytes([byte] * 2)) for byte in (0xFF, 0x0F))
    for offset in (0, 3):
        array = pa.Array.from_buffers(numbers.type, 16 - offset, [full, numbers.buffers()[1]], offset=offset)
        schema = pa.schema([pa.field("a", array.type, nullable=False)])
        file = orcish.ORCFile(written(pa.table([array], schema)))
        assert file.read()["a"].to_pylist() == numbers.to_pylist()[offset:]
        statistics = file.statistics("a")
        assert statistics is not None
        assert statistics.has_null is False
    parts = [pa.Array.from_buffers(numbers.type, 16, [bits, numbers.buffers()[1]]) for bits in (full, half, None, full)]
    data = pa.table({"a": pa.chunked_array(parts)})
    assert orcish.read_table(written(data)).equals(data)


def test_nothing() -> None:
    """Tables without rows, and without columns, are written."""
    empty = table(0)
    assert_same(orcish.read_table(written(empty)), empty)
    assert orcish.ORCFile(written(empty)).num_stripes == 0
    none = pa.table({})
    assert orcish.read_table(written(none)).num_columns == 0
    bare = pa.table({"s": pa.StructArray.from_arrays([], fields=[])})
    assert orcish.read_table(written(bare)).num_rows == 0


def test_structs_without_fields() -> None:
    array = pa.array([{}, None, {}], pa.struct([]))
    assert orcish.read_table(written(pa.table({"s": array})))["s"].to_pylist() == [{}, None, {}]


def test_names() -> None:
    """Names have dots, backticks, blanks, letters of all scripts, or are empty."""
    names = ["a.b", "`", "", "é ☃", "a", "A", "x,y:z<w>"]
    data = pa.table([pa.array([at]) for at in range(len(names))], names=names)
    assert orcish.read_table(written(data)).to_pydict() == data.to_pydict()
    assert orcish.ORCFile(written(data)).schema.names == names


def test_metadata() -> None:
    given = {"text": "é", "bytes": b"\xff\x00", "": "empty"}
    file = orcish.ORCFile(written(pa.table({"a": [1]}), metadata=given))
    for key, value in given.items():
        assert file.metadata[key] == (value.encode() if isinstance(value, str) else value)


def test_metadata_of_the_schema() -> None:
    """Metadata of the schema is written. Options take precedence, and an Arrow schema in it is dropped."""
    of_schema = {"a": "1", "both": "of the schema", "c": "3", "orcish.arrow.schema": "old"}
    data = pa.table({"a": [1]}).replace_schema_metadata(of_schema)
    for arrow_schema in (True, False):
        file = orcish.ORCFile(written(data, metadata={"both": "own", "b": "2"}, arrow_schema=arrow_schema))
        found = file.metadata
        assert (found.pop("orcish.arrow.schema", b"old") == b"old") is not arrow_schema
        assert found == {"a": b"1", "both": b"own", "c": b"3", "b": b"2"}
        assert list(found) == ["a", "c", "both", "b"]
    found = orcish.ORCFile(written(data, metadata={"orcish.arrow.schema": "own"}, arrow_schema=False)).metadata
    assert found == {"a": b"1", "both": b"of the schema", "c": b"3"}


def test_arrow_schemas_do_not_pile_up() -> None:
    """Other readers return user metadata with the schema, including the Arrow schema of orcish."""
    data = pa.table({"a": [1]}).replace_schema_metadata({"x": "1"})
    first = written(data, compression="none")
    table = pyarrow.orc.read_table(io.BytesIO(first))
    assert set(table.schema.metadata) == {b"x", b"orcish.arrow.schema"}
    again = written(table, compression="none")
    assert orcish.read_table(again).schema.metadata == {b"x": b"1"}
    assert again == first


def test_attributes() -> None:
    field = pa.field("a", pa.int32(), metadata={"iceberg.id": "7", "doc": "é"})
    inner = pa.field("s", pa.struct([pa.field("b", pa.int8(), metadata={"iceberg.id": "8"})]))
    file = orcish.ORCFile(
        written(
            pa.table([pa.array([1], pa.int32()), pa.array([{"b": 1}], inner.type)], schema=pa.schema([field, inner]))
        )
    )
    assert file.attributes("a") == {"iceberg.id": "7", "doc": "é"}
    assert file.attributes("s.b") == {"iceberg.id": "8"}


def test_column_compression_is_read() -> None:
    data = table(3000)
    options: dict[str, Any] = {"row_index_stride": 1000, "compression": "zstd", "compression_block_size": 2048}
    own = {"s": None, "st": 19, "l_s": "none", "i64": 1}
    file = written(data, column_compression=own, **options)
    assert len(file) != len(written(data, **options))
    assert_same(orcish.read_table(file), data)


def test_chunks_that_do_not_shrink() -> None:
    """Random bytes are stored uncompressed, and positions are right."""
    raw = np.random.default_rng(1).integers(0, 256, (4000, 64), np.uint8)
    data = pa.table({"row": np.arange(4000), "b": [row.tobytes() for row in raw]})
    for codec in CODECS:
        file = written(data, compression=codec, row_index_stride=1000, compression_block_size=1024)
        assert_same(orcish.read_table(file), data)
        assert_same(orcish.read_table(file, filters=orcish.col("row") == 3210), data.slice(3210, 1))


def test_values_longer_than_chunks_and_stripes() -> None:
    data = pa.table(
        {"row": range(30), "s": ["é" * (at * 3000) for at in range(30)], "b": [bytes(at * 7000) for at in range(30)]}
    )
    for codec in CODECS:
        file = written(data, compression=codec, compression_block_size=1024, stripe_size=4096)
        assert_same(orcish.read_table(file), data)


def test_long_lists() -> None:
    """Lists have more elements than the encoder buffers."""
    counts = [0, 300_000, 1, 0, 70_000, 5]
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    total = int(offsets[-1])
    lists_of = {
        kind: pa.ListArray.from_arrays(offsets, holed("long " + kind, kind, total))
        for kind in ("o", "i8", "i64", "f64", "w", "t", "d18", "d38")
    }
    data = pa.table({"row": range(6), **lists_of})
    for version in ("0.11", "0.12"):
        for dictionary in (True, False):
            file = written(data, version=version, dictionary=dictionary, compression_block_size=65_536)
            assert_same(orcish.read_table(file), data)


def test_many_columns_and_deep_nesting() -> None:
    wide = pa.table({f"c{at}": pa.array([at, None]) for at in range(3000)})
    assert orcish.read_table(written(wide)).equals(wide)
    array = pa.array([1, None, 3])
    # pyarrow itself takes no more.
    for _ in range(60):
        array = pa.StructArray.from_arrays([array], ["a"])
    deep = pa.table({"a": array})
    assert orcish.read_table(written(deep)).to_pylist() == deep.to_pylist()


@pytest.mark.parametrize("kind", ["char(3)", "varchar(3)"])
def test_char(kind: str) -> None:
    field = pa.field("c", pa.string(), metadata={"orc.type": kind})
    data = pa.table([pa.array(["a", "", None, "äöü", "b  ", "\U0001f600", " a"] * 400)], schema=pa.schema([field]))
    file = orcish.ORCFile(written(data, row_index_stride=1000))
    assert file.column_types[1] == kind
    assert file.schema.field("c").metadata[b"orc.type"] == kind.encode()
    got = file.read()["c"].to_pylist()
    want = [None if text is None else text.ljust(3) if kind[0] == "c" else text for text in data["c"].to_pylist()]
    assert got == want
    filtered = file.read(filters=orcish.col("c") == "a", trim_char=True)
    assert filtered["c"].to_pylist() == ["a"] * 400


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 40])
def test_texts_that_differ_in_one_character(length: int) -> None:
    """Dictionaries have each of the similar texts once."""
    plain = "a" * length
    texts = [plain[:at] + other + plain[at + 1 :] for at in range(length) for other in "bc"]
    beside = [each for text in texts for each in (plain, text, plain + "a", text + "a", text, plain[1:])]
    for dictionary in (True, False):
        for found in (beside, beside[::-1]):
            array = pa.array(found)
            for form in (array, array.dictionary_encode(), array.cast(pa.string_view())):
                file = written(pa.table({"s": form}), dictionary=dictionary, arrow_schema=False)
                assert orcish.read_table(file)["s"].to_pylist() == found


def test_struct_with_nulls_around_lists() -> None:
    """Children have no values where an ancestor is null, at any depth."""
    rows = 4000
    inner = struct("inner", rows, {"l": table(rows)["l_o"].combine_chunks(), "m": table(rows)["m_i"].combine_chunks()})
    outer = struct("outer", rows, {"i": inner, "s": holed("x", "s", rows)})
    data = pa.table({"row": np.arange(rows), "o": outer})
    file = written(data, row_index_stride=1001, compression_block_size=1024, stripe_size=20_000)
    assert_same(orcish.read_table(file), data)
    for row in range(0, rows, 333):
        assert_same(orcish.read_table(file, filters=orcish.col("row") == row), data.slice(row, 1))


def test_natural_types() -> None:
    """Physical types are read without the Arrow schema, as in the table of types."""
    data = pa.table([pa.array([], kind) for kind, _ in LEAVES], names=[f"c{at}" for at in range(len(LEAVES))])
    back = orcish.read_table(written(data, arrow_schema=False))
    for name, (kind, _) in zip(data.column_names, LEAVES, strict=True):
        want = physical_type(kind)
        if kind == pa.duration("us"):
            want = kind
        assert back.schema.field(name).type == want, name
