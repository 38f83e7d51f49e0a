"""The functions :func:`scan` and :func:`read_table`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from orcish.carbon.detect import has_carbon, is_carbon, is_carbon_file, single_table
from orcish.carbon.source import CarbonSource, check_no_external, check_options
from orcish.filters.pushdown import Filters
from orcish.io.filesystem import in_file_system
from orcish.io.names import display_name
from orcish.io.paths import is_many
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

OF_TABLES = ("match", "partitions", "external_locations")
"""Options with which one file is read as a table."""


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
    place = in_file_system(source, chosen.pop("filesystem", None), chosen.get("storage_options"))
    reader = open_reader(place, chosen)
    reader.check()
    return Scan(reader)


def open_reader(source: Sources, options: dict[str, Any]) -> ScanReader:
    """The reader of a source. Its options are not checked yet."""
    given = dict(options)
    storage_options: StorageOptions | None = options.pop("storage_options", None)
    limits: Limits | None = options.pop("limits", None)
    external = options.pop("external_locations", None)
    pending: Pending | None = options.pop("pending", None)
    listing = None
    if not is_carbon(source, storage_options):
        listing = table_files(source, options.get("partitions"), storage_options, pending or "wait")
        if not listing.files and listing.schema is None:
            several = source if isinstance(source, list | tuple) else [source]
            names = (repr(display_name(each) if isinstance(each, str) else each) for each in several)
            raise FileNotFoundError(f"no files: {', '.join(names) or 'the list is empty'}")
    if listing is None or has_carbon(listing.files):
        table = CarbonSource.at(single_table(source), storage_options, limits, external)
        return ScanReader(table, check_options(options))
    check_no_external(external)
    options.pop("partitions", None)
    schema, match = options.pop("schema", None), options.pop("match", "name")
    if schema is not None and not hasattr(schema, "__arrow_c_schema__"):
        raise TypeError(f"schema={schema!r}: must be an Arrow schema, not {type(schema).__name__}")
    found = None if schema is not None else listing.schema
    files, left_out = listing.files, NOTHING_LEFT_OUT
    try:
        if schema is None and isinstance(source, list | tuple) and len(source) > 1:
            files, left_out = columns_of_first(files, storage_options, limits)
        return ScanReader(OrcFiles(files, schema, match, storage_options, limits, found, left_out=left_out), options)
    except FileNotFoundError:
        if not are_gone(source, storage_options, (file.location for file in listing.files), pending or "wait"):
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
    """Reads one file, or many files that form a table; see :func:`scan` for ``source`` and the keywords.

    The chunks of the table are the batches that are read.

    Args:
        stripes: Indexes of stripes of one file, which are read in this order.
        progress: True for a bar on the terminal, or a function that is called with a :class:`~orcish.types.Progress`,
            of rows, at the beginning and after each batch. Their total number is not known with a filter.

    Raises:
        CorruptFileError: The bytes are not a valid ORC file.
        UnknownColumnError: The file does not have a column.
        UnsupportedError: The file needs a feature that orcish does not have, or has only on request.
        LimitExceededError: The file exceeds ``limits``.
        OSError: The source cannot be read.
    """
    chosen = chosen_options(locals(), ScanOptions)
    storage_options = chosen.get("storage_options")
    source = in_file_system(source, chosen.pop("filesystem", None), storage_options)
    is_table = isinstance(source, list | tuple) or is_many(source) or is_carbon_file(source)
    if is_table or any(chosen.get(name) for name in OF_TABLES) or chosen.get("schema") is not None:
        return _table(source, chosen, stripes, progress)
    check_no_external(chosen.get("external_locations"))
    try:
        file = ORCFile(cast("Source", source), storage_options=storage_options, limits=chosen.get("limits"))
    except (FileNotFoundError, IsADirectoryError) as error:
        # In an object store, a folder is known only by the names of its files. A local folder was just made.
        is_remote = isinstance(source, SystemPath) or (isinstance(source, str) and "://" in source)
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
