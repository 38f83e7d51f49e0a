"""Which columns are encrypted, and their masks: mappings, or texts of ORC Java's ``orc.encrypt`` and ``orc.mask``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from orcish.encryption.keys import hidden

__all__ = ["Encrypt", "Masks", "native_encryption"]

Encrypt: TypeAlias = Mapping[str, str | Sequence[Any]] | str
"""Names of keys with the columns that they encrypt, or the text of ``orc.encrypt``."""
Masks: TypeAlias = Mapping[Any, str] | str
"""Names of masks by columns, or the text of ``orc.mask``."""

_PART = re.compile(r"`((?:[^`]|``)*)`|([^`:;,.]+)|([:;,.])")
_STEPS = {"_elem": "element", "_key": "key", "_value": "value"}
"""Steps of nested columns as ORC Java names them."""


def native_encryption(encrypt: Encrypt | None, mask: Masks | None, keys: Any) -> object | None:
    """The encryption of a file for the native core; ``None`` where no column is encrypted.

    Raises:
        TypeError, ValueError: The columns, the masks or the keys are none.
    """
    columns, masks = list(_columns(encrypt)), list(_masks(mask))
    if not columns:
        if masks:
            raise ValueError("mask: no column is encrypted, so that none has a mask")
        if keys is not None:
            raise ValueError("keys: no column is encrypted: encrypt says which")
        return None
    hidden_keys = hidden(keys)
    if hidden_keys is None:
        raise ValueError("encrypt: the columns are encrypted with keys, which are given as keys")
    return hidden_keys.native(), columns, masks


def _columns(encrypt: Encrypt | None) -> Iterator[tuple[Any, str]]:
    """Each column with the name of its key."""
    if encrypt is None:
        return
    if isinstance(encrypt, str):
        for head, columns in _rules(encrypt, "encrypt"):
            if len(head) != 1:
                raise ValueError(f"encrypt={encrypt!r}: a key has one name")
            yield from ((column, head[0]) for column in columns)
        return
    if not isinstance(encrypt, Mapping):
        raise TypeError(f"encrypt must be a mapping from keys to columns, not {type(encrypt).__name__}")
    for key, given in encrypt.items():
        if not isinstance(key, str):
            raise TypeError(f"encrypt: the name of a key is text, not {type(key).__name__}")
        listed = [given] if isinstance(given, str | tuple) else given
        if not isinstance(listed, Sequence) or isinstance(listed, bytes):
            raise TypeError(f"encrypt: the columns of key {key!r} are a list of names, not {type(given).__name__}")
        for column in listed:
            yield column, key


def _masks(mask: Masks | None) -> Iterator[tuple[Any, str]]:
    """Each column with its mask, as ``name,parameter,…``."""
    if mask is None:
        return
    if isinstance(mask, str):
        for head, columns in _rules(mask, "mask"):
            yield from ((column, ",".join(head)) for column in columns)
        return
    if not isinstance(mask, Mapping):
        raise TypeError(f"mask must be a mapping from columns to masks, not {type(mask).__name__}")
    for column, name in mask.items():
        if not isinstance(name, str):
            raise TypeError(f"mask: the mask of {column!r} is the text of its name, not {type(name).__name__}")
        yield column, name


def _rules(text: str, option: str) -> Iterator[tuple[list[str], list[tuple[str, ...]]]]:
    """The rules ``name,parameter:column,column;…`` of a text, in which names may be quoted by backticks."""
    for rule in _split(list(_tokens(text, option)), ";"):
        if not rule:
            continue
        sides = _split(rule, ":")
        if len(sides) != 2:
            raise ValueError(f"{option}={text!r}: a rule is name:column,column")
        head = ["".join(name for name, _ in part) for part in _split(sides[0], ",")]
        columns = [tuple(_STEPS.get(step, step) for step in _steps(part)) for part in _split(sides[1], ",")]
        if not all(head) or not all(map(all, columns)) or not all(columns):
            raise ValueError(f"{option}={text!r}: a name is missing")
        yield head, columns


def _steps(part: list[tuple[str, bool]]) -> list[str]:
    return ["".join(name for name, _ in step) for step in _split(part, ".")]


def _tokens(text: str, option: str) -> Iterator[tuple[str, bool]]:
    """Names and separators, each with whether it is a separator."""
    at = 0
    while at < len(text):
        found = _PART.match(text, at)
        if found is None:
            raise ValueError(f"{option}={text!r}: a backtick is not closed")
        quoted, plain, separator = found.groups()
        at = found.end()
        if separator is not None:
            yield separator, True
        else:
            yield (quoted.replace("``", "`") if quoted is not None else plain.strip()), False


def _split(tokens: list[tuple[str, bool]], separator: str) -> list[list[tuple[str, bool]]]:
    parts: list[list[tuple[str, bool]]] = [[]]
    for token in tokens:
        if token == (separator, True):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
