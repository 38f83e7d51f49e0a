"""Rows of JSON lines, which the native core parses. Types that are not given are inferred of the first block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from orcish import _native
from orcish.arrow.exported import ExportedArray, ExportedSchema, schema_for_native
from orcish.reading.batches import iterate

from orcish_cli.formats import text_values
from orcish_cli.formats.errors import INFERRED
from orcish_cli.formats.text_options import TextOptions
from orcish_cli.formats.text_values import given_fields, of_texts, with_fine_unit

__all__ = ["json_rows", "json_schema"]


def json_schema(open_file: Callable[[], Any], options: TextOptions) -> pa.Schema:
    """The columns of JSON lines, in their order, with given and inferred types. Strings that look like timestamps are
    strings. Columns without values in the first block have the type null.

    Raises:
        ValueError: There are no rows, and no columns are given.
    """
    given = given_fields(options)
    seen = _native.JsonTypes()
    if not seen.add(open_file().read, block_size=text_values.BLOCK, blocks=1) and not given:
        raise ValueError("there are no rows, and so no columns: --schema gives them")
    kind, children = seen.column()
    if kind == "uniontype":
        children = next((own for _, (name, own) in children if name == "struct"), [])
    fields = {name: pa.field(name, _inferred(own)) for name, own in children if kind in ("struct", "uniontype")}
    fine = seen.fine()
    given = {name: with_fine_unit(field) if name in fine else field for name, field in given.items()}
    # Columns that the first rows do not have are the last ones.
    return pa.schema([*{**fields, **given}.values()])


def _inferred(found: tuple[str, list[Any]]) -> pa.DataType:
    """The type of values; of several kinds of values, that of the first one, so that others are errors."""
    kind, children = found
    if kind == "struct":
        return pa.struct([pa.field(name, _inferred(own)) for name, own in children])
    if kind == "array":
        return pa.list_(_inferred(children[0][1]))
    if kind == "uniontype":
        return _inferred(children[0][1])
    if kind == "double" or kind.startswith("decimal"):
        return pa.float64()
    return {"null": pa.null(), "boolean": pa.bool_()}.get(kind, pa.int64() if kind.endswith("int") else pa.string())


def json_rows(open_file: Callable[[], Any], options: TextOptions, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of JSON lines, with the types of a schema of the columns.

    Raises:
        CorruptFileError: A value is not one of its type, or has more digits, or a row is larger than a block.
        LimitExceededError: Values nest too deeply.
    """
    inferred = set(schema.names) - set(given_fields(options))
    read = open_file().read
    capsule = schema_for_native(schema)
    yield from iterate(
        _native.read_json(read, capsule, _cast, inferred=inferred, advice=INFERRED, block_size=text_values.BLOCK)
    )


def _cast(texts: tuple[object, object], field: object) -> tuple[object, object]:
    """Values of texts, or of the values of a dictionary, with the type of a field."""
    kind = pa.schema(ExportedSchema(field)).field(0).type
    array = pa.array(ExportedArray(texts))
    if pa.types.is_duration(kind) and pc.all(pc.match_substring_regex(array, "^-?[0-9]"), min_count=0).as_py():
        array = of_texts(array, pa.int64())
    made: tuple[object, object] = of_texts(array, kind).__arrow_c_array__()
    return made
