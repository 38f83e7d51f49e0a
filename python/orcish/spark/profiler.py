"""Profiles of the columns of splits, in a worker: of recorded statistics where they are exact, and else of the rows."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812

from orcish import _native
from orcish.arrow.buffers import within
from orcish.reading.file import ORCFile
from orcish.reading.orc_files import OrcFiles
from orcish.reading.scan import Scan, Split, read_split
from orcish.reading.scan_reader import ScanReader
from orcish.spark.column_tree import ColumnNode, FileColumn, locate_columns
from orcish.spark.recorded import ExactStatistics, RecordedStatistics, exact_statistics, plain_bounds

__all__ = ["ColumnProfile", "Profiler"]


@dataclasses.dataclass
class ColumnProfile:
    """The profile of a column over some rows."""

    slots: int = 0
    values: int = 0
    low: Any = None
    """Minimum; of dates and times as an integer."""
    high: Any = None
    size: int | None = 0
    encodings: Counter[str] = dataclasses.field(default_factory=Counter)
    proven: bool = True
    sketch: bytes | None = None

    def merge(self, other: ColumnProfile) -> None:
        """Adds the profile of other rows."""
        self.add(other.slots, other.values, other.low, other.high)
        self.size = None if self.size is None or other.size is None else self.size + other.size
        self.encodings.update(other.encodings)
        self.proven &= other.proven
        if self.sketch is None or other.sketch is None:
            self.sketch = other.sketch if self.sketch is None else self.sketch
            return
        merged = _native.Distinct()
        merged.merge(self.sketch)
        merged.merge(other.sketch)
        self.sketch = merged.to_bytes()

    def add(self, slots: int, values: int, low: Any, high: Any) -> None:
        """Adds values, and widens the bounds."""
        self.slots += slots
        self.values += values
        self.low = min((value for value in (self.low, low) if value is not None), key=_order, default=None)
        self.high = max((value for value in (self.high, high) if value is not None), key=_order, default=None)

    def distinct(self) -> int:
        """Approximate number of distinct values."""
        sketch = _native.Distinct()
        if self.sketch is not None:
            sketch.merge(self.sketch)
        return min(round(sketch.estimate()), self.values)


def _order(value: Any) -> tuple[bool, Any]:
    # As in Spark, NaN is the maximum.
    is_nan = value != value
    return is_nan, 0 if is_nan else value


class Profiler:
    """Profiles splits one after the other."""

    def __init__(self, nodes: Sequence[ColumnNode], distinct: bool, threads: int) -> None:
        self._nodes = nodes
        self._all = [node for top in nodes for node in top.all()]
        self._threads = threads
        self._found = {node.name: ColumnProfile() for node in self._all if node.index is not None}
        leaves = [node for node in self._all if node.index is not None and not node.children] if distinct else []
        self._sketches = {node.name: _native.Distinct() for node in leaves}

    def found(self) -> dict[int, ColumnProfile]:
        """The profiles, by column index."""
        for name, sketch in self._sketches.items():
            self._found[name].sketch = sketch.to_bytes()
        return {node.index: self._found[node.name] for node in self._all if node.index is not None}

    def add(self, split: Split) -> None:
        """Adds the rows of a split."""
        reader = read_split(split, self._threads)
        table = split.source
        if not isinstance(table, OrcFiles):
            # There are no exact statistics of CarbonData.
            for found in self._found.values():
                found.size = None
            self._read(reader, {})
            return
        (of_table,) = table.files
        file = ORCFile(of_table.opened, tail=of_table.tail, limits=table.limits, storage_options=table.storage_options)
        positions = locate_columns(file, self._nodes, table)
        self._add_storage(file, split.stripes, positions)
        proven = self._proven(reader, split, file, positions) if self._is_whole(reader) else {}
        for name, proof in proven.items():
            if name in self._found:
                self._found[name].add(*proof)
        self._read(reader, {name: proof.values for name, proof in proven.items()})

    def _is_whole(self, reader: ScanReader) -> bool:
        """Whether statistics show that all rows pass the filter."""
        if reader.options.get("filters") is None:
            return True
        top = next((node for node in self._nodes if not node.is_partition and not node.children), None)
        proven = None if top is None else reader.select([top.name]).statistics()
        return proven is not None and not any(stripes for _, stripes in proven)

    def _proven(
        self, reader: ScanReader, split: Split, file: ORCFile, positions: dict[str, FileColumn]
    ) -> dict[str, ExactStatistics]:
        """What statistics of the file, and the names of its folders, prove of all rows of a split."""
        altered = {node.name for node in self._all if _is_altered(node.kind, split.options)}
        certain = {name: position for name, position in positions.items() if name not in altered}
        proven = exact_statistics(self._nodes, certain, RecordedStatistics(file, split.stripes), split.rows)
        for node in self._nodes:
            if node.is_partition:
                # The value is the same for all rows; no data is read.
                first = Scan(reader.with_options(filters=None)).select(node.name).limit(1)
                value = first.to_table().column(0).combine_chunks()
                proven[node.name] = ExactStatistics(
                    split.rows, split.rows * (len(value) - value.null_count), *plain_bounds(value)
                )
                if node.name in self._sketches:
                    self._sketches[node.name].add(value.__arrow_c_array__())
        return proven

    def _add_storage(self, file: ORCFile, stripes: list[int], positions: dict[str, FileColumn]) -> None:
        """Adds stored bytes and encodings."""
        storage = file.column_storage(stripes=stripes)
        for node in self._all:
            if node.index is None or node.is_partition:
                continue
            found = self._found[node.name]
            own = positions.get(node.name)
            if own is not None and own.id is not None:
                found.encodings.update(storage[own.id].encodings)
            for part in node.all():
                position = positions.get(part.name)
                if position is None or found.size is None:
                    found.size = None
                elif position.id is not None:
                    # Columns below are added by their own nodes, if they are nodes.
                    ids = (position.id,) if part.children else position.below
                    found.size += sum(storage[id].data_bytes + storage[id].index_bytes for id in ids)

    def _read(self, reader: ScanReader, proven: dict[str, int]) -> None:
        """Reads the columns that are not proven, and those whose distinct values are estimated.

        Args:
            reader: The reader of the split.
            proven: The numbers of values of the columns that are proven.
        """
        reported = {node.name: node for node in self._all if node.index is not None}
        counted = reported.keys() - proven.keys()
        # The value of a partition column has been added already.
        sketched = {
            name for name in self._sketches if name in counted or (proven[name] and not reported[name].is_partition)
        }
        selected = counted | sketched
        if not selected:
            return
        # Names with dots may be ambiguous.
        if selected != reported.keys() and not any("." in node.step for node in self._all):
            reader = reader.select([name for name in reported if name in selected])
        for name in counted:
            self._found[name].proven = False
        for batch in reader.read_batches():
            for top in self._nodes:
                at = batch.schema.get_field_index(top.name)
                for node, array in _parts(top, batch.column(at)) if at >= 0 else ():
                    if not node.children and array.type != node.arrow_type:
                        # Times are numbers.
                        array = array.cast(node.arrow_type)
                    if node.name in counted:
                        bounds = plain_bounds(array) if node.has_order else (None, None)
                        self._found[node.name].add(len(array), len(array) - array.null_count, *bounds)
                    if node.name in sketched:
                        self._sketches[node.name].add(array.__arrow_c_array__())


def _is_altered(kind: T.DataType, options: Mapping[str, Any]) -> bool:
    """Whether options may change values of a type, so that statistics do not describe them."""
    if isinstance(kind, T.StringType | T.BinaryType):
        return bool(options.get("invalid_utf8", "error") != "error" or options.get("long_char", "keep") != "keep")
    return isinstance(kind, T.DecimalType) and options.get("decimal_out_of_range", "error") != "error"


def _parts(node: ColumnNode, array: pa.Array) -> Iterator[tuple[ColumnNode, pa.Array]]:
    """A column and the columns below it, as far as they are read. Fields of null structs are null."""
    yield node, array
    if not node.children:
        return
    if pa.types.is_struct(array.type):
        fields = array.flatten()
        for child in node.children:
            at = array.type.get_field_index(child.step)
            if at >= 0:
                yield from _parts(child, fields[at])
    elif pa.types.is_map(array.type):
        for child, items in zip(node.children, (array.keys, array.items), strict=True):
            yield from _parts(child, within(array, items) if len(array) else items[:0])
    else:
        yield from _parts(node.children[0], array.flatten())
