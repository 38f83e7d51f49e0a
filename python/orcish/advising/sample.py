"""Rows of some stripes of a table, on which options of writing are tried."""

from __future__ import annotations

import collections
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa

from orcish.reading.file import ORCFile
from orcish.tables.orc_sources import OrcSource
from orcish.types import ColumnStorage, ReadOptions, StorageOptions, StripeInfo
from orcish.writing.timestamps import with_schema

__all__ = ["Sample", "Settings", "stored_bytes", "take_sample"]

_MAX_FILES = 50
"""Files that are opened; of larger tables, some are chosen at random."""
_BATCH_SIZE = 16_384
_LEAST_BATCH = 16
_LEAST_STRIDE = 1000
"""The fewest rows of a row group that are written."""
_BLOOMS = ("BLOOM_FILTER", "BLOOM_FILTER_UTF8")
_READ: ReadOptions = {"timestamp_unit": "exact", "strings": "utf8"}


class Settings(NamedTuple):
    """How the files are written."""

    compression: str
    block_size: int
    stride: int
    stripe_size: int
    """Mean stored bytes of a stripe."""
    blooms: tuple[str, ...]
    """Columns with bloom filters."""

    def options(self) -> dict[str, Any]:
        """Options of writing that come nearest. What a file does not record, such as levels, is the default."""
        options: dict[str, Any] = {
            "compression": "lz4" if self.compression == "lzo" else self.compression,
            "row_index_stride": max(self.stride, _LEAST_STRIDE) if self.stride else 0,
            "stripe_size": self.stripe_size,
        }
        if self.block_size >= 1024:
            options["compression_block_size"] = self.block_size
        if self.blooms and self.stride:
            options["bloom_filter_columns"] = list(self.blooms)
        return options


class Sample(NamedTuple):
    """The rows of the sampled stripes."""

    rows: pa.Table
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
    opened = _of_one_schema(
        [(files[at].name, ORCFile(files[at].source, storage_options=storage_options)) for at in numbers]
    )
    stripes = [
        (name, file, at, stripe) for name, file in opened for at, stripe in enumerate(file.stripes) if stripe.num_rows
    ]
    if not stripes:
        raise ValueError(f"{files[0].name}: there are no rows to try options on")
    schema = opened[0][1].arrow_schema(**_READ)
    taken: dict[int, list[pa.RecordBatch]] = {}
    stored = memory = 0
    is_cut = False
    for number in chance.sample(range(len(stripes)), len(stripes)):
        _, file, at, stripe = stripes[number]
        taken[number] = _first_batches(file, at, size - memory, done)
        rows = sum(batch.num_rows for batch in taken[number])
        is_cut = rows < stripe.num_rows
        stored += stored_bytes(stripe) * rows // stripe.num_rows
        memory += sum(map(_memory, taken[number]))
        if memory >= size:
            break
    ordered = sorted(taken)
    # Fields of files may differ in their metadata only.
    batches = [with_schema(batch, schema) for at in ordered for batch in taken[at]]
    storages = [file.column_storage() for _, file in opened]
    return Sample(
        pa.Table.from_batches(batches, schema),
        stored,
        [(stripes[at][0], stripes[at][2]) for at in ordered],
        is_cut,
        _settings(opened[0][1], storages[0], [stripe for *_, stripe in stripes]),
        len(files),
        len(opened),
        sum(file.num_rows for _, file in opened),
        sum(stored_bytes(stripe) for *_, stripe in stripes),
        len(stripes),
        _sizes([file for _, file in opened], storages),
    )


def _of_one_schema(opened: list[tuple[str, ORCFile]]) -> list[tuple[str, ORCFile]]:
    """The files that have the columns of the first one with rows."""
    first = next((file for _, file in opened if file.num_rows), opened[0][1])
    schema = first.arrow_schema(**_READ)
    return [(name, file) for name, file in opened if file.arrow_schema(**_READ).equals(schema)]


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


def _settings(file: ORCFile, storage: list[ColumnStorage], stripes: list[StripeInfo]) -> Settings:
    blooms = [column.name for column in storage if any(column.streams.get(kind) for kind in _BLOOMS)]
    size = sum(map(stored_bytes, stripes)) // len(stripes)
    return Settings(file.compression, file.compression_chunk_size, file.row_index_stride, max(size, 1), tuple(blooms))
