"""Exact statistics of columns, from those that files record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T  # noqa: N812

from orcish import _native
from orcish.arrow.exported import ExportedArray
from orcish.reading.file import ORCFile, native_file
from orcish.spark.column_tree import ColumnNode, FileColumn

__all__ = ["ExactStatistics", "RecordedStatistics", "exact_statistics", "plain_bounds", "plain_type"]


class ExactStatistics(NamedTuple):
    """Exact statistics of a column."""

    slots: int
    """Number of rows, or, inside of lists and maps, of elements."""
    values: int
    low: Any = None
    high: Any = None


class RecordedStatistics:
    """The statistics that a file records for some of its stripes."""

    def __init__(self, file: ORCFile, stripes: Sequence[int]) -> None:
        self._file = file
        # For all stripes, the file has statistics in its footer.
        self._stripes = None if sorted(stripes) == list(range(file.num_stripes)) else list(stripes)
        self._of_stripes: list[list[dict[str, Any]]] | None = None

    def of(self, id: int) -> list[dict[str, Any]]:
        """Statistics of a column, which together describe all rows; each may be empty."""
        if self._stripes is None:
            return [native_file(self._file).column_statistics(id) or {}]
        if self._of_stripes is None:
            native = native_file(self._file)
            all_stripes = native.stripe_statistics()
            is_whole = len(all_stripes) == self._file.num_stripes
            self._of_stripes = [all_stripes[at] if is_whole else [] for at in self._stripes]
        return [columns[id] if id < len(columns) else {} for columns in self._of_stripes]


def exact_statistics(
    nodes: Sequence[ColumnNode], positions: dict[str, FileColumn], recorded: RecordedStatistics, rows: int
) -> dict[str, ExactStatistics]:
    """Exact statistics by dotted names; columns without them are left out."""
    made: dict[str, ExactStatistics] = {}
    prover = _StatisticsProver(positions, recorded, made)
    for node in nodes:
        if not node.is_partition:
            prover.prove(node, rows)
    return made


class _StatisticsProver:
    def __init__(
        self, positions: dict[str, FileColumn], recorded: RecordedStatistics, made: dict[str, ExactStatistics]
    ) -> None:
        self._positions = positions
        self._recorded = recorded
        self._made = made

    def _statistics(self, node: ColumnNode) -> list[dict[str, Any]]:
        position = self._positions.get(node.name)
        if position is None:
            return [{}]
        return [{"values": 0, "has_null": True}] if position.id is None else self._recorded.of(position.id)

    def prove(self, node: ColumnNode, slots: int | None) -> None:
        found = self._statistics(node)
        values = _sum(found)
        if slots is not None and values is not None and values <= slots:
            position = self._positions[node.name]
            bounds = _bounds(node, position, [one for one in found if one["values"] > 0])
            if bounds is not None:
                self._made[node.name] = ExactStatistics(slots, values, *bounds)
        if isinstance(node.kind, T.StructType):
            for child in node.children:
                self.prove(child, slots)
            return
        below = 0 if values == 0 else self._elements(node)
        for child in node.children:
            self.prove(child, below)

    def _elements(self, node: ColumnNode) -> int | None:
        """Number of elements or entries: that of the values of a child, if none is null."""
        for child in node.children:
            found = self._statistics(child)
            if all(one.get("has_null") is False for one in found):
                return _sum(found)
        return None


def _sum(found: list[dict[str, Any]]) -> int | None:
    values = [one.get("values") for one in found]
    return None if None in values else sum(value for value in values if value is not None)


def _bounds(node: ColumnNode, position: FileColumn, found: list[dict[str, Any]]) -> tuple[Any, Any] | None:
    """Minimum and maximum; ``None`` where they are not exact."""
    if not node.has_order or not found:
        return None, None
    # A conversion to another type may change the order.
    if position.kind is None or not position.kind.equals(node.scan_type):
        return None
    low, high = ([_exact_bound(one, position.kind, function) for one in found] for function in ("min", "max"))
    if any(value is None for value in (*low, *high)):
        return None
    return min(low), max(high)


def _exact_bound(found: dict[str, Any], kind: pa.DataType, function: str) -> Any:
    """The minimum or maximum of values, as of :func:`plain_bounds`; ``None`` where it is not known."""
    bound = _native.exact_bound(found, pa.schema({"": kind}).__arrow_c_schema__(), function)
    return None if bound is None else plain_bounds(pa.array(ExportedArray(bound)))[0]


def plain_type(kind: pa.DataType) -> pa.DataType | None:
    """The numbers that dates and times are; ``None`` for other types. Python does not have all dates."""
    if pa.types.is_date32(kind):
        return pa.int32()
    types = pa.types
    return pa.int64() if types.is_timestamp(kind) or types.is_time64(kind) or types.is_duration(kind) else None


def plain_bounds(array: pa.Array) -> tuple[Any, Any]:
    """Minimum and maximum; ``None`` if there are no values. As in Spark, NaN is the maximum."""
    if array.null_count == len(array):
        return None, None
    nan = None
    if pa.types.is_floating(array.type):
        is_nan = pc.is_nan(array)
        if pc.any(is_nan).as_py():
            nan = float("nan")
            array = array.filter(pc.invert(is_nan))
    plain = plain_type(array.type)
    found = pc.min_max(array if plain is None else array.view(plain))
    low, high = found["min"].as_py(), found["max"].as_py()
    return (nan if low is None else low), (high if nan is None else nan)
