"""Streams that read the files of a table."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Collection, Iterator, Mapping, MutableMapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import datasource
from pyspark.sql.types import StructType

from orcish.carbon.detect import check_not_carbon
from orcish.errors import OrcishError, UnsupportedError
from orcish.io.files import TableFile
from orcish.spark.file_log import FileLog
from orcish.spark.files import TableListing, chosen_files, normalized
from orcish.spark.options import TableOptions
from orcish.spark.reader import TaskPartition, task_partitions
from orcish.spark.table import SparkTable
from orcish.tables.folder import Folder

try:
    from pyspark.sql.streaming import datasource as limits
except ImportError:
    limits = None  # type: ignore[assignment]

__all__ = ["FoundFiles", "OrcishStreamReader"]


# Spark before 4.2 has no limits.
_AvailableNow: Any = getattr(limits, "SupportsTriggerAvailableNow", object)


class OrcishStreamReader(datasource.DataSourceStreamReader, _AvailableNow):  # type: ignore[misc]
    """Reads each file of a folder once, regardless of its modification time.

    The order of the files is recorded in the file log, in the folder ``_orcish/found`` of the table, or at the option
    ``stateLocation``. An offset is the number of files that have been read, in that order. A query begins with the
    existing files; files that were found before may be missing.
    """

    def __init__(self, options: MutableMapping[str, str], schema: StructType, *, is_inferred: bool = False) -> None:
        self._is_inferred = is_inferred
        self._options = TableOptions.of(options)
        if self._options.max_files_per_trigger is not None and limits is None:
            raise UnsupportedError("option maxFilesPerTrigger takes Spark 4.2 or later, which has limits")
        for path in self._options.paths:
            check_not_carbon(path, self._options.storage)
        self._schema = schema
        self._found = FileLog(Folder(self._options.stream_state(), self._options.storage))
        self._began: int | None = None
        self._target: int | None = None
        self._listing: FoundFiles | None = None
        """A listing that no batch has used yet."""
        self._batch: _Batch | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's names
        """The offset before all files, with the number of files in the log when the query began."""
        if self._began is None:
            self._found.load()
            self._began = len(self._found.names)
        return {"files": 0, "began": self._began}

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, Any]:  # noqa: N802
        """Lists the files, and gives the offset of the end of the next batch.

        Raises:
            OrcishError: The file log that this query has used is lost.
        """
        self._found.load()
        # Spark before 4.2 passes no start, and has no limits.
        self._check(start or {"files": 0})
        listing, self._listing = self._listing or FoundFiles.of(self._options), None
        if self._target is None:
            self._found.add(listing.names())
        first = 0 if start is None else start["files"]
        last = len(self._found.names) if self._target is None else max(self._target, first)
        most = _most_files(limit)
        if most is not None:
            last = min(last, first + most)
        if start is None:
            return {"files": last, "order": self._found.id} if last else {"files": 0}
        if last == first:
            return dict(start)
        self._batch = _Batch(first, last, listing.files(self._found.names[first:last]))
        return {**start, "files": last, "order": self._found.id}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Lists the files for the last time."""
        self._found.load()
        self._listing = FoundFiles.of(self._options)
        self._found.add(self._listing.names())
        self._target = len(self._found.names)

    def getDefaultReadLimit(self) -> Any:  # noqa: N802
        """The maximum number of files of a batch."""
        most = self._options.max_files_per_trigger
        return limits.ReadAllAvailable() if most is None else limits.ReadMaxFiles(most)

    def reportLatestOffset(self) -> dict[str, Any]:  # noqa: N802
        """The offset after all files."""
        return {"files": len(self._found.names)}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[Any]:
        """Input partitions of the files between two offsets.

        Raises:
            OrcishError: The file log that this query has used is lost.
            FileNotFoundError: A file was removed that was found since the query began.
        """
        if end["files"] > len(self._found.names):
            self._found.load()
        self._check(start)
        self._check(end)
        names = self._found.names[start["files"] : end["files"]]
        if not names:
            return []
        # Files that were found before the query began may be gone.
        needed = names[max(end.get("began", start.get("began", 0)) - start["files"], 0) :]
        batch, self._batch = self._batch, None
        if batch is not None and (batch.first, batch.last) == (start["files"], end["files"]):
            # A file that has gone since it was listed is reported by its name, or passed over, after another listing.
            with contextlib.suppress(FileNotFoundError):
                return self._partitions(names, needed, batch.files)
        return self._partitions(names, needed, FoundFiles.of(self._options).files(names))

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """The rows of an input partition."""
        if isinstance(partition, TaskPartition):
            yield from partition.batches()

    def commit(self, end: dict[str, Any]) -> None:
        """Does nothing, as the offset is all the state."""

    def stop(self) -> None:
        """Does nothing, as no resources are held."""

    def _partitions(self, names: Sequence[str], needed: Sequence[str], there: Mapping[str, TableFile]) -> list[Any]:
        gone = next((name for name in needed if name not in there), None)
        if gone is not None:
            raise FileNotFoundError(f"{gone}, of {', '.join(self._options.paths)}: gone before the stream has read it")
        files = _alike([there[name] for name in names if name in there])
        if not files:
            return []
        table = SparkTable.open(self._options, self._schema, files=files)
        return task_partitions(table, is_inferred=self._is_inferred)

    def _check(self, offset: Mapping[str, Any]) -> None:
        """Raises OrcishError where an offset does not belong to this file log."""
        found = self._found
        if offset["files"] > len(found.names) or offset.get("order", found.id) != found.id:
            raise OrcishError(
                f"{found.base}: the order in which this stream has found its files is lost: by its checkpoint it has "
                f"read {offset['files']}, and {len(found.names)} are known here. With a new checkpoint it begins "
                "again, with all files that are there"
            )


@dataclasses.dataclass(frozen=True)
class FoundFiles:
    """One listing of a table. While a commit of the table is being finished, it has the files before the commit.

    Names depend neither on the spelling of the path of the table nor on its location: they are paths within its folder,
    or within the folder above a pattern. With several paths, names are paths or URLs.
    """

    listings: list[TableListing]
    options: TableOptions

    @classmethod
    def of(cls, options: TableOptions) -> FoundFiles:
        """Lists a table. Folders that do not exist yet have no files."""
        options = dataclasses.replace(options, pending="before")
        listings = []
        for path in options.paths:
            try:
                listings.append(TableListing.of(path, options))
            except FileNotFoundError:
                continue
        return cls(listings, options)

    def names(self) -> list[str]:
        """The names of the files that Spark reads."""
        named = [list(self._names(listing)) for listing in self.listings]
        chosen = chosen_files(self.listings, self.options)
        return [names[at] for names, some in zip(named, chosen, strict=True) for at in some]

    def files(self, names: Collection[str]) -> dict[str, TableFile]:
        """Those of some files that are there."""
        wanted = set(names)
        found = {}
        for listing in self.listings if wanted else ():
            for at, name in enumerate(self._names(listing)):
                if name in wanted:
                    found[name] = listing.file(at)
        return found

    def _names(self, listing: TableListing) -> Iterator[str]:
        if len(self.options.paths) > 1:
            base = normalized(listing.base)
            return (f"{base.rstrip('/')}/{name}" if name else base for name in listing.names)
        # The path may be that of a file.
        return (name or listing.locations[at].rpartition("/")[2] for at, name in enumerate(listing.names))


@dataclasses.dataclass(frozen=True)
class _Batch:
    """The files of the next batch."""

    first: int
    last: int
    files: dict[str, TableFile]


def _alike(files: list[TableFile]) -> list[TableFile]:
    """The files with the same partition columns, which are null for files that were found before there were any."""
    columns = list(dict.fromkeys(name for file in files for name, _ in file.partition))
    if all(len(file.partition) == len(columns) for file in files):
        return files
    return [file._replace(partition=[(name, dict(file.partition).get(name)) for name in columns]) for file in files]


def _most_files(limit: Any) -> int | None:
    """Maximum number of files by a limit of Spark; ``None`` for ReadAllAvailable."""
    found: int | None = getattr(limit, "max_files", None)
    return found
