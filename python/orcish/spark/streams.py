"""Tables at the ends of streams: files that come to a folder, and batches that are written once."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterator, MutableMapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import datasource
from pyspark.sql.types import StructType

from orcish.errors import UnsupportedError
from orcish.folders import Folder
from orcish.sources import TableFile, files_of
from orcish.spark.commit import Job, committed_batch, finish_commits, is_folder
from orcish.spark.options import StreamOptions, WriterOptions
from orcish.spark.session import local_property, task_cpus, task_number
from orcish.spark.source import WorkPartition, opened
from orcish.spark.target import Target
from orcish.spark.writer import WrittenByTask
from orcish.spark.writer import files_of as files_written

__all__ = ["OrcishStreamReader", "stream_writer"]

QUERY = "sql.streaming.queryId"
"""Property of a task that has the id of its stream, which a stream keeps in its checkpoint."""


class OrcishStreamReader(datasource.DataSourceStreamReader):
    """Reads files as they come to a folder, each once, whenever its clock says that it was written.

    The order in which they are found is kept in the folder ``_orcish/found`` of the table, or at option
    `stateLocation`: a list of names for each time that there were new ones. An offset is the number of the last of
    these lists.
    """

    def __init__(self, options: MutableMapping[str, str], schema: StructType) -> None:
        self._options = StreamOptions.of(options)
        self._schema = schema
        table = self._options.table
        self._state = Folder(self._options.state, table.storage)
        self._lists: list[list[str]] = []

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's names
        """That before all files."""
        return {"list": 0}

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, int]:  # noqa: N802
        """Looks for files, and gives the offset of what is to be read next."""
        self._load()
        self._find()
        last = len(self._lists)
        if start is not None and self._options.max_files and type(limit).__name__ != "ReadAllAvailable":
            return {"list": min(int(start["list"]) + 1, last)}
        return {"list": last}

    def getDefaultReadLimit(self) -> Any:  # noqa: N802
        """Files of a batch, at most."""
        from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles

        return ReadMaxFiles(self._options.max_files) if self._options.max_files else ReadAllAvailable()

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[Any]:
        """Splits of the files between two offsets."""
        self._load()
        names = {name for found in self._lists[start["list"] : end["list"]] for name in found}
        if not names:
            return []
        files = [file for file in self._files() if file.location in names]
        gone = names - {file.location for file in files}
        if gone:
            raise FileNotFoundError(f"{min(gone)}: gone before the stream has read it")
        return [WorkPartition(part) for part in opened(self._options.table, self._schema, files).work()]

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """The rows of a task."""
        if isinstance(partition, WorkPartition):
            yield from partition.value.batches(task_cpus())

    def commit(self, end: dict[str, int]) -> None:
        """Nothing: what has been read is known by its offset."""

    def stop(self) -> None:
        """Nothing is held."""

    def _files(self) -> list[TableFile]:
        table = self._options.table
        for path in table.paths:
            if is_folder(path):
                finish_commits(path, table.storage)
        try:
            return files_of(list(table.paths), table.partitions, table.storage)
        except FileNotFoundError:
            return []

    def _load(self) -> None:
        """Reads the lists that others have made, or this reader before it died."""
        with contextlib.suppress(FileNotFoundError):
            while True:
                self._lists.append(json.loads(self._state.read(_list_name(len(self._lists) + 1))))

    def _find(self) -> None:
        known = {name for found in self._lists for name in found}
        fresh = sorted(file.location for file in self._files() if file.location not in known)
        size = self._options.max_files or max(len(fresh), 1)
        for at in range(0, len(fresh), size):
            found = fresh[at : at + size]
            try:
                self._state.write(_list_name(len(self._lists) + 1), json.dumps(found).encode())
            except FileExistsError:
                # Another stream has found them, or some of them.
                self._load()
                return self._find()
            self._lists.append(found)
        return None


def _list_name(number: int) -> str:
    return f"{number:012d}.json"


def stream_writer(options: WriterOptions, schema: StructType, overwrite: bool) -> Any:
    """Writes the batches of a stream.

    Raises:
        UnsupportedError: This Spark has no streams of Arrow batches.
        ValueError: The stream's output mode is not append.
    """
    if not hasattr(datasource, "DataSourceStreamArrowWriter"):
        raise UnsupportedError("streams are written with Spark 4.1 or later")
    if overwrite:
        raise ValueError("streams are written in output mode append")
    return OrcishStreamWriter(options, schema)


@dataclasses.dataclass
class WrittenOfStream(WrittenByTask):
    """The files of one attempt of a task, and the stream that they are of."""

    query: str


_Base: Any = getattr(datasource, "DataSourceStreamArrowWriter", object)


class OrcishStreamWriter(_Base):  # type: ignore[misc]
    """Writes each batch of a stream once, whatever is retried: the table keeps the number of the last one of each."""

    def __init__(self, options: WriterOptions, schema: StructType) -> None:
        self._target = Target(Job(options.path, options.storage), options, schema)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WrittenOfStream:
        """Writes the rows of a task."""
        return WrittenOfStream(self._target.write(iterator, task_number(), begins=False), local_property(QUERY) or "")

    def commit(self, messages: Sequence[Any], batchId: int) -> None:  # noqa: N803
        """Makes the files of a batch appear at once, unless they are there."""
        there = [message for message in messages if message is not None]
        files = files_written(there)
        options = self._target.options
        finish_commits(options.path, options.storage)
        query = next((message.query for message in there), "")
        if files and committed_batch(self._target.job.folder(), query) < batchId:
            self._target.commit(files, overwrite=False, stream=(query, batchId))
        else:
            self._target.job.abort(files)

    def abort(self, messages: Sequence[Any], batchId: int) -> None:  # noqa: ARG002, N803
        """Removes what the batch has written."""
        with contextlib.suppress(OSError):
            self._target.job.abort(files_written(messages))
