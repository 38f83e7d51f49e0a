"""Kinds of arguments that several commands take."""

from __future__ import annotations

import argparse

__all__ = ["count", "names"]


def count(text: str) -> int:
    """A number that is not negative."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return number


def names(text: str) -> list[str]:
    """Names with commas between them."""
    return text.split(",")
