"""Tables of queries of duckdb: datasets with the types that duckdb has."""

from __future__ import annotations

import itertools
import shlex
import string
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from orcish.arrow.nested import fields_by_path, map_fields, value_type
from orcish.datasets.columns import paths_of
from orcish.datasets.dataset import ScanDataset
from orcish.filters.names import dotted
from orcish.filters.residual import Residual
from orcish.io.names import display_name
from orcish.reading.scan import Scan, reader_of

from orcish_cli.json_values import to_json, unique_names
from orcish_cli.terminal import json_line

__all__ = ["Table", "add_table", "lower", "message_of"]

MARKER = "orcish.row"
"""The name of the first column of each dataset, which has no values: duckdb reads the first column of a table to count
its rows, and columns of a file may not be readable.
"""
MAX_DIGITS = 38
"""Maximum digits of decimals in duckdb."""
Steps: TypeAlias = tuple[str, ...]
"""The names that lead to a column or field."""
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def lower(name: str) -> str:
    """A name as duckdb compares names: the case of ASCII letters does not count, that of others does."""
    return name.translate(_LOWER)


def add_table(connection: Any, name: str, rows: Scan, source: str) -> Table:
    """Gives a connection of duckdb a table.

    Columns of types that duckdb does not have are JSON texts. Columns of the same name have those that
    :func:`orcish_cli.json_values.unique_names` gives.

    Args:
        connection: The connection.
        name: The name of the table.
        rows: The rows.
        source: What they are read from, for messages.

    Raises:
        ValueError: There are no columns.
    """
    rows = Scan(reader_of(rows).with_types(_type_of_duckdb))
    names = rows.schema.names
    if not names:
        raise ValueError(
            f"{display_name(source)}: there are no columns, and duckdb has no such tables: orcish count prints the "
            "number of rows"
        )
    schema = pa.schema([field.with_name(own) for field, own in zip(rows.schema, _own_names(names), strict=True)])
    marker = MARKER
    while lower(marker) in map(lower, schema.names):
        marker += "."
    table = Table(name, rows, schema, marker, _foreign_columns(connection, schema), source)
    # The name is that of the source in messages of duckdb.
    connection.register(f"{name} ", table)
    connection.execute(
        f"create temp view {_quoted(name)} as select * exclude ({_quoted(marker)}) from {_quoted(f'{name} ')}"
    )
    return table


def _type_of_duckdb(kind: Any) -> pa.DataType:
    """The type of duckdb that holds all values of one that duckdb does not have, where there is one."""
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_decimal256(kind) and kind.precision <= MAX_DIGITS:
        return pa.decimal128(kind.precision, kind.scale)
    return kind


def _own_names(names: Sequence[str]) -> list[str]:
    """Names that are different, and not empty: duckdb calls a column without a name by its position."""
    used = set(map(lower, names))
    found = []
    for at, name in enumerate(names):
        own = name or next(each for more in itertools.count() if lower(each := f"v{at}{'_' * more}") not in used)
        used.add(lower(own))
        found.append(own)
    return unique_names(found)


def message_of(error: Exception, names: Iterable[str]) -> str:
    """The message of an error of duckdb in one line, with the names of tables that queries have."""
    text = str(error).partition(". Detail: Python exception: Traceback")[0]
    for name in names:
        text = text.replace(f"'{name} '", f"'{name}'")
    return "; ".join(line.strip() for line in text.splitlines() if line.strip())


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _foreign_columns(connection: Any, schema: pa.Schema) -> set[str]:
    """The columns whose types duckdb does not have. Its intervals are in microseconds."""
    fields = {field.name: fields_by_path(pa.schema([field])).values() for field in schema}
    found = {name for name, inner in fields.items() if any(_is_in_nanoseconds(each.type) for each in inner)}
    others = pa.schema([field for field in schema if field.name not in found])
    if not _takes(connection, others):
        found.update(field.name for field in others if not _takes(connection, pa.schema([field])))
    return found


def _is_in_nanoseconds(kind: pa.DataType) -> bool:
    return bool(pa.types.is_duration(kind) and kind.unit == "ns")


def _takes(connection: Any, schema: pa.Schema) -> bool:
    import duckdb

    try:
        # pyarrow does not pass types of any depth on.
        rows = pa.RecordBatchReader.from_stream(pa.RecordBatchReader.from_batches(schema, []))
        connection.from_arrow(rows).fetchall()
    except (duckdb.Error, pa.ArrowException):
        return False
    return True


def _twins(kind: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Steps]]:
    """Pairs of names of fields that differ only by case, in a type; ``steps`` lead to it."""
    kind = value_type(kind)
    if pa.types.is_struct(kind):
        firsts: dict[str, str] = {}
        for field in kind:
            first = firsts.setdefault(lower(field.name), field.name)
            if first != field.name:
                yield (*steps, first), (*steps, field.name)
    children: list[tuple[Any, str]] = []

    def seen(field: pa.Field, step: str) -> pa.Field:
        children.append((field.type, step))
        return field

    map_fields(kind, seen)
    for child, step in children:
        yield from _twins(child, (*steps, step))


class Table(ScanDataset):
    """A dataset for duckdb, which only asks for its schema, and for scanners.

    Args:
        name: The name of the table.
        rows: The rows.
        schema: The columns, each with a name of its own.
        marker: The name of the column in front.
        texts: The columns that are JSON texts.
        source: What the rows are read from, for messages.
    """

    refusal: ValueError | None = None
    """The error about a query. Of an exception, duckdb only passes the text on."""

    def __init__(self, name: str, rows: Scan, schema: pa.Schema, marker: str, texts: set[str], source: str) -> None:
        super().__init__(rows)
        self.name = name
        self._marker = marker
        self._texts = texts
        self._source = display_name(source)
        # Columns of which duckdb may take another one, or whose fields it may take for others.
        self._twins: dict[str, tuple[Steps, Steps]] = {}
        for pair in _twins(pa.struct(list(schema))):
            for step in {name[0] for name in pair}:
                if len(pair[0]) == 1 or step not in texts:
                    self._twins.setdefault(step, pair)
        self._is_renamed = schema.names != self._schema.names
        self._shown = pa.schema([pa.field(marker, pa.bool_()), *map(self._field, schema)])

    def _field(self, field: pa.Field) -> pa.Field:
        return pa.field(field.name, pa.string()) if field.name in self._texts else field

    @property
    def schema(self) -> pa.Schema:
        """The columns that duckdb sees."""
        return self._shown

    def check_names(self) -> None:
        """Checks that the columns have their names in duckdb, as descriptions of the table show them.

        Raises:
            ValueError: Names of columns differ only by case.
        """
        self._check(name for name, (first, _) in self._twins.items() if len(first) == 1)

    def _check(self, names: Iterable[str]) -> None:
        """Checks that some columns are not taken for others, and that decimals are not compared as texts.

        Raises:
            ValueError: Names of columns or fields differ only by case, or duckdb has no decimals of so many digits.
        """
        wanted = list(names)
        wide = next(
            (field for field in self._schema if field.name in wanted and pa.types.is_decimal256(field.type)), None
        )
        if wide is not None:
            self.refusal = ValueError(
                f"{self._source}: column {wide.name} is {wide.type}, and duckdb has no decimals of so many digits: "
                f"orcish convert --cast {shlex.quote(f'{wide.name}=double')} writes others"
            )
            raise self.refusal
        pair = next((self._twins[name] for name in wanted if name in self._twins), None)
        if pair is None:
            return
        argument = ".".join(step if step.isidentifier() else f"`{step}`" for step in pair[1])
        command = f"orcish rewrite {shlex.quote(self._source)} -o NEW"
        if len(pair[1]) == 1:
            what, advice = "columns", f"give one another name: {command} --rename {shlex.quote(f'{argument}=NAME')}"
        else:
            what, advice = "fields", f"write a file that has one of them: {command} -c {shlex.quote(argument)}"
        self.refusal = ValueError(
            f"{self._source}: {what} {dotted(pair[0])} and {dotted(pair[1])} are one name to duckdb, which ignores "
            f"case: {advice}"
        )
        raise self.refusal

    def check_fields(self) -> None:
        """Checks that no field is taken for another one.

        Raises:
            ValueError: Names of columns or fields differ only by case.
        """
        self._check(self._twins)

    def scanner(
        self,
        columns: Any = None,
        filter: pc.Expression | None = None,  # noqa: A002
        **options: Any,
    ) -> Any:
        """A scanner over some columns and rows.

        Raises:
            ValueError: Names of columns or fields that are needed differ only by case from others.
        """
        names = list(self._shown.names if columns is None else columns)
        is_special = bool(self._texts or self._twins or self._is_renamed)
        used = paths_of(filter, self._shown) if is_special and filter is not None else []
        needed = self._shown.names if used is None else [*names, *(path[0] for path in used)]
        self._check(needed)
        if not self._texts.intersection(needed) and self._marker not in names and not self._is_renamed:
            return super().scanner(names, filter, **options)
        # Columns of the same name are read together, and are told apart by their positions.
        read = None if self._is_renamed else [name for name in dict.fromkeys(needed) if name != self._marker]
        # Conditions about texts and about other names are evaluated here.
        is_pushed = read is not None and not self._texts.intersection(read)
        rows = self._query(read, filter if is_pushed else None, options)
        fields = self._shown if read is None else [self._shown.field(0), *map(self._field, rows.schema)]
        schema = pa.schema(list(fields))
        batches = self._batches(rows.batches(), schema)
        if filter is not None and not is_pushed:
            batches = map(Residual(filter, None).apply, batches)
        chosen = (batch.select(names) for batch in batches)
        return ds.Scanner.from_batches(chosen, schema=pa.schema([schema.field(name) for name in names]))

    def _batches(self, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            columns = [self._column(column, name) for name, column in zip(schema.names[1:], batch.columns, strict=True)]
            yield pa.RecordBatch.from_arrays([pa.nulls(len(batch), pa.bool_()), *columns], schema=schema)

    def _column(self, column: pa.Array, name: str) -> pa.Array:
        if name not in self._texts:
            return column
        # Texts of intervals are those of other intervals.
        shown = str if pa.types.is_duration(column.type) else json_line
        return pa.array([None if value is None else shown(value) for value in to_json(column)], pa.string())
