"""The parser of the arguments of the command."""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

from orcish.errors import suggestion
from orcish.terminal import printable, show_text

from orcish_cli.actions import Append, Extend, Flag, Once

__all__ = ["Parser"]

WORDS = {
    **dict.fromkeys(("cat", "show", "print", "rows", "read"), "data"),
    **dict.fromkeys(("info", "inspect", "describe", "metadata", "footer"), "meta"),
    **dict.fromkeys(("optimize", "optimise"), "compact"),
    **dict.fromkeys(("compare", "cmp"), "diff"),
    **dict.fromkeys(("verify", "validate", "fsck"), "check"),
    **dict.fromkeys(("concat", "concatenate"), "merge"),
    **dict.fromkeys(("log", "commits"), "history"),
    **dict.fromkeys(("query", "select"), "sql"),
    **dict.fromkeys(("sort", "cast", "rename"), "rewrite"),
    "columns": "schema",
    "size": "sizes",
    "statistics": "stats",
    "repair": "recover",
}
"""Words of other tools, and the commands in their place."""


OTHER_WORDS = {
    "--overwrite": ("--existing-data overwrite",),
    "--append": ("--existing-data append",),
    "--existing-data": ("--overwrite",),
    **dict.fromkeys(("--filter", "--predicate"), ("--where",)),
    **dict.fromkeys(("--rows", "--lines", "--head", "--max-rows"), ("--limit",)),
    **dict.fromkeys(("--select", "--column", "--cols"), ("--columns",)),
    **dict.fromkeys(("--out", "--target", "--dest"), ("--output",)),
    **dict.fromkeys(("--codec", "--compress"), ("--compression",)),
    **dict.fromkeys(("--level", "--clevel"), ("--compression-level",)),
    **dict.fromkeys(("--sort", "--order-by", "--orderby"), ("--sort-by",)),
    **dict.fromkeys(("--inplace", "--in-situ"), ("--in-place",)),
    **dict.fromkeys(("--partitions", "--partitioned-by", "--partition"), ("--partition-by",)),
    **dict.fromkeys(("--storage-options", "--storage"), ("--storage-option NAME=VALUE",)),
    **dict.fromkeys(("--charset", "--codepage"), ("--encoding",)),
    **dict.fromkeys(("--sep", "--separator"), ("--delimiter",)),
    **dict.fromkeys(("--tz", "--zone", "--time-zone"), ("--timezone",)),
    "--quiet": ("--brief",),
    "--format": ("--from", "--to"),
    "--to": ("--format",),
    "--from": ("--format",),
}
"""Options of other commands and tools, and those in their place, of which a command has one."""
KINDS = {
    "int": "whole number",
    "float": "number",
    "count": "whole number of 0 or more",
    "days": "number of days, such as 7 or 0.5",
    "fraction": "number from 0 to 1",
    "_threads": "whole number of 1 or more",
}
"""What the functions that parse values take."""


class Parser(argparse.ArgumentParser):
    """A parser that escapes its messages, as arguments may be file names. Values may begin with ``-``, as ``-id`` of
    ``--sort-by -id`` does, unless they are options.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # What an abbreviation means changes with each new option.
        super().__init__(*args, **{"allow_abbrev": False, **kwargs})
        self.register("action", None, Once)
        self.register("action", "store", Once)
        self.register("action", "store_const", Flag)
        self.register("action", "store_true", functools.partial(Flag, const=True, default=False))
        self.register("action", "append", Append)
        self.register("action", "extend", Extend)

    def all_actions(self) -> list[argparse.Action]:
        """The arguments, and the commands."""
        return list(self._actions)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """See :meth:`argparse.ArgumentParser.parse_known_args`."""
        given = self._joined(sys.argv[1:] if args is None else list(args))
        self._check_options(given)
        namespace, left = super().parse_known_args(given, namespace)
        if left:
            option = next((each for each in left if each.startswith("-")), None)
            self.error(f"unexpected argument {left[0]!r}" if option is None else self._unknown(option))
        return namespace, left

    def _check_options(self, given: list[str]) -> None:
        """Ends with an error that names an option which is not known, before others complain of what is missing."""
        for argument in given:
            name = argument.partition("=")[0]
            if argument == "--" or (self._subparsers is not None and not argument.startswith("-")):
                # The rest is that of a command.
                return
            # Queries may begin with a comment of SQL.
            is_option = argument.startswith("--") and not any(map(str.isspace, name))
            if is_option and name not in self._option_string_actions:
                self.error(self._unknown(argument))

    def _unknown(self, option: str) -> str:
        name = option.partition("=")[0]
        own = next(
            (each for each in OTHER_WORDS.get(name, ()) if each.partition(" ")[0] in self._option_string_actions), None
        )
        hint = suggestion(name, self._option_string_actions) if own is None else f"; did you mean {own}?"
        return f"unknown option {name}{hint}"

    def _get_value(self, action: argparse.Action, text: str) -> Any:
        try:
            return super()._get_value(action, text)
        except argparse.ArgumentError as error:
            kind = KINDS.get(getattr(action.type, "__name__", ""))
            if kind is None or not error.message.startswith("invalid "):
                raise
            raise argparse.ArgumentError(action, f"{text!r} is no {kind}") from None

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        names = [str(each) for each in action.choices]
        if isinstance(action.choices, Mapping):
            word = WORDS.get(str(value)) if action.metavar == "COMMAND" else None
            hint = f"; did you mean {word}?" if word else suggestion(str(value), names)
            raise argparse.ArgumentError(None, f"unknown {str(action.metavar).lower()} {value!r}{hint}")
        near = suggestion(str(value), names)
        raise argparse.ArgumentError(action, f"{value!r} is none of {', '.join(names)}{near}")

    def _joined(self, given: list[str]) -> list[str]:
        """Arguments in which options are one with their values that begin with ``-``."""
        joined: list[str] = []
        takes_value = False
        for at, argument in enumerate(given):
            if argument == "--":
                return [*joined, *given[at:]]
            is_option = argument.partition("=")[0] in self._option_string_actions
            if takes_value and argument.startswith("-") and not is_option:
                joined[-1] += f"={argument}" if joined[-1].startswith("--") else argument
                takes_value = False
                continue
            action = None if takes_value and not is_option else self._option_string_actions.get(argument)
            takes_value = action is not None and action.nargs is None
            joined.append(argument)
        return joined

    def _print_message(self, message: str, file: Any = None) -> None:
        # The original drops errors of writing.
        if file is sys.stdout and message:
            show_text(message, is_last=True)
        else:
            super()._print_message(message, file)

    def error(self, message: str) -> NoReturn:
        """Prints an error, on a line, and exits."""
        self.exit(2, f"{self.prog}: error: {printable(message)}\nsee {self.prog} --help\n")
