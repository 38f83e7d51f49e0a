"""Row groups of columns: entries of row indexes, and bloom filters, as JSON and as text."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from orcish.reading.file import ORCFile, column_id
from orcish.terminal import Table, indented, printable

from orcish_cli.meta_orc import bound_cell, json_statistics

__all__ = ["describe_groups", "groups_to_text"]


def describe_groups(file: ORCFile, row_index: Sequence[str], bloom: Sequence[str]) -> dict[str, Any]:
    """The row indexes of some columns and the bloom filters of some, as JSON values by column."""
    described: dict[str, Any] = {}
    if row_index:
        described["row_index"] = {name: _entries(file, name) for name in dict.fromkeys(row_index)}
    if bloom:
        described["bloom_filters"] = {name: _filters(file, name) for name in dict.fromkeys(bloom)}
    return described


def _numbered(file: ORCFile, column: str) -> list[tuple[dict[str, Any], Any]]:
    groups = itertools.groupby(file.row_groups(column), key=lambda group: group.stripe)
    return [
        ({"stripe": stripe, "group": number, "first_row_in_stripe": group.first_row, "rows": group.num_rows}, group)
        for stripe, of_stripe in groups
        for number, group in enumerate(of_stripe)
    ]


def _entries(file: ORCFile, column: str) -> list[dict[str, Any]]:
    kind = file.column_types[column_id(file, column)]
    return [
        {**place, "statistics": json_statistics(group.statistics, kind), "positions": group.positions}
        for place, group in _numbered(file, column)
    ]


def _filters(file: ORCFile, column: str) -> list[dict[str, Any]]:
    return [
        {
            **place,
            "kind": found.kind,
            "hash_functions": found.hash_functions,
            "bits": found.bits,
            "bits_set": found.bits_set,
            "false_positives": found.false_positives,
        }
        for place, group in _numbered(file, column)
        if (found := group.bloom_filter) is not None
    ]


def groups_to_text(described: dict[str, Any]) -> list[str]:
    """The lines of text for the result of :func:`describe_groups`."""
    lines: list[str] = []
    for column, entries in described.get("row_index", {}).items():
        lines += ["", f"Row index of {printable(column)}" + ("" if entries else ": none")]
        header = ["stripe", "group", "first row in stripe", "rows", "values", "nulls", "min", "max", "positions"]
        right = [True, True, True, True, True, False, False, False, False]
        lines += indented(Table(header, right).lines(map(_entry_cells, entries))) if entries else []
    for column, filters in described.get("bloom_filters", {}).items():
        lines += ["", f"Bloom filters of {printable(column)}" + ("" if filters else ": none")]
        header = ["stripe", "group", "rows", "kind", "functions", "bits", "set", "false positives"]
        right = [True, True, True, False, True, True, True, True]
        lines += indented(Table(header, right).lines(map(_filter_cells, filters))) if filters else []
    return lines


def _entry_cells(entry: dict[str, Any]) -> list[str]:
    known = dict(entry["statistics"] or {})
    values, has_null = known.get("values"), known.get("has_null")
    return [
        *(f"{entry[name]:,}" for name in ("stripe", "group", "first_row_in_stripe", "rows")),
        "" if values is None else f"{values:,}",
        {None: "", True: "yes", False: "no"}[has_null],
        bound_cell(known, "min"),
        bound_cell(known, "max"),
        " ".join(map(str, entry["positions"])),
    ]


def _filter_cells(found: dict[str, Any]) -> list[str]:
    return [
        *(f"{found[name]:,}" for name in ("stripe", "group", "rows")),
        found["kind"],
        f"{found['hash_functions']:,}",
        f"{found['bits']:,}",
        f"{found['bits_set'] / found['bits']:.0%}",
        f"{found['false_positives']:.2%}",
    ]
