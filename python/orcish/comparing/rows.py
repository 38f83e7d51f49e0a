"""What a comparison of rows has found, with the first differences, and rows that are compared by their position."""

from __future__ import annotations

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
        self.names = distinct_names(names)
        self.key_columns = list(keys)
        self.tolerance = tolerance
        self.limit = limit
        self.changed = self.only_a = self.only_b = self.duplicate_keys = 0
        self.columns: dict[str, int] = {}
        self.shown: list[Difference] = []

    @property
    def is_any(self) -> bool:
        """Whether there is a difference."""
        return bool(self.changed or self.only_a or self.only_b)

    def compare(self, a: Any, b: Any, rows_a: Any, rows_b: Any) -> None:
        """Compares batches of the same number of rows, which belong together.

        Args:
            a: A batch with the columns.
            b: The other batch.
            rows_a: Numbers of the rows: an array, or the number of the first row.
            rows_b: As of ``a``.
        """
        masks: dict[int, Any] = {}
        for at in range(len(self.names)):
            if at in self.key_columns:
                continue
            x, y = a.column(at), b.column(at)
            mask = different(x, y, self.tolerance)
            if is_any(mask):
                masks[at] = mask
        if not masks:
            return
        rows = None
        for at, mask in masks.items():
            name = self.names[at]
            self.columns[name] = self.columns.get(name, 0) + pc.sum(mask).as_py()
            rows = mask if rows is None else pc.or_(rows, mask)
        self.changed += pc.sum(rows).as_py()
        if len(self.shown) < self.limit:
            self._show_changes(a, b, rows_a, rows_b, pc.indices_nonzero(rows), masks)

    def _show_changes(self, a: Any, b: Any, rows_a: Any, rows_b: Any, rows: Any, masks: dict[int, Any]) -> None:
        for at in rows.slice(0, self.limit - len(self.shown)).to_pylist():
            key = self._key(a, at)
            for column, mask in masks.items():
                if mask[at].as_py() and len(self.shown) < self.limit:
                    values = python_value(a.column(column), at), python_value(b.column(column), at)
                    self.shown.append(
                        Difference(
                            "changed", _number(rows_a, at), _number(rows_b, at), key, self.names[column], *values
                        )
                    )

    def _key(self, batch: Any, row: int) -> dict[str, Any] | None:
        if not self.key_columns:
            return None
        return {self.names[at]: python_value(batch.column(at), row) for at in self.key_columns}

    def only(self, side: Literal["a", "b"], batch: Any, rows: Any) -> None:
        """Adds rows that only one side has; see :meth:`compare`."""
        count = batch.num_rows
        if side == "a":
            self.only_a += count
        else:
            self.only_b += count
        for at in range(min(count, self.limit - len(self.shown))):
            row = {name: python_value(batch.column(column), at) for column, name in enumerate(self.names)}
            key = self._key(batch, at)
            number = _number(rows, at)
            if side == "a":
                self.shown.append(Difference("only_a", number, None, key, None, row, None))
            else:
                self.shown.append(Difference("only_b", None, number, key, None, None, row))


def _number(rows: Any, at: int) -> int:
    return rows + at if isinstance(rows, int) else rows[at].as_py()


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
    left: pa.RecordBatch | None = None
    right: pa.RecordBatch | None = None
    at = 0
    while not (is_brief and found.is_any):
        left, right = _next(left, a), _next(right, b)
        if left is None or right is None:
            break
        count = min(left.num_rows, right.num_rows)
        found.compare(left.slice(0, count), right.slice(0, count), at, at)
        left, right = left.slice(count), right.slice(count)
        at += count
        seen(2 * count)
    counts = {"a": at, "b": at}
    for side, rest, batches in (("a", left, a), ("b", right, b)):
        while not (is_brief and found.is_any) and (rest := _next(rest, batches)) is not None:
            found.only("a" if side == "a" else "b", rest, counts[side])
            counts[side] += rest.num_rows
            seen(rest.num_rows)
            rest = None
    return counts["a"], counts["b"]


def _next(batch: pa.RecordBatch | None, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
    """The batch, or the next one where it has no rows left; ``None`` at the end."""
    while batch is None or not batch.num_rows:
        batch = next(batches, None)
        if batch is None:
            return None
    return batch
