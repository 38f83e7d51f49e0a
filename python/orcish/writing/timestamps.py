"""Instants as the files of a table have them: ``timestamp``, with the zone of the writer, as Spark stores them, or
``timestamp with local time zone``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from orcish.arrow.nested import map_fields
from orcish.reading.file import ORCFile, native_file

__all__ = [
    "ORC_TYPE",
    "as_stored",
    "has_instants",
    "has_wall_clocks",
    "kinds_of",
    "only_zone",
    "with_schema",
    "zones_of",
]

ORC_TYPE = "orc.type"
"""Key of the metadata of a field that say which type of ORC it is stored as."""
WALL = "timestamp"
INSTANT = "timestamp with local time zone"


def has_instants(schema: Any) -> bool:
    """Whether columns are instants, or have some within them."""
    return any(kind.tz is not None for field in schema for kind in _timestamps(field.type))


def has_wall_clocks(schema: Any) -> bool:
    """Whether columns are timestamps without a zone, or have some within them."""
    return any(kind.tz is None for field in schema for kind in _timestamps(field.type))


def _timestamps(kind: Any) -> Iterator[Any]:
    """The timestamps within a type."""
    kind = _plain(kind)
    if pa.types.is_timestamp(kind):
        yield kind
        return
    for at in range(kind.num_fields):
        yield from _timestamps(kind.field(at).type)


def _plain(kind: Any) -> Any:
    """The type of the values of dictionaries and runs."""
    while pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    return kind


def kinds_of(file: ORCFile) -> dict[str, str]:
    """Which of the two types columns of a file have, by their dotted names."""
    return {
        path: kind for path, kind in zip(file.column_paths, file.column_types, strict=True) if kind in (WALL, INSTANT)
    }


def as_stored(schema: pa.Schema, kinds: Sequence[Mapping[str, str]]) -> pa.Schema:
    """The schema with instants to be stored as files have them that say of what type their columns are: as
    ``timestamp`` where all do so that have the column, and as ``timestamp with local time zone`` where one does.
    """
    found: dict[str, set[str]] = {}
    for each in kinds:
        for path, kind in each.items():
            found.setdefault(path, set()).add(kind)
    return pa.schema([_stored(field, field.name, found) for field in schema], schema.metadata)


def with_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch whose fields have the metadata of a schema of the same types: what they are stored as is said there."""
    # Rows of no columns would be lost.
    return pa.RecordBatch.from_arrays(batch.columns, schema=schema) if batch.num_columns else batch


def _stored(field: pa.Field, path: str, kinds: Mapping[str, set[str]]) -> pa.Field:
    kind: Any = field.type
    plain = _plain(kind)
    if pa.types.is_timestamp(plain) and plain.tz is not None and path in kinds:
        metadata = {key: value for key, value in (field.metadata or {}).items() if key != ORC_TYPE.encode()}
        if kinds[path] == {WALL}:
            metadata[ORC_TYPE.encode()] = WALL.encode()
        return field.with_metadata(metadata or None)
    return field.with_type(map_fields(kind, lambda child, name: _stored(child, f"{path}.{name}", kinds)))


def zones_of(file: ORCFile) -> set[str]:
    """The time zones in which stripes of a file were written; an empty name where a stripe has none."""
    return set(native_file(file).writer_timezones())


def only_zone(files: Sequence[ORCFile]) -> str | None:
    """The time zone in which all stripes of some files were written; none where they differ, or do not name it."""
    zones = {zone for file in files for zone in zones_of(file)}
    return zones.pop() or None if len(zones) == 1 else None
