"""Tables as Spark reads them: opened on the driver, and split into task inputs."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import types as T  # noqa: N812

from orcish._native import has_carbon_metadata
from orcish.arrow.nested import fields_by_path, map_columns
from orcish.carbon.detect import has_carbon
from orcish.carbon.source import check_no_external
from orcish.encryption.keys import hidden, provider_of
from orcish.errors import OrcishError, UnknownColumnError, UnsupportedError
from orcish.filters.pushdown import Filters
from orcish.io.files import TableFile
from orcish.reading.orc_files import OrcFiles, unified_schema
from orcish.reading.orc_files import partition_schema as logged_partition
from orcish.reading.scan import Scan, reader_of
from orcish.reading.scan_reader import ScanReader
from orcish.reading.split_groups import group_splits
from orcish.spark.carbon import open_carbon
from orcish.spark.columns import check_names, equal_name, find_column, same_name
from orcish.spark.files import spark_files
from orcish.spark.filters import filtered
from orcish.spark.options import TableOptions, data_source_options, path_texts, to_text
from orcish.spark.partitions import partition_schema, with_typed_values
from orcish.spark.schemas import arrow_schema, nullable, scanned_schema, spark_schema
from orcish.spark.session import session_defaults
from orcish.spark.tasks import BatchConverter, TaskInput
from orcish.tables.log.schema import TableSchema
from orcish.types import StorageOptions
from orcish.writing.stored_types import (
    has_type,
    stored_conflicts,
    stored_field,
    times_of_several_units,
    types_by_path,
)
from orcish.writing.timestamps import INSTANT, WALL

__all__ = ["AS_STORED", "SparkTable", "open_table"]

AS_STORED: dict[str, Any] = {
    "arrow_schema": False,
    "unions": "struct",
    "timestamp_unit": "us",
    "timestamps": "instant",
    "strings": "utf8",
}
"""Options of all reads: types are those of the files, regardless of stored Arrow schemas."""


@dataclasses.dataclass(frozen=True)
class SparkTable:
    """A table that is open for reading."""

    scan: Scan
    schema: T.StructType
    """Schema of the selected columns."""
    names: tuple[str, ...]
    """Names of the columns in the scan."""
    options: TableOptions
    own_files: OrcFiles | None = None
    """The ORC files with the columns that they have, and no partition columns; ``None`` of CarbonData."""

    @classmethod
    def open(
        cls,
        options: TableOptions,
        schema: T.StructType | None = None,
        filters: Filters | None = None,
        files: list[TableFile] | None = None,
        is_carbon: bool | None = None,
        is_schema_inferred: bool | None = None,
    ) -> SparkTable:
        """Opens a table. Reads the tail of one file, or the metadata of a CarbonData table.

        Args:
            options: Options of reading.
            schema: Columns and types; by default those of the log, of the first file with bytes, or of all files.
            filters: A filter in addition to the option ``filters``.
            files: The files of the table; by default those at its paths.
            is_carbon: Whether this is a CarbonData table; detected by default.
            is_schema_inferred: Whether ``schema`` is that of the table, and not one that converts values; by default,
                where there is none.

        Raises:
            FileNotFoundError: There is no file.
            CommitError: The last commit is not finished, with ``pending="wait"``.
            ValueError: The option ``columns`` contradicts the schema; a name is ambiguous; the table has a column with
                the name of the option ``rowNumber``; the predicate does not fit the columns.
            OrcishError: The first file cannot be read, Spark's workers do not have a type, or the schemas of the files
                have no union; a selected column has times or durations of several units, which Spark has as numbers.
        """
        if is_carbon is None and files is None:
            is_carbon = len(options.paths) == 1 and has_carbon_metadata(options.paths[0], options.storage)
        logged = None
        if files is None and not is_carbon:
            files, logged, _ = spark_files(options)
        if files is None or has_carbon(files):
            return cls(*open_carbon(options, schema, filters), options)
        check_no_external(options.external_locations, "option externalLocations")
        if not files and logged is None:
            raise FileNotFoundError(f"no files: {', '.join(options.paths)}")
        own_files = _own_files(files, options, logged)
        stored, fault = _stored(own_files, options)
        if fault is not None and schema is None and options.columns is None:
            raise fault
        partition_types = {field.name: field.dataType for field in spark_schema(partition_schema(files))}
        if not files and logged is not None:
            # Without folders, nothing can be inferred.
            partition_types = {field.name: _partition_type(field) for field in logged_partition(logged)}
        if options.partition_column_type_inference is False:
            partition_types = dict.fromkeys(partition_types, T.StringType())
        table_schema = _table_schema(stored, partition_types, schema, options)
        batch_schema = arrow_schema(nullable(table_schema))
        scanned = scanned_schema(batch_schema)
        for at, field in enumerate(batch_schema):
            if field.name in partition_types:
                scanned = scanned.set(at, field)
        source = OrcFiles(
            with_typed_values(files, {field.name: field.type for field in batch_schema}, options.session_timezone),
            scanned,
            _matching(options, stored),
            options.storage,
            None,
            keys=None if options.key_provider is None else hidden(provider_of(options.key_provider)),
            is_schema_inferred=schema is None if is_schema_inferred is None else is_schema_inferred,
            is_schema_of_log=logged is not None,
        )
        read = {**spark_read_options(options), "batch_size": options.batch_size, "row_number": options.row_number}
        scan = Scan(ScanReader(source, read))
        if options.columns is not None:
            found_columns = [find_column(name, batch_schema, options.case_sensitive) for name in options.columns]
            if fault is not None and None in found_columns:
                raise fault
            named = zip(found_columns, options.columns, strict=True)
            # For unknown columns, the error of the scan has the nearest names.
            scan = scan.select([name if column is None else column.name for column, name in named])
        elif not set(partition_types) <= set(table_schema.names):
            scan = scan.select(*table_schema.names)
        scan = filtered(scan, batch_schema, scanned, options, filters)
        try:
            reader_of(scan).check()
        except UnknownColumnError as error:
            if fault is None:
                raise
            raise UnknownColumnError(f"{error}; not all columns can be read: {fault}") from error
        if logged is None:
            _check_units(own_files, scan.schema, options)
        found = _read(scan.schema, table_schema)
        if schema is not None and options.columns is not None and _types(found) != _types(schema):
            raise ValueError("a schema says which columns are read: option `columns` does not go with it")
        if schema is None or options.columns is not None:
            return cls(scan, found, tuple(found.names), options, own_files)
        names = tuple(equal_name(partition_types, name, options.case_sensitive) or name for name in schema.names)
        return cls(scan, schema, names, options, own_files)

    def inferred_partition_columns(self) -> list[str]:
        """Partition columns with types other than text, which are inferred unless a schema or an option says them."""
        source = reader_of(self.scan).source
        if not isinstance(source, OrcFiles) or self.options.partition_column_type_inference is not None:
            return []
        types = {field.name: field.dataType for field in self.schema}
        known = [name for name in source.partition_columns if name in types]
        return [name for name in known if not isinstance(types[name], T.StringType)]

    def instant_types(self) -> dict[str, str]:
        """The ORC types of the timestamp columns of ORC files, by their dotted names, as :func:`timestamp_types`. Reads
        the tail of one file, or of all files with ``mergeSchema``.
        """
        if self.own_files is None:
            return {}
        schema, _ = _stored(self.own_files, self.options, {"timestamps": "wall"})
        found: dict[str, str] = {}

        def seen(field: pa.Field, path: str) -> pa.Field:
            if pa.types.is_timestamp(field.type):
                found[path] = WALL if field.type.tz is None else INSTANT
            return field

        map_columns(schema, seen)
        return found

    def task_inputs(self) -> list[TaskInput]:
        """Splits the table into task inputs of about the requested size."""
        shape = BatchConverter(self.names, arrow_schema(self.schema))
        splits = self.scan.splits(self.options.split_size)
        return [
            TaskInput.of(part, shape) for part in group_splits(splits, self.options.split_size, self.options.min_splits)
        ]


def open_table(
    spark: SparkSession,
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    columns: Sequence[str] | None = None,
    filters: Filters | None = None,
    schema: T.StructType | None = None,
    options: Mapping[str, Any] | None = None,
    storage_options: StorageOptions | None = None,
    is_carbon: bool | None = None,
) -> SparkTable:
    """Opens a table.

    Args:
        spark: The session.
        path: A path or URL of a file or folder, a pattern, or several of them.
        columns: Dotted names of columns.
        filters: Which rows are read.
        schema: The columns and their types.
        options: :class:`~orcish.spark.options.SparkReadOptions`, or options of the data source by its own names.
        storage_options: Options of the object store.
        is_carbon: Whether this is a table of CarbonData; ``None`` finds out.
    """
    given = {**session_defaults(spark), "columns": columns, **(options or {}), "paths": path_texts(path)}
    parsed = TableOptions.of(data_source_options(given))
    if storage_options:
        # Unlike options of the data source, these may have any name.
        parsed = dataclasses.replace(parsed, storage={**parsed.storage, **to_text(storage_options)})
    return SparkTable.open(parsed, None if schema is None else nullable(schema), filters, is_carbon=is_carbon)


def spark_read_options(options: TableOptions) -> dict[str, Any]:
    """Options under which instants of ``timestamp`` are those of Spark's own reader."""
    return {**AS_STORED, **options.values, "timezone": options.timezone}


def _own_files(files: list[TableFile], options: TableOptions, logged: TableSchema | None) -> OrcFiles:
    columns = None if logged is None else logged._replace(shown=[])
    return OrcFiles([file._replace(partition=[]) for file in files], None, "name", options.storage, None, columns)


def _stored(
    source: OrcFiles, options: TableOptions, more: Mapping[str, Any] | None = None
) -> tuple[pa.Schema, OrcishError | None]:
    """The schema in the log, or that of the first file that is not empty, or the union of all schemas; and the error of
    columns that cannot be read, which it does not have. ``more`` has further options of reading.
    """
    types = {**AS_STORED, **options.values, **(more or {})}
    opened = source.open(types)
    if options.merge_schema and source.files:
        unified = unified_schema(opened, case_sensitive=options.case_sensitive)
        written = unified_schema(source.open({**types, "arrow_schema": True}), case_sensitive=options.case_sensitive)
        remaining = {path for path, _ in written.conflicts}
        for path, error in unified.conflicts:
            if path in remaining:
                raise error
        conflicts = {path for path, _ in unified.conflicts}
        return _beside_nulls(unified.schema, written.schema, conflicts, types), unified.fault
    if source.table_schema is None and len(source.files) > 1:
        stored = source.full_schema(opened)
        conflicts = stored_conflicts(source, opened, case_sensitive=options.case_sensitive)
        if conflicts or has_type(stored, pa.types.is_boolean):
            written = source.full_schema(source.open({**types, "arrow_schema": True}))
            stored = _beside_nulls(stored, written, conflicts, types)
        return stored, opened.fault
    return source.full_schema(opened), opened.fault


def _check_units(files: OrcFiles, selected: pa.Schema, options: TableOptions) -> None:
    """Raises the error of selected columns whose files have times or durations of several units, as numbers. The tails
    of all files are read, where a column has numbers that may be such.
    """
    types = types_by_path(selected)
    paths = {same_name(path, options.case_sensitive) for path, kind in types.items() if _may_be_time(kind)}
    if not paths:
        return
    intervals = {path: kind for path, kind in types.items() if pa.types.is_duration(kind)}
    others = times_of_several_units(files, options.values, intervals, case_sensitive=options.case_sensitive)
    for other in others.values():
        if same_name(other.column, options.case_sensitive) in paths:
            raise other.error()


def _may_be_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_int32(kind) or pa.types.is_int64(kind) or pa.types.is_duration(kind))


def _beside_nulls(
    stored: pa.Schema, written: pa.Schema, conflicts: Collection[str], types: Mapping[str, Any]
) -> pa.Schema:
    """The schema where columns that some files have only nulls in have the type of the other files: the Arrow type
    ``null`` is stored as ``boolean``.

    Args:
        stored: The union of the types as they are stored.
        written: The union of the Arrow types.
        conflicts: Columns that have the former not.
        types: Options of reading.
    """
    fields = fields_by_path(written)

    def fitted(field: pa.Field, path: str) -> pa.Field:
        other = fields.get(path)
        if other is None or pa.types.is_null(other.type):
            return field
        if pa.types.is_boolean(field.type) and not pa.types.is_boolean(other.type):
            return stored_field(other, types).with_name(field.name).with_nullable(field.nullable)
        return field.with_type(stored_field(other, types).type) if path in conflicts else field

    return map_columns(stored, fitted)


def _partition_type(field: pa.Field) -> T.DataType:
    """The type of a partition column without files."""
    try:
        return spark_schema(pa.schema([field]))[0].dataType
    except UnsupportedError:
        # Spark has no integers without sign.
        return T.StringType()


def _matching(options: TableOptions, stored: pa.Schema) -> Any:
    # Old versions of Hive did not record names.
    if len(stored) and all(name.startswith("_col") and name[4:].isdigit() for name in stored.names):
        return "position"
    return "name" if options.case_sensitive else "name_ignoring_case"


def _schema(fields: list[pa.Field], options: TableOptions) -> T.StructType:
    """The Spark types of columns, without unselected columns of unsupported types."""
    selected = [same_name(column, options.case_sensitive) for column in options.columns or ()]
    found: list[T.StructField] = []
    for field in fields:
        try:
            found += spark_schema(pa.schema([field]))
        except UnsupportedError:
            name = same_name(field.name, options.case_sensitive)
            if options.columns is None or any(column == name or column.startswith(f"{name}.") for column in selected):
                raise
    return T.StructType(found)


def _table_schema(
    stored: pa.Schema, partition_types: dict[str, T.DataType], given: T.StructType | None, options: TableOptions
) -> T.StructType:
    """The columns of the table, or those of a given schema, with the partition columns, and without row numbers.

    Raises:
        ValueError: A name is ambiguous, or is that of the option ``rowNumber``.
    """
    cs = options.case_sensitive
    if options.row_number is not None and equal_name([*stored.names, *partition_types], options.row_number, cs):
        raise ValueError(f"option rowNumber={options.row_number!r}: the table has a column of that name")
    own = [field for field in stored if not equal_name(partition_types, field.name, cs)]
    if given is None:
        check_names([*(field.name for field in own), *partition_types], cs)
    if given is not None and options.columns is None:
        check_names(given.names, cs)
        fields = [(equal_name(partition_types, f.name, cs) or f.name, f.dataType, f.nullable) for f in given]
        found = T.StructType([T.StructField(*field) for field in fields])
    else:
        found = T.StructType([*_schema(own, options), *_fields(partition_types)])
        found = found if given is None else _with_types(list(found), given, options)
    return T.StructType([field for field in found if field.name != options.row_number])


def _fields(types: dict[str, T.DataType]) -> list[T.StructField]:
    return [T.StructField(name, kind, True) for name, kind in types.items()]


def _with_types(fields: Sequence[T.StructField], given: T.StructType, options: TableOptions) -> T.StructType:
    """Columns with the types of a schema, which may have some of them, and additional ones."""
    found = {field.name: field.dataType for field in fields}
    for field in given:
        name = equal_name(found, field.name, options.case_sensitive) or field.name
        found[name] = _with_type(found.get(name), field.dataType, options)
    return T.StructType(_fields(found))


def _with_type(found: T.DataType | None, given: T.DataType, options: TableOptions) -> T.DataType:
    if isinstance(found, T.StructType) and isinstance(given, T.StructType):
        return _with_types(list(found), given, options)
    if isinstance(found, T.ArrayType) and isinstance(given, T.ArrayType):
        return T.ArrayType(_with_type(found.elementType, given.elementType, options), True)
    if isinstance(found, T.MapType) and isinstance(given, T.MapType):
        return T.MapType(given.keyType, _with_type(found.valueType, given.valueType, options), True)
    return given


def _types(schema: T.StructType) -> list[tuple[str, str]]:
    return [(field.name, field.dataType.simpleString()) for field in schema]


def _read(scanned: pa.Schema, table_schema: T.StructType) -> T.StructType:
    """The Spark types of the columns of a scan, which may have some fields of structs only."""
    there = {field.name: field.dataType for field in table_schema}
    fields = [T.StructField(f.name, _part(f.type, there.get(f.name, T.LongType())), True) for f in scanned]
    return T.StructType(fields)


def _part(read: pa.DataType, table_type: T.DataType) -> T.DataType:
    if isinstance(table_type, T.StructType):
        return _read(pa.schema(list(read)), table_type)
    if isinstance(table_type, T.ArrayType):
        return T.ArrayType(_part(read.value_type, table_type.elementType), True)
    if isinstance(table_type, T.MapType):
        return T.MapType(_part(read.key_type, table_type.keyType), _part(read.item_type, table_type.valueType), True)
    return table_type
