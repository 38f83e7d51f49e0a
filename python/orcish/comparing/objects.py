"""Values of arrays as objects of Python, for reports."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from orcish.arrow.nested import is_list
from orcish.comparing.leaves import plain
from orcish.comparing.names import distinct_names
from orcish.comparing.simple import is_key_struct, is_union_struct, map_entries, simple
from orcish.reading.moments import arrow_text

__all__ = ["python_value"]


def python_value(array: Any, at: int) -> Any:
    """A value as an object of Python, or as text where Python's types do not hold it.

    Fields of a struct that have one name are numbered, a union is a dictionary of its tag and its value, and a map is a
    list of pairs.
    """
    one = simple(array.slice(at, 1))
    if pa.types.is_interval(one.type):
        return one[0].as_py()
    one = plain(one)
    kind = one.type
    if not one.is_valid()[0].as_py():
        return None
    if is_union_struct(kind):
        tag = one.field(0)[0].as_py()
        children = [python_value(each, 0) for each in one.flatten()[1:]]
        return {"tag": tag, "value": next((child for child in children if child is not None), None)}
    if is_key_struct(kind):
        return python_value(one.flatten()[0], 0)
    if pa.types.is_struct(kind):
        names = distinct_names([field.name for field in kind])
        return {name: python_value(child, 0) for name, child in zip(names, one.flatten(), strict=True)}
    if pa.types.is_map(kind):
        keys, items = map_entries(one)
        return [(python_value(keys, each), python_value(items, each)) for each in range(len(keys))]
    if is_list(kind):
        elements = one.flatten()
        return [python_value(elements, each) for each in range(len(elements))]
    try:
        return one[0].as_py()
    except (OverflowError, ValueError, pa.ArrowException):
        return arrow_text(one)
