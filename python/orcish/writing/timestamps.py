"""How instants are stored: as ``timestamp`` with the zone of the writer, as in Spark, or as ``timestamp with local time
zone``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from orcish.arrow.nested import map_columns, value_type
from orcish.reading.file import ORCFile

__all__ = [
    "CATALYST_TYPE",
    "INSTANT",
    "ORC_TYPE",
    "WALL",
    "has_timestamps",
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


def has_timestamps(schema: Any) -> bool:
    """Whether a schema has timestamps, nested ones included."""
    return any(True for field in schema for _ in _timestamps(field.type))


def _timestamps(kind: Any) -> Iterator[Any]:
    """The timestamps in a type."""
    kind = value_type(kind)
    if pa.types.is_timestamp(kind):
        yield kind
        return
    for at in range(kind.num_fields):
        yield from _timestamps(kind.field(at).type)


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
    found: dict[str, set[str]] = {}
    for each in kinds:
        for path, kind in each.items():
            found.setdefault(path, set()).add(kind)
    return map_columns(schema, lambda field, path: _stored(field, found.get(path)))


def with_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with a schema of the same types, whose field metadata decide how columns are stored."""
    # A new batch without columns would have no rows.
    return pa.RecordBatch.from_arrays(batch.columns, schema=schema) if batch.num_columns else batch


def _stored(field: pa.Field, kinds: set[str] | None) -> pa.Field:
    plain = value_type(field.type)
    if kinds is None or not pa.types.is_timestamp(plain) or plain.tz is None:
        return field
    metadata = {key: value for key, value in (field.metadata or {}).items() if key != ORC_TYPE.encode()}
    if kinds == {WALL}:
        metadata[ORC_TYPE.encode()] = WALL.encode()
    return field.with_metadata(metadata or None)
