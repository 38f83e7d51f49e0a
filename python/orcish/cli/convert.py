"""``orcish convert``: writes a table as a folder of ORC files."""

from __future__ import annotations

import argparse
from typing import Any, get_args

from orcish.cli.arguments import add_external, add_timestamps, add_values, count, names
from orcish.cli.output import fail, print_lines
from orcish.errors import OrcishError
from orcish.tables.convert import convert
from orcish.terminal import json_line
from orcish.types import ExistingData

__all__ = ["add_convert"]


def add_convert(commands: Any) -> None:
    """Adds the command to the parser."""
    command = commands.add_parser(
        "convert",
        help="write a table of CarbonData, or of ORC files, as a folder of ORC files",
        description="Write the rows of a table, of CarbonData or of ORC files, as a folder of ORC files.",
    )
    command.add_argument("source", metavar="SRC", help="a table of CarbonData, or ORC files: a folder, pattern or file")
    command.add_argument("target", metavar="DST", help="the folder, which is made")
    command.add_argument(
        "--existing-data",
        choices=get_args(ExistingData),
        default="error",
        help="what to do where the folder has data (error)",
    )
    lists: dict[str, Any] = {"type": names, "action": "extend", "metavar": "A,B"}
    command.add_argument("-c", "--columns", **lists, help="only these columns, in this order")
    command.add_argument("--filters", "--where", dest="filters", metavar="SQL", help="only rows for which this is true")
    command.add_argument("--partition-by", **lists, help="columns that name folders (those of the table); '' for none")
    command.add_argument("--max-rows-per-file", type=count, metavar="N")
    command.add_argument("--compression", metavar="CODEC", help="zstd, zlib, snappy, lz4, brotli or none (zstd)")
    command.add_argument("--bloom-filter-columns", **lists)
    command.add_argument("--verify", action="store_true", default=None, help="read what was written before it appears")
    add_values(command)
    add_timestamps(command, "source_timezone")
    command.add_argument("--json", action="store_true", help="one JSON object a file, each on a line")
    add_external(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    try:
        print_lines(_convert(options))
    except (OrcishError, OSError, TypeError, KeyError, ValueError) as error:
        return fail(error)
    return 0


def _convert(options: argparse.Namespace) -> list[str]:
    """Writes the files; gives the lines of the report."""
    given = vars(options).copy()
    as_json = given.pop("json")
    del given["run"]
    if given["partition_by"] is not None:
        given["partition_by"] = [name for name in given["partition_by"] if name]
    files = convert(given.pop("source"), given.pop("target"), **given)
    if as_json:
        return [json_line(file._asdict(), str) for file in files]
    rows, size = sum(file.rows for file in files), sum(file.bytes for file in files)
    return [f"{rows:,} rows in {len(files):,} files, {size:,} bytes"]
