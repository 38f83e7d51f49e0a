"""``orcish check``: contradictions within files."""

from __future__ import annotations

import argparse

from orcish import CarbonTable
from orcish.progress import reported
from orcish.types import Finding

from orcish_cli.arguments import add_external, add_files, add_json, add_storage, storage_of
from orcish_cli.messages import Failures, shown_name
from orcish_cli.sources import opened_part, source_parts
from orcish_cli.terminal import print_lines, print_objects

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


def _run(options: argparse.Namespace) -> int:
    storage, failures = storage_of(options), Failures(options, TROUBLE)
    files = rows = findings = 0
    for part in source_parts(options, failures):
        with failures.printed():
            if part.is_carbon:
                count, found = _check_carbon(part.source, options)
            else:
                file = None if part.schema is not None else opened_part(part, storage)
                if file is None:
                    continue
                count, found = file.num_rows, file.check(progress=not options.json)
            name = shown_name(part.location)
            files, rows, findings = files + 1, rows + count, findings + len(found)
            if options.json:
                print_objects([{"file": name, "rows": count, "findings": [each._asdict() for each in found]}])
            else:
                print_lines(f"{name}: {_text(each)}" for each in found)
    if not options.json and files:
        print_lines([f"{files:,} files, {rows:,} rows, {findings:,} findings"])
    return failures.code or (FOUND if findings else 0)


def _check_carbon(name: str, options: argparse.Namespace) -> tuple[int, list[Finding]]:
    """Reads a table of CarbonData."""
    table = CarbonTable(name, storage_options=storage_of(options), external_locations=options.external_locations)
    scan = table.scan()
    recorded, rows = scan.count(), 0
    with reported(not options.json, f"check {shown_name(name)}", recorded) as add:
        for batch in scan.to_batches():
            rows += len(batch)
            add(len(batch))
    message = f"the metadata have {recorded} rows, and there are {rows}"
    return rows, [] if rows == recorded else [Finding(None, None, "", message, contradicts_rows=True)]


def _text(finding: Finding) -> str:
    """A finding with its place."""
    places = (("stripe", finding.stripe), ("row group", finding.group), ("column", finding.column or None))
    place = ", ".join(f"{name} {at}" for name, at in places if at is not None)
    affected = "" if finding.contradicts_rows else " (no value is affected)"
    return f"{place or 'the file'}: {finding.message}{affected}"
