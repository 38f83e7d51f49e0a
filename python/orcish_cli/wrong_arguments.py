"""Errors that are about the arguments of a command, and not about files."""

from __future__ import annotations

import argparse
import re

from orcish.errors import UnknownColumnError, UnsupportedError

from orcish_cli.actions import WrongArgumentsError, given_options
from orcish_cli.output import fail
from orcish_cli.standard_input import source_names

__all__ = ["fail_of_source", "is_of_arguments"]

_OPTION = re.compile(r"--[a-z]")
_KEYWORD = re.compile(r"(?P<name>[a-z][a-z0-9_]*)(?=[=:])|.*?: (?P<of_target>[a-z][a-z0-9_]*)(?==)")
"""What begins a message about an option: that of the command, or the keyword of a function."""
_OTHERS = re.compile(
    r"the type '|the schema has two columns |-: |(.*: )?(unknown storage option \"|compression level [0-9]"
    r"|the codec of \w+ is |\w+ has no codec |\w+ of \w+ has no levels"
    r"|\w+ that is not compressed has no levels"
    r"|\w+ has no compression levels|filters: )"
)
"""What begins a message about ``--schema``, ``--cast``, standard input, ``--storage-option`` or ``--compression``."""


def is_of_arguments(error: BaseException, options: argparse.Namespace) -> bool:
    """Whether an error says that an argument has a value that it cannot have, or that arguments do not go together.
    Columns and files that are not there are no such errors.
    """
    if isinstance(error, WrongArgumentsError):
        return True
    if not isinstance(error, ValueError | TypeError | UnsupportedError) or isinstance(error, UnknownColumnError):
        return False
    text = str(error)
    if _OPTION.match(text) or _OTHERS.match(text):
        return True
    keyword = _KEYWORD.match(text)
    if keyword is None or (keyword["name"] or keyword["of_target"]) not in given_options(options):
        return False
    # The name of a file may look like an option; that of a pattern is known up to its first sign.
    names = (re.split(r"[*?\[]", name, maxsplit=1)[0] for name in source_names(options))
    return not keyword["name"] or not any(name and text.startswith(name) for name in names)


def fail_of_source(error: Exception, options: argparse.Namespace | None = None) -> int:
    """Prints the error of a source, which others follow; gives the exit code. Errors of arguments are raised, as they
    are those of all sources.
    """
    if is_of_arguments(error, options or argparse.Namespace()):
        raise error
    return fail(error)
