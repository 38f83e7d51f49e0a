"""Files of one table that are not all of its schema."""

import datetime as dt
import decimal
import io
import time
from decimal import Decimal

import orcish
import pyarrow as pa
import pyarrow.compute as pc
import pyorc
import pytest
from orcish import col
from support.case_loops import each_case
from support.cpp_writers import write_arrow, write_rows
from support.small_tables import put

D = Decimal
STORED = {
    "boolean": [True, False, None, True],
    "tinyint": [1, -128, None, 127],
    "smallint": [1, -32768, None, 32767],
    "int": [1, -(2**31), None, 2**31 - 1],
    "bigint": [1, -(2**52), None, 2**40 + 1],
    "float": [0.1, -1.5, None, 3e30],
    "double": [0.1, -1.5, None, 3e300],
    "decimal(10,2)": [D("1.25"), D("-99999999.99"), None, D("0.10")],
    "date": [dt.date(2020, 1, 1), dt.date(1700, 1, 1), None, dt.date(1970, 1, 1)],
    "timestamp": [
        dt.datetime(2020, 1, 1, 1, 2, 3, 4),
        dt.datetime(1969, 12, 31, 23, 59, 59),
        None,
        dt.datetime(1970, 1, 1),
    ],
    "string": ["1", "x", None, "ü"],
    "char(2)": ["1 ", "x ", None, "ab"],
    "varchar(3)": ["1", "x", None, "abc"],
    "binary": [b"1", b"x", None, b"\xff"],
}
TEXTS = [pa.string(), pa.large_string(), pa.string_view()]
BINARIES = [pa.binary(), pa.large_binary(), pa.binary_view()]
WIDER = {
    "boolean": [pa.int8(), pa.int32(), pa.int64(), *TEXTS],
    "tinyint": [pa.int16(), pa.int64(), pa.float32(), pa.float64(), pa.decimal128(3, 0), pa.decimal128(20, 5), *TEXTS],
    "smallint": [pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.decimal128(5, 0), *TEXTS],
    "int": [pa.int64(), pa.float64(), pa.decimal128(10, 0), pa.decimal128(14, 4), *TEXTS],
    "bigint": [pa.float64(), pa.decimal128(19, 0), pa.decimal128(38, 10), *TEXTS],
    "float": [pa.float64()],
    "double": [],
    "decimal(10,2)": [pa.decimal128(12, 2), pa.decimal128(12, 4), pa.decimal128(38, 2), pa.float64(), *TEXTS],
    "date": [pa.timestamp("s"), pa.timestamp("us"), pa.timestamp("ns"), *TEXTS],
    "timestamp": [pa.timestamp("ns")],
    "string": [*TEXTS[1:], *BINARIES],
    "char(2)": [*TEXTS, *BINARIES],
    "varchar(3)": [*TEXTS, *BINARIES],
    "binary": BINARIES[1:],
}
NUMBERS = ["tinyint", "smallint", "int", "bigint", "float", "double", "decimal(10,2)"]
OTHERS = ["boolean", "date", "timestamp", "string", "char(2)", "varchar(3)", "binary"]
NOT_WIDER = {
    pa.bool_(): [*NUMBERS, *OTHERS[1:]],
    pa.int8(): [*NUMBERS[1:], *OTHERS[1:]],
    pa.int16(): [*NUMBERS[2:], *OTHERS[1:]],
    pa.int32(): [*NUMBERS[3:], *OTHERS[1:]],
    pa.int64(): [*NUMBERS[4:], *OTHERS[1:]],
    pa.float32(): [*NUMBERS[5:], *OTHERS],
    pa.float64(): OTHERS,
    pa.decimal128(3, 0): [*NUMBERS[1:], *OTHERS],
    pa.decimal128(9, 2): [*NUMBERS[2:], *OTHERS],
    pa.decimal128(10, 1): [*NUMBERS[2:], *OTHERS],
    pa.date32(): [*NUMBERS, "boolean", *OTHERS[2:]],
    pa.timestamp("s"): [*NUMBERS, "boolean", *[kind for kind in OTHERS[2:] if not kind.startswith("timestamp")]],
    # What is stored of a timestamp are instants.
    pa.timestamp("us", "UTC"): [*NUMBERS, *[kind for kind in OTHERS if not kind.startswith("timestamp")]],
    pa.string(): ["binary"],
    pa.binary(): [*NUMBERS, *OTHERS[:3]],
    pa.list_(pa.int8()): [*NUMBERS, *OTHERS],
    pa.struct({"x": pa.int8()}): [*NUMBERS, *OTHERS],
}
PAIRS = [(stored, wider) for stored, types in WIDER.items() for wider in types]


def file_of(stored, values):
    return write_rows(f"struct<x:{stored},n:int>", [(value, i) for i, value in enumerate(values)])


@each_case(("stored", "wider"), PAIRS, ids=[f"{stored}-{wider}" for stored, wider in PAIRS])
def test_wider_types_are_those_of_a_cast(stored, wider):
    """Filters, pushed down or applied later, select the rows that they select of the table in memory."""
    data = file_of(stored, STORED[stored])
    own = orcish.read_table(data, columns=["x"])["x"]
    want = pa.table({"x": own.cast(wider), "n": pa.array(range(4), pa.int32())})
    schema = pa.schema([("x", wider), ("n", pa.int32())])
    table = orcish.scan(data, schema=schema)
    assert table.to_table().equals(want)
    literal = want["x"][0]
    for filters in (
        pc.field("x") == literal,
        pc.field("x") != literal,
        pc.field("x") > literal,
        pc.field("x") <= literal,
        pc.field("x").isin(pa.array([literal.as_py()], wider)),
        pc.field("x").is_null(),
        (pc.field("x") == literal) | (pc.field("n") == 3),
        ~((pc.field("x") == literal) & (pc.field("n") == 0)),
    ):
        if wider == pa.string_view() or wider == pa.binary_view():
            # pyarrow cannot compare views.
            break
        kept = want.filter(filters)
        for columns in (["x", "n"], ["n"]):
            assert table.where(filters).select(*columns).to_table().equals(kept.select(columns)), filters
            assert table.where(filters).count() == len(kept)


@each_case("kind", NOT_WIDER, ids=str)
def test_what_does_not_fit_names_file_and_column(tmp_path, kind):
    for stored in NOT_WIDER[kind]:
        put(tmp_path, {"f.orc": file_of(stored, STORED[stored])})
        table = orcish.scan(tmp_path, schema=pa.schema([("x", kind), ("n", pa.int32())]))
        with pytest.raises(orcish.UnsupportedError, match=r"f\.orc: column x: it is .* does not become"):
            table.to_table()
        # It does not matter where it is not asked for.
        assert table.select("n").to_table().num_rows == 4


def test_narrower_types_that_are_given_do_not_fit():
    wide, narrow = file_of("bigint", [1]), file_of("int", [1])
    with pytest.raises(orcish.UnsupportedError, match=r"column x: it is bigint .* does not become int32"):
        orcish.scan([narrow, wide], schema=pa.schema({"x": pa.int32()})).to_table()
    for files in ([narrow, wide], [wide, narrow]):
        assert orcish.scan(files).to_table()["x"].type == pa.int64()


def test_values_that_do_not_fit_are_errors():
    data = file_of("date", [dt.date(1600, 1, 1)])
    with pytest.raises(orcish.LimitExceededError, match="column x: a value does not fit"):
        orcish.scan(data, schema=pa.schema([("x", pa.timestamp("ns"))])).to_table()


def test_a_table_grows_wider_from_file_to_file(tmp_path):
    """Each file has many stripes, which statistics skip."""
    count = 5000
    put(
        tmp_path,
        {
            f"{i}.orc": write_arrow(
                pa.table({"x": pa.array(range(i * count, i * count + count), kind)}), stripe_size=4096
            )
            for i, kind in enumerate([pa.int64(), pa.int32(), pa.int16()])
        },
    )
    table = orcish.scan(tmp_path)
    assert table.to_table()["x"].to_pylist() == list(range(3 * count))
    for value in (count - 1, count, 3 * count - 1, 3 * count):
        kept = table.where(col("x") >= value)
        assert kept.to_table()["x"].to_pylist() == list(range(value, 3 * count))
    last = table.where(col("x") == 3 * count - 1).explain()
    assert [bool({s.outcome for s in f.stripes} - {"skipped"}) for f in last.files] == [False, False, True]


FIRST = pa.table({"a": [1, 2], "b": ["x", "y"]})


def test_missing_columns_are_null():
    files = [write_arrow(FIRST), write_arrow({"b": ["z"]}), write_arrow({"c": [5.5], "a": [9]})]
    table = orcish.scan(files)
    assert table.to_table().to_pydict() == {"a": [1, 2, None, 9], "b": ["x", "y", "z", None]}
    assert table.select("a").to_table()["a"].to_pylist() == [1, 2, None, 9]
    for filters, want in (
        (col("a").is_null(), [None]),
        (~col("a").is_null(), [1, 2, 9]),
        (col("a") > 1, [2, 9]),
        (~(col("a") > 1), [1]),
        ((col("a") > 1) | (col("b") == "z"), [2, None, 9]),
        (~((col("a") > 1) & (col("b") == "z")), [1, 2]),
        (col("a").is_in([1, None]), [1]),
        (~col("b").starts_with("x"), [2, None]),
        (pc.field("b").is_null(), [9]),
        (~(pc.field("a") == 1), [2, 9]),
    ):
        assert table.where(filters).to_table()["a"].to_pylist() == want, filters
        assert table.where(filters).count() == len(want)
    # What is not in the table is not read.
    with pytest.raises(orcish.UnknownColumnError):
        table.select("c").to_table()


def test_a_file_without_any_column_of_the_table_still_has_rows():
    table = orcish.scan([write_arrow(FIRST), write_arrow({"other": [1, 2, 3]})])
    assert table.to_table()["a"].to_pylist() == [1, 2, None, None, None]
    assert table.where(col("a").is_null()).count() == 3


def test_by_name_ignoring_case():
    files = [write_arrow({"Aä": [1], "b": [{"C": 2}]}), write_arrow({"B": [{"c": 4}], "aÄ": [3]})]
    assert orcish.scan(files).to_table().to_pydict() == {"Aä": [1, None], "b": [{"C": 2}, None]}
    table = orcish.scan(files, match="name_ignoring_case")
    assert table.to_table().to_pydict() == {"Aä": [1, 3], "b": [{"C": 2}, {"C": 4}]}
    assert table.where(col("b.C") == 4).select("Aä").to_table()["Aä"].to_pylist() == [3]
    twice = write_arrow({"Ab": [1], "aB": [2]})
    with pytest.raises(ValueError, match=r"<bytes 1>.*more than one column .*AB"):
        orcish.scan([write_arrow({"AB": [1]}), twice], match="name_ignoring_case").to_table()
    assert orcish.read_table(files, match="name_ignoring_case").num_rows == 2


def of_names(*names):
    """A file with a struct, and in a list with a second one, of integers with these names."""
    inner = pa.StructArray.from_arrays([pa.array([10 * at, 10 * at + 1]) for at in range(len(names))], names)
    lists = pa.ListArray.from_arrays([0, 1, 2], inner)
    return write_arrow(pa.table({"a": [1, 2], "n": inner, "l": lists}))


@each_case("strings", ["utf8", "dictionary"])
def test_fields_of_one_name_are_told_apart_by_their_order(strings):
    twice, once = of_names("y", "x", "y"), of_names("y", "x")
    scan = orcish.scan(twice, strings=strings)
    read = orcish.ORCFile(twice).read()
    inner = read["n"].combine_chunks()
    assert [inner.field(at).to_pylist() for at in range(3)] == [[0, 1], [10, 11], [20, 21]]
    assert scan.to_table().equals(read)
    assert pa.Table.from_batches(scan, scan.schema).equals(read)
    assert orcish.scan([twice, twice]).to_table().equals(pa.concat_tables([read, read]))
    for files in ([twice, once], [once, twice]):
        with pytest.raises(ValueError, match=r"<bytes 1>: column n: .*\"y\""):
            orcish.scan(files).to_table()
        assert orcish.scan(files).select("a").to_table()["a"].to_pylist() == [1, 2, 1, 2]


def test_by_position():
    files = [write_arrow({"a": [1], "b": ["x"], "c": [1.5]}), write_arrow({"_col0": [2], "_col1": ["y"]})]
    table = orcish.scan(files, match="position")
    assert table.to_table().to_pydict() == {"a": [1, 2], "b": ["x", "y"], "c": [1.5, None]}
    assert table.select("b").where(col("a") > 1).to_table().to_pydict() == {"b": ["y"]}
    named = orcish.scan(files[1], match="position", schema=pa.schema([("id", pa.int64()), ("name", pa.string())]))
    assert named.where(col("name") == "y").to_table().to_pydict() == {"id": [2], "name": ["y"]}
    # Fields of structs have names.
    nested = [write_arrow({"n": [{"p": 1, "q": 2}]}), write_arrow({"m": [{"q": 3, "p": 4}]})]
    assert orcish.scan(nested, match="position").to_table()["n"].to_pylist() == [{"p": 1, "q": 2}, {"q": 3, "p": 4}]


def test_by_position_beside_columns_of_paths(tmp_path):
    put(tmp_path, {"p=5/f.orc": write_arrow({"p": [100], "a": [1]})})
    assert orcish.scan(tmp_path, match="position").to_table().to_pydict() == {"a": [1], "p": [5]}


def iceberg(names, kinds, ids, values):
    """A file whose columns have the attribute `iceberg.id`."""
    out, struct = io.BytesIO(), {}
    for name, kind, id in zip(names, kinds, ids, strict=True):
        struct[name] = pyorc.TypeDescription.from_string(kind)
        struct[name].set_attributes({"iceberg.id": str(id)})
    with pyorc.Writer(out, pyorc.Struct(**struct)) as writer:
        writer.writerows(values)
    return out.getvalue()


def test_by_attribute():
    first = iceberg(["a", "b"], ["int", "string"], [1, 2], [(1, "x")])
    later = iceberg(["b", "old", "c"], ["int", "string", "double"], [1, 2, 3], [(2, "y", 0.5)])
    without = write_arrow({"a": [7]})
    table = orcish.scan([first, later, without], match="iceberg.id")
    assert table.to_table().to_pydict() == {"a": [1, 2, None], "b": ["x", "y", None]}
    assert table.where(col("b") == "y").select("a").to_table().to_pydict() == {"a": [2]}
    with pytest.raises(ValueError, match=r'"a" of the table has no attribute iceberg\.id'):
        orcish.scan([without, first], match="iceberg.id").to_table()
    twice = iceberg(["p", "q"], ["int", "int"], [1, 1], [(1, 2)])
    with pytest.raises(ValueError, match="more than one"):
        orcish.scan([first, twice], match="iceberg.id").to_table()
    field = pa.field("new", pa.int64(), metadata={"iceberg.id": "1"})
    assert orcish.scan([first, later], schema=pa.schema([field]), match="iceberg.id").to_table()["new"].to_pylist() == [
        1,
        2,
    ]


def nested(schema, one):
    return write_rows(
        f"struct<s:{schema},l:array<{schema}>,m:map<string,{schema}>>",
        [(one, [one, None, one], {"k": one}), (None, None, None), (one, [], {})],
    )


@each_case(
    ("schema", "one", "want"),
    [
        ("struct<b:string,a:int>", ("x", 1), {"a": 1, "b": "x"}),
        ("struct<a:int>", (1,), {"a": 1, "b": None}),
        ("struct<c:double,b:string>", (1.5, "x"), {"a": None, "b": "x"}),
        ("struct<a:smallint,b:varchar(3),z:int>", (1, "x", 4), {"a": 1, "b": "x"}),
        ("struct<z:int>", (4,), {"a": None, "b": None}),
    ],
)
def test_structs_anywhere_have_other_fields(schema, one, want):
    files = [nested("struct<a:int,b:string>", (1, "x")), nested(schema, one)]
    table = orcish.scan(files)
    got = table.to_table().slice(3).to_pylist()
    assert got == [
        {"s": want, "l": [want, None, want], "m": [("k", want)]},
        {"s": None, "l": None, "m": None},
        {"s": want, "l": [], "m": []},
    ]
    assert table.select("s.b").to_table()["s"].to_pylist()[3:] == [{"b": want["b"]}, None, {"b": want["b"]}]
    kept = table.where(col("s.a") == 1).select("s.b")
    assert kept.count() == 2 + 2 * (want["a"] == 1)
    assert kept.to_table()["s"].to_pylist()[2:] == [{"b": want["b"]}] * 2 * (want["a"] == 1)
    assert table.where(col("s.b").is_null()).count() == 1 + 1 + 2 * (want["b"] is None)
    assert orcish.scan(files, batch_size=1).to_table().equals(table.to_table())


def test_fields_that_do_not_fit_are_named():
    files = [nested("struct<a:int,b:string>", (1, "x")), nested("struct<a:binary,b:string>", (b"1", "x"))]
    with pytest.raises(orcish.UnsupportedError, match=r"<bytes 1>: column s\.a: it is binary"):
        orcish.scan(files).select("s").to_table()
    with pytest.raises(orcish.UnsupportedError, match=r"column l\.element\.a"):
        orcish.scan(files).select("l").to_table()
    assert orcish.scan(files).select("s.b").to_table()["s"].to_pylist()[3] == {"b": "x"}
    with pytest.raises(orcish.UnsupportedError, match="it is array"):
        orcish.scan([files[0], write_rows("struct<s:array<int>>", [([1],)])]).to_table()


def test_filters_on_parts_of_what_is_cast():
    """A filter on a field has the type of the table, if another field of the same column is selected."""
    files = [write_rows("struct<n:struct<a:int,b:string>>", [((3, "30"),), ((4, "40"),)])]
    files.append(write_rows("struct<n:struct<a:int,b:int>>", [((5, 5),), ((6, 40),), (None,)]))
    schema = orcish.scan(files[0]).schema
    table = orcish.scan(files, schema=schema).where(col("n.b") == "40")
    assert table.select("n.a").to_table()["n"].to_pylist() == [{"a": 4}, {"a": 6}]
    assert table.select("n").limit(2).to_table()["n"].to_pylist() == [{"a": 4, "b": "40"}, {"a": 6, "b": "40"}]
    assert table.count() == 2
    assert orcish.scan(files, schema=schema, row_number=True).where(col("n.b") > "4").to_table()[
        "row_number"
    ].to_pylist() == [1, 0, 1]
    assert table.limit(1).count() == 1


def test_schemas_of_the_caller():
    data = write_arrow({"a": [1, 2], "b": ["x", "y"], "c": [1.5, 2.5]})
    schema = pa.schema([("c", pa.float64()), ("new", pa.list_(pa.int32())), ("a", pa.decimal128(22, 2))])
    table = orcish.scan(data, schema=schema)
    assert table.schema == schema
    assert table.to_table().to_pydict() == {"c": [1.5, 2.5], "new": [None, None], "a": [D("1.00"), D("2.00")]}
    assert table.where(col("a") == D("2.00")).to_table()["c"].to_pylist() == [2.5]
    assert table.where(col("new").is_null()).count() == 2
    assert orcish.read_table(data, schema=schema).schema == schema
    # No file needs to be opened for it.
    assert orcish.scan([b"no ORC", data], schema=schema).schema == schema
    named = pa.schema([pa.field("b", pa.string(), metadata={"k": "v"})], metadata={"of": "all"})
    assert orcish.scan(data, schema=named).to_table().schema.field("b").metadata == {b"k": b"v"}


def test_columns_that_may_not_be_null():
    data = write_arrow({"a": [1, None]})
    fine = pa.schema([pa.field("a", pa.int64(), nullable=False)])
    assert orcish.scan(write_arrow({"a": [1, 2]}), schema=fine).to_table().num_rows == 2
    with pytest.raises(ValueError, match="a"):
        orcish.scan(data, schema=fine).to_table()


def test_nan_is_asked_of_files_with_integers():
    files = [write_arrow({"x": [1.0, float("nan")]}), write_rows("struct<x:smallint>", [(1,), (None,)])]
    assert orcish.scan(files).where(col("x").is_nan()).count() == 1
    assert orcish.scan(files).where(~col("x").is_nan()).count() == 2


def test_whole_floats_are_exact_in_all_files():
    values = [(1234567890123456800,), (1234567890123456768,)]
    files = [write_rows("struct<x:decimal(20,0)>", [(D(value),) for (value,) in values])]
    files.append(write_rows("struct<x:bigint>", values))
    kept = orcish.scan(files).where(col("x") == 1234567890123456800.0).to_table()
    assert kept["x"].to_pylist() == [D(1234567890123456768)] * 2


def test_files_that_are_no_structs_have_one_column():
    files = [write_rows("struct<a:int,value:int>", [(7, 8)]), write_rows("int", [1, 2])]
    assert orcish.scan(files).to_table().to_pydict() == {"a": [7, None, None], "value": [8, 1, 2]}


def test_tables_of_files_that_are_no_structs():
    files = [
        write_rows("int", [1, 2]),
        write_rows("struct<a:int,value:smallint>", [(7, 8)]),
        write_rows("smallint", [9]),
    ]
    table = orcish.scan(files)
    assert table.to_table()["value"].to_pylist() == [1, 2, 8, 9]
    assert table.where(col("value") > 1).to_table()["value"].to_pylist() == [2, 8, 9]
    assert table.count() == 4


def test_timestamps_of_files_of_several_units():
    old, new = (write_rows("struct<t:timestamp>", [(dt.datetime(year, 1, 1),)]) for year in (3000, 2000))
    for unit in ("s", "ms", "us"):
        table = orcish.scan([old, new], timestamp_unit=unit).to_table()
        assert table["t"].type == pa.timestamp(unit)
        assert [value.year for value in table["t"].to_pylist()] == [3000, 2000]


def test_the_first_file_decides_on_the_unit():
    old, new = (write_rows("struct<t:timestamp>", [(dt.datetime(year, 1, 1),)]) for year in (3000, 2000))
    table = orcish.scan([old, new], timestamp_unit="auto").to_table()
    assert table["t"].type == pa.timestamp("us")
    assert [value.year for value in table["t"].to_pylist()] == [3000, 2000]


def test_the_schema_of_the_caller_decides_on_the_unit():
    data = write_arrow({"t": pa.array([1, 1001], pa.timestamp("ns"))})
    table = orcish.scan(data, schema=pa.schema([("t", pa.timestamp("ns"))])).to_table()
    assert table["t"].cast(pa.int64()).to_pylist() == [1, 1001]


@each_case("stored", ["tinyint", "smallint"])
@each_case("literal", [D("1.00000000000000000001"), D("1.000000000000000000000000000000000000000001"), 1.0])
def test_decimals_are_compared_with_the_type_of_the_table(stored, literal):
    """The nearest double of the literal is 1, regardless of the type in the file."""
    table = orcish.scan(file_of(stored, [1, 2, None]), schema=pa.schema([("x", pa.float64())]))
    assert table.where(col("x") == literal).to_table()["x"].to_pylist() == [1.0]
    assert table.where(col("x") > literal).to_table()["x"].to_pylist() == [2.0]


@each_case(
    ("stored", "value"),
    [("array<int>", [1]), ("bigint", 5), ("string", "x"), ("map<string,int>", {"k": 1}), ("uniontype<int,string>", 1)],
)
def test_filters_through_what_is_no_struct_are_errors(tmp_path, stored, value):
    put(
        tmp_path,
        {
            "a.orc": write_rows("struct<s:struct<a:int>,n:int>", [((1,), 1)]),
            "b.orc": write_rows(f"struct<s:{stored},n:int>", [(value, 2)]),
        },
    )
    table = orcish.scan(tmp_path)
    for asked in (table, table.where(col("s.a").is_null()).select("n"), table.where(~(col("s.a") > 5)).select("n")):
        with pytest.raises(orcish.UnsupportedError, match=r"b\.orc: column s: it is .* does not become struct"):
            asked.to_table()
    if "union" not in stored:
        with pytest.raises(orcish.UnsupportedError, match=r"b\.orc: column s: it is"):
            table.where(~col("s").is_null()).count()


def test_fields_of_unions_are_those_of_structs():
    data = write_rows("struct<u:uniontype<int,string>>", [(1,), ("x",)])
    table = orcish.scan(data, unions="struct")
    assert table.to_table()["u"].to_pylist()[1]["field1"] == "x"
    assert table.where(col("u.tag") == 1).to_table()["u"].to_pylist() == table.to_table()["u"].to_pylist()[1:]
    with pytest.raises(orcish.UnknownColumnError, match=r"u\.field0"):
        orcish.scan(data).where(col("u.field0") == 1).to_table()


def test_some_fields_of_unions_that_are_read_as_structs():
    """At any depth, as fields of structs; the rows are those of the whole union."""
    data = write_rows(
        "struct<u:uniontype<int,string>,l:array<uniontype<int,double>>>",
        [(1, [2, 0.5]), ("x", None), (None, [])],
    )
    table = orcish.scan(data, unions="struct")
    whole = table.to_table()["u"].to_pylist()
    for names in (["field0"], ["field1", "tag"], ["tag", "field0", "field1"]):
        some = table.select(*[f"u.{name}" for name in names]).to_table()
        assert some["u"].to_pylist() == [row and {name: row[name] for name in names} for row in whole]
        assert some.schema.field("u").type.names == names
    assert (table.min("u.field0"), table.max("u.tag"), table.min("u.field1")) == (1, 1, "x")
    assert table.where(col("u.field1") == "x").select("u.tag").to_table()["u"].to_pylist() == [{"tag": 1}]
    backwards = table.select("u.field1", "u.field0", "u.tag").to_table()
    assert backwards["u"].to_pylist() == [
        row and {name: row[name] for name in ("field1", "field0", "tag")} for row in whole
    ]
    schema = pa.schema([("u", pa.struct({"field1": pa.string()}))])
    assert orcish.scan(data, unions="struct", schema=schema).to_table()["u"].to_pylist()[1] == {"field1": "x"}


@each_case("unions", ["dense", "sparse", "struct"])
@each_case("nested", ["union", "list", "struct"])
def test_digits_of_timestamps_in_unions_are_not_lost(tmp_path, unions, nested):
    """Two files whose only common unit does not hold the digits of one of them, and a schema of seconds."""

    def table(unit, value):
        inner = pa.array([value], pa.timestamp(unit))
        if nested == "struct":
            inner = pa.StructArray.from_arrays([inner], ["t"])
        union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [inner])
        return pa.table({"v": pa.ListArray.from_arrays([0, 1], union) if nested == "list" else union})

    orcish.write_table(table("ns", 1_234_567_891), tmp_path / "a.orc")
    orcish.write_table(table("us", -2 * 10**16), tmp_path / "b.orc")
    both = orcish.scan([tmp_path / "a.orc", tmp_path / "b.orc"], unions=unions)
    with pytest.raises(orcish.LimitExceededError, match="digits beyond"):
        both.to_table()
    with pytest.raises(orcish.LimitExceededError, match="digits beyond"):
        orcish.write_table(both, tmp_path / "c.orc")
    assert not (tmp_path / "c.orc").exists()
    if nested == "union" and unions == "struct":
        with pytest.raises(orcish.LimitExceededError, match="digits beyond"):
            both.select("v.field0").to_table()
    schema = table("s", 0).schema if unions == "sparse" else None
    if schema:
        with pytest.raises(orcish.LimitExceededError, match="digits beyond"):
            orcish.scan(tmp_path / "a.orc", unions=unions, schema=schema).to_table()


def test_extremes_of_trimmed_chars_have_no_blanks():
    data = write_rows("struct<c:char(4),v:varchar(4)>", [("b", "b "), ("c", "c ")])
    for trim, end in ((True, ""), (False, "   ")):
        table = orcish.scan(data, trim_char=trim)
        assert table.to_table()["c"].to_pylist() == ["b" + end, "c" + end]
        assert (table.min("c"), table.max("c")) == ("b" + end, "c" + end)
        assert (table.min("v"), table.max("v")) == ("b ", "c ")


KEYS = "struct<m:map<int,string>,n:map<string,int>,l:array<map<date,int>>>"
KEYED = [({1: "a"}, {"k": 1}, [{dt.date(2020, 1, 1): 3}]), ({2: "b"}, {"j": 2}, None)]


def test_keys_of_maps_as_dictionaries():
    data = write_rows(KEYS, KEYED)
    want = orcish.ORCFile(data).read(null_map_keys="dictionary")
    assert want.schema.field("m").type.key_type == pa.dictionary(pa.int32(), pa.int32())
    assert orcish.scan(data, null_map_keys="dictionary").to_table().equals(want)
    wider = write_rows(KEYS.replace("map<int,string>", "map<bigint,string>"), KEYED)
    table = orcish.scan([wider, data], null_map_keys="dictionary").to_table()
    assert table["m"].type.key_type == pa.dictionary(pa.int32(), pa.int64())
    assert table["m"].to_pylist() == [[(1, "a")], [(2, "b")]] * 2
    plain = pa.schema([("m", pa.map_(pa.int64(), pa.string()))])
    table = orcish.scan(data, schema=plain, null_map_keys="dictionary").to_table()
    assert table["m"].to_pylist() == [[(1, "a")], [(2, "b")]]


def test_all_verbs_take_null_keys_of_maps():
    """Tables and splits have dictionary keys without an option. Results without the map need none."""
    data = write_rows("struct<id:int,m:map<int,string>,l:array<map<int,int>>>", null_keys())
    for source in (data, [data, data]):
        scan = orcish.scan(source)
        want = scan.to_table()
        assert want["m"].type.key_type == pa.dictionary(pa.int32(), pa.int32())
        parts = [split.scan().to_table() for split in scan.splits(1)]
        assert pa.concat_tables(parts).equals(want)
        asked = scan.where((col("id") >= 2) | col("m").is_null())
        kept = [row for row in want.to_pylist() if row["id"] >= 2 or row["m"] is None]
        assert len(kept) < len(want)
        assert asked.count() == asked.select("id").to_table().num_rows == asked.to_table().num_rows == len(kept)
        assert asked.max("id") == max(row["id"] for row in kept)
        assert asked.min("id") == min(row["id"] for row in kept)
        assert sum(split.scan().count() for split in asked.splits(1)) == len(kept)
        for refuse in (orcish.scan(source, null_map_keys="error"), orcish.scan(source, schema=scan.schema)):
            with pytest.raises(orcish.errors.NullMapKeyError):
                list(refuse)
        with pytest.raises(orcish.errors.NullMapKeyError):
            orcish.scan(source, null_map_keys="error").where(col("m").is_null()).count()


def null_keys():
    """Rows of which some have maps with null keys, that ORC has and Arrow has not."""
    return [
        (at, None if at == 1 else {None if at % 3 == 0 else at: "a", -1: "b"}, [{None: at}] if at % 2 else None)
        for at in range(9)
    ]


def test_instants_as_text():
    utc = dt.timezone.utc
    instants = [dt.datetime(2020, 1, 1, tzinfo=utc), dt.datetime(1969, 12, 31, 23, 59, 58, 500000, tzinfo=utc), None]
    data = write_rows("struct<x:timestamp with local time zone>", [(value,) for value in instants])
    table = orcish.scan(data, schema=pa.schema([("x", pa.string())]))
    want = ["2020-01-01T00:00:00Z", "1969-12-31T23:59:58.500Z", None]
    assert table.to_table()["x"].to_pylist() == want
    assert table.where(col("x") == want[0]).count() == 1


def test_columns_of_one_name():
    def file(first, second):
        arrays = [pa.array([first]), pa.array(["x"]), pa.array([second])]
        return write_arrow(pa.Table.from_arrays(arrays, names=["a", "b", "a"]))

    files = [file(1, 2), file(3, 4)]
    for match in ("name", "name_ignoring_case", "position"):
        table = orcish.scan(files, match=match)
        assert table.schema.names == ["a", "b", "a"]
        got = table.where(col("b") == "x").to_table()
        assert [column.to_pylist() for column in got.columns] == [[1, 3], ["x", "x"], [2, 4]]
        with pytest.raises(ValueError, match='"a": several columns have this name'):
            table.select("b", "a").to_table()
    with pytest.raises(ValueError, match=r'<bytes 1>: of columns named "a" the table has 2, and the file 1'):
        orcish.scan([files[0], write_arrow({"a": [1]})]).to_table()
    with pytest.raises(ValueError, match=r'<bytes 1>: more than one column of the file could be "a"'):
        orcish.scan([write_arrow({"a": [1]}), files[0]]).to_table()
    assert orcish.scan([files[0], write_arrow({"b": ["y"]})]).to_table()["b"].to_pylist() == ["x", "y"]


def test_strings_as_binary_are_asked_of_statistics():
    data = write_arrow({"s": ["a", "b"]})
    table = orcish.scan(data, strings="binary")
    for literal in ("c", b"c"):
        (file,) = table.where(col("s") == literal).explain().files
        assert [stripe.outcome for stripe in file.stripes] == ["skipped"]
    assert table.where(col("s") == "b").to_table()["s"].to_pylist() == [b"b"]


def test_rows_that_are_left_out_late_are_not_all_wanted():
    schema = pa.schema([("x", pa.string())])
    for asked, outcome in ((col("x") == "1", "read"), (~col("x").is_null(), "read")):
        (file,) = orcish.scan(file_of("int", [1, 2]), schema=schema).where(asked).explain().files
        assert [stripe.outcome for stripe in file.stripes] == [outcome]
    (file,) = orcish.scan(file_of("int", [1, 2]), schema=schema).explain().files
    assert [stripe.outcome for stripe in file.stripes] == ["all"]


def test_files_of_no_bytes_have_no_rows(tmp_path):
    """Hive writes them for empty buckets."""
    put(tmp_path, {"0.orc": b"", "1.orc": write_arrow(FIRST), "2.orc": b""})
    table = orcish.scan(tmp_path)
    assert table.to_table().equals(FIRST)
    assert orcish.scan(tmp_path, threads=1).to_table().equals(FIRST)
    assert table.count() == 2
    assert table.where(col("a") > 1).count() == 1
    assert table.max("a") == 2
    assert [split.location[-5:] for split in table.splits()] == ["1.orc"]
    assert orcish.scan([b"", b""], schema=FIRST.schema).to_table().num_rows == 0
    with pytest.raises(orcish.CorruptFileError, match="no bytes, nor has any other file"):
        orcish.scan([b"", b""])
    with pytest.raises(orcish.CorruptFileError, match="0 bytes are too few"):
        orcish.ORCFile(b"")
    with pytest.raises(orcish.CorruptFileError, match="1 bytes are too few"):
        orcish.scan([FIRST_DATA, b"x"]).to_table()


FIRST_DATA = write_arrow(FIRST)


def test_wide_tables_take_not_much_more_than_their_files():
    """In tables of 6,000 columns, quadratic time was 30 times as much."""
    data = write_arrow({f"c{i}": [1] for i in range(6000)})

    def least(read):
        """Time of processors, which does not count what else the machine does."""
        times = []
        for _ in range(3):
            start = time.process_time()
            assert read().num_columns == 6000
            times.append(time.process_time() - start)
        return min(times)

    filters = col("c1") > 0
    one = least(lambda: orcish.ORCFile(data).read(filters=filters))
    for match in ("name", "name_ignoring_case", "position"):
        assert least(lambda match=match: orcish.scan(data, match=match).where(filters).to_table()) < 5 * one


OTHER_VALUES = [
    (pa.int64(), -1, [pa.uint32(), pa.uint64(), pa.time64("us")]),
    (pa.int64(), 2**32, [pa.uint32()]),
    (pa.int32(), -1, [pa.uint16(), pa.uint32(), pa.uint64(), pa.time32("s"), pa.time32("ms")]),
    (pa.int16(), -1, [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]),
    (pa.decimal128(20, 0), decimal.Decimal(-1), [pa.uint64()]),
    (pa.float32(), 1.1, [pa.float16()]),
    (pa.binary(), b"abc", [pa.binary(2)]),
]


@each_case(
    ("stored", "value", "target"),
    [(stored, value, target) for stored, value, targets in OTHER_VALUES for target in targets],
    ids=str,
)
@each_case("nested", [False, True])
def test_values_that_do_not_fit_the_type_of_the_table(tmp_path, stored, value, target, nested):
    """The file is not damaged: it does not say that it has values of the type."""

    def typed(kind):
        return pa.struct([("l", pa.list_(kind))]) if nested else kind

    values = [{"l": [value]}] if nested else [value]
    orcish.write_table(pa.table({"x": pa.array(values, typed(stored))}), tmp_path / "a.orc", arrow_schema=False)
    schema = pa.schema([("x", typed(target))])
    for read in (lambda: orcish.read_table(tmp_path, schema=schema), orcish.scan(tmp_path, schema=schema).to_table):
        with pytest.raises(orcish.LimitExceededError, match=r"column [xl]: a value does not fit into"):
            read()


def test_a_schema_without_columns(tmp_path):
    orcish.write_table(pa.table({"id": [1, 2]}), tmp_path / "a.orc")
    for table in (
        orcish.read_table(tmp_path / "a.orc", schema=pa.schema([])),
        orcish.scan(tmp_path / "a.orc", schema=pa.schema([])).to_table(),
    ):
        assert table.column_names == []
