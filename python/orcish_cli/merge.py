"""``orcish merge``: the stripes of several files as one file."""

from __future__ import annotations

import argparse

from orcish import UnsupportedError, merge
from orcish.carbon.detect import has_carbon
from orcish.io.names import display_name
from orcish.tables.apart import check_apart
from orcish.tables.log.listing import table_files

from orcish_cli.arguments import add_existing, add_files, add_storage, storage_of
from orcish_cli.targets import check_new_file, check_orc_name
from orcish_cli.terminal import print_lines, print_objects

__all__ = ["add_arguments"]


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Write the stripes of several ORC files, and of the files of folders and patterns, as one file. Bytes are "
        "copied, nothing is decoded. The files must have the same columns, codec, writer and version."
    )
    add_files(command)
    command.add_argument("-o", "--output", required=True, metavar="TARGET", help="the file that is written, or its URL")
    add_existing(command, is_file=True)
    command.add_argument("--json", action="store_true", help="the result as a JSON object")
    add_storage(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    storage, existing = storage_of(options), options.existing_data
    check_orc_name(options.output, "merge")
    check_new_file(options.output, storage, existing)
    sources = _sources(options.files, storage)
    advice = "choose a target outside of the source"
    check_apart(options.files, sources, options.output, is_folder=False, advice=advice, storage=storage)
    written = merge(sources, options.output, existing_data=existing, storage_options=storage, progress=not options.json)
    if options.json:
        print_objects([{"file": options.output, **written._asdict()}])
    else:
        print_lines([f"{written.rows:,} rows in {written.stripes:,} stripes, {written.bytes:,} bytes"])
    return 0


def _sources(names: list[str], storage: dict[str, str]) -> list[str]:
    """The files of all sources, in their order.

    Raises:
        FileNotFoundError: A source has no files.
        ValueError: No source has rows, or files have different values of partition columns, which would be lost.
        UnsupportedError: There is a table of CarbonData.
    """
    found: list[str] = []
    values: dict[tuple[tuple[str, str | None], ...], str] = {}
    for name in names:
        files, schema, _ = table_files(name, None, storage)
        if not files and schema is None:
            raise FileNotFoundError(f"no files: {display_name(name)!r}")
        if has_carbon(files):
            raise UnsupportedError(f"{display_name(name)}: CarbonData is not merged: convert writes it as ORC")
        for file in files:
            found.append(file.location)
            values.setdefault(tuple(file.partition), file.location)
    if not found:
        raise ValueError(
            f"{', '.join(map(display_name, names))}: a table without rows has no stripes: convert writes it as a file"
        )
    if len(values) > 1:
        first, second, *_ = map(display_name, values.values())
        raise ValueError(
            f"{first} and {second} are in different partitions, whose columns one file does not have: convert writes "
            "them as columns of a file"
        )
    return found
