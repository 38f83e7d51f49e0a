"""The commands, in groups, and the parser of all of them."""

from __future__ import annotations

import argparse
import importlib
from typing import Any, NamedTuple

from orcish_cli.parser import Parser

__all__ = ["COMMANDS", "GROUPS", "Command", "make_parser"]


class Command(NamedTuple):
    """A command, and where its arguments are added to its parser."""

    name: str
    module: str
    """The module in this package."""
    help: str
    function: str = "add_arguments"
    """The function of the module that takes the parser of the command."""

    def add_arguments(self, parser: Parser) -> None:
        """Adds the arguments of the command to a parser."""
        getattr(importlib.import_module(f"orcish_cli.{self.module}"), self.function)(parser)
        parser.set_defaults(parser=parser)


GROUPS: dict[str, tuple[Command, ...]] = {
    "rows": (
        Command("data", "rows", "print rows of files and tables, the first ones by default", "add_data"),
        Command("head", "rows", "print the first rows of files and tables, as data does", "add_data"),
        Command("tail", "rows", "print the last rows of files and tables", "add_tail"),
        Command("sample", "rows", "print rows of files and tables at random", "add_sample"),
        Command("count", "counting", "print the numbers of rows of files and tables", "add_count"),
        Command(
            "scan", "counting", "read all rows of files and tables, and print their numbers and the time", "add_scan"
        ),
        Command("sql", "sql", "run a query over files and tables, by duckdb"),
    ),
    "metadata": (
        Command("meta", "meta", "print metadata of files and tables: rows, sizes, stripes or segments, types, writer"),
        Command("schema", "schema", "print the columns of files and tables, as types of ORC, Arrow or Spark"),
        Command("stats", "stats", "print recorded statistics of columns, merged over files or by file or stripe"),
        Command("sizes", "sizes", "print bytes of columns and of overhead, over all files"),
        Command(
            "layout", "layout", "write a page that shows how files are laid out: stripes, columns, order of values"
        ),
        Command("key", "key", "print keys, encrypted columns and masks that files name"),
        Command(
            "json-schema", "json_schema", "print the ORC type that holds JSON documents, or CSV, Parquet or Arrow files"
        ),
    ),
    "comparing and checking": (
        Command("diff", "diff", "print the differences of two files or tables: columns, metadata, rows"),
        Command("check", "check", "compare the rows of files with what is recorded of them"),
        Command("explain", "explain", "print what a read with a filter would skip, and why"),
        Command("compat", "compat", "print which other readers can read files, and why not"),
        Command("advise", "advise", "measure what other options of writing would give, on a sample of rows"),
    ),
    "writing": (
        Command(
            "convert",
            "convert",
            "write ORC, CarbonData, Parquet, CSV, JSON lines or Arrow files as files of another format",
        ),
        Command("rewrite", "rewrite", "write files and tables anew: with other options, sorted, or with other columns"),
        Command("merge", "merge", "write the stripes of several files as one file"),
    ),
    "tables": (
        Command("compact", "tables", "put small files of a table together", "add_compact"),
        Command("delete", "tables", "delete rows of a table", "add_delete"),
        Command("history", "tables", "show the last commits of a table", "add_history"),
        Command("recover", "recover", "finish the last commit of a table, or save what of a torn file can be read"),
        Command("vacuum", "tables", "remove files that dead jobs have written and never published", "add_vacuum"),
        Command("spark", "spark", "run jobs over whole tables, by Spark: compact, convert, delete, profile, verify"),
    ),
    "this command": (
        Command("version", "versions", "print the version"),
        Command("completion", "completion", "print what a shell needs to complete the arguments of this command"),
    ),
}
"""The commands, by groups of the help."""
COMMANDS = [command for commands in GROUPS.values() for command in commands]


class RootParser(Parser):
    """The parser of the command, whose help shows the subcommands in groups."""

    def format_help(self) -> str:
        """The help."""
        formatter = self.formatter_class(prog=self.prog)
        formatter.add_usage("%(prog)s COMMAND ...", [], [])
        formatter.add_text(self.description)
        for group, commands in GROUPS.items():
            formatter.start_section(group)
            for command in commands:
                text = command.help.replace("%", "%%")
                formatter.add_argument(argparse.Action([], command.name, metavar=command.name, help=text))
            formatter.end_section()
        formatter.start_section("options")
        formatter.add_arguments([action for action in self.all_actions() if action.option_strings])
        formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()


def make_parser(version: str, chosen: str | None, *, has_all: bool = False) -> Parser:
    """The parser of one command or of all. Commands are imported where they are needed, so that others start sooner."""
    parser = RootParser(
        prog="orcish",
        description="Look into, check, convert and change Apache ORC files and tables, and read CarbonData tables.",
        epilog="Exit codes: 0 for success; 1 for an error, as of a file, a column or a target; 2 for wrong arguments, "
        "which are those that no files go with. Of diff, check, and recover of files: 1 where something is found or "
        "lost, 2 for any error. Of compat with -r: 1 also where a reader cannot read a file. After a signal: 128 and "
        "its number.",
    )
    text = "show the version and exit"
    parser.add_argument("-V", "--version", action="version", version=f"orcish {version}", help=text)
    commands: Any = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    for command in COMMANDS:
        text = command.help
        if has_all or command.name == chosen:
            added = commands.add_parser(command.name, help=text, description=f"{text[0].upper()}{text[1:]}.")
            command.add_arguments(added)
        else:
            # Its name is known, and its parser is not needed.
            commands.choices[command.name] = None
    return parser
