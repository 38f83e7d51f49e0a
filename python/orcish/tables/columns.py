"""Casts of rows that are added to tables. The native core has the rules."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from orcish import _native
from orcish.arrow.exported import ExportedArray

__all__ = ["cast_batch"]


def cast_batch(batch: pa.RecordBatch, schema: pa.Schema, partition: Sequence[str]) -> pa.RecordBatch:
    """The batch with the types and the metadata of a schema of the same columns.

    Args:
        batch: The batch.
        schema: The schema.
        partition: The partition columns, whose values are cast by their texts.

    Raises:
        ValueError: A value is not one of its new type.
    """
    if not batch.num_columns:
        # A new batch without columns would have no rows.
        return batch
    columns = batch.columns
    if batch.schema.types != schema.types:
        cast = _native.cast_rows(batch.__arrow_c_array__(), schema.__arrow_c_schema__(), partition)
        made = pa.record_batch(ExportedArray(cast)).columns
        columns = [own if own.type == kind else new for own, new, kind in zip(columns, made, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
