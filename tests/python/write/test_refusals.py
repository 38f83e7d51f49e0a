"""What cannot be stored is refused, by row and column; nothing appears under the name, and an old file stays."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from support import orc_builder
from support.processes import run_python
from support.writer_tables import written

BAD = 1234
"""The row that is wrong."""


def at_row(value: Any, good: Any, kind: pa.DataType) -> pa.Array:
    return pa.array([*[good, None] * (BAD // 2), value, good], kind)


def text_field(kind: str) -> pa.Field:
    return pa.field("c", pa.string(), metadata={"orc.type": kind})


def strict(array: pa.Array) -> pa.Table:
    return pa.table([array], schema=pa.schema([pa.field("c", array.type, nullable=False)]))


def wrapped(array: pa.Array, field: pa.Field) -> pa.Table:
    return pa.table({"s": pa.StructArray.from_arrays([array], fields=[field])})


def not_text(kind: pa.DataType, value: bytes = b"caf\xe9") -> pa.Array:
    """Text of which one value is not UTF-8, as pyarrow lets it be made; beside it is text that is not ASCII."""
    binary = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}[kind]
    values = at_row(value, "é".encode(), pa.large_binary()).cast(binary)
    return pa.Array.from_buffers(kind, len(values), values.buffers())


def not_text_of_dictionary() -> pa.Array:
    values = not_text(pa.string()).slice(BAD - 2)
    return pa.DictionaryArray.from_arrays(pa.array([0, None] * (BAD // 2) + [2, 0], pa.int32()), values)


def halves() -> pa.Array:
    """Two values that are text together, and none alone."""
    offsets = pa.array(range(BAD + 3), pa.int32()).buffers()[1]
    return pa.Array.from_buffers(pa.string(), BAD + 2, [None, offsets, pa.py_buffer(b"a" * BAD + "é".encode())])


NANOS = pa.array([0] * BAD + [-1], pa.timestamp("ns"))
TIMED = pa.Array.from_buffers(pa.date64(), BAD + 1, [None, pa.array([0] * BAD + [86_400_001], pa.int64()).buffers()[1]])
CASES: dict[str, tuple[Callable[[], pa.Table], str, str]] = {
    "decimal256": (
        lambda: pa.table({"c": at_row(Decimal(10**38), Decimal(1), pa.decimal256(39, 0))}),
        "c",
        "38|digits",
    ),
    "decimal256, negative scale": (
        lambda: pa.table({"c": at_row(Decimal("1e39"), Decimal("1e3"), pa.decimal256(39, -3))}),
        "c",
        "38|digits",
    ),
    "time before the day": (lambda: pa.table({"c": at_row(-1, 1, pa.time32("s"))}), "c", "no day"),
    "time after the day": (lambda: pa.table({"c": at_row(86_400_000_000_000, 1, pa.time64("ns"))}), "c", "no day"),
    "fraction before 1970": (
        lambda: pa.table({"c": at_row(dt.datetime(1969, 12, 31, 23, 59, 59, 500_000), None, pa.timestamp("us"))}),
        "c",
        "1970",
    ),
    "nanosecond before 1970": (lambda: pa.table({"c": NANOS}), "c", "1970"),
    "fraction before 1970, with a zone": (
        lambda: pa.table(
            {"c": at_row(dt.datetime(1969, 12, 31, 23, 59, 59, 500_000), None, pa.timestamp("us", "UTC"))}
        ),
        "c",
        "1970",
    ),
    "date64 with a time": (lambda: pa.table({"c": TIMED}), "c", "day|midnight|time"),
    "null": (lambda: strict(pa.array([1] * BAD + [None])), "c", "null"),
    "null in a struct": (
        lambda: wrapped(pa.array([1] * BAD + [None]), pa.field("c", pa.int64(), nullable=False)),
        "s.c",
        "null",
    ),
    "char": (
        lambda: pa.table([at_row("éééé", "éé", pa.string())], schema=pa.schema([text_field("char(3)")])),
        "c",
        "char|long|3",
    ),
    "varchar": (
        lambda: pa.table([at_row("abcd", "abc", pa.string())], schema=pa.schema([text_field("varchar(3)")])),
        "c",
        "varchar|long|3",
    ),
    "text": (lambda: pa.table({"c": not_text(pa.string())}), "c", r"not UTF-8: \"caf\\xe9\""),
    "large text": (lambda: pa.table({"c": not_text(pa.large_string())}), "c", "not UTF-8"),
    "text in views": (lambda: pa.table({"c": not_text(pa.string_view())}), "c", "not UTF-8"),
    "long text in views": (lambda: pa.table({"c": not_text(pa.string_view(), b"\xff" * 40)}), "c", "not UTF-8"),
    "text in a dictionary": (lambda: pa.table({"c": not_text_of_dictionary()}), "c", "not UTF-8"),
    "text in a struct": (lambda: wrapped(not_text(pa.string()), pa.field("c", pa.string())), "s.c", "not UTF-8"),
    "a slice of text": (
        lambda: pa.table({"c": pa.concat_arrays([pa.array(["é"]), halves()])}).slice(1),
        "c",
        "not UTF-8",
    ),
    "half a character": (lambda: pa.table({"c": halves()}), "c", "not UTF-8"),
    "varchar that is no text": (
        lambda: pa.table([not_text(pa.string())], schema=pa.schema([text_field("varchar(9)")])),
        "c",
        "not UTF-8",
    ),
}


@pytest.mark.parametrize("title", CASES)
@pytest.mark.parametrize("old", [b"what was there", None])
def test_values(tmp_path: Path, title: str, old: bytes | None) -> None:
    make, column, about = CASES[title]
    path = tmp_path / "a.orc"
    if old:
        path.write_bytes(old)
    with pytest.raises(ValueError, match=about) as caught:
        orcish.write_table(make(), path, existing_data="overwrite" if old else "error")
    assert f"row {BAD}" in str(caught.value)
    assert f"column {column}" in str(caught.value)
    assert path.exists() == (old is not None)
    assert old is None or path.read_bytes() == old
    del caught
    assert [each for each in tmp_path.iterdir() if each != path] == []


@pytest.mark.parametrize("kind", [pa.large_list, pa.large_list_view])
def test_lists_that_are_too_long_to_be_read_are_refused(kind: Callable[..., pa.DataType], tmp_path: Path) -> None:
    items = pa.nulls(2**32)
    offsets = pa.array([0, 0, 2**32] if kind is pa.large_list else [0, 0], pa.int64())
    if kind is pa.large_list:
        lists = pa.LargeListArray.from_arrays(offsets, items)
    else:
        lists = pa.LargeListViewArray.from_arrays(offsets, pa.array([0, 2**32], pa.int64()), items)
    with pytest.raises(ValueError, match="4294967296 elements"):
        orcish.write_table(pa.table({"l": lists}), tmp_path / "a.orc")
    assert list(tmp_path.iterdir()) == []


def test_bytes_of_nulls_may_be_anything() -> None:
    """Values of null slots, and unreferenced dictionary values, may be anything."""
    expected = ["é", None] * (BAD // 2) + [None, "é"]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        values = not_text(kind)
        is_valid = pa.array([value is not None for value in expected]).buffers()[1]
        column = pa.Array.from_buffers(kind, len(values), [is_valid, *values.buffers()[1:]])
        assert orcish.read_table(written(pa.table({"c": column})))["c"].to_pylist() == expected
    keys = pa.array([0 if value else None for value in expected], pa.int32())
    column = pa.DictionaryArray.from_arrays(keys, not_text(pa.string()))
    assert orcish.read_table(written(pa.table({"c": column})))["c"].to_pylist() == expected
    within = pa.ListArray.from_arrays(pa.array([0, 1, 1, 1], pa.int32()), not_text(pa.string()))
    assert orcish.read_table(written(pa.table({"c": within})))["c"].to_pylist() == [["é"], [], []]


def in_views(values: list[bytes | None]) -> pa.Array:
    binary = pa.array(values, pa.binary_view())
    return pa.Array.from_buffers(pa.string_view(), len(values), binary.buffers())


@pytest.mark.parametrize("length", [1, 2, 4, 5, 8, 11, 12, 13, 40])
def test_text_in_views(length: int) -> None:
    """Views store short values inline: an invalid byte at any place is found."""
    short, long = [b"a" * each for each in range(13)], [b"a" * each for each in range(13, 30)]
    for at in range(length):
        wrong = b"a" * at + b"\xe9" + b"a" * (length - at - 1)
        for batch in ([wrong], [wrong, *short], [*short, None, wrong], [*long, wrong], ["é".encode(), wrong]):
            with pytest.raises(ValueError, match=rf"column c: row {batch.index(wrong)}: text that is not UTF-8"):
                written(pa.table({"c": in_views(batch)}))
        if at + 1 < length:
            right = b"a" * at + "é".encode() + b"a" * (length - at - 2)
            batch = [right, None, *short, *long]
            back = orcish.read_table(written(pa.table({"c": in_views(batch)})))
            assert back["c"].to_pylist() == [None if each is None else each.decode() for each in batch]


@pytest.mark.parametrize("length", [31, 32, 33, 1000])
def test_messages_show_the_beginning_of_what_is_no_text(length: int) -> None:
    data = pa.table({"c": in_views([b"\xff" + b"a" * (length - 1)])})
    shown = "a" * (min(length, 32) - 1) + ("…" if length > 32 else "")
    with pytest.raises(ValueError, match=rf'not UTF-8: "\\xff{shown}";'):
        written(data)


@pytest.mark.parametrize("ends", [[0, 20, 5], [0, 2**31 - 1, 10], [0, 0, 11, 3]])
def test_lists_beyond_their_elements(tmp_path: Path, ends: list[int]) -> None:
    """Invalid offsets from foreign producers cause no panic and no invalid memory access."""
    values = pa.array(range(10))
    entries = pa.StructArray.from_arrays([values, values], ["key", "value"])
    forms: list[tuple[pa.DataType, pa.DataType, pa.Array]] = [
        (pa.list_(pa.int64()), pa.int32(), values),
        (pa.large_list(pa.int64()), pa.int64(), values),
        (pa.map_(pa.int64(), pa.int64()), pa.int32(), entries),
    ]
    for kind, offset, below in forms:
        offsets = pa.array(ends, offset).buffers()[1]
        array = pa.Array.from_buffers(kind, len(ends) - 1, [None, offsets], children=[below])
        with pytest.raises(ValueError, match="shorter than its parent"):
            orcish.write_table(pa.table({"a": array}), tmp_path / "a.orc")
        assert list(tmp_path.iterdir()) == []


def test_no_temporary_file_is_left(tmp_path: Path) -> None:
    """No temporary file is left, while the writer still exists."""
    path = tmp_path / "a.orc"
    writer = orcish.ORCWriter(path, pa.schema([text_field("varchar(3)")]))
    with pytest.raises(ValueError, match="row"), writer:
        writer.write(CASES["varchar"][0]())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("title", ["decimal256", "null in a struct", "varchar", "fraction before 1970"])
def test_rows_are_those_of_the_file(title: str) -> None:
    """Row numbers in messages count the rows of the file over batches, row groups and stripes."""
    make, column, _ = CASES[title]
    good = make().slice(0, 1000)
    reader = pa.RecordBatchReader.from_batches(
        good.schema, [*good.to_batches(), *good.slice(1, 700).to_batches(), *make().to_batches()]
    )
    with pytest.raises(ValueError, match=f"row {1000 + 700 + BAD}\\b") as caught:
        written(reader, row_index_stride=1000, stripe_size=1)
    assert f"column {column}" in str(caught.value)


def test_values_in_lists_name_a_row() -> None:
    """The row in the message is the row of the list."""
    within = pa.array([[0, 1]] * 100 + [[2, None]], pa.list_(pa.field("element", pa.int64(), nullable=False)))
    with pytest.raises(ValueError, match=r"row 100\b") as caught:
        written(pa.table({"l": within}))
    assert "column l.element" in str(caught.value)
    short = pa.array(["abc"] * 8 + ["abcd"])
    offsets = pa.array([*range(8), 9], pa.int32())
    kind = pa.map_(pa.string(), text_field("varchar(3)").with_name("value"))
    assert kind.item_field.metadata
    pairs = pa.MapArray.from_arrays(offsets, pa.array([f"k{at}" for at in range(9)]), short, type=kind)
    with pytest.raises(ValueError, match=r"row 7\b") as caught:
        written(pa.table({"m": pairs}))
    assert "column m.value" in str(caught.value)
    texts = not_text(pa.string()).drop_null()
    with pytest.raises(ValueError, match=r"column l.element: row 1: text that is not UTF-8"):
        written(pa.table({"l": pa.ListArray.from_arrays(pa.array([0, 600, len(texts)], pa.int32()), texts)}))


def test_what_is_below_a_null_is_not_asked() -> None:
    inner = pa.array([1, None, 3])
    struct = pa.StructArray.from_arrays(
        [inner], fields=[pa.field("c", pa.int64(), nullable=False)], mask=pa.array([False, True, False])
    )
    back = orcish.read_table(written(pa.table({"s": struct})))
    assert back["s"].to_pylist() == [{"c": 1}, None, {"c": 3}]


@pytest.mark.parametrize(
    ("value", "unit"), [(-1_000_000_000, "ns"), (-1_000_000, "us"), (-1000, "ms"), (-1, "s"), (-1_000_000_001, "ns")]
)
def test_whole_seconds_before_1970_are_stored(value: int, unit: str) -> None:
    data = pa.table({"t": pa.array([value], pa.timestamp(unit))})
    back = orcish.read_table(written(data), timestamp_unit="ns")
    assert back["t"].cast(pa.int64()).to_pylist() == [value * {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}[unit]]


def test_batches_of_another_schema(tmp_path: Path) -> None:
    path = tmp_path / "a.orc"
    schema = pa.schema([("a", pa.int64()), ("b", pa.string())])
    good = pa.record_batch({"a": [1], "b": ["x"]}, schema=schema)
    for other in [
        pa.record_batch({"a": [1]}),
        pa.record_batch({"a": [1], "c": ["x"]}),
        pa.record_batch({"a": pa.array([1], pa.int32()), "b": ["x"]}),
        pa.record_batch({"b": ["x"], "a": [1]}),
        pa.record_batch({"a": [1], "b": ["x"], "d": [2]}),
    ]:
        writer = orcish.ORCWriter(path, schema)
        writer.write(good)
        with pytest.raises(ValueError, match="batch"):
            writer.write(other)
        with pytest.raises(ValueError, match="fail"):
            writer.write(good)
        with pytest.raises(ValueError, match="fail"):
            writer.close()
        assert not path.exists()


TABLE = pa.table({"a": [1], "b": ["x"], "o": [True], "s": [{"t": "y"}]})


@pytest.mark.parametrize(
    ("options", "error", "about"),
    [
        ({"compression": "lzo"}, orcish.UnsupportedError, "lzo"),
        ({"compression": "ZSTD "}, ValueError, "compression"),
        ({"compression": "gzip"}, ValueError, "gzip.*brotli.*did you mean .zlib."),
        ({"compression": 5}, TypeError, "compression=5: must be a string"),
        ({"compression": "zlib", "compression_level": 13}, ValueError, "level"),
        ({"compression": "zlib", "compression_level": 0}, ValueError, "level"),
        ({"compression": "zstd", "compression_level": 23}, ValueError, "level"),
        ({"compression": "zstd", "compression_level": -8}, ValueError, "level"),
        ({"compression": "brotli", "compression_level": 12}, ValueError, "level"),
        ({"compression": "snappy", "compression_level": 1}, ValueError, "level"),
        ({"compression": "lz4", "compression_level": 1}, ValueError, "level"),
        ({"compression": "none", "compression_level": 1}, ValueError, "level"),
        ({"compression_block_size": 0}, ValueError, "compression_block_size"),
        ({"compression_block_size": 1023}, ValueError, "compression_block_size"),
        ({"compression_block_size": 1 << 23}, ValueError, "compression_block_size"),
        ({"stripe_size": 0}, ValueError, "stripe_size"),
        ({"stripe_size": -1}, ValueError, "stripe_size=-1"),
        ({"row_index_stride": 999}, ValueError, "row_index_stride"),
        ({"row_index_stride": 1 << 31}, ValueError, "row_index_stride"),
        ({"row_index_stride": -1}, ValueError, "row_index_stride=-1"),
        ({"row_index_stride": 1 << 99}, ValueError, "row_index_stride=.* range"),
        ({"bloom_filter_columns": ["a"], "bloom_filter_fpp": 0.0}, ValueError, "bloom_filter_fpp"),
        ({"bloom_filter_columns": ["a"], "bloom_filter_fpp": 1.0}, ValueError, "bloom_filter_fpp"),
        ({"bloom_filter_columns": ["a"], "bloom_filter_fpp": float("nan")}, ValueError, "bloom_filter_fpp"),
        ({"bloom_filter_columns": ["a"], "row_index_stride": 0}, ValueError, "bloom|row_index_stride"),
        ({"bloom_filter_columns": ["o"]}, ValueError, "o"),
        ({"bloom_filter_columns": ["z"]}, orcish.UnknownColumnError, "z"),
        ({"bloom_filter_columns": "z"}, orcish.UnknownColumnError, "z"),
        ({"bloom_filter_columns": 1}, TypeError, "."),
        ({"column_compression": {"z": 1}}, orcish.UnknownColumnError, "z"),
        ({"column_compression": {"a": 99}}, ValueError, "level|99"),
        ({"column_compression": {"a": "snappy"}}, ValueError, "snappy"),
        ({"column_compression": {"a": None}, "compression": "none"}, ValueError, "column_compression"),
        ({"dictionary": {"z": True}}, orcish.UnknownColumnError, "z"),
        ({"dictionary": {"a": True}}, ValueError, "a"),
        ({"dictionary": {"s.q": True}}, orcish.UnknownColumnError, "s.q"),
        ({"dictionary": "yes"}, TypeError, "."),
        ({"version": "0.13"}, ValueError, "version|0.13"),
        ({"version": 0.12}, (TypeError, ValueError), "."),
        ({"timezone": "Mars/Olympus"}, ValueError, "Mars"),
        ({"threads": -1}, ValueError, "threads=-1"),
        ({"threads": "2"}, TypeError, "threads='2'"),
        ({"metadata": {"a": 1}}, TypeError, "metadata"),
        ({"compresion": "zlib"}, TypeError, "compresion"),
    ],
    ids=str,
)
def test_options(tmp_path: Path, options: dict[str, Any], error: Any, about: str) -> None:
    path = tmp_path / "a.orc"
    path.write_bytes(b"old")
    with pytest.raises(error, match=about):
        orcish.write_table(TABLE, path, existing_data="overwrite", **options)
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("options", [{"compression": "zlib", "compression_level": 12}, {"compression_level": -7}, {"compression_level": 22}, {"compression": "brotli", "compression_level": 0}, {"compression_block_size": 1024}, {"compression_block_size": (1 << 23) - 1}, {"row_index_stride": 2**31 - 1}, {"compression": "uncompressed"}, {"compression": None, "row_index_stride": None, "dictionary": None, "metadata": None}, {"dictionary": {"s": True, "b": None}}, {"bloom_filter_columns": []}, {"bloom_filter_columns": ("a", "s")}], ids=str)  # fmt: skip
def test_options_at_the_edge(options: dict[str, Any]) -> None:
    assert orcish.read_table(written(TABLE, **options)).to_pylist() == TABLE.to_pylist()


@pytest.mark.parametrize(
    "field",
    [
        pa.field("c", pa.string(), metadata={"orc.type": "char(0)"}),
        pa.field("c", pa.string(), metadata={"orc.type": "char(x)"}),
        pa.field("c", pa.string(), metadata={"orc.type": "bigint"}),
        pa.field("c", pa.binary(), metadata={"orc.type": "varchar(3)"}),
        pa.field("c", pa.decimal256(76, 40)),
    ],
    ids=str,
)
def test_types(tmp_path: Path, field: pa.Field) -> None:
    with pytest.raises(ValueError, match="c"):
        orcish.write_table(pa.table([pa.array([], field.type)], schema=pa.schema([field])), tmp_path / "a.orc")
    assert list(tmp_path.iterdir()) == []


def test_arguments_of_wrong_types(tmp_path: Path) -> None:
    path = tmp_path / "a.orc"
    wrong: list[Any] = [None, 1, "text", [1, 2], {"a": [1]}, b"bytes"]
    for data in wrong:
        with pytest.raises(TypeError):
            orcish.write_table(data, path)
    for where in (None, 1, b"a.orc", object()):
        with pytest.raises(TypeError):
            orcish.write_table(TABLE, where)  # type: ignore[arg-type]
    for schema in (None, "a: int", [("a", "int")], TABLE):
        if hasattr(schema, "__arrow_c_schema__"):
            continue
        with pytest.raises(TypeError):
            orcish.ORCWriter(path, schema)
    writer = orcish.ORCWriter(path, TABLE.schema)
    for data in wrong[:3]:
        with pytest.raises(TypeError):
            writer.write(data)
    writer.abort()
    assert list(tmp_path.iterdir()) == []


def test_places(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        orcish.write_table(TABLE, tmp_path / "nowhere" / "a.orc")
    with pytest.raises(OSError, match=tmp_path.name):
        orcish.write_table(TABLE, tmp_path)
    assert list(tmp_path.iterdir()) == []


class Full(io.RawIOBase):
    """A file on a disk that is full after some bytes."""

    def __init__(self, room: int) -> None:
        self.room = room

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.room -= len(data)
        if self.room < 0:
            raise OSError(28, "No space left on device")
        return len(data)


def test_a_full_disk() -> None:
    data = pa.table({"a": range(100_000)})
    whole = len(written(data, compression="none", stripe_size=10_000))
    for room in (0, 3, whole // 2, whole - 10):
        with pytest.raises(OSError, match="No space left"):
            orcish.write_table(data, Full(room), compression="none", stripe_size=10_000)


class Short(io.BytesIO):
    """A file that takes a few bytes at a time."""

    def write(self, data: Any) -> int:
        return super().write(bytes(data)[:7])


def test_files_that_take_a_part() -> None:
    out = Short()
    orcish.write_table(TABLE, out)
    assert out.getvalue() == written(TABLE)


def test_leaving_the_block_by_an_exception(tmp_path: Path) -> None:
    path = tmp_path / "a.orc"
    path.write_bytes(b"old")

    def failing() -> Iterator[pa.RecordBatch]:
        yield from TABLE.to_batches()
        raise KeyError("source")

    with (
        pytest.raises(KeyError, match="source"),
        orcish.ORCWriter(path, TABLE.schema, existing_data="overwrite") as writer,
    ):
        writer.write(failing())
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(ValueError, match=r"fail|finish|given up|abort|open|closed"):
        writer.close()


def test_a_source_that_fails(tmp_path: Path) -> None:
    path = tmp_path / "a.orc"

    def batches() -> Iterator[pa.RecordBatch]:
        yield from TABLE.to_batches()
        raise RuntimeError("the source is dry")

    reader = pa.RecordBatchReader.from_batches(TABLE.schema, batches())
    with pytest.raises(Exception, match="the source is dry"):
        orcish.write_table(reader, path)
    assert list(tmp_path.iterdir()) == []


def test_after_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.orc"
    writer = orcish.ORCWriter(path, TABLE.schema)
    writer.write(TABLE)
    assert not path.exists()
    assert writer.rows == 1
    first = writer.close()
    assert writer.close() == first
    assert (first.rows, first.bytes, first.stripes) == (1, path.stat().st_size, 1)
    with pytest.raises(ValueError, match=r"fail|finish|given up|abort|open|closed"):
        writer.write(TABLE)
    assert orcish.read_table(path).equals(TABLE)


def test_giving_up(tmp_path: Path) -> None:
    path = tmp_path / "a.orc"
    with orcish.ORCWriter(path, TABLE.schema) as writer:
        writer.write(TABLE)
    writer.abort()
    assert path.exists()
    path.unlink()
    writer = orcish.ORCWriter(path, TABLE.schema, stripe_size=1)
    writer.write(TABLE)
    writer.abort()
    writer.abort()
    del writer
    unfinished = orcish.ORCWriter(path, TABLE.schema)
    unfinished.write(TABLE)
    kept = [unfinished]
    del unfinished
    with pytest.warns(ResourceWarning, match="was not closed"):
        kept.clear()
    assert list(tmp_path.iterdir()) == []


# Types whose numbers would have more written than there is.


def char_file(length: int, values: int = 5) -> bytes:
    """A small file of values of one character, whose type has as many as it says."""
    kind = orc_builder.column_type(17) + orc_builder.integer(4, length)
    streams = [
        (1, orc_builder.DATA, b"a" * values),
        (1, orc_builder.LENGTH, orc_builder.integers([1] * values, signed=False)),
    ]
    return orc_builder.orc([orc_builder.column_type(orc_builder.STRUCT, [1], ["c"]), kind], [(values, streams)])


@pytest.mark.parametrize("length", [(1 << 31) - 1, (1 << 32) - 1])
def test_chars_of_any_length(tmp_path: Path, length: int) -> None:
    """Files of some hundred bytes have char types that would need gigabytes of padding."""
    path = tmp_path / "t.orc"
    path.write_bytes(char_file(length))
    out = run_python(
        """
        import os, resource, sys, orcish, pyarrow as pa
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        path = sys.argv[1]
        file = orcish.ORCFile(path)
        print(file.read()["c"].to_pylist(), file.read(trim_char=True)["c"].to_pylist())
        print(orcish.scan(path).where(orcish.col("c") == "a").count())
        print([str(finding.message)[:60] for finding in file.check()])
        new = path + ".new"
        options = [{}, {"dictionary": True}, {"dictionary": False}, {"bloom_filter_columns": ["c"]}, {"verify": True}]
        calls = [lambda o=o: orcish.write_table(file.read(), new, **o) for o in options]
        for call in [*calls, lambda: orcish.convert(path, new), lambda: orcish.write_dataset(file.read(), new)]:
            try:
                call()
            except ValueError as error:
                print("more than 65536 blanks are missing" in str(error), os.listdir(os.path.dirname(path)))
        print(orcish.merge([path, path], new).rows)
        """,
        str(path),
    )
    read, count, findings, *refused, merged = out.splitlines()
    assert read == f"{['a'] * 5} {['a'] * 5}"
    assert count == "5"
    assert findings.count("row 0 of it: text of 1 characters in a column of char(") == 1
    assert refused == ["True ['t.orc']"] * 7
    assert merged == "10"


def test_chars_that_are_filled_up(tmp_path: Path) -> None:
    """Char columns of common lengths are written, and checked in little memory."""
    path = tmp_path / "t.orc"
    orcish.write_table(orcish.ORCFile(char_file(65_536)).read(), path)
    file = orcish.ORCFile(path)
    assert file.check() == []
    assert file.read()["c"].to_pylist() == ["a" + " " * 65_535] * 5
