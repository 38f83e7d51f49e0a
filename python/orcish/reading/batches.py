"""Batches of the native core as objects of pyarrow."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import pyarrow as pa

from orcish import _native
from orcish.arrow import deep_import
from orcish.errors import LimitExceededError

__all__ = [
    "Seen",
    "iterate",
    "native_batches",
    "read_all",
    "reader_of_batches",
    "rows_of_reader",
    "schema_of",
    "table_of",
]

_STREAMS: dict[int, tuple[weakref.ref[pa.RecordBatchReader], _native.Batches]] = {}
"""Readers that were made here, by their ids, and what they read. Their ends call nothing: an exception of a signal that
is raised in a call would be lost.
"""

Seen: TypeAlias = Callable[[int], object]
"""Takes the number of rows of each batch that is read."""


def native_batches(batches: _native.Batches) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The schema and the batches of a stream of the native core."""
    return schema_of(batches), iterate(batches)


def schema_of(batches: _native.Batches) -> pa.Schema:
    """The schema of the batches."""
    return deep_import.schema(batches) if batches.depth > deep_import.MAX_DEPTH else pa.schema(batches)


def read_all(batches: _native.Batches, name: Callable[[], str], seen: Seen | None = None) -> pa.Table:
    """All batches as a table. ``name`` gives the name of what is read, for errors."""
    if seen is not None or batches.max_result is not None:
        return table_of(iterate(batches, seen), schema_of(batches), batches.max_result, name)
    if batches.depth > deep_import.MAX_DEPTH:
        return deep_import.read_all(batches)
    try:
        return pa.RecordBatchReader.from_stream(batches).read_all()
    except Exception:
        batches.raise_failure()
        raise


def table_of(
    rows: Iterable[pa.RecordBatch], schema: pa.Schema, max_bytes: int | None, name: Callable[[], str]
) -> pa.Table:
    """The table of batches.

    Args:
        rows: The batches.
        schema: Their schema.
        max_bytes: The limit of the result, as :attr:`orcish._native.Batches.max_result` has it.
        name: Gives the name of what is read, for errors.

    Raises:
        LimitExceededError: The table has more bytes.
    """
    if max_bytes is None:
        return pa.Table.from_batches(list(rows), schema)
    found: list[pa.RecordBatch] = []
    taken = 0
    for batch in rows:
        found.append(batch)
        taken += batch.get_total_buffer_size()
        if taken > max_bytes:
            # Batches may share buffers, such as those of dictionaries, which a table counts once.
            taken = pa.Table.from_batches(found, schema).get_total_buffer_size()
        if taken > max_bytes:
            raise LimitExceededError(
                f"{name()}: the table has more than the {max_bytes} bytes allowed: read it batch by batch, or allow "
                "more (limits: result, which is memory where only that is given)"
            )
    return pa.Table.from_batches(found, schema)


def iterate(batches: _native.Batches, seen: Seen | None = None) -> Iterator[pa.RecordBatch]:
    """The batches one by one."""
    is_deep = batches.depth > deep_import.MAX_DEPTH
    rows = deep_import.iterate(batches) if is_deep else _batches(pa.RecordBatchReader.from_stream(batches), batches)
    if seen is None:
        yield from rows
        return
    for batch in rows:
        seen(batch.num_rows)
        yield batch


def reader_of_batches(
    batches: _native.Batches, rows: tuple[pa.Schema, Iterator[pa.RecordBatch]] | None
) -> pa.RecordBatchReader:
    """A reader of pyarrow.

    It is no subclass: code of pyarrow reads from the C++ object below a reader, which only pyarrow can set. Without the
    object, the process crashes.

    Args:
        batches: What is read.
        rows: The schema and the batches that are made of it, where these differ.
    """
    if rows is None and batches.depth > deep_import.MAX_DEPTH:
        rows = native_batches(batches)
    plain = pa.RecordBatchReader.from_stream(batches) if rows is None else pa.RecordBatchReader.from_batches(*rows)
    for key, (reader, _) in list(_STREAMS.items()):
        if reader() is None:
            _STREAMS.pop(key, None)
    _STREAMS[id(plain)] = (weakref.ref(plain), batches)
    return plain


def rows_of_reader(reader: pa.RecordBatchReader) -> tuple[pa.Schema, Iterator[pa.RecordBatch]] | None:
    """The schema and the batches that are left of a reader of :func:`reader_of_batches`; ``None`` for other readers.

    An exception while reading keeps its type.
    """
    found = _STREAMS.get(id(reader))
    if found is None or id(found[0]()) != id(reader):
        return None
    return reader.schema, _batches(reader, found[1])


def _batches(reader: pa.RecordBatchReader, batches: _native.Batches) -> Iterator[pa.RecordBatch]:
    while True:
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return
        except Exception:
            batches.raise_failure()
            raise
        yield batch
