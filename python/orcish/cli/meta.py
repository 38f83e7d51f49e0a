"""``orcish meta``: metadata of ORC files, CarbonData tables and CarbonData files."""

from __future__ import annotations

import argparse
from typing import Any

from orcish.carbon.source import check_no_external
from orcish.cli import meta_carbon, meta_orc
from orcish.cli.arguments import add_external
from orcish.cli.output import fail, print_lines
from orcish.errors import OrcishError
from orcish.reading.file import ORCFile
from orcish.terminal import json_line

__all__ = ["add_meta"]


def add_meta(commands: Any) -> None:
    """Adds the command to the parser."""
    command = commands.add_parser(
        "meta",
        help="metadata of files and tables: rows, sizes, stripes or segments, types, writer",
        description="Print the metadata of ORC files, and of tables and files of CarbonData. No data is read.",
    )
    command.add_argument("files", nargs="+", metavar="FILE")
    command.add_argument("--json", action="store_true", help="one JSON object a file, each on a line")
    command.add_argument("--arrow", action="store_true", help="also the Arrow schema that the files are read with")
    command.add_argument("--statistics", action="store_true", help="also the statistics of all columns")
    add_external(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    code = 0
    for number, name in enumerate(options.files):
        try:
            lines = _describe(name, options)
        except (OrcishError, OSError, ValueError) as error:
            code = fail(error)
            continue
        print_lines([""] if number and not options.json else [])
        print_lines(lines)
    return code


def _describe(name: str, options: argparse.Namespace) -> list[str]:
    """The lines about a file or table."""
    if not meta_carbon.is_carbon(name):
        check_no_external(options.external_locations, f"{name}: --external-location")
        metadata = meta_orc.describe(name, ORCFile(name), arrow=options.arrow, statistics=options.statistics)
        to_text = meta_orc.to_text
    elif options.statistics:
        raise ValueError(f"{name}: --statistics are those of ORC files")
    else:
        metadata, to_text = meta_carbon.describe(name, options.external_locations), meta_carbon.to_text
    return [json_line(metadata)] if options.json else to_text(metadata)
