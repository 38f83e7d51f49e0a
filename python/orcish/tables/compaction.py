"""Compaction: files of a table that become one file each. The native core has the rules."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from orcish import _native
from orcish._native import StagedFile
from orcish.carbon.detect import check_not_carbon
from orcish.errors import OptionError
from orcish.reading.file import ORCFile
from orcish.tables.commit import Job
from orcish.tables.log.table import existing_root
from orcish.tables.rewriting import LoggedSchema, check_options
from orcish.writing.writer import native_options

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
    schema: LoggedSchema
    """The schema of the table in its log."""


@dataclasses.dataclass(frozen=True)
class CompactionPlan:
    """Which files of a table become which, and the commit of the result."""

    job: Job
    tasks: list[CompactionTask]
    files: list[tuple[str, int, float]]
    """The files as they were when the plan was made."""
    schema: LoggedSchema
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
        groups, files, schema = _native.plan_compaction(job, size, rewrite)
        tasks = [
            CompactionTask(
                job, [name for name, _, _ in group], sum(size for _, size, _ in group), rewrite, options, schema
            )
            for group in groups
        ]
        with job.reading(name for name, _, _ in files):
            for task in tasks[:1]:
                check_options(job, task.names[0], options, schema)
            filled = [name for name, size, _ in files if size]
            for name in filled[:1] if not tasks else ():
                # A file of another format is an error, as where there is something to compact.
                ORCFile(job.location(name), storage_options=job.storage)
        return CompactionPlan(job, tasks, files, schema)

    def reading(self, *errors: type[Exception]) -> contextlib.AbstractContextManager[None]:
        """A context in which the tasks run, see :meth:`orcish.tables.commit.Job.reading`.

        Raises:
            CommitError: A commit of another job has removed a file of a task.
        """
        return self.job.reading((name for task in self.tasks for name in task.names), *errors)

    def commit(self, made: Sequence[StagedFile]) -> None:
        """Replaces the files of all tasks.

        Raises:
            CommitError: A file was changed or removed meanwhile; the table is unchanged.
        """
        replaced = [(task.names, staged) for task, staged in zip(self.tasks, made, strict=True)]
        _native.replace_files(self.job, "compact", replaced, self.files, self.schema)


def compact_files(task: CompactionTask) -> tuple[CompactedFile, StagedFile]:
    """Writes one file, which is not published yet.

    Raises:
        CorruptFileError: A file cannot be read, or is to be merged and contradicts its rows.
        UnsupportedError: Files have columns that are one column to some readers.
    """
    action, staged = _native.combine_files(
        task.job, task.names, rewrite=task.rewrite, options=native_options(task.options), schema=task.schema
    )
    folder, _, name = task.job.name_of(staged).rpartition("/")
    return CompactedFile(folder, action, len(task.names), staged.rows, task.size, staged.size, name), staged
