"""Values of partition columns: their types, casts to these types, and the folders that have equal values.

The native core knows the texts of values, and all spellings of a value. A table has one type for each partition column,
in which values are compared, whatever their folders are called.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from orcish import _native
from orcish.arrow.casting import cast_array
from orcish.arrow.exported import ExportedArray, ExportedSchema
from orcish.arrow.nested import is_text, value_type
from orcish.errors import CastError, OrcishError
from orcish.reading.orc_files import partition_schema
from orcish.reading.schema_file import schema_file
from orcish.tables.log.schema import TableSchema

__all__ = [
    "cast_values",
    "check_partition_values",
    "equal_folders",
    "inferred_fields",
    "parse_values",
    "untyped_columns",
]

Values = tuple[tuple[str, str | None], ...]
"""Names and texts of the partition columns of a folder."""


def inferred_fields(base: str, names: Iterable[str]) -> list[pa.Field]:
    """The partition columns of files that have values, with the types that readers infer without a log.

    Args:
        base: Path or URL of the table.
        names: The files, by their paths in the table.
    """
    texts = _texts_of(_folders(base, names).values())
    return list(pa.schema(ExportedSchema(_native.infer_partition_schema([*texts.items()], "hive"))))


def untyped_columns(schema: TableSchema) -> list[str]:
    """The partition columns of a table that have no type in its log yet, as they had no values. Readers infer it."""
    types = {field.name: value_type(field.type) for field in schema_file(schema).schema}
    return [name for name in schema.partition if pa.types.is_null(types.get(name, pa.null()))]


def parse_values(texts: pa.Array, to: pa.DataType) -> pa.Array:
    """Parses texts as values of a type. Each spelling of a value is known.

    Raises:
        ValueError: A text is no value of the type.
        UnsupportedError: Partition columns cannot be of the type.
    """
    schema = pa.schema([("value", to)]).__arrow_c_schema__()
    return pa.array(ExportedArray(_native.parse_partition_values(texts.__arrow_c_array__(), schema, "hive")))


def cast_values(column: pa.Array, to: pa.DataType) -> pa.Array:
    """Casts the values of a partition column, by their texts, to the type that the table has. Whole numbers of any type
    are integers, and midnights without a time zone are dates.

    A text is exactly a floating point number if it has its value, or the digits that it is printed with, in any
    spelling.

    Raises:
        ValueError: A value is not one of the type, or not exactly; a ``CastError`` where no text decides.
        UnsupportedError: Partition columns cannot be of one of the types.
    """
    types, kind = pa.types, value_type(column.type)
    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    is_wall_clock = types.is_timestamp(kind) and kind.tz is None
    has_numbers = types.is_integer(to) or types.is_floating(to)
    if (has_numbers and is_number) or (types.is_date(to) and is_wall_clock):
        # The text of a large floating point number has not all of its digits.
        return cast_array(column, to)
    # As names of folders, both are null.
    texts = pa.array([text or None for text in _texts(column)], pa.string())
    values = parse_values(texts, to)
    if types.is_floating(to):
        for text, value in {*zip(texts.to_pylist(), values.to_pylist(), strict=True)}:
            if value is not None and math.isfinite(value) and not _is_exact(text, to):
                raise ValueError(f"the partition value {text} is no exact {to}: the nearest one is {value}")
    return values


def _is_exact(text: str, to: pa.DataType) -> bool:
    """Whether a text is that of a floating point number of a type, or of the same number in double precision."""
    # Java writes the type behind the digits.
    number = pa.array([text.strip().rstrip("dDfF")])
    for steps in ([to], [pa.float64(), to]):
        with contextlib.suppress(CastError):
            functools.reduce(cast_array, steps, number)
            return True
    return False


def check_partition_values(base: str, names: Iterable[str], schema: TableSchema) -> None:
    """Checks that values of partition columns have the types of the table.

    Args:
        base: Path or URL of the table.
        names: Files that are added, by their paths in the table.
        schema: The schema of the table.

    Raises:
        ValueError: A value does not, so that the table could not be read any more.
    """
    if not schema.partition:
        return
    fields = {field.name: field for field in partition_schema(schema) if not is_text(field.type)}
    texts = _texts_of(_folders(base, names).values())
    for name, field in fields.items():
        try:
            parse_values(pa.array(texts.get(name, []), pa.string()), field.type)
        except (ValueError, OrcishError) as error:
            raise ValueError(f"{base}: column {name} is {field.type} in the table: {error}") from None


def equal_folders(
    base: str,
    names: Iterable[str],
    new: Iterable[str],
    types: Mapping[str, pa.DataType],
    zones: Mapping[str, str | None],
) -> set[str]:
    """The folders of files whose partition columns have the same values as those of other files, and their own folders.

    Args:
        base: Path or URL of the table.
        names: Files of the table, by their paths in it.
        new: The other files, by their paths in the table.
        types: The types in which values are compared; texts are compared where there is none.
        zones: Time zones of instants that have no offset in names of folders, by the names of columns. If the zone of a
            column is ``None``, such texts are no instants.
    """
    own, there = _folders(base, new), _folders(base, names)
    keys = {
        name: _keys(texts, types[name], zones.get(name, "")) if name in types else {}
        for name, texts in _texts_of([*own.values(), *there.values()]).items()
    }

    def key(values: Values) -> tuple[Any, ...]:
        return tuple((name, None if text is None else keys[name].get(text, ("text", text))) for name, text in values)

    wanted = {key(values) for values in own.values()}
    return {*own, *(folder for folder, values in there.items() if key(values) in wanted)}


def _keys(texts: list[str], kind: pa.DataType, zone: str | None) -> dict[str, Any]:
    """Values that are equal where values of a type are, by their texts. Texts that are no values have none."""
    if not pa.types.is_timestamp(kind) or kind.tz is None or zone == "":
        return dict(_parsed(texts, kind))
    if zone is not None:
        return dict(_parsed(texts, pa.timestamp(kind.unit, zone)))
    # The zone decides only of texts without an offset.
    (utc, other) = (dict(_parsed(texts, pa.timestamp(kind.unit, at))) for at in ("+00:00", "+01:00"))
    return {text: value for text, value in utc.items() if other.get(text) == value}


def _parsed(texts: list[str], kind: pa.DataType) -> Iterator[tuple[str, Any]]:
    try:
        yield from zip(texts, _comparable(parse_values(pa.array(texts, pa.string()), kind)), strict=True)
    except (ValueError, OrcishError):
        if len(texts) > 1:
            # One of them at least is no value.
            middle = len(texts) // 2
            yield from _parsed(texts[:middle], kind)
            yield from _parsed(texts[middle:], kind)


def _comparable(values: pa.Array) -> list[Any]:
    """Values as Python objects that are equal where the values are."""
    types, kind = pa.types, values.type
    if types.is_dictionary(kind):
        values, kind = values.dictionary_decode(), kind.value_type
    if types.is_date32(kind) or types.is_time32(kind):
        values = values.view(pa.int32())
    elif types.is_temporal(kind):
        values = values.view(pa.int64())
    elif types.is_floating(kind):
        return ["NaN" if value != value else value for value in values.cast(pa.float64()).to_pylist()]
    return values.to_pylist()  # type: ignore[no-any-return]


def _texts(column: pa.Array) -> list[str | None]:
    texts = _native.format_partition_values(column.__arrow_c_array__(), "hive")
    return pa.array(ExportedArray(texts)).to_pylist()  # type: ignore[no-any-return]


def _folders(base: str, names: Iterable[str]) -> dict[str, Values]:
    """The folders of files, by their paths in the table, with their partition columns."""
    folders = {name.rpartition("/")[0] for name in names}
    return {folder: tuple(_native.partitions_below(base, f"{base}/{folder}/-")) for folder in folders}


def _texts_of(folders: Iterable[Values]) -> dict[str, list[str]]:
    """The different texts of each partition column in some folders, in their order. Null has none."""
    texts: dict[str, set[str]] = {}
    for values in folders:
        for name, text in values:
            if text is not None:
                texts.setdefault(name, set()).add(text)
    return {name: sorted(found) for name, found in texts.items()}
