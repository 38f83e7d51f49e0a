"""``orcish compact``, ``delete``, ``history`` and ``vacuum``: changes of tables, and their log."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from orcish.io.names import display_name
from orcish.tables.compact import compact
from orcish.tables.delete import delete
from orcish.tables.log.history import Commit, history
from orcish.tables.recovery import STALE, vacuum
from orcish.terminal import json_line, printable, shorten

from orcish_cli.arguments import add_filters, add_limit, add_storage, add_writing, chosen_writing, days, size
from orcish_cli.meta_carbon import is_carbon
from orcish_cli.output import print_lines, print_table

__all__ = ["add_compact", "add_delete", "add_history", "add_vacuum"]

_HISTORY = (
    ("number", True),
    ("time (UTC)", False),
    ("operation", False),
    ("status", False),
    ("rows added", True),
    ("files added", True),
    ("files removed", True),
    ("engine", False),
)
"""Columns of the history, and which are aligned to the right."""
_MAX_ENGINE = 40
"""Maximum width of the name of a writer."""
Run = Callable[[argparse.Namespace, dict[str, Any]], Iterable[str]]
"""Runs a command with the options of the store; gives the lines that are printed."""


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
    add_limit(command, "most commits that are shown (20)", 20)


def add_vacuum(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``vacuum``."""
    _add_table(command, _vacuum)
    command.add_argument(
        "--older-than",
        type=days,
        default=STALE.days,
        metavar="DAYS",
        help=f"time since their last write, such as 0.5 ({STALE.days})",
    )


def _add_table(command: argparse.ArgumentParser, run: Run) -> None:
    command.add_argument("table", metavar="TABLE", help="the folder of the table, or of a partition, or its URL")
    add_storage(command)
    command.add_argument("--json", action="store_true", help="print JSON objects, each on a line")

    def run_command(options: argparse.Namespace) -> int:
        print_lines(run(options, dict(options.storage_options)))
        return 0

    command.set_defaults(run=run_command)


def _compact(options: argparse.Namespace, storage: dict[str, Any]) -> list[str]:
    files = compact(
        options.table,
        target_file_size=options.target_file_size,
        rewrite=options.rewrite,
        progress=not options.json,
        storage_options=storage,
        **chosen_writing(options),
    )
    if options.json:
        nothing = {"action": "nothing", "files": 0, "rows": 0, "bytes_before": 0, "bytes_after": 0}
        return [json_line(file._asdict()) for file in files] or [json_line(nothing)]
    before, after = sum(file.bytes_before for file in files), sum(file.bytes_after for file in files)
    replaced = sum(file.files for file in files)
    if not files:
        return ["nothing to compact"]
    return [f"{replaced:,} files ({before:,} bytes) became {len(files):,} ({after:,} bytes)"]


def _delete(options: argparse.Namespace, storage: dict[str, Any]) -> list[str]:
    done = delete(
        options.table,
        options.filters,
        progress=not options.json,
        storage_options=storage,
        **chosen_writing(options),
    )
    if options.json:
        return [json_line(done._asdict())]
    return [f"{done.rows:,} rows; {done.files_removed:,} files removed, {done.files_rewritten:,} files rewritten"]


def _history(options: argparse.Namespace, storage: dict[str, Any]) -> list[str]:
    # A table has one commit at least.
    found = history(options.table, limit=max(options.limit, 1), storage_options=storage)
    if not found:
        name = display_name(options.table)
        if is_carbon(options.table, storage):
            raise ValueError(f"{name} is CarbonData, whose loads are no commits: meta shows them")
        raise ValueError(f"{name}: the folder has no log, and so no history: convert begins one")
    commits = found[: options.limit]
    if options.json:
        return [json_line({**commit._asdict(), "time": commit.time.isoformat()}) for commit in commits]
    print_table([name for name, _ in _HISTORY], map(_history_row, commits), [is_right for _, is_right in _HISTORY])
    return []


def _history_row(commit: Commit) -> list[str]:
    counts = (commit.rows_added, commit.files_added, commit.files_removed)
    time, engine = commit.time.strftime("%Y-%m-%d %H:%M:%S"), shorten(printable(commit.engine), _MAX_ENGINE)
    return [str(commit.number), time, commit.operation, commit.status, *(f"{count:,}" for count in counts), engine]


def _vacuum(options: argparse.Namespace, storage: dict[str, Any]) -> list[str]:
    files = vacuum(options.table, older_than=options.older_than, storage_options=storage)
    return [json_line({"files": files}) if options.json else f"{files:,} files removed"]
