"""``orcish completion``, and completion of arguments by argcomplete."""

from __future__ import annotations

import argparse
import os

from orcish.cli.output import print_lines
from orcish.errors import UnsupportedError

__all__ = ["add_arguments", "complete", "is_completing"]

SHELLS = ("bash", "zsh", "tcsh", "fish", "powershell")


def is_completing() -> bool:
    """Whether a shell asks for completions."""
    return "_ARGCOMPLETE" in os.environ


def complete(parser: argparse.ArgumentParser) -> None:
    """Prints completions and ends the process, if a shell asks for them."""
    if is_completing():
        import argcomplete

        argcomplete.autocomplete(parser)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.epilog = 'In bash: eval "$(orcish completion bash)". It needs argcomplete: pip install "orcish[cli]".'
    command.add_argument("shell", choices=SHELLS, help="the shell")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError as error:
        raise UnsupportedError('completion needs argcomplete: pip install "orcish[cli]"') from error
    print_lines(shellcode(["orcish"], shell=options.shell).splitlines())
    return 0
