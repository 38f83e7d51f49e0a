"""Columns of ORC files and their statistics, as JSON and as cells of tables."""

from __future__ import annotations

import decimal
from collections.abc import Mapping
from typing import Any, Literal

from orcish import ORCFile
from orcish.terminal import printable
from orcish.types import ColumnStatistics

from orcish_cli.moments import Moment, bound
from orcish_cli.terminal import MAX_NAME, json_float, shorten, text_of
from orcish_cli.type_tree import own_names

__all__ = ["bound_cell", "described_columns", "flag_cell", "json_statistics", "name_cell", "streams_text"]

_OF_TIMESTAMPS = ("_is_exact", "_nanoseconds", "is_instant")
"""Ends of names of statistics that are in the texts of dates and timestamps."""


def described_columns(file: ORCFile, *, arrow: bool, statistics: bool) -> dict[str, Any]:
    """The types of the columns, and, on request, the Arrow schema and the statistics."""
    columns = zip(file.column_paths, own_names(file), file.column_parents, file.column_types, strict=True)
    described: dict[str, Any] = {
        "type": file.type_string,
        "columns": [
            {"id": id, "parent": parent, "name": name, "path": path, "type": kind, "attributes": file.attributes(id)}
            for id, (path, name, parent, kind) in enumerate(columns)
        ],
    }
    if arrow:
        described["arrow_schema"] = [
            {
                "name": field.name,
                "type": str(field.type),
                "metadata": {key.decode(): value.decode() for key, value in (field.metadata or {}).items()},
            }
            for field in file.schema
        ]
    if statistics:
        kinds = enumerate(file.column_types)
        described["statistics"] = [json_statistics(file.statistics(id), kind) for id, kind in kinds]
    return described


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
    return [_json_value(inner) for inner in value] if isinstance(value, tuple) else value


def bound_cell(known: dict[str, Any], name: str, most: int = 30) -> str:
    """The text of a bound of statistics."""
    if name not in known:
        return ""
    # The writer truncated a long string.
    return shorten(text_of(known[name]) + ("" if known.get(f"{name}_is_exact", True) else "…"), most)


def flag_cell(value: bool | None, yes: str, no: str) -> str:
    """The text of something that may not be known."""
    return "" if value is None else yes if value else no


def name_cell(name: str, is_root: bool) -> str:
    """What a column is called in a table."""
    return shorten(printable(name), MAX_NAME) or ("(root)" if is_root else "(no name)")


def streams_text(streams: Mapping[str, int]) -> str:
    """The bytes of streams that are there, by kind."""
    return ", ".join(f"{kind} {size:,}" for kind, size in streams.items() if size)
