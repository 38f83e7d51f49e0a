"""The columns of a sample: which ones are worth a trial of their own, and values to look for."""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from orcish.errors import OptionError, UnknownColumnError, closest_match
from orcish.filters.expression import Expression, col
from orcish.filters.pushdown import Filters
from orcish.filters.text import parse

__all__ = [
    "Orders",
    "check_lookups",
    "check_names",
    "columns_of_filter",
    "is_sortable",
    "is_text",
    "lookups_of",
    "orders_of",
]

_MAX_COLUMNS = 200
"""Columns whose distinct values are counted."""
_MAX_ORDERS = 3
"""Columns that are tried as the sort order, beside those that are looked up."""
_MAX_CLUSTERED = 2
"""Clustered columns whose lookups are tried, as other sort orders may harm them."""
_MAX_GROUPS = 20
"""Row groups that are looked at."""
_LOOKUPS = 10
"""Values that are looked for."""
_SCATTERED = 0.5
"""Share of the distinct values that a row group has, from which on a column is tried as the sort order."""


def check_names(name: str, schema: pa.Schema, partition: Collection[str], given: str, columns: Sequence[str]) -> None:
    """Checks the columns of an argument.

    Args:
        name: The source, for errors.
        schema: The columns that its files have.
        partition: Names of its folders' columns.
        given: The argument, for errors.
        columns: The columns, which may be nested.

    Raises:
        UnknownColumnError: There is no such column.
        ValueError: It is a partition column.
    """
    for column in columns:
        top = column.partition(".")[0]
        if column in schema.names or top in schema.names:
            continue
        if column in partition:
            raise ValueError(
                f"{name}: {given}: {column!r} is a partition column, and no file has its values: leave it out, or name "
                "the folder of a partition"
            )
        match = closest_match(column, schema.names)
        hint = f"; did you mean {match!r}?" if match else f"; there are {', '.join(schema.names) or 'none'}"
        raise UnknownColumnError(f"{name}: {given}: there is no column {column!r}{hint}")


def check_lookups(rows: pa.Table, lookup: Sequence[str]) -> None:
    """Checks columns that are looked up, and are there.

    Raises:
        ValueError: The values of one cannot be looked up.
    """
    for name in lookup:
        if name not in rows.schema.names:
            raise OptionError("lookup", f"{name!r} is a nested column: only those at the top are looked up")
        if rows.schema.names.count(name) > 1:
            raise OptionError("lookup", f"there are several columns {name!r}")
        if not is_sortable(rows.schema.field(name).type):
            kind = rows.schema.field(name).type
            raise OptionError("lookup", f"values of {name!r}, of type {kind}, cannot be looked up")


def columns_of_filter(filters: Filters | None) -> list[str]:
    """The columns of a filter in SQL or of :func:`orcish.col`; those of other filters are not looked at."""
    found = parse(filters) if isinstance(filters, str) else filters
    return list(dict.fromkeys(found.columns)) if isinstance(found, Expression) else []


def is_text(kind: pa.DataType) -> bool:
    """Whether a column can have a dictionary."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_sortable(kind: pa.DataType) -> bool:
    """Whether rows can be sorted by a column of the type."""
    tests = (
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_decimal,
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_binary,
        pa.types.is_date,
        pa.types.is_timestamp,
    )
    return any(test(kind) for test in tests)


class Orders(NamedTuple):
    """Columns by the order of their values."""

    scattered: list[str]
    """Each row group has many of their distinct values, so that filters skip little."""
    clustered: list[str]
    """Ranges of adjacent row groups hardly overlap, so that filters skip much."""


def orders_of(rows: pa.Table, stride: int) -> Orders:
    """Columns that may be sort orders, or are the present one."""
    groups = range(0, len(rows), stride or 10_000)
    step = groups.step
    scattered: list[tuple[float, str]] = []
    clustered: list[str] = []
    names = rows.schema.names
    for name in dict.fromkeys(names[:_MAX_COLUMNS]):
        # Names with dots may be ambiguous in filters.
        is_plain = names.count(name) == 1 and name and "." not in name
        if not is_plain or not is_sortable(rows.schema.field(name).type) or len(groups) < 2:
            continue
        column = rows.column(name)
        try:
            total = pc.count_distinct(column).as_py()
            parts = [column.slice(start, step) for start in groups[:_MAX_GROUPS]]
            if total < 2:
                continue
            if _is_clustered(parts):
                clustered.append(name)
                continue
            # A row group has as many distinct values as rows, at most.
            share = sum(pc.count_distinct(part).as_py() for part in parts) / len(parts) / min(total, step)
        except pa.ArrowNotImplementedError:
            continue
        if share >= _SCATTERED:
            scattered.append((share, name))
    scattered.sort(key=lambda each: -each[0])
    return Orders([name for _, name in scattered[:_MAX_ORDERS]], clustered[:_MAX_CLUSTERED])


def _is_clustered(parts: Sequence[pa.ChunkedArray]) -> bool:
    """Whether the ranges of adjacent parts hardly overlap."""
    bounds = [pc.min_max(part).as_py() for part in parts]
    known = [(each["min"], each["max"]) for each in bounds if each["min"] is not None]
    pairs = list(itertools.pairwise(known))
    apart = sum(1 for (low, high), (next_low, next_high) in pairs if high <= next_low or next_high <= low)
    return bool(pairs) and apart >= len(pairs) / 2


def lookups_of(rows: pa.Table, name: str, seed: int) -> list[Filters]:
    """Filters for single values of a column, which are chosen at random from its rows."""
    column = rows.column(name)
    chance = random.Random(f"{seed} {name}")
    found: dict[Any, Filters] = {}
    for at in chance.sample(range(len(column)), min(len(column), 8 * _LOOKUPS)):
        try:
            value = column[at].as_py()
        except ValueError:
            # Nanoseconds have no type of Python.
            continue
        # NaN is not equal to itself.
        if value is not None and value == value and len(found) < _LOOKUPS:
            found.setdefault(value, col(name) == value)
    return list(found.values())
