"""Exceptions of orcish. What the operating system says stays an ``OSError``."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "CorruptFileError",
    "LimitExceededError",
    "NullMapKeyError",
    "OrcishError",
    "UnknownColumnError",
    "UnsupportedError",
    "nearest",
]


class OrcishError(Exception):
    """Base of what orcish raises about files."""


class CorruptFileError(OrcishError):
    """The bytes are not a valid ORC file; the message says where they stop being one."""


class UnsupportedError(OrcishError):
    """The file is valid but needs something that orcish does not do, or does only when asked to."""


class NullMapKeyError(UnsupportedError):
    """A map has a null key, which Arrow's maps cannot have; ``null_map_keys="dictionary"`` reads it."""


class LimitExceededError(OrcishError):
    """The file asks for more than the limits, or the chosen Arrow type, allow."""


class UnknownColumnError(OrcishError, KeyError):
    """A column was asked for that the file does not have; the message names the nearest ones."""

    # KeyError shows its argument quoted, as if it were a key.
    __str__ = Exception.__str__


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of some names that is meant, as far as one is near, whatever its case."""
    known = list(names)
    near = difflib.get_close_matches(name.lower(), [each.lower() for each in known], 1)
    return next((each for each in known if [each.lower()] == near), None)
