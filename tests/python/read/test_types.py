"""Every type, with and without nulls, at the top and at every place below."""

import datetime as dt
from decimal import Decimal

import orcish
import pyarrow as pa
import pytest
from support.case_loops import each_case
from support.cpp_writers import write_arrow, write_rows

UTC = dt.timezone.utc
NAIVE = [
    dt.datetime(2026, 3, 29, 2, 30, 0, 123456),
    dt.datetime(1970, 1, 1),
    dt.datetime(2014, 12, 31, 23, 59, 59, 999999),
    dt.datetime(1950, 6, 1, 12),
    dt.datetime(1700, 1, 1, 0, 0, 1),
    dt.datetime(2261, 1, 1, 0, 0, 0, 1),
]
NINES = "9" * 28

# Arrow type that comes back, type that pyarrow is given, ORC type, values.
CASES = {
    "boolean": (pa.bool_(), pa.bool_(), "boolean", [True, False, False, True, True]),
    "tinyint": (pa.int8(), pa.int8(), "tinyint", [0, 1, -1, 127, -128]),
    "smallint": (pa.int16(), pa.int16(), "smallint", [0, 1, -1, 32767, -32768]),
    "int": (pa.int32(), pa.int32(), "int", [0, 1, -1, 2**31 - 1, -(2**31)]),
    "bigint": (pa.int64(), pa.int64(), "bigint", [0, 1, -1, 2**63 - 1, -(2**63)]),
    "float": (pa.float32(), pa.float32(), "float", [0.0, -1.5, 3.4028234663852886e38, float("inf"), 2.0**-149]),
    "double": (pa.float64(), pa.float64(), "double", [0.0, -1.5, 1.7976931348623157e308, float("-inf"), 5e-324]),
    "string": (pa.string(), pa.string(), "string", ["", "a", "Straße", "日本語", "🦀" * 50]),
    "binary": (pa.binary(), pa.binary(), "binary", [b"", b"\x00", b"\xff\xfe", b"abc", bytes(range(256))]),
    "decimal64": (
        pa.decimal128(10, 2),
        pa.decimal128(10, 2),
        "decimal(10,2)",
        [Decimal("0.00"), Decimal("-0.01"), Decimal("99999999.99"), Decimal("-99999999.99"), Decimal("1.10")],
    ),
    "decimal128": (
        pa.decimal128(38, 10),
        pa.decimal128(38, 10),
        "decimal(38,10)",
        [Decimal("0E-10"), Decimal(f"{NINES}.9999999999"), Decimal(f"-{NINES}.9999999999"), Decimal("0.5000000000")],
    ),
    "date": (
        pa.date32(),
        pa.date32(),
        "date",
        [dt.date(1970, 1, 1), dt.date(1969, 12, 31), dt.date(9999, 12, 31), dt.date(1600, 2, 29), dt.date(2026, 11, 1)],
    ),
    "timestamp": (pa.timestamp("us"), pa.timestamp("ns"), "timestamp", NAIVE),
    "instant": (
        pa.timestamp("us", "UTC"),
        pa.timestamp("ns", "UTC"),
        "timestamp with local time zone",
        [value.replace(tzinfo=UTC) for value in NAIVE],
    ),
}
NULLS = {
    "no nulls": lambda i: False,
    "some nulls": lambda i: i % 7 in (2, 3) or 300 < i < 400,
    "all null": lambda i: True,
}
ROWS = 3000


def column(values, nulls):
    """A long column of the values: stretches of equal ones, and stretches of all of them in turn."""
    pick = [values[(i // 50 if i % 1000 < 500 else i) % len(values)] for i in range(ROWS)]
    return [None if NULLS[nulls](i) else value for i, value in enumerate(pick)]


def offsets(lengths):
    sums = [0]
    for length in lengths:
        sums.append(sums[-1] + length)
    return sums


def nested(leaf: pa.Array, place: str) -> pa.Array:
    """An array of the place's type over a leaf of all values."""
    if place == "top":
        return leaf
    if place == "struct":
        mask = pa.array([i % 11 == 5 for i in range(len(leaf))])
        return pa.StructArray.from_arrays([leaf, pa.array(range(len(leaf)))], ["leaf", "row"], mask=mask)
    if place == "union":
        tags = pa.array([i % 3 // 2 for i in range(len(leaf))], pa.int8())
        return pa.UnionArray.from_sparse(tags, [leaf, pa.array(range(len(leaf)))])
    # Lists of 0 to 4 elements, one null among ten.
    lengths, i = [], 0
    while i < len(leaf):
        step = min(len(lengths) % 5, len(leaf) - i)
        lengths.append(step)
        i += step
    mask = pa.array([length == 0 and row % 10 == 5 for row, length in enumerate(lengths)])
    starts = pa.array(offsets(lengths), pa.int32())
    if place == "list":
        return pa.ListArray.from_arrays(starts, leaf, mask=mask)
    keys = pa.array([f"k{i}" for i in range(len(leaf))])
    if place == "map":
        valid = pa.array([not null for null in mask.to_pylist()] + [True])
        starts = pa.array(
            [s if v else None for s, v in zip(starts.to_pylist(), valid.to_pylist(), strict=True)], pa.int32()
        )
        return pa.MapArray.from_arrays(starts, keys, leaf)
    inner = nested(leaf, "map")
    struct = pa.StructArray.from_arrays([inner], ["m"], mask=pa.array([i % 13 == 7 for i in range(len(inner))]))
    return nested(struct, "list")


@each_case("nulls", NULLS)
@each_case("name", CASES)
def test_pyarrow_wrote_it(name, nulls):
    """A file has the type at the top, in a struct, a union, a list, a map, and list<struct<map<string, type>>>."""
    arrow, given, _, values = CASES[name]
    leaf = pa.array(column(values, nulls), given)
    for place in ("top", "struct", "union", "list", "map", "deep"):
        array = nested(leaf, place)
        want = nested(leaf.cast(arrow), place).to_pylist()
        table = orcish.read_table(write_arrow({"c": array}), batch_size=700)
        assert table["c"].to_pylist() == want, place
        table.validate(full=True)
        if place == "top":
            assert table.schema.field("c").type == arrow


@each_case("nulls", NULLS)
@each_case("name", CASES)
def test_pyorc_wrote_it(name, nulls):
    arrow, _, kind, values = CASES[name]
    data = column(values, nulls)
    # pyorc puts naive timestamps into its zone, UTC, and wants those with local time zone to have one.
    schema = f"struct<top:{kind},s:struct<leaf:{kind}>,l:array<{kind}>,m:map<int,{kind}>>"
    rows = [
        (
            value,
            None if i % 11 == 5 else (value,),
            None if i % 10 == 5 else data[i : i + i % 4],
            None if i % 9 == 5 else {k: data[(i + k) % ROWS] for k in range(i % 3)},
        )
        for i, value in enumerate(data)
    ]
    table = orcish.read_table(write_rows(schema, rows, batch_size=512), batch_size=999)
    table.validate(full=True)
    assert table.schema.field("top").type == arrow
    got = table.to_pydict()
    got["s"] = [None if row is None else (row["leaf"],) for row in got["s"]]
    got["m"] = [None if row is None else dict(row) for row in got["m"]]
    for index, column_name in enumerate(("top", "s", "l", "m")):
        assert got[column_name] == [row[index] for row in rows], column_name


def test_all_types_in_one_root_by_spark(spark_orc):
    """A file of Spark has all of its types, with nulls at every level."""
    path = spark_orc("""
        select id, i.*, struct(i.*) s, if(id % 5 = 0, null, array(i.b, null)) l, map('x', i.dec, 'y', null) m,
               if(id % 3 = 0, null, struct(array(map(1, struct(i.str, i.ts))) as a)) deep
        from (select id, if(id % 4 = 1, null, struct(
            id % 2 = 0 as bool, cast(id % 128 as tinyint) b, cast(-id as smallint) sh, cast(id * 1000 as int) i,
            id * 10000000000 as big, cast(id / 8 as float) f, id / 3 as d, concat('row ', id) str,
            encode(concat('bin ', id), 'utf-8') bin, cast(id * 1.25 as decimal(20, 4)) dec,
            date_add(date'2000-01-01', cast(id as int)) date,
            timestamp'2020-02-29 12:34:56.789012' + make_interval(0, 0, 0, 0, 0, 0, id) ts,
            timestamp_ntz'2020-02-29 12:34:56.789012' ntz)) i from range(2000))
    """)
    table = orcish.read_table(path)
    table.validate(full=True)
    assert table.num_rows == 2000
    for row in table.to_pylist():
        id = row["id"]
        null = id % 4 == 1
        ts = dt.datetime(2020, 2, 29, 12, 34, 56, 789012) + dt.timedelta(seconds=id)
        want = {
            "bool": id % 2 == 0,
            "b": id % 128,
            "sh": -id,
            "i": id * 1000,
            "big": id * 10**10,
            "f": id / 8,
            "d": pytest.approx(id / 3),
            "str": f"row {id}",
            "bin": f"bin {id}".encode(),
            "dec": Decimal(id * 125).scaleb(-2).quantize(Decimal("0.0001")),
            "date": dt.date(2000, 1, 1) + dt.timedelta(days=id),
            "ts": ts,
            "ntz": dt.datetime(2020, 2, 29, 12, 34, 56, 789012),
        }
        if null:
            want = dict.fromkeys(want)
        assert {name: row[name] for name in want} == want
        assert row["s"] == want
        assert row["l"] == (None if id % 5 == 0 else [want["b"], None])
        assert row["m"] == [("x", want["dec"]), ("y", None)]
        deep = {"a": [[(1, {"str": want["str"], "ts": want["ts"]})]]}
        assert row["deep"] == (None if id % 3 == 0 else deep)


def test_structs_without_fields():
    rows = [((), 1), (None, 2), ((), None)]
    table = orcish.read_table(write_rows("struct<e:struct<>,i:int>", rows))
    assert table.schema.field("e").type == pa.struct([])
    assert table.to_pylist() == [{"e": {}, "i": 1}, {"e": None, "i": 2}, {"e": {}, "i": None}]
    nothing = orcish.read_table(write_rows("struct<>", [()] * 1000))
    assert (nothing.num_rows, nothing.num_columns) == (1000, 0)


@each_case("name", CASES)
def test_files_without_rows(name):
    arrow, given, kind, _ = CASES[name]
    for file in (write_arrow({"c": pa.array([], given)}), write_rows(f"struct<c:{kind}>", [])):
        opened = orcish.ORCFile(file)
        assert opened.num_rows == 0
        assert opened.schema.field("c").type == arrow
        table = opened.read()
        assert table.num_rows == 0
        assert table.schema.field("c").type == arrow
        assert list(opened.iter_batches()) == []


def test_file_of_spark_without_rows(spark_orc):
    path = spark_orc("select id, struct(id as a) s from range(10) where id < 0")
    table = orcish.read_table(path)
    assert table.num_rows == 0
    assert table.schema.names == ["id", "s"]


@each_case(
    ("kind", "values", "want"),
    [
        ("int", [1, None, 3], [1, None, 3]),
        ("boolean", [True, None, False], [True, None, False]),
        ("string", ["a", None, ""], ["a", None, ""]),
        ("decimal(5,1)", [Decimal("1.5"), None], [Decimal("1.5"), None]),
        ("timestamp", [NAIVE[0], None], [NAIVE[0], None]),
        ("array<int>", [[1, None], None, []], [[1, None], None, []]),
        ("map<string,int>", [{"a": 1}, None, {}], [[("a", 1)], None, []]),
        ("array<struct<a:int,b:array<string>>>", [[(1, ["x"]), None]], [[{"a": 1, "b": ["x"]}, None]]),
        ("uniontype<int,string>", [1, "a", None], [1, "a", None]),
    ],
)
def test_roots_that_are_no_struct_are_one_column(kind, values, want):
    file = orcish.ORCFile(write_rows(kind, values))
    assert file.type_string.replace(" ", "") == kind
    assert file.column_paths[0] == ""
    assert file.read().to_pydict() == {"value": want}
    assert [value for batch in file.iter_batches(batch_size=1) for value in batch[0].to_pylist()] == want
