"""``orcish sizes``: bytes of columns and of overhead, over all files."""

from __future__ import annotations

import argparse
import dataclasses
from collections import Counter
from collections.abc import Mapping

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


@dataclasses.dataclass
class ColumnSize:
    """Bytes of a column, without those of the columns in it."""

    name: str
    """Dotted name; empty for the root."""
    data_bytes: int = 0
    index_bytes: int = 0
    """Bytes of row indexes and bloom filters."""
    streams: Counter[str] = dataclasses.field(default_factory=Counter)
    """Bytes by kind of stream."""

    @property
    def bytes(self) -> int:
        """All bytes."""
        return self.data_bytes + self.index_bytes


class FileSizes:
    """Bytes of files, by columns and by overhead. All together are the bytes of the files."""

    def __init__(self) -> None:
        self.totals = dict.fromkeys(("files", "rows", "stripes", "bytes"), 0)
        self.columns: dict[Key, ColumnSize] = {}
        """By key, in the order of their appearance."""
        self.overhead = dict.fromkeys(("_file_footer", "_stripe_footer", "_padding", "_data"), 0)
        """Bytes of no column, by the names of orc-tools. ``_file_footer`` has footers, postscripts, stripe statistics
        and the magic; ``_data`` has streams of no column, such as those of encrypted variants."""

    def add(self, file: ORCFile) -> None:
        """Adds a file. Its stripe footers are read."""
        # Stripe footers may be damaged.
        storage = file.column_storage()
        for name, count in zip(self.totals, (1, file.num_rows, file.num_stripes, file.file_length), strict=True):
            self.totals[name] += count
        end = _MAGIC
        for stripe in file.stripes:
            self.overhead["_padding"] += stripe.offset - end
            self.overhead["_stripe_footer"] += stripe.footer_length
            self.overhead["_data"] += stripe.index_length + stripe.data_length
            end = stripe.offset + stripe.index_length + stripe.data_length + stripe.footer_length
        self.overhead["_file_footer"] += file.file_length - end + _MAGIC
        for key, stored in zip(column_keys(file), storage, strict=True):
            column = self.columns.setdefault(key, ColumnSize(stored.name))
            column.data_bytes += stored.data_bytes
            column.index_bytes += stored.index_bytes
            column.streams.update(stored.streams)
            self.overhead["_data"] -= stored.data_bytes + stored.index_bytes


def _run(options: argparse.Namespace) -> int:
    files = OpenFiles(options, "sizes", has_schemas=False)
    sizes = FileSizes()
    for _ in files.each(lambda _, file: sizes.add(file)):
        pass
    if files.code and not sizes.totals["files"]:
        return files.code
    if options.json:
        columns = sorted(sizes.columns.values(), key=lambda column: (-column.bytes, column.name))
        described = [{**vars(column), "bytes": column.bytes} for column in columns[: options.limit]]
        print_objects([{**sizes.totals, "columns": described, "overhead": sizes.overhead}])
    else:
        _print(sizes, options)
    return files.code


def _print(sizes: FileSizes, options: argparse.Namespace) -> None:
    print_lines([", ".join(f"{count:,} {name}" for name, count in sizes.totals.items())])
    found: list[tuple[int, str, int | None, Mapping[str, int]]] = [
        (column.bytes, name_cell(column.name, len(key) == 1), column.index_bytes, column.streams)
        for key, column in sizes.columns.items()
        if column.bytes
    ]
    found += [(size, name, None, {}) for name, size in sizes.overhead.items() if size]
    found.sort(key=lambda each: (-each[0], each[1]))
    size, rows = sizes.totals["bytes"], sizes.totals["rows"]
    columns = [
        Column("percent", lambda each: f"{100 * each[0] / size:.2f}" if size else "", True),
        Column("bytes/row", lambda each: f"{each[0] / rows:.2f}" if rows else "", True),
        Column("bytes", lambda each: each[0], True),
        Column("of indexes", lambda each: each[2], True),
        Column("name", lambda each: each[1]),
        Column("streams", lambda each: streams_text(each[3])),
    ]
    print_table(columns if options.streams else columns[:-1], found[: options.limit])
