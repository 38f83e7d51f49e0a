"""The writer of ``pyarrow.orc``, and its options as options of orcish."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from orcish.compat.pyarrow_orc.arrow_types import as_written
from orcish.compat.pyarrow_orc.errors import errors_of_pyarrow
from orcish.compat.pyarrow_orc.locations import checked_target
from orcish.writing.writer import ORCWriter as Writer

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["IgnoredOptionWarning", "ORCWriter", "bloom_filter_ids", "bloom_filter_names", "orcish_options"]

CODECS = {"UNCOMPRESSED": "none", "SNAPPY": "snappy", "ZLIB": "zlib", "LZ4": "lz4", "ZSTD": "zstd"}
STRATEGIES = ("SPEED", "COMPRESSION")
LEVELS = {"zlib": 6, "zstd": 6}
"""Levels of the strategy ``compression``. The levels of ``speed`` are the defaults of orcish."""
BATCH_SIZE = 1024
MIN_STRIDE = 1000
"""Minimum number of rows of a row group."""


class IgnoredOptionWarning(UserWarning):
    """An option of ``pyarrow.orc`` has no effect in orcish, or not the whole effect. A process gives one warning for
    each option.
    """


_warned: set[str] = set()
"""Options that a warning was given for."""


def _warn(option: str, reason: str, calls: int) -> None:
    """Warns of an option once.

    Args:
        option: The name of the option.
        reason: Why it is ignored.
        calls: The number of calls between the caller of the public function, whose line is shown, and this one.
    """
    if option not in _warned:
        _warned.add(option)
        warnings.warn(f"{option}: {reason}", IgnoredOptionWarning, stacklevel=calls + 2)


def orcish_options(
    *,
    file_version: Any,
    batch_size: Any,
    stripe_size: Any,
    compression: Any,
    compression_block_size: Any,
    compression_strategy: Any,
    row_index_stride: Any,
    padding_tolerance: Any,
    dictionary_key_size_threshold: Any,
    bloom_filter_fpp: Any,
) -> dict[str, Any]:
    """Keywords of :class:`orcish.ORCWriter` for those of ``pyarrow.orc.ORCWriter``, of which ``None`` is the default.

    Options that are ignored get a warning if they are not the default.

    Raises:
        ValueError: An option has a wrong value.
        TypeError: The compression or its strategy is no string.
    """
    if file_version not in (None, "0.11", "0.12"):
        raise ValueError(f"file_version={file_version!r}: must be '0.11' or '0.12'")
    codec = CODECS[_word("compression", compression, CODECS, "UNCOMPRESSED")]
    strategy = _word("compression_strategy", compression_strategy, STRATEGIES, "SPEED")
    stride = _count("row_index_stride", row_index_stride)
    threshold = _number("dictionary_key_size_threshold", dictionary_key_size_threshold, 0, 1) or 0.0
    options = {
        "version": file_version,
        "compression": codec,
        "compression_level": LEVELS.get(codec) if strategy == "COMPRESSION" else None,
        "compression_block_size": _count("compression_block_size", compression_block_size),
        "stripe_size": _count("stripe_size", stripe_size),
        "row_index_stride": None if stride is None else max(stride, MIN_STRIDE),
        # The encoding of each stripe is the one that is expected to be smaller, where neither is asked for.
        "dictionary": {0.0: False, 1.0: True}.get(threshold),
        "bloom_filter_fpp": _number("bloom_filter_fpp", bloom_filter_fpp, 0, 1),
        "arrow_schema": False,
    }
    tolerance = _number("padding_tolerance", padding_tolerance, float("-inf"), float("inf"))
    if _count("batch_size", batch_size) not in (None, BATCH_SIZE):
        _warn("batch_size", "ignored, as orcish encodes columns as they come", 2)
    if tolerance:
        _warn("padding_tolerance", "ignored, as stripes are not aligned with blocks of a file system", 2)
    if strategy == "COMPRESSION" and codec not in LEVELS:
        _warn("compression_strategy", f"ignored, as {codec} has no levels", 2)
    if stride is not None and stride < MIN_STRIDE:
        _warn("row_index_stride", f"a row group has at least {MIN_STRIDE} rows, as Java requires", 2)
    return options


def _count(name: str, value: Any) -> int | None:
    """A positive integer."""
    if value is not None and not (isinstance(value, int) and value > 0):
        raise ValueError(f"{name}={value!r}: must be an integer greater than 0")
    return value


def _number(name: str, value: Any, least: float, most: float) -> float | None:
    """A number between bounds."""
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r}: must be a number") from None
    if not least <= number <= most:
        raise ValueError(f"{name}={value!r}: must lie between {least} and {most}")
    return number


def _word(name: str, value: Any, words: Iterable[str], default: str) -> str:
    """One of some words, in upper case."""
    if value is None:
        return default
    if not isinstance(value, str):
        raise TypeError(f"{name}={value!r}: must be a string, not {type(value).__name__}")
    if value.upper() not in words:
        raise ValueError(f"{name}={value!r}: must be one of {', '.join(words)}")
    return value.upper()


def bloom_filter_ids(columns: Any) -> list[int]:
    """The column ids of ``bloom_filter_columns``.

    Raises:
        ValueError: These are no column ids.
    """
    try:
        ids = [] if columns is None else list(columns)
    except TypeError:
        ids = [None]
    if not all(isinstance(id, int) and id >= 0 for id in ids):
        raise ValueError(f"bloom_filter_columns={columns!r}: must be a list of column ids")
    return ids


def bloom_filter_names(ids: list[int], schema: pa.Schema, *, version: str | None) -> list[str]:
    """The dotted names of the columns with bloom filters. Other ids get a warning.

    Args:
        ids: Column ids.
        schema: The schema of the file.
        version: The version of the file.
    """
    names = {id: name for id, (name, kind) in enumerate(_columns(schema)) if _can_have_filter(kind)}
    if version == "0.11":
        names = {}
    if not names.keys() >= set(ids):
        reason = f"ids {sorted(set(ids) - names.keys())} are of no columns that can have bloom filters"
        _warn("bloom_filter_columns", "version 0.11 has no bloom filters" if version == "0.11" else reason, 3)
    return [names[id] for id in sorted(set(ids)) if id in names]


def _can_have_filter(kind: Any) -> bool:
    return not pa.types.is_nested(kind) and not pa.types.is_boolean(kind)


def _columns(schema: pa.Schema) -> Iterator[tuple[str, Any]]:
    """Dotted names and types of all columns of a file with this schema, by column id."""
    yield "", pa.struct(list(schema))
    for field in schema:
        yield from _below(field.name, field.type)


def _below(name: str, kind: Any) -> Iterator[tuple[str, Any]]:
    """A column and all columns below it."""
    yield name, kind
    for step, child in _children(kind):
        yield from _below(f"{name}.{step}", child)


def _children(kind: Any) -> list[tuple[str, Any]]:
    """The steps of dotted names to the children of a type, and their types."""
    if pa.types.is_map(kind):
        return [("key", kind.key_type), ("value", kind.item_type)]
    if pa.types.is_struct(kind):
        return [(field.name, field.type) for field in kind]
    if pa.types.is_union(kind):
        return [(f"field{at}", kind.field(at).type) for at in range(kind.num_fields)]
    return [("element", kind.value_type)] if pa.types.is_nested(kind) else []


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
        return Writer(self._where, schema, existing_data="overwrite", bloom_filter_columns=names, **options)

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
