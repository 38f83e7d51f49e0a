"""Differences of schemas and of metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from orcish.arrow.nested import map_fields
from orcish.comparing.names import distinct_names, paired_names
from orcish.comparing.result import ColumnChange, MetadataChange
from orcish.comparing.types import all_comparable
from orcish.reading.column_keys import column_keys
from orcish.reading.file import ORCFile

__all__ = ["has_map", "metadata_changes", "schema_changes"]

_ARROW_SCHEMA = "orcish.arrow.schema"
"""Metadata about Arrow types, which are compared as types."""


def without_key_dictionaries(kind: Any) -> Any:
    """A type whose maps have no dictionaries as keys, as which null keys are read."""
    if pa.types.is_map(kind) and pa.types.is_dictionary(kind.key_type):
        kind = pa.map_(kind.key_type.value_type, kind.item_type)
    return map_fields(kind, lambda field, _: field.with_type(without_key_dictionaries(field.type)))


def has_map(kind: Any) -> bool:
    """Whether a type is, or has, one of maps."""
    if pa.types.is_map(kind):
        return True
    return any(has_map(kind.field(at).type) for at in range(kind.num_fields)) if pa.types.is_nested(kind) else False


def schema_changes(
    a: pa.Schema, b: pa.Schema, types_a: Mapping[str, str], types_b: Mapping[str, str], *, has_units: bool = True
) -> list[ColumnChange]:
    """The differences of two schemas.

    Args:
        a: A schema.
        b: The other schema.
        types_a: ORC types of columns, where they are known.
        types_b: As of ``a``.
        has_units: Whether both say the units of their timestamps. Those of files without an Arrow schema are chosen
            by their statistics.
    """
    common = paired_names(a.names, b.names)
    names_a, names_b = distinct_names(a.names), distinct_names(b.names)
    types_a, types_b = _of_one_column(types_a, a), _of_one_column(types_b, b)
    only_a = set(range(len(names_a))) - {at for at, _ in common}
    only_b = set(range(len(names_b))) - {other for _, other in common}
    changes = [
        ColumnChange("only_a", names_a[at], types_a.get(field.name) or _text(field), None, False)
        for at, field in enumerate(a)
        if at in only_a
    ]
    changes += [
        ColumnChange("only_b", names_b[at], None, types_b.get(field.name) or _text(field), False)
        for at, field in enumerate(b)
        if at in only_b
    ]
    for at, other in common:
        x, y = a.field(at), b.field(other)
        names = (types_a.get(x.name), types_b.get(y.name))
        if None in names or names[0] == names[1]:
            before, after = without_key_dictionaries(x.type), without_key_dictionaries(y.type)
            if _compared(before, has_units) == _compared(after, has_units):
                continue
            names = (str(before), str(after))
        changes.append(ColumnChange("type", names_a[at], *names, all_comparable(x.type, y.type)))
    in_order = sorted(other for _, other in common)
    changes += [
        ColumnChange("order", names_a[at], str(at), str(other), True)
        for (at, other), place in zip(common, in_order, strict=True)
        if other != place
    ]
    return changes


def _compared(kind: pa.DataType, has_units: bool) -> pa.DataType:
    """A type without the names that Arrow has for the values of lists, maps and unions, which ORC does not have, and
    with units of timestamps only if there are some.
    """
    if pa.types.is_timestamp(kind) and not has_units:
        return pa.timestamp("ns", kind.tz)
    # Keys of maps are never null.
    return map_fields(
        kind, lambda field, step: pa.field(step, _compared(field.type, has_units), nullable=step != "key")
    )


def metadata_changes(a: ORCFile, b: ORCFile) -> list[MetadataChange]:
    """The differences of user metadata, and of the attributes of columns that both files have."""
    changes = list(_changes(None, _texts(a.metadata), _texts(b.metadata)))
    keys_a, keys_b = column_keys(a), column_keys(b)
    ids_b = {key: id for id, key in enumerate(keys_b)}
    for id, key in enumerate(keys_a):
        if key in ids_b:
            changes += _changes(a.column_paths[id], a.attributes(id), b.attributes(ids_b[key]))
    return changes


def _of_one_column(types: Mapping[str, str], schema: pa.Schema) -> dict[str, str]:
    """The types of names that one column has."""
    counts = Counter(schema.names)
    return {name: kind for name, kind in types.items() if counts[name] == 1}


def _text(field: pa.Field) -> str:
    return str(without_key_dictionaries(field.type))


def _texts(metadata: Mapping[str, bytes]) -> dict[str, Any]:
    return {key: value.decode(errors="backslashreplace") for key, value in metadata.items() if key != _ARROW_SCHEMA}


def _changes(column: str | None, a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[MetadataChange]:
    for key in dict.fromkeys([*a, *b]):
        if a.get(key) != b.get(key):
            yield MetadataChange(column, key, a.get(key), b.get(key))
