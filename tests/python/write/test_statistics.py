"""Statistics that orcish writes: equal to the data, for orcish, pyorc and Java, and no row lost by pruning."""

from __future__ import annotations

import datetime as dt
import io
import itertools
import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pyorc
import pytest
from pyorc.predicates import PredicateColumn
from support.column_statistics import COLUMNS, KINDS, ROWS, expect
from support.orc_java import Java
from support.writer_tables import written

Spark = Any
UTC = dt.timezone.utc
TEXT = "x" * 1023


def data() -> pa.Table:
    return pa.table({name: pa.array(found, KINDS[name][2]) for name, found in COLUMNS.items()})


@pytest.mark.parametrize("version", ["0.11", "0.12"])
def test_files_and_stripes(version: str) -> None:
    file = orcish.ORCFile(written(data(), stripe_size=50_000, row_index_stride=1000, version=version))
    assert file.num_stripes > 1
    for name, found in COLUMNS.items():
        this = file.statistics(name)
        assert this is not None
        expect(this, KINDS[name][0], found)  # type: ignore[no-untyped-call]
        assert this.has_null == (None in found)
        assert this.bytes_on_disk is not None
        stripes = file.stripe_statistics(name)
        assert len(stripes) == file.num_stripes
        for stripe, each in zip(file.stripes, stripes, strict=True):
            expect(each, KINDS[name][0], found[stripe.first_row : stripe.first_row + stripe.num_rows])  # type: ignore[no-untyped-call]
    root = file.statistics("")
    assert root is not None
    assert (root.values, root.has_null) == (ROWS, False)
    decimals = file.statistics("dec")
    assert decimals is not None
    assert decimals.sum == sum(value for value in COLUMNS["dec"] if value is not None)


def test_pyorc_has_the_same() -> None:
    table = data().drop_columns(["inst"])
    reader = pyorc.Reader(io.BytesIO(written(table, row_index_stride=1000)))
    for at, name in enumerate(table.column_names):
        there = [value for value in COLUMNS[name] if value is not None]
        found = reader[at + 1].statistics
        assert found["number_of_values"] == len(there), name
        assert found["has_null"] == (len(there) < ROWS), name
        if not there or "minimum" not in found:
            continue
        least, most = min(there), max(there)
        if name == "t":
            least, most = least.replace(tzinfo=UTC), most.replace(tzinfo=UTC)
        assert (found["minimum"], found["maximum"]) == (least, most), name


def test_java_has_the_same(spark: Spark, tmp_path: Path) -> None:
    table = data()
    path = tmp_path / "a.orc"
    path.write_bytes(written(table, row_index_stride=1000))
    found = list(Java(spark, path).file.getStatistics())
    for at, name in enumerate(table.column_names):
        this, there = found[at + 1], [value for value in COLUMNS[name] if value is not None]
        assert this.getNumberOfValues() == len(there), name
        assert this.hasNull() == (len(there) < ROWS), name
        if not there:
            continue
        kind = KINDS[name][0]
        if kind == "boolean":
            assert this.getTrueCount() == sum(there)
        elif kind == "binary":
            assert this.getSum() == sum(map(len, there))
        elif kind == "timestamp":
            least, most = (value.replace(tzinfo=UTC) for value in (min(there), max(there)))
            assert this.getMinimumUTC().getTime() == int(least.timestamp() * 1000)
            assert this.getMaximumUTC().getTime() == round(most.timestamp() * 1000)
        elif kind in ("decimal", "date"):
            read = Decimal if kind == "decimal" else str
            assert (read(str(this.getMinimum())), read(str(this.getMaximum()))) == (
                read(str(min(there))),
                read(str(max(there))),
            ), name
        else:
            assert (this.getMinimum(), this.getMaximum()) == (min(there), max(there)), name
        if kind == "double":
            assert this.getSum() == pytest.approx(sum(there))


def test_collections() -> None:
    rows = [[1, 2, 3], [], None, [4]] * 1000
    pairs = [None if row is None else [(str(each), each) for each in row] for row in rows]
    table = pa.table({"l": pa.array(rows), "m": pa.array(pairs, pa.map_(pa.string(), pa.int64()))})
    file = orcish.ORCFile(written(table, row_index_stride=1000))
    for name in ("l", "m"):
        this = file.statistics(name)
        assert this is not None
        assert (this.values, this.has_null) == (3000, True)
        assert (this.min_children, this.max_children, this.total_children) in ((0, 3, 4000), (None, None, None))
    inner = file.statistics("l.element")
    assert inner is not None
    assert (inner.values, inner.min, inner.max, inner.sum) == (4000, 1, 4, 10_000)


def test_sums_that_do_not_fit() -> None:
    file = orcish.ORCFile(written(pa.table({"n": [2**63 - 1, 1], "m": [-(2**63), -1], "k": [2**63 - 1, -1]})))
    for name, want in (("n", None), ("m", None), ("k", 2**63 - 2)):
        this = file.statistics(name)
        assert this is not None
        assert this.sum == want


@pytest.mark.parametrize("text", [TEXT + "é", "é" * 600, "\U0010ffff" * 300, "y" * 5000, "\U0010ffff" * 256 + "a"])
def test_long_strings(spark: Spark, tmp_path: Path, text: str) -> None:
    """Bounds have at most 1024 bytes, and are truncated between characters. The upper bound is incremented."""
    rows = [text, text + "b", TEXT + "b" * 10] * 400 + ["a"] * 1200
    table = pa.table({"row": range(2400), "s": rows})
    path = tmp_path / "a.orc"
    path.write_bytes(written(table, row_index_stride=1000))
    file = orcish.ORCFile(path)
    this = file.statistics("s")
    assert this is not None
    assert this.min is None or this.min.encode() <= min(row.encode() for row in rows)
    assert this.max is None or this.max.encode() >= max(row.encode() for row in rows)
    assert this.max is None or len(this.max.encode()) <= 1028
    assert this.total_length == sum(len(row.encode()) for row in rows)
    frame = spark.read.orc(str(path))
    for value in (text, text + "b"):
        assert file.read(filters=orcish.col("s") == value).num_rows == rows.count(value)
        assert frame.where(f"s = '{value}'").count() == rows.count(value)
    assert frame.where(f"s > '{text}'").count() == sum(row.encode() > text.encode() for row in rows)
    assert frame.where("s < 'b'").count() == 1200
    found = [row[0] for row in pyorc.Reader(io.BytesIO(path.read_bytes()), column_names=["s"])]
    assert found == rows


@pytest.mark.parametrize("prefix", ["", "é" * 3 + "a", "the same beginning of all "], ids=len)
@pytest.mark.parametrize("dictionary", [True, False])
def test_bounds_of_texts_that_begin_alike(prefix: str, dictionary: bool) -> None:
    """Texts with a common prefix come in any order."""
    ends = ["", "a", "ab", "abcdefgh", "abcdefghi", "abcdefghj", "b", "\x7f", "é", "z" * 20]
    for found in (ends, ends[::-1], ends[5:] + ends[:5], [ends[4], ends[5], ends[4], ends[3], ends[4]]):
        for count in range(1, len(found) + 1):
            texts = [prefix + end for end in found[:count]]
            data = pa.table({"s": texts, "b": [text.encode() for text in texts]})
            file = orcish.ORCFile(written(data, dictionary={"s": dictionary}))
            this, binary = file.statistics("s"), file.statistics("b")
            assert this is not None
            assert binary is not None
            assert (this.min, this.max) == (min(texts), max(texts, key=str.encode))
            assert (this.min_is_exact, this.max_is_exact) == (True, True)
            assert this.total_length == binary.total_length == sum(len(text.encode()) for text in texts)


@pytest.mark.parametrize("length", [1, 1023, 1024, 1025])
def test_texts_are_bounds_up_to_1024_bytes(length: int) -> None:
    text = "x" * length
    this = orcish.ORCFile(written(pa.table({"s": [text]}))).statistics("s")
    assert this is not None
    exact = length <= 1024
    assert (this.min_is_exact, this.max_is_exact) == (exact, exact)
    assert (this.min, this.max) == ((text, text) if exact else ("x" * 1024, "x" * 1023 + "y"))


@pytest.mark.parametrize("digits", [9, 18, 19, 38])
@pytest.mark.parametrize("sign", [1, -1])
def test_sums_of_decimals(digits: int, sign: int) -> None:
    """Sums have at most 38 digits, as readers support no more."""
    most = 10**digits - 1
    for numbers in ([most], [most, 1], [most, most], [most - 5, 5], [most, 1, -2], [most] * 3):
        whole = [Decimal(sign * number) for number in numbers]
        this = orcish.ORCFile(written(pa.table({"d": pa.array(whole, pa.decimal128(digits, 0))}))).statistics("d")
        assert this is not None
        assert (this.min, this.max) == (min(whole), max(whole))
        total = sum(int(number) for number in whole)
        assert this.sum == (total if abs(total) < 10**38 else None)


def doubles() -> pa.Table:
    """Row groups with NaN among small numbers, with NaN alone, infinities, zeros of either sign, none of these."""
    groups: list[list[float | None]] = [
        [0.25, math.nan, None, 0.5],
        [math.nan],
        [math.inf, -math.inf],
        [0.0],
        [-0.0],
        [0.0, -0.0],
        [None],
        [7.0, 8.0],
        [math.nan, None],
    ]
    found = list(
        itertools.chain.from_iterable(list(itertools.islice(itertools.cycle(group), 1000)) for group in groups)
    )
    return pa.table({"row": range(len(found)), "f": pa.array(found, pa.float64()), "g": pa.array(found, pa.float32())})


DOUBLE_QUERIES = [
    "{} = double('NaN')",
    "{} > 1",
    "{} >= 0.5",
    "{} < 0.3",
    "not ({} <= 1)",
    "{} = 7",
    "{} is null",
    "{} in (0.25, double('NaN'))",
    "{} = double('Infinity')",
    "{} between 6 and double('NaN')",
]


@pytest.mark.parametrize("bloom", [False, True])
def test_nan_in_spark(spark: Spark, tmp_path: Path, bloom: bool) -> None:
    """Spark finds the same rows as without pruning."""
    table = doubles()
    path = tmp_path / "a.orc"
    options: dict[str, Any] = {"bloom_filter_columns": ["f", "g"]} if bloom else {}
    path.write_bytes(written(table, row_index_stride=1000, **options))
    frame = spark.read.orc(str(path))
    for query in (query.format(name) for query in DOUBLE_QUERIES for name in ("f", "g")):
        found = frame.where(query).select("row").toArrow()["row"].to_pylist()
        spark.conf.set("spark.sql.orc.filterPushdown", "false")
        try:
            want = frame.where(query).select("row").toArrow()["row"].to_pylist()
        finally:
            spark.conf.set("spark.sql.orc.filterPushdown", "true")
        assert found == want, query


@pytest.mark.parametrize("bloom", [False, True])
@pytest.mark.parametrize("query", ["{} = 0.0", "{} = -0.0", "{} < 0.0", "{} >= 0.0", "{} in (0.0, 9)", "{} <= -0.0"])
def test_zeros_in_spark(spark: Spark, tmp_path: Path, query: str, bloom: bool) -> None:
    """Zeros of either sign are equal."""
    table = doubles()
    path = tmp_path / "a.orc"
    options: dict[str, Any] = {"bloom_filter_columns": ["f", "g"]} if bloom else {}
    path.write_bytes(written(table, row_index_stride=1000, **options))
    frame = spark.read.orc(str(path))
    for name in ("f", "g"):
        found = frame.where(query.format(name)).select("row").toArrow()["row"].to_pylist()
        spark.conf.set("spark.sql.orc.filterPushdown", "false")
        try:
            want = frame.where(query.format(name)).select("row").toArrow()["row"].to_pylist()
        finally:
            spark.conf.set("spark.sql.orc.filterPushdown", "true")
        assert found == want


def test_nan_and_zeros_in_orcish() -> None:
    table = doubles()
    for bloom in ([], ["f", "g"]):
        file = orcish.ORCFile(written(table, row_index_stride=1000, bloom_filter_columns=bloom))
        assert [str(value) for value in file.read()["f"].to_pylist()] == [str(v) for v in table["f"].to_pylist()]
        values = table["f"].to_pylist()
        asked: list[tuple[Any, Callable[[Any], bool]]] = [
            (orcish.col("f") == 0.0, lambda value: value == 0),
            (orcish.col("f") == -0.0, lambda value: value == 0),
            (orcish.col("f") > 1, lambda value: value is not None and value > 1),
            (orcish.col("f").is_nan(), lambda value: value is not None and math.isnan(value)),
            (orcish.col("f").is_null(), lambda value: value is None),
        ]
        for filters, holds in asked:
            want = [row for row, value in enumerate(values) if holds(value)]
            assert file.read(filters=filters, columns=["row"])["row"].to_pylist() == want


NAN_CASES: list[tuple[Callable[[Any], Any], Callable[[float], bool]]] = [
    (lambda field: ~(field <= 0.5), lambda value: not value <= 0.5),
    (lambda field: ~(field < 100.0), lambda value: not value < 100),
    (lambda field: ~(field == 5.0), lambda value: value != 5),
    (lambda field: ~((field >= 0.0) & (field <= 100.0)), lambda value: not 0 <= value <= 100),
    (lambda field: field > 7.0, lambda value: value > 7),
]


def nans(place: int, others: list[float]) -> list[float]:
    """Three row groups, of whose rows one is NaN."""
    found = list(itertools.islice(itertools.cycle(others), 3000))
    found[place] = math.nan
    return found


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()], ids=str)
@pytest.mark.parametrize("others", [[5.0], [0.25, 0.5], [7.0, 8.0], [math.nan], [math.inf, -math.inf, 5.0]], ids=str)
@pytest.mark.parametrize("place", [0, 1500, 2999])
def test_nan_is_known_by_all_statistics(kind: pa.DataType, others: list[float], place: int) -> None:
    """Statistics of row groups, stripes, files and merged files record NaN: ORC C++ finds every row."""
    first, last = nans(place, others), [1.0] * 1000
    out = io.BytesIO()
    table = pa.table({"f": pa.array(first, kind)})
    with orcish.ORCWriter(out, table.schema, row_index_stride=1000) as writer:
        writer.write(table)
        writer.end_stripe()
        writer.write(pa.table({"f": pa.array(last, kind)}))
    merged = io.BytesIO()
    orcish.merge(
        [written(pa.table({"f": pa.array(rows, kind)}), row_index_stride=1000) for rows in (last, first)], merged
    )
    for file, nan_at in ((out.getvalue(), 0), (merged.getvalue(), 1)):
        read = orcish.ORCFile(file)
        assert read.check() == []
        for found in (read.statistics("f"), read.stripe_statistics("f")[nan_at]):
            assert found.min is found.max is None
            assert math.isnan(found.sum)
        reader = pyorc.Reader(io.BytesIO(file))
        for found in (reader[1].statistics, reader.read_stripe(nan_at)[1].statistics):
            assert math.isnan(found["sum"])
        rows = [row for (row,) in reader]
        for asked, holds in NAN_CASES:
            predicate = asked(
                PredicateColumn(pyorc.TypeKind.FLOAT if kind == pa.float32() else pyorc.TypeKind.DOUBLE, "f")
            )
            handed = [row for (row,) in pyorc.Reader(io.BytesIO(file), predicate=predicate)]
            assert sum(map(holds, handed)) == sum(map(holds, rows))


def test_bounds_of_timestamps() -> None:
    ticks = [-(10**18) + 1, 10**18 + 999_999_999, 1]
    for zone in ("UTC", "America/New_York"):
        table = pa.table({"t": pa.array(ticks, pa.timestamp("ns")), "z": pa.array(ticks, pa.timestamp("ns", "UTC"))})
        file = orcish.ORCFile(written(table, timezone=zone, row_index_stride=1000))
        for name in ("t", "z"):
            assert file.read(filters=orcish.col(name) == table[name][0], timestamp_unit="ns").num_rows == 1
            assert file.read(filters=orcish.col(name) >= table[name][1], timestamp_unit="ns").num_rows == 1


def test_bloom_filters_of_each_type() -> None:
    """Bloom filters contain each value, and few other values match."""
    rows = 3000
    numbers = [row * 7919 % rows * 2 for row in range(rows)]
    table = pa.table(
        {
            "i": pa.array(numbers, pa.int32()),
            "l": pa.array([number * 10**12 for number in numbers]),
            "f": pa.array([number / 4 for number in numbers], pa.float32()),
            "d": pa.array([number / 8 for number in numbers]),
            "s": [f"s{number:06}" for number in numbers],
            "b": [f"b{number:06}".encode() for number in numbers],
            "n": pa.array(numbers, pa.int64()).cast(pa.decimal128(30, 3)),
            "t": pa.array([number * 10**6 + 1000 for number in numbers], pa.timestamp("us")),
            "day": pa.array(numbers, pa.int32()).cast(pa.date32()),
        }
    )
    file = orcish.ORCFile(
        written(table, row_index_stride=1000, bloom_filter_columns=table.column_names, bloom_filter_fpp=0.01)
    )
    for name in table.column_names:
        for row in range(0, rows, 97):
            found = file.read(filters=orcish.col(name) == table[name][row].as_py(), row_number="row", columns=[name])
            assert found["row"].to_pylist() == [row], (name, row)
