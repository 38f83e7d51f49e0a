"""``orcish schema``: the columns of files and tables, as types of ORC, Arrow or Spark."""

from __future__ import annotations

import argparse
import itertools
from typing import Any, NamedTuple

import pyarrow as pa
from orcish import ORCFile, scan
from orcish.reading.schema_file import schema_file
from orcish.reading.table_file import file_of_schema_of
from orcish.terminal import printable
from orcish.writing.writer import file_of_schema

from orcish_cli.arguments import add_files, add_json, add_storage, storage_of
from orcish_cli.ddl import spark_ddl
from orcish_cli.formats.schemas import arrow_text
from orcish_cli.json_statistics import described_columns
from orcish_cli.messages import Failures, shown_name
from orcish_cli.sources import is_carbon, is_several, orc_files
from orcish_cli.terminal import indented, json_line, print_lines
from orcish_cli.type_tree import ColumnType, column_tree, type_text

__all__ = ["add_arguments"]


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Print the columns of ORC files, of folders as tables, and of tables of CarbonData. The type of a folder is "
        "that of its log, or of its first file, as readers have it; its partition columns are not in the type of ORC."
    )
    add_files(command)
    how = command.add_mutually_exclusive_group()
    how.add_argument(
        "--arrow", action="store_true", help="the Arrow schema that orcish reads, partition columns included"
    )
    how.add_argument(
        "--spark", "--ddl", dest="spark", action="store_true", help="columns in the DDL of Spark, partition columns too"
    )
    add_json(command, "file or table")
    add_storage(command)
    command.set_defaults(run=_run)


class _Columns(NamedTuple):
    """The columns of a file or table."""

    name: str
    file: ORCFile
    """A file that has them, and maybe the partition columns."""
    partition: pa.Schema
    """The partition columns."""
    schema: pa.Schema
    """All columns."""

    @property
    def root(self) -> ColumnType:
        """The types of the columns, without the partition columns."""
        root = column_tree(self.file)
        if root.kind != "struct":
            return root
        return root._replace(children=[child for child in root.children if child.name not in self.partition.names])


def _run(options: argparse.Namespace) -> int:
    failures = Failures(options)
    for name in options.files:
        with failures.printed():
            lines = _lines(_columns(name, storage_of(options)), options)
            if len(options.files) > 1 and not options.json:
                lines = [shown_name(name), *indented(lines)]
            print_lines(lines)
    return failures.code


def _columns(name: str, storage: dict[str, str]) -> _Columns:
    if is_carbon(name, storage):
        schema = scan(name, storage_options=storage).schema
        return _Columns(name, file_of_schema(schema), pa.schema([]), schema)
    if not is_several(name):
        file = ORCFile(name, storage_options=storage)
        return _Columns(name, file, pa.schema([]), file.arrow_schema(masked="allow"))
    found, schema = orc_files(name, storage), scan(name, storage_options=storage, masked="allow").schema
    file = file_of_schema_of(found.files, storage) if found.schema is None else schema_file(found.schema)
    own = set(file.arrow_schema(masked="allow").names) - set(found.schema.partition if found.schema else ())
    return _Columns(name, file, pa.schema([field for field in schema if field.name not in own]), schema)


def _lines(columns: _Columns, options: argparse.Namespace) -> list[str]:
    if options.json:
        return [json_line(_described(columns, options))]
    if options.arrow:
        return [printable(arrow_text(field)) for field in columns.schema]
    if options.spark:
        lines = spark_ddl(columns.root, columns.partition)
        return [printable(line) + ("," if at < len(lines) else "") for at, line in enumerate(lines, 1)]
    return [printable(type_text(columns.root))]


def _described(columns: _Columns, options: argparse.Namespace) -> dict[str, Any]:
    of_files = described_columns(columns.file, arrow=False, statistics=False)
    described = {
        "file": shown_name(columns.name),
        **of_files,
        "type": type_text(columns.root),
        "columns": _with_ids_of_files(of_files["columns"], columns),
        "partition_columns": [field.name for field in columns.partition],
    }
    if options.arrow:
        described["arrow_schema"] = [{"name": field.name, "type": str(field.type)} for field in columns.schema]
    if options.spark:
        described["spark"] = ", ".join(spark_ddl(columns.root, columns.partition))
    return described


def _with_ids_of_files(described: list[dict[str, Any]], columns: _Columns) -> list[dict[str, Any]]:
    """The columns with the ids that they have in files, in which there are no partition columns."""
    names = set(columns.partition.names)
    is_partition = [each["parent"] == 0 and each["name"] in names for each in described]
    ids = [at - before for at, before in enumerate(itertools.accumulate(is_partition))]
    found = [
        {
            **each,
            "id": None if is_partition[at] else ids[at],
            "parent": None if each["parent"] is None else ids[each["parent"]],
        }
        for at, each in enumerate(described)
    ]
    return [{**found[0], "type": type_text(columns.root)}, *found[1:]]
