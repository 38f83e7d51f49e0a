"""Scans of values as they are stored, whatever Arrow types they were written with."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from typing import Any, cast

import pyarrow as pa

from orcish.arrow.nested import fields_by_path, map_columns
from orcish.errors import OrcishError
from orcish.reading.batches import schema_of
from orcish.reading.file import ORCFile, keys_of, table_file
from orcish.reading.orc_files import OrcFiles, unified_schema
from orcish.reading.scan import Scan, reader_of
from orcish.reading.scan_reader import ScanReader
from orcish.reading.source import type_options
from orcish.scanning import open_reader
from orcish.tables.all_columns import scan_of_all_columns, with_all_digits
from orcish.tables.inferred_types import infers_written_types
from orcish.types import Sources
from orcish.writing.stored_types import (
    has_type,
    stored_conflicts,
    stored_field,
    times_of_several_units,
    types_by_path,
)

__all__ = ["fitted_scan", "rewritten_scan", "stored_scan", "stored_values", "stripe_of"]

COARSE = ("s", "ms")
"""Units of timestamps whose values microseconds may not hold."""


def stored_values(given: dict[str, Any]) -> dict[str, Any]:
    """Options that read values as they are stored, whatever Arrow types they were written with; given ones take
    precedence.
    """
    stored = {"arrow_schema": False, "timestamp_unit": "auto", "timestamps": "wall", "null_map_keys": "dictionary"}
    return {**stored, **given}


def rewritten_scan(source: Sources, options: dict[str, Any]) -> Scan:
    """A scan for rows that are written again, with the columns of all files.

    Timestamps have the units that readers see, and a value with more digits is an error. Where readers infer the units,
    they are those that hold all digits.

    Args:
        source: Any source of :func:`orcish.scan`.
        options: Keywords of :func:`orcish.scan`.
    """
    table = scan_of_all_columns(source, options)
    reader = reader_of(table)
    if not has_type(schema_of(reader.opened.readable()), pa.types.is_timestamp):
        # Files need not be opened again.
        return table
    return with_all_digits(reader, keeps_units=not infers_written_types(table))


def stored_scan(
    source: str | list[str], given: dict[str, Any], storage_options: Mapping[str, str], *, keeps_units: bool = False
) -> Scan:
    """A scan of ORC files that reads values as they are stored.

    Columns that the first files have only nulls in have the type of the other files, and the type null where there is
    none. Timestamps of which some files have instants are instants. Timestamps that were written with seconds or
    milliseconds keep their unit: microseconds may not hold them. Times and durations of several units cannot be read:
    their numbers would be mixed.

    Args:
        source: One source of :func:`orcish.scan`, or several.
        given: Options of reading, which take precedence.
        storage_options: Options of the stores.
        keeps_units: Whether timestamps have the units that they were written with, where these are known, and a value
            with more digits than its unit is an error.
    """
    options = stored_values(given)
    places = {"storage_options": dict(storage_options), "keys": options.pop("keys", None)}
    opened = open_reader(source, {**type_options(options), **places})
    files = opened.source
    fitted = _fitted(opened, files, given, keeps_units=keeps_units) if isinstance(files, OrcFiles) else None
    if keeps_units and "timestamp_unit" not in given:
        options["timestamp_unit"] = "exact"
    reader = ScanReader(files, options, opened.opened) if fitted is None else ScanReader(fitted, options)
    reader.check()
    return Scan(reader)


def fitted_scan(file: ORCFile, given: dict[str, Any], storage: dict[str, Any]) -> Scan | None:
    """As :func:`stored_scan`, of an open file; ``None`` where :func:`stored_values` are the options that read it so.

    Args:
        file: The file, whose tail is not read again.
        given: As for :func:`stored_scan`.
        storage: Options of the store.
    """
    if not file.stripes or not _may_need_others(file):
        return None
    files = OrcFiles([table_file(file)], None, "name", storage, None, keys=keys_of(file))
    options = stored_values(given)
    fitted = _fitted(ScanReader(files, type_options(options)), files, given, keeps_units=False)
    if fitted is None:
        return None
    reader = ScanReader(fitted, options)
    reader.check()
    return Scan(reader)


def _may_need_others(file: ORCFile) -> bool:
    """Whether a file has columns that may need other types than those of :func:`stored_values`: timestamps, of units
    that microseconds do not hold, and booleans, as which columns of nulls are stored.
    """
    return any(kind.startswith(("timestamp", "boolean")) for kind in file.column_types)


def stripe_of(rows: Scan, stripe: int) -> Scan:
    """The rows of a stripe of a scan of one ORC file."""
    reader = reader_of(rows)
    source = cast("OrcFiles", reader.source)
    part = dataclasses.replace(source, files=[source.files[0]._replace(stripes=[stripe])])
    return Scan(ScanReader(part, reader.options))


def _fitted(reader: ScanReader, files: OrcFiles, given: dict[str, Any], *, keeps_units: bool) -> OrcFiles | None:
    """The files with the types that hold the values of all files; ``None`` where they have them already."""
    if reader.opened.fault is not None:
        return None
    stored = files.full_schema(reader.opened)
    of_several_units = times_of_several_units(files, given)
    conflicts = stored_conflicts(files, reader.opened, case_sensitive=True)
    if not has_type(stored, _is_fitted) and not of_several_units and not conflicts:
        return None
    # Types as readers see them.
    options = {"null_map_keys": "dictionary", "timestamp_unit": "exact", **type_options(given), "arrow_schema": True}
    opened = files.open(options)
    if opened.fault is not None:
        return None
    written = fields_by_path(files.full_schema(opened))
    seen = {path: field.type for path, field in written.items()}
    mixed = {} if "timestamps" in given else _instants_of_some_files(files, stored, seen, options)
    has_unit = "timestamp_unit" in given

    def fitted(field: pa.Field, path: str) -> pa.Field:
        other = seen.get(path)
        kind = field.type
        if other is None:
            return field
        if path in of_several_units:
            # Files have numbers, which do not become this type: an error of whoever reads the column.
            return field.with_type(other)
        is_of_nulls = pa.types.is_boolean(kind) and not pa.types.is_boolean(other)
        if is_of_nulls and pa.types.is_null(other):
            # Filters compare columns of nulls with all literals.
            return field.with_type(other)
        if is_of_nulls or (path in conflicts and not pa.types.is_timestamp(kind)):
            return field.with_type(stored_field(written[path], stored_values(given)).type)
        if pa.types.is_timestamp(kind) and pa.types.is_timestamp(other):
            unit = other.unit if (keeps_units or other.unit in COARSE) and not has_unit else kind.unit
            return field.with_type(pa.timestamp(unit, "UTC" if path in mixed else kind.tz))
        return field

    schema = map_columns(stored, fitted)
    if schema.equals(stored):
        return None
    is_inferred = files.schema is None or files.is_schema_inferred
    return dataclasses.replace(
        files,
        schema=schema,
        table_schema=None,
        is_schema_inferred=is_inferred,
        is_schema_of_log=files.table_schema is not None or files.is_schema_of_log,
    )


def _is_fitted(kind: pa.DataType) -> bool:
    """Whether a column of a type may have to be fitted: timestamps, and booleans, as which nulls are stored."""
    return bool(pa.types.is_timestamp(kind) or pa.types.is_boolean(kind))


def _instants_of_some_files(
    files: OrcFiles, stored: pa.Schema, seen: dict[str, pa.DataType], options: dict[str, Any]
) -> dict[str, pa.DataType]:
    """The columns that are ``timestamp`` in the first file, and ``timestamp with local time zone`` in another one."""
    walls = [path for path, kind in types_by_path(stored).items() if pa.types.is_timestamp(kind) and kind.tz is None]
    if len(files.files) < 2 or not any(getattr(seen.get(path), "tz", None) for path in walls):
        return {}
    union: dict[str, pa.DataType] = {}
    # Files without a common schema are an error where their rows are read.
    with contextlib.suppress(OrcishError):
        opened = files.open({**options, "timestamps": "wall"})
        union = types_by_path(unified_schema(opened, case_sensitive=True).schema)
    return {path: union[path] for path in walls if getattr(union.get(path), "tz", None)}
