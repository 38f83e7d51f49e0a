"""Rows of files of other formats, batch by batch."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa
from orcish import _native
from orcish.arrow.casting import cast_array, parse_values, select_rows
from orcish.arrow.exported import ExportedArray, ExportedSchema, check_names
from orcish.arrow.nested import numbered_names
from orcish.errors import CastError, CorruptFileError
from orcish.filters.text import parse
from orcish.hints import unknown_column
from orcish.io.files import TableFile
from orcish.io.names import display_name
from orcish.reading.reader import BatchSource

from orcish_cli.batch_slices import limited
from orcish_cli.formats.csv_lines import csv_rows, csv_schema
from orcish_cli.formats.errors import errors_of_reading
from orcish_cli.formats.json_lines import json_rows, json_schema
from orcish_cli.formats.names import TEXT, named
from orcish_cli.formats.parquet import BATCH_SIZE, open_parquet
from orcish_cli.formats.places import open_bounded, open_input
from orcish_cli.formats.source_types import common_schema
from orcish_cli.formats.text_options import TextOptions
from orcish_cli.formats.text_values import with_text
from orcish_cli.messages import with_stream
from orcish_cli.terminal import show

__all__ = ["ForeignRows", "open_arrow"]

Rows = tuple[pa.Schema, Iterator[pa.RecordBatch]]
Batches = Iterator[pa.RecordBatch]
MAX_OPEN = 100
"""Files that stay open between the read of their columns and that of their rows."""


class Opened(NamedTuple):
    """A file whose columns are known."""

    schema: pa.Schema
    batches: Callable[[pa.Schema], Batches]
    """Its rows, once, given the columns that all files have. Those of text have the types that are asked for."""
    int96: str | None = None
    """The unit that timestamps got which have none in the file."""


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
        coarse: Whether timestamps of Parquet that have no unit get microseconds, and not the unit that each file needs.
    """

    files: list[TableFile]
    form: str
    text: TextOptions
    columns: list[str] | None = None
    filters: Any = None
    limit: int | None = None
    storage: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    coarse: bool = False

    def _rows(self) -> Rows:
        partition = self._partition_fields()
        schemas, opened, units = list[pa.Schema](), dict[str, Opened](), set[str | None]()
        for file in self.files:
            found = self._opened(file)
            schemas.append(found.schema)
            units.add(found.int96)
            if len(units - {None}) > 1:
                return dataclasses.replace(self, coarse=True)._rows()
            # Files of text are open only while they are read.
            if self.form in TEXT or len(opened) < MAX_OPEN:
                opened[file.location] = found
        given = self._common_schema(schemas)
        own = [field for field in given if field.name not in {each.name for each in partition}]
        schema = pa.schema([*own, *partition], given.metadata)
        if self.columns is not None:
            schema = pa.schema([_field(schema, name) for name in self.columns], schema.metadata)
        return schema, limited(self._batches(schema, given, partition, opened), self.limit)

    def _common_schema(self, schemas: list[pa.Schema]) -> pa.Schema:
        """The columns of the files, without partition columns.

        Raises:
            ValueError: A file has other columns, or other types.
        """
        locations = [file.location for file in self.files]
        used = self.columns if self.filters is None else None
        schema = common_schema(schemas, locations, self.form, used)
        return with_text(schema) if self.form in TEXT else schema

    def _row_count(self) -> int | None:
        return None

    def _batches(
        self, schema: pa.Schema, given: pa.Schema, partition: list[pa.Field], opened: dict[str, Opened]
    ) -> Batches:
        for file in self.files:
            values = dict(file.partition)
            constants = {(field.name, 0): _constant(values[field.name], field.type) for field in partition}
            found = opened.pop(file.location, None) or self._opened(file)
            with errors_of_reading(file.location):
                batches = found.batches(given)
            while True:
                with errors_of_reading(file.location):
                    batch = next(batches, None)
                    if batch is None:
                        break
                    kept = self._chosen(_with_types(batch, given, constants), schema)
                if len(kept):
                    yield kept

    def _chosen(self, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        """The rows for which the filter is true, with the columns of a schema."""
        kept = batch if self.filters is None else _kept(batch, self.filters)
        places = _places(kept.schema)
        columns = [kept.column(places[key]) for key in numbered_names(schema.names)]
        return pa.RecordBatch.from_arrays(columns, schema=schema) if columns else kept.select([])

    def _partition_fields(self) -> list[pa.Field]:
        """The partition columns, with the types that readers of ORC infer."""
        names = [name for name, _ in self.files[0].partition]
        if any([name for name, _ in file.partition] != names for file in self.files):
            raise ValueError("the files are in folders of different partition columns: convert them one by one")
        texts = {
            name: [text for file in self.files if (text := dict(file.partition)[name]) is not None] for name in names
        }
        return list(pa.schema(ExportedSchema(_native.infer_partition_schema([*texts.items()], "hive"))))

    def _opened(self, file: TableFile) -> Opened:
        with errors_of_reading(file.location):
            opened = FORMATS[self.form](file.location, self)
            check_names(opened.schema, has_nul=True)
        return opened


def _kept(batch: pa.RecordBatch, filters: str) -> pa.RecordBatch:
    """The rows for which a filter is true.

    Raises:
        UnknownColumnError: There is no such column.
        ValueError: The filter is none, or compares values with those of another type.
    """
    expression = parse(filters, "filters")
    mask = pa.array(ExportedArray(expression.native.mask(batch.__arrow_c_array__())))
    return select_rows(batch, lambda plain: plain.filter(mask))


def _constant(text: str | None, kind: pa.DataType) -> pa.Array:
    return pa.nulls(1, kind) if text is None else parse_values(pa.array([text]), kind)


def _with_types(
    batch: pa.RecordBatch, schema: pa.Schema, constants: Mapping[tuple[str, int], pa.Array]
) -> pa.RecordBatch:
    """A batch of some columns, with the types of a schema, and with partition columns.

    Raises:
        ValueError: A value is not one of its type.
    """
    places = _places(schema)
    fields, columns = [], []
    for key, column in zip(numbered_names(batch.schema.names), batch.columns, strict=True):
        if key in constants:
            continue
        field = schema.field(places[key])
        try:
            columns.append(cast_array(column, field.type))
        except CastError as error:
            raise ValueError(f"column {field.name!r}: {error}") from error
        fields.append(field)
    for (name, _), value in constants.items():
        columns.append(pa.repeat(value[0], len(batch)))
        fields.append(pa.field(name, value.type))
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields)) if columns else batch


def _validated(batches: Batches) -> Batches:
    """The batches of a file.

    Arrow IPC has offsets, indices and texts as they are in the file, Parquet has texts so. The memory of the process is
    read where they are wrong.

    Raises:
        CorruptFileError: They are wrong.
    """
    for batch in batches:
        batch.validate()
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            try:
                column.validate(full=True)
            except pa.ArrowException as error:
                raise CorruptFileError(f"column {name!r}: {error}") from error
        yield batch


def _places(schema: pa.Schema) -> dict[tuple[str, int], int]:
    return {key: at for at, key in enumerate(numbered_names(schema.names))}


def _field(schema: pa.Schema, name: str) -> pa.Field:
    """A column of a schema.

    Raises:
        UnknownColumnError: There is no such column.
        ValueError: There are several.
    """
    if (count := schema.names.count(name)) == 0:
        raise unknown_column(name, schema.names)
    if count > 1:
        raise ValueError(f"{count} columns have the name {name!r}: choose columns and rows by the names of others")
    return schema.field(name)


def _parquet(location: str, rows: ForeignRows) -> Opened:
    wanted = rows.columns if rows.filters is None else None
    file, unit = open_parquet(open_bounded(location, rows.storage), wanted, coarse=rows.coarse)
    schema = file.schema_arrow
    if wanted is not None:
        wanted = [name for name in schema.names if name in wanted]
    return Opened(schema, lambda _: _validated(file.iter_batches(BATCH_SIZE, columns=wanted)), unit)


def _arrow(location: str, rows: ForeignRows) -> Opened:
    file = open_bounded(location, rows.storage)
    found = open_arrow(file)
    if isinstance(found, pa.RecordBatchStreamReader):
        return Opened(found.schema, lambda _: _validated(_stream_batches(found, file, location)))
    batches = (found.get_batch(at) for at in range(found.num_record_batches))
    return Opened(found.schema, lambda _: _validated(batches))


def _stream_batches(reader: pa.RecordBatchStreamReader, file: Any, location: str) -> Batches:
    """The batches of a stream. One that ends without its mark is as good, and may be cut: a line on standard error says
    it.
    """
    yield from reader
    if not file.seekable():
        return
    end = file.tell()
    file.seek(0)
    # Messages of writers before Arrow 0.15 begin with their length.
    mark = END_OF_STREAM if file.read(4) == END_OF_STREAM[:4] else END_OF_STREAM[4:]
    file.seek(max(end - len(mark), 0))
    if file.read(len(mark)) != mark:
        name = with_stream(display_name(location))
        show(f"{name}: the stream has no mark at its end, and may be cut", is_error=True)


def _csv(location: str, rows: ForeignRows) -> Opened:
    file, text = _text_file(location, rows)
    return Opened(csv_schema(file, text), lambda schema: csv_rows(file, text, schema))


def _json(location: str, rows: ForeignRows) -> Opened:
    file, text = _text_file(location, rows)
    return Opened(json_schema(file, text), lambda schema: json_rows(file, text, schema))


def open_arrow(file: Any) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    """The reader of a file of Arrow IPC, or of one of a stream."""
    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    return pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)


def _text_file(location: str, rows: ForeignRows) -> tuple[Callable[[], Any], TextOptions]:
    """What opens a file of text, and how it is read."""
    name = named(location)

    def opened() -> Any:
        file = open_input(location, rows.storage)
        return file if name.compressed == "none" else pa.CompressedInputStream(file, name.compressed)

    return opened, rows.text.with_delimiter(name.delimiter)


END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"
"""What ends a stream of Arrow IPC, unless the connection does."""
FORMATS: dict[str, Callable[[str, ForeignRows], Opened]] = {
    "parquet": _parquet,
    "arrow": _arrow,
    "arrows": _arrow,
    "csv": _csv,
    "json": _json,
}
"""What opens a file of a format. Text is parsed twice: for the types that are inferred, and for the rows."""
