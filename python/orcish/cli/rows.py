"""``orcish data``: the first rows of a file, as JSON lines and as an aligned table."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from orcish.cli.pieces import pieces
from orcish.cli.text import Table, json_line, printable, shorten
from orcish.cli.values import to_json
from orcish.file import ORCFile
from orcish.scan import Scan
from orcish.types import ReadOptions

__all__ = ["first_rows", "first_rows_of", "json_lines", "table_lines"]

_BATCH_SIZE = 8192


def first_rows(file: ORCFile, limit: int | None, stripe: int | None, options: ReadOptions) -> Iterator[pa.RecordBatch]:
    """Batches of the first rows of a file, or of one of its stripes; no other stripes are read."""
    options = options.copy()
    left = file.num_rows if limit is None else limit
    if stripe is None:
        options["stripes"] = [index for index, info in enumerate(file.stripes) if info.first_row < left]
    else:
        options["stripes"] = [stripe]
    options["batch_size"] = max(1, min(left, _BATCH_SIZE))
    for batch in file.iter_batches(**options):
        yield batch.slice(0, left)
        left -= batch.num_rows
        if left <= 0:
            return


def first_rows_of(scan: Scan, limit: int | None) -> Iterator[pa.RecordBatch]:
    """Batches of the first rows of a table."""
    if limit is not None:
        scan = scan.limit(limit)
    return scan.batch_size(_BATCH_SIZE).to_batches()


def json_lines(batches: Iterable[pa.RecordBatch]) -> Iterator[str]:
    """A JSON object for each row."""
    for batch in batches:
        names = batch.schema.names
        for row in itertools.chain.from_iterable(map(_rows, pieces(batch))):
            yield json_line(dict(zip(names, row, strict=True)))


def table_lines(schema: pa.Schema, batches: Iterable[pa.RecordBatch], max_width: int | None) -> Iterator[str]:
    """The rows under the names of their columns; cells wider than ``max_width`` are cut off."""
    names = [shorten(printable(name), max_width) for name in schema.names]
    table = Table(names, [_is_number(field.type) for field in schema])
    # One block without rows, so that there is a header even where there is no row.
    parts = itertools.chain.from_iterable(map(pieces, batches))
    for rows in itertools.chain(map(_rows, parts), [()]):
        yield from table.lines([shorten(_cell(value), max_width) for value in row] for row in rows)


def _rows(batch: pa.RecordBatch) -> Sequence[tuple[Any, ...]]:
    if batch.num_columns == 0:
        return [()] * batch.num_rows
    return list(zip(*map(to_json, batch.columns), strict=True))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _cell(value: Any) -> str:
    return printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
