"""Metadata of ORC files, as JSON and as text."""

from __future__ import annotations

import base64
import dataclasses
import decimal
import json
from collections.abc import Sequence
from typing import Any, Literal

import pyarrow as pa
from orcish.reading.file import ORCFile
from orcish.reading.moments import Moment, bound
from orcish.reading.storage import encodings_text
from orcish.reading.type_tree import own_names
from orcish.terminal import Table, fields, indented, json_float, printable, shorten
from orcish.types import ColumnStatistics, StripeInfo

from orcish_cli.words import shown_name

__all__ = [
    "bound_cell",
    "describe",
    "describe_empty",
    "described_columns",
    "empty_to_text",
    "format_statistic",
    "json_statistics",
    "to_text",
]

_OF_TIMESTAMPS = ("_is_exact", "_nanoseconds", "is_instant")
"""Ends of names of statistics that are in the texts of dates and timestamps."""
_SECTIONS = ("index_length", "data_length", "footer_length")
_MAX_VALUE = 100
"""Maximum width of a value of the user metadata."""
_MAX_BOUND = 30
"""Maximum width of a minimum or maximum."""
_MAX_NAME = 200
"""Maximum width of a column name in a table."""


def describe(
    name: str, file: ORCFile, *, arrow: bool = False, statistics: bool = False, storage: bool = False
) -> dict[str, Any]:
    """Metadata of a file, as JSON values."""
    return {
        "file": shown_name(name),
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
        "stripes": [_stripe(stripe) for stripe in file.stripes],
        **described_columns(file, arrow=arrow, statistics=statistics),
        **({"storage": [dataclasses.asdict(column) for column in file.column_storage()]} if storage else {}),
    }


def describe_empty(
    name: str, schema: ORCFile, partition: Sequence[str], *, arrow: bool = False, statistics: bool = False
) -> dict[str, Any]:
    """Metadata of a table without rows, as JSON values.

    Args:
        name: Path or URL of the table.
        schema: A file without rows that has the columns of the table.
        partition: Names of the partition columns.
        arrow: Whether the Arrow schema is described, too.
        statistics: Whether statistics are described, too.
    """
    described = {"file": shown_name(name), "rows": 0, "files": 0, "partition_columns": [*partition]}
    return {**described, **described_columns(schema, arrow=arrow, statistics=statistics)}


def described_columns(file: ORCFile, *, arrow: bool, statistics: bool) -> dict[str, Any]:
    """The types of the columns, and, on request, the Arrow schema and the statistics."""
    described: dict[str, Any] = {"type": file.type_string, "columns": _columns(file)}
    if arrow:
        described["arrow_schema"] = [_arrow_field(field) for field in file.schema]
    if statistics:
        described["statistics"] = [
            json_statistics(file.statistics(id), kind) for id, kind in enumerate(file.column_types)
        ]
    return described


def _stripe(stripe: StripeInfo) -> dict[str, int]:
    found = dataclasses.asdict(stripe)
    return {"rows": found.pop("num_rows"), **found}


def _metadata_value(value: bytes) -> str | dict[str, str]:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _arrow_field(field: pa.Field) -> dict[str, Any]:
    metadata = {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}
    return {"name": field.name, "type": str(field.type), "metadata": metadata}


def _columns(file: ORCFile) -> list[dict[str, Any]]:
    columns = zip(file.column_paths, own_names(file), file.column_parents, file.column_types, strict=True)
    return [
        {
            "id": id,
            "parent": parent,
            "name": name,
            "path": path,
            "type": column_type,
            "attributes": file.attributes(id),
        }
        for id, (path, name, parent, column_type) in enumerate(columns)
    ]


def json_statistics(found: ColumnStatistics | None, column_type: str) -> dict[str, Any] | None:
    """Statistics of a column of a type without unknown values."""
    if found is None:
        return None
    known = {name: value for name, value in vars(found).items() if value is not None}
    bounds: tuple[Literal["min", "max"], ...] = ("min", "max")
    known |= {name: bound(found, name, column_type) for name in bounds if name in known}
    if found.kind in ("date", "timestamp"):
        # Texts have all digits, and the zone.
        known = {name: value for name, value in known.items() if not name.endswith(_OF_TIMESTAMPS)}
    return {name: _json_value(value) for name, value in known.items()}


def _json_value(value: Any) -> Any:
    if isinstance(value, Moment):
        return value.text
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, float):
        return json_float(value)
    if isinstance(value, dict):
        return {name: _json_value(inner) for name, inner in value.items()}
    if isinstance(value, tuple):
        return [_json_value(inner) for inner in value]
    return value


def to_text(described: dict[str, Any]) -> list[str]:
    """The lines of text for the result of :func:`describe`."""
    lines = fields(_summary(described))
    if described["metadata"]:
        lines += ["", "User metadata"]
        lines += [f"  {printable(key)}: {_format_value(value)}" for key, value in described["metadata"].items()]
    lines += ["", *_stripes(described["stripes"])]
    return lines + _columns_to_text(described)


def empty_to_text(described: dict[str, Any]) -> list[str]:
    """The lines of text for the result of :func:`describe_empty`."""
    summary = [("Table", printable(described["file"])), ("Rows", "0, in 0 files")]
    if described["partition_columns"]:
        summary.append(("Partition columns", ", ".join(map(printable, described["partition_columns"]))))
    return fields(summary) + _columns_to_text(described)


def _columns_to_text(described: dict[str, Any]) -> list[str]:
    lines = ["", "Columns", *_tree(described["columns"])]
    if "arrow_schema" in described:
        lines += ["", "Arrow schema", *map(_arrow_line, described["arrow_schema"])]
    if "statistics" in described:
        lines += ["", "Statistics", *_statistics_table(described["columns"], described["statistics"])]
    if "storage" in described:
        lines += ["", "Storage", *_storage_table(described["storage"])]
    return lines


def _summary(described: dict[str, Any]) -> list[tuple[str, str]]:
    stride, chunk = described["row_index_stride"], described["compression_chunk_size"]
    summary = [
        ("File", printable(described["file"])),
        ("Rows", f"{described['rows']:,}"),
        ("Size", _sizes(described)),
        ("Compression", described["compression"] + (f", chunks of up to {chunk:,} bytes" if chunk else "")),
        ("Format version", described["format_version"] or "not recorded"),
        ("Writer", f"{described['writer']}, writer version {described['writer_version']}"),
        ("Calendar", described["calendar"]),
        ("Row index", f"every {stride:,} rows" if stride else "none"),
    ]
    if described["software_version"]:
        summary.append(("Software version", printable(described["software_version"])))
    if described["encrypted_columns"]:
        summary.append(("Encrypted columns", ", ".join(map(printable, described["encrypted_columns"]))))
    return summary


def _sizes(described: dict[str, Any]) -> str:
    index, data, footers = (sum(stripe[section] for stripe in described["stripes"]) for section in _SECTIONS)
    length = described["file_length"]
    rest = length - index - data - footers
    return f"{length:,} bytes: data {data:,}, indexes {index:,}, stripe footers {footers:,}, the rest {rest:,}"


def _format_value(value: str | dict[str, str]) -> str:
    text = printable(value) if isinstance(value, str) else f"base64 {value['base64']}"
    return shorten(text, _MAX_VALUE)


def _stripes(stripes: list[dict[str, int]]) -> list[str]:
    if not stripes:
        return ["Stripes: none"]
    header = ["stripe", "rows", "first row", "offset", "index bytes", "data bytes", "footer bytes"]
    names = ["rows", "first_row", "offset", *_SECTIONS]
    rows = [[str(number), *(f"{stripe[name]:,}" for name in names)] for number, stripe in enumerate(stripes)]
    return ["Stripes", *indented(Table(header, [True] * len(header)).lines(rows))]


def _tree(columns: list[dict[str, Any]]) -> list[str]:
    """One line for each column: id, indented name, type and attributes."""
    digits = len(str(len(columns) - 1))
    depths: list[int] = []
    lines = []
    for column in columns:
        depth = 0 if column["parent"] is None else depths[column["parent"]] + 1
        depths.append(depth)
        name = "  " * depth + (f"{printable(column['name'])}: " if depth else "")
        # Nested types have their own lines.
        kind = printable(column["type"].partition("<")[0])
        attributes = printable(", ".join(f"{key}={value}" for key, value in column["attributes"].items()))
        lines.append(f"  {column['id']:>{digits}}  {name}{kind}" + (f"  ({attributes})" if attributes else ""))
    return lines


def _arrow_line(field: dict[str, Any]) -> str:
    metadata = f"  {json.dumps(field['metadata'], ensure_ascii=False)}" if field["metadata"] else ""
    return printable(f"  {field['name']}: {field['type']}{metadata}")


def _statistics_table(columns: list[dict[str, Any]], statistics: list[dict[str, Any] | None]) -> list[str]:
    header = ["id", "column", "values", "nulls", "bytes", "min", "max", "more"]
    right = [True, False, True, False, True, False, False, False]
    names = [shorten(printable(column["path"]), _MAX_NAME) or _name_of_empty(column["id"]) for column in columns]
    rows = [
        [str(column["id"]), name, *_statistics_cells(dict(known or {}))]
        for column, name, known in zip(columns, names, statistics, strict=True)
    ]
    return indented(Table(header, right).lines(rows))


def _name_of_empty(id: int) -> str:
    """What a column is called whose dotted name is empty."""
    return "(no name)" if id else "(root)"


def _storage_table(columns: list[dict[str, Any]]) -> list[str]:
    header = ["id", "column", "bytes", "own data", "own indexes", "encodings", "streams"]
    rows = [
        [
            str(id),
            shorten(printable(column["name"]), _MAX_NAME) or _name_of_empty(id),
            *(f"{column[size]:,}" for size in ("total_bytes", "data_bytes", "index_bytes")),
            encodings_text(column["encodings"])
            + (f" ({column['dictionary_entries']:,} entries)" if column["dictionary_entries"] else ""),
            ", ".join(f"{kind} {size:,}" for kind, size in column["streams"].items() if size),
        ]
        for id, column in enumerate(columns)
    ]
    return indented(Table(header, [True, False, True, True, True, False, False]).lines(rows))


def _statistics_cells(known: dict[str, Any]) -> list[str]:
    known.pop("kind", None)
    values, has_null, size = (known.pop(name, None) for name in ("values", "has_null", "bytes_on_disk"))
    return [
        "" if values is None else f"{values:,}",
        {None: "", True: "yes", False: "no"}[has_null],
        "" if size is None else f"{size:,}",
        bound_cell(known, "min"),
        bound_cell(known, "max"),
        ", ".join(f"{name} {format_statistic(value)}" for name, value in known.items()),
    ]


def bound_cell(known: dict[str, Any], name: str, most: int = _MAX_BOUND) -> str:
    """The text of a bound, which is taken out of statistics."""
    value, is_exact = known.pop(name, None), known.pop(f"{name}_is_exact", True)
    if value is None:
        return ""
    # The writer truncated a long string.
    return shorten(format_statistic(value) + ("" if is_exact else "…"), most)


def format_statistic(value: Any) -> str:
    """The text of a value of statistics."""
    return printable(value if isinstance(value, str) else json.dumps(value))
