"""How instants are stored: as ``timestamp`` with the zone of the writer, as in Spark, or as ``timestamp with local time
zone``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from orcish import _native
from orcish.arrow.exported import ExportedSchema
from orcish.reading.file import ORCFile

__all__ = [
    "CATALYST_TYPE",
    "INSTANT",
    "ORC_TYPE",
    "WALL",
    "timestamp_types",
    "with_schema",
    "with_stored_types",
]

ORC_TYPE = "orc.type"
"""Key of field metadata with the ORC type that the field is stored as."""
CATALYST_TYPE = "spark.sql.catalyst.type"
"""Key of field metadata in which Spark records its own type of a column."""
WALL = "timestamp"
INSTANT = "timestamp with local time zone"


def timestamp_types(file: ORCFile) -> dict[str, str]:
    """The ORC types of the timestamp columns of a file, by their dotted names."""
    return {
        path: kind for path, kind in zip(file.column_paths, file.column_types, strict=True) if kind in (WALL, INSTANT)
    }


def with_stored_types(schema: pa.Schema, kinds: Sequence[Mapping[str, str]]) -> pa.Schema:
    """The schema with instants that are stored as in existing files: as ``timestamp`` where all files that have the
    column do so, and as ``timestamp with local time zone`` where one does.

    Args:
        schema: The schema.
        kinds: For each file, the result of :func:`timestamp_types`.
    """
    pairs = [pair for each in kinds for pair in each.items()]
    if not pairs:
        return schema
    return pa.schema(ExportedSchema(_native.with_timestamp_types(schema.__arrow_c_schema__(), pairs)))


def with_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with a schema of the same types, whose field metadata decide how columns are stored."""
    # A new batch without columns would have no rows.
    return pa.RecordBatch.from_arrays(batch.columns, schema=schema) if batch.num_columns else batch
