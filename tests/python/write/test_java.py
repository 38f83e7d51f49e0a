"""What orcish writes, ORC's Java library reads: Spark with filters pushed down, and the library itself with seeks."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from support.orc_java import Java, lines
from support.writer_tables import (
    COMBINATIONS,
    ROWS,
    STRIDE,
    assert_same,
    bloomed,
    table,
    table_without_gaps,
    union,
    written,
)

Spark = Any
PEER_FAULTS = [
    # (peer, what, where it comes from)
    ("Spark", "brotli", "Spark has no brotli4j among its jars"),
    ("Java", "seekToRow in files with bloom filters", "StripePlanner: bloomFilterColumns is null without a predicate"),
    ("Java", "seekToRow to earlier rows", "wrong rows or exceptions, in files of Java's own too"),
    (
        "Java",
        "files without compression where a row group that is read has no values",
        "'Seek in column … is outside of the data', in files of Java's own too",
    ),
    (
        "Spark",
        "s.a is null, where s is null and a never is",
        "pushed down to the statistics of a, which know of no null; in files of Spark's own too",
    ),
    ("Spark", "uniontype", "Spark has no such type"),
]
"""What peers are known to do wrong, or not to do."""

KNOWN = {title: options for title, options in COMBINATIONS if options["compression"] != "brotli"}


@functools.cache
def data(title: str = "") -> pa.Table:
    """What the file of a combination has."""
    return table_without_gaps() if title.startswith("none") else table()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of each combination, in folders that Spark takes for a column."""
    top = tmp_path_factory.mktemp("combinations")
    for title, options in KNOWN.items():
        if options["row_index_stride"] and options["version"] == "0.12":
            options = {**options, "bloom_filter_columns": bloomed(data())}
        path = top / f"combination={title}" / "part.orc"
        path.parent.mkdir()
        path.write_bytes(written(data(title), **options))
    return top


@pytest.fixture(scope="module")
def frame(spark: Spark, folder: Path) -> Any:
    return spark.read.orc(str(folder))


def parts(found: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """What Spark reads of each combination."""
    titles = found["combination"].combine_chunks()
    rest = found.drop_columns(["combination"])
    for title in KNOWN:
        yield title, rest.filter(pc.equal(titles, title))


def test_spark_reads_all(frame: Any) -> None:
    for title, found in parts(frame.toArrow()):
        assert found.num_rows == ROWS, title
        assert_same(found, data(title))


def test_spark_reads_all_row_by_row(spark: Spark, frame: Any) -> None:
    """Spark's reader of single rows reads the file."""
    spark.conf.set("spark.sql.orc.enableVectorizedReader", "false")
    try:
        for title, found in parts(frame.where("g between 12 and 31 or g = 50").toArrow()):
            rows = [*range(1200, 3200), *range(5000, 5100)]
            assert found.num_rows == len(rows), title
            assert_same(found, data(title).take(rows))
    finally:
        spark.conf.unset("spark.sql.orc.enableVectorizedReader")


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("g = 13", range(1300, 1400)),
        ("row in (0, 1002, 1003, 1004, 2005, 2006, 5531)", [0, 1002, 1003, 1004, 2005, 2006, 5531]),
        ("row >= 5014", range(5014, ROWS)),
        ("k < 2", [row for row in range(ROWS) if row * 7919 % ROWS < 2]),
        ("k = 77", [row for row in range(ROWS) if row * 7919 % ROWS == 77]),
        ("row between 3008 and 3010", [3008, 3009, 3010]),
    ],
)
def test_spark_begins_at_row_groups(frame: Any, where: str, rows: Any) -> None:
    """With a filter on a key, the other columns are read from positions of the row index."""
    for title, found in parts(frame.where(where).toArrow()):
        assert found.num_rows == len(rows), title
        assert_same(found, data(title).take(list(rows)))


def literal(value: Any, kind: pa.DataType) -> str:
    """A value as SQL has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"cast('{value!r}' as {'float' if kind == pa.float32() else 'double'})"
    if isinstance(value, Decimal):
        return f"cast('{value}' as decimal({kind.precision},{kind.scale}))"
    if isinstance(value, dt.datetime):
        return f"timestamp'{value.replace(tzinfo=None)}'"
    if isinstance(value, dt.date):
        return f"date'{value}'"
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    return f"'{value}'" if isinstance(value, str) else str(value)


FILTERED = ["o", "i8", "i16", "i32", "i64", "f32", "f64", "s", "w", "b", "day", "t", "tz", "d9", "d18", "d38", "vc"]
# Beside the column itself, those of other layouts by turns.
BESIDE = [["l_o", "o"], ["l_s", "s0"], ["m_s", "t"], ["deep", "d18"], ["st", "f64"], ["m_i", "w0"], ["l_t", "b"]]


@pytest.mark.parametrize("name", [each + plain for each in FILTERED for plain in ("", "0") if each + plain != "vc0"])
def test_spark_filters_on_each_type(frame: Any, name: str) -> None:
    kind = data().schema.field(name).type
    columns = list(dict.fromkeys(["row", "g", name, *BESIDE[sum(name.encode()) % len(BESIDE)]]))
    text = functools.partial(literal, kind=kind)
    there = sorted({value for value in data()[name].to_pylist() if value is not None})
    low, middle, high = there[len(there) // 50], there[len(there) // 2], there[-1]
    asked: list[tuple[str, Callable[[Any], bool]]] = [
        (f"{name} = {text(middle)}", lambda value: value == middle),
        (f"{name} <= {text(low)}", lambda value: value is not None and value <= low),
        (f"{name} in ({text(low)}, {text(high)})", lambda value: value in (low, high)),
        (f"{name} is null", lambda value: value is None),
    ]
    for where, holds in asked:
        query = frame.where(where).select(*columns, "combination")
        rows = {gaps: [row for row, value in enumerate(values_of(name, gaps)) if holds(value)] for gaps in ("", "none")}
        for title, got in parts(query.toArrow()):
            want = rows["none" if title.startswith("none") else ""]
            assert got["row"].to_pylist() == want, (title, where)
            if title in (f"none_0_12_{STRIDE}", f"zlib_0_11_{STRIDE}", f"zstd_0_12_{STRIDE}"):
                assert_same(got, data(title).select(columns).take(pa.array(want, pa.int64())))


@functools.cache
def values_of(name: str, title: str) -> list[Any]:
    return list(data(title)[name].to_pylist())


def test_spark_filters_within_structs(frame: Any) -> None:
    value = next(row["i32"] for row in values_of("st", "")[2500:] if row and row["i32"] is not None)
    asked: list[tuple[str, Callable[[Any], Any]]] = [
        (f"st.i32 = {value}", lambda row: row and row["i32"] == value),
        ("st is null", lambda row: row is None),
        ("st is not null and st.s is null", lambda row: row and row["s"] is None),
    ]
    for where, holds in asked:
        for title, got in parts(frame.where(where).select("row", "st", "l_o", "combination").toArrow()):
            rows = [at for at, row in enumerate(values_of("st", title[:4])) if holds(row)]
            assert got["row"].to_pylist() == rows, (title, where)


# The Java library itself.

WIDE = 10**10
"""Larger numbers than those that would reach Java as an Integer."""


@pytest.fixture(scope="module")
def everything() -> pa.Table:
    """Unions too."""
    return table(unions=True)


@pytest.mark.parametrize("stride", [1000, 1001, 1003, 1006, 2047])
@pytest.mark.parametrize("version", ["0.11", "0.12"])
def test_java_seeks(spark: Spark, tmp_path: Path, everything: pa.Table, version: str, stride: int) -> None:
    """Java seeks to the first rows of row groups and to other rows, in all columns at once."""
    codec = ["none", "zlib", "zstd", "lz4", "snappy"][stride % 5]
    path = tmp_path / "a.orc"
    path.write_bytes(
        written(
            everything,
            version=version,
            compression=codec,
            row_index_stride=stride,
            compression_block_size=1024 if stride % 2 else 16_384,
            stripe_size=300_000,
            dictionary={"s": True, "w": False, "l_w": stride % 2 == 0},
        )
    )
    java = Java(spark, path)
    texts = java.texts()
    assert len(texts) == ROWS
    rows = java.file.rows()
    batch = java.file.getSchema().createRowBatch(3)
    wanted = {at + by for at in range(0, ROWS, stride) for by in (0, 1, 7, 500) if at + by < ROWS}
    for row in sorted(wanted):
        rows.seekToRow(row)
        rows.nextBatch(batch)
        assert lines(batch)[:1] == texts[row : row + 1], row
    rows.close()


@pytest.mark.parametrize("nulls", [False, True])
def test_java_reads_unions(spark: Spark, tmp_path: Path, nulls: bool) -> None:
    array = union("java", 3000, nulls=nulls)
    path = tmp_path / "u.orc"
    path.write_bytes(written(pa.table({"u": array}), row_index_stride=1000))

    def text(tag: int, value: Any) -> str:
        if value is None:
            inner = "null"
        elif isinstance(value, str):
            inner = f'"{value}"'
        elif isinstance(value, dict):
            inner = f"[{'null' if value['a'] is None else value['a']}]"
        else:
            # A batch has booleans as numbers.
            inner = str(int(value))
        return f'[{{"tag": {tag}, "value": {inner}}}]'

    want = [text(tag, value) for tag, value in zip(array.type_codes.to_pylist(), array.to_pylist(), strict=True)]
    assert Java(spark, path).texts() == want


def test_java_prunes(spark: Spark, tmp_path: Path) -> None:
    """Statistics and bloom filters exclude row groups for each type."""
    groups = 6
    numbers = [row // 1000 for row in range(groups * 1000)]
    columns: dict[str, Any] = {
        "n": pa.array([(number + 1) * WIDE for number in numbers]),
        "f": pa.array([number * 1.5 for number in numbers]),
        "s": [f"v{number}" for number in numbers],
        "day": [dt.date(1960 + number, 3, 1) for number in numbers],
        "t": pa.array([dt.datetime(1968 + number, 3, 1, 1, 2, 3, 456_789) for number in numbers], pa.timestamp("us")),
        "d": [Decimal(number * 101).scaleb(-2) for number in numbers],
        "gaps": pa.array([None if number == 3 else number for number in numbers]),
        # Values beside each other in all row groups, which bloom filters tell apart.
        "spread": pa.array([WIDE + row * 7919 % 6000 * 2 for row in range(6000)]),
        "words": [f"w{row * 7919 % 6000 * 2:06}" for row in range(6000)],
    }
    data = pa.table({"row": range(groups * 1000), **columns})
    path = tmp_path / "a.orc"
    path.write_bytes(
        written(data, row_index_stride=1000, bloom_filter_columns=["spread", "words"], bloom_filter_fpp=0.0001)
    )
    java = Java(spark, path)
    jvm = java.jvm
    sarg = jvm.org.apache.hadoop.hive.ql.io.sarg
    kinds = jvm.java.lang.Class.forName("org.apache.hadoop.hive.ql.io.sarg.PredicateLeaf$Type")

    def kind(name: str) -> Any:
        return jvm.java.lang.Enum.valueOf(kinds, name)

    decimal = jvm.org.apache.hadoop.hive.serde2.io.HiveDecimalWritable("3.03")
    timestamp = jvm.java.sql.Timestamp.valueOf("1969-03-01 01:02:03.456789")
    cases: list[tuple[str, Callable[[Any], Any], list[int]]] = [
        ("n", lambda builder: builder.equals("n", kind("LONG"), 3 * WIDE), [2]),
        ("n", lambda builder: builder.lessThanEquals("n", kind("LONG"), 3 * WIDE), [0, 1, 2]),
        ("n", lambda builder: builder.between("n", kind("LONG"), 3 * WIDE + 1, 5 * WIDE), [3, 4]),
        ("f", lambda builder: builder.equals("f", kind("FLOAT"), 4.5), [3]),
        ("f", lambda builder: builder.lessThan("f", kind("FLOAT"), 1.6), [0, 1]),
        ("s", lambda builder: builder.equals("s", kind("STRING"), "v4"), [4]),
        ("s", lambda builder: builder.between("s", kind("STRING"), "v1", "v2"), [1, 2]),
        ("day", lambda builder: builder.equals("day", kind("DATE"), jvm.java.sql.Date.valueOf("1963-03-01")), [3]),
        ("t", lambda builder: builder.equals("t", kind("TIMESTAMP"), timestamp), [1]),
        ("t", lambda builder: builder.lessThan("t", kind("TIMESTAMP"), timestamp), [0]),
        ("d", lambda builder: builder.equals("d", kind("DECIMAL"), decimal), [3]),
        ("gaps", lambda builder: builder.isNull("gaps", kind("LONG")), [3]),
        ("spread", lambda builder: builder.equals("spread", kind("LONG"), WIDE + 5001), []),
        ("spread", lambda builder: builder.equals("spread", kind("LONG"), WIDE), [0]),
        ("words", lambda builder: builder.equals("words", kind("STRING"), "w005001"), []),
        ("words", lambda builder: builder.equals("words", kind("STRING"), "w000000"), [0]),
    ]
    for name, ask, want in cases:
        argument = ask(sarg.SearchArgumentFactory.newBuilder().startAnd()).end().build()
        names = spark.sparkContext._gateway.new_array(jvm.java.lang.String, 1)
        names[0] = name
        options = java.file.options().searchArgument(argument, names)
        rows = [int(text[1 : text.index(",")]) for text in java.texts(options)]
        groups_read = sorted({row // 1000 for row in rows})
        assert groups_read == want, (name, str(argument.toString()))
        assert len(rows) == 1000 * len(want)


# Types that Spark has and Arrow has not, or says otherwise.


def test_spark_char_and_varchar(spark: Spark, tmp_path: Path) -> None:
    fields = [
        pa.field("row", pa.int32()),
        pa.field("c", pa.string(), metadata={"orc.type": "char(5)"}),
        pa.field("v", pa.string(), metadata={"orc.type": "varchar(5)"}),
    ]
    texts = ["ab", None, "", "abcde", "é日", " x"] * 500
    data = pa.table([pa.array(range(3000), pa.int32()), texts, texts], schema=pa.schema(fields))
    path = tmp_path / "c.orc"
    path.write_bytes(written(data, row_index_stride=1000, bloom_filter_columns=["c", "v"]))
    frame = spark.read.orc(str(path))
    assert frame.schema["c"].metadata == {"__CHAR_VARCHAR_TYPE_STRING": "char(5)"}
    assert frame.schema["v"].metadata == {"__CHAR_VARCHAR_TYPE_STRING": "varchar(5)"}
    rows = frame.toArrow()
    assert rows["v"].to_pylist() == texts
    assert [text and text.ljust(5) if text != "" else "     " for text in texts] == [
        text if text is None else text.ljust(5) for text in rows["c"].to_pylist()
    ]
    for name in ("c", "v"):
        value = "ab   " if name == "c" else "ab"
        assert frame.where(f"{name} = '{value}'").count() == 500
        assert frame.where(f"{name} is null").count() == 500
