"""``orcish check``: contradictions within files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any, NamedTuple

from orcish.carbon.table import CarbonTable
from orcish.progress import reported
from orcish.terminal import json_line
from orcish.types import Finding

from orcish_cli.arguments import add_external, add_files, add_json, add_storage
from orcish_cli.meta_carbon import is_carbon, refuse_external
from orcish_cli.output import EXPECTED, fail, print_lines
from orcish_cli.sources import opened_file, orc_files
from orcish_cli.words import shown_name

__all__ = ["add_arguments"]

FOUND, TROUBLE = 1, 2


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Read ORC files, and all files of folders and patterns, as a whole, and compare their rows with what is "
        "recorded of them: statistics of row groups, stripes and the file, positions of the row index, and bloom "
        "filters of orcish. Of tables of CarbonData, all rows are read, and their number is compared with the metadata."
    )
    command.epilog = "Exit codes: 0 without findings, 1 with findings, 2 if a file cannot be read."
    add_files(command)
    add_json(command, "file")
    add_storage(command)
    add_external(command)
    command.set_defaults(run=_run, trouble=TROUBLE)


class Checked(NamedTuple):
    """What is found in a file."""

    name: str
    rows: int
    findings: list[Finding]


def _run(options: argparse.Namespace) -> int:
    code = files = rows = findings = 0
    for checked in _checked(options):
        if isinstance(checked, Exception):
            code = fail(checked, TROUBLE)
            continue
        files, rows, findings = files + 1, rows + checked.rows, findings + len(checked.findings)
        if checked.findings:
            code = max(code, FOUND)
        print_lines(_lines(checked, is_json=options.json))
    if not options.json and files:
        print_lines([f"{files:,} files, {rows:,} rows, {findings:,} findings"])
    return code


def _checked(options: argparse.Namespace) -> Iterator[Checked | Exception]:
    """What is found in each file, or the error of a file or source."""
    storage = dict(options.storage_options)
    for source in options.files:
        try:
            if is_carbon(source, storage):
                yield _check_carbon(source, options)
                continue
            refuse_external(options, source)
            files = orc_files(source, storage).files
        except EXPECTED as error:
            yield error
            continue
        for name in files:
            try:
                if (file := opened_file(source, name, storage)) is not None:
                    yield Checked(shown_name(name), file.num_rows, file.check(progress=not options.json))
            except EXPECTED as error:
                yield error


def _check_carbon(name: str, options: argparse.Namespace) -> Checked:
    """Reads a table of CarbonData."""
    storage = dict(options.storage_options)
    table = CarbonTable(name, storage_options=storage, external_locations=options.external_locations)
    scan = table.scan()
    recorded, rows = scan.count(), 0
    with reported(not options.json, f"check {shown_name(name)}", recorded) as add:
        for batch in scan.to_batches():
            rows += len(batch)
            add(len(batch))
    message = f"the metadata have {recorded} rows, and there are {rows}"
    findings = [] if rows == recorded else [Finding(None, None, "", message, contradicts_rows=True)]
    return Checked(shown_name(name), rows, findings)


def _lines(checked: Checked, *, is_json: bool) -> list[str]:
    if is_json:
        findings: list[dict[str, Any]] = [finding._asdict() for finding in checked.findings]
        return [json_line({"file": checked.name, "rows": checked.rows, "findings": findings})]
    return [f"{checked.name}: {_text(finding)}" for finding in checked.findings]


def _text(finding: Finding) -> str:
    """A finding with its place."""
    places = (("stripe", finding.stripe), ("row group", finding.group), ("column", finding.column or None))
    place = ", ".join(f"{name} {at}" for name, at in places if at is not None)
    affected = "" if finding.contradicts_rows else " (no value is affected)"
    return f"{place or 'the file'}: {finding.message}{affected}"
