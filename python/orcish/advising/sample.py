"""Rows of some stripes of a table, on which options of writing are tried."""

from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from orcish import _native
from orcish.reading.file import ORCFile
from orcish.reading.table_file import file_of_schema_of, file_of_table
from orcish.tables.orc_sources import OrcSource
from orcish.types import ColumnStorage, ReadOptions, StorageOptions, StripeInfo
from orcish.writing.timestamps import with_schema

__all__ = ["DEFAULT_STRIPE_SIZE", "Sample", "stored_bytes", "take_sample"]

DEFAULT_STRIPE_SIZE = 64 << 20
"""The default of :func:`orcish.write_table`."""
_MAX_FILES = 50
"""Files that are opened; of larger tables, some are chosen at random."""
_BATCH_SIZE = 16_384
_LEAST_BATCH = 16
_LEAST_STRIDE = 1000
"""The fewest rows of a row group that are written."""
_LEAST_CHUNK, _MOST_CHUNK = 1 << 10, (1 << 23) - 1
"""Bytes of a compression chunk that can be written."""
_BLOOMS = ("BLOOM_FILTER", "BLOOM_FILTER_UTF8")
_READ: ReadOptions = {"timestamp_unit": "exact", "strings": "utf8"}


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
    present: dict[str, Any]
    """Options of writing that come nearest to how the files are written. What files do not record, such as levels, is
    the default; so is the stripe size where no stripe follows another one."""
    compression: str
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
    def stripe_size(self) -> int:
        """The stripe size that files are written with."""
        return int(self.present.get("stripe_size", DEFAULT_STRIPE_SIZE))

    @property
    def is_whole(self) -> bool:
        """Whether the sample has all rows of the table."""
        return self.opened == self.files and len(self.rows) == self.all_rows


class _Stripe(NamedTuple):
    """A stripe of a file."""

    source: OrcSource
    file: ORCFile
    at: int
    info: StripeInfo


def take_sample(
    sources: list[OrcSource],
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
    numbers = sorted(chance.sample(range(len(sources)), min(len(sources), _MAX_FILES)))
    found = ((sources[at], file_of_table(sources[at].source, storage_options)) for at in numbers)
    opened = [(source, file) for source, file in found if file is not None]
    first = next((file for _, file in opened if file.num_rows), None)
    if first is None:
        raise ValueError(f"{sources[0].name}: there are no rows to try options on")
    schema = first.arrow_schema(**_READ)
    opened = [(source, file) for source, file in opened if file.arrow_schema(**_READ).equals(schema)]
    stripes = [
        _Stripe(source, file, at, info)
        for source, file in opened
        for at, info in enumerate(file.stripes)
        if info.num_rows
    ]
    taken: dict[int, list[pa.RecordBatch]] = {}
    stored = memory = 0
    is_cut = False
    for number in chance.sample(range(len(stripes)), len(stripes)):
        stripe = stripes[number]
        taken[number] = _first_batches(stripe, size - memory, done)
        rows = sum(batch.num_rows for batch in taken[number])
        is_cut = rows < stripe.info.num_rows
        stored += stored_bytes(stripe.info) * rows // stripe.info.num_rows
        memory += sum(map(_memory, taken[number]))
        if memory >= size:
            break
    partitions: dict[Any, list[pa.RecordBatch]] = {}
    for number in sorted(taken):
        values = _native.partitions_of(stripes[number].source.location)
        # Fields of files may differ in their metadata only.
        batches = (with_schema(batch, schema) for batch in taken[number])
        partitions.setdefault(tuple(values), []).extend(batches)
    files = [file for _, file in opened]
    storages = [file.column_storage() for file in files]
    # `orcish rewrite` keeps the version of the first file.
    version = file_of_schema_of([source.source for source in sources], storage_options).version
    return Sample(
        pa.Table.from_batches([batch for batches in partitions.values() for batch in batches], schema),
        [sum(batch.num_rows for batch in batches) for batches in partitions.values()],
        stored,
        [(stripes[at].source.name, stripes[at].at) for at in sorted(taken)],
        is_cut,
        _present(files, storages[0], version),
        files[0].compression,
        len(sources),
        len(files),
        sum(file.num_rows for file in files),
        sum(stored_bytes(stripe.info) for stripe in stripes),
        len(stripes),
        _sizes(files, storages),
    )


def _first_batches(stripe: _Stripe, size: int, done: Callable[[int], None]) -> list[pa.RecordBatch]:
    """Batches of a stripe until they take ``size`` bytes, at least one."""
    found: list[pa.RecordBatch] = []
    # Few rows may take much memory; stored bytes are at most about as many as those in memory.
    rows = size * stripe.info.num_rows // max(stored_bytes(stripe.info), 1)
    options: ReadOptions = {**_READ, "stripes": [stripe.at], "batch_size": min(_BATCH_SIZE, max(rows, _LEAST_BATCH))}
    for batch in stripe.file.iter_batches(**options):
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


def _sizes(files: Sequence[ORCFile], storages: Sequence[Sequence[ColumnStorage]]) -> dict[str, int]:
    sizes: Counter[str] = Counter()
    for file, storage in zip(files, storages, strict=True):
        tops = list[str]()
        for column, parent in zip(storage, file.column_parents, strict=True):
            tops.append(tops[parent] if parent else column.name)
            if parent is not None:
                sizes[tops[-1]] += column.data_bytes
    return dict(sizes)


def _present(files: Sequence[ORCFile], storage: Sequence[ColumnStorage], version: str) -> dict[str, Any]:
    """Options by the first file and its columns, and by the stripes of all."""
    first = files[0]
    stride = first.row_index_stride
    options: dict[str, Any] = {
        "compression": "lz4" if first.compression == "lzo" else first.compression,
        "row_index_stride": max(stride, _LEAST_STRIDE) if stride else 0,
    }
    # The last stripe of a file ends with the rows, and says nothing.
    sizes = [stored_bytes(stripe) for file in files for stripe in [*file.stripes][:-1] if stripe.num_rows]
    if sizes:
        options["stripe_size"] = max(statistics.median_low(sizes), 1)
    if first.compression_chunk_size >= _LEAST_CHUNK:
        options["compression_block_size"] = min(first.compression_chunk_size, _MOST_CHUNK)
    blooms = [column.name for column in storage if any(column.streams.get(kind) for kind in _BLOOMS)]
    if blooms and stride:
        options["bloom_filter_columns"] = blooms
    elif version == "0.11":
        # Bloom filters need another version.
        options["version"] = version
    return options
