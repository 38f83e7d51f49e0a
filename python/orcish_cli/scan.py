"""``orcish scan`` and ``orcish count``: reads of all rows, and numbers of rows."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

from orcish.progress import reported
from orcish.reading.reader import row_count_of
from orcish.reading.scan import Scan, reader_of
from orcish.terminal import json_line

from orcish_cli.arguments import add_files, add_json, add_limit
from orcish_cli.meta_carbon import is_carbon
from orcish_cli.output import EXPECTED, print_lines, print_table
from orcish_cli.rows import add_reading, chosen_reading, open_rows
from orcish_cli.sources import orc_files
from orcish_cli.words import shown_name
from orcish_cli.wrong_arguments import fail_of_source

__all__ = ["add_count", "add_scan"]


def add_scan(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``scan``."""
    command.description = (
        "Read all rows of ORC files, of the files of folders and patterns, and of tables of CarbonData, and print how "
        "many rows and batches of Arrow there are, their bytes, and the seconds that it took. No row is printed."
    )
    add_files(command)
    add_limit(command, "most rows of each file (all)")
    add_json(command, "file, and one of all where there are several")
    add_reading(command)
    command.set_defaults(run=_scan)


def add_count(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``count``."""
    command.description = (
        "Print the number of rows of ORC files, of the files of folders and patterns, and of tables of CarbonData. "
        "Metadata have it. With --where, the columns of the filter are read where statistics do not decide."
    )
    add_files(command)
    add_limit(command, "most rows of each file (all)")
    add_json(command, "file, and one of all where there are several")
    add_reading(command)
    command.set_defaults(run=_count)


def _scan(options: argparse.Namespace) -> int:
    return _each(options, _read, ("rows", "batches", "bytes", "seconds"))


def _count(options: argparse.Namespace) -> int:
    return _each(options, lambda rows, *_: {"rows": rows.count()}, ("rows",))


def _read(rows: Scan, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Reads all rows of a file."""
    found = {"rows": 0, "batches": 0, "bytes": 0}
    begin = time.monotonic()
    total = None if options.json else row_count_of(rows)
    with reported(not options.json, f"scan {shown_name(name)}", total) as add:
        for batch in rows:
            found["rows"] += len(batch)
            found["batches"] += 1
            found["bytes"] += batch.nbytes
            add(len(batch))
    return {**found, "seconds": round(time.monotonic() - begin, 3)}


def _each(options: argparse.Namespace, look: Any, names: tuple[str, ...]) -> int:
    """Prints what a function finds in each file, and the sums. A file that fails does not end the others."""
    # Wrong arguments are not errors of each file.
    chosen_reading(options)
    code, done = 0, list[dict[str, Any]]()
    for name, rows in _files(options):
        try:
            if isinstance(rows, Exception):
                raise rows
            if options.limit is not None:
                rows = rows.limit(options.limit)
            found = {"file": shown_name(name), **look(rows, name, options)}
        except EXPECTED as error:
            code = fail_of_source(error, options)
            continue
        done.append(found)
        if options.json:
            print_lines([json_line(found)])
    if not options.json and done:
        shown = [_cells(found, names) for found in done]
        if len(done) > 1:
            sums = {name: round(sum(found[name] for found in done), 3) for name in names}
            shown.append(_cells({"file": "all", **sums}, names))
        print_table(("file", *names), shown, (False, *(True for _ in names)))
    return code


def _cells(found: dict[str, Any], names: tuple[str, ...]) -> list[str]:
    return [found["file"], *(f"{found[name]:,}" for name in names)]


def _files(options: argparse.Namespace) -> Iterator[tuple[str, Scan | Exception]]:
    """The files of all sources, each as a scan of its own, or the error of the source or file."""
    for source in options.files:
        try:
            yield from _opened(source, options)
        except EXPECTED as error:
            yield source, error


def _opened(source: str, options: argparse.Namespace) -> Iterator[tuple[str, Scan | Exception]]:
    storage = dict(options.storage_options)
    if is_carbon(source, storage):
        yield source, open_rows([source], options)
        return
    locations = orc_files(source, storage).files
    if len(locations) < 2:
        # A table without rows has no file.
        yield next(iter(locations), source), open_rows([source], options)
        return
    try:
        parts = reader_of(open_rows([source], options)).of_files()
    except EXPECTED:
        if options.columns is not None or options.filters is not None:
            # The columns are those of the table, which may have partition columns.
            raise
        for location in locations:
            try:
                yield location, open_rows([location], options)
            except EXPECTED as error:
                yield location, error
        return
    for location, reader in parts:
        yield location, Scan(reader)
