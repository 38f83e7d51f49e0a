"""``orcish sizes``: bytes of columns and of overhead, over all files."""

from __future__ import annotations

import argparse
from typing import Any

from orcish.reading.file_sizes import FileSizes

from orcish_cli.arguments import add_files, add_limit, add_storage
from orcish_cli.json_statistics import name_cell
from orcish_cli.sources import OpenFiles
from orcish_cli.terminal import print_lines, print_objects, print_table

__all__ = ["add_arguments"]


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
    add_limit(command, "only the N largest columns (all)")
    command.add_argument("--streams", action="store_true", help="also the bytes by kind of stream")
    command.add_argument("--json", action="store_true", help="one JSON object for all files")
    add_storage(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    files = OpenFiles(options, "sizes", has_schemas=False)
    sizes = FileSizes()
    for _ in files.each(lambda _, file: sizes.add(file)):
        pass
    if files.code and not sizes.files:
        return files.code
    if options.json:
        print_objects([_described(sizes, options.limit)])
    elif files.seen:
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
    found: list[tuple[int, str, str, dict[str, int]]] = [
        (column.bytes, name_cell(column.name, len(key) == 1), f"{column.index_bytes:,}", column.streams)
        for key, column in sizes.columns.items()
        if column.bytes
    ]
    found += [(size, name, "", {}) for name, size in sizes.overhead.items() if size]
    found.sort(key=lambda each: (-each[0], each[1]))
    rows = [
        [
            f"{100 * size / sizes.bytes:.2f}" if sizes.bytes else "",
            f"{size / sizes.rows:.2f}" if sizes.rows else "",
            f"{size:,}",
            index,
            name_cell(name, is_root=False),
            *([", ".join(f"{kind} {part:,}" for kind, part in streams.items() if part)] if options.streams else []),
        ]
        for size, name, index, streams in found[: options.limit]
    ]
    header = ["percent", "bytes/row", "bytes", "of indexes", "name", *(["streams"] if options.streams else [])]
    print_table(header, rows, [True, True, True, True, False, *([False] if options.streams else [])])
