"""The functions :func:`scan` and :func:`read_table`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from orcish.carbon.detect import has_carbon, is_carbon, is_carbon_file, single_table
from orcish.carbon.source import CarbonSource, check_no_external, check_options
from orcish.io.files import files_of
from orcish.io.paths import is_many
from orcish.reading.file import ORCFile
from orcish.reading.orc_files import OrcFiles
from orcish.reading.scan import Scan
from orcish.reading.scan_reader import ScanReader
from orcish.types import Limits, Matching, ReadOptions, ScanOptions, Source, Sources, StorageOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["read_table", "scan"]


def scan(source: Sources, **options: Unpack[ScanOptions]) -> Scan:
    """What to read of one file or of many, which are a table.

    Nothing but the tail of the first file is read before rows are asked for.

    >>> orcish.scan("orders/", filters=orcish.col("id") == 5).to_table()          # doctest: +SKIP
    >>> orcish.scan("s3://bucket/orders/day=2026-*/").select("id").limit(10)      # doctest: +SKIP

    Args:
        source: A path or URL of a file, of a folder with files at any depth, or a pattern such as
            ``day=2026-*/part-*.orc``; the bytes of a file; a file object; or a list of these. Files and folders whose
            names begin with ``_`` or ``.`` are left out of folders and patterns. Or the path or URL of a table of
            CarbonData, or of one of its files.
        options: How the files are a table, see :class:`~orcish.types.ScanOptions`, and what to read of it, see
            :class:`~orcish.types.ReadOptions`; :meth:`Scan.select`, :meth:`Scan.where` and :meth:`Scan.limit` say
            the latter as well.

    Raises:
        FileNotFoundError: There is no file.
        UnknownColumnError: A column is not in the table.
        TypeError: The source is nothing that can be read, or an option has not the type that it should have.
        ValueError: An option does not fit, or the filter does not fit the types of the columns; ``stripes`` are for one
            file.
    """
    given = dict(options)
    if given.pop("stripes", None) is not None:
        raise ValueError("stripes are those of one file: read it with ORCFile, or take splits of the scan")
    reader = _reader(source, given)
    reader.check()
    return Scan(reader)


def _reader(source: Sources, given: dict[str, Any]) -> ScanReader:
    """The reader of a source, whose options are not checked yet."""
    storage_options = cast("StorageOptions | None", given.pop("storage_options", None))
    limits = cast("Limits | None", given.pop("limits", None))
    external = given.pop("external_locations", None)
    files = []
    if not is_carbon(source, storage_options):
        files = files_of(source, cast("bool | None", given.get("partitions")), storage_options)
        if not files:
            raise FileNotFoundError(f"no files: {source!r}")
    if not files or has_carbon(files):
        table = CarbonSource.at(single_table(source), storage_options, limits, external)
        return ScanReader(table, check_options(given))
    check_no_external(external)
    given.pop("partitions", None)
    schema = cast("pa.Schema | None", given.pop("schema", None))
    match = cast("Matching", given.pop("match", "name"))
    return ScanReader(OrcFiles(files, schema, match, storage_options, limits), given)


def read_table(source: Sources, **options: Unpack[ScanOptions]) -> pa.Table:
    """Read one file or many into a table; see :func:`scan` for what ``source`` may be, and for the keywords.

    The chunks of the table are the batches that are read.

    Raises:
        CorruptFileError: The bytes are not a valid ORC file.
        UnknownColumnError: A column is not in the file.
        UnsupportedError: The file needs something that orcish does not do, or does only when asked to.
        LimitExceededError: The file asks for more than ``limits`` allow.
        OSError: The source cannot be read.
    """
    of_table = ("schema", "match", "partitions", "external_locations")
    is_table = isinstance(source, list | tuple) or is_many(source) or is_carbon_file(source)
    if is_table or any(options.get(name) for name in of_table):
        return scan(source, **options).to_table()
    check_no_external(options.get("external_locations"))
    given = {name: value for name, value in options.items() if name not in of_table}
    storage_options, limits = given.pop("storage_options", None), given.pop("limits", None)
    try:
        file = ORCFile(
            cast("Source", source),
            storage_options=cast("StorageOptions | None", storage_options),
            limits=cast("Limits | None", limits),
        )
    except FileNotFoundError:
        # In a store, a folder is no more than what files have in common.
        if not isinstance(source, str) or "://" not in source:
            raise
        return scan(source, **options).to_table()
    return file.read(**cast("ReadOptions", given))
