"""Appending to tables: rows get types that readers of the table can read beside its files, or are refused."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from orcish import _native
from orcish.arrow.exported import ExportedSchema
from orcish.arrow.frames import without_row_numbers
from orcish.arrow.nested import value_type
from orcish.errors import CorruptFileError, OrcishError, UnsupportedError
from orcish.io.files import TableFile
from orcish.reading.file import ORCFile, has_arrow_schema
from orcish.reading.orc_files import OrcFiles, partition_schema
from orcish.scan import scan
from orcish.tables.commit import Job
from orcish.tables.log.schema import TableSchema
from orcish.terminal import printable
from orcish.writing.timestamps import timestamp_types, with_stored_types, writer_timezones
from orcish.writing.writer import ORCWriter

__all__ = [
    "ExistingTable",
    "cast_batch",
    "check_partition_values",
    "check_partitions",
    "existing_table",
    "schema_with",
]


MAX_SHOWN = 500
"""Most characters of names of columns in a message."""


@dataclasses.dataclass(frozen=True)
class ExistingTable:
    """The columns of a table: those that its log has, or those of the first of its files that has columns."""

    base: str
    """Path or URL of the table."""
    schema: pa.Schema
    """The columns that can be read, without partition columns."""
    partition: tuple[pa.Field, ...]
    """Partition columns whose types the log has, with the types with which they were first written."""
    timestamp_types: dict[str, str]
    """The result of :func:`orcish.writing.timestamps.timestamp_types`."""
    has_arrow_schema: bool
    """Whether the files have an Arrow schema."""
    _files: list[str] = dataclasses.field(repr=False)
    _storage: Mapping[str, str] = dataclasses.field(repr=False)

    def appended_schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema with which rows are appended: narrower types become those of the table.

        Raises:
            ValueError: Names differ only by case, or a type of the table does not hold the values.
        """
        try:
            found = _native.appended_schema(
                self.schema.__arrow_c_schema__(), schema.__arrow_c_schema__(), self.has_arrow_schema
            )
        except ValueError as error:
            raise ValueError(f"{self.base}: {error}") from None
        appended = pa.schema(ExportedSchema(found))
        for own, field in zip(schema, appended, strict=True):
            if own.type != field.type:
                try:
                    _cast_column(pa.array([], own.type), field.type)
                except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                    raise ValueError(
                        f"{self.base}: column {own.name} of the rows is {own.type}, and {field.type} in the table: "
                        "cast the rows to the type of the table"
                    ) from None
        return appended

    def writer_timezone(self) -> str | None:
        """The time zone of the writer of the first file that records a zone; ``None`` if that has several zones."""
        for _, file in _opened(self._files, self._storage):
            if zones := writer_timezones(file):
                return zones.pop() or None if len(zones) == 1 else None
        return None


def check_partitions(base: str, own: Sequence[str], columns: Sequence[str], option: str) -> None:
    """Checks that rows are partitioned as a table is.

    Args:
        base: Path or URL of the table.
        own: The partition columns of the table.
        columns: The partition columns of the rows.
        option: What messages call them.

    Raises:
        ValueError: The partition columns differ, so that the table could not be read any more.
    """
    if list(columns) != list(own):
        existing, given = (printable(", ".join(each)[:MAX_SHOWN]) or "none" for each in (own, columns))
        raise ValueError(f"{base} has files whose partition columns are: {existing}; {option} is: {given}")


def check_partition_values(base: str, names: Iterable[str], schema: TableSchema) -> None:
    """Checks that values of partition columns have the types of the table.

    Args:
        base: Path or URL of the table.
        names: Files that are added, by their paths in the table.
        schema: The schema of the table.

    Raises:
        ValueError: A value does not, so that the table could not be read any more.
    """
    if not schema.partition:
        return
    fields = {field.name: field for field in partition_schema(schema) if not pa.types.is_string(field.type)}
    values: dict[str, set[str]] = {name: set() for name in fields}
    for name in names:
        for column, value in _native.partitions_below(base, f"{base}/{name}"):
            if column in fields and value is not None:
                values[column].add(value)
    for column, texts in values.items():
        capsules = pa.array(sorted(texts), pa.string()).__arrow_c_array__()
        try:
            _native.parse_partition_values(capsules, pa.schema([fields[column]]).__arrow_c_schema__(), "hive")
        except (ValueError, OrcishError) as error:
            raise ValueError(f"{base}: column {column} is {fields[column].type} in the table: {error}") from None


def existing_table(job: Job, names: Sequence[str], schema: TableSchema | None) -> ExistingTable | None:
    """The table that a job writes to; ``None`` if neither its log nor one of its files has columns.

    Args:
        job: The job.
        names: Files of the table, by their paths in the table.
        schema: The schema of the table in its log.

    Raises:
        ValueError: There are files, and none of them is an ORC file.
    """
    base = job.root
    files = [f"{base}/{name}" for name in names]
    if schema is not None:
        table = OrcFiles([], None, "name", None, None, schema._replace(shown=[]))
        columns = table.full_schema(table.open({}))
        file = ORCFile(schema.file)
        partition = tuple(field for field in file.schema if field.name in schema.partition)
        return _existing_table(job, columns, partition, file, files)
    for location, file in _opened(files, job.storage):
        return _existing_table(job, _columns(base, location, files, job.storage), (), file, files)
    for name in names:
        # Files of CarbonData are refused by the caller.
        if name.endswith((".carbondata", ".carbonindex")):
            return None
        stored = job.folder().stat(name)
        if stored is not None and stored.size:
            raise ValueError(f"{base}/{name} is no ORC file: rows are not added to a folder of other files")
    return None


def _columns(base: str, first: str, files: Sequence[str], storage: Mapping[str, str]) -> pa.Schema:
    """The union of the columns of files, of which readers see those of the first one until the table has a log."""
    there = [TableFile(file, None, []) for file in files]
    try:
        union = OrcFiles(there, None, "name", storage, None).unified_schema({}, case_sensitive=True).schema
        # Columns whose names differ only by case from an earlier one stay hidden.
        names: dict[str, int] = {}
        for at, name in enumerate(union.names):
            names.setdefault(name.lower(), at)
        return pa.schema([union.field(at) for at in names.values()], union.metadata)
    except (CorruptFileError, FileNotFoundError):
        # Another file is no ORC file, or was just removed.
        return scan(first, partitions=False, storage_options=storage).schema
    except UnsupportedError as error:
        raise ValueError(f"the files of {base} have no common schema: {error}") from None


def _existing_table(
    job: Job, schema: pa.Schema, partition: tuple[pa.Field, ...], file: ORCFile, files: list[str]
) -> ExistingTable:
    return ExistingTable(job.root, schema, partition, timestamp_types(file), has_arrow_schema(file), files, job.storage)


def _needs_arrow_schema(kind: Any) -> bool:
    """Whether a type is read as another one from a file without an Arrow schema."""
    types = pa.types
    is_time = types.is_time(kind) or types.is_duration(kind) or types.is_interval(kind)
    return bool(types.is_null(kind) or types.is_date64(kind) or is_time)


def schema_with(
    existing: ExistingTable | None, rows: pa.Schema, partition: Sequence[str], *, arrow_schema: bool
) -> TableSchema:
    """The schema of a table after rows are added.

    Args:
        existing: The table before; ``None`` if it had no columns.
        rows: The schema with which the rows are written, partition columns included.
        partition: Names of all partition columns.
        arrow_schema: Whether files of a new table have an Arrow schema.
    """
    columns = pa.schema([field for field in rows if field.name not in partition], rows.metadata)
    if existing is None:
        typed = [
            field.remove_metadata()
            for field in rows
            if field.name in partition and (arrow_schema or not _needs_arrow_schema(field.type))
        ]
    else:
        # A stored column of the name of a partition column is hidden by it.
        own = pa.schema([field for field in existing.schema if field.name not in partition], existing.schema.metadata)
        capsule = _native.extended_schema(own.__arrow_c_schema__(), columns.__arrow_c_schema__())
        columns = with_stored_types(pa.schema(ExportedSchema(capsule)), [existing.timestamp_types])
        # The types that values of a plain folder were inferred to have stay inferred.
        typed = [_typed_partition(field, rows) for field in existing.partition]
        arrow_schema = existing.has_arrow_schema
    file = io.BytesIO()
    schema = without_row_numbers(pa.schema([*columns, *typed], columns.metadata))
    ORCWriter(file, schema, arrow_schema=arrow_schema).close()
    return TableSchema(file.getvalue(), list(partition))


def _typed_partition(field: pa.Field, rows: pa.Schema) -> pa.Field:
    """A partition column of a table; where all its values are null, with the type of the rows."""
    at = rows.get_field_index(field.name)
    return rows.field(at).remove_metadata() if pa.types.is_null(value_type(field.type)) and at >= 0 else field


def _opened(files: Sequence[str], storage: Mapping[str, str]) -> Iterator[tuple[str, ORCFile]]:
    for file in files:
        try:
            opened = ORCFile(file, storage_options=storage)
        except (CorruptFileError, FileNotFoundError):
            # The file is no ORC file, or was just removed.
            continue
        # Hive writes files of no bytes, which have no columns.
        if len(opened.column_types) > 1:
            yield file, opened


def _cast_column(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if column.type == kind:
        return column
    # pyarrow does not cast nulls to all types.
    return pa.nulls(len(column), kind) if pa.types.is_null(value_type(column.type)) else column.cast(kind)


def cast_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with the types and the metadata of a schema of the same columns.

    Raises:
        ValueError: A value is not one of its new type.
    """
    if not batch.num_columns:
        # A new batch without columns would have no rows.
        return batch
    columns = []
    for column, field in zip(batch.columns, schema, strict=True):
        try:
            columns.append(_cast_column(column, field.type))
        except pa.ArrowInvalid as error:
            raise ValueError(f"column {field.name}: {error}") from None
    return pa.RecordBatch.from_arrays(columns, schema=schema)
