"""CarbonData tables in Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812

from orcish import _native
from orcish._native import Location
from orcish.arrow.exported import ExportedSchema
from orcish.arrow.nested import fields_by_path, map_columns
from orcish.carbon.source import CarbonSource
from orcish.errors import OrcishError
from orcish.filters.pushdown import Filters
from orcish.reading.scan import Scan, reader_of
from orcish.reading.scan_reader import ScanReader
from orcish.spark.columns import check_names, find_column, same_name
from orcish.spark.filters import filtered
from orcish.spark.options import TableOptions
from orcish.spark.schemas import arrow_schema, nullable, spark_schema

__all__ = ["Opened", "open_carbon"]


class Opened(NamedTuple):
    """A table that is open for reading."""

    scan: Scan
    schema: T.StructType
    names: tuple[str, ...]
    """Names of the columns in the scan."""


def open_carbon(options: TableOptions, schema: T.StructType | None, filters: Filters | None) -> Opened:
    """Opens a table; reads its metadata only.

    Args:
        options: Options of reading.
        schema: Columns and types, which have to hold the values of the table; by default those of the table.
        filters: A filter in addition to the option ``filters``.

    Raises:
        ValueError: An option is for ORC tables only; the schema or the predicate does not fit the columns.
        OrcishError: The table cannot be read.
    """
    _check_options(options)
    source = CarbonSource.at(Location(options.paths[0]).path, dict(options.storage), None, options.external_locations)
    scan = Scan(ScanReader(source, {"batch_size": options.batch_size}))
    stored = scan.schema
    check_names(stored.names, options.case_sensitive)
    own = spark_schema(stored)
    batch_schema = arrow_schema(own)
    selected = options.columns
    if selected is None and schema is not None:
        selected = tuple(_selected_columns(schema, own, options.case_sensitive))
    if selected is not None:
        found = [(find_column(name, batch_schema, options.case_sensitive), name) for name in selected]
        # For unknown columns, the error of the scan has the nearest names.
        scan = scan.select([name if column is None else column.name for column, name in found])
    scan = filtered(scan, batch_schema, stored, options, filters)
    reader_of(scan).check()
    read = spark_schema(scan.schema)
    if schema is not None:
        _check_schema(read, schema, options)
    made = schema if schema is not None and options.columns is None else read
    return Opened(scan, made, tuple(read.names))


def _check_options(options: TableOptions) -> None:
    if len(options.paths) > 1:
        raise ValueError(f"a table of CarbonData has one path, not {len(options.paths)}")
    refused = {
        "mergeSchema": options.merge_schema,
        "rowNumber": options.row_number is not None,
        "partitions": options.partitions is not None,
        "recursiveFileLookup": options.recursive_file_lookup,
        "invalidUtf8": "invalid_utf8" in options.values,
        "decimalOutOfRange": "decimal_out_of_range" in options.values,
        "longChar": "long_char" in options.values,
        "masked": "masked" in options.values,
        "keyProvider": options.key_provider is not None,
    }
    for name, is_given in refused.items():
        if is_given:
            raise ValueError(f"option {name} is for tables of ORC, and {options.paths[0]} is one of CarbonData")


def _selected_columns(given: T.StructType, own: T.StructType, case_sensitive: bool) -> Iterator[str]:
    """Dotted names of the columns and struct fields of a schema."""
    there = {same_name(field.name, case_sensitive): field.dataType for field in own}
    for field in given:
        kind = there.get(same_name(field.name, case_sensitive))
        if (
            isinstance(field.dataType, T.StructType)
            and isinstance(kind, T.StructType)
            and len(field.dataType) < len(kind)
        ):
            yield from (f"{field.name}.{name}" for name in _selected_columns(field.dataType, kind, case_sensitive))
        else:
            yield field.name


def _check_schema(read: T.StructType, given: T.StructType, options: TableOptions) -> None:
    """Raises ValueError for a schema that has other columns, or types that do not hold the values."""
    if options.columns is not None and len(read) != len(given):
        raise ValueError("a schema says which columns are read: option `columns` does not go with it")
    for own, field in zip(read, given, strict=True):
        if not _holds(field.dataType, own.dataType, options.case_sensitive):
            raise ValueError(
                f"column {own.name} is {own.dataType.simpleString()} in {options.paths[0]}, which is not read as "
                f"{field.dataType.simpleString()}"
            )


def _holds(given: T.DataType, own: T.DataType, case_sensitive: bool) -> bool:
    """Whether a type holds all values of another type, with the same fields of structs."""

    def schema(kind: T.DataType) -> pa.Schema:
        arrow = arrow_schema(nullable(T.StructType().add("c", kind)))
        return map_columns(arrow, lambda field, _: field.with_name(same_name(field.name, case_sensitive)))

    there, wanted = schema(own), schema(given)
    if fields_by_path(there).keys() != fields_by_path(wanted).keys():
        return False
    try:
        union = _native.unify_schemas(there.__arrow_c_schema__(), wanted.__arrow_c_schema__())
    except (OrcishError, ValueError):
        return False
    return bool(pa.schema(ExportedSchema(union)).equals(wanted))
