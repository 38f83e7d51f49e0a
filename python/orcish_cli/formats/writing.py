"""Files of other formats, written batch by batch."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from orcish.arrow.casting import cast_array
from orcish.arrow.nested import map_columns, map_fields, repeated_name, value_type
from orcish.progress import reported
from orcish.reading.reader import BatchSource, row_count_of, rows_of
from orcish.types import ExistingFile, ProgressOption

from orcish_cli.formats.errors import errors_of_writing
from orcish_cli.formats.names import named
from orcish_cli.formats.places import Sink, open_output
from orcish_cli.formats.text_options import TextOptions
from orcish_cli.json_text import json_text
from orcish_cli.json_values import to_json

__all__ = ["ForeignFile", "write_foreign"]

ROW_GROUP_ROWS, ROW_GROUP_BYTES = 1 << 20, 128 << 20
"""Where row groups of Parquet end."""


class ForeignFile(NamedTuple):
    """A file that was written."""

    path: str
    rows: int
    bytes: int


class Writer(Protocol):
    """Writes batches to a sink."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Writes rows."""

    def close(self) -> None:
        """Writes what is left."""

    def abandon(self) -> None:
        """Ends the writer after an error, once the sink drops what is written."""


def write_foreign(
    rows: BatchSource,
    target: str,
    form: str,
    *,
    codec: str,
    level: int | None,
    text: TextOptions,
    storage: dict[str, Any],
    existing_data: ExistingFile,
    progress: ProgressOption,
) -> ForeignFile:
    """Writes a file of another format than ORC. It appears under its name when it is complete.

    Args:
        rows: The rows.
        target: The file, or its URL.
        form: The format.
        codec: The codec, as pyarrow calls it.
        level: Its level.
        text: How text is written.
        storage: Options of the store.
        existing_data: What to do where a file of the name is there.
        progress: As for other functions.

    Raises:
        FileExistsError: The file is there, or has appeared meanwhile, and is not replaced.
        UnsupportedError: The format cannot store a type.
        OrcishError: The rows cannot be read.
        OSError: The file cannot be written.
    """
    schema, batches = rows_of(rows)
    total = row_count_of(rows) if progress else None
    count = 0
    with _published(target, storage, existing_data) as sink, reported(progress, f"write {target}", total) as add:
        with errors_of_writing(target):
            writer = WRITERS[form](sink, schema, codec, level, text.with_delimiter(named(target).delimiter))
        try:
            for batch in batches:
                with errors_of_writing(target):
                    writer.write(batch)
                count += len(batch)
                add(len(batch))
            with errors_of_writing(target):
                writer.close()
        except BaseException:
            sink.abort()
            writer.abandon()
            raise
        size = sink.publish()
    return ForeignFile(target, count, size)


@contextlib.contextmanager
def _published(target: str, storage: dict[str, Any], existing_data: ExistingFile) -> Iterator[Sink]:
    """A file, which is removed if it is not published at the end of the block."""
    sink = open_output(target, storage, existing_data)
    try:
        yield sink
    finally:
        sink.abort()


class ParquetFile:
    """Writes Parquet, with row groups of many batches."""

    def __init__(self, sink: Sink, schema: pa.Schema, codec: str, level: int | None, _: TextOptions) -> None:
        from pyarrow import parquet

        _check_readable(schema)
        self._writer = parquet.ParquetWriter(sink, schema, compression=codec, compression_level=level)
        self._schema = schema
        self._pending: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """See :class:`Writer`."""
        if not self._schema.names and len(batch):
            raise ValueError("Parquet has no rows without columns")
        self._pending.append(batch)
        self._rows += len(batch)
        self._bytes += batch.nbytes
        if self._rows >= ROW_GROUP_ROWS or self._bytes >= ROW_GROUP_BYTES:
            self._end_group()

    def close(self) -> None:
        """See :class:`Writer`."""
        self._end_group()
        self._writer.close()

    def abandon(self) -> None:
        """See :class:`Writer`."""

    def _end_group(self) -> None:
        if self._pending:
            self._writer.write_table(pa.Table.from_batches(self._pending, self._schema))
        self._pending, self._rows, self._bytes = [], 0, 0


def _check_readable(schema: pa.Schema) -> None:
    """Checks that pyarrow reads the columns of a file of Parquet: it writes deeper ones.

    Raises:
        ArrowNotImplementedError: It does not.
    """
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.ParquetWriter(file, schema).close()
    try:
        parquet.ParquetFile(pa.BufferReader(file.getvalue()))
    except (OSError, pa.ArrowException) as error:
        raise pa.ArrowNotImplementedError(f"readers refuse such columns: {error}") from error


class ArrowFile:
    """Writes files of Arrow IPC. Dictionaries are decoded, as each batch may have another one."""

    made = staticmethod(pa.ipc.new_file)

    def __init__(self, sink: Sink, schema: pa.Schema, codec: str, level: int | None, _: TextOptions) -> None:
        plain = pa.schema([field.with_type(_decoded(field.type)) for field in schema], schema.metadata)
        compression = None if codec == "none" else codec
        if compression is not None and level is not None:
            compression = pa.Codec(compression, level)
        options = pa.ipc.IpcWriteOptions(compression=compression)
        self._writer = self.made(sink, plain, options=options)
        self._schema = plain

    def write(self, batch: pa.RecordBatch) -> None:
        """See :class:`Writer`."""
        columns = [cast_array(batch.column(at), field.type) for at, field in enumerate(self._schema)]
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema) if columns else batch)

    def close(self) -> None:
        """See :class:`Writer`."""
        self._writer.close()

    def abandon(self) -> None:
        """See :class:`Writer`."""


class ArrowStream(ArrowFile):
    """Writes streams of Arrow IPC."""

    made = staticmethod(pa.ipc.new_stream)


class Text:
    """Writes bytes of text, compressed or not."""

    def __init__(self, sink: Sink, codec: str) -> None:
        self._stream = sink if codec == "none" else pa.CompressedOutputStream(pa.PythonFile(sink, "w"), codec)

    def close(self) -> None:
        """See :class:`Writer`."""
        if isinstance(self._stream, pa.NativeFile):
            self._stream.close()

    def abandon(self) -> None:
        """See :class:`Writer`. Streams of bz2 that are dropped print their errors."""
        with contextlib.suppress(OSError, pa.ArrowException):
            Text.close(self)


class JsonLines(Text):
    """Writes JSON lines."""

    def __init__(self, sink: Sink, schema: pa.Schema, codec: str, level: int | None, _: TextOptions) -> None:  # noqa: ARG002
        super().__init__(sink, codec)
        name = repeated_name(schema.names)
        if name is not None:
            raise ValueError(f"an object of JSON has one value of a name, and two columns have the name {name!r}")
        map_columns(schema, _check_fields)

    def write(self, batch: pa.RecordBatch) -> None:
        """See :class:`Writer`."""
        for text in json_text([batch]):
            self._stream.write(text.encode())


def _check_fields(field: pa.Field, path: str) -> pa.Field:
    """Checks that the fields of a struct have different names: readers of JSON take one of several."""
    kind = value_type(field.type)
    name = repeated_name(each.name for each in kind) if pa.types.is_struct(kind) else None
    if name is not None:
        raise ValueError(
            f"an object of JSON has one value of a name, and two fields of column {path!r} have the name {name!r}"
        )
    return field


class Csv(Text):
    """Writes CSV. Values of types without a text of CSV are written as JSON."""

    def __init__(self, sink: Sink, schema: pa.Schema, codec: str, level: int | None, text: TextOptions) -> None:  # noqa: ARG002
        from pyarrow import csv

        super().__init__(sink, codec)
        if text.null:
            raise ValueError("--null is of CSV that is read: nulls are written as cells without text")
        if not schema.names:
            raise ValueError("CSV has no rows without columns")
        self._plain = [_is_plain(field.type) for field in schema]
        fields = zip(schema, self._plain, strict=True)
        self._schema = pa.schema([field if plain else pa.field(field.name, pa.string()) for field, plain in fields])
        self._delimiter = text.delimiter or ","
        options = csv.WriteOptions(include_header=text.header, delimiter=self._delimiter)
        self._writer = csv.CSVWriter(self._stream, self._schema, write_options=options)

    def write(self, batch: pa.RecordBatch) -> None:
        """See :class:`Writer`."""
        for column, field in zip(batch.columns, self._schema, strict=True):
            if _has_far_years(column):
                raise pa.ArrowInvalid(
                    f"column {field.name!r} has values beyond the years from -32767 to 32767, of which CSV has no "
                    f"{field.type}: JSON lines have them, and --columns leaves columns out"
                )
        columns = [
            column if plain else pa.array(map(_json, to_json(column)), pa.string())
            for column, plain in zip(batch.columns, self._plain, strict=True)
        ]
        odd = [_has_odd_offsets(column) for column in columns]
        if any(odd):
            self._write_texts(columns, odd)
        else:
            self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def close(self) -> None:
        """See :class:`Writer`."""
        self._writer.close()
        super().close()

    def _write_texts(self, columns: list[pa.Array], are_texts: list[bool]) -> None:
        """Writes rows of which some columns are written as texts."""
        from pyarrow import csv

        texts = [cast_array(each, pa.string()) if own else each for each, own in zip(columns, are_texts, strict=True)]
        options = csv.WriteOptions(include_header=False, delimiter=self._delimiter)
        csv.write_csv(pa.RecordBatch.from_arrays(texts, self._schema.names), self._stream, options)


_FAR = r"^-?([0-9]{6,}|[4-9][0-9]{4}|3[3-9][0-9]{3}|32[89][0-9]{2}|327[7-9][0-9]|3276[89])-"
"""Texts of years beyond 32767, of which pyarrow has wrong ones."""


def _has_far_years(column: pa.Array) -> bool:
    if not pa.types.is_date(column.type) and not pa.types.is_timestamp(column.type):
        return False
    ends = pa.array(pc.min_max(column).values(), column.type)
    return bool(pc.any(pc.match_substring_regex(cast_array(ends, pa.string()), _FAR)).as_py())


def _has_odd_offsets(column: pa.Array) -> bool:
    """Whether pyarrow writes other instants: its texts have hours and minutes of an offset, and offsets of local mean
    time have seconds.
    """
    kind = column.type
    if not pa.types.is_timestamp(kind) or kind.tz in (None, "UTC"):
        return False
    return not column.cast(pa.string()).equals(cast_array(column, pa.string()))


def _json(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_plain(kind: pa.DataType) -> bool:
    """Whether pyarrow writes values of a type as text that it reads as the same value."""
    types = pa.types
    is_kind = (types.is_null, types.is_boolean, types.is_integer, types.is_floating, types.is_decimal)
    is_text = (types.is_string, types.is_large_string, types.is_date, types.is_time, types.is_timestamp)
    return any(found(kind) for found in (*is_kind, *is_text))


def _decoded(kind: pa.DataType) -> pa.DataType:
    """A type without dictionaries."""
    if pa.types.is_dictionary(kind):
        return _decoded(kind.value_type)
    return map_fields(kind, lambda field, _: field.with_type(_decoded(field.type)))


WRITERS: dict[str, Callable[[Sink, pa.Schema, str, int | None, TextOptions], Writer]] = {
    "parquet": ParquetFile,
    "arrow": ArrowFile,
    "arrows": ArrowStream,
    "csv": Csv,
    "json": JsonLines,
}
