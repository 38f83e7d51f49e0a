"""What a column is in all files that have it, whatever its name is."""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

from orcish.reading.file import ORCFile

__all__ = ["Key", "column_keys", "name_of_empty"]

Key: TypeAlias = tuple[tuple[str, int], ...]
"""The dotted names of the columns that a column is nested in, and its own, each with the number of columns of that name
before it in the same column. Names may have dots, and may be empty or the same. The root has the first name, which is
empty.
"""


def column_keys(file: ORCFile) -> list[Key]:
    """The keys of all columns, by column id."""
    parents = file.column_parents
    keys: list[Key] = []
    known: Counter[tuple[Key, str]] = Counter()
    for id, path in enumerate(file.column_paths):
        parent = parents[id]
        above = () if parent is None else keys[parent]
        keys.append((*above, (path, known[above, path])))
        known[above, path] += 1
    return keys


def name_of_empty(key: Key) -> str:
    """What a column is called whose dotted name is empty."""
    return "(root)" if len(key) == 1 else "(no name)"
