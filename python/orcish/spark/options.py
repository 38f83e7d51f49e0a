"""Parsing of the options of the data source, which are strings with case-insensitive names."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict, cast

from orcish.io.paths import absolute, is_pattern, local_path, path_text
from orcish.reading.scan import DEFAULT_SPLIT_SIZE
from orcish.reading.source import DEFAULT_ROW_NUMBER
from orcish.spark.option_parser import OptionParser, flag_option, json_option
from orcish.spark.types.timezones import arrow_zone, local_zone
from orcish.types import Pending, WriteOptions
from orcish.writing.dataset import MAX_PARTITIONS

__all__ = [
    "SourceOptions",
    "StreamOptions",
    "TableOptions",
    "WriterOptions",
    "data_source_options",
    "partition_overwrite_mode",
    "path_texts",
    "to_text",
    "writer_options",
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


class SourceOptions(TypedDict, total=False):
    """Options of reading as keywords of Python functions. In the data source, their names are in camel case."""

    merge_schema: bool | None
    case_sensitive: bool | None
    row_number: bool | str | None
    partitions: bool | None
    partition_column_type_inference: bool | None
    recursive_file_lookup: bool | None
    pending: Pending | None
    split_size: int | None
    min_splits: int | None
    batch_size: int | None
    invalid_utf8: Literal["error", "replace", "null", "binary"] | None
    decimal_out_of_range: Literal["error", "null"] | None
    long_char: Literal["keep", "cut", "error"] | None
    timezone: str | None
    session_timezone: str | None
    external_locations: Sequence[str] | None


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


OF_WRITING = (
    "partitionBy",
    "partitionOverwriteMode",
    "maxRowsPerFile",
    "maxRecordsPerFile",
    "maxPartitions",
    *map(_camel_case, WriteOptions.__optional_keys__),
)
"""Options of the data source for writing only."""
OF_READING = ("columns", "filters", *map(_camel_case, SourceOptions.__optional_keys__))
"""Options for reading only."""


def data_source_options(options: Mapping[str, Any]) -> dict[str, str]:
    """Options of the data source, given by its own names, or by the names of :class:`SourceOptions`."""
    names = SourceOptions.__optional_keys__
    return to_text({_camel_case(name) if name in names else name: value for name, value in options.items()})


def writer_options(options: Mapping[str, Any]) -> dict[str, str]:
    """Options of the data source for writing, given in snake case. Those of stores have their own names."""
    names = {name.lower(): name for name in (*OF_WRITING, "caseSensitive", "timezone", "sessionTimezone")}
    return to_text({names.get(_camel_case(name).lower(), name): value for name, value in options.items()})


@dataclasses.dataclass(frozen=True)
class TableOptions:
    """Options of reading."""

    paths: tuple[str, ...]
    columns: tuple[str, ...] | None = None
    filters: str | None = None
    merge_schema: bool = False
    case_sensitive: bool = False
    row_number: str | None = None
    """Name of a column with the number of each row in its file."""
    partitions: bool | None = None
    partition_column_type_inference: bool | None = None
    """Whether partition columns have types that are inferred from their values, or are text; by default they have."""
    recursive_file_lookup: bool = False
    """Whether the files of all subfolders are read, and no folder is a partition."""
    pending: Pending = "wait"
    """What to do while a commit of the table is being finished."""
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
    """Where a CarbonData table may have files outside of its folder."""
    storage: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, options: Mapping[str, str]) -> TableOptions:
        """Parses options of the data source.

        Raises:
            ValueError: There is no path, a value is invalid, or an option is unknown.
        """
        parser = OptionParser(options)
        made = cls(
            paths=_paths(parser),
            columns=parser.names("columns"),
            filters=parser.text("filters") or None,
            merge_schema=parser.flag("mergeSchema") or False,
            case_sensitive=parser.flag("caseSensitive") or False,
            row_number=_row_number(parser.text("rowNumber")),
            partitions=parser.flag("partitions"),
            partition_column_type_inference=parser.flag("partitionColumnTypeInference"),
            recursive_file_lookup=parser.flag("recursiveFileLookup") or False,
            pending=_pending(parser.text("pending")),
            split_size=parser.number("splitSize", default=DEFAULT_SPLIT_SIZE),
            min_splits=parser.number("minSplits", default=1),
            batch_size=parser.number("batchSize", default=BATCH_SIZE),
            **_zones(parser),
            is_session_zone_known=any(
                value for name, value in options.items() if name.lower() in ("timezone", "sessiontimezone")
            ),
            values=_values(parser),
            external_locations=parser.names("externalLocations"),
            storage=parser.storage(),
        )
        # Options of streams, which ask for the schema with all their options.
        parser.text("stateLocation")
        parser.text("maxFilesPerTrigger")
        parser.end("reading", {"writing": OF_WRITING})
        if made.recursive_file_lookup and made.partitions:
            raise ValueError("with option recursiveFileLookup, no folder is a partition: leave option partitions out")
        return made


@dataclasses.dataclass(frozen=True)
class StreamOptions:
    """Options of reading a stream."""

    table: TableOptions
    state: str
    """Folder of the file log."""
    max_files: int | None
    """Maximum files of a batch."""

    @classmethod
    def of(cls, options: Mapping[str, str]) -> StreamOptions:
        """Parses options of the data source.

        Raises:
            ValueError: As in :meth:`TableOptions.of`; or ``stateLocation`` is missing for several paths or a pattern.
        """
        parser = OptionParser(options)
        state = parser.text("stateLocation")
        most = parser.number("maxFilesPerTrigger", default=0) or None
        table = TableOptions.of(options)
        if state is None and (len(table.paths) > 1 or is_pattern(local_path(table.paths[0]))):
            # The folder of the table has the log of all its files, which is another order.
            raise ValueError(
                "option stateLocation says where a stream of several paths, or a pattern, keeps what it has found"
            )
        return cls(table, absolute(state) if state else f"{table.paths[0].rstrip('/')}/_orcish/found", most)


@dataclasses.dataclass(frozen=True)
class WriterOptions:
    """Options of writing."""

    path: str
    partition_by: tuple[str, ...] = ()
    max_rows_per_file: int | None = None
    max_partitions: int = MAX_PARTITIONS
    """Maximum number of partitions of a task."""
    partition_overwrite: Literal["static", "dynamic"] | None = None
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
        return keyword if self.are_keywords else f"option {_camel_case(keyword)}"

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
        parser = OptionParser(options)
        paths = _paths(parser)
        if len(paths) != 1:
            raise ValueError(f"a table is written to one path, not to {len(paths)}")
        rows = parser.number("maxRowsPerFile", "maxRecordsPerFile", default=0, least=0)
        file: dict[str, Any] = {
            "compression": _codec(parser.text("compression", "orc.compress")),
            "compression_level": parser.integer("compressionLevel"),
            "compression_block_size": parser.integer("compressionBlockSize", "orc.compress.size"),
            "stripe_size": parser.integer("stripeSize", "orc.stripe.size"),
            "row_index_stride": parser.integer("rowIndexStride", "orc.row.index.stride"),
            "bloom_filter_columns": parser.names("bloomFilterColumns", "orc.bloom.filter.columns"),
            "bloom_filter_fpp": parser.real("bloomFilterFpp", "orc.bloom.filter.fpp"),
            "dictionary": _dictionary(parser.text("dictionary")),
            "verify": parser.flag("verify"),
        }
        made = cls(
            path=paths[0],
            partition_by=parser.names("partitionBy") or (),
            max_rows_per_file=rows or None,
            max_partitions=parser.number("maxPartitions", default=MAX_PARTITIONS),
            partition_overwrite=partition_overwrite_mode(parser.text("partitionOverwriteMode")),
            case_sensitive=parser.flag("caseSensitive") or False,
            **_zones(parser),
            file=cast("WriteOptions", {name: value for name, value in file.items() if value is not None}),
            storage=parser.storage(),
        )
        # An option of Spark for streams.
        parser.text("checkpointLocation")
        parser.end("writing", {"reading": OF_READING})
        return made


def partition_overwrite_mode(text: str | None) -> Literal["static", "dynamic"] | None:
    """The value of the option ``partitionOverwriteMode``, or of the setting of the session.

    Raises:
        ValueError: The value is unknown.
    """
    if not text:
        return None
    if text.lower() not in ("static", "dynamic"):
        raise ValueError(f"option partitionOverwriteMode={text!r}: must be static or dynamic")
    return "dynamic" if text.lower() == "dynamic" else "static"


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


def _paths(parser: OptionParser) -> tuple[str, ...]:
    is_of_catalog = parser.has(*OF_CATALOG)
    one, several = parser.text("path"), parser.text("paths")
    paths = json_option("paths", several) if several else []
    if one:
        paths = [one, *paths]
    if is_of_catalog or not paths:
        raise ValueError(NO_PATH)
    return tuple(map(absolute, paths))


def path_texts(path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    """The texts of one path or URL, or of several.

    Raises:
        TypeError: A path is neither text nor a ``pathlib.Path``.
    """
    is_one = isinstance(path, str | bytes | os.PathLike) or not isinstance(path, Iterable)
    return [path_text(path)] if is_one else [path_text(each) for each in cast("Iterable[Any]", path)]


def _zones(parser: OptionParser) -> dict[str, Any]:
    zone = arrow_zone(parser.text("timezone") or local_zone(), "timezone")
    session = parser.text("sessionTimezone")
    return {"timezone": zone, "session_timezone": arrow_zone(session, "sessionTimezone") if session else zone}


def _values(parser: OptionParser) -> dict[str, str]:
    """The given choices for invalid values, under the names of :class:`orcish.types.ReadOptions`."""
    words = {
        "invalidUtf8": ("invalid_utf8", ("error", "replace", "null", "binary")),
        "decimalOutOfRange": ("decimal_out_of_range", ("error", "null")),
        "longChar": ("long_char", ("keep", "cut", "error")),
    }
    chosen = {}
    for name, (own, known) in words.items():
        text = parser.text(name)
        if text is not None and text.lower() not in known:
            raise ValueError(f"option {name}={text!r}: must be one of {', '.join(known)}")
        if text is not None:
            chosen[own] = text.lower()
    return chosen


def _pending(text: str | None) -> Pending:
    if text not in (None, "wait", "before"):
        raise ValueError(f"option pending={text!r}: must be wait or before")
    return "before" if text == "before" else "wait"


def _row_number(text: str | None) -> str | None:
    """The name of the column of row numbers, which ``true`` and ``false`` are not."""
    return {"": None, "false": None, "true": DEFAULT_ROW_NUMBER}.get((text or "").strip().lower(), text)


def _codec(name: str | None) -> str | None:
    # Spark also has upper case, and `uncompressed`.
    return None if name is None else {"uncompressed": "none"}.get(name.lower(), name.lower())


def _dictionary(text: str | None) -> Any:
    if text is None or not text.lstrip().startswith("{"):
        return None if text is None else flag_option("dictionary", text)
    return json_option("dictionary", text)
