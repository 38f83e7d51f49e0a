"""Keyword arguments of public functions.

An argument has the same name in each function, and so the same check. Arguments that the native module converts are
checked there.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from typing import Any, ParamSpec, TypeVar

from orcish.errors import closest_match
from orcish.file_systems import check_file_system
from orcish.sizes import parse_size

__all__ = ["check_integer", "checked_keywords", "chosen_options"]

MAX_INTEGER = 2**64 - 1
"""The largest integer that the native module takes."""

P = ParamSpec("P")
R = TypeVar("R")


def check_integer(name: str, value: Any, minimum: int) -> int:
    """The value of an argument as an ``int``.

    Raises:
        TypeError: The value is no integer.
        ValueError: The value is less than ``minimum``, or larger than the native module takes.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise TypeError(f"{name}={value!r}: must be an integer, not {type(value).__name__}")
    value = number
    if value < minimum:
        raise ValueError(f"{name}={value}: must be at least {minimum}")
    if value > MAX_INTEGER:
        raise ValueError(f"{name}={value}: is out of its range")
    return int(value)


def _at_least(minimum: int) -> Callable[[str, Any], object]:
    return lambda name, value: check_integer(name, value, minimum)


def _check_boolean(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"{name}={value!r}: must be True or False, not {type(value).__name__}")


def _check_mapping(name: str, value: Any) -> None:
    # The value may have keys of a store.
    if not isinstance(value, Mapping):
        raise TypeError(f"{name}: must be a mapping, not {type(value).__name__}")


def _check_text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{name}={value!r}: must be a string, not {type(value).__name__}")


def _check_metadata(name: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise TypeError(f"{name}: must be a mapping of names to texts or bytes, not {type(value).__name__}")


def _check_stripes(name: str, value: Any) -> None:
    if isinstance(value, str | bytes) or not isinstance(value, Collection):
        raise TypeError(f"{name}={value!r}: must be a list of numbers of stripes, such as [0]")


def _check_names(name: str, value: Any) -> None:
    if not isinstance(value, Collection) or not all(isinstance(each, str) for each in value):
        raise TypeError(f"{name}={value!r}: must be a list of names")


def _check_columns(name: str, value: Any) -> None:
    # Columns of a file have numbers, too.
    if isinstance(value, bytes) or not isinstance(value, Collection):
        raise TypeError(f"{name}={value!r}: must be a list of names")


def _check_pending(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{name}={value!r}: must be a string, not {type(value).__name__}")
    if value not in ("wait", "before"):
        raise ValueError(f"{name}={value!r}: must be one of wait, before")


def _check_age(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, timedelta | int | float):
        kind = type(value).__name__
        raise TypeError(f"{name}={value!r}: must be a datetime.timedelta or a number of days, not {kind}")
    number = value / timedelta(days=1) if isinstance(value, timedelta) else value
    if number < 0:
        raise ValueError(f"{name}={value!r}: must not be negative")
    if not number <= timedelta.max.days:
        raise ValueError(f"{name}={value!r}: must be a number of days, at most {timedelta.max.days:,}")


CODECS = ("none", "uncompressed", "zlib", "snappy", "lz4", "zstd", "brotli")
"""Values of the argument ``compression``, in any case."""
_OTHER_CODECS = {"gzip": "zlib", "gz": "zlib", "deflate": "zlib", "zstandard": "zstd", "lz4_raw": "lz4", "br": "brotli"}
"""Names of codecs in other formats, and those of ORC."""


def _check_compression(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{name}={value!r}: must be a string, not {type(value).__name__}")
    plain = value.lower()
    # The native module knows more codecs, which are read, and says so.
    if plain in CODECS or plain == "lzo":
        return
    meant = _OTHER_CODECS.get(plain) or closest_match(plain, CODECS)
    raise ValueError(
        f"{name}={value!r}: must be one of {', '.join(CODECS)}{f'; did you mean {meant!r}?' if meant else ''}"
    )


def _check_progress(name: str, value: Any) -> None:
    if not isinstance(value, bool) and not callable(value):
        raise TypeError(f"{name}={value!r}: must be True, False or a function, not {type(value).__name__}")


CHECKS: Mapping[str, Callable[[str, Any], object]] = {
    "limit": _at_least(0),
    "rows": _at_least(0),
    "split_size": _at_least(0),
    "max_rows_per_file": _at_least(1),
    "max_open_files": _at_least(1),
    "max_partitions": _at_least(1),
    "runs": _at_least(1),
    "max_memory": _at_least(0),
    "partitions": _check_boolean,
    "storage_options": _check_mapping,
    "filesystem": check_file_system,
    "limits": _check_mapping,
    "ray_options": _check_mapping,
    "pending": _check_pending,
    "undo": _check_boolean,
    "rewrite": _check_boolean,
    "overwrite": _check_boolean,
    "older_than": _check_age,
    "progress": _check_progress,
    "compression": _check_compression,
    "columns": _check_columns,
    "partition_by": _check_names,
    "sort_within": _check_names,
    "lookup": _check_names,
    "bloom_filter_columns": _check_names,
    "basename_template": _check_text,
    "metadata": _check_metadata,
    "stripes": _check_stripes,
}
"""Checks of arguments by name. ``None`` is a missing argument, and is not checked."""


NONE = {"compression": "none"}
"""What ``None`` means where it is given, for arguments that are not left out by it."""


LISTS = frozenset(("columns", "partition_by", "sort_within", "bloom_filter_columns", "lookup"))
"""Arguments that are lists of names. One string is the list of it, and never the list of its letters."""


SIZES = frozenset(("stripe_size", "compression_block_size", "max_memory", "split_size", "sample_size"))
"""Arguments that are sizes in bytes. Texts such as ``64MB`` are sizes, too."""


SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "where": ("filters",),
    "filter": ("filters",),
    "predicate": ("filters",),
    "mode": ("existing_data",),
    "existingdata": ("existing_data",),
    "existingdatabehavior": ("existing_data",),
    "partitioncols": ("partition_by",),
    "partitioning": ("partition_by",),
    "partitionby": ("partition_by",),
    "hivepartitioning": ("partitions",),
    "select": ("columns",),
    "usecols": ("columns",),
    "nrows": ("limit",),
    "numrows": ("limit",),
    "codec": ("compression",),
    "level": ("compression_level",),
    "compresslevel": ("compression_level",),
    "complevel": ("compression_level",),
    "usedictionary": ("dictionary",),
    "bloomfilters": ("bloom_filter_columns",),
    "rowgroupsize": ("row_index_stride",),
    "filesystem": ("filesystem", "storage_options"),
    "fs": ("filesystem", "storage_options"),
    "retentionhours": ("older_than",),
    "targetsize": ("target_file_size",),
    "basepath": ("partitions",),
    "options": ("read_options", "storage_options"),
    "sortby": ("sort_within",),
    "orderby": ("sort_within",),
    "overwrite": ("existing_data",),
    "maxrecordsperfile": ("max_rows_per_file",),
    "session": ("spark",),
    "sparksession": ("spark",),
    "path": ("target", "source"),
    "output": ("target",),
    "input": ("source",),
    "numpartitions": ("min_splits", "split_size"),
    "npartitions": ("min_splits", "split_size"),
    "blocksize": ("split_size",),
    "header": ("read_options",),
    "n": ("rows", "limit"),
    "maxpartitionbytes": ("split_size",),
}
"""Keywords of other libraries, in lower case without underscores, and what a function here may have in their place."""

INSTEAD: Mapping[str, str] = {
    "format": "files are ORC, and tables of CarbonData are recognized",
}
"""What to say of keywords of other libraries that no function here has, likewise."""


def checked_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Decorates a function so that its arguments are checked.

    An unknown keyword is a ``TypeError`` which suggests the nearest one. Errors of :data:`CHECKS` name the argument.
    The function gets a list for a string of :data:`LISTS`, a number of bytes for one of :data:`SIZES`, and the value of
    :data:`NONE` for a ``None`` that is given.
    """
    parameters = inspect.signature(function).parameters.values()
    names = [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    known = frozenset(names)
    checks = {name: CHECKS[name] for name in names if name in CHECKS}
    changes = {name: (at, _listed) for at, name in enumerate(names) if name in LISTS}
    changes |= {name: (at, functools.partial(_sized, name)) for at, name in enumerate(names) if name in SIZES}
    changes |= {name: (at, _named) for at, name in enumerate(names) if name == "metadata"}

    nones = {name: NONE[name] for name in names if name in NONE}

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> R:
        if not known.issuperset(kwargs):
            name = next(name for name in kwargs if name not in known)
            # Words of other libraries are not always near.
            plain = name.replace("_", "").lower()
            meant = next((own for own in SYNONYMS.get(plain, ()) if own in known), None)
            match = meant or closest_match(name, [each for each in names if each != "self"])
            hint = f"; did you mean {match!r}?" if match else f": {INSTEAD[plain]}" if plain in INSTEAD else ""
            raise TypeError(f"{function.__qualname__}() has no keyword argument {name!r}{hint}")
        for name, value in nones.items():
            if kwargs.get(name, value) is None:
                kwargs[name] = value
        for name, (at, changed) in changes.items():
            if at < len(args):
                args = (*args[:at], changed(args[at]), *args[at + 1 :])
            elif name in kwargs:
                kwargs[name] = changed(kwargs[name])
        if checks:
            for name, value in (*zip(names, args, strict=False), *kwargs.items()):
                if value is not None and name in checks:
                    checks[name](name, value)
        return function(*args, **kwargs)

    return checked


def _listed(value: Any) -> Any:
    """The value of an argument that is a list of names: one string is the list of it. Arrays and indexes have one."""
    if isinstance(value, str):
        return [value]
    return value.tolist() if hasattr(value, "tolist") else value


def _named(value: Any) -> Any:
    """The value of an argument that is a mapping of names. The names in Arrow's metadata are bytes."""
    if not isinstance(value, Mapping):
        return value
    try:
        return {name.decode() if isinstance(name, bytes) else name: each for name, each in value.items()}
    except UnicodeDecodeError as error:
        raise ValueError(f"metadata: the name {error.object!r} is no UTF-8") from None


def _sized(name: str, value: Any) -> Any:
    """The value of an argument that is a size: bytes for a text."""
    if not isinstance(value, str):
        return value
    try:
        return parse_size(value)
    except ValueError as error:
        raise ValueError(f"{name}={error}") from None


def chosen_options(arguments: Mapping[str, Any], options: type) -> Any:
    """The options of a ``TypedDict`` among the arguments of a function, without those that are ``None``.

    Args:
        arguments: The ``locals()`` at the beginning of the function.
        options: The ``TypedDict``, whose keys are all optional.
    """
    names: frozenset[str] = options.__optional_keys__  # type: ignore[attr-defined]
    return {name: value for name, value in arguments.items() if name in names and value is not None}
