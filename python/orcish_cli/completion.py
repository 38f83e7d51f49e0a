"""``orcish completion``, and completion of arguments by argcomplete."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import Any

from orcish_cli.parser import Parser

__all__ = ["add_arguments", "complete"]

SHELLS = ("bash", "zsh", "tcsh", "fish", "powershell")


COLUMNS = {
    "bloom",
    "bloom_filter_columns",
    "columns",
    "drop",
    "key",
    "lookup",
    "partition_by",
    "row_index",
    "sort_by",
    "sort_within",
}
"""Options that are lists of names of columns."""


def complete(parser: Parser) -> None:
    """Prints completions, which a shell asks for, and ends the process."""
    import argcomplete

    _add_completers(parser)
    argcomplete.autocomplete(parser)


def _add_completers(parser: Parser) -> None:
    """Gives options whose values are no file names what completes them."""
    for action in parser.all_actions():
        if isinstance(action.choices, dict):
            for command in action.choices.values():
                _add_completers(command)
        elif action.dest == "readers":
            action.completer = _readers  # type: ignore[attr-defined]
        elif action.dest in COLUMNS:
            action.completer = _columns  # type: ignore[attr-defined]


def _readers(prefix: str, **_: Any) -> list[str]:
    """The lists of readers that a text begins."""
    from orcish_cli.readers.facts import READERS

    return _longer(prefix, [reader.id for reader in READERS])


def _columns(prefix: str, **_: Any) -> list[str]:
    """The lists of columns of the local files in front that a text begins."""
    return _longer(prefix, list(dict.fromkeys(name for file in _files() for name in _names(file))))


def _longer(prefix: str, names: list[str]) -> list[str]:
    """A list of names with each further name."""
    before, comma, last = prefix.rpartition(",")
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]


def _files() -> list[str]:
    """The local sources among the words of the line. argcomplete does not give all arguments."""
    line = os.environ.get("COMP_LINE", "")
    try:
        words = shlex.split(line[: int(os.environ.get("COMP_POINT", len(line)))])
    except ValueError:
        # A quote is open.
        words = line.split()
    return [word for word in words[2:] if os.path.exists(word)]


def _names(source: str) -> list[str]:
    """The columns of a source; none where they cannot be read."""
    import pyarrow as pa
    from orcish import ORCFile, OrcishError

    from orcish_cli.sources import orc_files

    try:
        paths = [path for file in orc_files(source, {}).files[:1] for path in ORCFile(file).column_paths]
    except (OrcishError, OSError, ValueError, pa.ArrowException):
        return []
    return [path for path in paths if path and not path.startswith("-") and "," not in path]


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.epilog = 'In bash: eval "$(orcish completion bash)". It needs argcomplete: pip install "orcish[cli]".'
    command.add_argument("shell", choices=SHELLS, help="the shell")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from orcish import UnsupportedError

    from orcish_cli.terminal import print_lines

    try:
        from argcomplete.shell_integration import shellcode
    except ImportError as error:
        raise UnsupportedError('completion needs argcomplete: pip install "orcish[cli]"') from error
    print_lines(shellcode(["orcish"], shell=options.shell).splitlines())
    return 0
