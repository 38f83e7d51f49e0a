"""Instants as the files of a table have them: ``timestamp``, with the zone of the writer, as Spark stores them, or
``timestamp with local time zone``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from orcish.file import ORCFile

__all__ = ["ORC_TYPE", "as_stored", "has_instants", "kinds_of", "only_zone"]

ORC_TYPE = "orc.type"
"""Key of the metadata of a field that say which type of ORC it is stored as."""
WALL = "timestamp"
INSTANT = "timestamp with local time zone"


def has_instants(schema: Any) -> bool:
    """Whether columns are instants, or have some within them."""
    return any(_has_instants(field.type) for field in schema)


def _has_instants(kind: Any) -> bool:
    if pa.types.is_timestamp(kind):
        return kind.tz is not None
    inner = [kind.key_field, kind.item_field] if pa.types.is_map(kind) else map(kind.field, range(kind.num_fields))
    return any(_has_instants(field.type) for field in inner)


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


def _stored(field: pa.Field, path: str, kinds: Mapping[str, set[str]]) -> pa.Field:
    kind: Any = field.type
    if pa.types.is_timestamp(kind) and kind.tz is not None and path in kinds:
        metadata = {key: value for key, value in (field.metadata or {}).items() if key != ORC_TYPE.encode()}
        if kinds[path] == {WALL}:
            metadata[ORC_TYPE.encode()] = WALL.encode()
        return field.with_metadata(metadata or None)
    if pa.types.is_struct(kind):
        return field.with_type(pa.struct([_stored(child, f"{path}.{child.name}", kinds) for child in kind]))
    if pa.types.is_map(kind):
        key = _stored(kind.key_field, f"{path}.key", kinds)
        return field.with_type(pa.map_(key, _stored(kind.item_field, f"{path}.value", kinds), kind.keys_sorted))
    for is_list, made in ((pa.types.is_list, pa.list_), (pa.types.is_large_list, pa.large_list)):
        if is_list(kind):
            return field.with_type(made(_stored(kind.value_field, f"{path}.element", kinds)))
    return field


def only_zone(files: Sequence[ORCFile]) -> str | None:
    """The time zone in which all stripes of some files were written; none where they differ, or do not name it."""
    zones = {zone for file in files for zone in file._file.writer_timezones()}
    return zones.pop() or None if len(zones) == 1 else None
