"""``orcish meta``: metadata of ORC files, CarbonData tables and CarbonData files."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from orcish import ORCFile
from orcish.filters.names import dotted, in_backticks
from orcish.io.names import display_name
from orcish.reading.storage import encodings_text
from orcish.terminal import printable
from orcish.types import ColumnName, StripeInfo

from orcish_cli.arguments import PATHS, add_external, add_files, add_json, add_storage, storage_of
from orcish_cli.json_statistics import (
    bound_cell,
    described_columns,
    flag_cell,
    json_statistics,
    name_cell,
    streams_text,
)
from orcish_cli.messages import Failures, shown_name
from orcish_cli.sources import Part, opened_part, source_parts
from orcish_cli.terminal import Column, fields, grid, json_line, print_lines, shorten, text_of

__all__ = ["add_arguments"]

_SECTIONS = ("index_length", "data_length", "footer_length")
_MAX_VALUE = 100
"""Maximum width of a value of the user metadata."""


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
        "--row-index", **PATHS, default=[], help="also the row groups of these columns: statistics and positions"
    )
    command.add_argument(
        "--bloom", **PATHS, default=[], help="also the bloom filters of these columns: sizes, and how full they are"
    )
    add_storage(command)
    add_external(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    failures = Failures(options)
    separator: list[str] = []
    for part in source_parts(options, failures):
        lines: list[str] = []
        with failures.printed():
            lines = _carbon_lines(part, options) if part.is_carbon else _lines(part, options)
        print_lines([*(separator if lines else []), *lines])
        separator = separator or ([] if options.json or not lines else [""])
    return failures.code


def _carbon_lines(part: Part, options: argparse.Namespace) -> list[str]:
    """The lines about CarbonData."""
    given = (option for option in ("statistics", "storage", "row_index", "bloom") if getattr(options, option))
    if (option := next(given, None)) is not None:
        raise ValueError(f"{display_name(part.source)}: --{option.replace('_', '-')} is of ORC files")
    from orcish_cli.meta_carbon import describe, to_text

    described = describe(part.source, options.external_locations, storage_of(options))
    return [json_line(described)] if options.json else to_text(described)


def _lines(part: Part, options: argparse.Namespace) -> list[str]:
    """The lines about a file, or about a table without rows; none about a file of a folder that has zero bytes."""
    file = opened_part(part, storage_of(options))
    if file is None:
        return []
    described: dict[str, Any] = {"file": shown_name(part.location)}
    if part.schema is None:
        described |= _described(file)
    else:
        described |= {"rows": 0, "files": 0, "partition_columns": [*part.schema.partition]}
    described |= described_columns(file, arrow=options.arrow, statistics=options.statistics)
    if part.schema is None:
        if options.storage:
            described["storage"] = [dataclasses.asdict(column) for column in file.column_storage()]
        if options.row_index:
            described["row_index"] = {title: _row_groups(file, each) for each, title in _titles(options.row_index)}
        if options.bloom:
            described["bloom_filters"] = {title: _bloom_filters(file, each) for each, title in _titles(options.bloom)}
    return [json_line(described)] if options.json else list(_text(described))


def _described(file: ORCFile) -> dict[str, Any]:
    return {
        "file_length": file.file_length,
        "rows": file.num_rows,
        "compression": file.compression,
        "compression_chunk_size": file.compression_chunk_size,
        "format_version": file.version,
        "writer": file.writer,
        "writer_version": file.writer_version,
        "software_version": file.software_version,
        "calendar": file.calendar,
        "row_index_stride": file.row_index_stride,
        "encrypted_columns": file.encrypted_columns,
        "metadata": {key: _metadata_value(value) for key, value in file.metadata.items()},
        "stripes": list(map(_stripe, file.stripes)),
    }


def _stripe(stripe: StripeInfo) -> dict[str, int]:
    found = dataclasses.asdict(stripe)
    return {"rows": found.pop("num_rows"), **found}


def _metadata_value(value: bytes) -> str | dict[str, str]:
    try:
        return value.decode()
    except UnicodeDecodeError:
        import base64

        return {"base64": base64.b64encode(value).decode()}


def _titles(names: Sequence[ColumnName]) -> Iterator[tuple[ColumnName, str]]:
    """Names, each once, with what they are called: in backticks where another one has the same dotted name."""
    found = dict.fromkeys(names)
    counts = Counter(map(dotted, found))
    for name in found:
        yield name, dotted(name) if counts[dotted(name)] == 1 else in_backticks(name)


def _numbered(file: ORCFile, column: ColumnName) -> Iterator[tuple[dict[str, Any], Any]]:
    """The row groups of a column, each with its place."""
    for stripe, groups in itertools.groupby(file.row_groups(column), key=lambda group: group.stripe):
        for number, group in enumerate(groups):
            place = {"stripe": stripe, "group": number, "first_row_in_stripe": group.first_row, "rows": group.num_rows}
            yield place, group


def _row_groups(file: ORCFile, column: ColumnName) -> list[dict[str, Any]]:
    kind = file.column_types[file.column_id(column)]
    return [
        {**place, "statistics": json_statistics(group.statistics, kind), "positions": group.positions}
        for place, group in _numbered(file, column)
    ]


def _bloom_filters(file: ORCFile, column: ColumnName) -> list[dict[str, Any]]:
    names = ("kind", "hash_functions", "bits", "bits_set", "false_positives")
    return [
        {**place, **{name: getattr(group.bloom_filter, name) for name in names}}
        for place, group in _numbered(file, column)
        if group.bloom_filter is not None
    ]


def _text(described: dict[str, Any]) -> Iterator[str]:
    """The lines of text about a file, or about a table without rows."""
    yield from fields(_summary(described) if "stripes" in described else _summary_of_table(described))
    if described.get("metadata"):
        yield from ["", "User metadata"]
        for key, value in described["metadata"].items():
            text = printable(value) if isinstance(value, str) else f"base64 {value['base64']}"
            yield f"  {printable(key)}: {shorten(text, _MAX_VALUE)}"
    if "stripes" in described:
        stripes = [{"stripe": str(number), **stripe} for number, stripe in enumerate(described["stripes"])]
        yield from ["", "Stripes", *grid(_STRIPES, stripes)] if stripes else ["", "Stripes: none"]
    yield from ["", "Columns", *_tree(described["columns"])]
    if "arrow_schema" in described:
        yield from ["", "Arrow schema", *map(_arrow_line, described["arrow_schema"])]
    if "statistics" in described:
        columns = zip(described["columns"], described["statistics"], strict=True)
        known = [{"id": str(column["id"]), "path": column["path"], **(found or {})} for column, found in columns]
        yield from ["", "Statistics", *grid(_STATISTICS, known)]
    if "storage" in described:
        stored = [{"id": str(id), **column} for id, column in enumerate(described["storage"])]
        yield from ["", "Storage", *grid(_STORAGE, stored)]
    for column, entries in described.get("row_index", {}).items():
        yield from ["", f"Row index of {printable(column)}" + ("" if entries else ": none")]
        yield from grid(_ROW_GROUPS, [{**entry, **(entry["statistics"] or {})} for entry in entries]) if entries else []
    for column, filters in described.get("bloom_filters", {}).items():
        yield from ["", f"Bloom filters of {printable(column)}" + ("" if filters else ": none")]
        yield from grid(_BLOOM_FILTERS, filters) if filters else []


_STRIPES = (
    Column("stripe", "stripe", True),
    Column("rows", "rows", True),
    Column("first row", "first_row", True),
    Column("offset", "offset", True),
    *(Column(f"{section.partition('_')[0]} bytes", section, True) for section in _SECTIONS),
)
_KNOWN = ("id", "path", "kind", "values", "has_null", "bytes_on_disk", "min", "max", "min_is_exact", "max_is_exact")
"""What the columns of the table of statistics show, but the last one."""
_BOUNDS = (
    Column("min", lambda known: bound_cell(known, "min")),
    Column("max", lambda known: bound_cell(known, "max")),
)
_STATISTICS = (
    Column("id", "id", True),
    Column("column", lambda known: name_cell(known["path"], known["id"] == "0")),
    Column("values", "values", True),
    Column("nulls", lambda known: flag_cell(known.get("has_null"), "yes", "no")),
    Column("bytes", "bytes_on_disk", True),
    *_BOUNDS,
    Column(
        "more",
        lambda known: ", ".join(f"{name} {text_of(value)}" for name, value in known.items() if name not in _KNOWN),
    ),
)
_STORAGE = (
    Column("id", "id", True),
    Column("column", lambda stored: name_cell(stored["name"], stored["id"] == "0")),
    Column("bytes", "total_bytes", True),
    Column("own data", "data_bytes", True),
    Column("own indexes", "index_bytes", True),
    Column(
        "encodings",
        lambda stored: (
            encodings_text(stored["encodings"])
            + (f" ({stored['dictionary_entries']:,} entries)" if stored["dictionary_entries"] else "")
        ),
    ),
    Column("streams", lambda stored: streams_text(stored["streams"])),
)
_GROUP = (Column("stripe", "stripe", True), Column("group", "group", True))
_ROW_GROUPS = (
    *_GROUP,
    Column("first row in stripe", "first_row_in_stripe", True),
    Column("rows", "rows", True),
    Column("values", "values", True),
    Column("nulls", lambda entry: flag_cell(entry.get("has_null"), "yes", "no")),
    *_BOUNDS,
    Column("positions", lambda entry: " ".join(map(str, entry["positions"]))),
)
_BLOOM_FILTERS = (
    *_GROUP,
    Column("rows", "rows", True),
    Column("kind", "kind"),
    Column("functions", "hash_functions", True),
    Column("bits", "bits", True),
    Column("set", lambda found: f"{found['bits_set'] / found['bits']:.0%}", True),
    Column("false positives", lambda found: f"{found['false_positives']:.2%}", True),
)


def _summary(described: dict[str, Any]) -> Iterator[tuple[str, str]]:
    stride, chunk, length = (described[name] for name in ("row_index_stride", "compression_chunk_size", "file_length"))
    index, data, footers = (sum(stripe[section] for stripe in described["stripes"]) for section in _SECTIONS)
    rest = length - index - data - footers
    yield "File", printable(described["file"])
    yield "Rows", f"{described['rows']:,}"
    yield "Size", f"{length:,} bytes: data {data:,}, indexes {index:,}, stripe footers {footers:,}, the rest {rest:,}"
    yield "Compression", described["compression"] + (f", chunks of up to {chunk:,} bytes" if chunk else "")
    yield "Format version", described["format_version"] or "not recorded"
    yield "Writer", f"{described['writer']}, writer version {described['writer_version']}"
    yield "Calendar", described["calendar"]
    yield "Row index", f"every {stride:,} rows" if stride else "none"
    if described["software_version"]:
        yield "Software version", printable(described["software_version"])
    if described["encrypted_columns"]:
        yield "Encrypted columns", ", ".join(map(printable, described["encrypted_columns"]))


def _summary_of_table(described: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Table", printable(described["file"])
    yield "Rows", "0, in 0 files"
    if described["partition_columns"]:
        yield "Partition columns", ", ".join(map(printable, described["partition_columns"]))


def _tree(columns: list[dict[str, Any]]) -> Iterator[str]:
    """One line for each column: id, indented name, type and attributes."""
    digits = len(str(len(columns) - 1))
    depths: list[int] = []
    for column in columns:
        depth = 0 if column["parent"] is None else depths[column["parent"]] + 1
        depths.append(depth)
        name = "  " * depth + (f"{printable(column['name'])}: " if depth else "")
        # Nested types have their own lines.
        kind = printable(column["type"].partition("<")[0])
        attributes = printable(", ".join(f"{key}={value}" for key, value in column["attributes"].items()))
        yield f"  {column['id']:>{digits}}  {name}{kind}" + (f"  ({attributes})" if attributes else "")


def _arrow_line(field: dict[str, Any]) -> str:
    metadata = f"  {json.dumps(field['metadata'], ensure_ascii=False)}" if field["metadata"] else ""
    return printable(f"  {field['name']}: {field['type']}{metadata}")
