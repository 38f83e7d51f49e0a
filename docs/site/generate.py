"""Writes options and arguments into the pages of ``docs``, between ``<!-- generated: NAME -->`` and ``<!-- end -->``.

``python docs/site/generate.py`` brings the pages up to date, as ``make docs`` does.
"""

from __future__ import annotations

import argparse
import collections
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orcish
import orcish.spark.options
import orcish.types
from orcish.keywords import keyword_names
from orcish.spark.option_parser import spark_name
from orcish.types.table import classes_in, options_of
from orcish_cli.commands import COMMANDS
from orcish_cli.parser import Parser

DOCS = Path(__file__).parents[1]
BLOCK = re.compile(r"(?<=<!-- generated: )(?P<name>[\w -]+) -->\n.*?(?=<!-- end -->)", flags=re.DOTALL)
VALUES = {
    "bool": "`True`, `False`",
    "int": "integer",
    "int | str": "bytes, or text such as `64MB`",
    "float": "number",
    "str": "text",
    "Keys": "keys",
    **dict.fromkeys(("Encrypt", "Masks"), "mapping, text"),
    **dict.fromkeys(("Columns", "Sequence[ColumnName]", "Sequence[str]", "Sequence[int]"), "list"),
}
"""What the page says of the types of options."""
OF_SEVERAL = 3
"""From this number of commands on, an argument is described once for all of them."""


def markdown(text: str) -> str:
    """A docstring, or the documentation of Rust, as text of a line."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text.replace("``", "`"))
    return " ".join(re.sub(r"\[(`[^`]+`)\](\([^)]*\))?", r"\1", text).split()).replace("|", "\\|")


def code(names: list[str]) -> str:
    """Names as code."""
    return ", ".join(f"`{name}`" for name in names).replace("|", "\\|")


def options(kind: type, command: str, in_spark: Callable[..., Any], but: type | None = None) -> str:
    """The options of a class of :mod:`orcish.types`, but those of another class: in Python, in the shell and in
    Spark.
    """
    flags = {action.dest: action.option_strings for action in reversed(parsers()[command]._actions)}
    if kind is orcish.types.WriteOptions:
        for name in ("timezone", "keys"):
            flags.pop(name, None)  # Those of reading.
    spark = keyword_names(in_spark) - {"schema", "storage_options"}
    others = {} if but is None else options_of(but)
    rows = ["| Python | shell | Spark | values | meaning |", "|---|---|---|---|---|"]
    for name, option in options_of(kind).items():
        if name not in others:
            camel = code([spark_name(name)] if name in spark else [])
            values = code(list(option.words)) or VALUES.get(option.type, "")
            flag = code(flags.get("stripe" if name == "stripes" else name, []))
            cells = f"| `{name}` | {flag} | {camel} | {values} | {markdown(option.text)} |"
            rows.append(re.sub(r"(?<=\|) +(?=\|)", " ", cells))
    return "\n".join([*rows, ""])


def options_of_spark() -> str:
    """The options that only the data source of Spark has."""
    of_source = classes_in(orcish.spark.options.__name__)
    found = options_of(orcish.types.SparkReadOptions) | options_of(orcish.types.SparkWriteOptions)
    found |= of_source["_ReadOptions"] | of_source["_WriteOptions"]
    rows = [f"| `{spark_name(name)}` | {markdown(option.text)} |" for name, option in found.items()]
    return "\n".join(["| option | meaning |", "|---|---|", *rows, ""])


def parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command, and of each job of Spark."""
    found: dict[str, argparse.ArgumentParser] = {}
    for command in COMMANDS:
        parser = found[command.name] = Parser(prog=command.name, description=command.help.capitalize())
        command.add_arguments(parser)
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                found |= {f"{command.name} {job}": each for job, each in action.choices.items()}
    return found


def arguments(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """How each argument of a parser is given, and its help."""
    for action in parser._actions:
        if action.help and not isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
            value = str(action.metavar or "{" + ",".join(map(str, action.choices or [action.dest.upper()])) + "}")
            *short, name = action.option_strings or [""]
            given = f"{name} {'' if action.nargs == 0 else value}".strip()
            yield code([*short, given]), markdown(parser._get_formatter()._expand_help(action))


def commands() -> dict[str, str]:
    """The arguments of each command, those that several have, and the list of commands."""
    given = {name: list(arguments(parser)) for name, parser in parsers().items() if name != "head"}
    uses = collections.defaultdict(list)
    for name, found in given.items():
        for argument in found:
            uses[argument].append(name)
    made = {}
    for name, found in given.items():
        own = [f"- {names}: {text}" for names, text in found if len(uses[names, text]) < OF_SEVERAL]
        several = [names for names, text in found if len(uses[names, text]) >= OF_SEVERAL and names.startswith("`-")]
        also = ", ".join(re.sub(r"(?:`-\w`, )?`(-[\w-]+).*", r"`\1`", names) for names in several)
        made[name] = "\n".join(
            [*own, *([f"- as of [several commands](#options-of-several-commands): {also}"] if also else []), ""]
        )
    shared = [(names, text, of) for (names, text), of in uses.items() if len(of) >= OF_SEVERAL]
    ambiguous = {names for names in (each for each, _ in uses) if sum(names == other for other, _, _ in shared) > 1}
    made["shared"] = "".join(
        f"- {names}: {text}{' (' + ', '.join(of) + ')' if names in ambiguous else ''}\n" for names, text, of in shared
    )
    links = {
        each.name: f"[`{each.name}`](#{'data' if each.name == 'head' else each.name}): {each.help}" for each in COMMANDS
    }
    made["commands"] = "".join(f"- {link}\n" for link in links.values())
    return made


def pages() -> dict[Path, str]:
    """The pages that have such parts, as they have to be."""
    storage = classes_in(orcish.types.ScanOptions.__module__)[""]["StorageOptions"].text
    requests = storage.partition("Options of requests:\n")[2].split("\n- ")[1:]
    files, folders, limits = orcish.types.ReadOptions, orcish.types.ScanOptions, options_of(orcish.types.Limits)
    made = commands() | {
        "options of reading": options(files, "data", orcish.spark.read),
        "options of tables": options(folders, "data", orcish.spark.read, files),
        "options of writing": options(orcish.types.WriteOptions, "rewrite", orcish.spark.write),
        "options of folders": options(orcish.types.DatasetOptions, "convert", orcish.spark.write),
        "options of Spark": options_of_spark(),
        "limits": "".join(f"- `{name}`: {markdown(limit.text)}\n" for name, limit in limits.items()),
        "requests": "".join(f"- {markdown(text).rstrip(';')}\n" for text in requests),
    }
    found = {page: page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("*.md"))}
    changed = {
        page: BLOCK.sub(lambda block: f"{block['name']} -->\n\n{made[block['name']]}\n", text)
        for page, text in found.items()
    }
    return {page: text for page, text in changed.items() if BLOCK.search(text)}


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
