"""Profiles of the columns of splits, in a worker: of recorded statistics where they are exact, and else of the rows."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T  # noqa: N812

from orcish import _native
from orcish.arrow.buffers import within
from orcish.arrow.exported import ExportedArray
from orcish.reading.file import ORCFile
from orcish.reading.orc_files import OrcFiles
from orcish.reading.scan import Scan, Split, read_split, reader_of
from orcish.reading.scan_reader import ScanReader
from orcish.spark.schemas import arrow_schema
from orcish.spark.table import SparkTable

__all__ = ["ColumnNode", "ColumnProfile", "Profiler", "column_tree"]


@dataclasses.dataclass(frozen=True)
class ColumnNode:
    """A column, or a nested one."""

    name: str
    """Dotted name."""
    step: str
    """Last step of the name."""
    kind: T.DataType
    arrow_type: pa.DataType
    """Type in Spark."""
    children: tuple[ColumnNode, ...]
    is_partition: bool
    """Whether its values are in folder names."""
    index: int | None
    """Index among the reported columns, which are leaves and top-level columns."""
    is_repeated: bool
    """Whether it is inside of a list or map."""

    def all(self) -> Iterator[ColumnNode]:
        """The node and all nodes below it."""
        yield self
        for child in self.children:
            yield from child.all()

    @property
    def has_order(self) -> bool:
        """Whether minimum and maximum are defined."""
        return not (self.children or pa.types.is_nested(self.arrow_type) or pa.types.is_binary(self.arrow_type))

    def values(self, plain: list[Any]) -> pa.Array:
        """Values that :func:`plain_bounds` has given, in the type of Spark."""
        if pa.types.is_floating(self.arrow_type):
            # Zero has no sign.
            plain = [value if value is None else value + 0.0 for value in plain]
        kind = _plain_type(self.arrow_type)
        return pa.array(plain, self.arrow_type) if kind is None else pa.array(plain, kind).view(self.arrow_type)


def column_tree(table: SparkTable) -> tuple[ColumnNode, ...]:
    """The columns of a table in order."""
    # CarbonData files store the partition columns too.
    source = reader_of(table.scan).source
    by_folder = source.partition_columns if isinstance(source, OrcFiles) else ()
    count = iter(range(1 << 62))

    def node(name: str, step: str, kind: T.DataType, is_top: bool, is_partition: bool, repeated: bool) -> ColumnNode:
        parts = _steps(kind)
        index = next(count) if is_top or not parts else None
        inside = repeated or not isinstance(kind, T.StructType)
        children = tuple(node(f"{name}.{part}", part, inner, False, False, inside) for part, inner in parts)
        arrow = arrow_schema(T.StructType().add(step, kind)).field(0).type
        return ColumnNode(name, step, kind, arrow, children, is_partition, index, repeated)

    pairs = zip(table.names, table.schema, strict=True)
    return tuple(node(name, name, field.dataType, True, name in by_folder, False) for name, field in pairs)


def _steps(kind: T.DataType) -> list[tuple[str, T.DataType]]:
    if isinstance(kind, T.StructType):
        return [(field.name, field.dataType) for field in kind]
    if isinstance(kind, T.ArrayType):
        return [("element", kind.elementType)]
    return [("key", kind.keyType), ("value", kind.valueType)] if isinstance(kind, T.MapType) else []


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
        if not isinstance(split.source, OrcFiles):
            # There are no exact statistics of CarbonData.
            for found in self._found.values():
                found.size = None
            self._read(reader, {})
            return
        self._add_storage(split, split.source)
        proven = self._proven(reader, split)
        for name, (slots, array, bounds) in proven.items():
            self._found[name].add(slots, array, *bounds)
        self._read(reader, {name: values for name, (_, values, _) in proven.items()})

    def _proven(self, reader: ScanReader, split: Split) -> dict[str, tuple[int, int, tuple[Any, Any]]]:
        """The numbers of slots and values, and the bounds, of columns for which statistics of the file prove them."""
        recorded: dict[str, dict[str, Any]] = {}
        is_whole = reader.options.get("filters") is None
        for node in self._all:
            if node.children or node.is_partition or node.is_repeated or "." in node.step:
                continue
            found = reader.select([node.name]).statistics()
            if found is None:
                # Rows have to be read to know which pass the filter.
                return {}
            ((statistics, other_stripes),) = found
            if not other_stripes:
                recorded[node.name] = statistics
        is_whole = is_whole or bool(recorded)
        if not is_whole:
            return {}
        rows = split.rows if reader.options.get("filters") is None else reader.count()
        proven = {}
        for node in self._all:
            statistics = recorded.get(node.name, {})
            if node.is_partition:
                value = Scan(reader.with_options(filters=None)).select(node.name).limit(1).to_table().column(0)
                array = value.combine_chunks()
                proven[node.name] = (rows, rows * (len(array) - array.null_count), plain_bounds(array))
                if node.name in self._sketches:
                    self._sketches[node.name].add(array.__arrow_c_array__())
            elif (values := statistics.get("values")) is not None and values <= rows:
                bounds = _recorded_bounds(node, statistics) if values else (None, None)
                if bounds is not None:
                    proven[node.name] = (rows, values, bounds)
        return proven

    def _add_storage(self, split: Split, table: OrcFiles) -> None:
        """Adds stored bytes and encodings, which are not known where names do not tell columns apart."""
        (of_table,) = table.files
        file = ORCFile(of_table.opened, tail=of_table.tail, limits=table.limits, storage_options=table.storage_options)
        ignores_case = table.match == "name_ignoring_case"
        storage = file.column_storage(stripes=split.stripes)
        names = [each.name.lower() if ignores_case else each.name for each in storage]
        is_known = table.match != "position" and len(set(names)) == len(names)
        is_known = is_known and not any("." in node.step for node in self._all)

        def size(node: ColumnNode) -> int:
            name = node.name.lower() if ignores_case else node.name
            own = [
                each.data_bytes + each.index_bytes
                for each, other in zip(storage, names, strict=True)
                # Columns below are added by their own nodes, if they are nodes.
                if other == name or (not node.children and other.startswith(f"{name}."))
            ]
            return sum(own) + sum(map(size, node.children))

        for node in self._all:
            if node.index is None or node.is_partition:
                continue
            found = self._found[node.name]
            if not is_known or found.size is None:
                found.size = None
                continue
            found.size += size(node)
            name = node.name.lower() if ignores_case else node.name
            for each, other in zip(storage, names, strict=True):
                if other == name:
                    found.encodings.update(each.encodings)

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


def _recorded_bounds(node: ColumnNode, statistics: dict[str, Any]) -> tuple[Any, Any] | None:
    """Minimum and maximum by statistics; ``None`` where they are not exact."""
    if not node.has_order:
        return None, None
    kind = pa.int64() if pa.types.is_time(node.arrow_type) else node.arrow_type
    schema = pa.schema({"": kind})
    low, high = (_native.exact_bound(statistics, schema.__arrow_c_schema__(), name) for name in ("min", "max"))
    if low is None or high is None:
        return None
    return plain_bounds(pa.array(ExportedArray(low)))[0], plain_bounds(pa.array(ExportedArray(high)))[1]


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


def _plain_type(kind: pa.DataType) -> pa.DataType | None:
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
    plain = _plain_type(array.type)
    found = pc.min_max(array if plain is None else array.view(plain))
    low, high = found["min"].as_py(), found["max"].as_py()
    return (nan if low is None else low), (high if nan is None else nan)
