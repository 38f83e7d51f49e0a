"""Rows of CSV and of JSON lines. Types that are not given are inferred of the first block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.nested import map_fields, repeated_name
from orcish.cli.formats.json_levels import CheckedJson
from orcish.cli.formats.open_quotes import CheckedCsv
from orcish.cli.formats.text_options import TextOptions
from orcish.errors import CorruptFileError, UnsupportedError, unknown_column

__all__ = ["csv_rows", "json_rows"]

Rows = tuple[pa.Schema, Iterator[pa.RecordBatch]]
BLOCK = 16 << 20
"""Bytes of text that are parsed at a time."""
LOSSY = r"^[+-]?(0[0-9]|[0-9]{16,}$)"
"""Texts of numbers that are other texts as numbers, or may be: with leading zeros, or more digits than doubles have."""


def csv_rows(open_file: Callable[[], Any], options: TextOptions) -> Rows:
    """The rows of CSV.

    Raises:
        UnknownColumnError: The schema has a column that the file has not.
        ValueError: Without a header, the schema does not have all columns.
        CorruptFileError: The file ends inside of a quoted cell.
    """
    from pyarrow import csv

    given = {} if options.schema is None else {field.name: field for field in options.schema}
    read = csv.ReadOptions(block_size=BLOCK)
    if not options.header and options.schema is not None:
        read.column_names = options.schema.names
    elif not options.header:
        read.autogenerate_column_names = True
    parse = csv.ParseOptions(delimiter=options.delimiter or ",", newlines_in_values=True)
    convert = csv.ConvertOptions(
        null_values=[options.null or ""], strings_can_be_null=True, quoted_strings_can_be_null=False
    )

    def opened(types: dict[str, pa.DataType]) -> Any:
        convert.column_types = types
        file = CheckedCsv(open_file, parse.delimiter)
        return csv.open_csv(file, read_options=read, parse_options=parse, convert_options=convert)

    # Types of given columns that the reader cannot parse are no error here.
    inferred = opened({name: pa.string() for name in given}).schema
    if len(inferred) == 1:
        # A line without text is a null.
        parse.ignore_empty_lines = False
    _check_names(inferred, given)
    numbers = {
        field.name: field.type
        for field in inferred
        if field.name not in given and (pa.types.is_integer(field.type) or pa.types.is_floating(field.type))
    }
    types = {field.name: pa.string() if pa.types.is_null(field.type) else field.type for field in inferred}
    types |= {name: _read_as(field.type) for name, field in given.items()}
    reader = opened({**types, **dict.fromkeys(numbers, pa.string())})
    fields = [given.get(name, pa.field(name, types[name])) for name in inferred.names]
    schema = pa.schema(fields)

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in reader:
            columns = [
                _number(batch.column(field.name), field) if field.name in numbers else _value(batch.column(at), field)
                for at, field in enumerate(schema)
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return schema, batches()


def json_rows(open_file: Callable[[], Any], options: TextOptions) -> Rows:
    """The rows of JSON lines. Strings that look like timestamps are strings.

    Raises:
        ValueError: There are no rows, and no columns are given.
        UnsupportedError: This version of pyarrow reads JSON lines only as a whole.
        LimitExceededError: Values nest too deeply.
        CorruptFileError: A line is ``null``.
    """
    from pyarrow import json

    if not hasattr(json, "open_json"):
        raise UnsupportedError("JSON lines are read by pyarrow 20 or later: pip install -U pyarrow")
    given = {} if options.schema is None else {field.name: field for field in options.schema}
    read = json.ReadOptions(block_size=BLOCK)

    def opened(schema: pa.Schema | None, behavior: str) -> Any:
        parse = json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=behavior, newlines_in_values=False)
        return json.open_json(CheckedJson(open_file()), read_options=read, parse_options=parse)

    asked = pa.schema([field.with_type(_read_as(field.type)) for field in given.values()]) if given else None
    try:
        inferred = opened(asked, "infer").schema
    except pa.ArrowInvalid as error:
        if "Empty JSON stream" not in str(error):
            raise
        if not given:
            raise ValueError("there are no rows, and so no columns: --schema gives them") from error
        return pa.schema([*given.values()]), iter(())
    parsed = [field if field.name in given else field.with_type(_without_guesses(field.type)) for field in inferred]
    reader = opened(pa.schema(parsed), "error")
    schema = pa.schema([given.get(field.name, field) for field in parsed])

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in reader:
            columns = [_value(batch.column(field.name), field) for field in schema]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return schema, batches()


def _check_names(found: pa.Schema, given: dict[str, pa.Field]) -> None:
    names = set(found.names)
    for name in given:
        if name not in names:
            raise unknown_column(name, found.names)
    repeated = repeated_name(found.names)
    if repeated is not None:
        raise ValueError(f"two columns have the name {repeated!r}: --no-header with --schema gives other names")


def _read_as(kind: pa.DataType) -> pa.DataType:
    """The type that text is parsed as, before it gets its type."""
    types = pa.types
    is_text = (types.is_binary, types.is_large_binary, types.is_date, types.is_time, types.is_timestamp)
    return pa.string() if any(found(kind) for found in is_text) else kind


def _value(array: pa.Array, field: pa.Field) -> pa.Array:
    """Values with the type of a column."""
    kind = field.type
    if array.type == kind:
        return array
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        try:
            return pa.array([None if text is None else bytes.fromhex(text) for text in array.to_pylist()], kind)
        except ValueError as error:
            raise CorruptFileError(f"column {field.name!r}: binaries are hexadecimal digits: {error}") from error
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        # Zeros at the end are digits beyond the unit.
        array = pc.replace_substring_regex(array, r"(\.\d*?)0+(Z?)$", r"\1\2")
        array = pc.replace_substring_regex(array, r"\.(Z?)$", r"\1")
    return array.cast(kind)


def _number(array: pa.Array, field: pa.Field) -> pa.Array:
    """Texts as numbers.

    Raises:
        CorruptFileError: A text would be another one.
    """
    lossy = array.filter(pc.match_substring_regex(array, LOSSY))
    for text in lossy.to_pylist():
        try:
            is_same = str(int(text)) == text and pa.types.is_integer(field.type) and -(2**63) <= int(text) < 2**63
        except ValueError:
            # Such as 00.5.
            is_same = False
        if not is_same:
            raise CorruptFileError(
                f"column {field.name!r}: {text[:40]!r} would not be the same text as a number: give the type with "
                f"--schema '{field.name} string', or a type of numbers"
            )
    return array.cast(field.type)


def _without_guesses(kind: pa.DataType) -> pa.DataType:
    """An inferred type in which strings are strings, and so are columns of nulls."""
    if pa.types.is_null(kind) or pa.types.is_timestamp(kind):
        return pa.string()
    return map_fields(kind, lambda field, _: field.with_type(_without_guesses(field.type)))
