"""Columns that are one column to some readers: to those that ignore the case of names, as Spark does, and to those that
match columns by the ids of Iceberg.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from orcish.arrow.nested import map_fields
from orcish.errors import UnsupportedError

__all__ = ["check_twins", "without_twins"]

ICEBERG_ID = b"iceberg.id"
"""Attribute with the id of a column in Iceberg."""


def check_twins(files: Sequence[tuple[str, Mapping[str, Mapping[bytes, bytes]]]]) -> None:
    """Checks that the columns of files can be put into one file: that columns of one name are one column, and columns
    of different names different columns, to all readers.

    Args:
        files: The location of each file, and the attributes of its columns by their dotted names.

    Raises:
        UnsupportedError: A column of a file has the name of a column of another file in other case, or its id and
            another name, or its name and another id.
    """
    names: dict[str, tuple[str, str]] = {}
    ids: dict[bytes, tuple[str, str]] = {}
    ids_of_names: dict[str, tuple[bytes, str]] = {}
    for location, columns in files:
        for path, attributes in columns.items():
            other, file = names.setdefault(path.lower(), (path, location))
            if other != path and file != location:
                raise _twins(location, path, f"column {other} of {file} differ only by case")
            own = attributes.get(ICEBERG_ID)
            if own is None:
                continue
            known, file = ids_of_names.setdefault(path, (own, location))
            if known != own:
                raise _twins(location, path, f"that of {file} have different ids in Iceberg")
            other, file = ids.setdefault(own, (path, location))
            if other != path and file != location:
                raise _twins(location, path, f"column {other} of {file} have the same id in Iceberg")


def _twins(location: str, path: str, other: str) -> UnsupportedError:
    return UnsupportedError(
        f"{location}: column {path} and {other}, so that the files are not combined: write the rows of one of them "
        "again with the names and ids of the other"
    )


def without_twins(schema: pa.Schema, stored: Collection[str] = ()) -> pa.Schema:
    """The schema without columns that are another one to some readers; the same holds for the fields of structs.

    Args:
        schema: The schema.
        stored: Dotted names of columns that stay. Of other columns that are one column the first one stays, unless it
            is one of these.
    """
    return pa.schema(_kept(schema, "", stored), schema.metadata)


def _kept(fields: Iterable[pa.Field], above: str, stored: Collection[str]) -> list[pa.Field]:
    """The fields of a struct that stay."""
    every = list(fields)
    owners: dict[tuple[str, Any], str] = {}
    for field in every:
        if above + field.name in stored:
            owners.update((key, field.name) for key in _keys(field))
    kept = []
    for field in every:
        path = above + field.name
        if path not in stored and any(owners.get(key, field.name) != field.name for key in _keys(field)):
            continue
        for key in _keys(field):
            owners.setdefault(key, field.name)
        kept.append(field.with_type(_kept_within(field.type, path, stored)))
    return kept


def _kept_within(kind: Any, path: str, stored: Collection[str]) -> Any:
    if pa.types.is_struct(kind):
        return pa.struct(_kept(kind, f"{path}.", stored))
    return map_fields(kind, lambda child, step: child.with_type(_kept_within(child.type, f"{path}.{step}", stored)))


def _keys(field: pa.Field) -> list[tuple[str, Any]]:
    """What readers find a column by."""
    own = (field.metadata or {}).get(ICEBERG_ID)
    return [("name", field.name.lower()), *([] if own is None else [("id", own)])]
