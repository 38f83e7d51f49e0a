"""Rows that are written: their schema and their batches, of any object that has or makes Arrow data."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import pyarrow as pa

from orcish.arrow.frames import fitted_metadata
from orcish.arrow.polars import with_arrow_integers
from orcish.reading.batches import rows_of_reader
from orcish.reading.reader import BatchSource, row_count_of, rows_of
from orcish.writing.inputs import check_input, no_input

__all__ = ["batch_reader", "counted", "row_count", "schema_and_batches", "schema_and_rows", "streams"]

Prepare: TypeAlias = Callable[[Any], Any]
"""A change of an object before its rows are taken."""

MAX_ROWS = 1 << 17
"""Maximum rows of a part whose progress is reported."""


def schema_and_batches(data: Any, prepare: Prepare = lambda data: data) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The schema and the batches of data that can be written.

    Args:
        data: The data.
        prepare: Applied to the data, or to each of several parts.

    Raises:
        TypeError: The object has no rows of Arrow.
        ValueError: There are no parts, or their schemas differ.
    """
    schema, rows = schema_and_rows(data, prepare)
    return schema, iter(rows)


def schema_and_rows(data: Any, prepare: Prepare = lambda data: data) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
    """The schema and the rows of data, likewise. Sources of orcish are read batch by batch, so that exceptions keep
    their type; others are read as a stream.
    """
    data = with_arrow_integers(_scanned(prepare(data)))
    check_input(data)
    own = _own_rows(data)
    if own is not None:
        return own
    if _has_parts(data):
        return _joined(data, prepare)
    reader = _reader(data)
    return reader.schema, _checked(reader)


def row_count(data: Any) -> int | None:
    """The number of rows of data, where it is known before they are read."""
    if isinstance(data, BatchSource):
        return row_count_of(data)
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return len(data)
    # Of tables and batches of pyarrow, and of data frames of polars.
    known = (getattr(data, name, None) for name in ("num_rows", "height"))
    return next((rows for rows in known if isinstance(rows, int)), None)


def counted(rows: Iterable[pa.RecordBatch], add: Callable[[int], object]) -> Iterator[pa.RecordBatch]:
    """The batches in parts of at most a hundred thousand rows or so, whose rows are reported when they are done."""
    for batch in rows:
        for start in range(0, max(len(batch), 1), MAX_ROWS):
            part = batch.slice(start, MAX_ROWS)
            yield part
            add(len(part))


def _own_rows(data: Any) -> tuple[pa.Schema, Iterator[pa.RecordBatch]] | None:
    """The schema and the batches of sources and readers of orcish."""
    if isinstance(data, BatchSource):
        return rows_of(data)
    return rows_of_reader(data) if isinstance(data, pa.RecordBatchReader) else None


def _joined(parts: Iterable[Any], prepare: Prepare) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The schema and the batches of several parts."""
    left = iter(parts)
    try:
        schema, first = schema_and_rows(next(left), prepare)
    except StopIteration:
        raise ValueError("there are no parts, and so no columns: a table without rows has a schema") from None

    def batches() -> Iterator[pa.RecordBatch]:
        yield from first
        for at, part in enumerate(left, 1):
            own, rows = schema_and_rows(part, prepare)
            if not own.equals(schema):
                raise ValueError(f"part {at} has other columns than part 0: {_shown(own)}, not {_shown(schema)}")
            yield from rows

    return fitted_metadata(schema, is_whole=False), batches()


def _shown(schema: pa.Schema) -> str:
    return ", ".join(str(field).removeprefix("pyarrow.Field<").removesuffix(">") for field in schema)[:500]


def _has_parts(data: Any) -> bool:
    """Whether an object is an iterable of others, such as a list of batches, and has no rows itself."""
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return False
    return isinstance(data, Iterable) and not isinstance(data, Mapping | str | bytes) and not hasattr(data, "__array__")


def _scanned(data: Any) -> Any:
    """The rows of a dataset, or of a scanner, of pyarrow; other data are unchanged."""
    # Where the module is not loaded, no data can be its.
    dataset = sys.modules.get("pyarrow.dataset")
    if dataset is None or not isinstance(data, dataset.Dataset | dataset.Scanner):
        return data
    return (data.scanner() if isinstance(data, dataset.Dataset) else data).to_reader()


def _reader(data: Any) -> pa.RecordBatchReader:
    """The rows as a stream with a known schema."""
    if isinstance(data, pa.RecordBatchReader):
        return data
    if hasattr(data, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(data)
    return batch_reader(data)


def batch_reader(data: Any) -> pa.RecordBatchReader:
    """A record batch, or another object with ``__arrow_c_array__``, as a stream.

    Raises:
        TypeError: The object is none.
    """
    if not hasattr(data, "__arrow_c_array__"):
        raise no_input(data)
    batch = data if isinstance(data, pa.RecordBatch) else pa.record_batch(data)
    return pa.RecordBatchReader.from_batches(batch.schema, [batch])


def _checked(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """The batches of a reader. pyarrow does not compare batches of Python with the schema of their reader, and a C
    stream has no other schema.

    Raises:
        ValueError: A batch has other columns.
    """
    schema = reader.schema
    for at, batch in enumerate(reader):
        if not batch.schema.equals(schema):
            raise ValueError(
                f"batch {at} has other columns than its reader states: {_shown(batch.schema)}, not {_shown(schema)}"
            )
        yield batch


def streams(data: Any, errors: list[BaseException]) -> Iterable[Any]:
    """PyCapsules of the streams of data.

    Args:
        data: The data.
        errors: Gets the exception of a reader that runs Python code, such as a generator. The C stream interface passes
            the message of an exception on, so that its consumer raises another one.
    """
    data = with_arrow_integers(_scanned(data))
    check_input(data)
    own = _own_rows(data)
    if own is not None:
        for batch in own[1]:
            yield batch_reader(batch).__arrow_c_stream__()
    elif _has_parts(data):
        for part in data:
            yield from streams(part, errors)
    elif hasattr(data, "__arrow_c_stream__") and not isinstance(data, pa.RecordBatchReader):
        yield data.__arrow_c_stream__()
    else:
        yield _recording(_reader(data), errors).__arrow_c_stream__()


def _recording(reader: pa.RecordBatchReader, errors: list[BaseException]) -> pa.RecordBatchReader:
    """A reader whose exceptions are appended to ``errors``."""

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            yield from _checked(reader)
        except GeneratorExit:
            raise
        except BaseException as error:
            errors.append(error)
            raise

    return pa.RecordBatchReader.from_batches(reader.schema, batches())
