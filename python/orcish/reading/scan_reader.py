"""The reader behind a scan: a table, the options that it is read with, and their checks."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import pyarrow as pa

from orcish import _native
from orcish.arrow.exported import ExportedArray
from orcish.errors import NullMapKeyError
from orcish.filters.expression import Expression
from orcish.filters.pushdown import Filters, Successive, combined
from orcish.io.names import display_name
from orcish.reading.explanation import Explanation
from orcish.reading.orc_files import OrcFiles, PartiallyReadable
from orcish.reading.reader import Reader, limit_of_plan, row_number_name
from orcish.reading.source import ScanSource, SplitPart, type_options

__all__ = ["ScanReader"]

T = TypeVar("T")


class ScanReader(Reader):
    """Reads a table under options; immutable.

    Args:
        source: The table.
        options: Keywords of :class:`~orcish.types.ReadOptions`.
        opened: A native scan of the table with the same type options, where there is one already.
    """

    def __init__(self, source: ScanSource, options: dict[str, Any], opened: Any = None) -> None:
        self.source = source
        self.options = options
        self.opened = opened or source.open(options)

    def __reduce__(self) -> tuple[Any, ...]:
        # The native scan is opened again.
        return ScanReader, (self.source, self.options)

    def with_options(self, **options: Any) -> ScanReader:
        """A reader of the same table with other options."""
        return ScanReader(self.source, {**self.options, **options}, self.opened)

    def select(self, columns: Sequence[Any]) -> ScanReader:
        """A reader of some columns.

        Raises:
            TypeError: A column is not given by its name.
        """
        for name in columns:
            if not isinstance(name, str):
                raise TypeError(f"columns are selected by their names, not by {name!r}")
        return self.with_options(columns=list(columns))

    def parts_of_columns(self) -> dict[str, list[str]]:
        """The requested columns, such as ``n.a``, by the columns of the schema that they are in, such as ``n``; empty
        if all columns are read.
        """
        requested, found = self.options.get("columns"), dict[str, list[str]]()
        if requested is None:
            return found
        names = self.selected_schema.names
        for name in map(str, requested):
            only = self.with_options(columns=[name], filters=None, row_number=None)
            found.setdefault(name if name in names else only.selected_schema.names[0], []).append(name)
        return found

    def takes_filters(self) -> bool:
        """Whether further filters can be applied together with those of the options: there is no limit, and no filter
        about all rows at once, which have to be applied before.
        """
        native, residual = self.prepare(self.options)
        limits = [native.get("limit"), *(() if residual is None else residual.limits)]
        return all(limit is None for limit in limits) and (residual is None or residual.by_row)

    def where(self, filters: Filters) -> ScanReader:
        """A reader of the rows for which a further filter is true."""
        before, limit = self.options.get("filters"), self.options.get("limit")
        if limit is not None or not (before is None or isinstance(before, Expression) or self.takes_filters()):
            return self.with_options(filters=Successive(before, limit, filters), limit=None)
        return self.with_options(filters=filters if before is None else combined(before, filters))

    def with_types(self, change: Callable[[pa.DataType], pa.DataType]) -> ScanReader:
        """A reader of the columns of a table of ORC files with other types; a value that they do not hold is an error
        where it is read. Tables of CarbonData have their own types.
        """
        source = self.source
        if not isinstance(source, OrcFiles):
            return self
        whole = source.full_schema(self.opened)
        changed = pa.schema([field.with_type(change(field.type)) for field in whole], whole.metadata)
        return self if changed == whole else ScanReader(dataclasses.replace(source, schema=changed), self.options)

    @property
    def is_one_frame(self) -> bool:
        """Whether the rows are those of one file."""
        return len(self.files) == 1

    @property
    def reads_null_keys(self) -> bool:
        """Whether the files can be read with ``null_map_keys="dictionary"``."""
        return self.source.reads_null_keys

    @property
    def name(self) -> str:
        """What is read, for people."""
        files = self.files
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        return f"{display_name(files[0]) if files else 'no files'}{more}"

    def all_rows(self, options: dict[str, Any]) -> int:
        """The number of rows under options other than ``filters`` and ``limit``, of metadata."""
        kept = {name: value for name, value in options.items() if name not in ("filters", "limit", "row_number")}
        return ScanReader(self.source, {**kept, "columns": []}, self.opened).count()

    @property
    def files(self) -> list[str]:
        """Paths or URLs of the files."""
        source = self.source
        return source.locations if isinstance(source, OrcFiles) else cast("list[str]", self.opened.files)

    def native_scan(self, native: dict[str, Any]) -> Any:
        """The native scan under options of the native core."""
        # Other types need another opening of the table.
        has_other_types = type_options(native) != type_options(self.options)
        opened = self.source.open(native) if has_other_types else self.opened
        try:
            return opened.with_options(native)
        except ValueError as error:
            raise self.with_advice(error, native) from None

    def open(self, native: dict[str, Any]) -> _native.Batches:
        """The batches under options of the native core."""
        return cast("_native.Batches", self.native_scan(native).read())

    def readable_columns(self, native: dict[str, Any]) -> list[str] | None:  # noqa: ARG002
        """The columns that can be read, where some cannot; ``None`` where all can."""
        if not isinstance(self.opened, PartiallyReadable):
            return None
        # Of several columns of one name, the first one is read.
        return list(dict.fromkeys(self.opened.source.full_schema(self.opened).names))

    def _without_unreadable_columns(self) -> ScanReader:
        columns = None if self.options.get("columns") is not None else self.readable_columns({})
        return self if columns is None else self.with_options(columns=columns)

    def check(self) -> None:
        """Raises the errors of the options. Columns that cannot be read are no error until they are selected."""
        readable = self._without_unreadable_columns()
        native, _ = readable.prepare(readable.options)
        readable.native_scan(native)

    def with_null_keys(self, read: Callable[[ScanReader], T]) -> T:
        """What a function reads; keys of maps are dictionaries where one is null and no option says otherwise."""
        try:
            return read(self)
        except NullMapKeyError:
            if "null_map_keys" in self.options or not self.reads_null_keys:
                raise
            return read(ScanReader(self.source, {**self.options, "null_map_keys": "dictionary"}))

    def count(self) -> int:
        """Number of rows."""
        return self.with_null_keys(ScanReader._count)

    def _count(self) -> int:
        readable = self._without_unreadable_columns()
        native, residual = readable.prepare(readable.options)
        if residual is None:
            return cast("int", readable.native_scan(native).count())
        counted = self.select(readable._cheapest_columns(residual.columns))
        return sum(len(batch) for batch in counted.read_batches(counted.options))

    def _cheapest_columns(self, residual_columns: list[str] | None) -> list[str]:
        """A column of the residual, or any other: batches without columns do not have a length everywhere."""
        row_number = row_number_name(self.options)
        names = [name for name in residual_columns or () if name != row_number]
        # A column of row numbers is added anyway.
        return names[:1] if names or row_number else self.schema(self.options).names[:1]

    def only_column(self, column: str) -> ScanReader:
        """The reader of one column."""
        return self.select([] if column == row_number_name(self.options) else [column])

    def aggregate(self, function: str) -> pa.Scalar:
        """The minimum, maximum or sum of the only column. If the column is a struct, it has one field, whose values are
        aggregated.
        """
        # Maps cannot be aggregated, so a map with a null key is a column of the filter, and its keys are not returned.
        return self.with_null_keys(lambda reader: reader._aggregate(function))

    def _aggregate(self, function: str) -> pa.Scalar:
        native, residual = self.prepare(self.options)
        if residual is None:
            result = self.native_scan(self._alone(native)).aggregate(function)
        else:
            # Raises the errors of the aggregate.
            checked = {**self._alone(native), "columns": self.options["columns"], "filter": None, "limit": 0}
            self.native_scan(checked).aggregate(function)
            # Row numbers that the residual needs follow the column.
            column = pa.schema([residual.schema.field(0)])
            state = _native.ColumnAggregate(function, column.__arrow_c_schema__())
            for batch in self.read_batches(self.options):
                state.update(batch.select([0]).__arrow_c_array__())
            result = state.finish()
        return pa.array(ExportedArray(result))[0]

    def _alone(self, native: dict[str, Any]) -> dict[str, Any]:
        """Options of the native core whose batches have the selected column, or else the row numbers, and no other."""
        return {**native, "hide_row_number": bool(self.options["columns"])}

    def statistics(self) -> list[tuple[dict[str, Any], list[int]]] | None:
        """For each file, statistics of the one selected column over all stripes whose rows all pass the filter, and the
        indexes of the other stripes; ``None`` where rows have to be read to know that.
        """
        native, residual = self.prepare(self.options)
        if residual is not None or native.get("limit") is not None:
            return None
        return self.source.statistics(self.native_scan(self._alone(native)))

    def explain(self) -> Explanation:
        """What reading would do."""
        native, residual = self.prepare(self.options)
        # The limit is applied to the plans of all files.
        found = self.native_scan({**native, "limit": None}).explain()
        return Explanation.of(
            found,
            None if residual is None else str(residual),
            self.source.part_names,
            limit=limit_of_plan(native, residual),
            is_partitioned=bool(self.source.partition_columns),
        )

    def of_files(self) -> list[tuple[str, ScanReader]]:
        """A reader of each file of a table of ORC files, with the location of the file. All have the same columns."""
        source = self.source
        if not isinstance(source, OrcFiles):
            return [(self.name, self)]
        files = zip(source.locations, source.of_files(self.opened), strict=True)
        return [(location, ScanReader(file, self.options)) for location, file in files]

    def splits(self, size: int) -> list[SplitPart]:
        """Parts of about ``size`` stored bytes.

        Raises:
            TypeError: The filter is not elementwise.
        """
        native, residual = self.prepare(self.options)
        if residual is not None and not residual.by_row:
            raise TypeError(
                f"the filter {residual} is, or may be, about all rows at once: there are no splits of the "
                "scan, and rows are not deleted by it"
            )
        return list(self.source.splits(self.native_scan(native), size))

    @property
    def selected_schema(self) -> pa.Schema:
        """The schema under the options of this reader."""
        return self.schema(self.options)
