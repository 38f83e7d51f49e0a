"""The function :func:`diff`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import pyarrow as pa

from orcish._native import Location, has_carbon_metadata
from orcish.arrow.nested import fields_by_path
from orcish.carbon.source import check_no_external
from orcish.comparing.names import paired_names
from orcish.comparing.partitions import Keys, Rows, Side, compare_by_key
from orcish.comparing.result import Difference, Differences
from orcish.comparing.rows import Found, compare_by_position
from orcish.comparing.schemas import metadata_changes, orc_types, schema_changes
from orcish.comparing.types import comparable
from orcish.encryption.keys import Keys as EncryptionKeys
from orcish.errors import OptionError, OptionTypeError, UnknownColumnError
from orcish.filters.pushdown import Filters
from orcish.hints import unknown_column
from orcish.io.filesystem import in_file_system
from orcish.keywords import checked_keywords
from orcish.progress import reported
from orcish.reading.file import ORCFile, has_arrow_schema
from orcish.reading.orc_files import OrcFiles
from orcish.reading.scan import Scan, reader_of
from orcish.reading.scan_reader import ScanReader
from orcish.scanning import scan
from orcish.sizes import parse_size
from orcish.types import FileSystem, Limits, ProgressOption, Sources, StorageOptions

__all__ = ["diff"]

_MAX_MEMORY = 1 << 30


@checked_keywords
def diff(
    a: Sources | Scan,
    b: Sources | Scan,
    *,
    key: Sequence[str] | str | None = None,
    ignore_order: bool = False,
    columns: Sequence[str] | None = None,
    filters: Filters | None = None,
    tolerance: float = 0.0,
    values_only: bool = False,
    check_metadata: bool = False,
    show: int = 100,
    brief: bool = False,
    max_memory: int | str = _MAX_MEMORY,
    invalid_utf8: Literal["error", "replace", "null", "binary"] | None = None,
    timestamps: Literal["wall", "instant"] | None = None,
    timestamp_unit: Literal["s", "ms", "us", "ns", "auto", "exact"] = "exact",
    masked: Literal["error", "allow"] | None = None,
    external_locations: Sequence[str | os.PathLike[str]] | None = None,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
    limits: Limits | None = None,
    keys: EncryptionKeys | None = None,
    progress: ProgressOption = False,
) -> Differences:
    """Compares two files or tables: their columns, and their rows by position, by a key, or as a bag of rows.

    Rows are read batch by batch. Equal batches take little more time than reading. Values are compared by value in
    types of different widths (integers, decimals, floats, strings, units of time). Nulls are equal, and NaN are; so are
    zeros of both signs, and maps whose entries have another order.

    >>> found = orcish.diff("orders.orc", "orders/", columns=["id", "total"], key="id")
    >>> bool(found), found.changed, found.only_a, found.only_b
    (False, 0, 0, 0)

    Args:
        a: Any source of :func:`orcish.scan`, or a scan, which has options of its own.
        b: As ``a``.
        key: Columns whose values tell which rows belong together; by default, rows with the same number do. Rows that
            have the same key in one of both are matched in their order.
        ignore_order: Whether rows belong together that are the same.
        columns: The columns to compare, by dotted names; all by default. Columns of the key are read, too.
        filters: Which rows to compare; see :class:`~orcish.types.ReadOptions`. Numbers of rows count these rows only.
        tolerance: How far floating point values may be apart and equal.
        values_only: Whether types of different widths, and another order of the columns, are no difference.
        check_metadata: Whether user metadata and attributes of columns of two files are compared, too.
        show: Maximum number of differences of rows that are kept; all are counted.
        brief: Whether the comparison ends at the first difference.
        max_memory: Bytes of rows, of both sides together, from which on rows that are matched by a key are written to
            temporary files.
        invalid_utf8: How invalid UTF-8 is read; see :class:`~orcish.types.ReadOptions`. This and the following options
            are of sources that are no scans.
        timestamps: How ``timestamp`` is read, likewise.
        timestamp_unit: The unit of timestamps, likewise. No digit is lost without an error by default; ``"us"`` also
            compares files whose nanoseconds are beside years that nanoseconds do not reach.
        masked: Whether masks of encrypted columns are compared, likewise.
        external_locations: Where a CarbonData table may have files outside of its folder; see
            :class:`~orcish.types.ScanOptions`.
        storage_options: Options of the object stores of URLs; see :data:`~orcish.types.StorageOptions`.
        filesystem: The file system that the paths are within; see :data:`~orcish.types.FileSystem`.
        limits: Limits on what each file may make the reader do.
        keys: Keys of encrypted columns; see :mod:`orcish.encryption`.
        progress: True for a bar on the terminal, or a function that is called with a
            :class:`~orcish.types.Progress`, in rows of both.

    Raises:
        UnknownColumnError: One of both does not have a column.
        TypeError: Rows cannot be matched by a column, or ``check_metadata`` is given for tables.
        ValueError: Options contradict each other, or the tolerance is no number of 0 or more.
        OSError: Rows cannot be read, or temporary files cannot be written.
    """
    if ignore_order and (key is not None or tolerance):
        other = "key" if key is not None else "tolerance"
        raise OptionError("ignore_order", f"rows that are the same are matched, so that there is no {other}")
    given: dict[str, Any] = {"storage_options": storage_options, "limits": limits, "keys": keys}
    places = [in_file_system(source, filesystem, storage_options) for source in (a, b)]
    if not any(has_carbon_metadata(place, storage_options) for place in places):
        check_no_external(external_locations)
    files = [_orc_file(place, given) for place in places]
    first, second = files
    metadata = []
    if check_metadata:
        if first is None or second is None:
            raise OptionTypeError(
                "check_metadata", "metadata are those of two ORC files, and one of both is none", True
            )
        metadata = metadata_changes(first, second)
    wanted = list(key or ())
    # Columns of the key are read, and compared no further.
    added = [] if columns is None else [name for name in wanted if not _has(columns, name)]
    reading = {
        "invalid_utf8": invalid_utf8,
        "timestamps": timestamps,
        "timestamp_unit": timestamp_unit,
        "masked": masked,
    }
    given |= {name: value for name, value in reading.items() if value is not None}
    chosen = None if columns is None else [*added, *columns]
    scans = [_scan(place, chosen, filters, given, external_locations) for place in places]
    left, right = schemas = [each.schema for each in scans]
    # The types of both sides have names of the same kind.
    is_orc = first is not None and second is not None
    types = [orc_types(each, file if is_orc else None) for each, file in zip(schemas, files, strict=True)]
    has_units = not is_orc or all(file is not None and has_arrow_schema(file) for file in files)
    changes = [
        change
        for change in schema_changes(left, right, *types, has_units=has_units)
        if not (values_only and (change.kind == "order" or (change.kind == "type" and change.is_compared)))
        and change.column not in added
    ]
    _check_columns(wanted, left, right)
    # Values of a key are compared, or an error.
    pairs = [
        (at, other)
        for at, other in paired_names(left.names, right.names)
        if left.field(at).name in wanted or comparable(left.field(at).type, right.field(other).type)
    ]
    positions = [[pair[side] for pair in pairs] for side in (0, 1)]
    schema_a, schema_b = (
        pa.schema([each.field(at) for at in own]) for each, own in zip(schemas, positions, strict=True)
    )
    batches_a, batches_b = map(_batches, scans, schemas, positions)
    names = schema_a.names
    key_columns = list(range(len(names))) if ignore_order else [names.index(name) for name in wanted]
    matched = Keys("ignore_order" if ignore_order else "key", schema_a, schema_b, key_columns)
    found = Found(names, key_columns, tolerance, show)
    counts: tuple[int | None, int | None] = (0, 0)
    if not (brief and (changes or metadata)):
        # Files of tables are opened for it.
        rows = list(map(_row_count, scans)) if filters is None and (progress or key_columns) else [None]
        total = None if None in rows else sum(count for count in rows if count is not None)
        with reported(progress, f"compare {reader_of(scans[0]).name}", total) as seen:
            if key_columns:
                by_side: dict[Side, pa.Schema] = {"a": schema_a, "b": schema_b}
                with Rows(by_side, matched, parse_size(max_memory), total or 0) as stored:
                    counts = stored.add_all("a", batches_a, seen), stored.add_all("b", batches_b, seen)
                    for of_a, of_b in stored.parts():
                        compare_by_key(found, matched, of_a, of_b)
            else:
                counts = compare_by_position(found, batches_a, batches_b, seen, is_brief=brief)
    if brief and (changes or metadata or (found.is_any and not key_columns)):
        # Not all rows are read.
        counts = (None, None) if filters is not None else (_row_count(scans[0]), _row_count(scans[1]))
    return Differences(
        tuple(changes),
        tuple(metadata),
        *counts,
        found.changed,
        found.only_a,
        found.only_b,
        dict(found.columns),
        found.duplicate_keys,
        tuple(sorted(found.shown, key=_place) if key_columns else found.shown),
    )


def _batches(rows: Scan, schema: pa.Schema, positions: list[int]) -> Iterator[pa.RecordBatch]:
    """Batches of a scan with some columns, in this order."""
    names = schema.names
    if positions != list(range(len(names))):
        options = reader_of(rows).options
        has_all = options.get("columns") is None and options.get("row_number") is None
        if positions and has_all and len(set(names)) == len(names):
            # Only these columns are read.
            chosen = [names[at] for at in positions]
            rows = rows.select(chosen)
            places = {name: place for place, name in enumerate(rows.schema.names)}
            positions = [places[name] for name in chosen]
    for batch in rows.to_batches():
        yield batch.select(positions)


def _place(difference: Difference) -> tuple[int, int]:
    row = difference.row_b if difference.row_a is None else difference.row_a
    return (-1 if row is None else row, difference.row_a is None)


def _has(columns: Sequence[Any], name: str) -> bool:
    """Whether columns have one of a name, or a part of it."""
    texts = (each if isinstance(each, str) else each[0] for each in columns if isinstance(each, str | tuple))
    return any(f"{text}.".startswith(f"{name}.") for text in texts)


def _scan(
    source: Any,
    columns: Sequence[str] | None,
    filters: Filters | None,
    read: dict[str, Any],
    external: Sequence[str | os.PathLike[str]] | None,
) -> Scan:
    if isinstance(source, Scan):
        rows = source
    else:
        is_table = has_carbon_metadata(source, read["storage_options"])
        rows = scan(source, external_locations=external if is_table else None, **read)
    rows = _with_null_keys(rows)
    return (rows if columns is None else rows.select(list(columns))).where(filters)


def _with_null_keys(rows: Scan) -> Scan:
    """The scan with null keys of maps, unless an option says otherwise."""
    reader = reader_of(rows)
    source = reader.source
    if not isinstance(source, OrcFiles) or "null_map_keys" in reader.options:
        return rows
    fields = fields_by_path(source.full_schema(reader.opened)).values()
    if not any(pa.types.is_map(field.type) for field in fields):
        return rows
    return Scan(ScanReader(source, {**reader.options, "null_map_keys": "dictionary"}))


def _orc_file(source: Any, given: dict[str, Any]) -> ORCFile | None:
    """The file of a source that is one file."""
    if isinstance(source, Scan | list | tuple):
        return None
    if isinstance(source, str | os.PathLike) and ((found := Location(source)).is_several or found.is_carbon_file):
        return None
    try:
        return ORCFile(source, **given)
    except (FileNotFoundError, IsADirectoryError):
        # In an object store, a folder is known only by the names of its files. The scan raises the error of a file.
        return None


def _check_columns(keys: Sequence[str], a: pa.Schema, b: pa.Schema) -> None:
    for key in keys:
        for schema, name in ((a, "a"), (b, "b")):
            if schema.names.count(key) > 1:
                raise UnknownColumnError(
                    f"key: {name} has several columns {key!r}: rows are matched by columns whose name is there once"
                )
            if key not in schema.names:
                raise unknown_column(key, schema.names, f"key: {name}")


def _row_count(rows: Scan) -> int | None:
    """The number of rows, if metadata have it."""
    return reader_of(rows).row_count()
