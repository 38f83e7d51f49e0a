"""``orcish compact``, ``delete``, ``history`` and ``vacuum``: changes of tables, and their log."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from orcish import compact, delete, history, vacuum
from orcish.io.names import display_name
from orcish.terminal import printable

from orcish_cli.arguments import (
    add_filters,
    add_limit,
    add_storage,
    add_writing,
    chosen_writing,
    days,
    size,
    storage_of,
)
from orcish_cli.sources import is_carbon
from orcish_cli.terminal import Column, print_lines, print_objects, print_table, shorten

__all__ = ["add_compact", "add_delete", "add_history", "add_vacuum"]

MAX_ENGINE = 40
"""Maximum width of the name of a writer."""
Run = Callable[[argparse.Namespace, dict[str, Any]], tuple[Iterable[dict[str, Any]], str]]
"""Runs a command with keywords that functions of tables have; gives objects of JSON, and the line of text, which is
empty where the text is printed already.
"""


def add_compact(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``compact``."""
    _add_table(command, _compact)
    command.add_argument(
        "--target-file-size", type=size, default="512MB", metavar="SIZE", help="approximate size of a new file (512MB)"
    )
    command.add_argument("--rewrite", action="store_true", help="decode and encode, in place of copying stripes")
    add_writing(command, "that of the old ones")


def add_delete(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``delete``."""
    _add_table(command, _delete)
    add_filters(command, "the rows for which this is true", required=True)
    add_writing(command, "that of the old ones")


def add_history(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``history``."""
    _add_table(command, _history)
    add_limit(command, "most commits that are shown", 20)


def add_vacuum(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``vacuum``."""
    _add_table(command, _vacuum)
    command.add_argument(
        "--older-than", type=days, default=7, metavar="DAYS", help="time since their last write, such as 0.5 (7)"
    )


def _add_table(command: argparse.ArgumentParser, run: Run) -> None:
    command.add_argument("table", metavar="TABLE", help="the folder of the table, or of a partition, or its URL")
    add_storage(command)
    command.add_argument("--json", action="store_true", help="print JSON objects, each on a line")

    def run_command(options: argparse.Namespace) -> int:
        objects, text = run(options, {"storage_options": storage_of(options)})
        if options.json:
            print_objects(objects)
        elif text:
            print_lines([text])
        return 0

    command.set_defaults(run=run_command)


def _compact(options: argparse.Namespace, given: dict[str, Any]) -> tuple[Iterable[dict[str, Any]], str]:
    sizes = {"target_file_size": options.target_file_size, "rewrite": options.rewrite, "progress": not options.json}
    files = compact(options.table, **sizes, **given, **chosen_writing(options))
    if not files:
        nothing = {"action": "nothing", "files": 0, "rows": 0, "bytes_before": 0, "bytes_after": 0}
        return [nothing], "nothing to compact"
    before, after = sum(file.bytes_before for file in files), sum(file.bytes_after for file in files)
    text = f"{sum(file.files for file in files):,} files ({before:,} bytes) became {len(files):,} ({after:,} bytes)"
    return [file._asdict() for file in files], text


def _delete(options: argparse.Namespace, given: dict[str, Any]) -> tuple[Iterable[dict[str, Any]], str]:
    done = delete(options.table, options.filters, progress=not options.json, **given, **chosen_writing(options))
    text = f"{done.rows:,} rows; {done.files_removed:,} files removed, {done.files_rewritten:,} files rewritten"
    return [done._asdict()], text


def _history(options: argparse.Namespace, given: dict[str, Any]) -> tuple[Iterable[dict[str, Any]], str]:
    # A table has one commit at least.
    found = history(options.table, limit=max(options.limit, 1), **given)
    if not found:
        name = display_name(options.table)
        if is_carbon(options.table, storage_of(options)):
            raise ValueError(f"{name} is CarbonData, whose loads are no commits: meta shows them")
        raise ValueError(f"{name}: the folder has no log, and so no history: convert begins one")
    commits = found[: options.limit]
    if not options.json:
        print_table(_COMMITS, [commit._asdict() for commit in commits])
    return [{**commit._asdict(), "time": commit.time.isoformat()} for commit in commits], ""


_COMMITS = (
    Column("number", lambda commit: str(commit["number"]), True),
    Column("time (UTC)", lambda commit: commit["time"].strftime("%Y-%m-%d %H:%M:%S")),
    *(Column(name, name) for name in ("operation", "status")),
    *(Column(name.replace("_", " "), name, True) for name in ("rows_added", "files_added", "files_removed")),
    Column("engine", lambda commit: shorten(printable(commit["engine"]), MAX_ENGINE)),
)


def _vacuum(options: argparse.Namespace, given: dict[str, Any]) -> tuple[Iterable[dict[str, Any]], str]:
    files = vacuum(options.table, older_than=options.older_than, **given)
    return [{"files": files}], f"{files:,} files removed"
