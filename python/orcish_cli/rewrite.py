"""``orcish rewrite``: files and tables written anew, with other options, columns, rows or another order."""

from __future__ import annotations

import argparse
import os
from typing import Any

import pyarrow as pa
from orcish import Scan
from orcish._native import Location
from orcish.io.names import display_name
from orcish.tables.log.table import check_no_file_of_table
from orcish.tables.rewrite import DEFAULT_MEMORY, Rewrite
from orcish.types import WriteOptions, Written

from orcish_cli.arguments import (
    LIST,
    add_existing,
    add_files,
    add_json,
    add_limit,
    add_option,
    add_options,
    add_partition_by,
    add_writing,
    chosen,
    chosen_writing,
    size,
    storage_of,
    table_bounds,
)
from orcish_cli.column_names import renames, sort_keys, types
from orcish_cli.formats.names import ORC, named
from orcish_cli.formats.schemas import parse_type, with_units
from orcish_cli.messages import Failures
from orcish_cli.parser import WrongArgumentsError
from orcish_cli.reading import add_reading, open_rows
from orcish_cli.sources import is_carbon, is_several
from orcish_cli.targets import check_new_file, check_orc_name
from orcish_cli.terminal import json_line, print_lines, written_json

__all__ = ["add_arguments"]

ADVICE = "--in-place writes a table anew in its place; other targets are outside of the source"
MORE_OPTIONS = ("stripe_size", "row_index_stride", "compression_block_size", "bloom_filter_fpp")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Write ORC files and tables anew: with another codec or other options, sorted, with other columns or types, or "
        "only some rows. Codec, user metadata, row groups and version stay where nothing else is asked for. What was "
        "written is read and compared before it appears."
    )
    add_files(command)
    where = command.add_mutually_exclusive_group(required=True)
    where.add_argument("-o", "--output", metavar="TARGET", help="the file or folder that is written, or its URL")
    where.add_argument("--in-place", action="store_true", help="replace the files, or all files of the tables")
    add_existing(command)
    command.add_argument(
        "--sort-by",
        **{**LIST, "type": sort_keys, "metavar": "A,-B"},
        help="columns to sort by; '-' before a name for descending order",
    )
    command.add_argument(
        "--memory", type=size, default=DEFAULT_MEMORY, metavar="SIZE", help="memory of the sort (512MB)"
    )
    command.add_argument("--temporary-folder", metavar="PATH", help="where the sort writes what is beyond the memory")
    command.add_argument(
        "--cast",
        type=types,
        action="extend",
        default=[],
        metavar="A=TYPE,B=TYPE",
        help="new types, such as id=bigint,total=decimal(10,2); a comma that NAME= follows begins the next one",
    )
    command.add_argument(
        "--rename",
        type=renames,
        action="extend",
        default=[],
        metavar="A=NAME,B=NAME",
        help="new names of columns, likewise",
    )
    command.add_argument("--drop", **LIST, default=[], help="columns that are left out")
    add_partition_by(command)
    add_writing(command, "that of the source", verify=True)
    add_option(command, WriteOptions, "row_index_stride", usual="that of the source")
    add_options(command, WriteOptions, "stripe_size", "compression_block_size", "bloom_filter_fpp")
    add_limit(command, "most rows that are written, the first ones before any sort")
    add_json(command, "file")
    add_reading(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if not options.in_place:
        print_lines(_lines(_written(options.files, options.output, options), options))
        return 0
    if options.existing_data != "error":
        raise WrongArgumentsError("--existing-data is of --output")
    failures = Failures(options)
    for source in options.files:
        with failures.printed():
            print_lines(_lines(_in_place(source, options), options))
    return failures.code


def _lines(files: list[dict[str, Any]], options: argparse.Namespace) -> list[str]:
    if options.json:
        return [json_line(file, str) for file in files]
    rows, size = sum(file["rows"] for file in files), sum(file["bytes"] for file in files)
    where = f"{display_name(files[0]['file'])}: " if options.in_place and len(files) == 1 else ""
    return [f"{where}{rows:,} rows in {len(files):,} files, {size:,} bytes"]


def _in_place(source: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Replaces a file, or all files of a table."""
    storage = storage_of(options)
    if is_carbon(source, storage):
        raise ValueError(f"{display_name(source)} is CarbonData, which is only read: --output writes ORC elsewhere")
    if Location(source).is_pattern:
        raise ValueError(f"{display_name(source)}: a pattern is not rewritten in place: give its files")
    if is_several(source):
        return list(map(written_json, _rewrite(options).replace_table(source)))
    check_no_file_of_table(source, storage, "rewrite the table")
    _check_file_options(source, options)
    return _file_json(source, _rewrite(options).replace_file(source))


def _written(sources: list[str], target: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Writes all sources as one file, or as one table."""
    is_folder = os.path.isdir(Location(target).path)
    if not is_folder:
        check_orc_name(target, "rewrite")
    if is_folder or named(target).format != ORC:
        return list(map(written_json, _rewrite(options).write_table(sources, target, options.existing_data)))
    check_new_file(target, storage_of(options), options.existing_data)
    _check_file_options(target, options)
    return _file_json(target, _rewrite(options).write_file(sources, target, options.existing_data))


def _file_json(target: str, written: Written) -> list[dict[str, Any]]:
    return [{"file": target, "rows": written.rows, "bytes": written.bytes}]


def _check_file_options(target: str, options: argparse.Namespace) -> None:
    """Checks that there are no options of tables."""
    for name in ("partition_by", "max_rows_per_file", "max_partitions"):
        if getattr(options, name) is not None:
            raise ValueError(f"--{name.replace('_', '-')} is of tables, and {display_name(target)} is a file")
    if options.existing_data not in ("error", "overwrite"):
        text = f"--existing-data {options.existing_data} is of tables, and {display_name(target)} is a file"
        raise WrongArgumentsError(text)


def _rewrite(options: argparse.Namespace) -> Rewrite:
    """What is written, by the arguments."""
    return Rewrite(
        lambda sources: _scan(sources, options),
        lambda scan: _casts(scan, options),
        ADVICE,
        has_columns=options.columns is not None,
        renamed=dict(options.rename),
        dropped=options.drop,
        sort_by=options.sort_by or (),
        memory=options.memory,
        temporary_folder=options.temporary_folder,
        is_counted=options.verify,
        partition_by=options.partition_by,
        bounds=table_bounds(options),
        options={**chosen_writing(options), **chosen(options, *MORE_OPTIONS)},
        progress=not options.json,
        storage_options=storage_of(options),
    )


def _scan(sources: list[str], options: argparse.Namespace) -> Scan:
    """The rows that are written, without a loss of digits, and with the units of timestamps that readers see."""
    scan = open_rows(sources, options, as_stored=False, keeps_units=True)
    return scan if options.limit is None else scan.limit(options.limit)


def _casts(scan: Scan, options: argparse.Namespace) -> dict[str, pa.Field]:
    """The new types of columns. Timestamps keep their units where the new type has none."""
    units = {field.name: field.type.unit for field in scan.schema if pa.types.is_timestamp(field.type)}
    return {name: with_units(parse_type(text), units.get(name)) for name, text in options.cast}
