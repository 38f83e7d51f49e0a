"""Groups of splits, for the tasks of engines."""

from __future__ import annotations

from collections.abc import Sequence

from orcish.reading.scan import Split

__all__ = ["group_splits"]

OPEN_BYTES = 4 << 20
"""Cost of opening a file, as bytes to read."""


def group_splits(splits: Sequence[Split], size: int, least: int) -> list[list[Split]]:
    """Groups splits, in their order, into parts of similar size, which are not much larger than ``size`` bytes.

    Args:
        splits: The splits.
        size: Maximum bytes of a part; a larger split is a part by itself.
        least: Minimum number of parts.
    """
    total = sum(split.size + OPEN_BYTES for split in splits)
    parts: list[list[Split]] = []
    last = -1
    count = max(-(-total // max(size, 1)), least, 1)
    end = 0
    for split in splits:
        middle = end + (split.size + OPEN_BYTES) // 2
        # The part that has the middle of the split.
        at = min(middle * count // max(total, 1), count - 1)
        end += split.size + OPEN_BYTES
        if at != last:
            parts.append([])
        parts[-1].append(split)
        last = at
    return parts
