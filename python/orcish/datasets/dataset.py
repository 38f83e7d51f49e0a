"""A scan as a dataset of pyarrow."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from orcish.datasets.foreign import unreadable_dataset
from orcish.datasets.query import Query, check_filter
from orcish.datasets.scanner import ScanScanner
from orcish.errors import UnsupportedError
from orcish.notebook import schema_html
from orcish.reading.orc_files import OrcFiles
from orcish.reading.scan import Scan, reader_of
from orcish.reading.scan_reader import ScanReader
from orcish.reading.source import row_number_name
from orcish.terminal import printable

__all__ = ["ScanDataset", "ScanFragment"]


class ScanDataset(ds.UnionDataset):  # type: ignore[misc]
    """A scan as a dataset of pyarrow; made by :func:`orcish.dataset`.

    Args:
        scan: The scan.
        filters: The filter of the dataset, which follows those of the scan.
    """

    def __init__(self, scan: Scan, filters: pc.Expression | None = None) -> None:
        self._scan = scan
        self._filters = filters
        self._schema = scan.schema
        super().__init__(self._schema, [unreadable_dataset(self._schema)])

    def __repr__(self) -> str:
        filtered = "" if self._filters is None else f" where {self._filters}"
        return printable(repr(self._scan).replace("Scan", "dataset", 1).removesuffix(">") + f"{filtered}>")

    def _repr_html_(self) -> str:
        files = self._scan.files
        return schema_html(repr(self), [("files" if len(files) != 1 else "file", len(files))], self._schema)

    def __reduce__(self) -> tuple[Any, ...]:
        return ScanDataset, (self._scan, self._filters)

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the rows."""
        return self._schema

    @property
    def partition_expression(self) -> pc.Expression:
        """An expression that is true for all rows: ``true``."""
        return pc.scalar(True)

    @property
    def children(self) -> list[ds.Dataset]:
        """Datasets that this one consists of: none."""
        return []

    def scanner(
        self,
        columns: Any = None,
        filter: pc.Expression | None = None,  # noqa: A002
        **options: Any,
    ) -> ScanScanner | ds.Scanner:
        """A scanner over some columns and rows, with the methods of :class:`pyarrow.dataset.Scanner`."""
        query = self._query(columns, filter, options)
        # pyarrow.dataset.write_dataset asks for a scanner like this, and takes none but those of pyarrow.
        is_for_writer = columns is None and filter is None and list(options) == ["use_threads"]
        return query.foreign_scanner() if is_for_writer else ScanScanner(self._schema, query)

    def to_table(
        self,
        columns: Any = None,
        filter: pc.Expression | None = None,  # noqa: A002
        **options: Any,
    ) -> pa.Table:
        """Reads some columns and rows into a table."""
        return self._query(columns, filter, options).table()

    def to_batches(
        self,
        columns: Any = None,
        filter: pc.Expression | None = None,  # noqa: A002
        **options: Any,
    ) -> Iterator[pa.RecordBatch]:
        """Reads some columns and rows batch by batch."""
        return self._query(columns, filter, options).batches()

    def head(
        self,
        num_rows: int,
        columns: Any = None,
        filter: pc.Expression | None = None,  # noqa: A002
        **options: Any,
    ) -> pa.Table:
        """Reads the first rows."""
        return self._query(columns, filter, options).head(num_rows)

    def take(
        self,
        indices: Any,
        columns: Any = None,
        filter: pc.Expression | None = None,  # noqa: A002
        **options: Any,
    ) -> pa.Table:
        """Reads the rows at some positions, in their order."""
        return self._query(columns, filter, options).take(indices)

    def count_rows(self, filter: pc.Expression | None = None, **options: Any) -> int:  # noqa: A002
        """Counts rows, by metadata where these suffice."""
        return self._query(None, filter, options).count()

    def filter(self, expression: pc.Expression) -> ScanDataset:
        """The dataset of the rows for which an expression is true."""
        if expression is None:
            raise TypeError("filter: must be an expression of pyarrow, not None")
        check_filter(expression)
        return ScanDataset(self._scan, self._with_own(expression))

    def get_fragments(self, filter: pc.Expression | None = None) -> Iterator[ScanFragment]:  # noqa: A002
        """Parts of the dataset that can be read alone, by threads and processes: splits of the scan, but for a scan
        with a limit, or with a filter about all rows at once, which is one part. Parts that have no row for which the
        filter is true are left out; parts have all of their rows, as those of pyarrow. If none is left, there is one
        part without rows.
        """
        check_filter(filter)
        reader = reader_of(self._scan)
        if not reader.takes_filters():
            yield ScanFragment(self)
            return
        filters = self._with_own(filter)
        splits = (self._scan if filters is None else self._scan.where(filters)).splits()
        for split in splits:
            part = ScanReader(split.source, reader.options)
            yield ScanFragment(ScanDataset(Scan(part), self._filters))
        if not splits:
            # DataFusion plans no query of no fragments.
            yield ScanFragment(ScanDataset(self._scan.limit(0)))

    def replace_schema(self, schema: pa.Schema) -> ScanDataset:
        """The dataset with another schema: columns are left out, added as null, or of other types, as by the option
        ``schema`` of :func:`orcish.scan`.

        Raises:
            TypeError: There is no schema.
            UnsupportedError: The table is of CarbonData, which has no other schema than its own.
            ValueError: The types of a column do not fit, or a column comes after that of row numbers.
        """
        if not isinstance(schema, pa.Schema):
            raise TypeError(f"schema={schema!r}: must be a schema of pyarrow, not {type(schema).__name__}")
        if schema.equals(self._schema, check_metadata=True):
            return self
        reader = reader_of(self._scan)
        if not isinstance(reader.source, OrcFiles):
            raise UnsupportedError("the schema of a table of CarbonData is its own: cast its batches instead")
        number = row_number_name(reader.options)
        stored = pa.schema([field for field in schema if field.name != number], schema.metadata)
        options = {**reader.options, "columns": stored.names}
        if number not in schema.names:
            options["row_number"] = None
        source = dataclasses.replace(reader.source, schema=stored, table_schema=None)
        found = ScanDataset(Scan(ScanReader(source, options)), self._filters)
        if found.schema.names != schema.names:
            raise ValueError(f"schema: {number} is the column of row numbers, which comes last")
        return found

    def sort_by(self, sorting: Any, **options: Any) -> ds.Dataset:
        """Sorts the rows, in memory."""
        return self._in_memory().sort_by(sorting, **options)

    def join(self, right_dataset: Any, *args: Any, **options: Any) -> ds.Dataset:
        """Joins the rows with those of another dataset, in memory."""
        return self._in_memory().join(_readable(right_dataset), *args, **options)

    def join_asof(self, right_dataset: Any, *args: Any, **options: Any) -> ds.Dataset:
        """Joins the rows with those of another dataset by the nearest keys, in memory."""
        return self._in_memory().join_asof(_readable(right_dataset), *args, **options)

    def _query(self, columns: Any, filters: Any, options: dict[str, Any]) -> Query:
        check_filter(filters)
        return Query.of(self._scan, columns, self._with_own(filters), options)

    def _with_own(self, filters: pc.Expression | None) -> pc.Expression | None:
        if filters is None or self._filters is None:
            return self._filters if filters is None else filters
        return self._filters & filters

    def _in_memory(self) -> ds.Dataset:
        return ds.InMemoryDataset(self.to_table())


def _readable(dataset: Any) -> Any:
    return ds.InMemoryDataset(dataset.to_table()) if isinstance(dataset, ScanDataset) else dataset


class ScanFragment:
    """A part of a dataset, with the methods of :class:`pyarrow.dataset.Fragment`. It can be pickled, unless the source
    is a file object.

    Args:
        dataset: The part as a dataset.
    """

    def __init__(self, dataset: ScanDataset) -> None:
        self._dataset = dataset

    def __repr__(self) -> str:
        return repr(self._dataset).replace("dataset", "fragment", 1)

    @property
    def physical_schema(self) -> pa.Schema:
        """The schema of the dataset."""
        return self._dataset.schema

    @property
    def partition_expression(self) -> pc.Expression:
        """An expression that is true for all rows: ``true``."""
        return self._dataset.partition_expression

    def scanner(self, schema: pa.Schema | None = None, *args: Any, **options: Any) -> ScanScanner | ds.Scanner:
        """As :meth:`ScanDataset.scanner`, with another schema where one is given."""
        return self._with(schema).scanner(*args, **options)

    def to_table(self, schema: pa.Schema | None = None, *args: Any, **options: Any) -> pa.Table:
        """As :meth:`ScanDataset.to_table`, with another schema where one is given."""
        return self._with(schema).to_table(*args, **options)

    def to_batches(self, schema: pa.Schema | None = None, *args: Any, **options: Any) -> Iterator[pa.RecordBatch]:
        """As :meth:`ScanDataset.to_batches`, with another schema where one is given."""
        return self._with(schema).to_batches(*args, **options)

    def head(self, num_rows: int, *args: Any, **options: Any) -> pa.Table:
        """As :meth:`ScanDataset.head`."""
        return self._dataset.head(num_rows, *args, **options)

    def take(self, indices: Any, *args: Any, **options: Any) -> pa.Table:
        """As :meth:`ScanDataset.take`."""
        return self._dataset.take(indices, *args, **options)

    def count_rows(self, *args: Any, **options: Any) -> int:
        """As :meth:`ScanDataset.count_rows`."""
        return self._dataset.count_rows(*args, **options)

    def _with(self, schema: pa.Schema | None) -> ScanDataset:
        return self._dataset if schema is None else self._dataset.replace_schema(schema)
