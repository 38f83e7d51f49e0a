"""Casts of arrays that keep all values: a value that the new type does not have is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.buffers import offsets_within, parents, within
from orcish.arrow.casting import cast_array, list_with
from orcish.arrow.far_dates import texts_of
from orcish.arrow.nested import is_binary, is_list, is_text
from orcish.arrow.text_casts import cast_texts

__all__ = ["cast_exactly"]

_WIDE = pa.large_string()


def cast_exactly(array: Any, kind: Any) -> pa.Array:
    """The array with another type, nested types included. A cast of the new values back gives the values of the array.

    Structs keep their fields, in any order. Booleans come from 0, 1, and the texts ``true`` and ``false``. Texts of
    numbers may have zeros at their ends.

    Raises:
        ArrowInvalid: A value is not one of the type, or a field of a struct would be lost or be new.
        ArrowNotImplementedError: There is no such cast.
    """
    own, types = array.type, pa.types
    if own == kind:
        return array
    if isinstance(own, pa.BaseExtensionType):
        return cast_exactly(array.storage, kind)
    if isinstance(kind, pa.BaseExtensionType):
        return kind.wrap_array(cast_exactly(array, kind.storage_type))
    if types.is_null(own):
        return pa.nulls(len(array), kind)
    if types.is_dictionary(own) or types.is_run_end_encoded(own):
        return cast_exactly(cast_array(array, own.value_type), kind)
    if types.is_dictionary(kind):
        encoded = cast_exactly(array, kind.value_type).dictionary_encode()
        return pa.DictionaryArray.from_arrays(encoded.indices.cast(kind.index_type), encoded.dictionary)
    if types.is_run_end_encoded(kind):
        return pc.run_end_encode(cast_exactly(array, kind.value_type), kind.run_end_type)
    if types.is_struct(own) and types.is_struct(kind):
        return _struct(array, kind)
    if types.is_map(own) and types.is_map(kind):
        return _map(array, kind)
    if is_list(own) and is_list(kind):
        return _list(array, kind)
    if types.is_nested(own) or types.is_nested(kind):
        # Those that pyarrow has, of maps and lists, keep the values.
        return array.cast(kind)
    return _leaf(array, kind)


def _struct(array: Any, kind: Any) -> pa.Array:
    names, wanted = ([field.name for field in each] for each in (array.type, kind))
    if sorted(names) != sorted(wanted):
        lost = [name for name in names if name not in wanted]
        new = [name for name in wanted if name not in names]
        parts = [
            f"{' and '.join(map(repr, some))} would be {what}" for some, what in ((lost, "lost"), (new, "new")) if some
        ]
        raise pa.ArrowInvalid(
            f"the fields of {array.type} are not those of {kind}{': ' if parts else ''}{', and '.join(parts)}"
        )
    # Values of null structs are none.
    children = array.flatten()
    if names != wanted and len(set(names)) == len(names):
        children = [children[names.index(name)] for name in wanted]
    cast = [cast_exactly(child, field.type) for child, field in zip(children, kind, strict=True)]
    if not cast:
        return array.cast(kind)
    return pa.StructArray.from_arrays(cast, fields=list(kind), mask=array.is_null())


def _list(array: Any, kind: Any) -> pa.Array:
    values = cast_exactly(array.flatten(), kind.value_type)
    return cast_array(list_with(array, values, pa.large_list(kind.value_field)), kind)


def _map(array: Any, kind: Any) -> pa.Array:
    offsets = offsets_within(array)
    before = within(array, array.keys)
    keys = cast_exactly(before, kind.key_type)
    items = cast_exactly(within(array, array.items), kind.item_type)
    if is_text(before.type) and not is_text(keys.type):
        _check_keys(offsets, before, keys)
    return pa.MapArray.from_arrays(offsets, keys, items, type=kind, mask=array.is_null())


def _check_keys(offsets: Any, before: Any, after: Any) -> None:
    """Checks that texts that differ are keys that differ."""
    rows = parents(offsets)
    counts = [
        pa.table({"row": rows, "key": keys}).group_by(["row", "key"]).aggregate([]).num_rows for keys in (before, after)
    ]
    if counts[0] != counts[1]:
        raise pa.ArrowInvalid(f"keys of a map that differ as {before.type} are equal as {after.type}")


def _leaf(array: Any, kind: Any) -> pa.Array:
    """Values that are not nested and not encoded."""
    own, types = array.type, pa.types
    if is_text(own):
        return cast_texts(array, kind)
    if is_text(kind):
        return texts_of(array, _WIDE).cast(kind)
    if types.is_boolean(kind):
        return _checked(array, _booleans(array), lambda made: cast_exactly(made.cast(pa.int8()), own))
    if types.is_boolean(own) and types.is_decimal(kind):
        return cast_exactly(array.cast(pa.int8()), kind)
    if types.is_integer(own) and types.is_decimal(kind):
        # pyarrow takes the digits of the type for those of the values.
        return _decimal_of_integers(array, kind)
    if types.is_floating(kind):
        if types.is_decimal(own):
            # The nearest number. That of pyarrow's cast is not always.
            return _checked(array, array.cast(pa.string()).cast(kind), lambda made: made.cast(own), _by_text)
        return _checked(array, array.cast(kind, safe=False), lambda made: made.cast(own))
    if types.is_floating(own) and types.is_decimal(kind):
        return _checked(array, _decimal_of_floats(array, kind), lambda made: _by_text(made, own))
    made = array.cast(kind)
    if is_binary(own) or types.is_decimal(own):
        return made
    return _checked(array, made, lambda made: made.cast(own))


def _booleans(array: Any) -> pa.Array:
    kind = array.type
    if pa.types.is_decimal(kind):
        array = array.cast(pa.decimal256(76, kind.scale))
        return pc.not_equal(array, pa.scalar(0).cast(pa.decimal256(76, 0)).cast(array.type))
    if pa.types.is_float16(kind):
        array = array.cast(pa.float32())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return pc.not_equal(array, pa.scalar(0, array.type))
    return array.cast(pa.bool_())


def _decimal_of_integers(array: Any, kind: Any) -> pa.Array:
    digits = 20
    if digits + kind.scale <= 76:
        wide = array.cast(pa.decimal256(76 - kind.scale, 0)).cast(pa.decimal256(76, kind.scale))
        return wide.cast(kind)
    return array.cast(pa.string()).cast(kind)


def _decimal_of_floats(array: Any, kind: Any) -> pa.Array:
    """Whole numbers as they are, and others with their shortest digits. The casts of pyarrow are off by a few units of
    the last digit where there is a fraction.

    Raises:
        ArrowInvalid: A number has no decimal of the type.
    """
    wide = array.cast(pa.float64())
    is_whole = pc.equal(pc.trunc(wide), wide)
    # Infinity is whole, too.
    is_whole = pc.and_(is_whole, pc.is_finite(wide))
    none = pa.scalar(None, wide.type)
    try:
        whole = pc.if_else(is_whole, wide, none).cast(pa.decimal256(76 - max(kind.scale, 0), 0))
        rest = _by_text(pc.if_else(is_whole, pa.scalar(None, array.type), array), kind)
        if kind.scale > 0:
            whole = whole.cast(pa.decimal256(76, kind.scale))
        return pc.coalesce(whole.cast(kind), rest)
    except pa.ArrowInvalid:
        if len(array) == 1:
            raise pa.ArrowInvalid(f"{_shown(array, 0)} of {array.type} is not a value of {kind}") from None
        # One of the halves has the first value that is none.
        half = len(array) // 2
        for part in (array[:half], array[half:]):
            _decimal_of_floats(part, kind)
        raise


def _by_text(array: Any, kind: Any) -> pa.Array:
    """Floating point numbers as decimals with their shortest digits, and decimals as the nearest floating point
    numbers.
    """
    if pa.types.is_float16(array.type):
        array = array.cast(pa.float32())
    return array.cast(pa.string()).cast(kind)


def _checked(
    array: Any, made: Any, back: Callable[[Any], Any], other: Callable[[Any, Any], Any] | None = None
) -> pa.Array:
    """The new values, if they are the same values as before.

    Args:
        array: The values.
        made: The new values.
        back: Gives values of the old type.
        other: Another way back, of which a value may be the same, too.

    Raises:
        ArrowInvalid: They are not.
    """
    if len(array) == array.null_count:
        return made
    try:
        same = _same(array, back(made))
        if other is not None and not pc.all(same).as_py():
            same = pc.or_(same, _same(array, other(made, array.type)))
    except pa.ArrowNotImplementedError:
        raise pa.ArrowInvalid(f"{_shown(array, 0)} of {array.type} is more than {made.type} has") from None
    except pa.ArrowInvalid as error:
        raise pa.ArrowInvalid(f"a value of {array.type} is not one of {made.type}: {error}") from None
    at = pc.index(same, False).as_py()
    if at >= 0:
        raise pa.ArrowInvalid(f"{_shown(array, at)} of {array.type} is not a value of {made.type}")
    return made


def _same(a: Any, b: Any) -> pa.Array:
    """Whether values are the same, without nulls."""
    if pa.types.is_float16(a.type):
        a, b = a.cast(pa.float32()), b.cast(pa.float32())
    same = pc.equal(a, b)
    if pa.types.is_floating(a.type):
        same = pc.or_(same, pc.and_(pc.is_nan(a), pc.is_nan(b)))
    return pc.fill_null(same, True)


def _shown(array: Any, at: int) -> str:
    """The text of a value, or of the first one after it that is not null."""
    value = array[at:].drop_null()[:1]
    try:
        return str(texts_of(value, pa.string())[0].as_py())[:60]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return "a value"
