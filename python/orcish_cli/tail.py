"""``orcish tail`` and ``orcish sample``: the last rows of sources, and rows at random."""

from __future__ import annotations

import argparse

import pyarrow as pa

from orcish_cli.arguments import add_files, add_limit, fraction
from orcish_cli.data import JSON_VALUES, add_showing, print_rows
from orcish_cli.rows import add_reading, open_rows

__all__ = ["add_sample", "add_tail"]


def add_tail(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``tail``."""
    command.description = (
        "Print the last rows of ORC files, of the files of folders and patterns, or of a table of CarbonData, in their "
        "order. Several sources are one table. Stripes before these rows are not read."
    )
    add_files(command)
    add_limit(command, "how many rows (10)", 10)
    _add_more(command)
    command.set_defaults(run=_tail)


def add_sample(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``sample``."""
    command.description = (
        "Print rows at random, without repetition, in their order. All rows, or all for which --where is true, are "
        "equally likely. Several sources are one table. Stripes without a chosen row are not read."
    )
    add_files(command)
    rows = command.add_mutually_exclusive_group()
    add_limit(rows, "how many rows (10)")
    rows.add_argument("--fraction", type=fraction, metavar="F", help="the part of the rows, from 0 to 1")
    command.add_argument("--seed", type=int, metavar="S", help="the same seed chooses the same rows of the same files")
    _add_more(command)
    command.set_defaults(run=_sample)


def _add_more(command: argparse.ArgumentParser) -> None:
    command.epilog = JSON_VALUES
    add_showing(command)
    add_reading(command)


def _tail(options: argparse.Namespace) -> int:
    _print(open_rows(options.files, options).tail(options.limit), options)
    return 0


def _sample(options: argparse.Namespace) -> int:
    rows = 10 if options.limit is None and options.fraction is None else options.limit
    _print(open_rows(options.files, options).sample(rows, fraction=options.fraction, seed=options.seed), options)
    return 0


def _print(table: pa.Table, options: argparse.Namespace) -> None:
    # Tables without columns have no batches.
    batches = table.to_batches() if table.schema.names else [pa.record_batch({"r": pa.nulls(len(table))}).select([])]
    print_rows(table.schema, batches, options)
