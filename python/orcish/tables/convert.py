"""From tables of any kind to folders of ORC files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import Literal, cast

from orcish.errors import OrcishError
from orcish.filters.pushdown import Filters
from orcish.io.paths import is_pattern, local_path
from orcish.keywords import checked_keywords, chosen_options
from orcish.reading.file import ORCFile, has_arrow_schema
from orcish.reading.orc_files import OrcFiles
from orcish.reading.scan import Scan, reader_of
from orcish.reading.scan_reader import ScanReader
from orcish.scan import scan
from orcish.types import Limits, ScanOptions, Sources, StorageOptions, WriteOptions
from orcish.writing.dataset import ExistingData, WrittenFile, write_dataset

__all__ = ["convert"]


@checked_keywords
def convert(
    source: Sources,
    target: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    filters: Filters | None = None,
    partition_by: Sequence[str] | None = None,
    existing_data: ExistingData = "error",
    max_rows_per_file: int | None = None,
    storage_options: StorageOptions | None = None,
    target_storage_options: StorageOptions | None = None,
    limits: Limits | None = None,
    invalid_utf8: Literal["error", "replace", "null", "binary"] | None = None,
    long_char: Literal["keep", "cut", "error"] | None = None,
    decimal_out_of_range: Literal["error", "null"] | None = None,
    timestamp_unit: Literal["s", "ms", "us", "ns", "auto"] | None = None,
    timestamps: Literal["wall", "instant"] | None = None,
    source_timezone: str | None = None,
    external_locations: Sequence[str | os.PathLike[str]] | None = None,
    compression: Literal["zstd", "zlib", "snappy", "lz4", "brotli", "none", "uncompressed"] | None = None,
    compression_level: int | None = None,
    column_compression: Mapping[str, int | Literal["none"] | None] | None = None,
    compression_block_size: int | None = None,
    stripe_size: int | None = None,
    row_index_stride: int | None = None,
    bloom_filter_columns: Sequence[str] | None = None,
    bloom_filter_fpp: float | None = None,
    dictionary: bool | Mapping[str, bool | None] | None = None,
    metadata: Mapping[str, bytes | str] | None = None,
    timezone: str | None = None,
    version: Literal["0.11", "0.12"] | None = None,
    arrow_schema: bool | None = None,
    threads: int | None = None,
    verify: bool | None = None,
) -> list[WrittenFile]:
    """Writes the rows of a table, of CarbonData or of ORC files, as a folder of ORC files, in memory that does not grow
    with the table. Files appear when they are whole; if something fails, those of this call are removed again. Of ORC
    files that do not name types of Arrow neither do the new ones, so that readers give their columns the same types.

    >>> orcish.convert("warehouse/db/sales", "sales_orc/", bloom_filter_columns=["id"])     # doctest: +SKIP

    Args:
        source: What :func:`orcish.scan` takes.
        target: The folder, or a URL of an object store; neither in the source nor around it.
        columns: The columns to take over, by dotted names; all by default.
        filters: Which rows to take over; see :class:`~orcish.types.ReadOptions`.
        partition_by: Columns whose values name folders, the outermost first; those of the source by default, as far as
            they are taken over.
        existing_data: What to do where the target has data: ``"error"``, ``"append"`` to it, or ``"overwrite"``, which
            removes it once all new files are there.
        max_rows_per_file: Rows after which another file begins.
        storage_options: How the stores of URLs are reached; see :data:`~orcish.types.StorageOptions`.
        target_storage_options: The same for the target, where it is another store.
        limits: Bounds on what each file may make the reader do.
        invalid_utf8: What becomes of text that is not UTF-8; see :class:`~orcish.types.ReadOptions`.
        long_char: What becomes of text longer than its ``char`` or ``varchar``, likewise.
        decimal_out_of_range: What becomes of decimals of more digits than their precision, likewise.
        timestamp_unit: Unit of timestamps, likewise. By default that in which they were written; of ORC files that do
            not say it ``auto``, which keeps all digits where all values are between the years 1678 and 2261.
        timestamps: Whether ORC's ``timestamp`` is read as wall clocks or as instants, likewise. Instants are written as
            ``timestamp with local time zone``, both times of an hour that clocks show twice included.
        source_timezone: With instants, the zone of the JVM in whose clock the source's are read: `timezone` of
            :class:`~orcish.types.ReadOptions`. That of the options is the zone of the files that are written.
        external_locations: Where a table of CarbonData may have files outside of its folder; see
            :class:`~orcish.types.ScanOptions`.
        options: See :class:`~orcish.types.WriteOptions`.

    Returns:
        The files, in the order in which they were finished.

    Raises:
        FileExistsError: The target has data already.
        ValueError: The target is in the source or around it, an option is wrong, or a value cannot be stored.
        NotADirectoryError: There is a file in the place of the target.
        UnsupportedError: The target has data of CarbonData.
        OrcishError: The source cannot be read.
        OSError: A file cannot be read or written.
    """
    options = chosen_options(locals(), WriteOptions)
    base = local_path(os.fspath(target))
    given: ScanOptions = {
        "columns": columns,
        "filters": filters,
        "storage_options": storage_options,
        "limits": limits,
        "external_locations": external_locations,
    }
    choices = {
        "invalid_utf8": invalid_utf8,
        "long_char": long_char,
        "decimal_out_of_range": decimal_out_of_range,
        "timestamps": timestamps,
        "timezone": source_timezone,
        "timestamp_unit": timestamp_unit,
    }
    given.update(cast("ScanOptions", {name: value for name, value in choices.items() if value is not None}))
    table = scan(source, **given)
    _check_apart(source, table, base)
    reader = reader_of(table)
    if isinstance(reader.source, OrcFiles) and not _has_arrow_schema(reader.source, limits):
        # What columns are read as stays what it is, and so do their digits.
        options = {"arrow_schema": False, **options}
        if timestamp_unit is None:
            # Its types are found anew.
            table = Scan(ScanReader(reader.source, {**reader.options, "timestamp_unit": "auto"}))
    schema = table.schema
    if partition_by is None:
        partition_by = [name for name in reader.source.partition_columns if name in schema.names]
    return write_dataset(
        table,
        base,
        partition_by=partition_by,
        max_rows_per_file=max_rows_per_file,
        existing_data=existing_data,
        storage_options=storage_options if target_storage_options is None else target_storage_options,
        **options,
    )


def _has_arrow_schema(table: OrcFiles, limits: Limits | None) -> bool:
    """Whether the first file of a table says of which types of Arrow its columns are."""
    for file in table.files:
        source = file.location if file.source is None else file.source
        # Files of no bytes have no columns; what is wrong with others is said when they are read.
        with contextlib.suppress(OrcishError):
            return has_arrow_schema(ORCFile(source, storage_options=table.storage_options, limits=limits))
    return True


def _check_apart(source: Sources, table: Scan, target: str) -> None:
    """Raises ValueError where what is written would be read, or what is read be overwritten."""
    sources = source if isinstance(source, list | tuple) else [source]
    paths = [os.fspath(each) for each in sources if isinstance(each, str | os.PathLike)]
    folders = [local_path(path) for path in paths if not is_pattern(local_path(path))]
    if any(_is_below(target, folder) for folder in folders):
        raise ValueError(f"the target {target} is in the source")
    if any(_is_below(each, target) for each in [*folders, *table.files]):
        raise ValueError(f"the source is in the target {target}")


def _is_below(location: str, folder: str) -> bool:
    """Whether a path or URL is that of a folder, or of something in it."""
    return f"{_plain(location)}/".startswith(f"{_plain(folder)}/")


def _plain(location: str) -> str:
    """A path or URL in one spelling, as far as that can be known."""
    scheme, separator, rest = location.partition("://")
    if not separator:
        return os.path.realpath(location).rstrip("/")
    # S3 has two names, of which both are in use.
    name = scheme.lower().replace("s3a", "s3").replace("abfss", "abfs")
    return f"{name}://{rest.rstrip('/')}"
