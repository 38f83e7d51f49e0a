"""Names of columns and fields, which may be there several times."""

from __future__ import annotations

from collections.abc import Sequence

from orcish.arrow.nested import numbered_names

__all__ = ["distinct_names", "paired_names"]


def paired_names(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Positions of the names that both have, in the order of ``a``. The first of a name belongs to the first one of the
    other side, the second to the second.
    """
    places = {each: at for at, each in enumerate(numbered_names(b))}
    return [(at, places[each]) for at, each in enumerate(numbered_names(a)) if each in places]


def distinct_names(names: Sequence[str]) -> list[str]:
    """Names that are all different: later ones of a name are numbered, such as ``x (2)``."""
    given, found = set(names), dict.fromkeys(names[:0])
    for name in names:
        number, own = 1, name
        while own in found or (number > 1 and own in given):
            number += 1
            own = f"{name} ({number})"
        found[own] = None
    return list(found)
