"""Rows of JSON lines. Types that are not given are inferred of the first block."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from orcish.arrow.nested import map_fields
from orcish.errors import CorruptFileError

from orcish_cli.formats.json_levels import Levels
from orcish_cli.formats.json_parsing import documents, parsed_batch
from orcish_cli.formats.text import BLOCK, fine_units, given_fields, typed_values
from orcish_cli.formats.text_options import TextOptions

__all__ = ["json_rows", "json_schema"]

MARK = b"\xef\xbb\xbf"
"""What some writers begin text with."""
DIGITS = rb"[0-9](?:\.?[0-9]){%d}|[eE][-+]?0*[1-9][0-9]{%d}|NaN|Infinity"
MAYBE_OTHER = {64: re.compile(DIGITS % (15, 2)), 32: re.compile(DIGITS % (6, 1)), 16: re.compile(rb"[0-9]")}
"""Text of numbers that floating point numbers of so many bits may not keep, and of those that JSON has not."""


def json_schema(open_file: Callable[[], Any], options: TextOptions) -> pa.Schema:
    """The columns of JSON lines, in their order, with given and inferred types. Strings that look like timestamps are
    strings. Columns without values in the first block have the type null.

    Raises:
        ValueError: There are no rows, and no columns are given.
    """
    given = given_fields(options)
    first = next(_blocks(open_file()), b"")
    if not first and not given:
        raise ValueError("there are no rows, and so no columns: --schema gives them")
    names: dict[str, None] = {}
    if given and first:
        rows = list(documents(first))
        names = dict.fromkeys(name for row in rows for name in row)
        given = {name: fine_units(field, (json.dumps(row.get(name)) for row in rows)) for name, field in given.items()}
        # Given columns may have values that pyarrow does not read.
        others = [{name: value for name, value in row.items() if name not in given} for row in rows]
        first = b"".join(json.dumps(row).encode() + b"\n" for row in others) if any(others) else b""
    found = {field.name: field for field in _inferred(first)} if first else {}
    fields = {**found, **given}
    # Columns are in the order of the file; those that its first rows do not have are the last ones.
    return pa.schema([fields[name] for name in dict.fromkeys([*names, *fields])])


def _inferred(block: bytes) -> list[pa.Field]:
    found = _read(block, None)
    return [field.with_type(_without_guesses(field.type)) for field in found.schema]


def _read(block: bytes, schema: pa.Schema | None) -> pa.Table:
    from pyarrow import json as reader

    read = reader.ReadOptions(block_size=max(len(block) + 1, BLOCK))
    behavior = "infer" if schema is None else "error"
    parse = reader.ParseOptions(explicit_schema=schema, unexpected_field_behavior=behavior)
    return reader.read_json(pa.BufferReader(block), read_options=read, parse_options=parse)


def _without_guesses(kind: pa.DataType) -> pa.DataType:
    """An inferred type in which strings are strings."""
    if pa.types.is_timestamp(kind):
        return pa.string()
    return map_fields(kind, lambda field, _: field.with_type(_without_guesses(field.type)))


def json_rows(open_file: Callable[[], Any], options: TextOptions, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of JSON lines, with the types of a schema of the columns.

    Raises:
        CorruptFileError: A value is not one of its type, or has more digits.
    """
    given = given_fields(options)
    simple = len(schema) > 0 and all(_is_simple(field.type, is_top=True) for field in schema)
    bits = min((bits for field in schema for bits in _float_bits(field.type)), default=None)
    asked = pa.schema([field.with_type(pa.string() if _is_text(field.type) else field.type) for field in schema])
    before = 0
    for block in _blocks(open_file()):
        if not simple or (bits is not None and MAYBE_OTHER[bits].search(block)):
            parsed = parsed_batch(block, schema, given, before)
            before += len(parsed)
            yield parsed
            continue
        try:
            found = [_typed(batch, schema) for batch in _read(block, asked).to_batches()]
        except (pa.ArrowInvalid, CorruptFileError):
            # The error names the row, the column and the value.
            parsed = parsed_batch(block, schema, given, before)
            before += len(parsed)
            yield parsed
            continue
        before += sum(map(len, found))
        yield from found


def _typed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch of simple values with the types of a schema."""
    columns = [typed_values(batch.column(field.name), field.type, field.name) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _blocks(file: Any) -> Iterator[bytes]:
    """Blocks of whole lines of a file, which are checked; without those that are blank.

    Raises:
        CorruptFileError: A row is too large, or a line is ``null``.
        LimitExceededError: Values nest too deeply.
    """
    rest, levels = b"", Levels()
    data = file.read(BLOCK).removeprefix(MARK)
    while data:
        following = file.read(BLOCK)
        block = rest + data
        # The last line may have no line break.
        end = block.rfind(b"\n") + 1 if following else len(block)
        if not end and len(block) >= BLOCK:
            raise CorruptFileError(
                "a row is larger than 16 MB, or the file is one array: JSON lines have an object on each line"
            )
        levels.check(block[:end])
        if block[:end].strip():
            yield block[:end]
        rest, data = block[end:], following


def _is_text(kind: pa.DataType) -> bool:
    """Whether values are strings of JSON that get their type later."""
    types = pa.types
    tests = (types.is_binary, types.is_large_binary, types.is_date, types.is_time, types.is_timestamp)
    return any(test(kind) for test in tests)


def _is_simple(kind: Any, *, is_top: bool) -> bool:
    """Whether pyarrow parses the values, perhaps as strings."""
    types = pa.types
    if types.is_struct(kind) or types.is_list(kind):
        return kind.num_fields > 0 and all(
            _is_simple(kind.field(at).type, is_top=False) for at in range(kind.num_fields)
        )
    if types.is_null(kind) or types.is_boolean(kind) or types.is_integer(kind) or types.is_string(kind):
        return True
    return (types.is_float32(kind) or types.is_float64(kind)) or (is_top and _is_text(kind))


def _float_bits(kind: Any) -> list[int]:
    """The bits of floating point numbers in a type."""
    if pa.types.is_floating(kind):
        return [kind.bit_width]
    return [bits for at in range(kind.num_fields) for bits in _float_bits(kind.field(at).type)]
