"""The columns of all files of a scan.

Readers see the columns of the log of a table, or of the first file. A command that writes the rows would lose the
others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from orcish import _native
from orcish.arrow.exported import ExportedSchema
from orcish.reading.orc_files import OrcFiles
from orcish.reading.scan import Scan, reader_of
from orcish.reading.scan_reader import ScanReader
from orcish.scanning import scan
from orcish.tables.log.conflicts import reading
from orcish.types import Sources

__all__ = ["all_columns", "scan_of_all_columns", "with_all_columns", "with_all_digits"]

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


def with_all_digits(reader: ScanReader, *, keeps_units: bool) -> Scan:
    """The scan that loses no digit of a timestamp.

    Args:
        reader: The reader of the source, under the default unit.
        keeps_units: Whether timestamps have the units that readers of the source see, where a value with more digits is
            an error. Otherwise they have the units that hold all digits.
    """
    source, options = reader.source, {**reader.options, "timestamp_unit": "exact"}
    if isinstance(source, OrcFiles):
        if keeps_units:
            source = source.with_schema(reader.opened)
        else:
            inferred = dataclasses.replace(source, schema=None, is_part=False)
            source = with_all_columns(inferred, options, columns=options.get("columns"))
    return Scan(ScanReader(source, options))


def with_all_columns(
    files: OrcFiles,
    options: dict[str, Any],
    *,
    columns: Sequence[Any] | None = None,
    opened: _native.Scan | None = None,
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
    found = [field for field in all_columns(opened, is_whole=columns is None) if field.name not in partition]
    schema = pa.schema([*found, *(field for field in base if field.name in partition)], base.metadata)
    return files if schema == base else dataclasses.replace(files, schema=schema, is_part=True)


def all_columns(opened: _native.Scan, *, is_whole: bool) -> pa.Schema:
    """The columns of a table, and after them those that only its files have, without partition columns, with types that
    hold the values of all files. Columns of a log have the types of the log.

    Args:
        opened: The native scan of the table.
        is_whole: Whether all columns are wanted: those that cannot be read, and those without a common type, are errors
            then.

    Raises:
        UnsupportedError: As for :func:`with_all_columns`.
        OrcishError: A column cannot be read.
    """
    return pa.schema(ExportedSchema(opened.all_columns(is_whole)))
