"""Differences of schemas and of metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from orcish.arrow.nested import map_columns, map_fields
from orcish.comparing.names import distinct_names, paired_names
from orcish.comparing.result import ColumnChange, MetadataChange
from orcish.comparing.types import all_comparable
from orcish.errors import OrcishError
from orcish.reading.column_keys import column_keys
from orcish.reading.file import ORCFile
from orcish.writing.writer import file_of_schema

__all__ = ["metadata_changes", "orc_types", "schema_changes"]

_ARROW_SCHEMA = "orcish.arrow.schema"
"""Metadata about Arrow types, which are compared as types."""


def orc_types(schema: pa.Schema, file: ORCFile | None) -> list[str | None]:
    """The ORC types of the columns of a file or table; ``None`` where they are not known: several columns have the
    name, or a foreign table has types that ORC does not have.
    """
    try:
        found = file_of_schema(schema) if file is None else file
    except (OrcishError, TypeError, ValueError):
        return [None] * len(schema)
    columns = zip(found.column_paths, found.column_types, found.column_parents, strict=True)
    types = {path: kind for path, kind, parent in columns if parent == 0}
    return [types.get(name) if schema.names.count(name) == 1 else None for name in schema.names]


def schema_changes(
    a: pa.Schema, b: pa.Schema, types_a: Sequence[str | None], types_b: Sequence[str | None], *, has_units: bool = True
) -> list[ColumnChange]:
    """The differences of two schemas.

    Args:
        a: A schema.
        b: The other schema.
        types_a: ORC types of the columns, where they are known.
        types_b: As of ``a``.
        has_units: Whether both say the units of their timestamps. Those of files without an Arrow schema are chosen
            by their statistics.
    """
    common = paired_names(a.names, b.names)
    names_a, names_b = distinct_names(a.names), distinct_names(b.names)
    before, after = (map_columns(each, _without_key_dictionaries) for each in (a, b))
    texts_a = [kind or str(field.type) for kind, field in zip(types_a, before, strict=True)]
    texts_b = [kind or str(field.type) for kind, field in zip(types_b, after, strict=True)]
    places_a, places_b = {at for at, _ in common}, {other for _, other in common}
    changes = [
        *(ColumnChange("only_a", names_a[at], texts_a[at], None, False) for at in range(len(a)) if at not in places_a),
        *(ColumnChange("only_b", names_b[at], None, texts_b[at], False) for at in range(len(b)) if at not in places_b),
    ]
    for at, other in common:
        texts = texts_a[at], texts_b[other]
        if None in (types_a[at], types_b[other]) or texts[0] == texts[1]:
            kinds = before.field(at).type, after.field(other).type
            if _compared(kinds[0], has_units) == _compared(kinds[1], has_units):
                continue
            texts = str(kinds[0]), str(kinds[1])
        is_compared = all_comparable(a.field(at).type, b.field(other).type)
        changes.append(ColumnChange("type", names_a[at], *texts, is_compared))
    changes += [
        ColumnChange("order", names_a[at], str(at), str(other), True)
        for (at, other), place in zip(common, sorted(places_b), strict=True)
        if other != place
    ]
    return changes


def _without_key_dictionaries(field: pa.Field, _: str) -> pa.Field:
    """A field whose type has no dictionaries as keys of maps, as which null keys are read."""
    kind = field.type
    if not pa.types.is_map(kind) or not pa.types.is_dictionary(kind.key_type):
        return field
    return field.with_type(pa.map_(kind.key_type.value_type, kind.item_type))


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
    ids = {key: id for id, key in enumerate(column_keys(b))}
    for id, key in enumerate(column_keys(a)):
        if key in ids:
            changes += _changes(a.column_paths[id], a.attributes(id), b.attributes(ids[key]))
    return changes


def _texts(metadata: Mapping[str, bytes]) -> dict[str, Any]:
    return {key: value.decode(errors="backslashreplace") for key, value in metadata.items() if key != _ARROW_SCHEMA}


def _changes(column: str | None, a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[MetadataChange]:
    for key in dict.fromkeys([*a, *b]):
        if a.get(key) != b.get(key):
            yield MetadataChange(column, key, a.get(key), b.get(key))
