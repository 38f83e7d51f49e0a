"""How tables of two readers are compared."""

from __future__ import annotations

from typing import Any


def outcome(work: Any) -> Any:
    """The result of a call, or its exception."""
    try:
        return work()
    except Exception as error:
        return error


def different_columns(theirs: Any, ours: Any) -> set[str]:
    """Names of columns whose values or types differ."""
    assert theirs.num_rows == ours.num_rows
    assert theirs.schema.names == ours.schema.names
    found = set()
    for field, one, other in zip(theirs.schema, theirs.columns, ours.columns, strict=True):
        # NaN is not equal to itself, and its text is the same.
        if not one.equals(other) and repr(outcome(one.to_pylist)) != repr(outcome(other.to_pylist)):
            found.add(field.name)
    return found
