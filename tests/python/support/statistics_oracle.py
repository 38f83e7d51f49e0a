"""What is recorded of the columns of a file, against its rows."""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.compute as pc

NANOS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
CONTEXT = decimal.Context(prec=400)


def differences(source: Any, believed: Counter[str] | None = None) -> list[tuple[Any, ...]]:
    """What is believed of the columns of a file and is not so: its column, what it is, and both values.

    `believed` counts what was compared, by what it is.
    """
    believed = Counter() if believed is None else believed
    file = orcish.ORCFile(source)
    options: dict[str, Any] = {"arrow_schema": False, "masked": "allow", "null_map_keys": "dictionary"}
    try:
        table = file.read(timestamp_unit="ns", **options)
    except (orcish.LimitExceededError, OverflowError, ValueError):
        table = file.read(**options)
    children = [
        [at for at, above in enumerate(file.column_parents) if above == id] for id in range(len(file.column_paths))
    ]
    found: dict[int, list[pa.Array]] = {}
    for batch in table.to_batches():
        if file.column_types[0].startswith("struct"):
            for id, array in zip(children[0], batch.columns, strict=True):
                _gather(array, children, id, found)
        else:
            _gather(batch.column(0), children, 0, found)
    wrong = []
    for id, arrays in found.items():
        recorded = file.statistics(id)
        if recorded is not None:
            array = pa.chunked_array([_plain(each) for each in arrays])
            has_union = any(kind.startswith("uniontype") for kind in _kinds(file, id))
            wrong += [(file.column_paths[id], *each) for each in _differing(recorded, array, has_union, believed)]
    return wrong


def _kinds(file: orcish.ORCFile, id: int | None) -> Iterator[str]:
    """Types from that of a column to the root."""
    while id is not None:
        yield file.column_types[id]
        id = file.column_parents[id]


def _plain(array: pa.Array) -> pa.Array:
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _gather(array: pa.Array, children: list[list[int]], id: int, found: dict[int, list[pa.Array]]) -> None:
    """The values of a column and of those below it, without what is below nulls."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    found.setdefault(id, []).append(array)
    if not children[id]:
        return
    if pa.types.is_union(array.type):
        for number, child in enumerate(children[id]):
            _gather(array.field(number), children, child, found)
        return
    there = array.filter(array.is_valid()) if array.null_count else array
    if pa.types.is_struct(array.type):
        below = there.flatten()
    elif pa.types.is_map(array.type):
        start, end = (there.offsets[0].as_py(), there.offsets[-1].as_py()) if len(there) else (0, 0)
        below = [there.keys[start:end], there.items[start:end]]
    else:
        below = [there.flatten()]
    for child, each in zip(children[id], below, strict=True):
        _gather(each, children, child, found)


def _differing(
    recorded: Any, array: pa.ChunkedArray, has_union: bool, compared: Counter[str]
) -> Iterator[tuple[str, Any, Any]]:
    """Arrow has no null unions, so that nulls in and below them are counted otherwise."""
    own: dict[str, Any] = {}
    if not has_union:
        own |= {"values": len(array) - array.null_count, "has_null": array.null_count > 0}
    values = array.drop_null()
    if len(values):
        own |= _of_values(recorded, values)
    for name, value in own.items():
        believed = getattr(recorded, name)
        compared[name] += believed is not None
        if believed is not None and believed != value:
            yield name, believed, value


def _of_values(recorded: Any, values: pa.ChunkedArray) -> dict[str, Any]:
    kind = recorded.kind
    if kind in ("string", "binary"):
        texts = [value.encode() if isinstance(value, str) else value for value in values.to_pylist()]
        own: dict[str, Any] = {"total_length": sum(map(len, texts))}
        if kind == "string" and recorded.min_is_exact:
            own["min"] = min(texts).decode("utf-8", "replace")
        if kind == "string" and recorded.max_is_exact:
            own["max"] = max(texts).decode("utf-8", "replace")
        return own
    if kind == "boolean":
        return {"true_count": pc.sum(values).as_py()}
    if kind == "timestamp":
        return _of_times(recorded, values)
    if kind not in ("integer", "double", "decimal", "date"):
        return {}
    if kind == "date":
        days = pc.min_max(values.cast(pa.int32())).as_py()
        return {name: _day(number) for name, number in days.items()}
    if kind == "integer" and pa.types.is_timestamp(values.type):
        # Spark's timestamps without zone.
        values = values.cast(pa.timestamp("us")).cast(pa.int64())
    own = {}
    if kind == "double":
        numbers = values.filter(pc.invert(pc.is_nan(values)))
        if len(numbers) < len(values):
            assert recorded.min is recorded.max is None
            assert recorded.sum is None or math.isnan(recorded.sum)
            return {}
    if len(values):
        own |= pc.min_max(values).as_py()
    if kind in ("integer", "decimal"):
        total = sum(values.to_pylist()) if kind == "integer" else _sum(values.to_pylist())
        own["sum"] = total
    if kind == "double" and recorded.sum is not None and len(values):
        numbers = [decimal.Decimal(value) for value in values.to_pylist()]
        # The order of additions is the writer's.
        slack = float(_sum([abs(number) for number in numbers])) * len(numbers) * 2**-52
        if not abs(recorded.sum - float(_sum(numbers))) <= slack:
            own["sum"] = float(_sum(numbers))
    return own


def _day(days: int) -> dt.date | int:
    try:
        return dt.date(1970, 1, 1) + dt.timedelta(days=days)
    except OverflowError:
        return days


def _sum(numbers: list[decimal.Decimal]) -> decimal.Decimal:
    total = decimal.Decimal(0)
    for number in numbers:
        total = CONTEXT.add(total, number)
    return total


def _of_times(recorded: Any, values: pa.ChunkedArray) -> dict[str, Any]:
    """Bounds to the nanosecond, or the first and the last nanosecond of the millisecond to which some writers cut them."""
    own = {}
    bounds = pc.min_max(values.cast(pa.int64())).as_py()
    unit = NANOS[values.type.unit]
    for name in ("min", "max"):
        believed = getattr(recorded, f"{name}_nanoseconds")
        if believed is None:
            continue
        # Digits below the unit are not read.
        least = bounds[name] * unit
        greatest = least + unit - 1
        is_bound = believed <= greatest if name == "min" else believed >= least
        if not is_bound or not least - 10**6 < believed < greatest + 10**6:
            own[name] = least
    return own
