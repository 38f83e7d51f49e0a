"""The columns of all files of a scan. Readers see those of the log of a table, or of the first file; a command that
writes the rows would lose the others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from orcish import _native
from orcish.errors import UnsupportedError
from orcish.io.names import display_name
from orcish.reading.orc_files import OrcFiles, PartiallyReadable, native_scan, unified_schema
from orcish.reading.scan import WHOLE_FILE, Scan, reader_of
from orcish.reading.scan_reader import ScanReader
from orcish.scan import scan
from orcish.tables.added_columns import extended_schema
from orcish.tables.log.conflicts import reading
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
        CommitError: A commit of another job has removed a file meanwhile.
        UnsupportedError: The types of a column in two files have no common type.
        ValueError: A source has partition columns that the first one has not, and they are wanted.
        OrcishError, OSError: As in :func:`orcish.scan`.
    """
    chosen = {name: options[name] for name in ROWS if options.get(name) is not None}
    reader = reader_of(scan(source, **{name: value for name, value in options.items() if name not in ROWS}))
    found, files = reader.with_options(**chosen), reader.source
    with reading(source, options.get("storage_options"), found.files):
        if isinstance(files, OrcFiles):
            files.left_out.check(chosen.get("columns"))
            wider = with_all_columns(files, reader.options, columns=chosen.get("columns"), opened=reader.opened)
            if wider is not files:
                found = ScanReader(wider, found.options)
        found.check()
    return Scan(found)


def with_all_columns(
    files: OrcFiles,
    options: dict[str, Any],
    *,
    columns: Sequence[Any] | None = None,
    opened: _native.Scan | PartiallyReadable | None = None,
) -> OrcFiles:
    """The files, read with the columns of all of them.

    Args:
        files: The files. A schema that is given stays.
        options: Options of reading.
        columns: The columns that are read; all by default. Types of others may contradict each other.
        opened: The native scan of the files under the options, where there is one already.

    Raises:
        UnsupportedError: The types of a column in two files have no common type.
    """
    if files.schema is not None or not files.files or (len(files.files) == 1 and files.table_schema is None):
        return files
    opened = files.open(options) if opened is None else opened
    base = files.full_schema(opened)
    partition = frozenset(files.partition_columns)
    own = pa.schema([field for field in base if field.name not in partition], base.metadata)
    # Columns that partition columns hide are no columns of the rows.
    plain = dataclasses.replace(files, files=[file._replace(partition=[]) for file in files.files])
    every = all_columns(plain, options, own, opened, columns)
    found = [field for field in every if field.name not in partition]
    schema = pa.schema([*found, *(field for field in base if field.name in partition)], base.metadata)
    return files if schema == base else dataclasses.replace(files, schema=schema, is_part=True)


def all_columns(
    files: OrcFiles,
    options: dict[str, Any],
    own: pa.Schema,
    opened: _native.Scan | PartiallyReadable,
    columns: Sequence[Any] | None = None,
) -> pa.Schema:
    """The columns of a table, and after them those that only its files have.

    Types are those of the table. Without a log, they are the common types of all files where those of the first file do
    not hold the values of the others.

    Args:
        files: The files, without partition columns.
        options: Options of reading.
        own: The columns of the table, without partition columns.
        opened: The native scan of the table under the options.
        columns: As for :func:`with_all_columns`.

    Raises:
        UnsupportedError: As for :func:`with_all_columns`.
        OrcishError: A column cannot be read, and all columns are wanted.
    """
    stored, is_logged = dataclasses.replace(files, table_schema=None), files.table_schema is not None
    try:
        # The schema of a log is no file.
        union = _union(stored.open(options) if is_logged else opened, columns)
    except UnsupportedError as error:
        fault = error
    else:
        schema = extended_schema(own, union)
        return schema if is_logged or schema == union or _can_be_read(stored, schema, options) else union
    schema = own
    for file in files.files:
        schema = extended_schema(schema, _union(dataclasses.replace(stored, files=[file]).open(options), columns))
    if is_logged or columns is not None or _can_be_read(stored, schema, options):
        return schema
    raise _with_both_names(stored, options, fault)


def _union(opened: _native.Scan | PartiallyReadable, columns: Sequence[Any] | None) -> pa.Schema:
    """The columns of all files of a scan, with their common types."""
    unified = unified_schema(opened, case_sensitive=True)
    if unified.fault is not None and columns is None:
        raise unified.fault
    return unified.schema


def _can_be_read(files: OrcFiles, schema: pa.Schema, options: dict[str, Any]) -> bool:
    """Whether readers find the columns of all files with the types of a schema."""
    typed = dataclasses.replace(files, schema=schema, is_part=True)
    try:
        native_scan(typed.open(options)).splits(WHOLE_FILE)
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
            _union(pair.open(options), ())
        except UnsupportedError as error:
            text = str(error).replace("those of the files before", f"those of {display_name(before.location)}")
            break
    return UnsupportedError(f"{text}: cast one of them, or choose columns that go together")
