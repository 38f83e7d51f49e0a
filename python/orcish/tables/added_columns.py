"""Columns that rows add to a table, and that files of other writers may have already, unknown to the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from orcish import _native
from orcish.arrow.exported import ExportedSchema, schema_for_native
from orcish.errors import CorruptFileError, UnsupportedError
from orcish.io.files import TableFile
from orcish.reading.orc_files import OrcFiles, unified_schema
from orcish.reading.scan import WHOLE_FILE

__all__ = ["appended_schema", "extended_schema", "union_of_files", "with_columns_of_files"]


def extended_schema(table: pa.Schema, rows: pa.Schema) -> pa.Schema:
    """The schema of a table after rows are added."""
    return pa.schema(ExportedSchema(_native.extended_schema(schema_for_native(table), schema_for_native(rows))))


def appended_schema(table: pa.Schema, rows: pa.Schema, has_arrow_schema: bool) -> pa.Schema:
    """The schema with which rows are added to a table.

    Raises:
        ValueError: Names differ only by case, or a type of the table does not hold the values.
    """
    capsule = _native.appended_schema(schema_for_native(table), schema_for_native(rows), has_arrow_schema)
    return pa.schema(ExportedSchema(capsule))


def union_of_files(files: list[TableFile], storage: Mapping[str, str]) -> pa.Schema:
    """The columns of files, with types that hold the values of all files. Timestamps have the unit of the first file
    that has the column, as readers see them: nanoseconds do not hold all values of other units.

    Raises:
        UnsupportedError: There are no such types.
    """
    opened = OrcFiles(files, None, "name", storage, None).open({})
    return unified_schema(opened, case_sensitive=True, keeps_units=True).schema


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
        known = _columns_of(there, [field.name for field in added], storage)
        with_known = None if known is None else extended_schema(table, known)
        if with_known is not None and _holds(with_known, rows, has_arrow_schema):
            return with_known
        OrcFiles(there, pa.schema(added), "name", storage, None).open_columns({}, None).splits(WHOLE_FILE)
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


def _columns_of(files: list[TableFile], names: Sequence[str], storage: Mapping[str, str]) -> pa.Schema | None:
    """Some columns of files, with types that hold the values of all files; ``None`` if there is no common schema."""
    try:
        union = union_of_files(files, storage)
    except UnsupportedError:
        return None
    return pa.schema([field for field in union if field.name in names])


def _holds(table: pa.Schema, rows: pa.Schema, has_arrow_schema: bool) -> bool:
    """Whether the types of a table hold the values of rows."""
    try:
        appended_schema(table, rows, has_arrow_schema)
    except ValueError:
        return False
    return True
