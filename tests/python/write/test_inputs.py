"""What rows can come from, and that a file depends on its rows and options alone."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import orcish
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from orcish.writing.inputs import _has_objects
from support.writer_tables import assert_same, bloomed, table, written

ROWS = pa.table(
    {
        "id": pa.array(range(3000)),
        "text": pa.array([None if row % 7 == 0 else f"t{row % 40}" for row in range(3000)]),
        "x": pa.array([row / 8 for row in range(3000)]),
    }
)


class Stream:
    """Something with ``__arrow_c_stream__`` and nothing else."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return ROWS.__arrow_c_stream__(requested_schema)


class Array:
    """Something with ``__arrow_c_array__`` and nothing else."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> object:
        return ROWS.combine_chunks().to_batches()[0].__arrow_c_array__(requested_schema)


INPUTS: dict[str, Callable[[], Any]] = {
    "table": lambda: ROWS,
    "batch": lambda: ROWS.combine_chunks().to_batches()[0],
    "reader": lambda: ROWS.to_reader(max_chunksize=100),
    "polars": lambda: pl.from_arrow(ROWS),
    "pandas": lambda: ROWS.to_pandas(),
    "duckdb": lambda: duckdb.connect().from_arrow(ROWS),
    "file": lambda: orcish.ORCFile(written(ROWS)),
    "stream": Stream,
    "array": Array,
    "struct": lambda: ROWS.to_struct_array().combine_chunks(),
    "dataset": lambda: ds.dataset(ROWS),
    "scanner": lambda: ds.dataset(ROWS).scanner(batch_size=100),
    "batches": lambda: ROWS.to_batches(max_chunksize=100),
    "tables": lambda: (ROWS.slice(0, 5), ROWS.slice(5)),
    "generator": lambda: iter(ROWS.to_batches(max_chunksize=100)),
    "parts": lambda: [ROWS.slice(0, 5), [ROWS.slice(5, 5).to_reader(), (ds.dataset(ROWS.slice(10)),)]],
}


@pytest.mark.parametrize("title", INPUTS)
def test_anything_with_arrow(tmp_path: Path, title: str) -> None:
    path = tmp_path / "a.orc"
    done = orcish.write_table(INPUTS[title](), path)
    assert (done.rows, done.bytes, done.stripes) == (3000, path.stat().st_size, 1)
    back = orcish.read_table(path)
    assert back.to_pydict() == ROWS.to_pydict()
    with orcish.ORCWriter(path, orcish.read_table(path).schema, existing_data="overwrite") as writer:
        try:
            writer.write(INPUTS[title]())
        except ValueError as error:
            # pandas and polars have text in types of their own.
            assert "batch" in str(error)  # noqa: PT017
            writer.abort()
            return
    assert orcish.read_table(path).to_pydict() == ROWS.to_pydict()


@pytest.mark.parametrize("title", INPUTS)
def test_anything_with_arrow_as_a_table(tmp_path: Path, title: str) -> None:
    orcish.write_dataset(INPUTS[title](), tmp_path / "t")
    assert orcish.read_table(tmp_path / "t").to_pydict() == ROWS.to_pydict()


VERBS: dict[str, Callable[[Any, Path], Any]] = {
    "write_table": lambda data, path: orcish.write_table(data, path / "a.orc"),
    "write_dataset": lambda data, path: orcish.write_dataset(data, path / "t"),
    "ORCWriter": lambda data, path: orcish.ORCWriter(path / "a.orc", ROWS.schema).write(data),
}
OTHERS: dict[str, tuple[Callable[[], Any], str]] = {
    "lazy frame": (lambda: pl.LazyFrame({"a": [1]}), r"LazyFrame is no table that can be written: collect\(\)"),
    "series of pandas": (lambda: pd.Series([1], name="a"), r"Series is no table .*to_frame\(\)"),
    "index of pandas": (lambda: pd.Index([1], name="a"), r"Index is no table .*to_frame\(\)"),
    "series of polars": (lambda: pl.Series("a", [1]), r"Series is no table .*to_frame\(\)"),
    "array": (lambda: pa.array([1]), r"Int64Array is no table .*pyarrow.table\(\{'name': data\}\)"),
    "chunks": (lambda: pa.chunked_array([[1]]), r"ChunkedArray is no table .*pyarrow.table\(\{'name': data\}\)"),
    "numpy": (lambda: np.array([1]), r"ndarray is no table .*pyarrow.table\(\{'name': data\}\)"),
    "columns": (lambda: {"a": [1]}, r"dict is no table .*pyarrow.table\(data\)"),
    "rows": (lambda: [{"a": 1}], r"dict is no table .*pyarrow.Table.from_pylist\(rows\)"),
    "path": (lambda: "rows.parquet", r"str is no table .*pyarrow.dataset.dataset\(path\)"),
    "number": (lambda: 5, "int is no table .*__arrow_c_stream__"),
    "none": (lambda: None, "NoneType is no table"),
    "objects": (lambda: objects(), "column 'o' has Python objects, of polars' type Object"),
    "parts with objects": (lambda: [objects()], "column 'o' has Python objects"),
    "series of objects": (lambda: objects()["o"], "Series is no table"),
}


def objects() -> pl.DataFrame:
    return pl.DataFrame({"id": [1, 2], "o": pl.Series([object(), object()], dtype=pl.Object)})


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("title", OTHERS)
def test_other_objects(tmp_path: Path, title: str, verb: str) -> None:
    """The error says what makes a table of them. Nothing is written."""
    made, message = OTHERS[title]
    with pytest.raises(TypeError, match=message):
        VERBS[verb](made(), tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("kind", [pl.List(pl.Object), pl.Struct({"a": pl.Array(pl.Object, 2)}), pl.Object])
def test_nested_types_with_objects(kind: pl.DataType) -> None:
    """They are known by the types alone. polars makes no such values."""
    assert _has_objects(kind, pl.Object)
    assert not _has_objects(pl.Struct({"a": pl.List(pl.Int8)}), pl.Object)


@pytest.mark.parametrize("verb", ["write_table", "write_dataset"])
def test_parts_have_the_same_columns(tmp_path: Path, verb: str) -> None:
    with pytest.raises(ValueError, match="part 1 has other columns than part 0: z: int64, not id: int64, text: string"):
        VERBS[verb]([ROWS, pa.table({"z": [1]})], tmp_path)
    with pytest.raises(ValueError, match="there are no parts"):
        VERBS[verb]([], tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_scans(tmp_path: Path) -> None:
    for at in range(3):
        (tmp_path / f"p={at}").mkdir()
        orcish.write_table(ROWS.slice(at * 1000, 1000), tmp_path / f"p={at}" / "a.orc")
    out = io.BytesIO()
    orcish.write_table(orcish.scan(tmp_path), out)
    back = orcish.read_table(out.getvalue()).sort_by("id")
    assert back.select(ROWS.column_names).to_pydict() == ROWS.to_pydict()
    assert back["p"].to_pylist() == [row // 1000 for row in range(3000)]


def test_generators(tmp_path: Path) -> None:
    def batches() -> Iterator[Any]:
        yield from ROWS.slice(0, 1000).to_batches(max_chunksize=7)
        yield ROWS.slice(1000, 500)
        yield [ROWS.slice(1500, 500), [ROWS.slice(2000, 1000).to_reader()]]

    path = tmp_path / "a.orc"
    with orcish.ORCWriter(path, ROWS.schema) as writer:
        writer.write(batches())
        assert writer.rows == 3000
    assert path.read_bytes() == written(ROWS)


def test_targets(tmp_path: Path) -> None:
    want = written(ROWS)
    orcish.write_table(ROWS, str(tmp_path / "a.orc"))
    orcish.write_table(ROWS, tmp_path / "b.orc")
    orcish.write_table(ROWS, (tmp_path / "c.orc").as_uri())
    with open(tmp_path / "d.orc", "wb") as file:
        orcish.write_table(ROWS, file)
        assert not file.closed
    orcish.write_table(ROWS, tmp_path / "é ☃ %20.orc")
    assert len(list(tmp_path.iterdir())) == 5
    for path in tmp_path.iterdir():
        assert path.read_bytes() == want, path


def test_a_folder_of_files_for_others(tmp_path: Path) -> None:
    """A new file atomically replaces an old one, with default permissions."""
    path = tmp_path / "a.orc"
    orcish.write_table(ROWS, path)
    inode = path.stat().st_ino
    orcish.write_table(ROWS.slice(5), path, existing_data="overwrite")
    assert path.stat().st_ino != inode
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    assert path.stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize(
    "rows",
    [
        *(1, 3, 999, 1000, 1001, 5000),
        64,
    ],
)
def test_batches_do_not_matter(rows: int) -> None:
    data = table(3000)
    options: dict[str, Any] = {"row_index_stride": 1000, "stripe_size": 100_000, "bloom_filter_columns": bloomed(data)}
    whole = written(data.combine_chunks(), **options)
    if rows < 64:
        data = data.select(["row", "i64", "s", "w", "l_o", "deep", "t"])
        options["bloom_filter_columns"] = ["row", "s"]
        whole = written(data.combine_chunks(), **options)
    parts = pa.RecordBatchReader.from_batches(data.schema, data.combine_chunks().to_batches(max_chunksize=rows))
    file = written(parts, **options)
    assert_same(orcish.read_table(file), data)
    assert file == whole


@pytest.mark.parametrize("codec", ["none", "zlib", "snappy", "lz4", "zstd", "brotli"])
def test_threads_and_times_do_not_matter(codec: str) -> None:
    data = table(5000, unions=True)
    options: dict[str, Any] = {
        "compression": codec,
        "row_index_stride": 1000,
        "stripe_size": 200_000,
        "bloom_filter_columns": bloomed(data),
        "metadata": {"b": "1", "a": "2"},
    }
    files = {written(data, threads=threads, **options) for threads in (1, 2, 2, 5)}
    assert len(files) == 1


@pytest.mark.parametrize("dictionary", [True, False, None])
@pytest.mark.parametrize("distinct", [10, 900, 3000])
def test_dictionary_arrays_do_not_matter(dictionary: bool | None, distinct: int) -> None:
    texts = pa.array([None if row % 11 == 0 else f"é{row * 7919 % distinct}" for row in range(3000)])
    forms = [
        texts,
        texts.cast(pa.large_string()),
        texts.cast(pa.string_view()),
        texts.dictionary_encode(),
        # Entries that no row has, entries twice, and null ones.
        pa.DictionaryArray.from_arrays(
            pa.array([None if v is None else int(v[1:]) + 2 + distinct * (int(v[1:]) % 2) for v in texts.to_pylist()]),
            pa.array(["unused", None, *(f"é{at}" for at in range(distinct)), *(f"é{at}" for at in range(distinct))]),
        ),
    ]
    options: dict[str, Any] = {"row_index_stride": 1000, "dictionary": dictionary, "arrow_schema": False}
    files = [written(pa.table({"s": form}), bloom_filter_columns=["s"], **options) for form in forms]
    assert all(file == files[0] for file in files)
    assert orcish.read_table(files[0])["s"].to_pylist() == texts.to_pylist()
    chunked = pa.chunked_array([texts.slice(0, 1500).dictionary_encode(), texts.slice(1500).dictionary_encode()])
    assert written(pa.table({"s": chunked}), bloom_filter_columns=["s"], **options) == files[0]


def test_what_is_below_nulls_does_not_matter() -> None:
    mask = np.arange(3000) % 3 == 0
    first = pa.array(np.where(mask, 0, 5), mask=mask)
    second = pa.array(np.where(mask, 10**9, 5), mask=mask)
    lists = [
        pa.ListArray.from_arrays(pa.array(range(0, 6001, 2), pa.int32()), pa.array(range(6000)), mask=pa.array(mask))
    ]
    lists.append(pa.array(lists[0].to_pylist(), lists[0].type))
    files = [written(pa.table({"a": a, "l": b})) for a, b in zip((first, second), lists, strict=True)]
    assert files[0] == files[1]


def test_frames_of_polars_and_pandas(tmp_path: Path) -> None:
    """Types that are specific to polars and pandas are written."""
    frame = pl.DataFrame(
        {
            "cat": pl.Series(["a", "b", None], dtype=pl.Categorical),
            "enum": pl.Series(["x", "y", "x"], dtype=pl.Enum(["x", "y"])),
            "time": pl.Series([1, 2, None], dtype=pl.Time),
            "u64": pl.Series([2**64 - 1, 0, None], dtype=pl.UInt64),
            "list": pl.Series([[1], None, []], dtype=pl.List(pl.Int8)),
            "array": pl.Series([[1, 2], None, [3, 4]], dtype=pl.Array(pl.Int16, 2)),
            "null": [None, None, None],
        }
    )
    path = tmp_path / "a.orc"
    orcish.write_table(frame, path)
    back = pl.from_arrow(orcish.read_table(path))
    assert isinstance(back, pl.DataFrame)
    assert (
        back.select(pl.all().exclude("cat", "enum", "array")).rows()
        == frame.select(pl.all().exclude("cat", "enum", "array")).rows()
    )
    assert back["cat"].cast(pl.String).to_list() == ["a", "b", None]
    assert back["enum"].cast(pl.String).to_list() == ["x", "y", "x"]
    pandas = pd.DataFrame(
        {"a": pd.Categorical(["x", None, "y"]), "n": pd.array([1, None, 3], dtype="Int64")}, index=[3, 4, 5]
    )
    orcish.write_table(pandas, path, existing_data="overwrite")
    assert orcish.read_table(path).select(["a", "n"]).to_pydict() == {"a": ["x", None, "y"], "n": [1, None, 3]}


MOST = 10**38 - 1
FORMS_OF_POLARS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "plain": (lambda kind: kind, lambda value: value),
    "list": (pl.List, lambda value: [value, None]),
    "array": (lambda kind: pl.Array(kind, 1), lambda value: [value]),
    "struct": (lambda kind: pl.Struct({"n": pl.Int8, "f": kind}), lambda value: {"n": 1, "f": value}),
    "deep": (lambda kind: pl.List(pl.Struct({"f": pl.List(kind)})), lambda value: [{"f": [value]}, None]),
}


@pytest.mark.parametrize("form", FORMS_OF_POLARS)
@pytest.mark.parametrize("name", ["Int128", "UInt128"])
def test_integers_of_polars_that_arrow_has_not(name: str, form: str, tmp_path: Path) -> None:
    """They are decimals without a fraction, by every way into a file; what these do not hold is an error."""
    if not hasattr(pl, name):
        pytest.skip("this version of polars does not have the type")
    typed, made = FORMS_OF_POLARS[form]
    kind = typed(getattr(pl, name))
    values = [MOST, 0, 2**100] if name == "UInt128" else [MOST, -MOST, 5]
    frame = pl.DataFrame({"v": pl.Series([*map(made, values), None], dtype=kind), "s": ["a", None, "b", "c"]})
    expected = frame.rows()
    path, table = tmp_path / "a.orc", tmp_path / "t"
    orcish.write_table(frame, path)
    assert pl.DataFrame(orcish.read_table(path)).rows() == expected
    assert "decimal(38,0)" in orcish.ORCFile(path).type_string
    orcish.write_table([frame, frame], path, existing_data="overwrite")
    with orcish.ORCWriter(tmp_path / "b.orc", orcish.read_table(path).schema) as writer:
        writer.write(frame)
        writer.write(frame)
    orcish.write_dataset(frame, table)
    orcish.write_dataset(frame, table, existing_data="append")
    for source in (path, tmp_path / "b.orc", table):
        assert pl.DataFrame(orcish.read_table(source)).rows() == expected * 2
    wrong = pl.DataFrame({"v": pl.Series([made(MOST + 1)], dtype=kind)})
    for target in (tmp_path / "c.orc", tmp_path / "c"):
        with pytest.raises(ValueError, match="column 'v': integers of 128 bits are written as decimals of 38 digits"):
            (orcish.write_table if target.suffix else orcish.write_dataset)(wrong, target)
        assert not target.exists()


def test_integers_of_partition_columns_of_polars(tmp_path: Path) -> None:
    frame = pl.DataFrame({"v": [1, 2], "k": pl.Series([7, 2**100], dtype=pl.Int128)})
    orcish.write_dataset(frame, tmp_path / "t", partition_by=["k"])
    assert sorted(path.name for path in (tmp_path / "t").glob("k=*")) == [f"k={2**100}", "k=7"]
    assert sorted(map(int, orcish.read_table(tmp_path / "t")["k"].to_pylist())) == [7, 2**100]


def damaged() -> bytes:
    """A file whose rows cannot be read."""
    out = io.BytesIO()
    with orcish.ORCWriter(out, ROWS.schema, compression="none") as writer:
        writer.write(ROWS)
        writer.end_stripe()
        writer.write(ROWS)
    data = bytearray(out.getvalue())
    second = orcish.ORCFile(bytes(data)).stripes[1]
    start = second.offset + second.index_length
    data[start : start + second.data_length] = b"\xff" * second.data_length
    return bytes(data)


SOURCES: dict[str, Callable[[bytes], Any]] = {
    "file": orcish.ORCFile,
    "scan": orcish.scan,
    "scan with a filter of pyarrow": lambda data: orcish.scan(data, filters=pc.field("id") * 2 >= 0),
    "reader": lambda data: orcish.ORCFile(data).reader(),
    "reader of a scan": lambda data: orcish.scan(data).reader(),
    "reader with a filter of pyarrow": lambda data: orcish.ORCFile(data).reader(filters=pc.field("id") * 2 >= 0),
    "list": lambda data: [ROWS, orcish.scan(data)],
}


@pytest.mark.parametrize("title", SOURCES)
def test_errors_of_own_sources_are_those_of_reading(tmp_path: Path, title: str) -> None:
    data = damaged()
    with pytest.raises(orcish.CorruptFileError) as read:
        orcish.read_table(data)

    def write_by_parts() -> None:
        with orcish.ORCWriter(tmp_path / "a.orc", ROWS.schema) as writer:
            writer.write(SOURCES[title](data))

    calls: list[Callable[[], Any]] = [write_by_parts]
    calls += [
        lambda: orcish.write_table(SOURCES[title](data), tmp_path / "a.orc"),
        lambda: orcish.write_dataset(SOURCES[title](data), tmp_path / "table"),
    ]
    for call in calls:
        with pytest.raises(orcish.CorruptFileError) as caught:
            call()
        # Scans have another name for bytes.
        assert str(caught.value).partition(": ")[2] == str(read.value).partition(": ")[2]
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("title", SOURCES)
def test_own_sources(tmp_path: Path, title: str) -> None:
    source = SOURCES[title](written(ROWS))
    rows = pa.concat_tables([ROWS, ROWS]) if title == "list" else ROWS
    assert orcish.write_table(source, tmp_path / "a.orc").rows == rows.num_rows
    assert orcish.read_table(tmp_path / "a.orc").equals(rows)


@pytest.mark.parametrize("mode", ["r+b", "w+b", "ab", "wb"])
@pytest.mark.parametrize("write", ["write_table", "ORCWriter", "merge"])
def test_file_objects_that_have_bytes(tmp_path, mode, write):
    """A file begins at the start of its object, and ends with it."""
    path, rows = tmp_path / "a.orc", pa.table({"id": [1]})
    orcish.write_table(rows, tmp_path / "source.orc")
    writes = {
        "write_table": lambda file: orcish.write_table(rows, file, verify=True),
        "ORCWriter": lambda file: orcish.ORCWriter(file, rows.schema),
        "merge": lambda file: orcish.merge([tmp_path / "source.orc"], file),
    }
    path.write_bytes(b"before")
    with open(path, mode) as file:
        if mode in ("w+b", "wb"):
            file.write(b"before")
        with pytest.raises(ValueError, match="has bytes already, and a file begins at its start"):
            writes[write](file)
    assert path.read_bytes() == b"before"


def test_file_objects_are_written_once():
    target, rows = io.BytesIO(), pa.table({"id": [1]})
    orcish.write_table(rows, target)
    with pytest.raises(ValueError, match="has bytes already"):
        orcish.write_table(rows, target)
    target.seek(0)
    with pytest.raises(ValueError, match="has bytes already"):
        orcish.write_table(rows, target)
    target.truncate()
    orcish.write_table(pa.table({"id": [2]}), target)
    assert orcish.read_table(target)["id"].to_pylist() == [2]


LYING = {
    "type": (pa.schema([("id", pa.int64())]), pa.record_batch({"id": pa.array(range(1000), pa.int32())})),
    "order": (pa.schema([("id", pa.int64()), ("k", pa.int64())]), pa.record_batch({"k": [7, 8], "id": [1, 2]})),
    "missing column": (pa.schema([("id", pa.int64()), ("k", pa.int64())]), pa.record_batch({"id": [1, 2]})),
    "view": (pa.schema([("s", pa.string_view())]), pa.record_batch({"s": ["a" * 10] * 10})),
    "layout": (pa.schema([("s", pa.string())]), pa.record_batch({"s": pa.array(["a" * 10], pa.large_string())})),
}
"""Schemas of readers, and batches that their readers give."""


def test_readers_whose_batches_have_other_columns(tmp_path: Path) -> None:
    """pyarrow makes such readers; their buffers would be read as those of the stated types."""
    for kind, (schema, batch) in LYING.items():
        first = schema.empty_table().to_batches() or [pa.RecordBatch.from_pylist([], schema)]
        for write in (orcish.write_table, orcish.write_dataset):
            for make in (lambda reader: reader, lambda reader: [reader]):
                data = make(pa.RecordBatchReader.from_batches(schema, iter([*first, batch])))
                with pytest.raises(ValueError, match="batch 1 has other columns than its reader states"):
                    write(data, tmp_path / "t")
                assert list(tmp_path.iterdir()) == [], kind


def test_exceptions_of_readers_keep_their_types(tmp_path: Path) -> None:
    class OwnError(Exception):
        pass

    schema = pa.schema([("id", pa.int64())])
    for kind in (OwnError, OSError, MemoryError, KeyError, KeyboardInterrupt):

        def batches(kind: type[BaseException] = kind) -> Iterator[pa.RecordBatch]:
            yield pa.record_batch({"id": [1]})
            raise kind("boom")

        for write in (orcish.write_table, orcish.write_dataset):
            with pytest.raises(kind, match="boom"):
                write(pa.RecordBatchReader.from_batches(schema, batches()), tmp_path / "t")
            assert list(tmp_path.iterdir()) == []
