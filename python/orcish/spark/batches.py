"""Batches as Spark wants them: its types exactly, and instants where the files have wall clocks."""

from __future__ import annotations

import dataclasses
import decimal
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["Shape", "Stored"]

UTC = frozenset(("UTC", "GMT", "Z", "Etc/UTC", "Etc/GMT", "UCT", "Zulu", "Universal", "+00:00"))
"""Names of zones that have no offset."""


@dataclasses.dataclass(frozen=True)
class Shape:
    """What batches that have been read are made into."""

    names: tuple[str, ...]
    """Names of the columns in the batches."""
    schema: pa.Schema
    zone: str
    """Zone of the wall clocks."""

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch with these columns, and the types of the schema.

        Raises:
            pa.ArrowInvalid: A value does not fit its type, such as a partition's value that is no number.
        """
        if batch.schema.equals(self.schema):
            return batch
        columns = [
            _reshaped(batch.column(name), field.type, self._value)
            for name, field in zip(self.names, self.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _value(self, column: pa.Array, to: pa.DataType) -> pa.Array:
        if pa.types.is_string(column.type) and not pa.types.is_string(to):
            column = _parsed(column, to)
        is_instant = pa.types.is_timestamp(to) and to.tz is not None
        if is_instant and pa.types.is_timestamp(column.type) and column.type.tz is None and self.zone not in UTC:
            # What the clock showed twice was the first time; what it never showed is as much later as it leapt.
            column = pc.assume_timezone(column, self.zone, ambiguous="earliest", nonexistent="latest")
        return column.cast(to)


@dataclasses.dataclass(frozen=True)
class Stored:
    """What Spark's batches are made into before they are written."""

    schema: pa.Schema
    zone: str
    """Zone of the wall clocks."""

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch with the same columns, and the types of the schema."""
        columns = [
            _reshaped(column, field.type, self._value) for column, field in zip(batch.columns, self.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _value(self, column: pa.Array, to: pa.DataType) -> pa.Array:
        if pa.types.is_timestamp(column.type) and column.type.tz is not None and pa.types.is_timestamp(to):
            # In the zone, and then as the clock there shows it.
            return pc.local_timestamp(column.cast(pa.timestamp("us", self.zone)))
        return column.cast(to)


def _parsed(column: pa.Array, to: pa.DataType) -> pa.Array:
    """Values of a partition, which are text, to be understood: wall clocks, and numbers as Java writes them."""
    if pa.types.is_timestamp(to):
        return column.cast(pa.timestamp("us"))
    if pa.types.is_floating(to):
        return pc.utf8_rtrim(pc.utf8_trim_whitespace(column), characters="dDfF")
    if pa.types.is_decimal(to):
        # By way of a decimal, which knows exponents.
        texts = {text: None if text is None else f"{decimal.Decimal(text):f}" for text in column.unique().to_pylist()}
        return pa.array([texts[text] for text in column.to_pylist()], pa.string())
    return column


def _reshaped(column: Any, to: Any, value: Callable[[pa.Array, pa.DataType], pa.Array]) -> pa.Array:
    """A column as one of another type, whose values, within whatever they are, `value` makes."""
    kind = column.type
    if kind.equals(to):
        return column
    if pa.types.is_struct(kind) and pa.types.is_struct(to):
        # Of a slice, `field` gives what is in it.
        children = [_reshaped(column.field(at), field.type, value) for at, field in enumerate(to)]
        return pa.StructArray.from_arrays(children, fields=list(to), mask=_nulls(column))
    if pa.types.is_map(kind) and pa.types.is_map(to):
        column = _whole(column)
        keys, items = _reshaped(column.keys, to.key_type, value), _reshaped(column.items, to.item_type, value)
        return pa.MapArray.from_arrays(column.offsets, keys, items, type=to, mask=_nulls(column))
    if pa.types.is_list(kind) and pa.types.is_list(to):
        column = _whole(column)
        values = _reshaped(column.values, to.value_type, value)
        return pa.ListArray.from_arrays(column.offsets, values, type=to, mask=_nulls(column))
    return value(column, to)


def _nulls(column: Any) -> Any:
    return column.is_null() if column.null_count else None


def _whole(column: Any) -> Any:
    """A list or map whose offsets begin at its values."""
    return pa.concat_arrays([column, column.slice(0, 0)]) if column.offset else column
