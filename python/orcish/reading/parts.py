"""The last rows of a scan, and rows at random: only the stripes that have them are read."""

from __future__ import annotations

import array
import collections
import functools
import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import pyarrow as pa

from orcish.reading.scan_reader import ScanReader
from orcish.reading.taking import taken

__all__ = ["last_rows", "sampled_rows"]

MAX_LIST = 1 << 20
"""Rows of a sample up to which their positions are a list of Python."""
MAX_SAMPLE = 1 << 30
"""Maximum rows of a sample."""
ONE_STRIPE = 1
"""Size of splits that have one stripe each."""
MAX_PARTS = 256
"""Parts of a scan that have one stripe each, at most. Parts of larger scans have a 256th of the bytes."""


def last_rows(reader: ScanReader, rows: int) -> pa.Table:
    """The last rows of a scan, in their order.

    Stripes are read from the last one on, until there are enough rows. Where a limit, or a filter about all rows at
    once, decides which rows there are, all rows are read.
    """
    return reader.with_null_keys(functools.partial(_last_rows, rows=rows))


def _last_rows(reader: ScanReader, rows: int) -> pa.Table:
    found: collections.deque[pa.RecordBatch] = collections.deque()
    missing = rows
    for part in reversed(_parts(reader)) if rows else ():
        last = _last_batches(part.open(), missing)
        missing -= sum(map(len, last))
        found.extendleft(reversed(last))
        if missing == 0:
            break
    return _table(reader.selected_schema, found)


def _last_batches(reader: ScanReader, rows: int) -> list[pa.RecordBatch]:
    """Batches of the last rows of a reader; no others are kept."""
    kept: collections.deque[pa.RecordBatch] = collections.deque()
    count = 0
    for batch in reader.read_batches():
        kept.append(batch)
        count += len(batch)
        while count - len(kept[0]) >= rows:
            count -= len(kept.popleft())
    if count > rows:
        kept[0] = kept[0].slice(count - rows)
    return list(kept)


def sampled_rows(reader: ScanReader, rows: int | None, fraction: float | None, seed: int | None) -> pa.Table:
    """Rows of a scan at random, without repetition, in their order. Each set of rows of this size is equally likely.

    Positions are chosen by the number of rows of each stripe that pass the filter. Stripes without a chosen row are not
    read, but for the columns of the filter.

    Args:
        reader: The scan.
        rows: How many rows; all if there are less.
        fraction: The part of all rows, from 0 to 1, in place of ``rows``.
        seed: The same seed chooses the same rows of the same files.
    """
    return reader.with_null_keys(functools.partial(_sampled_rows, rows=rows, fraction=fraction, seed=seed))


def _sampled_rows(reader: ScanReader, rows: int | None, fraction: float | None, seed: int | None) -> pa.Table:
    schema = reader.selected_schema
    parts = _parts(reader)
    counts = [part.open().count() if part.rows is None else part.rows for part in parts]
    total = sum(counts)
    wanted = min(total, round(total * fraction) if fraction is not None else rows or 0)
    if wanted > MAX_SAMPLE:
        raise ValueError(
            f"{reader.name}: a sample of {wanted:,} rows is larger than {MAX_SAMPLE:,}: give fewer rows, or a smaller "
            "fraction"
        )
    if not schema.names:
        return _without_columns(wanted)
    positions = _positions(random.Random(seed), total, wanted)
    tables: list[pa.Table] = []
    at = 0
    for part, count, end in zip(parts, counts, itertools.accumulate(counts), strict=True):
        first, begin = end - count, at
        while at < wanted and positions[at] < end:
            at += 1
        if at > begin:
            opened = part.open()
            tables.append(taken(schema, opened.read_batches, [position - first for position in positions[begin:at]]))
    return pa.concat_tables(tables) if tables else _table(schema, ())


def _positions(chance: random.Random, total: int, wanted: int) -> Sequence[int]:
    """Sorted positions at random. Those of many rows take eight bytes each."""
    if wanted <= MAX_LIST:
        return sorted(chance.sample(range(total), wanted))
    found, left, draw = array.array("q"), wanted, chance.random
    for at in range(total):
        if (total - at) * draw() < left:
            found.append(at)
            left -= 1
            if not left:
                break
    return found


class _Part(NamedTuple):
    """A part of a scan, which is opened anew each time that it is read: an open file keeps its tail in memory."""

    open: Callable[[], ScanReader]
    rows: int | None
    """The number of its rows; ``None`` where they have to be read to be counted."""


def _parts(reader: ScanReader) -> list[_Part]:
    """Each stripe that may have rows, or several ones where there are many; all in one if rows are only known of the
    whole scan.
    """
    if not reader.takes_filters():
        return [_Part(lambda: reader, None)]
    parts = reader.splits(ONE_STRIPE)
    if len(parts) > MAX_PARTS:
        # The tail of a file is decoded for each of its parts: the work would grow with the square of the stripes.
        parts = reader.splits(sum(part.size for part in parts) // MAX_PARTS + 1)
    is_counted = reader.options.get("filters") is None
    return [
        _Part(functools.partial(ScanReader, part.source, reader.options), part.rows if is_counted else None)
        for part in parts
    ]


def _table(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> pa.Table:
    found = list(batches)
    return pa.Table.from_batches(found, schema) if schema.names else _without_columns(sum(map(len, found)))


def _without_columns(rows: int) -> pa.Table:
    # pyarrow would lose the number of rows of a table that is made without columns.
    return pa.table({"row": pa.nulls(rows)}).select([])
