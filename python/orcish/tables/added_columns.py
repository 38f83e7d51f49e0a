"""Columns that rows add to a table, and that files of other writers may have already, unknown to the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from orcish import _native
from orcish.arrow.exported import ExportedSchema, schema_for_native
from orcish.arrow.nested import map_columns
from orcish.errors import CorruptFileError, UnsupportedError
from orcish.io.files import TableFile
from orcish.io.names import display_name
from orcish.reading.orc_files import OrcFiles, unified_schema

__all__ = ["appended_schema", "extended_schema", "with_columns_of_files"]


def extended_schema(table: pa.Schema, rows: pa.Schema) -> pa.Schema:
    """The schema of a table after rows are added."""
    return pa.schema(ExportedSchema(_native.extended_schema(schema_for_native(table), schema_for_native(rows))))


def appended_schema(table: pa.Schema, rows: pa.Schema, has_arrow_schema: bool) -> pa.Schema:
    """The schema with which rows are added to a table. Without Arrow schemas, dates of milliseconds are those of days.

    Raises:
        ValueError: Names differ only by case, or a type of the table does not hold the values.
    """
    if not has_arrow_schema:
        rows = map_columns(rows, _of_days)
    capsule = _native.appended_schema(schema_for_native(table), schema_for_native(rows), has_arrow_schema)
    return pa.schema(ExportedSchema(capsule))


def _of_days(field: pa.Field, _: str) -> pa.Field:
    return field.with_type(pa.date32()) if pa.types.is_date64(field.type) else field


def with_columns_of_files(
    table: pa.Schema, rows: pa.Schema, files: Sequence[str], storage: Mapping[str, str], *, has_arrow_schema: bool
) -> pa.Schema:
    """The columns of a table, and those that rows add to them, with the types that its files have for these. Readers
    see the columns of such files from then on. The tails of all files are read if rows add columns.

    Args:
        table: The columns of the table in its log.
        rows: The columns of the rows.
        files: Paths or URLs of the files of the table.
        storage: Options of the object store.
        has_arrow_schema: Whether the files of the table have an Arrow schema.

    Raises:
        ValueError: Neither the type of the files holds the values of the rows, nor the other way round.
    """
    own = {field.name: field.type for field in table}
    added = [field for field in extended_schema(table, rows) if own.get(field.name) != field.type]
    if not added or not files:
        return table
    there = [TableFile(file, None, []) for file in files]
    try:
        known = _columns_of(there, added, storage)
        with_known = extended_schema(table, known)
        if _holds(with_known, rows, has_arrow_schema):
            return with_known
        for file in there:
            try:
                appended_schema(pa.schema(added), _columns_of([file], added, storage), has_arrow_schema)
            except ValueError as error:
                raise UnsupportedError(f"{display_name(file.location)}: {error}") from None
    except (CorruptFileError, FileNotFoundError):
        # A file is no ORC file, or was just removed.
        return table
    except UnsupportedError as error:
        names = ", ".join(field.name for field in added)
        raise ValueError(
            f"the rows add columns to the schema of the table, {names}, and a file has other values there: {error}: "
            "rename the columns of the rows, or cast them to the types of the file"
        ) from None
    return table


def _columns_of(files: list[TableFile], added: Sequence[pa.Field], storage: Mapping[str, str]) -> pa.Schema:
    """The columns of files that have the names of other columns, with types that hold the values of all files.

    Raises:
        UnsupportedError: There are no such types.
    """
    names = {field.name for field in added}
    unified = unified_schema(OrcFiles(files, None, "name", storage, None).open({}), case_sensitive=True)
    unified.check(names)
    return pa.schema([field for field in unified.schema if field.name in names])


def _holds(table: pa.Schema, rows: pa.Schema, has_arrow_schema: bool) -> bool:
    """Whether the types of a table hold the values of rows."""
    try:
        appended_schema(table, rows, has_arrow_schema)
    except ValueError:
        return False
    return True
