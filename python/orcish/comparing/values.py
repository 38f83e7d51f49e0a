"""Which values of two arrays are different."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.nested import is_list
from orcish.comparing.leaves import counted, plain, same_type
from orcish.comparing.names import paired_names
from orcish.comparing.objects import python_value
from orcish.comparing.simple import is_union_struct

__all__ = ["different", "is_any"]


def is_any(mask: Any) -> bool:
    """Whether a mask is true anywhere."""
    return bool(pc.any(mask).as_py())


def different(a: Any, b: Any, tolerance: float) -> Any:
    """A mask of the positions at which two arrays of one length have different values.

    Nulls are equal, and NaN are. Zeros are equal whatever their sign, and maps whatever the order of their entries.
    Fields of structs are compared by their names, those of one name by their order. Fields of one side only, and values
    whose types cannot be compared, are not compared.

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
    if any(map(types.is_null, kinds)):
        return pc.xor(_without_value(a), _without_value(b))
    if all(map(types.is_struct, kinds)):
        return _structs(a, b, tolerance)
    if all(map(types.is_map, kinds)) or all(map(is_list, kinds)):
        return _lists(a, b, tolerance)
    return _leaves(a, b, tolerance)


def _none(length: int) -> Any:
    return pa.repeat(pa.scalar(False), length)


def _nulls(a: Any, b: Any) -> Any:
    """Where one of two is null."""
    return pc.xor(a.is_null(), b.is_null())


def _without_value(array: Any) -> Any:
    """Where an array has no value. A union has the nulls of its children."""
    if not is_union_struct(array.type):
        return array.is_null()
    found = array.is_null()
    nulls = [_without_value(child) for child in array.flatten()[1:]]
    for at, each in enumerate(nulls):
        found = each if at == 0 else pc.and_(found, each)
    return found


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
    # The fields have the nulls of the struct.
    fields_a, fields_b = a.flatten(), b.flatten()
    for at, other in paired_names(*([field.name for field in each.type] for each in (a, b))):
        # A field of a struct that is null on one side is different anyway.
        found = pc.or_(found, different(fields_a[at], fields_b[other], tolerance))
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
            kept = [
                at for at in lists.to_pylist() if not _same_map(python_value(x, at), python_value(y, at), tolerance)
            ]
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
        return _same_entries(a, b, tolerance)
    if len(x) != len(a):
        return _same_entries(a, b, tolerance)
    return x.keys() == y.keys() and all(_same(x[key], y[key], tolerance) for key in x)


def _same_entries(a: list[dict[str, Any]], b: list[dict[str, Any]], tolerance: float) -> bool:
    left = list(b)
    for entry in a:
        at = next((at for at, other in enumerate(left) if _same(entry, other, tolerance)), None)
        if at is None:
            return False
        del left[at]
    return True


def _same(a: Any, b: Any, tolerance: float) -> bool:
    """Whether two objects of Python are the same."""
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= tolerance
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(_same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key], tolerance) for key in a)
    return bool(a == b)
