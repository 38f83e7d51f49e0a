"""Patterns of paths within file systems that the native core does not list. The native core has the same rules."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence

from orcish.io.paths import is_hidden

__all__ = ["matches", "segments"]

ANY_DEPTH = "**"
"""A segment that matches any number of segments, including none."""
SETS = re.compile(r"\[!?\]?[^\]]*\]")
"""A set of characters in a segment."""


def segments(pattern: str) -> list[str]:
    """The segments of a pattern.

    Raises:
        ValueError: A segment is no pattern.
    """
    found = [segment for segment in pattern.split("/") if segment]
    for segment in found:
        rest = SETS.sub("", segment)
        if "[" in rest:
            raise ValueError(f"{segment!r} is no pattern: a set of characters that '[' begins has no ']'")
        if segment != ANY_DEPTH and ANY_DEPTH in rest:
            raise ValueError(f"{segment!r} is no pattern: '**' is a segment of its own")
    return found


def matches(pattern: Sequence[str], names: Sequence[str]) -> bool:
    """Whether the segments of a pattern match those of a path, or of a folder above it. In the latter case, the
    remaining segments of the path must not be hidden.
    """
    if not pattern:
        return not any(map(is_hidden, names))
    if pattern[0] == ANY_DEPTH:
        is_below = bool(names) and not is_hidden(names[0]) and matches(pattern, names[1:])
        return is_below or matches(pattern[1:], names)
    return bool(names) and _matches_name(pattern[0], names[0]) and matches(pattern[1:], names[1:])


def _matches_name(segment: str, name: str) -> bool:
    """Whether a segment matches a name. A glob matches a hidden name only if both begin with the same character."""
    return fnmatch.fnmatchcase(name, segment) and (not is_hidden(name) or segment[0] == name[0])
