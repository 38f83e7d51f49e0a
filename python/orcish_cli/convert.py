"""``orcish convert``: writes a table as a folder of ORC files, or files as one file of another format."""

from __future__ import annotations

import argparse
from typing import Any

from orcish import convert, write_dataset
from orcish.filters.names import dotted
from orcish.tables.apart import check_apart

from orcish_cli.arguments import (
    add_existing,
    add_json,
    add_limit,
    add_partition_by,
    add_writing,
    chosen_writing,
    storage_of,
    table_bounds,
)
from orcish_cli.formats.converting import convert_to_file, foreign_rows, source_format, target_format
from orcish_cli.formats.names import FORMATS, ORC, codec_of
from orcish_cli.formats.text_options import add_text, check_text_options
from orcish_cli.parser import WrongArgumentsError
from orcish_cli.reading import add_reading, chosen_reading
from orcish_cli.standard_input import STREAM
from orcish_cli.terminal import print_lines, print_objects, written_json

__all__ = ["add_arguments"]

DESCRIPTION = (
    "Write files of ORC, Parquet, CSV, JSON lines or Arrow IPC, or a table of CarbonData, as one file of a format, or "
    "as a folder of ORC files. The endings of names say the formats: .orc, .parquet, .csv, .tsv, .jsonl, .arrow, "
    ".feather, .arrows, and .gz or .zst after those of text. A target without an ending is a folder of ORC files."
)

STREAMS = ("csv", "json", "arrows")
"""Formats that standard output takes."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = DESCRIPTION
    command.add_argument(
        "source", nargs="+", metavar="SOURCE", help="a file, a folder, a pattern, a URL, or a table of CarbonData"
    )
    command.add_argument("target", metavar="TARGET", help="the file or folder that is written, or its URL")
    command.add_argument("--from", dest="source_format", choices=FORMATS, help="format of the sources (by their names)")
    command.add_argument("--to", dest="target_format", choices=FORMATS, help="format of the target (by its name)")
    add_text(command)
    add_existing(command)
    add_limit(command, "most rows of a file that is written")
    add_partition_by(command)
    add_writing(command, codecs=("zstd", "zlib", "gzip", "snappy", "lz4", "brotli", "bz2", "none"))
    add_json(command, "file")
    add_reading(command)
    command.set_defaults(run=_run, has_stream_target=True)


def _run(options: argparse.Namespace) -> int:
    to = target_format(options.target, options.target_format)
    if options.target == STREAM and to not in STREAMS:
        raise ValueError(
            f"-: standard output takes {', '.join(STREAMS)}, which --to says: a file or folder of the name - is ./-"
        )
    files: list[Any] = _to_folder(options) if to is None else [convert_to_file(options, to)]
    if options.target == STREAM:
        return 0
    if options.json:
        print_objects(map(written_json, files))
        return 0
    rows, size = sum(file.rows for file in files), sum(file.bytes for file in files)
    print_lines([f"{rows:,} rows in {len(files):,} files, {size:,} bytes"])
    return 0


def _to_folder(options: argparse.Namespace) -> list[Any]:
    """Writes a folder of ORC files."""
    storage = storage_of(options)
    form = source_format(options.source, options.source_format, storage)
    check_text_options(options, form, ORC)
    codec_of(options.target, ORC, options.compression, None, "zstd")
    for name in ("masked", "limit"):
        if getattr(options, name) is not None:
            raise WrongArgumentsError(f"--{name} is of targets that are files, and not folders")
    given = chosen_reading(options) if form == ORC else {}
    common: dict[str, Any] = {
        "existing_data": options.existing_data,
        "progress": not options.json,
        "storage_options": storage,
        **table_bounds(options),
        **chosen_writing(options),
    }
    if form != ORC:
        rows = foreign_rows(options, form)
        files = [file.location for file in rows.files]
        advice = "choose a folder beside the source"
        check_apart(options.source, files, options.target, is_folder=True, advice=advice, storage=storage)
        partition_by = options.partition_by
        if partition_by is None:
            chosen = None if options.columns is None else list(map(dotted, options.columns))
            names = [name for name, _ in rows.files[0].partition]
            partition_by = [name for name in names if chosen is None or name in chosen]
        return write_dataset(rows, options.target, partition_by=partition_by, **common)
    return convert(
        options.source if len(options.source) > 1 else options.source[0],
        options.target,
        partition_by=options.partition_by,
        source_timezone=given.pop("timezone", None),
        external_locations=options.external_locations,
        **given,
        **common,
    )
