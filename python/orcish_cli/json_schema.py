"""``orcish json-schema``: the ORC type of JSON documents, and of files of other formats."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from orcish import ORCFile, UnsupportedError, _native
from orcish._native import Location
from orcish.arrow.exported import check_names, union_of_schemas
from orcish.arrow.nested import map_columns
from orcish.io.names import display_name
from orcish.terminal import printable
from orcish.writing.writer import file_of_schema

from orcish_cli.arguments import add_limit, add_storage, storage_of
from orcish_cli.formats import text_values
from orcish_cli.formats.bounded_file import BoundedFile
from orcish_cli.formats.csv_lines import csv_schema
from orcish_cli.formats.errors import errors_of_reading
from orcish_cli.formats.names import COMPRESSED, ENDINGS
from orcish_cli.formats.places import check_regular, open_bounded, open_input
from orcish_cli.formats.reading import open_arrow
from orcish_cli.formats.source_types import common_schema
from orcish_cli.formats.text_options import TextOptions, add_encoding, checked_encoding
from orcish_cli.formats.text_values import with_text
from orcish_cli.sources import is_carbon, opened_file, orc_files
from orcish_cli.terminal import print_lines, print_objects
from orcish_cli.type_tree import ColumnType, column_tree, flat_lines, pretty_lines, quoted, type_text

__all__ = ["add_arguments"]

_FORMATS = ("arrow", "csv", "json", "orc", "parquet")
_COMPRESSED = {**COMPRESSED, "lz4": "lz4"}
ARROW_FILE = b"ARROW1\0\0"
"""The first bytes of a file of Arrow IPC that is no stream."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Print the ORC type that holds the rows of files: of JSON documents, from all of their values, and of CSV, "
        "Parquet, Arrow and ORC files. Several files have one type."
    )
    command.epilog = (
        "Integers have the narrowest type that holds all values, numbers with a point are decimals, those with an "
        "exponent double. Text is a string, or a timestamp where all values are. Values of several kinds are a union. "
        "Columns of nulls only are strings. Types of CSV files come from their first 16 MB, and are those of convert."
    )
    command.add_argument(
        "files", nargs="+", metavar="FILE", help="a file, which may be compressed (.gz), a folder, a pattern, or a URL"
    )
    how = command.add_mutually_exclusive_group()
    how.add_argument("-f", "--flat", action="store_true", help="a line for each column, with its path")
    how.add_argument("-t", "--table", action="store_true", help="a declaration of a table of Hive")
    how.add_argument("-p", "--pretty", action="store_true", help="the type on several lines")
    how.add_argument("--json", action="store_true", help="one JSON object with the type, and those of the columns")
    command.add_argument("--format", choices=_FORMATS, help="format of the files (by their names; else json)")
    add_encoding(command)
    add_limit(command, "look at the first N documents of each file")
    command.add_argument("--dates", action="store_true", help="text of JSON like 2026-01-31 is a date")
    command.add_argument("--hex", action="store_true", help="text of JSON like 00ff is binary, as orc-tools has it")
    add_storage(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    column = _type(options)
    if options.json:
        columns = [{"name": child.name, "type": type_text(child)} for child in column.children]
        print_objects([{"type": type_text(column), "columns": columns if column.kind == "struct" else []}])
    elif options.flat:
        print_lines(map(printable, flat_lines(column)))
    elif options.table:
        print_lines(_table(column))
    elif options.pretty:
        print_lines(map(printable, pretty_lines(column)))
    else:
        print_lines([printable(type_text(column))])
    return 0


def _type(options: argparse.Namespace) -> ColumnType:
    storage = storage_of(options)
    documents = _native.JsonTypes(dates=options.dates, hexadecimal=options.hex)
    schemas: list[pa.Schema] = []
    orc: list[ORCFile] = []
    for name in options.files:
        if is_carbon(name, storage):
            raise ValueError(
                f"{display_name(name)}: json-schema is of files, and this is a table of CarbonData: schema prints its "
                "columns"
            )
    found = [(name, file) for name in options.files for file in orc_files(name, storage).files]
    names = [file for _, file in found]
    if not names:
        raise ValueError(f"no files: {', '.join(map(display_name, options.files))}")
    kinds = {_kind(name, options.format)[0] for name in names}
    encoding = checked_encoding(options.encoding)
    if options.encoding is not None and kinds != {"csv"}:
        raise ValueError(f"--encoding is of CSV, and not of {', '.join(sorted(kinds - {'csv'}))}")
    for of, name in found:
        kind, codec = _kind(name, options.format)
        with errors_of_reading(name):
            # Shells pass pipes as open files.
            if not (path := Location(name).path).startswith(("/dev/fd/", "/dev/stdin", "/proc/self/fd/")):
                check_regular(path)
            if kind == "orc":
                orc += filter(None, [opened_file(of, name, storage)])
            elif kind == "json":
                documents.add(_stream(name, codec, storage).read, block_size=text_values.BLOCK, limit=options.limit)
            else:
                schemas.append(_schema(name, kind, codec, storage, encoding))
                # Types that ORC has not are errors of this file.
                file_of_schema(with_text(schemas[-1]))
    is_json = "json" in kinds
    if is_json + bool(schemas) + bool(orc) > 1:
        raise ValueError("files of several formats: give those of one format, or --format")
    if is_json:
        return _of_documents("", documents.column())
    if not schemas and not orc:
        raise ValueError(f"{', '.join(map(display_name, names))}: there are no bytes, and so no columns")
    if len(orc) == 1:
        return column_tree(orc[0])
    if kinds == {"csv"} and len({tuple(sorted(schema.names)) for schema in schemas}) == 1:
        schemas = [common_schema(schemas, names, "csv", None)]
    schemas += _with_instants([file.arrow_schema(masked="allow") for file in orc])
    return column_tree(file_of_schema(with_text(union_of_schemas(schemas))))


def _of_documents(name: str, found: tuple[str, list[Any]]) -> ColumnType:
    """The type of JSON documents as a tree. Values that are all null have the type ``string``."""
    kind, children = found
    return ColumnType(name, "string" if kind == "null" else kind, {}, [_of_documents(*child) for child in children])


def _with_instants(schemas: list[pa.Schema]) -> list[pa.Schema]:
    """Schemas of ORC files in which the timestamps are instants of which one has instants, as in commands that read
    rows.
    """
    zones: dict[str, set[str | None]] = {}

    def look(field: pa.Field, path: str) -> pa.Field:
        if pa.types.is_timestamp(field.type):
            zones.setdefault(path, set()).add(field.type.tz)
        return field

    def change(field: pa.Field, path: str) -> pa.Field:
        if not pa.types.is_timestamp(field.type) or len(zones[path]) == 1:
            return field
        return field.with_type(pa.timestamp(field.type.unit, "UTC"))

    for schema in schemas:
        map_columns(schema, look)
    return [map_columns(schema, change) for schema in schemas]


def _kind(name: str, given: str | None) -> tuple[str, str | None]:
    """The format of a file, and its codec."""
    bare, _, suffix = name.lower().rpartition(".")
    codec = _COMPRESSED.get(suffix)
    if codec:
        suffix = bare.rpartition(".")[2]
    return given or ENDINGS.get(suffix, "json"), codec


def _stream(name: str, codec: str | None, storage: Mapping[str, str]) -> Any:
    path = Location(name).path
    if "://" in path:
        return pa.input_stream(open_input(name, storage), compression=codec)
    # pyarrow says in words of its own that a file is missing.
    os.stat(path)
    return pa.input_stream(path, compression=codec)


def _schema(name: str, kind: str, codec: str | None, storage: Mapping[str, str], encoding: str | None) -> pa.Schema:
    if kind == "csv":
        delimiter = "\t" if ".tsv" in name.lower() else ","
        text = TextOptions(delimiter=delimiter, encoding=encoding)
        return csv_schema(lambda: _stream(name, codec, storage), text)
    if codec:
        return _compressed_schema(name, kind, codec, storage)
    data = _stream(name, None, storage) if "://" in name else open_bounded(name, storage)
    if kind == "parquet":
        from pyarrow import parquet

        return parquet.read_schema(data)
    schema = open_arrow(data).schema
    check_names(schema)
    return schema


def _compressed_schema(name: str, kind: str, codec: str, storage: Mapping[str, str]) -> pa.Schema:
    """The columns of a compressed file of Arrow IPC. They are in front of the rows.

    Raises:
        UnsupportedError: The file is one of Parquet, whose columns are at its end.
    """
    if kind == "parquet":
        raise UnsupportedError("the columns of Parquet are at its end: decompress the file first")
    begin = pa.PythonFile(BoundedFile(_stream(name, codec, storage), None), mode="r").read(len(ARROW_FILE))
    data = BoundedFile(_stream(name, codec, storage), None)
    if begin == ARROW_FILE:
        # A stream follows.
        data.read(len(ARROW_FILE))
    schema = pa.ipc.open_stream(pa.PythonFile(data, mode="r")).schema
    check_names(schema)
    return schema


def _table(column: ColumnType) -> list[str]:
    if column.kind != "struct":
        raise ValueError(f"--table needs rows that are objects, and these are of type {type_text(column)}")
    lines = [printable(f"  {quoted(child.name)} {type_text(child)}") for child in column.children]
    return ["create table tbl (", *(f"{line}," for line in lines[:-1]), *lines[-1:], ") stored as orc"]
