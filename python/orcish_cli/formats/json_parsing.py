"""JSON documents as Arrow arrays, for types and numbers that pyarrow does not read: the reverse of
:mod:`orcish_cli.json_values`.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from orcish.arrow.casting import cast_array
from orcish.arrow.exact_casts import cast_exactly
from orcish.arrow.nested import is_list, is_text, repeated_name
from orcish.errors import CorruptFileError, UnsupportedError

from orcish_cli.formats.errors import ARRAY, INFERRED, first_error
from orcish_cli.formats.text import typed_values

__all__ = ["documents", "parsed_batch"]

_BLANK = re.compile(r"[ \t\r\n]*")
_NOT_FINITE = ("NaN", "Infinity", "-Infinity")


class _Number(str):
    """A number as the document spells it."""

    __slots__ = ()


def documents(block: bytes) -> Iterator[dict[str, Any]]:
    """The rows of the first block.

    Raises:
        CorruptFileError: It is not JSON, or a row is no object.
    """
    yield from _documents(block, json.JSONDecoder(), 0)


def _documents(block: bytes, decoder: json.JSONDecoder, before: int) -> Iterator[dict[str, Any]]:
    try:
        text = block.decode()
    except UnicodeDecodeError as error:
        raise CorruptFileError(f"the text is not UTF-8: {error}") from error
    at, number = _end_of_blanks(text, 0), before
    while at < len(text):
        number += 1
        try:
            row, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise CorruptFileError(f"row {number}: JSON parse error: {text[at : at + 40]!r}: {error.msg}") from error
        except RecursionError as error:
            raise CorruptFileError(f"row {number}: JSON parse error: {text[at : at + 40]!r}: {error}") from error
        except CorruptFileError as error:
            raise CorruptFileError(f"row {number}: {error.args[0]}") from error
        if not isinstance(row, dict):
            advice = f": {ARRAY}" if isinstance(row, list) else ""
            raise CorruptFileError(f"row {number}: a row is an object, and not {json.dumps(row)[:40]}{advice}")
        yield row
        at = _end_of_blanks(text, at)


def _end_of_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def parsed_batch(block: bytes, schema: pa.Schema, given: Mapping[str, pa.Field], before: int) -> pa.RecordBatch:
    """The rows of a block.

    Args:
        block: The text.
        schema: The columns.
        given: The columns whose types are given.
        before: The number of rows before the block.

    Raises:
        CorruptFileError: A value is not one of its type, or has more digits.
        UnsupportedError: There is no JSON of a type.
    """
    decoder = json.JSONDecoder(
        parse_float=_Number, parse_int=_Number, parse_constant=_constant, object_pairs_hook=_object
    )
    rows = list(_documents(block, decoder, before))
    known = set(schema.names)
    for at, row in enumerate(rows, before + 1):
        for name in row:
            if name not in known:
                raise CorruptFileError(f"row {at}: unexpected field {name!r}: the columns are those of the first rows")
    columns = []
    for field in schema:
        values = [row.get(field.name) for row in rows]
        try:
            columns.append(_array(values, field.type, field.name))
        except CorruptFileError as error:
            advice = "" if field.name in given else f": {INFERRED}"
            place, own = _first_error(values, field, error)
            raise CorruptFileError(f"row {before + place + 1}: {own.args[0]}{advice}") from error
    if not columns:
        return pa.RecordBatch.from_struct_array(pa.array([{}] * len(rows), pa.struct([])))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _first_error(values: list[Any], field: pa.Field, error: CorruptFileError) -> tuple[int, CorruptFileError]:
    return first_error(lambda start, end: _array(values[start:end], field.type, field.name), len(values), error)


def _constant(text: str) -> Any:
    raise CorruptFileError(f"JSON has no {text}: it is a string, {json.dumps(text)}")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs) and (name := repeated_name(name for name, _ in pairs)) is not None:
        raise CorruptFileError(f"an object has two values of the name {name[:40]!r}")
    return found


def _array(values: list[Any], kind: Any, path: str) -> pa.Array:
    """The values of a column, or of one within it."""
    types = pa.types
    if types.is_null(kind):
        _check(values, (), kind, path)
        return pa.nulls(len(values))
    if types.is_struct(kind):
        return _struct(values, kind, path)
    if types.is_map(kind):
        return _map(values, kind, path)
    if is_list(kind):
        return _list(values, kind, path)
    if types.is_union(kind):
        return _union(values, kind, path)
    if types.is_dictionary(kind):
        return cast_exactly(_array(values, kind.value_type, path), kind)
    if types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):
        raise UnsupportedError(f"column {path!r}: {kind} is not read from JSON")
    if types.is_boolean(kind):
        _check(values, (bool,), kind, path)
        return pa.array(values, kind)
    return _texts(values, kind, path)


def _texts(values: list[Any], kind: Any, path: str) -> pa.Array:
    types = pa.types
    is_number = types.is_integer(kind) or types.is_floating(kind)
    if is_number:
        some = _NOT_FINITE if types.is_floating(kind) else ()
        _check([None if value in some else value for value in values], (_Number,), kind, path)
    elif types.is_decimal(kind) or types.is_duration(kind):
        _check(values, (str, _Number), kind, path)
    else:
        _check(values, (str,), kind, path)
    texts = pa.array(list(map(_plain, values)), pa.string())
    if types.is_duration(kind) and any(type(value) is _Number for value in values):
        texts = typed_values(texts, pa.int64(), path)
    return typed_values(texts, kind, path)


def _plain(value: str | None) -> str | None:
    return None if value is None else str(value)


def _check(values: list[Any], kinds: tuple[type, ...], kind: Any, path: str) -> None:
    """Checks that all values are of some types of Python."""
    for value in values:
        if value is not None and type(value) not in kinds:
            text = str(value) if type(value) is _Number else json.dumps(value, ensure_ascii=False)
            raise CorruptFileError(f"column {path!r}: {text[:40]} is not one of {kind}")


def _mask(values: list[Any]) -> pa.Array:
    return pa.array([value is None for value in values], pa.bool_())


def _struct(values: list[Any], kind: Any, path: str) -> pa.Array:
    _check(values, (dict,), kind, path)
    names = {field.name for field in kind}
    for value in values:
        for name in value or ():
            if name not in names:
                raise CorruptFileError(f"column {path!r}: unexpected field {name!r}, which {kind} has not")
    if not names:
        return pa.array(values, kind)
    children = []
    for field in kind:
        own = [None if value is None else value.get(field.name) for value in values]
        children.append(_array(own, field.type, f"{path}.{field.name}"))
    return pa.StructArray.from_arrays(children, fields=list(kind), mask=_mask(values))


def _offsets(values: list[Any]) -> list[int]:
    offsets = [0]
    for value in values:
        offsets.append(offsets[-1] + len(value or ()))
    return offsets


def _list(values: list[Any], kind: Any, path: str) -> pa.Array:
    _check(values, (list,), kind, path)
    inner = _array([each for value in values for each in value or ()], kind.value_type, f"{path}.element")
    offsets = pa.array(_offsets(values), pa.int64())
    made = pa.LargeListArray.from_arrays(offsets, inner, type=pa.large_list(kind.value_field), mask=_mask(values))
    try:
        return cast_array(made, kind)
    except pa.ArrowInvalid as error:
        raise CorruptFileError(f"column {path!r}: {error}") from error


def _union(values: list[Any], kind: Any, path: str) -> pa.Array:
    """Unions of objects with ``tag``, the position of the variant, and ``value``. A value without a tag is that of the
    first variant that has it. Unions have no nulls: a null is one of the first variant.
    """
    variants = [kind.field(at).type for at in range(kind.num_fields)]
    tags: list[int] = []
    children: list[list[Any]] = [[] for _ in variants]
    offsets: list[int] = []
    for value in values:
        tag, own = _tagged(value, variants, path)
        tags.append(tag)
        offsets.append(len(children[tag]))
        children[tag].append(own)
    made = [
        _array(own, each, f"{path}.field{at}") for at, (own, each) in enumerate(zip(children, variants, strict=True))
    ]
    names = [kind.field(at).name for at in range(kind.num_fields)]
    codes = pa.array([kind.type_codes[tag] for tag in tags], pa.int8())
    if kind.mode == "dense":
        return pa.UnionArray.from_dense(codes, pa.array(offsets, pa.int32()), made, names, kind.type_codes)
    places = [
        pa.array([at if own == tag else None for own, at in zip(tags, offsets, strict=True)], pa.int32())
        for tag in range(len(variants))
    ]
    wide = [child.take(at) for child, at in zip(made, places, strict=True)]
    return pa.UnionArray.from_sparse(codes, wide, names, kind.type_codes)


def _tagged(value: Any, variants: list[Any], path: str) -> tuple[int, Any]:
    if value is None:
        return 0, None
    if isinstance(value, dict) and set(value) == {"tag", "value"} and type(value["tag"]) is _Number:
        place = str(value["tag"])
        if not place.isdecimal() or int(place[:9]) >= len(variants):
            raise CorruptFileError(f"column {path!r}: the tag {place[:40]} is none of 0 to {len(variants) - 1}")
        return int(place), value["value"]
    for tag, kind in enumerate(variants):
        with contextlib.suppress(CorruptFileError):
            _array([value], kind, path)
            return tag, value
    text = str(value) if type(value) is _Number else json.dumps(value, ensure_ascii=False)
    raise CorruptFileError(f"column {path!r}: {text[:40]} is one of none of {', '.join(map(str, variants))}")


def _map(values: list[Any], kind: Any, path: str) -> pa.Array:
    """Maps of objects, of arrays of ``[key, value]``, and of arrays of objects with ``key`` and ``value``."""
    _check(values, (dict, list), kind, path)
    pairs = [None if value is None else _pairs(value, kind, path) for value in values]
    keys = _array([key for each in pairs for key, _ in each or ()], kind.key_type, f"{path}.key")
    if keys.null_count:
        raise CorruptFileError(f"column {path!r}: a map has a null key")
    items = _array([item for each in pairs for _, item in each or ()], kind.item_type, f"{path}.value")
    offsets = pa.array(_offsets(pairs), pa.int32())
    made = pa.MapArray.from_arrays(offsets, keys, items, type=kind, mask=_mask(values))
    counts = [
        len(set(keys[start:end].to_pylist()))
        for start, end in zip(offsets.to_pylist(), offsets[1:].to_pylist(), strict=False)
    ]
    if any(count < len(each or ()) for count, each in zip(counts, pairs, strict=True)):
        raise CorruptFileError(f"column {path!r}: a map has two values of one key")
    return made


def _pairs(value: Any, kind: Any, path: str) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        # Names of objects are strings.
        is_string = is_text(kind.key_type) or not (
            pa.types.is_integer(kind.key_type) or pa.types.is_floating(kind.key_type)
        )
        return [(name if is_string else _Number(name), item) for name, item in value.items()]
    pairs = []
    for each in value:
        if isinstance(each, list) and len(each) == 2:
            pairs.append((each[0], each[1]))
        elif isinstance(each, dict) and set(each) == {"key", "value"}:
            pairs.append((each["key"], each["value"]))
        else:
            raise CorruptFileError(f"column {path!r}: an entry of a map is [key, value]")
    return pairs
