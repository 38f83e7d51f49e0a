"""Statistics of several files or stripes as those of one."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, Literal

from orcish.types import ColumnStatistics

from orcish_cli.moments import bound

__all__ = ["merged_statistics"]

_EXTREMES: dict[Literal["min", "max"], Callable[..., ColumnStatistics]] = {"min": min, "max": max}


def merged_statistics(parts: Sequence[ColumnStatistics | None]) -> ColumnStatistics | None:
    """The statistics of all rows of several parts, as far as those of the parts tell; ``None`` where no part has any.

    What one part does not know is not known. Bounds of different kinds, such as integers and strings, are not
    comparable, and left out.
    """
    known = [part for part in parts if part is not None]
    if not known:
        return None
    if len(parts) == 1:
        return known[0]
    is_all = len(known) == len(parts)
    kinds = {part.kind for part in known} - {"none"}
    nulls = {part.has_null for part in known}
    merged = ColumnStatistics(
        kind="mixed" if len(kinds) > 1 else next(iter(kinds), "none"),
        values=_merged(known, "values") if is_all else None,
        has_null=True if True in nulls else False if is_all and nulls == {False} else None,
        bytes_on_disk=_merged(known, "bytes_on_disk") if is_all else None,
    )
    # Instants and wall clocks have no order.
    zones = {part.is_instant for part in known if part.kind == "timestamp"}
    if not is_all or merged.kind == "mixed" or len(zones) > 1:
        return merged
    # Parts without values have no bounds.
    with_values = [part for part in known if part.values != 0]
    bounds: dict[str, Any] = {}
    for name, extreme in _EXTREMES.items():
        if with_values and all(getattr(part, name) is not None for part in with_values):
            found = extreme(with_values, key=lambda part, name=name: bound(part, name))
            bounds |= {each: getattr(found, each) for each in (name, f"{name}_is_exact", f"{name}_nanoseconds")}
    return dataclasses.replace(
        merged,
        **bounds,
        is_instant=next((part.is_instant for part in known if part.is_instant is not None), None),
        **{name: _merged(with_values, name) for name in ("sum", "total_length", "true_count", "total_children")},
        min_children=_merged(with_values, "min_children", min),
        max_children=_merged(with_values, "max_children", max),
    )


def _merged(parts: Sequence[ColumnStatistics], name: str, merge: Callable[..., Any] = operator.add) -> Any:
    """A number of all parts; ``None`` if a part does not know it."""
    found = [getattr(part, name) for part in parts]
    return None if not found or None in found else functools.reduce(merge, found)
