"""What is left of a filter, and is applied to the rows that have been read."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.nested import map_fields
from orcish.arrow.polars import check_is_of_polars, to_polars
from orcish.errors import UnknownColumnError

__all__ = ["Residual", "joined"]


@dataclasses.dataclass(frozen=True)
class Residual:
    """What is left of a predicate, to be applied after the read."""

    predicate: Any
    """An expression of pyarrow or of polars."""
    columns: list[str] | None
    """Names of the top-level columns that it needs; ``None`` where that may be all."""
    by_row: bool = True
    """Whether it may be applied batch by batch. Otherwise, as with ``polars.col("a") > polars.col("a").mean()``, the
    whole table must be there, and there is nothing but the residual."""

    def __str__(self) -> str:
        """The predicate as its library shows it, for explanations."""
        return str(self.predicate)

    def apply(self, data: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
        """The rows for which the predicate is true."""
        if any(pa.types.is_run_end_encoded(field.type) for field in data.schema):
            return _with_runs(self.apply(_without_runs(data)), data.schema)
        # pyarrow neither compares views nor picks rows of them.
        plain = pa.schema([field.with_type(_without_views(field.type)) for field in data.schema])
        if plain == data.schema:
            return self._kept(data)
        return self._kept(data.cast(plain)).cast(data.schema)

    def _kept(self, data: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
        if isinstance(self.predicate, pc.Expression):
            return data.filter(self.predicate)
        # Of columns that polars may not have the types of, it is only told which rows are kept.
        if self.columns is None:
            # A column of row numbers might be one of those asked about.
            frame = to_polars(data)
            answers = frame.select(self.predicate)
            if answers.width > 1:
                # Which polars refuses, in its own words.
                frame.filter(self.predicate)
            keep = answers.to_series()
            return data.filter((keep if len(keep) == len(frame) else keep.new_from_index(0, len(frame))).to_arrow())
        frame = to_polars(data.select(self.columns or data.schema.names[:1]))
        # Filters are optimized, and come to other results with nulls than the same expressions in a select.
        number = "row of " + " ".join(frame.columns)
        kept = frame.with_row_index(number).filter(self.predicate)
        return data.take(kept.get_column(number).to_arrow())

    def check(self, schema: pa.Schema) -> None:
        """Asks the predicate's library whether it fits a table of this schema.

        Raises:
            UnknownColumnError: A column is not in the table.
            ValueError: The predicate does not fit the types of the columns.
            TypeError: The predicate is of polars, and a column of a type that polars has not.
        """
        fields = [field for field in schema if self.columns is None or field.name in self.columns]
        empty = pa.Table.from_batches([], pa.schema(fields))
        if isinstance(self.predicate, pc.Expression):
            try:
                self.apply(empty)
            except pa.ArrowException as error:
                raise self._misfit(error, is_unknown="No match for FieldRef" in str(error)) from error
            return
        check_is_of_polars(pa.schema(fields))
        polars = sys.modules["polars"]
        errors = polars.exceptions
        frame = to_polars(empty)
        try:
            if self.by_row:
                frame.filter(self.predicate)
            else:
                # What is about all rows may be wrong of none of them.
                frame.lazy().filter(self.predicate).collect_schema()
        except (errors.ColumnNotFoundError, errors.StructFieldNotFoundError) as error:
            raise self._misfit(error, is_unknown=True) from error
        except errors.PolarsError as error:
            raise self._misfit(error, is_unknown=False) from error

    def _misfit(self, error: Exception, *, is_unknown: bool) -> Exception:
        reason = (str(error).splitlines() or [""])[0]
        return (UnknownColumnError if is_unknown else ValueError)(f"the filter {self} does not fit: {reason}")


@dataclasses.dataclass(frozen=True)
class _Residuals(Residual):
    """What is left of several predicates."""

    parts: tuple[Residual, ...] = ()

    def __str__(self) -> str:
        return "; ".join(map(str, self.parts))

    def apply(self, data: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
        for part in self.parts:
            data = part.apply(data)
        return data

    def check(self, schema: pa.Schema) -> None:
        for part in self.parts:
            part.check(schema)


def joined(parts: list[Residual]) -> Residual:
    """What is true where all parts are, each of which is about single rows."""
    if len(parts) == 1:
        return parts[0]
    names: list[str] | None = []
    for part in parts:
        names = None if names is None or part.columns is None else [*names, *part.columns]
    columns = None if names is None else list(dict.fromkeys(names))
    return _Residuals([part.predicate for part in parts], columns, parts=tuple(parts))


def _without_runs(data: Any) -> Any:
    """The columns one value a row, as pyarrow picks no rows of runs."""
    columns = [pc.run_end_decode(each) if pa.types.is_run_end_encoded(each.type) else each for each in data.columns]
    fields = zip(data.schema, columns, strict=True)
    schema = pa.schema([field.with_type(column.type) for field, column in fields], data.schema.metadata)
    return type(data).from_arrays(columns, schema=schema)


def _with_runs(data: Any, schema: pa.Schema) -> Any:
    """The columns in runs again, where they were."""

    def encoded(column: Any, kind: pa.DataType) -> Any:
        if not pa.types.is_run_end_encoded(kind):
            return column
        return pc.run_end_encode(column, run_end_type=kind.run_end_type)

    columns = [encoded(column, field.type) for column, field in zip(data.columns, schema, strict=True)]
    return type(data).from_arrays(columns, schema=schema)


def _without_views(kind: pa.DataType) -> pa.DataType:
    """The type with large strings and binaries in place of views."""
    types = pa.types
    if types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary_view(kind):
        return pa.large_binary()
    # Within other types views stay as they are.
    is_cast = types.is_struct(kind) or types.is_list(kind) or types.is_large_list(kind) or types.is_map(kind)
    return map_fields(kind, lambda field, _: field.with_type(_without_views(field.type))) if is_cast else kind
