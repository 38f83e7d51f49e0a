"""Rows that are matched by the values of a key."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from orcish.comparing.codes import codes, combined_codes, hashes, mixed
from orcish.comparing.leaves import all_comparable
from orcish.comparing.rows import Found

__all__ = ["ROW", "buckets", "check_keys", "compare_tables"]

ROW = "row"
"""The last column of a table of rows: their numbers. Other columns may have the same name."""
_SLICE = 65_536


def check_keys(name: str, a: pa.Schema, b: pa.Schema, keys: Sequence[int]) -> None:
    """Checks that rows can be matched by these columns.

    Raises:
        TypeError: A column has types whose values cannot all be compared.
    """
    for at in keys:
        key, kinds = a.field(at).name, (a.field(at).type, b.field(at).type)
        if not all_comparable(*kinds):
            raise TypeError(f"{name}: column {key} is {kinds[0]} in one and {kinds[1]} in the other: they never match")


def buckets(columns: Sequence[Any], types: Sequence[Any], count: int) -> Any:
    """The number of the bucket of each row, given the columns of its key.

    Args:
        columns: Arrays.
        types: The types of these columns on the other side. Equal values have equal buckets.
        count: How many buckets there are.
    """
    total: Any = None
    for array, other in zip(columns, types, strict=True):
        found = hashes(array, other)
        total = found if total is None else mixed(total, found)
    # The upper bits depend on all bits of a product.
    spread = pc.shift_right(mixed(total, pa.scalar(0, pa.int64())), pa.scalar(33, pa.int64()))
    positive = pc.bit_wise_and(spread, pa.scalar((1 << 31) - 1, pa.int64()))
    return pc.subtract(
        positive, pc.multiply(pc.divide(positive, pa.scalar(count, pa.int64())), pa.scalar(count, pa.int64()))
    )


def _codes(a: Any, b: Any, keys: Sequence[int]) -> tuple[Any, Any]:
    """One number for each row of both tables, equal for equal keys. Nulls and NaNs are equal."""
    total = combined_codes([codes(*(_array(table.column(at)) for table in (a, b))) for at in keys])
    return total.slice(0, a.num_rows), total.slice(a.num_rows)


def _array(column: Any) -> Any:
    """A column as one array."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if not column.num_chunks:
        return pa.nulls(0, column.type)
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


class _Matches(NamedTuple):
    """Positions of rows that belong together, and of those without a partner."""

    a: Any
    b: Any
    only_a: Any
    only_b: Any
    duplicates: int
    """Keys that several rows of one side have."""


def _matches(a: Any, b: Any) -> _Matches:
    """Matches rows by their codes. Rows of one key are matched in their order."""
    twice = pc.unique(pa.concat_arrays([_repeated(a), _repeated(b)]))
    position = pc.index_in(a, value_set=b)
    if not len(twice):
        is_matched = position.is_valid()
        only_a = pc.indices_nonzero(pc.invert(is_matched))
        only_b = pc.indices_nonzero(pc.invert(pc.is_in(b, value_set=a)))
        return _Matches(pc.indices_nonzero(is_matched), position.filter(is_matched), only_a, only_b, 0)
    is_once = pc.and_(position.is_valid(), pc.invert(pc.is_in(a, value_set=twice)))
    left, right = pc.indices_nonzero(is_once).to_pylist(), position.filter(is_once).to_pylist()
    waiting: dict[int, deque[int]] = defaultdict(deque)
    of_twice = pc.indices_nonzero(pc.is_in(b, value_set=twice))
    for code, row in zip(b.take(of_twice).to_pylist(), of_twice.to_pylist(), strict=True):
        waiting[code].append(row)
    only_a = pc.indices_nonzero(position.is_null()).to_pylist()
    of_twice = pc.indices_nonzero(pc.and_(position.is_valid(), pc.is_in(a, value_set=twice)))
    for code, row in zip(a.take(of_twice).to_pylist(), of_twice.to_pylist(), strict=True):
        if waiting[code]:
            left.append(row)
            right.append(waiting[code].popleft())
        else:
            only_a.append(row)
    # Keys of b alone that are there twice are waiting, too.
    once_of_b = pc.indices_nonzero(
        pc.invert(pc.or_(pc.is_in(b, value_set=a), pc.is_in(b, value_set=twice)))
    ).to_pylist()
    only_b = sorted([*once_of_b, *(row for rows in waiting.values() for row in rows)])
    x, y, z, w = (pa.array(rows, pa.int64()) for rows in (left, right, sorted(only_a), only_b))
    return _Matches(x, y, z, w, len(twice))


def _repeated(codes: Any) -> Any:
    """The codes that are there more than once."""
    counts = codes.value_counts()
    return counts.field("values").filter(pc.greater(counts.field("counts"), 1))


def compare_tables(found: Found, a: pa.Table, b: pa.Table) -> None:
    """Compares rows of two tables by the key. The last column of each has the numbers of the rows."""
    a, b = a.combine_chunks(), b.combine_chunks()
    matches = _matches(*_codes(a, b, found.key_columns))
    found.duplicate_keys += matches.duplicates
    for start in range(0, len(matches.a), _SLICE):
        x, y = _taken(a, matches.a.slice(start, _SLICE)), _taken(b, matches.b.slice(start, _SLICE))
        found.compare(x, y, x.column(x.num_columns - 1), y.column(y.num_columns - 1))
    for table, rows, is_a in ((a, matches.only_a, True), (b, matches.only_b, False)):
        for start in range(0, len(rows), _SLICE):
            part = _taken(table, rows.slice(start, _SLICE))
            found.only("a" if is_a else "b", part, part.column(part.num_columns - 1))


def _taken(table: pa.Table, rows: Any) -> pa.RecordBatch:
    columns = [_array(column.take(rows)) for column in table.columns]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)
