"""Import of arrays that are nested deeper than 64 levels, where pyarrow's import over the C data interface fails.

Outer levels are passed one by one. Inner levels are imported as usual.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from orcish import _native

__all__ = ["MAX_DEPTH", "iterate", "read_all", "schema"]

MAX_DEPTH = 60
"""Maximum nesting that pyarrow imports itself."""


def schema(batches: _native.Batches) -> pa.Schema:
    """The schema of batches."""
    return pa.schema([_field(node) for node in batches.nodes()])


def iterate(batches: _native.Batches) -> Iterator[pa.RecordBatch]:
    """The batches one by one."""
    fields = schema(batches)
    while (nodes := batches.next_nodes()) is not None:
        yield pa.RecordBatch.from_arrays([_array(node) for node in nodes], schema=fields)


def read_all(batches: _native.Batches) -> pa.Table:
    """All batches as a table."""
    fields = schema(batches)
    return pa.Table.from_batches(iterate(batches), schema=fields)


def _field(node: _native.Node) -> pa.Field:
    if node.depth <= MAX_DEPTH:
        return pa.field(node)
    metadata = node.metadata or None
    return pa.field(node.name, _type(node), nullable=node.nullable, metadata=metadata)


def _type(node: _native.Node) -> pa.DataType:
    children = [_field(child) for child in node.children()]
    if node.kind == "struct":
        return pa.struct(children)
    if node.kind == "list":
        return pa.list_(children[0])
    if node.kind == "map":
        entries = children[0].type
        return pa.map_(entries.field(0), entries.field(1))
    return pa.union(children, node.kind, node.type_codes)


def _array(node: _native.Node) -> pa.Array:
    if node.depth <= MAX_DEPTH:
        return pa.array(node)
    buffers = [None if buffer is None else pa.py_buffer(buffer) for buffer in node.buffers()]
    children = [_array(child) for child in node.children()]
    return pa.Array.from_buffers(_type(node), node.length, buffers, children=children)
