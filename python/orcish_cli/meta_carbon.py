"""Metadata of CarbonData tables and files, as JSON and as text."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from orcish import CarbonFile, CarbonTable
from orcish._native import Location
from orcish.io.names import display_name
from orcish.terminal import printable
from orcish.types import CarbonSegment

from orcish_cli.terminal import Column, fields, grid, indented

__all__ = ["describe", "to_text"]

_TITLES = {
    "file": "File",
    "kind": "Kind",
    "rows": "Rows",
    "files": "Files",
    "version": "Format version",
    "sort_columns": "Sort columns",
    "partition_columns": "Partition columns",
}


def describe(
    name: str, external_locations: Sequence[str] | None = None, storage: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Metadata of a table or file, as JSON values."""
    if Location(name).is_carbon_file:
        file = CarbonFile(name, storage_options=storage)
        return {
            "file": display_name(name),
            "kind": "data file of CarbonData",
            "rows": file.num_rows,
            "version": file.version,
            "written_by": file.written_by,
            "blocklets": [blocklet._asdict() for blocklet in file.blocklets],
            "columns": _columns(file.schema),
        }
    table = CarbonTable(name, storage_options=storage, external_locations=external_locations)
    return {
        "file": display_name(name),
        "kind": "table of CarbonData" if table.is_transactional else "data files of CarbonData, without metadata",
        "rows": table.num_rows,
        "files": len(table.files),
        "sort_columns": table.sort_columns,
        "partition_columns": table.partition_columns,
        "properties": table.properties,
        "segments": [_segment(segment) for segment in table.segments],
        "columns": _columns(table.schema),
    }


def _columns(schema: Any) -> list[dict[str, Any]]:
    return [{"name": field.name, "type": str(field.type), "nullable": field.nullable} for field in schema]


def _segment(segment: CarbonSegment) -> dict[str, Any]:
    return {name: _time(value) if name in _TIMES else value for name, value in vars(segment).items()}


_TIMES = ("started", "ended", "modified")


def _time(value: datetime.datetime | None) -> str | None:
    return None if value is None else value.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_text(described: dict[str, Any]) -> list[str]:
    """The lines of text for the result of :func:`describe`."""
    titles = {**_TITLES, "file": "Table"} if "segments" in described else _TITLES
    lines = fields((titles[name], _format_value(value)) for name, value in described.items() if name in titles)
    for name, title in (("properties", "Properties"), ("written_by", "Written by")):
        if described.get(name):
            lines += ["", title, *(f"  {printable(key)}: {printable(text)}" for key, text in described[name].items())]
    if "segments" in described:
        lines += ["", "Segments", *grid(_SEGMENTS, described["segments"])]
    if "blocklets" in described:
        blocklets = [{**one, "blocklet": str(at)} for at, one in enumerate(described["blocklets"])]
        columns = [
            Column("blocklet", "blocklet", True),
            *(Column(name, name, True) for name in ("rows", "pages", "bytes")),
        ]
        lines += ["", "Blocklets", *grid(columns, blocklets)]
    typed = [printable(f"{each['name']}: {each['type']}") for each in described["columns"]]
    return [*lines, "", "Columns", *indented(typed)]


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(printable, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else printable(value)


_SEGMENTS = (
    Column("segment", "id"),
    Column("state", "state"),
    Column("read", lambda segment: "yes" if segment["is_readable"] else "no"),
    Column("format", "format"),
    Column("rows", "rows", True),
    Column("deleted", "deleted_rows", True),
    Column("files", "files", True),
    Column("bytes", "data_bytes", True),
    Column("index bytes", "index_bytes", True),
    Column("ended", "ended"),
    Column("into", "merged_into"),
)
