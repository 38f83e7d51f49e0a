"""Writing of datasets: folders of files, with partition folders as in Hive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from orcish import _native
from orcish._native import complete_storage
from orcish.arrow.exported import ExportedArray, schema_for_native
from orcish.io.names import display_name
from orcish.terminal import printable
from orcish.types import StorageOptions
from orcish.writing.writer import native_options

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "MAX_MEMORY",
    "MAX_OPEN_FILES",
    "MAX_PARTITIONS",
    "TableWriter",
    "WrittenFile",
    "file_suffix",
]

MAX_OPEN_FILES = 256
"""Maximum number of open files."""
MAX_PARTITIONS = 10_000
"""Maximum number of partitions, by default."""
MAX_MEMORY = 1 << 30
"""Maximum bytes that all open files and rows that wait for theirs hold in memory, by default."""


class WrittenFile(NamedTuple):
    """A file of a dataset."""

    path: str
    rows: int
    bytes: int
    partition: dict[str, Any]
    """Values of the partition columns."""


class TableWriter:
    """Writes the files of a dataset, one for each partition.

    A context manager: files are finished at its end, or removed after an exception, or where an earlier call has
    failed. In a child process after a fork, all calls raise, and nothing is removed.

    Args:
        base: The folder, or a URL of an object store.
        schema: The schema of the rows, partition columns included.
        by: Partition columns, the outermost first.
        template: Template of file names, with ``{i}`` for a number.
        max_rows_per_file: Maximum rows of a file.
        max_open_files: Maximum number of open files. Rows of further partitions wait until the others are finished.
        max_partitions: Maximum number of partitions; more are an error.
        max_memory: Maximum bytes that all open files and rows that wait hold in memory. Of rows that wait, half of it
            is in memory, and the rest in temporary files.
        storage_options: Options of the object store.
        staging: A folder for files that are not published yet, which ``staged`` then has. In an object store, no folder
            is needed.
        options: Options of each file.
    """

    def __init__(
        self,
        base: str,
        schema: pa.Schema,
        by: Sequence[str] = (),
        *,
        template: str,
        max_rows_per_file: int | None = None,
        max_open_files: int = MAX_OPEN_FILES,
        max_partitions: int = MAX_PARTITIONS,
        max_memory: int = MAX_MEMORY,
        storage_options: StorageOptions | None = None,
        staging: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.staged: list[_native.StagedFile] = []
        self.finished: list[WrittenFile] = []
        self._base = base
        self._by = list(by)
        self._writer = _native.DatasetWriter(
            base,
            schema_for_native(schema),
            partition_by=self._by,
            file_name=template,
            max_rows_per_file=max_rows_per_file,
            max_open_files=max_open_files,
            max_partitions=max_partitions,
            max_memory=max_memory,
            storage_options=complete_storage(base, storage_options),
            publish=staging is None,
            staging=staging,
            options=native_options(dict(options or {})),
        )

    def __repr__(self) -> str:
        by = f", by {', '.join(self._by)}" if self._by else ""
        name = display_name(self._base)
        return printable(f"<orcish.writing.dataset.TableWriter {name}: {len(self.finished)} files{by}>")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._writer.abort()
            return
        try:
            files = self._writer.finish()
            # Python may have no such values. The files are removed then.
            values = self._partitions()
        except BaseException:
            self._writer.abort()
            raise
        for (path, rows, size, staged), partition in zip(files, values, strict=True):
            self.finished.append(WrittenFile(path, rows, size, partition))
            if staged is not None:
                self.staged.append(staged)

    def abort(self) -> None:
        """Removes all files, as far as possible, also after the end of the context."""
        self._writer.abort()

    def write(self, batch: pa.RecordBatch) -> None:
        """Writes rows to the files of their partitions. After an error, the writer cannot be used any more."""
        reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
        self._writer.write_stream(reader.__arrow_c_stream__())

    def begin(self) -> None:
        """Opens a file if there is none yet. The file of a dataset without rows holds its schema."""
        self._writer.begin()

    def _partitions(self) -> list[dict[str, Any]]:
        """The values of the partition columns of each file."""
        values = pa.array(ExportedArray(self._writer.partition_values()))
        columns = [column.to_pylist() for column in values.flatten()] if len(values) else []
        rows = zip(*columns, strict=True) if columns else [()] * len(values)
        return [dict(zip(self._by, row, strict=True)) for row in rows]


def file_suffix(options: Mapping[str, Any]) -> str:
    """The suffix of file names, as that of Spark's writer with these options."""
    return _native.file_suffix(native_options(dict(options)))
