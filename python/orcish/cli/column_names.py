"""Lists of names of columns, as arguments have them."""

from __future__ import annotations

import argparse
import re

from orcish.filters.steps import step_name

__all__ = ["names"]

_QUOTED = re.compile(r"`((?:[^`]|``)*)`")
_PLAIN = re.compile(r"[^,.]*")


def names(text: str) -> list[str]:
    """Parses a list of dotted names, each of them once. Steps of names in backticks may have any characters, as in
    filters and in texts of types; a backtick among them is doubled. Blanks around names do not count. Names with dots
    keep their steps.
    """
    found: list[str] = []
    at = 0
    while True:
        name, at = _name(text, at)
        found.append(name)
        if at == len(text):
            return list({(name, getattr(name, "steps", None)): name for name in found}.values())
        at += 1


def _name(text: str, at: int) -> tuple[str, int]:
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
            return step_name([sign + steps[0], *steps[1:]]), at
        at += 1
