"""Minimum, maximum and sum of a column, from statistics where they are exact."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from orcish.errors import NullMapKeyError
from orcish.reading.scan_reader import ScanReader

__all__ = ["UNKNOWN", "aggregate", "exact_value"]

Function = Literal["min", "max", "sum"]

UNKNOWN = object()
"""Stands for an unknown value; ``None`` means that there are no values."""
# The default context rounds to 28 digits. The sum of 2 ** 63 decimals of 38 digits has 57 digits.
_EXACT = decimal.Context(prec=76)


def aggregate(reader: ScanReader, column: str, function: Function) -> Any:
    """The minimum, maximum or sum of a column; ``None`` where there are no values.

    Raises:
        TypeError: The type has no order, or no sum.
        OverflowError: The result is a date, a time or a duration out of range for Python's types.
    """
    try:
        return _aggregate(reader, column, function)
    except OverflowError as error:
        raise OverflowError(f"column {column}: {error}") from None


def _aggregate(reader: ScanReader, column: str, function: Function) -> Any:
    part, is_stored = reader.only_column(column)
    given = _innermost_field(part.selected_schema.field(0), column).type
    value = _aggregate_storage(part, is_stored, _value_type(given, column, function), function)
    if value is None or not isinstance(given, pa.BaseExtensionType):
        return value
    return pa.ExtensionScalar.from_storage(given, pa.scalar(value, given.storage_type)).as_py()


def _aggregate_storage(reader: ScanReader, is_stored: bool, kind: pa.DataType, function: Function) -> Any:
    """The aggregate of the only column of a reader, as a value of its storage type."""
    found = reader.statistics() if is_stored else None
    if found is None:
        return _read(reader, function)
    values: list[Any] = []
    rest: list[tuple[int, list[int] | None]] = []
    # Writers keep statistics of `char` columns with or without padding.
    is_trimmed = bool(reader.options.get("trim_char"))
    for file, (recorded, stripes) in enumerate(found):
        value = exact_value(recorded, kind, function, is_trimmed)
        if value is UNKNOWN:
            rest.append((file, None))
            continue
        values.append(value)
        if stripes:
            rest.append((file, stripes))
    if rest:
        values.append(_read(reader.subset(rest), function))
    return _combine(values, function)


def _value_type(kind: Any, column: str, function: Function) -> pa.DataType:
    """The type of the values of a column. Extension types are ordered like their storage, and have no sum."""
    if function != "sum":
        kind = _storage(kind)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    if function == "sum":
        types = pa.types
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind)):
            raise TypeError(f"column {column} of type {kind} has no sum")
    elif pa.types.is_nested(kind) or pa.types.is_interval(kind):
        raise TypeError(f"column {column} of type {kind} has no least or greatest value: its values have no order")
    return kind


def _innermost_field(field: pa.Field, column: str) -> pa.Field:
    """The field of a dotted name, in a struct that has only this field at each level."""
    while column != field.name and pa.types.is_struct(kind := _storage(field.type)) and kind.num_fields == 1:
        column = column.removeprefix(f"{field.name}.")
        field = kind.field(0)
    return field


def _storage(kind: Any) -> Any:
    """The storage type of an extension type; other types are unchanged."""
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def exact_value(statistics: dict[str, Any], kind: pa.DataType, function: Function, is_trimmed: bool) -> Any:
    """The aggregate that statistics record, or :data:`UNKNOWN` where it is not exact."""
    if statistics.get("values") == 0:
        return None
    value = statistics.get(function)
    # Without a count of values, a sum may be that of no values.
    if value is None or statistics.get("values") is None:
        return UNKNOWN
    match statistics["kind"]:
        case "integer" if pa.types.is_integer(kind):
            return value
        # The sum of floats depends on their order.
        case "double" if pa.types.is_floating(kind) and function != "sum":
            return value
        case "decimal" if pa.types.is_decimal(kind) and (function != "sum" or _is_summed(statistics, kind)):
            number = decimal.Decimal(value)
            exact = number.quantize(decimal.Decimal(1).scaleb(-kind.scale), context=_EXACT)
            # Values with more digits are rounded by the reader.
            return exact if exact == number else UNKNOWN
        case "date" if pa.types.is_date(kind):
            return _python(pa.scalar(value, pa.date32()))
        case "string" if _is_text(kind) and value[1] and not is_trimmed:
            try:
                return value[0].decode()
            except UnicodeDecodeError:
                # Options decide how invalid UTF-8 is read.
                return UNKNOWN
    return UNKNOWN


def _is_summed(found: dict[str, Any], kind: pa.DataType) -> bool:
    """Whether a sum of decimals is exact: writers may have rounded intermediate sums of more than 38 digits."""
    if any(found.get(name) is None for name in ("values", "min", "max")):
        return False
    with decimal.localcontext(_EXACT):
        largest = max(abs(decimal.Decimal(found["min"])), abs(decimal.Decimal(found["max"])))
        return bool((largest * found["values"]).scaleb(kind.scale) < decimal.Decimal(10) ** 38)


def _is_text(kind: pa.DataType) -> bool:
    return any(is_kind(kind) for is_kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _read(reader: ScanReader, function: Function) -> Any:
    """The aggregate of the values in the files."""
    try:
        return _combine([_aggregate_batch(batch, function) for batch in reader.read_batches(reader.options)], function)
    except NullMapKeyError:
        if "null_map_keys" in reader.options:
            raise
        # Maps cannot be aggregated, so the map is a column of the filter, and its keys are not returned.
        return _read(reader.with_options(null_map_keys="dictionary"), function)


def _aggregate_batch(batch: pa.RecordBatch, function: Function) -> Any:
    array = _unwrapped(batch.column(0))
    while pa.types.is_struct(array.type):
        array = _unwrapped(pc.struct_field(array, [0]))
    array = _plain(array)
    if function == "sum":
        # Sums of 64 and 128 bits could overflow.
        if pa.types.is_integer(array.type):
            total = pc.sum(array.cast(pa.decimal128(38, 0))).as_py()
            return None if total is None else int(total)
        if pa.types.is_decimal(array.type):
            array = array.cast(pa.decimal256(76, array.type.scale))
        return pc.sum(array).as_py()
    if pa.types.is_floating(array.type):
        # NaN is ignored.
        array = array.filter(pc.invert(pc.is_nan(array)))
    if pa.types.is_duration(array.type):
        found = pc.min_max(array.cast(pa.int64()))[function]
        return _python(found.cast(array.type))
    return _python(pc.min_max(array)[function])


def _python(found: pa.Scalar) -> Any:
    """The value as an object of Python."""
    try:
        return found.as_py()
    except OverflowError:
        shown = found.cast(pa.string()).as_py()
        raise OverflowError(
            f"{shown} of type {found.type} is beyond what Python's own types hold, whose years are 1 to 9999: "
            "pyarrow.compute.min_max of the column in to_table() gives it as pyarrow has it, a filter passes over it"
        ) from None


def _unwrapped(array: Any) -> Any:
    """The storage of an extension array; other arrays are unchanged."""
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def _plain(array: pa.Array) -> pa.Array:
    """The decoded values, in a type that pyarrow's kernels support."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _plain(array.dictionary_decode())
    if pa.types.is_run_end_encoded(kind):
        return _plain(pc.run_end_decode(array))
    for is_kind, plain in _PLAIN:
        if is_kind(kind):
            return array.cast(plain(kind))
    return array


_PLAIN: list[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType], pa.DataType]]] = [
    (pa.types.is_float16, lambda _: pa.float32()),
    (pa.types.is_string_view, lambda _: pa.large_string()),
    (pa.types.is_binary_view, lambda _: pa.large_binary()),
    (pa.types.is_decimal32, lambda kind: pa.decimal128(kind.precision, kind.scale)),
    (pa.types.is_decimal64, lambda kind: pa.decimal128(kind.precision, kind.scale)),
]
"""Types that pyarrow's kernels do not support, and casts to types that they do."""


def _combine(values: list[Any], function: Function) -> Any:
    some = [value for value in values if value is not None]
    if not some:
        return None
    match function:
        case "min":
            return min(some, key=_sort_key)
        case "max":
            return max(some, key=_sort_key)
        case "sum":
            with decimal.localcontext(_EXACT):
                return sum(some[1:], some[0])


def _sort_key(value: Any) -> Any:
    """The sort key of a value. Python compares instants of the same zone by their wall clocks, which repeat an hour
    each year; the key orders them by time.
    """
    if type(value) is datetime.datetime and value.tzinfo is not None:
        return value.replace(tzinfo=None) - datetime.datetime.min - (value.utcoffset() or datetime.timedelta())
    return value
