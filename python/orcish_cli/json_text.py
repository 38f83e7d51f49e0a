"""Rows as lines of JSON, column by column. Values are those of :mod:`orcish_cli.json_values`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from orcish.arrow.buffers import offsets_within, within
from orcish.arrow.casting import iso_texts
from orcish.arrow.nested import is_list, is_list_view

from orcish_cli.batch_slices import slices
from orcish_cli.json_values import WideInteger, to_json, unique_names
from orcish_cli.terminal import json_line

__all__ = ["json_text"]

TEXT = pa.large_string()
"""The type of texts: those of a slice may have more than 2 GiB."""


def json_text(batches: Iterable[pa.RecordBatch]) -> Iterator[str]:
    """Blocks of lines, one JSON object for each row; each line ends in a line feed.

    Characters that terminals do not print are escaped, as :func:`orcish_cli.terminal.json_line` escapes them. Columns
    and fields of one name have different ones, see :func:`orcish_cli.json_values.unique_names`.
    """
    for batch in itertools.chain.from_iterable(map(slices, batches)):
        if batch.num_columns:
            yield _whole(_object(batch.schema.names, map(_texts, batch.columns), "}\n"))
        else:
            yield "{}\n" * batch.num_rows


def _texts(array: pa.Array) -> pa.Array:
    """The JSON text of each value. Nulls are ``null``."""
    if len(array) == 0:
        return pa.array([], TEXT)
    for applies, convert in _CONVERTERS:
        if applies(array.type):
            texts = convert(array)
            break
    else:
        texts = _each(array)
    return texts if texts.null_count == 0 else pc.fill_null(texts, pa.scalar("null", TEXT))


def _each(array: pa.Array) -> pa.Array:
    """Texts that Python makes of each value."""
    return pa.array(map(json_line, to_json(array)), TEXT)


def _plain(array: pa.Array) -> pa.Array:
    """Texts of values whose text of Arrow is that of JSON."""
    return pc.cast(array, TEXT)


def _joined(*parts: pa.Array | str) -> pa.Array:
    return pc.binary_join_element_wise(
        *(pa.scalar(part, TEXT) if isinstance(part, str) else part for part in parts), pa.scalar("", TEXT)
    )


def _whole(texts: pa.Array) -> str:
    """The characters of all values that are not null."""
    _, offsets, data = texts.buffers()
    if data is None:
        return ""
    ends = pa.Array.from_buffers(pa.int64(), len(texts) + 1, [None, offsets], offset=texts.offset)
    return str(memoryview(data)[ends[0].as_py() : ends[-1].as_py()], "utf-8")


def _strings(array: pa.Array) -> pa.Array:
    texts = pc.cast(array, TEXT)
    whole = _whole(texts)
    if whole.isprintable() and '"' not in whole and "\\" not in whole:
        return _joined('"', texts, '"')
    return _each(array)


def _floats(array: pa.Array) -> pa.Array:
    if not pa.types.is_float64(array.type):
        # By their text, so that 0.1 does not become 0.10000000149011612.
        array = pc.cast(pc.cast(array, pa.string()), pa.float64())
    if not pc.all(pc.is_finite(array), skip_nulls=True).as_py():
        return _each(array)
    values = memoryview(array.buffers()[1]).cast("d")[array.offset : array.offset + len(array)]
    texts = pa.array(map(repr, values.tolist()), TEXT)
    return texts if array.null_count == 0 else pc.if_else(array.is_valid(), texts, pa.scalar(None, TEXT))


def _decimals(array: pa.Array) -> pa.Array:
    texts = pc.cast(array, TEXT)
    # Small values have exponents in Arrow.
    return _each(array) if "E" in _whole(texts) else _joined('"', texts, '"')


def _moments(array: pa.Array) -> pa.Array:
    return _joined('"', iso_texts(array, TEXT), '"')


def _dictionaries(array: pa.Array) -> pa.Array:
    return _texts(array.dictionary).take(array.indices)


def _structs(array: pa.Array) -> pa.Array:
    fields = [array.field(index) for index in range(array.type.num_fields)]
    if not fields:
        return _each(array)
    texts = _object([field.name for field in array.type], map(_texts, fields), "}")
    return texts if array.null_count == 0 else pc.if_else(array.is_valid(), texts, pa.scalar(None, TEXT))


def _object(names: Sequence[str], values: Iterable[pa.Array], end: str) -> pa.Array:
    """Texts of objects, of those of their fields."""
    parts: list[pa.Array | str] = []
    for name, texts in zip(unique_names(names), values, strict=True):
        parts += [f"{', ' if parts else '{'}{json_line(name)}: ", texts]
    return _joined(*parts, end)


def _lists(array: pa.Array) -> pa.Array:
    mask = array.is_null() if array.null_count else None
    offsets = pc.cast(offsets_within(array), pa.int64())
    texts = pa.LargeListArray.from_arrays(offsets, _texts(within(array, array.values)), mask=mask)
    return _joined("[", pc.binary_join(texts, pa.scalar(", ", TEXT)), "]")


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_plain(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind))


_CONVERTERS: list[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], pa.Array]]] = [
    (lambda kind: isinstance(kind, WideInteger), _each),
    (lambda kind: isinstance(kind, pa.BaseExtensionType), lambda array: _texts(array.storage)),
    (_is_plain, _plain),
    (_is_string, _strings),
    (pa.types.is_floating, _floats),
    (pa.types.is_decimal, _decimals),
    (pa.types.is_date, _moments),
    (pa.types.is_time, _moments),
    (pa.types.is_timestamp, _moments),
    (pa.types.is_dictionary, _dictionaries),
    (pa.types.is_struct, _structs),
    (is_list_view, _each),
    (pa.types.is_fixed_size_list, _each),
    (is_list, _lists),
]
"""Types of which texts are made without a Python object for each value."""
