"""``orcish layout``: a page that shows how files are laid out."""

from __future__ import annotations

import argparse
from typing import Any

from orcish_cli.advise import add_advice, advice_of, json_of
from orcish_cli.arguments import add_existing, add_files, add_json, add_storage, storage_of
from orcish_cli.layout_page import checked_page, describe, write_page
from orcish_cli.messages import in_shell, with_stream
from orcish_cli.parser import WrongArgumentsError
from orcish_cli.terminal import print_lines, print_objects, show

__all__ = ["add_arguments"]


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Write a page of HTML that shows how ORC files are laid out: the bytes of stripes, columns and streams, drawn "
        "to scale; a table of the columns; and how far the rows are sorted by each column. The page needs no network. "
        "Of many files, stripes or columns, the largest ones are drawn, and the page says so."
    )
    add_files(command)
    command.add_argument("-o", "--output", metavar="FILE", help="where the page is written; needed without --json")
    add_existing(command, is_file=True)
    command.add_argument(
        "--distinct", action="store_true", help="also estimate the number of distinct values, for which rows are read"
    )
    command.add_argument(
        "--advise", action="store_true", help="also measure what other options of writing would give, as advise does"
    )
    add_advice(command)
    add_json(command, "page")
    add_storage(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if options.output is None and not options.json:
        raise WrongArgumentsError("-o is missing: the page is a file, such as -o report.html; --json prints its data")
    if not options.advise and (options.lookup or options.filters):
        raise WrongArgumentsError("--lookup and --where are of --advise, which is missing")
    path, existing = None, options.existing_data
    if options.output is not None:
        path = checked_page(options.files, options.output, existing)
    elif existing != "error":
        raise WrongArgumentsError("--existing-data is of --output, which is missing")
    advice = json_of(advice_of(options.files, options)) if options.advise else None
    described = _with_stream(
        describe(
            options.files,
            advice=advice,
            distinct=options.distinct,
            progress=not options.json,
            storage_options=storage_of(options),
        )
    )
    if path is not None:
        write_page(described, path, existing)
    faults = [*(failed["error"] for failed in described["failed"]), *described["faults"]]
    for fault in faults:
        show(f"orcish: {in_shell(str(fault))}", is_error=True)
    if options.json:
        print_objects([described])
    else:
        size = f"{described['files']:,} files, {described['bytes']:,} bytes, {len(described['columns']):,} columns"
        print_lines([f"{options.output}: {size}"])
    return 1 if faults else 0


def _with_stream(described: dict[str, Any]) -> dict[str, Any]:
    """What a page says, with the name of standard input in place of the file that has its bytes."""
    named: dict[str, Any] = {"title": with_stream(described["title"])}
    named["faults"] = list(map(with_stream, described["faults"]))
    for key, texts in (("shown", ("name", "label")), ("failed", ("name", "error"))):
        named[key] = [{**each, **{text: with_stream(each[text]) for text in texts}} for each in described[key]]
    return {**described, **named}
