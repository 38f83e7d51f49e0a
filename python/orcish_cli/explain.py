"""``orcish explain``: what a read with a filter would skip, by what, and how much it would read."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from orcish.terminal import printable
from orcish.types import Explanation

from orcish_cli.arguments import add_files, add_json, add_limit
from orcish_cli.messages import Failures, shown_name
from orcish_cli.reading import add_reading, chosen_reading, open_rows
from orcish_cli.terminal import json_line, print_lines

__all__ = ["add_arguments"]


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Print which files, stripes and row groups a read with a filter would skip and what proves it (partition "
        "values, statistics, bloom filters), and how many bytes and requests the rest takes. Of tables of CarbonData: "
        "blocklets and pages."
    )
    command.epilog = "Footers, row indexes and bloom filters of the columns of the filter are read, and no values."
    add_files(command)
    add_limit(command, "how many rows are read")
    add_json(command, "file")
    add_reading(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    # Wrong arguments are not errors of each file.
    chosen_reading(options)
    failures = Failures(options)
    for name in options.files:
        with failures.printed():
            rows = open_rows([name], options)
            rows = rows if options.limit is None else rows.limit(options.limit)
            print_lines(_lines(name, rows.explain(), options.json))
    return failures.code


def _lines(name: str, plan: Explanation, as_json: bool) -> list[str]:
    plan = dataclasses.replace(
        plan, files=tuple(dataclasses.replace(file, file=shown_name(file.file)) for file in plan.files)
    )
    stripes = [stripe for file in plan.files for stripe in file.stripes]
    skipped = sum(stripe.outcome == "skipped" for stripe in stripes)
    whole_files = sum(file.skipped for file in plan.files)
    if as_json:
        return [json_line({"file": shown_name(name), **_described(plan)})]
    rows = sum(stripe.rows for stripe in stripes)
    summary = f"{rows - plan.rows_read:,} of {rows:,} rows skipped, {skipped:,} of {len(stripes):,} {plan.parts.whole}s"
    if whole_files:
        # The rows of files that are not opened are not known.
        others = f"; of the others, {summary}" if whole_files < len(plan.files) else ""
        summary = f"{whole_files:,} of {len(plan.files):,} files skipped{others}"
    return [summary, *map(printable, str(plan).splitlines())]


def _described(plan: Explanation) -> dict[str, Any]:
    files = [
        {
            "file": file.file,
            "skipped": file.skipped,
            "is_counted": file.is_counted,
            "parts": list(map(_described_part, file.stripes)),
        }
        for file in plan.files
    ]
    return {
        **{name: getattr(plan, name) for name in ("rows_read", "bytes", "requests", "after_read")},
        "parts": plan.parts.whole,
        "files": files,
    }


def _described_part(part: Any) -> dict[str, Any]:
    bytes_and_requests = ("filter_bytes", "filter_requests", "other_bytes", "other_requests")
    return {
        "number": part.stripe,
        "rows": part.rows,
        "outcome": part.outcome,
        "reasons": _reasons(part.reasons),
        **{name: getattr(part, name) for name in ("rows_read", *bytes_and_requests)},
        "groups": [
            {"rows": rows, "outcome": outcome, "reasons": _reasons(reasons)}
            for rows, outcome, reasons in part.row_groups
        ],
    }


def _reasons(reasons: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"condition": condition, "proof": proof} for condition, proof in reasons]
