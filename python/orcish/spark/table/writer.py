"""Writing of a table by the tasks of a job."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, TimestampType

from orcish.errors import CorruptFileError
from orcish.io.paths import is_hidden
from orcish.reading.file import ORCFile
from orcish.spark.options import WriterOptions
from orcish.spark.session import task_cpus
from orcish.spark.table.batches import StorageConverter
from orcish.spark.types.arrow import stored_schema
from orcish.spark.types.partition_names import check_partition_type, is_named_as_text, partition_names
from orcish.spark.types.timezones import java_zone
from orcish.tables.columns import same_name
from orcish.tables.commit import Job, Staged
from orcish.writing.dataset import TableWriter, file_suffix
from orcish.writing.timestamps import timestamp_types, with_stored_types

__all__ = ["TableTarget", "mark_success"]

SUCCESS = "_SUCCESS"
TASK_MEMORY = 512 << 20
"""Maximum bytes that the open files of a task hold in memory."""


@dataclasses.dataclass(frozen=True)
class TableTarget:
    """The table that the tasks of a job write to, and the schema and options of their rows."""

    job: Job
    options: WriterOptions
    schema: StructType
    instant_types: tuple[tuple[str, str], ...] = ()
    """ORC types of the instants of an existing table, by dotted column names."""

    def __post_init__(self) -> None:
        by = [self._column(name) for name in self.options.partition_by]
        # The names of the schema, whatever case the option has.
        object.__setattr__(self, "options", dataclasses.replace(self.options, partition_by=tuple(by)))
        twice = [name for name in self.options.partition_by if self.options.partition_by.count(name) > 1]
        if twice:
            raise ValueError(f"partitionBy: column {twice[0]!r} is there twice")
        if len(self.options.partition_by) == len(self.schema.names):
            raise ValueError("partitionBy: one column at least is left for the files")
        # Raises errors of the schema before tasks run.
        stored_schema(self.schema)
        for name in by:
            check_partition_type(name, self.schema[name].dataType)

    def _column(self, name: str) -> str:
        is_sensitive = self.options.case_sensitive
        same = [own for own in self.schema.names if same_name(own, is_sensitive) == same_name(name, is_sensitive)]
        if len(same) != 1:
            found = f"column {name!r} may be {' or '.join(map(repr, same))}" if same else f"there is no column {name!r}"
            raise ValueError(f"partitionBy: {found}")
        return same[0]

    def write(self, batches: Iterator[pa.RecordBatch], task: int, *, begins: bool = True) -> list[Staged]:
        """Writes the rows of a task into unpublished files. Without rows there is no file, except that the first task
        may write one for the schema.

        Args:
            batches: The rows in Spark's Arrow types.
            task: Index of the task, which is part of the file names.
            begins: Whether the first task writes a file without rows.
        """
        folder = self.job.folder()
        attempt = self.job.attempt()
        stored = StorageConverter(with_stored_types(stored_schema(self.schema), [dict(self.instant_types)]))
        named = [
            at
            for at, field in enumerate(self.schema)
            if field.name in self.options.partition_by and is_named_as_text(field.dataType)
        ]
        schema = stored.schema
        for at in named:
            schema = schema.set(at, schema.field(at).with_type(pa.string()))
        table = TableWriter(
            self.job.location(),
            schema,
            self.options.partition_by,
            template=f"part-{task:05d}-{attempt[-32:]}-c{{i}}{file_suffix(self.options.file)}",
            max_rows_per_file=self.options.max_rows_per_file,
            max_memory=TASK_MEMORY,
            storage_options=self.options.storage,
            staging=folder.location(attempt),
            options={
                "arrow_schema": False,
                "threads": task_cpus(),
                "timezone": java_zone(self.options.timezone),
                **self.options.file,
            },
        )
        with table:
            for batch in batches:
                rows = stored.of(batch)
                for at in named:
                    kind = self.schema[at].dataType
                    texts = partition_names(batch.column(at), kind, self.options.session_timezone)
                    rows = rows.set_column(at, schema.field(at), texts)
                table.write(rows)
            if begins and task == 0 and not self.options.partition_by:
                table.begin()
        start = len(folder.base) + 1
        return [Staged(file.path[start:], file.rows, file.bytes, table.tokens[file.path]) for file in table.finished]

    def with_table_timestamps(self) -> TableTarget:
        """The target with instants stored as in the existing table, if there is one."""
        folder = self.job.folder()
        for file in self.job.files():
            # Hive writes files of no bytes, which have no columns.
            if not is_hidden(file.name) and file.size:
                try:
                    existing = ORCFile(folder.location(file.name), storage_options=folder.storage_options)
                except (CorruptFileError, FileNotFoundError):
                    # The file is no ORC file, or was just removed.
                    continue
                own = {
                    same_name(path, self.options.case_sensitive): kind
                    for path, kind in timestamp_types(existing).items()
                }
                named = _instants(self.schema, "")
                instant_types = ((path, own.get(same_name(path, self.options.case_sensitive))) for path in named)
                return dataclasses.replace(
                    self, instant_types=tuple((path, kind) for path, kind in instant_types if kind is not None)
                )
        return self

    def check_folders(self) -> None:
        """Checks that the files of an existing table have the same partition columns.

        Raises:
            ValueError: They have others, so that the table could not be read any more.
        """
        for file in self.job.files():
            if not is_hidden(file.name):
                columns = [segment.partition("=")[0] for segment in file.name.split("/")[:-1] if "=" in segment]
                if columns != list(self.options.partition_by):
                    existing, own = (", ".join(names) or "none" for names in (columns, self.options.partition_by))
                    raise ValueError(
                        f"{self.job.base} has files whose partition columns are: {existing}; partitionBy is: {own}"
                    )
                return

    def commit(self, files: Sequence[Staged], *, overwrite: bool, stream: tuple[str, int] | None = None) -> None:
        """Adds the files to the table, or, with ``overwrite``, replaces its files."""
        if not overwrite:
            self.job.commit(files, stream=stream)
        elif self.options.partition_overwrite == "dynamic" and self.options.partition_by:
            self.job.commit(files, "overwrite", partitions={file.target.rpartition("/")[0] for file in files})
        else:
            self.job.commit(files, "overwrite", everything=True)
        mark_success(self.job)


def mark_success(job: Job) -> None:
    """Writes the file by which jobs of Hadoop know that a table is there. The commit does not depend on it."""
    with contextlib.suppress(OSError):
        job.folder().write(SUCCESS, b"", overwrite=True)


def _instants(schema: StructType, above: str) -> Iterator[str]:
    """Dotted names of the instant columns."""
    for field in schema:
        yield from _instants_of(field.dataType, above + field.name)


def _instants_of(kind: DataType, path: str) -> Iterator[str]:
    if isinstance(kind, TimestampType):
        yield path
    elif isinstance(kind, StructType):
        yield from _instants(kind, f"{path}.")
    elif isinstance(kind, ArrayType):
        yield from _instants_of(kind.elementType, f"{path}.element")
    elif isinstance(kind, MapType):
        yield from _instants_of(kind.keyType, f"{path}.key")
        yield from _instants_of(kind.valueType, f"{path}.value")
