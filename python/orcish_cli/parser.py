"""The parser of the arguments of the command. Nothing that is given several times is dropped silently."""

from __future__ import annotations

import argparse
import functools
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from orcish.errors import suggestion
from orcish.hints import hint
from orcish.terminal import printable

from orcish_cli.terminal import show_text

__all__ = [
    "Conjunction",
    "Extend",
    "ExtendNames",
    "Flag",
    "Once",
    "Parser",
    "WrongArgumentsError",
    "given_options",
    "given_texts",
]

_GIVEN = "_given"
"""The attribute of a namespace that has the options which were given, with the values of those that are given once."""
KINDS = {
    "int": "whole number",
    "float": "number",
    "count": "whole number of 0 or more",
    "days": "number of days, such as 7 or 0.5",
    "fraction": "number from 0 to 1",
    "threads": "whole number of 1 or more",
}
"""What the functions that parse values take."""
NUMBER = re.compile(r"-\d+")
"""A number of rows, as head and tail of other systems take it. Values of options are joined to their options before."""
OTHER_COMMANDS = {
    **dict.fromkeys(("cat", "head", "tail", "print", "read"), "data"),
    **dict.fromkeys(("info", "describe", "inspect", "show", "metadata", "stat", "stats"), "meta"),
    **dict.fromkeys(("verify", "validate", "test"), "check"),
    **dict.fromkeys(("optimize", "coalesce"), "compact"),
    **dict.fromkeys(("compare", "cmp"), "diff"),
    **dict.fromkeys(("copy", "write", "export", "import"), "convert"),
    **dict.fromkeys(("query", "select"), "sql"),
    **dict.fromkeys(("log", "commits"), "history"),
    **dict.fromkeys(("repair", "fix"), "recover"),
}
"""Names that other programs have for commands."""


class WrongArgumentsError(ValueError):
    """Arguments do not go together: exit code 2, as where the parser finds it."""


class Once(argparse.Action):
    """Stores a value. Another value of the same option is an error."""

    def __call__(
        self, _: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """See :class:`argparse.Action`."""
        # Arguments without a name are no options.
        if option is not None and _note(namespace, self, values) != values:
            raise argparse.ArgumentError(self, "is given twice, with different values: give one of them")
        setattr(namespace, self.dest, values)


class Flag(argparse.Action):
    """Stores a constant. The option has no value."""

    def __init__(self, option_strings: Sequence[str], dest: str, **how: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **how)

    def __call__(
        self, _: argparse.ArgumentParser, namespace: argparse.Namespace, _values: Any, _option: str | None = None
    ) -> None:
        """See :class:`argparse.Action`."""
        _note(namespace, self)
        setattr(namespace, self.dest, self.const)


class Extend(argparse.Action):
    """Adds values to a list: one, or those of a list. Of pairs of a name and a value, another value of the same name is
    an error.
    """

    has_pairs = True
    """Whether tuples are pairs of a name and a value."""

    def __call__(
        self, _: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, _option: str | None = None
    ) -> None:
        """See :class:`argparse.Action`."""
        _note(namespace, self)
        # A list of no values is one, too.
        found = list(getattr(namespace, self.dest) or ())
        for each in values if isinstance(values, list) else [values]:
            if self.has_pairs and isinstance(each, tuple) and dict(found).get(each[0], each[1]) != each[1]:
                text = f"{each[0]!r} is given twice, with different values: give one of them"
                raise argparse.ArgumentError(self, text)
            found.append(each)
        setattr(namespace, self.dest, found)


class ExtendNames(Extend):
    """Adds names of columns to a list. The steps of a name are a tuple."""

    has_pairs = False


class Conjunction(argparse.Action):
    """Stores a filter. Of several, all are true."""

    def __call__(
        self, _: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, _option: str | None = None
    ) -> None:
        """See :class:`argparse.Action`."""
        _note(namespace, self)
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, values if before is None else self._both(before, values))

    def _both(self, before: Any, text: str) -> Any:
        # Importing pyarrow takes time, which the help does not need.
        from orcish.filters.pushdown import combined
        from orcish.filters.text import parse

        try:
            return combined(parse(before, "the first one") if isinstance(before, str) else before, parse(text, "it"))
        except ValueError as error:
            raise argparse.ArgumentError(self, f"is given several times: {error}") from None


def given_options(namespace: argparse.Namespace) -> set[str]:
    """The names, as attributes, of the options that were given."""
    return set(getattr(namespace, _GIVEN, ()))


def given_texts(namespace: argparse.Namespace) -> list[tuple[str, str]]:
    """The texts of the arguments, each with the attribute that has it: those in lists and pairs, too."""
    found = []
    for name, value in vars(namespace).items():
        values = [value]
        for each in values:
            if isinstance(each, str):
                found.append((name, each))
            elif isinstance(each, list | tuple):
                values.extend(each)
    return found


def _note(namespace: argparse.Namespace, action: argparse.Action, value: Any = None) -> Any:
    """Notes that an option is given, with the value of one that is given once; gives the first value."""
    given: dict[str, Any] = namespace.__dict__.setdefault(_GIVEN, {})
    return given.setdefault(action.dest, value)


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
        self.register("action", "append", Extend)
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
            if (is_option and name not in self._option_string_actions) or NUMBER.fullmatch(argument):
                self.error(self._unknown(argument))

    def _unknown(self, option: str) -> str:
        name = option.partition("=")[0]
        if NUMBER.fullmatch(name) and "-n" in self._option_string_actions:
            return f"unknown option {name}; did you mean -n {name[1:]}?"
        flags = {flag[2:].replace("-", "_"): flag for flag in self._option_string_actions if flag.startswith("--")}
        return f"unknown option {name}{hint(name, flags, {})}"

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
            meant = OTHER_COMMANDS.get(str(value), "")
            near = f"; did you mean {meant}?" if meant in names else suggestion(str(value), names)
            raise argparse.ArgumentError(None, f"unknown {str(action.metavar).lower()} {value!r}{near}")
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
