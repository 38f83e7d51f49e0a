"""Bounds on the size of a report."""

from __future__ import annotations

import itertools

__all__ = [
    "MAX_COLUMNS",
    "MAX_FILES",
    "MAX_INDEXES",
    "MAX_PARTS",
    "MAX_RANGES",
    "MAX_REMOTE_INDEXES",
    "MAX_STATISTICS",
    "MAX_TILES",
    "runs",
]

MAX_FILES = 100
"""Files that are drawn, the largest ones."""
MAX_COLUMNS = 300
"""Columns that are drawn, the largest ones, and those that they are nested in."""
MAX_TILES = 40_000
"""Columns of stripes that are drawn. Where there are more, adjacent stripes are drawn together."""
MAX_RANGES = 60
"""Columns whose minima and maxima are drawn, the largest ones."""
MAX_INDEXES = 10_000
"""Row indexes of columns in stripes that are read. Where there are more, only statistics of stripes are drawn."""
MAX_REMOTE_INDEXES = 500
"""Likewise, of files of stores and servers, each of which is at least one request."""
MAX_PARTS = 400
"""Bars of a column. Where there are more row groups, adjacent ones have one bar."""
MAX_STATISTICS = 2_000_000
"""Statistics of stripes that are read of a file. Each column reads those of all columns."""


def runs(count: int, most: int) -> list[range]:
    """The numbers below ``count`` in at most ``most`` runs of about the same length."""
    number = min(count, max(most, 1))
    bounds = [count * at // number for at in range(number + 1)] if number else [0]
    return [range(start, end) for start, end in itertools.pairwise(bounds)]
