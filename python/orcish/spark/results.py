"""Batches that functions of users make, as batches of the schema that the user has declared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812 - as everybody calls it

from orcish.arrow.buffers import offsets_within, within
from orcish.arrow.casting import cast_array
from orcish.arrow.nested import is_binary, is_list, is_text, value_type
from orcish.errors import CastError, UnsupportedError
from orcish.spark.schemas import arrow_schema

__all__ = ["ResultSchema"]


class ResultSchema:
    """The schema of the batches that a function gives.

    Spark itself matches the columns of batches by position.
    """

    def __init__(self, schema: T.StructType) -> None:
        self.names = schema.names
        self.kinds = [_arrow_type(field) for field in schema]

    def of(self, batch: object) -> pa.RecordBatch:
        """A batch with the columns in the order of the schema, and with its types. Columns, and fields of structs, are
        matched by name.

        Raises:
            TypeError: It is no batch, or a column has a type whose values are not those of the type in the schema.
            ValueError: A column is missing, additional or twice there, or a value does not fit the type in the schema.
        """
        if not isinstance(batch, pa.RecordBatch):
            raise TypeError(f"the function yields pyarrow.RecordBatch; it has yielded a {type(batch).__name__}")
        order = _order(batch.schema.names, self.names, "")
        columns = [
            batch.column(at) if kind is None else _conformed(batch.column(at), kind, name)
            for at, name, kind in zip(order, self.names, self.kinds, strict=True)
        ]
        fields = [pa.field(name, column.type) for name, column in zip(self.names, columns, strict=True)]
        # Batches without columns have rows, too.
        return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields)) if columns else batch


def _arrow_type(field: T.StructField) -> pa.DataType | None:
    """The type of a column in Arrow; ``None`` for types that only Spark knows, whose columns are passed unchanged."""
    try:
        return arrow_schema(T.StructType([field])).field(0).type
    except UnsupportedError:
        return None


def _order(given: Sequence[str], wanted: Sequence[str], path: str) -> Sequence[int]:
    """Where the columns of the schema are among those of the batch.

    Raises:
        ValueError: The names are others.
    """
    if list(given) == list(wanted):
        return range(len(given))
    counts, known = Counter(given), set(wanted)
    what = f"column {path}: field" if path else "column"
    names = f"it gives {', '.join(given) or 'no columns'}"
    for name in wanted:
        if counts[name] == 0:
            raise ValueError(f"{what} {name} of the schema is missing in what the function gives: {names}")
    for name in given:
        if name not in known:
            raise ValueError(
                f"{what} {name} is given by the function and not in the schema: name it there, or leave it out"
            )
        if counts[name] > 1 or list(wanted).count(name) > 1:
            raise ValueError(f"{what} {name} is there more than once, and cannot be matched by name: {names}")
    return [list(given).index(name) for name in wanted]


def _conformed(array: Any, kind: Any, path: str) -> pa.Array:
    own, types = value_type(array.type), pa.types
    if array.type == kind:
        return array
    if types.is_null(own):
        return pa.nulls(len(array), kind)
    if types.is_struct(kind) and types.is_struct(own):
        array = cast_array(array, own)
        order = _order([field.name for field in own], [field.name for field in kind], path)
        children = [
            _conformed(array.field(at), field.type, f"{path}.{field.name}")
            for at, field in zip(order, kind, strict=True)
        ]
        if not children:
            return array
        return pa.StructArray.from_arrays(children, fields=list(kind), mask=array.is_null())
    if types.is_list(kind) and is_list(own):
        array = cast_array(array, pa.list_(own.value_field))
        values = _conformed(within(array, array.values), kind.value_type, f"{path}.element")
        return pa.ListArray.from_arrays(offsets_within(array), values, type=kind, mask=array.is_null())
    if types.is_map(kind) and types.is_map(own):
        array = cast_array(array, own)
        keys = _conformed(within(array, array.keys), kind.key_type, f"{path}.key")
        items = _conformed(within(array, array.items), kind.item_type, f"{path}.value")
        return pa.MapArray.from_arrays(offsets_within(array), keys, items, type=kind, mask=array.is_null())
    what = f"column {path}: the function gives {array.type}, the schema says {kind}"
    given, wanted = _family(own), _family(kind)
    if given == "wall clock" and wanted == "instant":
        raise TypeError(f"{what}: give the timestamps a time zone, or declare them as timestamp_ntz")
    is_narrower = given == wanted == "float" and own.bit_width > kind.bit_width
    if given is None or wanted not in _CASTS.get(given, (given,)) or is_narrower:
        raise TypeError(f"{what}: cast the column in the function")
    try:
        return cast_array(array, kind)
    except (CastError, UnsupportedError) as error:
        raise ValueError(f"{what}: {error}") from None


_FAMILIES = {
    "boolean": (pa.types.is_boolean,),
    "integer": (pa.types.is_integer,),
    "float": (pa.types.is_floating,),
    "decimal": (pa.types.is_decimal,),
    "text": (is_text,),
    "binary": (is_binary,),
    "date": (pa.types.is_date,),
    "duration": (pa.types.is_duration,),
    "time": (pa.types.is_time,),
}
_CASTS = {"integer": ("integer", "float", "decimal")}
"""Families whose values are cast to those of other families. The casts check the values."""


def _family(kind: Any) -> str | None:
    """Types between which casts keep the values, or fail."""
    if pa.types.is_timestamp(kind):
        return "wall clock" if kind.tz is None else "instant"
    return next((name for name, tests in _FAMILIES.items() if any(test(kind) for test in tests)), None)
