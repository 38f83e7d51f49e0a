"""``orcish explain``: what a read with a filter would skip, by what, and how much it would read."""

from __future__ import annotations

import argparse
from typing import Any

from orcish.cli.arguments import LIST, add_external, add_files, add_filters, add_json, add_limit, add_storage
from orcish.cli.meta_carbon import is_carbon, refuse_external
from orcish.cli.open_files import SKIPPED
from orcish.cli.output import fail, print_lines
from orcish.io.names import display_name
from orcish.reading.explanation import Explanation, StripePlan
from orcish.reading.scan import Scan
from orcish.scan import scan
from orcish.terminal import json_line, printable

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
    add_filters(command, "the filter")
    command.add_argument("-c", "--columns", **{**LIST, "metavar": "A,B.C"}, help="the columns that are read (all)")
    add_limit(command, "how many rows are read (all)")
    add_json(command, "source")
    add_storage(command)
    add_external(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    code = 0
    for name in options.files:
        try:
            lines = _lines(name, _scan(name, options).explain(), options.json)
        except SKIPPED as error:
            code = fail(error)
            continue
        print_lines(lines)
    return code


def _scan(name: str, options: argparse.Namespace) -> Scan:
    storage = dict(options.storage_options)
    if not is_carbon(name, storage):
        refuse_external(options, name)
    given = {"columns": options.columns, "filters": options.filters, "limit": options.limit}
    return scan(
        name,
        storage_options=storage,
        external_locations=options.external_locations,
        **{key: value for key, value in given.items() if value is not None},
    )


def _lines(name: str, plan: Explanation, as_json: bool) -> list[str]:
    stripes = [stripe for file in plan.files for stripe in file.stripes]
    skipped = sum(stripe.outcome == "skipped" for stripe in stripes)
    whole_files = sum(file.skipped for file in plan.files)
    if as_json:
        return [json_line({"source": display_name(name), **_described(plan)})]
    rows = sum(stripe.rows for stripe in stripes)
    summary = [
        f"{rows - plan.rows_read:,} of {rows:,} rows skipped",
        f"{skipped:,} of {len(stripes):,} {plan.parts.whole}s",
    ]
    if whole_files:
        summary.append(f"{whole_files:,} of {len(plan.files):,} files")
    return [", ".join(summary), *map(printable, str(plan).splitlines())]


def _described(plan: Explanation) -> dict[str, Any]:
    return {
        "rows_read": plan.rows_read,
        "bytes": plan.bytes,
        "requests": plan.requests,
        "after_read": plan.after_read,
        "parts": plan.parts.whole,
        "files": [
            {"file": file.file, "skipped": file.skipped, "parts": [_described_part(part) for part in file.stripes]}
            for file in plan.files
        ],
    }


def _described_part(part: StripePlan) -> dict[str, Any]:
    return {
        "number": part.stripe,
        "rows": part.rows,
        "outcome": part.outcome,
        "reasons": _reasons(part.reasons),
        "rows_read": part.rows_read,
        "filter_bytes": part.filter_bytes,
        "filter_requests": part.filter_requests,
        "other_bytes": part.other_bytes,
        "other_requests": part.other_requests,
        "groups": [
            {"rows": rows, "outcome": outcome, "reasons": _reasons(reasons)}
            for rows, outcome, reasons in part.row_groups
        ],
    }


def _reasons(reasons: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"condition": condition, "proof": proof} for condition, proof in reasons]
