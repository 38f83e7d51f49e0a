"""Arrow tables as frames of polars, which has not all of Arrow's types."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

__all__ = ["check_is_of_polars", "is_of_polars", "of_polars", "to_polars"]


def is_of_polars(kind: pa.DataType) -> bool:
    """Whether polars has the type, or one that has the same values; of others it panics."""
    return _unknown(kind) is None


def check_is_of_polars(schema: pa.Schema) -> None:
    """Checks that polars can have all columns.

    Raises:
        TypeError: It has no type for one.
    """
    for field in schema:
        if (unknown := _unknown(field.type)) is not None:
            raise TypeError(f"column {field.name} of type {field.type}: polars has no type for {unknown}")


def of_polars(kind: pa.DataType) -> pa.DataType:
    """The type that has the same values and that polars knows: decimals of 128 bits in place of 256, lists in place of
    views, values in place of runs.
    """
    types = pa.types
    if types.is_run_end_encoded(kind):
        return of_polars(kind.value_type)
    if types.is_decimal256(kind) and kind.precision <= 38:
        return pa.decimal128(kind.precision, kind.scale)
    if types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, of_polars(kind.value_type), kind.ordered)
    if types.is_struct(kind):
        return pa.struct([_field(field) for field in kind])
    if types.is_map(kind):
        return pa.map_(_field(kind.key_field), _field(kind.item_field), keys_sorted=kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pa.list_(_field(kind.value_field), kind.list_size)
    if types.is_list(kind) or types.is_list_view(kind):
        return pa.list_(_field(kind.value_field))
    if types.is_large_list(kind) or types.is_large_list_view(kind):
        return pa.large_list(_field(kind.value_field))
    return kind


def to_polars(data: pa.Table | pa.RecordBatch) -> Any:
    """The rows as a frame, a ``polars.DataFrame``."""
    import polars

    # Of a batch without columns polars would not take over how many rows it has.
    return polars.from_arrow(data if isinstance(data, pa.Table) else pa.Table.from_batches([data]))


def _field(field: pa.Field) -> pa.Field:
    return field.with_type(of_polars(field.type))


def _unknown(kind: pa.DataType) -> pa.DataType | None:
    """The first, of a type and those in it, that polars does not have."""
    if pa.types.is_union(kind) or pa.types.is_interval(kind):
        return kind
    if pa.types.is_run_end_encoded(kind) or pa.types.is_dictionary(kind):
        return _unknown(kind.value_type)
    return next((found for at in range(kind.num_fields) if (found := _unknown(kind.field(at).type)) is not None), None)
