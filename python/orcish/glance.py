"""Functions that open a file, or look at a file or table without reading it: schema, metadata, number of rows, first
and last rows, rows at random.
"""

from __future__ import annotations

import pyarrow as pa

from orcish.asynchronous import in_thread
from orcish.encryption.keys import Keys
from orcish.filters.pushdown import Filters
from orcish.keywords import checked_keywords
from orcish.reading.file import ORCFile
from orcish.scanning import scan
from orcish.types import Columns, FileSystem, Limits, ProgressOption, Source, Sources, StorageOptions

__all__ = ["count_rows", "head", "open_async", "read_metadata", "read_schema", "sample", "tail"]


@checked_keywords
def read_schema(
    source: Sources,
    *,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
    limits: Limits | None = None,
) -> pa.Schema:
    """The Arrow schema of a file or table, partition columns included.

    >>> orcish.read_schema("orders/").names
    ['id', 'placed', 'customer', 'total', 'day']

    Args:
        source: Any source of :func:`orcish.scan`.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
        filesystem: The file system that the paths are within; see :data:`~orcish.types.FileSystem`.
        limits: Limits on what each file may make the reader do.
    """
    return scan(source, storage_options=storage_options, filesystem=filesystem, limits=limits).schema


@checked_keywords
def read_metadata(
    source: Source,
    *,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
    limits: Limits | None = None,
    keys: Keys | None = None,
) -> ORCFile:
    """The metadata of one ORC file: its tail, as an open :class:`~orcish.ORCFile` of which no data is read.

    >>> orcish.read_metadata("orders.orc").num_rows
    100

    Args:
        source: A path, a URL, bytes or a file object.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
        filesystem: The file system that the paths are within; see :data:`~orcish.types.FileSystem`.
        limits: Limits on what the file may make the reader do.
        keys: Keys of encrypted columns; see :mod:`orcish.encryption`.
    """
    return ORCFile(source, storage_options=storage_options, filesystem=filesystem, limits=limits, keys=keys)


@checked_keywords
async def open_async(
    source: Source,
    *,
    tail: bytes | None = None,
    limits: Limits | None = None,
    keys: Keys | None = None,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
) -> ORCFile:
    """Opens a file on a thread, without blocking the event loop; the arguments are those of :class:`~orcish.ORCFile`.

    >>> import asyncio
    >>> async def rows():
    ...     file = await orcish.open_async("orders.orc")
    ...     return [batch.num_rows async for batch in file.iter_batches_async(columns=["id"], batch_size=60)]
    >>> asyncio.run(rows())
    [60, 40]

    Raises:
        RuntimeError: The source raised an exception that means the end of a coroutine, such as ``StopIteration``.
    """
    return await in_thread(
        ORCFile, source, tail=tail, limits=limits, keys=keys, storage_options=storage_options, filesystem=filesystem
    )


@checked_keywords
def count_rows(
    source: Sources,
    *,
    filters: Filters | None = None,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
    limits: Limits | None = None,
    keys: Keys | None = None,
    progress: ProgressOption = False,
) -> int:
    """The number of rows of a file or table for which a filter is true; see :meth:`orcish.Scan.count`.

    >>> orcish.count_rows("orders/", filters="total > 90")
    9

    Args:
        source: Any source of :func:`orcish.scan`.
        filters: Which rows are counted; see :class:`~orcish.types.ReadOptions`.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
        filesystem: The file system that the paths are within; see :data:`~orcish.types.FileSystem`.
        limits: Limits on what each file may make the reader do.
        keys: Keys of encrypted columns; see :mod:`orcish.encryption`.
        progress: As for :meth:`orcish.Scan.count`.
    """
    rows = scan(
        source, filters=filters, storage_options=storage_options, filesystem=filesystem, limits=limits, keys=keys
    )
    return rows.count(progress=progress)


@checked_keywords
def head(
    source: Sources,
    rows: int = 10,
    *,
    columns: Columns | None = None,
    filters: Filters | None = None,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
    limits: Limits | None = None,
    keys: Keys | None = None,
) -> pa.Table:
    """The first rows of a file or table. Stripes after them are not read.

    >>> orcish.head("orders/", 3, columns=["id"]).to_pydict()
    {'id': [0, 2, 4]}

    Args:
        source: Any source of :func:`orcish.scan`.
        rows: Maximum number of rows.
        columns: The columns, by dotted names; all by default.
        filters: Which rows; see :class:`~orcish.types.ReadOptions`.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
        filesystem: The file system that the paths are within; see :data:`~orcish.types.FileSystem`.
        limits: Limits on what each file may make the reader do.
        keys: Keys of encrypted columns; see :mod:`orcish.encryption`.
    """
    found = scan(
        source,
        columns=columns,
        filters=filters,
        storage_options=storage_options,
        filesystem=filesystem,
        limits=limits,
        keys=keys,
    )
    return found.head(rows)


@checked_keywords
def tail(
    source: Sources,
    rows: int = 10,
    *,
    columns: Columns | None = None,
    filters: Filters | None = None,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
    limits: Limits | None = None,
    keys: Keys | None = None,
) -> pa.Table:
    """The last rows of a file or table, in their order. Stripes before them are not read.

    >>> orcish.tail("orders.orc", 3, columns=["id"]).to_pydict()
    {'id': [97, 98, 99]}

    Args:
        source: Any source of :func:`orcish.scan`.
        rows: Maximum number of rows.
        columns: The columns, by dotted names; all by default.
        filters: Which rows; see :class:`~orcish.types.ReadOptions`.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
        filesystem: The file system that the paths are within; see :data:`~orcish.types.FileSystem`.
        limits: Limits on what each file may make the reader do.
        keys: Keys of encrypted columns; see :mod:`orcish.encryption`.
    """
    found = scan(
        source,
        columns=columns,
        filters=filters,
        storage_options=storage_options,
        filesystem=filesystem,
        limits=limits,
        keys=keys,
    )
    return found.tail(rows)


@checked_keywords
def sample(
    source: Sources,
    rows: int | None = None,
    *,
    fraction: float | None = None,
    seed: int | None = None,
    columns: Columns | None = None,
    filters: Filters | None = None,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
    limits: Limits | None = None,
    keys: Keys | None = None,
) -> pa.Table:
    """Rows of a file or table at random, without repetition, in their order; see :meth:`orcish.Scan.sample`.

    >>> orcish.sample("orders/", fraction=0.1, seed=1).num_rows
    10

    Args:
        source: Any source of :func:`orcish.scan`.
        rows: How many rows; all if there are less.
        fraction: The part of all rows, from 0 to 1, in place of ``rows``.
        seed: The same seed chooses the same rows of the same files.
        columns: The columns, by dotted names; all by default.
        filters: Which rows to choose from; see :class:`~orcish.types.ReadOptions`.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
        filesystem: The file system that the paths are within; see :data:`~orcish.types.FileSystem`.
        limits: Limits on what each file may make the reader do.
        keys: Keys of encrypted columns; see :mod:`orcish.encryption`.
    """
    found = scan(
        source,
        columns=columns,
        filters=filters,
        storage_options=storage_options,
        filesystem=filesystem,
        limits=limits,
        keys=keys,
    )
    return found.sample(rows, fraction=fraction, seed=seed)
