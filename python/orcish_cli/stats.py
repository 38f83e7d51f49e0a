"""``orcish stats``: recorded statistics of columns, merged over files, or by file or stripe."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
from orcish import ORCFile, UnknownColumnError
from orcish.arrow.nested import fields_by_path
from orcish.filters.names import dotted
from orcish.hints import unknown_column
from orcish.reading.column_keys import Key, column_keys
from orcish.terminal import printable
from orcish.types import ColumnName, ColumnStatistics, ReadOptions

from orcish_cli.arguments import add_files, add_json, add_options, add_storage
from orcish_cli.json_statistics import bound_cell, flag_cell, json_statistics, name_cell
from orcish_cli.merged_statistics import merged_statistics
from orcish_cli.messages import shown_name
from orcish_cli.sources import OpenFiles
from orcish_cli.terminal import Column, print_objects, print_table, shorten, show, text_of

__all__ = ["add_arguments"]

_MAX_BOUND = 40
_ARROW_SCHEMA = "orcish.arrow.schema"
"""Key of the user metadata with the Arrow schema."""
_SHOWN = ("values", "has_null", "bytes_on_disk", "sum", "kind", "min", "max", "min_is_exact", "max_is_exact")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Print the statistics of columns that the files record: values, nulls, least and greatest value, sum. They are "
        "merged over all files, or printed for each file or stripe. No data is read."
    )
    command.epilog = (
        "What a writer did not record, or recorded wrongly by a known fault, is left out, as are bounds and sums of "
        "times and durations that files have in several units: `units` has these."
    )
    add_files(command)
    add_options(command, ReadOptions, "columns")
    level = command.add_mutually_exclusive_group()
    level.add_argument("--by-file", action="store_true", help="the statistics of each file")
    level.add_argument("--by-stripe", action="store_true", help="the statistics of each stripe")
    add_json(command, "column, of each file or stripe where these are asked for")
    add_storage(command)
    command.set_defaults(run=_run)


class _Part(NamedTuple):
    """Statistics of a column, and what they are of."""

    column: str
    key: Key
    type: str
    rows: int | None
    """Rows of the column; ``None`` within lists and maps, whose number of elements is not known."""
    statistics: ColumnStatistics | None
    is_masked: bool
    """Whether the column is encrypted, so that the statistics are those of its mask."""
    file: str | None = None
    stripe: int | None = None
    unit: pa.DataType | None = None
    """The Arrow type of times and durations, whose statistics are those of the numbers that are stored."""
    units: tuple[str, ...] = ()
    """The Arrow types of the files, where their statistics are not comparable."""


def _run(options: argparse.Namespace) -> int:
    files = OpenFiles(options, "stats")
    merged: dict[Key, list[_Part]] = {}
    parts: list[_Part] = []
    is_merged = not (options.by_file or options.by_stripe)
    try:
        for found in files.each(lambda name, file: list(_parts(shown_name(name), file, options, files.partition))):
            parts += [] if is_merged else found
            for part in found if is_merged else []:
                merged.setdefault(part.key, []).append(part)
    except _PartitionColumnError as error:
        # It is the same of every file.
        raise ValueError(str(error)) from None
    parts += [_merged(same) for same in merged.values()]
    if options.json:
        print_objects(map(_described, parts))
    elif parts:
        _print(parts, options)
    return files.code


def _parts(name: str, file: ORCFile, options: argparse.Namespace, partition: Collection[str]) -> Iterator[_Part]:
    """The statistics of the columns of a file, or of its stripes; without partition columns."""
    paths, parents, types, keys = file.column_paths, file.column_parents, file.column_types, column_keys(file)
    ids = [id for id in range(len(paths)) if paths[id] not in partition or parents[id] != 0]
    if options.columns is not None:
        chosen = [_id(name, file, column, partition) for column in options.columns]
        ids = list(dict.fromkeys(id for each in chosen for id in _with_children(each, parents)))
    encrypted = set(file.encrypted_columns)
    roots = [id for id, path in enumerate(paths) if path in encrypted] if encrypted else []
    masked = {id for root in roots for id in _with_children(root, parents)}
    if not masked.isdisjoint(ids):
        names = ", ".join(file.encrypted_columns)
        show(f"orcish: {name}: {names} are encrypted: their statistics are those of the masks", is_error=True)
    counts = [stripe.num_rows for stripe in file.stripes] if options.by_stripe else [file.num_rows]
    nothing: list[ColumnStatistics | None] = [None] * len(counts)

    def statistics(id: int) -> Sequence[ColumnStatistics | None]:
        found = file.stripe_statistics(id) if options.by_stripe else [file.statistics(id)]
        return [*found, *nothing[len(found) :]]

    # The parents of columns are before them.
    known = {id: statistics(id) for each in ids for id in _with_parents(each, parents)}
    is_merged = not (options.by_file or options.by_stripe)
    units = _units(file) if is_merged else {}
    for at, rows in enumerate(counts):
        for id in ids:
            parent = parents[id]
            slots: int | None = rows
            if parent is not None and not types[parent].startswith("struct<"):
                slots = None
            elif parent is not None and parents[parent] is not None:
                above = known[parent][at]
                slots = None if above is None else above.values
            stripe = at if options.by_stripe else None
            unit = units.get(paths[id])
            yield _Part(paths[id], keys[id], types[id], slots, known[id][at], id in masked, name, stripe, unit)


def _units(file: ORCFile) -> dict[str, pa.DataType]:
    """The Arrow types of the columns of times and durations, which only an Arrow schema says."""
    if _ARROW_SCHEMA not in file.metadata:
        return {}
    fields = fields_by_path(file.arrow_schema(masked="allow", null_map_keys="dictionary"))
    types = {path: field.type for path, field in fields.items()}
    return {path: kind for path, kind in types.items() if pa.types.is_time(kind) or pa.types.is_duration(kind)}


class _PartitionColumnError(Exception):
    """A column whose values are in names of folders."""


def _id(name: str, file: ORCFile, given: ColumnName, partition: Collection[str]) -> int:
    column = dotted(given)
    try:
        if given in partition:
            raise unknown_column(column, ())
        return file.column_id(given)
    except UnknownColumnError:
        if column in partition or any(unquote(folder).startswith(f"{column}=") for folder in name.split("/")):
            raise _PartitionColumnError(
                f"{name}: column {column} is a partition column, of which files have no statistics: its values are in "
                "the names of folders"
            ) from None
        raise


def _with_children(id: int, parents: Sequence[int | None]) -> list[int]:
    """A column and all columns in it. Columns come after those that they are in."""
    found = {id}
    for each, parent in enumerate(parents):
        if parent in found:
            found.add(each)
    return sorted(found)


def _with_parents(id: int | None, parents: Sequence[int | None]) -> Iterator[int]:
    while id is not None:
        yield id
        id = parents[id]


def _merged(parts: Sequence[_Part]) -> _Part:
    types = list(dict.fromkeys(part.type for part in parts))
    rows = [part.rows for part in parts]
    total = None if None in rows else sum(count for count in rows if count is not None)
    statistics = merged_statistics([part.statistics for part in parts])
    is_masked = any(part.is_masked for part in parts)
    of_values = [part for part in parts if part.statistics is None or part.statistics.values != 0]
    units: tuple[str, ...] = ()
    if len({part.unit for part in of_values}) > 1:
        units = tuple(dict.fromkeys(part.type if part.unit is None else str(part.unit) for part in of_values))
        if statistics is not None:
            statistics = dataclasses.replace(
                statistics, min=None, max=None, sum=None, min_is_exact=None, max_is_exact=None
            )
    return _Part(parts[0].column, parts[0].key, " or ".join(types), total, statistics, is_masked, units=units)


def _nulls(part: _Part) -> int | None:
    found = part.statistics
    if found is None:
        return None
    if part.rows is not None and found.values is not None:
        return part.rows - found.values
    return 0 if found.has_null is False else None


def _described(part: _Part) -> dict[str, Any]:
    return {
        **({} if part.file is None else {"file": part.file}),
        **({} if part.stripe is None else {"stripe": part.stripe}),
        "column": part.column,
        "type": part.type,
        **({"masked": True} if part.is_masked else {}),
        **({"units": part.units} if part.units else {}),
        "nulls": _nulls(part),
        "statistics": json_statistics(part.statistics, part.type),
    }


_PLACE = (Column("file", lambda row: row[0].file or ""), Column("stripe", lambda row: str(row[0].stripe), True))
_COLUMNS = (
    Column("column", lambda row: name_cell(row[0].column, len(row[0].key) == 1)),
    Column("type", lambda row: shorten(printable(row[0].type.partition("<")[0]), _MAX_BOUND)),
    Column("values", lambda row: row[1].get("values"), True),
    Column("nulls", lambda row: _nulls_cell(*row), True),
    Column("min", lambda row: bound_cell(row[1], "min", _MAX_BOUND)),
    Column("max", lambda row: bound_cell(row[1], "max", _MAX_BOUND)),
    Column("sum", lambda row: shorten(text_of(row[1]["sum"]), _MAX_BOUND) if "sum" in row[1] else "", True),
    Column("bytes", lambda row: row[1].get("bytes_on_disk"), True),
    Column("more", lambda row: ", ".join(_more(*row))),
)
"""Of pairs of a part and its statistics as JSON."""


def _print(parts: Sequence[_Part], options: argparse.Namespace) -> None:
    place = _PLACE if options.by_stripe else _PLACE[:1] if options.by_file else ()
    rows = [(part, json_statistics(part.statistics, part.type) or {}) for part in parts]
    print_table([*place, *_COLUMNS], rows)


def _nulls_cell(part: _Part, known: dict[str, Any]) -> str:
    nulls = _nulls(part)
    return flag_cell(known.get("has_null"), "some", "0") if nulls is None else f"{nulls:,}"


def _more(part: _Part, known: dict[str, Any]) -> Iterator[str]:
    if part.is_masked:
        yield "masked"
    if part.units:
        yield f"units {' or '.join(part.units)}"
    yield from (f"{name} {text_of(value)}" for name, value in known.items() if name not in _SHOWN)
