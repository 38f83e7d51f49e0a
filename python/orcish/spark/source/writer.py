"""Batch writes to a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from orcish.carbon.detect import check_not_carbon
from orcish.spark.options import WriterOptions
from orcish.spark.session import task_number
from orcish.spark.table.writer import TableTarget
from orcish.tables.commit import Job, Staged
from orcish.writing.dataset import ExistingData

__all__ = ["OrcishWriter", "WrittenByTask"]


@dataclasses.dataclass
class WrittenByTask(WriterCommitMessage):
    """The files of one attempt of a task."""

    files: list[Staged]


class OrcishWriter(DataSourceArrowWriter):
    """Writes a table: tasks write unpublished files, and the driver commits them."""

    def __init__(self, options: WriterOptions, schema: StructType, overwrite: bool) -> None:
        check_not_carbon(options.path, options.storage)
        target = TableTarget(Job(options.path, options.storage), options, schema)
        self._existing_data: ExistingData = target.overwriting() if overwrite else "append"
        self._target = target.fitted(self._existing_data)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WrittenByTask:
        """Writes the rows of a task."""
        return WrittenByTask(self._target.write(iterator, task_number()))

    def commit(self, messages: Sequence[Any]) -> None:
        """Publishes the files of all tasks."""
        self._target.commit(staged_files(messages), self._existing_data)

    def abort(self, messages: Sequence[Any]) -> None:
        """Removes the files of the job."""
        self._target.job.give_up(staged_files(messages))


def staged_files(messages: Sequence[Any]) -> list[Staged]:
    """The files in the messages of tasks."""
    return [file for message in messages if message is not None for file in message.files]
