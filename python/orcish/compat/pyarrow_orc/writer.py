"""The writer of ``pyarrow.orc``."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from orcish.compat.pyarrow_orc.arrow_types import as_written
from orcish.compat.pyarrow_orc.errors import errors_of_pyarrow
from orcish.compat.pyarrow_orc.locations import checked_target
from orcish.compat.pyarrow_orc.write_options import bloom_filter_ids, bloom_filter_names, orcish_options
from orcish.writing.writer import ORCWriter as Writer

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ORCWriter"]


class ORCWriter:
    """Writes an ORC file.

    The file has the schema of the first table, and appears when the writer is closed. After an error, or an exception
    in the ``with`` block, it does not appear, and an existing file stays.

    Args:
        where: A path, or a file object that is open for binary writing.
        file_version: ``"0.12"`` or ``"0.11"``.
        batch_size: Ignored.
        stripe_size: Stored bytes of a stripe.
        compression: ``"uncompressed"``, ``"snappy"``, ``"zlib"``, ``"lz4"`` or ``"zstd"``.
        compression_block_size: Maximum bytes of a compression chunk.
        compression_strategy: ``"speed"``, or ``"compression"`` for smaller files with zlib or zstd.
        row_index_stride: Rows of a row group, at least 1,000.
        padding_tolerance: Ignored.
        dictionary_key_size_threshold: 0 for no dictionaries, 1 for dictionaries; between, each stripe has the encoding
            that is expected to be smaller.
        bloom_filter_columns: Column ids with bloom filters.
        bloom_filter_fpp: False positive probability of bloom filters.

    Raises:
        ValueError: An option has a wrong value.
        TypeError: The target is neither a path nor a file object, or an option has a wrong type.
        OSError: The file cannot be created.
    """

    is_open = False
    """Whether the writer takes tables."""
    writer: Writer | None = None
    """The writer of orcish, as soon as a table has been written."""

    def __init__(
        self,
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
        self._where = checked_target(where)
        self._options = orcish_options(
            file_version=file_version,
            batch_size=batch_size,
            stripe_size=stripe_size,
            compression=compression,
            compression_block_size=compression_block_size,
            compression_strategy=compression_strategy,
            row_index_stride=row_index_stride,
            padding_tolerance=padding_tolerance,
            dictionary_key_size_threshold=dictionary_key_size_threshold,
            bloom_filter_fpp=bloom_filter_fpp,
        )
        self._bloom_filter_ids = bloom_filter_ids(bloom_filter_columns)
        self._schema: pa.Schema | None = None
        self._has_failed = False
        self.is_open = True

    def __del__(self) -> None:
        if self.is_open and not self._has_failed:
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
            return
        self.is_open = False
        if self.writer is not None:
            self.writer.abort()

    def write(self, table: pa.Table) -> None:
        """Writes a table.

        After an error of a value or of the target, the file does not appear.

        Raises:
            TypeError: The argument is no table.
            pyarrow.ArrowTypeError: The schema is not that of the first table.
            pyarrow.ArrowNotImplementedError: pyarrow does not write a type.
            AssertionError: The writer is closed.
            OSError: The rows cannot be written.
        """
        if not self.is_open:
            raise AssertionError("the writer is closed")
        if not isinstance(table, pa.Table):
            raise TypeError(f"a table of pyarrow is written, not a {type(table).__name__}")
        if self._schema is not None and not table.schema.equals(self._schema):
            raise pa.ArrowTypeError(
                f"all tables of a file have the same schema; the first:\n{self._schema}\nand this one:\n{table.schema}"
            )
        rows = as_written(table)
        try:
            with errors_of_pyarrow():
                self.writer = self.writer or self._begin(rows.schema)
                self._schema = table.schema
                self.writer.write(rows)
        except BaseException:
            self._has_failed = True
            raise

    def _begin(self, schema: pa.Schema) -> Writer:
        options = self._options
        names = bloom_filter_names(self._bloom_filter_ids, schema, version=options["version"])
        if not names:
            # A probability without filters is not checked.
            options = {**options, "bloom_filter_fpp": None}
        return Writer(self._where, schema, bloom_filter_columns=names, **options)

    def close(self) -> None:
        """Finishes the file. Further calls have no effect. Without a table, there is no file.

        Raises:
            ValueError: Writing a table has failed before.
            OSError: The file cannot be written.
        """
        if not self.is_open:
            return
        self.is_open = False
        if self._has_failed:
            raise ValueError("there is no file, because writing a table has failed")
        if self.writer is not None:
            with errors_of_pyarrow():
                self.writer.close()
