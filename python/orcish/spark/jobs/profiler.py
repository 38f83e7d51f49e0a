"""Profiling of splits in a worker."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T  # noqa: N812

from orcish import _native
from orcish.reading.file import ORCFile
from orcish.reading.orc_files import OrcFiles
from orcish.reading.scan import Scan, Split, read_split
from orcish.reading.scan_reader import ScanReader
from orcish.reading.storage import encodings_text
from orcish.spark.jobs.column_tree import ColumnNode, FileColumn, locate_columns
from orcish.spark.jobs.statistics import ExactStatistics, RecordedStatistics, exact_statistics
from orcish.spark.table.batches import BatchConverter

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
        self.slots += other.slots
        self.values += other.values
        self.bound(other.low, other.high)
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

    def bound(self, low: Any, high: Any) -> None:
        """Widens the bounds."""
        self.low = min((value for value in (self.low, low) if value is not None), key=_order, default=None)
        self.high = max((value for value in (self.high, high) if value is not None), key=_order, default=None)

    def distinct(self) -> int:
        """Approximate number of distinct values."""
        sketch = _native.Distinct()
        if self.sketch is not None:
            sketch.merge(self.sketch)
        return min(round(sketch.estimate()), self.values)

    def encoded(self) -> str:
        """Encodings with their numbers of stripes, the most frequent one first."""
        return encodings_text(self.encodings)


def _order(value: Any) -> tuple[bool, Any]:
    # As in Spark, NaN is the maximum.
    is_nan = value != value
    return is_nan, 0 if is_nan else value


class Profiler:
    """Profiles splits one after the other."""

    def __init__(self, nodes: Sequence[ColumnNode], zone: str, distinct: bool, threads: int) -> None:
        self._nodes = nodes
        self._all = [node for top in nodes for node in top.all()]
        # Time zone of timestamps in folder names.
        self._zone = zone
        self._threads = threads
        self._found = {node.index: ColumnProfile() for node in self._all if node.index is not None}
        leaves = [node for node in self._all if node.index is not None and not node.children] if distinct else []
        self._sketches = {node.name: _native.Distinct() for node in leaves}

    def found(self) -> dict[int, ColumnProfile]:
        """The profiles, by column index."""
        for node in self._all:
            if node.index is not None and node.name in self._sketches:
                self._found[node.index].sketch = self._sketches[node.name].to_bytes()
        return self._found

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
        file = ORCFile(split.location, tail=of_table.tail, limits=table.limits, storage_options=table.storage_options)
        positions = locate_columns(file, self._nodes, table)
        self._add_storage(file, split.stripes, positions)
        proven: dict[str, ExactStatistics] = {}
        if self._is_whole(reader):
            folders = _values_of_folders(reader, self._nodes)
            altered = {node.name for node in self._all if _is_altered(node.kind, split.options)}
            certain = {name: position for name, position in positions.items() if name not in altered}
            proven = exact_statistics(self._nodes, certain, RecordedStatistics(file, split.stripes), split.rows)
            for node in self._nodes:
                if node.is_partition:
                    array = self._shaped(node, folders.column(node.name))
                    proven[node.name] = ExactStatistics(
                        split.rows, split.rows * len(array.drop_null()), *_bounds(node, array)
                    )
                    if node.name in self._sketches:
                        self._sketches[node.name].add(array.__arrow_c_array__())
        for node in self._all:
            if node.index is None or node.name not in proven:
                continue
            proof, found = proven[node.name], self._found[node.index]
            found.slots += proof.slots
            found.values += proof.values
            found.bound(proof.low, proof.high)
        self._read(reader, proven)

    def _is_whole(self, reader: ScanReader) -> bool:
        """Whether statistics show that all rows pass the filter."""
        if reader.options.get("filters") is None:
            return True
        tops = [node for node in self._nodes if not node.is_partition and not node.children]
        if not tops:
            return False
        proven = reader.select([tops[0].name]).statistics()
        return proven is not None and not any(stripes for _, stripes in proven)

    def _add_storage(self, file: ORCFile, stripes: list[int], positions: dict[str, FileColumn]) -> None:
        storage = file.column_storage(stripes=stripes)
        for node in self._all:
            if node.index is None or node.is_partition:
                continue
            found = self._found[node.index]
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

    def _read(self, reader: ScanReader, proven: dict[str, ExactStatistics]) -> None:
        counted = {node.name for node in self._all if node.index is not None and node.name not in proven}
        sketched = {
            node.name
            for node in self._all
            # The value of a partition column has been added already.
            if node.name in self._sketches
            and (node.name in counted or (not node.is_partition and proven[node.name].values > 0))
        }
        selected = counted | sketched
        if not selected:
            return
        if selected != {node.name for node in self._all if node.index is not None}:
            reader = _narrowed(reader, self._all, selected)
        for node in self._all:
            if node.name in counted and node.index is not None:
                self._found[node.index].proven = False
        for batch in reader.read_batches():
            for top in self._nodes:
                at = batch.schema.get_field_index(top.name)
                if at < 0:
                    continue
                for node, array in _parts(top, batch.column(at)):
                    if node.name in selected:
                        self._count(node, array, node.name in counted, node.name in sketched)

    def _count(self, node: ColumnNode, array: pa.Array, is_counted: bool, is_sketched: bool) -> None:
        if not node.children:
            array = self._shaped(node, array)
        if is_counted and node.index is not None:
            found = self._found[node.index]
            found.slots += len(array)
            found.values += len(array) - array.null_count
            found.bound(*_bounds(node, array))
        if is_sketched:
            self._sketches[node.name].add(array.__arrow_c_array__())

    def _shaped(self, node: ColumnNode, array: pa.Array) -> pa.Array:
        """The values in the type of Spark."""
        if array.type.equals(node.arrow_type):
            return array
        shape = BatchConverter(("",), pa.schema([pa.field("", node.arrow_type)]), self._zone)
        return shape.of(pa.record_batch([array], [""])).column(0)


def _is_altered(kind: T.DataType, options: Mapping[str, Any]) -> bool:
    """Whether options may change values of a type, so that statistics do not describe them."""
    if isinstance(kind, T.StringType | T.BinaryType):
        return bool(options.get("invalid_utf8", "error") != "error" or options.get("long_char", "keep") != "keep")
    return isinstance(kind, T.DecimalType) and options.get("decimal_out_of_range", "error") != "error"


def _values_of_folders(reader: ScanReader, nodes: Sequence[ColumnNode]) -> pa.RecordBatch:
    """The values of partition columns, which are the same for all rows; no data is read."""
    names = [node.name for node in nodes if node.is_partition]
    if not names:
        return pa.record_batch([], [])
    first = Scan(reader.with_options(filters=None)).select(*names).limit(1)
    return first.to_table().to_batches()[0]


def _narrowed(reader: ScanReader, nodes: Sequence[ColumnNode], selected: set[str]) -> ScanReader:
    """The reader of these columns."""
    if any("." in node.step for node in nodes):
        # Names with dots may be ambiguous.
        return reader
    return reader.select([node.name for node in nodes if node.name in selected])


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
        offsets = array.offsets
        start, end = (offsets[0].as_py(), offsets[-1].as_py()) if len(array) else (0, 0)
        for child, items in zip(node.children, (array.keys, array.items), strict=True):
            yield from _parts(child, items.slice(start, end - start))
    else:
        yield from _parts(node.children[0], array.flatten())


def _bounds(node: ColumnNode, array: pa.Array) -> tuple[Any, Any]:
    """Minimum and maximum; ``None`` where there are no values, or no order."""
    kind = array.type
    if not node.has_order or pa.types.is_null(kind) or array.null_count == len(array):
        return None, None
    nan = None
    if pa.types.is_floating(kind):
        is_nan = pc.is_nan(array)
        if pc.any(is_nan).as_py():
            nan = float("nan")
            array = array.filter(pc.invert(is_nan))
    elif pa.types.is_date32(kind):
        array = array.view(pa.int32())
    elif pa.types.is_timestamp(kind) or pa.types.is_time64(kind) or pa.types.is_duration(kind):
        array = array.view(pa.int64())
    found = pc.min_max(array)
    low, high = found["min"].as_py(), found["max"].as_py()
    return (nan if low is None else low), (high if nan is None else nan)
