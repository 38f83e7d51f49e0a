"""Rows with other columns: renamed, cast or left out; and rows whose number is known."""

from __future__ import annotations

import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from orcish.arrow.casting import cast_array
from orcish.errors import CastError, OrcishError, UnknownColumnError, UnsupportedError
from orcish.hints import unknown_column
from orcish.reading.reader import BatchSource, DerivedRows, rows_of

__all__ = ["ChangedRows", "ChosenRows", "CountedRows", "NamedRows"]


class ChangedRows(DerivedRows):
    """The rows of a source with other columns.

    Args:
        rows: The source.
        casts: New types of columns, as fields whose names do not matter.
        renamed: New names of columns.
        dropped: Columns that are left out.

    Raises:
        UnknownColumnError: There is no such column. Raised when rows are requested.
        ValueError: Several columns have a name that is given, two columns get one name, no column is left, or a value
            is not one of the new type.
    """

    def __init__(
        self,
        rows: BatchSource,
        casts: Mapping[str, pa.Field] | None = None,
        renamed: Mapping[str, str] | None = None,
        dropped: Sequence[str] = (),
    ) -> None:
        super().__init__(rows)
        self._casts = dict(casts or {})
        self._renamed = dict(renamed or {})
        self._dropped = frozenset(dropped)

    def _rows(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        own, batches = rows_of(self._given)
        _check_names(own, [*self._casts, *self._renamed, *self._dropped])
        kept = [at for at, field in enumerate(own) if field.name not in self._dropped]
        if not kept:
            raise ValueError("no column is left")
        fields = [self._changed(own.field(at)) for at in kept]
        # Columns that had one name before keep it.
        more = Counter(field.name for field in fields) - Counter(own.names)
        name = next((name for name in more if name in own.names or more[name] > 1), None)
        if name is not None:
            raise ValueError(f"two columns would have the name {name!r}")
        schema = pa.schema(fields, own.metadata)
        return schema, self._batches(batches, kept, schema)

    def _changed(self, field: pa.Field) -> pa.Field:
        name = self._renamed.get(field.name, field.name)
        cast = self._casts.get(field.name)
        return field.with_name(name) if cast is None else cast.with_name(name)

    def _batches(
        self, batches: Iterable[pa.RecordBatch], kept: Sequence[int], schema: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        before = 0
        for batch in batches:
            columns = []
            for at, field in zip(kept, schema, strict=True):
                name = batch.schema.field(at).name
                try:
                    columns.append(cast_array(batch.column(at), field.type))
                except UnsupportedError as error:
                    raise UnsupportedError(f"column {name!r}: {error}") from error
                except CastError as error:
                    row = "" if error.row is None else f"row {before + error.row + 1}: "
                    raise ValueError(f"column {name!r}: {row}{error}") from error
            before += len(batch)
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


class ChosenRows(DerivedRows):
    """The rows of a source with the columns of a schema, and with the fields that their structs have in it.

    Args:
        rows: The source.
        schema: The columns.
        casts: Columns that have other types in the source. They are taken whole.
    """

    def __init__(self, rows: BatchSource, schema: pa.Schema, casts: Collection[str] = ()) -> None:
        super().__init__(rows)
        self._schema = schema
        self._casts = casts

    def _rows(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        own, batches = rows_of(self._given)
        fields = [own.field(field.name) if field.name in self._casts else field for field in self._schema]
        schema = pa.schema(fields, self._schema.metadata)
        return schema, (self._batch(batch, schema) for batch in batches)

    def _batch(self, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        columns = [_with_fields(batch.column(field.name), field.type) for field in schema]
        return pa.RecordBatch.from_arrays(columns, schema=schema)


def _with_fields(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """An array of structs with some of its fields; other arrays are unchanged."""
    if array.type == kind or not pa.types.is_struct(kind):
        return array
    names = [array.type.field(at).name for at in range(array.type.num_fields)]
    fields = [_with_fields(array.field(names.index(field.name)), field.type) for field in kind]
    return pa.StructArray.from_arrays(fields, fields=list(kind), mask=array.is_null())


class NamedRows(DerivedRows):
    """The rows of a source, whose errors name it.

    Args:
        rows: The source, whose errors about columns and values do not name it.
        name: The name for people.
        files: Names of the files, with which other errors begin.

    Raises:
        UnknownColumnError: As that of the source, with the name in front.
        UnsupportedError: Likewise.
        ValueError: Likewise.
    """

    def __init__(self, rows: BatchSource, name: str, files: Iterable[str]) -> None:
        super().__init__(rows)
        self._name = name
        self._begins = tuple(f"{file}: " for file in files)

    def _rows(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        with self._errors():
            schema, batches = rows_of(self._given)
        return schema, self._batches(batches)

    def _batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with self._errors():
            yield from batches

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (UnknownColumnError, UnsupportedError, ValueError) as error:
            if str(error).startswith(self._begins):
                raise
            kind = type(error) if isinstance(error, OrcishError) else ValueError
            raise kind(f"{self._name}: {error}") from error


class CountedRows(DerivedRows):
    """The rows of a source, whose number is known.

    Args:
        rows: The source.
        count: Gives the number of its rows. It is called once, when rows or their number are requested.

    Raises:
        OrcishError: There are more or less rows. Raised after the last row.
    """

    def __init__(self, rows: BatchSource, count: Callable[[], int]) -> None:
        super().__init__(rows)
        self._count = functools.cache(count)

    def _row_count(self) -> int | None:
        return self._count()

    def _rows(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        schema, batches = rows_of(self._given)
        return schema, self._checked(batches)

    def _checked(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        wanted, found = self._count(), 0
        for batch in batches:
            found += len(batch)
            yield batch
        if found != wanted:
            raise OrcishError(f"there are {wanted} rows, of which {found} were read: nothing is written")


def _check_names(schema: pa.Schema, names: Sequence[str]) -> None:
    """Checks that columns are there, once.

    Raises:
        UnknownColumnError: One is not.
        ValueError: Several columns have the name.
    """
    counts = Counter(schema.names)
    for name in names:
        if name not in counts:
            raise unknown_column(name, schema.names)
        if counts[name] > 1:
            raise ValueError(f"column {name!r}: several columns have this name")
