"""Filters of pyarrow and polars that their libraries evaluate on the batches that have been read."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orcish.arrow.casting import plain_columns, select_rows
from orcish.arrow.exported import ExportedArray
from orcish.arrow.polars import check_polars_types, to_polars
from orcish.errors import UnknownColumnError
from orcish.filters.translation import find_field

__all__ = ["Residual"]


@dataclasses.dataclass(frozen=True)
class Residual:
    """The part of a predicate that is applied after the read. The native core calls :meth:`masks`."""

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

    def masks(self, batches: Sequence[tuple[object, object]]) -> list[tuple[object, object]]:
        """The rows for which the predicate is true: a mask for each batch, all as PyCapsules."""
        rows = [pa.record_batch(ExportedArray(batch)) for batch in batches]
        mask = self._mask(pa.Table.from_batches(rows)) if rows else pa.array([], pa.bool_())
        found, at = [], 0
        for batch in rows:
            found.append(mask.slice(at, len(batch)).__arrow_c_array__())
            at += len(batch)
        return found

    def apply(self, data: Any) -> Any:
        """The rows of a table or batch for which the predicate is true."""
        table = data if isinstance(data, pa.Table) else pa.Table.from_batches([data])
        mask = self._mask(table if self.columns is None else table.select(self.columns or data.schema.names[:1]))
        return select_rows(data, lambda plain: plain.filter(mask))

    def _mask(self, table: pa.Table) -> pa.Array:
        """For each row, whether the predicate is true."""
        if isinstance(self.predicate, pc.Expression):
            mask = _evaluated(plain_columns(table), self.predicate)
        else:
            mask = self._mask_of_polars(to_polars(table))
        whole = mask.combine_chunks() if isinstance(mask, pa.ChunkedArray) else mask
        return pc.fill_null(whole, False)

    def _mask_of_polars(self, frame: Any) -> Any:
        if self.columns is None:
            # The names of all columns may matter, so no column of row numbers can be added.
            answers = frame.select(self.predicate)
            if answers.width > 1:
                # Raises the error of polars.
                frame.filter(self.predicate)
            keep = answers.to_series()
            return (keep if len(keep) == len(frame) else keep.new_from_index(0, len(frame))).to_arrow()
        # polars optimizes filters, whose results with nulls differ from the same expression in a select.
        number = "row of " + " ".join(frame.columns)
        kept = frame.with_row_index(number).filter(self.predicate).get_column(number).to_arrow()
        return pc.is_in(pa.array(range(len(frame)), kept.type), kept)

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
                _evaluated(plain_columns(_row_of_nulls(empty)), self.predicate)
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
                f"the filter {self} does not fit: no column is named {name!r}; did you mean {meant}?"
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


def _evaluated(table: pa.Table, predicate: pc.Expression) -> pa.ChunkedArray:
    """The values of a predicate of pyarrow."""
    # The module imports that of datasets.
    from pyarrow import acero

    source = acero.Declaration("table_source", acero.TableSourceNodeOptions(table))
    # A filter takes what is no boolean for an error, and a projection does not.
    values = acero.ProjectNodeOptions([predicate], ["mask"])
    plan = acero.Declaration.from_sequence([source, acero.Declaration("project", values)])
    mask = plan.to_table(use_threads=False).column(0)
    if not pa.types.is_boolean(mask.type) and not pa.types.is_null(mask.type):
        raise pa.ArrowTypeError(f"the predicate is {mask.type}, and not boolean")
    return mask.cast(pa.bool_())


def _row_of_nulls(empty: pa.Table) -> pa.Table:
    """A table with one row of nulls; the empty table where pyarrow has no nulls of a type."""
    try:
        return pa.Table.from_arrays([pa.nulls(1, field.type) for field in empty.schema], schema=empty.schema)
    except (pa.ArrowException, ValueError):
        return empty
