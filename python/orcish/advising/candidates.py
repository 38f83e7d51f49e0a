"""What is tried on a sample: options, and the columns that rows are sorted and looked up by."""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from orcish.advising.measuring import Candidate, sorted_rows
from orcish.advising.sample import Sample
from orcish.errors import OptionError
from orcish.filters.expression import Expression, col
from orcish.filters.pushdown import Filters
from orcish.filters.text import parse
from orcish.hints import unknown_column

__all__ = [
    "PRESENT",
    "candidate",
    "check_columns",
    "columns_of_filter",
    "is_sortable",
    "lookups_of",
    "of_columns",
    "of_table",
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


def check_columns(
    name: str, rows: pa.Table, partition: Collection[str], lookup: Sequence[str], filters: Sequence[str]
) -> None:
    """Checks the columns that advice is asked for.

    Args:
        name: The source, for errors.
        rows: Rows of its files.
        partition: Names of its folders' columns.
        lookup: Columns that are looked up.
        filters: Columns of a filter, which may be nested.

    Raises:
        UnknownColumnError: There is no such column.
        ValueError: It is a partition column, or its values cannot be looked up.
    """
    names = rows.schema.names
    for given, columns in (("lookup", lookup), ("filters", filters)):
        for column in columns:
            if column in names or column.partition(".")[0] in names:
                continue
            if column in partition:
                raise ValueError(
                    f"{name}: {given}: {column!r} is a partition column, and no file has its values: leave it out, or "
                    "name the folder of a partition"
                )
            raise unknown_column(column, names, f"{name}: {given}")
    for column in lookup:
        if column not in names:
            raise OptionError("lookup", f"{column!r} is a nested column: only those at the top are looked up")
        if names.count(column) > 1:
            raise OptionError("lookup", f"there are several columns {column!r}")
        kind = rows.schema.field(column).type
        if not is_sortable(kind):
            raise OptionError("lookup", f"values of {column!r}, of type {kind}, cannot be looked up")


def columns_of_filter(filters: Filters | None) -> list[str]:
    """The columns of a filter in SQL or of :func:`orcish.col`; those of other filters are not looked at."""
    found = parse(filters) if isinstance(filters, str) else filters
    return list(dict.fromkeys(found.columns)) if isinstance(found, Expression) else []


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
    step = stride or 10_000
    starts = range(0, len(rows), step)[:_MAX_GROUPS]
    scattered: list[tuple[float, str]] = []
    clustered: list[str] = []
    names = rows.schema.names
    for name in dict.fromkeys(names[:_MAX_COLUMNS]) if len(starts) > 1 else ():
        # Names with dots may be ambiguous in filters.
        is_plain = names.count(name) == 1 and name and "." not in name
        if not is_plain or not is_sortable(rows.schema.field(name).type):
            continue
        column = rows.column(name)
        parts = [column.slice(start, step) for start in starts]
        try:
            total = pc.count_distinct(column).as_py()
            is_clustered = total > 1 and _is_clustered(parts)
            # A row group has as many distinct values as rows, at most.
            share = sum(pc.count_distinct(part).as_py() for part in parts) / len(parts) / max(min(total, step), 1)
        except pa.ArrowNotImplementedError:
            continue
        if is_clustered:
            clustered.append(name)
        elif total > 1 and share >= _SCATTERED:
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


PRESENT = "present"
"""The kind of the candidates with the present options."""
_CODECS: tuple[tuple[str, int | None], ...] = (
    ("zstd", 2),
    ("zstd", 6),
    ("zstd", 12),
    ("zlib", 1),
    ("zlib", 6),
    ("lz4", None),
    ("snappy", None),
    ("none", None),
)
"""Codecs and levels. Brotli is left out, which the C++ library cannot read."""
_DEFAULT_LEVELS = {"zstd": 2, "zlib": 1, "brotli": 5}
_STRIPE_SIZES = (16 << 20, 64 << 20, 256 << 20)
_STRIDE_FACTORS = (4, 0.25)
_LEAST_STRIDE = 1000
_LEVELS = {"zstd": 12, "zlib": 9, "brotli": 9}
"""Levels that are tried for single columns."""
_MAX_ALONE = 8
"""Columns that are tried alone, the largest ones."""
_SIMILAR = 1.5
"""Sizes of stripes whose ratio is at most this are not tried, as they give the same."""


def candidate(
    sample: Sample,
    kind: str,
    label: str,
    changed: dict[str, Any],
    probes: Sequence[str] = (),
    column: str | None = None,
) -> Candidate:
    """A candidate of all rows of the sample, or of one column of it."""
    options = {**sample.present, **changed}
    options.pop("sort_by", None)
    if options.get("bloom_filter_columns"):
        # They need another version.
        options.pop("version", None)
    if column is not None:
        options.pop("bloom_filter_columns", None)
    rows = sample.rows if column is None else sample.rows.select([column])
    return Candidate(kind, label, rows, sample.parts, options, changed, column, probes)


def of_table(
    sample: Sample, lookup: Sequence[str], orders: Sequence[str], probes: Sequence[str]
) -> tuple[list[Candidate], list[str]]:
    """Candidates for all columns, the present options first, and notes of what cannot be tried.

    Args:
        sample: The sample.
        lookup: Columns that are looked up.
        orders: Columns that are tried as the sort order.
        probes: Names of the filters; those of a column are its name.
    """
    present = sample.present
    found = [candidate(sample, PRESENT, "present options", {}, probes)]
    for codec, level in _CODECS:
        if (codec, level) != (present["compression"], _DEFAULT_LEVELS.get(present["compression"])):
            levels = {} if level is None else {"compression_level": level}
            label = codec if level is None else f"{codec}, level {level}"
            found.append(candidate(sample, "compression", label, {"compression": codec, **levels}))
    sizes, notes = _stripe_sizes(sample)
    found += sizes
    stride = present["row_index_stride"]
    for each in [int(stride * factor) for factor in _STRIDE_FACTORS] if stride else [10_000]:
        if _LEAST_STRIDE <= each < len(sample.rows):
            found.append(candidate(sample, "row index stride", f"{each:,} rows", {"row_index_stride": each}, probes))
    blooms = present.get("bloom_filter_columns", [])
    for name in lookup if stride else ():
        if name not in blooms:
            changed = {"bloom_filter_columns": [*blooms, name]}
            found.append(candidate(sample, "bloom filter", name, changed, [name] if name in probes else []))
    for name in orders:
        try:
            sorted_rows(sample.rows.slice(0, 1), name)
        except pa.ArrowNotImplementedError as error:
            notes.append(f"sort order {name}: not tried, as pyarrow does not sort such rows: {error}")
            continue
        found.append(candidate(sample, "sort order", name, {"sort_by": name}, probes))
    return found, notes


def _stripe_sizes(sample: Sample) -> tuple[list[Candidate], list[str]]:
    """Sizes of stripes of which the sample has several, now or then, and a note about others."""
    found, untried = [], []
    for size in _STRIPE_SIZES:
        if 1 / _SIMILAR <= size / sample.stripe_size <= _SIMILAR:
            continue
        text = f"{size >> 20} MiB"
        if sample.stored < 2 * min(size, sample.stripe_size):
            untried.append(text)
            continue
        found.append(candidate(sample, "stripe size", text, {"stripe_size": size}))
        if sample.stored <= size:
            # Larger sizes give the same.
            break
    if not untried:
        return found, []
    few = "which are all of the table" if sample.is_whole else "and a larger sample tells"
    sizes = ", ".join(untried)
    return found, [f"stripes of {sizes} were not tried: the sample has {sample.stored:,} stored bytes, {few}"]


def of_columns(sample: Sample) -> list[Candidate]:
    """Candidates for single columns, each after one with the present options."""
    schema, sizes, codec = sample.rows.schema, sample.sizes, sample.present["compression"]
    found = []
    for name in sorted(sizes, key=lambda each: -sizes[each])[:_MAX_ALONE]:
        # Columns of less than a hundredth of the bytes change nothing. Names with dots may be ambiguous.
        if sizes[name] * 100 < sum(sizes.values()) or schema.names.count(name) != 1 or "." in name:
            continue
        tried: list[tuple[str, str, dict[str, Any]]] = []
        if schema.field(name).type in (pa.string(), pa.large_string()):
            tried += [
                ("dictionary", "with a dictionary", {"dictionary": {name: True}}),
                ("dictionary", "without a dictionary", {"dictionary": {name: False}}),
            ]
        if codec != "none":
            tried.append(("column compression", "not compressed", {"column_compression": {name: "none"}}))
        if level := _LEVELS.get(codec):
            tried.append(("column compression", f"level {level}", {"column_compression": {name: level}}))
        if tried:
            found.append(candidate(sample, PRESENT, "present options", {}, column=name))
            found += [candidate(sample, *each, column=name) for each in tried]
    return found
