"""The parser of the arguments of the command."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn

from orcish.cli.actions import Append, Once
from orcish.terminal import printable

__all__ = ["Parser"]


class Parser(argparse.ArgumentParser):
    """A parser that escapes its messages, as arguments may be file names. Values may begin with ``-``, as ``-id`` of
    ``--sort-by -id`` does, unless they are options.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.register("action", None, Once)
        self.register("action", "store", Once)
        self.register("action", "append", Append)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """See :meth:`argparse.ArgumentParser.parse_known_args`."""
        return super().parse_known_args(self._joined(sys.argv[1:] if args is None else list(args)), namespace)

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

    def error(self, message: str) -> NoReturn:
        """Prints an error and exits."""
        super().error(printable(message))
