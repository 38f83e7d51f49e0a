"""Least and greatest values and sums, from statistics where they prove them."""

from __future__ import annotations

import datetime
import decimal
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from orcish.scan import Scan

__all__ = ["answer"]

Question = Literal["min", "max", "sum"]

_EPOCH = datetime.date(1970, 1, 1)


def answer(scan: Scan, column: str, question: Question) -> Any:
    """The least or greatest value of a column of a scan, or their sum; ``None`` of no values."""
    part = scan.select(column)
    kind = _type(part.schema)
    found = part.proven()
    if found is None:
        return _read(part, question)
    values: list[Any] = []
    rest: list[tuple[int, list[int] | None]] = []
    for file, (known, stripes) in enumerate(found):
        value = _known(known, kind, question)
        if value is _UNKNOWN:
            rest.append((file, None))
            continue
        values.append(value)
        if stripes:
            rest.append((file, stripes))
    if rest:
        values.append(_read(part.of_files(rest), question))
    return _merged(values, question)


_UNKNOWN = object()


def _type(schema: pa.Schema) -> pa.DataType:
    kind = schema.field(0).type
    while pa.types.is_struct(kind) and kind.num_fields == 1:
        kind = kind.field(0).type
    if pa.types.is_nested(kind):
        raise TypeError(f"values of type {kind} have no order")
    return kind


def _known(found: dict[str, Any], kind: pa.DataType, question: Question) -> Any:
    """What statistics say, if they say it exactly."""
    if found.get("values") == 0:
        return None
    value = found.get(question)
    if value is None:
        return _UNKNOWN
    match found["kind"]:
        case "integer" if pa.types.is_integer(kind):
            return value
        # A sum of floating point numbers depends on their order.
        case "double" if pa.types.is_floating(kind) and question != "sum":
            return value
        case "decimal" if pa.types.is_decimal(kind):
            number = decimal.Decimal(value)
            exact = number.quantize(decimal.Decimal(1).scaleb(-kind.scale), context=decimal.Context(prec=76))
            # Values of more digits are rounded when they are read.
            return exact if exact == number else _UNKNOWN
        case "date" if pa.types.is_date(kind):
            return _EPOCH + datetime.timedelta(days=value)
        case "string" if pa.types.is_string(kind) and value[1]:
            return value[0].decode()
    return _UNKNOWN


def _read(scan: Scan, question: Question) -> Any:
    """The answer from the values themselves."""
    return _merged([_of_batch(batch, question) for batch in scan], question)


def _of_batch(batch: pa.RecordBatch, question: Question) -> Any:
    array = batch.column(0)
    while pa.types.is_struct(array.type):
        array = pc.struct_field(array, [0])
    if question == "sum":
        if pa.types.is_integer(array.type):
            # A sum of 64 bits would wrap around.
            total = pc.sum(array.cast(pa.decimal128(38, 0))).as_py()
            return None if total is None else int(total)
        return pc.sum(array).as_py()
    if pa.types.is_floating(array.type):
        # Nothing is less or greater than NaN.
        array = array.filter(pc.invert(pc.is_nan(array)))
    return pc.min_max(array)[question].as_py()


def _merged(values: list[Any], question: Question) -> Any:
    some = [value for value in values if value is not None]
    if not some:
        return None
    match question:
        case "min":
            return min(some)
        case "max":
            return max(some)
        case "sum":
            return sum(some[1:], some[0])
