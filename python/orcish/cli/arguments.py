"""Arguments that several commands have."""

from __future__ import annotations

import argparse
from typing import NoReturn

from orcish.terminal import printable

__all__ = ["Parser", "add_external", "add_timestamps", "add_values", "count", "names", "pair"]


class Parser(argparse.ArgumentParser):
    """A parser that escapes its messages, as arguments may be file names."""

    def error(self, message: str) -> NoReturn:
        """Prints an error and exits."""
        super().error(printable(message))


def add_values(command: argparse.ArgumentParser) -> None:
    """Adds the arguments for invalid values."""
    command.add_argument(
        "--invalid-utf8",
        choices=("error", "replace", "null", "binary"),
        help="what becomes of text that is not UTF-8 (error)",
    )
    command.add_argument(
        "--long-char",
        choices=("keep", "cut", "error"),
        help="what becomes of text longer than its char or varchar (keep)",
    )
    command.add_argument(
        "--decimal-out-of-range",
        choices=("error", "null"),
        help="what becomes of decimals of more digits than their precision (error)",
    )


def add_timestamps(command: argparse.ArgumentParser, zone: str) -> None:
    """Adds the arguments for columns of type ``timestamp``; ``zone`` is the attribute of the time zone."""
    command.add_argument(
        "--timestamps",
        choices=("wall", "instant"),
        help="what the clock of the writer showed in columns of type timestamp (wall), or the instants, in UTC",
    )
    command.add_argument(
        "--timezone",
        dest=zone,
        metavar="ZONE",
        help="with instants: those at which the clocks of this zone show what the writer's showed",
    )


def count(text: str) -> int:
    """Parses a non-negative number."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return number


def names(text: str) -> list[str]:
    """Parses a list of names."""
    return text.split(",")


def pair(text: str) -> tuple[str, str]:
    """Parses ``NAME=VALUE``."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def add_external(command: argparse.ArgumentParser) -> None:
    """Adds the argument for external locations of CarbonData tables."""
    command.add_argument(
        "--external-location",
        dest="external_locations",
        action="append",
        metavar="PATH",
        help="a path or URL at or below which a table of CarbonData may have files outside of its folder",
    )
