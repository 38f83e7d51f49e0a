"""Data files of version 3 and the index files that tell of them."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from support.carbon import thrift
from support.carbon.chunks import Chunk, chunks_of, min_max
from support.carbon.columns import Column, columns_of, schema_list, stored_order
from support.carbon.pages import PageOptions

CLOCK = 1_700_000_000_000


@dataclass(frozen=True)
class FileOptions:
    """How files are written.

    ``local_dictionary`` and ``inverted_index`` are names of columns; True stands for all that can have it.
    """

    sort_columns: tuple[str, ...] = ()
    inverted_index: tuple[str, ...] | bool = ()
    local_dictionary: tuple[str, ...] | bool = True
    dictionary_threshold: int = 10_000
    compressor: str = "snappy"
    page_rows: int = 32_000
    blocklet_rows: int = 320_000
    int_lengths: bool = True
    rle: bool = True
    row_counts: bool = True
    as_apache: bool = False

    def threshold(self, column: Column) -> int:
        """How many values a dictionary of a column may have."""
        chosen = self.local_dictionary
        return self.dictionary_threshold if chosen is True or (chosen and column.name in chosen) else 0

    @property
    def inverted(self) -> tuple[str, ...]:
        return self.sort_columns if self.inverted_index is True else tuple(self.inverted_index or ())


@dataclass
class DataFile:
    """A file that was written: what an index says of it, and the rows of the pages of its blocklets."""

    name: str
    rows: int
    size: int
    footer_at: int
    blocklets: list[tuple[bytes, bytes]]
    blocklet_rows: list[int]
    pages: list[list[int]]
    folder: Path = field(default_factory=Path)


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """A column of a table in one piece."""
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def sort(table: pa.Table, names: Iterable[str]) -> pa.Table:
    """Rows in the order of the sort columns, nulls first."""
    keys = [(name, "ascending", "at_start") for name in names]
    return table.sort_by(keys) if keys and table.num_rows else table


def split(array: pa.Array, rows: int) -> list[pa.Array]:
    return [array.slice(at, rows) for at in range(0, len(array), rows)]


def write_data(
    path: Path, table: pa.Table, columns: list[Column], options: FileOptions, *, clock: int = CLOCK
) -> DataFile:
    """Writes a table, whose rows are in their order already, with the columns in stored order."""
    header = {
        1: thrift.i32(3),
        2: schema_list(columns),
        3: thrift.flag(True),
        4: thrift.i64(clock),
    }
    arrays = {column.name: table.column(column.name) for column in columns}
    paged = PageOptions(options.compressor, options.int_lengths, options.rle, options.as_apache)
    indexes, infos, rows_of, pages_of = [], [], [], []
    with path.open("wb") as file, ThreadPoolExecutor(4) as pool:
        at = file.write(thrift.struct(header))
        for start in range(0, table.num_rows, options.blocklet_rows):
            rows = min(options.blocklet_rows, table.num_rows - start)

            def encode(column: Column, start: int = start, rows: int = rows) -> list[Chunk]:
                array = one_array(arrays[column.name].slice(start, rows))
                return chunks_of(column, split(array, options.page_rows), paged, options.threshold(column))

            made = list(pool.map(encode, columns))
            offsets, ends = [], [at, at]
            for column, chunks in zip(columns, made, strict=True):
                for chunk in chunks:
                    offsets.append(at)
                    at += file.write(chunk.head) + file.write(chunk.body)
                ends[0] = at if column.dimension else ends[0]
                ends[1] = at
            flat = [chunk for chunks in made for chunk in chunks]
            pages = [min(options.page_rows, rows - page) for page in range(0, rows, options.page_rows)]
            infos.append(blocklet_info(rows, offsets, flat, ends, pages, options))
            indexes.append(blocklet_index(flat))
            rows_of.append(rows)
            pages_of.append(pages)
        footer = {
            1: thrift.i64(table.num_rows),
            2: thrift.nested(segment_info(columns)),
            3: thrift.structs(indexes),
            4: thrift.structs(infos),
            6: thrift.flag(bool(options.sort_columns)),
            7: thrift.texts({"version": "2.3.3-SNAPSHOT", "written_by": "tests"}),
        }
        size = at + file.write(thrift.struct(footer)) + file.write(at.to_bytes(8, "big"))
    blocklets = list(zip(indexes, infos, strict=True))
    return DataFile(path.name, table.num_rows, size, at, blocklets, rows_of, pages_of, path.parent)


def blocklet_info(rows: int, offsets, chunks: list[Chunk], ends, pages, options: FileOptions) -> bytes:
    """The struct ``BlockletInfo3``."""
    fields = {
        1: thrift.i32(rows),
        2: thrift.i64s(offsets),
        3: thrift.i32s([len(chunk.head) for chunk in chunks]),
        4: thrift.i64(ends[0]),
        5: thrift.i64(ends[1]),
        6: thrift.i32(len(pages)),
        7: thrift.i32s(pages) if options.row_counts else None,
    }
    return thrift.struct(fields)


def blocklet_index(chunks: list[Chunk]) -> bytes:
    """The struct ``BlockletIndex``."""
    bounds = min_max(
        [chunk.low for chunk in chunks], [chunk.high for chunk in chunks], [chunk.present for chunk in chunks]
    )
    tree = thrift.struct({1: thrift.binary(bytes(8)), 2: thrift.binary(bytes(8))})
    return thrift.struct({1: thrift.nested(bounds), 2: thrift.nested(tree)})


def segment_info(columns: list[Column]) -> bytes:
    flat = sum(1 for column in columns for _ in column.flat())
    return thrift.struct({1: thrift.i32(flat), 2: thrift.i32s([])})


def index_bytes(columns: list[Column], files: list[DataFile], *, sorted_by: bool = False, clock: int = CLOCK) -> bytes:
    """A ``.carbonindex``: one entry per blocklet."""
    header = {
        1: thrift.i32(3),
        2: schema_list(columns),
        3: thrift.nested(segment_info(columns)),
        4: thrift.i32(0),
        5: thrift.i64(clock),
        6: thrift.flag(sorted_by),
    }
    out = [thrift.struct(header)]
    for file in files:
        for rows, (index, info) in zip(file.blocklet_rows, file.blocklets, strict=True):
            entry = {
                1: thrift.i64(rows),
                2: thrift.binary(file.name),
                3: thrift.i64(file.footer_at),
                4: thrift.nested(index),
                5: thrift.nested(info),
                6: thrift.i64(file.size),
            }
            out.append(thrift.struct(entry))
    return b"".join(out)


def merged_index(indexes: dict[str, bytes]) -> bytes:
    """A ``.carbonindexmerge`` of whole index files."""
    return thrift.struct({1: thrift.binaries(indexes)}) + thrift.struct({1: thrift.binaries(indexes.values())})


def write_folder(
    folder: Path, table: pa.Table, *, files: int = 1, index: bool = True, clock: int = CLOCK, **options
) -> list[DataFile]:
    """A table without Metadata, as the SDK writes it: data files, and an index file for each if wanted."""
    chosen = FileOptions(**options)
    folder.mkdir(parents=True, exist_ok=True)
    columns = columns_of(table.schema, sort_columns=chosen.sort_columns, inverted_index=chosen.inverted)
    columns = stored_order(columns, chosen.sort_columns)
    share = -(-table.num_rows // files) or 1
    written = []
    for task, start in enumerate(range(0, table.num_rows, share)):
        part = sort(table.slice(start, share), chosen.sort_columns)
        stem = f"{task}_batchno0-0-null-{clock}"
        path = folder / f"part-0-{stem}.{chosen.compressor}.carbondata"
        written.append(write_data(path, part, columns, chosen, clock=clock))
        if index:
            data = index_bytes(columns, written[-1:], sorted_by=bool(chosen.sort_columns), clock=clock)
            (folder / f"{stem}.carbonindex").write_bytes(data)
    return written
