"""Task inputs: groups of splits, made on the driver and read in a worker, as batches with the exact types of Spark."""

from __future__ import annotations

import dataclasses
import pickle
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pyarrow as pa

from orcish.errors import OrcishError
from orcish.io.names import display_name
from orcish.reading.scan import Split, read_split

__all__ = ["BatchConverter", "TaskInput", "deserialize", "serialize", "within_bytes"]

MAX_BYTES = 64 << 20
"""Maximum bytes of a batch, unless one row has more."""


def serialize(value: object) -> bytes:
    """Pickles and compresses a value."""
    return zlib.compress(pickle.dumps(value), 1)


def deserialize(data: bytes) -> Any:
    """The inverse of :func:`serialize`."""
    return pickle.loads(zlib.decompress(data))


@dataclasses.dataclass(frozen=True)
class TaskInput:
    """The splits that a task reads, with the tails of their files; serialized."""

    data: bytes
    rows: int
    size: int

    @classmethod
    def of(cls, splits: Sequence[Split], shape: BatchConverter) -> TaskInput:
        """Serializes splits."""
        return cls(
            serialize((list(splits), shape)), sum(split.rows for split in splits), sum(split.size for split in splits)
        )

    def batches(self, threads: int = 1) -> Iterator[pa.RecordBatch]:
        """The rows, with the types of Spark.

        Raises:
            OrcishError: A file cannot be read; the message names it.
        """
        splits, shape = cast("tuple[list[Split], BatchConverter]", deserialize(self.data))
        for split in splits:
            reader = read_split(split, threads)
            for batch in reader.read_batches():
                try:
                    shaped = shape.of(batch)
                except pa.ArrowException as error:
                    raise OrcishError(f"{display_name(split.location)}: {error}") from error
                yield from within_bytes(shaped)


def within_bytes(batch: pa.RecordBatch, most: int = MAX_BYTES) -> Iterator[pa.RecordBatch]:
    """The rows of a batch in batches of at most so many bytes, unless one row has more."""
    if batch.nbytes <= most or batch.num_rows <= 1:
        yield batch
        return
    rows = max(1, batch.num_rows // -(-batch.nbytes // most))
    for start in range(0, batch.num_rows, rows):
        # Rows may differ in size.
        yield from within_bytes(batch.slice(start, rows), most)


@dataclasses.dataclass(frozen=True)
class BatchConverter:
    """Converts batches of a scan to batches of Spark."""

    names: tuple[str, ...]
    """Names of the columns in batches of the scan."""
    schema: pa.Schema

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch with the columns and types of the schema.

        Raises:
            pa.ArrowInvalid: A value does not fit its type, or is a null in a column that is not nullable.
        """
        if batch.schema.equals(self.schema):
            return batch
        columns = [
            _by_position(batch.column(name), field.type) for name, field in zip(self.names, self.schema, strict=True)
        ]
        for column, field in zip(columns, self.schema, strict=True):
            if _has_values_only(field):
                _check_nulls(column, field, field.name)
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


def _has_values_only(field: pa.Field) -> bool:
    """Whether a field, or a nested one, is not nullable."""
    kind = field.type
    inner = [kind.item_field] if pa.types.is_map(kind) else [kind.field(at) for at in range(kind.num_fields)]
    return not field.nullable or any(map(_has_values_only, inner))


def _check_nulls(column: Any, field: pa.Field, path: str) -> None:
    """Raises pa.ArrowInvalid for nulls in fields that are not nullable, which Spark would take for values."""
    kind = field.type
    if not field.nullable and column.null_count:
        raise pa.ArrowInvalid(f"column {path}: a value is null, and NOT NULL in the schema that was given")
    if pa.types.is_struct(kind):
        # Fields of null structs are not checked.
        there = column.drop_null() if column.null_count else column
        for at, child in enumerate(kind):
            _check_nulls(there.field(at), child, f"{path}.{child.name}")
    elif pa.types.is_map(kind):
        there = _whole(column.drop_null())
        _check_nulls(there.items, kind.item_field, f"{path}.value")
    elif pa.types.is_list(kind):
        _check_nulls(column.flatten(), kind.value_field, f"{path}.element")


def _by_position(column: Any, to: Any) -> pa.Array:
    """An array with another type, whose struct fields may have other names and be not nullable."""
    kind = column.type
    if kind.equals(to):
        return column
    if pa.types.is_struct(kind) and pa.types.is_struct(to):
        # `field` respects the offset of slices.
        children = [_by_position(column.field(at), field.type) for at, field in enumerate(to)]
        return pa.StructArray.from_arrays(children, fields=list(to), mask=_nulls(column))
    if pa.types.is_map(kind) and pa.types.is_map(to):
        column = _whole(column)
        keys, items = _by_position(column.keys, to.key_type), _by_position(column.items, to.item_type)
        return pa.MapArray.from_arrays(column.offsets, keys, items, type=to, mask=_nulls(column))
    if pa.types.is_list(kind) and pa.types.is_list(to):
        column = _whole(column)
        values = _by_position(column.values, to.value_type)
        return pa.ListArray.from_arrays(column.offsets, values, type=to, mask=_nulls(column))
    return column.cast(to)


def _nulls(column: Any) -> Any:
    return column.is_null() if column.null_count else None


def _whole(column: Any) -> Any:
    """A list or map array without offset."""
    return pa.concat_arrays([column, column.slice(0, 0)]) if column.offset else column
