"""Conversion of files between formats."""

from __future__ import annotations

import argparse
import os
from typing import Any

from orcish._native import Location
from orcish.filters.names import dotted
from orcish.io.files import TableFile
from orcish.io.names import display_name
from orcish.reading.reader import BatchSource
from orcish.reading.scan import Scan
from orcish.tables.apart import check_apart
from orcish.tables.inferred_types import infers_written_types
from orcish.tables.log.listing import table_files
from orcish.writing.writer import write_table

from orcish_cli.arguments import chosen_writing
from orcish_cli.formats.names import ORC, TEXT, codec_of, named, unknown_ending
from orcish_cli.formats.reading import ForeignRows
from orcish_cli.formats.text_options import TextOptions, check_text_options
from orcish_cli.formats.writing import ForeignFile, write_foreign
from orcish_cli.parser import WrongArgumentsError
from orcish_cli.reading import open_rows
from orcish_cli.sources import is_carbon, is_several
from orcish_cli.standard_input import STREAM
from orcish_cli.targets import check_new_file

__all__ = ["convert_to_file", "foreign_rows", "source_format", "target_format"]

OF_ORC = ("invalid_utf8", "long_char", "decimal_out_of_range", "timestamps", "timestamp_unit", "timezone", "masked")
"""Options of reading ORC."""
DEFAULT_CODECS = {"parquet": "zstd", "arrow": "zstd", "arrows": "none"}


def target_format(target: str, given: str | None) -> str | None:
    """The format of the file that is written; ``None`` for a folder of ORC files.

    Raises:
        WrongArgumentsError: The name has an ending of no known format.
    """
    is_folder = os.path.isdir(Location(target).path)
    found = given or named(target).format
    if is_folder and found in (None, ORC) and given is None:
        return None
    if found is None and (ending := unknown_ending(target)):
        raise WrongArgumentsError(
            f"{display_name(target)}: .{ending} is no known format: --to names the format, and a slash at the end "
            "makes it a folder of ORC files"
        )
    return found


def source_format(sources: list[str], given: str | None, storage: dict[str, str]) -> str:
    """The one format of all sources, and of all files of a folder.

    Raises:
        ValueError: They have several.
    """
    if given is not None:
        return given
    found = {source: _format_of(source, storage) for source in sources}
    if len(set(found.values())) > 1:
        (one, its), (other, others), *_ = ((name, form) for name, form in found.items())
        if its == others:
            other, others = next((name, form) for name, form in found.items() if form != its)
        raise ValueError(
            f"{display_name(one)} is {its} and {display_name(other)} is {others}: sources have one format, which "
            "--from names if their endings do not"
        )
    return next(iter(found.values()))


def _format_of(source: str, storage: dict[str, str]) -> str:
    own = named(source).format
    if own is not None or is_carbon(source, storage):
        return own or ORC
    if not is_several(source):
        return ORC
    # A folder has the format of its files, if their endings say so.
    found = {named(file.location).format: file.location for file in table_files(source, None, storage).files}
    if len(known := [form for form in found if form is not None]) > 1:
        one, other, *_ = known
        raise ValueError(
            f"{display_name(found[one])} is {one} and {display_name(found[other])} is {other}: sources have one "
            "format, and a pattern chooses the files of one"
        )
    only = next(iter(found)) if len(found) == 1 else None
    return only or ORC


def foreign_rows(options: argparse.Namespace, form: str) -> ForeignRows:
    """The rows of sources of another format than ORC.

    Raises:
        ValueError: An option is of ORC files.
    """
    storage = dict(options.storage_options)
    for name in (*OF_ORC, "external_locations"):
        if getattr(options, name, None):
            advice = ": --encoding names that of the text" if (name, form) == ("invalid_utf8", "csv") else ""
            raise ValueError(f"--{name.replace('_', '-')} is of sources that are ORC, and not {form}{advice}")
    files: list[TableFile] = []
    for source in options.source:
        found = table_files(source, None, storage).files
        if not found:
            raise FileNotFoundError(f"no files: {display_name(source)!r}")
        files += found
    columns = None if options.columns is None else list(map(dotted, options.columns))
    return ForeignRows(files, form, TextOptions.of(options), columns, options.filters, options.limit, storage)


def _orc_rows(options: argparse.Namespace, to: str) -> Scan:
    """The rows of sources that are ORC or CarbonData, without a loss of digits."""
    given = {} if options.limit is None else {"limit": options.limit}
    of_orc: dict[str, Any] = {}
    if to == "parquet":
        # Parquet has no unions.
        of_orc["unions"] = "struct"
    if to in TEXT:
        # Maps of text have null keys.
        of_orc["null_map_keys"] = "dictionary"
    return open_rows(options.source, options, as_stored=False, more=given, more_of_orc=of_orc)


def convert_to_file(options: argparse.Namespace, to: str) -> ForeignFile:
    """Writes all sources as one file.

    Args:
        options: The arguments of the command ``convert``.
        to: The format of the file.

    Raises:
        ValueError: An option is not of the format of the source or target.
        FileExistsError: The target is there already.
    """
    storage: dict[str, Any] = dict(options.storage_options)
    target = options.target
    for name in ("partition_by", "max_rows_per_file", "max_partitions"):
        if getattr(options, name) is not None:
            raise WrongArgumentsError(f"--{name.replace('_', '-')} is of folders, and {display_name(target)} is a file")
    if target != STREAM:
        check_new_file(target, storage, options.existing_data)
    source = source_format(options.source, options.source_format, storage)
    check_text_options(options, source, to)
    rows: BatchSource
    if source == ORC:
        rows = scan = _orc_rows(options, to)
        files = scan.files
    else:
        rows = foreign = foreign_rows(options, source)
        files = [file.location for file in foreign.files]
    check_apart(
        options.source, files, target, is_folder=False, advice="choose a target outside of the source", storage=storage
    )
    given = chosen_writing(options)
    progress = not options.json
    if to == ORC:
        codec_of(target, to, options.compression, None, "zstd")
        if isinstance(rows, Scan) and infers_written_types(rows):
            # Readers infer the same types.
            given["arrow_schema"] = False
        given |= {"existing_data": options.existing_data, "progress": progress, "storage_options": storage}
        written = write_table(rows, target, **given)
        return ForeignFile(target, written.rows, written.bytes)
    for name in ("bloom_filter_columns", "verify"):
        if given.get(name):
            raise WrongArgumentsError(f"--{name.replace('_', '-')} is of targets that are ORC, and not {to}")
    level = options.compression_level
    default = DEFAULT_CODECS.get(to) or named(target).compressed
    return write_foreign(
        rows,
        target,
        to,
        codec=codec_of(target, to, options.compression, level, default),
        level=level,
        text=TextOptions.of(options).of_target(source),
        storage=storage,
        existing_data=options.existing_data,
        progress=progress,
    )
