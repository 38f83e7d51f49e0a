"""What Arrow's types cannot say, or ORC's: char and varchar, types of Spark, unions, decimals by their scales."""

import datetime as dt
from decimal import Context, Decimal

import orcish
import pyarrow as pa
from support.case_loops import each_case
from support.cpp_writers import write_arrow, write_rows
from support.orc_layout import layout
from support.protobuf import message


def test_char_and_varchar():
    rows = [("ab", "abcdef"), (None, None), ("", ""), ("äöüßé", "äöü"), (" x ", "   ")]
    file = write_rows("struct<c:char(4),v:varchar(3),l:array<char(2)>>", [(*row, ["z", None]) for row in rows])
    table = orcish.read_table(file)
    assert table.schema.field("c").metadata == {b"orc.type": b"char(4)"}
    assert table.schema.field("v").metadata == {b"orc.type": b"varchar(3)"}
    assert table.schema.field("l").type.value_field.metadata == {b"orc.type": b"char(2)"}
    assert table["c"].to_pylist() == ["ab  ", None, "    ", "äöüß", " x  "]
    assert table["v"].to_pylist() == ["abc", None, "", "äöü", "   "]
    assert table["l"].to_pylist() == [["z ", None]] * 5
    for strings in ("utf8", "large", "view", "dictionary"):
        trimmed = orcish.read_table(file, trim_char=True, strings=strings)
        assert trimmed["c"].to_pylist() == ["ab", None, "", "äöüß", " x"], strings
        assert trimmed["v"].to_pylist() == ["abc", None, "", "äöü", "   "], strings
        assert trimmed["l"].to_pylist() == [["z", None]] * 5, strings
    binary = orcish.read_table(file, trim_char=True, strings="binary")
    assert binary["c"].to_pylist() == [b"ab", None, b"", "äöüß".encode(), b" x"]


def test_char_in_a_dictionary():
    rows = [(value,) for value in ["a", "bb", "", None, "a"] * 300]
    file = write_rows("struct<c:char(3)>", rows, dict_key_size_threshold=1.0)
    assert layout(file).encodings[0][1] in (1, 3)
    assert orcish.read_table(file)["c"].to_pylist() == [
        value and value.ljust(3) if value != "" else "   " for (value,) in rows
    ]
    for strings in ("utf8", "large", "view", "dictionary"):
        assert orcish.read_table(file, trim_char=True, strings=strings)["c"].to_pylist() == [value for (value,) in rows]


def test_char_and_varchar_of_spark(spark, spark_orc):
    """Spark stores char and varchar as string with an attribute, which becomes metadata."""
    frame = spark.sql("select cast('ab' as char(5)) c, cast('cd' as varchar(7)) v")
    path = spark_orc(frame)
    file = orcish.ORCFile(path)
    row = file.read(trim_char=True).to_pylist()[0]
    assert (row["c"].rstrip(), row["v"]) == ("ab", "cd")


def test_types_of_spark(spark_orc):
    path = spark_orc("""
        select timestamp_ntz'2020-02-29 12:34:56.789012' n,
               interval '-1 02:03:04.000005' day to second d, interval '5' hour h,
               interval '2-3' year to month y, interval '7' month m,
               array(timestamp_ntz'1900-01-01 00:00:00') l
        union all select null, null, null, null, null, null
    """)
    file = orcish.ORCFile(path)
    schema = file.schema
    assert schema.field("n").type == pa.timestamp("us")
    assert schema.field("d").type == schema.field("h").type == pa.duration("us")
    assert schema.field("n").metadata[b"spark.sql.catalyst.type"] == b"timestamp_ntz"
    assert schema.field("y").metadata[b"spark.sql.catalyst.type"] == b"interval year to month"
    assert file.attributes("d") == {"spark.sql.catalyst.type": "interval day to second"}
    got = {row["n"] is None: row for row in file.read(columns=["n", "d", "h", "l"]).to_pylist()}
    assert got[True] == {"n": None, "d": None, "h": None, "l": None}
    assert got[False]["n"] == dt.datetime(2020, 2, 29, 12, 34, 56, 789012)
    assert got[False]["d"] == -dt.timedelta(days=1, hours=2, minutes=3, seconds=4, microseconds=5)
    assert got[False]["h"] == dt.timedelta(hours=5)
    assert got[False]["l"] == [dt.datetime(1900, 1, 1)]
    # Year-month intervals are Arrow's own: pyarrow cannot import them, what speaks Arrow can.
    seconds = file.read(columns=["n"], timestamp_unit="s")
    assert seconds.schema.field("n").type == pa.timestamp("s")


@each_case("precision", range(1, 39))
def test_decimals_of_all_precisions(precision):
    """ORC C++ stores every value with the scale of the column."""
    for scale in {0, precision // 2, precision}:
        numbers = [10**precision - 1, 1 - 10**precision, 0, 1, -1, None, 10 ** (precision - 1)]
        values = [None if n is None else Decimal(n).scaleb(-scale, Context(prec=60)) for n in numbers] * 100
        array = pa.array(values, pa.decimal128(precision, scale))
        table = orcish.read_table(write_arrow({"d": array}))
        assert table.schema.field("d").type == pa.decimal128(precision, scale)
        assert table["d"].to_pylist() == array.to_pylist()


def test_decimals_with_scales_that_java_trims(spark_orc):
    """Java drops trailing zeros of a value, and stores the remaining scale."""
    digits = [
        "0",
        "1",
        "-1",
        "100",
        "1.5",
        "-1.50",
        "0.00001",
        "123456789012345678901234567.12345",
        "-99999.1",
        "10000000000",
    ]
    union = " union all ".join(
        f"select {i} id, cast('{d}' as decimal(38,5)) a, cast('{d}' as decimal(32,5)) b, "
        f"cast(substr('{d}', 1, 6) as decimal(18,5)) c, cast(if(length('{d}') < 4, '{d}', null) as decimal(5,2)) d"
        for i, d in enumerate(digits)
    )
    table = orcish.read_table(spark_orc(union)).sort_by("id")
    quantum = {"a": Decimal("0.00001"), "b": Decimal("0.00001"), "c": Decimal("0.00001"), "d": Decimal("0.01")}
    for name, exponent in quantum.items():
        source = [d[:6] if name == "c" else d if name != "d" or len(d) < 4 else None for d in digits]
        want = [d and Decimal(d) for d in source]
        assert table[name].to_pylist() == want
        assert all(
            value.as_tuple().exponent == exponent.as_tuple().exponent
            for value in table[name].to_pylist()
            if value is not None
        )


def test_unions_in_all_forms():
    values = [1, "a", None, 2.5, "b", 7, None, 0.25] * 120
    file = write_rows("struct<u:uniontype<int,string,double>>", [(value,) for value in values])
    for form, mode in (("dense", "dense"), ("sparse", "sparse")):
        table = orcish.read_table(file, unions=form, batch_size=333)
        table.validate(full=True)
        assert table.schema.field("u").type.mode == mode
        assert table["u"].to_pylist() == values
    struct = orcish.read_table(file, unions="struct", batch_size=333)["u"]
    assert struct.type.field(0).type == pa.int8()
    tags = {int: 0, str: 1, float: 2}
    for row, value in zip(struct.to_pylist(), values, strict=True):
        if value is None:
            assert row is None
            continue
        tag = tags[type(value)]
        assert row == {"tag": tag, **{f"field{i}": value if i == tag else None for i in range(3)}}


def test_unions_of_pyarrow():
    sparse = pa.UnionArray.from_sparse(
        pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, None]), pa.array(["x", "y", "z"])]
    )
    dense = pa.UnionArray.from_dense(
        pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32()), [pa.array([1, 2]), pa.array(["x"])]
    )
    for array, want in ((sparse, [1, "y", None]), (dense, [1, "x", 2])):
        for form in ("dense", "sparse"):
            assert orcish.read_table(write_arrow({"u": array}), unions=form)["u"].to_pylist() == want


@each_case("form", ["dense", "sparse"])
def test_unions_below_lists_and_structs(form):
    schema = "struct<l:array<uniontype<int,string>>,s:struct<u:uniontype<double,string>>>"
    rows = [([1, "x", None], ("a",)), (None, None), ([], (None,)), (["y"], (0.5,))] * 100
    want = {
        "l": [[1, "x", None], None, [], ["y"]] * 100,
        "s": [{"u": "a"}, None, {"u": None}, {"u": 0.5}] * 100,
    }
    for batch_size in (7, 1000):
        table = orcish.read_table(write_rows(schema, rows), batch_size=batch_size, unions=form)
        table.validate(full=True)
        assert table.to_pydict() == want


@each_case("form", ["dense", "sparse"])
def test_unions_of_nested_types(form):
    """The file is written by pyarrow: pyorc cannot read the unions of lists that it writes."""
    tags = pa.array([0, 1, 2, 0, 2, 1] * 100, pa.int8())
    lists = pa.array([[1, 2], None, None, [], None, None] * 100)
    structs = pa.array([None, {"a": "x"}, None, None, None, {"a": None}] * 100)
    maps = pa.array([None, None, [("k", 1)], None, [], None] * 100, pa.map_(pa.string(), pa.int64()))
    union = pa.UnionArray.from_sparse(tags, [lists, structs, maps])
    file = write_arrow({"u": union})
    for batch_size in (7, 1000):
        table = orcish.read_table(file, batch_size=batch_size, unions=form)
        table.validate(full=True)
        assert table["u"].to_pylist() == union.to_pylist()


@each_case("variants", [127, 128])
def test_unions_of_as_many_variants_as_arrow_has(variants):
    schema = f"struct<u:uniontype<{','.join(['int', 'string'] + ['double'] * (variants - 2))}>>"
    table = orcish.read_table(write_rows(schema, [(1,), ("a",), (0.5,)]))
    assert table.schema.field("u").type.num_fields == variants
    assert table["u"].to_pylist() == [1, "a", 0.5]


def test_unions_of_more_variants_are_structs():
    schema = f"struct<u:uniontype<{','.join(['int', 'string'] + ['double'] * 128)}>>"
    array = orcish.read_table(write_rows(schema, [(1,), ("a",), (None,)]))["u"].combine_chunks()
    assert array.type.field(0).type == pa.int16()
    assert array.field("tag").to_pylist()[:2] == [0, 1]
    assert [row and (row["tag"], row["field0"], row["field1"]) for row in array.to_pylist()] == [
        (0, 1, None),
        (1, None, "a"),
        None,
    ]


def test_attributes_that_pyarrow_writes():
    field = pa.field("a", pa.int32(), metadata={"iceberg.id": "7", "owner": "me"})
    file = orcish.ORCFile(write_arrow(pa.table({"a": [1]}, schema=pa.schema([field]))))
    assert file.attributes("a") == file.attributes(1) == {"iceberg.id": "7", "owner": "me"}
    assert file.schema.field("a").metadata == {b"iceberg.id": b"7", b"owner": b"me"}


def test_user_metadata():
    file = orcish.ORCFile(write_rows("struct<a:int>", [(1,)], metadata={"k": b"\x00\xff", "empty": b""}))
    assert file.metadata == {"k": b"\x00\xff", "empty": b""}


def test_the_tail_parser_of_these_tests():
    """The other tests depend on this parser."""
    assert message(b"\x08\x96\x01\x12\x02hi") == {1: [150], 2: [b"hi"]}
