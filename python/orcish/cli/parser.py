"""The parser of the arguments of the command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

from orcish.cli.actions import Append, Extend, Once
from orcish.errors import suggestion
from orcish.terminal import printable, show_text

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


class Parser(argparse.ArgumentParser):
    """A parser that escapes its messages, as arguments may be file names. Values may begin with ``-``, as ``-id`` of
    ``--sort-by -id`` does, unless they are options.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.register("action", None, Once)
        self.register("action", "store", Once)
        self.register("action", "append", Append)
        self.register("action", "extend", Extend)

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
            if argument.startswith("--") and not any(each.startswith(name) for each in self._option_string_actions):
                self.error(self._unknown(argument))

    def _unknown(self, option: str) -> str:
        name = option.partition("=")[0]
        return f"unknown option {name}{suggestion(name, self._option_string_actions)}"

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
