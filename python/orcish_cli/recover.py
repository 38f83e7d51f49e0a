"""``orcish recover``: ends the last commit of a table, or saves what of a torn or damaged file can be read."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
from typing import Any

from orcish.io.names import display_name
from orcish.tables.recovery import recover
from orcish.terminal import json_line
from orcish.writing.recovery import Recovered, recover_file
from orcish.writing.target import check_no_source

from orcish_cli.actions import WrongArgumentsError
from orcish_cli.arguments import add_storage
from orcish_cli.output import print_lines
from orcish_cli.targets import add_overwrite, check_orc_name, check_target
from orcish_cli.words import shown_name

__all__ = ["add_arguments"]

TROUBLE = 2
"""The exit code where a file cannot be recovered."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Finish the last commit of a table whose process has died, or find what of a torn or damaged ORC file can be "
        "read, and write it as a new file. All stripes of a file are read."
    )
    command.epilog = "Of a file: exit code 1 if a part is lost or in doubt, and 2 if it cannot be recovered."
    command.add_argument("path", metavar="TABLE|FILE", help="the folder of a table, or a file, or its URL")
    command.add_argument(
        "--undo", action="store_true", help="take back a commit of which a file cannot appear; its rows are lost"
    )
    command.add_argument("-o", "--output", metavar="TARGET", help="of a file: the new file")
    add_overwrite(command)
    command.add_argument(
        "--dry-run", action="store_true", help="of a file: only print what can be read, and what is lost"
    )
    command.add_argument(
        "--like",
        metavar="FILE",
        help="of a file of which the end is missing: another file with the same columns of the same writer",
    )
    command.add_argument("--json", action="store_true", help="print a JSON object")
    add_storage(command)
    command.set_defaults(run=_run, trouble=TROUBLE)


def _run(options: argparse.Namespace) -> int:
    storage = dict(options.storage_options)
    of_file = {
        "--output": options.output,
        "--dry-run": options.dry_run,
        "--like": options.like,
        "--overwrite": options.overwrite,
    }
    given = next((name for name, value in of_file.items() if value), None)
    if given is None:
        options.trouble = 1
        return _recover_table(options, storage)
    if options.undo:
        raise WrongArgumentsError(f"{given} is of files, and --undo of tables")
    if options.output is not None and options.dry_run:
        raise WrongArgumentsError("--dry-run writes no file: leave out --output")
    if options.overwrite and options.output is None:
        raise WrongArgumentsError("--overwrite is of --output, which is missing")
    if options.output is not None:
        check_no_source(
            options.output, [name for name in (options.path, options.like) if name is not None], None, storage
        )
        check_orc_name(options.output, "recover")
        check_target(options.output, storage, overwrite=options.overwrite)
    found = recover_file(
        options.path, options.output, like=options.like, overwrite=options.overwrite, storage_options=storage
    )
    print_lines(_described(found, options))
    if found.lost and not found.stripes:
        return TROUBLE
    return 1 if found.lost or found.doubts else 0


def _recover_table(options: argparse.Namespace, storage: dict[str, Any]) -> int:
    try:
        done = recover(options.path, undo=options.undo, storage_options=storage)
    except NotADirectoryError:
        name = shown_name(options.path)
        raise WrongArgumentsError(
            f"{name} is a file, and no folder: `orcish recover {shlex.quote(name)} -o TARGET` writes what of it can be "
            "read, and --dry-run only prints it"
        ) from None
    texts = {
        "nothing": "there is no unfinished commit",
        "finished": "the last commit is finished",
        "undone": "the last commit is undone",
    }
    print_lines([json_line({"recovered": done}) if options.json else texts[done]])
    return 0


def _described(found: Recovered, options: argparse.Namespace) -> list[str]:
    name = shown_name(options.path)
    if options.json:
        return [json_line({"file": name, **dataclasses.asdict(found), "written": found.written and options.output})]
    lines = [f"{name}: {found.rows:,} rows in {found.stripes:,} stripes can be read"]
    if found.is_whole:
        lines.append("  nothing is lost, and the file ends with its tail")
    elif found.tail_end is None:
        lines.append("  the file has no valid tail; its types are those of --like")
    else:
        lines.append(f"  the last tail ends at byte {found.tail_end:,} of {found.file_length:,}")
    if found.unlisted and found.tail_end is not None:
        lines.append(f"  {found.unlisted:,} of the stripes are listed by no tail")
    for part in found.lost:
        rows = "an unknown number of rows" if part.rows is None else f"{part.rows:,} rows"
        lines.append(f"  lost: bytes {part.start:,} to {part.end:,}, {rows}: {part.reason}")
    lines += [f"  in doubt: {doubt}" for doubt in found.doubts]
    if found.written is not None:
        lines.append(f"  written to {display_name(options.output)}: {found.written.bytes:,} bytes")
    return lines
