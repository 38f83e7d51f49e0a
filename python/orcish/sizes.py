"""Sizes in bytes that are given as texts."""

from __future__ import annotations

import re

__all__ = ["parse_size"]

UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def parse_size(size: int | str) -> int:
    """Parses a size: a number of bytes, or a text such as ``512MB``, in powers of 1024.

    >>> from orcish.sizes import parse_size
    >>> parse_size("64KiB")
    65536

    Raises:
        ValueError: The size is invalid.
    """
    found = re.fullmatch(r"\s*(\d+)\s*([KMGT]?)(i?B)?\s*", str(size), re.IGNORECASE)
    if found is None or int(found[1]) < 1:
        raise ValueError(f"{size!r} is no size: write bytes, or for example 512MB")
    return int(found[1]) << UNITS[found[2].upper()]
