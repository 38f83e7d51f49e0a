"""``orcish compact``, ``delete``, ``history`` and ``vacuum``: changes of tables, and their log."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from orcish.cli.arguments import add_filters, add_limit, add_storage, add_writing, chosen_writing, days, size
from orcish.cli.output import print_lines
from orcish.tables.compact import compact
from orcish.tables.delete import delete
from orcish.tables.log.history import history
from orcish.tables.log.recovery import STALE, vacuum
from orcish.terminal import json_line

__all__ = ["add_compact", "add_delete", "add_history", "add_vacuum"]

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
        return [json_line(file._asdict()) for file in files]
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
    commits = history(options.table, limit=options.limit, storage_options=storage)
    if options.json:
        return [json_line({**commit._asdict(), "time": commit.time.isoformat()}) for commit in commits]
    if not commits:
        return ["no commits"]
    lines = [("NUMBER", "TIME (UTC)", "OPERATION", "STATUS", "ROWS ADDED", "FILES", "ENGINE")]
    for each in commits:
        time = each.time.strftime("%Y-%m-%d %H:%M:%S")
        files = f"+{each.files_added:,} -{each.files_removed:,}"
        engine = each.engine if each.engine.isprintable() else ascii(each.engine)
        lines.append((str(each.number), time, each.operation, each.status, f"{each.rows_added:,}", files, engine[:40]))
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    return ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def _vacuum(options: argparse.Namespace, storage: dict[str, Any]) -> list[str]:
    files = vacuum(options.table, older_than=options.older_than, storage_options=storage)
    return [json_line({"files": files}) if options.json else f"{files:,} files removed"]
