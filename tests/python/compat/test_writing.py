"""Files are written as by ``pyarrow.orc``."""

from __future__ import annotations

import datetime as dt
import gc
import io
import warnings
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.orc
import pytest
from orcish.compat import pyarrow_orc
from orcish.compat.pyarrow_orc import IgnoredOptionWarning
from orcish.compat.pyarrow_orc import writer as writing

TABLE = pa.table({"a": list(range(3000)), "s": [f"text {at % 50}" for at in range(3000)]})
ORCS = [pyarrow.orc, pyarrow_orc]


@pytest.fixture(autouse=True)
def fresh_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No option has been warned of."""
    monkeypatch.setattr(writing, "_warned", set())


def written(orc: Any, table: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    orc.write_table(table, file, **options)
    return file.getvalue()


NESTED = pa.struct([("x", pa.date64()), ("y", pa.list_(pa.large_string()))])
WRITTEN_TYPES: list[pa.Array] = [
    pa.array([True, None]),
    pa.array([1, None], pa.int8()),
    pa.array([1, None], pa.int16()),
    pa.array([1, None], pa.int32()),
    pa.array([1, None], pa.int64()),
    pa.array([1.5, None], pa.float32()),
    pa.array([1.5, None], pa.float64()),
    pa.array(["a", None]),
    pa.array(["a", None], pa.large_string()),
    pa.array([b"a", None]),
    pa.array([b"a", None], pa.large_binary()),
    pa.array([b"ab", None], pa.binary(2)),
    pa.array([dt.date(2020, 2, 29), None]),
    pa.array([dt.date(1500, 1, 1), None]),
    pa.array([dt.date(2020, 2, 29), None], pa.date64()),
    pa.array([dt.datetime(2020, 1, 1), None], pa.timestamp("s")),
    pa.array([dt.datetime(1969, 12, 31, 23, 59, 59, 1), None], pa.timestamp("us")),
    pa.array([1, None], pa.timestamp("ns")),
    pa.array([dt.datetime(2020, 1, 1), None], pa.timestamp("ms", "America/New_York")),
    pa.array([Decimal("1.20"), None], pa.decimal128(38, 2)),
    pa.array([[1], None, []], pa.list_(pa.int16())),
    pa.array([[1], None, []], pa.large_list(pa.int16())),
    pa.array([[1, 2], None], pa.list_(pa.int16(), 2)),
    pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int32())),
    pa.array([{"x": dt.date(2020, 1, 1), "y": ["a"]}, None], NESTED),
    pa.array([{}, None], pa.struct([])),
    pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])]),
    pa.UnionArray.from_dense(
        pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array(["a"])]
    ),
]


@pytest.mark.parametrize("array", WRITTEN_TYPES, ids=lambda array: str(array.type))
def test_types(array: pa.Array) -> None:
    """Both read the same, whoever has written it."""
    table = pa.table({"c": array})
    theirs, ours = (written(orc, table) for orc in ORCS)
    want = pyarrow.orc.read_table(pa.BufferReader(theirs))
    assert orcish.ORCFile(ours).type_string == orcish.ORCFile(theirs).type_string
    for orc in ORCS:
        for data in (theirs, ours):
            assert orc.read_table(pa.BufferReader(data)).equals(want, check_metadata=True)


OTHER_TYPES: list[pa.Array] = [
    pa.array([1], pa.uint8()),
    pa.array([1], pa.uint64()),
    pa.array([1], pa.float16()),
    pa.array([1], pa.time32("s")),
    pa.array([1], pa.time64("us")),
    pa.array([1], pa.duration("s")),
    pa.array(["a"], pa.string_view()),
    pa.array([b"a"], pa.binary_view()),
    pa.array([Decimal("1.2")], pa.decimal256(20, 2)),
    pa.array(["a"]).dictionary_encode(),
    pa.RunEndEncodedArray.from_arrays([1], ["a"]),
    pa.nulls(1),
    pa.array([[1]], pa.list_view(pa.int8())),
    pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
    pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}"])),
    pa.array([[1]], pa.list_(pa.uint8())),
    pa.array([{"x": [("k", 1)]}], pa.struct([("x", pa.map_(pa.string(), pa.uint32()))])),
]


@pytest.mark.parametrize("array", OTHER_TYPES, ids=lambda array: str(array.type))
def test_types_that_pyarrow_does_not_write(array: pa.Array, tmp_path: Path) -> None:
    for orc in ORCS:
        with pytest.raises(pa.ArrowNotImplementedError):
            orc.write_table(pa.table({"c": array}), tmp_path / "a.orc")
    pyarrow_orc.write_table(TABLE, tmp_path / "b.orc")
    with pytest.raises(pa.ArrowNotImplementedError, match=r"column c.*orcish\.write_table"):
        pyarrow_orc.write_table(pa.table({"c": array}), tmp_path / "b.orc")
    assert pyarrow_orc.read_table(tmp_path / "b.orc").equals(TABLE)


def test_metadata() -> None:
    """Metadata of fields are stored, those of the schema are not."""
    schema = pa.schema([pa.field("a", pa.int64(), metadata={"iceberg.id": "7"})], metadata={"owner": "me"})
    for orc in ORCS:
        file = orc.ORCFile(pa.BufferReader(written(orc, pa.table([[1]], schema))))
        assert file.schema.field("a").metadata == {b"iceberg.id": b"7"}
        assert dict(file.metadata) == {}
        assert not file.schema.metadata


def test_tables_without_columns() -> None:
    """pyarrow ends the process."""
    file = pyarrow_orc.ORCFile(pa.BufferReader(written(pyarrow_orc, TABLE.select([]))))
    assert (file.nrows, file.schema.names) == (3000, [])


@pytest.mark.parametrize("rows", [0, 1])
def test_small_tables(rows: int) -> None:
    for orc in ORCS:
        data = written(orc, TABLE.slice(0, rows))
        assert [each.read_table(pa.BufferReader(data)).equals(TABLE.slice(0, rows)) for each in ORCS] == [True, True]


def test_values_that_cannot_be_stored() -> None:
    """Java reads a fraction in the second before 1970 as one in the second after, and text that is not UTF-8 as another.
    pyarrow writes both.
    """
    text = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(bytes([0, 0, 0, 0, 1, 0, 0, 0])), pa.py_buffer(b"\xff")]
    )
    for array in (pa.array([-1], pa.timestamp("ns")), text):
        table = pa.table({"c": array})
        assert written(pyarrow.orc, table)
        with pytest.raises(ValueError, match="column c: row 0"):
            written(pyarrow_orc, table)


# The writer.


@pytest.mark.parametrize("orc", ORCS)
def test_several_tables(orc: Any, tmp_path: Path) -> None:
    with orc.ORCWriter(tmp_path / "a.orc") as writer:
        assert writer.is_open
        writer.write(TABLE)
        writer.write(TABLE.slice(0, 0))
        writer.write(TABLE.slice(5, 3))
        with pytest.raises(pa.ArrowTypeError):
            writer.write(TABLE.select(["a"]))
        with pytest.raises(pa.ArrowTypeError):
            writer.write(TABLE.rename_columns(["a", "b"]))
        with pytest.raises(TypeError):
            writer.write(TABLE.to_batches()[0])
        writer.write(TABLE.replace_schema_metadata({"k": "v"}))
    assert not writer.is_open
    writer.close()
    with pytest.raises(AssertionError):
        writer.write(TABLE)
    assert orc.read_table(tmp_path / "a.orc").equals(pa.concat_tables([TABLE, TABLE.slice(5, 3), TABLE]))


@pytest.mark.parametrize("orc", ORCS)
def test_writers_that_are_not_closed(orc: Any, tmp_path: Path) -> None:
    """The file is finished when nothing refers to the writer any more."""
    writer = orc.ORCWriter(tmp_path / "a.orc")
    writer.write(TABLE)
    del writer
    gc.collect()
    assert orc.read_table(tmp_path / "a.orc").equals(TABLE)


def test_writers_without_tables(tmp_path: Path) -> None:
    """There is no file. pyarrow leaves one without bytes, which nothing reads."""
    with pyarrow_orc.ORCWriter(tmp_path / "a.orc"):
        pass
    pyarrow_orc.ORCWriter(tmp_path / "a.orc").close()
    assert not (tmp_path / "a.orc").exists()


class Failing(io.RawIOBase):
    """A file on a full disk."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        raise OSError(28, "No space left on device")


def test_an_exception_in_the_block(tmp_path: Path) -> None:
    """What was there stays. pyarrow leaves a file with some of the rows."""
    path = tmp_path / "a.orc"
    pyarrow_orc.write_table(TABLE, path)
    writer = pyarrow_orc.ORCWriter(path)

    def write() -> None:
        with writer:
            writer.write(TABLE.slice(0, 1))
            raise KeyError

    with pytest.raises(KeyError):
        write()
    assert pyarrow_orc.read_table(path).equals(TABLE)
    assert not writer.is_open
    assert [each.name for each in tmp_path.iterdir()] == ["a.orc"]


def test_errors_of_the_target() -> None:
    with pytest.raises(OSError, match="No space left"):
        pyarrow_orc.write_table(TABLE, Failing())
    writer = pyarrow_orc.ORCWriter(Failing(), stripe_size=1)
    with pytest.raises(OSError, match="No space left"):
        writer.write(pa.concat_tables([TABLE] * 20))
    with pytest.raises(ValueError, match="has failed"):
        writer.close()
    # A writer that has failed is dropped in silence.
    writer = pyarrow_orc.ORCWriter(Failing(), stripe_size=1)
    with pytest.raises(OSError, match="No space left"):
        writer.write(pa.concat_tables([TABLE] * 20))
    del writer
    gc.collect()


@pytest.mark.parametrize("orc", ORCS)
def test_arguments_in_the_old_order(orc: Any) -> None:
    file = io.BytesIO()
    with pytest.warns(FutureWarning) as found:
        orc.write_table(file, TABLE)
    assert found[0].filename == __file__
    assert orc.read_table(file).equals(TABLE)


@pytest.mark.parametrize("table", [TABLE.to_batches()[0], [1], "a"])
def test_what_is_no_table(table: Any) -> None:
    for orc in ORCS:
        with pytest.raises(TypeError):
            orc.write_table(table, io.BytesIO())


# Options.


@pytest.mark.parametrize("codec", ["uncompressed", "snappy", "ZLIB", "Lz4", "zstd"])
@pytest.mark.parametrize("version", ["0.11", "0.12"])
def test_codecs_and_versions(codec: str, version: str) -> None:
    for orc in ORCS:
        options = {"compression": codec, "file_version": version, "compression_block_size": 131_072}
        data = written(orc, TABLE, row_index_stride=2000, **options)
        for each in ORCS:
            file = each.ORCFile(pa.BufferReader(data))
            assert (file.compression, file.file_version) == (codec.upper(), version)
            assert (file.compression_size, file.row_index_stride) == (131_072, 2000)
            assert file.read().equals(TABLE)


def test_defaults() -> None:
    files = [orc.ORCFile(pa.BufferReader(written(orc, TABLE))) for orc in ORCS]
    for name in ("compression", "compression_size", "file_version", "row_index_stride", "nstripes", "nrows"):
        assert getattr(files[0], name) == getattr(files[1], name)
    encodings = [set(column.encodings) for column in column_storage(written(pyarrow_orc, TABLE))]
    assert encodings[2] == {"DIRECT_V2"}


def column_storage(data: bytes) -> list[orcish.types.ColumnStorage]:
    return orcish.ORCFile(data).column_storage()


def encoding_of_text(**options: Any) -> set[str]:
    return set(column_storage(written(pyarrow_orc, TABLE, **options))[2].encodings)


def test_dictionaries() -> None:
    assert encoding_of_text(dictionary_key_size_threshold=0) == {"DIRECT_V2"}
    assert encoding_of_text(dictionary_key_size_threshold=1) == {"DICTIONARY_V2"}
    assert encoding_of_text(dictionary_key_size_threshold=0.5) == {"DICTIONARY_V2"}


def test_stripes() -> None:
    table = pa.concat_tables([TABLE] * 100)
    for orc in ORCS:
        assert orc.ORCFile(pa.BufferReader(written(orc, table, stripe_size=100_000))).nstripes > 3


def test_strategy() -> None:
    text = pa.table({"s": [f"{at * 7919 % 1009} words of text {at % 13}" for at in range(30_000)]})
    for codec in ("zlib", "zstd"):
        fast, small = (
            len(written(pyarrow_orc, text, compression=codec, compression_strategy=each))
            for each in ("speed", "COMPRESSION")
        )
        assert small < fast


def filters(data: bytes) -> set[int]:
    """Ids of columns with bloom filters."""
    return {id for id, column in enumerate(column_storage(data)) if "BLOOM_FILTER_UTF8" in column.streams}


NESTED_TABLE = pa.table(
    {
        "a": [1] * 3000,
        "s": [{"x": 1, "l": [1]}] * 3000,
        "m": pa.array([[("k", 1)]] * 3000, pa.map_(pa.string(), pa.int64())),
        "flag": [True] * 3000,
        "z": ["q"] * 3000,
    }
)


@pytest.mark.parametrize("ids", [[1], [3], [5], [7, 8], {10}, (1, 10), []])
def test_bloom_filters(ids: Any) -> None:
    for orc in ORCS:
        data = written(orc, NESTED_TABLE, bloom_filter_columns=ids, bloom_filter_fpp=0.02)
        assert filters(data) == set(ids)
        assert orcish.ORCFile(data).check() == []


def test_bloom_filters_of_other_columns() -> None:
    """Columns that have no values, booleans, and ids of no column."""
    for ids in ([0], [2, 1], [9], [11]):
        writing._warned.clear()
        with pytest.warns(IgnoredOptionWarning, match="bloom_filter_columns"):
            assert filters(written(pyarrow_orc, NESTED_TABLE, bloom_filter_columns=ids)) == {1} & set(ids)
    writing._warned.clear()
    with pytest.warns(IgnoredOptionWarning, match=r"version 0\.11"):
        assert filters(written(pyarrow_orc, TABLE, bloom_filter_columns=[1], file_version="0.11")) == set()


IGNORED = [
    ("batch_size", 10, {}),
    ("padding_tolerance", 0.1, {}),
    ("compression_strategy", "compression", {"compression": "snappy"}),
    ("row_index_stride", 10, {}),
]


@pytest.mark.parametrize(("name", "value", "more"), IGNORED)
def test_ignored_options(name: str, value: Any, more: dict[str, Any]) -> None:
    with pytest.warns(IgnoredOptionWarning, match=name) as found:
        pyarrow_orc.ORCWriter(io.BytesIO(), **{name: value}, **more)
    assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = written(pyarrow_orc, TABLE, **{name: value}, **more)
    assert pyarrow_orc.read_table(pa.BufferReader(data)).equals(TABLE)


def test_short_row_groups() -> None:
    with pytest.warns(IgnoredOptionWarning):
        data = written(pyarrow_orc, TABLE, row_index_stride=10)
    assert pyarrow_orc.ORCFile(pa.BufferReader(data)).row_index_stride == 1000


DEFAULTS = {
    "file_version": "0.12",
    "batch_size": 1024,
    "stripe_size": 64 << 20,
    "compression": "uncompressed",
    "compression_block_size": 65536,
    "compression_strategy": "speed",
    "row_index_stride": 10000,
    "padding_tolerance": 0.0,
    "dictionary_key_size_threshold": 0.0,
    "bloom_filter_columns": None,
    "bloom_filter_fpp": 0.05,
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_none_is_the_default(name: str) -> None:
    assert pyarrow_orc.read_table(pa.BufferReader(written(pyarrow_orc, TABLE, **{name: None}))).equals(TABLE)
    assert pyarrow_orc.read_table(pa.BufferReader(written(pyarrow_orc, TABLE, **{name: DEFAULTS[name]}))).equals(TABLE)


def wrong_values() -> Iterator[tuple[str, Any, type[Exception]]]:
    for name in ("batch_size", "stripe_size", "compression_block_size", "row_index_stride"):
        for value in (0, -1, 1.5, "1"):
            yield name, value, ValueError
    for value in (0.12, "0.13", "1.0", 12):
        yield "file_version", value, ValueError
    for name in ("compression", "compression_strategy"):
        yield name, 0, TypeError
        yield name, "none", ValueError
    for value in ("lzo", "brotli", ""):
        yield "compression", value, ValueError
    yield "padding_tolerance", "cat", ValueError
    for name in ("dictionary_key_size_threshold", "bloom_filter_fpp"):
        for value in (-0.1, 1.1, "cat", [1], float("nan")):
            yield name, value, ValueError
    for value in ("string", [1.5], [-1], 3):
        yield "bloom_filter_columns", value, ValueError


@pytest.mark.parametrize(("name", "value", "kind"), list(wrong_values()))
def test_wrong_values(name: str, value: Any, kind: type[Exception], tmp_path: Path) -> None:
    for orc in ORCS:
        if (orc, name, value) == (pyarrow.orc, "compression_strategy", 0):
            # pyarrow looks at the type of the other option, and takes 0 for no strategy.
            kind = (TypeError, ValueError)  # type: ignore[assignment]
        with pytest.raises(kind):
            orc.write_table(TABLE, tmp_path / orc.__name__, **{name: value})
    assert not (tmp_path / pyarrow_orc.__name__).exists()


def test_unknown_options() -> None:
    for orc in ORCS:
        with pytest.raises(TypeError):
            orc.write_table(TABLE, io.BytesIO(), level=3)
