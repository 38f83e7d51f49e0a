"""``orcish recover``: ends the last commit of a table, or saves what of a torn or damaged file can be read."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
from typing import Any

from orcish import recover, recover_file
from orcish.io.names import display_name
from orcish.types import Recovered
from orcish.writing.target import check_no_source

from orcish_cli.arguments import add_existing, add_storage, storage_of
from orcish_cli.messages import shown_name
from orcish_cli.parser import WrongArgumentsError
from orcish_cli.targets import check_new_file, check_orc_name
from orcish_cli.terminal import print_lines, print_objects

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
    add_existing(command, is_file=True)
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
    storage, existing = storage_of(options), options.existing_data
    of_file = {
        "--output": options.output,
        "--dry-run": options.dry_run,
        "--like": options.like,
        "--existing-data": existing != "error",
    }
    given = next((name for name, value in of_file.items() if value), None)
    if given is None:
        options.trouble = 1
        return _recover_table(options, storage)
    if options.undo:
        raise WrongArgumentsError(f"{given} is of files, and --undo of tables")
    if options.output is not None and options.dry_run:
        raise WrongArgumentsError("--dry-run writes no file: leave out --output")
    if existing != "error" and options.output is None:
        raise WrongArgumentsError("--existing-data is of --output, which is missing")
    if options.output is not None:
        sources = [name for name in (options.path, options.like) if name is not None]
        check_no_source(options.output, sources, None, storage)
        check_orc_name(options.output, "recover")
        check_new_file(options.output, storage, existing)
    found = recover_file(
        options.path, options.output, like=options.like, existing_data=existing, storage_options=storage
    )
    if options.json:
        written = found.written and options.output
        print_objects([{"file": shown_name(options.path), **dataclasses.asdict(found), "written": written}])
    else:
        print_lines(_text(found, shown_name(options.path), options.output))
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
    if options.json:
        print_objects([{"recovered": done}])
    else:
        print_lines([texts[done]])
    return 0


def _text(found: Recovered, name: str, target: str) -> list[str]:
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
        lines.append(f"  written to {display_name(target)}: {found.written.bytes:,} bytes")
    return lines
