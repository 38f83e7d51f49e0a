"""Rows of several sources as one scan, and the arguments of commands that read them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, cast

from orcish.carbon.table import CarbonTable
from orcish.io.names import display_name
from orcish.reading.scan import Scan
from orcish.tables.all_columns import scan_of_all_columns
from orcish.types import ReadOptions

from orcish_cli.actions import WrongArgumentsError
from orcish_cli.arguments import add_external, add_filters, add_storage, add_timestamps, add_values, names
from orcish_cli.meta_carbon import is_carbon, refuse_external
from orcish_cli.stored import stored_scan

__all__ = ["READ_NAMES", "add_reading", "add_values_of_columns", "chosen_reading", "open_rows"]

READ_NAMES = (
    "columns",
    "filters",
    "invalid_utf8",
    "long_char",
    "decimal_out_of_range",
    "timestamps",
    "timestamp_unit",
    "timezone",
    "masked",
)
"""Arguments of :func:`add_reading` that are options of reading."""


def add_reading(command: argparse.ArgumentParser) -> None:
    """Adds the arguments that say what is read of sources: columns, rows, values, and options of stores."""
    command.add_argument(
        "-c",
        "--columns",
        type=names,
        action="extend",
        metavar="A,B.C",
        help="only these columns, in this order; dots lead into nested ones",
    )
    add_filters(command, "only rows for which this is true")
    add_values_of_columns(command)
    add_storage(command)
    add_external(command)


def add_values_of_columns(command: argparse.ArgumentParser) -> None:
    """Adds the arguments that say which values columns have."""
    add_values(command)
    add_timestamps(command, "timezone")
    command.add_argument("--masked", action="store_const", const="allow", help="read the masks of encrypted columns")


def chosen_reading(options: argparse.Namespace) -> dict[str, Any]:
    """The given arguments of :func:`add_reading`, as keywords of :class:`orcish.types.ReadOptions`.

    Raises:
        WrongArgumentsError: There is a time zone, which only instants have.
    """
    if getattr(options, "timezone", None) is not None and options.timestamps != "instant":
        raise WrongArgumentsError("--timezone is of --timestamps instant: clocks of the writer are the same everywhere")
    return {name: value for name in READ_NAMES if (value := getattr(options, name, None)) is not None}


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
        keeps_units: Of values as they are stored: whether timestamps lose no digit, see
            :func:`orcish_cli.stored.stored_scan`.
        more: Further options of reading.
        more_of_orc: Likewise, of sources that are ORC.

    Raises:
        ValueError: There is a table of CarbonData among several sources.
    """
    exact = {} if as_stored else {"timestamp_unit": "exact"}
    given, storage = {**exact, **chosen_reading(options), **(more or {})}, dict(options.storage_options)
    carbon = [name for name in files if is_carbon(name, storage)]
    if carbon and len(files) > 1:
        raise ValueError(f"{display_name(carbon[0])}: a table of CarbonData is read alone, not with other sources")
    if carbon:
        table = CarbonTable(carbon[0], storage_options=storage, external_locations=options.external_locations)
        return table.scan(**cast("ReadOptions", given))
    refuse_external(options, files[0])
    source, read = files[0] if len(files) == 1 else files, {**given, **(more_of_orc or {})}
    if as_stored:
        return stored_scan(source, read, storage, keeps_units=keeps_units)
    return scan_of_all_columns(source, {**read, "storage_options": storage})
