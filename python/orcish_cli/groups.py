"""Groups of commands in the help."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from orcish_cli.commands import COMMANDS, Command
from orcish_cli.parser import Parser

__all__ = ["GROUPS", "RootParser", "grouped"]

GROUPS: dict[str, tuple[str, ...]] = {
    "rows": ("data", "head", "tail", "sample", "count", "scan", "sql"),
    "metadata": ("meta", "schema", "stats", "sizes", "layout", "key", "json-schema"),
    "comparing and checking": ("diff", "check", "explain", "compat", "advise"),
    "writing": ("convert", "rewrite", "merge"),
    "tables": ("compact", "delete", "history", "recover", "vacuum", "spark"),
    "this command": ("version", "completion"),
}
"""Names of commands, by group. Those of no group are the last ones."""
_OTHERS = "other commands"


def grouped() -> dict[str, list[Command]]:
    """The commands that there are, by group."""
    known = {command.name: command for command in COMMANDS}
    found = {group: [known.pop(name) for name in names if name in known] for group, names in GROUPS.items()}
    return {group: commands for group, commands in {**found, _OTHERS: list(known.values())}.items() if commands}


class RootParser(Parser):
    """The parser of the command, whose help shows the subcommands in groups."""

    def format_help(self) -> str:
        """The help."""
        formatter = self.formatter_class(prog=self.prog)
        formatter.add_usage("%(prog)s COMMAND ...", [], [])
        formatter.add_text(self.description)
        for group, commands in grouped().items():
            entries = [
                argparse.Action([], command.name, metavar=command.name, help=command.help.replace("%", "%%"))
                for command in commands
            ]
            _add(formatter, group, entries)
        options = [
            argparse.Action(["-h", "--help"], "help", 0, help="show this help message and exit"),
            argparse.Action(["-V", "--version"], "version", 0, help="show the version and exit"),
        ]
        _add(formatter, "options", options)
        formatter.add_text(self.epilog)
        return formatter.format_help()


def _add(formatter: argparse.HelpFormatter, title: str, entries: Sequence[argparse.Action]) -> None:
    formatter.start_section(title)
    formatter.add_arguments(entries)
    formatter.end_section()
