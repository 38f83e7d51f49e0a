"""``orcish convert``: writes a table as a folder of ORC files."""

from __future__ import annotations

import argparse
from typing import get_args

from orcish.cli.arguments import (
    LIST,
    add_external,
    add_filters,
    add_partition_by,
    add_storage,
    add_timestamps,
    add_values,
    add_writing,
    chosen_writing,
    count,
)
from orcish.cli.output import print_lines
from orcish.tables.convert import convert
from orcish.terminal import json_line
from orcish.types import ExistingData

__all__ = ["add_arguments"]


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.add_argument(
        "source", metavar="SOURCE", help="a table of CarbonData, or ORC files: a folder, pattern or file"
    )
    command.add_argument("target", metavar="TARGET", help="the folder, which is made")
    command.add_argument(
        "--existing-data",
        choices=get_args(ExistingData),
        default="error",
        help="what to do where the folder has data (error)",
    )
    command.add_argument("-c", "--columns", **LIST, help="only these columns, in this order")
    add_filters(command, "only rows for which this is true")
    add_partition_by(command)
    command.add_argument("--max-rows-per-file", type=count, metavar="N", help="most rows of a file")
    add_writing(command)
    add_values(command)
    add_timestamps(command, "source_timezone")
    command.add_argument("--json", action="store_true", help="one JSON object a file, each on a line")
    add_storage(command)
    add_external(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    print_lines(_convert(options))
    return 0


def _convert(options: argparse.Namespace) -> list[str]:
    """Writes the files; gives the lines of the report."""
    files = convert(
        options.source,
        options.target,
        columns=options.columns,
        filters=options.filters,
        partition_by=options.partition_by,
        existing_data=options.existing_data,
        max_rows_per_file=options.max_rows_per_file,
        progress=not options.json,
        storage_options=dict(options.storage_options),
        invalid_utf8=options.invalid_utf8,
        long_char=options.long_char,
        decimal_out_of_range=options.decimal_out_of_range,
        timestamps=options.timestamps,
        timestamp_unit=options.timestamp_unit,
        source_timezone=options.source_timezone,
        external_locations=options.external_locations,
        **chosen_writing(options),
    )
    if options.json:
        return [json_line(file._asdict(), str) for file in files]
    rows, size = sum(file.rows for file in files), sum(file.bytes for file in files)
    return [f"{rows:,} rows in {len(files):,} files, {size:,} bytes"]
