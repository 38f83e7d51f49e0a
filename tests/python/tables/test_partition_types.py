"""Partition columns keep their types, and a partition is one value, whatever its folder is called."""

from __future__ import annotations

import datetime as dt
import math
import pathlib
import re
import shutil
from decimal import Decimal, localcontext
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from orcish.tables.columns import cast_batch
from support.case_loops import each_case
from support.random_cases import examples

# pandas, which shows nanoseconds to Python, cannot show the last hours of 64 bits in a zone.
NANOS = 2**63 - 86_400 * 10**9
SECONDS = (-62_135_500_000, 253_402_200_000)
"""Seconds since 1970 of the years that have names, but for a day at both ends."""


def cast_values(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Values of a partition column with the type of the table."""
    return cast_batch(pa.record_batch({"k": values}), pa.schema([("k", kind)]), ["k"]).column(0)


def integers(low: int, high: int) -> st.SearchStrategy[int]:
    return st.one_of(st.integers(low, high), st.sampled_from([low, high, 0 if low <= 0 <= high else low]))


def ticks(per_second: int) -> st.SearchStrategy[int]:
    return integers(max(SECONDS[0] * per_second, -NANOS), min(SECONDS[1] * per_second, NANOS))


TEXTS = st.one_of(
    st.text(max_size=8).filter(lambda text: text != "__HIVE_DEFAULT_PARTITION__"),
    st.sampled_from(
        ["", "1", "01", "%41", "a=b/c", "x y", "é:日", ".", "..", "_", "\x01\n", "{[^]}", "\\", "2026-01-01"]
    ),
)
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

VALUES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    **{
        f"int{bits}": (pa.type_for_alias(f"int{bits}"), integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1))
        for bits in (8, 16, 32, 64)
    },
    **{f"uint{bits}": (pa.type_for_alias(f"uint{bits}"), integers(0, 2**bits - 1)) for bits in (8, 16, 32, 64)},
    "bool": (pa.bool_(), st.booleans()),
    "float": (pa.float32(), st.floats(width=32)),
    "double": (pa.float64(), st.floats()),
    "date32": (pa.date32(), integers(-719_162, 2_932_896)),
    "date64": (pa.date64(), integers(-719_162, 2_932_896).map(lambda days: days * 86_400_000)),
    "decimal128": (
        pa.decimal128(20, 9),
        integers(-(10**20) + 1, 10**20 - 1).map(lambda value: Decimal(value).scaleb(-9)),
    ),
    "decimal256": (pa.decimal256(30, 2), integers(-(10**28), 10**28).map(lambda value: Decimal(value).scaleb(-2))),
    **{f"time32 {unit}": (pa.time32(unit), integers(0, 86_400 * UNITS[unit] - 1)) for unit in ("s", "ms")},
    **{f"time64 {unit}": (pa.time64(unit), integers(0, 86_400 * UNITS[unit] - 1)) for unit in ("us", "ns")},
    **{
        f"duration {unit}": (pa.duration(unit), integers(-limit, limit))
        for unit, limit in {unit: min(2**63 - 1, 999_999_999 * 86_400 * each) for unit, each in UNITS.items()}.items()
    },
    **{f"timestamp {unit}": (pa.timestamp(unit), ticks(each)) for unit, each in UNITS.items()},
    **{f"instant {unit}": (pa.timestamp(unit, "Europe/Berlin"), ticks(each)) for unit, each in UNITS.items()},
    "string": (pa.string(), TEXTS),
    "large_string": (pa.large_string(), TEXTS),
    "string_view": (pa.string_view(), TEXTS),
    "binary": (pa.binary(), TEXTS.map(str.encode)),
    "large_binary": (pa.large_binary(), TEXTS.map(str.encode)),
    "fixed_size_binary": (pa.binary(2), st.sampled_from([b"ab", b"\x01/", b"==", b"  "])),
}


def keyed(values: list[Any], kind: pa.DataType) -> pa.Table:
    return pa.table({"id": range(len(values)), "k": pa.array(values, kind)})


def texts_of(column: pa.ChunkedArray) -> list[Any]:
    """Values in a form that compares NaN, and numbers beyond those of Python's times. Empty text is null."""
    kind = column.type
    array = column.combine_chunks()
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        array = array.view(pa.int32())
    elif pa.types.is_temporal(kind):
        array = array.view(pa.int64())
    return [repr(value) if value not in ("", b"") else repr(None) for value in array.to_pylist()]


@each_case("kind", VALUES)
def test_values_of_any_type_are_read_back(tmp_path: pathlib.Path, kind: str) -> None:
    """Equal in type and value, after appends, after deletions, and one by one with filters."""
    data_type, one = VALUES[kind]

    @examples(8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.one_of(st.none(), one), min_size=1, max_size=5))
    def check(values: list[Any]) -> None:
        table = tmp_path / "t"
        shutil.rmtree(table, ignore_errors=True)
        rows = keyed(values, data_type)
        for count in (1, 2):
            orcish.write_dataset(rows, table, partition_by=["k"], existing_data="append")
            found = orcish.read_table(table)
            assert found.schema.field("k").type == data_type
            # pyarrow does not sort views.
            found = found.set_column(1, "k", found["k"].cast("string")) if kind == "string_view" else found
            found = found.sort_by("id")
            assert texts_of(found["k"]) == [text for text in texts_of(rows["k"]) for _ in range(count)]
        # Each value finds its own rows.
        known = texts_of(rows["k"])
        if not (pa.types.is_time(data_type) or pa.types.is_duration(data_type) or pa.types.is_decimal256(data_type)):
            for at, text in enumerate(known):
                value = rows["k"][at]
                if text in ("None", "nan"):
                    continue
                is_equal = pc.field("k") == value
                hits = sorted(orcish.read_table(table, filters=is_equal)["id"].to_pylist())
                same = [each for each, other in enumerate(known) if other == text]
                if pa.types.is_floating(data_type):
                    same = [each for each, other in enumerate(values) if other is not None and other == value.as_py()]
                assert hits == sorted(same * 2)
        assert orcish.read_table(table, filters=pc.field("k").is_null())["id"].to_pylist().count(0) == 2 * (
            known[0] == "None"
        )
        # The types stay without files, and so does the partition that new rows replace.
        orcish.write_dataset(rows, table, partition_by=["k"], existing_data="overwrite_partitions")
        assert orcish.scan(table).count() == len(values)
        orcish.delete(table, "true")
        assert orcish.scan(table).schema.field("k").type == data_type

    check()


@each_case("kind", VALUES)
def test_without_an_arrow_schema_types_are_those_of_orc(tmp_path: pathlib.Path, kind: str) -> None:
    """They do not change with the values that come."""
    data_type, one = VALUES[kind]
    found = []

    @examples(3, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(one, min_size=1, max_size=3))
    def check(values: list[Any]) -> None:
        orcish.write_dataset(
            keyed(values, data_type), tmp_path, partition_by=["k"], existing_data="append", arrow_schema=False
        )
        found.append(orcish.read_table(tmp_path).schema.field("k").type)

    check()
    assert len(set(found)) == 1
    is_time = pa.types.is_timestamp(data_type) or pa.types.is_time(data_type) or pa.types.is_duration(data_type)
    assert pa.types.is_string(found[0]) == (is_time or "string" in kind)


SPELLINGS: list[tuple[pa.DataType, str, list[str]]] = [
    (pa.int32(), "1", ["01", "+1", "1"]),
    (pa.uint64(), "0", ["-0", "00"]),
    (pa.bool_(), "true", ["TRUE", "True"]),
    (pa.date32(), "2026-01-01", ["2026-1-1", "2026-01-1"]),
    (pa.decimal128(5, 2), "1.00", ["1", "1.0", "1.000", "1E0"]),
    (pa.float64(), "1.0", ["1", "1.00", "1e0"]),
    (pa.timestamp("us"), "2026-01-01 12:00:00", ["2026-01-01T12:00:00", "2026-01-01 12:00"]),
    (pa.timestamp("us", "UTC"), "2026-01-01 12:00:00+00:00", ["2026-01-01 13:00:00+01:00", "2026-01-01 12:00:00Z"]),
    (pa.duration("s"), "1 day, 0:00:00", ["INTERVAL '1' DAY"]),
]


@each_case(("kind", "name", "others"), SPELLINGS, ids=[str(kind) for kind, *_ in SPELLINGS])
def test_a_value_has_one_folder(tmp_path: pathlib.Path, kind: pa.DataType, name: str, others: list[str]) -> None:
    """Rows with text get the type of the table, and its names."""
    first = pa.table({"id": [0], "k": pa.array([name])})
    empty = pa.table({"id": pa.array([], pa.int64()), "k": pa.array([], kind)})
    orcish.write_dataset(empty, tmp_path, partition_by=["k"])
    for text in [name, *others]:
        rows = first.set_column(1, "k", pa.array([text]))
        orcish.write_dataset(rows, tmp_path, partition_by=["k"], existing_data="append")
    assert [path.name for path in tmp_path.glob("k=*")] == [f"k={name}".replace(":", "%3A")]
    assert orcish.scan(tmp_path).schema.field("k").type == kind
    for text in others:
        rows = first.set_column(1, "k", pa.array([text]))
        orcish.write_dataset(rows, tmp_path, partition_by=["k"], existing_data="overwrite_partitions")
        assert orcish.scan(tmp_path).count() == 1
    with pytest.raises(ValueError, match=re.escape(f"column k is {kind}")):
        orcish.write_dataset(
            first.set_column(1, "k", pa.array(["x"])), tmp_path, partition_by=["k"], existing_data="append"
        )


@each_case(("kind", "name", "others"), SPELLINGS, ids=[str(kind) for kind, *_ in SPELLINGS])
def test_all_folders_of_a_value_are_replaced(
    tmp_path: pathlib.Path, kind: pa.DataType, name: str, others: list[str]
) -> None:
    """Also those that other writers have made."""
    table, made = tmp_path / "t", tmp_path / "made"
    orcish.write_dataset(pa.table({"id": [0, 0], "k": pa.array([name, None])}), made, partition_by=["k"])
    orcish.write_dataset(pa.table({"id": [7], "k": pa.nulls(1, kind)}), table, partition_by=["k"])
    source = next(made.glob("k=[!_]*/*.orc"))
    for at, text in enumerate(others):
        folder = table / f"k={text.replace(':', '%3A')}"
        folder.mkdir()
        shutil.copy(source, folder / f"{at}.orc")
    assert sorted(orcish.read_table(table)["id"].to_pylist()) == [*[0] * len(others), 7]
    rows = pa.table({"id": [5], "k": pa.array([name])})
    orcish.write_dataset(rows, table, partition_by=["k"], existing_data="overwrite_partitions")
    assert sorted(orcish.read_table(table)["id"].to_pylist()) == [5, 7]


@each_case(
    ("table", "rows"),
    [
        (pa.int32(), pa.array([2**31])),
        (pa.uint8(), pa.array([-1])),
        (pa.bool_(), pa.array([1])),
        (pa.float32(), pa.array([0.1])),
        (pa.float64(), pa.array([2**53 + 1])),
        (pa.float64(), pa.array([Decimal("0.30000000000000000000001")])),
        *((pa.float64(), pa.array([text])) for text in ("0.1000000000000000055", "9007199254740993", "1e-400")),
        *((pa.float32(), pa.array([text])) for text in ("16777217", "0.1000000012", "1e-50")),
        *((pa.float16(), pa.array([text])) for text in ("2049", "0.10001")),
        (pa.decimal128(5, 2), pa.array([1.005])),
        (pa.date32(), pa.array([dt.datetime(2026, 1, 1, 12)])),
        (pa.date32(), pa.array([dt.datetime(2026, 1, 1)], pa.timestamp("us", "UTC"))),
        (pa.date32(), pa.array(["2026-01-01 00:00:00"])),
        (pa.int64(), pa.array([2.5])),
        (pa.int64(), pa.array([float("nan")])),
        (pa.int64(), pa.array([float("inf")])),
        (pa.int64(), pa.array([2.0**63])),
        (pa.uint64(), pa.array([-1.0])),
        (pa.int8(), pa.array([300.0])),
        (pa.int64(), pa.array([Decimal("2.01")])),
        (pa.int64(), pa.array(["2.0"])),
        (pa.timestamp("s"), pa.array([1], pa.timestamp("ms"))),
        (pa.timestamp("us"), pa.array([1], pa.timestamp("us", "UTC"))),
        (pa.timestamp("us", "UTC"), pa.array([1], pa.timestamp("us"))),
        (pa.timestamp("us", "UTC"), pa.array([1], pa.date32())),
        (pa.binary(2), pa.array([b"abc"])),
    ],
    ids=str,
)
def test_values_that_the_type_does_not_have(tmp_path: pathlib.Path, table: pa.DataType, rows: pa.Array) -> None:
    orcish.write_dataset(pa.table({"id": [0], "k": pa.nulls(1, table)}), tmp_path, partition_by=["k"])
    new = pa.table({"id": [1], "k": rows})
    with pytest.raises(ValueError, match="column k"):
        orcish.write_dataset(new, tmp_path, partition_by=["k"], existing_data="append")
    assert orcish.read_table(tmp_path)["id"].to_pylist() == [0]


@each_case(
    ("table", "rows"),
    [
        (pa.int64(), pa.array([5], pa.uint8())),
        (pa.int8(), pa.array([5], pa.uint64())),
        (pa.float64(), pa.array([0.1], pa.float32())),
        (pa.decimal128(9, 4), pa.array([Decimal("1.5")])),
        (pa.decimal128(9, 2), pa.array([1.5])),
        (pa.timestamp("ns", "UTC"), pa.array([1], pa.timestamp("s", "Asia/Tokyo"))),
        (pa.date64(), pa.array([1], pa.date32())),
        (pa.large_string(), pa.array(["x"]).dictionary_encode()),
        (pa.int32(), pa.array(["7"]).dictionary_encode()),
    ],
    ids=str,
)
def test_values_that_the_type_has_exactly(tmp_path: pathlib.Path, table: pa.DataType, rows: pa.Array) -> None:
    orcish.write_dataset(pa.table({"id": [0], "k": pa.nulls(1, table)}), tmp_path, partition_by=["k"])
    new = pa.table({"id": [1], "k": rows})
    orcish.write_dataset(new, tmp_path, partition_by=["k"], existing_data="append")
    found = orcish.read_table(tmp_path).sort_by("id")
    assert found.schema.field("k").type == table
    plain = rows.dictionary_decode() if pa.types.is_dictionary(rows.type) else rows
    if pa.types.is_string(plain.type) or pa.types.is_float64(plain.type):
        assert str(found["k"][1].as_py()).rstrip("0") == str(plain[0].as_py())
    else:
        assert found["k"][1].as_py() == plain.cast(table)[0].as_py()


WIDTHS: dict[str, tuple[pa.DataType, Any]] = {
    f"float{width}": (pa.type_for_alias(f"float{width}"), st.floats(width=width)) for width in (16, 32, 64)
}


@each_case("kind", WIDTHS)
def test_texts_of_floats_are_exact_or_an_error(kind: str) -> None:
    """Each spelling of a value is the value; a text between two values is neither."""
    data_type, one = WIDTHS[kind]

    @examples(100, deadline=None)
    @given(one.filter(math.isfinite))
    def check(value: float) -> None:
        texts = [
            f"{Decimal(value):f}",
            f"{Decimal(value):e}",
            repr(value),
            f"{Decimal(repr(value)):.40e}",
            f"{value!r}d",
        ]
        found = cast_values(pa.array(texts), data_type)
        assert found.to_pylist() == [value] * len(texts)
        # Far less than half of the distance to the next value, and more than no distance.
        with localcontext() as context:
            context.prec = 2000
            other = Decimal(value) * (1 + Decimal("1e-25")) or Decimal("1e-400")
        with pytest.raises(ValueError, match=f"no exact {data_type}"):
            cast_values(pa.array([f"{other:e}"]), data_type)

    check()


@each_case("kind", ["float16", "float32", "float64"])
def test_shortest_texts_of_floats(kind: str) -> None:
    """As they are printed by other software, which may print all digits that tell numbers apart."""
    texts = ["0.1", "0.10", "1e-1", "+.1", "1.5f", "65504" if kind == "float16" else "16777216", "NaN", "-Infinity", ""]
    texts.append({"float16": "0.099976", "float32": "0.100000001", "float64": "0.10000000000000001"}[kind])
    assert cast_values(pa.array(texts), WIDTHS[kind][0]).null_count == 1


@each_case("column", [pa.array([2**62]), pa.array([2**70], pa.decimal128(22, 0)), pa.array([str(2**70)])])
def test_large_numbers_that_floats_have(column: pa.Array) -> None:
    """Their digits are more than those that the float is printed with."""
    assert int(cast_values(column, pa.float64())[0].as_py()) == int(column[0].as_py())


@each_case(
    ("table", "rows", "wanted"),
    [
        (pa.int64(), pa.array([2.0, None, -0.0, 1e18]), [2, None, 0, 10**18]),
        (pa.int64(), pa.array([-(2.0**63), 1.2345678901234567e18]), [-(2**63), int(1.2345678901234567e18)]),
        (pa.uint64(), pa.array([2.0**64 - 2048]), [2**64 - 2048]),
        (pa.int32(), pa.array([2.0, 3.0], pa.float32()), [2, 3]),
        (pa.int32(), pa.array([2.0], pa.float16()), [2]),
        (pa.int32(), pa.array([2.0, 3.0]).dictionary_encode(), [2, 3]),
        (pa.int64(), pa.array([Decimal("2.00"), Decimal("-0.00")]), [2, 0]),
        (pa.date32(), pa.array([dt.datetime(2026, 1, 1), None]), [dt.date(2026, 1, 1), None]),
        (pa.date64(), pa.array([dt.datetime(2026, 1, 1)], pa.timestamp("ns")), [dt.date(2026, 1, 1)]),
        (pa.date32(), pa.array([dt.datetime(2026, 1, 1)], pa.timestamp("s")), [dt.date(2026, 1, 1)]),
    ],
    ids=str,
)
def test_whole_numbers_and_midnights(
    tmp_path: pathlib.Path, table: pa.DataType, rows: pa.Array, wanted: list[Any]
) -> None:
    """They are values of integers and of dates, such as those that pandas has with nulls. The first row that is none is
    named.
    """
    orcish.write_dataset(pa.table({"id": [0], "k": pa.nulls(1, table)}), tmp_path, partition_by=["k"])
    new = pa.table({"id": range(1, len(rows) + 1), "k": rows})
    orcish.write_dataset(new, tmp_path, partition_by=["k"], existing_data="append")
    found = orcish.read_table(tmp_path).sort_by("id")
    assert found.schema.field("k").type == table
    assert found["k"].to_pylist() == [None, *wanted]
    plain = rows.dictionary_decode() if pa.types.is_dictionary(rows.type) else rows
    other = pa.array([dt.datetime(2026, 1, 1, 12)] if pa.types.is_date(table) else [2.5]).cast(plain.type, safe=False)
    if not pa.types.is_decimal(plain.type) and not pa.types.is_timestamp(plain.type):
        mixed = pa.table({"id": range(len(rows) + 1), "k": pa.concat_arrays([plain, other])})
        with pytest.raises(ValueError, match=r"column k: 2\.5 of .* is not a value of"):
            orcish.write_dataset(mixed, tmp_path, partition_by=["k"], existing_data="append")


# Tables whose partition columns had no types.


def plain(folder: pathlib.Path, *names: str) -> None:
    for at, name in enumerate(names):
        (folder / f"k={name}").mkdir(parents=True)
        orcish.write_table(pa.table({"id": [at]}), folder / f"k={name}" / "a.orc")


@each_case(
    ("names", "kind", "rows"),
    [
        (("1", "2"), pa.int64(), pa.array([1], pa.int8())),
        (("1", "2"), pa.int64(), pa.array(["01"])),
        (("2026-01-01", "2026-01-02"), pa.date32(), pa.array(["2026-1-1"])),
        (("a", "2"), pa.string(), pa.array([2])),
    ],
)
@each_case("change", ["append", "overwrite_partitions", "overwrite a partition"])
def test_inferred_types_stay(
    tmp_path: pathlib.Path, names: tuple[str, ...], kind: pa.DataType, rows: pa.Array, change: Any
) -> None:
    """The first commit of rows puts the types that readers saw into the log."""
    plain(tmp_path, *names, "__HIVE_DEFAULT_PARTITION__")
    assert orcish.scan(tmp_path).schema.field("k").type == kind
    if change == "overwrite a partition":
        orcish.write_dataset(pa.table({"id": [5]}), tmp_path / f"k={names[0]}", existing_data="overwrite")
    else:
        new = pa.table({"id": [5], "k": rows})
        orcish.write_dataset(new, tmp_path, partition_by=["k"], existing_data=change)
    assert orcish.scan(tmp_path).schema.field("k").type == kind
    assert len(list(tmp_path.glob("k=*"))) == 3
    if not pa.types.is_string(kind):
        wrong = pa.table({"id": [6], "k": ["x"]})
        with pytest.raises(ValueError, match=re.escape(f"column k is {kind}")):
            orcish.write_dataset(wrong, tmp_path, partition_by=["k"], existing_data="append")
    orcish.delete(tmp_path, "k is not null")
    assert orcish.scan(tmp_path).schema.field("k").type == kind
    orcish.delete(tmp_path, "true")
    assert orcish.scan(tmp_path).schema.field("k").type == kind


@each_case("filters", ["true", "k is not null", "k = 'a'"])
def test_a_deletion_keeps_inferred_types(tmp_path: pathlib.Path, filters: str) -> None:
    plain(tmp_path, "a", "2", "__HIVE_DEFAULT_PARTITION__")
    orcish.delete(tmp_path, filters)
    assert orcish.scan(tmp_path).schema.field("k").type == pa.string()


def test_a_column_of_nulls_has_the_type_of_the_first_rows(tmp_path: pathlib.Path) -> None:
    plain(tmp_path, "__HIVE_DEFAULT_PARTITION__")
    rows = pa.table({"id": [1], "k": pa.array([3], pa.int16())})
    orcish.write_dataset(rows, tmp_path, partition_by=["k"], existing_data="append")
    assert orcish.scan(tmp_path).schema.field("k").type == pa.int16()


@each_case("source", ["folder", "log", "log of a deletion", "log without an Arrow schema"])
@each_case("rows", [pa.array([3], pa.int16()), pa.array(["x"]), pa.array([dt.date(2026, 1, 1)])], ids=str)
def test_a_conversion_gives_nulls_no_type(tmp_path: pathlib.Path, rows: pa.Array, source: str) -> None:
    """The first rows with values do, as in the source."""
    table, target = tmp_path / "s", tmp_path / "t"
    nulls = pa.table({"id": [0, 1], "k": pa.nulls(2)})
    options = {} if source != "log without an Arrow schema" else {"arrow_schema": False}
    if source == "folder":
        plain(table, "__HIVE_DEFAULT_PARTITION__")
    else:
        orcish.write_dataset(nulls, table, partition_by=["k"], **options)
    if source == "log of a deletion":
        orcish.delete(table, "true")
    orcish.convert(table, target, columns=["id", "k"])
    assert orcish.scan(target).schema == orcish.scan(table).schema
    assert orcish.read_table(target).to_pylist() == orcish.read_table(table).to_pylist()
    orcish.convert(table, target, existing_data="append")
    orcish.write_dataset(pa.table({"id": [7], "k": rows}), target, partition_by=["k"], existing_data="append")
    assert orcish.scan(target).schema.field("k").type == rows.type
    assert orcish.read_table(target, filters="id = 7")["k"].to_pylist() == rows.to_pylist()
    # Nulls are appended to the type that the target has.
    orcish.convert(table, target, existing_data="append")
    assert orcish.scan(target).schema.field("k").type == rows.type


@each_case("kind", [pa.int16(), pa.string(), pa.date32(), pa.timestamp("us", "UTC")], ids=str)
@each_case("filters", [None, "id = 1"])
def test_a_conversion_keeps_the_type_of_nulls(tmp_path: pathlib.Path, kind: pa.DataType, filters: str | None) -> None:
    """It is in the log of the source, whether or not there are values."""
    rows = pa.table({"id": [1], "k": pa.nulls(1, kind)})
    orcish.write_dataset(rows, tmp_path / "s", partition_by=["k"])
    orcish.convert(tmp_path / "s", tmp_path / "t", filters=filters)
    assert orcish.scan(tmp_path / "t").schema.field("k").type == kind
    # So are types that readers infer from other folders.
    plain(tmp_path / "p", "7", "__HIVE_DEFAULT_PARTITION__")
    orcish.convert(tmp_path / "p", tmp_path / "q", filters=filters)
    assert orcish.scan(tmp_path / "q").schema.field("k").type == pa.int64()


def test_texts_without_an_offset_are_no_instants(tmp_path: pathlib.Path) -> None:
    """Where the table has text, a folder of an unknown time zone is not replaced."""
    plain(tmp_path, "2026-01-01 12%3A00%3A00", "2026-01-01 13%3A00%3A00+01%3A00", "x")
    instant = pa.array([dt.datetime(2026, 1, 1, 12)], pa.timestamp("us", "UTC"))
    rows = pa.table({"id": [7], "k": instant})
    orcish.write_dataset(rows, tmp_path, partition_by=["k"], existing_data="overwrite_partitions")
    assert sorted(orcish.read_table(tmp_path)["id"].to_pylist()) == [0, 2, 7]


def test_folders_without_a_key_are_no_partitions(tmp_path: pathlib.Path) -> None:
    """Readers, the root of a table and deletions share one rule."""
    (tmp_path / "t" / "=5").mkdir(parents=True)
    orcish.write_table(pa.table({"id": [1]}), tmp_path / "t" / "=5" / "a.orc")
    assert orcish.scan(tmp_path / "t").schema.names == ["id"]
    with pytest.raises(ValueError, match="no partition"):
        orcish.delete(tmp_path / "t", "true")


def test_pyarrow_finds_partitions(tmp_path: pathlib.Path) -> None:
    rows = pa.table({"id": [1, 2, 3], "k": pa.array([2**64 - 1, 0, None], pa.uint64()), "s": ["a/b", "c d", "é"]})
    orcish.write_dataset(rows, tmp_path, partition_by=["k", "s"])
    types = pa.schema([("k", pa.uint64()), ("s", pa.string())])
    found = ds.dataset(tmp_path, format="orc", partitioning=ds.partitioning(types, flavor="hive")).to_table()
    assert found.sort_by("id").select(["id", "k", "s"]).to_pydict() == rows.to_pydict()
