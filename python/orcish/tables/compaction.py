"""Compaction: files of a table that become one file each. The native core has the rules."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from orcish import _native
from orcish.carbon.detect import check_not_carbon
from orcish.errors import OptionError
from orcish.reading.file import ORCFile
from orcish.tables.commit import Job, Staged, is_in_partition
from orcish.tables.folder import FileInfo
from orcish.tables.log.schema import TableSchema
from orcish.tables.log.table import existing_root
from orcish.tables.replacing import Replaced, replace_files
from orcish.tables.rewriting import check_options, file_options, native_keywords, rewritten_name
from orcish.writing.dataset import file_suffix

__all__ = ["CompactedFile", "CompactionPlan", "CompactionTask", "compact_files"]


class CompactedFile(NamedTuple):
    """A file that holds the rows of others."""

    folder: str
    """Path of the folder in the table."""
    action: str
    """``merge`` if stripes were copied, ``rewrite`` if rows were decoded and encoded."""
    files: int
    """Number of the files that it replaces."""
    rows: int
    bytes_before: int
    bytes_after: int
    file: str
    """Name in the folder."""


@dataclasses.dataclass(frozen=True)
class CompactionTask:
    """Files of one folder that become one file; it can be pickled."""

    job: Job
    names: list[str]
    size: int
    """Bytes of the files."""
    rewrite: bool
    options: dict[str, Any]
    schema: TableSchema | None
    """The schema of the table in its log."""


@dataclasses.dataclass(frozen=True)
class CompactionPlan:
    """Which files of a table become which, and the commit of the result."""

    job: Job
    tasks: list[CompactionTask]
    files: list[FileInfo]
    """The files as they were when the plan was made."""
    schema: TableSchema | None
    """The schema of the table in its log, at that time."""

    @staticmethod
    def of(path: str, storage: Mapping[str, str], size: int, rewrite: bool, options: dict[str, Any]) -> CompactionPlan:
        """Plans a compaction.

        Raises:
            ValueError: Options of files are given without ``rewrite``, or are wrong.
            FileNotFoundError: There is no such folder, or there are no files in it.
            NotADirectoryError: The path is that of a file.
            UnsupportedError: The path is a CarbonData table.
            CorruptFileError: The files are not ORC.
            CommitError: A commit of another job is not finished, and cannot be, or has removed a file meanwhile.
        """
        if options and not rewrite:
            first = next(iter(options))
            raise OptionError(first, "options of files need rewrite=True, as merged files stay as they are")
        check_not_carbon(path, storage)
        existing_root(path)
        job = Job(path, storage)
        _, names, schema = job.prepare(job.inside)
        visible = set(names)
        if "://" in path and not visible and (schema is None or job.inside):
            raise FileNotFoundError(f"no files: {path}")
        with job.reading(names):
            # Files behind links to folders, and in folders that are no partitions, may be those of other tables: they
            # stay.
            there = [file for file in job.files() if file.name in visible and is_in_partition(file.name)]
            # Hive writes files of no bytes, which have no rows.
            files = [file for file in there if file.size]
            groups = [[files[at] for at in group] for group in _native.compaction_groups(files, size, rewrite)]
            tasks = [
                CompactionTask(
                    job, [file.name for file in group], sum(file.size for file in group), rewrite, options, schema
                )
                for group in groups
            ]
            folder = job.folder()
            for task in tasks[:1]:
                check_options(folder.location(task.names[0]), folder, options, schema)
            for file in files[:1] if not tasks else ():
                # A file of another format is an error, as where there is something to compact.
                ORCFile(folder.location(file.name), storage_options=folder.storage_options)
            return CompactionPlan(job, tasks, there, schema)

    def reading(self, *errors: type[Exception]) -> contextlib.AbstractContextManager[None]:
        """A context in which the tasks run, see :meth:`orcish.tables.commit.Job.reading`.

        Raises:
            CommitError: A commit of another job has removed a file of a task.
        """
        return self.job.reading((name for task in self.tasks for name in task.names), *errors)

    def commit(self, made: Sequence[Staged]) -> None:
        """Replaces the files of all tasks.

        Raises:
            CommitError: A file was changed or removed meanwhile; the table is unchanged.
        """
        replaced = [Replaced(task.names, staged) for task, staged in zip(self.tasks, made, strict=True)]
        replace_files(self.job, "compact", replaced, self.files, self.schema)


def compact_files(task: CompactionTask) -> tuple[CompactedFile, Staged]:
    """Writes one file, which is not published yet.

    Raises:
        CorruptFileError: A file cannot be read, or is to be merged and contradicts its rows.
        UnsupportedError: Files have columns that are one column to some readers.
    """
    folder = task.job.folder()
    sources = [folder.location(name) for name in task.names]
    first = task.names[0]
    attempt = task.job.attempt()
    ending = first.rpartition("/")[2].partition(".")[2]
    options = file_options(sources[0], folder, task.options)
    targets = {
        "merge": rewritten_name(first, attempt, f".{ending or 'orc'}"),
        "rewrite": rewritten_name(first, attempt, file_suffix(options)),
    }
    action, (rows, size, token) = _native.combine_files(
        sources,
        folder.location(targets["merge"]),
        folder.location(targets["rewrite"]),
        rewrite=task.rewrite,
        staging=folder.location(attempt),
        **native_keywords(folder, options, task.schema),
    )
    target = targets[action]
    within, _, name = target.rpartition("/")
    file = CompactedFile(within, action, len(sources), rows, task.size, size, name)
    return file, Staged(target, rows, size, token)
