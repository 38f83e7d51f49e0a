"""Names of columns, as arguments have them: lists of them, with a sign or with a value."""

from __future__ import annotations

import argparse
import re
from typing import TypeVar

from orcish.filters.names import ColumnName, dotted

__all__ = ["names", "renames", "sort_keys", "top_names", "types"]

Name = TypeVar("Name", str, ColumnName)

_QUOTED = re.compile(r"`((?:[^`]|``)*)`")
_PLAIN = re.compile(r"[^,.]*")
_STEP = r"(?:`(?:[^`]|``)*`\s*|(?!`)[^,.=]*)"
_NAME = re.compile(rf"(\s*{_STEP}(?:\.{_STEP})*)=")
"""A name, and the sign behind it."""


def names(text: str) -> list[ColumnName]:
    """Parses a list of names, none of them twice. Steps of names in backticks may have any characters, as in filters
    and in texts of types; a backtick among them is doubled. Blanks around names do not count. A name of several steps
    is a tuple.
    """
    found: list[ColumnName] = []
    at = 0
    while True:
        name, at = _name(text, at)
        found.append(name)
        if at == len(text):
            return _each_once(found, text)
        at += 1


def top_names(text: str) -> list[str]:
    """Parses a list of names of columns that are in no others: dots are those of a name."""
    return _each_once(list(map(dotted, names(text))), text)


def _each_once(found: list[Name], text: str) -> list[Name]:
    if len(set(found)) < len(found):
        twice = next(dotted(name) for name in found if found.count(name) > 1)
        raise argparse.ArgumentTypeError(f"{twice!r} is given twice in {text!r}: give it once")
    return found


def sort_keys(text: str) -> list[tuple[ColumnName, bool]]:
    """Parses a list of names, each with whether a ``-`` before it asks for descending order. One in backticks is a part
    of the name.
    """
    found: dict[ColumnName, bool] = {}
    at = 0
    while True:
        while text[at : at + 1].isspace():
            at += 1
        is_descending = text[at : at + 1] == "-"
        name, at = _name(text, at + is_descending)
        if found.setdefault(name, is_descending) != is_descending:
            raise argparse.ArgumentTypeError(f"{text!r} sorts by {dotted(name)!r} in both orders: give one of them")
        if at == len(text):
            return list(found.items())
        at += 1


def renames(text: str) -> list[tuple[str, str]]:
    """Parses a list of ``NAME=NAME``. A comma that ``NAME=`` follows begins the next one, unless it is in backticks."""
    return [(name, _single(value)) for name, value in _pairs(text, "", "")]


def types(text: str) -> list[tuple[str, str]]:
    """Parses a list of ``NAME=TYPE``, likewise. A comma within brackets is a part of the type."""
    return _pairs(text, "(<[", ")>]")


def _pairs(text: str, opening: str, closing: str) -> list[tuple[str, str]]:
    found = []
    for each in _parts(text, opening, closing):
        pair = _NAME.match(each)
        if pair is None or not pair[1].strip():
            raise argparse.ArgumentTypeError(f"{each!r} is not NAME=VALUE")
        found.append((_single(pair[1]), each[pair.end() :]))
    return found


def _parts(text: str, opening: str, closing: str) -> list[str]:
    """Parts between commas that ``NAME=`` follows, and that are in no backticks and brackets."""
    found, start, at, depth = [], 0, 0, 0
    while at < len(text):
        sign = text[at]
        # A backtick within a plain name is a part of it.
        is_first = at == start or not (text[at - 1].isalnum() or text[at - 1] in "_`")
        if sign == "`" and is_first and (quoted := _QUOTED.match(text, at)):
            at = quoted.end()
            continue
        depth += (sign in opening) - (sign in closing)
        at += 1
        if sign == "," and depth <= 0 and _NAME.match(text, at):
            found.append(text[start : at - 1])
            start = at
    return [*found, text[start:]]


def _single(text: str) -> str:
    """One name. A plain one may have commas."""
    name, end = _name(text, 0)
    if end == len(text):
        return dotted(name)
    if "`" in text:
        raise argparse.ArgumentTypeError(f"{text!r}: a name with a comma is in backticks as a whole")
    return text.strip()


def _name(text: str, at: int) -> tuple[ColumnName, int]:
    """A name that begins at a place of a text, and where it ends: at a comma, or at the end."""
    steps: list[str] = []
    sign = ""
    while text[at : at + 1].isspace():
        at += 1
    if text[at : at + 2] == "-`":
        # The sign of descending order.
        sign, at = "-", at + 1
    while True:
        if text[at : at + 1] == "`":
            quoted = _QUOTED.match(text, at)
            if quoted is None:
                raise argparse.ArgumentTypeError(f"{text!r}: a backtick is not closed; within a name it is doubled")
            step, at = quoted[1].replace("``", "`"), quoted.end()
            while text[at : at + 1].isspace():
                at += 1
            if text[at : at + 1] not in ("", ",", "."):
                raise argparse.ArgumentTypeError(f"{text!r}: a comma or a dot has to follow {quoted[0]}")
        else:
            plain = _PLAIN.match(text, at)
            assert plain is not None
            step, at = plain[0], plain.end()
            if text[at : at + 1] != ".":
                step = step.rstrip()
        steps.append(step)
        if text[at : at + 1] != ".":
            first = sign + steps[0]
            return (first, *steps[1:]) if len(steps) > 1 else first, at
        at += 1
