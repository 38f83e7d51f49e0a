"""Where the bytes of files are: columns, indexes and overhead."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from orcish.reading.column_keys import Key, column_keys
from orcish.reading.file import ORCFile

__all__ = ["ColumnSize", "FileSizes"]

_MAGIC = 3


class ColumnSize(NamedTuple):
    """Bytes of a column, without those of the columns in it."""

    name: str
    """Dotted name; empty for the root."""
    data_bytes: int
    index_bytes: int
    """Bytes of row indexes and bloom filters."""
    streams: dict[str, int]
    """Bytes by kind of stream."""

    @property
    def bytes(self) -> int:
        """All bytes."""
        return self.data_bytes + self.index_bytes


@dataclasses.dataclass
class FileSizes:
    """Bytes of files, by columns and by overhead. All together are the bytes of the files."""

    files: int = 0
    rows: int = 0
    stripes: int = 0
    bytes: int = 0
    columns: dict[Key, ColumnSize] = dataclasses.field(default_factory=dict)
    """By key, in the order of their appearance."""
    file_footer: int = 0
    """Bytes of footers, postscripts, stripe statistics and the magic."""
    stripe_footer: int = 0
    padding: int = 0
    other: int = 0
    """Bytes of streams of no column, such as those of encrypted variants."""

    def add(self, file: ORCFile) -> None:
        """Adds a file. Its stripe footers are read."""
        storage = file.column_storage()
        self.files += 1
        self.rows += file.num_rows
        self.stripes += file.num_stripes
        self.bytes += file.file_length
        end, streams = _MAGIC, 0
        for stripe in file.stripes:
            self.padding += stripe.offset - end
            self.stripe_footer += stripe.footer_length
            streams += stripe.index_length + stripe.data_length
            end = stripe.offset + stripe.index_length + stripe.data_length + stripe.footer_length
        self.file_footer += file.file_length - end + _MAGIC
        for key, column in zip(column_keys(file), storage, strict=True):
            streams -= column.data_bytes + column.index_bytes
            found = self.columns.get(key, ColumnSize(column.name, 0, 0, {}))
            kinds = {
                kind: found.streams.get(kind, 0) + column.streams.get(kind, 0)
                for kind in {**found.streams, **column.streams}
            }
            data, index = found.data_bytes + column.data_bytes, found.index_bytes + column.index_bytes
            self.columns[key] = ColumnSize(column.name, data, index, kinds)
        self.other += streams

    @property
    def overhead(self) -> dict[str, int]:
        """Bytes of no column, by the names of orc-tools."""
        return {
            "_file_footer": self.file_footer,
            "_stripe_footer": self.stripe_footer,
            "_padding": self.padding,
            "_data": self.other,
        }
