"""Columns without values, whose Arrow type is null, in tables that have values of them later."""

import datetime as dt
import random
from decimal import Decimal

import orcish
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish import col
from orcish.arrow.nested import value_type
from support.case_loops import each_case
from support.random_cases import cases, pairs
from support.read_types import read_schema, read_type

FIRST, SECOND = dt.datetime(2024, 5, 1, 12), dt.datetime(2025, 1, 1)
INSTANT = pa.timestamp("us", "UTC")
TYPES = [
    (pa.bool_(), [True, False]),
    (pa.int8(), [1, -2]),
    (pa.uint64(), [1, 2**64 - 1]),
    (pa.float32(), [0.5, -1.5]),
    (pa.decimal128(9, 2), [Decimal("1.25"), Decimal("-3.00")]),
    (pa.date32(), [FIRST.date(), SECOND.date()]),
    (pa.date64(), [FIRST.date(), SECOND.date()]),
    (pa.time64("us"), [dt.time(1, 2), dt.time(3, 4)]),
    (pa.duration("ns"), [dt.timedelta(1), dt.timedelta(2)]),
    (pa.timestamp("ms"), [FIRST, SECOND]),
    (INSTANT, [FIRST.replace(tzinfo=dt.timezone.utc), SECOND.replace(tzinfo=dt.timezone.utc)]),
    (pa.string(), ["a", "b"]),
    (pa.large_string(), ["a", "b"]),
    (pa.string_view(), ["a", "b"]),
    (pa.binary(2), [b"ab", b"cd"]),
    (pa.dictionary(pa.int8(), pa.string()), ["a", "b"]),
    (pa.run_end_encoded(pa.int32(), pa.string()), ["a", "b"]),
    (pa.list_(pa.int16()), [[1, None], []]),
    (pa.list_(pa.int16(), 2), [[1, None], [3, 4]]),
    (pa.large_list(pa.string()), [["a"], []]),
    (pa.list_view(pa.string()), [["a"], []]),
    (pa.struct([("a", pa.int32()), ("b", pa.string())]), [{"a": 1, "b": "x"}, {"a": None, "b": "y"}]),
    (pa.map_(pa.string(), pa.int32()), [[("k", 1)], []]),
    (pa.month_day_nano_interval(), [(1, 2, 3), (4, 5, 6)]),
]
KINDS = [kind for kind, _ in TYPES]
# For each type with a null in it: the type that takes its place, and values of both.
NESTED = [
    (pa.list_(pa.null()), pa.list_(pa.string()), [[None, None], []], [["a"], None]),
    (pa.large_list(pa.null()), pa.large_list(pa.int64()), [[None], None], [[1], [None]]),
    (pa.list_(pa.null(), 2), pa.list_(pa.int8(), 2), [[None, None], None], [[1, 2], [3, None]]),
    (
        pa.struct([("a", pa.null()), ("b", pa.int8())]),
        pa.struct([("a", INSTANT), ("b", pa.int8())]),
        [{"a": None, "b": 1}, None],
        [{"a": FIRST, "b": 1}, {"a": None, "b": None}],
    ),
    (
        pa.map_(pa.string(), pa.null()),
        pa.map_(pa.string(), pa.list_(pa.date32())),
        [[("k", None)], []],
        [[("k", [FIRST.date()])], None],
    ),
    (pa.list_(pa.list_(pa.null())), pa.list_(pa.list_(pa.int8())), [[[None], []], None], [[[1]], []]),
    (pa.dictionary(pa.int8(), pa.null()), pa.dictionary(pa.int8(), pa.string()), [None, None], ["a", None]),
    (pa.run_end_encoded(pa.int32(), pa.null()), pa.string(), [None, None], ["a", None]),
]


def table(kind, values, first=0):
    """A table of rows with numbers, and of values of a type."""
    numbers = pa.array(range(first, first + len(values)), pa.int64())
    if pa.types.is_run_end_encoded(kind):
        plain = pa.array(values, kind.value_type)
        column = pc.run_end_encode(plain) if kind.value_type != pa.null() else pa.nulls(len(values), kind)
    else:
        is_empty = all(value is None for value in values)
        column = pa.nulls(len(values), kind) if is_empty else pa.array(values, kind)
    return pa.table({"i": numbers, "x": column})


def put(folder, parts):
    """Writes tables as files of a folder without log."""
    folder.mkdir(exist_ok=True)
    for at, part in enumerate(parts):
        orcish.write_table(part, folder / f"{at}.orc")
    return folder


def rows(source, **options):
    return orcish.read_table(source, **options).sort_by("i").to_pylist()


@each_case(("kind", "values"), TYPES, ids=map(str, KINDS))
def test_a_column_of_nulls_takes_the_type_of_rows_that_are_appended(kind, values, tmp_path):
    """The table has the type of the rows, and the old rows are null; rows of nulls may follow."""
    nulls, typed = table(pa.null(), [None, None]), table(kind, values, 2)
    for part in (nulls, nulls, typed, nulls):
        orcish.write_dataset(part, tmp_path / "t", existing_data="append")
    found = orcish.read_table(tmp_path / "t")
    assert found.schema.field("x").type == read_type(kind)
    found.validate(full=True)
    expected = [*nulls.to_pylist(), *nulls.to_pylist(), *typed.to_pylist(), *nulls.to_pylist()]
    assert sorted(map(str, found.to_pylist())) == sorted(map(str, expected))
    assert orcish.scan(tmp_path / "t").where(col("x").is_null()).count() == 6
    assert orcish.scan(tmp_path / "t").where(~col("x").is_null()).count() == 2


@each_case(("null", "kind", "values", "others"), NESTED, ids=[str(each[0]) for each in NESTED])
def test_nulls_in_types_take_types(null, kind, values, others, tmp_path):
    """A null in a list, a struct, a map or a dictionary is no type for good either."""
    nulls, typed = table(null, values), table(kind, others, 2)
    for part in (nulls, typed):
        orcish.write_dataset(part, tmp_path / "t", existing_data="append")
    found = orcish.read_table(tmp_path / "t").sort_by("i")
    found.validate(full=True)
    assert found.schema.field("x").type == read_type(kind)
    assert found.to_pylist() == [*nulls.to_pylist(), *typed.to_pylist()]
    orcish.compact(tmp_path / "t")
    assert rows(tmp_path / "t") == found.to_pylist()


@each_case(("null", "kind", "values", "others"), NESTED[:-2], ids=[str(each[0]) for each in NESTED[:-2]])
def test_nulls_in_types_are_appended_to_types(null, kind, values, others, tmp_path):
    """Rows whose type has a null in it are written in the type of the table."""
    typed, nulls = table(kind, others), table(null, values, 2)
    for part in (typed, nulls):
        written = orcish.write_dataset(part, tmp_path / "t", existing_data="append")
    assert orcish.ORCFile(written[0].path).schema.field("x").type == read_type(kind)
    assert rows(tmp_path / "t") == [*typed.to_pylist(), *nulls.to_pylist()]


def test_a_type_that_was_taken_stays(tmp_path):
    """The first type of a column holds: values of another are refused, and narrower ones are cast."""
    for part in (table(pa.null(), [None]), table(pa.int32(), [1], 1), table(pa.int8(), [2], 2)):
        orcish.write_dataset(part, tmp_path / "t", existing_data="append")
    assert rows(tmp_path / "t") == [{"i": 0, "x": None}, {"i": 1, "x": 1}, {"i": 2, "x": 2}]
    with pytest.raises(ValueError, match="column x of the rows is string, and int32 in the table"):
        orcish.write_dataset(table(pa.string(), ["a"]), tmp_path / "t", existing_data="append")


def test_attributes_come_with_the_type(tmp_path):
    """The ORC type and the attributes of the first typed rows are those of the column; its own attributes stay."""
    null = pa.field("x", pa.null(), metadata={"iceberg.id": "7"})
    typed = pa.field("x", pa.string(), metadata={"orc.type": "char(3)", "team": "a", "iceberg.id": "8"})
    orcish.write_dataset(pa.table([[None]], schema=pa.schema([null])), tmp_path / "t")
    more = pa.table([["a"]], schema=pa.schema([typed]))
    written = [orcish.write_dataset(more, tmp_path / "t", existing_data="append") for _ in range(2)]
    expected = {b"orc.type": b"char(3)", b"team": b"a", b"iceberg.id": b"7"}
    assert orcish.scan(tmp_path / "t").schema.field("x").metadata == expected
    for (file,) in written:
        assert orcish.ORCFile(file.path).column_types[1] == "char(3)"
    assert orcish.scan(tmp_path / "t").where(col("x").is_null()).count() == 1


def test_new_columns_without_values(tmp_path):
    """A column that is added without values has its type later, at the top and in structs."""
    one = pa.table({"i": [0], "s": pa.array([{"a": 1}])})
    two = pa.table({"i": [1], "s": pa.array([{"a": 2, "b": None}]), "x": pa.nulls(1)})
    three = pa.table({"i": [2], "s": pa.array([{"a": 3, "b": ["z"]}]), "x": pa.array([{"c": 1.5}])})
    for part in (one, two, three):
        orcish.write_dataset(part, tmp_path / "t", existing_data="append")
    expected = pa.concat_tables([one, two, three], promote_options="permissive")
    assert orcish.scan(tmp_path / "t").schema.types == expected.schema.types
    assert rows(tmp_path / "t") == expected.to_pylist()


def test_frames_of_pandas(tmp_path):
    """Columns of objects that are all None, as the first batches of a job may have them."""
    frames = [
        pd.DataFrame({"i": [0, 1], "name": pd.Series([None, None], dtype=object)}),
        pd.DataFrame({"i": [2], "name": pd.Categorical([None], categories=pd.Index([], dtype=object))}),
        pd.DataFrame({"i": [3], "name": ["Ada"]}),
    ]
    for frame in frames:
        orcish.write_dataset(frame, tmp_path / "t", existing_data="append")
    assert [row["name"] for row in rows(tmp_path / "t")] == [None, None, None, "Ada"]


FILTERS = [
    ("{x} is null", [0, 1]),
    ("{x} is not null", [2, 3]),
    ("{x} = 5", [2]),
    ("{x} <> 5", [3]),
    ("not ({x} = 5)", [3]),
    ("{x} > 5", [3]),
    ("{x} in (5, 9)", [2]),
    ("{x} not in (5, 9)", [3]),
    ("{x} = 5 or i = 0", [0, 2]),
    ("{x} = 5 and i = 0", []),
]


@each_case("name", ["x", "s.x"])
@each_case(("predicate", "expected"), FILTERS)
def test_filters_on_files_without_values(predicate, expected, name, tmp_path):
    """Comparisons are true for no row of a file without values, and its nulls are found."""
    parts = [table(pa.null(), [None, None]), table(pa.int64(), [5, 6], 2)]
    if name == "s.x":
        parts = [pa.table({"i": each["i"], "s": pc.make_struct(each["x"], field_names=["x"])}) for each in parts]
    for part in parts:
        orcish.write_dataset(part, tmp_path / "t", existing_data="append")
    for source in (tmp_path / "t", put(tmp_path / "plain", parts)):
        found = orcish.scan(source, filters=predicate.format(x=name))
        assert sorted(found.to_table()["i"].to_pylist()) == expected
        assert found.count() == len(expected)


def test_files_without_values_are_not_read(tmp_path):
    """The plan of a comparison skips the stripes of the file without values."""
    plain = put(tmp_path / "t", [table(pa.null(), [None, None]), table(pa.int64(), [5, 6], 2)])
    for text in ("x = 5", "x is not null", "x in (5, 6)", "not (x = 7)"):
        found = orcish.scan(plain, filters=text)
        assert [part.location for part in found.splits(1)] == [str(plain / "1.orc")]
        assert "skipped by the filter" in str(found.explain())


@each_case("source", ["file", "folder", "table"])
@each_case("text", ["x = 1", "x = 'a'", "x in (1, 2)", "not (x > 1)", "x <> true", "x like 'a%'"])
def test_columns_of_nulls_compare_with_everything(text, source, tmp_path):
    """Until a column has a type, comparisons are unknown for all its rows, as in SQL, and no error."""
    data = table(pa.null(), [None, None])
    place = tmp_path / "t"
    if source == "file":
        place = tmp_path / "a.orc"
        orcish.write_table(data, place)
    elif source == "folder":
        place = put(place, [data, data])
    else:
        orcish.write_dataset(data, place)
    assert orcish.read_table(place, filters=text).num_rows == 0
    assert orcish.read_table(place, filters=f"{text} or x is null").num_rows in (2, 4)


def test_rows_without_values_are_deleted(tmp_path):
    """Deletion finds rows of both kinds of files, and rewrites them."""
    for part in (table(pa.null(), [None, None]), table(pa.int64(), [5, None], 2)):
        orcish.write_dataset(part, tmp_path / "t", existing_data="append")
    assert orcish.delete(tmp_path / "t", filters="x = 5 or i = 0").rows == 2
    assert rows(tmp_path / "t") == [{"i": 1, "x": None}, {"i": 3, "x": None}]
    orcish.compact(tmp_path / "t")
    assert rows(tmp_path / "t") == [{"i": 1, "x": None}, {"i": 3, "x": None}]
    assert orcish.scan(tmp_path / "t").schema.field("x").type == pa.int64()
    assert orcish.delete(tmp_path / "t", filters="x is null").rows == 2
    assert orcish.scan(tmp_path / "t").schema.field("x").type == pa.int64()


@each_case("kind", ["int64", "string", "date32", "bool"])
def test_partition_columns_without_values(kind, tmp_path):
    """A partition column whose first values are null takes a type with the first values, and keeps it."""
    values = {"int64": [7], "string": ["7"], "date32": [FIRST.date()], "bool": [True]}[kind]
    wanted = pa.type_for_alias(kind)
    parts = [
        pa.table({"i": [0], "p": pa.nulls(1)}),
        pa.table({"i": [1], "p": pa.array(values, wanted)}),
        pa.table({"i": [2], "p": pa.nulls(1)}),
    ]
    for part in parts:
        orcish.write_dataset(part, tmp_path / "t", partition_by=["p"], existing_data="append")
    found = orcish.read_table(tmp_path / "t").sort_by("i")
    assert found.schema.field("p").type == wanted
    assert found["p"].to_pylist() == [None, *values, None]
    other = pa.table({"i": [3], "p": ["x y"]})
    if kind != "string":
        with pytest.raises(ValueError, match="column p is"):
            orcish.write_dataset(other, tmp_path / "t", partition_by=["p"], existing_data="append")


NESTED_TYPES = [(kind, [value for value in others if value is not None]) for _, kind, _, others in NESTED[:-2]]


@each_case(
    ("column", "new", "verb"),
    pairs(TYPES + NESTED_TYPES, ["nulls", "nested nulls", "values"], ["append", "overwrite_partitions"]),
    ids=str,
)
def test_columns_that_only_files_have(column, new, verb, tmp_path):
    """Files that were put into the folder by hand are read with rows that bring their column into the log."""
    kind, values = column
    place = tmp_path / "t"
    first = pa.table({"i": pa.array([0]), "p": ["a"]})
    orcish.write_dataset(first, place, partition_by=["p"])
    hand = table(kind, values, 10)
    orcish.write_table(hand, place / "p=a" / "hand.orc")
    assert orcish.scan(place).schema.names == ["i", "p"]
    rows_of = {
        "nulls": table(pa.null(), [None], 1),
        "nested nulls": table(next((null for null, other, *_ in NESTED if other == kind), pa.null()), [None], 1),
        "values": table(kind, values, 1),
    }[new]
    orcish.write_dataset(
        rows_of.append_column("p", pa.array(["b"] * len(rows_of))), place, partition_by=["p"], existing_data=verb
    )
    expected = [{"i": 0, "x": None}, *rows_of.to_pylist(), *hand.to_pylist()]
    for _ in range(2):
        found = orcish.read_table(place, columns=["i", "x"])
        # Files that differ have the values of dictionaries and run-end encoded arrays in common.
        assert found.schema.field("x").type in (read_type(kind), value_type(kind))
        # pyarrow does not sort views.
        assert sorted(found.to_pylist(), key=lambda row: row["i"]) == expected
        assert orcish.scan(place, filters="x is not null").count() == len(
            [row for row in expected if row["x"] is not None]
        )
        orcish.compact(place, rewrite=True)


@each_case(
    ("files", "rows_type", "expected"),
    [
        ([pa.int32(), pa.int64()], pa.null(), pa.int64()),
        ([pa.null(), pa.string()], pa.null(), pa.string()),
        ([pa.int32()], pa.int64(), pa.int64()),
        ([pa.int64()], pa.int8(), pa.int64()),
        ([pa.int64()], pa.string(), None),
        ([pa.int32()], pa.float64(), pa.float64()),
        ([pa.int64()], pa.float64(), None),
        ([pa.timestamp("us")], pa.timestamp("s"), pa.timestamp("us")),
        ([pa.int64(), pa.string()], pa.string(), None),
        ([pa.int64(), pa.string()], pa.null(), None),
        ([pa.string()], pa.int64(), None),
        ([pa.string()], pa.bool_(), None),
        ([pa.struct([("a", pa.int8())])], pa.struct([("a", pa.string())]), None),
        ([pa.struct([("a", pa.int8())])], pa.struct([("a", pa.int64())]), pa.struct([("a", pa.int64())])),
        ([pa.struct([("a", pa.string())])], pa.struct([("a", pa.int8())]), None),
        ([pa.timestamp("us", "UTC")], pa.timestamp("us"), None),
    ],
    ids=str,
)
@each_case("place", ["top", "struct"])
def test_types_of_columns_that_only_files_have(files, rows_type, expected, place, tmp_path):
    """The log gets a type of all values, or the append is an error and the table stays as it was."""

    def rows(number, kind):
        values = {
            pa.int8(): 1,
            pa.int32(): 2,
            pa.int64(): 3,
            pa.float64(): 0.5,
            pa.string(): "4",
            pa.bool_(): True,
            pa.null(): None,
        }
        value = {"a": values[kind[0].type]} if pa.types.is_struct(kind) else values.get(kind, FIRST)
        column = pa.array([value], kind)
        if place == "struct":
            column = pc.make_struct(pa.array([0]), column, field_names=["n", "x"])
        return pa.table({"i": [number], "s" if place == "struct" else "x": column})

    base = pa.table({"i": [0], "s": pa.array([{"n": 0}])})
    orcish.write_dataset(base, tmp_path / "t")
    for at, kind in enumerate(files):
        orcish.write_table(rows(at + 10, kind), tmp_path / "t" / f"{at}.orc")
    before = orcish.read_table(tmp_path / "t")
    if expected is None:
        with pytest.raises(ValueError, match=r"\.orc: column (s\.)?x.*rename the columns of the rows, or cast them"):
            orcish.write_dataset(rows(1, rows_type), tmp_path / "t", existing_data="append")
        assert orcish.read_table(tmp_path / "t").equals(before)
        return
    orcish.write_dataset(rows(1, rows_type), tmp_path / "t", existing_data="append")
    found = orcish.read_table(tmp_path / "t")
    assert sorted(found["i"].to_pylist()) == [0, 1, *range(10, 10 + len(files))]
    column = found["x"] if place == "top" else pc.struct_field(found["s"], "x")
    assert column.type == expected
    assert column.null_count == 1 + (rows_type == pa.null()) + (pa.null() in files)


@each_case(("kind", "values"), TYPES, ids=map(str, KINDS))
@each_case("first", ["nulls", "values"])
def test_folders_without_log(kind, values, first, tmp_path):
    """In a plain folder, a column of nulls has the type of the first file that has one."""
    nulls, typed = table(pa.null(), [None, None]), table(kind, values, 2)
    parts = [nulls, nulls, typed, nulls] if first == "nulls" else [typed, nulls]
    folder = put(tmp_path, parts)
    found = orcish.read_table(folder)
    found.validate(full=True)
    assert found.schema.field("x").type == read_type(kind)
    assert found.to_pylist() == [row for part in parts for row in part.to_pylist()]
    only = orcish.read_table(folder, schema=pa.schema([("x", kind)]))
    assert only["x"].to_pylist() == found["x"].to_pylist()
    splits = [part.scan().to_table() for part in orcish.scan(folder).splits(1)]
    assert pa.concat_tables(splits).to_pylist() == found.to_pylist()


@each_case(("null", "kind", "values", "others"), NESTED, ids=[str(each[0]) for each in NESTED])
@each_case("match", ["name", "position", "name_ignoring_case"])
def test_nested_nulls_in_folders_without_log(null, kind, values, others, match, tmp_path):
    """Columns are found in other files as the option ``match`` says."""
    nulls, typed = table(null, values), table(kind, others, 2)
    other = typed.rename_columns({"name": ["i", "x"], "position": ["j", "y"]}.get(match, ["I", "X"]))
    folder = put(tmp_path, [nulls, other])
    found = orcish.read_table(folder, match=match)
    assert found.schema.names == ["i", "x"]
    assert found.schema.field("x").type == read_type(kind)
    assert found.to_pylist() == [*nulls.to_pylist(), *typed.to_pylist()]


def test_types_that_are_found_in_several_steps(tmp_path):
    """A type with a null in it is completed by later files."""
    steps = [pa.null(), pa.struct([("a", pa.null())]), pa.struct([("a", pa.list_(pa.null()))])]
    last = pa.table({"x": pa.array([{"a": [{"b": FIRST}]}])})
    folder = put(tmp_path, [*(pa.table({"x": pa.nulls(1, kind)}) for kind in steps), last])
    found = orcish.read_table(folder)
    assert found.schema.types == last.schema.types
    assert found["x"].to_pylist() == [None, None, None, {"a": [{"b": FIRST}]}]


def test_schemas_of_nulls_hold_no_values(tmp_path):
    """A schema that is given is not changed: its nulls do not hold the values of a file."""
    folder = put(tmp_path, [table(pa.null(), [None]), table(pa.int64(), [1], 1)])
    with pytest.raises(orcish.UnsupportedError, match="does not become null"):
        orcish.read_table(folder, schema=pa.schema([("x", pa.null())]))


LEAVES = [
    (pa.int64(), lambda rng: rng.randint(-9, 9)),
    (pa.string(), lambda rng: rng.choice("abc")),
    (pa.float64(), lambda rng: rng.random()),
    (pa.date32(), lambda rng: FIRST.date() + dt.timedelta(rng.randint(0, 9))),
    (pa.bool_(), lambda rng: rng.random() < 0.5),
    (INSTANT, lambda rng: SECOND + dt.timedelta(rng.randint(0, 9))),
]


def random_kind(rng, depth):
    """A random type."""
    shape = rng.random() if depth else 1
    if shape < 0.2:
        return pa.list_(random_kind(rng, depth - 1))
    if shape < 0.3:
        return pa.map_(pa.string(), random_kind(rng, depth - 1))
    if shape < 0.5:
        return pa.struct([(f"f{at}", random_kind(rng, depth - 1)) for at in range(rng.randint(1, 3))])
    return rng.choice(LEAVES)[0]


def with_nulls(rng, kind, chance):
    """The type with random parts of it that are null."""
    if rng.random() < chance:
        return pa.null()
    if pa.types.is_list(kind):
        return pa.list_(with_nulls(rng, kind.value_type, chance))
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, with_nulls(rng, kind.item_type, chance))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, with_nulls(rng, field.type, chance)) for field in kind])
    return kind


def random_value(rng, kind):
    if pa.types.is_null(kind) or rng.random() < 0.2:
        return None
    if pa.types.is_list(kind):
        return [random_value(rng, kind.value_type) for _ in range(rng.randint(0, 3))]
    if pa.types.is_map(kind):
        return [(key, random_value(rng, kind.item_type)) for key in "xyz"[: rng.randint(0, 3)]]
    if pa.types.is_struct(kind):
        return {field.name: random_value(rng, field.type) for field in kind}
    return dict(LEAVES)[kind](rng)


def random_part(rng, kinds, chance, first):
    # An append without rows changes nothing.
    count = rng.randint(1, 5)
    columns = {"i": pa.array(range(first, first + count), pa.int64())}
    for at, kind in enumerate(kinds):
        own = with_nulls(rng, kind, chance)
        columns[f"c{at}"] = pa.array([random_value(rng, own) for _ in range(count)], own)
    return pa.table(columns)


@each_case("seed", range(cases(40)))
def test_any_nulls_in_any_types(seed, tmp_path):
    """Appended rows are read as pyarrow concatenates them, before and after the files are rewritten, and without log."""
    rng = random.Random(seed)
    kinds = [random_kind(rng, 3) for _ in range(rng.randint(1, 4))]
    parts = [random_part(rng, kinds, rng.choice([0.1, 0.3, 0.6]), 100 * at) for at in range(rng.randint(2, 5))]
    for part in parts:
        orcish.write_dataset(part, tmp_path / "t", existing_data="append")
    expected = pa.concat_tables(parts, promote_options="permissive")
    for _ in range(2):
        found = orcish.read_table(tmp_path / "t").sort_by("i")
        found.validate(full=True)
        assert found.schema.types == read_schema(expected.schema).types
        assert found.to_pylist() == expected.to_pylist()
        orcish.compact(tmp_path / "t")
    folder = put(tmp_path / "plain", parts)
    plain = orcish.read_table(folder)
    assert plain.schema.types == read_schema(expected.schema).types
    assert plain.to_pylist() == expected.to_pylist()
