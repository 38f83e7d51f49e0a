"""Arguments that several commands have. Those that are options of the library are made from the table of options."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, get_args

from orcish.encryption import provider_of
from orcish.sizes import parse_size
from orcish.types import DatasetOptions, ExistingFile, ReadOptions, ScanOptions, WriteOptions
from orcish.types.table import Option, options_of

from orcish_cli.column_names import names, top_names
from orcish_cli.parser import Conjunction, ExtendNames

__all__ = [
    "LIST",
    "PATHS",
    "VALUES",
    "add_existing",
    "add_external",
    "add_files",
    "add_filters",
    "add_json",
    "add_limit",
    "add_option",
    "add_options",
    "add_partition_by",
    "add_storage",
    "add_writing",
    "chosen",
    "chosen_writing",
    "count",
    "days",
    "fraction",
    "keys",
    "pair",
    "size",
    "storage_of",
    "table_bounds",
]

VALUES = ("invalid_utf8", "long_char", "decimal_out_of_range", "timestamps", "timestamp_unit", "timezone", "masked")
"""Options of :class:`orcish.types.ReadOptions` that say which values columns have."""
_FILES = ("compression", "compression_level", "bloom_filter_columns", "verify")
"""Options of :class:`orcish.types.WriteOptions` that every command has which writes."""
_BOUNDS = ("max_partitions", "max_rows_per_file")
"""Options of :class:`orcish.types.DatasetOptions`."""
_OTHER_FLAGS = {"columns": ("-c", "--columns"), "limit": ("-n", "--limit"), "filters": ("--filters", "--where")}
"""Flags of options that have several."""


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


def keys(text: str) -> Any:
    """Parses where keys come from."""
    try:
        return provider_of(text)
    except (ValueError, ImportError, AttributeError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def pair(text: str) -> tuple[str, str]:
    """Parses ``NAME=VALUE``."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def _names_or_none(text: str) -> list[str]:
    return [name for name in top_names(text) if name]


LIST: dict[str, Any] = {"type": top_names, "action": "extend", "metavar": "A,B"}
"""Keywords of arguments that are lists of names of columns that are in no others. They can be given several times."""
PATHS: dict[str, Any] = {**LIST, "type": names, "action": ExtendNames}
"""The same of lists of names that can lead into columns."""
_FORMS: dict[str, dict[str, Any]] = {
    "bool": {"action": "store_true", "default": None},
    "int": {"type": int, "metavar": "N"},
    "int | str": {"type": size, "metavar": "SIZE"},
    "float": {"type": float, "metavar": "P"},
    "str": {"metavar": "NAME"},
    "Sequence[str]": {**LIST, "type": _names_or_none},
    "Sequence[ColumnName]": PATHS,
    "Columns": {**PATHS, "metavar": "A,B.C"},
    "Filters": {"action": Conjunction, "metavar": "SQL"},
    "Sequence[str | os.PathLike[str]]": {"action": "append", "metavar": "PATH"},
    "Keys": {"type": keys, "metavar": "PLACE"},
    "StorageOptions": {"type": pair, "action": "append", "default": [], "metavar": "NAME=VALUE"},
}
"""Keywords of arguments, by the types of the options that they give."""


def add_options(command: argparse.ArgumentParser, kind: type, *names: str) -> None:
    """Adds the arguments for options of a class of :mod:`orcish.types`."""
    for name in names:
        add_option(command, kind, name)


def add_option(
    command: Any,
    kind: type,
    name: str,
    *,
    meaning: str | None = None,
    usual: str | None = None,
    words: Sequence[str] | None = None,
    **how: Any,
) -> None:
    """Adds the argument for an option of a class of :mod:`orcish.types`, which has its name, type, default and help.

    Args:
        command: A parser, or a group of its arguments.
        kind: The class.
        name: The option.
        meaning: What the option is of this command; by default what its class says.
        usual: The default of this command, for the help; by default what the class says.
        words: The words that this command takes, where they are not those of the class.
        how: Further keywords of ``add_argument``.
    """
    option = options_of(kind)[name]
    how = {**_form(option, words), **how}
    flag = f"--{name.replace('_', '-')}"
    if how.get("action") == "append":
        # Each value has a flag.
        flag = flag.removesuffix("s")
    command.add_argument(*_OTHER_FLAGS.get(name, (flag,)), dest=name, **how, help=_help(option, meaning, usual))


def _form(option: Option, words: Sequence[str] | None) -> dict[str, Any]:
    if option.words == ("error", "allow"):
        return {"action": "store_const", "const": "allow"}
    return {"choices": words or option.words} if option.words else _FORMS[option.type]


def _help(option: Option, meaning: str | None, usual: str | None) -> str:
    text, default = meaning or option.meaning, option.default if usual is None else usual
    if option.type == "Filters":
        text += ", such as 'id > 5'; of several, all are true"
    elif default:
        text += f" ({default})"
    text = text.replace("``", "").replace("%", "%%")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def add_filters(command: argparse.ArgumentParser, meaning: str | None = None, *, required: bool = False) -> None:
    """Adds the argument for a filter, or several, which are joined by ``and``."""
    add_option(command, ReadOptions, "filters", meaning=meaning, required=required)


def add_files(command: argparse.ArgumentParser) -> None:
    """Adds the argument for one or more sources."""
    command.add_argument("files", nargs="+", metavar="FILE", help="a file, a folder, a pattern or a URL")


def add_limit(command: Any, meaning: str, default: int | None = None, usual: str = "all") -> None:
    """Adds the argument for the most rows, or what else is printed, to a parser or a group."""
    usual = usual if default is None else str(default)
    add_option(command, ReadOptions, "limit", meaning=meaning, usual=usual, type=count, default=default)


def add_existing(command: argparse.ArgumentParser, *, is_file: bool = False) -> None:
    """Adds the argument for targets that are there, which are files or folders."""
    words = get_args(ExistingFile) if is_file else None
    add_option(command, DatasetOptions, "existing_data", words=words, default="error")


def add_json(command: argparse.ArgumentParser, each: str = "row") -> None:
    """Adds the argument for JSON, one object for ``each``."""
    command.add_argument("--json", action="store_true", help=f"one JSON object a {each}, each on a line")


def add_writing(
    command: argparse.ArgumentParser,
    usual: str | None = None,
    codecs: Sequence[str] | None = None,
    *,
    verify: bool = False,
) -> None:
    """Adds the arguments for the files that are written.

    Args:
        command: The parser.
        usual: The codec by default.
        codecs: The codecs, where they are not those of ORC.
        verify: Whether files are verified by default.
    """
    add_option(command, WriteOptions, "compression", usual=usual, words=codecs)
    add_options(command, WriteOptions, *_FILES[1:-1])
    own: dict[str, Any] = {"usual": "true", "action": argparse.BooleanOptionalAction, "default": True} if verify else {}
    add_option(command, WriteOptions, "verify", **own)


def chosen(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """The arguments of these names that are given, as keywords of functions."""
    return {name: value for name in names if (value := getattr(options, name, None)) is not None}


def chosen_writing(options: argparse.Namespace) -> dict[str, Any]:
    """The given arguments of :func:`add_writing`, as keywords of :class:`orcish.types.WriteOptions`."""
    return {name: value for name, value in chosen(options, *_FILES).items() if value is not False}


def table_bounds(options: argparse.Namespace) -> dict[str, Any]:
    """The bounds of the files and partitions of a table that are given."""
    return chosen(options, *_BOUNDS)


def storage_of(options: argparse.Namespace) -> dict[str, str]:
    """The options of stores."""
    return dict(options.storage_options)


def add_partition_by(command: argparse.ArgumentParser) -> None:
    """Adds the arguments for the folders and files of a table; a list of no names is one of no columns."""
    add_option(command, DatasetOptions, "partition_by", usual="those of the source; '' for none")
    add_options(command, DatasetOptions, *_BOUNDS)


def add_storage(command: argparse.ArgumentParser) -> None:
    """Adds the argument for options of stores."""
    add_options(command, ScanOptions, "storage_options")


def add_external(command: argparse.ArgumentParser) -> None:
    """Adds the argument for external locations of CarbonData tables."""
    add_options(command, ScanOptions, "external_locations")
