"""Tables at the ends of streams: files that come to a folder, and batches that are written once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import datasource
from pyspark.sql.types import StructType

from orcish.carbon.detect import check_not_carbon
from orcish.errors import OrcishError, UnsupportedError
from orcish.io.files import TableFile
from orcish.spark.options import StreamOptions
from orcish.spark.session import task_cpus
from orcish.spark.source.file_log import FileLog, named_files
from orcish.spark.source.partition import TaskPartition
from orcish.spark.table.table import SparkTable
from orcish.spark.table.tasks import TaskInput
from orcish.tables.folder import Folder

try:
    from pyspark.sql.streaming import datasource as limits
except ImportError:
    limits = None  # type: ignore[assignment]

__all__ = ["OrcishStreamReader"]


# Spark before 4.2 has no limits.
_AvailableNow: Any = getattr(limits, "SupportsTriggerAvailableNow", object)


class OrcishStreamReader(datasource.DataSourceStreamReader, _AvailableNow):  # type: ignore[misc]
    """Reads files as they come to a folder, each once, whenever its clock says that it was written.

    The order in which they are found is kept in the folder ``_orcish/found`` of the table, or at option
    `stateLocation`. An offset is the number of those that have been read, in that order. A query begins with the files
    that are there: of those that were found before, some may be gone.
    """

    def __init__(self, options: MutableMapping[str, str], schema: StructType) -> None:
        self._options = StreamOptions.of(options)
        if self._options.max_files is not None and limits is None:
            raise UnsupportedError("option maxFilesPerTrigger takes Spark 4.2 or later, which has limits")
        for path in self._options.table.paths:
            check_not_carbon(path, self._options.table.storage)
        self._schema = schema
        self._found = FileLog(Folder(self._options.state, self._options.table.storage))
        self._began: int | None = None
        self._target: int | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's names
        """That before all files; with it, how many had been found when the query began."""
        if self._began is None:
            self._found.load()
            self._began = len(self._found.names)
        return {"files": 0, "began": self._began}

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, Any]:  # noqa: N802
        """Looks for files, and gives the offset up to which they are to be read next.

        Raises:
            OrcishError: The order of the files that this query has read is lost.
        """
        # Spark before 4.2 gives no start and has no limits.
        start = {"files": 0} if start is None else start
        self._found.load()
        self._check(start)
        if self._target is None:
            self._look()
        last = len(self._found.names) if self._target is None else max(self._target, start["files"])
        most = _most_files(limit)
        if most is not None:
            last = min(last, start["files"] + most)
        return start if last == start["files"] else {**start, "files": last, "order": self._found.id}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Looks for files for the last time."""
        self._found.load()
        self._look()
        self._target = len(self._found.names)

    def getDefaultReadLimit(self) -> Any:  # noqa: N802
        """Files of a batch, at most."""
        most = self._options.max_files
        return limits.ReadAllAvailable() if most is None else limits.ReadMaxFiles(most)

    def reportLatestOffset(self) -> dict[str, Any]:  # noqa: N802
        """That of all files that have been found."""
        return {"files": len(self._found.names)}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[Any]:
        """Splits of the files between two offsets.

        Raises:
            OrcishError: The order of the files that this query has read is lost.
            FileNotFoundError: A file has gone that was found since the query began.
        """
        self._found.load()
        self._check(start)
        self._check(end)
        names = self._found.names[start["files"] : end["files"]]
        if not names:
            return []
        there = named_files(self._options.table)
        began = end.get("began", start.get("began", 0))
        gone = next((name for name in names[max(began - start["files"], 0) :] if name not in there), None)
        if gone is not None:
            raise FileNotFoundError(
                f"{gone}, of {', '.join(self._options.table.paths)}: gone before the stream has read it"
            )
        files = [there[name] for name in names if name in there]
        return [TaskPartition(part) for part in self._work(files)] if files else []

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """The rows of a task."""
        if isinstance(partition, TaskPartition):
            yield from partition.value.batches(task_cpus())

    def commit(self, end: dict[str, Any]) -> None:
        """Nothing: what has been read is known by its offset."""

    def stop(self) -> None:
        """Nothing is held."""

    def _work(self, files: list[TableFile]) -> list[TaskInput]:
        return SparkTable.open(self._options.table, self._schema, files=files).task_inputs()

    def _look(self) -> None:
        self._found.add(named_files(self._options.table))

    def _check(self, offset: Mapping[str, Any]) -> None:
        """Raises OrcishError where an offset is none of this order."""
        found = self._found
        if offset["files"] > len(found.names) or offset.get("order", found.id) != found.id:
            raise OrcishError(
                f"{found.base}: the order in which this stream has found its files is lost: by its checkpoint it has "
                f"read {offset['files']}, and {len(found.names)} are known here. With a new checkpoint it begins "
                "again, with all files that are there"
            )


def _most_files(limit: Any) -> int | None:
    """Most files that a limit of Spark lets a batch have; none of ReadAllAvailable."""
    found: int | None = getattr(limit, "max_files", None)
    return found
