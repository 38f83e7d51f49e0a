"""The types with which written types are read."""

from typing import Any

import pyarrow as pa
from orcish.arrow.nested import map_fields


def read_type(kind: Any) -> Any:
    """The type, whose dictionaries have keys of 32 bits at least, nested ones included."""
    if pa.types.is_dictionary(kind):
        keys = kind.index_type if kind.index_type.bit_width >= 32 else pa.int32()
        return pa.dictionary(keys, read_type(kind.value_type), kind.ordered)
    if pa.types.is_run_end_encoded(kind):
        return pa.run_end_encoded(kind.run_end_type, read_type(kind.value_type))
    return map_fields(kind, lambda field, _: field.with_type(read_type(field.type)))


def read_schema(schema: pa.Schema) -> pa.Schema:
    """The schema with the types of :func:`read_type`."""
    return pa.schema([field.with_type(read_type(field.type)) for field in schema], schema.metadata)
