"""Residual filters, which are applied to the batches that have been read."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish import _native
from orcish.arrow.exported import ExportedArray
from orcish.arrow.polars import check_polars_types, to_polars
from orcish.arrow.selecting import select_rows
from orcish.errors import UnknownColumnError
from orcish.filters.expression import Expression, native_filter
from orcish.filters.translation import find_field

__all__ = ["Residual", "combined_residual", "of_expression"]


@dataclasses.dataclass(frozen=True)
class Residual:
    """The part of a predicate that is applied after the read."""

    predicate: Any
    """An expression of pyarrow or of polars."""
    columns: list[str] | None
    """Names of the top-level columns that the predicate needs; ``None`` where they are not known."""
    by_row: bool = True
    """Whether the predicate is elementwise, so that it can be applied batch by batch. Others, such as
    ``polars.col("a") > polars.col("a").mean()``, need the whole table, and are never combined with a pushed-down
    part."""

    def __str__(self) -> str:
        """The predicate as its library shows it."""
        return str(self.predicate)

    def apply(self, data: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
        """The rows for which the predicate is true."""
        return select_rows(data, self._kept)

    def _kept(self, data: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
        if isinstance(self.predicate, pc.Expression):
            if isinstance(data, pa.Table):
                return data.filter(self.predicate)
            # The filter of a batch fails where pyarrow 17 keeps no row of it.
            kept_batches = pa.Table.from_batches([data]).filter(self.predicate).combine_chunks().to_batches()
            return kept_batches[0] if kept_batches else data.slice(0, 0)
        # polars may not have the types of all columns, so it only computes which rows are kept.
        if self.columns is None:
            # The names of all columns may matter, so no column of row numbers can be added.
            frame = to_polars(data)
            answers = frame.select(self.predicate)
            if answers.width > 1:
                # Raises the error of polars.
                frame.filter(self.predicate)
            keep = answers.to_series()
            return data.filter((keep if len(keep) == len(frame) else keep.new_from_index(0, len(frame))).to_arrow())
        frame = to_polars(data.select(self.columns or data.schema.names[:1]))
        # polars optimizes filters, whose results with nulls differ from the same expression in a select.
        number = "row of " + " ".join(frame.columns)
        kept = frame.with_row_index(number).filter(self.predicate)
        return data.take(kept.get_column(number).to_arrow())

    def check(self, schema: pa.Schema) -> None:
        """Checks that the predicate fits a schema.

        Raises:
            UnknownColumnError: The table does not have a column.
            ValueError: The predicate does not fit the types of the columns, or several columns have a name.
            TypeError: The predicate is of polars, and polars does not have the type of a column.
        """
        is_arrow = isinstance(self.predicate, pc.Expression)
        # Those of an expression of pyarrow that are not known are given by their positions.
        for name in self.columns or (() if is_arrow else schema.names):
            if schema.names.count(name) > 1:
                raise ValueError(f'column "{name}": several columns have this name')
        fields = [field for field in schema if self.columns is None or field.name in self.columns]
        empty = pa.Table.from_batches([], pa.schema(fields))
        if is_arrow:
            try:
                # pyarrow looks at time zones when it evaluates rows.
                self.apply(_row_of_nulls(empty))
            except pa.ArrowException as error:
                raise self._mismatch_error(error, schema, is_unknown="No match for FieldRef" in str(error)) from error
            return
        check_polars_types(pa.schema(fields))
        polars = sys.modules["polars"]
        errors = polars.exceptions
        frame = to_polars(empty)
        try:
            if self.by_row:
                frame.filter(self.predicate)
            else:
                # Predicates about all rows may fail on an empty table.
                frame.lazy().filter(self.predicate).collect_schema()
        except (errors.ColumnNotFoundError, errors.StructFieldNotFoundError) as error:
            raise self._mismatch_error(error, schema, is_unknown=True) from error
        except errors.PolarsError as error:
            raise self._mismatch_error(error, schema, is_unknown=False) from error

    def _mismatch_error(self, error: Exception, schema: pa.Schema, *, is_unknown: bool) -> Exception:
        if is_unknown and (name := self._dotted_name(schema)):
            first, *rest = name.split(".")
            if isinstance(self.predicate, pc.Expression):
                meant = f"pc.field({', '.join(map(repr, (first, *rest)))})"
            else:
                meant = f"pl.col({first!r})" + "".join(f".struct.field({step!r})" for step in rest)
            return UnknownColumnError(
                f"the filter {self} does not fit: there is no column {name!r}; did you mean {meant}?"
            )
        reason = (str(error).splitlines() or [""])[0]
        if "timezone" in reason:
            reason = f"{reason}: instants are compared with a datetime that has a tzinfo, wall clocks with one without"
        return (UnknownColumnError if is_unknown else ValueError)(f"the filter {self} does not fit: {reason}")

    def _dotted_name(self, schema: pa.Schema) -> str | None:
        """The first column of the predicate whose name is the dotted name of a nested column, which it is only in
        orcish.
        """
        return next(
            (
                name
                for name in self.columns or ()
                if name not in schema.names and find_field(schema, name.split(".")) is not None
            ),
            None,
        )


@dataclasses.dataclass(frozen=True)
class _OwnResidual(Residual):
    """A predicate of orcish, which the native core evaluates on the batches."""

    bound: list[tuple[pa.Schema, _native.RowFilter]] = dataclasses.field(default_factory=list)
    """The predicate bound to the columns of the last batch."""

    def apply(self, data: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
        columns = data.select(self.columns or data.schema.names[:1])
        if isinstance(data, pa.Table):
            mask = pa.chunked_array(map(self._mask, columns.to_batches()), pa.bool_())
        else:
            mask = self._mask(columns)
        return select_rows(data, lambda plain: plain.filter(mask))

    def check(self, schema: pa.Schema) -> None:
        self._bind(schema)

    def _mask(self, batch: pa.RecordBatch) -> pa.Array:
        """For each row, whether the predicate is true."""
        return pa.array(ExportedArray(self._bind(batch.schema).mask(batch.__arrow_c_array__())))

    def _bind(self, schema: pa.Schema) -> _native.RowFilter:
        if not self.bound or self.bound[0][0] != schema:
            self.bound[:] = [(schema, _native.RowFilter(native_filter(self.predicate), schema.__arrow_c_schema__()))]
        return self.bound[0][1]


def of_expression(expression: Expression, names: Sequence[str]) -> Residual:
    """The residual of a predicate of orcish.

    Args:
        expression: The predicate.
        names: Names of the columns that there are.
    """
    tops = (max((own for own in names if _is_within(name, own)), key=len, default=name) for name in expression.columns)
    return _OwnResidual(expression, list(dict.fromkeys(tops)))


def _is_within(name: str, column: str) -> bool:
    """Whether a dotted name is that of a column, or of a field within it."""
    return name == column or name.startswith(f"{column}.")


@dataclasses.dataclass(frozen=True)
class _Conjunction(Residual):
    """The conjunction of several residuals."""

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


def _row_of_nulls(empty: pa.Table) -> pa.Table:
    """A table with one row of nulls; the empty table where pyarrow has no nulls of a type."""
    try:
        return pa.Table.from_arrays([pa.nulls(1, field.type) for field in empty.schema], schema=empty.schema)
    except (pa.ArrowException, ValueError):
        return empty


def combined_residual(parts: list[Residual]) -> Residual:
    """The conjunction of elementwise residuals."""
    if len(parts) == 1:
        return parts[0]
    names: list[str] | None = []
    for part in parts:
        names = None if names is None or part.columns is None else [*names, *part.columns]
    columns = None if names is None else list(dict.fromkeys(names))
    return _Conjunction([part.predicate for part in parts], columns, parts=tuple(parts))
