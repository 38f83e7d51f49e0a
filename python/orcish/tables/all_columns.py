"""The columns of all files of a scan. Readers see those of the log of a table, or of the first file; a command that
writes the rows would lose the others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from orcish.errors import UnsupportedError
from orcish.io.names import display_name
from orcish.reading.orc_files import OrcFiles, PartiallyReadable
from orcish.reading.scan import WHOLE_FILE, Scan, reader_of
from orcish.reading.scan_reader import ScanReader
from orcish.scan import scan
from orcish.tables.added_columns import extended_schema
from orcish.types import Sources

__all__ = ["all_columns", "scan_of_all_columns", "with_all_columns"]

ROWS = ("columns", "filters", "limit")
"""Options that choose columns and rows."""


def scan_of_all_columns(source: Sources, options: dict[str, Any]) -> Scan:
    """A scan that has the columns of all files, nested fields included, by their names.

    Args:
        source: Any source of :func:`orcish.scan`.
        options: Keywords of :func:`orcish.scan`.

    Raises:
        UnsupportedError: The types of a column in two files have no common type.
        ValueError: A source has partition columns that the first one has not, and they are wanted.
        OrcishError, OSError: As in :func:`orcish.scan`.
    """
    chosen = {name: options[name] for name in ROWS if options.get(name) is not None}
    reader = reader_of(scan(source, **{name: value for name, value in options.items() if name not in ROWS}))
    files = reader.source
    if isinstance(files, OrcFiles):
        files.left_out.check(chosen.get("columns"))
        files = with_all_columns(files, reader.options, columns=chosen.get("columns"))
    found = ScanReader(files, {**reader.options, **chosen})
    found.check()
    return Scan(found)


def with_all_columns(files: OrcFiles, options: dict[str, Any], *, columns: Sequence[Any] | None = None) -> OrcFiles:
    """The files, read with the columns of all of them.

    Args:
        files: The files. A schema that is given stays.
        options: Options of reading.
        columns: The columns that are read; all by default. Types of others may contradict each other.

    Raises:
        UnsupportedError: The types of a column in two files have no common type.
    """
    if files.schema is not None or not files.files or (len(files.files) == 1 and files.table_schema is None):
        return files
    base = files.full_schema(files.open(options))
    partition = frozenset(files.partition_columns)
    own = pa.schema([field for field in base if field.name not in partition], base.metadata)
    # Columns that partition columns hide are no columns of the rows.
    plain = dataclasses.replace(files, files=[file._replace(partition=[]) for file in files.files])
    found = [field for field in all_columns(plain, options, own, columns) if field.name not in partition]
    schema = pa.schema([*found, *(field for field in base if field.name in partition)], base.metadata)
    return files if schema == base else dataclasses.replace(files, schema=schema, is_part=True)


def all_columns(
    files: OrcFiles, options: dict[str, Any], own: pa.Schema, columns: Sequence[Any] | None = None
) -> pa.Schema:
    """The columns of a table, and after them those that only its files have.

    Types are those of the table. Without a log, they are the common types of all files where those of the first file do
    not hold the values of the others.

    Args:
        files: The files, without partition columns.
        options: Options of reading.
        own: The columns of the table, without partition columns.
        columns: As for :func:`with_all_columns`.

    Raises:
        UnsupportedError: As for :func:`with_all_columns`.
        OrcishError: A column cannot be read, and all columns are wanted.
    """
    union, fault = None, None
    schema = own
    try:
        union = _union(files, options, columns)
    except UnsupportedError as error:
        fault = error
    for each in [union] if union is not None else (_union(part, options, columns) for part in _parts(files)):
        schema = extended_schema(schema, each)
    if files.table_schema is not None or union == own or _can_be_read(files, schema, options):
        return schema
    if union is not None:
        return union
    if columns is None and fault is not None:
        raise _with_both_names(files, options, fault)
    return schema


def _union(files: OrcFiles, options: dict[str, Any], columns: Sequence[Any] | None) -> pa.Schema:
    plain = dataclasses.replace(files, schema=None, table_schema=None)
    unified = plain.unified_schema(options, case_sensitive=True)
    if unified.fault is not None and columns is None:
        raise unified.fault
    return unified.schema


def _parts(files: OrcFiles) -> list[OrcFiles]:
    """Each file alone."""
    return [dataclasses.replace(files, files=[file]) for file in files.files]


def _can_be_read(files: OrcFiles, schema: pa.Schema, options: dict[str, Any]) -> bool:
    """Whether readers find the columns of all files with the types of a schema."""
    typed = dataclasses.replace(files, schema=schema, table_schema=None, is_part=True)
    try:
        opened = typed.open(options)
        (opened.opened if isinstance(opened, PartiallyReadable) else opened).splits(WHOLE_FILE)
    except UnsupportedError:
        return False
    return True


def _with_both_names(files: OrcFiles, options: dict[str, Any], fault: UnsupportedError) -> UnsupportedError:
    """The error of files without common types, with the names of two of them."""
    text = str(fault)
    at = next((at for at, file in enumerate(files.files) if text.startswith(display_name(file.location))), 0)
    for before in files.files[:at]:
        pair = dataclasses.replace(files, files=[before, files.files[at]])
        try:
            _union(pair, options, ())
        except UnsupportedError as error:
            text = str(error).replace("those of the files before", f"those of {display_name(before.location)}")
            break
    return UnsupportedError(f"{text}: cast one of them, or choose columns that go together")
