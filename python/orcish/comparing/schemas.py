"""Differences of schemas and of metadata."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import pyarrow as pa

from orcish.arrow.nested import repeated_name
from orcish.comparing.leaves import all_comparable
from orcish.reading.file import ORCFile

__all__ = ["ColumnChange", "MetadataChange", "common_columns", "metadata_changes", "schema_changes"]

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


def common_columns(a: pa.Schema, b: pa.Schema) -> list[tuple[int, int]]:
    """Positions of the columns of one name.

    Raises:
        ValueError: Several columns of one schema have one name, and the names of the other schema are not the same.
    """
    if a.names == b.names:
        return [(at, at) for at in range(len(a.names))]
    for names in (a.names, b.names):
        name = repeated_name(names)
        if name is not None:
            raise ValueError(
                f"several columns have the name {name!r}: they are compared only where both have the same names in "
                "the same order"
            )
    places = {name: at for at, name in enumerate(b.names)}
    return [(at, places[name]) for at, name in enumerate(a.names) if name in places]


def schema_changes(
    a: pa.Schema, b: pa.Schema, types_a: Mapping[str, str], types_b: Mapping[str, str]
) -> list[ColumnChange]:
    """The differences of two schemas.

    Args:
        a: A schema.
        b: The other schema.
        types_a: ORC types of columns, where they are known.
        types_b: As of ``a``.

    Raises:
        ValueError: Columns cannot be told apart; see :func:`common_columns`.
    """
    common = common_columns(a, b)
    both = {a.field(at).name for at, _ in common}
    changes = [
        ColumnChange("only_a", field.name, types_a.get(field.name) or str(field.type), None, False)
        for field in a
        if field.name not in both
    ]
    changes += [
        ColumnChange("only_b", field.name, None, types_b.get(field.name) or str(field.type), False)
        for field in b
        if field.name not in both
    ]
    for at, other in common:
        x, y = a.field(at), b.field(other)
        before, after = str(x.type), str(y.type)
        if x.name in types_a and x.name in types_b and types_a[x.name] != types_b[x.name]:
            before, after = types_a[x.name], types_b[x.name]
        if before != after:
            changes.append(ColumnChange("type", x.name, before, after, all_comparable(x.type, y.type)))
    in_order = sorted(other for _, other in common)
    changes += [
        ColumnChange("order", a.field(at).name, str(at), str(other), True)
        for (at, other), place in zip(common, in_order, strict=True)
        if other != place
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
