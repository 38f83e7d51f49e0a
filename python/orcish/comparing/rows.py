"""What a comparison of rows has found, with the first differences, and rows that are compared by their position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from orcish.comparing.names import distinct_names
from orcish.comparing.result import Difference
from orcish.comparing.values import different, is_any, python_value

__all__ = ["Found", "compare_by_position"]


class Found:
    """The differences of rows so far. All are counted, and the first ones are kept.

    Args:
        names: Names of the columns that are compared, in the order of those of the batches. Those of one name are
            numbered.
        keys: Positions of the columns of the key.
        tolerance: How far floating point values may be apart and equal.
        limit: Maximum number of differences that are kept.
    """

    def __init__(self, names: Sequence[str], keys: Sequence[int], tolerance: float, limit: int) -> None:
        self._names = distinct_names(names)
        self._keys = keys
        self._tolerance = tolerance
        self._limit = limit
        self.changed = self.only_a = self.only_b = self.duplicate_keys = 0
        self.columns: Counter[str] = Counter()
        self.shown: list[Difference] = []

    @property
    def is_any(self) -> bool:
        """Whether there is a difference."""
        return bool(self.changed or self.only_a or self.only_b)

    def compare(self, a: pa.RecordBatch, b: pa.RecordBatch, first: int | None = None) -> None:
        """Compares batches of the same number of rows, which belong together.

        Args:
            a: A batch with the columns.
            b: The other batch.
            first: The number of the first row of both; by default, the column after the others has the numbers.
        """
        masks: dict[int, Any] = {}
        rows = pa.repeat(pa.scalar(False), len(a))
        for at, name in enumerate(self._names):
            mask = None if at in self._keys else different(a.column(at), b.column(at), self._tolerance)
            if mask is not None and is_any(mask):
                masks[at] = mask
                rows = pc.or_(rows, mask)
                self.columns[name] += pc.sum(mask).as_py()
        if not masks:
            return
        self.changed += pc.sum(rows).as_py()
        for at in pc.indices_nonzero(rows).slice(0, self._limit - len(self.shown)).to_pylist():
            place = self._number(a, at, first), self._number(b, at, first), self._key(a, at)
            for column, mask in masks.items():
                if mask[at].as_py() and len(self.shown) < self._limit:
                    values = (python_value(each.column(column), at) for each in (a, b))
                    self.shown.append(Difference("changed", *place, self._names[column], *values))

    def only(self, side: Literal["a", "b"], batch: pa.RecordBatch, first: int | None = None) -> None:
        """Adds rows that only one side has; see :meth:`compare`."""
        is_a = side == "a"
        if is_a:
            self.only_a += len(batch)
        else:
            self.only_b += len(batch)
        for at in range(min(len(batch), self._limit - len(self.shown))):
            row = {name: python_value(batch.column(column), at) for column, name in enumerate(self._names)}
            number, key = self._number(batch, at, first), self._key(batch, at)
            self.shown.append(
                Difference("only_a", number, None, key, None, row, None)
                if is_a
                else Difference("only_b", None, number, key, None, None, row)
            )

    def _key(self, batch: pa.RecordBatch, row: int) -> dict[str, Any] | None:
        return {self._names[at]: python_value(batch.column(at), row) for at in self._keys} or None

    def _number(self, batch: pa.RecordBatch, at: int, first: int | None) -> int:
        return batch.column(len(self._names))[at].as_py() if first is None else first + at


def compare_by_position(
    found: Found,
    a: Iterator[pa.RecordBatch],
    b: Iterator[pa.RecordBatch],
    seen: Callable[[int], object],
    *,
    is_brief: bool,
) -> tuple[int, int]:
    """Compares rows in their order.

    Args:
        found: Takes the differences.
        a: Batches of one side.
        b: Batches of the other side, which may have other lengths.
        seen: Is called with the numbers of rows of both sides that are compared.
        is_brief: Whether the comparison ends at the first difference.

    Returns:
        The numbers of rows that were read.
    """
    rows_a = rows_b = 0
    for left, right in _aligned(a, b):
        if left is not None and right is not None:
            found.compare(left, right, rows_a)
        elif left is not None:
            found.only("a", left, rows_a)
        elif right is not None:
            found.only("b", right, rows_b)
        lengths = [0 if each is None else len(each) for each in (left, right)]
        rows_a += lengths[0]
        rows_b += lengths[1]
        seen(sum(lengths))
        if is_brief and found.is_any:
            break
    return rows_a, rows_b


def _aligned(
    a: Iterator[pa.RecordBatch], b: Iterator[pa.RecordBatch]
) -> Iterator[tuple[pa.RecordBatch | None, pa.RecordBatch | None]]:
    """Batches of the same rows of both sides; ``None`` where a side has ended."""
    left = right = None
    while True:
        left, right = _filled(left, a), _filled(right, b)
        if left is None or right is None:
            if left is None and right is None:
                return
            yield left, right
            left = right = None
            continue
        count = min(len(left), len(right))
        yield left.slice(0, count), right.slice(0, count)
        left, right = left.slice(count), right.slice(count)


def _filled(batch: pa.RecordBatch | None, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
    """The batch, or the next one where it has no rows left; ``None`` at the end."""
    return batch if batch is not None and len(batch) else next((each for each in batches if len(each)), None)
