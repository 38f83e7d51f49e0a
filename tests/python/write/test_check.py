"""Files that are checked, and writes that are verified: what is right passes, planted damage is found."""

from __future__ import annotations

import datetime as dt
import io
import itertools
import pathlib
import struct
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

import orcish
import pyarrow as pa
import pyarrow.compute as pc
import pyorc
import pytest
from support import orc_builder
from support.conformance.pack import PACK, valid
from support.cpp_writers import write_arrow, write_rows
from support.orc_layout import layout
from support.protobuf import read_varint, varint, zigzag
from support.small_tables import in_stripes

ROWS = 3500
TYPE_KEY = "orc.type"


def written(data: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    orcish.write_table(data, out, **options)
    return out.getvalue()


def again(*values: Any) -> list[Any]:
    """The values in turn."""
    return [values[i % len(values)] for i in range(ROWS)]


def of(kind: pa.DataType, *values: Any) -> pa.Array:
    return pa.array(again(*values, None), kind)


OLD = -5_000_000_000


def _arrays() -> Iterator[tuple[str, pa.Array]]:
    """Every type that can be written, with nulls."""
    yield "null", pa.nulls(ROWS)
    yield "bool", of(pa.bool_(), True, False, True)
    for bits in (8, 16, 32, 64):
        signed, unsigned = getattr(pa, f"int{bits}")(), getattr(pa, f"uint{bits}")()
        yield str(signed), of(signed, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, 0, 7, 7, 7, 7)
        yield str(unsigned), of(unsigned, 2**bits - 1, 0, 3)
    for kind in (pa.float16(), pa.float32(), pa.float64()):
        yield str(kind), of(kind, 1.5, float("nan"), -0.0, 0.0, float("inf"), -2.5)
        yield f"{kind}_plain", of(kind, 1.5, -2.5)
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        yield str(kind), of(kind, "a", "", "é" * 600, "text that is longer than twelve bytes")
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        yield str(kind), of(kind, b"a", b"", b"\xff" * 600, b"bytes that are more than twelve")
    yield "fixed_size_binary", of(pa.binary(3), b"abc", b"\x00\x00\x00")
    for kind in (pa.date32(), pa.date64()):
        yield str(kind), of(kind, dt.date(1, 1, 1), dt.date(1582, 10, 10), dt.date(9999, 12, 31))
    for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")):
        yield str(kind), of(kind, 1, 80_000)
    for unit in ("s", "ms", "us", "ns"):
        yield f"timestamp_{unit}", of(pa.timestamp(unit), OLD, 0, 17, 1_700_000_000)
        yield f"instant_{unit}", of(pa.timestamp(unit, "Europe/Berlin"), OLD, 0, 17, 1_700_000_000)
        yield f"duration_{unit}", of(pa.duration(unit), OLD, 0, 17)
    yield "interval", of(pa.month_day_nano_interval(), pa.MonthDayNano([1, -2, 3]))
    for decimal in (pa.decimal32(7, 2), pa.decimal64(15, 2), pa.decimal128(38, 2), pa.decimal256(50, 2)):
        yield str(decimal).split("(")[0], of(decimal, Decimal("-1.50"), Decimal("12345.67"))
    yield "decimal_great", of(pa.decimal128(38, 0), Decimal(10**38 - 1), Decimal(10**38 - 2))
    yield "decimal_scale", of(pa.decimal128(5, -2), Decimal(1500))
    yield "dictionary", of(pa.string(), "a", "b", "").dictionary_encode()
    yield "dictionary_ints", of(pa.int16(), 1, 2).dictionary_encode()
    yield (
        "dictionary_views",
        pa.DictionaryArray.from_arrays(of(pa.uint8(), 1, 0), pa.array(["x", "y"], pa.string_view())),
    )
    yield "runs", pc.run_end_encode(pa.array(again("a", "a", None, "b", "b")))
    yield "runs_long", pc.run_end_encode(pa.array([i // 700 for i in range(ROWS)]))
    yield "uuid", of(pa.uuid(), b"0123456789abcdef")
    yield "list", of(pa.list_(pa.int32()), [1, None], [], [5] * 20)
    yield "large_list", of(pa.large_list(pa.string()), ["a", None], [])
    yield "list_view", of(pa.list_view(pa.int64()), [1, 2], [])
    yield "large_list_view", of(pa.large_list_view(pa.string_view()), ["a"], [])
    yield "fixed_size_list", of(pa.list_(pa.float32(), 2), [1, 2], [None, 3])
    yield "map", of(pa.map_(pa.string(), pa.int64()), [("a", 1), ("b", None)], [])
    yield "struct", pa.array(again({"a": 1, "b": "x"}, None, {"a": None, "b": None}))
    inner = pa.struct(
        [("m", pa.map_(pa.int32(), pa.list_(pa.struct([("d", pa.decimal128(20, 3)), ("o", pa.bool_())]))))]
    )
    yield "deep", of(pa.list_(inner), [{"m": [(1, [{"d": Decimal("1.5"), "o": None}, None]), (2, None)]}, None], [])
    offsets = pa.array(range(ROWS + 1), pa.int32())
    yield "list_of_dictionary", pa.ListArray.from_arrays(offsets, of(pa.string(), "a", "b").dictionary_encode())
    yield "list_of_runs", pa.ListArray.from_arrays(offsets, pc.run_end_encode(pa.array([i // 9 for i in range(ROWS)])))
    yield "union", _union(pa.array(range(ROWS // 2)), pa.array(again("a", "b")[: ROWS // 2]))
    yield "union_sparse", pa.UnionArray.from_sparse(_TAGS, [pa.array(range(ROWS)), pa.array(again("a", "b"))])
    yield "union_with_nulls", _union(pa.array(range(ROWS // 2)), pa.array(again("a", None)[: ROWS // 2]))
    dictionary = pa.array(["a", None])
    yield "dictionary_with_null", pa.DictionaryArray.from_arrays(of(pa.int8(), 0, 1), dictionary)


_TAGS = pa.array([0, 1] * (ROWS // 2), pa.int8())


def _union(first: pa.Array, second: pa.Array) -> pa.Array:
    return pa.UnionArray.from_dense(_TAGS, pa.array([i // 2 for i in range(ROWS)], pa.int32()), [first, second])


@pytest.mark.parametrize(
    "array",
    [pytest.param(array, id=name) for name, array in _arrays()],
)
def test_all_types_pass(array: pa.Array) -> None:
    """Arrays as they are, slices, many stripes, and columns below a struct with nulls pass."""
    options: list[dict[str, Any]] = [
        {"row_index_stride": 1000},
        {"row_index_stride": 1000, "stripe_size": 1, "compression": "none", "arrow_schema": False},
        {"row_index_stride": 1000, "timezone": "America/New_York", "version": "0.11", "dictionary": True},
        {"row_index_stride": 0, "dictionary": False, "threads": 1},
    ]
    masked = pa.StructArray.from_arrays([array], names=["x"], mask=pa.array(again(False, True, False)))
    for table in (
        pa.table({"c": array}),
        pa.table({"c": array.slice(7, 3001)}),
        pa.Table.from_batches([pa.record_batch({"c": array.slice(at, 250)}) for at in range(0, ROWS, 250)]),
        pa.table({"c": masked}),
    ):
        for each in options:
            data = written(table, verify=True, **each)
            assert data == written(table, **each)
            assert orcish.ORCFile(data).check() == []


@pytest.mark.parametrize("kind", ["char(3)", "varchar(3)"])
def test_text_of_fixed_length_passes(kind: str) -> None:
    """Padding of char values is not part of the values."""
    text = pa.field("c", pa.string(), metadata={TYPE_KEY: kind})
    values = pa.array(again("a", "ab ", "abc", "", None, "é  "))
    for dictionary in (True, False):
        schema = pa.schema([text])
        data = written(pa.table([values], schema=schema), verify=True, dictionary=dictionary, row_index_stride=1000)
        assert orcish.ORCFile(data).check() == []
    lists = pa.ListArray.from_arrays(pa.array(range(ROWS + 1), pa.int32()), values)
    nested = pa.schema([pa.field("l", pa.list_(text))])
    data = written(pa.table([lists.cast(nested.field("l").type)], schema=nested), verify=True)
    assert orcish.ORCFile(data).check() == []


@pytest.mark.parametrize(
    "zone", ["UTC", "America/New_York", "Asia/Kolkata", "Europe/London", "Africa/Monrovia", "EST5EDT"]
)
def test_time_zones_pass(zone: str) -> None:
    """Hours around skipped and repeated hours of clocks, and times long before 1970, pass."""
    hour = 3600
    micros = [1_000_000 * (start + step * hour // 2) for start in (1_710_000_000, 1_730_500_000) for step in range(400)]
    micros += [1_000_000 * second for second in range(-(10**10), 10**10, 10**7)]
    instants = pa.array(micros, pa.timestamp("us", "UTC"))
    # The wall clock there, which has no hour that it skips.
    wall = pc.local_timestamp(instants.cast(pa.timestamp("us", zone)))
    table = pa.table({"t": wall, "i": instants})
    data = written(table, verify=True, timezone=zone, row_index_stride=1000, bloom_filter_columns=["t", "i"])
    assert orcish.ORCFile(data).check() == []
    assert orcish.read_table(data).equals(table)


@pytest.mark.parametrize("codec", ["none", "zlib", "snappy", "lz4", "zstd", "brotli"])
def test_options_pass(codec: Any, tmp_path: pathlib.Path) -> None:
    """All codecs, bloom filters, several stripes, and a local file pass."""
    rows = 20_000
    table = pa.table(
        {"id": range(rows), "s": [f"text {i % 3000}" for i in range(rows)], "x": [i / 8 for i in range(rows)]}
    )
    options: dict[str, Any] = {"compression": codec, "compression_block_size": 1024, "stripe_size": 30_000}
    options |= {"row_index_stride": 1000, "bloom_filter_columns": ["id", "s", "x"], "metadata": {"k": "v"}}
    done = orcish.write_table(table, tmp_path / "t.orc", verify=True, **options)
    assert done.stripes > 1
    assert orcish.ORCFile(tmp_path / "t.orc").check() == []
    in_stripes(tmp_path / "u.orc", table, 3333, verify=True, **options)
    assert orcish.read_table(tmp_path / "u.orc").equals(table)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.orc", "u.orc"]
    for empty in (table.slice(0, 0), pa.table({"a": pa.array([], pa.int64())})):
        assert orcish.ORCFile(written(empty, verify=True)).check() == []


def test_verifying_finds_what_the_disk_lost(tmp_path: pathlib.Path) -> None:
    """The staged file is damaged before it is closed."""
    schema = pa.schema([("a", pa.int64())])
    for damage in (0, 1):
        writer = orcish.ORCWriter(tmp_path / "t.orc", schema, verify=True, compression="none")
        writer.write(pa.table({"a": range(20_000)}))
        writer.end_stripe()
        (temporary,) = (each for each in tmp_path.rglob("*") if each.is_file())
        with temporary.open("r+b") as file:
            if damage:
                file.truncate(100)
            else:
                file.seek(100)
                file.write(b"\x99")
        with pytest.raises(orcish.CorruptFileError, match=r"t\.orc.*on disk"):
            writer.close()
        writer.abort()
        assert list(tmp_path.iterdir()) == []


# Planted damage.


class Span(NamedTuple):
    """Where the value of a field of a protobuf message is."""

    start: int
    end: int


def fields(data: bytes, span: Span) -> Iterator[tuple[int, Span]]:
    """Numbers and places of the fields of a message."""
    at = span.start
    while at < span.end:
        tag, at = read_varint(data, at)
        if tag & 7 == 2:
            length, at = read_varint(data, at)
            end = at + length
        else:
            end = read_varint(data, at)[1] if tag & 7 == 0 else at + 8
        yield tag >> 3, Span(at, end)
        at = end


def place(data: bytes, span: Span, *path: tuple[int, int]) -> Span:
    """Where the field is that a path of numbers and occurrences leads to."""
    for number, occurrence in path:
        span = [found for field, found in fields(data, span) if field == number][occurrence]
    return span


def with_number(data: bytes, span: Span, change: Callable[[int], int]) -> bytes:
    """The file with another number of the same length."""
    value, end = read_varint(data, span.start)
    assert end == span.end
    new, left = bytearray(), change(value)
    for at in range(span.start, span.end):
        new.append(left & 127 | (128 if at + 1 < span.end else 0))
        left >>= 7
    assert left == 0
    return data[: span.start] + bytes(new) + data[span.end :]


COUNT = 5000
COLUMNS = ["", "id", "text", "x", "flag", "list", "list.element", "union", "union.field0", "union.field1"]


@pytest.fixture(scope="module")
def sound() -> bytes:
    """Two stripes of three row groups, nothing compressed."""
    table = pa.table(
        {
            "id": pa.array([i * 7919 % 10_007 + 100 for i in range(COUNT)]),
            "text": [None if i % 11 == 0 else f"text {i * 31 % 1000}" for i in range(COUNT)],
            "x": [None if i % 5 == 0 else i / 4 for i in range(COUNT)],
            "flag": [i % 7 == 0 for i in range(COUNT)],
            "list": [[i, i * i % 1000, None][: i * i % 4] for i in range(COUNT)],
            "union": pa.UnionArray.from_sparse(
                pa.array([i % 2 for i in range(COUNT)], pa.int8()), [pa.array(range(COUNT)), pa.array(["a"] * COUNT)]
            ),
        }
    )
    out = io.BytesIO()
    options: dict[str, Any] = {"compression": "none", "row_index_stride": 1000, "dictionary": False}
    in_stripes(out, table, 2500, bloom_filter_columns=["id", "text", "x"], **options)
    file = orcish.ORCFile(out.getvalue())
    assert file.num_stripes == 2
    assert file.check() == []
    return out.getvalue()


def stream(data: bytes, stripe: int, column: str, kind: str) -> Span:
    (only,) = [
        found
        for found in layout(data).streams
        if (found.stripe, COLUMNS[found.column], found.kind) == (stripe, column, kind)
    ]
    return Span(only.start, only.end)


def tail(data: bytes) -> tuple[Span, Span]:
    """Where the statistics of stripes are, and the footer."""
    end = len(data) - 1 - data[-1]
    postscript = Span(end, len(data) - 1)
    footer = read_varint(data, place(data, postscript, (1, 0)).start)[0]
    metadata = read_varint(data, place(data, postscript, (5, 0)).start)[0]
    return Span(end - footer - metadata, end - footer), Span(end - footer, end)


STATISTICS: list[tuple[str, str, list[tuple[int, int]], Callable[[int], int], str]] = [
    ("values", "id", [(1, 0)], lambda n: n - 1, "number of values"),
    ("values_of_text", "text", [(1, 0)], lambda n: n + 1, "number of values"),
    ("values_of_elements", "list.element", [(1, 0)], lambda n: n + 1, "number of values"),
    ("values_of_unions", "union", [(1, 0)], lambda n: n - 1, "number of values"),
    ("values_of_variants", "union.field0", [(1, 0)], lambda n: n - 1, "number of values"),
    ("has_null", "text", [(10, 0)], lambda n: 1 - n, "null"),
    ("has_no_null", "id", [(10, 0)], lambda n: 1 - n, "null"),
    ("min", "id", [(2, 0), (1, 0)], lambda n: n + 2, "least value"),
    ("min_below", "id", [(2, 0), (1, 0)], lambda n: n - 2, "least value"),
    ("max", "id", [(2, 0), (2, 0)], lambda n: n - 2, "greatest value"),
    ("max_above", "id", [(2, 0), (2, 0)], lambda n: n + 2, "greatest value"),
    ("sum", "id", [(2, 0), (3, 0)], lambda n: n - 2, "sum"),
    ("length", "text", [(4, 0), (3, 0)], lambda n: n - 2, "length"),
    ("elements", "list", [(12, 0), (3, 0)], lambda n: n - 1, "elements"),
]


@pytest.mark.parametrize(
    ("column", "path", "change", "text"), [case[1:] for case in STATISTICS], ids=[case[0] for case in STATISTICS]
)
def test_statistics_that_are_wrong(
    sound: bytes, column: str, path: list[tuple[int, int]], change: Callable[[int], int], text: str
) -> None:
    stripes, footer = tail(sound)
    number = COLUMNS.index(column)
    places: list[tuple[int | None, int | None, Span]] = [
        (1, 2, place(sound, stream(sound, 1, column, "ROW_INDEX"), (1, 2), (2, 0))),
        (0, 1, place(sound, stream(sound, 0, column, "ROW_INDEX"), (1, 1), (2, 0))),
        (1, None, place(sound, stripes, (1, 1), (1, number))),
        (None, None, place(sound, footer, (7, number))),
    ]
    for stripe, group, statistics in places:
        damaged = with_number(sound, place(sound, statistics, *path), change)
        assert len(damaged) == len(sound)
        (finding,) = orcish.ORCFile(damaged).check()
        assert finding[:3] == (stripe, group, column)
        assert text in finding.message


@pytest.mark.parametrize("column", ["union", "union.field0", "id"])
def test_values_of_unions_of_other_writers_are_not_known(sound: bytes, column: str) -> None:
    """Arrow has no nulls of unions: they are read as nulls of the first variant."""
    footer = tail(sound)[1]
    values = place(sound, footer, (7, COLUMNS.index(column)), (1, 0))
    changed = with_number(sound, values, lambda n: n - 1)
    # Writer 0 is ORC Java.
    others = with_number(changed, place(sound, footer, (9, 0)), lambda _: 0)
    found = [finding[:3] for finding in orcish.ORCFile(others).check()]
    assert found == ([(None, None, "id")] if column == "id" else [])


def test_row_groups_of_the_root_count_their_rows(sound: bytes) -> None:
    for stripe in (0, 1):
        index = stream(sound, stripe, "", "ROW_INDEX")
        counts = [place(sound, index, (1, group), (2, 0), (1, 0)) for group in range(3)]
        assert [read_varint(sound, span.start)[0] for span in counts] == [1000, 1000, 500]


def bounds(data: bytes, least: bytes, greatest: bytes) -> bytes:
    """The file with other bounds of the text of a row group."""
    for number, new in ((1, least), (2, greatest)):
        bound = place(data, stream(data, 1, "text", "ROW_INDEX"), (1, 1), (2, 0), (4, 0), (number, 0))
        assert data[bound.start : bound.end] == {1: b"text 0", 2: b"text 999"}[number]
        data = data[: bound.start] + new + data[bound.end :]
    return data


def test_bounds_of_text_that_are_wrong(sound: bytes) -> None:
    for least, greatest, text in ((b"text 5", b"text 999", "least"), (b"text 0", b"text 997", "greatest")):
        (finding,) = orcish.ORCFile(bounds(sound, least, greatest)).check()
        assert finding[:3] == (1, 1, "text")
        assert f"the {text} value" in finding.message
    # Bounds that are wider than the values are no values, and what asks for the greatest is told of them.
    findings = orcish.ORCFile(bounds(sound, b"sext 0", b"text ~~~")).check()
    assert [finding[:3] for finding in findings] == [(1, 1, "text")] * 2


def test_sums_of_floating_point_numbers(sound: bytes) -> None:
    """Sums may differ by rounding."""
    at = place(sound, stream(sound, 1, "x", "ROW_INDEX"), (1, 1), (2, 0), (3, 0), (3, 0))
    (value,) = struct.unpack("<d", sound[at.start : at.end])
    for wrong, is_found in ((value * (1 + 1e-15), False), (value + 1, True), (-value, True), (float("inf"), True)):
        damaged = sound[: at.start] + struct.pack("<d", wrong) + sound[at.end :]
        findings = orcish.ORCFile(damaged).check()
        assert [finding[:3] for finding in findings] == ([(1, 1, "x")] if is_found else [])
        assert all("the sum is recorded" in finding.message for finding in findings)


def test_decimals_and_dates_that_are_not_their_bounds() -> None:
    """Bounds that enclose the values, but are not values, are a finding."""
    table = pa.table(
        {
            "d": pa.array([Decimal("624.75"), Decimal("-1.50"), None] * 500, pa.decimal128(10, 2)),
            "day": pa.array([dt.date(2020, 1, 1), dt.date(2021, 1, 1), None] * 500),
            "t": pa.array([10**15, 2 * 10**15, None] * 500, pa.timestamp("us")),
        }
    )
    data = written(table, compression="none", row_index_stride=0)
    assert orcish.ORCFile(data).check() == []
    _, footer = tail(data)
    text = place(data, footer, (7, 1), (6, 0), (2, 0))
    assert data[text.start : text.end] == b"624.75"
    (finding,) = orcish.ORCFile(data[: text.start] + b"724.75" + data[text.end :]).check()
    assert (finding[:3], "greatest value" in finding.message) == ((None, None, "d"), True)
    for number, path in ((2, [(7, 0), (2, 0)]), (3, [(9, 0), (4, 0)])):
        (finding,) = orcish.ORCFile(with_number(data, place(data, footer, (7, number), *path), lambda n: n + 2)).check()
        assert "greatest value" in finding.message


def test_bounds_that_cannot_be(sound: bytes) -> None:
    assert orcish.ORCFile(bounds(sound, b"zzzz 5", b"text 999")).check()


def everywhere(data: bytes, old: bytes, new: bytes) -> bytes:
    """The file with other bytes in all statistics."""
    assert len(old) == len(new)
    assert data.count(old) >= 3
    return data.replace(old, new)


def levels(findings: list[Any]) -> list[tuple[int | None, int | None]]:
    return [finding[:2] for finding in findings]


ALL_LEVELS = [(0, 0), (0, None), (None, None)]


@pytest.mark.parametrize(("at", "begin"), [(0, b"035"), (0, b"03000y"), (1, b"035"), (1, b"03998")])
@pytest.mark.parametrize("is_wrong", [True, False])
def test_cut_bounds_that_are_wrong(at: int, begin: bytes, is_wrong: bool) -> None:
    """Truncated bounds of text of more than 1,024 bytes are checked."""
    texts = [f"{i % 1000 + 3000:05}" + "x" * 1100 for i in range(1000)]
    data = written(pa.table({"s": texts}), compression="none", arrow_schema=False)
    statistics = place(data, tail(data)[1], (7, 1), (4, 0))
    bound = place(data, statistics, ((4, 0), (5, 0))[at])
    # With its field and length, which no value has.
    old, key = data[bound.start : bound.end], data[bound.start - 3 : bound.start]
    # Further out, it hides nothing.
    new = begin if is_wrong else (b"02", b"04")[at]
    found = orcish.ORCFile(everywhere(data, key + old, key + new + old[len(new) :])).check()
    assert levels(found) == (ALL_LEVELS if is_wrong else [])
    assert all(("least" if at == 0 else "greatest") in finding.message for finding in found)


@pytest.mark.parametrize("by", [1, 999, -1])
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_bounds_of_nanoseconds_that_are_wrong(by: int, zone: str | None) -> None:
    least = 10**18 + 234_567
    table = pa.table({"t": pa.array([least, least + 10**9 + 5_000], pa.timestamp("ns", zone))})
    data = written(table, compression="none", verify=True)
    assert orcish.ORCFile(data).check() == []
    key = b"\x28"  # the field of the minimum's nanoseconds
    found = orcish.ORCFile(everywhere(data, key + varint(234_568), key + varint(234_568 + by))).check()
    assert {finding[:2] for finding in found} == set(ALL_LEVELS)
    assert all("least" in finding.message for finding in found)


@pytest.mark.parametrize("sum_", [-499_500, 1_048_575, 999_001, 400_000])
def test_sums_that_cannot_be(sum_: int) -> None:
    data = written(pa.table({"l": range(1000)}), compression="none", arrow_schema=False)
    found = orcish.ORCFile(everywhere(data, b"\x18" + varint(zigzag(499_500)), b"\x18" + varint(zigzag(sum_)))).check()
    assert levels(found) == ALL_LEVELS
    assert all("sum" in finding.message for finding in found)


@pytest.mark.parametrize("values", [["ab" * 500] * 100, [b"ab" * 500] * 100], ids=["text", "binary"])
def test_lengths_that_cannot_be(values: list[Any]) -> None:
    data = written(pa.table({"v": values}), compression="none", arrow_schema=False)
    found = orcish.ORCFile(everywhere(data, varint(zigzag(100_000)), varint(zigzag(-100_000)))).check()
    assert levels(found) == ALL_LEVELS
    assert all("length" in finding.message and "cannot be" in finding.message for finding in found)


def test_numbers_of_values_that_cannot_be(sound: bytes) -> None:
    """A count of no values beside bounds, and a count below the number of true values, are findings."""
    footer = tail(sound)[1]
    (finding,) = orcish.ORCFile(with_number(sound, place(sound, footer, (7, 1), (1, 0)), lambda _: 0)).check()
    assert finding[:4] == (None, None, "id", "what is recorded as the number of values cannot be")
    trues = place(sound, footer, (7, 4), (5, 0), (1, 0))
    (finding,) = orcish.ORCFile(with_number(sound, trues, lambda n: n + 6000)).check()
    assert finding == (None, None, "flag", "what is recorded as the number of true values cannot be", True)


def test_sums_without_the_mark_of_nan() -> None:
    """Other readers assume that there is no NaN, if bounds are recorded and the sum is not NaN."""
    values = [1.5] * 2500
    values[1500] = float("nan")
    data = written(pa.table({"f": values}), compression="none", row_index_stride=1000, arrow_schema=False)
    assert orcish.ORCFile(data).check() == []
    marked = b"\x19" + struct.pack("<d", float("nan"))
    assert data.count(marked) == 3
    # As the statistics of stripes and files that have none, in which a field is of a number that is not known.
    unmarked = data.replace(marked, b"\x79" + marked[1:])
    assert levels(orcish.ORCFile(unmarked).check()) == [(0, 1), (0, None), (None, None)]
    believed = data.replace(marked, b"\x19" + struct.pack("<d", 4000.0))
    assert {finding[:2] for finding in orcish.ORCFile(believed).check()} == {(0, 1), (0, None), (None, None)}


@pytest.mark.parametrize("column", ["id", "text", "x"])
def test_bloom_filters_that_are_wrong(sound: bytes, column: str) -> None:
    found = stream(sound, 1, column, "8")
    bits = place(sound, found, (1, 2), (3, 0))
    assert bits.end - bits.start > 100
    for damaged in (
        # Every bit is gone.
        sound[: bits.start] + bytes(bits.end - bits.start) + sound[bits.end :],
        # Some byte with bits is.
        next(sound[:at] + b"\0" + sound[at + 1 :] for at in range(*bits) if sound[at]),
    ):
        assert orcish.ORCFile(damaged).check() == [(1, 2, column, "a value is not in the bloom filter", True)]
    # More bits than there are values let more through, and hide nothing.
    full = sound[: bits.start] + b"\xff" * (bits.end - bits.start) + sound[bits.end :]
    assert orcish.ORCFile(full).check() == []


def positions(data: bytes, column: str) -> Iterator[bytes]:
    """Files in which a number of the positions of a row group is one less or one more."""
    span = place(data, stream(data, 1, column, "ROW_INDEX"), (1, 1), (1, 0))
    at = span.start
    while at < span.end:
        value, end = read_varint(data, at)
        for new in (value - 1, value + 1):
            if new >= 0 and (new >= 128) == (value >= 128):
                yield with_number(data, Span(at, end), lambda _, new=new: new)  # type: ignore[misc]
        at = end


@pytest.mark.parametrize("column", ["id", "text", "x", "flag", "list"])
def test_positions_that_are_wrong(sound: bytes, column: str) -> None:
    """Wrong positions are noticed, whether they lead to other rows or to none."""
    found = 0
    for damaged in positions(sound, column):
        assert len(damaged) == len(sound)
        try:
            findings = orcish.ORCFile(damaged).check()
        except orcish.CorruptFileError as error:
            assert "stripe 1: row group 1, by the row index" in str(error)  # noqa: PT017
            continue
        assert findings
        assert findings[0][:3] == (1, 1, column)
        # Bytes of other places may look like runs with faults.
        assert any("row index" in finding.message for finding in findings)
        found += 1
    assert found


@pytest.mark.parametrize("column", ["id", "text", "list"])
def test_positions_are_findings(sound: bytes, column: str) -> None:
    for damaged in positions(sound, column):
        assert orcish.ORCFile(damaged).read().equals(orcish.ORCFile(sound).read())
        assert orcish.ORCFile(damaged).check()[0][:3] == (1, 1, column)


def test_positions_that_go_backwards(sound: bytes) -> None:
    """orcish reads without these positions. Other readers need them."""
    span = place(sound, stream(sound, 1, "x", "ROW_INDEX"), (1, 2), (1, 0))
    # The last is that of the data.
    at = next(at for at in reversed(range(span.start, span.end - 1)) if not sound[at] & 128) + 1
    damaged = with_number(sound, Span(at, read_varint(sound, at)[1]), lambda _: 128)
    assert orcish.ORCFile(damaged).read().equals(orcish.ORCFile(sound).read())
    (finding,) = orcish.ORCFile(damaged).check()
    assert finding[:3] == (1, 2, "x")
    assert "positions of the row index" in finding.message


@pytest.mark.parametrize("column", ["id", "text", "x", "flag", "list", "union"])
def test_positions_that_are_missing(sound: bytes, column: str) -> None:
    """Readers that seek need the positions. orcish writes all of them."""
    span = place(sound, stream(sound, 1, column, "ROW_INDEX"), (1, 1), (1, 0))
    assert sound[span.start - 2] == 1 << 3 | 2
    # As a field that nobody knows.
    damaged = sound[: span.start - 2] + bytes([15 << 3 | 2]) + sound[span.start - 1 :]
    assert orcish.ORCFile(damaged).read().equals(orcish.ORCFile(sound).read())
    message = "the row index has another number of positions than the streams need"
    assert orcish.ORCFile(damaged).check() == [(1, 1, column, message, False)]
    # Other writers leave positions out.
    others = with_number(damaged, place(damaged, tail(damaged)[1], (9, 0)), lambda _: 0)
    assert [finding for finding in orcish.ORCFile(others).check() if finding.message == message] == []


def test_a_stride_that_is_wrong(sound: bytes) -> None:
    """There are more row groups than the row indexes have entries."""
    damaged = with_number(sound, place(sound, tail(sound)[1], (8, 0)), lambda _: 744)
    assert orcish.ORCFile(damaged).read().equals(orcish.ORCFile(sound).read())
    found = orcish.ORCFile(damaged).check()
    assert [finding[:3] for finding in found if "number of entries" in finding.message] == [
        (stripe, 0, column) for stripe in (0, 1) for column in COLUMNS[1:]
    ]


def test_values_that_are_wrong(sound: bytes) -> None:
    """Statistics and bloom filters disagree with a changed value."""
    data = stream(sound, 0, "x", "DATA")
    at = data.start + 8 * 100
    damaged = sound[:at] + b"\x00" * 6 + b"\xf0\x7e" + sound[at + 8 :]
    findings = orcish.ORCFile(damaged).check()
    assert {finding.column for finding in findings} == {"x"}
    assert (0, 0) in {finding[:2] for finding in findings}
    assert (None, None) in {finding[:2] for finding in findings}


def test_findings_are_a_thousand_at_most() -> None:
    table = pa.table({"a": pa.array(range(1_100_000), pa.int64())})
    data = written(table, compression="none", row_index_stride=1000)
    (index,) = [each for each in layout(data).streams if (each.column, each.kind) == (1, "ROW_INDEX")]
    changed = bytearray(data)
    for _, entry in fields(data, Span(index.start, index.end)):
        changed[place(data, entry, (2, 0), (10, 0)).start] = 1
    findings = orcish.ORCFile(bytes(changed)).check()
    assert len(findings) == 1000
    assert findings[-1].group == 999


def test_damaged_files_cannot_be_read(sound: bytes) -> None:
    at = stream(sound, 1, "id", "DATA")
    damaged = sound[: at.start] + b"\xff" * (at.end - at.start) + sound[at.end :]
    with pytest.raises(orcish.CorruptFileError, match="stripe 1, column id"):
        orcish.ORCFile(damaged).check()


def test_short_memory_is_no_finding() -> None:
    """A check needs more memory than a read. Lack of memory is an error, not a finding."""
    text = pa.array([f"{i % 1000:01000d}" for i in range(4000)])
    table = pa.table([text, text, text], ["a", "b", "c"])
    data = written(table, compression="none", row_index_stride=1000)
    assert layout(data).encodings[0][1:] == [3, 3, 3]  # DICTIONARY_V2
    ends = set()
    for memory in range(1 << 20, 16 << 20, 1 << 20):
        file = orcish.ORCFile(data, limits={"memory": memory, "result": 1 << 30})
        try:
            assert file.read().equals(table)
        except orcish.LimitExceededError:
            continue
        try:
            assert file.check() == []
            ends.add("checked")
        except orcish.LimitExceededError:
            ends.add("refused")
    assert ends == {"checked", "refused"}


SECTIONS = [
    ("its row index", "c"),
    ("its bloom filters", "c"),
    (None, "c"),
    ("the stripe footer", ""),
    ("the stripe statistics", ""),
    ("the footer", ""),
]
"""Sections in the order in which they are written, and of which column they are; data has no name."""


@pytest.mark.parametrize("number", range(len(SECTIONS)))
def test_sections_with_odd_chunks(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk without bytes is found in each section."""
    deflated, calls = orc_builder.deflated, itertools.count()
    monkeypatch.setattr(
        orc_builder, "deflated", lambda data: deflated(data) + (b"\0\0\0" if next(calls) == number else b"")
    )
    of_root, of_column = orc_builder.statistics(5), orc_builder.statistics(5, 1, 5, 15)
    entry = orc_builder.nested(1, orc_builder.nested(1, *map(varint, (0, 0, 0))), orc_builder.nested(2, of_column))
    streams = [
        (1, orc_builder.ROW_INDEX, entry),
        (
            1,
            orc_builder.BLOOM_FILTER,
            orc_builder.nested(1, orc_builder.integer(1, 3), orc_builder.nested(3, b"\xff" * 8)),
        ),
        (1, orc_builder.DATA, orc_builder.integers([1, 2, 3, 4, 5])),
    ]
    types = [orc_builder.column_type(orc_builder.STRUCT, [1], ["c"]), orc_builder.column_type(orc_builder.LONG)]
    of_all = [of_root, of_column]
    options = {"stride": 1000, "writer": int.from_bytes(b"orcs", "big")}
    data = orc_builder.orc(types, [(5, streams)], file_statistics=of_all, stripe_statistics=[of_all], **options)
    section, column = SECTIONS[number]
    stripe, group = 0 if number < 4 else None, None if section else 0
    message = "a zlib chunk has no bytes"
    wanted = (stripe, group, column, f"{section}: {message}" if section else message, False)
    assert [tuple(found) for found in orcish.ORCFile(data).check()] == [wanted]


@pytest.mark.parametrize("level", ["file", "stripe", "group"])
def test_bounds_in_the_wrong_order(level: str) -> None:
    """Readers ignore them: no value is changed."""
    sound, wrong = orc_builder.statistics(5, 1, 5), orc_builder.statistics(5, 5, 1)
    of = {name: wrong if name == level else sound for name in ("file", "stripe", "group")}
    entry = orc_builder.nested(1, orc_builder.nested(1, *map(varint, (0, 0, 0))), orc_builder.nested(2, of["group"]))
    streams = [(1, orc_builder.ROW_INDEX, entry), (1, orc_builder.DATA, orc_builder.integers([1, 2, 3, 4, 5]))]
    types = [orc_builder.column_type(orc_builder.STRUCT, [1], ["c"]), orc_builder.column_type(orc_builder.LONG)]
    of_root = orc_builder.statistics(5)
    data = orc_builder.orc(
        types,
        [(5, streams)],
        file_statistics=[of_root, of["file"]],
        stripe_statistics=[[of_root, of["stripe"]]],
        stride=1000,
    )
    (finding,) = orcish.ORCFile(data).check()
    assert finding[:2] == {"file": (None, None), "stripe": (None, None), "group": (0, 0)}[level]
    assert (finding.column, finding.contradicts_rows) == ("c", False)
    assert "the minimum is recorded above the maximum" in finding.message


# Files of others.


@pytest.mark.parametrize(
    ("column", "root"),
    [("v", "struct<n:int,v:varchar(77)>"), ("s.v", "struct<n:int,s:struct<n:int,v:varchar(77),m:int>>")],
)
def test_values_that_are_no_values_of_their_type(column: str, root: str) -> None:
    """Row groups that are read only in part are not compared."""
    texts = ["abcdef" if i == 1234 else "ab" for i in range(3000)]
    rows = [(i, (i, text, i) if column == "s.v" else text) for i, text in enumerate(texts)]
    data = write_rows(root, rows, compression=pyorc.CompressionKind.NONE, row_index_stride=1000)
    assert orcish.ORCFile(data).check() == []
    stated = bytes([8, 16, 32, 77])
    assert data.count(stated) == 1
    findings = orcish.ORCFile(data.replace(stated, bytes([8, 16, 32, 3]))).check()
    assert [found[:3] for found in findings] == [(0, 1, column)]
    assert findings[0].message.startswith("row 234 of it: ")


def test_files_of_cpp_pass() -> None:
    table = pa.table(
        {
            "id": range(30_000),
            "text": [None if i % 7 == 0 else f"t{i % 900}" for i in range(30_000)],
            "x": [None if i % 5 == 0 else i / 4 for i in range(30_000)],
            "d": pa.array([Decimal(i) / 100 for i in range(30_000)], pa.decimal128(20, 2)),
            "when": pa.array([i * 10**9 for i in range(30_000)], pa.timestamp("us")),
            "list": [[i, None] if i % 3 else None for i in range(30_000)],
        }
    )
    for compression in ("uncompressed", "zlib", "zstd"):
        data = write_arrow(table, compression=compression, row_index_stride=1000, bloom_filter_columns=[0, 1])
        assert orcish.ORCFile(data).check() == []
    schema = "struct<a:tinyint,s:char(5),v:varchar(9),b:boolean,m:map<string,int>,t:timestamp,u:uniontype<int,string>>"
    when = dt.datetime(2024, 2, 29, 12, tzinfo=dt.timezone.utc)
    rows = [(i % 100, "ab", "cd", i % 2 == 0, {"k": i}, when, i if i % 2 else str(i)) for i in range(12_000)]
    assert orcish.ORCFile(write_rows(schema, rows, row_index_stride=1000)).check() == []


def test_files_of_spark_pass(spark_orc: Any) -> None:
    query = """select id, cast(id as string) s, cast(id / 7 as double) x, cast(id as decimal(20, 2)) d,
        date '1500-01-01' + cast(id as int) day, timestamp_micros(id * 1000003) t, id % 2 = 0 o,
        array(id, null) l, map('k', id) m, named_struct('a', if(id % 3 = 0, null, id)) st,
        if(id % 5 = 0, null, cast(id % 9 as string)) n, cast(s2 as binary) b
        from (select id, cast(id as string) s2 from range(25000))"""
    for options in ({}, {"orc.bloom.filter.columns": "id,s", "orc.row.index.stride": "1000", "compression": "zlib"}):
        assert orcish.ORCFile(spark_orc(query, **options)).check() == []


KNOWN: dict[str, tuple[str, str]] = {
    "apache+orc/over1k_bloom.orc": ("a filter cannot be decoded", "a version of Hive that was not released"),
    "rapidsai+cudf/TestOrcFile.Spark.EmptyDecompData.orc": ("encoding is -1", "cuDF, of columns without a value"),
    "rapidsai+cudf/TestOrcFile.int16.rle.size.orc": ("encoding is -1", "cuDF, of columns without a value"),
}
"""Files that are not as the format says, in what, and why."""


@pytest.mark.skipif(not valid(), reason="no conformance pack")
def test_files_of_the_pack() -> None:
    """Files of the pack have findings only for known reasons."""
    wrong = []
    unreadable = set()
    for name in valid():
        try:
            findings = orcish.ORCFile(PACK / "files" / name).check()
        except (orcish.UnsupportedError, orcish.LimitExceededError) as error:
            unreadable.add((name, type(error).__name__))
            continue
        expected = KNOWN.get(name)
        if expected:
            assert findings, name
            assert all(expected[0] in finding.message for finding in findings), (name, findings)
        elif findings:
            wrong.append((name, len(findings), findings[0]))
    assert wrong == []
    assert unreadable == {
        ("apache+orc/encrypted.sample2.orc", "UnsupportedError"),
    }


def test_a_second_patch_of_a_value_does_not_count() -> None:
    """As in the reader of ORC C++."""
    head, values = b"\x8e\x13\x2b\x23\x07\xd0", bytes([0x1E, 0x00, 0x14, 0x70, *range(0x28, 0xBF, 10)])
    run = head + values + b"\xfc\xe8\x00\x14\x00\x40"
    data = orc_builder.orc([orc_builder.column_type(orc_builder.LONG)], [(20, [(0, orc_builder.DATA, run)])])
    (column,) = orcish.read_table(io.BytesIO(data)).columns
    assert column.to_pylist() == list(pyorc.Reader(io.BytesIO(data)))
    assert any("two patches of one value" in found.message for found in orcish.ORCFile(io.BytesIO(data)).check())


def test_statistics_of_more_rows_than_there_are() -> None:
    """They are of other rows, and tell nothing of those that are read."""
    data = written(pa.table({"id": range(2100)}), compression="none")
    _, footer = tail(data)
    for path in ([(3, 0), (5, 0)], [(6, 0)]):
        data = with_number(data, place(data, footer, *path), lambda _: 200)
    scan = orcish.scan(data)
    ids = scan.to_table()["id"].to_pylist()
    assert ids == list(range(200))
    for wanted in (scan, scan.where("id >= 0")):
        assert (wanted.min("id"), wanted.max("id"), wanted.sum("id"), wanted.count()) == (0, 199, sum(ids), 200)
    assert orcish.ORCFile(data).check() != []
