"""The options of the data source. Classes of :mod:`orcish.types` have their names and types; here are their defaults.

Spark passes options as texts with names in any case. In functions of Python they are keywords: ``merge_schema`` is
``mergeSchema``.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, cast

import pyarrow as pa

from orcish._native import Location
from orcish.arrow.casting import parse_values
from orcish.io.paths import path_text
from orcish.reading.scan import DEFAULT_SPLIT_SIZE
from orcish.reading.source import DEFAULT_ROW_NUMBER
from orcish.spark.option_parser import (
    Parse,
    at_least,
    names,
    parse_options,
    parsers,
    spark_name,
    text,
)
from orcish.types import Pending, SparkReadOptions, SparkWriteOptions, ValueOptions, WriteOptions
from orcish.writing.dataset import MAX_PARTITIONS

__all__ = [
    "READING",
    "WRITING",
    "TableOptions",
    "WriterOptions",
    "data_source_options",
    "java_zone",
    "partition_overwrite_mode",
    "path_texts",
    "to_text",
]

BATCH_SIZE = 32_768
"""Default rows of a batch. Spark's JVM takes a batch as a whole; larger ones need more memory and are not faster."""

OF_CATALOG = ("owner", "location", "provider")
"""Properties that Spark passes as options when a table of its catalog is created."""
NO_PATH = (
    "no path: load(path), save(path), or option path, says where the table is. Spark does not pass the path of a table "
    "of its catalog to a Python data source, so saveAsTable, CREATE TABLE and INSERT do not work: use save(path) and "
    "load(path), or CREATE TEMPORARY VIEW name USING orcish OPTIONS (path '...'). CREATE TABLE name USING orc LOCATION "
    "'...' makes a table that Spark reads itself"
)


def java_zone(name: str, option: str) -> str:
    """The id of a time zone for Java, which calls offsets ``GMT+01:00``.

    Args:
        name: A region, an offset with or without the prefix ``UTC``, ``GMT`` or ``UT``, or a short id of Java.
        option: Name of the option, with which error messages begin.

    Raises:
        ValueError: There is no such zone, or its offset has seconds.
    """
    zone = "UTC" if name in ("UT", "Z", "GMT") else name
    if offset := re.fullmatch(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?([0-5]\d)(?::?(\d\d))?)?", name):
        sign, hours, minutes, seconds = (part or "00" for part in offset.groups())
        if 60 * int(hours) + int(minutes) > 18 * 60:
            raise ValueError(f"option {option}={name!r}: is no offset of a time zone: it is 18 hours at most")
        if int(seconds):
            raise ValueError(f"option {option}={name!r}: offsets of seconds are not supported")
        zone = f"GMT{sign}{hours:0>2}:{minutes}"
    try:
        parse_values(pa.array([], pa.string()), pa.timestamp("us", zone))
    except ValueError:
        raise ValueError(f"option {option}={name!r}: is no time zone that is known here") from None
    return zone


def _local_zone() -> str:
    """The time zone of the machine, found like in a JVM: ``TZ``, or that of the system."""
    name = os.environ.get("TZ", "").lstrip(":") or os.path.realpath("/etc/localtime").rpartition("zoneinfo/")[2]
    if name and not name.startswith("/"):
        return name
    if time.timezone == 0 and not time.daylight:
        return "UTC"
    raise ValueError("the machine's time zone has no name: give option `timezone`, such as Europe/Berlin")


def _zone(name: str, given: str) -> str | None:
    return java_zone(given, name) if given else None


def _row_number(_: str, given: str) -> str | None:
    """The name of the column of row numbers, which ``true`` and ``false`` are not."""
    return {"": None, "false": None, "true": DEFAULT_ROW_NUMBER}.get(given.strip().lower(), given)


class _ReadOptions(SparkReadOptions, total=False):
    """Options of reading that are in the data source alone, or are arguments of functions."""

    columns: Sequence[str]
    filters: str
    max_files_per_trigger: int
    """Most files of a batch of a [stream](spark-streams.md); all by default."""
    state_location: str
    """Where a stream keeps the list of files that it has found; ``_orcish/found`` in the table by default."""


class _WriteOptions(SparkWriteOptions, total=False):
    """Options of writing, likewise."""

    partition_by: Sequence[str]
    max_partitions: int
    """Most partitions of a task; 10,000 by default."""
    # Of Spark, for streams.
    checkpoint_location: str


_PATHS: Mapping[str, Parse] = {"path": text, "paths": names}
_ZONES: Mapping[str, Parse] = {"timezone": _zone, "session_timezone": _zone}
_VALUES = (SparkReadOptions.__optional_keys__ & ValueOptions.__optional_keys__) - _ZONES.keys()
"""Options of how values are read."""
_FILE = (SparkWriteOptions.__optional_keys__ & WriteOptions.__optional_keys__) - _ZONES.keys()
"""Options of each file."""
READING = parsers(_ReadOptions, {**_ZONES, "row_number": _row_number})
"""The options of reading, by their keywords."""
WRITING = parsers(_WriteOptions, {**_ZONES, "max_rows_per_file": at_least(0)})
"""The options of writing."""


def data_source_options(options: Mapping[str, Any]) -> dict[str, str]:
    """Options of the data source, given by their keywords, or by their own names."""
    return to_text(
        {spark_name(name) if name in READING or name in WRITING else name: value for name, value in options.items()}
    )


@dataclasses.dataclass(frozen=True)
class TableOptions:
    """Options of reading."""

    paths: tuple[str, ...]
    columns: tuple[str, ...] | None = None
    filters: str | None = None
    merge_schema: bool = False
    case_sensitive: bool = False
    row_number: str | None = None
    partitions: bool | None = None
    partition_column_type_inference: bool | None = None
    recursive_file_lookup: bool = False
    pending: Pending = "wait"
    split_size: int = DEFAULT_SPLIT_SIZE
    min_splits: int = 1
    batch_size: int = BATCH_SIZE
    timezone: str = "UTC"
    """Time zone of the JVM. Timestamps of files of other zones keep their wall clock time in this zone."""
    session_timezone: str = "UTC"
    """Time zone of timestamps in folder names and in filters."""
    is_session_zone_known: bool = True
    """Whether an option names the time zone of the session. A data source cannot see it."""
    values: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Choices for invalid values: options of :class:`orcish.types.ReadOptions`."""
    external_locations: tuple[str, ...] | None = None
    key_provider: str | None = None
    """Where keys of encrypted columns come from; see :func:`orcish.encryption.keys.provider_of`."""
    max_files_per_trigger: int | None = None
    state_location: str | None = None
    storage: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, options: Mapping[str, str]) -> TableOptions:
        """Parses options of the data source.

        Raises:
            ValueError: There is no path, a value is invalid, or an option is unknown.
        """
        paths = _paths(options)
        given, storage = parse_options(options, {**_PATHS, **READING}, "reading", {"writing": WRITING})
        is_known = "timezone" in given or "session_timezone" in given
        values = {keyword: given.pop(keyword) for keyword in _VALUES if keyword in given}
        made = cls(paths, values=values, is_session_zone_known=is_known, storage=storage, **_fields(given))
        if made.recursive_file_lookup and made.partitions:
            raise ValueError("with option recursiveFileLookup, no folder is a partition: leave option partitions out")
        return made

    def stream_state(self) -> str:
        """Folder of the file log of a stream.

        Raises:
            ValueError: ``stateLocation`` is missing for several paths or a pattern.
        """
        if self.state_location is not None:
            return Location(self.state_location).absolute()
        if len(self.paths) > 1 or Location(self.paths[0]).is_pattern:
            # The folder of the table has the log of all its files, which is another order.
            raise ValueError(
                "option stateLocation says where a stream of several paths, or a pattern, keeps what it has found"
            )
        return f"{self.paths[0].rstrip('/')}/_orcish/found"


@dataclasses.dataclass(frozen=True)
class WriterOptions:
    """Options of writing."""

    path: str
    partition_by: tuple[str, ...] = ()
    max_rows_per_file: int | None = None
    max_partitions: int = MAX_PARTITIONS
    partition_overwrite_mode: Literal["static", "dynamic"] | None = None
    """Which partitions an overwrite replaces; ``None`` if the session decides."""
    case_sensitive: bool = False
    timezone: str = "UTC"
    session_timezone: str = "UTC"
    """Time zones as in :class:`TableOptions`."""
    file: WriteOptions = dataclasses.field(default_factory=WriteOptions)
    """Options of each file."""
    storage: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False)
    are_keywords: bool = False
    """Whether messages call the options by the keywords of Python functions."""

    def named(self, keyword: str) -> str:
        """What messages call an option of :class:`~orcish.types.WriteOptions`."""
        return keyword if self.are_keywords else f"option {spark_name(keyword)}"

    @property
    def replace(self) -> str:
        """What replaces a whole table, for messages."""
        return 'existing_data="overwrite"' if self.are_keywords else '.mode("overwrite")'

    @classmethod
    def of(cls, options: Mapping[str, str]) -> WriterOptions:
        """Parses options of the data source, also by the names of Spark's and Java's writers.

        Raises:
            ValueError: There is not exactly one path, a value is invalid, or an option is unknown.
        """
        paths = _paths(options)
        if len(paths) != 1:
            raise ValueError(f"a table is written to one path, not to {len(paths)}")
        given, storage = parse_options(options, {**_PATHS, **WRITING}, "writing", {"reading": READING})
        given.pop("checkpoint_location", None)
        given["max_rows_per_file"] = given.get("max_rows_per_file") or None
        file = cast("WriteOptions", {keyword: given.pop(keyword) for keyword in _FILE if keyword in given})
        return cls(paths[0], file=file, storage=storage, **_fields(given))


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    """The values of given options, with both time zones, and without paths."""
    zone = given.get("timezone") or java_zone(_local_zone(), "timezone")
    zones = {"timezone": zone, "session_timezone": given.get("session_timezone", zone)}
    return {keyword: value for keyword, value in {**given, **zones}.items() if keyword not in _PATHS}


def partition_overwrite_mode(given: str | None) -> Literal["static", "dynamic"] | None:
    """The value of the setting of the session that the option ``partitionOverwriteMode`` overrides.

    Raises:
        ValueError: The value is unknown.
    """
    found = WRITING["partition_overwrite_mode"]("partitionOverwriteMode", given or "")
    return cast('Literal["static", "dynamic"] | None', found)


def to_text(options: Mapping[str, Any]) -> dict[str, str]:
    """Options as strings: lists as JSON, booleans in lower case. Options that are None are left out."""
    made = {}
    for name, value in options.items():
        if value is None:
            continue
        if isinstance(value, bool):
            made[name] = "true" if value else "false"
        elif isinstance(value, list | tuple | dict):
            made[name] = json.dumps(value, default=list)
        else:
            made[name] = str(value)
    return made


def _paths(options: Mapping[str, str]) -> tuple[str, ...]:
    given = {name.lower(): value for name, value in options.items()}
    one, several = given.get("path"), given.get("paths")
    paths = [*([one] if one else []), *((names("paths", several) or ()) if several else ())]
    if not paths or not given.keys().isdisjoint(OF_CATALOG):
        raise ValueError(NO_PATH)
    return tuple(Location(path).absolute() for path in paths)


def path_texts(path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    """The texts of one path or URL, or of several.

    Raises:
        TypeError: A path is neither text nor a ``pathlib.Path``.
    """
    is_one = isinstance(path, str | bytes | os.PathLike) or not isinstance(path, Iterable)
    return [path_text(path)] if is_one else [path_text(each) for each in cast("Iterable[Any]", path)]
