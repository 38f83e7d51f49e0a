"""CarbonData: values of each type in each encoding come back as they were written."""

import datetime as dt

import hypothesis.strategies as st
import orcish
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given
from support import carbon_rows as cases
from support.carbon import CarbonTableWriter, as_read, write_folder
from support.carbon.inspect import pages
from support.case_loops import each_case
from support.random_cases import examples

BYTE, SHORT, INT, LONG, FLOAT, DOUBLE, DECIMAL, BYTES, SHORT_INT = 14, 4, 5, 7, 6, 8, 10, 15, 16
DIRECT, ADAPTIVE, DELTA, FLOATING, DELTA_FLOATING, INVERTED = 6, 7, 8, 11, 13, 3


def folder(tmp_path, table, **options):
    """A folder without Metadata, and its data file."""
    (file,) = write_folder(tmp_path / "t", table, **options)
    return str(tmp_path / "t"), tmp_path / "t" / file.name


@each_case("compressor", ["snappy", "zstd", "gzip"])
@each_case("name", cases.COLUMNS)
def test_types(tmp_path, name, compressor):
    table = cases.table([name])
    path, _ = folder(tmp_path, table, compressor=compressor, page_rows=32, blocklet_rows=64)
    cases.equal(orcish.read_table(path), as_read(table))


@each_case("local_dictionary", [True, False])
@each_case("rows", [1, 2, 99, 100])
def test_all_types_together(tmp_path, rows, local_dictionary):
    table = cases.table(rows=rows)
    path, _ = folder(tmp_path, table, page_rows=33, blocklet_rows=66, local_dictionary=local_dictionary)
    cases.equal(orcish.read_table(path), as_read(table))


@each_case("name", cases.COLUMNS)
def test_columns_without_values(tmp_path, name):
    table = pa.table({"id": pa.array(range(20), pa.int32()), name: pa.nulls(20, cases.COLUMNS[name][0])})
    path, _ = folder(tmp_path, table, page_rows=7)
    cases.equal(orcish.read_table(path), as_read(table))


@each_case("local_dictionary", [True, False])
@each_case("name", cases.SORTABLE)
def test_inverted_indexes(tmp_path, name, local_dictionary):
    """Pages store sorted values with the row of each value."""
    for nulls in (True, False):
        table = cases.table([name], nulls=nulls)
        # Sorted by another column, so that the values of this one are not in order.
        table = table.append_column("order", pa.array([f"{row * 37 % 100:02d}" for row in range(100)]))
        options = {"sort_columns": ("order", name), "inverted_index": (name,), "local_dictionary": local_dictionary}
        path, file = folder(tmp_path / str(nulls), table, page_rows=40, **options)
        cases.equal(orcish.read_table(path), as_read(table), ordered=False)
    # Where values are as wide as their type, there is none.
    indexed = {page.row_ids for page in pages(file) if page.column == name}
    assert indexed == {name in ("s", "day", "at", "near")}


WHOLE = {
    # Type, first value, step, and what encodes it.
    "byte": (pa.int64(), -50, 1, (ADAPTIVE,), BYTE),
    "short": (pa.int64(), 0, 300, (ADAPTIVE,), SHORT),
    "short int": (pa.int64(), -8_000_000, 80_000, (ADAPTIVE,), SHORT_INT),
    "int": (pa.int64(), -2_000_000_000, 40_000_000, (ADAPTIVE,), INT),
    "long": (pa.int64(), -(1 << 62), 1 << 56, (DIRECT,), LONG),
    "delta byte": (pa.int64(), 1 << 40, 1, (DELTA,), BYTE),
    "delta short": (pa.int64(), -(1 << 40), 300, (DELTA,), SHORT),
    "delta short int": (pa.int64(), 1 << 40, 80_000, (DELTA,), SHORT_INT),
    "delta int": (pa.int64(), 1 << 40, 20_000_000, (DELTA,), INT),
    "int of its own": (pa.int32(), -2_000_000_000, 40_000_000, (DIRECT,), INT),
    "int as delta": (pa.int32(), 2_000_000_000, 1, (DELTA,), BYTE),
    "short of its own": (pa.int16(), -30000, 600, (DIRECT,), SHORT),
    "tiny": (pa.int8(), -50, 1, (DIRECT,), BYTE),
    "day": (pa.timestamp("ms"), 1_600_000_000_000, 1000, (DELTA,), SHORT_INT),
    "years": (pa.timestamp("ms"), -1_600_000_000_000, 1 << 34, (DIRECT,), LONG),
    "decimal int": (pa.decimal128(9, 2), -10_000, 101, (ADAPTIVE,), SHORT),
    "decimal delta": (pa.decimal128(9, 2), 10_000_000, 1, (DELTA,), BYTE),
    "decimal long": (pa.decimal128(18, 4), 10**15, 10**12, (ADAPTIVE,), LONG),
    "decimal wide": (pa.decimal128(19, 4), -(10**17), 10**16, (DIRECT,), DECIMAL),
    "decimal widest": (pa.decimal128(38, 0), -(10**37), 10**36, (DIRECT,), DECIMAL),
}


@each_case("case", WHOLE)
def test_whole_numbers(tmp_path, case):
    of, first, step, encoding, store = WHOLE[case]
    numbers = [first + step * at for at in range(100)]
    if pa.types.is_decimal(of):
        values = [cases.decimal(number, of.scale) for number in numbers]
    elif pa.types.is_timestamp(of):
        values = [dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=number) for number in numbers]
    else:
        values = numbers
    table = pa.table({"x": pa.array(values, of)})
    path, file = folder(tmp_path, table)
    assert {(page.encoders, page.store) for page in pages(file)} == {(encoding, store)}
    cases.equal(orcish.read_table(path), as_read(table))


FLOATS = {
    "whole": (pa.float64(), lambda at: at * 3.0, (ADAPTIVE,), SHORT),
    "whole far away": (pa.float64(), lambda at: 1e12 + at, (DELTA,), BYTE),
    "one decimal": (pa.float64(), lambda at: at / 10, (FLOATING,), BYTE),
    "five decimals": (pa.float64(), lambda at: round(at / 2 + 0.00001, 5), (FLOATING,), SHORT_INT),
    "delta": (pa.float64(), lambda at: (10**9 + at) / 100, (DELTA_FLOATING,), BYTE),
    "many decimals": (pa.float64(), lambda at: at / 7, (DIRECT,), DOUBLE),
    "negative zero": (pa.float64(), lambda at: -0.0, (DIRECT,), DOUBLE),
    "edges": (pa.float64(), lambda at: [5e-324, 1.7976931348623157e308, -1e300][at % 3], (DIRECT,), DOUBLE),
    "single whole": (pa.float32(), float, (FLOATING,), BYTE),
    "single quarters": (pa.float32(), lambda at: at / 4, (FLOATING,), SHORT),
    "single delta": (pa.float32(), lambda at: 1000 + at / 4, (DELTA_FLOATING,), SHORT),
    "single": (pa.float32(), lambda at: at / 7, (DIRECT,), FLOAT),
}


@each_case("case", FLOATS)
def test_floating_point(tmp_path, case):
    of, value, encoding, store = FLOATS[case]
    table = pa.table({"x": pa.array([value(at) for at in range(100)], of)})
    path, file = folder(tmp_path, table)
    assert {(page.encoders, page.store) for page in pages(file)} == {(encoding, store)}
    found = orcish.read_table(path)
    cases.equal(found, table)
    # Zeros are equal whatever their sign is.
    assert [str(each) for each in found["x"].to_pylist()] == [str(each) for each in table["x"].to_pylist()]


@each_case("of", [pa.string(), pa.large_string()], ids=str)
@each_case("threshold", [0, 10, 11, 10_000])
def test_local_dictionaries(tmp_path, of, threshold):
    """Chunks have local dictionaries up to the threshold of distinct values, and none beyond it."""
    values = [None if row % 9 == 4 else f"v{row % 11}" for row in range(100)]
    table = pa.table({"id": pa.array(range(100), pa.int32()), "x": pa.array(values, of)})
    path, file = folder(tmp_path, table, dictionary_threshold=threshold, page_rows=30)
    assert {page.dictionary for page in pages(file) if page.column == "x"} == {threshold >= 11}
    cases.equal(orcish.read_table(path), as_read(table))


@each_case("inverted", [True, False])
@each_case("name", ["s", "long", "day"])
def test_runs_of_keys(tmp_path, name, inverted):
    """Repeated keys are stored once, before an inverted index assigns them to rows."""
    of, value = cases.COLUMNS[name]
    values = [None if row % 40 < 10 else value(row // 20) for row in range(100)]
    table = pa.table({"id": pa.array(range(100), pa.int32()), name: pa.array(values, of)})
    sort = {"sort_columns": ("id", name), "inverted_index": (name,)} if inverted else {}
    path, file = folder(tmp_path, table, page_rows=64, **sort)
    assert all(page.runs for page in pages(file) if page.column == name)
    cases.equal(orcish.read_table(path), as_read(table))


def test_texts_of_all_kinds(tmp_path):
    values = ["", "a", "é", "\U0001f600", "a\0b", "x" * 32767, "'", "\n", None, " "]
    table = pa.table({"s": values, "l": pa.array(values, pa.large_string())})
    for number, options in enumerate(
        [{"local_dictionary": False}, {}, {"sort_columns": ("s",), "inverted_index": True}]
    ):
        path = tmp_path / str(number)
        write_folder(path, table, **options)
        found = orcish.read_table(str(path))
        assert sorted(map(str, found["s"].to_pylist())) == sorted(map(str, values))
        assert found["l"].to_pylist() == ["" if text is None else text for text in found["s"].to_pylist()]


DEEP = {
    "list of lists": (pa.list_(pa.list_(pa.int32())), [[[1, 2], []], [], None, [[3], None, [4, None]], [[]]]),
    "list of structs": (
        pa.list_(pa.struct([("p", pa.int32()), ("q", pa.string())])),
        [[{"p": 1, "q": "a"}, {"p": None, "q": "b"}], [], None, [{"p": 2, "q": None}, None]],
    ),
    "map of maps": (
        pa.map_(pa.string(), pa.map_(pa.int32(), pa.string())),
        [[("a", [(1, "x"), (2, None)]), ("b", [])], [], None, [("c", None)]],
    ),
    "struct of all": (
        pa.struct(
            [
                ("l", pa.list_(pa.string())),
                ("m", pa.map_(pa.int32(), pa.float64())),
                ("s", pa.struct([("z", pa.int64())])),
            ]
        ),
        [{"l": ["a", None], "m": [(1, 0.5)], "s": {"z": 1}}, None, {"l": [], "m": None, "s": None}],
    ),
    "children of all types": (
        pa.struct([(name, cases.COLUMNS[name][0]) for name in cases.SIMPLE]),
        [{name: cases.COLUMNS[name][1](row) for name in cases.SIMPLE} for row in range(1, 30)],
    ),
}


@each_case("int_lengths", [True, False])
@each_case("local_dictionary", [True, False])
@each_case("case", DEEP)
def test_nested(tmp_path, case, local_dictionary, int_lengths):
    """Complex columns are nested in each other. Versions 1 have shorter lengths."""
    of, values = DEEP[case]
    table = pa.table({"id": pa.array(range(len(values) * 4), pa.int32()), "x": pa.array(values * 4, of)})
    path, _ = folder(tmp_path, table, page_rows=7, local_dictionary=local_dictionary, int_lengths=int_lengths)
    cases.equal(orcish.read_table(path), as_read(table))


@each_case("row_counts", [True, False])
@each_case(("rows", "page_rows", "blocklet_rows"), [(1, 1, 1), (7, 2, 4), (100, 10, 30), (100, 100, 100)])
def test_pages_and_blocklets(tmp_path, rows, page_rows, blocklet_rows, row_counts):
    table = cases.table(["s", "ints", "day"], rows)
    path, file = folder(tmp_path, table, page_rows=page_rows, blocklet_rows=blocklet_rows, row_counts=row_counts)
    assert sum(page.rows for page in pages(file) if page.column == "id") == rows
    cases.equal(orcish.read_table(path), as_read(table))


def test_columns_are_chosen_and_ordered(tmp_path):
    table = cases.table()
    path, _ = folder(tmp_path, table, page_rows=32)
    wanted = as_read(table)
    for names in (["id"], ["map", "s", "id"], ["dec38", "nest"], []):
        found = orcish.read_table(path, columns=names)
        assert found.num_rows == 100 or not names
        cases.equal(found, wanted.select(names) if names else found)
    with pytest.raises(orcish.UnknownColumnError, match="nothing"):
        orcish.read_table(path, columns=["nothing"])


def test_the_table_tells_of_itself(tmp_path):
    table = cases.table()
    writer = CarbonTableWriter(tmp_path / "t", table.schema, page_rows=30, blocklet_rows=60)
    writer.load(table)
    found = orcish.CarbonTable(str(tmp_path / "t"))
    assert found.schema.names == table.schema.names
    assert found.schema.types == writer.schema.types
    assert all(field.nullable for field in found.schema)
    assert found.num_rows == found.count() == 100
    assert len(found.files) == 1
    (segment,) = found.segments
    assert (segment.id, segment.state, segment.is_readable) == ("0", "Success", True)
    batches = list(found.scan().to_batches())
    cases.equal(pa.Table.from_batches(batches), writer.rows())
    cases.equal(found.read(columns=["id", "s"]), writer.rows().select(["id", "s"]))


# Any table at all.

SIMPLE_TYPES = st.sampled_from([of for of, _ in cases.COLUMNS.values() if not pa.types.is_nested(of)])
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="@"), max_size=5)


def values_of(of):
    """Values that CarbonData can hold; where null and empty are the same, there is no null."""
    kinds = pa.types
    if kinds.is_boolean(of):
        return st.booleans()
    if kinds.is_integer(of):
        edge = 1 << of.bit_width - 1
        return st.integers(-edge, edge - 1) | st.integers(-min(edge, 200), min(edge - 1, 200))
    if kinds.is_floating(of):
        width = 32 if of == pa.float32() else 64
        tenths = st.integers(-1000, 1000).map(lambda number: number / 8)
        return st.floats(width=width, allow_nan=False, allow_infinity=False) | tenths
    if kinds.is_decimal(of):
        return st.integers(-(10**of.precision) + 1, 10**of.precision - 1).map(lambda n: cases.decimal(n, of.scale))
    if kinds.is_date32(of):
        return st.dates()
    if kinds.is_timestamp(of):
        times = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1))
        return times.map(lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000))
    if kinds.is_binary(of):
        return st.binary(min_size=1, max_size=5)
    return TEXT


def nested_values(of):
    """Values of a type, nulls among them but as keys of maps."""
    if pa.types.is_map(of):
        inner = st.lists(st.tuples(values_of(of.key_type), nested_values(of.item_type)), max_size=3)
    elif pa.types.is_list(of):
        inner = st.lists(nested_values(of.value_type), max_size=3)
    elif pa.types.is_struct(of):
        inner = st.fixed_dictionaries({field.name: nested_values(field.type) for field in of})
    else:
        inner = values_of(of)
    return st.none() | inner


ANY_TYPE = st.recursive(
    SIMPLE_TYPES,
    lambda inner: st.one_of(
        inner.map(pa.list_),
        st.tuples(SIMPLE_TYPES, inner).map(lambda pair: pa.map_(*pair)),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda of: pa.struct([(f"f{at}", each) for at, each in enumerate(of)])
        ),
    ),
    max_leaves=4,
)


@st.composite
def any_tables(draw):
    rows = draw(st.integers(1, 30))
    columns = {"id": pa.array(range(rows), pa.int32())}
    for number in range(draw(st.integers(1, 4))):
        of = draw(ANY_TYPE)
        values = draw(st.lists(nested_values(of), min_size=rows, max_size=rows))
        columns[f"c{number}"] = pa.array(values, of)
    return pa.table(columns)


ANY_OPTIONS = st.fixed_dictionaries(
    {
        "compressor": st.sampled_from(["snappy", "zstd", "gzip"]),
        "page_rows": st.integers(1, 32),
        "blocklet_rows": st.integers(1, 32),
        "local_dictionary": st.booleans(),
        "inverted_index": st.booleans(),
        "int_lengths": st.booleans(),
        "rle": st.booleans(),
        "row_counts": st.just(True),
    }
)


def may_sort(of):
    return not (pa.types.is_nested(of) or pa.types.is_floating(of) or pa.types.is_decimal(of) or pa.types.is_binary(of))


@examples(150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(any_tables(), ANY_OPTIONS, st.data())
@example(cases.table(rows=5), {}, None)
def test_any_table(tmp_path_factory, table, options, data):
    names = [field.name for field in table.schema if may_sort(field.type) and field.type != pa.large_string()]
    sort = data.draw(st.lists(st.sampled_from(names), unique=True)) if data else []
    path = tmp_path_factory.mktemp("any") / "t"
    write_folder(path, table, **options, sort_columns=tuple(sort))
    cases.equal(orcish.read_table(str(path)), as_read(table), ordered=False)
