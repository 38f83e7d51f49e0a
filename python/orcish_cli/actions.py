"""What options of the command do that are given several times: nothing that was given is dropped silently."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

__all__ = ["Append", "Conjunction", "Extend", "Flag", "Once", "WrongArgumentsError", "given_options"]

_GIVEN = "_given"
"""The attribute of a namespace that has the options which were given, with the values of those that are given once."""


class WrongArgumentsError(ValueError):
    """Arguments do not go together: exit code 2, as where the parser finds it."""


class Once(argparse.Action):
    """Stores a value. Another value of the same option is an error."""

    def __call__(
        self, _: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """See :class:`argparse.Action`."""
        if option is not None:
            _note(namespace, self, values)
        setattr(namespace, self.dest, values)


class Flag(argparse.Action):
    """Stores a constant. The option has no value."""

    def __init__(self, option_strings: Sequence[str], dest: str, **how: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **how)

    def __call__(
        self, _: argparse.ArgumentParser, namespace: argparse.Namespace, _values: Any, option: str | None = None
    ) -> None:
        """See :class:`argparse.Action`."""
        _note_name(namespace, self, option)
        setattr(namespace, self.dest, self.const)


class Append(argparse.Action):
    """Adds a value to a list. Of pairs of a name and a value, another value of the same name is an error."""

    def __call__(
        self, _: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """See :class:`argparse.Action`."""
        _note_name(namespace, self, option)
        found = list(getattr(namespace, self.dest) or ())
        if isinstance(values, tuple):
            name, value = values
            if dict(found).get(name, value) != value:
                raise argparse.ArgumentError(self, f"{name!r} is given twice, with different values: give one of them")
        setattr(namespace, self.dest, [*found, values])


class Extend(Append):
    """Adds the values of a list, each as :class:`Append` does."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """See :class:`argparse.Action`."""
        _note_name(namespace, self, option)
        # A list of no values is one, too.
        setattr(namespace, self.dest, list(getattr(namespace, self.dest) or ()))
        for value in values:
            super().__call__(parser, namespace, value, option)


class Conjunction(argparse.Action):
    """Stores a filter. Of several, all are true."""

    def __call__(
        self, _: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """See :class:`argparse.Action`."""
        _note_name(namespace, self, option)
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


def _note_name(namespace: argparse.Namespace, action: argparse.Action, option: str | None) -> None:
    """Notes that an option is given, which may be given several times. Arguments without a name are no options."""
    if option is not None:
        namespace.__dict__.setdefault(_GIVEN, {}).setdefault(action.dest, None)


def _note(namespace: argparse.Namespace, action: argparse.Action, value: Any) -> None:
    """Notes that an option has a value.

    Raises:
        argparse.ArgumentError: It has another one already.
    """
    given: dict[str, Any] = namespace.__dict__.setdefault(_GIVEN, {})
    if given.setdefault(action.dest, value) != value:
        raise argparse.ArgumentError(action, "is given twice, with different values: give one of them")
