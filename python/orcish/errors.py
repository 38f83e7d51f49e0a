"""Exceptions of orcish. Errors of the operating system and of stores are ``OSError``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = [
    "CastError",
    "CommitError",
    "CorruptFileError",
    "InternalError",
    "LimitExceededError",
    "NullMapKeyError",
    "OptionError",
    "OptionTypeError",
    "OrcishError",
    "UnfinishedCommitError",
    "UnknownColumnError",
    "UnsupportedError",
    "closest_match",
    "out_of_memory",
    "suggestion",
    "text_of",
]


class OrcishError(Exception):
    """Base class of the errors of orcish about files."""


class CastError(ValueError):
    """A value is not one of the type that is asked for.

    Args:
        text: The message.
        row: The row of the value in its array, from 0; ``None`` where the types themselves have no cast.
    """

    def __init__(self, text: str, row: int | None = None) -> None:
        super().__init__(text)
        self.row = row


class CommitError(OrcishError):
    """A commit of a table cannot happen because of another one, or another one is not finished."""


class UnfinishedCommitError(CommitError):
    """A commit is decided and not finished, or whether it is decided is not known. Writing the rows again may add them
    twice.
    """

    is_decided: bool | None = None
    """True for a commit that is decided: the next writer, or :func:`orcish.recover`, finishes it. ``None`` if that is
    not known: look at the table, or at :func:`orcish.history`, after :func:`orcish.recover`."""


class CorruptFileError(OrcishError):
    """The file is not valid; the message names the place of the fault. For a file of another format, it says what reads
    such files.
    """

    def __str__(self) -> str:
        text = super().__str__()
        advice = _advice(text)
        return text if advice in text else f"{text}{advice}"


_FORMATS = {"Parquet": "parquet", "CSV": "csv", "JSON": "json", "Arrow IPC": "ipc"}
"""Formats that pyarrow reads, and their names in pyarrow.dataset."""
_SUFFIXES = {"parquet": "Parquet", "pq": "Parquet", "csv": "CSV", "json": "JSON", "jsonl": "JSON", "ndjson": "JSON"}
_SUFFIXES |= {"arrow": "Arrow IPC", "feather": "Arrow IPC"}
"""Formats by the suffixes of file names."""


def _advice(text: str) -> str:
    """What to do about a file that is not an ORC file, given the message; empty if there is nothing to say."""
    location, is_other, rest = text.partition(": not an ORC file")
    if not is_other:
        return ""
    suffix = location.rpartition("/")[2].rpartition(".")[2].lower()
    found = next((name for name in _FORMATS if rest.startswith(f", but one of {name}")), _SUFFIXES.get(suffix))
    if found:
        return (
            f"; pyarrow.dataset.dataset(path, format={_FORMATS[found]!r}) reads files of {found}, and "
            "orcish.write_dataset writes such a dataset as ORC"
        )
    if suffix in ("orc", "") or location.endswith(">"):
        return ""
    return (
        "; readers take each file of a folder for one of the table, unless its name begins with '_' or '.': a pattern "
        "such as table/**/*.orc leaves others out"
    )


class UnsupportedError(OrcishError):
    """The file is valid but needs a feature that orcish does not have, or has only on request."""


class NullMapKeyError(UnsupportedError):
    """A map has a null key, which maps of Arrow cannot hold; ``null_map_keys="dictionary"`` reads an ORC file."""


class OptionError(ValueError):
    """An argument of a function has a value that it cannot have. Programs with other names for arguments, such as the
    command, make messages of the parts.

    Args:
        option: The argument; the whole message where there is no reason, as of an error that was made anew with another
            text.
        reason: What is wrong.
        value: The value; it is not shown where it is not given, as of arguments that may have keys of a store.
    """

    def __init__(self, option: str, reason: str | None = None, value: Any = ...) -> None:
        # All are arguments of the exception, so that it passes between processes.
        super().__init__(option, reason, value)
        self.option = "" if reason is None else option
        self.reason = option if reason is None else reason
        self.value = value

    def __str__(self) -> str:
        if not self.option:
            return self.reason
        given = "" if self.value is ... else f"={text_of(self.value)}"
        return f"{self.option}{given}: {self.reason}"


def text_of(value: Any) -> str:
    """The text that Python has for a value, also for an object whose text is an error."""
    try:
        return repr(value)
    except Exception:
        return f"<unprintable {type(value).__name__} object>"


class OptionTypeError(OptionError, TypeError):
    """An argument of a function has a value of a type that it cannot have."""


class InternalError(OrcishError):
    """A fault of orcish itself, whatever the file and the arguments are. Please report it."""


class LimitExceededError(OrcishError):
    """The file exceeds a limit, or the range of the chosen Arrow type."""


class UnknownColumnError(OrcishError, KeyError):
    """The file does not have the requested column; the message names the nearest ones."""

    # The text of a KeyError would be quoted.
    __str__ = Exception.__str__


def out_of_memory(name: str, error: MemoryError) -> LimitExceededError:
    """The error of memory that is exhausted.

    Args:
        name: What was read or written, for people.
        error: The original error.
    """
    text = f" ({error})" if str(error) else ""
    return LimitExceededError(
        f"{name}: there is not enough memory{text}: the file is damaged, or the limit of memory of the process too low"
    )


def closest_match(name: str, names: Iterable[str]) -> str | None:
    """The closest match of a name, ignoring case; ``None`` where no name is close."""
    import difflib

    known = list(names)
    near = difflib.get_close_matches(name.lower(), [each.lower() for each in known], 1)
    return next((each for each in known if [each.lower()] == near), None)


def suggestion(name: str, names: Iterable[str]) -> str:
    """The end of a message about a name that is not known: ``; did you mean …?``, or nothing where no name is close."""
    near = closest_match(name, names)
    return f"; did you mean {near}?" if near else ""
