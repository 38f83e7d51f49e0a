"""Types as which columns are stored, in tables whose files were written with several Arrow types."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from orcish import _native
from orcish.arrow.exported import ExportedSchema
from orcish.arrow.nested import fields_by_path, map_columns
from orcish.errors import OrcishError, UnsupportedError
from orcish.io.names import display_name
from orcish.reading.orc_files import OrcFiles, unified_schema
from orcish.reading.source import type_options

__all__ = [
    "OtherUnit",
    "has_type",
    "is_time",
    "stored_conflicts",
    "stored_field",
    "times_of_several_units",
    "types_by_path",
]


class OtherUnit(NamedTuple):
    """A file whose times or durations have another unit than those of the table."""

    file: str
    column: str
    kind: pa.DataType
    of_table: pa.DataType

    def error(self) -> UnsupportedError:
        """The error of reading the numbers as they are stored."""
        return UnsupportedError(
            f"{display_name(self.file)}: column {self.column}: it has numbers of {self.kind} in this file, and of "
            f"{self.of_table} in the table: they are not told from each other without these types, which "
            "orcish.read_table reads, and orcish.convert writes as one"
        )


def is_time(kind: pa.DataType) -> bool:
    """Whether values of a type are stored as numbers, whose unit the Arrow schema of the file alone has."""
    return bool(pa.types.is_time(kind) or pa.types.is_duration(kind))


def types_by_path(schema: pa.Schema) -> dict[str, pa.DataType]:
    """The types of all columns by their dotted names."""
    return {path: field.type for path, field in fields_by_path(schema).items()}


def has_type(schema: pa.Schema, is_kind: Callable[[pa.DataType], bool]) -> bool:
    """Whether a column of a schema, or one nested in it, has a type. Values of dictionaries and of runs, and storages
    of extension types are nested, too.
    """
    kinds = [field.type for field in schema]
    for kind in kinds:
        if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            kinds.append(kind.value_type)
        elif isinstance(kind, pa.BaseExtensionType):
            kinds.append(kind.storage_type)
        else:
            kinds.extend(kind.field(at).type for at in range(kind.num_fields))
    return any(map(is_kind, kinds))


def stored_field(field: pa.Field, options: Mapping[str, Any]) -> pa.Field:
    """A column as it is read where it is stored without its Arrow type.

    Args:
        field: The column with its Arrow type. Timestamps keep its units, unless the options have one.
        options: Options of reading.
    """
    kinds = type_options({**options, "arrow_schema": False})
    kinds.pop("limits", None)
    schema = pa.schema(ExportedSchema(_native.stored_schema(pa.schema([field]).__arrow_c_schema__(), kinds)))
    if options.get("timestamp_unit", "auto") == "auto":
        # Nothing in a file without rows says which digits there are.
        written = types_by_path(pa.schema([field]))

        def in_unit(stored: pa.Field, path: str) -> pa.Field:
            kind = written.get(path)
            if kind is None or not (pa.types.is_timestamp(stored.type) and pa.types.is_timestamp(kind)):
                return stored
            return stored.with_type(pa.timestamp(kind.unit, stored.type.tz))

        schema = map_columns(schema, in_unit)
    return schema.field(0)


def stored_conflicts(files: OrcFiles, opened: _native.Scan, *, case_sensitive: bool) -> set[str]:
    """The columns whose types as they are stored have no union. Those of which some files have only nulls are among
    them: the type ``null`` is stored as ``boolean``.
    """
    if len(files.files) < 2:
        return set()
    # Files without a common schema are an error where their rows are read.
    with contextlib.suppress(OrcishError):
        return {path for path, _ in unified_schema(opened, case_sensitive=case_sensitive).conflicts}
    return set()


def times_of_several_units(
    files: OrcFiles,
    given: Mapping[str, Any],
    of_table: Mapping[str, pa.DataType] | None = None,
    *,
    case_sensitive: bool = True,
) -> dict[str, OtherUnit]:
    """The columns of times and durations whose unit is not that of the table in all files: the numbers that are stored
    cannot be told from each other.

    Args:
        files: The files.
        given: Options of reading.
        of_table: Types of columns of the table, where these are not those that all files decide on.
        case_sensitive: Whether columns whose names differ only by case are different columns.
    """

    def key(path: str) -> str:
        return path if case_sensitive else path.lower()

    def times(these: OrcFiles) -> dict[str, pa.DataType]:
        opened = these.open({"null_map_keys": "dictionary", **type_options(dict(given)), "arrow_schema": True})
        found = types_by_path(these.full_schema(opened))
        return {path: kind for path, kind in found.items() if is_time(kind)}

    known = {key(path): kind for path, kind in (of_table or {}).items()}
    if len(files.files) > 1:
        known = {**{key(path): kind for path, kind in times(files).items()}, **known}
    if not known:
        return {}
    found: dict[str, OtherUnit] = {}
    for file in files.files:
        part = dataclasses.replace(files, files=[file], schema=None, table_schema=None)
        for path, kind in times(part).items():
            of_all = known.get(key(path), kind)
            if of_all != kind:
                found.setdefault(path, OtherUnit(file.location, path, kind, of_all))
    return found
