"""Metadata of CarbonData tables and files, as JSON and as text."""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from orcish import _native
from orcish.carbon.detect import is_carbon_file
from orcish.carbon.source import check_no_external
from orcish.carbon.table import CarbonFile, CarbonSegment, CarbonTable
from orcish.io.filesystem import is_foreign
from orcish.io.names import display_name
from orcish.io.paths import local_path
from orcish.io.storage import native_storage
from orcish.terminal import Table, fields, indented, printable

from orcish_cli.sources import is_folder

__all__ = ["describe", "is_carbon", "refuse_external", "to_text"]

_TITLES = {
    "file": "File",
    "kind": "Kind",
    "rows": "Rows",
    "files": "Files",
    "version": "Format version",
    "sort_columns": "Sort columns",
    "partition_columns": "Partition columns",
}


def refuse_external(options: argparse.Namespace, name: str) -> None:
    """Refuses ``--external-location`` for a source that is no CarbonData.

    Raises:
        ValueError: It is given.
    """
    check_no_external(options.external_locations, f"{display_name(name)}: --external-location")


def is_carbon(name: str, storage: Mapping[str, str]) -> bool:
    """Whether a path or URL is that of a CarbonData table or file."""
    if is_carbon_file(name) or is_foreign(name) or not is_folder(name):
        return is_carbon_file(name)
    return _native.is_carbon(local_path(name), native_storage(name, storage))


def describe(
    name: str, external_locations: Sequence[str] | None = None, storage: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Metadata of a table or file, as JSON values."""
    if is_carbon_file(name):
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
        lines += ["", "Segments", *indented(_segments(described["segments"]))]
    if "blocklets" in described:
        rows = [[str(at), *(f"{value:,}" for value in one.values())] for at, one in enumerate(described["blocklets"])]
        lines += ["", "Blocklets", *indented(Table(["blocklet", "rows", "pages", "bytes"], [True] * 4).lines(rows))]
    columns = [printable(f"{each['name']}: {each['type']}") for each in described["columns"]]
    return [*lines, "", "Columns", *indented(columns)]


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(printable, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else printable(value)


def _segments(segments: list[dict[str, Any]]) -> list[str]:
    header = ["segment", "state", "read", "format", "rows", "deleted", "files", "bytes", "index bytes", "ended", "into"]
    names = ["rows", "deleted_rows", "files", "data_bytes", "index_bytes"]
    right = [False] * 4 + [True] * 5 + [False] * 2
    rows = [
        [
            *(printable(each["id"]), printable(each["state"])),
            *("yes" if each["is_readable"] else "no", printable(each["format"])),
            *("" if each[name] is None else f"{each[name]:,}" for name in names),
            *(each["ended"] or "", printable(each["merged_into"] or "")),
        ]
        for each in segments
    ]
    return Table(header, right).lines(rows)
