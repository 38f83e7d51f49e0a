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
from orcish.spark.source.writer import staged_files as staged_files
from orcish.spark.table.writer import TableTarget
from orcish.tables.commit import Job

__all__ = ["OrcishStreamWriter", "stream_writer"]

QUERY = "sql.streaming.queryId"
"""Local property with the id of a query, which is kept in its checkpoint."""


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
        job = dataclasses.replace(self._target.job, id=next(iter(jobs), self._target.job.id))
        return dataclasses.replace(self._target, job=job)
