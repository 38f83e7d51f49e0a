"""What files say of their parts."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

__all__ = ["BloomFilter", "ColumnStatistics", "ColumnStorage", "Finding", "RowGroup", "StripeInfo"]


@dataclasses.dataclass(frozen=True)
class StripeInfo:
    """Position of a stripe in the file, in bytes, and its rows."""

    offset: int
    index_length: int
    data_length: int
    footer_length: int
    num_rows: int
    first_row: int


@dataclasses.dataclass(frozen=True)
class ColumnStorage:
    """How a column is stored, in all or some stripes of a file; see :meth:`orcish.ORCFile.column_storage`."""

    name: str
    """Dotted name; empty for the root."""
    data_bytes: int
    """Stored bytes of the values: of all streams but indexes, without those of nested columns."""
    index_bytes: int
    """Stored bytes of row indexes and bloom filters, without those of nested columns."""
    total_bytes: int
    """All stored bytes, with nested columns."""
    encodings: dict[str, int]
    """Encodings, such as ``DICTIONARY_V2``, and the number of stripes with each."""
    streams: dict[str, int]
    """Stored bytes by kind of stream, such as ``PRESENT`` and ``ROW_INDEX``, without those of nested columns."""
    dictionary_entries: int
    """Entries of the dictionaries of all stripes."""


@dataclasses.dataclass(frozen=True)
class BloomFilter:
    """The size of the bloom filter of a row group, and how full it is."""

    kind: str
    """Kind of its stream: ``BLOOM_FILTER_UTF8`` or ``BLOOM_FILTER``."""
    hash_functions: int
    bits: int
    bits_set: int

    @property
    def false_positives(self) -> float:
        """The share of absent values that the filter does not exclude, from 0 to 1."""
        return float((self.bits_set / self.bits) ** self.hash_functions)


@dataclasses.dataclass(frozen=True)
class RowGroup:
    """A row group of a column, as the row index records it; see :meth:`orcish.ORCFile.row_groups`."""

    stripe: int
    """Index of the stripe."""
    first_row: int
    """Number of the first row in the stripe."""
    num_rows: int
    statistics: ColumnStatistics | None
    """``None`` where the writer recorded none."""
    positions: list[int]
    """Positions in the streams of the column (ORCv1, Row Group Index)."""
    bloom_filter: BloomFilter | None
    """``None`` where there is none that can be read."""


@dataclasses.dataclass(frozen=True)
class ColumnStatistics:
    """Statistics of a column that a writer recorded for a file or a stripe; ``None`` is unknown.

    Statistics that a known fault of the writer may have made wrong are left out.
    """

    kind: str
    """Kind of the statistics: ``integer``, ``double``, ``string``, … or ``none``."""
    values: int | None = None
    """Number of values that are not null."""
    has_null: bool | None = None
    bytes_on_disk: int | None = None
    min: Any = None
    """Minimum, with the type that pyarrow would give it. Of strings it may be a prefix, see :attr:`min_is_exact`;
    ``None`` where it is not UTF-8. A timestamp of nanoseconds is rounded down to microseconds; see
    :attr:`min_nanoseconds`. Outside of the years 1 to 9999, it is a number: of days since 1970, or of nanoseconds."""
    max: Any = None
    """Maximum, likewise. A timestamp of nanoseconds is rounded up."""
    min_is_exact: bool | None = None
    """Whether it is no prefix of a string, and no rounded timestamp."""
    max_is_exact: bool | None = None
    min_nanoseconds: int | None = None
    """Minimum of timestamps, in nanoseconds since 1970-01-01 00:00:00, with the digits that the writer recorded."""
    max_nanoseconds: int | None = None
    """Maximum, likewise."""
    is_instant: bool | None = None
    """Of timestamps: whether they are instants, and no wall clocks."""
    sum: Any = None
    """Sum of the values. It is NaN, and there are no bounds, where a value is NaN and the writer recorded that."""
    total_length: int | None = None
    """Total length of strings or binaries, in bytes."""
    true_count: int | None = None
    min_children: int | None = None
    """Minimum number of elements of a list or map; the Java and C++ libraries count them wrongly."""
    max_children: int | None = None
    total_children: int | None = None
    bounding_box: dict[str, tuple[float, float]] | None = None
    """Bounds of geometries, by axis."""
    geospatial_types: tuple[int, ...] | None = None


class Finding(NamedTuple):
    """A contradiction within a file; see :meth:`orcish.ORCFile.check`."""

    stripe: int | None
    """Index of the stripe; ``None`` for the whole file."""
    group: int | None
    """Index of the row group within the stripe; ``None`` for the whole stripe or file."""
    column: str
    """Dotted name; empty for the root."""
    message: str
    contradicts_rows: bool
    """Whether the finding contradicts the rows, so that they may be damaged. Other findings are deviations from the
    specification that change no value."""
