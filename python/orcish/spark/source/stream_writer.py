"""Streams that are written to a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import datasource
from pyspark.sql.types import StructType

from orcish.carbon.detect import check_not_carbon
from orcish.errors import OrcishError, UnsupportedError
from orcish.spark.options import WriterOptions
from orcish.spark.session import local_property, task_number
from orcish.spark.source.writer import WrittenByTask
from orcish.spark.source.writer import files_of as files_written
from orcish.spark.table.writer import TableTarget
from orcish.tables.commit import Job

__all__ = ["OrcishStreamWriter", "stream_writer"]

QUERY = "sql.streaming.queryId"
"""Property of a task that has the id of its stream, which a stream keeps in its checkpoint."""


def stream_writer(options: WriterOptions, schema: StructType, overwrite: bool) -> Any:
    """Writes the batches of a stream.

    Raises:
        UnsupportedError: This Spark has no streams of Arrow batches; a table of CarbonData is there.
        ValueError: The stream's output mode is not append.
    """
    if not hasattr(datasource, "DataSourceStreamArrowWriter"):
        raise UnsupportedError("streams are written with Spark 4.1 or later")
    if overwrite:
        raise ValueError("streams are written in output mode append")
    check_not_carbon(options.path, options.storage)
    return OrcishStreamWriter(options, schema)


@dataclasses.dataclass
class WrittenOfStream(WrittenByTask):
    """The files of one attempt of a task, and of what they are."""

    job: str
    """Id of the job below whose folder they are."""
    query: str
    """Id of the stream."""


_Base: Any = getattr(datasource, "DataSourceStreamArrowWriter", object)


class OrcishStreamWriter(_Base):  # type: ignore[misc]
    """Writes each batch of a stream once, whatever is retried: the table keeps the numbers of the last ones of each.

    Spark makes one for the tasks of a batch, and another to commit it.
    """

    def __init__(self, options: WriterOptions, schema: StructType) -> None:
        self._target = TableTarget(Job(options.path, options.storage), options, schema).with_table_timestamps()

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WrittenOfStream:
        """Writes the rows of a task.

        Raises:
            OrcishError: The task is of no stream.
        """
        query = local_property(QUERY)
        if not query:
            raise OrcishError(
                f"{self._target.job.base}: Spark does not say of which stream a task is: it has no {QUERY}"
            )
        written = self._target.write(iterator, task_number(), begins=False)
        return WrittenOfStream(written, self._target.job.id, query)

    def commit(self, messages: Sequence[Any], batchId: int) -> None:  # noqa: N803
        """Makes the files of a batch appear at once, unless they are there."""
        files = files_written(messages)
        if files:
            query = next(message.query for message in messages if message is not None)
            self._of(messages).commit(files, overwrite=False, stream=(query, batchId))
        else:
            self.abort(messages, batchId)

    def abort(self, messages: Sequence[Any], batchId: int) -> None:  # noqa: ARG002, N803
        """Removes what the batch has written."""
        self._of(messages).job.give_up(files_written(messages))

    def _of(self, messages: Sequence[Any]) -> TableTarget:
        """The target of the tasks that have sent messages; of none, one that nobody has written to."""
        jobs = {message.job for message in messages if message is not None}
        if len(jobs) > 1:
            raise OrcishError(f"{self._target.job.base}: tasks of one batch are of {len(jobs)} jobs")
        job = dataclasses.replace(self._target.job, id=next(iter(jobs), self._target.job.id))
        return dataclasses.replace(self._target, job=job)
