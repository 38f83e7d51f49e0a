"""Where stripes end that orcish writes: at the size that is asked for, whatever takes it, and in bounded memory."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import orcish
import pyarrow as pa
import pytest
from support.orc_layout import layout
from support.writer_tables import generator, written

STRIDE = 1000
STEP = 4 * STRIDE
"""Rows after which it is asked whether a stripe is full."""


def numbers(kind: str, rows: int, below: int = 1 << 62) -> np.ndarray[Any, Any]:
    return generator(kind).integers(0, below, rows)


def bits(title: str, rows: int) -> np.ndarray[Any, Any]:
    return numbers(title, rows, 2) == 1


def texts(title: str, rows: int, distinct: int = 1 << 62) -> pa.Array:
    return pa.array([f"{number:020}" for number in numbers(title, rows, distinct).tolist()])


def ones_and_none(title: str, rows: int, element: pa.DataType) -> pa.Array:
    """Lists of nothing, and of a null, so that next to nothing but their lengths is stored."""
    offsets = np.concatenate([[0], np.cumsum(bits(title, rows))]).astype(np.int32)
    return pa.ListArray.from_arrays(offsets, pa.nulls(int(offsets[-1]), element))


def maps(title: str, rows: int) -> pa.Array:
    lists = ones_and_none(title, rows, pa.bool_())
    keys = pa.array(np.zeros(len(lists.values), np.bool_))
    return pa.MapArray.from_arrays(lists.offsets, keys, lists.values)


def unions(title: str, rows: int) -> pa.Array:
    tags = pa.array(numbers(title, rows, 4).astype(np.int8))
    return pa.UnionArray.from_sparse(tags, [pa.nulls(rows, pa.bool_())] * 4)


KINDS: dict[str, Callable[[int], pa.Array]] = {
    "boolean": lambda rows: pa.array(bits("boolean", rows)),
    "nulls": lambda rows: pa.array(np.zeros(rows, np.bool_), mask=bits("nulls", rows)),
    "nulls of structs": lambda rows: pa.StructArray.from_arrays([], fields=[], mask=pa.array(bits("structs", rows))),
    "tinyint": lambda rows: pa.array(numbers("tinyint", rows, 128).astype(np.int8)),
    "int": lambda rows: pa.array(numbers("int", rows, 1 << 30).astype(np.int32)),
    "bigint": lambda rows: pa.array(numbers("bigint", rows)),
    "float": lambda rows: pa.array(generator("float").random(rows, np.float32)),
    "double": lambda rows: pa.array(generator("double").random(rows)),
    "decimal": lambda rows: pa.array(numbers("decimal", rows)).cast(pa.decimal128(20, 0)),
    "long decimal": lambda rows: pa.array(numbers("long decimal", rows)).cast(pa.decimal128(38, 10)),
    "date": lambda rows: pa.array(numbers("date", rows, 1 << 20).astype(np.int32)).cast(pa.date32()),
    "timestamp": lambda rows: pa.array(numbers("timestamp", rows, 1 << 50), pa.timestamp("us")),
    "text": lambda rows: texts("text", rows),
    "text of a dictionary": lambda rows: texts("text of a dictionary", rows, 1000),
    "binary": lambda rows: texts("binary", rows).cast(pa.binary()),
    "array": lambda rows: ones_and_none("array", rows, pa.bool_()),
    "map": lambda rows: maps("map", rows),
    "uniontype": lambda rows: unions("uniontype", rows),
}


@pytest.mark.parametrize("version", ["0.11", "0.12"])
@pytest.mark.parametrize("kind", KINDS)
def test_stripes_end_by_the_size_of_any_column(kind: str, version: str) -> None:
    """No type of column makes stripes three times as large as another type."""
    options: dict[str, Any] = {"compression": "none", "row_index_stride": STRIDE, "version": version}
    (whole,) = orcish.ORCFile(written(pa.table({"c": KINDS[kind](2 * STEP)}), **options)).stripes
    size = whole.data_length * 19 // 20
    stripes = orcish.ORCFile(written(pa.table({"c": KINDS[kind](10 * STEP)}), stripe_size=size, **options)).stripes
    assert {stripe.num_rows for stripe in stripes[:-1]} <= {STEP, 2 * STEP, 3 * STEP}
    assert max(stripe.data_length for stripe in stripes) <= 2 * size


def test_stripes_of_dictionaries_are_as_large_as_is_asked_for() -> None:
    """Dictionary keys count with the bits that they need, which is slightly less than their stored size."""
    data = pa.table({"s": texts("large stripes", 30 * STEP, 1000)})
    options: dict[str, Any] = {"compression": "none", "row_index_stride": STRIDE}
    (whole,) = orcish.ORCFile(written(data.slice(0, 10 * STEP), **options)).stripes
    stripes = orcish.ORCFile(written(data, stripe_size=whole.data_length, **options)).stripes
    assert 9 * STEP <= stripes[0].num_rows <= 18 * STEP


@pytest.mark.parametrize(("columns", "chunk"), [(1, 256), (50, 256), (100, 256), (200, 128), (300, 64), (1000, 64)])
def test_chunks_of_wide_tables_are_small(columns: int, chunk: int) -> None:
    """Readers hold one chunk of each stream."""
    data = pa.table({f"c{at}": pa.array([at], pa.int32()) for at in range(columns)})
    assert orcish.ORCFile(written(data)).compression_chunk_size == chunk << 10
    halved = orcish.ORCFile(written(data, stripe_size=32 << 20)).compression_chunk_size
    assert halved == max(64, chunk // (2 if columns > 50 else 1)) << 10


def test_stripes_end_by_the_size_of_bloom_filters() -> None:
    """Bloom filters can be larger than the data."""
    data = pa.table({"a": np.zeros(40 * STEP, np.int64)})
    options: dict[str, Any] = {"row_index_stride": STRIDE, "bloom_filter_columns": ["a"], "compression": "none"}
    (whole,) = orcish.ORCFile(written(data.slice(0, 4 * STEP), **options)).stripes
    assert whole.index_length > 20 * whole.data_length
    stripes = orcish.ORCFile(written(data, stripe_size=whole.index_length, **options)).stripes
    assert {stripe.num_rows for stripe in stripes[:-1]} <= {3 * STEP, 4 * STEP, 5 * STEP}


@pytest.mark.parametrize("text", ["", "a", "a" * 300], ids=len)
def test_stripes_end_by_the_memory_of_dictionaries(text: str) -> None:
    """Keys of a repeated text take almost no bytes in the file, and a byte each in memory."""
    data = pa.table({"s": pa.DictionaryArray.from_arrays(np.zeros(100_000, np.int8), [text])})
    size = 10_000
    file = written(data, stripe_size=size, row_index_stride=STRIDE, compression="none")
    assert all(encodings == [0, 3] for encodings in layout(file).encodings)
    assert max(stripe.num_rows for stripe in orcish.ORCFile(file).stripes) <= 2 * size


FORMS: dict[str, Callable[[pa.Array, list[int]], pa.Array]] = {
    "flat": lambda array, _: array,
    "struct": lambda array, _: pa.StructArray.from_arrays([array], ["a"]),
    "list": lambda array, offsets: pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), array),
    "large list": lambda array, offsets: pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), array),
    "fixed size list": lambda array, offsets: pa.FixedSizeListArray.from_arrays(array, offsets[1]),
    "map": lambda array, offsets: pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), array, array),
    "list of structs": lambda array, offsets: pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), pa.StructArray.from_arrays([array], ["a"])
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_memory_of_rows_that_wait(form: str) -> None:
    """Only the slice of a buffer that a batch has counts as memory."""
    offsets = list(range(0, 100_001, 10_000))
    data = pa.record_batch({"a": FORMS[form](pa.array(numbers("memory", 100_000)), offsets)})
    for batch in (data, data.slice(len(data) // 2, len(data) // 10)):
        with orcish.ORCWriter(io.BytesIO(), data.schema) as writer:
            assert writer.memory == 0
            writer.write(batch)
            assert batch.nbytes * 9 // 10 <= writer.memory <= batch.nbytes * 11 // 10


@pytest.mark.parametrize("form", FORMS)
def test_rows_that_wait_are_bounded(form: str) -> None:
    """Buffered rows are bounded by bytes, for any size of rows and row groups."""
    offsets = list(range(0, 500_001, 50_000))
    data = pa.record_batch({"a": FORMS[form](pa.array(numbers("bounded", 500_000)), offsets)})
    out = io.BytesIO()
    options: dict[str, Any] = {"compression": "none", "stripe_size": 1 << 20, "row_index_stride": 10**9}
    with orcish.ORCWriter(out, data.schema, **options) as writer:
        for _ in range(16):
            writer.write(data)
            assert writer.memory < 32 << 20
    assert len(orcish.ORCFile(out.getvalue()).stripes) >= 3


HUGE: dict[str, Callable[[list[str]], pa.Array]] = {
    "text": pa.array,
    "view": lambda texts: pa.array(texts, pa.string_view()),
    "dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "runs": lambda texts: pa.RunEndEncodedArray.from_arrays(list(range(1, len(texts) + 1)), pa.array(texts)),
}


@pytest.mark.parametrize("form", HUGE)
@pytest.mark.parametrize("shared", [False, True])
def test_batches_of_huge_rows_are_written_in_parts(form: str, shared: bool) -> None:
    """A stripe ends within a row group, and within a batch, where its memory is bounded, also of rows that share values."""
    texts = HUGE[form]([f"{0 if shared else at:0100000d}" for at in range(500)])
    if shared and form == "runs":
        texts = pa.RunEndEncodedArray.from_arrays([500], texts.values.slice(0, 1))
    data = pa.table({"a": texts})
    file = written(data, stripe_size=1 << 20, compression="none", dictionary=False)
    stripes = orcish.ORCFile(file).stripes
    assert len(stripes) >= 2
    assert sum(stripe.num_rows for stripe in stripes) == 500
    assert orcish.read_table(file).column("a").to_pylist() == data.column("a").to_pylist()


MANY = 2 << 20
ZEROS: dict[str, pa.Array] = {
    "tinyint": pa.array(np.zeros(MANY, np.int8)),
    "bigint": pa.array(np.zeros(MANY, np.int64)),
    "date": pa.array(np.zeros(MANY, np.int32)).cast(pa.date32()),
    "timestamp": pa.array(np.zeros(MANY, np.int64)).cast(pa.timestamp("us")),
    "array": pa.ListArray.from_arrays(np.zeros(MANY + 1, np.int32), pa.array([], pa.int8())),
    "uniontype": pa.UnionArray.from_sparse(pa.array(np.zeros(MANY, np.int8)), [pa.nulls(MANY, pa.bool_())]),
}


@pytest.mark.parametrize("kind", ZEROS)
@pytest.mark.parametrize("version", ["0.11", "0.12"])
def test_runs_are_encoded_within_row_groups(kind: str, version: str) -> None:
    """Equal values in unbounded row groups take almost no memory."""
    # The other column is as many bytes as wait at most.
    batch = pa.record_batch({"a": ZEROS[kind], "b": np.zeros(MANY)})
    with orcish.ORCWriter(io.BytesIO(), batch.schema, version=version, row_index_stride=2**31 - 1) as writer:
        found = []
        for _ in range(3):
            writer.write(batch)
            found.append(writer.memory)
    # What is added is the other column, compressed, and for each row a bit that says whether it is null.
    assert found[2] < found[0] + MANY


@pytest.mark.parametrize("form", ["string", "large_string", "string_view", "dictionary", "char(20)", "varchar(30)"])
def test_texts_that_repeat_have_a_dictionary(form: str) -> None:
    """The choice of a dictionary makes the file hardly larger than the other choice."""
    metadata = {"orc.type": form} if "(" in form else None
    for distinct, repeats in ((1, True), (100, True), (3000, True), (1 << 62, False)):
        found = texts("dictionary", 20_000, distinct)
        if form == "dictionary":
            found = found.dictionary_encode()
        elif metadata is None:
            found = found.cast(getattr(pa, form)())
        data = pa.table([found], pa.schema([pa.field("s", found.type, metadata=metadata)]))
        for rows in (1000, 20_000):
            if distinct * 2 > rows and repeats:
                continue
            part = data.slice(0, rows)
            options: dict[str, Any] = {"compression": "none", "arrow_schema": False}
            file = written(part, **options)
            assert layout(file).encodings == [[0, 3 if repeats else 2]], (distinct, rows)
            assert len(file) <= 1.1 * min(len(written(part, dictionary=choice, **options)) for choice in (True, False))


@pytest.mark.parametrize(("distinct", "encoding"), [(300, 3), (600, 2)])
def test_dictionaries_that_blanks_make_large_are_given_up(distinct: int, encoding: int) -> None:
    """Padding makes small entries large, so that only their padded size bounds the dictionary."""
    field = pa.field("s", pa.string(), metadata={"orc.type": "char(65536)"})
    found = [f"{at:04}" for at in range(distinct)] * 2
    file = written(pa.table([found], pa.schema([field])), compression="zlib", compression_level=1)
    assert layout(file).encodings == [[0, encoding]]
    assert orcish.read_table(file, trim_char=True)["s"].to_pylist() == found


@pytest.mark.parametrize("rows", [300, 1000, 4000])
def test_batches_of_large_rows_do_not_matter(rows: int) -> None:
    """Stripes end at the same row groups for any size of batches, within twice the stripe size."""
    raw = np.zeros(9000 * 8192, np.int8)
    data = pa.table({"a": pa.FixedSizeBinaryArray.from_buffers(pa.binary(8192), 9000, [None, pa.py_buffer(raw)])})
    options: dict[str, Any] = {"row_index_stride": STRIDE, "stripe_size": 20 << 20, "compression": "none"}
    parts = pa.RecordBatchReader.from_batches(data.schema, data.to_batches(max_chunksize=rows))
    stripes = orcish.ORCFile(written(parts, **options)).stripes
    assert [stripe.num_rows for stripe in stripes] == [4000, 4000, 1000]


@pytest.mark.parametrize("rows", [1, 100, 9000, 20_000])
@pytest.mark.parametrize("distinct", [1, 1 << 62])
def test_dictionaries_that_are_asked_for(rows: int, distinct: int) -> None:
    """The option forces a dictionary, or none, against the estimate."""
    data = pa.table({"s": texts("asked for", rows, distinct), "t": texts("too", rows, distinct)})
    for first, second in ((True, False), (False, True)):
        file = written(data, compression="none", dictionary={"s": first, "t": second}, row_index_stride=STRIDE)
        assert layout(file).encodings == [[0, 3 if first else 2, 3 if second else 2]]
    for each in (True, False):
        file = written(data, compression="none", dictionary=each)
        assert layout(file).encodings == [[0, *[3 if each else 2] * 2]]
