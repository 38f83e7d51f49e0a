"""Writes options and arguments into the pages of ``docs``, between ``<!-- generated: NAME -->`` and ``<!-- end -->``.

``python docs/site/generate.py`` brings the pages up to date, as ``make docs`` does.
"""

from __future__ import annotations

import argparse
import ast
import collections
import inspect
import itertools
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import orcish
import orcish.spark.options
import orcish.types
from orcish._native import options_of
from orcish.keywords import keyword_names
from orcish.spark.option_parser import spark_name
from orcish_cli.commands import COMMANDS
from orcish_cli.parser import Parser

DOCS = Path(__file__).parents[1]
BLOCK = re.compile(r"(?<=<!-- generated: )(?P<name>[\w -]+) -->\n.*?(?=<!-- end -->)", flags=re.DOTALL)
KINDS = {"boolean": "`True`, `False`", "pairs": "by column or key", "object": "", "words": ""}
OF_SEVERAL = 3
"""From this number of commands on, an argument is described once for all of them."""


def texts_of_types() -> dict[str, dict[str, str]]:
    """The documentation in :mod:`orcish.types`: of keys by their class, and of other names."""
    found = texts_of(sys.modules[orcish.types.ReadOptions.__module__])
    of_files = found["ReadOptions"].keys()
    found["ScanOptions"] = {name: text for name, text in found["ScanOptions"].items() if name not in of_files}
    return found


def texts_of(of: ModuleType) -> dict[str, dict[str, str]]:
    """The documentation in a module: of keys by their class, and of other names."""
    module = ast.parse(inspect.getsource(of))
    found: dict[str, dict[str, str]] = {}
    classes = [each for each in module.body if isinstance(each, ast.ClassDef)]
    for name, body, bases in [("", module.body, []), *((each.name, each.body, each.bases) for each in classes)]:
        texts = found[name] = {}
        for base in bases:
            texts |= found.get(ast.unparse(base), {})
        for option, text in itertools.pairwise(body):
            if isinstance(option, ast.AnnAssign) and isinstance(text, ast.Expr):
                texts[ast.unparse(option.target)] = str(ast.literal_eval(text.value))
    return found


def markdown(text: str) -> str:
    """A docstring, or the documentation of Rust, as text of a line."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text.replace("``", "`"))
    return " ".join(re.sub(r"\[(`[^`]+`)\](\([^)]*\))?", r"\1", text).split()).replace("|", "\\|")


def code(names: list[str]) -> str:
    """Names as code."""
    return ", ".join(f"`{name}`" for name in names).replace("|", "\\|")


def options(what: str, kind: str, command: str, in_python: Callable[..., Any], in_spark: Callable[..., Any]) -> str:
    """The options of a class of :mod:`orcish.types`, or of the native core: in Python, in the shell and in Spark."""
    native = {name: (of, words, text) for name, of, _, words, text in (options_of(what) if what else ())}
    native["filters"] = ("object", [], "")
    keywords = inspect.signature(in_python).parameters
    texts = texts_of_types().get(kind) or {
        name: native[name][2] for name in native if name in keywords and native[name][2]
    }
    flags = {action.dest: action.option_strings for action in reversed(parsers()[command]._actions)}
    if what == "write":
        del flags["timezone"]  # That of reading.
    spark = keyword_names(in_spark) - {"schema", "storage_options"}
    rows = ["| Python | shell | Spark | values | meaning |", "|---|---|---|---|---|"]
    for name, text in texts.items():
        of, words, _ = native.get(name, ("object", [], ""))
        default = keywords[name].default if name in keywords else None
        meaning = markdown(text) + (f" By default {default:,}." if isinstance(default, int) else "")
        camel = code([spark_name(name)] if name in spark else [])
        values = code([word for word in words if word != "lzo"]) or KINDS.get(of, of)
        flag = code(flags.get("stripe" if name == "stripes" else name, []))
        rows.append(re.sub(r"(?<=\|) +(?=\|)", " ", f"| `{name}` | {flag} | {camel} | {values} | {meaning} |"))
    return "\n".join([*rows, ""])


def options_of_spark() -> str:
    """The options that only the data source of Spark has."""
    of_functions, of_source = texts_of_types(), texts_of(orcish.spark.options)
    found = of_functions["SparkReadOptions"] | of_functions["SparkWriteOptions"]
    found |= of_source["_ReadOptions"] | of_source["_WriteOptions"]
    rows = [f"| `{spark_name(name)}` | {markdown(text)} |" for name, text in found.items()]
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
    texts = texts_of_types()
    requests = texts[""]["StorageOptions"].partition("Options of requests:\n")[2].split("\n- ")[1:]
    made = commands() | {
        "options of reading": options("read", "ReadOptions", "data", orcish.scan, orcish.spark.read),
        "options of tables": options("", "ScanOptions", "data", orcish.scan, orcish.spark.read),
        "options of writing": options("write", "WriteOptions", "rewrite", orcish.write_table, orcish.spark.write),
        "options of folders": options("dataset", "DatasetOptions", "convert", orcish.write_dataset, orcish.spark.write),
        "options of Spark": options_of_spark(),
        "limits": "".join(f"- `{name}`: {markdown(text)}\n" for name, text in texts["Limits"].items()),
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
