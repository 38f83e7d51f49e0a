"""Which values of two arrays are different."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.comparing.leaves import counted, is_list, plain, same_type

__all__ = ["different", "is_any"]


def is_any(mask: Any) -> bool:
    """Whether a mask is true anywhere."""
    return bool(pc.any(mask).as_py())


def different(a: Any, b: Any, tolerance: float) -> Any:
    """A mask of the positions at which two arrays of one length have different values.

    Nulls are equal, and NaN are. Zeros are equal whatever their sign. Fields of structs are compared by their names;
    fields of one side only, and values whose types cannot be compared, are not compared. Maps are equal whatever the
    order of their entries.

    Args:
        a: An array.
        b: The other array, of a type that is :func:`~orcish.comparing.leaves.comparable`.
        tolerance: How far floating point values may be apart and equal.
    """
    if a.type == b.type and a.equals(b):
        return _none(len(a))
    a, b = plain(a), plain(b)
    kinds = (a.type, b.type)
    types = pa.types
    if all(map(types.is_struct, kinds)):
        return _structs(a, b, tolerance)
    if all(map(types.is_map, kinds)) or all(map(is_list, kinds)):
        return _lists(a, b, tolerance)
    if all(map(types.is_union, kinds)):
        return pa.array(
            [not _same(x, y, tolerance) for x, y in zip(map(_tagged, a), map(_tagged, b), strict=True)], pa.bool_()
        )
    return _leaves(a, b, tolerance)


def _none(length: int) -> Any:
    return pa.repeat(pa.scalar(False), length)


def _nulls(a: Any, b: Any) -> Any:
    """Where one of two is null."""
    return pc.xor(a.is_null(), b.is_null())


def _leaves(a: Any, b: Any, tolerance: float) -> Any:
    found = same_type(a, b)
    if found is None:
        return _none(len(a))
    x, y = found
    unequal = pc.not_equal(x, y)
    if pa.types.is_floating(x.type):
        same = pc.and_(pc.is_nan(x), pc.is_nan(y))
        if tolerance:
            near = pc.less_equal(pc.abs(pc.subtract(x, y)), pa.scalar(tolerance, x.type))
            same = pc.or_(same, near)
        unequal = pc.and_(unequal, pc.invert(same))
    return pc.or_(pc.fill_null(unequal, False), _nulls(x, y))


def _structs(a: Any, b: Any, tolerance: float) -> Any:
    found = _nulls(a, b)
    names_a, names_b = ([field.name for field in each.type] for each in (a, b))
    # The fields have the nulls of the struct.
    fields_a, fields_b = a.flatten(), b.flatten()
    counts, places = Counter(names_b), {name: at for at, name in enumerate(names_b)}
    is_same = names_a == names_b
    for at, name in enumerate(names_a):
        if is_same:
            other = fields_b[at]
        elif counts[name] == 1:
            other = fields_b[places[name]]
        else:
            continue
        # A field of a struct that is null on one side is different anyway.
        found = pc.or_(found, different(fields_a[at], other, tolerance))
    return found


def _lists(a: Any, b: Any, tolerance: float) -> Any:
    found = _nulls(a, b)
    both = pc.and_(a.is_valid(), b.is_valid())
    rows = pc.indices_nonzero(both)
    x, y = _valid_lists(a.filter(both)), _valid_lists(b.filter(both))
    same_length = pc.equal(pc.list_value_length(x), pc.list_value_length(y))
    wrong = rows.filter(pc.invert(same_length))
    rows, x, y = rows.filter(same_length), x.filter(same_length), y.filter(same_length)
    elements = different(x.flatten(), y.flatten(), tolerance)
    if is_any(elements):
        lists = pc.unique(pc.list_parent_indices(x).filter(elements))
        if pa.types.is_map(a.type):
            kept = [at for at in lists.to_pylist() if not _same_map(x[at].as_py(), y[at].as_py(), tolerance)]
            lists = pa.array(kept, lists.type)
        wrong = pa.concat_arrays([wrong, rows.take(lists)])
    if not len(wrong):
        return found
    return pc.or_(found, pc.is_in(counted(0, len(a)).cast(wrong.type), value_set=wrong))


def _valid_lists(array: Any) -> Any:
    """Lists, or maps, without nulls, as lists."""
    if not pa.types.is_map(array.type):
        return array
    entries = pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"])
    return pa.ListArray.from_arrays(array.offsets, entries)


def _same_map(a: list[dict[str, Any]], b: list[dict[str, Any]], tolerance: float) -> bool:
    """Whether entries are the same in another order; their numbers are equal."""
    try:
        x, y = ({entry["key"]: entry["value"] for entry in each} for each in (a, b))
    except TypeError:
        # Keys that are structs or lists have no hash.
        return False
    return len(x) == len(a) and x.keys() == y.keys() and all(_same(x[key], y[key], tolerance) for key in x)


def _tagged(scalar: Any) -> Any:
    return None if not scalar.is_valid else (scalar.type_code, scalar.as_py())


def _same(a: Any, b: Any, tolerance: float) -> bool:
    """Whether two objects of Python are the same."""
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= tolerance
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(_same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key], tolerance) for key in a)
    return bool(a == b)
