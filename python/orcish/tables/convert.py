"""Conversion of tables to folders of ORC files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, cast

import pyarrow as pa

from orcish import _native
from orcish._native import Location
from orcish.arrow.nested import map_columns
from orcish.filters.pushdown import Filters
from orcish.io.names import errors_about_rows
from orcish.keywords import checked_keywords, chosen_options
from orcish.reading.orc_files import OrcFiles
from orcish.reading.reader import DerivedRows, rows_of
from orcish.reading.scan import Scan, reader_of
from orcish.tables.all_columns import scan_of_all_columns, with_all_digits
from orcish.tables.apart import check_apart
from orcish.tables.inferred_types import infers_written_types
from orcish.tables.log.conflicts import reading
from orcish.tables.write import write_dataset
from orcish.types import ExistingData, Limits, ProgressOption, ScanOptions, Sources, StorageOptions, WriteOptions
from orcish.writing.dataset import MAX_PARTITIONS, WrittenFile

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["convert"]

_ADVICE = (
    "compact, with rewrite=True, writes the files of a table anew in their place; choose another target for the rest"
)


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
    max_partitions: int = MAX_PARTITIONS,
    progress: ProgressOption = False,
    storage_options: StorageOptions | None = None,
    target_storage_options: StorageOptions | None = None,
    limits: Limits | None = None,
    invalid_utf8: Literal["error", "replace", "null", "binary"] | None = None,
    long_char: Literal["keep", "cut", "error"] | None = None,
    decimal_out_of_range: Literal["error", "null"] | None = None,
    timestamp_unit: Literal["s", "ms", "us", "ns", "auto", "exact"] | None = None,
    timestamps: Literal["wall", "instant"] | None = None,
    source_timezone: str | None = None,
    external_locations: Sequence[str | os.PathLike[str]] | None = None,
    **options: Unpack[WriteOptions],
) -> list[WrittenFile]:
    """Converts a table of CarbonData or of ORC files to a folder of ORC files, in memory that does not grow with the
    table.

    The files appear together, in one commit, as those of :func:`orcish.write_dataset`. If the source is ORC files
    without Arrow schema, so is the target, and readers give its columns the same types; if columns of later files have
    types that only an Arrow schema keeps, the target has one. The columns of all files are written, fields of structs
    included, by their names. The keywords of :class:`~orcish.types.WriteOptions` apply to each file. With
    ``keys``, encrypted columns of the source are decrypted, and the target has their values in clear unless ``encrypt``
    names them. Codec, bloom filters, sizes of stripes and row groups, and user metadata of the source files are not
    kept.

    >>> files = orcish.convert("sales/", "sales_orc/", bloom_filter_columns=["id"])
    >>> [(file.rows, file.partition) for file in files]
    [(34, {'city': 'Bern'}), (33, {'city': 'Chur'}), (33, {'city': 'Genf'})]

    Args:
        source: Any source of :func:`orcish.scan`.
        target: The folder, or a URL of an object store. It may not contain the source, nor be inside of it.
        columns: The columns to convert, by dotted names; all by default.
        filters: Which rows to convert; see :class:`~orcish.types.ReadOptions`.
        partition_by: Partition columns, the outermost first; by default the selected partition columns of the source.
        existing_data: What to do where the target has data: ``"error"``, ``"append"``, ``"overwrite"`` or
            ``"overwrite_partitions"``; see :func:`orcish.write_dataset`.
        max_rows_per_file: Maximum rows of a file.
        max_partitions: Maximum number of partitions; see :func:`orcish.write_dataset`.
        progress: True for a bar on the terminal, or a function that is called with a
            :class:`~orcish.types.Progress`, of rows, at the beginning and after each batch. Their total number is not
            known with a filter.
        storage_options: Options of the object stores of URLs; see :data:`~orcish.types.StorageOptions`.
        target_storage_options: Options of the object store of the target, where they differ.
        limits: Limits on what each file may make the reader do.
        invalid_utf8: How invalid UTF-8 is read; see :class:`~orcish.types.ReadOptions`.
        long_char: How strings longer than their ``char`` or ``varchar`` are read, likewise.
        decimal_out_of_range: How decimals of more digits than their precision are read, likewise.
        timestamp_unit: Unit of timestamps, likewise; by default that in which readers of the source see each column,
            without a loss: a value that has more digits than the unit of its column is an error. Given units but
            ``exact`` cut digits off. Targets without an Arrow schema have the digits of all units.
        timestamps: Whether ``timestamp`` of ORC is read as wall clock times or as instants, likewise. Instants are
            written as ``timestamp with local time zone``, which keeps both occurrences of an hour that clocks repeat.
        source_timezone: ``timezone`` of :class:`~orcish.types.ReadOptions`. The keyword ``timezone`` is that of
            writing.
        external_locations: Where a CarbonData table may have files outside of its folder; see
            :class:`~orcish.types.ScanOptions`.

    Returns:
        The files, in the order in which they were finished.

    Raises:
        FileExistsError: The target has data already.
        ValueError: The target contains the source or is inside of it, an option is wrong, or a value cannot be stored.
        NotADirectoryError: The target is a file.
        UnsupportedError: The target has data of CarbonData, or is a transactional table of Hive, or the types of a
            column in two files have no common type.
        LimitExceededError: A timestamp has digits beyond the unit of its column, or does not fit into 64 bits.
        CommitError: A file of the source was removed meanwhile, as by :func:`orcish.compact`; or as in
            :func:`orcish.write_dataset`.
        OrcishError: The source cannot be read.
        OSError: A file cannot be read or written.
    """
    chosen = chosen_options(options, WriteOptions)
    # They decrypt the source, and encrypt what is to be encrypted in the target.
    keys = chosen.get("keys")
    if chosen.get("encrypt") is None:
        chosen.pop("keys", None)
    base = Location(target).path
    given: ScanOptions = {
        "columns": columns,
        "filters": filters,
        "storage_options": storage_options,
        "limits": limits,
        "external_locations": external_locations,
        "keys": keys,
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
    table = scan_of_all_columns(source, dict(given))
    check_apart(
        source,
        table.files,
        base,
        is_folder=True,
        advice=_ADVICE,
        storage=storage_options,
        target_storage=target_storage_options,
    )
    with reading(source, storage_options, table.files):
        reader = reader_of(table)
        schema = table.schema
        infers = infers_written_types(table)
        if timestamp_unit is None:
            table = with_all_digits(reader, keeps_units=chosen.get("arrow_schema", not infers) is not False)
        if infers:
            # Readers infer the same types.
            chosen = {"arrow_schema": False, **chosen}
        if partition_by is None:
            partition_by = [name for name in reader.source.partition_columns if name in schema.names]
        with errors_about_rows(reader.name, base):
            return write_dataset(
                _typed(table, reader.source, partition_by) if isinstance(reader.source, OrcFiles) else table,
                base,
                partition_by=partition_by,
                max_rows_per_file=max_rows_per_file,
                max_partitions=max_partitions,
                existing_data=existing_data,
                progress=progress,
                storage_options=storage_options if target_storage_options is None else target_storage_options,
                **chosen,
            )


def _typed(table: Scan, source: OrcFiles, partition_by: Sequence[str]) -> Scan | _Typed:
    """The scan without the types of partition columns whose values are all null."""
    untyped = _untyped_columns(source).intersection(partition_by)

    def changed(field: pa.Field, path: str) -> pa.Field:
        return field.with_type(pa.null()) if path in untyped else field

    return _Typed(table, map_columns(table.schema, changed)) if untyped else table


class _Typed(DerivedRows):
    """A scan with another schema.

    Args:
        table: The scan.
        schema: Its columns, with other metadata, and with the type ``null`` for columns that have only nulls.
    """

    def __init__(self, table: Scan, schema: pa.Schema) -> None:
        super().__init__(table)
        self._schema = schema

    def _rows(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        return self._schema, map(self._batch, rows_of(self._given)[1])

    def _batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = [
            pa.nulls(len(batch)) if pa.types.is_null(field.type) else column
            for column, field in zip(batch.columns, self._schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema) if columns else batch


def _untyped_columns(table: OrcFiles) -> set[str]:
    """The partition columns of a source that have no type yet: its log has none, and all values are null."""
    untyped = set(table.partition_columns)
    if table.table_schema is not None:
        untyped.intersection_update(_native.untyped_columns(table.table_schema))
    return untyped.difference(name for file in table.files for name, text in file.partition if text is not None)
