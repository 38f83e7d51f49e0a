"""How ORC's C++ library reads files: values of pyorc, and what it is known to do wrong."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterable
from typing import Any

import pyorc
from pyorc import StructRepr

from support.writer_tables import comparable

SKIP = "StringDirectColumnReader::skip: lastBuffer_ is null"
"""A skip of no bytes in a buffer that is not there yet; files of pyorc have it too."""


def rows_of(file: bytes, **options: Any) -> pyorc.Reader[Any]:
    return pyorc.Reader(io.BytesIO(file), struct_repr=StructRepr.DICT, **options)


def as_pyorc(value: Any) -> Any:
    """A value of a table as pyorc has it: maps as dictionaries, timestamps with a zone."""
    if isinstance(value, list):
        if value and isinstance(value[0], tuple):
            return {key: as_pyorc(inner) for key, inner in value}
        return [as_pyorc(inner) for inner in value]
    if isinstance(value, dict):
        return {key: as_pyorc(inner) for key, inner in value.items()}
    if isinstance(value, dt.datetime) and value.tzinfo is None:
        return value.replace(tzinfo=dt.timezone.utc)
    return value


def empty_maps(value: Any) -> Any:
    """The same with empty maps as lists: Arrow has lists of pairs for them."""
    if isinstance(value, dict):
        return {key: empty_maps(inner) for key, inner in value.items()} or []
    return [empty_maps(inner) for inner in value] if isinstance(value, list) else value


def same_form(value: Any) -> Any:
    """A value of a table, or of pyorc, in a form in which what is the same is equal."""
    return comparable(empty_maps(as_pyorc(value)))


def check_column(name: str, got: Iterable[Any], want: list[Any]) -> None:
    """Whether values that a peer reads are those in memory, which have been brought into their form."""
    found = [same_form(value) for value in got]
    if found != want:
        assert len(found) == len(want), f"column {name}: {len(found)} rows for {len(want)}"
        row = next(row for row in range(len(want)) if found[row] != want[row])
        raise AssertionError(f"column {name}, row {row}: {found[row]!r} for {want[row]!r}")
