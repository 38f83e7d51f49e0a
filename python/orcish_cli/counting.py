"""``orcish scan`` and ``orcish count``: reads of all rows, and numbers of rows."""

from __future__ import annotations

import argparse
import operator
import time
from collections.abc import Iterator
from typing import Any

from orcish import Scan
from orcish.progress import reported
from orcish.reading.scan import reader_of

from orcish_cli.arguments import add_files, add_json, add_limit, storage_of
from orcish_cli.messages import EXPECTED, Failures, shown_name
from orcish_cli.reading import add_reading, chosen_reading, open_rows
from orcish_cli.sources import is_carbon, orc_files
from orcish_cli.terminal import Column, print_objects, print_table

__all__ = ["add_count", "add_scan"]


def add_scan(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``scan``."""
    command.description = (
        "Read all rows of ORC files, of the files of folders and patterns, and of tables of CarbonData, and print how "
        "many rows and batches of Arrow there are, their bytes, and the seconds that it took. No row is printed."
    )
    _add_more(command, _read, ("rows", "batches", "bytes", "seconds"))


def add_count(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``count``."""
    command.description = (
        "Print the number of rows of ORC files, of the files of folders and patterns, and of tables of CarbonData. "
        "Metadata have it. With --where, the columns of the filter are read where statistics do not decide."
    )
    _add_more(command, lambda rows, *_: {"rows": rows.count()}, ("rows",))


def _add_more(command: argparse.ArgumentParser, look: Any, names: tuple[str, ...]) -> None:
    add_files(command)
    add_limit(command, "most rows of each file")
    add_json(command, "file")
    add_reading(command)
    command.set_defaults(run=lambda options: _each(options, look, names))


def _read(rows: Scan, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Reads all rows of a file."""
    found = {"rows": 0, "batches": 0, "bytes": 0}
    begin = time.monotonic()
    total = rows.count() if not options.json and options.filters is None else None
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
    failures, done = Failures(options), list[dict[str, Any]]()
    for name, rows in _files(options):
        with failures.printed():
            if isinstance(rows, Exception):
                raise rows
            limited = rows if options.limit is None else rows.limit(options.limit)
            done.append({"file": shown_name(name), **look(limited, name, options)})
            print_objects(done[-1:] if options.json else [])
    if not options.json and done:
        shown = list(done)
        if len(done) > 1:
            shown.append({"file": "all", **{name: round(sum(found[name] for found in done), 3) for name in names}})
        numbers = [Column(name, operator.itemgetter(name), True) for name in names]
        print_table([Column("file", "file"), *numbers], shown)
    return failures.code


def _files(options: argparse.Namespace) -> Iterator[tuple[str, Scan | Exception]]:
    """The files of all sources, each as a scan of its own, or the error of the source or file."""
    for source in options.files:
        try:
            yield from _opened(source, options)
        except EXPECTED as error:
            yield source, error


def _opened(source: str, options: argparse.Namespace) -> Iterator[tuple[str, Scan | Exception]]:
    storage = storage_of(options)
    locations = [] if is_carbon(source, storage) else orc_files(source, storage).files
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
