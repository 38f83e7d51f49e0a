"""Rows of files of other formats, batch by batch."""

from __future__ import annotations

import dataclasses
import functools
import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from orcish import _native
from orcish.arrow.casting import cast_array
from orcish.arrow.exported import ExportedSchema, check_names
from orcish.cli.formats.errors import errors_of_reading
from orcish.cli.formats.names import named
from orcish.cli.formats.places import open_input
from orcish.cli.formats.text import csv_rows, json_rows
from orcish.cli.formats.text_options import TextOptions
from orcish.errors import CorruptFileError, unknown_column
from orcish.io.files import TableFile
from orcish.io.names import display_name
from orcish.reading.file import ORCFile
from orcish.reading.reader import BatchSource
from orcish.tables.partition_values import parse_values
from orcish.writing.rows import limited
from orcish.writing.writer import ORCWriter

__all__ = ["ForeignRows", "open_arrow"]

Rows = tuple[pa.Schema, Iterator[pa.RecordBatch]]
BATCH_SIZE = 65_536


@dataclasses.dataclass(frozen=True)
class ForeignRows(BatchSource):
    """The rows of files of one format that have the same columns. They are read each time that they are asked for.

    Args:
        files: The files, with the values of their partition columns.
        form: The format.
        text: How text is read.
        columns: The columns, in this order; all by default.
        filters: Which rows.
        limit: Maximum number of rows.
        storage: Options of stores.
    """

    files: list[TableFile]
    form: str
    text: TextOptions
    columns: list[str] | None = None
    filters: Any = None
    limit: int | None = None
    storage: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)

    def _rows(self) -> Rows:
        partition = self._partition_fields()
        first, batches = self._file_rows(self.files[0])
        own = [field for field in first if field.name not in {each.name for each in partition}]
        schema = pa.schema([*own, *partition], first.metadata)
        if self.columns is not None:
            schema = pa.schema([_field(schema, name) for name in self.columns], schema.metadata)
        return schema, limited(self._batches(schema, first, batches, partition), self.limit)

    def _row_count(self) -> int | None:
        return None

    def _batches(
        self, schema: pa.Schema, first: pa.Schema, batches: Iterator[pa.RecordBatch], partition: list[pa.Field]
    ) -> Iterator[pa.RecordBatch]:
        for at, file in enumerate(self.files):
            if at:
                own, batches = self._file_rows(file)
                if sorted(own.names) != sorted(first.names):
                    names = [display_name(each.location) for each in (file, self.files[0])]
                    raise ValueError(f"{names[0]} has other columns than {names[1]}: convert them one by one")
            values = dict(file.partition)
            constants = {field.name: parse_values(pa.array([values[field.name]]), field.type) for field in partition}
            for batch in batches:
                if len(batch):
                    yield from self._filtered(_with_constants(batch, constants), schema, file.location)

    def _filtered(self, batch: pa.RecordBatch, schema: pa.Schema, location: str) -> Iterator[pa.RecordBatch]:
        """The rows for which the filter is true, with the columns of a schema."""
        found = [batch]
        with errors_of_reading(location):
            if self.filters is not None:
                # The rows of a file in memory are filtered as those of any file.
                file = io.BytesIO()
                with ORCWriter(file, batch.schema, compression="none", timezone="UTC") as writer:
                    writer.write_batch(batch)
                read = ORCFile(file.getvalue()).read(filters=self.filters, timestamp_unit="exact")
                found = read.to_batches()
            for each in found:
                columns = [cast_array(each.column(field.name), field.type) for field in schema]
                if len(each):
                    yield pa.RecordBatch.from_arrays(columns, schema=schema) if columns else each.select([])

    def _partition_fields(self) -> list[pa.Field]:
        """The partition columns, with the types that readers of ORC infer."""
        names = [name for name, _ in self.files[0].partition]
        if any([name for name, _ in file.partition] != names for file in self.files):
            raise ValueError("the files are in folders of different partition columns: convert them one by one")
        texts = {name: [text for file in self.files if (text := dict(file.partition)[name])] for name in names}
        return list(pa.schema(ExportedSchema(_native.infer_partition_schema([*texts.items()], "hive"))))

    def _file_rows(self, file: TableFile) -> Rows:
        location = file.location
        with errors_of_reading(location):
            schema, batches = READERS[self.form](location, self)
            check_names(schema, has_nul=True)
        return schema, _validated(batches, location)


def _validated(batches: Iterator[pa.RecordBatch], location: str) -> Iterator[pa.RecordBatch]:
    """The batches of a file.

    Arrow IPC has offsets, indices and texts as they are in the file, JSON and Parquet have texts so. The memory of the
    process is read where they are wrong.
    """
    while True:
        with errors_of_reading(location):
            batch = next(batches, None)
            if batch is not None:
                batch.validate()
                for name, column in zip(batch.schema.names, batch.columns, strict=True):
                    try:
                        column.validate(full=True)
                    except pa.ArrowException as error:
                        raise CorruptFileError(f"column {name!r}: {error}") from error
        if batch is None:
            return
        yield batch


def _with_constants(batch: pa.RecordBatch, constants: Mapping[str, pa.Array]) -> pa.RecordBatch:
    if not constants:
        return batch
    columns = {name: batch.column(name) for name in batch.schema.names}
    fields = {field.name: field for field in batch.schema}
    for name, value in constants.items():
        columns[name] = pa.repeat(value[0], len(batch))
        fields[name] = pa.field(name, value.type)
    return pa.RecordBatch.from_arrays([*columns.values()], schema=pa.schema([*fields.values()], batch.schema.metadata))


def _field(schema: pa.Schema, name: str) -> pa.Field:
    """A column of a schema.

    Raises:
        UnknownColumnError: There is no such column.
    """
    if name not in schema.names:
        raise unknown_column(name, schema.names)
    return schema.field(name)


def _parquet(location: str, rows: ForeignRows) -> Rows:
    from pyarrow import parquet

    file = parquet.ParquetFile(open_input(location, rows.storage))
    schema = file.schema_arrow
    wanted = None
    if rows.columns is not None and rows.filters is None:
        wanted = [name for name in schema.names if name in rows.columns]
    return schema, file.iter_batches(BATCH_SIZE, columns=wanted)


def _arrow(location: str, rows: ForeignRows) -> Rows:
    found = open_arrow(open_input(location, rows.storage))
    if isinstance(found, pa.RecordBatchStreamReader):
        return found.schema, iter(found)
    return found.schema, (found.get_batch(at) for at in range(found.num_record_batches))


def open_arrow(file: Any) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    """The reader of a file of Arrow IPC, or of one of a stream."""
    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    return pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)


def _text(location: str, rows: ForeignRows, *, read: Callable[[Callable[[], Any], TextOptions], Rows]) -> Rows:
    name = named(location)

    def opened() -> Any:
        file = open_input(location, rows.storage)
        return file if name.compressed == "none" else pa.CompressedInputStream(file, name.compressed)

    return read(opened, rows.text.with_delimiter(name.delimiter))


READERS: dict[str, Callable[[str, ForeignRows], Rows]] = {
    "parquet": _parquet,
    "arrow": _arrow,
    "arrows": _arrow,
    "csv": functools.partial(_text, read=csv_rows),
    "json": functools.partial(_text, read=json_rows),
}
