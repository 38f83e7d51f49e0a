"""What a reader gives of rows that were written: some values cannot be told apart once they are stored."""

import pyarrow as pa
import pyarrow.compute as pc


def read_type(of: pa.DataType) -> pa.DataType:
    """The type that comes back for a type that was written."""
    if pa.types.is_timestamp(of):
        return pa.timestamp("us", "UTC")
    if pa.types.is_large_string(of):
        return pa.string()
    if pa.types.is_map(of):
        return pa.map_(read_type(of.key_type), read_type(of.item_type))
    if pa.types.is_list(of):
        return pa.list_(read_type(of.value_type))
    if pa.types.is_struct(of):
        return pa.struct([pa.field(part.name, read_type(part.type)) for part in of])
    return of


def collapsed(value, of: pa.DataType):
    """Complex values: ``[null]`` is null, and so are a struct of nulls and no bytes."""
    if value is None or value == b"":
        return None
    if pa.types.is_map(of):
        pairs = [(collapsed(key, of.key_type), collapsed(item, of.item_type)) for key, item in value]
        return None if pairs == [(None, None)] else pairs
    if pa.types.is_list(of):
        items = [collapsed(item, of.value_type) for item in value]
        return None if items == [None] else items
    if pa.types.is_struct(of):
        parts = {part.name: collapsed(value[part.name], part.type) for part in of}
        return None if all(part is None for part in parts.values()) else parts
    return value


def read_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    of = column.type
    if pa.types.is_large_string(of) or pa.types.is_binary(of):
        column = pc.fill_null(column, pa.scalar(b"", pa.binary()).cast(of))
    if pa.types.is_nested(of):
        values = [collapsed(value, of) for value in column.to_pylist()]
        return pa.chunked_array([pa.array(values, read_type(of))])
    if pa.types.is_timestamp(of) and of.tz is None:
        return column.cast(pa.timestamp("us")).cast(read_type(of))
    return column.cast(read_type(of))


def as_read(table: pa.Table) -> pa.Table:
    """A table as it comes back when it has been written."""
    columns = [read_column(table.column(name)) for name in table.column_names]
    return pa.table(dict(zip(table.column_names, columns, strict=True)))
