"""ORC types that fields ask for by their metadata, attributes, and Arrow types that have others within them."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from typing import Any

import orcish
import pyarrow as pa
import pyorc
import pytest
from support.case_loops import each_case
from support.orc_layout import layout
from support.protobuf import message
from support.writer_tables import SPARK_KEY, TYPE_KEY, written

BINARIES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(1)]
TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]


def column(kind: pa.DataType, metadata: dict[str, str] | None = None, values: Any = ()) -> pa.Table:
    return pa.table([pa.array(list(values), kind)], pa.schema([pa.field("c", kind, metadata=metadata)]))


def stored_types(file: bytes) -> list[dict[int, list[Any]]]:
    """The types as the footer has them, found without orcish."""
    footer = file[layout(file).tail_start : -1 - file[-1]]
    postscript = message(file[-1 - file[-1] : -1])
    return [message(each) for each in message(footer[postscript.get(5, [0])[0] :])[4]]


@each_case("kind", BINARIES, ids=str)
@pytest.mark.parametrize(
    ("name", "orc_kind", "crs", "algorithm"),
    [
        ("binary", 8, None, None),
        ("geometry", 19, None, None),
        ("geometry(OGC:CRS84)", 19, b"OGC:CRS84", None),
        ("geometry(a,SPHERICAL)", 19, b"a,SPHERICAL", None),
        ("geography", 20, None, None),
        ("geography(OGC:CRS84)", 20, b"OGC:CRS84", None),
        ("geography(OGC:CRS84,SPHERICAL)", 20, b"OGC:CRS84", 0),
        ("geography(OGC:CRS84,KARNEY)", 20, b"OGC:CRS84", 4),
        ("geography(a,b,VINCENTY)", 20, b"a,b", 1),
        ("geography(a,OBLATE)", 20, b"a,OBLATE", None),
    ],
)
def test_names_of_binary_types(
    kind: pa.DataType, name: str, orc_kind: int, crs: bytes | None, algorithm: int | None
) -> None:
    data = column(kind, {TYPE_KEY: name}, [b"a", None, b"b"])
    data_in_list = pa.table(
        [pa.ListArray.from_arrays(pa.array([0, 3], pa.int32()), data["c"].combine_chunks())],
        pa.schema([pa.field("l", pa.list_(data.schema.field("c")))]),
    )
    for table, at in ((data, 1), (data_in_list, 2)):
        file = written(table, compression="none")
        this = stored_types(file)[at]
        assert this[1] == [orc_kind]
        assert (this.get(8, [None]), this.get(9, [None])) == ([crs], [algorithm])
        assert orcish.ORCFile(file).column_types[at] == name
        again = orcish.read_table(file)
        assert again.schema == table.schema
        assert again.equals(table)
        # What says so once, says so when it is written anew.
        plain = orcish.read_table(written(table, arrow_schema=False))
        assert orcish.ORCFile(written(plain)).column_types[at] == name
        assert orcish.ORCFile(file).check() == []


@pytest.mark.parametrize(
    ("kinds", "names"),
    [
        (BINARIES, ["binary(3)", "geometry(", "geometry(a", "geography(a)b", "Geometry", "string", "", "char(3)"]),
        (TEXTS, ["string(3)", "char", "char(", "char(3", "char(-1)", "char(0)", "varchar()", "String", "binary", ""]),
    ],
)
def test_names_that_are_none(kinds: list[pa.DataType], names: list[str]) -> None:
    for kind in kinds:
        for name in names:
            with pytest.raises(ValueError, match=r"column c: metadata orc.type of the field is"):
                written(column(kind, {TYPE_KEY: name}))


@pytest.mark.parametrize("kind", TEXTS, ids=str)
@each_case("name", ["string", "char(3)", "varchar(3)"])
def test_names_of_text_types(kind: pa.DataType, name: str) -> None:
    file = written(column(kind, {TYPE_KEY: name}, ["abc", None, "def"]))
    assert orcish.ORCFile(file).column_types[1] == name
    assert orcish.read_table(file)["c"].to_pylist() == ["abc", None, "def"]
    reader = pyorc.Reader(io.BytesIO(file))
    assert str(reader.schema) == f"struct<c:{name}>"
    assert list(reader) == [("abc",), (None,), ("def",)]


US, US_UTC = pa.timestamp("us"), pa.timestamp("us", "UTC")
# Types, the names under which Spark has columns of them, and a name that is of another type.
OF_SPARK: list[tuple[pa.DataType, list[str], str]] = [
    (pa.bool_(), ["boolean"], "int"),
    (pa.int8(), ["tinyint"], "smallint"),
    (pa.int16(), ["smallint"], "int"),
    (pa.int32(), ["int"], "interval year to month"),
    (pa.int64(), ["bigint"], "interval day to second"),
    (pa.float32(), ["float"], "double"),
    (pa.float64(), ["double"], "float"),
    (pa.decimal128(9, 2), ["decimal(9,2)"], "double"),
    (pa.string(), ["string", "char(3)", "varchar(9)"], "binary"),
    (pa.large_string(), ["string", "char(3)", "varchar(9)"], "date"),
    (pa.binary(), ["binary"], "string"),
    (pa.date32(), ["date"], "timestamp"),
    (US, ["timestamp", "timestamp_ntz"], "bigint"),
    (US_UTC, ["timestamp"], "timestamp_ntz"),
]


@each_case(("kind", "names", "other"), OF_SPARK, ids=lambda each: str(each) if each else "")
def test_names_of_spark(kind: pa.DataType, names: list[str], other: str) -> None:
    """Spark type names are kept if they fit the column. Names that remain after a cast are ignored."""
    for name in [*names, "geometry", "struct<a:int>"]:
        file = orcish.ORCFile(written(column(kind, {SPARK_KEY: name})))
        assert file.attributes("c") == {SPARK_KEY: name}
    assert orcish.ORCFile(written(column(kind, {SPARK_KEY: other}))).attributes("c") == {}
    # Names under other keys are nobody's.
    beside = {"doc": other, "type": "interval day to second"}
    assert orcish.ORCFile(written(column(kind, {**beside, TYPE_KEY: names[0]}))).attributes("c") == beside


DAY_TIME = "interval day to second"


@each_case(
    ("name", "kept"),
    [
        (None, None),
        *((name, name) for name in ("interval day", "interval hour", "interval minute", "interval second")),
        *((f"interval day to {unit}", f"interval day to {unit}") for unit in ("hour", "minute", "second")),
        ("interval hour to second", "interval hour to second"),
        *((name, None) for name in ("interval", "interval year to month", "interval day to", "interval day or hour")),
        *((name, None) for name in ("day to second", "interval day to second s", "interval day to month", "bigint")),
    ],
)
def test_names_of_durations(name: str | None, kept: str | None) -> None:
    """Spark has several names for durations in microseconds."""
    metadata = {"doc": "bigint"} if name is None else {"doc": "bigint", SPARK_KEY: name}
    file = orcish.ORCFile(written(column(pa.duration("us"), metadata, [None, 5])))
    assert file.attributes("c") == {"doc": "bigint", SPARK_KEY: kept or DAY_TIME}
    assert file.read().schema.field("c").type == pa.duration("us")
    # Others are numbers in Spark.
    for unit in ("s", "ms", "ns"):
        file = orcish.ORCFile(written(column(pa.duration(unit), metadata, [None, 5])))
        assert file.attributes("c").get(SPARK_KEY, "").startswith("interval") is False
        assert file.attributes("c")["doc"] == "bigint"
        assert file.column_types[1] == "bigint"


# Spark's timestamps without zone are numbers of microseconds.

NTZ = {SPARK_KEY: "timestamp_ntz"}
PER_MICRO = {"s": 10**6, "ms": 10**3, "us": 1}


def nested(form: str, array: pa.Array) -> tuple[pa.Table, str]:
    """A column `c` of these clocks, and what it is called."""
    field = pa.field("t", array.type, metadata=NTZ)
    rows = len(array)
    if form == "flat":
        return pa.table([array], pa.schema([field])), "t"
    if form == "struct":
        return pa.table({"s": pa.StructArray.from_arrays([array], fields=[field])}), "s.t"
    kind = pa.list_(field.with_name("element"))
    return pa.table({"l": pa.ListArray.from_arrays(pa.array(range(rows + 1), pa.int32()), array, kind)}), "l.element"


@pytest.mark.parametrize("form", ["flat", "struct", "list"])
@each_case(
    ("unit", "bad"),
    [
        *(("ns", ticks) for ticks in (1, 999, -1, -999, -1001, 2**63 - 1, -(2**63))),
        *(("s", ticks) for ticks in (2**63 // 10**6 + 1, -(2**63) // 10**6 - 1, 2**63 - 1, -(2**63))),
        *(("ms", ticks) for ticks in (2**63 // 10**3 + 1, -(2**63) // 10**3 - 1, 2**63 - 1)),
    ],
)
def test_clocks_that_microseconds_do_not_hold(form: str, unit: str, bad: int) -> None:
    """Fractions of a microsecond, and years beyond 64 bits, are refused."""
    array = pa.array([*[0, None] * 617, bad, 0], pa.timestamp(unit))
    data, name = nested(form, array)
    with pytest.raises(ValueError, match=rf"column {name}: row 1234: a timestamp in \w+s that microseconds"):
        written(data)
    # Nulls may have any bytes below them.
    valid = pa.array([at != 1234 for at in range(len(array))])
    masked = pa.Array.from_buffers(array.type, len(array), [valid.buffers()[1], array.buffers()[1]])
    back = orcish.read_table(written(nested(form, masked)[0], arrow_schema=False))
    assert back.num_rows == len(array)


@pytest.mark.parametrize("form", ["flat", "struct", "list"])
@each_case("unit", ["s", "ms", "us", "ns"])
def test_clocks_in_microseconds(form: str, unit: str) -> None:
    micros = [0, 10**6, -(10**6), None, 7 * 10**15, -(9 * 10**15), 86_400 * 10**6]
    found = pa.array([None if n is None else n * 1000 if unit == "ns" else n // PER_MICRO[unit] for n in micros])
    data, name = nested(form, found.cast(pa.timestamp(unit)))
    file = orcish.ORCFile(written(data))
    assert file.attributes(name) == NTZ
    assert file.column_types[-1] == "bigint"
    statistics = file.statistics(name)
    assert statistics is not None
    whole = [n for n in micros if n is not None]
    assert (statistics.values, statistics.sum) == (6, sum(whole))
    assert file.read().equals(data)
    (back,) = orcish.read_table(written(data, arrow_schema=False)).columns
    clocks = back.combine_chunks() if form == "flat" else back.combine_chunks().flatten()
    clocks = clocks[0] if form == "struct" else clocks
    assert clocks.type == US
    assert clocks.cast(pa.int64()).to_pylist() == micros


# Types that say how values are laid out, one within another.

KEYS = pa.array([2, 0, None, 1, 2, 0] * 200, pa.int8())
VALUES = {
    "bigint": pa.array([5, None, -7]),
    "date": pa.array([5, None, 7], pa.int32()).cast(pa.date32()),
    "string": pa.array(["a", None, "é"]),
    "binary": pa.array([b"a", None, b"\xff"]),
    "decimal": pa.array([5, None, 7]).cast(pa.decimal128(21, 2)),
    "timestamp": pa.array([5, None, 7], US),
    "struct": pa.array([{"a": 1}, None, {"a": None}]),
    "list": pa.array([[1, 2], None, []]),
}


OUTER = ["dictionary", "run_end_encoded"]


def wrapped(values: pa.Array, form: str) -> pa.Array:
    """Values as a dictionary array, or as runs."""
    if form == "dictionary":
        return pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int16()), values)
    return pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3], pa.int32()), values)


def _wrappings() -> Iterator[Any]:
    for outer, inner, kind in itertools.product(OUTER, ["none", *OUTER], VALUES):
        if outer == inner == "run_end_encoded":
            # pyarrow takes no such arrays.
            continue
        yield outer, inner, kind


@each_case(("outer", "inner", "kind"), list(_wrappings()))
def test_wrappings_within_wrappings(outer: str, inner: str, kind: str) -> None:
    values = VALUES[kind] if inner == "none" else wrapped(VALUES[kind], inner)
    if outer == "dictionary":
        column: pa.Array = pa.DictionaryArray.from_arrays(KEYS, values)
        want = [None if key is None else VALUES[kind][key].as_py() for key in KEYS.to_pylist()]
    else:
        column = pa.RunEndEncodedArray.from_arrays(pa.array([100, 500, 1200], pa.int32()), values)
        want = [VALUES[kind][at].as_py() for at, count in enumerate((100, 400, 700)) for _ in range(count)]
    file = orcish.ORCFile(written(pa.table({"c": column}), arrow_schema=False))
    assert file.read()["c"].to_pylist() == want
    statistics = file.statistics("c")
    assert statistics is not None
    assert statistics.values == sum(value is not None for value in want)
