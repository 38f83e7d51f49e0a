"""Features of an ORC file on which readers differ."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from orcish.reading.file import ORCFile, records_parent_nulls
from orcish.types import ColumnStatistics

from orcish_cli.type_tree import CATALYST_TYPE, own_names

__all__ = ["Feature", "features_of"]

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OFFSET_ZONE = re.compile(r"(?:GMT|UTC|UT)?[+-]\d.*")
_SHORT_ZONES = frozenset(
    (
        *("ACT", "AET", "AGT", "ART", "AST", "BET", "BST", "CAT", "CNT", "CST", "CTT", "EAT", "ECT", "IET"),
        *("IST", "JST", "MIT", "NET", "NST", "PLT", "PNT", "PRT", "PST", "SST", "VST"),
    )
)
"""Ids of zones that Java has had since its first versions and the IANA database has not."""
_ACID = ["operation", "originalTransaction", "bucket", "rowId", "currentTransaction", "row"]
_GREGORIAN = datetime.date(1582, 10, 15)
_FIRST_NANOSECOND = datetime.datetime(1677, 9, 21, 0, 12, 44)
_LAST_NANOSECOND = datetime.datetime(2262, 4, 11, 23, 47, 16)
_WIDE_PRECISION = 18
_LARGE_CHUNK = 4 << 20
_LARGE_STRIPE = (1 << 31) - 1
_MAX_NAMES = 5


class Feature(NamedTuple):
    """A feature that a file has."""

    id: str
    """The id of its facts."""
    text: str
    """What the file has, for people."""


def features_of(file: ORCFile) -> list[Feature]:
    """The features of a file. Its footer and stripe footers are read, and no data."""
    found = [Feature(f"codec {file.compression}", f"codec {file.compression}")]
    if file.version and file.version != "0.12":
        id = "format 0.11" if file.version == "0.11" else "format other"
        found.append(Feature(id, f"version {file.version} of the format"))
    if file.encrypted_columns:
        found.append(Feature("encryption", f"encrypted columns: {_names(file.encrypted_columns)}"))
    kinds = [kind.partition("<")[0] for kind in file.column_types]
    for part in (_of_types, _of_names, _of_values, _of_null_structs):
        found += part(file, kinds)
    found += _of_stripes(file)
    return found


def _names(names: Sequence[str]) -> str:
    shown = [name or "(no name)" for name in names[:_MAX_NAMES]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _of_types(file: ORCFile, kinds: Sequence[str]) -> Iterator[Feature]:
    paths = file.column_paths

    def columns(test: Callable[[str], bool]) -> list[str]:
        return [path for path, kind in zip(paths, kinds, strict=True) if test(kind)]

    if kinds[0] != "struct":
        yield Feature("root", f"the root is no struct: {kinds[0]}")
    for id, text, test in _TYPES:
        found = columns(test)
        if found:
            yield Feature(id, f"{text}: {_names(found)}")
    names = [path for path, parent in zip(paths, file.column_parents, strict=True) if parent == 0]
    if names == _ACID:
        yield Feature("acid", "columns of Hive's ACID tables")
    marked = [
        path
        for id, (path, kind) in enumerate(zip(paths, kinds, strict=True))
        if kind in ("bigint", "int") and file.attributes(id).get(CATALYST_TYPE, "bigint") not in ("bigint", "int")
    ]
    if marked:
        yield Feature("attribute types", f"types of Spark in attributes of integers: {_names(marked)}")


def _is_wide(kind: str) -> bool:
    found = re.fullmatch(r"decimal\((\d+),\d+\)", kind)
    return found is not None and int(found[1]) > _WIDE_PRECISION


_TYPES: list[tuple[str, str, Callable[[str], bool]]] = [
    ("union", "unions", lambda kind: kind == "uniontype"),
    ("timestamp instant", "timestamps with local time zone", lambda kind: kind == "timestamp with local time zone"),
    ("geometry", "geometries", lambda kind: kind.startswith(("geometry", "geography"))),
    ("char", "char", lambda kind: kind.startswith("char(")),
    ("varchar", "varchar", lambda kind: kind.startswith("varchar(")),
    ("decimal wide", f"decimals of more than {_WIDE_PRECISION} digits", _is_wide),
]


def _of_names(file: ORCFile, kinds: Sequence[str]) -> Iterator[Feature]:
    children: dict[int, list[str]] = {}
    for name, parent in zip(own_names(file), file.column_parents, strict=True):
        if parent is not None and kinds[parent] == "struct":
            children.setdefault(parent, []).append(name)
    all_names = [name for names in children.values() for name in names]
    for id, text, found in (
        ("names empty", "columns without a name", [name for name in all_names if not name]),
        ("names odd", "names that are no words", [n for n in all_names if n and not _PLAIN_NAME.fullmatch(n)]),
        ("names twice", "names that are there twice", _repeated(children.values(), str)),
        ("names case", "names that differ by case only", _repeated(map(_once, children.values()), str.lower)),
    ):
        if found:
            yield Feature(id, f"{text}: {_names(found)}")


def _once(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _repeated(groups: Any, key: Callable[[str], str]) -> list[str]:
    found: list[str] = []
    for names in groups:
        counts = Counter(map(key, names))
        found += dict.fromkeys(name for name in names if counts[key(name)] > 1)
    return found


def _of_values(file: ORCFile, kinds: Sequence[str]) -> Iterator[Feature]:
    """Features that statistics tell, or do not rule out."""
    old: list[str] = []
    beyond: list[str] = []
    nulls: list[str] = []
    for id, (path, kind) in enumerate(zip(file.column_paths, kinds, strict=True)):
        if kind == "date" or kind.startswith("timestamp"):
            bounds = _bounds(file.statistics(id))
            if bounds and bounds[0].date() < _GREGORIAN:
                old.append(path)
            if kind != "date" and bounds and (bounds[0] < _FIRST_NANOSECOND or bounds[1] > _LAST_NANOSECOND):
                beyond.append(path)
        elif kind in ("array", "map"):
            known = file.statistics(id)
            if known is not None and known.has_null:
                nulls.append(path)
    if old:
        calendar = "julian" if file.calendar.startswith("julian") else "proleptic"
        yield Feature(f"dates {calendar}", f"dates before 1582-10-15 in the {file.calendar} calendar: {_names(old)}")
    if beyond:
        yield Feature("timestamps beyond", f"timestamps outside of 1677 to 2262: {_names(beyond)}")
    if nulls:
        yield Feature("null lists", f"lists or maps that are null: {_names(nulls)}")


def _of_null_structs(file: ORCFile, kinds: Sequence[str]) -> Iterator[Feature]:
    """Structs that are null, of whose fields older files of orcish record that they have no null."""
    if file.writer != "orcish" or records_parent_nulls(file):
        return
    found: list[str] = []
    for id, (path, kind) in enumerate(zip(file.column_paths, kinds, strict=True)):
        if id > 0 and kind == "struct":
            known = file.statistics(id)
            if known is None or known.has_null is not False:
                found.append(path)
    if found:
        yield Feature("null structs", f"null structs, without a record of nulls of their fields: {_names(found)}")


def _bounds(known: ColumnStatistics | None) -> tuple[datetime.datetime, datetime.datetime] | None:
    """The least and the greatest value; beyond Python's years, the first or last moment of these."""
    if known is None or known.min is None or known.max is None:
        return None
    return _moment(known.min), _moment(known.max)


def _moment(value: datetime.date | int) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day)
    # A number of days or nanoseconds since 1970.
    return datetime.datetime.min if value < 0 else datetime.datetime.max


def _of_stripes(file: ORCFile) -> Iterator[Feature]:
    if file.compression_chunk_size > _LARGE_CHUNK:
        yield Feature("chunks large", f"compression chunks of up to {file.compression_chunk_size:,} bytes")
    if any(stripe.index_length + stripe.data_length > _LARGE_STRIPE for stripe in file.stripes):
        yield Feature("stripes large", "stripes of more than 2 GiB")
    storage = file.column_storage()
    streams = {kind for column in storage for kind in column.streams}
    if "BLOOM_FILTER_UTF8" in streams:
        yield Feature("bloom utf8", "bloom filters of UTF-8")
    elif "BLOOM_FILTER" in streams:
        yield Feature("bloom old", "bloom filters of the first kind")
    if any(encoding.startswith("DICTIONARY") for column in storage for encoding in column.encodings):
        yield Feature("dictionary", "dictionary encoded columns")
    zones = set(file.writer_timezones())
    offsets = sorted(zone for zone in zones if _OFFSET_ZONE.fullmatch(zone))
    short = sorted(zones & _SHORT_ZONES)
    if offsets:
        yield Feature("zone offset", f"time zones of writers that are offsets: {_names(offsets)}")
    if short:
        yield Feature("zone short", f"time zones of writers that are short names: {_names(short)}")
