"""Rows of sources as one scan, and the arguments of commands that read them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, cast

from orcish import CarbonTable, Scan
from orcish.io.names import display_name
from orcish.tables.all_columns import scan_of_all_columns
from orcish.tables.stored import rewritten_scan, stored_scan
from orcish.types import ReadOptions, ScanOptions

from orcish_cli.arguments import VALUES, add_external, add_options, add_storage, chosen, storage_of
from orcish_cli.parser import WrongArgumentsError
from orcish_cli.sources import is_carbon, refuse_external

__all__ = ["add_reading", "chosen_reading", "open_rows"]


def add_reading(command: argparse.ArgumentParser) -> None:
    """Adds the arguments that say what is read of sources: columns, rows, values, and options of stores."""
    add_options(command, ReadOptions, "columns", "filters", *VALUES)
    add_options(command, ScanOptions, "keys")
    add_storage(command)
    add_external(command)


def chosen_reading(options: argparse.Namespace) -> dict[str, Any]:
    """The given arguments of :func:`add_reading`, as keywords of :class:`orcish.types.ReadOptions`.

    Raises:
        WrongArgumentsError: There is a time zone, which only instants have.
    """
    if options.timezone is not None and options.timestamps != "instant":
        raise WrongArgumentsError("--timezone is of --timestamps instant: clocks of the writer are the same everywhere")
    return chosen(options, "columns", "filters", "keys", *VALUES)


def open_rows(
    files: list[str],
    options: argparse.Namespace,
    *,
    as_stored: bool = True,
    keeps_units: bool = False,
    more: Mapping[str, Any] | None = None,
    more_of_orc: Mapping[str, Any] | None = None,
) -> Scan:
    """One scan of ORC files, folders, patterns and URLs, or of a table of CarbonData.

    Args:
        files: The sources.
        options: The arguments of :func:`add_reading`.
        as_stored: Whether values are read as they are stored, whatever Arrow types they were written with. Otherwise
            they are read to be written: with the columns of all files, and without a loss of digits.
        keeps_units: Whether timestamps have the units that readers see, and a value with more digits is an error.
        more: Further options of reading.
        more_of_orc: Likewise, of sources that are ORC.

    Raises:
        ValueError: There is a table of CarbonData among several sources.
    """
    exact = {} if as_stored or keeps_units else {"timestamp_unit": "exact"}
    given, storage = {**exact, **chosen_reading(options), **(more or {})}, storage_of(options)
    carbon = [name for name in files if is_carbon(name, storage)]
    if carbon and len(files) > 1:
        raise ValueError(f"{display_name(carbon[0])}: a table of CarbonData is read alone, not with other sources")
    if carbon and "keys" in given:
        raise WrongArgumentsError(f"--keys is of ORC, and not of {display_name(carbon[0])}")
    if carbon:
        table = CarbonTable(carbon[0], storage_options=storage, external_locations=options.external_locations)
        return table.scan(**cast("ReadOptions", given))
    refuse_external(options, files[0])
    source, read = files[0] if len(files) == 1 else files, {**given, **(more_of_orc or {})}
    if as_stored:
        return stored_scan(source, read, storage, keeps_units=keeps_units)
    scan = rewritten_scan if keeps_units and "timestamp_unit" not in read else scan_of_all_columns
    return scan(source, {**read, "storage_options": storage})
