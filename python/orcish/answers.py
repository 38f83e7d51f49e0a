"""Least and greatest values and sums, from statistics where they prove them."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from orcish.errors import NullMapKeyError

if TYPE_CHECKING:
    from orcish.scan import Scan

__all__ = ["UNKNOWN", "answer", "known"]

Question = Literal["min", "max", "sum"]

UNKNOWN = object()
"""What statistics do not say, where `None` is said of no values."""
# Python's own context rounds to 28 digits; a sum of 2 ** 63 decimals of 38 digits has 57.
_EXACT = decimal.Context(prec=76)


def answer(scan: Scan, column: str, question: Question) -> Any:
    """The least or greatest value of a column of a scan, or their sum; ``None`` of no values.

    Raises:
        TypeError: Values of the column's type have no order, or no sum.
        OverflowError: It is a date, a time or a duration that Python's types do not hold.
    """
    try:
        return _answer(scan, column, question)
    except OverflowError as error:
        raise OverflowError(f"column {column}: {error}") from None


def _answer(scan: Scan, column: str, question: Question) -> Any:
    part, is_stored = scan._of_column(column)
    given = _leaf(part.schema.field(0), column).type
    value = _stored_answer(scan, part, is_stored, _values_of(given, column, question), question)
    if value is None or not isinstance(given, pa.BaseExtensionType):
        return value
    return pa.ExtensionScalar.from_storage(given, pa.scalar(value, given.storage_type)).as_py()


def _stored_answer(scan: Scan, part: Scan, is_stored: bool, kind: pa.DataType, question: Question) -> Any:
    """The answer of values of a type, which are those of the one column of a part of the scan."""
    found = part._proven() if is_stored else None
    if found is None:
        return _read(part, question)
    values: list[Any] = []
    rest: list[tuple[int, list[int] | None]] = []
    # Writers keep the statistics of char columns with their padding, or without.
    is_trimmed = bool(scan._options.get("trim_char"))
    for file, (recorded, stripes) in enumerate(found):
        value = known(recorded, kind, question, is_trimmed)
        if value is UNKNOWN:
            rest.append((file, None))
            continue
        values.append(value)
        if stripes:
            rest.append((file, stripes))
    if rest:
        values.append(_read(part._of_files(rest), question))
    return _merged(values, question)


def _values_of(kind: Any, column: str, question: Question) -> pa.DataType:
    """The type of the values of a column. Values of extension types are in the order of their storage, and have no
    sum.
    """
    if question != "sum":
        kind = _storage(kind)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    if question == "sum":
        types = pa.types
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind)):
            raise TypeError(f"column {column} of type {kind} has no sum")
    elif pa.types.is_nested(kind) or pa.types.is_interval(kind):
        raise TypeError(f"column {column} of type {kind} has no least or greatest value: its values have no order")
    return kind


def _leaf(field: pa.Field, column: str) -> pa.Field:
    """The field of a dotted name, of the structs around it that have no other."""
    while column != field.name and pa.types.is_struct(kind := _storage(field.type)) and kind.num_fields == 1:
        column = column.removeprefix(f"{field.name}.")
        field = kind.field(0)
    return field


def _storage(kind: Any) -> Any:
    """The type that values are stored as in Arrow."""
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def known(found: dict[str, Any], kind: pa.DataType, question: Question, is_trimmed: bool) -> Any:
    """What statistics say, if they say it exactly."""
    if found.get("values") == 0:
        return None
    value = found.get(question)
    # Where it is not known that there are values, a sum may be that of none.
    if value is None or found.get("values") is None:
        return UNKNOWN
    match found["kind"]:
        case "integer" if pa.types.is_integer(kind):
            return value
        # A sum of floating point numbers depends on their order.
        case "double" if pa.types.is_floating(kind) and question != "sum":
            return value
        case "decimal" if pa.types.is_decimal(kind) and (question != "sum" or _is_summed(found, kind)):
            number = decimal.Decimal(value)
            exact = number.quantize(decimal.Decimal(1).scaleb(-kind.scale), context=_EXACT)
            # Values of more digits are rounded when they are read.
            return exact if exact == number else UNKNOWN
        case "date" if pa.types.is_date(kind):
            return _python(pa.scalar(value, pa.date32()))
        case "string" if _is_text(kind) and value[1] and not is_trimmed:
            try:
                return value[0].decode()
            except UnicodeDecodeError:
                # The options say what becomes of it when it is read.
                return UNKNOWN
    return UNKNOWN


def _is_summed(found: dict[str, Any], kind: pa.DataType) -> bool:
    """Whether a sum of decimals is the sum: writers may round those of more than 38 digits, on the way there too."""
    if any(found.get(name) is None for name in ("values", "min", "max")):
        return False
    with decimal.localcontext(_EXACT):
        largest = max(abs(decimal.Decimal(found["min"])), abs(decimal.Decimal(found["max"])))
        return bool((largest * found["values"]).scaleb(kind.scale) < decimal.Decimal(10) ** 38)


def _is_text(kind: pa.DataType) -> bool:
    return any(is_kind(kind) for is_kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _read(scan: Scan, question: Question) -> Any:
    """The answer from the values themselves."""
    try:
        return _merged([_of_batch(batch, question) for batch in scan], question)
    except NullMapKeyError:
        if "null_map_keys" in scan._options:
            raise
        # Maps have no order: it is one that the filter asks, whose keys are not handed out.
        return _merged([_of_batch(batch, question) for batch in scan._with(null_map_keys="dictionary")], question)


def _of_batch(batch: pa.RecordBatch, question: Question) -> Any:
    array = _unwrapped(batch.column(0))
    while pa.types.is_struct(array.type):
        array = _unwrapped(pc.struct_field(array, [0]))
    array = _plain(array)
    if question == "sum":
        # Sums of 64 and of 128 bits would wrap around.
        if pa.types.is_integer(array.type):
            total = pc.sum(array.cast(pa.decimal128(38, 0))).as_py()
            return None if total is None else int(total)
        if pa.types.is_decimal(array.type):
            array = array.cast(pa.decimal256(76, array.type.scale))
        return pc.sum(array).as_py()
    if pa.types.is_floating(array.type):
        # Nothing is less or greater than NaN.
        array = array.filter(pc.invert(pc.is_nan(array)))
    if pa.types.is_duration(array.type):
        found = pc.min_max(array.cast(pa.int64()))[question]
        return _python(found.cast(array.type))
    return _python(pc.min_max(array)[question])


def _python(found: pa.Scalar) -> Any:
    """The value as one of Python's."""
    try:
        return found.as_py()
    except OverflowError:
        shown = found.cast(pa.string()).as_py()
        raise OverflowError(
            f"{shown} of type {found.type} is beyond what Python's own types hold, whose years are 1 to 9999: "
            "pyarrow.compute.min_max of the column in to_table() gives it as pyarrow has it, a filter passes over it"
        ) from None


def _unwrapped(array: Any) -> Any:
    """The storage of values of an extension type; other values as they are."""
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def _plain(array: pa.Array) -> pa.Array:
    """The values, one a row, in a type that pyarrow computes with."""
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
"""Types that pyarrow does not compute with, and those that it does."""


def _merged(values: list[Any], question: Question) -> Any:
    some = [value for value in values if value is not None]
    if not some:
        return None
    match question:
        case "min":
            return min(some, key=_order)
        case "max":
            return max(some, key=_order)
        case "sum":
            with decimal.localcontext(_EXACT):
                return sum(some[1:], some[0])


def _order(value: Any) -> Any:
    """What values of one type are compared by: of instants it is not what the clock of their zone shows, which Python
    compares, and which goes back once a year.
    """
    if type(value) is datetime.datetime and value.tzinfo is not None:
        return value.replace(tzinfo=None) - datetime.datetime.min - (value.utcoffset() or datetime.timedelta())
    return value
