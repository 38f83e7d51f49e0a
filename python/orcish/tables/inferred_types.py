"""Whether readers infer the types of rows from ORC types alone, so that new files need no Arrow schema."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Collection, Iterator, Mapping

import pyarrow as pa

from orcish import _native
from orcish.errors import OrcishError
from orcish.reading.file import ORCFile, has_arrow_schema
from orcish.reading.orc_files import OrcFiles
from orcish.reading.scan import Scan, reader_of
from orcish.reading.schema_file import schema_file
from orcish.tables.all_columns import with_all_columns

__all__ = ["infers_arrow_types", "infers_written_types", "opened_files"]


def infers_arrow_types(rows: Scan, first: ORCFile | None = None) -> bool:
    """Whether the types of a scan of ORC files are those that readers infer, as no Arrow schema is stored.

    It is looked for in the log, or in the first file where the log has no schema.

    Args:
        rows: The scan.
        first: Its first file, where it is open already.
    """
    table = reader_of(rows).source
    if not isinstance(table, OrcFiles):
        return False
    if table.log_infers is not None:
        return table.log_infers
    if table.table_schema is not None:
        return not has_arrow_schema(schema_file(table.table_schema))
    first = first or next(opened_files(table), None)
    return first is not None and not has_arrow_schema(first)


def infers_written_types(
    rows: Scan,
    casts: Mapping[str, pa.Field] | None = None,
    dropped: Collection[str] = (),
    first: ORCFile | None = None,
) -> bool:
    """Whether rows of a scan are written without an Arrow schema: the source has none, and readers infer the types of
    all columns that are written. Units of timestamps are those that readers of the source see, unless the scan has
    another unit.

    Args:
        rows: The scan.
        casts: New types of columns.
        dropped: Columns that are not written.
        first: The first file of the scan, where it is open already.
    """
    if not infers_arrow_types(rows, first):
        return False
    casts = casts or {}
    own = [field for field in rows.schema if field.name not in dropped and field.name not in casts]
    if not are_inferred(casts.values()):
        return False
    if are_inferred(own):
        return True
    if reader_of(rows).options.get("timestamp_unit") not in (None, "exact"):
        return False
    seen: dict[str, list[pa.Field]] = {}
    for field in _seen_types(rows):
        seen.setdefault(field.name, []).append(field)
    # Several columns of one name are told apart by their order.
    return are_inferred([seen[field.name].pop(0) if seen.get(field.name) else field for field in own])


def _seen_types(rows: Scan) -> pa.Schema:
    """The columns of a scan of ORC files with the units of timestamps that readers see by default."""
    reader = reader_of(rows)
    source = reader.source
    options = {name: value for name, value in reader.options.items() if name not in ("timestamp_unit", "columns")}
    assert isinstance(source, OrcFiles)
    inferred = dataclasses.replace(source, schema=None, is_part=False)
    files = with_all_columns(inferred, options, columns=reader.options.get("columns"))
    return files.full_schema(files.open(options))


def are_inferred(fields: Collection[pa.Field]) -> bool:
    """Whether a file of some columns without an Arrow schema is read with their types."""
    return _native.are_inferred(pa.schema(fields).__arrow_c_schema__())


def opened_files(table: OrcFiles) -> Iterator[ORCFile]:
    """The files of a source that can be opened. Files of no bytes have no columns. The read raises other errors."""
    for file in table.files:
        with contextlib.suppress(OrcishError):
            yield ORCFile(file.opened, storage_options=table.storage_options, limits=table.limits)
