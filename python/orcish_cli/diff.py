"""``orcish diff``: differences of two files or tables."""

from __future__ import annotations

import argparse
import operator
from collections.abc import Iterator
from typing import Any

from orcish import diff
from orcish.terminal import printable
from orcish.types import ColumnChange, Difference, Differences, ReadOptions

from orcish_cli.arguments import (
    LIST,
    add_external,
    add_limit,
    add_option,
    add_options,
    add_storage,
    count,
    storage_of,
)
from orcish_cli.messages import shown_name
from orcish_cli.terminal import Column, json_line, json_text_of, print_lines, print_objects, print_table, shorten

__all__ = ["add_arguments"]

_SHOWN = 20
_ALL = 1 << 62
_OPTIONS = (
    *("key", "ignore_order", "columns", "filters", "tolerance", "values_only", "check_metadata", "brief"),
    *("max_memory", "invalid_utf8", "timestamps", "timestamp_unit", "masked", "external_locations"),
)
"""Options of :func:`orcish.diff` that are those of the command."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Print the differences of two files or tables: of columns, of the number of rows, and of the values of rows. "
        "Rows are compared by position, or by a key. Values are compared by value in types of different widths; nulls "
        "are equal, and NaN are."
    )
    command.epilog = "Exit codes: 0 where there is no difference, 1 where there is one, 2 for errors."
    command.add_argument("a", metavar="A", help="a file, a folder, a pattern or a URL")
    command.add_argument("b", metavar="B", help="the other one")
    which = command.add_mutually_exclusive_group()
    which.add_argument("-k", "--key", **LIST, help="columns that tell which rows belong together (by position)")
    which.add_argument(
        "--ignore-order", action="store_true", help="rows that are the same belong together, wherever they are"
    )
    add_options(command, ReadOptions, "columns", "filters")
    command.add_argument(
        "--tolerance", type=float, default=0.0, metavar="T", help="floating point values this far apart are equal (0)"
    )
    command.add_argument(
        "--values-only", action="store_true", help="types of other widths and another order of columns are equal"
    )
    command.add_argument(
        "--metadata", dest="check_metadata", action="store_true", help="also user metadata and attributes of columns"
    )
    shown = command.add_mutually_exclusive_group()
    add_limit(shown, "how many values and rows are shown", _SHOWN)
    shown.add_argument("--all", dest="limit", action="store_const", const=_ALL, help="all values and rows are shown")
    command.add_argument(
        "-q", "--brief", action="store_true", help="end at the first difference; print only whether there is one"
    )
    command.add_argument(
        "--max-memory", default="1GB", metavar="SIZE", help="rows of a key are on disk from this size on (1GB)"
    )
    command.add_argument("--width", type=count, default=60, metavar="W", help="widest value (60); 0 for no bound")
    command.add_argument("--json", action="store_true", help="one JSON object a difference, and one of all at the end")
    add_options(command, ReadOptions, "invalid_utf8", "timestamps", "masked")
    unit = "unit in which timestamps are compared, which drops digits beyond it"
    add_option(command, ReadOptions, "timestamp_unit", meaning=unit, usual="exact: none is dropped", default="exact")
    add_storage(command)
    add_external(command)
    command.set_defaults(run=_run, trouble=2)


def _run(options: argparse.Namespace) -> int:
    found = diff(
        options.a,
        options.b,
        **{name: getattr(options, name) for name in _OPTIONS},
        show=1 if options.brief else options.limit,
        storage_options=storage_of(options),
        progress=not options.json,
    )
    a, b = shown_name(options.a), shown_name(options.b)
    if options.json:
        print_objects(_json(found, is_brief=options.brief), json_text_of)
    elif options.brief:
        print_lines([f"{a} and {b} differ"] if found else [])
    elif found:
        _print(found, a, b, options.width or None)
    return 1 if found else 0


def _json(found: Differences, *, is_brief: bool) -> Iterator[dict[str, Any]]:
    for change in found.schema:
        yield {"what": "column", **vars(change)}
    for entry in found.metadata:
        yield {"what": "metadata", **vars(entry)}
    for each in found.shown:
        yield {"what": "row" if each.column is None else "value", **vars(each)}
    counted = ("changed", "only_a", "only_b", "columns", "duplicate_keys")
    counts = {name: None if is_brief and found else getattr(found, name) for name in counted}
    yield {"what": "all", "differ": bool(found), "rows_a": found.rows_a, "rows_b": found.rows_b, **counts}


def _print(found: Differences, a: str, b: str, width: int | None) -> None:
    print_lines([f"A  {a}", f"B  {b}"])
    if found.schema:
        rows = [[change.column, change.a or "", change.b or "", _remark(change)] for change in found.schema]
        _table("Columns", ["column", "A", "B", ""], rows, width)
    if found.metadata:
        rows = [[each.column or "(file)", each.key, _text(each.a), _text(each.b)] for each in found.metadata]
        _table("Metadata", ["column", "key", "A", "B"], rows, width)
    if found.rows_a != found.rows_b or found.changed or found.only_a or found.only_b:
        print_lines(["", *_counts(found)])
    if found.shown:
        rows = [_cells(each) for each in found.shown]
        _table(None, ["row of A", "row of B", "key", "column", "A", "B"], rows, width, right=2)
    total = sum(found.columns.values()) + found.only_a + found.only_b
    if total > len(found.shown):
        print_lines([f"… and {total - len(found.shown):,} more: --limit shows more"])


def _remark(change: ColumnChange) -> str:
    if change.kind == "type":
        return "type" if change.is_compared else "type; not all values are compared"
    return {"only_a": "only in A", "only_b": "only in B", "order": "position"}[change.kind]


def _counts(found: Differences) -> Iterator[str]:
    yield f"Rows: {found.rows_a:,} in A, {found.rows_b:,} in B"
    if found.changed:
        columns = ", ".join(f"{name} {values:,}" for name, values in sorted(found.columns.items(), key=_most))
        yield f"{found.changed:,} rows have different values: {printable(columns)}"
    if found.only_a or found.only_b:
        yield f"{found.only_a:,} rows only in A, {found.only_b:,} rows only in B"
    if found.duplicate_keys:
        yield f"{found.duplicate_keys:,} keys have several rows, which are compared in their order"


def _most(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _table(title: str | None, header: list[str], rows: list[list[str]], width: int | None, right: int = 0) -> None:
    print_lines(["", *([title] if title else [])])
    shown = [[shorten(printable(cell), width) for cell in row] for row in rows]
    keep = [at for at, name in enumerate(header) if name == "" or any(row[at] for row in shown)]
    columns = [Column(header[at], operator.itemgetter(at), at < right) for at in keep]
    print_table(columns, shown, cuts=width is not None)


def _cells(each: Difference) -> list[str]:
    numbers = ["" if row is None else f"{row:,}" for row in (each.row_a, each.row_b)]
    key = "" if each.key is None else ", ".join(f"{name}={_text(value)}" for name, value in each.key.items())
    if each.column is None:
        is_a = each.kind == "only_a"
        row = _text(each.a if is_a else each.b)
        return [*numbers, key, "(row)", row if is_a else "", "" if is_a else row]
    return [*numbers, key, each.column, _text(each.a), _text(each.b)]


def _text(value: Any) -> str:
    return json_line(value, json_text_of)
