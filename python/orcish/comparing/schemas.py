"""Differences of schemas and of metadata."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import pyarrow as pa

from orcish.comparing.leaves import all_comparable
from orcish.reading.file import ORCFile

__all__ = ["ColumnChange", "MetadataChange", "metadata_changes", "schema_changes"]

_ARROW_SCHEMA = "orcish.arrow.schema"
"""Metadata about Arrow types, which are compared as types."""


@dataclasses.dataclass(frozen=True)
class ColumnChange:
    """A difference of two schemas."""

    kind: Literal["only_a", "only_b", "type", "order"]
    column: str
    a: str | None
    """The type in ``a``; of ``order``, the position, from 0."""
    b: str | None
    is_compared: bool
    """Whether all values of the column are compared: it is on both sides, and its types hold comparable values."""


@dataclasses.dataclass(frozen=True)
class MetadataChange:
    """A difference of user metadata, or of the attributes of a column."""

    column: str | None
    """The column of an attribute; ``None`` for metadata of the file."""
    key: str
    a: str | None
    b: str | None


def schema_changes(
    a: pa.Schema, b: pa.Schema, types_a: Mapping[str, str], types_b: Mapping[str, str]
) -> list[ColumnChange]:
    """The differences of two schemas.

    Args:
        a: A schema.
        b: The other schema.
        types_a: ORC types of columns, where they are known.
        types_b: As of ``a``.
    """
    changes = [
        ColumnChange("only_a", field.name, types_a.get(field.name) or str(field.type), None, False)
        for field in a
        if field.name not in b.names
    ]
    for field in b:
        if field.name not in a.names:
            changes.append(ColumnChange("only_b", field.name, None, types_b.get(field.name) or str(field.type), False))
            continue
        other = a.field(field.name)
        before, after = str(other.type), str(field.type)
        if field.name in types_a and field.name in types_b and types_a[field.name] != types_b[field.name]:
            before, after = types_a[field.name], types_b[field.name]
        if before != after:
            is_compared = all_comparable(other.type, field.type)
            changes.append(ColumnChange("type", field.name, before, after, is_compared))
    common_a, common_b = ([name for name in x.names if name in y.names] for x, y in ((a, b), (b, a)))
    if common_a != common_b:
        moved = [name for name, other in zip(common_a, common_b, strict=True) if name != other]
        changes += [
            ColumnChange("order", name, str(a.names.index(name)), str(b.names.index(name)), True) for name in moved
        ]
    return changes


def metadata_changes(a: ORCFile, b: ORCFile) -> list[MetadataChange]:
    """The differences of user metadata, and of the attributes of columns that both files have."""
    changes = list(_changes(None, _texts(a.metadata), _texts(b.metadata)))
    ids_b = {path: id for id, path in enumerate(b.column_paths)}
    for id, path in enumerate(a.column_paths):
        if path in ids_b:
            changes += _changes(path, a.attributes(id), b.attributes(ids_b[path]))
    return changes


def _texts(metadata: Mapping[str, bytes]) -> dict[str, Any]:
    return {key: value.decode(errors="backslashreplace") for key, value in metadata.items() if key != _ARROW_SCHEMA}


def _changes(column: str | None, a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[MetadataChange]:
    for key in dict.fromkeys([*a, *b]):
        if a.get(key) != b.get(key):
            yield MetadataChange(column, key, a.get(key), b.get(key))
