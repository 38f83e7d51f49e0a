"""Arguments that several commands have."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from orcish.sizes import parse_size

from orcish_cli.column_names import names, top_names
from orcish_cli.parser import Conjunction, ExtendNames

__all__ = [
    "CODECS",
    "LIST",
    "PATHS",
    "TIMESTAMP_UNITS",
    "add_clocks",
    "add_columns",
    "add_existing",
    "add_external",
    "add_files",
    "add_filters",
    "add_invalid_utf8",
    "add_json",
    "add_limit",
    "add_partition_by",
    "add_storage",
    "add_values",
    "add_writing",
    "chosen",
    "chosen_writing",
    "count",
    "days",
    "fraction",
    "pair",
    "size",
    "storage_of",
    "table_bounds",
]

TIMESTAMP_UNITS = ("s", "ms", "us", "ns", "auto", "exact")
"""Values of ``--timestamp-unit``."""


def add_invalid_utf8(command: argparse.ArgumentParser) -> None:
    """Adds the argument for text that is not UTF-8."""
    command.add_argument(
        "--invalid-utf8",
        choices=("error", "replace", "null", "binary"),
        help="what becomes of text that is not UTF-8 (error)",
    )


def add_clocks(command: argparse.ArgumentParser) -> None:
    """Adds the argument for what columns of type ``timestamp`` have."""
    command.add_argument(
        "--timestamps",
        choices=("wall", "instant"),
        help="what the clock of the writer showed in columns of type timestamp (wall), or the instants, in UTC",
    )


def add_values(command: argparse.ArgumentParser) -> None:
    """Adds the arguments that say which values columns have."""
    add_invalid_utf8(command)
    command.add_argument(
        "--long-char",
        choices=("keep", "cut", "error"),
        help="what becomes of text longer than its char or varchar (keep)",
    )
    command.add_argument(
        "--decimal-out-of-range",
        choices=("error", "null"),
        help="what becomes of decimals of more digits than their precision (error)",
    )
    add_clocks(command)
    command.add_argument(
        "--timestamp-unit",
        choices=TIMESTAMP_UNITS,
        help="the unit of timestamps; with exact, a value of more digits than the unit has is an error",
    )
    command.add_argument(
        "--timezone",
        metavar="ZONE",
        help="with instants: those at which the clocks of this zone show what the writer's showed",
    )
    command.add_argument("--masked", action="store_const", const="allow", help="read the masks of encrypted columns")


def add_filters(command: argparse.ArgumentParser, text: str, *, required: bool = False) -> None:
    """Adds the argument for a filter, or several, which are joined by ``and``; ``text`` is its help."""
    command.add_argument(
        "--filters",
        "--where",
        dest="filters",
        action=Conjunction,
        metavar="SQL",
        required=required,
        help=f"{text}, such as 'id > 5'; of several, all are true",
    )


def add_files(command: argparse.ArgumentParser) -> None:
    """Adds the argument for one or more sources."""
    command.add_argument("files", nargs="+", metavar="FILE", help="a file, a folder, a pattern or a URL")


def add_limit(command: Any, text: str, default: int | None = None) -> None:
    """Adds the argument for the most rows, or what else is printed, to a parser or a group; ``text`` is its help."""
    command.add_argument("-n", "--limit", type=count, default=default, metavar="N", help=text)


def add_columns(command: argparse.ArgumentParser, text: str = "only these columns (all)") -> None:
    """Adds the argument for columns that are read; ``text`` is its help."""
    command.add_argument("-c", "--columns", **{**PATHS, "metavar": "A,B.C"}, help=text)


def add_existing(command: argparse.ArgumentParser, choices: Sequence[str] = ("error", "overwrite")) -> None:
    """Adds the argument for targets that are there."""
    command.add_argument(
        "--existing-data", choices=choices, default="error", help="what to do where the target is there (error)"
    )


def add_json(command: argparse.ArgumentParser, each: str = "row") -> None:
    """Adds the argument for JSON, one object for ``each``."""
    command.add_argument("--json", action="store_true", help=f"one JSON object a {each}, each on a line")


CODECS = ("zstd", "zlib", "snappy", "lz4", "brotli", "none")
"""Codecs of ORC files that are written."""


def add_writing(
    command: argparse.ArgumentParser, codec: str = "zstd", codecs: Sequence[str] = CODECS, *, verify: bool = False
) -> None:
    """Adds the arguments for the files that are written, with the codec by default, the codecs, and whether files are
    verified by default.
    """
    command.add_argument("--compression", choices=codecs, help=f"codec of the new files ({codec})")
    command.add_argument("--compression-level", type=int, metavar="N", help="level of the codec")
    command.add_argument("--bloom-filter-columns", **PATHS, help="columns with bloom filters in the new files (none)")
    command.add_argument(
        "--verify",
        action=argparse.BooleanOptionalAction if verify else "store_true",
        default=verify,
        help="read what was written before it appears" + (" (it is)" if verify else ""),
    )


def chosen(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """The arguments of these names that are given, as keywords of functions."""
    return {name: value for name in names if (value := getattr(options, name, None)) is not None}


def chosen_writing(options: argparse.Namespace) -> dict[str, Any]:
    """The given arguments of :func:`add_writing`, as keywords of :class:`orcish.types.WriteOptions`."""
    given = chosen(options, "compression", "compression_level", "bloom_filter_columns")
    return {**given, "verify": True} if options.verify else given


def table_bounds(options: argparse.Namespace) -> dict[str, Any]:
    """The bounds of the files and partitions of a table that are given."""
    return chosen(options, "max_rows_per_file", "max_partitions")


def storage_of(options: argparse.Namespace) -> dict[str, str]:
    """The options of stores."""
    return dict(options.storage_options)


def add_partition_by(command: argparse.ArgumentParser) -> None:
    """Adds the arguments for the folders and files of a table; a list of no names is one of no columns."""
    command.add_argument(
        "--partition-by",
        **{**LIST, "type": _names_or_none},
        help="columns that name folders (those of the source); '' for none",
    )
    command.add_argument(
        "--max-partitions", type=count, metavar="N", help="most partitions, beyond which none is written"
    )
    command.add_argument("--max-rows-per-file", type=count, metavar="N", help="most rows of a file of a table")


def count(text: str) -> int:
    """Parses a non-negative number."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return number


def days(text: str) -> float:
    """Parses a non-negative number of days, which may be a fraction."""
    number = float(text)
    if not 0 <= number <= timedelta.max.days:
        raise argparse.ArgumentTypeError(f"{text} is no number of days")
    return number


def fraction(text: str) -> float:
    """Parses a number from 0 to 1."""
    number = float(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not from 0 to 1")
    return number


def size(text: str) -> int:
    """Parses a number of bytes, such as ``64MB``."""
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _names_or_none(text: str) -> list[str]:
    return [name for name in top_names(text) if name]


LIST: dict[str, Any] = {"type": top_names, "action": "extend", "metavar": "A,B"}
"""Keywords of arguments that are lists of names of columns that are in no others. They can be given several times."""
PATHS: dict[str, Any] = {**LIST, "type": names, "action": ExtendNames}
"""The same of lists of names that can lead into columns."""


def pair(text: str) -> tuple[str, str]:
    """Parses ``NAME=VALUE``."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def add_storage(command: argparse.ArgumentParser) -> None:
    """Adds the argument for options of stores."""
    command.add_argument(
        "--storage-option",
        dest="storage_options",
        type=pair,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the store of a URL",
    )


def add_external(command: argparse.ArgumentParser) -> None:
    """Adds the argument for external locations of CarbonData tables."""
    command.add_argument(
        "--external-location",
        dest="external_locations",
        action="append",
        metavar="PATH",
        help="a path or URL at or below which a table of CarbonData may have files outside of its folder",
    )
