"""The bytes of a file: stripes, their indexes, data and footers, and the streams of columns in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from orcish.reading.column_keys import Key
from orcish.reading.file import ORCFile
from orcish.terminal import printable
from orcish.types import ColumnStorage, StripeInfo

from orcish_cli.layout_page.bounds import runs
from orcish_cli.layout_page.columns import BLOOMS, Columns

__all__ = ["Run", "describe_file", "stored_runs"]

INDEXES = frozenset(("ROW_INDEX", *BLOOMS))
"""Kinds of streams that are indexes."""


class Run(NamedTuple):
    """Adjacent stripes."""

    stripes: range
    storage: list[ColumnStorage]
    """The storage of all columns in these stripes, by column id."""


def stored_runs(file: ORCFile, most: int) -> list[Run]:
    """The stripes of a file in at most ``most`` runs. The stripe footers are read."""
    return [Run(run, file.column_storage(stripes=list(run))) for run in runs(file.num_stripes, most)]


def describe_file(
    name: str, file: ORCFile, stored: Sequence[Run], keys: Sequence[Key], columns: Columns
) -> dict[str, Any]:
    """The bytes of a file as JSON values.

    Args:
        name: The name of the file, for people.
        file: The file.
        stored: Its stripes.
        keys: The keys of its columns.
        columns: The columns of the report.
    """
    positions = [columns.position(key) for key in keys]
    stripes = file.stripes
    length = sum(stripe.index_length + stripe.data_length + stripe.footer_length for stripe in stripes)
    return {
        "name": name,
        "bytes": file.file_length,
        "rows": file.num_rows,
        "stripe_count": len(stripes),
        "compression": file.compression,
        "chunk": file.compression_chunk_size,
        "stride": file.row_index_stride,
        "version": file.version,
        "writer": printable(file.writer),
        "encrypted": [printable(each) for each in file.encrypted_columns],
        "tail": file.file_length - length,
        "stripes": [_described(stripes, run, positions) for run in stored],
    }


def _described(all_stripes: Sequence[StripeInfo], stored: Run, positions: Sequence[int | None]) -> dict[str, Any]:
    run = stored.stripes
    stripes = all_stripes[run.start : run.stop]
    streams: dict[int, dict[str, int]] = {}
    others = {"index": 0, "data": 0}
    for at, column in zip(positions, stored.storage, strict=True):
        for kind, size in column.streams.items():
            if not size:
                continue
            if at is None:
                others["index" if kind in INDEXES else "data"] += size
            else:
                streams.setdefault(at, {})[kind] = size
    return {
        "first": run.start,
        "count": len(run),
        "rows": sum(stripe.num_rows for stripe in stripes),
        "first_row": stripes[0].first_row,
        "offset": stripes[0].offset,
        "index": sum(stripe.index_length for stripe in stripes),
        "data": sum(stripe.data_length for stripe in stripes),
        "footer": sum(stripe.footer_length for stripe in stripes),
        "columns": [[at, kinds] for at, kinds in streams.items()],
        "others": others,
    }
