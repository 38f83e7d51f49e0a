"""Texts of the options of the data source by tables of options."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from orcish import _native
from orcish.hints import SPARK_OPTION, hint, plain_name

__all__ = ["Parse", "at_least", "names", "parse_options", "parsers", "spark_name", "text"]

Parse: TypeAlias = Callable[[str, str], Any]
"""Takes the name of an option and its text, and gives its value; ``None`` where the text stands for the default."""

STORES = ("aws_", "google_", "azure_", "dfs.", "fs.", "hadoop.", "orcish.", "header.")
"""Prefixes of the options of stores."""
OF_STORES = ("allow_http", "timeout", "connect_timeout", "proxy_url", "allow_invalid_certificates")

ALIASES: Mapping[str, str] = {
    "maxrecordsperfile": "max_rows_per_file",
    "orc.compress": "compression",
    "orc.compress.size": "compression_block_size",
    "orc.stripe.size": "stripe_size",
    "orc.row.index.stride": "row_index_stride",
    "orc.bloom.filter.columns": "bloom_filter_columns",
    "orc.bloom.filter.fpp": "bloom_filter_fpp",
}
"""Names of options of Spark's and Java's writers, in lower case."""


def spark_name(keyword: str) -> str:
    """The name of an option in Spark, given its keyword: ``mergeSchema`` for ``merge_schema``."""
    first, *rest = keyword.split("_")
    return first + "".join(map(str.capitalize, rest))


def text(name: str, given: str) -> str | None:  # noqa: ARG001 - all take the name
    """The text itself, unless it is empty."""
    return given or None


def flag(name: str, given: str) -> bool:
    """An option that is ``true`` or ``false``."""
    found = {"true": True, "false": False}.get(given.strip().lower())
    if found is None:
        raise ValueError(f"option {name}={given!r}: must be true or false")
    return found


def _integer(name: str, given: str) -> int:
    try:
        return int(given)
    except ValueError:
        raise ValueError(f"option {name}={given!r}: must be a whole number") from None


def at_least(least: int) -> Parse:
    """An integer that is at least ``least``."""

    def number(name: str, given: str) -> int:
        found = _integer(name, given)
        if found < least:
            raise ValueError(f"option {name}={found}: must be {least} at least")
        return found

    return number


def _real(name: str, given: str) -> float:
    try:
        return float(given)
    except ValueError:
        raise ValueError(f"option {name}={given!r}: must be a number") from None


def names(name: str, given: str) -> tuple[str, ...] | None:
    """A list of names, separated by commas or in JSON."""
    if given.lstrip().startswith("["):
        listed = _json(name, given)
        if not all(isinstance(each, str) for each in listed):
            raise ValueError(f"option {name}={given!r}: must be names")
        return tuple(listed)
    return tuple(each.strip() for each in given.split(",") if each.strip()) or None


def one_of(*words: str) -> Parse:
    """One of some words, in any case."""

    def word(name: str, given: str) -> str | None:
        if given and given.lower() not in words:
            known = " or ".join(words) if len(words) == 2 else f"one of {', '.join(words)}"
            raise ValueError(f"option {name}={given!r}: must be {known}")
        return given.lower() or None

    return word


def _dictionary(name: str, given: str) -> Any:
    return _json(name, given) if given.lstrip().startswith("{") else flag(name, given)


def _json(name: str, given: str) -> Any:
    try:
        return json.loads(given)
    except json.JSONDecodeError as error:
        raise ValueError(f"option {name}={given!r}: is no JSON: {error}") from None


_OF_KIND: Mapping[str, Parse] = {"boolean": flag, "integer": _integer, "number": _real, "list": names, "text": text}
_OF_TYPE: Mapping[Any, Parse] = {bool: flag, int: at_least(1), str: text, Sequence[str]: names}


def parsers(options: type, special: Mapping[str, Parse]) -> dict[str, Parse]:
    """The parsers of the options of a ``TypedDict``, by their types. The native core has the kinds of options of files,
    and checks their ranges.

    Args:
        options: The ``TypedDict``.
        special: Parsers of some options.
    """
    native = {keyword: (kind, words) for keyword, kind, _, words, _ in _native.options_of("write")}
    found: dict[str, Parse] = {}
    for keyword, kind_of in get_type_hints(options).items():
        if keyword in special:
            found[keyword] = special[keyword]
        elif keyword in native:
            kind, words = native[keyword]
            found[keyword] = one_of(*words) if words else _dictionary if keyword == "dictionary" else _OF_KIND[kind]
        else:
            (of,) = {*get_args(kind_of)} - {NoneType} if NoneType in get_args(kind_of) else {kind_of}
            found[keyword] = one_of(*get_args(of)) if get_origin(of) is Literal else _OF_TYPE[of]
    return found


def parse_options(
    options: Mapping[str, str], table: Mapping[str, Parse], what: str, others: Mapping[str, Mapping[str, Parse]]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The values of given options, by their keywords, and the options of stores.

    Args:
        options: Texts by names in any case.
        table: The options by their keywords.
        what: What they are for.
        others: Options for other things.

    Raises:
        ValueError: A value is invalid, or an option is unknown.
    """
    known = {spark_name(keyword).lower(): keyword for keyword in table}
    known |= {alias: keyword for alias, keyword in ALIASES.items() if keyword in table}
    values: dict[str, Any] = {}
    storage: dict[str, str] = {}
    for name, given in options.items():
        lower = name.lower()
        keyword = known.get(lower)
        if keyword is not None:
            found = table[keyword](spark_name(keyword), given)
            if found is not None and (keyword not in values or lower not in ALIASES):
                values[keyword] = found
        elif lower.startswith(STORES) or lower in OF_STORES:
            storage[lower] = given
        else:
            raise ValueError(f"there is no option {lower!r} for {what}{_hint(lower, table, others)}")
    return values, storage


def _hint(name: str, table: Mapping[str, Parse], others: Mapping[str, Mapping[str, Parse]]) -> str:
    """What an unknown option may stand for."""
    plain = plain_name(name)
    of_other = {plain_name(keyword): other for other, options in others.items() for keyword in options}
    if plain in of_other and plain not in map(plain_name, table):
        return f": it is an option for {of_other[plain]}"
    shown = {keyword: spark_name(keyword) for keyword in table}
    return hint(name, shown, SPARK_OPTION) or ": docs/spark-reading.md and docs/spark-writing.md list all"
