"""The reference of the command, as Markdown: ``python -m orcish_cli.reference`` prints it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from orcish_cli.commands import GROUPS
from orcish_cli.parser import Parser

__all__ = ["reference"]


def reference() -> Iterator[str]:
    """The lines of the reference: a section for each group, with its commands and their arguments."""
    yield "# Commands"
    for group, commands in GROUPS.items():
        yield from ("", f"## {group[0].upper()}{group[1:]}")
        for command in commands:
            parser = Parser(prog=f"orcish {command.name}", description=f"{command.help[0].upper()}{command.help[1:]}.")
            command.add_arguments(parser)
            yield from ("", f"### orcish {command.name}", "", *_command(parser))


def _command(parser: Parser) -> Iterator[str]:
    yield parser.description or ""
    rows = [action for action in parser.all_actions() if action.dest != "help"]
    jobs = [action.choices for action in rows if isinstance(action.choices, dict)]
    arguments = [action for action in rows if not isinstance(action.choices, dict)]
    if arguments:
        yield from ("", "| argument | |", "|---|---|")
        for action in arguments:
            yield f"| {_name(action)} | {_text(action)} |"
    if parser.epilog:
        yield from ("", parser.epilog)
    for each in jobs:
        for name, job in each.items():
            yield from ("", f"#### {parser.prog} {name}", "", *_command(job))


def _name(action: argparse.Action) -> str:
    """The name of an argument, with what stands for its value."""
    value = action.metavar or ("{" + ",".join(map(str, action.choices)) + "}" if action.choices else "")
    if not action.option_strings:
        return f"`{value}`"
    names = " ".join(f"`{name}`" for name in action.option_strings)
    return names if action.nargs == 0 or not value else f"{names} `{value}`".replace("|", "\\|")


def _text(action: argparse.Action) -> str:
    return (action.help or "").replace("%%", "%").replace("|", "\\|")


if __name__ == "__main__":
    print("\n".join(reference()))
