"""What the schema that a file was written with makes of its columns, and what stands above it."""

from __future__ import annotations

import ctypes
import datetime as dt
import io
import pathlib
from decimal import Decimal
from typing import Any

import orcish
import pyarrow as pa
import pyorc
import pytest
from orcish import col
from support.case_loops import each_case
from support.read_types import read_type
from support.writer_tables import SPARK_KEY, written

NOON = dt.datetime(2024, 5, 1, 12)
CODES = [5, 9]


def union(mode: str, kind: pa.DataType) -> pa.Array:
    tags = pa.array([5, 9, 5], pa.int8())
    if mode == "sparse":
        children = [pa.array([1, 0, 2]), pa.array(["", "a", ""]).cast(kind)]
        return pa.UnionArray.from_sparse(tags, children, ["x", "y"], CODES)
    offsets = pa.array([0, 0, 1], pa.int32())
    return pa.UnionArray.from_dense(tags, offsets, [pa.array([1, 2]), pa.array(["a"]).cast(kind)], ["x", "y"], CODES)


@each_case("mode", ["dense", "sparse"])
@each_case("place", ["top", "list", "struct"])
@each_case("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_forms_of_unions_that_are_chosen_stand_above(mode: str, place: str, kind: pa.DataType) -> None:
    """Given options take precedence over the stored schema."""
    array = union(mode, kind)
    within = {
        "top": array,
        "list": pa.ListArray.from_arrays([0, 1, 1, 3], array),
        "struct": pa.StructArray.from_arrays([array], ["u"]),
    }
    file = orcish.ORCFile(written(pa.table({"u": within[place]})))
    assert file.read().schema.field("u").type == within[place].type
    for form in ("dense", "sparse", "struct"):
        chosen = file.read(unions=form)
        chosen.validate(full=True)
        assert chosen.equals(file.read(unions=form, arrow_schema=False))
        assert chosen.schema == file.arrow_schema(unions=form)


OF_MAPS: dict[str, tuple[pa.DataType, Any]] = {
    "string": (pa.string(), "b"),
    "large string": (pa.large_string(), "b"),
    "view": (pa.string_view(), "b"),
    "timestamp": (pa.timestamp("ms"), NOON),
    "instant": (pa.timestamp("us", "Asia/Tokyo"), NOON.replace(tzinfo=dt.timezone.utc)),
    "time32": (pa.time32("s"), dt.time(0, 0, 5)),
    "time64": (pa.time64("us"), dt.time(0, 0, 5, 7)),
    "duration": (pa.duration("s"), dt.timedelta(5)),
    "uint8": (pa.uint8(), 200),
    "uint64": (pa.uint64(), 2**63 + 1),
    "fixed": (pa.binary(3), b"abc"),
    "decimal256": (pa.decimal256(40, 2), Decimal("1.25")),
    "interval": (pa.month_day_nano_interval(), pa.MonthDayNano([1, 2, 0])),
    "list": (pa.list_(pa.time32("ms")), [dt.time(1)]),
    "struct": (pa.struct({"a": pa.duration("ns")}), {"a": dt.timedelta(1)}),
    "map": (pa.map_(pa.time32("s"), pa.uint16()), [(dt.time(1), 60000)]),
}


def with_plain_keys(kind: pa.DataType) -> pa.DataType:
    """The type with the values of the dictionaries that keys of maps are."""
    if pa.types.is_map(kind):
        return pa.map_(with_plain_keys(kind.key_type.value_type), with_plain_keys(kind.item_type))
    return kind


@each_case("place", ["value", "key"])
@each_case("name", OF_MAPS)
def test_maps_whose_keys_may_be_null_have_their_types(name: str, place: str) -> None:
    """Keys of maps are dictionaries, of the types of the stored schema; so are values of these types."""
    kind, value = OF_MAPS[name]
    values = pa.array([value], kind)
    keys = values if place == "key" else pa.array(["k"])
    data = pa.table({"m": pa.MapArray.from_arrays([0, 1, None, 1], keys, values)})
    file = orcish.ORCFile(written(data))
    assert file.read().schema == data.schema
    chosen = file.read(null_map_keys="dictionary")
    chosen.validate(full=True)
    assert with_plain_keys(chosen.schema.field("m").type) == data.schema.field("m").type
    assert chosen["m"].to_pylist() == data["m"].to_pylist()
    assert orcish.scan(written(data), null_map_keys="dictionary").to_table() == chosen


@each_case("variants", [1, 2, 127, 128, 129, 200])
def test_unions_of_many_variants(variants: int) -> None:
    """Arrow unions have at most 128 variants. Unions of more variants become structs."""
    struct = pyorc.Struct(u=pyorc.Union(*[pyorc.BigInt()] * variants))
    out = io.BytesIO()
    with pyorc.Writer(out, struct) as writer:
        writer.writerows([(at,) for at in range(5)])
    file = orcish.ORCFile(out.getvalue())
    names = [f"field{at}" for at in range(variants)]
    as_struct = file.read(unions="struct")["u"]
    assert as_struct.type[0] == pa.field("tag", pa.int8() if variants <= 128 else pa.int16())
    assert [field.name for field in as_struct.type] == ["tag", *names]
    assert [row["field0"] for row in as_struct.to_pylist()] == list(range(5))
    for form in ("dense", "sparse"):
        found = file.read(unions=form)["u"]
        assert pa.types.is_union(found.type) == (variants <= 128)
        assert found.to_pylist() == (list(range(5)) if variants <= 128 else as_struct.to_pylist())


@each_case("kind", [pa.binary(0), pa.list_(pa.int32(), 0), pa.list_(pa.binary(0), 0), pa.struct([])], ids=str)
def test_types_without_width_come_back(kind: pa.DataType) -> None:
    empty: Any = {} if pa.types.is_struct(kind) else b"" if pa.types.is_fixed_size_binary(kind) else []
    data = pa.table({"row": [1, 2, 3], "x": pa.array([empty, None, empty], kind)})
    file = orcish.ORCFile(written(data))
    assert file.schema == data.schema
    assert file.read().equals(data)
    assert file.read(filters=col("row") == 2).equals(data.slice(1, 1))


RUNS = {
    pa.bool_(): (True, False),
    pa.int8(): (1, 2),
    pa.uint16(): (1, 2),
    pa.int64(): (1, 2),
    pa.uint64(): (1, 2**64 - 1),
    pa.float16(): (0.5, 2.0),
    pa.float64(): (0.5, 2.0),
    pa.decimal128(7, 2): (Decimal("1.50"), Decimal("2.00")),
    pa.date32(): (dt.date(2024, 5, 1), dt.date(1969, 1, 1)),
    pa.date64(): (dt.date(2024, 5, 1), dt.date(1969, 1, 1)),
    pa.time32("s"): (dt.time(1), dt.time(2)),
    pa.timestamp("us"): (NOON, NOON + dt.timedelta(1)),
    pa.timestamp("ms", "Europe/Paris"): (NOON, NOON + dt.timedelta(1)),
    pa.duration("us"): (dt.timedelta(1), dt.timedelta(2)),
    **dict.fromkeys([pa.string(), pa.large_string(), pa.string_view()], ("a", "b" * 50)),
    **dict.fromkeys([pa.binary(), pa.large_binary(), pa.binary_view()], (b"a", b"b" * 50)),
}
ENDS = [3, 5, 1500, 1501, 1502, 2000]


@each_case("kind", RUNS, ids=str)
@each_case("ends", [pa.int16(), pa.int32(), pa.int64()], ids=str)
def test_runs_come_back_as_runs(kind: pa.DataType, ends: pa.DataType) -> None:
    """Equal adjacent values are one run."""
    first, second = RUNS[kind]
    values = pa.array([first, None, second, first, None, second], kind)
    array = pa.RunEndEncodedArray.from_arrays(pa.array(ENDS, ends), values)
    (chunk,) = orcish.read_table(written(pa.table({"x": array})))["x"].chunks
    assert chunk.type == array.type
    assert chunk.run_ends.to_pylist() == ENDS
    assert chunk.values.equals(values)


@each_case("keys", [pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.int64()], ids=str)
@each_case("values", [pa.string(), pa.large_string()], ids=str)
def test_dictionaries_of_stripes_are_those_of_batches(keys: pa.DataType, values: pa.DataType) -> None:
    """Dictionaries are not rebuilt from the values of each batch."""
    texts = [f"text {row // 20}" for row in range(2000)]
    array = pa.array(texts).cast(values).dictionary_encode().cast(pa.dictionary(keys, values))
    file = orcish.ORCFile(written(pa.table({"x": array}), dictionary=True))
    batches = [batch["x"] for batch in file.iter_batches(batch_size=500)]
    assert [text for batch in batches for text in batch.to_pylist()] == texts
    assert {batch.type for batch in batches} == {read_type(array.type)}
    assert [len(batch.dictionary) for batch in batches] == [100] * 4
    assert len({batch.dictionary.buffers()[2].address for batch in batches}) == 1


NULLED = {
    "text": (pa.string(), "a", "invalid_utf8"),
    "large": (pa.large_string(), "a", "invalid_utf8"),
    "decimal": (pa.decimal128(7, 2), Decimal("1.5"), "decimal_out_of_range"),
    "timestamp": (pa.timestamp("us"), NOON, "timestamp_out_of_range"),
    "instant": (pa.timestamp("us", "UTC"), NOON.replace(tzinfo=dt.timezone.utc), "timestamp_out_of_range"),
    "ntz": (pa.timestamp("us"), NOON, "timestamp_out_of_range"),
    "bool": (pa.bool_(), True, ""),
    "int8": (pa.int8(), 1, ""),
    "int16": (pa.int16(), 1, ""),
    "int32": (pa.int32(), 1, ""),
    "int64": (pa.int64(), 1, ""),
    "float": (pa.float32(), 1.0, ""),
    "double": (pa.float64(), 1.0, ""),
    "date": (pa.date32(), dt.date(2024, 5, 1), ""),
    "binary": (pa.binary(), b"a", ""),
    "duration": (pa.duration("us"), dt.timedelta(1), ""),
}
"""Types, a value of each, and the option with which others are read as null."""


@pytest.fixture(scope="module")
def without_nulls() -> orcish.ORCFile:
    fields = [
        pa.field(name, kind, nullable=False, metadata={SPARK_KEY: "timestamp_ntz"} if name == "ntz" else None)
        for name, (kind, _, _) in NULLED.items()
    ]
    columns = [pa.array([value] * 3000, kind) for kind, value, _ in NULLED.values()]
    file = written(pa.Table.from_arrays(columns, schema=pa.schema(fields)), row_index_stride=1000)
    return orcish.ORCFile(file)


@each_case("option", ["", "invalid_utf8", "decimal_out_of_range", "timestamp_out_of_range"])
def test_options_that_make_nulls_make_them_of_their_types(without_nulls: orcish.ORCFile, option: str) -> None:
    """Columns of other types stay non-nullable without a look at their values."""
    options: Any = {option: "null"} if option else {}
    made = {name for name, (_, _, of) in NULLED.items() if option and of == option}
    table = without_nulls.read(**options)
    assert {field.name for field in table.schema if field.nullable} == made
    assert table.schema == without_nulls.arrow_schema(**options)
    for name, (_, value, _) in NULLED.items():
        conditions = [col(name).is_not_null()]
        if name not in ("binary", "duration"):
            conditions.append(col(name) == value)
        for condition in conditions:
            (file,) = without_nulls.explain(filters=condition, **options).files
            (stripe,) = file.stripes
            assert stripe.outcome == ("read" if name in made else "all"), (name, str(condition))
            assert without_nulls.read(filters=condition, columns=[name], **options).num_rows == 3000
        (file,) = without_nulls.explain(filters=col(name).is_null(), **options).files
        assert file.stripes[0].outcome == ("read" if name in made else "skipped"), name


def formats(stream: Any) -> list[str]:
    """The formats of the columns of an Arrow stream, of types too that pyarrow has not."""
    capsule = stream.__arrow_c_schema__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    pointers = ctypes.POINTER(ctypes.c_void_p)
    # format, name, metadata, flags, number of children, children.
    schema = ctypes.cast(get(capsule, b"arrow_schema"), pointers)
    children = ctypes.cast(schema[5], pointers)
    found = (ctypes.cast(children[at], pointers)[0] for at in range(schema[4] or 0))
    return [ctypes.string_at(text or 0).decode() for text in found]


INTERVALS = {
    "int": {"interval year": "tiM", "interval month": "tiM", "interval year to month": "tiM", "interval day": "i"},
    "bigint": {
        **{f"interval {unit}": "tDu" for unit in ("day", "hour", "minute", "second")},
        "interval day to second": "tDu",
        "interval hour to minute": "tDu",
        "interval year to month": "l",
        "timestamp_ntz": "tsu:",
    },
    "smallint": {"interval month": "s", "interval day": "s"},
}
"""Of each type of ORC the types that Spark names, and what they are in Arrow."""


def test_intervals_of_spark() -> None:
    kinds = {"int": pyorc.Int, "bigint": pyorc.BigInt, "smallint": pyorc.SmallInt}
    cases = [(kind, name, made) for kind, of in INTERVALS.items() for name, made in of.items()]
    struct = pyorc.Struct(**{f"c{at}": kinds[kind]() for at, (kind, _, _) in enumerate(cases)})
    for at, (_, name, _) in enumerate(cases):
        struct[f"c{at}"].set_attributes({SPARK_KEY: name})
    out = io.BytesIO()
    with pyorc.Writer(out, struct) as writer:
        writer.writerows([tuple(range(len(cases))), (None,) * len(cases), (-1,) * len(cases)])
    file = orcish.ORCFile(out.getvalue())
    assert formats(file) == [made for _, _, made in cases]
    # What is written anew of what is read has the same integers.
    again = io.BytesIO()
    orcish.write_table(file, again)
    assert list(pyorc.Reader(again)) == list(pyorc.Reader(out))


DISTINCT: list[tuple[pa.DataType, list[Any]]] = [
    (pa.bool_(), [True, False]),
    (pa.int16(), [5, -5]),
    (pa.float16(), [0.5, -2.0]),
    (pa.float64(), [1.5, 0.1]),
    (pa.decimal64(12, 2), [Decimal("1.50"), Decimal("-2.25")]),
    (pa.decimal256(60, 2), [Decimal("1.50"), Decimal("-2.25")]),
    (pa.date64(), [dt.date(2026, 1, 1), dt.date(1969, 1, 1)]),
    (pa.time32("ms"), [dt.time(1), dt.time(2)]),
    (pa.time64("ns"), [dt.time(1), dt.time(2)]),
    (pa.duration("s"), [dt.timedelta(1), dt.timedelta(-2)]),
    (pa.duration("ns"), [dt.timedelta(1), dt.timedelta(-2)]),
    (pa.timestamp("ms", "UTC"), [dt.datetime(2026, 1, 1), dt.datetime(1969, 1, 1)]),
    (pa.month_day_nano_interval(), [pa.MonthDayNano([1, 2, 3]), pa.MonthDayNano([0, 0, -1])]),
    (pa.string_view(), ["a", "b"]),
    (pa.binary(2), [b"aa", b"bb"]),
    (pa.large_binary(), [b"a", b"bb"]),
]


@each_case(("kind", "values"), DISTINCT, ids=[str(kind) for kind, _ in DISTINCT])
def test_values_of_dictionaries_differ(tmp_path: pathlib.Path, kind: pa.DataType, values: list[Any]) -> None:
    """Each value is in a dictionary once, of whatever type it is. pandas makes categories of no others."""
    keys = pa.array([0, 1, None, 0, 0, 1] * 20, pa.int32())
    column = pa.DictionaryArray.from_arrays(keys, pa.array(values, kind))
    orcish.write_table(pa.table({"c": column}), tmp_path / "a.orc")
    found = orcish.read_table(tmp_path / "a.orc")["c"]
    assert found.type == column.type
    assert found.to_pylist() == column.to_pylist()
    for chunk in found.chunks:
        chunk.validate(full=True)
        assert sorted(map(str, chunk.dictionary.to_pylist())) == sorted(map(str, pa.array(values, kind).to_pylist()))
