"""``orcish compat``: which other readers can read files, and why not."""

from __future__ import annotations

import argparse
import dataclasses

from orcish.errors import suggestion
from orcish.terminal import printable

from orcish_cli.arguments import LIST, add_files, add_json, add_storage
from orcish_cli.column_names import top_names
from orcish_cli.messages import shown_name
from orcish_cli.readers.compatibility import Compatibility, compatibility
from orcish_cli.readers.facts import READERS
from orcish_cli.sources import OpenFiles
from orcish_cli.terminal import Column, print_lines, print_objects, print_table, shorten

__all__ = ["add_arguments"]

_WORDS = {"yes": "yes", "no": "no", "differs": "with other values", "unknown": "unknown"}
_MAX_REASON = 160


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Print which readers can read ORC files (Hive, Spark, Trino, Presto, Impala, pyarrow, DuckDB, ClickHouse), and "
        "why not, from a table of facts. No data is read."
    )
    command.epilog = (
        "A fact is known only if it was seen in a run, in the source of a reader, or in its documentation; --sources "
        "prints which. With -r, the exit code is 1 where a reader cannot read a file. "
        "Readers: " + ", ".join(reader.id for reader in READERS) + "."
    )
    add_files(command)
    command.add_argument(
        "-r", "--reader", dest="readers", **{**LIST, "type": _readers}, help="only these readers (all)"
    )
    command.add_argument("--sources", action="store_true", help="also the sources of the facts")
    add_json(command, "file")
    add_storage(command)
    command.set_defaults(run=_run)


def _readers(text: str) -> list[str]:
    known = [reader.id for reader in READERS]
    found = top_names(text)
    for name in found:
        if name not in known:
            hint = suggestion(name, known) or f"; there are {', '.join(known)}"
            raise argparse.ArgumentTypeError(f"there is no reader {name!r}{hint}")
    return found


def _run(options: argparse.Namespace) -> int:
    files = OpenFiles(options, "compat")
    separator: list[str] = []
    is_refused = False
    for name, found in files.each(lambda name, file: (name, compatibility(file, options.readers))):
        is_refused |= any(each.verdict == "no" for each in found)
        if options.json:
            print_objects([{"file": shown_name(name), "readers": list(map(dataclasses.asdict, found))}])
            continue
        print_lines([*separator, shown_name(name)])
        separator = [""]
        _print(found, with_sources=options.sources)
    # Of all readers, some read few files.
    return files.code or int(is_refused and options.readers is not None)


def _print(found: list[Compatibility], *, with_sources: bool) -> None:
    rows: list[dict[str, str]] = []
    for each in found:
        # The name of a reader is beside its first reason.
        row = {"reader": each.name, "reads it": _WORDS[each.verdict], "why": "", "source": ""}
        for reason in each.reasons if each.verdict != "yes" or with_sources else ():
            why = f"{reason.feature}: {reason.note}" if reason.note else reason.feature
            rows.append({**row, "why": shorten(printable(why), _MAX_REASON), "source": reason.source or ""})
            row = {}
        rows += [row] if row else []
    names = ["reader", "reads it", "why", *(["source"] if with_sources else [])]
    print_table([Column(name, name) for name in names], rows)
