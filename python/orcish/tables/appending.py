"""Appending to tables: rows get types that readers of the table can read beside its files, or are refused."""

from __future__ import annotations

import contextlib
import dataclasses
import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from orcish.arrow.casting import cast_array
from orcish.arrow.frames import fitted_metadata
from orcish.arrow.nested import fields_by_path, is_text, value_type
from orcish.errors import CastError, CorruptFileError, LimitExceededError, OrcishError, UnsupportedError
from orcish.io.files import TableFile
from orcish.reading.file import ORCFile, has_arrow_schema
from orcish.reading.orc_files import OrcFiles, partition_schema, unified_schema
from orcish.reading.schema_file import schema_file
from orcish.tables.added_columns import appended_schema, extended_schema, with_columns_of_files
from orcish.tables.commit import Job
from orcish.tables.inferred_types import are_inferred
from orcish.tables.log.schema import TableSchema
from orcish.tables.partition_values import cast_values, inferred_fields, untyped_columns
from orcish.tables.twins import without_twins
from orcish.terminal import printable
from orcish.writing.timestamps import INSTANT, WALL, timestamp_types, with_stored_types
from orcish.writing.writer import ORCWriter

__all__ = [
    "MAX_SHOWN",
    "ExistingTable",
    "cast_batch",
    "existing_table",
    "schema_with",
]


TIMEZONE = "orcish.timezone"
"""Key of the metadata of the schema in a log with the time zone of writers."""
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
    """Partition columns that have types: those that the log has, as first written, or else those that are
    inferred from the values."""
    partition_types: Mapping[str, pa.DataType]
    """The types with which readers see these columns."""
    timestamp_types: dict[str, str]
    """The result of :func:`orcish.writing.timestamps.timestamp_types`."""
    has_arrow_schema: bool
    """Whether readers have types that only an Arrow schema keeps: that of the log, or of a file."""
    _has_log: bool
    """Whether the columns are those of the log. Files may have others."""
    _logged_timezone: str | None
    """The time zone of writers in the log."""
    _files: list[str] = dataclasses.field(repr=False)
    _storage: Mapping[str, str] = dataclasses.field(repr=False)

    def appended_schema(self, schema: pa.Schema, partition: Collection[str]) -> pa.Schema:
        """The schema with which rows are appended: narrower types become those of the table, and partition columns have
        the types of the table. Text is made of values of any type when folders are named.

        Args:
            schema: The schema of the rows.
            partition: The partition columns of the rows.

        Raises:
            ValueError: Names differ only by case, or a type of the table does not hold the values.
        """
        columns = pa.schema([field for field in schema if field.name not in partition], schema.metadata)
        try:
            own_types = appended_schema(self.schema, columns, self.has_arrow_schema)
            # The columns of a table without a log are those of all of its files.
            if self._has_log:
                table = self._with_columns_of_files(columns)
                own_types = appended_schema(table, columns, self.has_arrow_schema)
        except ValueError as error:
            raise ValueError(f"{self.base}: {error}") from None
        fields = iter(own_types)
        typed = [self._partition_field(field) if field.name in partition else next(fields) for field in schema]
        appended = pa.schema(typed, own_types.metadata)
        for own, field in zip(schema, appended, strict=True):
            if field.name in partition:
                continue
            if own.type != field.type:
                try:
                    cast_array(pa.nulls(0, own.type), field.type, adds_fields=True)
                except (CastError, UnsupportedError) as error:
                    raise ValueError(
                        f"{self.base}: column {own.name} of the rows is {own.type}, and {field.type} in the table, and "
                        f"is not converted: {error}"
                    ) from None
        return appended

    def _with_columns_of_files(self, rows: pa.Schema) -> pa.Schema:
        return with_columns_of_files(
            self.schema, rows, self._files, self._storage, has_arrow_schema=self.has_arrow_schema
        )

    def _partition_field(self, field: pa.Field) -> pa.Field:
        """A partition column of rows, with the type of the table.

        Raises:
            ValueError: The rows have wall clocks, and the table has instants.
        """
        kind = self.partition_types.get(field.name)
        if kind is None or is_text(kind):
            return field
        types = pa.types
        if types.is_date(kind) and types.is_timestamp(field.type) and field.type.tz is not None:
            raise ValueError(
                f"{self.base}: partition column {field.name} of the rows is {field.type}, and {kind} in the table"
            )
        is_instant = types.is_timestamp(kind) and kind.tz is not None
        if is_instant and (types.is_date(field.type) or (types.is_timestamp(field.type) and field.type.tz is None)):
            raise ValueError(
                f"{self.base}: partition column {field.name} of the rows is {field.type}, and {kind} in the table: "
                "cast the rows to the type of the table"
            )
        return field.with_type(kind)

    def writer_timezone(self) -> str | None:
        """The time zone of the writer of the first file that has rows and a column of type ``timestamp``, or that of
        the log if no file has; ``None`` if that file has several zones, and if no zone is recorded.

        Raises:
            UnsupportedError: The zone is not known.
        """
        for location, file in _opened(self._files, self._storage):
            if WALL in timestamp_types(file).values() and (zones := set(file.writer_timezones())):
                zone = zones.pop() if len(zones) == 1 else ""
                try:
                    ORCWriter(io.BytesIO(), pa.schema([]), timezone=zone or None).close()
                except ValueError:
                    raise UnsupportedError(f"{location}: writer time zone {zone!r} is not known") from None
                return zone or None
        return self._logged_timezone


def existing_table(
    job: Job, names: Sequence[str], schema: TableSchema | None, visible: Sequence[str], *, keeps_twins: bool = False
) -> ExistingTable | None:
    """The table that a job writes to; ``None`` if neither its log nor one of its files has columns.

    Args:
        job: The job.
        names: Files of the table that stay, by their paths in the table.
        schema: The schema of the table in its log.
        visible: All files of the table. Readers infer types of partition columns from their folders.
        keeps_twins: Whether columns of the first file stay that are one column to some readers.

    Raises:
        ValueError: There are files, and none of them is an ORC file, or they have no common schema.
    """
    base = job.root
    files = [f"{base}/{name}" for name in names]
    if schema is not None:
        table = OrcFiles([], None, "name", None, None, schema._replace(shown=[]))
        columns = table.full_schema(table.open({}))
        file = schema_file(schema)
        logged = {field.name: field for field in file.schema if field.name in schema.partition}
        # Each reader infers the types of columns that have none in the log.
        untyped = untyped_columns(schema)
        inferred = {field.name: field for field in inferred_fields(base, visible)} if untyped else {}
        own = {**logged, **{name: inferred[name] for name in untyped if name in inferred}}
        fields = {name: own[name] for name in schema.partition if name in own}
        known = {field.name: field.type for field in partition_schema(schema)}
        types = {
            name: field.type if name in untyped else known[name]
            for name, field in fields.items()
            if not pa.types.is_null(field.type)
        }
        return _existing_table(job, columns, fields, types, file, timestamp_types(file), files, has_log=True)
    for location, file in _opened(files, job.storage):
        inferred = {field.name: field for field in inferred_fields(base, visible)}
        types = {name: field.type for name, field in inferred.items()}
        # Files before this one have no columns.
        columns, kinds = _columns(job, files[files.index(location) :], file, keeps_twins)
        return _existing_table(job, columns, inferred, types, file, kinds, files, has_log=False)
    for name in names:
        # Files of CarbonData are refused by the caller.
        if name.endswith((".carbondata", ".carbonindex")):
            return None
        stored = job.folder().stat(name)
        if stored is not None and stored.size:
            raise ValueError(f"{base}/{name} is no ORC file: rows are not added to a folder of other files")
    return None


def _columns(job: Job, files: Sequence[str], first: ORCFile, keeps_twins: bool) -> tuple[pa.Schema, dict[str, str]]:
    """The union of the columns of files, of which readers see those of the first one until the table has a log; and the
    result of :func:`orcish.writing.timestamps.timestamp_types` for them.

    Raises:
        ValueError: A column has no common type.
    """
    table = OrcFiles([TableFile(file, None, []) for file in files], None, "name", job.storage, None)
    opened = table.open({})
    try:
        union = unified_schema(opened, case_sensitive=True)
        union.check()
    except UnsupportedError as error:
        raise ValueError(f"the files of {job.root} have no common schema: {error}") from None
    except (CorruptFileError, FileNotFoundError):
        # Another file is no ORC file, or was just removed.
        others = [file for file, _ in _opened(files, job.storage)]
        if len(others) == len(files):
            raise
        return _columns(job, others, first, keeps_twins)
    # Columns that are an earlier one to readers that ignore case, or that compare ids, stay hidden.
    columns = without_twins(union.schema, fields_by_path(table.full_schema(opened)) if keeps_twins else ())
    kinds = timestamp_types(first)
    # Where one file does not store instants as ``timestamp``, readers that ignore Arrow types see instants, too.
    if any(kinds.get(path) == WALL for path in _instants(columns)):
        stored = table.full_schema(table.open({"arrow_schema": False}))
        kinds.update(dict.fromkeys(_instants(stored), INSTANT))
    return columns, kinds


def _instants(schema: pa.Schema) -> list[str]:
    """The columns of instants, by their dotted names."""
    types = {path: value_type(field.type) for path, field in fields_by_path(schema).items()}
    return [path for path, kind in types.items() if pa.types.is_timestamp(kind) and kind.tz is not None]


def _existing_table(
    job: Job,
    schema: pa.Schema,
    partition: Mapping[str, pa.Field],
    types: Mapping[str, pa.DataType],
    file: ORCFile,
    stored: dict[str, str],
    files: list[str],
    *,
    has_log: bool,
) -> ExistingTable:
    # Without a log, the types of readers are those of all files.
    has_types = has_arrow_schema(file) or (not has_log and not are_inferred(list(with_stored_types(schema, [stored]))))
    fields = tuple(partition.values())
    zone = file.metadata.get(TIMEZONE) if has_log else None
    logged = None if zone is None else zone.decode()
    return ExistingTable(job.root, schema, fields, types, stored, has_types, has_log, logged, files, job.storage)


def _check_names(fields: Iterable[pa.Field], above: str = "") -> None:
    """Checks that the names of columns, and those of fields of a struct, differ without regard to case: many readers,
    such as Spark, do not tell such columns apart.
    """
    seen: dict[str, str] = {}
    for field in fields:
        name = f"{above}{field.name}"
        if field.name.lower() in seen:
            other = seen[field.name.lower()]
            found = (
                f"columns {other!r} and {name!r} differ only by case" if other != name else f"{name!r} is there twice"
            )
            raise ValueError(f"{printable(found)[:MAX_SHOWN]}: rename one of the columns before the table is made")
        seen[field.name.lower()] = name
        _check_names_within(field.type, f"{name}.")


def _check_names_within(kind: Any, above: str) -> None:
    if pa.types.is_struct(kind):
        _check_names(kind, above)
        return
    for at in range(kind.num_fields):
        _check_names_within(kind.field(at).type, above)


def _logged_type(kind: Any, arrow_schema: bool) -> Any:
    """The type of a partition column in a log, given that of the rows; ``None`` if the log has no type.

    Without an Arrow schema, the types of the log are those of ORC, which has no times of day, no durations, and whose
    timestamps have the unit of the reader.
    """
    types = pa.types
    if arrow_schema:
        return kind
    if types.is_null(kind):
        return None
    if types.is_date64(kind):
        return pa.date32()
    is_time = types.is_time(kind) or types.is_duration(kind) or types.is_timestamp(kind)
    return pa.string() if is_time else kind


def schema_with(
    existing: ExistingTable | None,
    rows: pa.Schema,
    partition: Sequence[str],
    *,
    arrow_schema: bool,
    timezone: str | None = None,
) -> TableSchema:
    """The schema of a table after rows are added.

    Args:
        existing: The table before; ``None`` if it had no columns.
        rows: The schema with which the rows are written, partition columns included.
        partition: Names of all partition columns.
        arrow_schema: Whether files of a new table have an Arrow schema.
        timezone: Time zone of the writer of the rows. The log has that of the files, or of the rows where no file has
            one, for rows that are added after all others are gone.

    Raises:
        ValueError: Columns of a new table have one name, without regard to case, or there are too many columns.
    """
    columns = pa.schema([field for field in rows if field.name not in partition], rows.metadata)
    typed: list[pa.Field] = []
    if existing is None:
        _check_names(rows)
    else:
        # A stored column of the name of a partition column is hidden by it.
        own = pa.schema([field for field in existing.schema if field.name not in partition], existing.schema.metadata)
        columns = with_stored_types(extended_schema(own, columns), [existing.timestamp_types])
        typed = [_typed_partition(field, rows) for field in existing.partition]
        arrow_schema = existing.has_arrow_schema
    own_names = [field.name for field in typed]
    for field in rows:
        kind = _logged_type(field.type, arrow_schema)
        if field.name in partition and field.name not in own_names and kind is not None:
            typed.append(pa.field(field.name, kind))
    file = io.BytesIO()
    schema = fitted_metadata(pa.schema([*columns, *typed], columns.metadata), is_whole=False)
    ORCWriter(file, schema, arrow_schema=arrow_schema).close()
    if WALL in timestamp_types(ORCFile(file.getvalue())).values() and (zone := _timezone(existing, timezone)):
        file = io.BytesIO()
        ORCWriter(file, schema, arrow_schema=arrow_schema, metadata={TIMEZONE: zone}).close()
    made = TableSchema(file.getvalue(), list(partition))
    try:
        schema_file(made)
    except LimitExceededError:
        raise ValueError(
            f"the table would have {len(schema)} columns, whose names and types take more room than the log has for "
            "them: write fewer columns"
        ) from None
    return made


def _timezone(existing: ExistingTable | None, timezone: str | None) -> str | None:
    """The time zone of the writers of a table, given that of rows that are added."""
    # Zones that are not known are no zones of rows.
    with contextlib.suppress(UnsupportedError):
        return (None if existing is None else existing.writer_timezone()) or timezone
    return timezone


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


def _advice(own: pa.DataType, kind: pa.DataType) -> str:
    """What can be done about a value that is not one of the type of the table."""
    if pa.types.is_timestamp(own) and pa.types.is_timestamp(kind) and own.unit != kind.unit:
        return (
            f": cut the digits off, with cast(pyarrow.timestamp({kind.unit!r}), safe=False), or write to another table"
        )
    return ""


def cast_batch(batch: pa.RecordBatch, schema: pa.Schema, partition: Collection[str]) -> pa.RecordBatch:
    """The batch with the types and the metadata of a schema of the same columns.

    Args:
        batch: The batch.
        schema: The schema.
        partition: The partition columns, whose values are cast by their texts.

    Raises:
        ValueError: A value is not one of its new type.
    """
    if not batch.num_columns:
        # A new batch without columns would have no rows.
        return batch
    columns = []
    for column, field in zip(batch.columns, schema, strict=True):
        try:
            if column.type != field.type and field.name in partition:
                columns.append(cast_values(column, field.type))
            else:
                columns.append(cast_array(column, field.type, adds_fields=True))
        except (CastError, UnsupportedError) as error:
            raise ValueError(f"column {field.name}: {error}{_advice(column.type, field.type)}") from None
        except (ValueError, OrcishError) as error:
            raise ValueError(f"column {field.name} is {field.type} in the table: {error}") from None
    return pa.RecordBatch.from_arrays(columns, schema=schema)
