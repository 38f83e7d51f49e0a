"""The functions of ``pyarrow.orc``."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from orcish.compat.pyarrow_orc.locations import resolved_source
from orcish.compat.pyarrow_orc.reader import ORCFile
from orcish.compat.pyarrow_orc.writer import ORCWriter

__all__ = ["read_table", "write_table"]


def read_table(source: Any, columns: Iterable[str] | Iterable[int] | None = None, filesystem: Any = None) -> pa.Table:
    """Reads an ORC file.

    Args:
        source: A path, a URI, a file object, or a file or buffer of pyarrow.
        columns: Which columns to read, as in :meth:`ORCFile.read`.
        filesystem: A file system of pyarrow or fsspec that has the path, or the URI of a folder. By default it is that
            of the URI, or the local one.

    Raises:
        TypeError: The source or the file system is none of these.
        ValueError: There is a file system for a source that is no path, or pyarrow does not know the scheme of a URI.
        OSError: The file cannot be read, or does not have a column.
    """
    return ORCFile(resolved_source(source, filesystem)).read(columns)


def write_table(
    table: Any,
    where: Any,
    *,
    file_version: str | None = "0.12",
    batch_size: int | None = 1024,
    stripe_size: int | str | None = 64 * 1024 * 1024,
    compression: str | None = "uncompressed",
    compression_block_size: int | str | None = 65536,
    compression_strategy: str | None = "speed",
    row_index_stride: int | None = 10000,
    padding_tolerance: float | None = 0.0,
    dictionary_key_size_threshold: float | None = 0.0,
    bloom_filter_columns: Iterable[int] | None = None,
    bloom_filter_fpp: float | None = 0.05,
) -> None:
    """Writes an ORC file. The options are those of :class:`ORCWriter`.

    Args:
        table: The table.
        where: A path, or a file object that is open for binary writing.

    Raises:
        TypeError: The target is neither a path nor a file object, the first argument is no table, or an option has a
            wrong type.
        ValueError: An option has a wrong value.
        pyarrow.ArrowNotImplementedError: pyarrow does not write a type.
        OSError: The file cannot be written.
    """
    if isinstance(where, pa.Table):
        warnings.warn("the table is the first argument, and the target the second one", FutureWarning, stacklevel=2)
        table, where = where, table
    with ORCWriter(
        where,
        file_version=file_version,
        batch_size=batch_size,
        stripe_size=stripe_size,
        compression=compression,
        compression_block_size=compression_block_size,
        compression_strategy=compression_strategy,
        row_index_stride=row_index_stride,
        padding_tolerance=padding_tolerance,
        dictionary_key_size_threshold=dictionary_key_size_threshold,
        bloom_filter_columns=bloom_filter_columns,
        bloom_filter_fpp=bloom_filter_fpp,
    ) as writer:
        writer.write(table)
