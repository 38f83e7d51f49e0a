"""Deletion of rows: which files have such rows, and how the others are written again."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from orcish import _native
from orcish._native import StagedFile
from orcish.carbon.detect import check_not_carbon
from orcish.filters.pushdown import Filters
from orcish.io.files import TableFile
from orcish.io.names import display_name
from orcish.reading.orc_files import OrcFiles
from orcish.reading.scan import WHOLE_FILE, Scan, Split
from orcish.reading.scan_reader import ScanReader
from orcish.tables.commit import Job
from orcish.tables.log.schema import TableSchema
from orcish.tables.log.table import existing_root
from orcish.tables.rewriting import LoggedSchema, check_options
from orcish.writing.writer import native_options

__all__ = ["Deleted", "DeletedRows", "DeletionPlan", "DeletionTask", "delete_rows"]

NUMBER = "orcish.row_number"
"""Name of the column of row numbers."""


class Deleted(NamedTuple):
    """What a deletion has done."""

    rows: int
    """Number of the deleted rows."""
    files_removed: int
    """Number of files of which all rows are deleted."""
    files_rewritten: int
    """Number of files of which some rows are deleted."""


class DeletedRows(NamedTuple):
    """What is deleted of one file."""

    name: str
    """Path in the table."""
    rows: int
    staged: StagedFile | None
    """The file with the other rows; ``None`` without other rows, and without deleted rows."""


@dataclasses.dataclass(frozen=True)
class DeletionTask:
    """A file that may have rows to delete; it can be pickled."""

    job: Job
    name: str
    """Path in the table."""
    size: int
    splits: list[Split]
    """The stripes that may have such rows."""
    options: dict[str, Any]
    schema: LoggedSchema
    """The schema of the table in its log."""


@dataclasses.dataclass(frozen=True)
class DeletionPlan:
    """Which files of a table may have rows to delete, and the commit of the result."""

    job: Job
    tasks: list[DeletionTask]
    files: list[tuple[str, int, float]]
    """The files as they were when the plan was made."""
    schema: LoggedSchema
    """The schema of the table in its log, when the plan was made."""

    @staticmethod
    def of(path: str, filters: Filters, storage: Mapping[str, str], options: dict[str, Any]) -> DeletionPlan:
        """Plans a deletion.

        Raises:
            FileNotFoundError: There is no such folder, or there are no files in it.
            NotADirectoryError: The path is that of a file.
            TypeError, ValueError: The filter is invalid, or files are in folders that are no partitions.
            UnsupportedError: The path is a CarbonData table.
            CommitError: A commit of another job is not finished, and cannot be, or has removed a file meanwhile.
        """
        if filters is None:
            raise TypeError("filters=None: which rows are deleted has to be said; write_dataset replaces all rows")
        check_not_carbon(path, storage)
        existing_root(path)
        job = Job(path, storage)
        visible, read, files, logged = _native.plan_deletion(job)
        with job.reading(visible):
            locations = map(job.location, read)
            there = [TableFile(location, None, _native.partitions_below(job.root, location)) for location in locations]
            tasks = []
            if there or logged is not None:
                schema = None if logged is None else TableSchema(*logged, display_name(job.root))
                source = OrcFiles(there, None, "name", storage, None, schema)
                # A unit that cuts digits off would find other rows than those with these values.
                reader = ScanReader(
                    source, {"filters": filters, "columns": [], "row_number": NUMBER, "timestamp_unit": "exact"}
                )
                reader.check()
                splits: dict[str, list[Split]] = {}
                for split in Scan(reader).splits(WHOLE_FILE):
                    splits.setdefault(split.location[len(job.root) + 1 :], []).append(split)
                sizes = {name: size for name, size, _ in files}
                tasks = [DeletionTask(job, name, sizes[name], parts, options, logged) for name, parts in splits.items()]
            if logged is not None:
                # Files without a log may have different columns.
                for task in tasks[:1]:
                    check_options(job, task.name, options, logged)
            return DeletionPlan(job, tasks, files, logged)

    def reading(self, *errors: type[Exception]) -> contextlib.AbstractContextManager[None]:
        """A context in which the tasks run, see :meth:`orcish.tables.commit.Job.reading`.

        Raises:
            CommitError: A commit of another job has removed a file of a task.
        """
        return self.job.reading((task.name for task in self.tasks), *errors)

    def commit(self, done: Sequence[DeletedRows]) -> Deleted:
        """Replaces and removes the files that have rows to delete.

        Raises:
            CommitError: A file was changed or removed meanwhile; the table is unchanged.
        """
        replaced = [([each.name], each.staged) for each in done if each.rows]
        rewritten = sum(staged is not None for _, staged in replaced)
        _native.replace_files(self.job, "delete", replaced, self.files, self.schema)
        return Deleted(sum(each.rows for each in done), len(replaced) - rewritten, rewritten)


def delete_rows(task: DeletionTask) -> DeletedRows:
    """Finds the rows to delete of a file, and writes the other rows into a file that is not published yet."""
    numbers = pa.concat_arrays(
        [batch.column(NUMBER) for split in task.splits for batch in split.scan().to_batches()]
        or [pa.array([], pa.int64())]
    )
    if not len(numbers):
        return DeletedRows(task.name, 0, None)
    options = native_options(task.options)
    staged = _native.delete_rows(task.job, task.name, numbers.__arrow_c_array__(), options=options, schema=task.schema)
    return DeletedRows(task.name, len(numbers), staged)
