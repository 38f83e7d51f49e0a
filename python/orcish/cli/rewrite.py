"""``orcish rewrite``: files and tables written anew, with other options, columns, rows or another order."""

from __future__ import annotations

import argparse
import os
from typing import Any

from orcish.cli.actions import WrongArgumentsError
from orcish.cli.arguments import (
    LIST,
    add_files,
    add_json,
    add_limit,
    add_partition_by,
    add_writing,
    chosen_writing,
    count,
    pair,
    size,
)
from orcish.cli.formats.converting import target_format
from orcish.cli.formats.names import ORC
from orcish.cli.formats.schemas import parse_type
from orcish.cli.meta_carbon import is_carbon
from orcish.cli.output import EXPECTED, fail, print_lines
from orcish.cli.rows import add_reading, open_rows
from orcish.cli.sources import is_several
from orcish.cli.targets import add_overwrite, check_no_source, check_target
from orcish.io.names import display_name
from orcish.io.paths import is_pattern, local_path
from orcish.reading.file import ORCFile
from orcish.reading.reader import BatchSource
from orcish.reading.scan import Scan, reader_of
from orcish.tables.changed_rows import ChangedRows, CountedRows
from orcish.tables.convert import infers_arrow_types
from orcish.tables.log.table import table_of
from orcish.tables.rewriting import kept_options
from orcish.tables.rewritten_table import rewrite_table
from orcish.tables.write import write_dataset
from orcish.terminal import json_line
from orcish.writing.sorting import DEFAULT_MEMORY, SortedRows, SortKey
from orcish.writing.timestamps import writer_timezones
from orcish.writing.writer import write_table

__all__ = ["add_arguments"]

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
    add_overwrite(command)
    command.add_argument(
        "--sort-by", **{**LIST, "metavar": "A,-B"}, help="columns to sort by; '-' before a name for descending order"
    )
    command.add_argument(
        "--memory", type=size, default=DEFAULT_MEMORY, metavar="SIZE", help="memory of the sort (512MB)"
    )
    command.add_argument("--temporary-folder", metavar="PATH", help="where the sort writes what is beyond the memory")
    command.add_argument(
        "--cast", type=pair, action="append", default=[], metavar="COLUMN=TYPE", help="a new type, such as id=bigint"
    )
    command.add_argument(
        "--rename", type=pair, action="append", default=[], metavar="COLUMN=NAME", help="a new name of a column"
    )
    command.add_argument("--drop", **LIST, default=[], help="columns that are left out")
    add_partition_by(command)
    command.add_argument("--max-rows-per-file", type=count, metavar="N", help="most rows of a file of a table")
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
    if options.overwrite:
        raise WrongArgumentsError("--overwrite is of --output")
    code = 0
    for source in options.files:
        try:
            print_lines(_lines(_in_place(source, options), options))
        except EXPECTED as error:
            code = fail(error)
    return code


def _lines(files: list[dict[str, Any]], options: argparse.Namespace) -> list[str]:
    if options.json:
        return [json_line(file, str) for file in files]
    rows, size = sum(file["rows"] for file in files), sum(file["bytes"] for file in files)
    where = f"{display_name(files[0]['path'])}: " if options.in_place and len(files) == 1 else ""
    return [f"{where}{rows:,} rows in {len(files):,} files, {size:,} bytes"]


def _in_place(source: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Replaces a file, or all files of a table."""
    storage = dict(options.storage_options)
    if is_carbon(source, storage):
        raise ValueError(f"{display_name(source)} is CarbonData, which is only read: --output writes ORC elsewhere")
    if is_pattern(local_path(source)):
        raise ValueError(f"{display_name(source)}: a pattern is not rewritten in place: give its files")
    if not is_several(source):
        _check_no_table(source)
        return _to_file([source], source, options)
    scan = _scan([source], options)
    written = rewrite_table(
        source,
        lambda path: _scan([path], options),
        lambda rows: _changed(rows, options),
        partition_by=_partition_by(scan, options),
        max_rows_per_file=options.max_rows_per_file,
        progress=not options.json,
        storage_options=storage,
        options=_file_options(scan, options),
    )
    return [file._asdict() for file in written]


def _check_no_table(source: str) -> None:
    """Checks that a file is none of a table with a log, whose readers rely on its bytes."""
    path = local_path(source)
    if "://" in path:
        return
    root, _ = table_of(os.path.dirname(os.path.abspath(path)))
    if os.path.isdir(f"{root}/_orcish/log"):
        raise ValueError(f"{display_name(source)} is a file of the table {display_name(root)}: rewrite the table")


def _written(sources: list[str], target: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Writes all sources as one file, or as one table."""
    form = target_format(target, None)
    if form not in (ORC, None):
        raise ValueError(f"{display_name(target)}: rewrite writes ORC: convert writes other formats")
    if form == ORC:
        check_target(target, dict(options.storage_options), overwrite=options.overwrite)
        return _to_file(sources, target, options)
    scan = _scan(sources, options)
    written = write_dataset(
        _changed(scan, options),
        target,
        partition_by=_partition_by(scan, options),
        max_rows_per_file=options.max_rows_per_file,
        existing_data="overwrite" if options.overwrite else "error",
        progress=not options.json,
        storage_options=dict(options.storage_options),
        **_file_options(scan, options),
    )
    return [file._asdict() for file in written]


def _to_file(sources: list[str], target: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    for name in ("partition_by", "max_rows_per_file"):
        if getattr(options, name) is not None:
            raise ValueError(f"--{name.replace('_', '-')} is of tables, and {display_name(target)} is a file")
    storage = dict(options.storage_options)
    scan = _scan(sources, options)
    if not options.in_place:
        check_no_source(target, scan.files)
    given = _file_options(scan, options)
    rows = _changed(scan, options)
    written = write_table(rows, target, progress=not options.json, storage_options=storage, **given)
    return [{"path": target, "rows": written.rows, "bytes": written.bytes}]


def _scan(sources: list[str], options: argparse.Namespace) -> Scan:
    """The rows that are written, without a loss of digits."""
    given = {} if options.timestamp_unit else {"timestamp_unit": "exact"}
    scan = open_rows(sources, options, as_stored=False, more=given)
    return scan if options.limit is None else scan.limit(options.limit)


def _changed(scan: Scan, options: argparse.Namespace) -> BatchSource:
    """The rows with other columns and in another order. Columns are named as in the source."""
    rows: BatchSource = scan
    casts = {name: parse_type(text) for name, text in options.cast}
    if casts or options.drop:
        rows = ChangedRows(rows, casts, None, options.drop)
    if options.sort_by:
        keys = [SortKey(name.removeprefix("-"), name.startswith("-")) for name in options.sort_by]
        rows = SortedRows(rows, keys, options.memory, options.temporary_folder)
    if options.rename:
        rows = ChangedRows(rows, None, dict(options.rename))
    return CountedRows(rows, scan.count) if options.verify else rows


def _partition_by(scan: Scan, options: argparse.Namespace) -> list[str]:
    """The partition columns of a table that is written, by their new names."""
    if options.partition_by is not None:
        return list(options.partition_by)
    renamed, names = dict(options.rename), scan.schema.names
    own = reader_of(scan).source.partition_columns
    return [renamed.get(name, name) for name in own if name in names and name not in options.drop]


def _file_options(scan: Scan, options: argparse.Namespace) -> dict[str, Any]:
    """Options of the files that are written: those that are given, and those of the first source."""
    given = chosen_writing(options)
    given |= {name: value for name in MORE_OPTIONS if (value := getattr(options, name)) is not None}
    if not scan.files or scan.files[0].endswith(".carbondata"):
        return given
    first = ORCFile(scan.files[0], storage_options=dict(options.storage_options))
    kept = kept_options(first, given)
    if infers_arrow_types(scan):
        # Readers infer the same types.
        kept.setdefault("arrow_schema", False)
    zones = writer_timezones(first) - {""}
    if len(zones) == 1:
        kept.setdefault("timezone", next(iter(zones)))
    return kept
