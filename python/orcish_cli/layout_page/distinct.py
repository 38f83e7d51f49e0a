"""Estimates of the number of distinct values, for which rows are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
from orcish import _native
from orcish.reading.file import ORCFile

__all__ = ["Sketches"]


class Sketches:
    """Sketches of the columns of files that have no columns below them, by their dotted names."""

    def __init__(self) -> None:
        self._sketches: dict[str, _native.Distinct] = {}

    def add(self, file: ORCFile, done: Callable[[int], None]) -> None:
        """Reads all rows of a file; ``done`` takes the rows of each batch."""
        is_struct = file.column_types[0].startswith("struct")
        batches = file.iter_batches(
            arrow_schema=False,
            strings="binary",
            timestamp_unit="auto",
            timestamp_out_of_range="null",
            decimal_out_of_range="null",
            null_map_keys="dictionary",
            masked="allow",
        )
        for batch in batches:
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                for path, array in _leaves(name if is_struct else "", column):
                    self._sketches.setdefault(path, _native.Distinct()).add(array.__arrow_c_array__())
            done(batch.num_rows)

    def estimates(self) -> dict[str, float]:
        """The number of distinct values of each column."""
        return {path: sketch.estimate() for path, sketch in self._sketches.items()}


def _leaves(path: str, array: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """The columns that have no columns below them, with their values. Unions are left out."""
    kind = array.type
    below = f"{path}." if path else ""
    if pa.types.is_struct(kind):
        for field, values in zip(kind, array.flatten(), strict=True):
            yield from _leaves(f"{below}{field.name}", values)
    elif pa.types.is_map(kind):
        start, end = (array.offsets[0].as_py(), array.offsets[-1].as_py()) if len(array) else (0, 0)
        for name, values in (("key", array.keys), ("value", array.items)):
            yield from _leaves(f"{below}{name}", values.slice(start, end - start))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from _leaves(f"{below}element", array.flatten())
    elif not pa.types.is_union(kind):
        yield path, array
