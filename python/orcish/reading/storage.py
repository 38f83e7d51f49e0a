"""Stored sizes and encodings of columns, from stripe footers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orcish import _native
from orcish.types import ColumnStorage

__all__ = ["column_storage", "encodings_text"]


def column_storage(file: _native.File, stripes: Sequence[int] | None) -> list[ColumnStorage]:
    """The storage of all columns in some stripes, or in all, by column id."""
    found = file.column_storage(stripes)
    total = [data + index for data, index, *_ in found]
    parents = file.column_parents
    # A column has a greater id than those that it is nested in.
    for id in range(len(found) - 1, 0, -1):
        parent = parents[id]
        if parent is not None:
            total[parent] += total[id]
    return [
        ColumnStorage(name, data, index, size, encodings, streams, entries)
        for name, (data, index, streams, entries, encodings), size in zip(file.column_paths, found, total, strict=True)
    ]


def encodings_text(encodings: Mapping[str, int]) -> str:
    """Encodings with their numbers of stripes, the most frequent one first: ``DICTIONARY_V2 12, DIRECT_V2 3``."""
    ordered = sorted(encodings.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {count}" for name, count in ordered)
