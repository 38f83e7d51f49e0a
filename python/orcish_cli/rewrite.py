"""``orcish rewrite``: files and tables written anew, with other options, columns, rows or another order."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any, get_args

import pyarrow as pa
from orcish import Scan, write_dataset, write_table
from orcish.io.names import display_name
from orcish.io.paths import is_pattern, local_path
from orcish.reading.reader import BatchSource
from orcish.reading.scan import reader_of
from orcish.reading.table_file import file_of_schema_of
from orcish.tables.apart import check_apart
from orcish.tables.changed_rows import ChangedRows, ChosenRows, CountedRows, NamedRows
from orcish.tables.inferred_types import infers_written_types
from orcish.tables.log.conflicts import reading
from orcish.tables.log.table import check_no_file_of_table
from orcish.tables.rewriting import kept_options
from orcish.tables.rewritten_table import rewrite_table
from orcish.types import ExistingData
from orcish.writing.replaced_file import ReplacedFile
from orcish.writing.sorting import DEFAULT_MEMORY, SortedRows, SortKey
from orcish.writing.timestamps import writer_timezones

from orcish_cli.arguments import (
    LIST,
    add_existing,
    add_files,
    add_json,
    add_limit,
    add_partition_by,
    add_writing,
    chosen,
    chosen_writing,
    count,
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
from orcish_cli.targets import check_orc_name, check_target
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
    add_existing(command, get_args(ExistingData))
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
    add_writing(command, codec="that of the source", verify=True)
    command.add_argument("--stripe-size", type=size, metavar="SIZE", help="stored bytes of a stripe (64MB)")
    command.add_argument("--row-index-stride", type=count, metavar="N", help="rows of a row group (that of the source)")
    command.add_argument("--compression-block-size", type=size, metavar="SIZE", help="bytes of a chunk (256KB)")
    command.add_argument("--bloom-filter-fpp", type=float, metavar="P", help="false positives of bloom filters (0.01)")
    add_limit(command, "most rows that are written, the first ones before any sort (all)")
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
    if is_pattern(local_path(source)):
        raise ValueError(f"{display_name(source)}: a pattern is not rewritten in place: give its files")
    if not is_several(source):
        check_no_file_of_table(source, storage, "rewrite the table")
        return _to_file([source], source, options, ReplacedFile(source, storage))
    scan = _scan([source], options)
    with reading(source, storage, scan.files):
        written = rewrite_table(
            source,
            scan,
            lambda path: _scan([path], options),
            lambda rows: _changed(rows, options),
            partition_by=_partition_by(scan, options),
            progress=not options.json,
            storage_options=storage,
            **table_bounds(options),
            options=_file_options(scan, options),
        )
    return list(map(written_json, written))


def _written(sources: list[str], target: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Writes all sources as one file, or as one table."""
    is_folder = os.path.isdir(local_path(target))
    if not is_folder:
        check_orc_name(target, "rewrite")
    if not is_folder and named(target).format == ORC:
        check_target(target, storage_of(options), overwrite=options.existing_data == "overwrite")
        return _to_file(sources, target, options)
    scan = _scan(sources, options)
    storage = storage_of(options)
    check_apart(sources, scan.files, target, is_folder=True, advice=ADVICE, storage=storage)
    with reading(sources, storage, scan.files):
        written = write_dataset(
            _changed(scan, options),
            target,
            partition_by=_partition_by(scan, options),
            existing_data=options.existing_data,
            progress=not options.json,
            storage_options=storage,
            **table_bounds(options),
            **_file_options(scan, options),
        )
    return list(map(written_json, written))


def _to_file(
    sources: list[str], target: str, options: argparse.Namespace, replaced: ReplacedFile | None = None
) -> list[dict[str, Any]]:
    """Writes a file, or one in the place of another."""
    for name in ("partition_by", "max_rows_per_file", "max_partitions"):
        if getattr(options, name) is not None:
            raise ValueError(f"--{name.replace('_', '-')} is of tables, and {display_name(target)} is a file")
    if options.existing_data not in ("error", "overwrite"):
        text = f"--existing-data {options.existing_data} is of tables, and {display_name(target)} is a file"
        raise WrongArgumentsError(text)
    storage = storage_of(options)
    scan = _scan(sources, options)
    if replaced is None:
        check_apart(sources, scan.files, target, is_folder=False, advice=ADVICE, storage=storage)
    given = _file_options(scan, options)
    rows = _changed(scan, options)
    progress = not options.json
    if replaced is None:
        overwrite = options.existing_data == "overwrite"
        written = write_table(rows, target, overwrite=overwrite, progress=progress, storage_options=storage, **given)
    else:
        written = replaced.write(rows, progress=progress, options=given)
    return [{"file": target, "rows": written.rows, "bytes": written.bytes}]


def _scan(sources: list[str], options: argparse.Namespace) -> Scan:
    """The rows that are written, without a loss of digits."""
    scan = open_rows(sources, options, as_stored=False)
    return scan if options.limit is None else scan.limit(options.limit)


def _changed(scan: Scan, options: argparse.Namespace) -> BatchSource:
    """The rows with other columns and in another order. Columns are named as in the source. Rows may be sorted by
    columns that are left out.
    """
    keys = [SortKey(*key) for key in options.sort_by or ()]
    names = list(dict.fromkeys(key.name for key in keys))
    sorted_by = {name.partition(".")[0] for name in names} | set(names)
    rows: BatchSource = scan if options.columns is None else _with_columns(scan, names)
    casts = _casts(scan, options)
    early = [name for name in options.drop if name not in sorted_by]
    late = [name for name in options.drop if name in sorted_by]
    if casts or early:
        rows = ChangedRows(rows, casts, None, early)
    if keys:
        rows = SortedRows(rows, keys, options.memory, options.temporary_folder)
    if options.columns is not None and keys:
        rows = ChosenRows(rows, scan.schema, casts)
    if options.rename or late:
        rows = ChangedRows(rows, None, dict(options.rename), late)
    if rows is not scan and scan.files:
        names = list(map(display_name, scan.files))
        rows = NamedRows(rows, names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more", names)
    return CountedRows(rows, scan.count) if options.verify else rows


def _casts(scan: Scan, options: argparse.Namespace) -> dict[str, pa.Field]:
    """The new types of columns. Timestamps keep their units where the new type has none."""
    units = {field.name: field.type.unit for field in scan.schema if pa.types.is_timestamp(field.type)}
    return {name: with_units(parse_type(text), units.get(name)) for name, text in options.cast}


def _with_columns(scan: Scan, names: Sequence[str]) -> Scan:
    """The scan with further columns behind its own."""
    reader = reader_of(scan)
    own = reader.options["columns"]
    return Scan(reader.with_options(columns=[*own, *(name for name in names if name not in own)]))


def _partition_by(scan: Scan, options: argparse.Namespace) -> list[str]:
    """The partition columns of a table that is written, by their new names."""
    if options.partition_by is not None:
        return list(options.partition_by)
    renamed, names = dict(options.rename), scan.schema.names
    own = reader_of(scan).source.partition_columns
    return [renamed.get(name, name) for name in own if name in names and name not in options.drop]


def _file_options(scan: Scan, options: argparse.Namespace) -> dict[str, Any]:
    """Options of the files that are written: those that are given, and those of the first source."""
    given = {**chosen_writing(options), **chosen(options, *MORE_OPTIONS)}
    if not scan.files or scan.files[0].endswith(".carbondata"):
        return given
    first = file_of_schema_of(scan.files, storage_of(options))
    kept = kept_options(first, given)
    if infers_written_types(scan, _casts(scan, options), options.drop, first):
        # Readers infer the same types.
        kept.setdefault("arrow_schema", False)
    zones = writer_timezones(first) - {""}
    if len(zones) == 1:
        kept.setdefault("timezone", next(iter(zones)))
    return kept
