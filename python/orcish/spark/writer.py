"""Rows of Spark as files of a table."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from orcish.folders import FileInfo
from orcish.spark.batches import Stored
from orcish.spark.commit import Job, Staged, finish_commits, is_hidden
from orcish.spark.folders import check_folder, folder_texts, is_text_in_folders
from orcish.spark.options import WriterOptions
from orcish.spark.schemas import same_name
from orcish.spark.session import task_cpus, task_number
from orcish.spark.types import stored_schema
from orcish.writing_tables import TableWriter

__all__ = ["OrcishWriter", "Target", "WrittenByTask"]

TASK_MEMORY = 512 << 20
"""Most bytes that the files which a task writes may hold together."""


@dataclasses.dataclass
class WrittenByTask(WriterCommitMessage):
    """The files of one attempt of a task."""

    files: list[Staged]


@dataclasses.dataclass(frozen=True)
class Target:
    """Where, and how, the tasks of a job write rows of one schema."""

    job: Job
    options: WriterOptions
    schema: StructType

    def __post_init__(self) -> None:
        by = [self._column(name) for name in self.options.partition_by]
        # The columns as they are called here, whatever case they were given in.
        object.__setattr__(self, "options", dataclasses.replace(self.options, partition_by=tuple(by)))
        twice = [name for name in self.options.partition_by if self.options.partition_by.count(name) > 1]
        if twice:
            raise ValueError(f"partitionBy: column {twice[0]!r} is there twice")
        if len(self.options.partition_by) == len(self.schema.names):
            raise ValueError("partitionBy: one column at least is left for the files")
        # What cannot be stored, or name a folder, is known before a task runs.
        stored_schema(self.schema)
        for name in by:
            check_folder(name, self.schema[name].dataType)

    def _column(self, name: str) -> str:
        is_sensitive = self.options.case_sensitive
        same = [own for own in self.schema.names if same_name(own, is_sensitive) == same_name(name, is_sensitive)]
        if len(same) != 1:
            found = f"column {name!r} may be {' or '.join(map(repr, same))}" if same else f"there is no column {name!r}"
            raise ValueError(f"partitionBy: {found}")
        return same[0]

    @property
    def suffix(self) -> str:
        """How names of files end, as those of Spark's writer do."""
        codec = self.options.file.get("compression") or "zstd"
        return ".orc" if codec == "none" else f".{codec}.orc"

    def write(self, batches: Iterator[pa.RecordBatch], task: int, *, begins: bool = True) -> list[Staged]:
        """Writes the rows of a task below the job's folder. No rows make no file, but those of the first task, whose
        file has the columns of the table.

        Args:
            batches: The rows, as Spark gives them.
            task: Number of the task, for the names of its files.
            begins: Whether a table begins with these rows, of which there is a file in any case.
        """
        folder = self.job.folder()
        attempt = self.job.attempt()
        stored = Stored(stored_schema(self.schema), self.options.timezone)
        named = [
            at
            for at, field in enumerate(self.schema)
            if field.name in self.options.partition_by and is_text_in_folders(field.dataType)
        ]
        schema = stored.schema
        for at in named:
            schema = schema.set(at, schema.field(at).with_type(pa.string()))
        table = TableWriter(
            folder.base,
            schema,
            self.options.partition_by,
            template=f"part-{task:05d}-{attempt[-32:]}-c{{i}}{self.suffix}",
            max_rows_per_file=self.options.max_rows_per_file,
            max_memory=TASK_MEMORY,
            storage_options=self.options.storage,
            staging=folder.location(attempt),
            options={"arrow_schema": False, "threads": task_cpus(), **self.options.file},
        )
        with table:
            for batch in batches:
                rows = stored.of(batch)
                for at in named:
                    kind = self.schema[at].dataType
                    texts = folder_texts(batch.column(at), kind, self.options.session_timezone)
                    rows = rows.set_column(at, schema.field(at), texts)
                table.write(rows)
            if begins and task == 0 and not self.options.partition_by:
                table.begin()
        start = len(folder.base) + 1
        return [
            Staged(file.path[start:], file.rows, file.bytes, None, table.tokens[file.path]) for file in table.finished
        ]

    def commit(self, files: Sequence[Staged], *, overwrite: bool, stream: tuple[str, int] | None = None) -> None:
        """Makes the files those of the table, with what it has or, with `overwrite`, in place of it."""
        written = None
        if self.options.partition_overwrite == "dynamic" and self.options.partition_by:
            written = {file.target.rpartition("/")[0] for file in files}

        def replaced(there: list[FileInfo]) -> list[str]:
            names = [file.name for file in there if not is_hidden(file.name)]
            return [name for name in names if written is None or name.rpartition("/")[0] in written]

        self.job.commit(files, replaced if overwrite else None, stream=stream)


class OrcishWriter(DataSourceArrowWriter):
    """Writes a table: tasks below a folder of the job, and the driver makes their files appear."""

    def __init__(self, options: WriterOptions, schema: StructType, overwrite: bool) -> None:
        finish_commits(options.path, options.storage)
        self._target = Target(Job(options.path, options.storage), options, schema)
        self._overwrite = overwrite

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WrittenByTask:
        """Writes the rows of a task."""
        return WrittenByTask(self._target.write(iterator, task_number()))

    def commit(self, messages: Sequence[Any]) -> None:
        """Makes the files of all tasks appear at once."""
        self._target.commit(files_of(messages), overwrite=self._overwrite)

    def abort(self, messages: Sequence[Any]) -> None:
        """Removes what the job has written."""
        with contextlib.suppress(OSError):
            self._target.job.abort(files_of(messages))


def files_of(messages: Sequence[Any]) -> list[Staged]:
    """The files of the tasks that have written."""
    return [file for message in messages if message is not None for file in message.files]
