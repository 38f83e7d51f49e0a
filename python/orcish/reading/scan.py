"""Scans: tables with a selection of columns and rows, and parts of them."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from orcish.asynchronous import batches_of_thread, table_of_thread
from orcish.errors import text_of
from orcish.filters.names import ColumnName, dotted
from orcish.filters.pushdown import Filters, check_filters
from orcish.hints import SCAN, missing_attribute
from orcish.io.names import display_name
from orcish.keywords import check_integer, checked_keywords
from orcish.progress import reported
from orcish.reading.explanation import Explanation
from orcish.reading.reader import BatchSource
from orcish.reading.scan_reader import ScanReader
from orcish.reading.source import ScanSource
from orcish.terminal import printable
from orcish.types import ProgressOption

__all__ = ["DEFAULT_SPLIT_SIZE", "WHOLE_FILE", "Scan", "Split", "read_split", "reader_of"]

DEFAULT_SPLIT_SIZE = 128 << 20
"""Stored bytes of a split, about."""
WHOLE_FILE = 1 << 62
"""Size of a split that has all of a file."""
MAX_NAMES = 10
"""Names of columns in a text for people."""


class Scan(BatchSource):
    """A table with a selection of columns and rows; made by :func:`orcish.scan`. It is an Arrow stream that can be
    consumed any number of times.

    Scans are immutable: each method that changes the selection returns a new one. They can be pickled, unless a source
    is a file object. A pickle has the list of files and the storage options, and thus credentials; the files are opened
    again where it is loaded.
    """

    @checked_keywords
    def __init__(self, reader: ScanReader) -> None:
        if not isinstance(reader, ScanReader):
            raise TypeError(f"reader={text_of(reader):.100}: orcish.scan makes the scan of a source")
        self._reader = reader

    def __repr__(self) -> str:
        chosen = "; ".join(_said(self._reader.options))
        return printable(f"<orcish.Scan of {self._reader.name}{': ' if chosen else ''}{chosen}>")

    def _repr_html_(self) -> str:
        files = self.files
        from orcish.notebook import schema_html

        return schema_html(repr(self), [("files" if len(files) != 1 else "file", len(files))], self.schema)

    def __array__(self, *_: Any, **__: Any) -> Any:
        # pandas.DataFrame(scan) would have one column of batches.
        raise TypeError("a scan is no array: to_pandas() reads it into a data frame, and to_table() into Arrow")

    def __len__(self) -> int:
        # It would be that of a list of batches.
        raise TypeError("a scan has no length: count() counts its rows")

    def __bool__(self) -> bool:
        return True

    if not TYPE_CHECKING:  # Type checkers would take any name for one that is there.

        def __getattr__(self, name: str) -> None:
            raise missing_attribute("a scan", name, SCAN, dir(type(self)))

    def select(self, *columns: ColumnName | Sequence[ColumnName]) -> Scan:
        """Selects columns, by their names, in this order; also takes one list of names. A tuple of steps is given among
        other names, or in a list.
        """
        names = columns[0] if len(columns) == 1 and isinstance(columns[0], list | tuple) else columns
        return Scan(self._reader.select(names))

    @checked_keywords
    def where(self, filters: Filters | None) -> Scan:
        """Adds a filter; rows have to pass all filters. See ``filters`` of :class:`~orcish.types.ReadOptions`.

        Filters and limits are applied in the order of the calls: after :meth:`limit`, the filter is one of the rows
        that are left. Such a filter skips no stripes.
        """
        if filters is None:
            return self
        check_filters(filters)
        return Scan(self._reader.where(filters))

    @checked_keywords
    def limit(self, rows: int) -> Scan:
        """Limits the number of rows. Filters that follow are those of the rows that are left."""
        before = self._reader.options.get("limit")
        return Scan(self._reader.with_options(limit=rows if before is None else min(before, rows)))

    @checked_keywords
    def batch_size(self, rows: int) -> Scan:
        """Limits the rows of a batch."""
        return Scan(self._reader.with_options(batch_size=check_integer("rows", rows, 1)))

    @property
    def files(self) -> list[str]:
        """Paths or URLs of the files."""
        return self._reader.files

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the selected columns."""
        return self._reader.selected_schema

    @checked_keywords
    def to_table(self, *, progress: ProgressOption = False) -> pa.Table:
        """Reads the rows into a table.

        Args:
            progress: True for a bar on the terminal, or a function that is called with a
                :class:`~orcish.types.Progress`, of rows, at the beginning and after each batch. Their total number is
                not known with a filter.
        """
        return self._reader.read_table(progress)

    def to_pandas(self, **options: Any) -> Any:
        """Reads the rows into a pandas data frame; the keywords are those of :meth:`pyarrow.Table.to_pandas`."""
        return self.to_table().to_pandas(**options)

    def to_polars(self) -> Any:
        """Reads the rows into a polars data frame. :func:`orcish.scan_polars` makes a lazy frame, which pushes its
        columns and filters down.
        """
        from orcish.arrow.polars import to_polars

        return to_polars(self.to_table())

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Reads the rows batch by batch, in memory that does not grow with the files."""
        return self._reader.read_batches()

    def to_batches_async(self) -> AsyncGenerator[pa.RecordBatch, None]:
        """Reads the rows batch by batch, for ``async for``, without blocking the event loop.

        A thread reads the next batch while the program has the last one, and no further. Exceptions are those of
        :meth:`to_batches`. Cancelling the task, or closing the generator, as ``contextlib.aclosing`` does, closes the
        reader.
        """
        return batches_of_thread(self.to_batches)

    async def to_table_async(self) -> pa.Table:
        """Reads the rows into a table, on a thread. After a cancellation, no further batch is read."""
        return await table_of_thread(lambda seen: self._reader.read_table(seen=seen))

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.to_batches()

    def reader(self) -> pa.RecordBatchReader:
        """A reader of pyarrow over the rows, which can be consumed once.

        An error while reading is raised by what consumes the reader: by pyarrow as ``pyarrow.ArrowInvalid``, with the
        same message. :meth:`to_batches`, and functions of orcish that write the rows, raise the errors of orcish.
        """
        return self._reader.record_batch_reader()

    @checked_keywords
    def head(self, rows: int = 10) -> pa.Table:
        """Reads the first rows. Stripes after them are not read."""
        return self.limit(rows).to_table()

    @checked_keywords
    def tail(self, rows: int = 10) -> pa.Table:
        """Reads the last rows, in their order. Stripes before them are not read; of more than 256 stripes, neighbours
        are read together.
        """
        from orcish.reading.parts import last_rows

        return last_rows(self._reader, rows)

    @checked_keywords
    def sample(self, rows: int | None = None, *, fraction: float | None = None, seed: int | None = None) -> pa.Table:
        """Reads rows at random, without repetition, in their order. All rows are equally likely.

        Without a filter, the numbers of rows of the stripes are metadata, and stripes without a chosen row are not
        read; of more than 256 stripes, neighbours are read together. With a filter, the columns of the filter are read
        to count the rows that pass it. Memory grows with the rows of the sample.

        >>> orcish.scan("orders/").sample(3, seed=1).num_rows
        3

        Args:
            rows: How many rows; all if there are less.
            fraction: The part of all rows, from 0 to 1, in place of ``rows``.
            seed: The same seed chooses the same rows of the same files.

        Raises:
            ValueError: Not exactly one of ``rows`` and ``fraction`` is given, or the fraction is not from 0 to 1.
        """
        if (rows is None) == (fraction is None):
            raise ValueError("sample: give either rows or fraction")
        from orcish.reading.parts import sampled_rows

        return sampled_rows(self._reader, rows, fraction, seed)

    @checked_keywords
    def count(self, *, progress: ProgressOption = False) -> int:
        """Counts the rows.

        Stripes whose rows all pass the filter are counted by their metadata. Of the others, only the columns of the
        filter are read.

        Args:
            progress: True for a bar on the terminal, or a function that is called with a
                :class:`~orcish.types.Progress`, in rows that are looked at. The scan is counted split by split.
        """
        if not progress:
            return self._reader.count()
        text = f"count {self._reader.name}"
        if not self._reader.takes_filters():
            # A limit, or a filter about all rows at once, is that of the whole scan.
            with reported(progress, text, None) as add:
                count = self._reader.count()
                add(count)
            return count
        splits = self.splits()
        count = 0
        with reported(progress, text, sum(split.rows for split in splits)) as add:
            for split in splits:
                count += split.scan().count()
                add(split.rows)
        return count

    @checked_keywords
    def min(self, column: str) -> Any:
        """Minimum of a column, given by its dotted name; ``None`` where there are no values. NaN is ignored.

        Stripes whose rows all pass the filter are not read where their statistics are exact.

        Raises:
            TypeError: The type of the column has no order.
            OverflowError: The minimum is a date, a time or a duration out of range for Python's types, such as one
                beyond the year 9999, or a time with digits below microseconds, which ``datetime.time`` does not hold.
                Timestamps and durations of nanoseconds are those of pandas.
            UnknownColumnError: The table does not have the column.
        """
        return self._aggregate(column, "min")

    @checked_keywords
    def max(self, column: str) -> Any:
        """Maximum of a column; like :meth:`min`."""
        return self._aggregate(column, "max")

    @checked_keywords
    def sum(self, column: str) -> Any:
        """Sum of a column of numbers, or the number of true values of a boolean column; like :meth:`min`.

        Floating point columns are always read, as their sum depends on the order of the values. The sum is NaN where a
        value is NaN.
        """
        return self._aggregate(column, "sum")

    def _aggregate(self, column: str, function: Literal["min", "max", "sum"]) -> Any:
        from orcish.reading.aggregates import aggregate

        return aggregate(self._reader, column, function)

    def explain(self) -> Explanation:
        """Explains what reading would do: which files, stripes and row groups (of CarbonData: blocklets and pages) are
        skipped and why, and how much is read.

        Reads the tails and stripe footers, and the row indexes and bloom filters of the columns of the filter.
        """
        return self._reader.explain()

    @checked_keywords
    def splits(self, split_size: int = DEFAULT_SPLIT_SIZE) -> list[Split]:
        """Splits the scan into parts of about ``split_size`` stored bytes, which can be read alone, in any process.

        Stripes that are skipped by statistics are in no split. A limit applies to each split.

        Raises:
            TypeError: The filter is about all rows at once; a split has only some of them.
        """
        options = self._reader.options
        return [
            Split(part.location, part.rows, part.size, part.stripes, part.source, options)
            for part in self._reader.splits(split_size)
        ]

    def _rows(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        return self._reader.read_rows()

    def _row_count(self) -> int | None:
        return self._reader.row_count()

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._reader.stream().__arrow_c_stream__(requested_schema)


def _said(options: dict[str, Any]) -> Iterator[str]:
    """What a scan reads, where it is not everything."""
    columns = options.get("columns")
    if columns is not None:
        names = [str(name) if isinstance(name, int) else dotted(name) for name in columns[:MAX_NAMES]]
        left = len(columns) - len(names)
        yield f"columns {', '.join(names) or 'none'}{f' and {left} more' if left else ''}"
    for name in ("filters", "limit"):
        if options.get(name) is not None:
            yield f"{name} {options[name]}"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Split:
    """Part of a scan: stripes, or blocklets, of one file. It can be pickled, unless the source is a file object, and
    read in any process.
    """

    location: str
    rows: int
    """Rows of the stripes, deleted rows included; 0 for row files of CarbonData streams, which do not record it."""
    size: int
    """Stored bytes of the stripes, all columns."""
    stripes: list[int]
    """Indexes of the stripes, or of the blocklets of a CarbonData file."""
    source: ScanSource
    """The file with its tail, which is not read again."""
    options: dict[str, Any]

    def __repr__(self) -> str:
        name = display_name(self.location)
        return f"Split(location={name!r}, rows={self.rows}, size={self.size}, stripes={self.stripes})"

    def scan(self) -> Scan:
        """The split as a scan."""
        return Scan(ScanReader(self.source, self.options))


def reader_of(scan: Scan) -> ScanReader:
    """The reader behind a scan, for other modules of orcish."""
    return scan._reader


def read_split(split: Split, threads: int) -> ScanReader:
    """The reader of a split with a number of threads."""
    return ScanReader(split.source, {**split.options, "threads": threads})
