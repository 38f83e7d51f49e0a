"""Texts of CSV and JSON as values, and the columns whose types are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from orcish.arrow.casting import cast_array
from orcish.arrow.nested import is_binary, map_fields
from orcish.errors import CorruptFileError, UnsupportedError

from orcish_cli.formats.schemas import has_open_units, with_units
from orcish_cli.formats.text_options import TextOptions

__all__ = ["BLOCK", "given_fields", "of_texts", "placed", "with_fine_unit", "with_text"]

BLOCK = 16 << 20
"""Bytes of text that are parsed at a time."""


def given_fields(options: TextOptions) -> dict[str, pa.Field]:
    """The columns whose types are given."""
    return {} if options.schema is None else {field.name: field for field in options.schema}


def with_text(schema: pa.Schema) -> pa.Schema:
    """A schema in which columns without values are texts, and the units of timestamps are those that they have."""

    def changed(field: pa.Field) -> pa.Field:
        kind = map_fields(field.type, lambda child, _: changed(child))
        return with_units(field.with_type(pa.string() if pa.types.is_null(kind) else kind))

    return pa.schema([changed(field) for field in schema], schema.metadata)


def with_fine_unit(field: pa.Field) -> pa.Field:
    """A given column with nanoseconds for its timestamps without a unit, which have digits beyond microseconds. Their
    units stay open, as other sources may have more digits.
    """
    return with_units(field, "ns", is_open=True) if has_open_units(field) else field


def of_texts(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Values of texts, or of values that have been parsed, with another type. Binaries are hexadecimal digits.

    Raises:
        ValueError: A value is not one of the type.
        UnsupportedError: There is no such cast.
    """
    if not is_binary(kind):
        return cast_array(array, kind)
    try:
        return pa.array([None if text is None else bytes.fromhex(text) for text in array.to_pylist()], kind)
    except ValueError as error:
        raise ValueError(f"binaries are hexadecimal digits: {error}") from error


def placed(typed: Callable[[Any], pa.Array], array: pa.Array, name: str, before: int) -> pa.Array:
    """The values that a function makes of those of a column.

    Args:
        typed: The function.
        array: The values of some rows.
        name: The column.
        before: The number of rows before these.

    Raises:
        CorruptFileError: The function has an error, which names the row and the column here.
        UnsupportedError: There are no such values.
    """
    try:
        return typed(array)
    except UnsupportedError as error:
        raise UnsupportedError(f"column {name!r}: {error}") from error
    except ValueError as error:
        start, end = 0, len(array)
        while end - start > 1:
            # One of the halves has the first value that is wrong.
            middle = (start + end) // 2
            try:
                typed(array[start:middle])
                start = middle
            except ValueError:
                end = middle
        text = str(error)
        try:
            typed(array[start:end])
        except ValueError as own:
            text = str(own)
        raise CorruptFileError(f"row {before + start + 1}: column {name!r}: {text}") from error
