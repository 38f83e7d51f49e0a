"""The columns of tables that rows are added to. The native core has the rules."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pyarrow as pa

from orcish import _native
from orcish._native import complete_storage
from orcish.arrow.exported import ExportedArray, ExportedSchema, schema_for_native
from orcish.arrow.frames import PANDAS, fitted_description
from orcish.tables.commit import Job
from orcish.tables.log.schema import TableSchema

__all__ = ["appended_schema", "cast_batch", "columns_of", "schema_with"]


def columns_of(
    job: Job, names: Sequence[str], schema: TableSchema | None, visible: Sequence[str], *, keeps_twins: bool = False
) -> _native.TableColumns | None:
    """The columns of the table that a job writes to: those of its log, or those of its files; ``None`` if it has none.

    Args:
        job: The job.
        names: Files of the table that stay, by their paths in the table.
        schema: The schema of the table in its log.
        visible: All files of the table. Readers infer types of partition columns from their folders.
        keeps_twins: Whether columns of the first file stay that are one column to some readers.

    Raises:
        ValueError: There are files, and none of them is an ORC file, or they have no common schema.
    """
    storage = complete_storage(job.root, job.storage)
    return _native.TableColumns.of(job.root, names, visible, schema, storage, keeps_twins=keeps_twins)


def appended_schema(
    columns: _native.TableColumns,
    rows: pa.Schema,
    partition: Sequence[str],
    timestamps: Collection[tuple[str, str]] | None = None,
) -> pa.Schema:
    """The schema with which rows are appended to a table.

    Args:
        columns: The columns of the table.
        rows: The schema of the rows.
        partition: The partition columns of the rows.
        timestamps: Dotted names of columns and their ORC types, for instants; by default those of the table.

    Raises:
        ValueError: Names differ only by case, or a type of the table does not hold the values.
    """
    return pa.schema(ExportedSchema(columns.appended_schema(schema_for_native(rows), partition, timestamps)))


def schema_with(
    columns: _native.TableColumns | None,
    rows: pa.Schema,
    partition: Sequence[str],
    *,
    arrow_schema: bool,
    timezone: str | None = None,
) -> TableSchema:
    """The schema of a table after rows are added.

    Args:
        columns: The columns of the table before; ``None`` if it had none.
        rows: The schema with which the rows are written, partition columns included.
        partition: Names of all partition columns.
        arrow_schema: Whether files of a new table have an Arrow schema.
        timezone: Time zone of the writer of the rows.

    Raises:
        ValueError: Columns of a new table have one name, without regard to case, or there are too many columns.
    """
    after = _native.SchemaWithRows(columns, schema_for_native(rows), partition, arrow_schema)
    described = after.metadata(PANDAS)
    fitted = {PANDAS: fitted_description(described, after.names, is_whole=False)} if described else None
    return TableSchema(after.file(timezone, fitted), list(partition))


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
