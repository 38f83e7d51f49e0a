"""The parts of a file whose rows have statistics of their own."""

from __future__ import annotations

from orcish.layout.bounds import MAX_STATISTICS
from orcish.layout.ranges import Part
from orcish.reading.file import ORCFile

__all__ = ["STRIPE", "stripe_parts"]

STRIPE = "stripe"


def stripe_parts(file: ORCFile, column: int, prefix: str) -> list[Part]:
    """The bounds of a column in each stripe; empty where the file has none, or where reading them takes too long.

    Args:
        file: The file.
        column: The column id.
        prefix: What the names of the parts begin with.
    """
    if len(file.column_parents) * file.num_stripes > MAX_STATISTICS:
        return []
    return [
        Part(f"{prefix}stripe {number}", found.min, found.max)
        for number, found in enumerate(file.stripe_statistics(column))
    ]
