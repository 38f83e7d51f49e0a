"""``orcish meta``: metadata of ORC files, CarbonData tables and CarbonData files."""

from __future__ import annotations

import argparse

from orcish.io.names import display_name
from orcish.reading.file import ORCFile
from orcish.reading.schema_file import schema_file
from orcish.tables.log.schema import TableSchema
from orcish.terminal import json_line

from orcish_cli import meta_carbon, meta_orc
from orcish_cli.arguments import LIST, add_external, add_files, add_json, add_storage
from orcish_cli.meta_carbon import refuse_external
from orcish_cli.meta_groups import describe_groups, groups_to_text
from orcish_cli.open_files import SKIPPED
from orcish_cli.output import print_lines
from orcish_cli.sources import opened_file, orc_files
from orcish_cli.wrong_arguments import fail_of_source

__all__ = ["add_arguments"]


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Print the metadata of ORC files, of all files of folders and patterns, and of tables and files of CarbonData. "
        "No data is read."
    )
    add_files(command)
    add_json(command, "file")
    command.add_argument("--arrow", action="store_true", help="also the Arrow schema that the files are read with")
    command.add_argument("--statistics", action="store_true", help="also the statistics of all columns")
    command.add_argument("--storage", action="store_true", help="also the stored bytes and encodings of all columns")
    command.add_argument(
        "--row-index", **LIST, default=[], help="also the row groups of these columns: statistics and positions"
    )
    command.add_argument(
        "--bloom", **LIST, default=[], help="also the bloom filters of these columns: sizes, and how full they are"
    )
    add_storage(command)
    add_external(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    code = 0
    storage = dict(options.storage_options)
    separator: list[str] = []
    for name in options.files:
        try:
            is_carbon = meta_carbon.is_carbon(name, storage)
            files, schema = ([name], None) if is_carbon else orc_files(name, storage)
            if schema is not None and not files:
                print_lines(separator)
                print_lines(_describe_empty(name, schema, options))
                separator = [] if options.json else [""]
        except SKIPPED as error:
            code = fail_of_source(error, options)
            continue
        for file in files:
            try:
                opened = None if is_carbon else opened_file(name, file, storage)
                if opened is None and not is_carbon:
                    continue
                lines = _describe(file, opened, storage, options)
            except SKIPPED as error:
                code = fail_of_source(error, options)
                continue
            print_lines(separator)
            print_lines(lines)
            separator = [] if options.json else [""]
    return code


def _describe_empty(name: str, schema: TableSchema, options: argparse.Namespace) -> list[str]:
    """The lines about a table without rows."""
    refuse_external(options, name)
    file = schema_file(schema)
    metadata = meta_orc.describe_empty(name, file, schema.partition, arrow=options.arrow, statistics=options.statistics)
    return [json_line(metadata)] if options.json else meta_orc.empty_to_text(metadata)


def _describe(name: str, file: ORCFile | None, storage: dict[str, str], options: argparse.Namespace) -> list[str]:
    """The lines about a file, or about a table of CarbonData without one."""
    if file is not None:
        refuse_external(options, name)
        metadata = meta_orc.describe(
            name, file, arrow=options.arrow, statistics=options.statistics, storage=options.storage
        )
        groups = describe_groups(file, options.row_index, options.bloom)
        if options.json:
            return [json_line({**metadata, **groups})]
        return [*meta_orc.to_text(metadata), *groups_to_text(groups)]
    given = (option for option in ("statistics", "storage", "row_index", "bloom") if getattr(options, option))
    if (option := next(given, None)) is not None:
        raise ValueError(f"{display_name(name)}: --{option.replace('_', '-')} is of ORC files")
    metadata = meta_carbon.describe(name, options.external_locations, storage)
    return [json_line(metadata)] if options.json else meta_carbon.to_text(metadata)
