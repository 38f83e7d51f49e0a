"""The functions :func:`scan` and :func:`read_table`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from orcish._native import Location
from orcish.carbon.detect import single_table
from orcish.carbon.source import CarbonSource, check_no_external, check_options
from orcish.encryption.keys import hidden
from orcish.errors import OptionTypeError
from orcish.filters.pushdown import Filters
from orcish.io.filesystem import in_file_system
from orcish.io.system_path import SystemPath
from orcish.keywords import checked_keywords, chosen_options
from orcish.reading.file import ORCFile
from orcish.reading.orc_files import OrcFiles
from orcish.reading.scan import Scan
from orcish.reading.scan_reader import ScanReader
from orcish.reading.several import NOTHING_LEFT_OUT, columns_of_first
from orcish.tables.log.conflicts import are_gone
from orcish.tables.log.listing import table_files
from orcish.types import (
    Columns,
    Limits,
    Pending,
    ProgressOption,
    ReadOptions,
    ScanOptions,
    Source,
    Sources,
    StorageOptions,
    TableOptions,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["open_reader", "read_table", "scan"]


@checked_keywords
def scan(
    source: Sources,
    *,
    columns: Columns | None = None,
    batch_size: int | None = None,
    filters: Filters | None = None,
    limit: int | None = None,
    row_number: bool | str | None = None,
    threads: int | None = None,
    **options: Unpack[TableOptions],
) -> Scan:
    """Scans one file, or many files that form a table.

    Only the log of the table, or the tails of all files, which decide on the types of columns, are read before rows are
    requested. No file is read with ``schema``.

    >>> orcish.scan("orders/", filters=orcish.col("id") >= 95).select("id", "day").to_table().num_rows
    5
    >>> orcish.scan("orders/day=2026-11-20/*.orc").select("id").limit(3).to_table().to_pydict()
    {'id': [0, 2, 4]}

    The keywords are those of :class:`~orcish.types.ScanOptions` and :class:`~orcish.types.ReadOptions`. Columns,
    filters and the limit can also be set with :meth:`Scan.select`, :meth:`Scan.where` and :meth:`Scan.limit`.

    Args:
        source: A path or URL of a file, of a folder with files at any depth, or a pattern such as
            ``day=2026-*/part-*.orc``; the bytes of a file; a file object; or a list of these. In folders and patterns,
            files and folders whose names begin with ``_`` or ``.`` are ignored. Also the path or URL of a CarbonData
            table, or of one of its files.

    Raises:
        FileNotFoundError: There is no file.
        UnknownColumnError: The table does not have a column.
        TypeError: The source cannot be read, an option has the wrong type, or there is no such option.
        ValueError: An option has a wrong value, or the filter does not fit the types of the columns.
    """
    chosen = chosen_options(locals(), ScanOptions)
    if (filesystem := chosen.pop("filesystem", None)) is not None:
        source = in_file_system(source, filesystem, chosen.get("storage_options"))
    reader = open_reader(source, chosen)
    reader.check()
    return Scan(reader)


def open_reader(source: Sources, options: dict[str, Any]) -> ScanReader:
    """The reader of a source. Its options are not checked yet."""
    given = dict(options)
    storage_options: StorageOptions | None = options.pop("storage_options", None)
    limits: Limits | None = options.pop("limits", None)
    keys = hidden(options.pop("keys", None))
    external = options.pop("external_locations", None)
    pending: Pending = options.pop("pending", None) or "wait"
    listing = table_files(source, options.get("partitions"), storage_options, pending, is_read=True)
    if listing.is_carbon:
        if keys is not None:
            raise ValueError("keys: the option is of ORC files with encrypted columns, and CarbonData has none")
        table = CarbonSource.at(single_table(source), storage_options, limits, external)
        return ScanReader(table, check_options(options))
    if external is not None:
        check_no_external(external)
    options.pop("partitions", None)
    schema, match = options.pop("schema", None), options.pop("match", "name")
    if schema is not None and not hasattr(schema, "__arrow_c_schema__"):
        raise OptionTypeError("schema", f"must be an Arrow schema, not {type(schema).__name__}", schema)
    found = None if schema is not None else listing.schema
    files, left_out = listing.files, NOTHING_LEFT_OUT
    try:
        if schema is None and isinstance(source, list | tuple) and len(source) > 1:
            files, left_out = columns_of_first(files, storage_options, limits)
        orc = OrcFiles(files, schema, match, storage_options, limits, found, left_out=left_out, keys=keys)
        return ScanReader(orc, options)
    except FileNotFoundError:
        if not are_gone(source, storage_options, listing.locations, pending):
            raise
    # A commit has removed files between the listing and the opening: the table is read as it is now.
    return open_reader(source, given)


@checked_keywords
def read_table(
    source: Sources,
    *,
    columns: Columns | None = None,
    batch_size: int | None = None,
    filters: Filters | None = None,
    limit: int | None = None,
    row_number: bool | str | None = None,
    threads: int | None = None,
    stripes: Sequence[int] | None = None,
    progress: ProgressOption = False,
    **options: Unpack[TableOptions],
) -> pa.Table:
    """Reads one file, or many files that form a table.

    The chunks of the table are the batches that are read.

    >>> orcish.read_table("orders/", columns=["id"], filters="id >= 95", limit=2).to_pydict()
    {'id': [96, 98]}

    Args:
        source: As for :func:`scan`.
        columns: Names of columns, and of what is within them, such as ``customer.name``; all by default.
        batch_size: Maximum rows of a chunk.
        filters: Which rows: text such as ``"id > 5"``, or an expression of :func:`orcish.col`, pyarrow or polars.
        limit: Maximum number of rows, the first ones.
        row_number: Whether a column has the row numbers, or its name.
        threads: Number of threads that decode.
        stripes: Indexes of stripes of one file, which are read in this order.
        progress: True for a bar on the terminal, or a function that is called with a :class:`~orcish.types.Progress`,
            of rows, at the beginning and after each batch. Their total number is not known with a filter.
        options: Other options of :class:`~orcish.types.ReadOptions` and :class:`~orcish.types.ScanOptions`, which
            ``docs/options.md`` lists.

    Raises:
        FileNotFoundError: There is no file.
        TypeError, ValueError: An argument has a wrong type or value.
        CorruptFileError: The bytes are not a valid ORC file.
        UnknownColumnError: The file does not have a column.
        UnsupportedError: The file needs a feature that orcish does not have, or has only on request.
        LimitExceededError: The file exceeds ``limits``.
        OSError: The source cannot be read.
    """
    chosen = chosen_options(locals(), ScanOptions)
    storage_options = chosen.get("storage_options")
    if (filesystem := chosen.pop("filesystem", None)) is not None:
        source = in_file_system(source, filesystem, storage_options)
    location = Location(source) if isinstance(source, str | os.PathLike) else None
    is_table = (
        isinstance(source, list | tuple)
        or (location is not None and (location.is_several or location.is_carbon_file))
        # With these options, one file is read as a table.
        or bool(chosen.get("match") or chosen.get("partitions") or chosen.get("external_locations"))
        or chosen.get("schema") is not None
    )
    if is_table:
        return _table(source, chosen, stripes, progress)
    if "external_locations" in chosen:
        check_no_external(chosen["external_locations"])
    try:
        opened: dict[str, Any] = {"storage_options": storage_options, "limits": chosen.get("limits")}
        file = ORCFile(cast("Source", source), keys=chosen.get("keys"), **opened)
    except (FileNotFoundError, IsADirectoryError) as error:
        # In an object store, a folder is known only by the names of its files. A local folder was just made.
        is_remote = isinstance(source, SystemPath) or (location is not None and not location.is_local)
        if not is_remote and not isinstance(error, IsADirectoryError):
            raise
        return _table(source, chosen, stripes, progress)
    given = {name: chosen[name] for name in chosen if name in ReadOptions.__optional_keys__}
    return file.read(**given, stripes=stripes, progress=progress)


def _table(source: Sources, options: dict[str, Any], stripes: Any, progress: ProgressOption) -> pa.Table:
    """The rows of a scan.

    Raises:
        ValueError: Stripes are chosen, which are those of one file.
    """
    if stripes is not None:
        raise ValueError("stripes are those of one file: read it with ORCFile, or take splits of the scan")
    return scan(source, **options).to_table(progress=progress)
