"""Rows of some stripes of a table, on which options of writing are tried."""

from __future__ import annotations

import collections
import random
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from orcish import _native
from orcish.reading.file import ORCFile
from orcish.reading.table_file import file_of_schema_of, file_of_table
from orcish.tables.orc_sources import OrcSource
from orcish.types import ColumnStorage, ReadOptions, StorageOptions, StripeInfo
from orcish.writing.timestamps import with_schema

__all__ = ["DEFAULT_STRIPE_SIZE", "Sample", "Settings", "stored_bytes", "take_sample"]

_MAX_FILES = 50
"""Files that are opened; of larger tables, some are chosen at random."""
_BATCH_SIZE = 16_384
_LEAST_BATCH = 16
_LEAST_STRIDE = 1000
"""The fewest rows of a row group that are written."""
_CHUNKS = (1 << 10, (1 << 23) - 1)
"""Bytes of a compression chunk that can be written."""
DEFAULT_STRIPE_SIZE = 64 << 20
"""The default of :func:`orcish.write_table`."""
_BLOOMS = ("BLOOM_FILTER", "BLOOM_FILTER_UTF8")
_READ: ReadOptions = {"timestamp_unit": "exact", "strings": "utf8"}


class Settings(NamedTuple):
    """How the files are written."""

    compression: str
    block_size: int
    stride: int
    full_stripe_size: int | None
    """Median of the stored bytes of stripes that another one follows; ``None`` where each file has one stripe."""
    blooms: tuple[str, ...]
    """Columns with bloom filters."""
    version: str

    @property
    def stripe_size(self) -> int:
        """The stripe size that files are written with."""
        return DEFAULT_STRIPE_SIZE if self.full_stripe_size is None else self.full_stripe_size

    def options(self, changed: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Options of writing that come nearest, with some of them changed. What files do not record, such as levels, is
        the default. ``orcish rewrite`` keeps the version, unless bloom filters need another one.
        """
        options: dict[str, Any] = {
            "compression": "lz4" if self.compression == "lzo" else self.compression,
            "row_index_stride": max(self.stride, _LEAST_STRIDE) if self.stride else 0,
        }
        if self.full_stripe_size is not None:
            options["stripe_size"] = self.full_stripe_size
        least, most = _CHUNKS
        if self.block_size >= least:
            options["compression_block_size"] = min(self.block_size, most)
        if self.blooms and self.stride:
            options["bloom_filter_columns"] = list(self.blooms)
        options |= changed or {}
        if self.version == "0.11" and not options.get("bloom_filter_columns"):
            options["version"] = self.version
        return options


class Sample(NamedTuple):
    """The rows of the sampled stripes."""

    rows: pa.Table
    parts: list[int]
    """Rows of each partition, in their order: each one has a file of its own."""
    stored: int
    """Stored bytes of these rows: indexes, data and footers of their stripes."""
    stripes: list[tuple[str, int]]
    """Names of the files, and indexes of the stripes, in their order."""
    is_cut: bool
    """Whether only the first rows of the last stripe are in the sample."""
    settings: Settings
    files: int
    """Files of the table."""
    opened: int
    """Files that were opened, and have the columns of the first one."""
    all_rows: int
    """Rows of the files that were opened."""
    all_stored: int
    """Stored bytes of their stripes."""
    all_stripes: int
    sizes: dict[str, int]
    """Stored bytes of the values of each column, with those of nested ones."""

    @property
    def is_whole(self) -> bool:
        """Whether the sample has all rows of the table."""
        return self.opened == self.files and len(self.rows) == self.all_rows


def take_sample(
    files: list[OrcSource],
    size: int,
    seed: int,
    storage_options: StorageOptions | None,
    done: Callable[[int], None],
) -> Sample:
    """Reads stripes that are chosen at random, until their rows take ``size`` bytes in memory.

    Raises:
        OrcishError: A file cannot be read.
        OSError: Likewise.
        ValueError: There are no rows.
    """
    chance = random.Random(seed)
    numbers = sorted(chance.sample(range(len(files)), min(len(files), _MAX_FILES)))
    found = ((files[at], file_of_table(files[at].source, storage_options)) for at in numbers)
    every = [_Opened(source, file) for source, file in found if file is not None]
    if not every:
        raise ValueError(f"{files[0].name}: there are no rows to try options on")
    # `orcish rewrite` keeps the version of the first file.
    first = file_of_schema_of([file.source for file in files], storage_options)
    opened = _of_one_schema(every)
    stripes = [
        _Stripe(each, at, stripe) for each in opened for at, stripe in enumerate(each.file.stripes) if stripe.num_rows
    ]
    if not stripes:
        raise ValueError(f"{files[0].name}: there are no rows to try options on")
    schema = opened[0].file.arrow_schema(**_READ)
    taken: dict[int, list[pa.RecordBatch]] = {}
    stored = memory = 0
    is_cut = False
    for number in chance.sample(range(len(stripes)), len(stripes)):
        opened_file, at, stripe = stripes[number]
        taken[number] = _first_batches(opened_file.file, at, size - memory, done)
        rows = sum(batch.num_rows for batch in taken[number])
        is_cut = rows < stripe.num_rows
        stored += stored_bytes(stripe) * rows // stripe.num_rows
        memory += sum(map(_memory, taken[number]))
        if memory >= size:
            break
    partitions: dict[Any, list[int]] = {}
    for number in sorted(taken):
        location = stripes[number].opened.source.location
        partitions.setdefault(tuple(_native.partitions_of(location)), []).append(number)
    ordered = [number for numbers in partitions.values() for number in numbers]
    # Fields of files may differ in their metadata only.
    batches = [with_schema(batch, schema) for at in ordered for batch in taken[at]]
    storages = [each.file.column_storage() for each in opened]
    return Sample(
        pa.Table.from_batches(batches, schema),
        [sum(batch.num_rows for at in numbers for batch in taken[at]) for numbers in partitions.values()],
        stored,
        [(stripes[at].opened.source.name, stripes[at].at) for at in sorted(taken)],
        is_cut,
        _settings([each.file for each in opened], storages[0], first.version),
        len(files),
        len(opened),
        sum(each.file.num_rows for each in opened),
        sum(stored_bytes(each.info) for each in stripes),
        len(stripes),
        _sizes([each.file for each in opened], storages),
    )


class _Opened(NamedTuple):
    """A file."""

    source: OrcSource
    file: ORCFile


class _Stripe(NamedTuple):
    """A stripe of a file."""

    opened: _Opened
    at: int
    info: StripeInfo


def _of_one_schema(opened: list[_Opened]) -> list[_Opened]:
    """The files that have the columns of the first one with rows."""
    first = next((each for each in opened if each.file.num_rows), opened[0])
    schema = first.file.arrow_schema(**_READ)
    return [each for each in opened if each.file.arrow_schema(**_READ).equals(schema)]


def _first_batches(file: ORCFile, stripe: int, size: int, done: Callable[[int], None]) -> list[pa.RecordBatch]:
    """Batches of a stripe until they take ``size`` bytes, at least one."""
    found: list[pa.RecordBatch] = []
    info = file.stripes[stripe]
    # Few rows may take much memory; stored bytes are at most about as many as those in memory.
    rows = size * info.num_rows // max(stored_bytes(info), 1)
    options: ReadOptions = {**_READ, "stripes": [stripe], "batch_size": min(_BATCH_SIZE, max(rows, _LEAST_BATCH))}
    for batch in file.iter_batches(**options):
        if not batch.num_columns:
            batch = batch.slice(0, max(size, 1))
        found.append(batch)
        size -= _memory(batch)
        done(batch.num_rows)
        if size <= 0:
            break
    return found


def _memory(batch: pa.RecordBatch) -> int:
    """Bytes in memory. Rows without values count, too: there may be any number of them."""
    return max(int(batch.nbytes), int(batch.num_rows))


def stored_bytes(stripe: StripeInfo) -> int:
    """Stored bytes of a stripe."""
    return stripe.index_length + stripe.data_length + stripe.footer_length


def _sizes(files: list[ORCFile], storages: list[list[ColumnStorage]]) -> dict[str, int]:
    sizes: collections.Counter[str] = collections.Counter()
    for file, storage in zip(files, storages, strict=True):
        parents, tops = file.column_parents, list[str]()
        for id, column in enumerate(storage):
            parent = parents[id]
            tops.append(tops[parent] if parent else column.name)
            if id:
                sizes[tops[id]] += column.data_bytes
    return dict(sizes)


def _settings(files: list[ORCFile], storage: list[ColumnStorage], version: str) -> Settings:
    """How files are written, by the first one and its columns, and by the stripes of all."""
    file = files[0]
    blooms = [column.name for column in storage if any(column.streams.get(kind) for kind in _BLOOMS)]
    return Settings(
        file.compression,
        file.compression_chunk_size,
        file.row_index_stride,
        _full_stripe_size(files),
        tuple(blooms),
        version,
    )


def _full_stripe_size(files: list[ORCFile]) -> int | None:
    # The last stripe of a file ends with the rows, and says nothing.
    sizes = sorted(stored_bytes(stripe) for file in files for stripe in [*file.stripes][:-1] if stripe.num_rows)
    return max(sizes[(len(sizes) - 1) // 2], 1) if sizes else None
