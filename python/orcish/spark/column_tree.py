"""The columns of a table as a tree, and their positions in a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812

from orcish.reading.file import ORCFile
from orcish.reading.orc_files import OrcFiles
from orcish.reading.scan import reader_of
from orcish.spark.schemas import arrow_schema
from orcish.spark.table import AS_STORED, SparkTable

__all__ = ["MISSING", "ColumnNode", "FileColumn", "column_tree", "locate_columns"]


@dataclasses.dataclass(frozen=True)
class ColumnNode:
    """A column, or a nested one."""

    name: str
    """Dotted name."""
    step: str
    """Last step of the name."""
    kind: T.DataType
    scan_type: pa.DataType
    """Type in batches of the scan."""
    arrow_type: pa.DataType
    """Type in Spark."""
    children: tuple[ColumnNode, ...]
    is_partition: bool
    """Whether its values are in folder names."""
    index: int | None
    """Index among the reported columns, which are leaves and top-level columns."""

    def all(self) -> Iterator[ColumnNode]:
        """The node and all nodes below it."""
        yield self
        for child in self.children:
            yield from child.all()

    @property
    def has_order(self) -> bool:
        """Whether minimum and maximum are defined."""
        return not (self.children or pa.types.is_nested(self.arrow_type) or pa.types.is_binary(self.arrow_type))


def column_tree(table: SparkTable) -> tuple[ColumnNode, ...]:
    """The columns of a table in order."""
    # CarbonData files store the partition columns too.
    source = reader_of(table.scan).source
    by_folder = source.partition_columns if isinstance(source, OrcFiles) else ()
    count = iter(range(1 << 62))
    scan_schema = table.scan.schema
    made = []
    for name, field, arrow_field in zip(table.names, table.schema, arrow_schema(table.schema), strict=True):
        scan_type = scan_schema.field(name).type
        made.append(_node(name, name, field.dataType, scan_type, arrow_field.type, count, True, name in by_folder))
    return tuple(made)


def _node(
    name: str,
    step: str,
    kind: T.DataType,
    scan_type: pa.DataType,
    arrow_type: pa.DataType,
    count: Iterator[int],
    is_top: bool,
    is_partition: bool,
) -> ColumnNode:
    parts = _parts(kind, scan_type, arrow_type)
    index = next(count) if is_top or not parts else None
    children = [_node(f"{name}.{part[0]}", *part, count, False, False) for part in parts]
    return ColumnNode(name, step, kind, scan_type, arrow_type, tuple(children), is_partition, index)


def _parts(kind: T.DataType, scan_type: Any, arrow_type: Any) -> list[tuple[str, T.DataType, pa.DataType, pa.DataType]]:
    if isinstance(kind, T.StructType):
        return [
            (field.name, field.dataType, scan_type.field(field.name).type, arrow_type.field(field.name).type)
            for field in kind
        ]
    if isinstance(kind, T.ArrayType):
        return [("element", kind.elementType, scan_type.value_type, arrow_type.value_type)]
    if isinstance(kind, T.MapType):
        return [
            ("key", kind.keyType, scan_type.key_type, arrow_type.key_type),
            ("value", kind.valueType, scan_type.item_type, arrow_type.item_type),
        ]
    return []


@dataclasses.dataclass(frozen=True)
class FileColumn:
    """The position of a column in a file."""

    id: int | None
    """Column id; ``None`` where the file does not have the column, so that all its values are null."""
    kind: Any = None
    """Type in the file."""
    below: tuple[int, ...] = ()
    """Column ids of the column and of all columns below it."""


MISSING = FileColumn(None)


def locate_columns(file: ORCFile, nodes: Sequence[ColumnNode], table: OrcFiles) -> dict[str, FileColumn]:
    """Positions of columns in a file, by dotted names. Columns whose position is not certain are left out."""
    children: dict[int, list[int]] = {}
    for id, parent in enumerate(file.column_parents):
        if parent is not None:
            children.setdefault(parent, []).append(id)
    found: dict[str, FileColumn] = {}
    if not file.column_types[0].startswith("struct"):
        return found

    def below(id: int) -> tuple[int, ...]:
        return (id, *(inner for child in children.get(id, ()) for inner in below(child)))

    def missing(node: ColumnNode) -> None:
        found.update({one.name: MISSING for one in node.all()})

    def put(node: ColumnNode, id: int, kind: pa.DataType) -> None:
        found[node.name] = FileColumn(id, kind, below(id))
        parts = children.get(id, [])
        if pa.types.is_struct(kind) and isinstance(node.kind, T.StructType):
            # Unions that are read as structs have other fields.
            if file.column_types[id].startswith("struct"):
                by_name(node.children, list(zip(parts, kind, strict=True)))
        elif pa.types.is_map(kind) and isinstance(node.kind, T.MapType):
            for child, part, inner in zip(node.children, parts, (kind.key_type, kind.item_type), strict=True):
                put(child, part, inner)
        elif pa.types.is_list(kind) and isinstance(node.kind, T.ArrayType):
            put(node.children[0], parts[0], kind.value_type)

    def by_name(wanted_nodes: Sequence[ColumnNode], fields: list[tuple[int, pa.Field]]) -> None:
        ignores_case = table.match == "name_ignoring_case"
        for node in wanted_nodes:
            name = node.step.lower() if ignores_case else node.step
            same = [(id, f) for id, f in fields if (f.name.lower() if ignores_case else f.name) == name]
            if not same:
                missing(node)
            elif len(same) == 1:
                put(node, same[0][0], same[0][1].type)

    by_folder = {name for name, _ in table.files[0].partition}
    fields = list(zip(children.get(0, []), file.arrow_schema(**AS_STORED), strict=True))
    stored = [node for node in nodes if not node.is_partition]
    if table.match != "position":
        by_name(stored, fields)
        return found
    fields = [(id, field) for id, field in fields if field.name not in by_folder]
    assert table.schema is not None
    names = [name for name in table.schema.names if name not in by_folder]
    for node in stored:
        at = names.index(node.name)
        if at < len(fields):
            put(node, fields[at][0], fields[at][1].type)
        else:
            missing(node)
    return found
