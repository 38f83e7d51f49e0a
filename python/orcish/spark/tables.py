"""Tables as a Spark job reads them: opened on the driver, cut into splits, and read in the workers."""

from __future__ import annotations

import dataclasses
import pickle
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812

from orcish.errors import OrcishError, UnsupportedError
from orcish.filters import Filters
from orcish.scan import Scan, Split
from orcish.sources import Table, TableFile, files_of
from orcish.spark.batches import Shape
from orcish.spark.commit import finish_commits, is_folder
from orcish.spark.filesystems import foreign_files, is_foreign
from orcish.spark.options import TableOptions
from orcish.spark.partitions import partition_types, scanned_as
from orcish.spark.types import arrow_schema, spark_schema, with_instants

__all__ = ["SparkTable", "Work", "finish_tables", "folder_above", "packed"]

AS_STORED: dict[str, Any] = {"arrow_schema": False, "unions": "struct", "timestamp_unit": "us", "strings": "utf8"}
"""How all is read: with the types of the files, whatever Arrow types these were written with."""
OPEN_BYTES = 4 << 20
"""What opening a file is worth, in bytes that are read."""


@dataclasses.dataclass(frozen=True)
class SparkTable:
    """A table and what is read of it."""

    scan: Scan
    schema: T.StructType
    """Of what is read."""
    names: tuple[str, ...]
    """How the scan calls its columns."""
    options: TableOptions

    @classmethod
    def open(
        cls,
        options: TableOptions,
        schema: T.StructType | None = None,
        filters: Filters | None = None,
        files: list[TableFile] | None = None,
    ) -> SparkTable:
        """Opens a table, of which no more than the tail of one file is read.

        Args:
            options: What is read, and how.
            schema: The columns that are read and their types; by default they are those of the first file, or of all
                files together.
            filters: Which rows are read, beside option `where`.
            files: Those of the table; by default what is found at its paths.

        Raises:
            FileNotFoundError: There is no file.
            ValueError: Option `columns` names other columns than the schema.
            OrcishError: The first file cannot be read, or has a type that Spark's workers have not.
        """
        files = _files(options) if files is None else files
        if not files:
            raise FileNotFoundError(f"no files: {', '.join(options.paths)}")
        stored = _stored(files, options)
        by_folder = partition_types(files)
        if schema is None:
            own = [field for field in stored if not _find(by_folder, field.name, options)]
            wanted = T.StructType([*_schema(own, options.columns), *_fields(by_folder)])
        elif options.columns is not None:
            own = [field for field in stored if not _find(by_folder, field.name, options)]
            wanted = _with_types([*_schema(own, options.columns), *_fields(by_folder)], schema, options)
        else:
            wanted = _renamed(schema, by_folder, options)
        # Numbers of rows are in no file.
        wanted = T.StructType([field for field in wanted if field.name != options.row_index])
        scanned = with_instants(arrow_schema(wanted), stored)
        scanned = pa.schema([f.with_type(scanned_as(f.type)) if f.name in by_folder else f for f in scanned])
        table = Table(files, scanned, _matching(options, stored), options.storage, None)
        scan = Scan(table, {**AS_STORED, "batch_size": options.batch_rows, "row_number": options.row_index})
        if options.columns is not None:
            scan = scan.select(*options.columns)
        elif not set(by_folder) <= set(wanted.names):
            scan = scan.select(*wanted.names)
        scan = scan.where(options.where).where(filters)
        scan._check()
        found = _read(scan.schema, wanted)
        if schema is not None and options.columns is not None and _types(found) != _types(schema):
            raise ValueError("a schema says which columns are read: option `columns` does not go with it")
        if schema is None or options.columns is not None:
            return cls(scan, found, tuple(found.names), options)
        return cls(scan, schema, tuple(_find(by_folder, name, options) or name for name in schema.names), options)

    def work(self) -> list[Work]:
        """What is read, in parts of about the size that is asked for, each of which a task reads."""
        shape = Shape(self.names, arrow_schema(self.schema), self.options.timezone)
        splits = self.scan.splits(self.options.split_bytes)
        return [Work.of(part, shape) for part in packed(splits, self.options.split_bytes, self.options.min_splits)]


@dataclasses.dataclass(frozen=True)
class Work:
    """What a task reads: splits, with the tails of their files, as compressed bytes."""

    packed: bytes
    rows: int
    size: int

    @classmethod
    def of(cls, splits: Sequence[Split], shape: Shape) -> Work:
        """Of some splits."""
        data = zlib.compress(pickle.dumps((list(splits), shape)), 1)
        return cls(data, sum(split.rows for split in splits), sum(split.size for split in splits))

    def batches(self, threads: int = 1) -> Iterator[pa.RecordBatch]:
        """The rows, with the types that Spark wants.

        Raises:
            OrcishError: A file cannot be read; the message names it.
        """
        splits, shape = cast("tuple[list[Split], Shape]", pickle.loads(zlib.decompress(self.packed)))
        for split in splits:
            for batch in Scan(split.table, {**split.options, "threads": threads}).to_batches():
                try:
                    shaped = shape.of(batch)
                except pa.ArrowException as error:
                    raise OrcishError(f"{split.location}: {error}") from error
                yield shaped


def packed(splits: Sequence[Split], size: int, least: int) -> list[list[Split]]:
    """Splits put together, in their order, so that no part is much larger than `size` bytes, and all are about equal.

    Args:
        splits: What is put together.
        size: Most bytes of a part; a split that is larger is a part by itself.
        least: How many parts there should be at least.
    """
    total = sum(split.size + OPEN_BYTES for split in splits)
    parts: list[list[Split]] = []
    last = -1
    count = max(-(-total // max(size, 1)), least, 1)
    end = 0
    for split in splits:
        middle = end + (split.size + OPEN_BYTES) // 2
        # The part in which its middle lies.
        at = min(middle * count // max(total, 1), count - 1)
        end += split.size + OPEN_BYTES
        if at != last:
            parts.append([])
        parts[-1].append(split)
        last = at
    return parts


def _files(options: TableOptions) -> list[TableFile]:
    found = []
    for path in options.paths:
        if is_foreign(path):
            found += foreign_files(path, options.partitions)
            continue
        finish_tables(path, options)
        found += files_of(path, options.partitions, options.storage)
    return found


def finish_tables(path: str, options: TableOptions) -> None:
    """Finishes commits to the folders that may be those of the table: the one that is named, and the one above
    partitions and patterns.
    """
    above = folder_above(path, "=*?[")
    folders = [path] if above is None else [above] if any(sign in path for sign in "*?[") else [above, path]
    for folder in filter(is_folder, folders):
        finish_commits(folder, options.storage)


def folder_above(path: str, signs: str) -> str | None:
    """The folder above the first part of a path that has one of some signs."""
    parts = path.split("/")
    at = next((at for at, part in enumerate(parts) if any(sign in part for sign in signs)), None)
    return None if at is None else "/".join(parts[:at]) or ("/" if path.startswith("/") else ".")


def _stored(files: list[TableFile], options: TableOptions) -> pa.Schema:
    """The columns of the files: those of the first, or of all together."""
    of = files if options.merge_schema else files[:1]
    merged: pa.Schema | None = None
    for file in of:
        table = Table([file._replace(partition=[])], None, "name", options.storage, None)
        schema = Scan(table, dict(AS_STORED)).schema
        try:
            merged = schema if merged is None else pa.unify_schemas([merged, schema], promote_options="permissive")
        except pa.ArrowException as error:
            raise OrcishError(
                f"{file.location}: its columns do not go with those of the files before: {error}"
            ) from error
    assert merged is not None
    return merged


def _matching(options: TableOptions, stored: pa.Schema) -> Any:
    # Hive of old named columns by their numbers.
    if len(stored) and all(name.startswith("_col") and name[4:].isdigit() for name in stored.names):
        return "position"
    return "name" if options.case_sensitive else "name_ignoring_case"


def _find(names: Any, name: str, options: TableOptions) -> str | None:
    """The name that is meant among others."""
    if options.case_sensitive:
        return name if name in names else None
    return next((found for found in names if found.lower() == name.lower()), None)


def _schema(fields: list[pa.Field], columns: Sequence[str] | None) -> T.StructType:
    """The types of columns, without those that Spark cannot hold and nobody has asked for."""
    asked = {column.partition(".")[0].strip('`"').lower() for column in columns or ()}
    found: list[T.StructField] = []
    for field in fields:
        try:
            found += spark_schema(pa.schema([field]))
        except UnsupportedError:
            if columns is None or field.name.lower() in asked:
                raise
    return T.StructType(found)


def _fields(types: dict[str, T.DataType]) -> list[T.StructField]:
    return [T.StructField(name, kind, True) for name, kind in types.items()]


def _renamed(schema: T.StructType, by_folder: dict[str, T.DataType], options: TableOptions) -> T.StructType:
    return T.StructType(
        [T.StructField(_find(by_folder, f.name, options) or f.name, f.dataType, f.nullable) for f in schema]
    )


def _with_types(fields: Sequence[T.StructField], given: T.StructType, options: TableOptions) -> T.StructType:
    """The columns of files and folders with the types of a schema, which may have parts of them, and others."""
    found = {field.name: field.dataType for field in fields}
    for field in given:
        name = _find(found, field.name, options) or field.name
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


def _read(scanned: pa.Schema, wanted: T.StructType) -> T.StructType:
    """The types of what is read of columns: parts of structs may be left out."""
    there = {field.name: field.dataType for field in wanted}
    fields = [T.StructField(f.name, _part(f.type, there.get(f.name, T.LongType())), True) for f in scanned]
    return T.StructType(fields)


def _part(read: pa.DataType, wanted: T.DataType) -> T.DataType:
    if isinstance(wanted, T.StructType):
        return _read(pa.schema(list(read)), wanted)
    if isinstance(wanted, T.ArrayType):
        return T.ArrayType(_part(read.value_type, wanted.elementType), True)
    if isinstance(wanted, T.MapType):
        return T.MapType(_part(read.key_type, wanted.keyType), _part(read.item_type, wanted.valueType), True)
    return wanted
