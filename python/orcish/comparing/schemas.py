"""Differences of schemas and of metadata."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import pyarrow as pa

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
        for name in names:
            if names.count(name) > 1:
                raise ValueError(
                    f"several columns have the name {name!r}: they are compared only where both have the same names in "
                    "the same order"
                )
    return [(at, b.names.index(name)) for at, name in enumerate(a.names) if name in b.names]


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
        names = (types_a.get(x.name), types_b.get(y.name))
        if None in names or names[0] == names[1]:
            if _without_names(x.type) == _without_names(y.type):
                continue
            names = (str(x.type), str(y.type))
        changes.append(ColumnChange("type", x.name, *names, all_comparable(x.type, y.type)))
    in_order = sorted(other for _, other in common)
    changes += [
        ColumnChange("order", a.field(at).name, str(at), str(other), True)
        for (at, other), place in zip(common, in_order, strict=True)
        if other != place
    ]
    return changes


def _without_names(kind: pa.DataType) -> pa.DataType:
    """A type without the names that Arrow has for the values of lists and maps, which ORC does not have."""

    def inner(name: str, kind: pa.DataType) -> pa.Field:
        return pa.field(name, _without_names(kind), nullable=name != "key")

    if pa.types.is_struct(kind):
        fields = [kind.field(at) for at in range(kind.num_fields)]
        return pa.struct([pa.field(field.name, _without_names(field.type)) for field in fields])
    if pa.types.is_map(kind):
        return pa.map_(inner("key", kind.key_type), inner("value", kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(inner("element", kind.value_type))
    if pa.types.is_large_list(kind):
        return pa.large_list(inner("element", kind.value_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(inner("element", kind.value_type), kind.list_size)
    return kind


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
