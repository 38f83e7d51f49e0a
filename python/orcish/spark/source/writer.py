"""Batch writes to a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from orcish.carbon.detect import check_not_carbon
from orcish.errors import OrcishError
from orcish.spark.options import WriterOptions, partition_overwrite_mode
from orcish.spark.session import local_property, task_number
from orcish.spark.table.writer import TableTarget
from orcish.tables.commit import Job, Staged
from orcish.types import ExistingData

__all__ = ["OrcishWriter", "WrittenByTask"]

PARTITION_OVERWRITE = "spark.sql.sources.partitionOverwriteMode"
"""Setting of a session that the option ``partitionOverwriteMode`` overrides."""


@dataclasses.dataclass
class WrittenByTask(WriterCommitMessage):
    """The files of one attempt of a task."""

    files: list[Staged]


@dataclasses.dataclass
class WrittenOfBatch(WrittenByTask):
    """The files of one attempt of a task of a batch write."""

    partition_overwrite: Literal["static", "dynamic"]
    """Which partitions an overwrite replaces."""


class OrcishWriter(DataSourceArrowWriter):
    """Writes a table: tasks write unpublished files, and the driver commits them.

    The process that creates the writer cannot see the settings of the session. Spark passes them on to the tasks, so
    the tasks find out which partitions an overwrite replaces.
    """

    def __init__(self, options: WriterOptions, schema: StructType, overwrite: bool) -> None:
        check_not_carbon(options.path, options.storage)
        target = TableTarget(Job(options.path, options.storage), options, schema)
        self._path = options.path
        self._job = target.job
        self._overwrite = overwrite
        # Rows without partition columns replace a table without partitions, and not one with partitions.
        has_partitions = bool(options.partition_by) or (overwrite and bool(target.missing_partition_columns()))
        self._mode = options.partition_overwrite if has_partitions else "static"
        """Which partitions an overwrite replaces; ``None`` if the session decides."""
        self._targets: dict[ExistingData, TableTarget] = {}
        """The target for what may be done with existing files."""
        self._fault: ValueError | None = None
        """Why files of this job cannot be beside those of the table."""
        if not overwrite:
            self._targets["append"] = target.fitted("append")
            return
        if self._mode != "dynamic":
            self._targets["overwrite"] = target.fitted("overwrite")
        if self._mode != "static":
            try:
                self._targets["overwrite_partitions"] = target.fitted("overwrite_partitions")
            except ValueError as error:
                if self._mode == "dynamic":
                    raise
                self._fault = error

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WrittenOfBatch:
        """Writes the rows of a task."""
        mode = self._mode or partition_overwrite_mode(local_property(PARTITION_OVERWRITE)) or "static"
        _, target = self._chosen(mode)
        return WrittenOfBatch(target.write(iterator, task_number()), mode)

    def commit(self, messages: Sequence[Any]) -> None:
        """Publishes the files of all tasks.

        Raises:
            OrcishError: No task has found out which partitions are replaced.
        """
        modes = {message.partition_overwrite for message in messages if message is not None}
        if self._mode is not None:
            modes = {self._mode}
        if self._overwrite and len(modes) != 1:
            raise OrcishError(
                f"{self._path}: no task has run, so it is unknown which partitions are replaced: set the option "
                "partitionOverwriteMode to static or dynamic"
            )
        existing_data, target = self._chosen(min(modes, default="static"))
        target.commit(staged_files(messages), existing_data)

    def _chosen(self, mode: Literal["static", "dynamic"]) -> tuple[ExistingData, TableTarget]:
        """What is done with existing files, and the target."""
        existing_data: ExistingData = "append"
        if self._overwrite:
            existing_data = "overwrite_partitions" if mode == "dynamic" else "overwrite"
        if existing_data not in self._targets and self._fault is not None:
            raise self._fault
        return existing_data, self._targets[existing_data]

    def abort(self, messages: Sequence[Any]) -> None:
        """Removes the files of the job."""
        self._job.give_up(staged_files(messages))


def staged_files(messages: Sequence[Any]) -> list[Staged]:
    """The files in the messages of tasks."""
    return [file for message in messages if message is not None for file in message.files]
