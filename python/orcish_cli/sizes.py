"""``orcish sizes``: bytes of columns and of overhead, over all files."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any, NamedTuple

from orcish import ORCFile
from orcish.reading.column_keys import Key, column_keys

from orcish_cli.arguments import add_files, add_limit, add_storage
from orcish_cli.json_statistics import name_cell, streams_text
from orcish_cli.sources import OpenFiles
from orcish_cli.terminal import Column, print_lines, print_objects, print_table

__all__ = ["add_arguments"]

_MAGIC = 3


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Print the stored bytes of columns, the largest first, and of what is no column, summed over all files. The "
        "stripe footers are read, and no data."
    )
    command.epilog = (
        "Bytes of a column do not include those of the columns in it. Files may have different columns, which are "
        "matched by their names. _data has streams of no column, such as those of encrypted columns."
    )
    add_files(command)
    add_limit(command, "only the N largest columns")
    command.add_argument("--streams", action="store_true", help="also the bytes by kind of stream")
    command.add_argument("--json", action="store_true", help="one JSON object for all files")
    add_storage(command)
    command.set_defaults(run=_run)


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


def _run(options: argparse.Namespace) -> int:
    files = OpenFiles(options, "sizes", has_schemas=False)
    sizes = FileSizes()
    for _ in files.each(lambda _, file: sizes.add(file)):
        pass
    if files.code and not sizes.files:
        return files.code
    if options.json:
        print_objects([_described(sizes, options.limit)])
    else:
        _print(sizes, options)
    return files.code


def _described(sizes: FileSizes, limit: int | None) -> dict[str, Any]:
    columns = sorted(sizes.columns.values(), key=lambda column: (-column.bytes, column.name))
    return {
        "files": sizes.files,
        "rows": sizes.rows,
        "stripes": sizes.stripes,
        "bytes": sizes.bytes,
        "columns": [{**column._asdict(), "bytes": column.bytes} for column in columns[:limit]],
        "overhead": sizes.overhead,
    }


def _print(sizes: FileSizes, options: argparse.Namespace) -> None:
    print_lines([f"{sizes.files:,} files, {sizes.rows:,} rows, {sizes.stripes:,} stripes, {sizes.bytes:,} bytes"])
    found: list[tuple[int, str, int | None, dict[str, int]]] = [
        (column.bytes, name_cell(column.name, len(key) == 1), column.index_bytes, column.streams)
        for key, column in sizes.columns.items()
        if column.bytes
    ]
    found += [(size, name, None, {}) for name, size in sizes.overhead.items() if size]
    found.sort(key=lambda each: (-each[0], each[1]))
    columns = [
        Column("percent", lambda each: f"{100 * each[0] / sizes.bytes:.2f}" if sizes.bytes else "", True),
        Column("bytes/row", lambda each: f"{each[0] / sizes.rows:.2f}" if sizes.rows else "", True),
        Column("bytes", lambda each: each[0], True),
        Column("of indexes", lambda each: each[2], True),
        Column("name", lambda each: each[1]),
        Column("streams", lambda each: streams_text(each[3])),
    ]
    print_table(columns if options.streams else columns[:-1], found[: options.limit])
