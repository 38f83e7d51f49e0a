"""Keyword arguments of public functions.

An argument has the same name in each function, and so the same check: :data:`CHECKS`. Options are those of the native
module, which checks the ranges of their numbers.
"""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import operator
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from datetime import timedelta
from typing import Any, ParamSpec, TypeAlias, TypeVar

from orcish import _native
from orcish.errors import OptionError, OptionTypeError, closest_match
from orcish.file_systems import check_file_system
from orcish.hints import unknown_keyword
from orcish.sizes import parse_size

__all__ = ["check_integer", "checked_keywords", "chosen_options", "keyword_names"]

MAX_INTEGER = 2**64 - 1
"""The largest integer that the native module takes."""
MAX_COLUMN_ID = 2**32 - 1

Check: TypeAlias = Callable[[str, Any], Any]
"""Takes the name of an argument and its value, and gives the value that the function gets."""

P = ParamSpec("P")
R = TypeVar("R")


def check_integer(name: str, value: Any, minimum: int | None = None) -> int:
    """The value of an argument as an ``int``.

    Args:
        name: The argument.
        value: Its value.
        minimum: The least value; by default, the range is not checked.

    Raises:
        TypeError: The value is no integer.
        ValueError: The value is less than ``minimum``, or larger than the native module takes.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise _wrong(name, value, "an integer")
    if minimum is not None and number < minimum:
        raise OptionError(name, f"must be at least {minimum}", number)
    if minimum is not None and number > MAX_INTEGER:
        raise OptionError(name, "is out of its range", number)
    return number


def _wrong(name: str, value: Any, expected: str) -> OptionTypeError:
    """The error of a value of a wrong type."""
    return OptionTypeError(name, f"must be {expected}, not {type(value).__name__}", value)


def _at_least(minimum: int) -> Check:
    return lambda name, value: check_integer(name, value, minimum)


def _size(minimum: int | None) -> Check:
    """A number of bytes, for which there are texts such as ``64MB``, too."""

    def size(name: str, value: Any) -> int:
        if not isinstance(value, str):
            return check_integer(name, value, minimum)
        try:
            return parse_size(value)
        except ValueError as error:
            raise ValueError(f"{name}={error}") from None

    return size


def _number(name: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise _wrong(name, value, "a number")
    return value


def _fraction(name: str, value: Any) -> Any:
    if not 0 <= _number(name, value) <= 1:
        raise OptionError(name, "must be from 0 to 1", value)
    return value


def _tolerance(name: str, value: Any) -> Any:
    if not 0 <= _number(name, value) < math.inf:
        raise OptionError(name, "must be a number of 0 or more", value)
    return value


def _boolean(name: str, value: Any) -> Any:
    if not isinstance(value, bool):
        raise _wrong(name, value, "True or False")
    return value


def _text(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        raise _wrong(name, value, "a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise OptionError(name, "half of a pair of surrogates is no text", value) from None
    return value


def _row_number(name: str, value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str):
        raise _wrong(name, value, "True, False or the name of a column")
    if "\0" in value:
        raise OptionError(name, "names of Arrow have no NUL", value)
    return _text(name, value)


def _column(name: str, value: Any) -> Any:
    if isinstance(value, str | tuple):
        return _column_name(name, value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise _wrong(name, value, "the name of a column, or its id")
    if not 0 <= (id := operator.index(value)) <= MAX_COLUMN_ID:
        raise OptionError(name, f"column ids are numbers from 0 to {MAX_COLUMN_ID}", value)
    return id


def _bytes(name: str, value: Any) -> Any:
    if not isinstance(value, bytes):
        raise OptionTypeError(name, f"must be bytes, not {type(value).__name__}")
    return value


def _mapping(name: str, value: Any) -> Any:
    # The value may have keys of a store.
    if not isinstance(value, Mapping):
        raise OptionTypeError(name, f"must be a mapping, not {type(value).__name__}")
    for key in value:
        if not isinstance(key, str):
            kind = type(key).__name__
            raise OptionTypeError(name, f"must be a mapping of names, and {key!r} is a name of type {kind}")
        _text(name, key)
    return value


def _limits(name: str, value: Any) -> Any:
    for limit, number in _mapping(name, value).items():
        check_integer(f"{name}: {limit}", number)
    return value


def _levels(name: str, value: Any) -> Any:
    def level(column: str, given: Any) -> Any:
        return given if given is None or isinstance(given, str) else check_integer(f"{name}: {column}", given)

    return {column: level(column, given) for column, given in _by_column(name, value).items()}


def _dictionary(name: str, value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if not isinstance(value, Mapping):
        raise _wrong(name, value, "True, False or a mapping of names")
    return _by_column(name, value)


def _by_column(name: str, value: Any) -> Any:
    """A mapping of names of columns."""
    if not isinstance(value, Mapping):
        return _mapping(name, value)
    texts = _mapping(name, {key: each for key, each in value.items() if not isinstance(key, tuple)})
    return {**texts, **{_column_name(name, key): each for key, each in value.items() if isinstance(key, tuple)}}


def _metadata(name: str, value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise OptionTypeError(name, f"must be a mapping of names to texts or bytes, not {type(value).__name__}")
    try:
        # The names in Arrow's metadata are bytes.
        return {key.decode() if isinstance(key, bytes) else key: each for key, each in value.items()}
    except UnicodeDecodeError as error:
        raise OptionError(name, f"the name {error.object!r} is no UTF-8") from None


def _stripes(name: str, value: Any) -> Any:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Collection):
        raise OptionTypeError(name, "must be a list of numbers of stripes, such as [0]", value)
    return [check_integer(f"{name}[{at}]", each, 0) for at, each in enumerate(value)]


def _listed(value: Any) -> Any:
    """One string is the list of it, and never the list of its letters. Arrays, indexes and series have a list."""
    if isinstance(value, str):
        return [value]
    to_list = getattr(value, "tolist", None) or getattr(value, "to_list", None)
    return value if to_list is None else to_list()


def _is_list(value: Any) -> bool:
    """Whether a value has an order. Sets have none."""
    return isinstance(value, Collection) and not isinstance(value, bytes | Set | Mapping)


def _names(name: str, value: Any) -> Any:
    listed = _listed(value)
    if not _is_list(listed) or not all(isinstance(each, str) for each in listed):
        raise OptionTypeError(name, "must be a list of names", value)
    for each in listed:
        _text(name, each)
    return listed


def _column_name(name: str, value: Any) -> Any:
    """A text, or a tuple of several steps."""
    if isinstance(value, str):
        return _text(name, value)
    if not isinstance(value, tuple | list) or not value or not all(isinstance(step, str) for step in value):
        raise _wrong(name, value, "the name of a column, or a tuple of the names that lead to it")
    steps = tuple(_text(name, step) for step in value)
    return steps if len(steps) > 1 else steps[0]


def _column_names(name: str, value: Any) -> Any:
    listed = _listed(value)
    if not _is_list(listed) or not all(isinstance(each, str | tuple) for each in listed):
        raise OptionTypeError(name, "must be a list of names", value)
    return [_column_name(name, each) for each in listed]


def _columns(name: str, value: Any) -> Any:
    # Columns of a file have numbers, too.
    listed = _listed(value)
    if not _is_list(listed) or any(isinstance(each, bool) for each in listed):
        raise OptionTypeError(name, "must be a list of names", value)
    return [_column_name(name, each) if isinstance(each, tuple | list) else each for each in listed]


def _place(name: str, value: Any) -> Any:
    """A path, a URL or another source or target, or a list of these. What they are is checked where they are opened."""
    for each in value if isinstance(value, list | tuple) else (value,):
        if isinstance(each, str | os.PathLike) and "\0" in os.fsdecode(each):
            raise OptionError(name, "a path has no NUL")
    return value


def _places(name: str, value: Any) -> Any:
    is_one = isinstance(value, str | bytes | bytearray | memoryview | os.PathLike) or hasattr(value, "read")
    if is_one or not isinstance(value, Iterable):
        raise OptionTypeError(name, "must be a list of files", value)
    return _place(name, list(value))


def _locations(name: str, value: Any) -> Any:
    is_list = isinstance(value, Collection) and not isinstance(value, str | bytes)
    if not is_list or not all(isinstance(each, str | os.PathLike) for each in value):
        raise OptionTypeError(name, "must be a list of paths and URLs", value)
    return _place(name, list(value))


def _one_of(words: Collection[str]) -> Check:
    def word(name: str, value: Any) -> Any:
        if _text(name, value) not in words:
            raise OptionError(name, f"must be one of {', '.join(words)}", value)
        return value

    return word


def _age(name: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, timedelta | numbers.Real):
        raise _wrong(name, value, "a datetime.timedelta or a number of days")
    number = value / timedelta(days=1) if isinstance(value, timedelta) else value
    if number < 0:
        raise OptionError(name, "must not be negative", value)
    if not number <= timedelta.max.days:
        raise OptionError(name, f"must be a number of days, at most {timedelta.max.days:,}", value)
    return value if isinstance(value, timedelta) else float(value)


CODECS = ("none", "uncompressed", "zlib", "snappy", "lz4", "zstd", "brotli")
"""Values of the argument ``compression``, in any case."""
_OTHER_CODECS = {"gzip": "zlib", "gz": "zlib", "deflate": "zlib", "zstandard": "zstd", "lz4_raw": "lz4", "br": "brotli"}
"""Names of codecs in other formats, and those of ORC."""


def _compression(name: str, value: Any) -> Any:
    if value is None:
        return "none"
    plain = _text(name, value).lower()
    # The native module knows more codecs, which are read, and says so.
    if plain in CODECS or plain == "lzo":
        return value
    meant = _OTHER_CODECS.get(plain) or closest_match(plain, CODECS)
    hint = f"; did you mean {meant!r}?" if meant else ""
    raise OptionError(name, f"must be one of {', '.join(CODECS)}{hint}", value)


def _progress(name: str, value: Any) -> Any:
    if not isinstance(value, bool) and not callable(value):
        raise _wrong(name, value, "True, False or a function")
    return value


def _file_system(name: str, value: Any) -> Any:
    check_file_system(name, value)
    return value


OF_KIND: Mapping[str, Check] = {
    "boolean": _boolean,
    "integer": check_integer,
    "number": _number,
    "text": _text,
}
"""Checks of options of the native module, by the kind of their values; it knows the ranges of numbers."""

CHECKS: Mapping[str, Check] = {
    **{
        name: _one_of(words) if words else OF_KIND[kind]
        for name, kind, _, words, _ in (*_native.options_of("read"), *_native.options_of("write"))
        if words or kind in OF_KIND
    },
    **dict.fromkeys(("limit", "rows", "show", "index", "threads"), _at_least(0)),
    **dict.fromkeys(("batch_size", "max_rows_per_file", "max_open_files", "max_partitions", "runs"), _at_least(1)),
    **dict.fromkeys(("split_size", "max_memory"), _size(0)),
    **dict.fromkeys(("target_file_size", "sample_size"), _size(1)),
    **dict.fromkeys(("stripe_size", "compression_block_size"), _size(None)),
    **dict.fromkeys(("partitions", "undo", "rewrite", "publish"), _boolean),
    **dict.fromkeys(("brief", "check_metadata", "ignore_order", "values_only"), _boolean),
    **dict.fromkeys(("storage_options", "target_storage_options", "ray_options"), _mapping),
    **dict.fromkeys(("partition_by", "sort_within", "lookup", "key"), _names),
    **dict.fromkeys(("basename_template", "match", "source_timezone", "session_timezone"), _text),
    **dict.fromkeys(("path", "source", "target", "a", "b", "like", "staging"), _place),
    "seed": check_integer,
    "fraction": _fraction,
    "tolerance": _tolerance,
    "row_number": _row_number,
    "bloom_filter_columns": _column_names,
    "column": _column,
    "columns": _columns,
    "column_compression": _levels,
    "compression": _compression,
    "dictionary": _dictionary,
    "existing_data": _one_of(("error", "append", "overwrite", "overwrite_partitions")),
    "external_locations": _locations,
    "filesystem": _file_system,
    "limits": _limits,
    "metadata": _metadata,
    "older_than": _age,
    "pending": _one_of(("wait", "before")),
    "progress": _progress,
    "sources": _places,
    "stripes": _stripes,
    "tail": _bytes,
}
"""Checks of arguments by name. ``None`` is a missing argument where it is the default, and is not checked."""

NOT_MISSING = frozenset(("compression",))
"""Arguments for which ``None`` is a value where it is given, though it is the default."""


def checked_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Decorates a function so that its arguments are checked.

    An unknown keyword is a ``TypeError`` which suggests the nearest one. Errors of :data:`CHECKS` name the argument.
    The function gets what the checks make of the values: a list for the string of one name, a number of bytes for the
    text of a size.
    """
    parameters = inspect.signature(function).parameters.values()
    names = [each for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    known = keyword_names(function)
    checks = [
        (at, each.name, CHECKS[each.name], each.default is None and each.name not in NOT_MISSING)
        for at, each in enumerate(names)
        if each.name in CHECKS
    ]
    of_options = sorted(known.difference(each.name for each in names).intersection(CHECKS))
    # No argument of the call is at such a place.
    checks += [(sys.maxsize, name, CHECKS[name], name not in NOT_MISSING) for name in of_options]

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> R:
        if not known.issuperset(kwargs):
            name = next(name for name in kwargs if name not in known)
            raise unknown_keyword(function.__qualname__, name, known - {"self"})
        for at, name, check, may_be_missing in checks:
            if at < len(args):
                if args[at] is not None or not may_be_missing:
                    args = (*args[:at], check(name, args[at]), *args[at + 1 :])
            elif name in kwargs and (kwargs[name] is not None or not may_be_missing):
                kwargs[name] = check(name, kwargs[name])
        return function(*args, **kwargs)

    return checked


def keyword_names(function: Callable[..., Any]) -> frozenset[str]:
    """The names of the arguments of a function, with those of the ``TypedDict`` that its ``**options`` unpack."""
    found = set[str]()
    for each in inspect.signature(function).parameters.values():
        if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            found.add(each.name)
        elif each.kind is each.VAR_KEYWORD and (options := _UNPACKED.fullmatch(str(each.annotation))):
            found |= inspect.unwrap(function).__globals__[options[1]].__optional_keys__
    return frozenset(found)


_UNPACKED = re.compile(r"Unpack\[(\w+)\]")


def chosen_options(arguments: Mapping[str, Any], options: type) -> Any:
    """The options of a ``TypedDict`` among the arguments of a function, without those that are ``None``.

    Args:
        arguments: The ``locals()`` at the beginning of the function. Its ``options`` are keywords of the call.
        options: The ``TypedDict``, whose keys are all optional.
    """
    names: frozenset[str] = options.__optional_keys__  # type: ignore[attr-defined]
    chosen = {}
    for name, value in (*arguments.items(), *arguments.get("options", {}).items()):
        if name in names and value is not None:
            chosen[name] = value
    return chosen
