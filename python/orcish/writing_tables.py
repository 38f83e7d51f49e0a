"""Writing of tables: folders of files, with Hive's partitions."""

from __future__ import annotations

import os
import uuid
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from orcish import _native
from orcish.types import StorageOptions, WriteOptions
from orcish.writing import ORCWriter, batches_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["WrittenFile", "write_dataset"]

MAX_OPEN_FILES = 256
"""Most files that are written at a time."""
MAX_MEMORY = 1 << 30
"""Most bytes that files which are being written may hold together, by default."""
NULL_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What stands for null, and for empty text, in the name of a partition's folder."""
_ESCAPED = frozenset("\"#%'*/:=?\\\x7f{[]^") | {chr(code) for code in range(32)}


class WrittenFile(NamedTuple):
    """A file of a table."""

    path: str
    rows: int
    bytes: int
    partition: dict[str, Any]
    """Values of the partition columns."""


def write_dataset(
    data: Any,
    base: str | os.PathLike[str],
    *,
    partition_by: Sequence[str] = (),
    max_rows_per_file: int | None = None,
    basename_template: str | None = None,
    existing_data: Literal["error", "append"] = "error",
    max_open_files: int = MAX_OPEN_FILES,
    max_memory: int = MAX_MEMORY,
    storage_options: StorageOptions | None = None,
    **options: Unpack[WriteOptions],
) -> list[WrittenFile]:
    """Writes a folder of ORC files, in folders such as ``dt=2026-01-01`` where it has partition columns.

    Each file appears when it is whole; if something fails, those that are being written do not appear, and those that
    have been finished by this call are removed again, as far as they can be.

    >>> orcish.write_dataset(table, "table/", partition_by=["dt"], max_rows_per_file=10_000_000)   # doctest: +SKIP

    Args:
        data: Anything that :func:`orcish.write_table` takes.
        base: The folder, or a URL of an object store. It is made, and those in it.
        partition_by: Columns whose values name folders, the outermost first; files do not have them.
        max_rows_per_file: Rows after which another file begins.
        basename_template: Names of files, with ``{i}`` for a number; by default they have a part that no other call has.
        existing_data: What to do where the folder has files that are data: ``"error"``, or ``"append"`` to them.
        max_open_files: Most files that are written at a time: where there are more partitions, the one that has waited
            longest is finished, and begins another file when it has rows again.
        max_memory: Most bytes that files which are being written may hold together; what holds most ends its stripe.
        storage_options: How the store of a URL is reached; see :data:`~orcish.types.StorageOptions`.
        options: See :class:`~orcish.types.WriteOptions`.

    Returns:
        The files, in the order in which they were finished.

    Raises:
        FileExistsError: The folder has data already.
        KeyError: There is no partition column of a name.
        ValueError: An option is wrong, or a value cannot be stored; all columns would be partition columns.
        OSError: A file cannot be written.
    """
    schema, batches = batches_of(data)
    folder = os.fspath(base)
    by = [partition_by] if isinstance(partition_by, str) else list(partition_by)
    for name in by:
        if name not in schema.names:
            raise KeyError(f"there is no column {name!r} to partition by")
    if len(set(by)) != len(by) or len(by) >= max(len(schema), 1):
        raise ValueError(f"partition_by={by}: columns are named once, and one at least is left for the files")
    if max_rows_per_file is not None and max_rows_per_file < 1:
        raise ValueError(f"max_rows_per_file={max_rows_per_file}: a file has one row at least")
    if basename_template is not None and "{i}" not in basename_template:
        raise ValueError(f"basename_template={basename_template!r}: {{i}} has to be in it, for a number")
    if existing_data not in ("error", "append"):
        raise ValueError(f"existing_data={existing_data!r}: must be one of error, append")
    if existing_data == "error" and _has_data(folder, storage_options):
        raise FileExistsError(f"{folder} has data already; existing_data='append' adds to it")
    template = basename_template or f"part-{{i}}-{uuid.uuid4()}.orc"
    table = _Files(folder, schema, by, template, max_open_files, max_memory, storage_options, dict(options))
    try:
        for batch in batches:
            for values, rows in _partitioned(batch, by):
                table.write(values, rows, max_rows_per_file)
        if not table.finished and not table.open and not by:
            # A table without rows has a file that says its schema.
            table.write((), schema.empty_table().to_batches() or [pa.RecordBatch.from_pylist([], schema=schema)], None)
        table.close()
    except BaseException:
        table.abort()
        raise
    return table.finished


class _Open(NamedTuple):
    writer: ORCWriter
    path: str


class _Files:
    """The files of a table that are being written, the one that was written to last at the end."""

    def __init__(
        self,
        base: str,
        schema: pa.Schema,
        by: list[str],
        template: str,
        max_open: int,
        max_memory: int,
        storage_options: StorageOptions | None,
        options: dict[str, Any],
    ) -> None:
        self.finished: list[WrittenFile] = []
        self.open: OrderedDict[tuple[Any, ...], _Open] = OrderedDict()
        self._base = base
        self._is_remote = "://" in base and not base.lower().startswith("file:")
        self._by = by
        self._schema = pa.schema([field for field in schema if field.name not in by], schema.metadata)
        self._template = template
        self._max_open = max(max_open, 1)
        self._max_memory = max_memory
        self._storage_options = storage_options
        self._options = options
        self._count = 0

    def write(self, values: tuple[Any, ...], batches: Sequence[pa.RecordBatch], max_rows: int | None) -> None:
        """Writes rows of a partition."""
        for batch in batches:
            rows, at = batch.select(self._schema.names), 0
            while at < len(rows) or not self.open and not len(rows):
                writer = self._writer(values)
                left = len(rows) if max_rows is None else max_rows - writer.rows
                writer.write_batch(rows.slice(at, left))
                at += left
                if max_rows is not None and writer.rows >= max_rows:
                    self._finish(values)
        self._relieve()

    def _writer(self, values: tuple[Any, ...]) -> ORCWriter:
        if values in self.open:
            self.open.move_to_end(values)
            return self.open[values].writer
        if len(self.open) >= self._max_open:
            self._finish(next(iter(self.open)))
        segments = [f"{_escaped(name)}={_text(value)}" for name, value in zip(self._by, values, strict=True)]
        folder = "/".join([self._base.rstrip("/") or "/", *segments])
        if not self._is_remote:
            os.makedirs(_local(folder), exist_ok=True)
        path = f"{folder}/{self._template.replace('{i}', f'{self._count:05d}')}"
        self._count += 1
        writer = ORCWriter(path, self._schema, storage_options=self._storage_options, **self._options)
        self.open[values] = _Open(writer, path)
        return writer

    def _relieve(self) -> None:
        """Ends stripes while more memory is held than may be."""
        held = {values: file.writer.memory for values, file in self.open.items()}
        while sum(held.values()) > self._max_memory:
            values = max(held, key=lambda values: held[values])
            self.open[values].writer.end_stripe()
            held[values] = 0

    def _finish(self, values: tuple[Any, ...]) -> None:
        writer, path = self.open[values]
        written = writer.close()
        del self.open[values]
        partition = dict(zip(self._by, values, strict=True))
        self.finished.append(WrittenFile(path, written.rows, written.bytes, partition))

    def close(self) -> None:
        """Finishes all files."""
        for values in list(self.open):
            self._finish(values)

    def abort(self) -> None:
        """Gives up what is being written, and removes what has been finished where that can be."""
        for file in self.open.values():
            file.writer.abort()
        self.open.clear()
        if not self._is_remote:
            for done in self.finished:
                # What is gone already need not be removed.
                if os.path.exists(_local(done.path)):
                    os.remove(_local(done.path))
        self.finished.clear()


def _has_data(folder: str, storage_options: StorageOptions | None) -> bool:
    try:
        return bool(_native.list_files(folder, None if storage_options is None else dict(storage_options)))
    except FileNotFoundError:
        return False


def _partitioned(batch: pa.RecordBatch, by: list[str]) -> Iterator[tuple[tuple[Any, ...], list[pa.RecordBatch]]]:
    """The rows of each partition, in the order in which partitions come first."""
    if not by or not len(batch):
        yield (), [batch]
        return
    # Each row's partition as one number.
    codes: Any = pa.repeat(pa.scalar(0, pa.int64()), len(batch))
    for name in by:
        encoded = batch.column(name).dictionary_encode(null_encoding="encode")
        own = pc.cast(encoded.indices, pa.int64())
        codes = pc.add(pc.multiply(codes, max(len(encoded.dictionary), 1)), own)
        # Numbers stay as few as there are partitions.
        codes = pc.cast(codes.dictionary_encode().indices, pa.int64())
    order = pc.array_sort_indices(codes) if len(pc.unique(codes)) > 1 else None
    rows = batch if order is None else batch.take(order)
    sorted_codes = codes if order is None else codes.take(order)
    # Sorting is stable: rows of a partition stay in their order.
    runs = pc.run_end_encode(sorted_codes, run_end_type=pa.int64())
    start = 0
    for end in runs.run_ends.to_pylist():
        part = rows.slice(start, end - start)
        yield tuple(part.column(name)[0].as_py() for name in by), [part]
        start = end


def _text(value: Any) -> str:
    """A value as the name of its folder, as Hive and Spark have it."""
    if value is None or value == "":
        return NULL_VALUE
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return _escaped(value.decode())
    return _escaped(str(value))


def _escaped(text: str) -> str:
    return "".join(f"%{ord(char):02X}" if char in _ESCAPED else char for char in text)


def _local(path: str) -> str:
    return path[len("file://") :] if path.lower().startswith("file://") else path
