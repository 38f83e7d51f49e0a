"""Statistics of several files or stripes as those of one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Literal

from orcish.types import ColumnStatistics

from orcish_cli.moments import bound

__all__ = ["merged_statistics"]


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
    merged = ColumnStatistics(
        kind=_kind(known),
        values=_sum(known, "values") if is_all else None,
        has_null=_has_null(known, is_all),
        bytes_on_disk=_sum(known, "bytes_on_disk") if is_all else None,
    )
    if not is_all or merged.kind == "mixed":
        return merged
    if len({part.is_instant for part in known if part.kind == "timestamp"}) > 1:
        # Instants and wall clocks have no order.
        return merged
    low, high = _part_of(known, "min", min), _part_of(known, "max", max)
    with_values = [part for part in known if part.values != 0]
    return dataclasses.replace(
        merged,
        **{name: getattr(low, name) for name in ("min", "min_is_exact", "min_nanoseconds") if low is not None},
        **{name: getattr(high, name) for name in ("max", "max_is_exact", "max_nanoseconds") if high is not None},
        is_instant=next((part.is_instant for part in known if part.is_instant is not None), None),
        **{name: _sum(with_values, name) for name in ("sum", "total_length", "true_count", "total_children")},
        min_children=_extreme(with_values, "min_children", min),
        max_children=_extreme(with_values, "max_children", max),
    )


def _kind(known: Sequence[ColumnStatistics]) -> str:
    kinds = {part.kind for part in known} - {"none"}
    return "mixed" if len(kinds) > 1 else next(iter(kinds), "none")


def _sum(parts: Sequence[ColumnStatistics], name: str) -> Any:
    found = [getattr(part, name) for part in parts]
    if not found or any(value is None for value in found):
        return None
    total = found[0]
    for value in found[1:]:
        total = total + value
    return total


def _extreme(parts: Sequence[ColumnStatistics], name: str, of: Callable[[list[int]], int]) -> int | None:
    found = [getattr(part, name) for part in parts]
    return None if not found or None in found else of(found)


def _has_null(known: Sequence[ColumnStatistics], is_all: bool) -> bool | None:
    found = [part.has_null for part in known]
    if any(found):
        return True
    return None if not is_all or None in found else False


def _part_of(
    parts: Sequence[ColumnStatistics], name: Literal["min", "max"], of: Callable[..., ColumnStatistics]
) -> ColumnStatistics | None:
    """The part that has the least or greatest bound. Parts without values have none."""
    with_values = [part for part in parts if part.values != 0]
    if not with_values or any(getattr(part, name) is None for part in with_values):
        return None
    return of(with_values, key=lambda each: bound(each, name))
