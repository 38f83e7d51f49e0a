"""The types of files that are written again: those with which readers of the table have read the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from orcish import _native
from orcish.arrow.exported import ExportedSchema
from orcish.arrow.nested import fields_by_path, is_text, map_columns, value_type
from orcish.errors import UnsupportedError
from orcish.io.files import TableFile
from orcish.reading.file import ORCFile, has_arrow_schema, native_file
from orcish.reading.orc_files import OrcFiles
from orcish.reading.schema_file import schema_file
from orcish.tables.all_columns import all_columns
from orcish.tables.inferred_types import are_inferred
from orcish.tables.log.schema import TableSchema
from orcish.types import StorageOptions
from orcish.writing.timestamps import CATALYST_TYPE, ORC_TYPE, timestamp_types, with_stored_types

__all__ = ["RewrittenTypes", "Source"]

EXTENSION = b"ARROW:extension:"
"""Beginning of the keys of field metadata that name extension types."""
ICEBERG_ID = b"iceberg.id"
"""Attribute with the id of a column in Iceberg."""
TYPE_KEYS = (ORC_TYPE.encode(), CATALYST_TYPE.encode())
"""Keys of field metadata that decide the ORC type."""


class Source(NamedTuple):
    """A file that is written again."""

    location: str
    file: ORCFile

    def table_file(self, stripes: list[int] | None = None) -> TableFile:
        """All stripes of the file, or some."""
        return TableFile(self.location, None, [], native_file(self.file).tail_bytes(), stripes)


class RewrittenTypes(NamedTuple):
    """How files are read, and what the new file has."""

    read: pa.Schema
    """The schema with which the rows are read and written. Its metadata decide the ORC types."""
    recorded: pa.Schema
    """The Arrow schema of the new file: the types of the table."""
    has_arrow_schema: bool
    """Whether the new file has it."""
    ignores_arrow_types: bool
    """Whether the rows have the types of ORC, whatever Arrow types files were written with."""

    @staticmethod
    def of(
        sources: Sequence[Source],
        logged: TableSchema | None,
        storage: StorageOptions | None,
        *,
        keeps_instants: bool,
        arrow_schema: bool | None = None,
    ) -> RewrittenTypes:
        """The types of the table, and after them the columns that only the files have.

        Args:
            sources: The files.
            logged: The schema of the table in its log. Without it, the first file decides, unless its types do not hold
                the values of the others.
            storage: Options of the object store.
            keeps_instants: Whether columns of type ``timestamp`` are read as the instants that are stored, whatever
                their type is in the table.
            arrow_schema: Whether the new file has an Arrow schema; by default if readers take the types from one, or if
                they do not infer the types of all columns.

        Raises:
            UnsupportedError: The files have columns that are one column to some readers.
            OrcishError: A column of a file cannot be read.
        """
        types = _Types(sources, logged, storage)
        has_arrow_schema = types.has_arrow_schema if arrow_schema is None else arrow_schema
        if logged is None and arrow_schema is None and not has_arrow_schema:
            # Columns of later files may have types that only an Arrow schema keeps.
            seen = with_stored_types(types.of_table({}), types.timestamp_types())
            has_arrow_schema = len(sources) > 1 and not are_inferred(list(seen))
        # Without a log, readers take units from the new file, which has those that they saw before.
        options = {} if logged is None and has_arrow_schema else {"timestamp_unit": "exact"}
        table = types.of_table(options)
        kinds = types.timestamp_types()
        recorded = read = with_stored_types(table, kinds)
        if keeps_instants:
            instants = types.of_table({**options, "timestamps": "instant"})
            read = with_stored_types(types.with_clocks(instants, table), kinds)
        ignores_arrow_types = logged is not None and not types.has_arrow_schema
        return RewrittenTypes(read, recorded, has_arrow_schema, ignores_arrow_types)


class _Types:
    """The types of a table and of some of its files."""

    def __init__(self, sources: Sequence[Source], logged: TableSchema | None, storage: StorageOptions | None) -> None:
        self._files = [source.file for source in sources]
        self._columns = [_columns(file) for file in self._files]
        attributes = [{path: column.attributes for path, column in columns.items()} for columns in self._columns]
        _check_twins([(source.location, own) for source, own in zip(sources, attributes, strict=True)])
        self._timestamps = [timestamp_types(file) for file in self._files]
        self._sources = [source.table_file() for source in sources]
        self._logged = None if logged is None else logged._replace(shown=[])
        self._storage = storage
        self._log_file = None if logged is None else schema_file(logged)

    @property
    def has_arrow_schema(self) -> bool:
        """Whether readers take the types from an Arrow schema: that of the log, or of the first file."""
        return has_arrow_schema(self._log_file or self._files[0])

    def timestamp_types(self) -> list[dict[str, str]]:
        """The ORC types of the timestamp columns of each file; those of the log for columns that no file has as
        timestamps.
        """
        own = {} if self._log_file is None else timestamp_types(self._log_file)
        return [*self._timestamps, {path: kind for path, kind in own.items() if not self._has_timestamps(path)}]

    def with_clocks(self, read: pa.Schema, table: pa.Schema) -> pa.Schema:
        """The schema with the types of the table for timestamps that no file has as timestamps: there are no instants
        of them, but dates, wall clocks of Spark, or nulls.
        """
        types = {path: field.type for path, field in fields_by_path(table).items()}

        def changed(field: pa.Field, path: str) -> pa.Field:
            is_clock = pa.types.is_timestamp(value_type(field.type)) and not self._has_timestamps(path)
            return field.with_type(types[path]) if is_clock else field

        return map_columns(read, changed)

    def _has_timestamps(self, path: str) -> bool:
        """Whether a column is one of timestamps in a file."""
        return any(path in kinds for kinds in self._timestamps)

    def of_table(self, options: dict[str, Any]) -> pa.Schema:
        """The types of the table under options of reading."""
        files = OrcFiles(self._sources, None, "name", self._storage, None, self._logged)
        opened = files.open(options)
        schema = all_columns(files, options, files.full_schema(opened), opened)
        # A file that is written again does not get a column of the table that is one of its own to some readers.
        stored = list({path for columns in self._columns for path in columns})
        schema = map_columns(schema, self._with_attributes)
        return pa.schema(ExportedSchema(_native.without_twins(schema.__arrow_c_schema__(), stored)))

    def _with_attributes(self, field: pa.Field, path: str) -> pa.Field:
        """The field with the attributes that it has in the first file, and its ORC type, if all files have the same.
        Columns of type ``null`` have no ORC type: that of the table stays.
        """
        there = [columns[path] for columns in self._columns if path in columns]
        found = [column for column in there if not column.is_null]
        if not found:
            own = there[0].attributes if there else {}
            attributes = {key: value for key, value in own.items() if key not in TYPE_KEYS}
            return field.with_metadata({**attributes, **(field.metadata or {})} or None)
        metadata = {key: value for key, value in (field.metadata or {}).items() if key.startswith(EXTENSION)}
        first = found[0]
        is_same = all((each.kind, each.spark_type) == (first.kind, first.spark_type) for each in found)
        for key, value in first.attributes.items():
            if key == ORC_TYPE.encode():
                # ORC C++ writes attributes of the columns that it has read, whatever types it gives them.
                is_kept = is_same and first.kind.startswith(value.decode()) and is_text(field.type) == first.is_text
            else:
                is_kept = is_same or key != CATALYST_TYPE.encode()
            if is_kept:
                metadata[key] = value
        return field.with_metadata(metadata or None)


class _Column(NamedTuple):
    """A column of a file."""

    kind: str
    """Its ORC type."""
    attributes: dict[bytes, bytes]
    is_null: bool
    """Whether its Arrow type is ``null``, and its ORC type thus that of no value."""

    @property
    def spark_type(self) -> bytes | None:
        """The type of Spark that ORC does not have."""
        return self.attributes.get(CATALYST_TYPE.encode())

    @property
    def is_text(self) -> bool:
        """Whether it has texts of limited length."""
        return self.kind.startswith(("char", "varchar"))


def _columns(file: ORCFile) -> dict[str, _Column]:
    """The columns of a file by their dotted names."""
    kinds = dict(zip(file.column_paths, file.column_types, strict=True))
    nulls = {path for path, field in fields_by_path(file.schema).items() if pa.types.is_null(value_type(field.type))}
    return {
        path: _Column(kinds[path], dict(field.metadata or {}), path in nulls)
        for path, field in fields_by_path(file.arrow_schema(arrow_schema=False)).items()
        if path in kinds
    }


def _check_twins(files: Sequence[tuple[str, Mapping[str, Mapping[bytes, bytes]]]]) -> None:
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
                raise _twin_error(location, path, f"column {other} of {file} differ only by case")
            own = attributes.get(ICEBERG_ID)
            if own is None:
                continue
            known, file = ids_of_names.setdefault(path, (own, location))
            if known != own:
                raise _twin_error(location, path, f"that of {file} have different ids in Iceberg")
            other, file = ids.setdefault(own, (path, location))
            if other != path and file != location:
                raise _twin_error(location, path, f"column {other} of {file} have the same id in Iceberg")


def _twin_error(location: str, path: str, other: str) -> UnsupportedError:
    return UnsupportedError(
        f"{location}: column {path} and {other}, so that the files are not combined: write the rows of one of them "
        "again with the names and ids of the other"
    )
