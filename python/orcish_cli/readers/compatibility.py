"""Which readers read a file: its features on which readers differ, and what is known of each reader."""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from orcish.reading.file import ORCFile, records_parent_nulls
from orcish.types import ColumnStatistics

from orcish_cli.readers.facts import FACTS, READERS, REQUIRED, SOURCES, Reader, Verdict
from orcish_cli.type_tree import CATALYST_TYPE, own_names

__all__ = ["Compatibility", "Reason", "compatibility", "features_of"]

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OFFSET_ZONE = re.compile(r"(?:GMT|UTC|UT)?[+-]\d.*")
_SHORT_ZONE = re.compile(
    "ACT|AET|AGT|ART|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|PLT|PNT|PRT|PST|SST|VST"
)
"""Ids of zones that Java has had since its first versions and the IANA database has not."""
_ACID = ["operation", "originalTransaction", "bucket", "rowId", "currentTransaction", "row"]
_GREGORIAN = datetime.datetime(1582, 10, 15)
_FIRST_NANOSECOND = datetime.datetime(1677, 9, 21, 0, 12, 44)
_LAST_NANOSECOND = datetime.datetime(2262, 4, 11, 23, 47, 16)
_LARGE_CHUNK = 4 << 20
_LARGE_STRIPE = (1 << 31) - 1
_MAX_NAMES = 5
_TYPES = (
    ("union", "unions", "uniontype"),
    ("timestamp instant", "timestamps with local time zone", "timestamp with local time zone"),
    ("geometry", "geometries", "(geometry|geography).*"),
    ("char", "char", r"char\(.*"),
    ("varchar", "varchar", r"varchar\(.*"),
    ("decimal wide", "decimals of more than 18 digits", r"decimal\((19|[23]\d),.*"),
)
"""Features that types have: their ids, their texts, and patterns of the types."""


@dataclasses.dataclass(frozen=True)
class Reason:
    """What a reader does with a feature of the file."""

    feature: str
    """What the file has."""
    verdict: Verdict
    note: str
    source: str | None
    """A link, or what was run; ``None`` where nothing is known."""


@dataclasses.dataclass(frozen=True)
class Compatibility:
    """Whether a reader reads a file."""

    reader: str
    name: str
    verdict: Verdict
    """``yes``, as far as the features of the file are known; ``no``; ``differs``, if it is read with other values; or
    ``unknown``.
    """
    reasons: tuple[Reason, ...]
    """The reasons of the verdict; of ``yes``, the facts it rests on."""


def compatibility(file: ORCFile, readers: Collection[str] | None = None) -> list[Compatibility]:
    """Which readers read a file, and why not. The footer and the stripe footers are read, and no data.

    Args:
        file: The file.
        readers: Ids of readers; all by default.
    """
    features = features_of(file)
    return [_judged(reader, features) for reader in READERS if readers is None or reader.id in readers]


def _judged(reader: Reader, features: dict[str, str]) -> Compatibility:
    found: dict[Verdict, list[Reason]] = {"no": [], "differs": [], "unknown": [], "yes": []}
    for feature, text in features.items():
        fact = FACTS.get(feature, {}).get(reader.id)
        if fact is not None:
            found[fact.verdict].append(Reason(text, fact.verdict, fact.note, SOURCES[fact.source or reader.basis]))
        elif feature.startswith(REQUIRED):
            found["unknown"].append(Reason(text, "unknown", "", None))
    verdict: Verdict = next((verdict for verdict, reasons in found.items() if reasons), "yes")
    reasons = found["yes"] if verdict == "yes" else [*found["no"], *found["differs"], *found["unknown"]]
    return Compatibility(reader.id, reader.name, verdict, tuple(reasons))


def features_of(file: ORCFile) -> dict[str, str]:
    """The features of a file, by the ids of their facts, as texts for people. No data is read."""
    found: dict[str, str] = {}

    def add(id: str, text: str, has: object) -> None:
        """Adds a feature that the file has. ``has`` may be the list of the names that have it."""
        if has:
            found[id] = f"{text}: {_list(has)}" if isinstance(has, list) else text

    paths, parents = file.column_paths, file.column_parents
    kinds = [kind.partition("<")[0] for kind in file.column_types]

    def columns(test: Callable[[int, str], object]) -> list[str]:
        """The columns whose ids and types pass a test."""
        return [path for id, (path, kind) in enumerate(zip(paths, kinds, strict=True)) if test(id, kind)]

    add(f"codec {file.compression}", f"codec {file.compression}", True)
    format_id = "format 0.11" if file.version == "0.11" else "format other"
    add(format_id, f"version {file.version} of the format", file.version not in ("", "0.12"))
    add("encryption", "encrypted columns", file.encrypted_columns)
    add("root", f"the root is no struct: {kinds[0]}", kinds[0] != "struct")
    for id, text, pattern in _TYPES:
        add(id, text, [path for path, kind in zip(paths, kinds, strict=True) if re.fullmatch(pattern, kind)])
    tops = [path for path, parent in zip(paths, parents, strict=True) if parent == 0]
    add("acid", "columns of Hive's ACID tables", tops == _ACID)
    integers = ("bigint", "int")
    marked = columns(
        lambda id, kind: kind in integers and file.attributes(id).get(CATALYST_TYPE, "bigint") not in integers
    )
    add("attribute types", "types of Spark in attributes of integers", marked)

    children: dict[int, list[str]] = {}
    for name, parent in zip(own_names(file), parents, strict=True):
        if parent is not None and kinds[parent] == "struct":
            children.setdefault(parent, []).append(name)
    names = [name for group in children.values() for name in group]
    add("names empty", "columns without a name", [name for name in names if not name])
    odd = [name for name in names if name and not _PLAIN_NAME.fullmatch(name)]
    add("names odd", "names that are no words", odd)
    add("names twice", "names that are there twice", _repeated(children.values(), str))
    once = map(dict.fromkeys, children.values())
    add("names case", "names that differ by case only", _repeated(once, str.lower))

    # What statistics tell, or do not rule out.
    bounds = {
        id: _bounds(file.statistics(id)) for id, kind in enumerate(kinds) if kind.startswith(("date", "timestamp"))
    }
    calendar = "julian" if file.calendar.startswith("julian") else "proleptic"
    old = columns(lambda id, _: id in bounds and bounds[id][0] < _GREGORIAN)
    add(f"dates {calendar}", f"dates before 1582-10-15 in the {file.calendar} calendar", old)
    moments = {id: found for id, found in bounds.items() if kinds[id] != "date"}
    beyond = columns(
        lambda id, _: id in moments and (moments[id][0] < _FIRST_NANOSECOND or moments[id][1] > _LAST_NANOSECOND)
    )
    add("timestamps beyond", "timestamps outside of 1677 to 2262", beyond)
    known = map(file.statistics, range(len(kinds)))
    nulls = [None if each is None else each.has_null for each in known]
    add("null lists", "lists or maps that are null", columns(lambda id, kind: kind in ("array", "map") and nulls[id]))
    if file.writer == "orcish" and not records_parent_nulls(file):
        structs = columns(lambda id, kind: kind == "struct" and id > 0 and nulls[id] is not False)
        add("null structs", "null structs, without a record of nulls of their fields", structs)

    chunk = file.compression_chunk_size
    add("chunks large", f"compression chunks of up to {chunk:,} bytes", chunk > _LARGE_CHUNK)
    sizes = (stripe.index_length + stripe.data_length for stripe in file.stripes)
    add("stripes large", "stripes of more than 2 GiB", max(sizes, default=0) > _LARGE_STRIPE)
    storage = file.column_storage()
    streams = {kind for column in storage for kind in column.streams}
    has_utf8 = "BLOOM_FILTER_UTF8" in streams
    add("bloom utf8", "bloom filters of UTF-8", has_utf8)
    add("bloom old", "bloom filters of the first kind", "BLOOM_FILTER" in streams and not has_utf8)
    encodings = {encoding.partition("_")[0] for column in storage for encoding in column.encodings}
    add("dictionary", "dictionary encoded columns", "DICTIONARY" in encodings)
    zones = sorted(set(file.writer_timezones()))
    offsets, names = ([zone for zone in zones if kind.fullmatch(zone)] for kind in (_OFFSET_ZONE, _SHORT_ZONE))
    add("zone offset", "time zones of writers that are offsets", offsets)
    add("zone short", "time zones of writers that are short names", names)
    return found


def _list(names: Sequence[str]) -> str:
    shown = [name or "(no name)" for name in names[:_MAX_NAMES]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _repeated(groups: Iterable[Iterable[str]], key: Callable[[str], str]) -> list[str]:
    found: list[str] = []
    for names in map(list, groups):
        counts = Counter(map(key, names))
        found += dict.fromkeys(name for name in names if counts[key(name)] > 1)
    return found


def _bounds(known: ColumnStatistics | None) -> tuple[datetime.datetime, datetime.datetime]:
    """The least and the greatest value; beyond Python's years, the first or last moment of these. Where they are not
    known, a day that all readers have.
    """
    if known is None or known.min is None or known.max is None:
        return datetime.datetime(1970, 1, 1), datetime.datetime(1970, 1, 1)
    return _moment(known.min), _moment(known.max)


def _moment(value: datetime.date | int) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day)
    # A number of days or nanoseconds since 1970.
    return datetime.datetime.min if value < 0 else datetime.datetime.max
