"""Writers of the data source: of batches, and of streams."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import pyarrow as pa
from pyspark.sql import datasource
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from orcish._native import StagedFile
from orcish.carbon.detect import check_not_carbon
from orcish.errors import OrcishError, UnsupportedError
from orcish.spark.options import WriterOptions, partition_overwrite_mode
from orcish.spark.session import local_property, task_number
from orcish.spark.target import TableTarget
from orcish.tables.commit import Job
from orcish.types import ExistingData

__all__ = ["OrcishStreamWriter", "OrcishWriter", "stream_writer"]

PARTITION_OVERWRITE = "spark.sql.sources.partitionOverwriteMode"
"""Setting of a session that the option ``partitionOverwriteMode`` overrides."""
QUERY = "sql.streaming.queryId"
"""Local property with the id of a query, which is kept in its checkpoint."""


@dataclasses.dataclass
class WrittenByTask(WriterCommitMessage):
    """The files of one attempt of a task."""

    files: list[StagedFile]


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
        self._mode = options.partition_overwrite_mode if has_partitions else "static"
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


def stream_writer(options: WriterOptions, schema: StructType, overwrite: bool) -> Any:
    """A writer of the batches of a stream.

    Raises:
        UnsupportedError: This version of Spark has no streams of Arrow batches, or the target is a CarbonData table.
        ValueError: The output mode is not append.
    """
    if not hasattr(datasource, "DataSourceStreamArrowWriter"):
        raise UnsupportedError("streams are written with Spark 4.1 or later")
    if overwrite:
        raise ValueError("streams are written in output mode append")
    check_not_carbon(options.path, options.storage)
    return OrcishStreamWriter(options, schema)


@dataclasses.dataclass
class WrittenOfStream(WrittenByTask):
    """The files of one attempt of a task of a stream."""

    job: str
    """Id of the job that the files belong to."""
    query: str
    """Id of the query."""


_Base: Any = getattr(datasource, "DataSourceStreamArrowWriter", object)


class OrcishStreamWriter(_Base):  # type: ignore[misc]
    """Writes each batch of a stream exactly once. The table records the numbers of the last batches of each stream.

    Spark creates one writer for the tasks of a batch, and another one to commit it.
    """

    def __init__(self, options: WriterOptions, schema: StructType) -> None:
        self._target = TableTarget(Job(options.path, options.storage), options, schema).fitted("append")

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WrittenOfStream:
        """Writes the rows of a task.

        Raises:
            OrcishError: The task does not belong to a stream.
        """
        query = local_property(QUERY)
        if not query:
            raise OrcishError(
                f"{self._target.job.base}: Spark does not say of which stream a task is: it has no {QUERY}"
            )
        written = self._target.write(iterator, task_number(), begins=False)
        return WrittenOfStream(written, self._target.job.id, query)

    def commit(self, messages: Sequence[Any], batchId: int) -> None:  # noqa: N803
        """Publishes the files of a batch, unless it is committed already."""
        files = staged_files(messages)
        if files:
            query = next(message.query for message in messages if message is not None)
            self._of(messages).commit(files, "append", stream=(query, batchId))
        else:
            self.abort(messages, batchId)

    def abort(self, messages: Sequence[Any], batchId: int) -> None:  # noqa: ARG002, N803
        """Removes the files of a batch."""
        self._of(messages).job.give_up(staged_files(messages))

    def _of(self, messages: Sequence[Any]) -> TableTarget:
        """The target of the tasks that sent messages; without messages, that of this writer."""
        jobs = {message.job for message in messages if message is not None}
        if len(jobs) > 1:
            raise OrcishError(f"{self._target.job.base}: tasks of one batch are of {len(jobs)} jobs")
        own = self._target.job
        return dataclasses.replace(self._target, job=Job(own.base, own.storage, next(iter(jobs), own.id)))


def staged_files(messages: Sequence[Any]) -> list[StagedFile]:
    """The files in the messages of tasks."""
    return [file for message in messages if message is not None for file in message.files]
