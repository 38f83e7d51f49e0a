"""The bytes of a file: stripes, their indexes, data and footers, and the streams of columns in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orcish.layout.bounds import runs
from orcish.layout.columns import BLOOMS, Columns, Key
from orcish.reading.file import ORCFile
from orcish.terminal import printable

__all__ = ["describe_file"]

INDEXES = frozenset(("ROW_INDEX", *BLOOMS))
"""Kinds of streams that are indexes."""


def describe_file(name: str, file: ORCFile, keys: Sequence[Key], columns: Columns, most: int) -> dict[str, Any]:
    """The bytes of a file as JSON values.

    Args:
        name: The name of the file, for people.
        file: The file.
        keys: The keys of its columns.
        columns: The columns of the report.
        most: Number of stripes, or of runs of adjacent stripes, at most.
    """
    positions = [columns.position(key) for key in keys]
    stripes = file.stripes
    stored = sum(stripe.index_length + stripe.data_length + stripe.footer_length for stripe in stripes)
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
        "tail": file.file_length - stored,
        "stripes": [_stripe(file, run, positions) for run in runs(len(stripes), most)],
    }


def _stripe(file: ORCFile, run: range, positions: Sequence[int | None]) -> dict[str, Any]:
    """Adjacent stripes."""
    stripes = file.stripes[run.start : run.stop]
    streams: dict[int, dict[str, int]] = {}
    others = {"index": 0, "data": 0}
    for at, column in zip(positions, file.column_storage(stripes=list(run)), strict=True):
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
